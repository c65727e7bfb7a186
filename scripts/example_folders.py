# SPDX-License-Identifier: Apache-2.0
"""Example folders: a CMake project with an .asc program, scripts that make its inputs and verify
its outputs, and a README.md that says in which order.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aclgrad.building.build_tools import need_tool
from aclgrad.common import temporary
from aclgrad.reading.sources import SourcesError
from aclgrad.running.kernel_file import DEFAULT_ARCH, Ended, compiler, run_program
from aclgrad.runtime.toolkit import sim_root

_TIMEOUT = 1800


@dataclass(frozen=True)
class Example:
    """What the page of an example folder says about building, running and verifying it."""

    folder: Path
    architectures: tuple[str, ...]
    scenarios: tuple[str | None, ...]
    prepare: tuple[str, ...]
    program: str
    verify: tuple[str, ...]
    log: str | None = None  # file that its output goes to as well, beside the program


@dataclass(frozen=True)
class ExampleRun:
    """One example in one scenario. The first step that failed says why."""

    example: str
    scenario: str | None
    arch: str
    applies: bool = True  # the example has this scenario for this architecture
    built: bool = False
    ran: bool = False
    matched: bool = False
    goes_on: bool = (
        False  # matched with findings as warnings, where the kernel does what hardware does
    )
    findings: tuple[Mapping[str, Any], ...] = ()
    why: str = ""

    @property
    def clean(self) -> bool:
        """Whether the checks found no error."""
        return not any(one["severity"] == "error" for one in self.findings)


def read_example(folder: Path) -> Example:
    """Read the commands of an example from its README.md and the scenarios from its project."""
    page = folder / "README.md"
    project = folder / "CMakeLists.txt"
    for path in (page, project):
        if not path.is_file():
            raise SourcesError(f"{folder}: no {path.name}, so it is no example folder")
    text = page.read_text().replace("\\\n", " ")  # commands go on behind a backslash
    lines = [line.split("  #")[0].strip() for line in text.splitlines()]
    commands = [line for line in lines if line.startswith(("python3 ", "./"))]
    prepare = [line for line in commands if "gen_data" in line]
    verify = [line for line in commands if "verify_result" in line]
    programs = [line for line in commands if line.startswith("./")]
    if not verify or not programs:
        raise SourcesError(f"{page}: no ./program and verify_result.py commands to follow")
    program, log = _logged(programs[0].split("#")[0].strip())
    told = project.read_text()
    architectures = tuple(dict.fromkeys(re.findall(r"\bdav-\d+", told))) or (DEFAULT_ARCH,)
    return Example(
        folder,
        architectures,
        _scenarios(told, text),
        tuple(prepare[:1]),
        program,
        (verify[0],),
        log,
    )


def _logged(command: str) -> tuple[str, str | None]:
    """The program of a command such as `./demo 2>&1 | tee run.log`, and the file."""
    piped = re.fullmatch(r"(.+?)\s+2>&1\s*\|\s*tee\s+(\S+)", command)
    return (piped[1], piped[2]) if piped else (command, None)


def _scenarios(project: str, page: str) -> tuple[str | None, ...]:
    if "SCENARIO_NUM" not in project:
        return (None,)
    listed = re.search(r"VALID_SCENARIOS ([\d ]+)\)", project)
    if listed:
        return tuple(listed[1].split())
    span = re.search(r'MATCHES "\^\[(\d)-?(\d)\]', project)
    span = span or re.search(r"\((\d)[-,\d]*(\d)\)\"\)", project)
    if span:
        return tuple(str(number) for number in range(int(span[1]), int(span[2]) + 1))
    row = re.search(r"\| `SCENARIO_NUM` +\|([^|]*)\|", page)
    numbers = re.findall(r"`(\d)`", row[1]) if row else re.findall(r"SCENARIO_NUM=(\d)\b", page)
    return tuple(sorted(set(numbers))) or (None,)


def run_example(  # noqa: C901
    folder: Path,
    scenario: str | None = None,
    *,
    arch: str = DEFAULT_ARCH,
    work: Path | None = None,
    name: str | None = None,
    timeout: float = _TIMEOUT,
) -> ExampleRun:
    """Build an example folder with its own CMake project, run it, and let it verify itself.

    Nothing is written into the folder; `work` is where it is built, a temporary folder by default.
    """
    if work is None:
        with temporary.folder() as scratch:
            return run_example(
                folder, scenario, arch=arch, work=scratch, name=name, timeout=timeout
            )
    example = read_example(folder)
    compiler(sim_root())
    # Some projects look for their scripts beside the build folder.
    build = work / "build"
    build.mkdir(parents=True, exist_ok=True)
    scripts = work / "scripts"
    if not scripts.exists():
        scripts.symlink_to((folder / "scripts").resolve())

    def outcome(**known: Any) -> ExampleRun:
        return ExampleRun(name or folder.name, scenario, arch, **known)

    if arch not in example.architectures:
        return outcome(applies=False, why=f"its project is for {', '.join(example.architectures)}")
    words = [f"-DCMAKE_ASC_ARCHITECTURES={arch}"]
    words += [f"-DSCENARIO_NUM={scenario}"] if scenario is not None else []
    configured = _run(
        [
            need_tool("cmake"),
            *("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={need_tool('ninja')}"),
            *("-S", str(folder), "-B", str(build)),
            f"-DCMAKE_PREFIX_PATH={sim_root() / 'share' / 'cmake' / 'aclgrad'}",
            *words,
        ],
        build,
    )
    if configured.status:
        text = " ".join(configured.output.split())
        refusal = re.search(r"CMake Error at \S+ \(message\): (.*?) (?:-- )?Configuring", text)
        if refusal and "dav-" in refusal[1]:
            return outcome(applies=False, why=refusal[1])
        return outcome(why=f"cmake: {refusal[1] if refusal else _last(configured.output)}")
    chosen = re.search(
        r"^CMAKE_ASC_ARCHITECTURES:\w+=(\S+)", (build / "CMakeCache.txt").read_text(), re.MULTILINE
    )
    if chosen and chosen[1] != arch:
        return outcome(applies=False, why=f"its project makes this scenario {chosen[1]}")
    made = _run([need_tool("cmake"), "--build", str(build)], build)
    if made.status:
        return outcome(why=_first_error(made.output))
    modules = _stand_ins()
    for command in example.prepare:
        prepared = _run(_words(command, scenario), build, modules)
        if prepared.status:
            return outcome(built=True, why=f"{command}: {_last(prepared.output)}")
    program = _words(example.program, scenario)

    def verified(output: str) -> str:
        if example.log is not None:
            (build / example.log).write_text(output)
        for command in example.verify:
            done = _run(_words(command, scenario), build, modules)
            if done.status:
                return _last(done.output, most=3)
        return ""

    try:
        ran = run_program(program, folder=build, timeout=timeout)
        if ran.status:
            return outcome(
                built=True,
                findings=ran.findings,
                why=f"{example.program}: status {ran.status}: {_last(ran.output)}",
            )
        why = verified(ran.output)
        found = outcome(built=True, ran=True, matched=not why, findings=ran.findings, why=why)
        if found.clean:
            return found
        as_warnings = {"ACLGRAD_FINDINGS": "warn"}
        again = run_program(program, folder=build, environment=as_warnings, timeout=timeout)
        return replace(found, goes_on=again.status == 0 and not verified(again.output))
    except subprocess.TimeoutExpired:
        return outcome(built=True, why=f"{example.program} takes more than {timeout:.0f} s")


def _words(command: str, scenario: str | None) -> list[str]:
    """A command of a page, for a scenario: pages name one as an example."""
    command = re.sub(r"\$(SCENARIO_NUM\b|\{SCENARIO_NUM\})", scenario or "", command)
    if scenario is not None:
        command = re.sub(
            r"(-scenario_?num[= ])\d+", rf"\g<1>{scenario}", command, flags=re.IGNORECASE
        )
    words = shlex.split(command)
    return [sys.executable, *words[1:]] if words[0] == "python3" else words


def _stand_ins() -> dict[str, str]:
    """Scripts of examples import tensorflow for a dtype's name and a product: do without it."""
    if importlib.util.find_spec("tensorflow") is not None:
        return {}
    modules = str(Path(__file__).parent / "stand_ins")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [modules, os.environ.get("PYTHONPATH")]))}


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> Ended:
    done = subprocess.run(
        list(command),
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_TIMEOUT,
        check=False,
    )
    return Ended(done.returncode, done.stdout, ())


def _last(output: str, most: int = 1) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return "; ".join(lines[-most:]) or "no output"


def _first_error(output: str) -> str:
    for line in output.splitlines():
        if "error" in line:
            return line.strip()
    return _last(output)
