#!/bin/sh
# kubectl for the probes' tests, from the distribution. Installs only where it may: as root, with CI=true or
# DRAGOMAN_TEST_APT=1. Exit 77: it may not, and it is missing.
set -eu
if command -v kubectl >/dev/null 2>&1; then exit 0; fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ] ||
  { [ "${CI:-}" != true ] && [ "${DRAGOMAN_TEST_APT:-}" != 1 ]; }; then
  echo "to install kubectl, run as root with DRAGOMAN_TEST_APT=1" >&2
  exit 77
fi
exec 8>"${TMPDIR:-/tmp}/dragoman-test-apt.lock"
flock -w 600 8
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2"
install="$apt install -y --no-install-recommends kubernetes-client"
$install >&2 || { $apt update >&2; $install >&2; }
