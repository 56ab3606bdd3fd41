qstat -Q -f
