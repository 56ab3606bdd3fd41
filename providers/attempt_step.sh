# What is done at the site for one attempt, in one round trip. Run as `sh -c THIS dragoman VERB ARGUMENTS`.
#
#   prepare DIR WORK_DIR  make both, for their owner only
#   submit DIR GENERATION FENCE LIMIT NONCE SCRIPT_BYTES STDIN CWD COMMAND...   script (and stdin) on standard input
#   look DIR...
#   abandon DIR WHO       nobody submits this attempt any more, unless somebody has begun to
#   bar DIR WHO           no job runs this attempt any more, unless one has begun to
#   forget DIR            remove the secrets' files
#   absent DIR GENERATION the queue and the history have shown cleanly that there is no such job: since when
#
# Every claim is a symbolic link whose target tells the holder: made atomically, never there without its holder.
# Every verb answers with the report of `look`. Lines before `begin` or after `end` are not ours (login banners).
set -u
umask 077
verb=$1
shift
host=$(uname -n)

now() { date +%s; }

holder() {
  if [ -L "$1" ]; then
    readlink "$1" 2>/dev/null || LC_ALL=C ls -l "$1" 2>/dev/null | sed -n 's/^.* -> //p'
  fi
}

# Field 22 of /proc/PID/stat: when the process started, so that a reused number is not taken for it.
began() {
  began=-
  if [ -r "/proc/$1/stat" ]; then
    read -r began <"/proc/$1/stat" 2>/dev/null || began=
    began=${began##*") "}
    # shellcheck disable=SC2086
    set -- $began
    began=${20:--}
  fi
}

alive() { # target of a claim: step HOST PID BEGAN AT LIMIT NONCE
  # shellcheck disable=SC2086
  set -- $1
  if [ "$2" != "$host" ]; then
    echo unknown
  elif ! kill -0 "$3" 2>/dev/null && [ ! -d "/proc/$3" ]; then
    echo no
  else
    began "$3"
    if [ "$began" = "$4" ]; then echo yes; else echo no; fi
  fi
}

prefixed() { # PREFIX FILE: at most 64 KiB of it, each line marked
  dd if="$2" bs=65536 count=1 2>/dev/null | LC_ALL=C sed "s/^/$1 /"
  echo
}

report() (
  echo 'dragoman-attempt begin'
  echo "dir $1"
  echo "host $host"
  echo "now $(now)"
  if cd "$1" 2>/dev/null; then
    for link in submit/claim.*; do
      target=$(holder "$link")
      if [ -z "$target" ]; then continue; fi
      generation=${link#submit/claim.}
      echo "claim $generation $target"
      answer=submit/answer.$generation
      if [ -f "$answer/rc" ]; then
        read -r line <"$answer/rc"
        echo "answer $generation $line"
        prefixed "out $generation" "$answer/out"
        prefixed "err $generation" "$answer/err"
      else
        case $target in step\ *) echo "alive $generation $(alive "$target")" ;; esac
        if [ -s "$answer/out" ]; then prefixed "out $generation" "$answer/out"; fi
        if [ -s "$answer/err" ]; then prefixed "err $generation" "$answer/err"; fi
      fi
    done
    for link in submit/absent.*; do
      if [ -L "$link" ]; then echo "absent ${link#submit/absent.} $(holder "$link")"; fi
    done
    if [ -L run/owner ]; then
      echo "owner $(holder run/owner)"
      LC_ALL=C grep '' run/starts run/starts.* /dev/null 2>/dev/null | sed 's/^run\//in /'
      LC_ALL=C grep '' exit exit.* /dev/null 2>/dev/null | sed 's/^/in /'
    fi
    if [ -s duplicates ]; then sed 's/^/in duplicates:/' duplicates; fi
  elif [ ! -d "$1" ] && [ -d "${1%/*}" ] && [ -x "${1%/*}" ]; then
    echo 'empty'
  else
    echo 'trouble the folder of the attempt cannot be read'
  fi
  echo 'dragoman-attempt end'
)

stop() { # words: nothing was claimed by this call
  report "$control" | sed "s/^dragoman-attempt end\$/stopped $1\\
&/"
  exit 0
}

claim() { # LINK TARGET: true when it is ours now
  ln -s "$2" "$1" 2>/dev/null
  # Read, not believed: a network file system may report a link as there that this very call made.
  [ "$(holder "$1")" = "$2" ]
}

record() { # HOW RC
  printf '%s\n' "$1 $2" >"$answer/rc.part" && mv -f "$answer/rc.part" "$answer/rc"
}

submit() {
  control=$1 generation=$2 fence=$3 limit=$4 nonce=$5 script_bytes=$6 stdin=$7 cwd=$8
  shift 8
  # Whoever loses the connection must not stop a submit half way: its answer is recorded here.
  trap '' HUP
  mkdir -p "$control/submit" "$control/run" || stop 'folder: it cannot be made'
  cd "$control/submit" || stop 'folder: it cannot be entered'
  given=$control/submit/given.$host.$$
  trap 'rm -f "$given"' EXIT
  cat >"$given" || stop 'folder: it cannot be written'
  total=$(($(wc -c <"$given")))
  case $stdin in
  none | script) expected=$script_bytes ;;
  *) expected=$((script_bytes + stdin)) ;;
  esac
  # A connection that broke while the script was sent: a cut script is never submitted.
  if [ "$total" -ne "$expected" ]; then stop 'input: it came incomplete'; fi
  command -v -- "$1" >/dev/null 2>&1 || command -v "$1" >/dev/null 2>&1 || stop 'missing: no such command'
  if [ -L ../run/owner ]; then stop 'owner: a job runs it, or none may'; fi
  began $$
  at=$(now)
  target="step $host $$ $began $at $limit $nonce"
  if ! claim "claim.$generation" "$target"; then
    if [ -z "$(holder "claim.$generation")" ]; then stop 'folder: it takes no symbolic links'; fi
    stop 'claimed: somebody else has begun'
  fi
  answer=answer.$generation
  mkdir -p "$answer"
  : >"$answer/out"
  : >"$answer/err"
  case $stdin in
  none | script) mv -f "$given" ../script ;;
  *)
    dd if="$given" of="script.$$" bs="$script_bytes" count=1 2>/dev/null && mv -f "script.$$" ../script
    tail -c "+$((script_bytes + 1))" "$given" >stdin
    ;;
  esac
  if [ "$(wc -c <../script)" -ne "$script_bytes" ]; then
    record given-up 0
    return
  fi
  case $stdin in
  none) from=/dev/null ;;
  script) from=$control/script ;;
  *) from=$control/submit/stdin ;;
  esac
  if [ "$cwd" != - ] && ! cd "$cwd"; then
    record given-up 0
    return
  fi
  answer=$control/submit/$answer
  # Frozen for long after the claim, or overtaken by a later one: others may have concluded that nothing was submitted.
  if [ "$(now)" -gt $((at + fence)) ] || [ -L "$control/submit/claim.$((generation + 1))" ] ||
    [ -L "$control/run/owner" ]; then
    record given-up 0
    return
  fi
  if timeout -k 5 9 true 2>/dev/null; then
    timeout -k 5 "$limit" "$@" <"$from" >"$answer/out" 2>"$answer/err"
    rc=$?
  else
    "$@" <"$from" >"$answer/out" 2>"$answer/err" &
    child=$!
    (sleep "$limit" && kill -9 "$child") >/dev/null 2>&1 &
    watchdog=$!
    wait "$child"
    rc=$?
    kill "$watchdog" 2>/dev/null
  fi
  # Ended by the time limit or by somebody's KILL or TERM: that is not the scheduler's answer.
  case $rc in 124 | 137 | 143) record killed "$rc" ;; *) record ended "$rc" ;; esac
}

case $verb in
submit)
  submit "$@"
  report "$1"
  ;;
prepare)
  control=$1
  mkdir -p "$1" "$1/submit" "$1/run" "$1/secrets" "$2" && chmod 700 "$1" || stop 'folder: it cannot be made'
  report "$1"
  ;;
look)
  for control in "$@"; do report "$control"; done
  ;;
abandon)
  mkdir -p "$1/submit" && claim "$1/submit/claim.1" "abandoned:$2"
  report "$1"
  ;;
bar)
  mkdir -p "$1/run" && claim "$1/run/owner" "abandoned:$2"
  report "$1"
  ;;
forget)
  rm -rf "$1/secrets"
  report "$1"
  ;;
absent)
  mkdir -p "$1/submit" && claim "$1/submit/absent.$2" "$(now)"
  report "$1"
  ;;
esac
