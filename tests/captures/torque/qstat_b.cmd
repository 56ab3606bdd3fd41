qstat -B -f
