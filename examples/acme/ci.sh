#!/usr/bin/env bash
# What CI does, whichever CI it is: Jenkinsfile, .gitlab-ci.yml and .github/workflows/mkeyspec.yml call this.
#
#     ./ci.sh [OPTIONS OF mkeyspec run]     for example: ./ci.sh --device mlx5_0
#
# mkeyspec must be on the PATH. The exit code is that of the run; the reports are in reports/, whatever it is.
set -euo pipefail
cd "$(dirname "$0")"

mkeyspec check                              # compiles the cases; a warning is an error (mkeyspec.toml)
mkeyspec requirements coverage --own        # which ids of ours have cases
code=0
mkeyspec run -q "$@" || code=$?             # writes reports/junit.xml and the stream of results
mkeyspec report html -o reports/report.html # one page, with every failure
exit "$code"
