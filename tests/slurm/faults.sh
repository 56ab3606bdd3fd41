# shellcheck shell=bash
# Faults that a running throw-away Slurm can be given.  Sourced by cluster.sh.

fault_names() {
  cat <<'C'
ctld-stop            end the controller            ctld-start           start it again
ctld-pause           freeze it (SIGSTOP)           ctld-resume          thaw it
dbd-stop             end the accounting daemon     dbd-start            start it again
node-fail NODE       lose a node with its jobs     node-restore NODE    bring it back
submit-banner        sbatch prints a banner before its answer on stdout
submit-lost-answer [N]   sbatch submits, then reports a time-out (the next N times; without N: always)
submit-lost-request [N]  sbatch reports a time-out and has submitted nothing
submit-notice        the controller's filter says something on stderr
submit-strip-tags    the controller's filter drops the job's comment and name
submit-refuse        the controller's filter refuses every job
submit-normal        ends all of the submit- faults
C
}

end_daemon() { # NAME: politely first, so that its state is saved
  local pids
  pids=$(daemons "$1")
  [ -n "$pids" ] || return 0
  # shellcheck disable=SC2086
  kill -TERM $pids 2>/dev/null || true
  # shellcheck disable=SC2086
  kill -CONT $pids 2>/dev/null || true
  wait_for 10 none_left "$1" 2>/dev/null && return
  # shellcheck disable=SC2046
  kill -KILL $(daemons "$1") 2>/dev/null || true
  wait_for 5 none_left "$1"
}

none_left() { [ -z "$(daemons "$1")" ]; }

signal_controller() { # SIGNAL
  local pids
  pids=$(daemons slurmctld)
  [ -n "$pids" ] || fail "slurmctld does not run"
  # shellcheck disable=SC2086
  kill "-$1" $pids
}

check_node() {
  case " ${NODES[*]} " in
  *" ${1:-} "*) ;;
  *) fail "fault: name one of the nodes ${NODES[*]}" ;;
  esac
}

node_fail() { # the machine is gone: daemon, steps and processes at once; then the controller is told
  local pid below
  below=$(job_processes_of "$1")
  # shellcheck disable=SC2046
  for pid in $(with_descendants $(slurmd_of "$1") $(slurmstepds "slurmd.$1.log") $below); do kill -KILL "$pid" 2>/dev/null || true; done
  scontrol update "nodename=$1" state=down reason="fault: node lost"
}

job_processes_of() { # NODE
  local pid
  for pid in $(job_processes); do
    if grep -qszxF "SLURMD_NODENAME=$1" "/proc/$pid/environ"; then echo "$pid"; fi
  done
}

node_restore() {
  start_nodes "$1"
  wait_for 20 node_usable "$1"
}

node_usable() { [[ "$(sinfo -h -n "$1" -o %t | head -1)" =~ ^(idle|mix|alloc)$ ]]; }

# A site's own sbatch in front of the real one.  Each token may lose one answer; no folder of tokens: all are lost.
submit_wrapper() { # banner|lost-answer|lost-request [N]
  local real i
  if [ "${2:-}" ] && ! [[ "$2" =~ ^[1-9][0-9]{0,2}$ ]]; then fail "fault: N is a number from 1 to 999, not '$2'"; fi
  real=$(PATH=${PATH//"$D/bin:"/} command -v sbatch)
  rm -rf "$D"/run/submit/*
  for i in $(seq 1 "${2:-0}"); do : >"$D/run/submit/token$i"; done
  {
    echo '#!/bin/sh'
    echo "real='$real' tokens='$D/run/submit' counted='${2:+yes}'"
    case "$1" in
    banner) cat <<'C' ;;
echo '*** Welcome to the Dragoman cluster ***'
echo 'Your project used 1234 of 5000 node hours.'
exec "$real" "$@"
C
    *) cat <<'C' ;;
lose() {
  [ "$counted" ] || return 0
  for token in "$tokens"/token*; do
    rm "$token" 2>/dev/null && return 0
  done
  return 1
}
lose || exec "$real" "$@"
C
    esac
    [ "$1" != lost-answer ] || echo '"$real" "$@" >/dev/null 2>&1'
    case "$1" in
    lost-*) echo 'echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2'; echo 'exit 1' ;;
    esac
  } >"$D/bin/sbatch.new"
  chmod 755 "$D/bin/sbatch.new"
  mv "$D/bin/sbatch.new" "$D/bin/sbatch"
}

fault() { # NAME [ARG]
  [ $# -gt 0 ] || { fault_names; return 0; }
  [ -s "$D/up" ] || fail "not up: run cluster.sh up first"
  use_cluster
  case "$1" in
  ctld-stop) end_daemon slurmctld ;;
  ctld-start) [ -n "$(daemons slurmctld)" ] || start_controller ;;
  ctld-pause) signal_controller STOP ;;
  ctld-resume) signal_controller CONT && wait_for 20 controller_up ;;
  dbd-stop) end_daemon slurmdbd ;;
  dbd-start) [ -n "$(daemons slurmdbd)" ] || start_accounting ;;
  node-fail) check_node "${2:-}" && node_fail "$2" ;;
  node-restore) check_node "${2:-}" && node_restore "$2" ;;
  submit-banner | submit-lost-answer | submit-lost-request) submit_wrapper "${1#submit-}" "${2:-}" ;;
  submit-notice | submit-strip-tags | submit-refuse) echo "${1#submit-}" >"$D/run/submit-filter" ;;
  submit-normal) rm -rf -- "$D/bin/sbatch" "$D/run/submit-filter" "$D"/run/submit/* ;;
  *) fault_names >&2 && fail "there is no fault '$1'" ;;
  esac
}
