# SPDX-License-Identifier: Apache-2.0
"""What only the simulator does beside ACL's own functions: options, counters, findings, profiles,
tiling alone.
"""

from __future__ import annotations

import ctypes as c
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from aclgrad.common.data import Json
from aclgrad.errors import AclnnError, ToolkitError
from aclgrad.findings import Finding, parse
from aclgrad.runtime.host_functions import HostTensor, TilingPlan, run_tiling
from aclgrad.runtime.library import LaunchStats, Libraries
from aclgrad.spec.arguments import KernelTensor
from aclgrad.spec.call import AttrValue
from aclgrad.spec.dtypes import DType
from aclgrad.spec.op_spec import OpSpec


class WrittenOutput(TypedDict):
    """An output of a launch, with the bytes of its memory and of the unit that is kept."""

    name: str
    bytes: int
    width: int


class WrittenLaunch(TypedDict):
    """A launch whose writers are kept."""

    op: str
    blockDim: int
    outputs: list[WrittenOutput]


class SimulatorCalls:
    """Calls on the loaded libraries. On an NPU they give nothing, or say that there is nothing."""

    libraries: Libraries

    def set_option(self, name: str, value: str) -> None:
        """Set one of the simulator's ``OPTIONS``."""
        function = self.libraries.optional(self.libraries.acl, "aclsimSetOption")
        if function is None:
            raise ToolkitError(f"option {name}: only the simulator has it. Next: use --device sim")
        function.argtypes, function.restype = [c.c_char_p, c.c_char_p], c.c_int32
        self.libraries.check(function(name.encode(), value.encode()), "aclsimSetOption")

    def option(self, name: str) -> str | None:
        """Return one of ``OPTIONS`` as it is in force; None on an NPU or for an unknown name."""
        function = self.libraries.optional_text(self.libraries.acl, "aclsimGetOption")
        if function is None:
            return None
        function.argtypes = [c.c_char_p]
        text = function(name.encode())
        return text.decode() if text else None

    def reset_stats(self) -> None:
        """Forget the counters; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimResetStats")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def stats(self) -> LaunchStats | None:
        """Return the simulator's counters since the last reset; None on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimGetStats")
        if function is None:
            return None
        function.argtypes, function.restype = [c.POINTER(LaunchStats)], None
        stats = LaunchStats()
        function(c.byref(stats))
        return stats

    def clear_findings(self) -> None:
        """Forget what the checks have found; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimClearFindings")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def silence_findings(self) -> None:
        """Keep findings from being printed; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimSilenceFindings")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def findings(self) -> tuple[Finding, ...]:
        """Return what the checks have found since `clear_findings`; nothing on an NPU."""
        function = self.libraries.optional_text(self.libraries.acl, "aclsimFindings")
        if function is None:
            return ()
        function.argtypes = []
        return parse((function() or b"[]").decode("utf-8", "replace"))

    def held(self) -> list[dict[str, Json]]:
        """What chaos has held back since the option was set, the first sixteen instructions."""
        function = self.libraries.optional_text(self.libraries.acl, "aclsimHeld")
        if function is None:
            return []
        function.argtypes = []
        found: list[dict[str, Json]] = json.loads(function() or b"[]")
        return found

    def keep_writers(self, on: bool) -> None:
        """Keep which core writes which output, or forget it; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimKeepWriters")
        if function is not None:
            function.argtypes, function.restype = [c.c_int32], None
            function(int(on))

    def written_outputs(self) -> list[WrittenLaunch]:
        """Outputs of the launches since `keep_writers`, in checked mode: ``op``, ``blockDim``,
        ``outputs`` with ``name``, ``bytes`` and ``width``. Empty on an NPU.
        """
        function = self.libraries.optional_text(self.libraries.acl, "aclsimWriters")
        if function is None:
            return []
        function.argtypes = []
        return list(json.loads(function() or b"[]"))

    def writers(
        self, launch: int, output: int, itemsize: int, count: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The core that wrote each element of an output (-1 none, -2 several), and a number of the
        last instruction that did.
        """
        cores, pieces = np.full(count, -1, np.int32), np.full(count, -1, np.int64)
        function = self.libraries.acl.aclsimPaintWriters
        function.argtypes = [c.c_size_t, c.c_size_t, c.c_uint64, c.c_uint64, c.c_void_p, c.c_void_p]
        function.restype = c.c_int32
        code = function(launch, output, itemsize, count, cores.ctypes.data, pieces.ctypes.data)
        self.libraries.check(code, "aclsimPaintWriters")
        return cores, pieces

    def clear_profiles(self) -> None:
        """Forget the estimates of earlier launches; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimClearProfiles")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def profiles(self) -> list[dict[str, Json]]:
        """Return the timing model's estimates of the launches since `clear_profiles`, as
        docs/timing_model.md describes them. Empty unless the option profile is on.
        """
        function = self.libraries.optional_text(self.libraries.acl, "aclsimProfiles")
        if function is None:
            return []
        function.argtypes = []
        return list(json.loads(function() or b"[]"))

    def profile_lines(self, launch: int, cores: Sequence[int] = ()) -> list[dict[str, Json]]:
        """Return what each line of a profiled launch's kernel costs, on some cores or on all."""
        function = self.libraries.optional_text(self.libraries.acl, "aclsimProfileLines")
        if function is None:
            raise ToolkitError("profile: only the simulator has one. Next: use --device sim")
        function.argtypes = [c.c_size_t, c.POINTER(c.c_uint32), c.c_size_t]
        text = function(launch, (c.c_uint32 * max(len(cores), 1))(*cores), len(cores))
        if text is None:
            message = self.libraries.recent_message()
            raise AclnnError(100000, "aclsimProfileLines", message)
        return list(json.loads(text))

    def profile_changes(self, launch: int) -> list[dict[str, Json]]:
        """Return what a profiled launch would take with one thing changed in its kernel."""
        function = self.libraries.optional_text(self.libraries.acl, "aclsimProfileChanges")
        if function is None:
            raise ToolkitError("profile: only the simulator has one. Next: use --device sim")
        function.argtypes = [c.c_size_t]
        text = function(launch)
        if text is None:
            message = self.libraries.recent_message()
            raise AclnnError(100000, "aclsimProfileChanges", message)
        return list(json.loads(text))

    def write_trace(self, launch: int, cores: Sequence[int], path: Path) -> None:
        """Write some cores of a profiled launch as a Chrome trace."""
        function = self.libraries.optional(self.libraries.acl, "aclsimWriteTrace")
        if function is None:
            raise ToolkitError("trace: only the simulator has one. Next: use --device sim")
        function.argtypes = [c.c_size_t, c.POINTER(c.c_uint32), c.c_size_t, c.c_char_p]
        function.restype = c.c_int32
        chosen = (c.c_uint32 * max(len(cores), 1))(*cores)
        self.libraries.check(
            function(launch, chosen, len(cores), str(path).encode()), "aclsimWriteTrace"
        )

    def soc_names(self) -> list[str]:
        """Names of the SoCs that the simulator knows; empty on an NPU."""
        function = self.libraries.optional_text(self.libraries.acl, "aclsimSocNames")
        if function is None:
            return []
        function.argtypes = []
        return [str(name) for name in json.loads(function() or b"[]")]

    def tiling(
        self,
        spec: OpSpec,
        shapes: Mapping[str, Sequence[int]],
        dtype: DType,
        attrs: Mapping[str, AttrValue],
    ) -> TilingPlan:
        """Run the operator's tiling function alone. Only the simulator can."""
        own = {arg.name: arg.dtypes for arg in spec.tensors}

        def described(items: Sequence[KernelTensor]) -> list[list[HostTensor]]:
            return [[(shapes[item.arg], (own[item.arg] or (dtype,))[0], None)] for item in items]

        return run_tiling(
            self.libraries,
            spec.op_type,
            described(spec.inputs),
            described(spec.outputs),
            spec.attr_defs,
            spec.kernel_values(attrs),
        )
