#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything with AddressSanitizer and UBSan and runs the fuzzer on it, in as many processes as there are cores.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/fuzz.sh [options]

Sets up .venv, builds into build/fuzz with AddressSanitizer and UBSan, calls the operators with random arguments and compares
every code and every result with the specs. A failure prints one line that repeats it. See docs/testing.md.

  --count N     cases (default: 200000)
  --seed N      first seed; one case per seed (default: 0)
  --op OP       only this operator; repeatable
  --jobs N      processes that run cases (default: one per core)
  --no-build    use build/fuzz as it is
  --help        this text

Environment: SANITIZE (default address,undefined), NINJA_JOBS (parallel compilations).
TEXT
}

build=1
args=(--count 200000)
while (($#)); do
  if [[ $1 == --*=* ]]; then
    set -- "${1%%=*}" "${1#*=}" "${@:2}"
  fi
  case $1 in
    --count | --seed | --op | --jobs | --timeout | --log-dir)
      (($# > 1)) || fail "$1: a value is missing. Next: scripts/fuzz.sh --help"
      args+=("$1" "$2") && shift 2
      ;;
    --verbose) args+=("$1") && shift ;;
    --no-build) build=0 && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1. Next: scripts/fuzz.sh --help" ;;
  esac
done

sanitize=${SANITIZE:-address,undefined}
need_compiler
set_up test
folder=$root/build/fuzz
cd "$root"
if ((build)); then
  echo "building with -fsanitize=$sanitize into $folder"
  PATH=$venv/bin:$PATH quietly cmake -S "$root" -B "$folder" -G Ninja -DACLGRAD_SANITIZE="$sanitize" \
    -DPython3_EXECUTABLE="$venv/bin/python" || fail "CMake failed. Next: read the message above"
  PATH=$venv/bin:$PATH quietly ninja -C "$folder" ${NINJA_JOBS:+-j "$NINJA_JOBS"} ||
    fail "the build failed. Next: read the message above"
fi
[[ -d $folder/toolkit ]] || fail "$folder/toolkit does not exist. Next: run scripts/fuzz.sh without --no-build"

# Python itself is not instrumented: the run-time libraries must be there before it starts.
preload=()
for name in asan ubsan; do
  [[ $sanitize == *address* || $name != asan ]] || continue
  [[ $sanitize == *undefined* || $name != ubsan ]] || continue
  library=$("${CXX:-g++}" -print-file-name="lib$name.so")
  [[ -f $library ]] || fail "lib$name.so is not installed. Next: apt-get install g++, or set CXX=g++"
  preload+=("$library")
done

export ACLGRAD_TOOLKIT=$folder/toolkit PYTHONPATH=$root/python:$root/tests
# The interpreter never frees everything; the fuzzer looks for leaks by itself.
export ASAN_OPTIONS=halt_on_error=1:detect_leaks=0:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}
LD_PRELOAD="${preload[*]}" exec "$venv/bin/python" -m fuzz.run "${args[@]}"
