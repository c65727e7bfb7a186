# SPDX-License-Identifier: Apache-2.0
"""What runs pieces: threads of this process with a child each, which nobody else can reach, or the
workers of a dask scheduler, and what is done when something of it goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import json
import logging
import os
import queue
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from aclgrad.campaign.plans.description import CampaignError
from aclgrad.campaign.workers import worker
from aclgrad.common import temporary
from aclgrad.errors import ToolkitError

Json = dict[str, Any]

ANSWER_SECONDS = 10.0
"""A scheduler that does not answer for so long is not there."""

_FLYING = 3
"""Pieces for each thread of the workers that are on their way or run."""


def need(name: str) -> Any:
    """Import a package of the extra, or say what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ToolkitError(
            f"campaign: {error.name} is not installed. Next: pip install 'aclgrad[campaign]'"
        ) from None


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


class Crew(Protocol):
    """Workers that run pieces."""

    version: str
    limit: float
    retries: int

    @property
    def place(self) -> str:
        """Where they are, for people."""

    @property
    def dashboard(self) -> str:
        """Where dask shows what it does; empty where it shows nothing."""

    def check(self) -> None:
        """Refuse workers of another version, by name."""

    def socs(self) -> list[str]:
        """SoCs that the workers' simulator knows."""

    def upload(self, files: Mapping[str, bytes], setup: Json) -> None:
        """Have every worker keep files, and run what ``setup`` says."""

    def threads(self) -> int:
        """How many pieces run at a time."""

    def run(self, source: Source) -> None:
        """Run all that a source hands out."""


@dataclass
class Local:
    """Threads of this process. They talk to their children by pipes, so no port is open."""

    workers: int
    folder: Path
    version: str
    setup: Json = field(default_factory=dict)
    limit: float = 300.0
    retries: int = 0
    place: str = "this machine"
    dashboard: str = ""

    def __post_init__(self) -> None:
        """Make the threads."""
        self._pool = ThreadPoolExecutor(self.workers)
        self._all = [worker.Hand() for _ in range(self.workers)]
        self._idle: queue.SimpleQueue[worker.Hand] = queue.SimpleQueue()
        for hand in self._all:
            self._idle.put(hand)

    def close(self) -> None:
        """End the threads and their children."""
        self._pool.shutdown()
        for hand in self._all:
            hand.drop()

    def check(self) -> None:
        """See `Crew`; this is the same aclgrad."""

    def socs(self) -> list[str]:
        """See `Crew`."""
        return worker.socs()

    def upload(self, files: Mapping[str, bytes], setup: Json) -> None:
        """See `Crew`."""
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        self.setup = {**setup, "folder": str(self.folder)}

    def threads(self) -> int:
        """See `Crew`."""
        return self.workers

    def run(self, source: Source) -> None:
        """See `Crew`. Whatever ends it ends the children too."""
        flying: dict[Future[Json], Piece] = {}
        try:
            while True:
                while len(flying) < max(_FLYING * self.workers, 2):
                    piece = source.take()
                    if piece is None:
                        break
                    flying[self._pool.submit(self._result, piece)] = piece
                if not flying:
                    return
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    source.give(flying.pop(future), future.result())
        finally:
            for future in flying:
                future.cancel()
            while wait(flying, timeout=0.05).not_done:
                for hand in self._all:
                    hand.stop()

    def _result(self, piece: Piece) -> Json:
        hand = self._idle.get()
        try:
            return {"rows": hand.run(self.setup, piece.items, self.limit)}
        except Exception as error:  # such as no memory for another child
            return {"lost": f"{type(error).__name__}: {error}"}
        finally:
            self._idle.put(hand)


@dataclass
class Cluster:
    """Workers of a dask scheduler."""

    client: Any
    address: str
    version: str
    setup_name: str = ""
    limit: float = 300.0
    retries: int = 0
    _starts: Counter[str] = field(default_factory=Counter)
    _failures: Counter[str] = field(default_factory=Counter)
    _shown: float = 0.0

    # -- before anything starts -------------------------------------------------------------------

    @property
    def place(self) -> str:
        """See `Crew`."""
        return self.address

    def check(self) -> None:
        """See `Crew`."""
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
        with temporary.folder() as folder:
            for name, data in {**files, self.setup_name: text}.items():
                path = folder / name
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
        distributed = need("distributed")

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
def opened(address: str | None, workers: int = 0, *, insecure: bool = False) -> Iterator[Crew]:
    """Workers of a scheduler, or of this machine when none is named."""
    if address is not None:
        with _connected(address, insecure) as crew:
            yield crew
        return
    with temporary.folder() as folder:
        local = Local(workers or os.cpu_count() or 1, folder, worker.version())
        try:
            yield local
        finally:
            local.close()


@contextlib.contextmanager
def _connected(address: str, insecure: bool) -> Iterator[Cluster]:
    distributed = need("distributed")
    import dask

    # Its own words on what is lost are for those who fix dask.
    for name in ("distributed", "distributed.scheduler", "distributed.client", "distributed.core",
                 "distributed.worker", "tornado.application"):  # fmt: skip
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.comm.timeouts.connect": f"{ANSWER_SECONDS:g}s",
        "distributed.client.scheduler-info-interval": "2s",
    }
    with dask.config.set(settings), contextlib.ExitStack() as stack:
        security = _security(distributed, address, insecure)
        try:
            asyncio.run(asyncio.wait_for(_ask(distributed, address, security), ANSWER_SECONDS))
            client = distributed.Client(address, timeout=ANSWER_SECONDS, security=security)
            stack.callback(_closed, client)
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            text = str(error).partition("\n")[0]
            raise CampaignError(
                f"--scheduler {address}: does not answer within {ANSWER_SECONDS:g} s"
                f"{f' ({text})' if text else ''}. Next: dask scheduler there, its address as it"
                " prints it, and the same credentials here and there"
            ) from None
        yield Cluster(client, address, worker.version())


def _closed(client: Any) -> None:
    """Close a client whatever became of its scheduler. A client that is connecting again raises
    the error of that connection here, which would replace the reason why the campaign ends.
    """
    try:
        client.close(timeout=ANSWER_SECONDS)
    except Exception:
        client.status = "closed"  # or its destructor would wait once more


def _security(distributed: Any, address: str, insecure: bool) -> object:
    """Dask's settings for a connection. Refuses one that anybody could listen to or take part in,
    unless that was asked for.
    """
    import dask

    scheme, found, _ = address.partition("://")
    if not found:
        scheme = str(dask.config.get("distributed.comm.default-scheme"))
    if scheme != "tls":
        if insecure:
            return distributed.Security(require_encryption=False)
        raise CampaignError(
            f"--scheduler {address}: is not tls://, so whoever reaches that address runs code as"
            " you. Next: set up TLS as docs/campaigns.md says, or give --insecure-scheduler too if"
            " nobody else can reach it"
        )
    try:
        security = distributed.Security(require_encryption=True)
        if security.get_connection_args("client")["ssl_context"] is not None:
            return security
        why = "this side has no credentials"
    except (OSError, ssl.SSLError, ValueError) as error:
        names = (getattr(security, f"tls_{name}") for name in ("ca_file", "client_cert"))
        why = f"{' or '.join(map(str, names))}: {error}"
    raise CampaignError(
        f"--scheduler {address}: {why}. Next: name files for distributed.comm.tls.ca-file,"
        " client.cert and client.key in dask's configuration, as docs/campaigns.md says"
    )


async def _ask(distributed: Any, address: str, security: Any) -> None:
    """A client waits for ever for one that takes the connection and says nothing."""
    arguments = security.get_connection_args("client")
    async with distributed.rpc(address, connection_args=arguments) as scheduler:
        await scheduler.identity()


@dataclass
class _Each:
    """One item after the other."""

    items: Sequence[object]
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
    items: Sequence[object],
    done: Callable[[int, Json], None],
    *,
    path: Sequence[Path],
    document: object = None,
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
