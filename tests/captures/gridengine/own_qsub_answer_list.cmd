qsub -N "a b" s.sh
