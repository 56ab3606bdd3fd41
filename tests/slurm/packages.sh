# shellcheck shell=bash
# May a throw-away Slurm start on this machine, and are its programs there?  Sourced by cluster.sh.
#
# Exit status 77 means "not possible here, skip": the reason and the cure are on stderr.

SKIP=77
PROGRAMS=(munged mariadbd mariadb-install-db mariadb slurmdbd slurmctld slurmd sbatch squeue sacct sacctmgr)
# The -core packages of MariaDB carry the programs without the service, its account and its data folder.
PACKAGES=(slurmctld slurmd slurmdbd slurm-client slurm-wlm-basic-plugins slurm-wlm-mysql-plugin munge
  mariadb-server-core mariadb-client-core)
# For the tests of the REST API, which are skipped without them.
REST_PACKAGES=(slurmrestd slurm-wlm-jwt-plugin curl)
UNITS=(munge.service slurmctld.service slurmd.service slurmdbd.service slurmrestd.service)
POLICY=/usr/sbin/policy-rc.d
POLICY_SAVED=/usr/sbin/policy-rc.d.dragoman-saved

skip() { # REASON CURE
  printf 'Slurm tests skipped: %s\n  to enable: %s\n' "$1" "$2" >&2
  exit "$SKIP"
}

asked_for() { [ "${DRAGOMAN_TEST_SLURM:-}" = 1 ]; }

in_container() { [ "${CI:-}" = true ] || [ -e /.dockerenv ] || [ -e /run/.containerenv ]; }

in_virtual_machine() { systemd-detect-virt --quiet --vm 2>/dev/null || grep -qw hypervisor /proc/cpuinfo; }

# Packages and accounts outlive the cluster, so they are added only where the machine itself is a throw-away one.
may_change_system() {
  [ "$(id -u)" = 0 ] && { in_container || { asked_for && in_virtual_machine; }; }
}

foreign_slurm() { # prints what tells that somebody else's Slurm is configured or running
  local file pid
  for file in /etc/slurm/slurm.conf /etc/slurm-llnl/slurm.conf /run/slurm/conf/slurm.conf; do
    [ ! -e "$file" ] || { echo "$file exists"; return; }
  done
  if [ -n "${SLURM_CONF:-}" ] && [ "$SLURM_CONF" != "$CONF" ] && [ -e "$SLURM_CONF" ] &&
    ! grep -qs '^ClusterName=dragoman$' "$SLURM_CONF"; then
    echo "SLURM_CONF points to $SLURM_CONF"
    return
  fi
  for pid in $(pgrep -x slurmctld || true); do
    [ -n "$(tr -d '\0' <"/proc/$pid/cmdline" 2>/dev/null)" ] || continue # ended, not yet collected
    grep -qz '^DRAGOMAN_SLURM_DAEMON=' "/proc/$pid/environ" 2>/dev/null || { echo "slurmctld runs as process $pid"; return; }
  done
}

missing_programs() {
  local program
  for program in "${PROGRAMS[@]}"; do
    command -v "$program" >/dev/null || printf '%s ' "$program"
  done
}

is_debian() { grep -qsE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release && command -v apt-get >/dev/null; }

check_allowed() {
  local found
  [ "${DRAGOMAN_TEST_SLURM:-}" != 0 ] || skip "DRAGOMAN_TEST_SLURM=0 asks for that" "unset DRAGOMAN_TEST_SLURM"
  asked_for && return
  [ "$(id -u)" = 0 ] || skip "a Slurm of our own starts by itself only as root" \
    "set DRAGOMAN_TEST_SLURM=1 (as $(id -un), jobs then run under this account), or run as root in a container"
  is_debian || skip "a Slurm of our own starts by itself only on Debian and Ubuntu" \
    "install Slurm, munge and MariaDB, then set DRAGOMAN_TEST_SLURM=1"
  found=$(foreign_slurm)
  [ -z "$found" ] || skip "this machine has a Slurm already ($found)" \
    "set DRAGOMAN_TEST_SLURM=1 to run a private one beside it; it will not be touched"
}

restore_policy() {
  if [ -e "$POLICY_SAVED" ]; then
    mv -f "$POLICY_SAVED" "$POLICY"
  elif grep -qs 'dragoman-guard' "$POLICY"; then
    rm -f "$POLICY"
  fi
}

# Debian starts and enables the services of new packages; ours must come from cluster.sh alone.
guard_policy() {
  restore_policy # left by a run that was killed
  [ ! -e "$POLICY" ] || mv "$POLICY" "$POLICY_SAVED"
  printf '#!/bin/sh\n# dragoman-guard: no service starts while the test Slurm is installed\nexit 101\n' >"$POLICY"
  chmod 755 "$POLICY"
}

install_packages() {
  local unit new=() log="$D/log/apt.log"
  [ -n "$(missing_programs)" ] || return 0
  local missing
  missing=$(missing_programs)
  is_debian && may_change_system || skip "programs are missing: $missing" \
    "as root: apt-get install --no-install-recommends ${PACKAGES[*]}"
  for unit in "${UNITS[@]}"; do
    [ -e "/lib/systemd/system/$unit" ] || [ -e "/etc/systemd/system/$unit" ] || new+=("$unit")
  done
  echo "installing: ${PACKAGES[*]} (log: $log)" >&2
  # apt serves one at a time, and other tests install too
  exec 8>"${TMPDIR:-/tmp}/dragoman-test-apt.lock"
  flock -w 600 8 || fail "others have been installing for ten minutes"
  trap restore_policy EXIT
  guard_policy
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${PACKAGES[@]}"; } >"$log" 2>&1 </dev/null ||
    skip "packages could not be installed, $(grep -m1 -E '^E: ' "$log" || echo "see $log")" \
      "as root: apt-get update && apt-get install --no-install-recommends ${PACKAGES[*]}"
  apt-get install -y -qq --no-install-recommends "${REST_PACKAGES[@]}" >>"$log" 2>&1 </dev/null ||
    echo "the packages of slurmrestd could not be installed (log: $log)" >&2
  restore_policy
  trap - EXIT
  exec 8>&- # no daemon may inherit it
  # Else they would start at the next boot of this machine.
  if [ "${#new[@]}" -gt 0 ] && command -v systemctl >/dev/null; then
    systemctl disable --quiet "${new[@]}" >>"$log" 2>&1 || true
  fi
  missing=$(missing_programs)
  [ -z "$missing" ] || skip "programs are missing after the installation: $missing" "see $log"
}

# Sets TEST_USER: who submits.  Never root, for whom Slurm's limits and permissions do not hold.
choose_user() {
  TEST_USER=${DRAGOMAN_TEST_SLURM_USER:-dragoman-test}
  if [ "$(id -u)" != 0 ]; then
    TEST_USER=$(id -un)
    return
  fi
  [ "$TEST_USER" != root ] || skip "jobs of the tests must not run as root" "name another account in DRAGOMAN_TEST_SLURM_USER"
  id "$TEST_USER" >/dev/null 2>&1 && return
  may_change_system || skip "there is no account $TEST_USER, and accounts are added only in CI, containers and virtual machines" \
    "name an account in DRAGOMAN_TEST_SLURM_USER"
  useradd --create-home --shell /bin/bash "$TEST_USER"
}
