qacct -j "*zzz"
