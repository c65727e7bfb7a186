#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up the environment, builds, runs all tests. Arguments go to pytest: scripts/test.sh tests/null -k naming
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  echo "Usage: scripts/test.sh [pytest arguments]"
  echo
  echo "Sets up .venv, builds, runs all tests (or those named). The project's own options for pytest:"
  echo "  --device sim|npu  where operators run      --seed N  other random values      --update  rewrite tests/codegen_ref"
  exit 0
fi

need_compiler
set_up test
# A second oracle for a few tests; they are skipped, with the reason, where it cannot be had.
torch_stamp=$venv/.aclgrad-torch-tried
if [[ ! -f $torch_stamp ]]; then
  echo "installing torch (CPU), the second oracle of the tests"
  quietly "$venv/bin/python" -m pip install --disable-pip-version-check --only-binary :all: torch==2.13.0 2>/dev/null ||
    echo "torch is not available here: the tests that compare with it will be skipped"
  touch "$torch_stamp"
fi
"$venv/bin/aclgrad" build
cd "$root"
exec "$venv/bin/python" -m pytest -n auto "$@"
