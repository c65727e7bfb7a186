#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the site of docs/ into build/site, strictly: a dead link or a missing page ends it. --serve shows it while you write.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  echo "Usage: scripts/docs.sh [--serve [ADDRESS:PORT]]"
  echo
  echo "Sets up .venv with the extra 'docs' and builds the site into build/site, which reads from the folder as well."
  echo "--serve shows it at http://localhost:8000 and follows what you write."
  exit 0
fi

set_up docs
cd "$root"
"$venv/bin/python" -E -s scripts/reference.py
export NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true
if [[ ${1:-} == --serve ]]; then
  exec "$venv/bin/python" -I -m mkdocs serve --dev-addr "${2:-localhost:8000}"
fi
quietly "$venv/bin/python" -I -m mkdocs build --strict
echo "the site: build/site/index.html, in Chinese build/site/zh/index.html"
