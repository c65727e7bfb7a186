# SPDX-License-Identifier: Apache-2.0
"""A profile on the terminal, and as msopprof's CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from aclgrad.common import files
from aclgrad.profiling.advice import Advice, below_error, decides, excess, least_gain
from aclgrad.profiling.estimate import (
    EVIDENCE,
    YOURS,
    chosen_cores,
    core_cycles,
    cores_there,
    imbalance,
    is_mixed,
    on_cubes,
    pipes_of,
    shares,
)
from aclgrad.profiling.profiled import Profiled, lines_of

if TYPE_CHECKING:
    from rich.console import Console

_BYTES_OF = {"mte2": "readBytes", "mte3": "writeBytes"}
_MOST_NAMES = 6
_LEAST_TRAFFIC = 0.99  # of the floor
_SCALAR = 0.3  # of the time, from which on it is told what the scalar pipe does
MOST_LAUNCHES = 20


def pipe_utilization(profile: Mapping[str, Any], core: int) -> dict[str, str]:
    """One row of PipeUtilization.csv."""
    row, mhz = profile["cores"][core], profile["mhz"]
    cycles = core_cycles(row)
    unit = unit_of(profile, core)
    found = _core_columns(profile, core)
    # Cube cores write by two pipes, whose bytes are not told apart.
    bytes_of = {"mte2": "readBytes"} if on_cubes(profile, core) else _BYTES_OF
    for pipe in pipes_of(profile, core):
        found[f"{unit}_{pipe}_time(us)"] = f"{row[pipe] / mhz:.3f}"
        found[f"{unit}_{pipe}_ratio"] = f"{row[pipe] / cycles:.3f}"
        if pipe in bytes_of:
            rate = row[bytes_of[pipe]] / row[pipe] * mhz / 1e3 if row[pipe] else 0.0
            found[f"{unit}_{pipe}_active_bw(GB/s)"] = f"{rate:.2f}"
    return found


def unit_of(profile: Mapping[str, Any], core: int | None = None) -> str:
    """What msopprof's columns begin with: the kind of the launch's cores, or of one of them."""
    if is_mixed(profile) and core is None:
        return "mix"
    return "aic" if on_cubes(profile, core) else "aiv"


def _place_of(profile: Mapping[str, Any], core: int) -> tuple[int, str]:
    """The number of a core's AI core, and its own name in there."""
    if not is_mixed(profile):
        return core, "cube0" if on_cubes(profile) else "vector0"
    group = len(profile["cores"]) // int(profile["blockDim"])
    sub = core % group
    return core // group, "cube0" if sub == 0 else f"vector{sub - 1}"


def _core_columns(profile: Mapping[str, Any], core: int) -> dict[str, str]:
    cycles, unit = core_cycles(profile["cores"][core]), unit_of(profile, core)
    block, sub_block = _place_of(profile, core)
    return {
        "block_id": str(block),
        "sub_block_id": sub_block,
        f"{unit}_time(us)": f"{cycles / profile['mhz']:.3f}",
        f"{unit}_total_cycles": f"{cycles:.0f}",
    }


def _trace_name(profile: Mapping[str, Any], core: int) -> str:
    """A core as traces call it."""
    if not is_mixed(profile) and not on_cubes(profile):
        return f"core{core // 2}.veccore{core % 2}"
    block, own = _place_of(profile, core)
    return f"core{block}.{own.replace('cube', 'cubecore').replace('vector', 'veccore')}"


def resource_conflict(profile: Mapping[str, Any], core: int) -> dict[str, str]:
    """One row of ResourceConflictRatio.csv."""
    row = profile["cores"][core]
    cycles, unit = core_cycles(row), unit_of(profile, core)
    found = _core_columns(profile, core)
    if not on_cubes(profile, core):
        found["aiv_vec_total_cflt_ratio"] = f"{row['conflict'] / cycles:.3f}"
        # Conflicts of execution units and with MTE are no part of the model, and have no column.
        for cause, key in (("bankgroup", "bankGroupConflict"), ("bank", "bankConflict")):
            found[f"aiv_vec_{cause}_cflt_ratio"] = f"{row[key] / cycles:.3f}"
    for pipe in pipes_of(profile, core):
        if pipe != "scalar":
            found[f"{unit}_{pipe}_wait_ratio"] = f"{row[f'{pipe}Wait'] / cycles:.3f}"
    return found


def write_csv(folder: Path, found: Profiled, asked: Sequence[int] = ()) -> list[Path]:
    """Write msopprof's files of the longest launch, and of each other one in a folder beside."""
    made = []
    for launch in sorted(range(len(found.launches)), key=lambda launch: launch != found.main):
        place_ = folder if launch == found.main else folder / f"launch{launch + 1}"
        made += _write_launch(place_, found, launch, found.cores(launch, asked))
    return made


def _write_launch(folder: Path, found: Profiled, launch: int, shown: Sequence[int]) -> list[Path]:
    """Two files with a row per core, and two per core that is shown in its folder."""
    files.make_folder(folder, "--csv")
    kernel = found.launches[launch]
    cores = range(len(kernel["cores"]))
    made = [folder / "PipeUtilization.csv", folder / "ResourceConflictRatio.csv"]
    _write(made[0], (pipe_utilization(kernel, core) for core in cores))
    _write(made[1], (resource_conflict(kernel, core) for core in cores))
    if found.by is None or launch not in found.kept:
        return made
    for core in shown:
        name = _trace_name(kernel, core)
        place_ = folder / name
        files.make_folder(place_, "--csv")
        lines = lines_of(found.by, launch, [core])
        paths = [place_ / f"{name}_code_exe.csv", place_ / f"{name}_instr_exe.csv"]
        _write(paths[0], _code_rows(lines, kernel["mhz"]))
        _write(paths[1], _instruction_rows(lines, kernel["mhz"]))
        made += paths
    return made


def _code_rows(lines: Sequence[Mapping[str, Any]], mhz: float) -> list[dict[str, str]]:
    sums: dict[str, tuple[int, float]] = {}
    for line in lines:
        count, cycles = sums.get(line["code"], (0, 0.0))
        sums[line["code"]] = count + line["count"], cycles + line["cycles"]
    return [
        {
            "code": code,
            "call_count": str(count),
            "cycles": f"{cycles:.0f}",
            "running_time(us)": f"{cycles / mhz:.3f}",
        }
        for code, (count, cycles) in sorted(sums.items(), key=lambda item: -item[1][1])
    ]


def _instruction_rows(lines: Sequence[Mapping[str, Any]], mhz: float) -> list[dict[str, str]]:
    return [
        {
            "instr": line["instruction"],
            "addr": line["addr"],
            "pipe": line["pipe"],
            "call_count": str(line["count"]),
            "cycles": f"{line['cycles']:.0f}",
            "running_time(us)": f"{line['cycles'] / mhz:.3f}",
            "detail": f"{line['bytes']} bytes" if line["bytes"] else "",
        }
        for line in sorted(lines, key=lambda line: -float(line["cycles"]))
    ]


def _columns(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """What any of the rows has: cores of two kinds have columns of their own."""
    return list(dict.fromkeys(column for row in rows for column in row))


def _write(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    listed = list(rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _columns(listed), restval="NA")
    writer.writeheader()
    writer.writerows(listed)
    files.write(path, text.getvalue(), "--csv")


# --- terminal ------------------------------------------------------------------------------------


def facts(found: Profiled) -> list[tuple[str, str]]:
    """The summary as pairs of a label and words."""
    kernel = found.kernel
    used = f"{kernel['ubPeakBytes']:,} of {kernel['ubBytes']:,} bytes"
    uneven = imbalance(kernel)
    rows = [
        ("time", found.estimate.words),
        ("bound by", found.bound.words),
        (
            "bandwidth bound",
            f"{found.bound_us:.1f} us modelled; the estimate reaches {found.of_bound:.1%} of it",
        ),
        (
            "GM",
            f"{found.moved_bytes:,} bytes, {found.traffic:.2f} x the floor{excess(found)}",
        ),
        *(
            [("UB", f"{used} ({kernel['ubPeakBytes'] / max(kernel['ubBytes'], 1):.0%})")]
            if not on_cubes(kernel)
            else []
        ),
        (
            "cores",
            f"{len(kernel['cores'])} of {cores_there(kernel)}; the slowest takes"
            f" {1 + uneven:.2f} x the mean",
        ),
    ]
    share_of = shares(kernel)
    if share_of["scalar"] >= _SCALAR:
        words = (
            f"works {share_of['scalar']:.0%} of the time: {share_of['queue']:.0%} for operations of"
            f" queues, {share_of['cold']:.0%} for code that runs for the first time"
        )
        rows.append(("scalar", words))
    if len(found.launches) > 1:
        rows.append(("launches", _launches(found)))
    if found.estimate.evidence != "board":
        rows.append(("evidence", _grounds(found)))
    if words := decides(found):
        rows.append(("largest cost", words))
    return rows


def _launches(found: Profiled) -> str:
    by_time = sorted(found.launches, key=lambda item: -float(item["microseconds"]))
    parts = [f"{item['op']} {item['microseconds']:.1f} us" for item in by_time[:4]]
    more = [f"{len(by_time) - 4} more"] if len(by_time) > 4 else []
    return f"{len(by_time)}: {', '.join([*parts, *more])}; what follows is of the longest"


def _grounds(found: Profiled) -> str:
    worst = found.estimate.evidence
    words = f"{worst}: {_some(found.rests_on(worst) or found.assumed)}"
    own = found.rests_on(YOURS) if worst != YOURS else []
    if own:
        words += f"; {YOURS}: {_some(own)}"
    known_less = EVIDENCE[EVIDENCE.index(worst) + 1 :]
    names = [name for evidence in known_less for name in found.rests_on(evidence)]
    if names:
        return f"{words}; known less, but no twentieth of the time: {_some(names)}"
    return f"{words}; all other costs are known better"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _used(found: Profiled, name: str) -> str:
    """How often the launches have an instruction; nothing of one within a vector function."""
    rows = [row for launch in found.launches for row in launch["instructions"]]
    count = sum(row["count"] for row in rows if row["name"] == name)
    return f" ({count:,} of them)" if count else ""


def warnings(found: Profiled) -> list[str]:
    """What makes the estimate worse than its band says."""
    texts = [
        f"{name}: no cost is known{_used(found, name)}; assumed four dependent instructions of 4"
        " cycles per repeat. Next: "
        + (
            "fix the fault, for which aclgrad run has the line"
            if name.endswith(", left out")
            else "add it to simulator/src/timing/costs.json, or read the result as a ranking"
        )
        for name in found.assumed
    ]
    if any(launch.get("uncounted") for launch in found.launches):
        texts.append(
            "code of the kernel between two calls of the API keeps this host busy for so long that"
            " the scalar pipe may need more than a tenth of the time for it, of which the estimate"
            " has nothing. Next: let vector instructions do that work, or take the estimate for a"
            " lower bound"
        )
    if found.moved_bytes < _LEAST_TRAFFIC * found.whole_bytes:
        texts.append(
            f"{found.moved_bytes:,} bytes are moved in GM, inputs and outputs have"
            f" {found.whole_bytes:,}: the kernel leaves some of them alone, and its bandwidth bound"
            " counts only what it moves. Next: nothing where it picks rows; else give the shapes,"
            " values and tiling data that make it do its work"
        )
    guess = found.estimate
    borrowed = ", ".join(found.rests_on("extrapolated"))
    if guess.ranking_only:
        texts.append(
            f"{found.soc}: nothing has been measured on this architecture; A2's cycles are used."
            " Next: compare kernels with each other only"
        )
    elif guess.evidence == "extrapolated":
        texts.append(
            f"{found.soc}: no cost of this architecture is known for {borrowed}; assumed A2's"
            " cycles. Next: compare kernels that use them with each other only"
        )
    return texts


def show(console: Console, found: Profiled, advice: Sequence[Advice]) -> None:
    """Print the summary."""
    console.print(found.title, markup=False, style="bold")
    facts_of = facts(found)
    width = max(len(label) for label, _ in facts_of)
    for label, words in facts_of:
        console.print(f"  {label:{width}}  {words}", markup=False)
    console.print()
    if found.floors and len(found.launches) > 1:
        show_launches(console, found)
    show_table(console, found)
    for text in warnings(found):
        console.print(f"warning: {text}", style="yellow", markup=False)
    console.print("what to try next:", markup=False)
    error = f"the model's error, {least_gain(found):.0%} of the time"
    if not advice:
        console.print(f"  nothing that would save more than {error}", markup=False)
    for item in advice:
        console.print(f"  [{item.rule}, up to {item.gain:.0%}] {item.text}", markup=False)
        for line in item.where.splitlines():
            console.print(f"      {line}", markup=False)
    less = ", ".join(f"{item.rule} {item.gain:.0%}" for item in below_error(found))
    if less:
        console.print(f"  below {error}: {less}", markup=False)


def launch_rows(found: Profiled) -> list[list[str]]:
    """A row per launch of a program, the longest ones when there are many."""
    order = range(len(found.launches))
    longest = sorted(order, key=lambda launch: -float(found.launches[launch]["microseconds"]))
    rows = []
    for launch in sorted(longest[:MOST_LAUNCHES]):
        item = replace(found, lines=[], by=None).alone(launch)
        guess = item.estimate
        rows.append(
            [
                str(launch + 1), item.kernel["op"], str(item.kernel["blockDim"]), f"{item.us:.1f}",
                f"{guess.low:.1f}", f"{guess.high:.1f}", f"{item.of_bound:.1%}",
                f"{item.traffic:.2f}", item.bound.key,
            ]
        )  # fmt: skip
    return rows


LAUNCH_HEADINGS = (
    "launch", "kernel", "blocks", "us", "low", "high", "of the bound", "GM / floor", "bound by",
)  # fmt: skip


def show_launches(console: Console, found: Profiled) -> None:
    """Print a row per launch of a program."""
    more = len(found.launches) - MOST_LAUNCHES
    title = f"launches, the {MOST_LAUNCHES} longest" if more > 0 else "launches"
    table = Table(title=title, title_justify="left")
    for heading in LAUNCH_HEADINGS:
        left = heading in ("kernel", "bound by")
        table.add_column(heading, justify="left" if left else "right")
    for row in launch_rows(found):
        table.add_row(*row)
    console.print(table)


def show_table(console: Console, found: Profiled) -> None:
    """Print the utilisation of a few cores; columns that tell nothing of a vector core are only in
    the CSV file.
    """
    kernel = found.kernel
    cores = chosen_cores(kernel)
    rows = [
        {
            key: value
            for key, value in pipe_utilization(kernel, core).items()
            if key != "sub_block_id" and "active_bw" not in key
        }
        for core in cores
    ]
    conflicts = [resource_conflict(kernel, core) for core in cores]
    extra = [key for key in _columns(conflicts) if key.endswith(("wait_ratio", "cflt_ratio"))]
    table = Table(
        title="PipeUtilization: slowest, fastest and first core"
        if len(cores) > 1
        else "PipeUtilization",
        title_justify="left",
    )
    table.add_column("")
    for core in cores:
        name = kernel["cores"][core].get("name", f"core {core}")
        table.add_column(name, justify="right")
    for key in _columns(rows):
        table.add_row(key, *(row.get(key, "NA") for row in rows))
    for key in extra:
        table.add_row(key, *(row.get(key, "NA") for row in conflicts))
    console.print(table)


def compare_rows(items: Sequence[Profiled]) -> list[list[str]]:
    """A table of two or more profiles: label, a cell for each, the ratio of the last two."""

    def ratio(values: Sequence[float]) -> str:
        return f"{values[-1] / values[0]:.2f}" if values[0] else "-"

    rows = []
    for label, form, value in (
        ("estimate us", "{:.1f}", lambda item: item.us),
        ("bandwidth bound us", "{:.1f}", lambda item: item.bound_us),
        ("of the bound", "{:.1%}", lambda item: item.of_bound),
        ("GM bytes", "{:,.0f}", lambda item: float(item.moved_bytes)),
        ("GM / floor", "{:.2f}", lambda item: item.traffic),
        ("UB bytes", "{:,.0f}", lambda item: float(item.kernel["ubPeakBytes"])),
        ("cores", "{:.0f}", lambda item: float(len(item.kernel["cores"]))),
        ("slowest / mean core", "{:.2f}", lambda item: 1 + imbalance(item.kernel)),
        ("launches", "{:.0f}", lambda item: float(len(item.launches))),
        *(
            (f"{unit_of(items[0].kernel)}_{pipe}_ratio", "{:.3f}", _share_of(pipe))
            for pipe in pipes_of(items[0].kernel)
        ),
    ):  # fmt: skip
        values = [value(item) for item in items]
        rows.append([label, *(form.format(each) for each in values), ratio(values)])
    rows.insert(1, ["bound by", *(item.bound.key for item in items), ""])
    return rows


def _share_of(pipe: str) -> Any:
    return lambda item: shares(item.kernel)[pipe]


def show_compare(console: Console, items: Sequence[Profiled]) -> None:
    """Print two profiles side by side."""
    table = Table(title="estimates; ratio: B / A", title_justify="left")
    table.add_column("")
    for name, item in zip("AB", items, strict=True):
        console.print(f"{name}: {item.title}", markup=False)
        table.add_column(name, justify="right")
    table.add_column("ratio", justify="right")
    for row in compare_rows(items):
        table.add_row(*row)
    console.print(table)
    for item in items:
        for text in warnings(item):
            console.print(f"warning: {item.title}: {text}", style="yellow", markup=False)


def show_sweep(console: Console, items: Sequence[Profiled]) -> None:
    """Print a row per shape."""
    table = Table(title=f"{items[0].family}, estimates", title_justify="left")
    for heading in ("shape", "us", "low", "high", "of the bound", "GM / floor", "bound by"):
        table.add_column(heading, justify="left" if heading in ("shape", "bound by") else "right")
    for item in items:
        guess = item.estimate
        table.add_row(
            item.shape,
            f"{item.us:.1f}",
            f"{guess.low:.1f}",
            f"{guess.high:.1f}",
            f"{item.of_bound:.1%}",
            f"{item.traffic:.2f}",
            item.bound.key,
        )
    console.print(table)
    for text in dict.fromkeys(text for item in items for text in warnings(item)):
        console.print(f"warning: {text}", style="yellow", markup=False)


__all__ = [
    "LAUNCH_HEADINGS",
    "facts",
    "launch_rows",
    "show",
    "show_compare",
    "show_sweep",
    "write_csv",
]
