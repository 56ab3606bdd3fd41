"""The settings of the embedded PostgreSQL, and why they are so.

Source: PostgreSQL 18 manual, "Server Configuration".
"""

from __future__ import annotations

CONFIGURATION = """\
# Written by dragoman at every start. Own settings: ALTER SYSTEM, which wins over this file.
listen_addresses = ''
port = {port}
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 100
# What was committed must be there after a power cut: this is the promise that everything else stands on.
fsync = on
synchronous_commit = on
full_page_writes = on
# One small database that is idle nearly always: little memory, few processes, rare wake-ups.
shared_buffers = 32MB
huge_pages = off
io_method = sync
wal_level = minimal
max_wal_senders = 0
min_wal_size = 32MB
max_wal_size = 256MB
checkpoint_timeout = 15min
max_logical_replication_workers = 0
max_parallel_workers_per_gather = 0
autovacuum_naptime = 2min
autovacuum_max_workers = 2
bgwriter_delay = 2s
wal_writer_delay = 1s
jit = off
# logind removes POSIX shared memory of users who log out (RemoveIPC), and containers have little of it.
dynamic_shared_memory_type = mmap
# A client killed with -9 must not keep a statement, and with it a lock, for long.
client_connection_check_interval = 5s
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_line_prefix = '%m [%p] '
log_checkpoints = off
# No statements and no row values in the log: they may hold what belongs to a person.
log_min_error_statement = panic
log_error_verbosity = terse
"""
"""``postgresql.conf`` with two places to fill: ``port`` and ``sockets`` (a path without quotes or commas)."""
