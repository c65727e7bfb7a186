# SPDX-License-Identifier: Apache-2.0
"""Campaigns: what a file may say, cases that end their process, and clusters that go away."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from aclgrad.campaign import expand, run_campaign
from aclgrad.campaign.plans import axes, description
from aclgrad.campaign.plans.description import CampaignError
from aclgrad.campaign.results.store import Ranges, Store
from aclgrad.campaign.workers import checkout_actions, cluster, worker
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs

pytestmark = pytest.mark.journey

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

CASES = """title = "small"
limit = 100
piece = 0.02

[[sweep]]
do = ["precision", "profile"]
operators = ["softmax_grad", "log_sigmoid_grad"]
dtypes = ["fp32", "fp16"]
shapes = ["1..5x1..40*2"]

[[sweep]]
do = "check"
operators = "softmax_grad"
dtypes = "fp32"
random = { count = 6, seed = 3, rank = [1, 3], elements = 500 }
layouts = ["contiguous", "gaps", "expanded"]
chaos = "0-2"
autosync = "off"
"""


RUNNER = {"call": "campaign_runner:Runner", "path": [str(HERE)], "document": {}}


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "aclgrad", "campaign", *map(str, words)]


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows without what differs from run to run."""
    found = Store(folder).table().to_pylist()
    for row in found:
        for name in ("wall_seconds", "retries"):
            del row[name]
    return sorted(found, key=lambda row: row["index"])


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("piece = 0.02", "pice = 0.02", 3, "pice: is not a key of a campaign file. Next: piece"),
        ("layouts =", "layout =", 16, "layout: is not a key of a campaign file. Next: layouts"),
        ('"softmax_grad", "log', '"soft_grad", "log', 7, "operators: operator: got 'soft_grad'"),
        ('"softmax_grad", "log', '"./nowhere", "log', 7, "nowhere: no such path"),
        ('["fp32", "fp16"]', '["fp32", "fp17"]', 8, "dtypes: dtype: got 'fp17'"),
        ('["fp32", "fp16"]', '["int8"]', 8, "the product is empty"),
        ('"1..5x1..40*2"', '"1..5x40..1"', 9, "shapes: got '1..5x40..1': 40..1 is empty"),
        ('["1..5x1..40*2"]', "[]", 9, "shapes: is an empty list"),
        ('shapes = ["1..5x1..40*2"]', "", 6, "do: there is no case"),
        ('do = "check"', 'do = "chekc"', 12, "Next: check"),
        ("count = 6", "counts = 6", 15, "random: got 'counts'"),
        ('"gaps", "exp', '"gap", "exp', 16, "layouts: got 'gap'"),
        ('chaos = "0-2"', 'chaos = "x"', 17, "chaos: got 'x'"),
        ("limit = 100", "limit = ", 2, "Invalid value"),
        ('autosync = "off"', 'socs = "Ascend910X"', 18, "SoC: got 'Ascend910X'"),
        ('autosync = "off"', "attributes = { dime = 1 }", 18, "dime: no operator"),
        ('autosync = "off"', "attributes = { dim = 1.5 }", 18, "dim: got 1.5, want int64_t"),
        ('autosync = "off"', 'csv = "none.csv"', 18, "none.csv: no such file"),
        ('autosync = "off"', 'search = "best"', 18, "search: got 'best', want worst-ulp"),
    ],
)
def test_what_is_wrong_with_a_file(
    old: str, new: str, line: int, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.toml"
    assert old in CASES
    path.write_text(CASES.replace(old, new, 1))
    with pytest.raises(CampaignError) as caught:
        expand.expand(description.load(path))
    text = str(caught.value)
    assert text.startswith(f"{path}:{line}: ") and words in text and "Next: " in text, text


def test_cases_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "cases.toml"
    path.write_text(CASES)
    plan = expand.expand(description.load(path)).plan
    assert plan.size == 4 * 5 * 6 + 6 * 3 * 3
    cells = [plan.cell(number) for number in range(plan.size)]
    assert len({json.dumps(cell.about()) for cell in cells}) == plan.size
    first = [cell.shape for cell in cells[:30]]
    assert first == [(rows, columns) for rows in range(1, 6) for columns in (1, 2, 4, 8, 16, 32)]
    assert [cell.chaos for cell in cells[120:123]] == [0, 1, 2]
    for number, cell in enumerate(cells):
        assert cell.index == number and cell == plan.cell(number)
    with pytest.raises(ValueError, match="got case 174"):
        plan.cell(plan.size)


def test_a_million_cases_are_not_listed(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text('operators = "softmax_grad"\ndtypes = "fp32"\nshapes = "1..1000x1..1000"\n')
    plan = expand.expand(description.load(path)).plan
    assert plan.size == 1_000_000 and plan.cell(999_999).shape == (1000, 1000)
    assert len(json.dumps(plan.document)) < 2000


def test_random_shapes_keep_within_bounds() -> None:
    drawn = axes.drawn({"count": 200, "seed": 5, "rank": [1, 4], "dim": [2, 900], "elements": 5000})
    shapes = [drawn[at] for at in range(200)]
    assert {len(shape) for shape in shapes} == {1, 2, 3, 4}
    assert all(2 <= dim <= 900 for shape in shapes for dim in shape)
    assert shapes == [drawn[at] for at in range(200)] and len(set(shapes)) > 150


def test_shapes_of_models() -> None:
    text = "model, operator, shape\na, softmax_grad, 8x128\nb, , 3x1..4\na, softmax_grad, 8x128\n"
    assert axes.models(text) == {"softmax_grad": ["8x128"], "": ["3x1..4"]}
    with pytest.raises(ValueError, match="line 2"):
        axes.models("shape\n8y128\n")


# --- children ------------------------------------------------------------------------------------


def test_a_case_that_ends_its_process_is_a_row(tmp_path: Path) -> None:
    hand, setup = worker.Hand(), {**RUNNER, "folder": str(tmp_path)}
    try:
        fine = hand.run(setup, ["one", "two"], 60)
        ended = hand.run(setup, ["crash", "raise", "crash once", "three"], 60)
        (slow,) = hand.run(setup, ["hang"], 0.3)
    finally:
        hand.drop()
    assert fine[0]["pid"] == fine[1]["pid"] != os.getpid()
    said = [(row["name"], row["verdict"], row["retries"]) for row in [*fine, *ended, slow]]
    assert said == [
        ("one", "passed", 0),
        ("two", "passed", 0),
        ("crash", "crashed", worker.TRIES),
        ("raise", "failed", worker.TRIES),
        ("crash once", "passed", 1),
        ("three", "passed", 0),
        ("hang", "timed out", worker.TRIES),
    ]
    assert "SIGSEGV" in ended[0]["cause"] and "no such thing" in ended[1]["cause"]


# --- the store -----------------------------------------------------------------------------------


def test_ranges() -> None:
    found = Ranges.of([(5, 9), (0, 3), (2, 4), (9, 10)])
    assert list(found.missing(12)) == [(4, 5), (10, 12)] and found.count == 9
    assert [number in found for number in (3, 4, 5, 9, 10)] == [True, False, True, True, False]


def test_files_put_together_hold_the_same_rows(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    about = {"digest": "a", "version": "1"}
    store.begin(about)
    for number in range(40):
        if number != 30:
            row = {"index": number, "operator": "a b", "dtype": "fp32", "verdict": "passed"}
            store.add([{**row, "findings": ["x"], "worst_ulp": number / 2}], "1")
    before = rows(store.folder)
    kept = store.paths()[0]
    text = kept.read_bytes()
    store.gather()
    kept.write_bytes(text)  # as if it had been stopped before the last file went
    assert rows(store.folder) == before and len(store.paths()) == 2
    assert list(store.done().missing(40)) == [(30, 31)]
    assert before[3]["operator"] == "a%20b" or before[3]["operator"] == "a b"
    for changed in ({"digest": "b"}, {"version": "2"}):
        with pytest.raises(CampaignError, match="Next: --out with another folder"):
            store.begin({**about, **changed})


# --- clusters ------------------------------------------------------------------------------------


def wait_for(what: Any, ended: subprocess.Popen[Any] | None = None) -> None:
    """Until it is so, or the process has ended."""
    while not what() and (ended is None or ended.poll() is None):
        time.sleep(0.02)


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of credentials, made and named to dask as the page on campaigns says."""
    import dask
    import distributed  # noqa: F401  its defaults

    page = (ROOT / "docs" / "campaigns.md").read_text("utf-8")
    folder = tmp_path_factory.mktemp("campaign tls")
    (make,) = re.findall(r"^\((umask 077; openssl .*)\)$", page, re.M)
    subprocess.run(["bash", "-ec", make], cwd=folder, check=True, capture_output=True)
    assert (folder / "key.pem").stat().st_mode & 0o077 == 0
    (text,) = re.findall(r'title="~/.config/dask/campaign.yaml"\n(.*?)```', page, re.S)
    config = folder / "campaign.yaml"
    config.write_text(text.replace("/home/me/campaign-tls", str(folder)))
    before = os.environ.get("DASK_CONFIG")
    os.environ["DASK_CONFIG"] = str(config)
    # set() replaces what lies below a key, also defaults that distributed has at its import.
    read = yaml.safe_load(config.read_text())
    with dask.config.set(dask.config.merge(dask.config.config, read)):
        yield folder
    del os.environ["DASK_CONFIG"]
    if before is not None:
        os.environ["DASK_CONFIG"] = before


@contextmanager
def dask(
    folder: Path, workers: int, protocol: str = "tls", **env: str
) -> Iterator[tuple[str, list[Any]]]:
    """A scheduler and workers as processes; the scheduler is the first."""
    folder.mkdir()
    place = folder / "scheduler.json"
    null = subprocess.DEVNULL
    quiet: dict[str, Any] = {"stdout": null, "stderr": null, "cwd": folder}
    start: list[str] = [sys.executable, "-m"]
    scheduler = [*start, "distributed.cli.dask_scheduler", "--port", "0"]
    scheduler += ["--host", f"{protocol}://127.0.0.1"]
    processes: list[Any] = [
        subprocess.Popen([*scheduler, "--no-dashboard", "--scheduler-file", str(place)], **quiet)
    ]
    try:
        wait_for(place.is_file, processes[0])
        words = ["distributed.cli.dask_worker", "--scheduler-file", str(place), "--nthreads", "1"]
        words += ["--no-nanny", "--no-dashboard", "--local-directory", str(folder)]
        for _ in range(workers):
            one = subprocess.Popen([*start, *words], env={**os.environ, **env}, **quiet)
            processes.append(one)
        yield json.loads(place.read_text())["address"], processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def test_goes_on_after_a_worker_and_the_scheduler_are_killed(
    toolkit: Path, secured: Path, tmp_path: Path
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(CASES)
    out, whole = tmp_path / "out", tmp_path / "whole"

    def files() -> int:
        return len(list(out.glob("rows/*/*/*.parquet")))

    with dask(tmp_path / "first", 3) as (address, processes):
        client = subprocess.Popen(
            command(path, "--scheduler", address, "--out", out),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
        )  # fmt: skip
        wait_for(lambda: files() >= 2, client)
        processes[1].send_signal(signal.SIGKILL)
        there = files()
        wait_for(lambda: files() >= there + 4, client)
        processes[0].send_signal(signal.SIGKILL)
        said, _ = client.communicate()
        if client.returncode:  # else it was faster than this test
            assert client.returncode == 1 and "went away; what came is stored" in said, said
            assert 0 < len(rows(out)) < 174
    with dask(tmp_path / "second", 1) as (address, _):
        again = subprocess.run(
            command(path, "--scheduler", address, "--out", out, "--json"),
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
    assert again.returncode == 0, again.stderr
    found = json.loads(again.stdout)
    assert found["rows"] == found["cases"] == 174
    undisturbed = subprocess.run(
        command(path, "--workers", "1", "--out", whole, "--against", out, "--json"),
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert undisturbed.returncode == 0, undisturbed.stderr
    assert rows(out) == rows(whole) and len(rows(out)) == 174
    old = json.loads(undisturbed.stdout)["against"]
    assert (old["compared"], old["changed"], old["new"], old["gone"]) == (174, 0, 0, 0)
    page = (whole / "campaign.html").read_text()
    assert "softmax_grad fp32" in page and '<table class="map">' in page and "http" not in page


def test_a_worker_of_another_version_is_refused(
    toolkit: Path, secured: Path, tmp_path: Path
) -> None:
    other = dask(tmp_path / "other", 1, ACLGRAD_TOOLKIT=str(tmp_path))
    caught = pytest.raises(CampaignError)
    with other as (address, _), cluster.opened(address) as crew, caught as refused:
        crew.check()
    assert "worker tls://" in str(refused.value) and crew.version in str(refused.value)


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        refused = pytest.raises(CampaignError, match="does not answer within 0.5 s")
        with refused, cluster.opened(address, insecure=True):
            pass


def test_the_reason_for_an_end_outlives_a_client_that_cannot_close(
    secured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that is connecting again fails in close() with the error of that connection."""
    import distributed

    close = distributed.Client.close

    def fails(client: Any, **_: Any) -> None:
        close(client)
        client.status = "connecting"
        raise ValueError("IOStream is not idle; cannot convert to SSL")

    monkeypatch.setattr(distributed.Client, "close", fails)
    refused = pytest.raises(cluster.GoneError, match="is gone")
    with dask(tmp_path / "cluster", 1) as (address, _), refused, cluster.opened(address):
        raise cluster.GoneError("is gone")


# --- who may run what ----------------------------------------------------------------------------


@dataclass
class Items:
    """Hands items out one by one; ``seen`` is called while the first runs."""

    items: list[str]
    seen: Callable[[], None] = lambda: None
    rows: list[dict[str, Any]] = field(default_factory=list)

    def take(self) -> cluster.Piece | None:
        return cluster.Piece((self.items.pop(0),)) if self.items else None

    def give(self, piece: cluster.Piece, result: dict[str, Any]) -> None:
        self.seen()
        self.rows += result["rows"]


def listening() -> set[str]:
    """Sockets of this process and of its descendants that take connections."""
    tree, found = {os.getpid()}, set()
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
    for _ in range(8):
        tree |= {child for child, parent in parents.items() if parent in tree}
    for pid in tree:
        for number in Path(f"/proc/{pid}/fd").glob("*"):
            with suppress(OSError):
                found.add(os.readlink(number).removeprefix("socket:[").removesuffix("]"))
    lines = []
    for name, state, at in (("tcp", "0A", 3), ("tcp6", "0A", 3), ("unix", "01", 5)):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            flags = int(words[3], 16) if name == "unix" else 0x10000
            inode = words[6 if name == "unix" else 9]
            if words[at] == state and flags & 0x10000 and inode in found:
                lines.append(f"{name} {line}")
    return set(lines)


def test_no_port_is_open_on_this_machine(tmp_path: Path) -> None:
    before = listening()
    open_: list[set[str]] = []
    source = Items(["one", "two", "crash", "three"], lambda: open_.append(listening() - before))
    with cluster.opened(None, 2) as crew:
        crew.upload({}, RUNNER)
        crew.run(source)
    assert open_ == [set()] * 4
    assert sorted(row["name"] for row in source.rows) == ["crash", "one", "three", "two"]
    with socket.create_server(("127.0.0.1", 0)):
        assert len(listening() - before) == 1  # it would have been seen


def test_a_stop_ends_what_runs(tmp_path: Path) -> None:
    """Also a case that would take an hour, longer than a test may."""

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), cluster.opened(None, 2) as crew:
        crew.upload({}, RUNNER)
        crew.limit = 3600
        crew.run(Items(["hang", "one", "two"], stop))
    assert not [line for line in children() if "aclgrad.campaign.workers.child" in line]


def children() -> list[str]:
    """Command lines of this process's children."""
    found = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    return [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in found]


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "ws://127.0.0.1:9", "TLS://a"]
)
def test_a_scheduler_without_tls_has_to_be_asked_for(address: str, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(CASES)
    done = subprocess.run(
        command(path, "--scheduler", address), capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "DASK_CONFIG": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1 and "give --insecure-scheduler too" in done.stderr, done.stderr
    assert sorted(tmp_path.iterdir()) == [path]


def test_tls_keeps_those_out_who_have_no_key(secured: Path, tmp_path: Path) -> None:
    import dask as library

    with dask(tmp_path / "cluster", 1) as (address, _):
        assert address.startswith("tls://")
        with cluster.opened(address) as crew:
            crew.check()
        other = tmp_path / "other"
        shutil.copytree(secured, other)
        (make,) = re.findall(
            r"openssl .*(?=\)$)", (ROOT / "docs/campaigns.md").read_text("utf-8"), re.M
        )
        subprocess.run(["bash", "-ec", make], cwd=other, check=True, capture_output=True)
        theirs = f"{other}/{{}}.pem".format
        of_another = {"cert": theirs("cert"), "key": theirs("key")}
        tls = "distributed.comm.tls"
        for settings, words in (
            ({f"{tls}.client": of_another}, "does not answer within"),
            ({f"{tls}.ca-file": theirs("cert"), f"{tls}.client": of_another}, "does not answer"),
            ({f"{tls}.client.cert": None}, "this side has no credentials"),
            ({f"{tls}.client.key": "/nowhere"}, "No such file"),
            ({f"{tls}.ca-file": str(tmp_path / "campaign.yaml")}, "No such file"),
        ):
            refused = pytest.raises(CampaignError, match=words)
            with library.config.set(settings), refused, cluster.opened(address):
                pass
        plain = address.replace("tls://", "tcp://")
        refused = pytest.raises(CampaignError, match="does not answer within")
        with refused, cluster.opened(plain, insecure=True):
            pass


def test_a_second_campaign_in_a_store_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    caught = pytest.raises(CampaignError)
    other = Store(tmp_path / "deep" / ".." / "deep" / "out")
    with Store(out).held("first"), caught as refused, other.held("second"):
        pass
    assert f"another campaign writes there ('first', process {os.getpid()} on" in str(refused.value)
    assert not (tmp_path / "deep").exists()  # nothing was written


def test_a_killed_campaign_gives_its_store_back(tmp_path: Path) -> None:
    """And what it has left is removed: its temporary folder and a file that it was writing."""
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    path = tmp_path / "small.toml"
    path.write_text(CASES)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    words = command(path, "--workers", "1", "--out", out)
    first = subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    wait_for(lambda: list(out.glob("rows/*/*/*.parquet")), first)
    first.send_signal(signal.SIGSTOP)  # or it would end meanwhile
    second = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert second.returncode == 1, second.stdout
    assert f"writes there ('small', process {first.pid} on" in second.stderr, second.stderr
    first.kill()
    first.wait()
    next((out / "rows").glob("*/*")).joinpath(".aclgrad-0123456789abcdef.part").touch()
    assert list(temporary.iterdir())
    third = subprocess.run(
        [*words, "--json"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert third.returncode == 0, third.stderr
    found = json.loads(third.stdout)
    assert found["rows"] == found["cases"] == 174 == len(rows(out)) and found["ran"] < 174
    assert not list(temporary.iterdir()) and not list(out.rglob("*.part"))
    assert not (out / "campaign.lock").exists()


def test_a_store_that_is_replaced_is_not_written_to(tmp_path: Path) -> None:
    out = tmp_path / "out"
    row = {"index": 0, "operator": "a", "dtype": "fp32", "verdict": "passed"}
    with Store(out).held("first") as store:
        store.add([row], "1")
        out.rename(tmp_path / "moved")
        out.mkdir()
        with pytest.raises(CampaignError, match="was removed or moved"):
            store.add([{**row, "index": 1}], "1")
        assert not list(out.iterdir())


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ToolkitError, match=r"Next: pip install 'aclgrad\[campaign\]'"):
        cluster.need("distributed")


PYTHON_TESTS = """import os

def test_it():
    assert os.environ["WANTED"] == "yes", "this one fails"
def test_left_out():
    assert False
"""


def test_tests_of_a_python_file(toolkit: Path, tmp_path: Path) -> None:
    """A case for each set of variables; what fails is a row with its reason."""
    (tmp_path / "test_some.py").write_text(PYTHON_TESTS)
    path = tmp_path / "tests.toml"
    words = 'operators = "test_some.py"\nonly = "it"\nenvironment = { WANTED = ["yes", "no"] }\n'
    path.write_text(f'do = "unit-tests"\n{words}')
    plan = expand.expand(description.load(path)).plan
    setup, hand = {**run_campaign.setup_of(plan), "folder": ""}, worker.Hand()
    try:
        found = hand.run(setup, [(0, 2)], 60)
    finally:
        hand.drop()
    assert [row["verdict"] for row in found] == ["passed", "failed"], found
    assert "this one fails" in found[1]["cause"] and found[1]["operator"] == "test_some"
    path.write_text(f"{words}shapes = '8x8'\n")
    with pytest.raises(CampaignError, match="tests.toml:3: environment: is for"):
        expand.expand(description.load(path))


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [({"us": 4.0}, "passed"), ({"us": 1.0}, "failed"), ({"refused": "bf16"}, "passed")],
)
def test_ours_beside_theirs(
    theirs: dict[str, Any], verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Side:
        def __init__(self, answer: dict[str, Any]) -> None:
            self.answer = answer

        def run(self, item: Any, seconds: float) -> dict[str, Any]:
            return self.answer

    sides = {"Ours": Side({"us": 2.0, "share": 0.5}), "Theirs": Side(theirs)}
    actions: Any = checkout_actions.load()
    case = actions.Compared("softmax_grad", "fp32", "8x8", "Ascend910B2", ({}, []))
    monkeypatch.setattr(actions, "_compared", lambda path: {3: case})
    monkeypatch.setattr(actions._Comparison, "_child", lambda self, side, soc: sides[side])
    row = actions._Comparison()("place::3", 10)
    assert (row["verdict"], row["modelled_us"]) == (verdict, 2.0), row


def test_actions_of_a_checkout_are_refused_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout_actions, "checkout", lambda: None)
    with pytest.raises(CampaignError, match="fuzz, mutation: need a checkout.*Next: git clone"):
        checkout_actions.load.__wrapped__()


PLANTED = """limit = 300

[[sweep]]
do = ["precision", "profile"]
operators = "own"
dtypes = "fp32"
shapes = "2..5x8..40+16"
attributes = { slope = [0.5] }

[[sweep]]
do = ["precision", "profile"]
operators = "softmax_grad"
dtypes = "fp16"
random = { rank = [1, 2], dim = [1, 64], elements = 500 }
attributes = { dim = [-1, 0] }
search = "worst-share"
trials = 8

[[sweep]]
operators = "own"
dtypes = "fp32"
shapes = "1x8"
modes = "fast"
autosync = "off"
chaos = "1-4"
"""


def test_a_project_travels_and_its_fault_is_shrunk(
    toolkit: Path, operator_cache: Path, tmp_path: Path
) -> None:
    subprocess.run(
        [sys.executable, "-m", "aclgrad", "new", "own", "--like", "elementwise"],
        cwd=tmp_path, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    kernel = tmp_path / "own" / "op_kernel" / "own.cpp"
    fine = "Muls(dst, dst, slope, count)"
    assert fine in kernel.read_text()
    # The last lane of a long copy keeps what it was.
    wrong = fine.replace("count", "count > 16 ? count - 1 : count")
    text = kernel.read_text().replace(fine, wrong)
    # Nothing keeps the last instruction from overtaking the one before it, but the compiler.
    text, count = re.subn(r"\n *AscendC::PipeBarrier<PIPE_V>\(\);(\n *AscendC::Add)", r"\1", text)
    assert count == 1
    kernel.write_text(text)
    line = text[: text.index("AscendC::Maxs")].count("\n") + 1
    path, out = tmp_path / "planted.toml", tmp_path / "out"
    path.write_text(PLANTED)
    done = subprocess.run(
        command(path, "--workers", "1", "--out", out, "--json"),
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == 4 * 3 + 8 + 4 and found["verdicts"]["passed"] >= 8
    (order,) = (cause for cause in found["causes"] if cause["cause"] == "chaos-difference")
    late = f"late are only Maxs on VECTOR at own.cpp:{line}"
    assert order["shrunk"]["said"].endswith(late) and ",held=3" in order["repeat"], order
    found["causes"].remove(order)
    trials = [row for row in rows(out) if row["operator"] == "softmax_grad"]
    assert len(trials) == 8 and all(0 < row["share"] <= 1 for row in trials)
    assert len({row["shape"] for row in trials}) > 3
    (kept,) = operator_cache.glob("campaign/*/vendor")
    assert not list(kept.rglob("*float16*.so")) and list(kept.rglob("Own_float32*.so"))
    small = [cause for cause in found["causes"] if "shape" in cause.get("shrunk", {}).get("said")]
    assert small and all("cores=1" in cause["repeat"] for cause in small), found["causes"]
    words = small[0]["repeat"].split()[2:]
    again = subprocess.run(command(*words), capture_output=True, text=True, cwd=tmp_path)
    assert again.returncode == 1 and "FAILED" in again.stdout, again.stdout + again.stderr
    shape = words[-1].partition("shape=")[2].partition(",")[0]
    dims = [int(dim) for dim in shape.split("x")]
    assert 17 <= dims[0] * dims[1] <= 24, shape


@pytest.mark.parametrize("name", ["smoke", "nightly", "release"])
def test_campaigns_of_the_project(name: str) -> None:
    plan = expand.expand(description.load(ROOT / "campaigns" / f"{name}.toml")).plan
    assert plan.cell(plan.size - 1).index == plan.size - 1
    operators = {block.document["operator"] for block in plan.blocks}
    tests = {
        "test_calibrate",
        "test_limits_of_the_host",
        "test_random_order",
        "test_sanitizers",
        "test_threads",
    }
    assert operators - tests == {spec.op for spec in all_specs()}
