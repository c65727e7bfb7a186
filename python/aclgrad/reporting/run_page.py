# SPDX-License-Identifier: Apache-2.0
"""One call beside its golden as an HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import jinja2
from markupsafe import Markup

from aclgrad.golden.precision import Report
from aclgrad.reporting.html import embedded, environment
from aclgrad.reporting.pictures import picture_svg, scatter
from aclgrad.testing.picture import Picture


@cache
def _template() -> jinja2.Template:
    return environment().get_template("run.html.j2")


def page(
    title: str,
    facts: Sequence[tuple[str, str]],
    report: Report | None,
    verdict: str,
    picture: Picture | None,
    findings: Sequence[str],
    note: str = "",
) -> str:
    """The page: the golden's verdict, where the result is wrong, and what the checks found."""
    return (
        _template().render(
            title=title,
            facts=facts,
            report=report,
            passed=not findings and (report is None or report.passed),
            verdict=verdict,
            picture=picture,
            findings=findings,
            note=note,
            pictures=embedded([picture_svg.data(picture)] if picture else []),
            picture_svg=lambda drawn, at: Markup(picture_svg.svg(drawn, at)),
            legend=picture_svg.legend,
            summary=picture_svg.summary,
            worst_cells=picture_svg.worst,
            scatter=lambda drawn: Markup(scatter.svg(drawn, "got against want, of wrong elements")),
        )
        + "\n"
    )
