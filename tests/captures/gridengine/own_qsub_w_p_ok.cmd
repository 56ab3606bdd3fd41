qsub -w p s.sh
