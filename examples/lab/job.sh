#!/usr/bin/env bash
# One part of the run on one device, whatever scheduler starts it:
#
#     ./job.sh alpha/soft:cx7 1/2 [OPTIONS OF mkeyspec run]
#
# mkeyspec must be on the PATH. The stream of results is in reports/*-lab-*/; the exit code is that of the run.
set -euo pipefail
cd "$(dirname "$0")"
device=$1 part=$2
shift 2
junit=reports/junit-${device//[^A-Za-z0-9]/-}-${part//\//-of-}.xml
exec mkeyspec run --lab lab.toml --pair "$device" --shard "$part" --junit "$junit" "$@"
