# SPDX-License-Identifier: Apache-2.0
"""Small calls that come again: their first stage is done once, and their inputs have a place."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aclgrad.runtime.library import MEMCPY_D2H, MEMCPY_H2D, Libraries
from aclgrad.runtime.memory import Buffer, address_of
from aclgrad.spec.call import AttrValue, TensorDesc
from aclgrad.spec.dtypes import Array

Key = tuple[object, ...]
_MOST_BYTES, _MOST_CALLS = 1 << 16, 64
_PACKAGES = ("ASCEND_CUSTOM_OPP_PATH", "ASCEND_OPP_PATH")


def key_of(
    api: str,
    inputs: Mapping[str, Array],
    attrs: Mapping[str, AttrValue],
    out: TensorDesc,
) -> Key | None:
    """What a first stage depends on, beside options; None for calls that are not worth keeping."""
    if not 0 < out.size <= _MOST_BYTES:
        return None
    key: list[object] = [api, out.shape, out.dtype.acl]
    for array in inputs.values():
        flags, dtype = array.flags, array.dtype
        if array.nbytes > _MOST_BYTES or not (
            flags.c_contiguous and flags.aligned and dtype.isnative
        ):
            return None
        key += (array.shape, dtype)
    for value in attrs.values():
        # Zero has two signs, and no NaN is like another.
        key.append(value.hex() if type(value) is float else value)
    key += map(os.environ.get, _PACKAGES)
    return tuple(key)


@dataclass
class Prepared:
    """A repeatable executor with device memory for its inputs and its output.

    The output's is as new with each run: nobody may read there what an earlier run has left.
    """

    libraries: Libraries
    executor: int
    second: Callable[..., int]
    buffers: Sequence[Buffer]  # the output's is the last
    handles: Sequence[int]
    out: TensorDesc

    def run(
        self,
        arrays: Mapping[str, Array],
        stream: int | None,
        synchronize: Callable[[], None],
    ) -> Array:
        """Copy the inputs, run the second stage, wait, copy the output back."""
        acl, check = self.libraries.acl, self.libraries.check
        *places, result = self.buffers
        for buffer, given in zip(places, arrays.values(), strict=True):
            if count := given.nbytes:
                check(
                    acl.aclrtMemcpy(buffer.address, count, address_of(given), count, MEMCPY_H2D),
                    "aclrtMemcpy",
                )
        dtype = self.out.dtype.numpy
        array = np.empty(self.out.shape, dtype)
        check(acl.aclsimRenew(result.address), "aclsimRenew")
        check(self.second(None, 0, self.executor, stream), "second stage")
        synchronize()
        size = array.nbytes
        check(
            acl.aclrtMemcpy(address_of(array), size, result.address, size, MEMCPY_D2H),
            "aclrtMemcpy",
        )
        return array

    def destroy(self) -> None:
        """Give everything back."""
        self.libraries.nnopbase.aclDestroyAclOpExecutor(self.executor)
        for handle in self.handles:
            self.libraries.nnopbase.aclDestroyTensor(handle)
        for buffer in self.buffers:
            buffer.free()


class PreparedCalls:
    """The prepared calls of a device, the latest last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Prepared] = OrderedDict()
        self._seen: OrderedDict[Key, None] = OrderedDict()

    def find(self, key: Key) -> Prepared | None:
        """A call that was kept."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def comes_again(self, key: Key) -> bool:
        """Whether a call was made before: only then it is worth keeping."""
        if key in self._seen:
            return True
        self._seen[key] = None
        if len(self._seen) > _MOST_CALLS:
            self._seen.popitem(last=False)
        return False

    def keep(self, key: Key, call: Prepared) -> None:
        """Keep a call instead of the oldest."""
        self._kept[key] = call
        if len(self._kept) > _MOST_CALLS:
            self._kept.popitem(last=False)[1].destroy()

    def drop(self, key: Key) -> None:
        """Give one back."""
        self._kept.pop(key).destroy()

    def clear(self) -> None:
        """Give all back."""
        while self._kept:
            self._kept.popitem()[1].destroy()
