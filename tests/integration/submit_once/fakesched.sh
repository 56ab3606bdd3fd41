#!/bin/sh
# A scheduler in a folder, with faults on demand. $FAKESCHED is its folder; jobs/N/ is a job, faults/NAME a fault.
#   submit --tag TAG [--plain] SCRIPT | queue | history | cancel N | run (start every pending job, one after the other)
set -u
# The faults of its caller's programs are not its own.
PATH=/usr/bin:/bin
root=$FAKESCHED
fault() { # true once for each line of the fault's file
  [ -s "$root/faults/$1" ] || return 1
  sed -i 1d "$root/faults/$1"
  return 0
}
say_down() {
  echo "fakesched: error: Unable to contact controller (connect failure)" >&2
  exit 1
}
case $1 in
submit)
  echo "$*" >>"$root/submits"
  if fault unknown-option; then
    case " $* " in *" --plain "*)
      echo "fakesched: unrecognized option '--plain'" >&2
      echo x >>"$root/faults/unknown-option"
      exit 1
      ;;
    esac
  fi
  tag=$3
  for script; do :; done
  if fault refuse; then echo 'fakesched: error: Invalid account' >&2; exit 1; fi
  if fault not-taken; then echo 'fakesched: error: Socket timed out on send/recv operation' >&2; exit 1; fi
  if fault hang-before; then exec sleep 600; fi
  if fault die-before; then kill -9 $$; fi
  n=1
  until mkdir "$root/jobs/$n" 2>/dev/null; do n=$((n + 1)); done
  cp "$script" "$root/jobs/$n/script"
  if fault strip-tag; then tag=; fi
  echo "$tag" >"$root/jobs/$n/tag"
  echo PENDING >"$root/jobs/$n/state"
  if fault hang-after; then exec sleep 600; fi
  if fault slow-after; then sleep 1; fi
  if fault die-after; then kill -9 $$; fi
  if fault lose; then echo 'fakesched: error: Socket timed out on send/recv operation' >&2; exit 1; fi
  if fault noise; then echo 'fakesched: error: controller busy, sleeping and retrying.' >&2; fi
  if fault banner; then printf 'Welcome!\nall jobs are watched\n'; fi
  echo "accepted $n"
  ;;
queue | history)
  echo "$1" >>"$root/asked"
  if [ -e "$root/faults/$1-down" ]; then say_down; fi
  if [ -e "$root/faults/$1-blind" ]; then exit 0; fi
  for job in "$root"/jobs/*; do
    [ -f "$job/state" ] || continue
    read -r state <"$job/state"
    case $1:$state in
    queue:PENDING | queue:RUNNING | history:*) echo "${job##*/} $state $(cat "$job/tag")" ;;
    esac
  done
  ;;
cancel)
  echo CANCELLED >"$root/jobs/$2/state"
  ;;
run)
  for job in "$root"/jobs/*; do
    [ -f "$job/state" ] || continue
    read -r state <"$job/state"
    [ "$state" = PENDING ] || continue
    echo RUNNING >"$job/state"
    if FAKE_JOB_ID=${job##*/} sh "$job/script" >>"$job/out" 2>&1; then
      echo COMPLETED >"$job/state"
    else
      echo "FAILED:$?" >"$job/state"
    fi
  done
  ;;
esac
