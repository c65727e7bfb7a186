# SPDX-License-Identifier: Apache-2.0
"""The client's side of dask: a local cluster or a scheduler that is there, pieces in flight, and
what is done when something of it goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import json
import logging
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from aclgrad.campaign import worker
from aclgrad.campaign.description import CampaignError
from aclgrad.errors import ToolkitError

Json = dict[str, Any]

ANSWER_SECONDS = 10.0
"""A scheduler that does not answer for so long is not there."""

_FLYING = 3
"""Pieces for each thread of the workers that are on their way or run."""


def need_dask() -> Any:
    """Import distributed, or say what to install."""
    try:
        import distributed
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ToolkitError(
            f"campaign: {error.name} is not installed. Next: pip install 'aclgrad[campaign]'"
        ) from None
    return distributed


@dataclass(frozen=True)
class Piece:
    """What one task runs: numbers of cases, ranges of them, or cases that are written out."""

    items: tuple[Any, ...]
    search: int = -1  # number of what asked for it

    @property
    def key(self) -> str:
        """Names it among the tasks."""
        text = json.dumps([self.items, self.search], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


class Source(Protocol):
    """Hands pieces out and takes their results in."""

    def take(self) -> Piece | None:
        """The next piece; None when there is none now."""

    def give(self, piece: Piece, result: Json) -> None:
        """Rows of a piece, or {"lost": why} after it failed three times."""


class GoneError(CampaignError):
    """The scheduler went away."""


@dataclass
class Cluster:
    """Workers that run pieces."""

    client: Any
    address: str
    local: bool
    version: str
    setup_name: str = ""
    limit: float = 300.0
    retries: int = 0
    _starts: Counter[str] = field(default_factory=Counter)
    _failures: Counter[str] = field(default_factory=Counter)
    _shown: float = 0.0

    # -- before anything starts -------------------------------------------------------------------

    def check(self) -> None:
        """Refuse workers of another version, by name."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not (found := self.threads()) and time.monotonic() < deadline:
            time.sleep(0.1)
        if not found:
            raise CampaignError(
                f"--scheduler {self.address}: it has no workers. Next: dask worker {self.address}"
            )
        try:
            said = self.client.run(worker.about_worker, on_error="return")
        except Exception as error:  # of whatever is installed over there
            raise CampaignError(f"--scheduler {self.address}: {error}. Next: look at it") from None
        for name, answer in said.items():
            if isinstance(answer, Exception):
                raise CampaignError(
                    f"worker {name}: {type(answer).__name__}: {answer}. Next: install aclgrad"
                    f" {self.version} there"
                )
            if answer["version"] != self.version:
                raise CampaignError(
                    f"worker {name}: has aclgrad {answer['version']}, this is {self.version}."
                    " Next: install the same wheel there"
                )

    def socs(self) -> list[str]:
        """SoCs that the workers' simulator knows; one of them is asked, as all have one version."""
        found: list[str] = self.client.submit(worker.socs, pure=False).result()
        return found

    def upload(self, files: Mapping[str, bytes], setup: Json) -> None:
        """Have every worker, also those that come later, keep files; once each, by their names."""
        text = json.dumps(setup, sort_keys=True).encode()
        self.setup_name = f"aclgrad-{hashlib.sha256(text).hexdigest()[:16]}.json"
        with tempfile.TemporaryDirectory(prefix="aclgrad-") as folder:
            for name, data in {**files, self.setup_name: text}.items():
                path = Path(folder) / name
                path.write_bytes(data)
                self.client.upload_file(str(path), load=False)

    def threads(self) -> int:
        """How many pieces run at a time."""
        return sum(self.client.nthreads().values())

    @property
    def dashboard(self) -> str:
        """Where dask shows what it does; empty without bokeh."""
        try:
            importlib.import_module("bokeh")
        except ImportError:
            return ""
        return str(self.client.dashboard_link or "")

    # -- pieces -----------------------------------------------------------------------------------

    def run(self, source: Source) -> None:
        """Run all that a source hands out. Raises `GoneError` when the scheduler is gone."""
        distributed = need_dask()

        with contextlib.suppress(Exception):
            self.client.subscribe_topic(worker.TOPIC, self._started)
        flying: dict[Any, Piece] = {}
        again: list[Piece] = []
        room = max(_FLYING * self.threads(), 2)
        try:
            while True:
                while len(flying) < room:
                    piece = again.pop() if again else source.take()
                    if piece is None:
                        break
                    flying[self._submit(piece)] = piece
                if not flying:
                    return
                # Cancelled are those that a scheduler has taken along.
                with contextlib.suppress(TimeoutError, CancelledError, asyncio.CancelledError):
                    distributed.wait(list(flying), timeout=0.5, return_when="FIRST_COMPLETED")
                self._alive()
                for future in [future for future in flying if future.done()]:
                    piece = flying.pop(future)
                    result = self._result(future, piece)
                    future.release()
                    if result is None:
                        again.append(piece)
                    else:
                        source.give(piece, result)
                if time.monotonic() - self._shown > 2:
                    self._shown = time.monotonic()
                    room = max(_FLYING * self.threads(), 2)
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(flying))

    def _submit(self, piece: Piece) -> Any:
        try:
            return self.client.submit(
                worker.run_piece, self.setup_name, list(piece.items), self.limit, self.version,
                piece.key, key=f"piece-{piece.key}-{self._failures[piece.key]}", pure=False,
            )  # fmt: skip
        except Exception as error:
            self._alive()
            raise GoneError(self._gone()) from error

    def _result(self, future: Any, piece: Piece) -> Json | None:
        """Rows, or None to try again."""
        why = ""
        if future.status == "finished":
            try:
                result: Json = future.result(timeout=60)
            except Exception as error:
                self._alive()
                why = f"{type(error).__name__}: {error}"
            else:
                if "refused" in result:
                    raise CampaignError(
                        f"a worker has aclgrad {result['refused']}, this is {self.version}. Next:"
                        " install the same wheel there, then give the same command"
                    )
                self._starts.pop(piece.key, None)
                return result
        elif future.status == "error":
            raised = future.exception(timeout=60)
            why = f"{type(raised).__name__}: {raised}"
        else:
            raise GoneError(self._gone())
        self._failures[piece.key] += 1
        self.retries += 1
        if self._failures[piece.key] >= worker.TRIES:
            return {"lost": why}
        return None

    def _started(self, event: Any) -> None:
        """A worker has begun a piece; one that begins again was lost with its worker."""
        _, message = event
        key = message.get("piece", "")
        self._starts[key] += 1
        if self._starts[key] > 1 + self._failures[key]:
            self.retries += 1

    def _alive(self) -> None:
        comm = getattr(self.client, "scheduler_comm", None)
        if self.client.status != "running" or comm is None or comm.comm.closed():
            raise GoneError(self._gone())

    def _gone(self) -> str:
        return (
            f"the scheduler {self.address} went away; what came is stored. Next: start it, then"
            " give the same command"
        )


@contextlib.contextmanager
def opened(address: str | None, workers: int = 0) -> Iterator[Cluster]:
    """Workers of a scheduler, or of this machine when none is named."""
    distributed = need_dask()
    import dask

    # Its own words on what is lost are for those who mend dask.
    for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.client",
                 "distributed.core", "distributed.worker", "tornado.application"):  # fmt: skip
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.comm.timeouts.connect": f"{ANSWER_SECONDS:g}s",
        "distributed.client.scheduler-info-interval": "2s",
    }
    version = worker.version()
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        if address is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="aclgrad-dask-"))
            stack.callback(os.environ.pop, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED", None)
            os.environ["DASK_DISTRIBUTED__LOGGING__DISTRIBUTED"] = "critical"
            with _uninterrupted():
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers or os.cpu_count() or 1,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",
                        local_directory=folder,
                        silence_logs=logging.CRITICAL,
                    )
                )
            client = stack.enter_context(distributed.Client(cluster))
            yield Cluster(client, cluster.scheduler_address, True, version)
            return
        try:
            asyncio.run(asyncio.wait_for(_ask(distributed, address), ANSWER_SECONDS))
            client = stack.enter_context(distributed.Client(address, timeout=ANSWER_SECONDS))
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            text = str(error).partition("\n")[0]
            raise CampaignError(
                f"--scheduler {address}: does not answer within {ANSWER_SECONDS:g} s"
                f"{f' ({text})' if text else ''}. Next: dask scheduler there, and its address as it"
                " prints it"
            ) from None
        yield Cluster(client, address, False, version)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes that are started here leave Ctrl-C, which a terminal sends to all, to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def _ask(distributed: Any, address: str) -> None:
    """A client waits for ever for one that takes the connection and says nothing."""
    async with distributed.rpc(address) as scheduler:
        await scheduler.identity()


@dataclass
class _Each:
    """One item after the other."""

    items: Sequence[Any]
    done: Callable[[int, Json], None]
    at: int = 0

    def take(self) -> Piece | None:
        """The next item."""
        if self.at == len(self.items):
            return None
        self.at += 1
        return Piece((self.items[self.at - 1],), self.at - 1)

    def give(self, piece: Piece, result: Json) -> None:
        """Its row."""
        for row in result.get("rows") or lost_rows([{}], result["lost"]):
            self.done(piece.search, row)


def each(
    call: str,
    items: Sequence[Any],
    done: Callable[[int, Json], None],
    *,
    path: Sequence[Path],
    document: Any = None,
    workers: int = 0,
    limit: float = 3600.0,
    before: Sequence[str] = (),
) -> None:
    """Run ``module:name``, called with ``document`` and a folder, for each item in children of this
    machine's workers; of a range ``(first, end)`` for each number. A crash and a hang are rows with
    a verdict and a cause. Words ``before`` start the children: an environment, for one.
    """
    setup = {
        "call": call, "path": [str(folder) for folder in path], "document": document,
        "before": list(before),
    }  # fmt: skip
    with opened(None, workers) as crew:
        crew.limit = limit
        crew.upload({}, setup)
        crew.run(_Each(items, done))


def lost_rows(about: Sequence[Json], why: str) -> list[Json]:
    """Rows of cases whose piece failed three times."""
    return [
        {
            **item, "verdict": "lost", "cause": why.partition("\n")[0][:200],
            "message": why[:2000], "retries": worker.TRIES, "wall_seconds": 0.0,
        }
        for item in about
    ]  # fmt: skip
