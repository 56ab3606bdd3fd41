squeue --me --noheader --states=all --format='%i<US>%A<US>%T<US>%P<US>%V<US>%S<US>%e<US>%M<US>%N<US>%r<US><US>%k<US>%j'
