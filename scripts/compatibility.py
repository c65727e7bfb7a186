#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries every vector kernel of public operator libraries: which build here, why others do not.

    scripts/compatibility.py /path/to/ops-nn /path/to/ops-math --doc docs/compatibility.md

The checkouts are yours; nothing of them is kept but names and figures. Results are cached in
build/compatibility, so that a second run tries only what has changed: an operator's sources, or
what failed and may build with a changed simulator.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from aclgrad import peer
from aclgrad.peer_sources import PeerError, cache_root, diagnose, locate
from aclgrad.runtime.toolkit import sim_root
from aclgrad.soc import family

SOCS = ("ascend910b", "ascend910_93")
"""The families of architecture 2201, in order of preference."""

CUBE = re.compile(
    r"\b(Mmad|LoadData|Fixpipe|MatmulImpl|REGIST_MATMUL_OBJ|matmul::Matmul|MatmulType|catlass|TPosition::(A1|A2|B1|B2|CO1|CO2)"
    r"|QuePosition::(A1|A2|B1|B2|CO1|CO2)|TLOAD)\b|lib/matmul_intf|lib/matrix|c_api/"
)
"""What only kernels with matrix units, in PTO instructions or in the C API say."""

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclasses.dataclass
class Kernel:
    """One kernel source with its operator's folder."""

    library: str
    folder: Path
    source: Path
    soc: str

    @property
    def name(self) -> str:
        """The place in its library, as the table shows it."""
        path = f"{self.folder.parts[-3]}/" if self.folder.parts[-3] == "experimental" else ""
        return f"{self.library}/{path}{self.folder.parts[-2]}/{self.source.stem}"


def text_of(source: Path, seen: set[Path]) -> str:
    """A kernel source with the headers around it, other architectures' left out."""
    if source in seen or re.search(r"arch35|_apt|regbase", str(source)) or not source.is_file():
        return ""
    seen.add(source)
    text = source.read_text(errors="replace")
    return text + "".join(
        text_of((source.parent / name).resolve(), seen) for name in INCLUDE.findall(text)
    )


def kernels_of(checkout: Path) -> tuple[list[Kernel], collections.Counter[str]]:
    """Every kernel of architecture 2201 in a checkout that uses vector units only."""
    kernels, left_out = [], collections.Counter[str]()
    for folder in sorted(checkout.glob("**/op_kernel")):
        operator = folder.parent
        if "tests" in operator.relative_to(checkout).parts or not (operator / "op_host").is_dir():
            continue
        definitions = "".join(
            path.read_text(errors="replace") for path in (operator / "op_host").glob("*_def*.cpp")
        )
        if not definitions:
            continue
        soc = next((name for name in SOCS if f'"{name}"' in definitions), None)
        for source in sorted(folder.glob("*.cpp")):
            if "_apt" in source.name or "__global__" not in source.read_text(errors="replace"):
                continue
            if soc is None:
                left_out["not defined for Atlas A2 or A3"] += 1
            elif CUBE.search(text_of(source, set())):
                left_out["matrix units, PTO or C API"] += 1
            else:
                kernels.append(Kernel(checkout.name, operator, source, soc))
    return kernels, left_out


def fingerprint(kernel: Kernel) -> str:
    """Changes with the operator's sources."""
    digest = hashlib.sha256()
    for folder in (kernel.folder / "op_kernel", kernel.folder / "op_host"):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                status = path.stat()
                digest.update(f"{path}{status.st_size}{status.st_mtime_ns}".encode())
    return digest.hexdigest()


def toolkit_fingerprint() -> str:
    """Changes with every header of the simulator and with the code that builds."""
    digest = hashlib.sha256()
    for path in [*sorted((sim_root() / "include").rglob("*.h")), Path(peer.__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def names_missing(log: Path) -> list[str]:
    """Every name that a failed compile asked for, first one first."""
    if not log.is_file():
        return []
    names: list[str] = []
    for line in log.read_text(errors="replace").splitlines():
        if " error: " in line:
            missing = diagnose(line)
            name = missing.name if missing.kind != "form" else f"{missing.name} (another form)"
            if missing.name and name not in names:
                names.append(name)
    return names


_locks: dict[Path, threading.Lock] = collections.defaultdict(threading.Lock)


def attempt(kernel: Kernel, cache: Path) -> dict[str, Any]:
    """Build one operator's host library and the kernel of its first dtype combination."""
    result: dict[str, Any] = {
        "host": False,
        "kernel": False,
        "why": "",
        "missing": [],
        "seconds": 0.0,
    }
    started = time.monotonic()
    builder = None
    try:
        sources = locate(kernel.folder)
        # Tiling for other architectures is no part of the question.
        sources = dataclasses.replace(sources, name=kernel.source.stem, other_host=())
        builder = peer.Builder(
            sources, family(kernel.soc), optimise="-O0", debug=False, jobs=1, cache=cache
        )
        with _locks[kernel.folder]:
            described = builder.build_host()
        result["host"] = True
        ops = peer.runnable(described, sources, builder.soc)
        op = next((op for op in ops if builder.kernel_source(op) == kernel.source), None)
        if op is None:
            raise PeerError(
                f"{kernel.source.name} belongs to none of {', '.join(op['type'] for op in ops)}"
            )
        result["op"] = op["type"]
        builder.build_kernel(builder.kernel(op, builder.combinations(op)[0]), described)
        result["kernel"] = True
    except PeerError as error:
        message = error.missing.message if error.missing else str(error).splitlines()[0]
        result["why"] = message
        if error.missing is not None:
            result["missing"] = names_missing(builder.folder / "error.log") if builder else []
            result["missing"] = result["missing"] or [error.missing.name or error.missing.message]
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        result["why"] = f"{type(error).__name__}: {error}"
    result["seconds"] = round(time.monotonic() - started, 1)
    return result


def ranking(results: dict[str, dict[str, Any]], stage: str) -> list[tuple[str, int, int, int]]:
    """Missing names with the kernels that name them at all, first, and only."""
    anywhere, first, only = (
        collections.Counter[str](),
        collections.Counter[str](),
        collections.Counter[str](),
    )
    for result in results.values():
        failed = not result["host"] if stage == "host" else result["host"] and not result["kernel"]
        names = (result["missing"] or [result["why"][:80]]) if failed else []
        if not names:
            continue
        anywhere.update(set(names))
        first[names[0]] += 1
        if len(set(names)) == 1:
            only[names[0]] += 1
    return [(name, count, first[name], only[name]) for name, count in anywhere.most_common()]


def escape(text: str) -> str:
    """For a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def document(
    results: dict[str, dict[str, Any]],
    total: int,
    left_out: collections.Counter[str],
    commits: dict[str, str],
) -> str:
    """The text of docs/compatibility.md."""
    host = sum(result["host"] for result in results.values())
    built = sum(result["kernel"] for result in results.values())
    libraries = ", ".join(f"{name} {commit}" for name, commit in sorted(commits.items()))
    tried = len(results)
    part = "" if tried == total else f" ({tried} of them were tried, drawn at random)"
    lines = [
        "# Other people's operators",
        "",
        "`aclgrad build PATH` builds an operator from its own sources, unchanged: a folder in",
        "ops-nn's layout (`op_kernel/`, `op_host/` with definition, inference and tiling), or one",
        "kernel file. `aclgrad run PATH --inputs a.npy b.npy --attrs scale=2 --save out.npz` runs",
        "it on the simulator. C++ programs link the generated `aclnn<OpType>` functions; `aclgrad",
        "build` prints where the package is.",
        "",
        "This page is generated by `scripts/compatibility.py` from checkouts of public operator",
        "libraries; nothing of them is in this repository. *host* means that op_host builds and",
        "registers itself, *kernel* that the kernel builds for the first dtype combination of its",
        "definition. Neither says that a result was compared.",
        "",
        f"Libraries: {libraries}. Vector kernels for Atlas A2 in them: {total}{part}.",
        "",
        f"| of {tried} kernels | | |",
        "|---|---|---|",
        f"| host builds | {host} | {100 * host / max(tried, 1):.0f} % |",
        f"| host and kernel build | {built} | {100 * built / max(tried, 1):.0f} % |",
        "",
        "Left out: "
        + "; ".join(f"{count} kernels ({why})" for why, count in sorted(left_out.items()))
        + ".",
        "",
    ]
    for stage, title in (
        ("kernel", "What kernels ask for and do not get"),
        ("host", "What op_host asks for and does not get"),
    ):
        lines += [
            f"## {title}",
            "",
            "| name | kernels | first error | only error |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| `{escape(name)}` | {count} | {first} | {only} |"
            for name, count, first, only in ranking(results, stage)[:60]
        ]
        lines.append("")
    lines += ["## Every kernel", "", "| kernel | host | kernel | why not |", "|---|---|---|---|"]
    for name, result in sorted(results.items()):
        why = escape(result["why"])[:120]
        lines.append(
            f"| {name} | {'yes' if result['host'] else 'no'} |"
            f" {'yes' if result['kernel'] else 'no'} | {why} |"
        )
    return "\n".join(lines) + "\n"


def commit_of(checkout: Path) -> str:
    """The commit that was tried."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short=10", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "without a commit"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "checkouts", nargs="+", type=Path, help="local checkouts, e.g. ops-nn ops-math"
    )
    parser.add_argument(
        "--doc", type=Path, help="write the table there, e.g. docs/compatibility.md"
    )
    parser.add_argument("--only", default="", help="regular expression of kernel names")
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_root().parent / "compatibility",
        help="where builds are kept",
    )
    parser.add_argument("--jobs", "-j", type=int, default=2, help="operators at a time")
    parser.add_argument(
        "--again",
        action="store_true",
        help="try what built before as well after the simulator has changed",
    )
    parser.add_argument(
        "--revision",
        action="append",
        default=[],
        metavar="NAME=COMMIT",
        help="commit of a checkout without .git",
    )
    parser.add_argument("--known", action="store_true", help="try nothing, print what is known")
    parser.add_argument(
        "--every", type=int, default=1, help="only every nth kernel, for a quick look"
    )
    options = parser.parse_args()
    cache = options.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    book = cache / "results.json"
    known: dict[str, dict[str, Any]] = json.loads(book.read_text()) if book.is_file() else {}

    kernels: list[Kernel] = []
    left_out = collections.Counter[str]()
    for checkout in options.checkouts:
        if not checkout.is_dir():
            print(
                f"error: {checkout}: no such folder. Next: git clone it, then give its path",
                file=sys.stderr,
            )
            return 1
        found, skipped = kernels_of(checkout.resolve())
        kernels += found
        left_out += skipped
    kernels = [kernel for kernel in kernels if re.search(options.only, kernel.name)][
        :: options.every
    ]
    toolkit = toolkit_fingerprint()
    prints = {kernel.name: fingerprint(kernel) for kernel in kernels}

    def settled(kernel: Kernel) -> bool:
        result = known.get(kernel.name, {})
        same = result.get("toolkit") == toolkit or (result.get("kernel") and not options.again)
        return bool(same) and result.get("sources") == prints[kernel.name]

    open_ = [kernel for kernel in kernels if not settled(kernel) and not options.known]
    # Whatever ends a run early, what it has tried is a fair sample.
    random.Random(0).shuffle(open_)
    print(f"{len(kernels)} kernels, {len(kernels) - len(open_)} known, {len(open_)} to try")
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(attempt, kernel, cache): kernel for kernel in open_}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            kernel = futures[future]
            known[kernel.name] = {
                **future.result(),
                "sources": prints[kernel.name],
                "toolkit": toolkit,
            }
            if done % 20 == 0 or done == len(open_):
                book.write_text(json.dumps(known))
                print(f"{done}/{len(open_)} after {time.monotonic() - started:.0f} s", flush=True)
    results = {kernel.name: known[kernel.name] for kernel in kernels if kernel.name in known}
    host = sum(result["host"] for result in results.values())
    built = sum(result["kernel"] for result in results.values())
    print(f"host builds {host}, kernel builds {built} of {len(results)}")
    for stage in ("host", "kernel"):
        print(f"\nmissing in {stage}: kernels that name it, first error, only error")
        for name, count, first, only in ranking(results, stage)[:40]:
            print(f"{count:5} {first:5} {only:5}  {name}")
    if options.doc:
        options.doc.write_text(
            document(
                results,
                len(kernels),
                left_out,
                {
                    **{path.resolve().name: commit_of(path) for path in options.checkouts},
                    **dict(item.split("=", 1) for item in options.revision),
                },
            )
        )
        print(f"\nwrote {options.doc}")
    return 0


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
