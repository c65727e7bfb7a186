# SPDX-License-Identifier: Apache-2.0
"""Pictures of wrong results whose cores come from the simulator's records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aclgrad.ops import find
from aclgrad.runtime.device import Device
from aclgrad.spec.soc import family_of
from aclgrad.testing import run, selection
from aclgrad.testing.writers import writers_of


def test_a_golden_that_is_off_in_one_core_marks_this_core(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = find("softmax_grad")
    (_, case, _), *_ = selection.to_check(
        {spec: {"dim": 1}},
        [(64, 256)],
        family_of(device.option("soc") or ""),
        None,
        (),
        False,
        True,
    )
    true, rows, cores = run.golden, np.zeros(64, bool), set[int]()

    def off(*given: Any, **more: Any) -> Any:
        values = true(*given, **more).copy()
        seen = writers_of(device, 64 * 256)
        assert seen is not None and not (seen.cores < 0).any()
        of_row = seen.cores.reshape(64, 256)
        assert (of_row == of_row[:, :1]).all() and len(set(seen.cores)) > 3
        assert len(set(seen.pieces)) >= len(set(seen.cores))
        cores.update(of_row[:, 0].tolist())
        rows[:] = of_row[:, 0] == 2
        values[rows] += 1e3
        return values

    monkeypatch.setattr(run, "golden", off)
    picture = run.run_case(device, spec, case).picture
    assert picture is not None and picture.where.startswith("all of core 2 of ")
    wrong = {at for at, row in enumerate(picture.marks) for mark in row if mark >= "c"}
    assert wrong == {int(row) // picture.row_bin for row in np.flatnonzero(rows)}
    assert len(picture.core_lines) == len(cores) - 1
    assert device.written_outputs() == []  # nothing is kept behind a case


def test_poison_that_a_core_wrote_is_a_nan(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find("softmax_grad")
    case = next(case for case in spec.cases(spec, True) if case.name.startswith("fp32-3x7-dim-1"))
    true = run.execute

    def hole(*given: Any) -> Any:
        storage, before = true(*given)
        storage[3:7] = np.frombuffer(b"\xff" * 16, np.float32)
        return storage, before

    monkeypatch.setattr(run, "execute", hole)
    picture = run.run_case(device, spec, case).picture
    # A core wrote it, so that the bits of the poison are a NaN.
    assert picture is not None and picture.marks[0] == "aaannnn"
