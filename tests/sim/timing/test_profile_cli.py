# SPDX-License-Identifier: Apache-2.0
"""`aclgrad profile`: what it prints, the files it writes, what it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from aclgrad import cli
from aclgrad.cli import common
from aclgrad.profiling.calls import profile_sources
from aclgrad.runtime import Device
from chrome_trace import problems

ROOT = Path(__file__).resolve().parents[3]
PROJECT = Path(__file__).parents[1] / "projects" / "math" / "scale_add"
LANES = {"SCALAR": 1, "MTE2": 6, "VECTOR": 7, "MTE3": 8}
NEVER = re.compile(r"cycle[- ]accurate", re.I)
# What a path was found to hold is said before anything else.
FOUND = re.compile(
    r"\A\S+: (?:operator folder|msopgen project|kernel-launch project|kernels? alone|program)\b.*\n"
)
LAYOUTS = Path(__file__).parents[1] / "projects" / "layouts.asc"

Profile = Callable[..., str]


@pytest.fixture
def profile(
    device: Device, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Profile:
    """Runs the command without another Python; returns what it prints."""
    for console in (common.OUT, common.ERR):
        monkeypatch.setattr(console, "_width", 120)

    def run(*words: object, status: int = 0) -> str:
        capfd.readouterr()
        ended = cli.app(["profile", *map(str, words)], standalone_mode=False)
        out, err = capfd.readouterr()
        assert (ended or 0) == status, out + err
        assert not NEVER.search(out + err)
        return out if status == 0 else out + FOUND.sub("", err)

    return run


def test_summary(profile: Profile) -> None:
    text = profile("softmax_grad", "480x1024")
    assert re.search(r"time +\d+\.\d us \(estimate; [\d.]+ to [\d.]+ us, evidence: fitted\)", text)
    for word in (
        "bound by", "bandwidth bound", "1.00 x the floor", "48 of 48", "aiv_vec_time(us)",
        "aiv_mte2_ratio", "aiv_vec_total_cflt_ratio", "what to try next", "pipeline.h:",
    ):  # fmt: skip
        assert word in text, word


def test_json_agrees_with_itself(profile: Profile, device: Device) -> None:
    found = json.loads(profile("softmax_grad", "480x1024", "--json"))
    launch = found["launches"][0]
    assert found["kind"] == "estimate"
    assert found["low"] < found["microseconds"] < found["high"]
    assert found["microseconds"] == pytest.approx(launch["microseconds"], abs=1e-3)
    assert found["readFloorBytes"] == 2 * found["writeFloorBytes"] == 2 * 480 * 1024 * 4
    # It moves what the floor says, so the model's own bound is the same.
    assert found["gmOverFloor"] == 1
    bound = launch["boundMicroseconds"]
    assert found["bandwidthBoundMicroseconds"] == pytest.approx(bound, abs=2e-3)
    assert found["ofBandwidthBound"] == pytest.approx(bound / found["microseconds"], abs=1e-3)
    works: dict[str, float] = {}
    for row in found["lines"]:
        if not row["waits"] or "Barrier" in row["instruction"]:
            works[row["pipe"]] = works.get(row["pipe"], 0) + row["cycles"]
    for key, lane in (("mte2", "MTE2"), ("mte3", "MTE3")):
        busy = sum(core[key] for core in launch["cores"])
        assert works[lane] == pytest.approx(busy, rel=1e-3), lane
    # Results that nobody waits for at a barrier are of no line.
    busy = sum(core["vec"] for core in launch["cores"])
    assert 0.85 * busy < works["VECTOR"] <= busy * 1.001
    moved = sum(row["bytes"] for row in found["lines"])
    assert moved == launch["gmReadBytes"] + launch["gmWriteBytes"]


def test_trace_has_msopprofs_form(profile: Profile, tmp_path: Path) -> None:
    """Field by field: top level, lanes, slices, flags as pairs with an id, arrows between them."""
    path = tmp_path / "trace.json"
    words = ("softmax_grad", "480x1024", "--cores", "1,4", "--json", "--trace", path)
    launch = json.loads(profile(*words))["launches"][0]
    trace = json.loads(path.read_text())
    events = trace.pop("traceEvents")
    buffers = trace.pop("buffers")  # beside it, for the page
    assert trace == {"schemaVersion": 2, "displayTimeUnit": "ns", "profilingType": "op"}
    assert problems(events) == []
    order = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
    assert order == {"core0.veccore1": 3, "core2.veccore0": 8}
    assert [core["pid"] for core in buffers] == list(order)
    fields = {
        "M": {"name", "ph", "pid", "args"},
        "X": {"name", "cname", "ph", "ts", "dur", "pid", "tid", "args"},
        "B": {"name", "cname", "ph", "ts", "pid", "tid", "id", "args"},
        "E": {"name", "cname", "ph", "ts", "pid", "tid", "id", "args"},
        "s": {"name", "cat", "ph", "id", "ts", "pid", "tid"},
        "t": {"name", "cat", "ph", "id", "ts", "pid", "tid"},
    }
    for event in events:
        assert set(event) - {"tid"} == fields[event["ph"]] - {"tid"}, event
        if event["ph"] in "XB":
            assert set(event["args"]) - {"process_bytes"} == {"pc_addr", "code", "detail"}
            assert re.fullmatch(r"0x[0-9a-f]+", event["args"]["pc_addr"])
            assert re.search(r"\.(h|cpp):\d+$", event["args"]["code"])
            assert event["args"].get("process_bytes", "1").isdigit()
        if event["name"] == "thread_sort_index":
            assert event["args"]["sort_index"] == LANES[event["tid"]]
        if event["name"] == "BAR":
            assert event["dur"] * launch["mhz"] <= 2  # a cycle, or 1 ns
    colours = {(e["tid"], e["cname"]) for e in events if e["ph"] == "X"}
    assert colours <= {
        ("SCALAR", "startup"), ("VECTOR", "cq_build_failed"), ("MTE2", "thread_state_iowait"),
        ("MTE3", "rail_response"),
    }  # fmt: skip
    ends = [event["ts"] + event["dur"] for event in events if event["ph"] == "X"]
    cycles = max(launch["cores"][core]["cycles"] for core in (1, 4))
    assert max(ends) == pytest.approx(cycles / launch["mhz"], abs=2e-3)  # microseconds
    flags: dict[str, dict[str, float]] = {}
    for event in events:
        if event["name"] in ("SET_FLAG", "WAIT_FLAG"):
            flags.setdefault(event["id"], {})[event["name"] + event["ph"]] = event["ts"]
            assert event["cname"] == ("black" if event["name"] == "SET_FLAG" else "yellow")
    whole = [ends for ends in flags.values() if len(ends) == 4]
    assert whole
    assert all(ends["SET_FLAGE"] <= ends["WAIT_FLAGE"] + 1e-3 for ends in whole)
    arrows = [event for event in events if event["name"] == "flow"]
    assert len(arrows) == 2 * len(whole)
    assert {event["cat"] for event in arrows} >= {"MTE2ToVECTOR", "VECTORToMTE3"}
    for event in arrows:
        ends_of = dict(zip("st", event["cat"].split("To"), strict=True))
        assert event["tid"] == ends_of[event["ph"]]
    copies = [event for event in events if "process_bytes" in event.get("args", {})]
    assert {event["tid"] for event in copies} == {"MTE2", "MTE3"}
    bytes_of = sum(int(event["args"]["process_bytes"]) for event in copies)
    moved = [launch["cores"][core] for core in (1, 4)]
    assert bytes_of == sum(core["readBytes"] + core["writeBytes"] for core in moved)


def planted(**changes: Any) -> list[dict[str, Any]]:
    """A short trace that is right, but for the changes: by index of an event, or its removal."""
    lane = {"pid": "core0", "tid": "MTE2"}
    events: list[dict[str, Any]] = [
        {"ph": "X", "name": "Copy", "ts": 0.0, "dur": 0.1, **lane},
        {"ph": "B", "name": "SET_FLAG", "ts": 0.099, "id": "1", **lane},
        {"ph": "s", "name": "flow", "ts": 0.099, "id": "1", **lane},
        {"ph": "E", "name": "SET_FLAG", "ts": 0.1, "id": "1", **lane},
        {"ph": "B", "name": "WAIT_FLAG", "ts": 0.05, "id": "1", "pid": "core0", "tid": "VECTOR"},
        {"ph": "t", "name": "flow", "ts": 0.1, "id": "1", "pid": "core0", "tid": "VECTOR"},
        {"ph": "E", "name": "WAIT_FLAG", "ts": 0.101, "id": "1", "pid": "core0", "tid": "VECTOR"},
        {"ph": "X", "name": "Copy", "ts": 0.1, "dur": 0.1, **lane},
    ]
    for name, change in changes.items():
        index = int(name.removeprefix("event"))
        events[index] = {**events[index], **change} if change else {}
    return [event for event in events if event]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"event7": {"ts": 0.05}}, "time goes back"),
        ({"event0": {"dur": 0.2}, "event7": {"dur": 0.2}}, "a slice reaches out"),
        ({"event3": None}, "has no end"),
        ({"event1": None}, "an end of nothing"),
        ({"event1": {"ts": 0.1}, "event2": {"ts": 0.1}}, "an end of nothing"),  # no length
        ({"event5": None}, "an arrow without an end"),
        ({"event2": None}, "an arrow's end before its start"),
        ({"event5": {"ts": 0.098}}, "an arrow's end before its start"),
        ({"event5": {"ts": 0.04}, "event4": {"id": "2"}}, "an arrow that ends in no slice"),
        ({"event2": {"id": "core0_1"}}, "an id that is no number"),
    ],
)
def test_broken_traces_are_noticed(changes: dict[str, Any], problem: str) -> None:
    found = problems(planted(**changes))
    assert any(problem in one for one in found) if problem else not found


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_csv(profile: Profile, tmp_path: Path) -> None:
    found = json.loads(profile("softmax_grad", "480x1024", "--json", "--csv", tmp_path))
    launch = found["launches"][0]
    pipes = read_csv(tmp_path / "PipeUtilization.csv")
    assert len(pipes) == 48
    assert list(pipes[0])[:6] == [
        "block_id", "sub_block_id", "aiv_time(us)", "aiv_total_cycles", "aiv_vec_time(us)",
        "aiv_vec_ratio",
    ]  # fmt: skip
    for row, core in zip(pipes, launch["cores"], strict=True):
        assert float(row["aiv_mte2_ratio"]) == pytest.approx(
            core["mte2"] / (core["cycles"] - core["start"]), abs=1e-3
        )
    conflicts = read_csv(tmp_path / "ResourceConflictRatio.csv")
    assert list(conflicts[0]) == [
        "block_id", "sub_block_id", "aiv_time(us)", "aiv_total_cycles", "aiv_vec_total_cflt_ratio",
        "aiv_vec_bankgroup_cflt_ratio", "aiv_vec_bank_cflt_ratio", "aiv_vec_wait_ratio",
        "aiv_mte2_wait_ratio", "aiv_mte3_wait_ratio",
    ]  # fmt: skip
    times = [core["cycles"] - core["start"] for core in launch["cores"]]
    shown = [times[core] for core in launch["shown"]]
    assert shown[:2] == pytest.approx([max(times), min(times)], abs=0.2)
    code = read_csv(tmp_path / "core0.veccore0" / "core0.veccore0_code_exe.csv")
    assert list(code[0]) == ["code", "call_count", "cycles", "running_time(us)"]
    instructions = read_csv(tmp_path / "core0.veccore0" / "core0.veccore0_instr_exe.csv")
    assert list(instructions[0]) == [
        "instr", "addr", "pipe", "call_count", "cycles", "running_time(us)", "detail",
    ]  # fmt: skip
    works = sum(float(row["cycles"]) for row in instructions if row["instr"].startswith("DataCopy"))
    core = launch["cores"][0]
    assert works == pytest.approx(core["mte2"] + core["mte3"], rel=1e-3)


def embedded(page: str) -> Any:
    """The data of a page; nothing in it may come from elsewhere."""
    assert not re.search(r"""(src|href)=["'](?!data:,)""", page)
    assert not re.search(r"https?://|@import|url\(", page)
    assert not NEVER.search(page)
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert text is not None
    return json.loads(text[1])


def test_page(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    found = json.loads(profile("softmax_grad", "480x1024", "--json", "--html", path))
    page = path.read_text("utf-8")
    (timeline,) = embedded(page)
    assert len(page) < 2_000_000
    assert timeline["kept"] == timeline["total"] == sum(len(x["slices"]) for x in timeline["lanes"])
    assert {lane["lane"] for lane in timeline["lanes"]} == set(LANES)
    cycles = found["launches"][0]["cycles"]
    for lane in timeline["lanes"]:
        for start, length, _, name, code, *_ in lane["slices"]:
            assert 0 <= start <= start + length <= cycles + 2
            assert timeline["words"][name]
            assert ":" in timeline["words"][code]
    peak = found["launches"][0]["ubPeakBytes"]
    for core in timeline["ub"]:
        names = [name for name, _, _ in core["rows"]]
        assert {"inQueue_ 1", "inQueue_ 2", "sums_"} <= set(names)
        assert max(offset + size for _, offset, size in core["rows"]) <= peak <= core["bytes"]
        of_row = [
            [(s, s + n) for row, s, n in core["uses"] if row == at] for at in range(len(names))
        ]
        assert all(0 <= start < end <= cycles + 2 for uses in of_row for start, end in uses)
        # A buffer is filled anew behind its FreeTensor only.
        assert all(one[1] <= two[0] + 1 for uses in of_row for one, two in pairwise(uses))
        assert len(of_row[names.index("outQueue_")]) == 2
    for word in ("Roofline", "What to try next", "pipeline.h:", "By instruction", "estimate"):
        assert word in page, word


def test_long_timelines_are_merged(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer slices, the same work."""
    from aclgrad.profiling.pages import page as profiling_page

    path = tmp_path / "page.html"
    busy = []
    for most in (profiling_page.MOST_SLICES, 120):
        monkeypatch.setattr(profiling_page, "MOST_SLICES", most)
        profile("softmax_grad", "4800x512", "--cores", "0", "--html", path)
        (timeline,) = embedded(path.read_text("utf-8"))
        lane = next(lane for lane in timeline["lanes"] if lane["lane"] == "VECTOR")
        busy.append(sum(item[7] for item in lane["slices"]))
        assert timeline["kept"] <= most
    assert timeline["kept"] < timeline["total"] / 2
    assert "neighbours that are too short" in path.read_text("utf-8")
    assert busy[1] == pytest.approx(busy[0], rel=0.01)


def test_too_much_for_a_timeline(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aclgrad.profiling.pages import page as profiling_page

    monkeypatch.setattr(profiling_page, "_MOST_STEPS", 10)
    path = tmp_path / "page.html"
    profile("softmax_grad", "480x1024", "--html", path)
    (timeline,) = embedded(path.read_text("utf-8"))
    assert timeline["lanes"] == []
    assert "are too many for a timeline here" in path.read_text("utf-8")


def test_lines_need_no_other_program(tmp_path: Path) -> None:
    """They are read in the process, as a process per line would take most of a small profile."""
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "profile", "softmax_grad", "8x16", "--json"],
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = json.loads(done.stdout)["lines"]
    assert any(".h:" in line["code"] for line in lines), lines


def test_compare(profile: Profile, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("softmax_grad", "480x1024")
    text = profile(*words, "--compare", "cores=24", "--html", page)
    row = next(line for line in text.splitlines() if "estimate us" in line)
    before, after, ratio = map(float, re.findall(r"[\d.]+", row))
    assert after > before
    assert ratio == pytest.approx(after / before, abs=0.02)
    first, second = embedded(page.read_text("utf-8"))
    assert first["end"] == second["end"]
    assert "cores=24" in second["title"]
    both = json.loads(profile(*words, "--compare", "dtype=fp16", "--json"))
    assert both["b"]["readFloorBytes"] * 2 == both["a"]["readFloorBytes"]
    saved = tmp_path / "before.json"
    saved.write_text(profile(*words, "--json"))
    same = json.loads(profile(*words, "--compare", saved, "--json", "--html", page))
    assert same["ratio"] == 1
    assert "read from a file" in page.read_text("utf-8")


def test_sweep(profile: Profile, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = profile("log_sigmoid_grad", "--sweep", "64x64..256,512x512", "--html", page)
    times = [float(time) for time in re.findall(r"│ \d+x\d+ +│ +([\d.]+) │", text)]
    assert len(times) == 4
    assert times == sorted(times)
    assert embedded(page.read_text("utf-8")) == []
    assert page.read_text("utf-8").count('<svg class="plot xy"') == 2


def test_operator_from_sources(
    profile: Profile, tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", "")
    found = json.loads(profile(PROJECT, "48x256", "--attr", "scale=3", "--json"))
    assert found["name"] == "ScaleAdd"
    assert found["readFloorBytes"] == found["writeFloorBytes"] == 48 * 256 * 4
    assert any(row["code"].endswith("scale_add.cpp:30") for row in found["lines"])
    given = [[np.zeros((48, 256), np.float32)]]
    again = profile_sources(str(PROJECT), given, ["scale=3"], device=device)
    assert again.us == pytest.approx(found["microseconds"], abs=1e-3)


def test_kernel_file(profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel without op_host: what its tiling would say is given, and can be compared."""
    words = [
        ROOT / "examples/own_kernel/scale.cpp", "64x256", "--dtype", "fp16", "--outputs",
        "64x256:fp16", "--tiling", "u32:16384",
    ]  # fmt: skip
    both = json.loads(profile(*words, "--compare", "blocks=8", "--json"))
    alone, spread = both["a"], both["b"]
    assert alone["gmOverFloor"] == spread["gmOverFloor"] == 1
    assert (len(alone["launches"][0]["cores"]), len(spread["launches"][0]["cores"])) == (1, 8)
    assert spread["microseconds"] < alone["microseconds"]
    assert spread["note"] == "blocks=8 tiling=u32:16384"
    words[1] = "64x256:int16"  # a dtype without a short name
    assert json.loads(profile(*words, "--json"))["dtype"] == "int16"
    assert "comes with op_host" in profile(PROJECT, "48x256", "--blocks", "2", status=1)
    assert "is for operators that come as sources" in profile(
        "softmax_grad", "4x4", "--blocks", "2", status=1
    )


PROGRAM = """\
#include <cstdlib>
#include "acl/acl.h"
#include "kernel_operator.h"

__global__ __aicore__ void doubled(GM_ADDR x, uint32_t times, int32_t lost) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  AscendC::LocalTensor<float> tile = buffer.Get<float>();
  AscendC::GlobalTensor<float> all;
  all.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  const uint32_t at = 1024 * AscendC::GetBlockIdx();
  for (uint32_t time = 0; time < times; ++time) {
    AscendC::DataCopy(tile, all[at], 1024);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::Adds(tile, tile, 1.0f, 1024);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(all[at], tile, 1024);
    AscendC::PipeBarrier<PIPE_ALL>();
  }
  if (lost != 0) AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(0);
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 2;
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t* x = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&x), 65536, ACL_MEM_MALLOC_HUGE_FIRST);
  for (int i = 1; i <= launches; ++i) doubled<<<4 * i, nullptr, stream>>>(x, 4 / i, argc > 2);
  aclrtSynchronizeStream(stream);
  return launches > 2 ? 9 : 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with two launches."""
    path = tmp_path_factory.mktemp("program") / "twice.asc"
    path.write_text(PROGRAM)
    return path


def test_program(profile: Profile, program: Path, tmp_path: Path) -> None:
    """Every launch of a program becomes a profile: table, page, traces, CSV files."""
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    made = ("--html", page, "--trace", trace, "--csv", tmp_path / "csv", "--cores", "1")
    text = profile(program, *made)
    assert re.search(r"│ +1 │ doubled │ +4 │.*│ +2 │ doubled │ +8 │", text, re.S)
    for name, cores in (("trace.json", 4), ("trace.launch2.json", 8)):
        events = json.loads((tmp_path / name).read_text())["traceEvents"]
        assert {event["pid"] for event in events} == {"core0.veccore1"}
        folder = tmp_path / "csv" / ("launch2" if cores == 8 else "")
        assert len(read_csv(folder / "PipeUtilization.csv")) == cores
        assert (folder / "core0.veccore1" / "core0.veccore1_code_exe.csv").is_file()
    timelines = embedded(page.read_text("utf-8"))
    assert len(timelines) == 2
    assert all(timeline["kept"] for timeline in timelines)
    assert page.read_text("utf-8").count("twice.asc launch 2 of 2: doubled") >= 1

    both = json.loads(profile(program, "--compare", "shape=1", "--json"))
    assert [len(both[which]["launches"]) for which in "ab"] == [2, 1]
    first = both["a"]
    # Four times 4 KiB in and out on 4 cores; once is the floor.
    assert first["floors"] == [[16384, 16384], [32768, 32768]]
    assert first["gmOverFloor"] == pytest.approx(
        (4 * 32768 + 2 * 65536) / (32768 + 65536), abs=1e-4
    )
    assert first["microseconds"] == pytest.approx(
        sum(launch["microseconds"] for launch in first["launches"]), abs=1e-3
    )
    assert any(row["code"].endswith("twice.asc:14") for row in first["lines"])


def test_program_that_fails(profile: Profile, program: Path) -> None:
    for words, message in (
        (("0",), "without a launch, so there is nothing to time. Next: aclgrad run"),
        (("3",), "ended with status 9. Next: aclgrad run"),
        (("1", "lost"), "kernel fault [deadlock] in doubled"),
    ):
        text = profile(program, "--", *words, status=1)
        error = next(line for line in text.splitlines() if line.startswith("error: "))
        assert message in error
        assert f"-- {' '.join(words)}" in error


def test_program_goes_on_after_faults(profile: Profile, program: Path) -> None:
    """The launch is timed all the same, the fault is shown, and the status is that of a failure."""
    text = profile(program, "--keep-going", "--", "1", "lost", status=1)
    assert "twice.asc 1 lost (after 1 fault) on Ascend910B2" in text
    assert re.search(r"time +\d+\.\d us \(estimate; ", text)
    fault = text[text.index("kernel fault [deadlock] in doubled") :]
    assert "twice.asc:21" in fault and "keep-going: nothing waits here" in fault
    document = json.JSONDecoder().raw_decode(
        profile(program, "--keep-going", "--json", "--", "1", "lost", status=1)
    )[0]
    assert document["note"] == "1 lost (after 1 fault)" and document["microseconds"] > 0
    assert "after" not in profile(program, "--keep-going", "--", "1").splitlines()[0]


@pytest.mark.parametrize("suffix", [".cpp", ".asc"])
def test_kernel_without_end(suffix: str, tmp_path: Path) -> None:
    """A loop that calls nothing: the limit ends it, a process of its own with it."""
    main = "int main() { aclrtSetDevice(0); endless<<<1, nullptr, nullptr>>>(nullptr, nullptr);"
    source = tmp_path / f"endless{suffix}"
    source.write_text(
        '#include "acl/acl.h"\n#include "kernel_operator.h"\n'
        'extern "C" __global__ __aicore__ void endless(GM_ADDR x, GM_ADDR y) {\n'
        "  for (volatile int i = 0;; i = i + 1) {}\n}\n"
        + (f"{main} return aclrtSynchronizeDevice(); }}\n" if suffix == ".asc" else "")
    )
    words = ["4x4", "--outputs", "4x4:fp32"] if suffix == ".cpp" else []
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "profile", str(source), *words],
        env={**os.environ, "ACLGRAD_PROFILE_SECONDS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1
    said = re.sub(r"(?m)^aclgrad profile after \d+ s\n", "", done.stderr)  # on a busy machine
    assert FOUND.sub("", said).startswith(f"error: {source}: still running after 1 s")
    assert "Next: " in done.stderr


def test_faults_are_one_line(profile: Profile, device: Device, tmp_path: Path) -> None:
    source = tmp_path / "stuck.cpp"
    source.write_text(
        '#include "kernel_operator.h"\n'
        'extern "C" __global__ __aicore__ void stuck(GM_ADDR x, GM_ADDR y) {\n'
        "  AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(0);\n}\n"
    )
    text = profile(source, "4x4", "--outputs", "4x4:fp32", status=1)
    error = [line for line in text.splitlines() if line.startswith("error: ")]
    assert len(error) == 1
    assert "stuck.cpp: kernel fault [deadlock] in stuck" in error[0]
    assert f"Next: aclgrad run {source} --inputs ... shows the whole report" in error[0]
    device.clear_findings()
    text = profile(source, "4x4", "--outputs", "4x4:fp32", "--keep-going", status=1)
    assert "stuck 4x4 fp32 (after 1 fault) on Ascend910B2" in text
    assert "keep-going: nothing waits here" in text and not re.search("^error: ", text, re.M)
    device.clear_findings()


def test_plot_is_a_picture(profile: Profile, tmp_path: Path) -> None:
    """Each is an SVG file on its own: XML, a style, a point per shape."""
    path = tmp_path / "sweep.svg"
    profile("log_sigmoid_grad", "--sweep", "64x64..256", "--plot", path)
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    space = {"s": "http://www.w3.org/2000/svg"}
    assert len(root.findall("s:svg", space)) == 2
    assert len(root.findall(".//s:circle", space)) == 3 * 3
    assert root.find("s:style", space) is not None
    assert "the estimate's error" in path.read_text()
    profile("log_sigmoid_grad", "64x64", "--plot", path)
    assert len(ElementTree.parse(path).getroot().findall(".//s:circle", space)) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("softmax_grad", "4x4", "--soc", "Ascend1"), "Next: --soc Ascend910B\n"),
        (("softmax_grad", "0x4"), "nothing was launched"),
        (("softmax_grad", "4xx4"), "shape: got '4xx4', want dims joined by x"),
        (("softmax_grad", "4x4", "--dim", "2"), "dim: got 2, want a value in [-2, 1]"),
        (("softmax_grd", "4x4"), "want one of kl_div_loss_grad, log_sigmoid_grad,"),
        (("scaled_masked_softmax_grad_v2", "4x4"), "gradOutput: got 2 dims, want 4"),
        (("softmax_grad", "1000000x1000000"), "memory"),
        (("softmax_grad", "4x4", "--dtype", "int8"), "DT_INT8"),
        (("softmax_grad",), "got 0 shapes, want one. Next: aclgrad profile softmax_grad"),
        (("softmax_grad", "4x4", "--cores", "9"), "runs on 1 cores"),
        (("softmax_grad", "4x4", "--inputs", "a.npy"), "operators that come as sources"),
        (("softmax_grad", "4x4", "--compare", "dim=0", "--sweep", "4x4"), "keep one"),
        (("softmax_grad", "4x4", "--sweep", "4x4"), "leave SHAPE"),
        (("softmax_grad", "4x4", "--compare", "dim=0", "--csv", "x"), "leave out --compare"),
        (("softmax_grad", "4x4", "--html", "/no/where.html"), "no folder /no"),
        (
            ("softmax_grad", "4x4", "--compare", "README.json"),
            "no such file. Next: aclgrad profile",
        ),
        (("softmax_grad", "4x4", "--compare", "soc=Ascend910B5"), "Ascend910B4"),
        (("softmax_grad", "4x4", "--csv", "README.md"), "is a file. Next: name a folder"),
        (("softmax_grad", "4x4", "--html", "/proc/x.html"), "--html /proc/x.html: No such file"),
        (("softmax_grad", "4x4", "--trace", "/proc/x"), "--trace /proc/x: No such file"),
        (("softmax_grad", "4x4", "--csv", "/proc/x"), "--csv /proc/x: No such file"),
        (("softmax_grad", "4x4", "--plot", "/proc/x.svg"), "--plot /proc/x.svg: No such file"),
        (("softmax_grad", "4x4", "--plot", "x.png"), "want a picture as .svg. Next: --plot"),
        (("nowhere.asc",), "nowhere.asc: no such file or folder. Next: give"),
        ((LAYOUTS, "--blocks", "2"), "layouts.asc is a program"),
        ((LAYOUTS, "--sweep", "4x4"), "layouts.asc is a program"),
        ((PROJECT,), "no shape. Next: aclgrad profile"),
        ((PROJECT, "4x4", "--dim", "1"), "--dim 1: is for this package's operators. Next: --attr"),
        ((PROJECT, "4x4", "--inputs", "a.npy"), "4x4: no such file, and --inputs has the shapes."),
        (("softmax_grad", "4x4", "--dim", "1", "--attr", "dim=0"), "dim: got 0 and 1, which"),
        ((PROJECT, "4x4", "--attr", "scale=1", "--attr", "scale=2"), "scale: got 1 and 2, which"),
    ],
)
def test_refused(words: tuple[object, ...], message: str, profile: Profile) -> None:
    text = profile(*words, status=1)
    # The first test that builds is told how much the cache will take.
    (line,) = [line for line in text.splitlines() if not line.startswith("aclgrad: headers are")]
    assert line.startswith("error: ") and message in text and "Next: " in line


def test_nothing_beats_the_bandwidth_bound(profile: Profile) -> None:
    """Reads that bypass L2 leave it to what is written: the bound has to allow for it."""
    found = json.loads(profile("softmax_grad", "4096x1024", "--soc", "Ascend310P3", "--json"))
    assert found["readFloorBytes"] + found["writeFloorBytes"] > found["launches"][0]["l2Capacity"]
    assert 0.5 < found["ofBandwidthBound"] <= 1


def test_what_was_not_measured_says_so(profile: Profile) -> None:
    text = profile("softmax_grad", "64x64", "--soc", "Ascend310P3")
    assert "extrapolated: ranking only" in text
    assert "warning: Ascend310P3: nothing has been measured" in text
    sample = ("log_softmax_grad", "64x7x5", "--attr", "dim=1")
    partly = profile(*sample, "--soc", "Ascend950PR_9589")
    assert "ranking only" not in partly
    warning = next(line for line in partly.splitlines() if line.startswith("warning: "))
    assert warning.startswith("warning: Ascend950PR_9589: no cost of this architecture is known")
    assert "TransDataTo5HD" in warning
    assert "Exp" not in warning  # has one


def test_compare_board(profile: Profile, tmp_path: Path) -> None:
    """Another SoC's estimate stands for a board: msopprof's files, and msprof's summary."""
    folder = tmp_path / "OPPROF_1"
    sample = ("softmax_grad", "64x1024")
    profile(*sample, "--soc", "Ascend910B4", "--csv", str(folder))
    shown = profile(*sample, "--compare-board", str(tmp_path))
    assert "aiv_mte2_time(us)" in shown and "%" in shown
    (tmp_path / "op_summary_1.csv").write_text(
        "Op Name,OP Type,Task Duration(us)\nx,SoftmaxGrad,8.0\ny,Add,1.0\nz,SoftmaxGrad,6.0\n"
    )
    row = next(
        line
        for line in profile(*sample, "--compare-board", str(tmp_path)).splitlines()
        if "Task Duration" in line
    )
    assert "7" in row.split("\u2502")[2]
    for name, said in (("none", "no such folder"), ("OPPROF_1/empty", "op_summary")):
        place = tmp_path / name
        if "/" in name:
            place.mkdir()
        assert said in profile(*sample, "--compare-board", str(place), status=1)
    (tmp_path / "op_summary_1.csv").write_text("Op Name,OP Type,Task Duration(us)\ny,Add,1.0\n")
    assert "want SoftmaxGrad" in profile(*sample, "--compare-board", str(tmp_path), status=1)
