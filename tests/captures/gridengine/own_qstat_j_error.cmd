qstat -j 23
