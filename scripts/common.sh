# SPDX-License-Identifier: Apache-2.0
# Set-up that build.sh and test.sh share: a virtual environment in .venv with what the project needs. Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

# A command that says where it is every ten seconds, and everything when it fails.
quietly() {
  local log teller status=0 begin=$SECONDS
  log=$(mktemp)
  (
    while sleep "${TELL_SECONDS:-10}" >/dev/null 2>&1; do
      printf '  after %d s: %.100s\n' "$((SECONDS - begin))" "$(tail -n 1 "$log")" >&2
    done
  ) &
  teller=$!
  "$@" >"$log" 2>&1 || status=$?
  { kill "$teller" && wait "$teller"; } 2>/dev/null || true
  ((status == 0)) || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

find_python() {
  local name
  for name in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if command -v "$name" >/dev/null &&
      "$name" -I -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  fail "no Python 3.10 or later found. Next: apt-get install python3 python3-venv, or set PYTHON"
}

make_venv() {
  local python
  python=$(find_python) || exit 1
  echo "creating $venv with $("$python" --version)"
  rm -rf "$venv"
  if ! quietly "$python" -I -m venv "$venv"; then
    rm -rf "$venv"
    fail "cannot make a virtual environment. Next: apt-get install python3-venv (or virtualenv), then run this again"
  fi
}

# install WORDS: pip, which takes for each package the very file that requirements/locked.txt names by its sum, and builds none from
# its sources, as what that takes has no sum. With ACLGRAD_NEWEST=1 it takes the newest that the package index has.
install() {
  local how=(--require-hashes --only-binary ":all:" -c "$root/requirements/locked.txt")
  [[ ${ACLGRAD_NEWEST:-} != 1 ]] || how=(--upgrade --upgrade-strategy eager)
  quietly "$venv/bin/python" -I -m pip install --disable-pip-version-check "${how[@]}" "$@"
}

# install_torch: PyTorch for CPUs alone where it is to be had. pip prefers the index, whose build brings gigabytes of CUDA, and with
# which torch_npu does not load.
install_torch() {
  local cpu
  cpu=$(grep -o '^torch==[^ ]*' "$root/requirements/other_builds.txt")
  install "$cpu" 2>/dev/null || install "${cpu%+*}"
}

# set_up EXTRAS: installs the package (editable, compiles nothing) and its extras. Does nothing when pyproject.toml, the lock, the
# extras and the names of the package's modules, which an editable installation writes down, are those of the last time.
set_up() {
  local extra extras kind=locked missing=0 wanted want words
  IFS=, read -ra extras <<<"$1"
  [[ -w $root ]] || fail "cannot write $root. Next: chmod u+w $root, or work in a copy"
  [[ ${ACLGRAD_NEWEST:-} != 1 ]] || kind=newest
  # Packages that are installed already are not compared with the lock.
  if [[ ! -f $venv/.aclgrad-$kind ]] || ! "$venv/bin/python" -I -c '' 2>/dev/null; then
    make_venv
    : >"$venv/.aclgrad-$kind"
  fi
  want=$("$venv/bin/python" -I -c 'import hashlib, pathlib, sys
names = "\n".join(sorted(map(str, pathlib.Path(sys.argv[1], "python").rglob("*.py"))))
files = [names.encode(), *(open(name, "rb").read() for name in sys.argv[2:])]
print(*(hashlib.sha256(file).hexdigest() for file in files), sys.argv[1])' \
    "$root" "$root/pyproject.toml" "$root/requirements/locked.txt" "$root/requirements/tools.in")
  for extra in "${extras[@]}"; do
    [[ -f $venv/.aclgrad-stamp-$extra && $(<"$venv/.aclgrad-stamp-$extra") == "$want" ]] || missing=1
  done
  if ((missing)); then
    echo "installing the package and its tools into $venv"
    # Distributions ship a pip that does not take sums from constraints.
    quietly "$venv/bin/python" -I -m pip install --disable-pip-version-check --no-deps --require-hashes \
      -r <("$venv/bin/python" -I "$root/scripts/lock.py" pins pip) ||
      fail "pip could not install itself. Next: read the message above, check the network and the package index (pip config list)"
    wanted=$("$venv/bin/python" -I "$root/scripts/lock.py" wanted "${extras[@]}") || fail "pyproject.toml cannot be read"
    mapfile -t words <<<"$wanted"
    install "${words[@]}" || fail "pip could not install what requirements/locked.txt names. Next: read the message above; \
docs/supply_chain.md says what the lock is, and how to go without it"
    quietly "$venv/bin/python" -I -m pip install --disable-pip-version-check --no-build-isolation --no-deps \
      -C wheel.cmake=false -e "$root" || fail "pip could not install the package. Next: read the message above"
    for extra in "${extras[@]}"; do
      echo "$want" >"$venv/.aclgrad-stamp-$extra"
    done
  fi
}

need_compiler() {
  if ! command -v "${CXX:-c++}" >/dev/null && ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    fail "no C++ compiler found. Next: apt-get install g++, or set CXX"
  fi
}
