qstat -u $user -r -xml
