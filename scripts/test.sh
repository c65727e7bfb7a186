#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up the environment, builds, runs the tests: with --all those that are marked journey too, with --quick the quick
# ones alone (tests/tiers.py), with --sanitize those of tests/sim on an instrumented build. Arguments go to pytest:
# scripts/test.sh tests/null -k naming
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  echo "Usage: scripts/test.sh [--all] [--torch] [--quick] [--coverage] [--sanitize address|thread] [pytest arguments]"
  echo
  echo "Sets up .venv, builds, runs the tests (or those named)."
  echo
  echo "  --all    the journeys too, which build whole projects, wheels and installers: what CI does"
  echo "  --torch  install torch first, the tests' second oracle"
  echo "  --quick  what is marked quick, between two edits: under a minute on two cores, after the build"
  echo "  --coverage  report/coverage/index.html says which lines of the package ran, also in processes that tests start"
  echo "  --sanitize address|thread  on a build of its own with AddressSanitizer and UBSan, or with ThreadSanitizer: tests/sim"
  echo "           but the journeys, with --quick what is marked sanitized, or the tests named"
  echo
  echo "The project's own options for pytest:"
  echo "  --device sim|npu  where operators run: with npu the tests that are marked on_board, of the installed package"
  echo "  --random-order-seed=N  the order of pytest-random-order, the same for the same N"
  echo "  --tier ordinary|quick|sanitized|journeys|all  files by their marks: tests/tiers.py"
  echo "  --seed N  other random values      --update  rewrite tests/codegen_ref"
  exit 0
fi

want_torch=0 want_journeys=0 want_quick=0 want_coverage=0 sanitizer="" selection=()
while [[ ${1:-} == --torch || ${1:-} == --quick || ${1:-} == --all || ${1:-} == --coverage || ${1:-} == --sanitize* ]]; do
  case $1 in
    --torch) want_torch=1 ;;
    --all) want_journeys=1 ;;
    --quick) want_quick=1 ;;
    --coverage) want_coverage=1 ;;
    --sanitize) sanitizer=${2:-nothing} && shift "$(($# > 1))" ;;
    --sanitize=*) sanitizer=${1#*=} ;;
  esac
  shift
done
[[ -z $sanitizer || $sanitizer == address || $sanitizer == thread ]] ||
  fail "--sanitize: got $sanitizer, want address or thread. Next: scripts/test.sh --help"
if ((want_quick)) && [[ -n $sanitizer ]]; then
  selection=(--tier sanitized tests/sim)
elif ((want_quick)); then
  selection=(--tier quick tests/null tests/sim)
elif [[ -n $sanitizer && " $*" != *" tests/"* ]]; then
  selection=(--tier ordinary tests/sim)
fi
on_board=0
[[ " $* " == *" --device npu "* || " $* " == *" --device=npu "* ]] && on_board=1
# Who names tests gets them.
if ((on_board)); then
  echo "on the NPU, with the operator package that is installed: the tests that are marked on_board"
  [[ " $*" == *" tests/"* ]] || selection=(tests/sim)
elif ((!want_journeys && ${#selection[@]} == 0)) && [[ " $*" != *" tests/"* ]]; then
  selection=(--tier ordinary)
  echo "without the journeys; --all runs them too"
fi
need_compiler
if ((want_coverage)); then
  set_up test,dev
else
  set_up test
fi
# A second oracle for a few tests; they are skipped, with the reason, without it. Not by default: it is a large download.
if ((want_torch)) && ! "$venv/bin/python" -I -c 'import torch' 2>/dev/null; then
  echo "installing torch, the second oracle of the tests"
  install_torch || fail "pip could not install torch. Next: read the message above, or leave --torch out"
fi
instrumented=()
if [[ -n $sanitizer ]]; then
  ops=()
  ((!want_quick)) || ops=(softmax_grad)
  "$venv/bin/aclgrad" build "${ops[@]}" --sanitize "$sanitizer"
  instrumented=("$venv/bin/python" -I -m aclgrad.checkout.instrumented_build "$sanitizer")
  # The simulator has handlers of its own for faults, and tests want them. They end processes whose threads are at work, and fork them.
  faults=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0
  export ASAN_OPTIONS=$faults UBSAN_OPTIONS=$faults TSAN_OPTIONS=$faults:report_thread_leaks=0:die_after_fork=0
elif ((!on_board)); then
  "$venv/bin/aclgrad" build
fi
cd "$root"
# Neighbours stay together, as they share what their module sets up; who has nothing left takes from the others.
tests=("$venv/bin/python" -m pytest -n auto --dist worksteal --durations=30 --durations-min=1 "${selection[@]}" "$@")
if [[ -n $sanitizer ]]; then
  # With a sanitizer a process has one copy of the runtime, and tests of the runtime take it down.
  worst=0
  for part in "not own_runtime" own_runtime; do
    status=0
    "${instrumented[@]}" "${tests[@]}" -m "$part" || status=$?
    ((status == 0 || status == 5 || worst > 0)) || worst=$status # 5: nothing of this part was asked for
  done
  exit "$worst"
fi
((want_coverage)) || exec "${tests[@]}"
rm -rf report/coverage
mkdir -p report/coverage
status=0
"$venv/bin/python" -I -m coverage run "${tests[@]:1}" || status=$?
"$venv/bin/python" -I -m coverage combine -q
"$venv/bin/python" -I -m coverage html -q
"$venv/bin/python" -I -m coverage report --format=total | sed 's/^/coverage of the package in per cent: /'
exit "$status"
