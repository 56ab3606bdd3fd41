#!/bin/bash
# The main job on a throw-away Slurm, as the account that submits there: for `make run-slurm`.
#
#   run-main.sh DRAGOMAN REQUEST APPROVE
#
# The cluster is ended afterwards unless it was up before.  Exit status 77: it may not start here, and why is told.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DRAGOMAN=$1 REQUEST=$2 APPROVE=$3

was_up=yes
"$HERE/cluster.sh" status >/dev/null || was_up=
"$HERE/cluster.sh" up
eval "$("$HERE/cluster.sh" env)"

place=$(as-user mktemp -d "$DRAGOMAN_SLURM_WORK_DIR/main.XXXXXX")

person() {
  as-reader env "HOME=$place" "DRAGOMAN_DATA_DIR=$place/data" "PATH=$DRAGOMAN_SLURM_DIR/bin:/usr/local/bin:/usr/bin:/bin" \
    'DRAGOMAN_APPROVAL_RULES=[{"name": "the throw-away cluster at no cost", "sites": ["cluster"], "max_cost": 0}]' "$@"
}

finish() {
  person "$DRAGOMAN" db stop >/dev/null 2>&1 || true
  if [ "$was_up" ]; then rm -rf -- "$place"; else "$HERE/cluster.sh" down; fi
}
trap finish EXIT

cp "$HERE"/../../examples/pi/* "$HERE/../../examples/fleet-slurm.yaml" "$place"
cd "$place"
person "$DRAGOMAN" run "$REQUEST" --sites fleet-slurm.yaml --approve "$APPROVE"
for result in data/results/*/result.csv; do
  [ ! -e "$result" ] || cat "$result"
done
