qstat -f 4711.head.example 4712.head.example 4799.head.example
