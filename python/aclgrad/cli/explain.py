# SPDX-License-Identifier: Apache-2.0
"""``aclgrad explain``: what a kind of finding, a result code or a choice of the simulator means."""

from __future__ import annotations

import difflib
from typing import Annotated, Any

import typer

from aclgrad import errors
from aclgrad.cli.common import OUT, print_json
from aclgrad.cli.errors import end
from aclgrad.cli.options import Json
from aclgrad.findings.kinds import HOST_KINDS, KINDS, RESULT_KINDS, Kind


def explain_command(
    word: Annotated[
        str,
        typer.Argument(
            metavar="KIND|CODE|CHOICE",
            help="Kind of finding (ub-overflow), result code or its name (161002), or a choice of"
            " the simulator (exp.rounding).",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Explain a kind of finding, a result code or a choice of the simulator. Exit status 2: the
    word is unknown.
    """
    lines, document = _known(word.strip())
    if not document:
        end(lines[0], 2)
    if as_json:
        print_json(document)
        return
    for line in lines:
        OUT.print(line, markup=False)


def _known(word: str) -> tuple[list[str], dict[str, object]]:
    """What to print, and the same for programs; without the latter the lines say what is wrong."""
    if word in KINDS:
        return _kind(KINDS[word])
    if "." in word and (found := _choice(word))[1]:
        return found
    try:
        known = errors.explain(word)
    except errors.UnknownCodeError as error:
        if word.lstrip("-").isdigit():
            return [str(error)], {}
        near = difflib.get_close_matches(word.lower(), [*KINDS], 3)
        hint = f"; kinds of findings near it: {', '.join(near)}" if near else ""
        text = (
            f"got {word!r}, want a kind of finding such as ub-overflow, a result code or its name"
            f" such as 161002, or a choice of the simulator such as exp.rounding{hint}. Next:"
            " docs/reference/findings.md and docs/reference/unknowns.md list them"
        )
        return [text], {}
    lines = [f"{known.code} {known.name}", known.meaning]
    lines += [f"usual causes: {known.causes}"] if known.causes else []
    lines += [f"next: {known.next_step}"] if known.next_step else []
    return lines, known.__dict__


def _kind(kind: Kind) -> tuple[list[str], dict[str, object]]:
    if kind.name in HOST_KINDS:
        where = "the operator's host code: definition, shape inference or tiling"
    elif kind.name in RESULT_KINDS:
        where = "aclgrad check itself, which compares results and runs sanitizers"
    else:
        where = "the simulator, in each run with checks"
    step = f"aclgrad check PATH; docs/reference/findings.md#{kind.name} has an example and its fix"
    lines = [
        f"{kind.name}: {kind.title}",
        f"group: {kind.group}",
        f"found by: {where}",
        "A finding of this kind names the source lines, what hardware would do and how to fix it.",
        f"next: {step}",
    ]
    return lines, {**vars(kind), "found_by": where, "next_step": step}


def _choice(word: str) -> tuple[list[str], dict[str, Any]]:
    from aclgrad.profiling.calibration import register

    found = next((row for row in register.unknowns()["choices"] if row["id"] == word), None)
    if found is None:
        return [], {}
    lines = [
        f"{word}: a choice of the simulator, as the documents leave it open",
        *(f"{name}: {text}" for name, text in found.items() if name != "id" and text),
        "next: docs/reference/unknowns.md lists all of them; aclgrad calibrate asks an NPU",
    ]
    return lines, dict(found)
