#!/bin/bash
# A throw-away one-machine Slurm for the tests and for trying things out.  See docs/testing-slurm.md.
#
#   cluster.sh up                 start it (returns at once when it is up); exit status 77: not possible here
#   cluster.sh down               end it and remove everything but its logs
#   cluster.sh status             what runs, in which memory; exit status 3: not up
#   eval "$(cluster.sh env)"      make sbatch, squeue, sacct of this shell talk to it
#   cluster.sh fault NAME [ARG]   inject a fault; without NAME: the list
#
# Everything lies in $DRAGOMAN_SLURM_DIR (default ${TMPDIR:-/tmp}/dragoman-slurm-<uid>), on 127.0.0.1.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
D=${DRAGOMAN_SLURM_DIR:-${TMPDIR:-/tmp}/dragoman-slurm-$(id -u)}
CONF=$D/etc/slurm.conf
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=packages.sh
. "$HERE/packages.sh"
# shellcheck source=config.sh
. "$HERE/config.sh"
# shellcheck source=faults.sh
. "$HERE/faults.sh"

fail() {
  printf 'cluster.sh: %s\n' "$*" >&2
  exit 1
}

# Variables of another cluster or of the user's habits (SQUEUE_FORMAT, SBATCH_PARTITION ...) change what commands do.
foreign_variables() { compgen -e | grep -E '^(SLURM|SLURMD|SBATCH|SRUN|SALLOC|SQUEUE|SINFO|SACCT|SCONTROL|SPRIO|SSHARE)_' | grep -v '^SLURM_TEST_' || true; }

use_cluster() {
  local variable
  for variable in $(foreign_variables); do unset "$variable"; done
  export SLURM_CONF=$CONF
}

wait_for() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { echo "cluster.sh: timed out: $*" >&2; return 1; }
    sleep 0.1
  done
}

# Daemons are known by a variable that only they have: pid files lie after a kill -9, and names belong to others too.
# They get no terminal, pipe or lock of ours: whoever waits for the end of our output would wait for theirs.
start() { env -i "PATH=$PATH" HOME=/ LANG=C.UTF-8 "DRAGOMAN_SLURM_DAEMON=$D" "SLURM_CONF=$CONF" "$@" </dev/null >>"$D/log/start.log" 2>&1 9>&-; }

# For a daemon that stays in the foreground; exec, for a shell that waited for it would keep our output open.
start_behind() {
  (exec env -i "PATH=$PATH" HOME=/ LANG=C.UTF-8 "DRAGOMAN_SLURM_DAEMON=$D" "SLURM_CONF=$CONF" setsid "$@") </dev/null >>"$D/log/start.log" 2>&1 9>&- &
}

daemons() { # [NAME]: process ids of our daemons
  local environ pid name
  for environ in $(grep -lszxF "DRAGOMAN_SLURM_DAEMON=$D" /proc/[0-9]*/environ || true); do
    pid=${environ//[!0-9]/}
    # the shells that start them carry the variable for a moment
    read -r name <"/proc/$pid/comm" 2>/dev/null || continue
    if [ $# = 0 ] || [ "$name" = "$1" ]; then echo "$pid"; fi
  done
}

slurmd_of() { # NODE
  local pid
  for pid in $(daemons slurmd); do
    if tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF "$1"; then echo "$pid"; fi
  done
}

with_descendants() { # PID...: those and everything below them
  ps -e -o pid=,ppid= | awk -v roots="$*" '
    {parent[$1] = $2}
    END {
      n = split(roots, r, " "); for (i = 1; i <= n; i++) wanted[r[i]] = 1
      for (pid in parent) for (p = pid; p > 1; p = parent[p]) if (p in wanted) { print pid; break }
    }'
}

job_processes() { # what jobs of this cluster left behind, wherever it hangs in the process tree
  local environ
  for environ in $(grep -lszxF "SLURM_CONF=$CONF" /proc/[0-9]*/environ || true); do
    if grep -qsz '^SLURM_JOB_ID=' "$environ" && grep -qszxF 'SLURM_CLUSTER_NAME=dragoman' "$environ"; then
      echo "${environ//[!0-9]/}"
    fi
  done
}

slurmstepds() { # LOG: a slurmstepd outlives its slurmd and overwrites its environment: know it by its log file
  local fd name
  for fd in $(find /proc/[0-9]*/fd -lname "$D/log/$1" 2>/dev/null || true); do
    fd=${fd#/proc/}
    read -r name <"/proc/${fd%%/*}/comm" 2>/dev/null || continue
    # a person's "tail -f" has the log open as well
    if [ "$name" = slurmstepd ]; then echo "${fd%%/*}"; fi
  done | sort -u
}

kill_all() {
  local pids round
  for round in 1 2 3 4 5; do
    # shellcheck disable=SC2046 # one word for each process id
    pids=$(with_descendants $(daemons) $(slurmstepds 'slurmd.*') $(job_processes))
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep "0.$round"
  done
  fail "processes of $D could not be ended: $(echo "$pids" | tr '\n' ' ')"
}

controller_up() { timeout 3 scontrol ping | grep -q 'is UP'; }

accounting_up() { timeout 5 sacctmgr -n list cluster; }

all_nodes_idle() { [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = "${#NODES[@]}" ]; }

healthy() {
  [ -s "$CONF" ] && [ -s "$D/up" ] && use_cluster &&
    [ "$(daemons munged | wc -l)" = 1 ] && [ "$(daemons mariadbd | wc -l)" = 1 ] &&
    [ "$(daemons slurmdbd | wc -l)" = 1 ] && [ "$(daemons slurmd | wc -l)" = "${#NODES[@]}" ] && controller_up
}

make_folders() {
  [ "${#D}" -le 80 ] || fail "the folder's name $D is too long for sockets: set DRAGOMAN_SLURM_DIR to a shorter one"
  mkdir -p "$D"
  if [ -L "$D" ] || ! [ -O "$D" ]; then fail "$D belongs to somebody else: set DRAGOMAN_SLURM_DIR to another folder"; fi
  chmod 755 "$D"
  mkdir -p "$D/log"
}

take_lock() { # until this script ends; daemons do not inherit it
  exec 9>"$D/.cluster-lock"
  flock -w 120 9 || fail "another cluster.sh has been at work in $D for two minutes"
}

fresh_folders() {
  local name node
  for name in "$D"/*; do
    [ "$name" = "$D/log" ] || rm -rf -- "$name"
  done
  rm -f -- "$D"/log/{slurm,m,start}*
  mkdir -p "$D"/{etc,run,run/submit,state,spool,gpu,bin,work} && mkdir -m 700 "$D/mysql"
  for node in "${NODES[@]}"; do mkdir "$D/spool/$node"; done
  touch "$D"/gpu/dev{0..3}
  chmod 755 "$D"/{log,etc,run,run/submit,spool,gpu,bin,work}
  (umask 077 && od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$D/mysql.password" && head -c 128 /dev/urandom >"$D/munge.key" &&
    head -c 32 /dev/urandom >"$D/jwt.key")
  if [ "$(id -u)" = 0 ]; then
    chown "$TEST_USER:" "$D/work" "$D/run/submit"
    as_user test -x "$D/work" || skip "$TEST_USER cannot enter $D: a folder above it is closed to others" \
      "set DRAGOMAN_SLURM_DIR to a folder below /tmp"
  fi
}

as_user() { setpriv --reuid="$TEST_USER" --regid="$TEST_USER" --init-groups "$@"; }

# bin/as-user COMMAND...: as the account that submits, from the shell or from tests. bin/as-reader: the same for programs
# of whoever runs the tests, whose folders may be closed to that account: it may read them, and so may nothing it submits.
write_as_user() {
  local home run=() reader=() capability
  home=$(getent passwd "$TEST_USER" | cut -d: -f6)
  if [ "$(id -u)" = 0 ]; then
    run=(setpriv "--reuid=$TEST_USER" "--regid=$TEST_USER" --init-groups)
    capability=$(reading_capability)
    [ -z "$capability" ] || reader=("--inh-caps=+$capability" "--ambient-caps=+$capability")
  fi
  printf '#!/bin/sh\nexec %s env HOME=%q USER=%q LOGNAME=%q "$@"\n' \
    "${run[*]}" "$home" "$TEST_USER" "$TEST_USER" >"$D/bin/as-user"
  printf '#!/bin/sh\nexec %s env HOME=%q USER=%q LOGNAME=%q PYTHONDONTWRITEBYTECODE=1 "$@"\n' \
    "${run[*]} ${reader[*]}" "$home" "$TEST_USER" "$TEST_USER" >"$D/bin/as-reader"
  chmod 755 "$D/bin/as-user" "$D/bin/as-reader"
}

reading_capability() { # containers often lack the first
  local bounds
  bounds=$(awk '/^CapBnd/ {print $2}' /proc/self/status)
  if ((0x$bounds & 4)); then
    echo dac_read_search
  elif ((0x$bounds & 2)); then
    echo dac_override
  fi
}

start_database() {
  local options=(--no-defaults --user="$(id -un)" --datadir="$D/mysql")
  mariadb-install-db "${options[@]}" --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" \
    --skip-test-db --skip-name-resolve >"$D/log/mariadb-install.log" 2>&1 </dev/null ||
    fail "the database could not be made, see $D/log/mariadb-install.log"
  start_behind mariadbd "${options[@]}" --socket="$D/mysql/socket" --bind-address=127.0.0.1 --port=$((PORT + 2)) \
    --skip-name-resolve --pid-file="$D/mysql/pid" --performance-schema=OFF --innodb-buffer-pool-size=32M \
    --innodb-log-file-size=16M --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 --skip-log-bin \
    --key-buffer-size=1M --aria-pagecache-buffer-size=8M --max-connections=30 --log-error="$D/log/mariadbd.log"
  wait_for 30 sql 'SELECT 1'
  sql "CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY '$(cat "$D/mysql.password")'; CREATE DATABASE slurm_acct_db;
    GRANT ALL ON slurm_acct_db.* TO 'slurm'@'127.0.0.1'"
}

sql() { mariadb --no-defaults --socket="$D/mysql/socket" --user="$(id -un)" --execute="$1"; }

start_munge() {
  start munged --socket="$D/run/munge.socket" --key-file="$D/munge.key" --pid-file="$D/run/munged.pid" \
    --log-file="$D/log/munged.log" --seed-file="$D/munge.seed" --num-threads=2
}

start_accounting() { start slurmdbd && wait_for 30 accounting_up; }

# proj1 is the default account; in proj2 every job is over its limit of one CPU minute.
add_accounts() {
  sacctmgr -iQ add cluster dragoman
  sacctmgr -iQ add account proj1 Description=proj1 Organization=org
  sacctmgr -iQ add account proj2 Description=proj2 Organization=org GrpTRESMins=cpu=1
  sacctmgr -iQ add qos short Priority=10 MaxWall=00:30:00 MaxJobsPerUser=2
  sacctmgr -iQ add user "$TEST_USER" Account=proj1,proj2 DefaultAccount=proj1 QOS=normal,short DefaultQOS=normal
}

start_controller() { start slurmctld && wait_for 20 controller_up; }

start_nodes() { # NODE...
  local node pids=()
  for node in "$@"; do start slurmd -N "$node" & pids+=($!); done
  wait "${pids[@]}" # not for all: the database is a child too
}

start_all() {
  use_cluster
  start_munge
  start_database
  start_accounting
  add_accounts >>"$D/log/accounts.log"
  # the nodes ask again until the controller answers
  start_nodes "${NODES[@]}"
  start_controller
  wait_for 30 all_nodes_idle
}

reconfigure() { # a variant was asked for that the running cluster does not have
  slurm_conf >"$D/etc/slurm.conf.new"
  if cmp -s "$D/etc/slurm.conf.new" "$CONF"; then
    rm "$D/etc/slurm.conf.new"
    return
  fi
  mv "$D/etc/slurm.conf.new" "$CONF"
  scontrol reconfigure
  wait_for 20 controller_up
}

up() {
  local begun=$SECONDS
  check_allowed
  make_folders
  take_lock
  install_packages
  choose_user
  choose_address
  if healthy; then
    PORT=$(cat "$D/up")
    reconfigure
    return
  fi
  kill_all
  fresh_folders
  choose_port
  write_config
  write_as_user
  trap 'echo "cluster.sh: the cluster did not come up; logs: $D/log" >&2' EXIT
  start_all # not as a condition: that would switch off set -e inside
  trap - EXIT
  echo "$PORT" >"$D/up"
  echo "Slurm $(slurmctld -V | cut -d' ' -f2) is up in $D after $((SECONDS - begun)) s" >&2
}

down() {
  local name
  [ -d "$D" ] || return 0
  [ -O "$D" ] || fail "$D belongs to somebody else"
  take_lock
  kill_all
  for name in "$D"/*; do
    [ "$name" = "$D/log" ] || rm -rf -- "$name"
  done
}

status() {
  local pid
  if ! healthy; then
    echo "not up (folder $D; $(daemons | wc -l) daemons run)"
    return 3
  fi
  sinfo
  for pid in $(daemons); do
    awk -v pid="$pid" '/^Name/ {n = $2} /^VmRSS/ {r = $2} END {printf "%-12s pid %-7s %6.1f MiB\n", n, pid, r / 1024}' "/proc/$pid/status" 2>/dev/null || true
  done
}

environment() {
  local variable path
  [ -s "$D/up" ] || { echo "cluster.sh: not up: run $HERE/cluster.sh up first" >&2; echo false; return 3; }
  path=${PATH//"$D/bin:"/}
  for variable in $(foreign_variables); do
    [ "$variable" = SLURM_CONF ] || echo "unset $variable"
  done
  printf 'export SLURM_CONF=%q\n' "$CONF"
  printf 'export PATH=%q\n' "$D/bin:$path"
  printf 'export DRAGOMAN_SLURM_DIR=%q\n' "$D"
  printf 'export DRAGOMAN_SLURM_USER=%q\n' "$(stat -c %U "$D/work")"
  printf 'export DRAGOMAN_SLURM_WORK_DIR=%q\n' "$D/work"
}

case "${1:-}" in
up) up ;;
down) down ;;
status) status ;;
env) environment ;;
fault) shift && fault "$@" ;;
*)
  sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 64
  ;;
esac
