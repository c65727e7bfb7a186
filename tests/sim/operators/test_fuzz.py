# SPDX-License-Identifier: Apache-2.0
"""A short run of the fuzzer on the ordinary build, and tests of the fuzzer itself."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.errors import AclnnError
from aclgrad.ops import all_specs, find
from aclgrad.runtime import Device, Toolkit
from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.op_spec import OpSpec, replace
from fuzz.abi import Abi
from fuzz.draw import draw
from fuzz.execute import Mismatch, Runner
from fuzz.ledger import Finding, excuse, stale
from fuzz.run import drive

ROOT = Path(__file__).resolve().parents[3]
CASES = 2000  # about 3,000 calls


@pytest.fixture
def abi(device: Device) -> Abi:
    return Abi(device)


def fuzz(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOT / "python"), str(ROOT / "tests")])
    return subprocess.run(
        [sys.executable, "-m", "fuzz.run", *words],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )


def test_short_run(toolkit_info: Toolkit, device_kind: str, seed: int) -> None:
    if device_kind != "sim":
        pytest.skip("misuse is undefined on an NPU")
    done = fuzz("--seed", str(seed), "--count", str(CASES), "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{CASES} cases" in done.stdout, done.stdout
    calls = re.search(r"(\d+) calls, (\d+) results", done.stdout)
    assert calls is not None and int(calls[1]) > CASES and int(calls[2]) > CASES // 10
    for code in ("plan 161001", "plan 161002", "plan 561103", "run 161001", "run 361001"):
        assert code in done.stdout, f"no case ended with {code}:\n{done.stdout}"


def test_a_seed_is_one_case(abi: Abi) -> None:
    for spec in all_specs():
        for number in range(50):
            first, again = (draw(number, spec, abi.socs) for _ in range(2))
            assert first.describe() == again.describe()
            assert first.repro == f"python -m fuzz.run --op {spec.op} --seed {number} --count 1"


def failures(abi: Abi, spec: OpSpec, count: int = 400) -> list[str]:
    found = []
    runner = Runner(abi)
    for number in range(count):
        try:
            runner.run(draw(number, spec, abi.socs))
        except Mismatch as error:
            found.append(str(error))
    return found


def test_a_check_that_the_library_lacks_is_found(abi: Abi) -> None:
    spec = find("softmax_grad")
    assert not failures(abi, spec)
    # The library still has the check that this spec leaves out, and the other way round.
    for index, check in enumerate(spec.checks):
        if check.kind in ("dim_in_range", "same_shape", "not_null"):
            less = replace(spec, checks=spec.checks[:index] + spec.checks[index + 1 :])
            try:
                found = failures(abi, less)
            except (KeyError, ValueError, IndexError) as error:
                found = [repr(error)]  # the model trips over what the check kept away
            assert found, f"nobody missed {check}"


def test_a_wrong_number_is_found(abi: Abi) -> None:
    spec = find("softmax_grad")
    wrong = replace(spec, golden=lambda **named: spec.golden(**named) * 1.02)
    assert any("numbers" in text for text in failures(abi, wrong))


@pytest.mark.parametrize("name", ["target", "gradOutput", "out"])
def test_private_formats_are_no_way_out_of_the_storage(device: Device, name: str) -> None:
    spec = find("kl_div_loss_grad")
    good = TensorDesc((4, 6))
    call = Call({arg.name: good for arg in spec.tensors}, spec.defaults())
    if name == "out":
        call = call.with_tensor(name, format="FRACTAL_NZ", storage=(64, 64))
    else:
        # Repeated: the elements of one row would be looked for where they are not.
        call = call.with_tensor(name, format="FRACTAL_NZ", shape=(6,))
        assert spec.predict(call) == 561103
    tensors = {arg: device.tensor(call.tensor(arg), None) for arg in call.tensors}
    with pytest.raises(AclnnError, match="FRACTAL_NZ") as caught:
        device.plan(spec, tensors, call.attrs)
    assert caught.value.code == 561103


def test_a_crash_names_its_case(toolkit_info: Toolkit, tmp_path: Path, device_kind: str) -> None:
    if device_kind != "sim":
        pytest.skip("misuse is undefined on an NPU")
    (tmp_path / "crashing.py").write_text(
        "import os\n"
        "from pathlib import Path\n"
        "from fuzz import run\n"
        "class Cases(run.Cases):\n"
        "    def run(self, case):\n"
        f"        once = Path({str(tmp_path)!r}, 'once')\n"
        "        if case.seed == 7 or (case.seed == 9 and not once.exists()):\n"
        "            case.seed == 9 and once.touch()\n"
        "            os.abort()\n"
        "        super().run(case)\n"
    )
    words = argparse.Namespace(
        seed=0, count=12, jobs=1, timeout=60, progress=10.0, op=[], sanitize=None, verbose=False
    )
    outcome = drive(words, "crashing:Cases", [tmp_path])
    assert outcome.cases == 12 and len(outcome.failures) == 2, outcome
    first, second = outcome.failures
    assert "--seed 7 --count 1" in first and "the process died: SIGABRT" in first
    assert "--seed 9 --count 1" in second and "(not when it ran alone)" in second


def test_ledger_wants_an_issue() -> None:
    for reason in ("", "flaky", "see the tracker", "issue 12", "#0"):
        with pytest.raises(ValueError, match="issue"):
            Finding("softmax", reason)
    for match in ("", ".*", "x?"):
        with pytest.raises(ValueError, match="every failure"):
            Finding(match, "#12")
    known = Finding(r"softmax_grad .*\n.*561002", "#12: tiling of rows above 2^40")
    text = "python -m fuzz.run --op softmax_grad --seed 3\ngot 561002"
    assert excuse(text, (known,)) is known
    assert excuse("something else", (known,)) is None
    assert stale({known}, (known,)) == []
    assert "fixed? remove the entry" in stale(set(), (known,))[0]
