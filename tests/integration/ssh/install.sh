#!/bin/bash
# Installs what the ssh tests need, where the machine is a throw-away one: root, in CI or a container, Debian or Ubuntu.
# No service is started, and the system's own sshd is not configured.  Exit status 77: not possible here.
set -u
in_container() { [ "${CI:-}" = true ] || [ -e /.dockerenv ] || [ -e /run/.containerenv ]; }
if [ "$(id -u)" != 0 ] || ! in_container || ! command -v apt-get >/dev/null; then exit 77; fi
# apt serves one at a time, and other tests install too.
exec 8>"${TMPDIR:-/tmp}/dragoman-test-apt.lock" && flock -w 600 8
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq --no-install-recommends openssh-server openssh-client "$@"
