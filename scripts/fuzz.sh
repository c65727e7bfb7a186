#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the simulator and the operators with sanitizers and runs the fuzzer on them, in as many processes as there are cores.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/fuzz.sh [options]

Sets up .venv, builds into build/sim-address with AddressSanitizer and UBSan (or into build/sim-thread), calls the operators with
random arguments and compares every code and every result with the specs. Before that, 2, 4 and 8 threads use and destroy one
another's handles. A failure prints one line that repeats it. See docs/testing.md.

  --sanitize address|thread  AddressSanitizer and UBSan, or ThreadSanitizer (default: address)
  --count N     cases (default: 200000)
  --seed N      first seed; one case per seed (default: 0)
  --op OP       only this operator, which is all that is built; repeatable
  --steps N     steps of each thread (default: 300)
  --runtime     with --sanitize thread: the runtime's own tests as well
  --jobs N      processes that run cases (default: one per core)
  --no-build    use the build as it is
  --help        this text

Environment: NINJA_JOBS (parallel compilations).
TEXT
}

sanitize=address build=1 runtime=0 steps=300
ops=() args=(--count 200000)
while (($#)); do
  if [[ $1 == --*=* ]]; then
    set -- "${1%%=*}" "${1#*=}" "${@:2}"
  fi
  case $1 in
    --sanitize | --count | --seed | --op | --jobs | --steps | --timeout)
      (($# > 1)) || fail "$1: a value is missing. Next: scripts/fuzz.sh --help"
      case $1 in
        --sanitize) sanitize=$2 ;;
        --steps) steps=$2 ;;
        --op) ops+=("$2") && args+=("$1" "$2") ;;
        *) args+=("$1" "$2") ;;
      esac
      shift 2
      ;;
    --verbose) args+=("$1") && shift ;;
    --runtime) runtime=1 && shift ;;
    --no-build) build=0 && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1. Next: scripts/fuzz.sh --help" ;;
  esac
done
[[ $sanitize == address || $sanitize == thread ]] ||
  fail "--sanitize: got $sanitize, want address or thread. Next: scripts/fuzz.sh --help"

need_compiler
set_up test
cd "$root"
if ((build)); then
  "$venv/bin/aclgrad" build "${ops[@]}" --sanitize "$sanitize" ${NINJA_JOBS:+--jobs "$NINJA_JOBS"}
fi
export PYTHONPATH=$root/python:$root/tests
"$venv/bin/python" -m fuzz.threads --sanitize "$sanitize" --steps "$steps"
if ((runtime)); then
  # Left out: what measures time, and what counts on system calls that refuse unmapped memory, which ThreadSanitizer reads first.
  # Tests end processes whose threads are at work, and fork them.
  TSAN_OPTIONS=handle_segv=0:report_thread_leaks=0:die_after_fork=0 "$venv/bin/python" -I -m aclgrad.checkout.instrumented_build thread \
    "$venv/bin/python" -m pytest -q tests/sim/runtime/test_acl_*.py -k "not poison_is_linear and not unmapped_host_memory"
fi
exec "$venv/bin/python" -m fuzz.run --sanitize "$sanitize" "${args[@]}"
