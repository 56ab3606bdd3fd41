"""The program that runs at a site of the scheduler `machine`: a small queue for one host and user, without a daemon.

It is for Linux and Python 3.8 or later, with the standard library alone, and starts without site packages. Imports are
few on purpose: each submit and each status is a process of its own.

- `verbs`: the command line, JSON on stdout.
- `folder`: the queue's folder, its lock and its files.
- `job`: one job's record.
- `directives`: the `#DRAGOMAN` lines of a script.
- `advance`: settles jobs whose supervisor died, and starts what fits, in the order of submission.
- `supervisor`: the process beside each running job.
- `processes`: what /proc tells of processes, and how a whole tree is ended.
- `host`: what this host has.
"""
