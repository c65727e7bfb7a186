#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds what is given away: wheels and operator packages, with sums and signatures. Tools come from the lock.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/release.sh [options]

Builds with the tools that requirements/locked.txt names by their sums, and writes the wheels and the operators' installers for
x86-64 and aarch64 (scripts/wheel.sh) and SHA256SUMS. Each has a list of its parts inside (CycloneDX).

  --output DIR  where to (default: dist)
  --sign KEY    sign all of them with this private key (PEM, RSA or EC)
  --tag         then tag the commit v<version>; signed where git signs tags
  --check       publish nothing; walk the list of docs/release.md and say of each step whether it is done
  --step N      with --check: only this step of the list
  --help        this text
TEXT
}

output=$root/dist sign=() tag=
while (($#)); do
  if [[ $1 == --*=* ]]; then
    set -- "${1%%=*}" "${1#*=}" "${@:2}"
  fi
  case $1 in
    --output | --sign)
      (($# > 1)) || fail "$1: a value is missing. Next: scripts/release.sh --help"
      ;;&
    --output) output=$(realpath -m -- "$2") && shift 2 ;;
    --sign) sign=(--sign "$(realpath -m -- "$2")") && shift 2 ;;
    --tag) tag=v$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/pyproject.toml") && shift ;;
    --check)
      set_up test,dev,docs,wheel,audit
      exec "$venv/bin/python" "$root/scripts/release_check.py" "${@:2}"
      ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1. Next: scripts/release.sh --help" ;;
  esac
done

((!${#sign[@]})) || [[ -f ${sign[1]} ]] || fail "--sign: there is no file ${sign[1]}. Next: docs/install.md shows how to make a key"
cd "$root"
if [[ $tag ]]; then
  # Said before anything is built: a tag names what is committed, once, and with its notes.
  [[ -z $(git status --porcelain) ]] || fail "--tag: something is not committed. Next: git commit"
  ! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || fail "--tag: $tag exists. Next: another version in pyproject.toml"
  grep -q "^## ${tag#v} (" CHANGELOG.md || fail "--tag: CHANGELOG.md has no heading for ${tag#v}. Next: docs/release.md"
fi
need_compiler
set_up test,dev,wheel
"$venv/bin/python" "$root/scripts/audit.py"
mkdir -p "$output"
made=$(mktemp -d)
trap 'rm -rf -- "$made"' EXIT
"$venv/bin/python" "$root/scripts/wheel.py" --no-prove --output "$made"
cp -- "$made"/*.whl "$made"/*.run "$output/"
files=("$made"/*.whl "$made"/*.run)
"$venv/bin/python" -I -m aclgrad.packaging.signing "${sign[@]}" "${files[@]/#"$made"/$output}"
if [[ $tag ]]; then
  git tag -a -m "aclgrad ${tag#v}" "$tag"
  echo "tagged $tag. Next: git push origin $tag"
fi
