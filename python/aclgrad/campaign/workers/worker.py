# SPDX-License-Identifier: Apache-2.0
"""What a worker does, here or of dask: one warm child for each of its threads, pieces case by case,
and a row for every case, whatever becomes of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from aclgrad import __version__
from aclgrad.campaign.workers.child import Child, ChildError
from aclgrad.runtime.toolkit import sim_root

Json = dict[str, Any]

TRIES = 3
"""A case that fails so often is a result."""

TOPIC = "aclgrad-campaign"

_PACKAGE = Path(__file__).resolve().parents[2]
_own = threading.local()


@cache
def version(*, operators: bool = True) -> str:
    """Changes with the package's code and with the simulator's libraries and operators."""
    digest = hashlib.sha256()
    root = sim_root()
    made = [*(root / "lib64").glob("*.so")]
    made += (root / "opp").rglob("*.so") if operators else ()
    for base, paths in ((_PACKAGE, _PACKAGE.rglob("*.py")), (root, made)):
        # A build of the toolkit may lie inside the package.
        for path in sorted(path for path in paths if path.is_file()):
            digest.update(f"{path.relative_to(base)}".encode() + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def about_worker() -> Json:
    """Asked of every worker before anything starts."""
    return {"version": version()}


def run_piece(
    setup_name: str, items: Sequence[object], limit: float, wanted: str, key: str
) -> Json:
    """Run the cases of a piece; ``items`` are numbers, ranges of numbers or written out cases."""
    if version() != wanted:
        return {"refused": version()}
    from distributed import get_worker

    worker = get_worker()
    with suppress(Exception):  # said for the count of retries only
        worker.log_event(TOPIC, {"piece": key})
    started = time.perf_counter()
    setup = _setup(str(worker.local_directory), setup_name)
    if not hasattr(_own, "hand"):
        _own.hand = Hand()
    rows = _own.hand.run(setup, items, limit)
    return {"rows": rows, "seconds": time.perf_counter() - started, "worker": worker.address}


@cache
def _setup(folder: str, name: str) -> Json:
    setup: Json = json.loads((Path(folder) / name).read_text("utf-8"))
    return {**setup, "folder": folder}


def spread(items: Sequence[Any]) -> list[Any]:
    """Items with each range ``(first, end)`` as its numbers."""
    found: list[object] = []
    for item in items:
        found += range(item[0], item[1]) if isinstance(item, tuple) else [item]
    return found


class Hand:
    """Runs items in a child, and when that ends in another one."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._stopped = False

    def run(self, setup: Json, items: Sequence[object], limit: float) -> list[Json]:
        """A row for each item. Raises `ChildError` after `stop`."""
        rows = []
        for item in spread(items):
            row: Json = {}
            started = time.perf_counter()
            died = ""
            for attempt in range(TRIES):
                child: Child | None = None
                try:
                    child = self._of(setup)
                    row = child.run(item, limit)
                    row["retries"] = attempt
                    if died:
                        row["died"] = died
                    break
                except ChildError as error:
                    if self._stopped:
                        raise
                    died = f"{error.kind}: {error}"[-2000:]
                    index = item if isinstance(item, int) else -1
                    about = (child and child.about) or {"index": index}
                    self.drop()
                    row = {
                        **about,
                        "verdict": {"error": "failed"}.get(error.kind, error.kind),
                        "cause": _cause(error),
                        "message": str(error)[-2000:],
                        "retries": attempt + 1,
                    }
            row["wall_seconds"] = time.perf_counter() - started
            rows.append(row)
            if self._child is not None and self._child.grown:
                self.drop()
        return rows

    def _of(self, setup: Json) -> Child:
        child = self._child
        if child is not None and (child.setup is setup or child.setup == setup):
            return child
        self.drop()
        self._child = Child(setup)
        return self._child

    def drop(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def stop(self) -> None:
        """Have `run` end in the thread that is in it."""
        self._stopped = True
        child = self._child
        if child is not None:
            child.kill()


def _cause(error: ChildError) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1 if error.kind == "error" else 0][:200] if lines else error.kind


class Socs:
    """A runner that only says which SoCs the simulator knows."""

    def __init__(self, document: Json, folder: str) -> None:
        """Nothing to set up."""

    def __call__(self, item: object) -> Json:
        """Names of the SoCs."""
        from aclgrad.runtime import open_device

        return {"socs": open_device("sim").soc_names(), "pid": os.getpid()}


def socs() -> list[str]:
    """Which SoCs this machine's simulator knows; asked in a process of its own."""
    child = Child({"call": "aclgrad.campaign.workers.worker:Socs", "document": {}, "folder": ""})
    try:
        found: list[str] = child.run(0, 60.0)["socs"]
        return found
    finally:
        child.close()
