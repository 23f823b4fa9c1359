#!/usr/bin/env bash
# What the jobs left in FOLDER (default: reports), as one: rows by device, JUnit, a page. The exit code is 1 if a part of a device
# is missing.
#
#SBATCH --job-name=mkeyspec
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-$(dirname "$0")}"
mkeyspec report junit -o reports/lab.xml "${1:-reports}"/*-lab-*
mkeyspec report html -o reports/lab.html "${1:-reports}"/*-lab-*
mkeyspec report matrix "${1:-reports}"/*-lab-*
