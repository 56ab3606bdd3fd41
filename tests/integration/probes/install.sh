#!/bin/sh
# Real parts for the probes' tests, from the distribution: Open MPI, MPICH, environment modules, Podman, Charliecloud,
# and Lmod, which excludes environment modules, unpacked into the folder $1 instead.
# Installs only where it may: as root, with CI=true or DRAGOMAN_TEST_APT=1. Exit 77: it may not, and something is missing.
set -eu
folder=$1
packages="openmpi-bin mpich environment-modules podman charliecloud-runtime uidmap"
lua="lua5.3 lua-posix lua-term lua-json lua-filesystem tcl"

missing() { for name in $packages $lua; do dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^ii' || echo "$name"; done; }

command -v apt-get >/dev/null 2>&1 || { echo "needs apt" >&2; exit 77; }
[ -n "$(missing)" ] || [ ! -d "$folder/usr/share/lmod" ] || exit 0
if [ "$(id -u)" != 0 ] || { [ "${CI:-}" != true ] && [ "${DRAGOMAN_TEST_APT:-}" != 1 ]; }; then
  echo "to install $(missing | tr "\n" " ")and unpack lmod, run as root with DRAGOMAN_TEST_APT=1" >&2
  exit 77
fi
# apt serves one at a time, and other tests install too.
exec 8>"${TMPDIR:-/tmp}/dragoman-test-apt.lock"
flock -w 600 8
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2"
if [ -n "$(missing)" ]; then
  $apt install -y --no-install-recommends $(missing) >&2 || { $apt update >&2; $apt install -y --no-install-recommends $(missing) >&2; }
fi
if [ ! -d "$folder/usr/share/lmod" ]; then
  mkdir -p "$folder"
  ( cd "$folder" && { $apt download lmod >&2 || { $apt update >&2; $apt download lmod >&2; }; } )
  dpkg-deb -x "$folder"/lmod_*.deb "$folder/new"
  grep -rlI /usr/share/lmod "$folder/new" | while read -r file; do
    sed -i "s#/usr/share/lmod#$folder/usr/share/lmod#g" "$file"
  done
  mv "$folder/new/usr" "$folder/usr"
fi
