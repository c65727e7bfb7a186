# SPDX-License-Identifier: Apache-2.0
"""The ``aclgrad`` command: which commands there are, and how their errors end. Each command turns
options into one call and prints the result.

May import: ``campaign``, ``campaign.plans``, ``campaign.results``, ``campaign.workers``,
``common``, ``common.display``, ``errors``, ``findings``, ``functions``, ``golden``, ``headers``,
``ops``, ``packaging``, ``profiling``, ``profiling.calibration``, ``profiling.pages``,
``building``, ``cases``, ``checkout``, ``checks``,
``reading``, ``running``, ``unit_tests``, ``projects``,
``reporting``, ``reporting.pictures``, ``runtime``, ``spec``, ``testing``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, wraps
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from aclgrad import __version__
from aclgrad.cli import errors
from aclgrad.common.temporary import tell_children

Command = Callable[..., None]

COMMANDS = {
    "new": ("new", "Start an operator project that passes its tests"),
    "build": ("build", "Build an operator project, or this checkout"),
    "test": ("test", "Compare an operator with its golden, case by case"),
    "check": ("check", "Find bugs that an NPU would have"),
    "findings": ("findings", "Show the findings that a program's run recorded"),
    "run": ("run", "Run an operator on your own tensors"),
    "ut": ("ut", "Run unit tests written for CANN's CPU twin"),
    "tiling": ("run", "Show how a shape is split over the cores"),
    "campaign": ("campaign", "Run thousands of cases, here or on a cluster"),
    "profile": ("run", "Estimate the time on an NPU and what limits it"),
    "calibrate": ("calibrate", "Compare the simulator with a real NPU"),
    "headers": ("headers", "Type-check sources against CANN's headers"),
    "doctor": ("doctor", "Check what a run depends on"),
    "config": ("doctor", "Print compiler flags for a C++ program"),
    "package": ("build", "Make an installer of operators"),
    "exec": ("execute", "Run a program with the simulator in place of CANN"),
    "explain": ("explain", "Explain a finding, a result code or a simulator's choice"),
}
"""The module of this room that has <command>_command, and a line for the list of commands. A module
is imported when its command is wanted: each brings much along.
"""

# Long ones that show no bar: their output is their own.
_WITHOUT_BAR = {"run", "ut", "profile", "package", "doctor"}

# Words behind the program belong to the program.
_SETTINGS = {"exec": {"allow_interspersed_args": False}}
_HELP = {"help_option_names": ["-h", "--help"]}


_FORMER = {
    "--headers": ("headers", "--cann"),
    "--report": ("findings", ""),
    "--show": ("findings", ""),
}
"""Former options of ``check``: the command that does it now, and the option for the value."""


def _now(words: list[str]) -> list[str]:
    """The words of a command line, where it says ``check`` with a former option as they are now."""
    if words[:1] != ["check"]:
        return words
    end = words.index("--") if "--" in words else len(words)
    for at, word in enumerate(words[:end]):
        option, equals, value = word.partition("=")
        if option in _FORMER:
            command, named = _FORMER[option]
            rest = [value] if equals else []
            new = [named, *rest] if named else rest
            return [command, *words[1:at], *new, *words[at + 1 :]]
    return words


class _Group(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, _now(args))

    def get_command(self, ctx: Any, name: str) -> Any:
        return _command(name) if name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    context_settings=_HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Write, test, debug and profile Ascend C kernels without an NPU. Commands without a path"
    " work on the operator project in the current directory.",
)


def _listed() -> None:
    """Stands for a command that is not wanted."""


for _name in COMMANDS:
    app.command(_name)(_listed)


@cache
def _command(name: str) -> Any:
    module = importlib.import_module(f"aclgrad.cli.{COMMANDS[name][0]}")
    grouped = importlib.import_module("aclgrad.cli.options").grouped
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, context_settings=_HELP | _SETTINGS.get(name, {}))(
        _guarded(name, grouped(getattr(module, f"{name}_command")))
    )
    return typer.main.get_command(alone)


def _telling(name: str) -> Any:
    """Lines of a command that has no bar of its own."""
    if name not in _WITHOUT_BAR:
        return nullcontext()
    return importlib.import_module("aclgrad.cli.progress_lines").telling(f"aclgrad {name}")


def _guarded(name: str, command: Command) -> Command:
    """Let a command's errors end in one message and status 1."""

    def told(*args: Any, **kwargs: Any) -> None:
        try:
            with _telling(name):
                command(*args, **kwargs)
        except BrokenPipeError:
            raise
        except errors.HANDLED as error:
            errors.end(errors.text_of(error))
        except KeyboardInterrupt:
            importlib.import_module("aclgrad.cli.common").ERR.print("interrupted")
            raise typer.Exit(130) from None

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            try:
                told(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except BrokenPipeError as error:
            errors.end_of_closed_output(error)

    return guarded


def _version(show: bool) -> None:
    if show:
        print(f"aclgrad {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the console script."""
    tell_children()
    try:
        app()
    except SystemExit as ended:
        # The help had no reader, for which click says 1.
        if isinstance(ended.__context__, BrokenPipeError):
            sys.exit(0)
        raise
