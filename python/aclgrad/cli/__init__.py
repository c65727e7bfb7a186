# SPDX-License-Identifier: Apache-2.0
"""The ``aclgrad`` command: which commands there are, and how their errors end. Each command turns
options into one call and prints the result.

May import: ``common``, ``doctor``, ``errors``, ``findings``, ``functions``, ``golden``,
``headers``, ``ops``, ``packaging``, ``profiling``, ``project``, ``reporting``, ``runtime``,
``spec``, ``testing``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from aclgrad import __version__
from aclgrad.cli import build, check, doctor, new, run
from aclgrad.cli.common import ERR
from aclgrad.errors import AclgradError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Backward operators for Ascend NPUs, on an NPU or on the built-in simulator.",
)

Command = Callable[..., None]

_COMMANDS: dict[str, Command] = {
    "new": new.new_command,
    "build": build.build_command,
    "test": check.test_command,
    "check": check.check_command,
    "run": run.run_command,
    "ut": run.ut_command,
    "tiling": run.tiling_command,
    "profile": run.profile_command,
    "doctor": doctor.doctor_command,
    "config": doctor.config_command,
    "package": build.package_command,
    "explain": doctor.explain_command,
}


def _guarded(command: Command) -> Command:
    """Let a command's errors end in one message and status 1."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (AclgradError, ValueError, TypeError, OSError) as error:
            text = (
                f"{error.filename}: {error.strerror}"
                if isinstance(error, OSError) and error.filename
                else str(error)
            )
            ERR.print(f"error: {text}", style="red", markup=False)
            raise typer.Exit(1) from None
        except MemoryError:
            ERR.print("error: not enough memory. Next: free -h, or smaller tensors", style="red")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            ERR.print("interrupted")
            raise typer.Exit(130) from None

    return guarded


for _name, _function in _COMMANDS.items():
    app.command(_name)(_guarded(_function))


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
    # A reader that closes the pipe early (head, grep -q) is no error.
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
