#!/usr/bin/env bash
# A Slurm array: a job for each part of each device. Slurm knows which host has the card (--constraint, --gres); then lab.toml
# calls that host `local`, since the job runs on it.
#
#     sbatch slurm.sh && sbatch --dependency=singleton merge.sh
#
#SBATCH --job-name=mkeyspec
#SBATCH --array=0-3
#SBATCH --time=02:00:00
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-$(dirname "$0")}"
devices=(alpha/soft:cx7 beta/soft:bf3)
parts=2
exec ./job.sh "${devices[SLURM_ARRAY_TASK_ID / parts]}" "$((SLURM_ARRAY_TASK_ID % parts + 1))/$parts"
