# SPDX-License-Identifier: Apache-2.0
"""The corpus of faulty kernels: each planted fault is reported as what it is, at its lines."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aclgrad.runtime import Device
from aclgrad.spec.dtypes import FLOAT
from faulty.corpus import HERE, SEEDS, SOURCES, Fault, Simulator, build, kernels, labels, lines_of
from faulty.faults import CLASSES, HINTS, LAUNCHES, SOURCE_OF, TILING
from samples import Sample, run, samples

pytestmark = pytest.mark.plants_faults

Libraries = dict[str, ctypes.CDLL]
FAULTS = [fault for faults in CLASSES.values() for fault in faults]
RACES = [fault for fault in FAULTS if fault.race]
LINES = {source: labels(source) for source in SOURCES}
# With and without the compiler's automatic synchronisation, which three kernels rely on.
each_shape = pytest.mark.parametrize(
    ("shape", "auto_sync"),
    [
        *((shape, "on") for shape in LAUNCHES),
        *((shape, "off") for shape in LAUNCHES if shape not in ("RowStats", "GrandSum", "Relay")),
    ],
)


def _name(fault: Fault) -> str:
    return "-".join([fault.name, fault.soc, *fault.tiling]).strip("-").replace("--", "-")


def _shape(fault: Fault) -> str:
    return fault.name.partition("_")[0]


def _line(fault: Fault, label: str) -> int:
    return LINES[SOURCE_OF[_shape(fault)]][label]


@pytest.fixture(scope="module")
def simulator(toolkit: Path) -> Simulator:
    """The simulator, without the Python package on top."""
    return Simulator(toolkit)


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def libraries(
    request: pytest.FixtureRequest, toolkit: Path, tmp_path_factory: pytest.TempPathFactory
) -> Libraries:
    """The corpus, built for debugging and optimised."""
    return build(toolkit, tmp_path_factory.mktemp("corpus"), request.param)


@pytest.fixture
def options(simulator: Simulator) -> Iterator[Simulator]:
    """Puts the options back that a test sets."""
    names = ("soc", "mode", "threads", "autosync", "chaos", "held")
    before = {name: simulator.option(name) for name in names}
    yield simulator
    simulator.set_options(**before, keep_going="default")


def _entry(libraries: Libraries, kernel: str) -> ctypes._NamedFuncPointer:
    entry: ctypes._NamedFuncPointer = libraries[SOURCE_OF[kernel.partition("_")[0]]][kernel]
    return entry


@pytest.mark.parametrize("fault", [*FAULTS, *TILING], ids=_name)
def test_fault(options: Simulator, libraries: Libraries, fault: Fault) -> None:
    """The launch fails, and a finding has the kind and the lines of both ends."""
    if fault.soc:
        options.set_options(soc=fault.soc)
    options.set_options(autosync="on" if fault.auto_sync else "off")
    launch = fault.of(LAUNCHES[_shape(fault)])
    code, _, found = options.launch(_entry(libraries, fault.name), launch)
    assert code == 507035
    want = (fault.kind, [_line(fault, label) for label in (fault.at, *fault.ends)])
    got = [(finding["kind"], lines_of(finding)) for finding in found]
    assert want in got, "\n".join(finding["text"] for finding in found)
    finding = found[got.index(want)]
    assert finding["soc"] == (fault.soc or options.option("soc"))
    assert finding["op"] == "corpus"
    assert 0 <= finding["core"] < launch.cores
    assert f"[{fault.kind}]" in finding["text"]
    source = (HERE / f"{SOURCE_OF[_shape(fault)]}.cpp").read_text().splitlines()
    assert finding["at"]["text"] == source[want[1][0] - 1].strip()


# What goes on in these is what the kernel meant, so that its numbers are right.
STAY_RIGHT = {
    *("Queues_one_lane_more", "RowStats_mask_reads_beyond"),
    *("RowStats_gap_counts_blocks", "Queues_no_tail", "Queues_load_rounded_up"),
    *("Queues_store_rounded_up", "Queues_odd_half", "RowStats_row_by_columns"),
    *("Queues_freed_early", "Queues_z_freed_early", "Queues_last_not_freed"),
    *("Queues_x_free_dropped", "Queues_too_much_ub"),
    *("Queues_queue_not_initialised", "Queues_deque_dropped", "Queues_enque_dropped"),
    *("Queues_enque_twice", "Queues_freed_twice", "Queues_allocated_twice"),
    *("PingPong_nobody_sets", "PingPong_wrong_id", "PingPong_set_twice", "PingPong_never_waited"),
    *("Queues_padding_too_wide", "RowStats_stride_zero", "RowStats_cast_mode_absent"),
}


@pytest.mark.parametrize("fault", [*FAULTS, *TILING], ids=_name)
def test_fault_with_keep_going(options: Simulator, libraries: Libraries, fault: Fault) -> None:
    """The finding is there as without the option, the run ends, and the second one is no first."""
    if fault.soc:
        options.set_options(soc=fault.soc)
    options.set_options(autosync="on" if fault.auto_sync else "off", keep_going="on")
    launch = fault.of(LAUNCHES[_shape(fault)])
    code, out, found = options.launch(_entry(libraries, fault.name), launch)
    assert code == 507035
    want = (fault.kind, [_line(fault, label) for label in (fault.at, *fault.ends)])
    got = [(finding["kind"], lines_of(finding)) for finding in found]
    assert want in got, "\n".join(finding["text"] for finding in found)
    thrown = [finding for finding in found if finding["goesOn"]]
    ends = [finding["goesOn"].startswith("the core ends here") for finding in thrown]
    assert not any(ends) or fault.kind == "deadlock"
    if found[got.index(want)]["goesOn"]:  # else a check found it, and a fault may follow from it
        assert thrown[0]["kind"] == fault.kind and not thrown[0]["afterFault"]
        assert f"keep-going: {thrown[0]['goesOn']}" in thrown[0]["text"]
    if fault.name in STAY_RIGHT:
        assert out.tobytes() == launch.want.tobytes()


@each_shape
def test_correct_kernel(
    options: Simulator, libraries: Libraries, shape: str, auto_sync: str
) -> None:
    """The same source without its fault: right numbers and nothing found."""
    options.set_options(autosync=auto_sync)
    code, out, found = options.launch(_entry(libraries, f"{shape}_none"), LAUNCHES[shape])
    assert not found, "\n".join(finding["text"] for finding in found)
    assert code == 0
    assert out.tobytes() == LAUNCHES[shape].want.tobytes()


@each_shape
def test_chaos_leaves_correct_kernels_alone(
    options: Simulator, libraries: Libraries, shape: str, auto_sync: str
) -> None:
    """Every order that the synchronisation allows gives the same bits."""
    options.set_options(autosync=auto_sync)
    for mode in ("checked", "fast"):
        for seed in SEEDS:
            options.set_options(chaos=str(seed), mode=mode)
            entry = _entry(libraries, f"{shape}_none")
            code, out, found = options.launch(entry, LAUNCHES[shape])
            assert (code, found) == (0, []), f"{mode}, seed {seed}"
            assert out.tobytes() == LAUNCHES[shape].want.tobytes(), f"{mode}, seed {seed}"


@pytest.mark.parametrize("fault", RACES, ids=_name)
def test_chaos_shows_race(options: Simulator, libraries: Libraries, fault: Fault) -> None:
    """A race gives wrong numbers in some order that nothing forbids."""
    options.set_options(autosync="on" if fault.auto_sync else "off", threads="1")
    launch = LAUNCHES[_shape(fault)]
    wrong = 0
    for seed in SEEDS:
        options.set_options(chaos=str(seed))
        code, out, found = options.launch(_entry(libraries, fault.name), launch)
        assert code == 507035 and found, f"seed {seed}"
        wrong += out.tobytes() != launch.want.tobytes()
    assert wrong > 0


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_chaos_leaves_operators_alone(sample: Sample, device: Device, options: Simulator) -> None:
    """The operators' kernels order their pipes by more than luck."""
    want = run(device, sample.api, sample.arrays(FLOAT), sample.attrs).tobytes()
    for seed, held in [*((seed, "all") for seed in SEEDS), (SEEDS[0], "1+4-9"), (SEEDS[-1], "0-2")]:
        device.set_option("chaos", str(seed))
        device.set_option("held", held)
        got = run(device, sample.api, sample.arrays(FLOAT), sample.attrs).tobytes()
        assert got == want, f"seed {seed}, held {held}"
        assert bool(device.held()) == (held != "all")


@pytest.mark.parametrize("fault", HINTS, ids=_name)
def test_hint(options: Simulator, libraries: Libraries, fault: Fault) -> None:
    """The launch succeeds, with the right numbers, and one hint says what and where."""
    shape = _shape(fault)
    code, out, found = options.launch(_entry(libraries, fault.name), LAUNCHES[shape])
    assert (code, found) == (0, [])
    assert out.tobytes() == LAUNCHES[shape].want.tobytes()
    hints = {(hint["kind"], tuple(lines_of(hint))) for hint in options.findings("hint")}
    assert (fault.kind, (_line(fault, fault.at),)) in hints
    options.launch(_entry(libraries, f"{shape}_none"), LAUNCHES[shape])
    assert fault.kind not in {hint["kind"] for hint in options.findings("hint")}


def test_partial_outputs(options: Simulator, libraries: Libraries) -> None:
    """What an operator leaves unwritten on purpose is no finding, under any of its names."""
    entry = _entry(libraries, "TilesOfFloat_end_forgotten")
    launch = LAUNCHES["TilesOfFloat"]
    for names, allowed in (("z", True), ("x, corpus.z", True), ("*", True), ("other.z,y", False)):
        with options.options(partial_outputs=names):
            code, out, found = options.launch(entry, launch)
        assert (code == 0 and not found) == allowed, names
        assert out[:-16].tobytes() == launch.want[:-16].tobytes()


def test_corpus_is_whole() -> None:
    """Every faulty kernel has an entry, every class several, and faults.cpp's are on top."""
    planted = {kernel for source in SOURCES for kernel in kernels(source)}
    faulty = {kernel for kernel in planted if not kernel.endswith("_none")}
    assert faulty <= {fault.name for fault in (*FAULTS, *HINTS)}
    assert {fault.name for fault in (*FAULTS, *HINTS)} <= planted
    assert len(faulty) >= 60
    assert all(len(faults) >= 3 for faults in CLASSES.values())
    single = (HERE.parent / "instructions" / "faults.cpp").read_text()
    assert len(re.findall(r"FAULT: [\w-]+", single)) >= 30
