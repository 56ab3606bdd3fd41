# One question or order to slurmrestd, from the site. Run as `sh -c THIS dragoman SERVER TOKEN LIMIT METHOD PATH`.
#
#   SERVER  unix:/path/of/the/socket, or http(s)://host:port
#   TOKEN   a file of its owner's alone that holds a token (what `scontrol token` prints), or nothing
#   LIMIT   seconds
#   PATH    with @ where the version of the API belongs, and perhaps %USER at its end for who asks; a POST has its body on standard input, one line for versions up
#           to 0.0.38 and one for later ones
#
# The answer is on standard output; of a GET the HTTP status follows on a line of its own. An order that the server
# refuses ends with 22 and its words on standard error; where no answer came, with curl's own code.
set -u
umask 077
server=$1 token=$2 limit=$3 method=$4 path=$5

fail() {
  echo "slurmrestd: $1" >&2
  exit 22
}

command -v curl >/dev/null 2>&1 || { echo 'curl: command not found' >&2; exit 127; }
header="header = \"X-SLURM-USER-NAME: $(id -un)\""
if [ -n "$token" ]; then
  [ -r "$token" ] || fail "the token's file $token cannot be read: nothing was sent (authentication failure)"
  case $(ls -Ll "$token") in -r??------*) ;; *) fail "the token's file is open to others: nothing was sent (authentication failure: chmod 600 $token)" ;; esac
  secret=$(sed -n '1s/^SLURM_JWT=//;1p' "$token" | tr -cd 'A-Za-z0-9._=-')
  header="$header
header = \"X-SLURM-USER-TOKEN: $secret\""
fi
case $server in
unix:*) base=http://localhost socket=${server#unix:} ;;
*) base=${server%/} socket= ;;
esac

# What is secret stands in a here-document: an argument could be seen by everybody on the host.
ask() { # METHOD PATH OPTION...
  verb=$1 url=$base$2
  shift 2
  curl -q --silent --show-error --globoff --max-time "$limit" ${socket:+--unix-socket "$socket"} --request "$verb" \
    --config /dev/fd/3 "$@" "$url" 3<<END
$header
END
}

version=
for each in 44 43 42 41 40 38 37 36; do
  status=$(ask GET "/slurm/v0.0.$each/ping" --output /dev/null --write-out '%{http_code}') || {
    code=$?
    echo 'slurmrestd cannot be reached: nothing was sent' >&2
    exit "$code"
  }
  case $status in
  404) continue ;;
  401 | 403) fail "nothing was sent: HTTP $status: authentication failure (renew the token)" ;;
  5*) fail "nothing was sent: HTTP $status: the controller gives it no answer, or does not take the token" ;;
  esac
  version=$each
  break
done
[ -n "$version" ] || fail 'nothing was sent: it speaks no version of the API that is known (0.0.36 to 0.0.44)'
path="${path%%@*}v0.0.$version${path#*@}"
case $path in *%USER) path=${path%"%USER"}$(id -un) ;; esac

if [ "$method" = GET ]; then
  ask GET "$path" --write-out '\n%{http_code}\n'
  exit
fi

said() { sed -n 's/^ *"\(description\|error\)": *"\(.*\)",\{0,1\} *$/\2/p' | sort -u; }

if [ "$method" = POST ]; then
  line=1
  [ "$version" -le 38 ] || line=2
  answer=$(sed -n "${line}p" | ask POST "$path" --header 'Content-Type: application/json' --data-binary @- --write-out '\n%{http_code}')
else
  answer=$(ask "$method" "$path" --write-out '\n%{http_code}')
fi
code=$?
if [ "$code" -ne 0 ]; then
  echo "$answer"
  exit "$code"
fi
status=${answer##*
}
answer=${answer%
*}
words=$(printf '%s\n' "$answer" | said)
case $status in
2*)
  # 22.05 says 200 of a change that it could not read, and newer versions of words that they pass over.
  case $path in
  */job/submit) ;;
  *)
    if printf '%s' "$answer" | grep -q '"error_number": *[1-9]\|Ignoring unknown field'; then
      echo "slurmrestd: ${words:-$answer}" >&2
      exit 22
    fi
    ;;
  esac
  printf '%s\n' "$answer"
  [ -z "$words" ] || printf '%s\n' "$words" >&2
  ;;
502 | 503 | 504)
  echo "slurmrestd: HTTP $status: service unavailable: ${words:-$answer}" >&2
  exit 22
  ;;
*)
  echo "slurmrestd: HTTP $status: ${words:-$answer}" >&2
  exit 22
  ;;
esac
