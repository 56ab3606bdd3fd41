qdel 99999
