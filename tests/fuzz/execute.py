# SPDX-License-Identifier: Apache-2.0
"""Runs one case from its first tensor to its last handle and compares everything with the model."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.ops import all_specs
from aclgrad.runtime.memory import Buffer
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.cases import fill, view
from aclgrad.spec.checks import PARAM_INVALID, PARAM_NULLPTR
from aclgrad.spec.soc import family_of
from fuzz import judge
from fuzz.abi import GARBAGE, NO_EXECUTOR, NO_SIZE, Abi, Stage1
from fuzz.draw import Drawn

_LARGEST = 1 << 20
"""Bytes of a tensor above which a case stops after the first stage."""

_SPARE = 64


class Mismatch(Exception):
    """The library did something else than the model says."""


class Runner:
    """Runs cases on one open simulator and counts the codes."""

    def __init__(self, abi: Abi) -> None:
        self.abi = abi
        self.codes: Counter[str] = Counter()
        self.ran = 0

    def run(self, case: Drawn) -> None:
        """Run one case; raises `Mismatch`."""
        one = _Run(self, case)
        try:
            one.go()
        except Exception:
            # Nothing may run on memory that goes away now.
            self.abi.synchronize(one.stream)
            one.clean_up()
            raise
        left = one.clean_up()
        if left:
            raise Mismatch("; ".join(left))


class _Run:
    def __init__(self, runner: Runner, case: Drawn) -> None:
        self.runner, self.abi, self.case = runner, runner.abi, case
        self.rng = np.random.default_rng((zlib.crc32(case.spec.op.encode()), case.seed))
        self.handles: dict[str, int | None] = {}
        self.dead: set[str] = set()
        self.buffers: dict[str, Buffer] = {}
        self.spare_buffers: list[Buffer] = []
        self.data: dict[str, NDArray[Any]] = {}  # raw contents of the inputs' buffers
        self.executor: int | None = None
        self.alive = False
        self.stream: int | None = runner.abi.device.stream if case.own_stream else None
        self.size = 0
        self.touched: list[str] = []
        self.runnable = False
        self.out = case.spec.output_args[0].name

    # One case.

    def go(self) -> None:
        case, abi = self.case, self.abi
        abi.set_option("soc", case.soc)
        abi.set_option("mode", case.mode)
        abi.set_option("cores", str(case.cores))
        abi.set_option("threads", str((2, 4, 8)[case.seed % 3]))
        want = judge.first_stage(case)
        self.touched = judge.touched(case) if want == 0 else []
        self.runnable = all(self.fits(name) for name in self.touched)
        self.make_tensors()
        got = abi.plan(case.spec, self.handles, case.call)
        self.runner.codes[f"plan {got.code}"] += 1
        self.check_plan(got, want)
        if got.code:
            return
        self.executor, self.alive, self.size = got.executor, True, got.workspace_size
        if not self.touched and self.size:
            raise Mismatch(f"workspaceSize is {self.size} although nothing is computed")
        if self.runnable:
            getattr(self, f"do_{case.script}")()
        else:
            self.launch({PARAM_INVALID} if self.size else {judge.RUNTIME_ERROR}, None, 0)
            self.alive = False

    def fits(self, name: str) -> bool:
        desc = self.case.call.tensor(name)
        return desc.size <= _LARGEST and judge.needed_bytes(desc) <= _LARGEST

    def make_tensors(self) -> None:
        case, abi = self.case, self.abi
        shared = self.shared_buffer()
        for index, arg in enumerate(case.spec.tensors):
            desc = case.call.tensors[arg.name]
            if desc is None:
                self.handles[arg.name] = None
                continue
            if arg.name in case.odd:
                self.handles[arg.name] = self.odd_handle(case.odd[arg.name], desc)
                continue
            kind = ("null", "host", "freed", "garbage")[int(self.rng.integers(4))]
            address = self.bad_address(kind, 0)
            if arg.name in self.touched and self.runnable:
                if arg.name == shared:
                    address = self.buffers[case.victim].address
                elif not arg.out:
                    self.data[arg.name] = self.contents(desc, index)
                    self.buffers[arg.name] = abi.upload(self.data[arg.name])
                    address = self.buffers[arg.name].address
                else:
                    self.buffers[arg.name] = self.canaries(desc)
                    address = self.buffers[arg.name].address
                if case.script == "bad_address" and arg.name == case.victim:
                    # A byte is at home on every address.
                    byte = case.detail == "odd" and desc.dtype.numpy.itemsize == 1
                    kind = "null" if byte else case.detail
                    address = self.bad_address(kind, judge.needed_bytes(desc))
            self.handles[arg.name] = abi.tensor(desc, address)

    def shared_buffer(self) -> str:
        """The output's name where it takes an input's memory."""
        case = self.case
        if case.script != "in_place" or not {case.victim, self.out} <= set(self.touched):
            return ""
        mine, theirs = case.call.tensor(self.out), case.call.tensor(case.victim)
        plain = mine.strides is None and mine.storage is None and mine.offset == 0
        same = replace(mine, format="ND") == replace(theirs, format="ND")
        # Arguments come in the order of the C function: the output is not always the last.
        names = [arg.name for arg in case.spec.tensors]
        before = names.index(case.victim) < names.index(self.out)
        promised = not self.reads_beyond(mine)
        return self.out if plain and same and before and promised else ""

    def reads_beyond(self, desc: TensorDesc) -> bool:
        """Columns that are no whole blocks, on SoCs that copy nothing else: a core reads lanes, for
        nothing, that another one may write (docs/ops/softmax_grad.md).
        """
        dim = self.case.call.attrs.get("dim")
        if not isinstance(dim, int) or family_of(self.case.soc).cce_aicore >= 220 or not desc.shape:
            return False
        columns = math.prod(desc.shape[dim % len(desc.shape) + 1 :])
        return columns > 1 and columns * desc.dtype.numpy.itemsize % 32 != 0

    def odd_handle(self, kind: str, desc: TensorDesc) -> int | None:
        if kind == "destroyed":
            handle = self.abi.tensor(replace(desc, shape=(), strides=(), storage=()), None)
            self.abi.destroy_tensor(handle)
            return handle
        return {"garbage": GARBAGE, "host": self.abi.host, "executor": NO_EXECUTOR}[kind]

    def contents(self, desc: TensorDesc, index: int) -> NDArray[Any]:
        """Raw bytes of an input's storage, as far as its view reaches, and a margin."""
        reach = judge.needed_bytes(desc) // desc.dtype.numpy.itemsize
        data = fill(self.rng, self.case.values, replace(desc, storage=(max(reach, 0),)), index)
        raw = data.view(np.uint8)
        if desc.dtype.name == "bool":
            # Any byte but 0 is true.
            raw = np.where(data, self.rng.integers(1, 256, data.size), 0).astype(np.uint8)
        return np.concatenate([raw, np.full(_SPARE, judge.CANARY, np.uint8)])

    def canaries(self, desc: TensorDesc) -> Buffer:
        size = max(judge.needed_bytes(desc), 0)
        return self.abi.upload(np.full(size + _SPARE, judge.CANARY, np.uint8))

    def bad_address(self, kind: str, needed: int) -> int | None:
        abi = self.abi
        if kind == "odd":
            # Elements of more than a byte that do not start at a multiple of their size.
            buffer = abi.device.buffer(max(needed, 0) + _SPARE)
            self.spare_buffers.append(buffer)
            return (buffer.address or 0) + 1
        if kind in ("small", "end"):
            buffer = abi.device.buffer(max(needed - 1, 1))
            self.spare_buffers.append(buffer)
            address = buffer.address or 0
            return address + (buffer.nbytes if kind == "end" or needed < 2 else 0)
        if kind == "freed":
            return abi.freed
        return {"null": None, "host": abi.host, "garbage": GARBAGE}[kind]

    def check_plan(self, got: Stage1, want: int) -> None:
        call = self.case.call
        if got.code != want:
            raise Mismatch(f"first stage: got {got.code}, want {want}: {got.message}")
        if got.code and not got.message.strip():
            raise Mismatch(f"first stage: {got.code} without a message")
        untouched = (call.workspace_size_null or got.workspace_size == NO_SIZE) and (
            call.executor_null or got.executor == NO_EXECUTOR
        )
        if got.code and not untouched:
            raise Mismatch(f"first stage: {got.code}, but the results were written")
        if not got.code and (got.executor in (0, NO_EXECUTOR) or got.workspace_size == NO_SIZE):
            raise Mismatch("first stage: 0, but no executor or workspaceSize")

    # Second stages.

    def launch(
        self,
        want: set[int],
        workspace: int | None,
        size: int,
        executor: int | None = None,
        stream: int | None = None,
        spec: Any = None,
    ) -> int:
        code, message = self.abi.launch(
            spec or self.case.spec, workspace, size, executor or self.executor, stream
        )
        self.runner.codes[f"run {code}"] += 1
        if code not in want:
            raise Mismatch(f"second stage: got {code}, want {sorted(want)}: {message}")
        if code and not message.strip():
            raise Mismatch(f"second stage: {code} without a message")
        return code

    def workspace(self, spare: int = 0) -> int | None:
        if not self.size + spare:
            return None
        buffer = self.abi.device.buffer(self.size + spare)
        self.spare_buffers.append(buffer)
        return buffer.address

    def complete(self, spec: Any = None, spare: int = 0) -> None:
        """A run that must succeed, and its numbers."""
        self.launch({0}, self.workspace(spare), self.size + spare, stream=self.stream, spec=spec)
        code, message = self.abi.synchronize(self.stream)
        if code:
            raise Mismatch(f"the stream failed with {code}: {message}")
        self.runner.ran += 1
        self.check_numbers()

    def inputs(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for arg in self.case.spec.input_args:
            desc = self.case.call.tensor(arg.name)
            if arg.name in self.data:
                raw = self.data[arg.name][:-_SPARE]
                numpy = desc.dtype.numpy
                flat = raw != 0 if numpy.kind == "b" else raw.view(numpy)
                arrays[arg.name] = view(flat, judge.compact(desc))
            elif all(0 <= dim <= _LARGEST for dim in desc.shape) and desc.size <= _LARGEST:
                arrays[arg.name] = np.zeros(desc.shape, np.float32)
            else:
                arrays[arg.name] = np.zeros(())
        return arrays

    def check_numbers(self) -> None:
        raw = np.dtype(np.uint8)
        shared = self.shared_buffer()
        for name, data in self.data.items():
            if shared and name == self.case.victim:
                continue
            if not np.array_equal(self.buffers[name].read(raw), data):
                raise Mismatch(f"the contents of input {name} have changed")
        if self.out not in self.touched:
            return
        desc = self.case.call.tensor(self.out)
        buffer = self.buffers[self.case.victim if shared else self.out]
        got = buffer.read(raw)
        end = max(judge.needed_bytes(desc), 0)
        spoiled = int((got[judge.outside(desc, got.size)] != judge.CANARY).sum())
        if spoiled:
            raise Mismatch(f"{spoiled} bytes outside the view of {self.out} were overwritten")
        wrong = judge.wrong_numbers(self.case, self.inputs(), got[:end].view(desc.dtype.numpy))
        if wrong:
            raise Mismatch(f"numbers: {wrong}")

    def used_up(self) -> None:
        """The executor is gone: every function says so."""
        self.alive = False
        self.launch({judge.INNER}, None, 0, stream=self.stream)

    # Scripts, by name.

    def do_run(self) -> None:
        self.complete()
        self.alive = False

    def do_run_twice(self) -> None:
        self.complete()
        self.used_up()

    def do_drop(self) -> None:
        self.expect("aclDestroyAclOpExecutor", self.abi.destroy_executor(self.executor), 0)
        self.used_up()

    def do_null_executor(self) -> None:
        code, _ = self.abi.launch(self.case.spec, None, 0, None, self.stream)
        self.expect("second stage without an executor", code, PARAM_NULLPTR)
        self.do_run()

    def do_odd_executor(self) -> None:
        handle = next(h for h in self.handles.values() if h is not None)
        odd = {"tensor": handle, "garbage": GARBAGE, "host": self.abi.host}[self.case.detail]
        self.launch({judge.INNER}, None, 0, executor=odd, stream=self.stream)
        self.do_run()

    def do_workspace_null(self) -> None:
        self.launch({PARAM_NULLPTR}, None, self.size or 64, stream=self.stream)
        if self.case.spec.keeps_executor:
            return self.do_run()
        self.used_up()

    def do_workspace_short(self) -> None:
        if not self.size:
            return self.do_run()
        self.launch({PARAM_INVALID}, self.workspace(), self.size - 1, stream=self.stream)
        self.used_up()

    def do_workspace_bad(self) -> None:
        address = self.bad_address(self.case.detail, self.size)
        if self.size:
            self.launch({PARAM_INVALID}, address, self.size, stream=self.stream)
        else:
            self.launch({0}, address, 64, stream=self.stream)
            self.expect("aclrtSynchronizeStream", self.abi.synchronize(self.stream)[0], 0)
            self.check_numbers()
        self.used_up()

    def do_workspace_spare(self) -> None:
        self.complete(spare=512)
        self.alive = False

    def do_bad_address(self) -> None:
        if self.case.victim not in self.touched:
            return self.do_run()
        self.launch({judge.RUNTIME_ERROR}, self.workspace(), self.size, stream=self.stream)
        self.used_up()

    def do_destroyed_tensor(self) -> None:
        victim = self.case.victim
        self.expect("aclDestroyTensor", self.abi.destroy_tensor(self.handles[victim]), 0)
        self.dead.add(victim)
        if victim not in self.touched:
            return self.do_run()
        self.launch({PARAM_INVALID}, self.workspace(), self.size, stream=self.stream)
        self.used_up()

    def odd_stream(self) -> int:
        handle = next(h for h in self.handles.values() if h is not None)
        streams = {"garbage": GARBAGE, "destroyed": self.abi.freed_stream, "tensor": handle}
        return streams.get(self.case.detail, GARBAGE)

    def do_bad_stream(self) -> None:
        want = {judge.RUNTIME_ERROR} if self.touched else {0}
        self.launch(want, self.workspace(), self.size, stream=self.odd_stream())
        self.used_up()

    def do_other_function(self) -> None:
        specs = all_specs()
        self.complete(specs[self.case.seed % len(specs)])
        self.alive = False

    def do_other_soc(self) -> None:
        self.abi.set_option("soc", self.case.detail)
        self.do_run()

    def do_in_place(self) -> None:
        self.do_run()

    def do_repeat(self) -> None:
        self.expect("aclSetAclOpExecutorRepeatable", self.abi.set_repeatable(self.executor), 0)
        self.complete()
        names = [arg.name for arg in self.case.spec.tensors]
        for _ in range(2):
            if self.case.detail == "bad_stream" and self.touched:
                self.launch(
                    {judge.RUNTIME_ERROR}, self.workspace(), self.size, stream=self.odd_stream()
                )
            elif self.case.detail == "misuse":
                self.misuse()
            for name in self.touched:
                desc = self.case.call.tensor(name)
                old = self.buffers[name]
                if name != self.out:
                    self.data[name] = self.contents(desc, names.index(name))
                    fresh = self.data[name]
                else:
                    fresh = np.full(old.nbytes, judge.CANARY, np.uint8)
                if self.case.detail != "address":
                    old.write(fresh)
                    continue
                self.spare_buffers.append(old)
                self.buffers[name] = self.abi.upload(fresh)
                kind = ("", "Output" if name == self.out else "Input")[self.case.seed % 2]
                code = self.abi.set_address(
                    kind, self.executor, names.index(name), self.handles[name],
                    self.buffers[name].address,
                )  # fmt: skip
                self.expect(f"aclSet{kind}TensorAddr", code, 0)
            self.complete()
        self.expect("aclDestroyAclOpExecutor", self.abi.destroy_executor(self.executor), 0)
        self.used_up()

    def misuse(self) -> None:
        abi, null = self.abi, judge.INNER_NULLPTR
        handle = next(h for h in self.handles.values() if h is not None)
        for kind in ("", "Input", "Output"):
            name = f"aclSet{kind}TensorAddr"
            self.expect(name, abi.set_address(kind, self.executor, 0, None, abi.host), null)
            self.expect(name, abi.set_address(kind, None, 0, handle, abi.host), null)
            self.expect(name, abi.set_address(kind, handle, 0, handle, abi.host), judge.INNER)
            code = abi.set_address(kind, self.executor, 0, GARBAGE, abi.host)
            self.expect(name, code, PARAM_INVALID)
        self.expect("aclDestroyAclOpExecutor", abi.destroy_executor(None), null)
        self.expect("aclDestroyAclOpExecutor", abi.destroy_executor(GARBAGE), judge.INNER)
        self.expect("aclSetAclOpExecutorRepeatable", abi.set_repeatable(None), null)
        self.expect("aclSetAclOpExecutorRepeatable", abi.set_repeatable(handle), judge.INNER)

    def expect(self, function: str, got: int, want: int) -> None:
        if got != want:
            raise Mismatch(f"{function}: got {got}, want {want}")

    # Nothing may be left.

    def clean_up(self) -> list[str]:
        """Destroy everything; returns what was not as it should be."""
        abi = self.abi
        problems = []
        if self.executor is not None:
            code = abi.destroy_executor(self.executor)
            if code != (0 if self.alive else judge.INNER):
                problems.append(f"the executor is {'gone' if self.alive else 'still there'}")
        for name, handle in self.handles.items():
            if handle is None or name in self.case.odd:
                continue
            code = abi.destroy_tensor(handle)
            if code != (PARAM_INVALID if name in self.dead else 0):
                problems.append(f"aclDestroyTensor of {name}: got {code}")
        for buffer in (*self.buffers.values(), *self.spare_buffers):
            buffer.free()
        return problems
