# What a transport runs at the site for one exchange, in any POSIX sh and the userlands of GNU, BSD and busybox. The frame's
# mark and the functions c1, c2, ... that hold the commands are written around it, then `single` or `batch` is called.
#
# Lines that begin with the mark are the frame of an answer: what comes before, between or after frames is none.
# Descriptor 3 is the command's input, 4 its errors. Names begin with `dgm_` because all that is exported at the site,
# and all that a command is given, must reach it unchanged.
set -f
exec 3<&0 </dev/null 4>&2 2>/dev/null
dgm_path=$PATH dgm_sound='' dgm_grouped=$(command -v setsid)

absent() { # PATH: true where it is shown that nothing lies there
  if [ -e "$1" ] || [ -L "$1" ]; then return 1; fi
  case $1 in /*) dgm_above=$1 ;; *) dgm_above=./$1 ;; esac
  while [ -n "$dgm_above" ] && [ ! -e "$dgm_above" ]; do dgm_above=${dgm_above%/*}; done
  [ ! -d "${dgm_above:-/}" ] || [ -x "${dgm_above:-/}" ]
}

enter() { # FOLDER
  if [ ! -d "$1" ]; then
    if [ -e "$1" ] || absent "$1"; then
      dgm_rc=127 dgm_why=folder
      return 1
    fi
  fi
  case $1 in /*) CDPATH='' cd "$1" ;; *) CDPATH='' cd "./$1" ;; esac && return
  dgm_rc=126
  printf '%s: Permission denied\n' "$1" >&4
  return 1
}

drop() { # PATTERN: variables of the environment whose name it matches
  for dgm_name in $(env | LC_ALL=C sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
    eval "case \$dgm_name in $1) command unset \"\$dgm_name\" ;; esac"
  done
}

there() { # PROGRAM: 0 there is a file of that name, runnable or not; 1 there is none; 2, 3 that cannot be told
  case $1 in
  */*)
    [ ! -e "$1" ] || return 0
    absent "$1" && return 1
    return 2
    ;;
  esac
  dgm_saved=$IFS IFS=: dgm_found=1
  for dgm_folder_of in $PATH; do
    if [ -f "${dgm_folder_of:-.}/$1" ]; then
      dgm_found=0
      break
    fi
    absent "${dgm_folder_of:-.}/$1" || dgm_found=2
  done
  # A PATH that start-up files spoilt has not even a shell: what else it has not may well be there.
  if [ "$dgm_found" -eq 1 ] && [ "$PATH" = "$dgm_path" ] && [ -z "$dgm_sound" ]; then
    dgm_found=3
    for dgm_folder_of in $PATH; do
      if [ -f "${dgm_folder_of:-.}/sh" ]; then
        dgm_sound=yes dgm_found=1
        break
      fi
    done
  fi
  IFS=$dgm_saved
  return "$dgm_found"
}

slay() { # SIGNAL PID: its group, as dash or as busybox will have it written, or where it has none itself
  kill -s "$1" -- "-$2" || kill -s "$1" "-$2" || kill -s "$1" "$2"
}

# Runs the command in the group that it leads, and wakes who waits for the time limit. It outlives a command that ends
# its whole group, and keeps what the shell says of signals apart from what the command says.
dgm_keeper='trap : HUP INT TERM; n=$1; shift; exec 4>&2 2>/dev/null; (exec "$@" 2>&4 4>&-); r=$?; kill -s KILL "$n"; exit "$r"'
# The same where no group can be made: the command itself is ended with it.
dgm_alone='c=; trap "kill \$c" TERM; n=$1; shift; exec 4>&2 3<&0 2>/dev/null; (exec "$@" <&3 3<&- 2>&4 4>&-) & c=$!
wait "$c"; r=$?; kill -s KILL "$n"; exit "$r"'

go() { # SECONDS COMMAND...: leaves dgm_rc, and dgm_why where the command itself is not to blame
  dgm_limit=$1
  shift
  there "$1"
  case $? in
  1)
    dgm_rc=127 dgm_why=missing
    return
    ;;
  2)
    dgm_rc=126
    printf '%s: Permission denied\n' "$1" >&4
    return
    ;;
  3)
    dgm_rc=126
    printf '%s: not found, but the PATH leads to no shell either\n' "$1" >&4
    return
    ;;
  esac
  PATH=$dgm_path sleep "$dgm_limit" >/dev/null 3<&- 4>&- &
  dgm_nap=$!
  if [ -n "$dgm_grouped" ]; then
    "$dgm_grouped" /bin/sh -c "$dgm_keeper" sh "$dgm_nap" "$@" <&3 3<&- 2>&4 4>&- &
  else
    /bin/sh -c "$dgm_alone" sh "$dgm_nap" "$@" <&3 3<&- 2>&4 4>&- &
  fi
  dgm_child=$!
  # The sleeper is waited for, not the command: what even KILL does not end (a dead file system) holds nothing up.
  if wait "$dgm_nap"; then
    dgm_rc=124 dgm_why=timeout
    slay TERM "$dgm_child"
    PATH=$dgm_path sleep 2
    slay KILL "$dgm_child"
  else
    wait "$dgm_child"
    dgm_rc=$?
  fi
}

finish() { # WORDS: the end of both streams
  printf '%s-END %s\n' "$dgm_mark" "$*" >&4
  printf '%s-END %s\n' "$dgm_mark" "$*"
  exit 0
}

single() {
  dgm_rc=0 dgm_why=''
  printf '%s-BEGIN\n' "$dgm_mark" >&4
  printf '%s-BEGIN\n' "$dgm_mark"
  c1
  finish "rc=$dgm_rc" "$dgm_why"
}

lane() { # runs what nobody has begun
  set -C
  dgm_next=1
  while [ "$dgm_next" -le "$dgm_count" ]; do
    if true 2>/dev/null >"$dgm_folder/$dgm_next.c"; then
      # What is shown to be missing needs no process to say so.
      dgm_code=0
      eval "dgm_program=\${dgm_p$dgm_next:-}"
      if [ -n "$dgm_program" ]; then
        there "$dgm_program"
        dgm_code=$?
      fi
      if [ "$dgm_code" -eq 1 ]; then
        true >"$dgm_folder/$dgm_next.o"
        true >"$dgm_folder/$dgm_next.e"
        printf '127 missing\n' >"$dgm_folder/$dgm_next.r"
      else
        (
          dgm_rc=0 dgm_why=''
          # Output goes to files: a command that writes without end must not fill the disk.
          ulimit -S -f 524288
          "c$dgm_next" >"$dgm_folder/$dgm_next.o" 4>"$dgm_folder/$dgm_next.e" 3</dev/null
          # Not every shell has printf itself, and the command may have been given a PATH of its own.
          PATH=$dgm_path printf '%s %s\n' "$dgm_rc" "$dgm_why" >"$dgm_folder/$dgm_next.r"
        )
        [ -s "$dgm_folder/$dgm_next.r" ] || printf '137 lost\n' >|"$dgm_folder/$dgm_next.r"
      fi
    fi
    dgm_next=$((dgm_next + 1))
  done
  # Whoever ends last wakes who waits for all.
  if ended c r && read -r dgm_nap <"$dgm_folder/nap"; then kill -s KILL "$dgm_nap"; fi
}

lanes() { # NUMBER
  dgm_lane=0
  while [ "$dgm_lane" -lt "$1" ]; do
    lane >/dev/null 3<&- 4>&- &
    dgm_lanes="$dgm_lanes $!"
    dgm_lane=$((dgm_lane + 1))
  done
}

ended() { # SUFFIX...: true where there is such a file of every command
  set +f
  for dgm_suffix in "$@"; do
    set -- "$dgm_folder"/*."$dgm_suffix"
    if [ "$#" -lt "$dgm_count" ] || [ ! -e "$1" ]; then
      set -f
      return 1
    fi
  done
  set -f
}

alive() { # true while a lane runs
  for dgm_lane in $dgm_lanes; do if kill -s 0 "$dgm_lane"; then return 0; fi; done
  return 1
}

room() { # true where files can be written
  printf x >"$dgm_folder/end" && [ -s "$dgm_folder/end" ]
}

news() { # true where an answer is there that was not passed on yet
  dgm_next=0
  while [ "$dgm_next" -lt "$dgm_count" ]; do
    dgm_next=$((dgm_next + 1))
    case $dgm_told in *" $dgm_next "*) continue ;; esac
    if [ -s "$dgm_folder/$dgm_next.r" ]; then return 0; fi
  done
  return 1
}

pass_on() { # [all]: the answers that are there and were not passed on yet; `all`: those that are lost too
  # Outputs within their limits go out together: a process for each would take as long as the commands themselves.
  dgm_long=' '
  dgm_sizes=$(set +f && cd "$dgm_folder" && wc -c -- *.o *.e)
  while read -r dgm_size dgm_name; do
    dgm_cap=16777217
    eval "dgm_cap=\${cap${dgm_name%.[oe]}:-16777217}"
    if [ "${dgm_size:-0}" -gt "$dgm_cap" ]; then dgm_long="$dgm_long$dgm_name "; fi
  done <<EOF
$dgm_sizes
EOF
  dgm_all=${1:-} dgm_next=0
  set --
  while [ "$dgm_next" -lt "$dgm_count" ]; do
    dgm_next=$((dgm_next + 1))
    case $dgm_told in *" $dgm_next "*) continue ;; esac
    dgm_rc=137 dgm_why=lost
    if [ -s "$dgm_folder/$dgm_next.r" ]; then
      read -r dgm_rc dgm_why <"$dgm_folder/$dgm_next.r"
    elif [ -z "$dgm_all" ]; then
      continue
    fi
    dgm_told="$dgm_told$dgm_next "
    dgm_cap=16777217
    eval "dgm_cap=\${cap$dgm_next:-16777217}"
    printf '%s-OUT %s\n' "$dgm_mark" "$dgm_next" >"$dgm_folder/$dgm_next.mo"
    printf '%s-ERR %s\n' "$dgm_mark" "$dgm_next" >"$dgm_folder/$dgm_next.me"
    printf '%s-RC %s rc=%s %s\n' "$dgm_mark" "$dgm_next" "$dgm_rc" "$dgm_why" >"$dgm_folder/$dgm_next.mr"
    for dgm_part in o e; do
      set -- "$@" "$dgm_folder/$dgm_next.m$dgm_part"
      case $dgm_long in
      *" $dgm_next.$dgm_part "*)
        cat -- "$@"
        set --
        head -c "$dgm_cap" "$dgm_folder/$dgm_next.$dgm_part"
        ;;
      *) if [ -s "$dgm_folder/$dgm_next.$dgm_part" ]; then set -- "$@" "$dgm_folder/$dgm_next.$dgm_part"; fi ;;
      esac
    done
    set -- "$@" "$dgm_folder/$dgm_next.mr"
  done
  [ "$#" -eq 0 ] || cat -- "$@"
}

batch() { # COUNT LANES SECONDS [tell]: the commands side by side, then their answers, and the environment
  dgm_count=$1 dgm_tell=${4:-}
  printf '%s-BEGIN\n' "$dgm_mark" >&4
  printf '%s-BEGIN\n' "$dgm_mark"
  for dgm_place in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm "${HOME:-/}"; do
    dgm_folder=$dgm_place/.dragoman-${dgm_mark#@@}
    if (umask 077 && mkdir "$dgm_folder") && printf x >"$dgm_folder/room" && [ -s "$dgm_folder/room" ]; then break; fi
    rm -rf "$dgm_folder"
    dgm_folder=''
  done
  if [ -z "$dgm_folder" ]; then finish rc=0 nowhere; fi
  trap 'rm -rf "$dgm_folder"' EXIT
  trap 'exit 1' HUP INT TERM
  dgm_lanes='' dgm_told=' ' dgm_patience=$3
  lanes "$2"
  # After SECONDS what is slow holds nothing up any more: the answers so far are passed on, and again from second to
  # second, and lanes are added for what waits behind slow commands.
  while :; do
    PATH=$dgm_path sleep "$dgm_patience" >/dev/null 3<&- 4>&- &
    dgm_nap=$!
    printf '%s\n' "$dgm_nap" >"$dgm_folder/nap"
    if ended r; then
      kill -s KILL "$dgm_nap"
      break
    fi
    wait "$dgm_nap"
    if ended r || ! alive; then break; fi
    ended c || lanes "$2"
    if news && room; then
      pass_on
      # The reader holds back what could be the beginning of an end: this is enough behind it.
      printf '%s-PART %0128d\n' "$dgm_mark" 0
    fi
    dgm_patience=1
  done
  for dgm_lane in $dgm_lanes; do wait "$dgm_lane"; done
  # A connection that is gone must not keep the folder from being removed.
  trap '' PIPE
  dgm_full=''
  # Without room an output may have been cut anywhere: then none is passed on.
  if room; then pass_on all; else dgm_full=full; fi
  if [ -n "$dgm_tell" ]; then
    printf '%s-ENV\n' "$dgm_mark"
    PATH=$dgm_path head -c 65536 /proc/self/environ
  fi
  finish rc=0 "$dgm_full"
}
