# SPDX-License-Identifier: Apache-2.0
"""Runs an operator by torch_npu's kernel where the simulator has what that needs, else on the CPU.

What torch_npu's kernels need is an aclnn function or an operator type of an installed package, and
which one shows when they ask for it. So where there are packages besides the toolkit's own, an
operator is tried once for each dtype: a kernel that finds nothing raises before it has launched
anything, and from then on the operator runs by PyTorch's CPU kernel on the device's memory. Without
such packages only what libopapi.so may have is tried. With torch_npu's queue (TASK_QUEUE_ENABLE
other than 0) an error comes too late to try anything.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, ValuesView
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu import (
    by_hand,
    lost_arguments,
    missing,
    random,
    reports,
    second_derivatives,
    simulator,
    wide,
)
from aclgrad_torch_npu.host_tensors import (
    Formats,
    Plains,
    give_back,
    host_alias,
    is_private,
    map_values,
    npu,
    on_npu,
    to_npu,
    write,
)
from aclgrad_torch_npu.operators import (
    foreign_packages,
    has_cpu_kernel,
    on_host,
    takes_host_tensors,
    untouched,
)

_KEY = "PrivateUse1"
_AUTOGRAD_KEY = "AutogradPrivateUse1"
_VARIABLE = "ACLGRAD_TORCH_FALLBACK"
_MODES = ("warn", "silent", "error")
_NOT_FOUND = re.compile(
    r"(aclnn\w+) or \1GetWorkspaceSize (?:not found|not in )"
    r"|OPS function error: (\w+), error code is 100024"
    # Only torch_npu's way to operator types says this, and no aclnn function would have led there.
    r"|(can not cast format when output is input)"
    # torch_npu looks for one of several functions here, and takes the others for an old CANN.
    r"|(?:Get )?(aclnn\w+)? ?.*(?i:please (?:upgrade cann|update cann version))"
    # An operator that torch_npu's kernel calls says so itself.
    r"|no installed package has (\w+)"
)
"""How torch_npu says that there is no aclnn function or no operator type."""

_OWN_CHECK = re.compile(r"ERR\d+ OPS|npu storage desc is unavailable")
"""How torch_npu refuses arguments, in part for operator types that are not here."""

_NOT_TAKEN = re.compile(r"(aclnn\w+) does not take these arguments")
"""How a function of examples/torch_operators refuses what its kernels would round or lack."""

_LONG = re.compile(r"[Ee]xpected.*(?:[Ll]ong|int64)")
"""How PyTorch's CPU says that it wants 64 bits for indices, where an NPU takes 32."""

_exchange = threading.RLock()
_withdrawn: deque[Any] = deque(maxlen=4096)
_operators: list[Overload] = []
_calls: Counter[str] = Counter()
_lines: dict[str, str] = {}  # where an operator was first called


def counts() -> dict[str, int]:
    """Calls on the CPU by operator, most first."""
    return dict(_calls.most_common())


def first_line(name: str) -> str:
    """The program's line that first called an operator on the CPU, where one is known."""
    return _lines.get(name, "")


def mode() -> str:
    """What becomes of an operator without a kernel."""
    chosen = os.environ.get(_VARIABLE) or "warn"
    if chosen not in _MODES:
        raise RuntimeError(f"{_VARIABLE}: got {chosen!r}, want {', '.join(_MODES)}")
    return chosen


class Overload:
    """One overload: torch_npu's kernel of it, if it has one, and the CPU's."""

    def __init__(self, op: Any, own: bool, composite: bool) -> None:
        self.op = op
        self.name = str(op._name)
        # torch_npu has a kernel of it, which may find what it needs.
        self._tries = own and _synchronous() and (foreign_packages() or on_host(op))
        self._keys = [_KEY]
        self._libraries: list[Any] = []
        self._missing: dict[Any, str] = {}  # by dtype: what torch_npu did not find
        self._tried: set[Any] = set()
        # Made of other operators, by PyTorch itself, which also are what has a derivative.
        self._composite = composite
        if self._composite and _calls_functions_itself(self.name):
            self._keys.append(_AUTOGRAD_KEY)
        self._by_hand = by_hand.find(self.name)
        self._kernel = lost_arguments.find(self.name) or op
        self._decomposes = self._composite and self._by_hand is None
        if own and not self._composite and self._by_hand is None and not has_cpu_kernel(op):
            self._tries = True

    # Only calls need these: there are some 1,500 operators, of which a program calls a few.

    @cached_property
    def _names(self) -> list[str]:
        return [arg.name for arg in self.op._schema.arguments]

    @cached_property
    def _written(self) -> list[str]:
        arguments = self.op._schema.arguments
        return [arg.name for arg in arguments if arg.alias_info and arg.alias_info.is_write]

    @cached_property
    def _out(self) -> list[str]:
        return [arg.name for arg in self.op._schema.arguments if arg.is_out]

    @cached_property
    def _random(self) -> bool:
        return random.is_random(self.op)

    @cached_property
    def _widened(self) -> frozenset[torch.dtype]:
        exact = by_hand.is_exact(self.name)
        return frozenset() if exact else wide.types(self.op, self._random)

    def register(self) -> None:
        """Stand in the dispatcher, in front of torch_npu's kernel."""
        space, _, name = self.name.partition("::")
        for key in self._keys:
            library: Any = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
            library.impl(name.removesuffix(".default"), key, self, False)
            self._libraries.append(library)

    def withdraw(self) -> None:
        """Leave the dispatcher to torch_npu's kernel. The entry that goes is kept for a while:
        other threads may be in it, on their way to Python's lock.
        """
        # Older versions of PyTorch cannot: there nothing but the first call's place is at risk.
        get_kernel = getattr(torch.library, "get_kernel", None)
        if get_kernel is not None:
            _withdrawn.extend(get_kernel(self.op, key) for key in self._keys)
        while self._libraries:
            self._libraries.pop().reset()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it where it can run."""
        if not self._tries:
            if self._decomposes:
                return self.op.decompose(*args, **kwargs)
            return self.on_cpu(args, kwargs, "no installed package has what it needs")
        dtype = next((each.dtype for each in _tensors((args, kwargs))), None)
        why = self._missing.get(dtype)
        if why is None:
            undo = None if dtype in self._tried else self._snapshot(args, kwargs)
            try:
                result, why = self._try(args, kwargs, dtype)
            except RuntimeError as error:
                if refused := _NOT_TAKEN.search(str(error)):
                    return self._despite(error, args, kwargs, undo, f"{refused[1]} refuses it")
                if not _OWN_CHECK.search(str(error)):
                    raise
                if dtype in self._tried and not _any_private(args, kwargs):
                    raise
                return self._despite(error, args, kwargs, undo)
            if why is None:
                self._tried.add(dtype)
                return result
            if undo is not None:
                undo()
        if self._decomposes:
            return self.op.decompose(*args, **kwargs)
        return self.on_cpu(args, kwargs, why)

    def _despite(
        self,
        error: RuntimeError,
        args: Any,
        kwargs: Any,
        undo: Any,
        why: str = "torch_npu has no kernel of it for these arguments",
    ) -> Any:
        """Run on the CPU what the NPU's side refuses; what both refuse is the NPU's error."""
        if undo is not None:
            undo()
        try:
            return self.on_cpu(args, kwargs, why)
        except (RuntimeError, IndexError, ValueError):
            raise error from None

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return {**dict(zip(self._names, args, strict=False)), **kwargs}

    def _try(self, args: Any, kwargs: Any, dtype: Any) -> tuple[Any, str | None]:
        """Return the kernel's result, or what it did not find.

        The kernel is called through the dispatcher with this object taken out of it, not by
        torch.library.get_kernel: that holds Python's lock, and torch_npu's kernels do not take it
        back when they fail.
        """
        with _exchange:
            if dtype in self._missing:  # another thread has tried it meanwhile
                return None, self._missing[dtype]
            self.withdraw()
            try:
                return self._kernel(*args, **kwargs), None
            except RuntimeError as error:
                found = _NOT_FOUND.search(str(error))
                if found is None:
                    raise
                what = found[1] or found[2] or found[4] or found[5] or "its functions"
                why = f"no installed package has {what}"
                # For private formats torch_npu asks for other things.
                if not _any_private(args, kwargs):
                    self._missing[dtype] = why
                return None, why
            finally:
                self.register()

    def _snapshot(self, args: Any, kwargs: Any) -> Callable[[], None]:
        """Keep what the kernel may change before it finds that something is missing."""
        bound = self._bound(args, kwargs)
        tensors = list(_tensors([bound.get(name) for name in self._written]))
        if tensors:
            npu().current_stream().synchronize()
            Formats.look()
        kept = [(tensor, host_alias(tensor).clone()) for tensor in tensors]
        generator = self._generator(bound) if self._random else None
        offset = generator.get_offset() if generator is not None else 0

        def undo() -> None:
            if kept:
                npu().current_stream().synchronize()
            for tensor, value in kept:
                if tensor.shape == value.shape:
                    write(tensor, value)
            if generator is not None:
                generator.set_offset(offset)

        return undo

    def _generator(self, bound: dict[str, Any]) -> torch.Generator:
        given = bound.get("generator")
        if isinstance(given, torch.Generator):
            return given
        return random.default_generator(_device_of(bound))

    def on_cpu(self, args: tuple[Any, ...], kwargs: dict[str, Any], why: str) -> Any:  # noqa: C901
        """Run the CPU's kernel on the device's memory."""
        self._tell(why)
        bound = self._bound(args, kwargs)
        device = _device_of(bound)
        if not takes_host_tensors(self.op):
            _same_device(bound)
        npu().current_stream(device).synchronize()
        Formats.look()
        written = {id(tensor) for tensor in _tensors([bound.get(name) for name in self._written])}
        givers: dict[int, torch.Tensor] = {}  # the NPU's tensor by the CPU's

        def to_host(value: Any) -> Any:
            if on_npu(value):
                alias = host_alias(value, id(value) in written, plains)
                if id(value) in written:
                    changed.add(id(alias))
                givers[id(alias)] = value
                kept.append(alias)
                return alias
            if isinstance(value, torch.device) and value.type == "npu":
                return torch.device("cpu")
            if isinstance(value, torch.Generator) and value.device.type == "npu":
                return torch.Generator().manual_seed(random.next_seed(value))
            return value

        kept: list[torch.Tensor] = []
        plains: Plains = {}
        changed: set[int] = set()
        host_args, host = map_values(args, to_host), map_values(kwargs, to_host)
        # A result that is resized cannot lie on memory of the device.
        resized: dict[str, torch.Tensor] = {}
        for name in self._out:
            if on_npu(kwargs.get(name)):
                resized[name] = host[name]
                # Some operators take the shape from it.
                host[name] = torch.empty(kwargs[name].shape, dtype=kwargs[name].dtype)
                changed.add(id(host[name]))
        with ExitStack() as stack:
            if self._random and not isinstance(bound.get("generator"), torch.Generator):
                stack.enter_context(random.seeded(random.next_seed(self._generator(bound))))
            result = self._compute(host_args, host, changed)
        give_back(plains)
        _calls[self.name] += 1
        for name in resized:
            _give(kwargs[name], host[name])
            givers[id(host[name])] = kwargs[name]

        def to_device(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
                return value
            giver = givers.get(id(value))
            return to_npu(value, device) if giver is None else giver

        if plains and (of_format := by_hand.result_format(self.name)) is not None:
            made = of_format(bound, result)
            if made is not None:
                return made
        return map_values(result, to_device)

    def _compute(self, args: Any, kwargs: Any, changed: set[int]) -> Any:
        function = self._by_hand or self.op
        dtype = wide.common((args, kwargs)) if self._widened else None

        def run(args: Any, kwargs: Any) -> Any:
            if dtype in self._widened:
                return wide.call(function, args, kwargs, dtype, changed)
            return function(*args, **kwargs)

        try:
            return run(args, kwargs)
        except RuntimeError as error:
            if not _LONG.search(str(error)):
                raise
            return run((), _long_indices(self._bound(args, kwargs)))

    def _tell(self, why: str) -> None:
        chosen = mode()
        if chosen == "error":
            raise NotImplementedError(
                f"{self.name}: {why}, and {_VARIABLE} is error. Next: install a package that has it"
                f" (aclgrad package), or {_VARIABLE}=warn to run it on the CPU"
            )
        if self.name in _lines:
            return
        _lines[self.name] = simulator.place(sys._getframe(1))
        if chosen == "warn":
            where = f"{_lines[self.name]}: " if _lines[self.name] else ""
            print(
                f"aclgrad: {where}{self.name} runs on the CPU: {why}. {_VARIABLE}=silent says"
                " nothing, =error stops here",
                file=sys.stderr,
            )


class Missing(Overload):
    """One overload of torch_npu's own that the CPU has not: only packages can have it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run torch_npu's kernel, or say what is missing and where it is to be had."""
        with _exchange:
            self.withdraw()
            try:
                return self.op(*args, **kwargs)
            except (RuntimeError, OSError) as error:
                found = _NOT_FOUND.search(str(error))
                if found is None and not isinstance(error, OSError):
                    raise
                raise NotImplementedError(missing.words(self.name, found, str(error))) from None
            finally:
                self.register()


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        if value.device.type == "npu":
            yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)


def _any_private(*values: Any) -> bool:
    return any(is_private(tensor) for tensor in _tensors(values))


def _same_device(value: Any, found: torch.device | None = None) -> torch.device | None:
    """Refuse tensors of the host or of another device among those of one, as a device does; a
    number in a tensor may come from anywhere.
    """
    if isinstance(value, torch.Tensor) and value.dim() > 0:
        if found is not None and value.device != found:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices,"
                f" {found} and {value.device}!"
            )
        return value.device
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple, ValuesView)):
        for each in value:
            found = _same_device(each, found)
    return found


def _device_of(bound: dict[str, Any]) -> torch.device:
    for tensor in _tensors(bound):
        return tensor.device
    device = bound.get("device")
    if isinstance(device, torch.device) and device.index is not None:
        return device
    return torch.device("npu", npu().current_device())


def _give(out: torch.Tensor, value: torch.Tensor) -> None:
    if out.shape != value.shape:
        out.resize_(value.shape)
        # Memory that grows takes its old values along, later.
        npu().current_stream(out.device).synchronize()
    if value.numel():
        write(out, value)


def _calls_functions_itself(name: str) -> bool:
    """Whether torch_npu asks for aclnn functions where autograd would take an operator apart."""
    lines = torch._C._dispatch_dump(name).splitlines()
    return any(
        line.startswith(f"{_AUTOGRAD_KEY}:") and "RegisterAutogradNPU" in line for line in lines
    )


def _made_of_out(op: Any, owned: dict[str, None]) -> bool:
    """Whether PyTorch itself makes an operator of its form with ``out``, which torch_npu has."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return f"{op._schema.name}.out" in owned and has(
        op._name, "CompositeExplicitAutogradNonFunctional"
    )


def _long_indices(bound: dict[str, Any]) -> dict[str, Any]:
    """Widen the arguments that count something."""
    names = ("index", "indices", "target", "offsets")

    def widen(value: Any) -> Any:
        return value.long() if getattr(value, "dtype", None) == torch.int32 else value

    return {k: map_values(v, widen) if k in names else v for k, v in bound.items()}


def _synchronous() -> bool:
    """Whether a kernel's error is raised by the call itself."""
    return os.environ.get("TASK_QUEUE_ENABLE") == "0"


def register() -> None:
    """Put an `Overload` in front of every operator that may lack what it needs."""
    if _operators:
        return
    mode()
    Formats.watch()
    names = torch._C._dispatch_get_registrations_for_dispatch_key
    owned, composite = dict.fromkeys(names(_KEY)), set(names("CompositeImplicitAutograd"))
    for name in owned | dict.fromkeys(names("CPU")):
        space, _, rest = name.partition("::")
        if space not in ("aten", "npu"):
            continue
        packet, _, overload = rest.partition(".")
        # torch_npu registers some names that nobody defines.
        op = getattr(getattr(getattr(torch.ops, space), packet, None), overload or "default", None)
        if op is None or untouched(op):
            continue
        own = name in owned
        if not own and foreign_packages() and _made_of_out(op, owned):
            continue
        if space != "aten" and by_hand.find(name) is None:
            if own and _synchronous() and name.removesuffix(".default") not in missing.COMPLETE:
                _operators.append(Missing(op, own, name in composite))
                _operators[-1].register()
            continue
        if own and on_host(op) and not _synchronous():
            continue
        _operators.append(Overload(op, own, name in composite))
        _operators[-1].register()
    second_derivatives.refuse(owned)
    atexit.register(lambda: reports.at_exit(mode() != "warn"))


if "torch_npu" in sys.modules:
    register()
