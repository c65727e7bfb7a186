# SPDX-License-Identifier: Apache-2.0
"""docs/reference/findings.md: each faulty kernel has its finding, each mended one has none, and the
reports on the page are those that come. ``--update`` writes them. Those of ``aclgrad check`` are
compared by test_check_cli.py.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aclgrad.common import files
from aclgrad.findings.kinds import KINDS
from aclgrad.runtime import Device
from compile_once import compile_once
from raw_simulator import TO_DEVICE, RawSimulator

pytestmark = pytest.mark.plants_faults

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "findings.md"
SECTION = re.compile(r"^### ([\w-]+)\n(.*?)(?=^##|\Z)", re.M | re.S)
FRAME = re.compile(r'^```cpp title="frame.h"\n(.*?)^```$', re.M | re.S)
KERNEL = re.compile(r"^```diff([^\n]*)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
ENTRY = """
struct {name}Kernel : Frame {{
  __aicore__ inline void Run() {{
#include "{source}"
  }}
}};
extern "C" __global__ __aicore__ void {name}(GM_ADDR in, GM_ADDR out, GM_ADDR workspace) {{
  {name}Kernel kernel;
  kernel.Init(in, out, workspace);
  kernel.Run();
}}
"""
HOST_FRAME = re.compile(r'^```cpp title="host.h"\n(.*?)^```$', re.M | re.S)
HOST_ENTRY = """
struct {name}Program : Host {{
  void Go() {{
#include "{source}"
  }}
}};
"""


@dataclass(frozen=True)
class Example:
    """A kind of finding, its kernel in both forms, and the report on the page."""

    kind: str
    faulty: str
    mended: str
    report: str
    soc: str
    cores: int
    cleared: bool
    by: str
    arch: str
    hang_limit: str

    def entry(self, form: str) -> str:
        """The name of its kernel."""
        return f"{self.kind.replace('-', '_')}_{form}"


def examples() -> list[Example]:
    """What the page shows."""
    found = []
    for kind, body in SECTION.findall(PAGE.read_text()):
        match = KERNEL.search(body)
        assert match, f"{kind}: no kernel"
        options = dict(word.split("=") for word in match[1].split())
        lines = match[2].splitlines()
        faulty, mended = (
            "".join(f"{line[1:]}\n" for line in lines if line[:1] != other) for other in "+-"
        )
        soc, cores = options.pop("soc", "Ascend910B2"), int(options.pop("cores", "1"))
        cleared = options.pop("cleared", "no") == "yes"
        by = next((each for each in ("host", "check") if options.pop(each, "")), "kernel")
        arch, limit = options.pop("arch", "2201"), options.pop("hang_limit", "20")
        assert not options, options
        text = match[3] or ""
        found.append(Example(kind, faulty, mended, text, soc, cores, cleared, by, arch, limit))
    return found


EXAMPLES = examples()
KERNELS = [example for example in EXAMPLES if example.by == "kernel"]
HOSTS = [example for example in EXAMPLES if example.by == "host"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's sources as files, so that reports show their lines."""
    made = tmp_path_factory.mktemp("findings")
    page = PAGE.read_text()
    for name, frame, entry, chosen in (
        ("frame.h", FRAME, ENTRY, KERNELS),
        ("host.h", HOST_FRAME, HOST_ENTRY, HOSTS),
    ):
        found = frame.search(page)
        assert found
        (made / name).write_text(found[1])
        text = f'#include "{name}"\n'
        for example in chosen:
            text += f"#if __NPU_ARCH__ == {example.arch}\n" if entry is ENTRY else ""
            for form, code in (("faulty", example.faulty), ("mended", example.mended)):
                source = made / form / f"{example.kind}.cpp"
                source.parent.mkdir(exist_ok=True)
                source.write_text(code)
                text += entry.format(name=example.entry(form), source=source.relative_to(made))
            text += "#endif\n" if entry is ENTRY else ""
        if entry is HOST_ENTRY:
            text += "#include <cstring>\nint main(int, char** words) {\n"
            for name_of in (each.entry(form) for each in chosen for form in ("faulty", "mended")):
                text += f'  if (!std::strcmp(words[1], "{name_of}")) {name_of}Program().Go();\n'
            text += "}\n"
        (made / name.replace("frame.h", "kernels.cpp").replace(".h", ".cpp")).write_text(text)
    return made


@pytest.fixture(scope="module")
def kernels(folder: Path, toolkit: Path) -> dict[str, ctypes.CDLL]:
    """All kernels of an architecture in one library, built as for debugging."""
    made = {}
    for arch in sorted({example.arch for example in KERNELS}):
        command = ["g++", "-std=c++17", "-fPIC", "-shared", "-O0", "-gdwarf-4", "-w"]
        command += ["-fno-omit-frame-pointer", f"-D__NPU_ARCH__={arch}"]
        command += [f"-D__CCE_AICORE__={'220' if arch == '2201' else '200'}"]
        command += [f"-I{toolkit}/include", str(folder / "kernels.cpp"), f"-L{toolkit}/lib64"]
        command += ["-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
        made[arch] = ctypes.CDLL(str(compile_once(folder, "findings.so", command)))
    return made


@pytest.fixture(scope="module")
def program(folder: Path, toolkit: Path) -> Path:
    """All host programs in one, which takes the name of one."""
    include = toolkit / "opp" / "vendors" / "aclgrad" / "op_api"
    command = ["g++", "-std=c++17", "-O0", "-gdwarf-4", "-w", f"-I{toolkit}/include"]
    command += [f"-I{include}/include", str(folder / "host.cpp"), f"-L{toolkit}/lib64"]
    command += [f"-L{include}/lib", "-lcust_opapi", "-lnnopbase", "-lascendcl"]
    command += [f"-Wl,-rpath,{toolkit}/lib64:{include}/lib"]
    return compile_once(folder, "hosts", command)


def findings_of(program: Path, example: Example, form: str, kept: Path) -> list[dict[str, str]]:
    """The errors of a run of a host program."""
    kept.unlink(missing_ok=True)
    given = {"ACLGRAD_SIM_MODE": "checked", "ACLGRAD_SIM_REPORT": str(kept)}
    words = [str(program), example.entry(form)]
    done = subprocess.run(words, env=os.environ | given, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = kept.read_text().splitlines() if kept.exists() else []
    return [found for found in map(json.loads, lines) if found["severity"] == "error"]


def launch(
    simulator: RawSimulator, example: Example, entry: object, **options: str
) -> list[dict[str, Any]]:
    """What one launch on fresh memory finds."""
    sizes = (256, 256, 4096)
    blocks = [simulator.malloc(size) for size in sizes]
    values = np.arange(64, dtype=np.float32)
    simulator.copy(blocks[0], values.ctypes.data, values.nbytes, TO_DEVICE)
    if example.cleared:
        zeros = np.zeros(sizes[2], np.uint8)
        simulator.copy(blocks[2], zeros.ctypes.data, zeros.nbytes, TO_DEVICE)
    stream = simulator.new_stream()
    simulator.lib.aclsimClearFindings()
    simulator.expect_output(blocks[1], sizes[1], 4, "out")
    with simulator.options(soc=example.soc, hang_limit=example.hang_limit, **options):
        pairs: Sequence[tuple[int, int]] = list(zip(blocks, sizes, strict=True))
        simulator.enqueue("kernel", entry, stream, pairs, example.cores)
        simulator.lib.aclrtSynchronizeStream(stream)
    found: list[dict[str, Any]] = json.loads(simulator.lib.aclsimFindings().decode())
    simulator.lib.aclrtDestroyStream(stream)
    for block in blocks:
        simulator.free(block)
    return found


def report(text: str, folder: Path) -> str:
    """A report without what differs between machines."""
    text = re.sub(rf"{re.escape(str(folder))}/(?:faulty/)?", "", text)
    text = re.sub(r"0x[0-9a-f]{5,}", "0x...", text)
    text = re.sub(r"for \d+\.\d s of processor time", "for 0.4 s of processor time", text)
    text = re.sub(r"device block \d+ on", "device block 7 on", text)
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith("  soc ")) + "\n"


def with_report(page: str, kind: str, text: str) -> str:
    """The page with another report of one kind."""
    head, mark, rest = page.partition(f"### {kind}\n")
    match = KERNEL.search(rest)
    assert mark and match
    block = f"```diff{match[1]}\n{match[2]}```\n\n```text\n{text}```\n"
    return head + mark + rest[: match.start()] + block + rest[match.end() :]


def compare(example: Example, text: str, config: pytest.Config) -> None:
    """The report is that of the page, or becomes it."""
    if config.getoption("--update"):
        files.write(PAGE, with_report(PAGE.read_text(), example.kind, text), str(PAGE))
    else:
        assert text.split() == example.report.split(), "run this with --update"


@pytest.mark.parametrize("example", KERNELS, ids=lambda example: example.kind)
def test_kernel(
    example: Example,
    kernels: dict[str, ctypes.CDLL],
    folder: Path,
    toolkit: Path,
    session_device: Device,
    pytestconfig: pytest.Config,
) -> None:
    assert session_device.kind == "sim"
    simulator = RawSimulator(toolkit)
    found = launch(simulator, example, kernels[example.arch][example.entry("faulty")])
    assert [each["kind"] for each in found[:1]] == [example.kind]
    compare(example, report(found[0]["text"], folder), pytestconfig)
    found = launch(simulator, example, kernels[example.arch][example.entry("mended")])
    hints = {"sync-redundant"}
    assert not [each["text"] for each in found if each["kind"] not in hints]


TIMED = [
    example
    for example in KERNELS
    if example.kind.startswith("race-") or example.kind in ("gm-conflict", "gm-line-shared")
]


@pytest.mark.parametrize("example", TIMED, ids=lambda example: example.kind)
def test_both_ends_have_their_times(
    example: Example,
    kernels: dict[str, ctypes.CDLL],
    toolkit: Path,
    session_device: Device,
) -> None:
    assert session_device.kind == "sim"
    simulator, entry = RawSimulator(toolkit), kernels[example.arch][example.entry("faulty")]
    (found, *_) = launch(simulator, example, entry, race_times="on")
    line, places = found["timeline"], [found["at"], *found["related"]]
    cores = {core for core, _ in line["lanes"]}
    assert len(cores) == (1 if example.kind.startswith("race-") else 2)
    assert len(line["ends"]) >= 2
    for place, (lane, begin, end) in zip(places, line["ends"], strict=False):
        assert line["lanes"][lane][1] == place["pipe"]
        assert line["begin"] <= begin < end <= line["end"]
        # The instruction itself is among what its pipe does then.
        assert any(
            each[0] == lane and each[1] <= end and begin <= each[2] for each in line["slices"]
        )
    assert "timeline" not in launch(simulator, example, entry)[0]


@pytest.mark.parametrize("example", HOSTS, ids=lambda example: example.kind)
def test_host_program(
    example: Example, program: Path, folder: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    kept = tmp_path / "found.jsonl"
    found = findings_of(program, example, "faulty", kept)
    assert [each["kind"] for each in found[:1]] == [example.kind]
    compare(example, report(found[0]["text"], folder), pytestconfig)
    assert not findings_of(program, example, "mended", kept)


def test_every_kind_is_on_the_page() -> None:
    page = PAGE.read_text()
    named = [example.kind for example in EXAMPLES]
    named += re.findall(r"^\| `([\w-]+)` \|", page, re.M)
    assert sorted(named) == sorted(KINDS)
