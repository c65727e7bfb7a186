#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare checkout to a wheel and a precision table: environment, build, wheel, standard cases, report.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/build.sh [options]

Sets up .venv, builds the simulator and the operators and makes a wheel of them in dist. Then it runs each operator over
its standard cases against golden data, prints the precision table and writes report/precision.json. A second run does
only what changed. After it: source .venv/bin/activate, or in another environment pip install dist/*.whl.

  --ops A,B         only these operators, e.g. softmax_grad (default: all)
  --soc NAME        simulated SoC (default: $ACLGRAD_SOC or Ascend910B2); with --device npu the SoC to compile for
  --device sim|npu  npu: build with the CANN toolkit of ASCEND_HOME_PATH, run the cases on the NPU (default: sim)
  --debug           compile without optimisation, for gdb
  --fast            shorter case grid
  --no-test         build only: no wheel, no cases
  --pkg             build, then make the installer dist/custom_opp_<vendor>_linux-<arch>.run instead of running the cases
  --vendor NAME     vendor folder of the installer (default: aclgrad)
  --jobs N          parallel compilations (default: Ninja's choice)
  --help            this text
TEXT
}

ops=() build=() test=() package=() vendor=()
run_tests=1 make_package=0
device=sim soc=
while (($#)); do
  # --name=value is --name value.
  if [[ $1 == --*=* ]]; then
    set -- "${1%%=*}" "${1#*=}" "${@:2}"
  fi
  case $1 in
    --ops | --soc | --device | --jobs | --vendor)
      (($# > 1)) || fail "$1: a value is missing. Next: scripts/build.sh --help"
      ;;&
    --ops) IFS=', ' read -ra ops <<<"$2" && shift 2 ;;
    --soc) soc=$2 && shift 2 ;;
    --device) device=$2 && shift 2 ;;
    --vendor) vendor=("$1" "$2") && shift 2 ;;
    --pkg) make_package=1 && shift ;;
    --jobs) build+=("$1" "$2") && shift 2 ;;
    --debug) build+=("$1") && shift ;;
    --fast) test+=("$1") && shift ;;
    --no-test) run_tests=0 && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1. Next: scripts/build.sh --help" ;;
  esac
done

((!make_package || !${#ops[@]})) || fail "--pkg packs all operators. Next: leave --ops out"
((make_package || !${#vendor[@]})) || fail "--vendor names the package's folder. Next: add --pkg"

chosen=(--device "$device" ${soc:+--soc "$soc"})
package+=("${chosen[@]}")
case $device in
  sim) test+=("${chosen[@]}") ;;
  npu)
    build+=("${chosen[@]}")
    test+=(--device npu)
    # Said before anything is installed.
    [[ -n ${ASCEND_HOME_PATH:-} ]] || fail "--device npu: ASCEND_HOME_PATH is not set, so no CANN toolkit can be found. Next: \
source <CANN>/set_env.sh, or leave --device out to build for the simulator"
    ;;
  *) fail "--device: got $device, want sim or npu. Next: scripts/build.sh --help" ;;
esac

# A wheel holds all operators, optimised, for the simulator.
make_wheel=0
if ((run_tests && !make_package && !${#ops[@]})) && [[ $device == sim && " ${build[*]} " != *" --debug "* ]]; then
  make_wheel=1
fi

need_compiler
set_up test
((!make_wheel)) || set_up wheel
if [[ $device == npu ]]; then
  # The cases run with what was just built, whatever is installed.
  log=$("$venv/bin/aclgrad" build "${ops[@]}" "${build[@]}" | tee /dev/stderr)
  ASCEND_CUSTOM_OPP_PATH=$(sed -n 's/^built //p' <<<"$log")
  export ASCEND_CUSTOM_OPP_PATH
else
  "$venv/bin/aclgrad" build "${ops[@]}" "${build[@]}"
fi
if ((make_package)); then
  "$venv/bin/aclgrad" package --shipped "${package[@]}" "${vendor[@]}" --output "$root/dist"
elif ((run_tests)); then
  ((!make_wheel)) || "$venv/bin/python" "$root/scripts/wheel.py" --of-build
  "$venv/bin/aclgrad" test "${ops[@]:---shipped}" "${test[@]}" --report "$root/report"
fi
