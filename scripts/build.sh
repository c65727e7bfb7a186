#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare checkout to a precision table: environment, build, standard cases, report.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/build.sh [options]

Sets up .venv, builds the simulator and the operators, runs each operator over its standard cases against golden data,
prints the precision table and writes report/precision.json. A second run rebuilds only what changed.

  --ops A,B         only these operators, e.g. softmax_grad (default: all)
  --soc NAME        simulated SoC (default: $ACLGRAD_SOC or Ascend910B2)
  --device sim|npu  where the cases run (default: sim)
  --debug           compile without optimisation, for gdb
  --fast            shorter case grid
  --no-test         build only
  --jobs N          parallel compilations (default: Ninja's choice)
  --help            this text
TEXT
}

ops=() build=() test=()
run_tests=1
while (($#)); do
  # --name=value is --name value.
  if [[ $1 == --*=* ]]; then
    set -- "${1%%=*}" "${1#*=}" "${@:2}"
  fi
  case $1 in
    --ops | --soc | --device | --jobs)
      (($# > 1)) || fail "$1: a value is missing. Next: scripts/build.sh --help"
      ;;&
    --ops) IFS=', ' read -ra ops <<<"$2" && shift 2 ;;
    --soc | --device) test+=("$1" "$2") && shift 2 ;;
    --jobs) build+=("$1" "$2") && shift 2 ;;
    --debug) build+=("$1") && shift ;;
    --fast) test+=("$1") && shift ;;
    --no-test) run_tests=0 && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1. Next: scripts/build.sh --help" ;;
  esac
done

need_compiler
set_up test
"$venv/bin/aclgrad" build "${ops[@]}" "${build[@]}"
if ((run_tests)); then
  "$venv/bin/aclgrad" test "${ops[@]}" "${test[@]}" --report "$root/report"
fi
