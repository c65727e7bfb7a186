# SPDX-License-Identifier: Apache-2.0
"""The precision report as one HTML page that needs no other file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from aclgrad.codegen import template_cache
from aclgrad.common.display.visible import visible
from aclgrad.findings import describe
from aclgrad.ops import find
from aclgrad.reporting import history
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.groups import groups_of
from aclgrad.reporting.pictures import histogram, picture_svg, scatter
from aclgrad.reporting.table import dtype_text, found, grouped, remarks, rows, shape_text
from aclgrad.testing.refusals import RefusedCase, reasons
from aclgrad.testing.run import Outcome

_TEMPLATES = Path(__file__).parent / "templates"
_SHOWN = 40  # causes that are told in full
# A page stays below 3 MB: a picture has up to 200 KB, a row 300 bytes.
_PICTURES = 8  # of the causes
_ROWS = 4000  # of cases, the worst of each operator and dtype


class _Template(jinja2.Template):
    """Pages show what others wrote, also in pictures that were drawn before."""

    def render(self, *args: object, **kwargs: object) -> str:
        return visible(super().render(*args, **kwargs))


def environment() -> jinja2.Environment:
    """Where the templates of pages are found."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        bytecode_cache=template_cache.kept(),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    made.template_class = _Template
    return made


@cache
def _template() -> jinja2.Template:
    env = environment()
    env.filters |= {"number": number, "error": error, "seconds": seconds}
    return env.get_template("precision.html.j2")


def number(value: float | None) -> str:
    """Two decimals while they tell something; a dash where nothing was counted."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f}" if value < 1000 else f"{value:.3g}"


def error(value: float | None) -> str:
    """Three significant digits, plain 0."""
    return "-" if value is None or math.isnan(value) else f"{value:.3g}"


def seconds(value: float) -> str:
    """Milliseconds below a second."""
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def order(outcome: Outcome) -> tuple[bool, bool, float]:
    """Sort key: failures first, refused calls before imprecise ones, then the largest error."""
    report = outcome.report
    ulp = (
        report.max_ulp_of_scale if report and not math.isnan(report.max_ulp_of_scale) else math.inf
    )
    return outcome.passed, report is not None, -ulp


def embedded(value: object) -> Markup:
    """Data for a script of the page, which no text in it can end."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def page(
    outcomes: Sequence[Outcome],
    conditions: Conditions,
    earlier: Sequence[dict[str, object]] = (),
    refused: Sequence[RefusedCase] = (),
) -> str:
    """Return the page. ``earlier`` are runs of `history`, this one the last of them."""
    causes = groups_of(outcomes)
    drawn = [group.first.picture for group in causes[:_SHOWN] if group.first.picture][:_PICTURES]
    runs = history.alike(earlier) if earlier else []
    summary = {(row.op, row.dtype): row for row in rows(outcomes)}
    groups = {key: sorted(group, key=order) for key, group in grouped(outcomes).items()}
    operators = {
        op: [
            (dtype, summary[op, dtype], group)
            for (name, dtype), group in groups.items()
            if name == op
        ]
        for op in dict.fromkeys(op for op, _ in groups)
    }
    return (
        _template().render(
            conditions=conditions,
            operators=operators,
            specs={
                case.op: find(case.op)
                for case in (group[0].case for group in groups.values())
                if not case.of_project
            },
            failures=sum(not outcome.passed for outcome in outcomes),
            refused=len(refused),
            reasons=reasons(refused),
            found=found(outcomes, conditions),
            describe=lambda item: describe(item, Path.cwd(), len(outcomes)),
            remarks=remarks(outcomes),
            causes=causes[:_SHOWN],
            more=causes[_SHOWN:],
            number_of=lambda picture: next((i for i, p in enumerate(drawn) if p is picture), None),
            pictures=embedded([picture_svg.data(picture) for picture in drawn]),
            picture_svg=lambda picture, at: Markup(picture_svg.svg(picture, at)),
            legend=picture_svg.legend,
            summary=picture_svg.summary,
            worst_cells=picture_svg.worst,
            scatter=lambda picture: Markup(
                scatter.svg(picture, "got against want, of wrong elements")
            ),
            runs=runs if len(runs) > 1 else [],
            runs_chart=Markup(history.svg(runs)) if len(runs) > 1 else "",
            total=len(outcomes),
            time=sum(outcome.seconds for outcome in outcomes),
            chart=lambda op, dtype, group: Markup(
                histogram.svg(group, f"{op} {dtype}: cases by their largest error")
            ),
            rows_of=lambda group: group[: -(-_ROWS * len(group) // max(_ROWS, len(outcomes)))],
            shape=shape_text,
            dtypes=dtype_text,
        )
        + "\n"
    )
