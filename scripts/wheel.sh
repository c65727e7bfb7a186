#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wheels and installers for x86_64 and aarch64, made on one machine and proved in an emulator.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/wheel.sh [options]

Builds the toolkit for this machine and for aarch64, and writes for each the wheel, a wheel of its debug information and the
operators' installer. Then it runs the aarch64 wheel in qemu-user and compares its results with this machine's, bit for bit.

  --arch NAME   only for x86_64 or aarch64 (default: this machine and aarch64)
  --output DIR  where to (default: dist)
  --no-prove    do not run the other machine's wheel, which takes some minutes
  --twice       build each from nothing in another folder as well, and compare the bytes
  --help        this text

For aarch64: apt-get install g++-aarch64-linux-gnu qemu-user
TEXT
}

words=()
while (($#)); do
  if [[ $1 == --*=* ]]; then
    set -- "${1%%=*}" "${1#*=}" "${@:2}"
  fi
  case $1 in
    --arch | --output)
      (($# > 1)) || fail "$1: a value is missing. Next: scripts/wheel.sh --help"
      ;;&
    --arch)
      [[ $2 == x86_64 || $2 == aarch64 ]] || fail "--arch: got $2, want x86_64 or aarch64. Next: scripts/wheel.sh --help"
      words+=("$1" "$2") && shift 2
      ;;
    --output) words+=("$1" "$(realpath -m -- "$2")") && shift 2 ;;
    --no-prove | --twice) words+=("$1") && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1. Next: scripts/wheel.sh --help" ;;
  esac
done

need_compiler
set_up test,wheel
exec "$venv/bin/python" "$root/scripts/wheel.py" "${words[@]}"
