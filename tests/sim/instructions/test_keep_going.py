# SPDX-License-Identifier: Apache-2.0
"""The option keep_going: a fault is found, the run goes on to its numbers and to the next fault."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instructions.bench import HERE, Array, Runtime, compile_kernel
from instructions.test_faults import _PLANTED, Planted, as_params
from raw_simulator import TO_DEVICE, TO_HOST

pytestmark = pytest.mark.plants_faults

_SOURCE = (HERE / "keep_going.cpp").read_text().splitlines()
_FAULT = 507035
X = np.arange(1, 1025, dtype=np.float32)
# The other one is a check's, and ends nothing.
_THROWN = [fault for fault in _PLANTED if fault.kind != "ub-scratch"]
# Nothing is left to go on with.
_ENDS = {"trap", "assert", "crash", "hang"}

_IN_UB = "done as on hardware, with what lies next to the buffer in UB"

Finding = dict[str, Any]
Run = Callable[..., tuple[int, np.ndarray[Any, Any], list[Finding]]]


def _build(toolkit: Path, folder: Path, name: str) -> ctypes.CDLL:
    flags = ("-g", "-O0", "-Wno-unused-parameter")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, name, *flags)))


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """keep_going.cpp."""
    return _build(toolkit, tmp_path_factory.mktemp("keep_going"), "keep_going")


@pytest.fixture(scope="module")
def planted(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """faults.cpp."""
    return _build(toolkit, tmp_path_factory.mktemp("planted"), "faults")


@pytest.fixture
def options(runtime: Runtime) -> Iterator[Callable[..., None]]:
    """Sets options; they are as before afterwards, and faults end cores again."""
    before: dict[str, str] = {}

    def change(**wanted: str) -> None:
        for name, value in runtime.set_options(**wanted).items():
            before.setdefault(name, value)

    yield change
    before.pop("keep_going", None)
    runtime.set_options(**before, keep_going="default")


@pytest.fixture
def run(runtime: Runtime, options: Callable[..., None]) -> Run:
    """Launches a kernel of x and y: the code, y afterwards, and the findings."""

    def launch(
        entry: Any, x: Any = X, size: int = 1024, cores: int = 1, **wanted: str
    ) -> tuple[int, np.ndarray[Any, Any], list[Finding]]:
        options(**{"keep_going": "on", **wanted})
        y = np.zeros(size, np.float32)
        blocks = [(runtime.malloc(array.nbytes), array.nbytes) for array in (x, y)]
        for (address, size_), array in zip(blocks, (x, y), strict=True):
            runtime.copy(address, array.ctypes.data, size_, TO_DEVICE)
        stream = runtime.new_stream()
        runtime.lib.aclsimClearFindings()
        runtime.enqueue("kernel", entry, stream, blocks, cores)
        code = runtime.lib.aclrtSynchronizeStream(stream)
        found = json.loads(runtime.lib.aclsimFindings().decode())
        runtime.copy(y.ctypes.data, blocks[1][0], y.nbytes, TO_HOST)
        runtime.lib.aclrtDestroyStream(stream)
        for address, _ in blocks:
            runtime.free(address)
        return code, y, [entry for entry in found if entry["severity"] == "error"]

    return launch


def _line(label: str) -> int:
    return next(i for i, text in enumerate(_SOURCE, 1) if text.endswith(f"// FAULT: {label}"))


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_what_is_in_bounds_is_copied(run: Run, library: ctypes.CDLL, mode: str) -> None:
    """The tail is cut, the other cores know nothing of it; loads and stores are both found."""
    code, y, found = run(library.short_tensors, X[:1019], 1019, cores=4, mode=mode)
    assert code == _FAULT
    assert (y == 2 * X[:1019]).all()
    assert [(one["kind"], one["at"]["line"], one["goesOn"]) for one in found] == [
        (
            "gm-out-of-bounds",
            _line("load"),
            "the 20 bytes outside the tensor were read as 0",
        ),
        ("gm-out-of-bounds", _line("store"), "the 20 bytes outside were not written"),
    ]
    assert [one["afterFault"] for one in found] == [False, True]
    assert found[0]["core"] == 3
    for one in found:
        assert f"keep-going: {one['goesOn']}" in one["text"]
    assert "it may be a consequence" in found[1]["text"]


def test_rows_are_cut_one_by_one(run: Run, library: ctypes.CDLL) -> None:
    """A row that leaves the tensor gets zeros; one behind the buffer is not written."""
    code, y, found = run(library.short_rows, X[:50], 96)
    want = np.zeros((4, 24), np.float32)
    for row in range(2):
        want[row] = [7, 7, *X[20 * row : 20 * row + 20], 7, 7]
    want[2, 2:12] = X[40:50]
    assert code == _FAULT
    assert (y.reshape(4, 24) == want).all()
    assert [one["kind"] for one in found] == ["ub-out-of-bounds", "gm-out-of-bounds"]
    assert found[0]["goesOn"] == _IN_UB
    assert found[1]["goesOn"] == "the 200 bytes outside the tensor were read as 0"


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_lanes_in_bounds_are_computed(run: Run, library: ctypes.CDLL, mode: str) -> None:
    code, y, found = run(library.lanes_past_the_end, size=256, mode=mode)
    assert code == _FAULT
    assert (y == np.repeat([1, 2], [32, 224])).all()
    # Two instructions, each with a destination and a source: one finding of each.
    assert [(one["goesOn"], one["count"]) for one in found] == [(_IN_UB, 2)] * 2


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_what_stays_in_ub_is_done(run: Run, library: ctypes.CDLL, mode: str) -> None:
    """Past its buffer an instruction reads and writes the next one, as hardware does."""
    code, y, found = run(library.into_the_next_buffer, size=96, mode=mode)
    assert code == _FAULT
    assert y[:64].tolist() == np.repeat(X[:8], 8).tolist()
    assert y[64:72].tolist() == (2 * X[:8]).tolist()
    assert y[72:80].tolist() == X[8:16].tolist()
    assert {one["kind"] for one in found} == {"ub-out-of-bounds"}
    assert {one["goesOn"] for one in found} == {_IN_UB}


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_lanes_past_ub_are_cut(run: Run, library: ctypes.CDLL, mode: str) -> None:
    code, y, found = run(library.past_ub, size=256, mode=mode)
    assert code == _FAULT
    assert (y == 2).all()
    assert [one["goesOn"] for one in found] == ["the first 256 of 400 lanes were done"]


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_a_tensor_is_cut_where_its_memory_ends(run: Run, library: ctypes.CDLL, mode: str) -> None:
    """Hardware looks at what is accessed, not at the length that a tensor has."""
    code, y, found = run(library.longer_than_its_memory, size=256, mode=mode)
    assert code == _FAULT
    assert (y == 2 * X[:256]).all()
    assert [(one["kind"], one["at"]["line"], one["goesOn"]) for one in found] == [
        ("ub-out-of-bounds", _line("longer"), "it ends where the memory ends")
    ]


@pytest.mark.parametrize("mode", ["checked", "fast"])
@pytest.mark.parametrize(
    ("kernel", "values"),
    [("gathered_in_place", X[:128:8].reshape(2, 8)[:, ::-1]), ("spread_in_place", X[:16])],
)
def test_a_repeat_is_read_before_it_is_written(
    run: Run, library: ctypes.CDLL, kernel: str, values: Array, mode: str
) -> None:
    """Gather, Gatherb and Brcb in place are faults, and still spread or exchange what was there
    before.
    """
    code, y, found = run(getattr(library, kernel), size=128, mode=mode)
    assert code == _FAULT
    assert y.tolist() == np.repeat(values, 8).tolist()
    assert {one["kind"] for one in found} == {"overlap"}
    assert {one["goesOn"] for one in found} == {"done, and each repeat reads before it writes"}


def test_scalars_outside(run: Run, library: ctypes.CDLL) -> None:
    """Those of UB are there; those of GM are read as 0, and not written."""
    code, y, found = run(library.scalars, size=256)
    assert code == _FAULT
    assert y[:3].tolist() == [5, 7, 2] and not y[3:].any()
    assert [one["goesOn"] for one in found] == [
        _IN_UB,
        _IN_UB,
        "the element was read as 0",
        "the element was not written",
    ]


def test_other_cores_outlive_a_crash(run: Run, library: ctypes.CDLL) -> None:
    """A core that ends counts as having met the others."""
    code, y, found = run(library.one_crashes, size=32, cores=4)
    assert code == _FAULT
    assert y.reshape(4, 8)[[0, 2, 3]].tolist() == [X[:8].tolist()] * 3
    assert not y.reshape(4, 8)[1].any()
    assert [(one["kind"], one["core"]) for one in found] == [("crash", 1)]
    assert found[0]["goesOn"] == "the core ends here, the others go on"


def test_equal_faults_are_counted(run: Run, library: ctypes.CDLL) -> None:
    code, _, found = run(library.again_and_again, cores=2)
    assert code == _FAULT
    assert [(one["kind"], one["count"]) for one in found] == [("gm-out-of-bounds", 40000)]


def test_host_threads_change_nothing(run: Run, library: ctypes.CDLL) -> None:
    """Findings and numbers are those of the order of the cores."""
    runs = []
    for threads in ("1", "2", "4", "2"):
        code, y, found = run(library.short_tensors, X[:700], 1019, cores=4, threads=threads)
        for one in found:
            del one["text"], one["detail"]  # they have addresses
        runs.append((code, y.tolist(), found))
    assert all(one == runs[0] for one in runs)


def test_off_is_as_ever(run: Run, library: ctypes.CDLL) -> None:
    """Without the option the first fault ends its core, also in fast mode when it is off there."""
    for options in ({"keep_going": "default"}, {"keep_going": "off", "mode": "fast"}):
        code, y, found = run(library.short_tensors, X[:1019], 1019, cores=4, **options)
        assert code == _FAULT
        assert len(found) == 1 and found[0]["goesOn"] == ""
        assert "keep-going" not in found[0]["text"]
        assert not (y[768:] == 2 * X[768:1019]).any()


def test_fast_mode_goes_on_by_itself(run: Run, runtime: Runtime, library: ctypes.CDLL) -> None:
    run(library.plain, size=256, keep_going="default", mode="fast")
    assert runtime.option("keep_going") == "on"
    code, y, _ = run(library.short_tensors, X[:1019], 1019, cores=4, keep_going="default")
    assert code == _FAULT and (y == 2 * X[:1019]).all()
    run(library.plain, size=256, keep_going="default", mode="checked")
    assert runtime.option("keep_going") == "off"


def test_later_work_of_the_stream_runs(
    runtime: Runtime, options: Callable[..., None], library: ctypes.CDLL
) -> None:
    """The stream is still in error, with what all of its launches found."""
    options(keep_going="on")
    y = np.zeros(256, np.float32)
    blocks = [(runtime.malloc(size), size) for size in (X.nbytes, 1000, 1024)]
    runtime.copy(blocks[0][0], X.ctypes.data, X.nbytes, TO_DEVICE)
    stream = runtime.new_stream()
    for entry, used in (
        (library.plain, blocks[:2]),
        (library.scalars, blocks[::2]),
        (library.plain, blocks[::2]),
    ):
        runtime.enqueue("kernel", entry, stream, used, 1)
    assert runtime.lib.aclrtSynchronizeStream(stream) == _FAULT
    text = runtime.message()
    assert "[gm-out-of-bounds]" in text and "[ub-out-of-bounds]" in text
    runtime.copy(y.ctypes.data, blocks[2][0], y.nbytes, TO_HOST)
    assert (y == X[:256]).all()
    runtime.lib.aclrtDestroyStream(stream)
    for address, _ in blocks:
        runtime.free(address)


@pytest.mark.parametrize("mode", ["checked", "fast"])
@pytest.mark.parametrize("fault", as_params(_THROWN))
def test_every_planted_fault(
    run: Run, planted: ctypes.CDLL, runtime: Runtime, fault: Planted, mode: str
) -> None:
    """Each is the first finding, as without the option, and tells how the core goes on."""
    limit = "0.1" if fault.kind == "hang" else runtime.option("hang_limit")
    soc = fault.soc or runtime.option("soc")
    code, _, found = run(
        planted[fault.name], 0 * X, soc=soc, hang_limit=limit, mode=mode, keep_going="on"
    )
    assert code == _FAULT
    thrown = [one for one in found if one["goesOn"]]
    assert fault.kind in [one["kind"] for one in thrown]
    if fault.kind not in ("queue-leak", "tiling-key-unknown"):
        assert thrown[0]["at"]["line"] == fault.line, [one["text"] for one in found]
    ends = "the core ends here" in thrown[0]["goesOn"]
    goes_on = fault.name == "divides_by_zero"  # the one crash that does
    wanted = thrown[0]["kind"] in _ENDS and not goes_on
    assert ends == wanted or thrown[0]["kind"] == "deadlock"


@pytest.mark.parametrize("value", ["", "2", "yes"])
def test_wrong_values(runtime: Runtime, value: str) -> None:
    assert runtime.lib.aclsimSetOption(b"keep_going", value.encode()) == 100000
    assert "want on (or 1), off (or 0), or default" in runtime.message()
