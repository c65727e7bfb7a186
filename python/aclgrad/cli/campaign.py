# SPDX-License-Identifier: Apache-2.0
"""``aclgrad campaign``: cases by the thousand, on this machine or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aclgrad.cli.common import ERR, OUT, print_json, progress
from aclgrad.cli.options import Json


def campaign_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What to run.")],
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Scheduler of a dask cluster. [default: this machine's cores]"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results. [default: report/FILE]")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="OLD", help="Compare with an earlier campaign's folder.")
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure-scheduler",
            help="Take a --scheduler without TLS: whoever reaches it runs code as you.",
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, help="Without --scheduler: processes. [default: one per core]")
    ] = 0,
    case: Annotated[
        str | None,
        typer.Option(
            metavar="N[,NAME=VALUE]", help="Run one case again, as the page names it; 7,shape=3x8."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run what a campaign file describes, and go on where an earlier run has stopped."""
    from aclgrad.campaign import run_campaign
    from aclgrad.campaign.plans import description

    campaign = description.load(file)
    place = out or Path("report") / file.stem
    if insecure and scheduler is None:
        raise ValueError("--insecure-scheduler: is for a --scheduler ADDRESS, and there is none")
    if case is not None:
        _show_case(run_campaign.one(campaign, case, place), as_json)
        return
    from aclgrad.campaign.results import page, summary
    from aclgrad.campaign.results.store import Store
    from aclgrad.campaign.workers.cluster import need

    need("pyarrow")
    if against is not None:
        Store(against).about()
    console = ERR if as_json else OUT
    with Store(place).held(campaign.title) as store:
        with progress(console) as bar:
            ended = run_campaign.run(
                campaign, store, address=scheduler, insecure=insecure, workers=workers, bar=bar,
                tell=lambda text: ERR.print(text, markup=False),
            )  # fmt: skip
        found = summary.summary(store, file, against)
        path = page.write(store, found)
    found |= {
        "ran": ended.tally.done - ended.known,
        "seconds": round(ended.seconds, 3),
        "caseSeconds": round(ended.tally.seconds, 3),
        "retries": ended.retries + ended.tally.case_retries,
        "workers": ended.threads,
        "page": str(path),
    }
    if as_json:
        print_json(found)
    else:
        page.show(found, OUT)
    if found["bad"]:
        raise typer.Exit(1)


def _show_case(row: dict[str, object], as_json: bool) -> None:
    if as_json:
        print_json(row)
    else:
        for name, value in row.items():
            if value not in ("", None, [], 0) or name in ("index", "worst_ulp"):
                OUT.print(f"{name:14} {value}", markup=False)
    if row["verdict"] not in ("passed", "refused"):
        raise typer.Exit(1)
