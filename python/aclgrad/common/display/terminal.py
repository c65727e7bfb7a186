# SPDX-License-Identifier: Apache-2.0
"""How text is printed: as it is, never as markup, an emoji's name or words for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from aclgrad.common.display.visible import visible


class Terminal(Console):
    """Rich's console for text of anybody. Styles are arguments; in a text they mean nothing."""

    def __init__(
        self,
        file: IO[str] | None = None,
        *,
        stderr: bool = False,
        width: int | None = None,
        soft_wrap: bool = True,
    ) -> None:
        super().__init__(
            file=file, stderr=stderr, width=width, soft_wrap=soft_wrap,
            highlight=False, markup=False, emoji=False,
        )  # fmt: skip

    def print(self, *objects: Any, **how: Any) -> None:
        """As rich does it."""
        # Rich drops some control characters before anybody sees them.
        super().print(*(visible(it) if isinstance(it, str) else it for it in objects), **how)

    def on_broken_pipe(self) -> None:
        """Leave the error to whoever prints; rich would end the process with a status of 1."""
        raise

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Everything goes through here: texts, cells of tables, descriptions of bars."""
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=visible(part.text))
