#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up PyTorch and its NPU backend, builds, runs the tests of the backend on the simulator. Arguments go to pytest:
# scripts/torch_npu.sh -k softmax
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  echo "Usage: scripts/torch_npu.sh [pytest arguments]"
  echo
  echo "Installs torch 2.13.0 into .venv and torch_npu 2.13.0 into build/torch_npu, builds, and runs tests/torch_backend with the"
  echo "simulator in CANN's place. torch_npu has a folder of its own because torch loads it wherever it finds it, and that fails"
  echo "without CANN or the simulator."
  exit 0
fi

need_compiler
set_up test
if ! "$venv/bin/python" -I -c 'import torch, sys; sys.exit(not torch.__version__.startswith("2.13.0"))' 2>/dev/null; then
  echo "installing torch"
  install_torch || fail "pip could not install torch 2.13.0. Next: read the message above"
fi
folder=$root/build/torch_npu
if [[ ! -d $folder/torch_npu ]]; then
  echo "installing torch_npu into $folder"
  install --no-deps --target "$folder" torch_npu==2.13.0 || fail "pip could not install torch_npu. Next: read the message above"
fi
"$venv/bin/aclgrad" build
cd "$root"
# Some tests plant faults, whose findings are no failure of pytest.
PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} exec "$venv/bin/aclgrad" exec --allow-findings -- "$venv/bin/python" -m pytest -n auto tests/torch_backend "$@"
