#!/bin/bash
# A throw-away Grid Engine on this host, from Debian's packages, for tests on demand.
#
#   tests/sge/cluster.sh up FOLDER     fetch, configure, start; programs are in FOLDER/bin
#   tests/sge/cluster.sh down FOLDER   stop; the folder stays
#   tests/sge/cluster.sh test FOLDER   up, the whole path against it, down
#
# Root on Debian or Ubuntu. Nothing is installed: packages are unpacked into the folder, and the master runs in a mount
# namespace of its own, because it looks for its spooling library in /usr/lib/gridengine only.
set -euo pipefail

VERB=${1:?up or down}
HERE=$(mkdir -p "${2:?folder}" && cd "$2" && pwd)
TREE=$HERE/tree
PROGRAMS=$TREE/usr/lib/gridengine
SHARE=$TREE/usr/share/gridengine
PACKAGES=(gridengine-master gridengine-exec gridengine-client gridengine-common libjemalloc2 libmunge2 libtirpc3)
export SGE_ROOT=$HERE/root SGE_CELL=default SGE_QMASTER_PORT=${SGE_QMASTER_PORT:-16444}
export SGE_EXECD_PORT=${SGE_EXECD_PORT:-16445}
export LD_LIBRARY_PATH=$TREE/usr/lib/$(uname -m)-linux-gnu:$PROGRAMS

q() { "$PROGRAMS/$@"; }

fetch() {
  mkdir -p "$HERE/packages" "$TREE"
  (cd "$HERE/packages" && apt-get download -qq "${PACKAGES[@]}" 2>/dev/null)
  for package in "$HERE"/packages/*.deb; do dpkg -x "$package" "$TREE"; done
}

configure() {
  mkdir -p "$SGE_ROOT/default/common" "$HERE/spool/qmaster/job_scripts" "$HERE/spool/execd" "$HERE/overlay" "$HERE/bin"
  for name in bin utilbin lib; do
    mkdir -p "$SGE_ROOT/$name"
    ln -sfn "$PROGRAMS" "$SGE_ROOT/$name/lx-amd64"
  done
  ln -sfn "$SHARE/util" "$SGE_ROOT/util"
  echo localhost >"$SGE_ROOT/default/common/act_qmaster"
  echo "localhost $(uname -n)" >"$SGE_ROOT/default/common/host_aliases"
  cat >"$SGE_ROOT/default/common/bootstrap" <<EOF
admin_user              none
default_domain          none
ignore_fqdn             true
spooling_method         classic
spooling_lib            libspoolc
spooling_params         $SGE_ROOT/default/common;$HERE/spool/qmaster
binary_path             $SGE_ROOT/bin
qmaster_spool_dir       $HERE/spool/qmaster
security_mode           none
listener_threads        2
worker_threads          2
scheduler_threads       1
EOF
  # Root may submit, and the accounting is written at once.
  sed -e "s#/var/spool/gridengine/execd#$HERE/spool/execd#" -e 's#^min_\([ug]\)id .*#min_\1id 0#' \
    -e 's#flush_time=00:00:15#flush_time=00:00:00#' "$SHARE/default-configuration" >"$HERE/configuration"
  for program in qsub qstat qacct qdel qhold qrls qhost qconf; do
    cat >"$HERE/bin/$program" <<EOF
#!/bin/sh
export SGE_ROOT='$SGE_ROOT' SGE_CELL=default SGE_QMASTER_PORT=$SGE_QMASTER_PORT SGE_EXECD_PORT=$SGE_EXECD_PORT
LD_LIBRARY_PATH='$LD_LIBRARY_PATH' exec '$PROGRAMS/$program' "\$@"
EOF
    chmod +x "$HERE/bin/$program"
  done
}

master() { # in its own mount namespace
  mount -t tmpfs none "$HERE/overlay"
  mkdir "$HERE/overlay/upper" "$HERE/overlay/work"
  mount -t overlay overlay /usr/lib \
    -o "lowerdir=$TREE/usr/lib:/usr/lib,upperdir=$HERE/overlay/upper,workdir=$HERE/overlay/work"
  q spoolinit classic libspoolc "$SGE_ROOT/default/common;$HERE/spool/qmaster" init
  q spooldefaults configuration "$HERE/configuration"
  q spooldefaults complexes "$SHARE/util/resources/centry"
  q spooldefaults usersets "$SHARE/util/resources/usersets"
  q spooldefaults managers root
  q sge_qmaster
}

retry() {
  for _ in $(seq 20); do
    if "$@" >"$HERE/last" 2>&1; then return; fi
    sleep 0.5
  done
  cat "$HERE/last" >&2
  return 1
}

site() {
  cat >"$HERE/pe" <<'EOF'
pe_name            smp
slots              999
user_lists         NONE
xuser_lists        NONE
start_proc_args    NONE
stop_proc_args     NONE
allocation_rule    $pe_slots
control_slaves     FALSE
job_is_first_task  TRUE
urgency_slots      min
accounting_summary FALSE
qsort_args         NONE
EOF
  printf '%s NONE\n' load_scaling complex_values user_lists xuser_lists projects xprojects usage_scaling \
    report_variables >"$HERE/host"
  sed -i '1i hostname localhost' "$HERE/host"
  retry q qconf -sconf
  retry q qconf -Ap "$HERE/pe"
  retry q qconf -as localhost
  retry q qconf -Ae "$HERE/host"
  q qconf -sq | sed -e 's/^qname .*/qname all.q/' -e 's/^hostlist .*/hostlist localhost/' -e 's/^pe_list .*/pe_list smp/' \
    -e 's/^slots .*/slots 4/' -e 's/^load_thresholds .*/load_thresholds NONE/' -e 's#^shell .*#shell /bin/sh#' >"$HERE/queue"
  retry q qconf -Aq "$HERE/queue"
  q qconf -ssconf | sed -e 's/^schedule_interval.*/schedule_interval 0:0:1/' \
    -e 's/^flush_\(submit\|finish\)_sec.*/flush_\1_sec 1/' >"$HERE/scheduler"
  retry q qconf -Msconf "$HERE/scheduler"
  q sge_execd
  retry grep -q localhost <(q qhost)
}

export -f q master
export HERE TREE PROGRAMS SHARE
up() {
  fetch
  configure
  unshare -m bash -euo pipefail -c master
  site
  echo "$HERE/bin"
}

down() {
  for daemon in execd qmaster; do
    # Only those that were started from this folder.
    for process in /proc/[0-9]*; do
      if [ "$(readlink "$process/exe" 2>/dev/null)" = "$PROGRAMS/sge_$daemon" ]; then kill "${process#/proc/}"; fi
    done
  done
}

case $VERB in
up) up ;;
down) down ;;
test)
  trap down EXIT
  up
  cd "$(dirname "$0")/../.."
  env -u LD_LIBRARY_PATH DRAGOMAN_SGE_BIN="$HERE/bin" .venv/bin/pytest tests/integration/fakes/test_whole_path.py -k real
  ;;
esac
