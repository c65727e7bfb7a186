# SPDX-License-Identifier: Apache-2.0
"""Kernels that spell the device compiler's words by hand, ask for the widths of its fields, or use
names of CANN's own sources.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from aclgrad.building.compiler import Compiler
from aclgrad.common import rebuild
from aclgrad.errors import AclgradError
from aclgrad.reading.sources import SourcesError
from aclgrad.running import kernel_file
from aclgrad.runtime.device import Device
from aclgrad.spec.soc import family_of

FAMILY = family_of("Ascend910B2")

SPELT = """\
#include "kernel_operator.h"
#include "words.h"
namespace {
template <typename T> static inline __aicore__ T Next(T x) { return x + 1; }
struct Sizes {
  explicit __aicore__ Sizes(int n) : count(n) {}
  BOTH ~Sizes() {}
  BOTH int At(int i) const { const int aicore = i, table[] = {1, 2, 3}; return table[aicore]; }
  int count;
};
}  // namespace
extern "C" __global__ __aicore__ void spelt(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  const char* text = "[aicore";
  const int host = 1;
  auto all = [host, text](int i) { return i + host + (text != nullptr); };
  *x = static_cast<uint8_t>(Next(all(Sizes(2).At(1))));
  KERNEL_TASK_TYPE_DEFAULT(@type@);
}
"""
WORDS = """\
#undef __aicore__
#define __aicore__ [aicore]
#define BOTH __forceinline__[host, aicore]
"""


@pytest.mark.parametrize("kind", ["KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"])
def test_spaces_of_functions_by_hand(tmp_path: Path, kind: str) -> None:
    """Sources write what __aicore__ stands for, after the header that defines it as nothing."""
    file, header = tmp_path / "spelt.cpp", tmp_path / "words.h"
    file.write_text(SPELT.replace("@type@", kind))
    header.write_text(WORDS)
    built = kernel_file.build_kernel(file, FAMILY)
    # Nothing that it was made from is gone, or it would be made anew by each command.
    assert rebuild.unchanged(built.library)
    # The header is still known as an input, and lines are those of the sources.
    header.write_text(WORDS + 'static_assert(sizeof(int) == 1, "changed");\n')
    with pytest.raises(SourcesError, match=r"words.h:4: static assertion failed: changed"):
        kernel_file.build_kernel(file, FAMILY)


LAUNCHES = """\
template <typename Kernel> struct Device {
  void Run(uint32_t blocks, void* stream) {
    first::second::Of<Kernel, 1><<<blocks, nullptr, stream>>>(arguments, (blocks + 1) * 2);
  }
};
"""
LAUNCHED = """\
#include "kernel_operator.h"
#include "device.h"
extern "C" __global__ __aicore__ void launched(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
}
"""


def test_launches_in_a_header(tmp_path: Path) -> None:
    """Headers that kernels share with host code have them, in templates that no kernel takes."""
    (tmp_path / "device.h").write_text(LAUNCHES)
    (tmp_path / "launched.cpp").write_text(LAUNCHED)
    kernel_file.build_kernel(tmp_path / "launched.cpp", FAMILY)


FIELDS = """\
#include "kernel_operator.h"
using namespace AscendC;
template <typename T> __aicore__ inline T RoundUp(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}
extern "C" __global__ __aicore__ void fields(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  @params@ p;
  auto value = RoundUp(p.@field@, static_cast<@type@>(16));
  static_assert(std::is_same_v<decltype(value), @type@>);
  p.@field@ = value;
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
}
"""


@pytest.mark.parametrize(
    ("params", "field", "kind"),
    [
        ("Nd2NzParams", "srcDValue", "uint16_t"),
        ("LoadData2DParams", "repeatTimes", "uint8_t"),
        ("LoadData3DParamsV2<half>", "strideW", "uint8_t"),
        ("MmadParams", "m", "uint16_t"),
        ("FixpipeParamsV220", "nSize", "uint16_t"),
        ("FixpipeParamsV220", "dstStride", "uint32_t"),
        ("FixpipeParams<>", "cburstNum", "uint16_t"),
    ],
)
def test_widths_of_fields(tmp_path: Path, params: str, field: str, kind: str) -> None:
    """A template takes a field and a value of the type that CANN's field has."""
    words = {"params": params, "field": field, "type": kind}
    file = tmp_path / "fields.cpp"
    file.write_text(re.sub("@([a-z]+)@", lambda found: words[found[1]], FIELDS))
    kernel_file.build_kernel(file, FAMILY)


def test_two_types_of_a_kernels_own(tmp_path: Path) -> None:
    file = tmp_path / "fields.cpp"
    text = FIELDS.replace("static_cast<@type@>(16)", "16.0f").replace("@params@", "MmadParams")
    file.write_text(text.replace("@field@", "m").replace("@type@", "float"))
    with pytest.raises(SourcesError, match=r"no matching function for call to ‘RoundUp\("):
        kernel_file.build_kernel(file, FAMILY)


OF_CLANG = """\
#include "kernel_operator.h"
using namespace AscendC;
class Kernel {
 public:
  template <int n> struct Part { static constexpr float value = 1; };
  template <> struct Part<3> { static constexpr float value = 2; };
};
extern "C" __global__ __aicore__ void of_clang(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 64);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 64);
  LocalTensor<float> tile = queue.AllocTensor<float>();
  DataCopy(tile, from, 64);
  queue.EnQue(tile);
  tile = queue.DeQue<float>();
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> product = buffer.Get<float>();
  const event_t arrived = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
  SetFlag<HardEvent::MTE2_V>(arrived);
  WaitFlag<HardEvent::MTE2_V>(arrived);
  Muls(product, tile, Kernel::Part<3>::value, 64);
  const event_t done = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE3));
  SetFlag<HardEvent::V_MTE3>(done);
  WaitFlag<HardEvent::V_MTE3>(done);
  DataCopy(to, product, 64);
  queue.FreeTensor(tile);
}
"""


def test_what_only_clang_takes(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members that are specialised within their class: g++ refuses them before version 14."""
    file = tmp_path / "of_clang.cpp"
    file.write_text(OF_CLANG)
    with monkeypatch.context() as without:
        without.setattr(Compiler, "by_clang", lambda self: None)
        with pytest.raises(SourcesError, match=r"explicit specialization(.|\n)*Next: .*clang"):
            kernel_file.build_kernel(file, FAMILY)
    x = np.arange(64, dtype=np.float32)
    ran = kernel_file.run_kernel(
        file, [[x]], ["64:fp32"], soc="Ascend910B2", workspace=0, open_device=lambda: device
    )
    assert not ran.findings
    (y,) = ran.outputs.values()
    np.testing.assert_array_equal(y, 2 * x)


OF_LENGTHS = """\
#include "kernel_operator.h"
template <typename T, T... values> struct Row {};
template <typename Part, typename T, unsigned long count> struct Counted;
template <typename T, unsigned long... rest> struct Counted<Row<T, rest...>, T, 0> {
  using type = Row<T, rest...>;
};
template <typename T, unsigned long count, unsigned long... rest>
struct Counted<Row<T, rest...>, T, count> {
  using type = typename Counted<Row<T, count - 1, rest...>, T, count - 1>::type;
};
using Three = Counted<Row<int>, int, 3>::type;
extern "C" __global__ __aicore__ void of_lengths(GM_ADDR x, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);@more@
}
"""


def test_what_clang_takes_by_no_text_of_gxx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack of values of another type, as catlass has it. What neither compiler takes has g++'s
    error, and the log of it.
    """
    file = tmp_path / "of_lengths.cpp"
    file.write_text(OF_LENGTHS.replace("@more@", ""))
    with monkeypatch.context() as without:
        without.setattr(Compiler, "by_clang", lambda self: None)
        with pytest.raises(SourcesError, match="incomplete type"):
            kernel_file.build_kernel(file, FAMILY)
    kernel_file.build_kernel(file, FAMILY)
    file.write_text(OF_LENGTHS.replace("@more@", "\n  int missing = 1"))
    with pytest.raises(SourcesError, match="incomplete type") as refused:
        kernel_file.build_kernel(file, FAMILY)
    log = Path(str(refused.value).rpartition("whole output is in ")[2].strip())
    assert "incomplete type" in log.read_text() and "clang" not in log.read_text().split()[0]


OF_OTHERS = """\
#include "kernel_operator.h"
inline __aicore__ void MeetAll() { AscendC::SyncAll<false>(); }
extern "C" __global__ __aicore__ void of_others(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_@type@_ONLY);
}
"""


def test_meeting_of_both_kinds_that_a_cube_kernel_has_and_does_not_call(tmp_path: Path) -> None:
    """Headers of several kernels have it; a launch that comes there is told (syncall-cores)."""
    file = tmp_path / "of_others.cpp"
    file.write_text(OF_OTHERS.replace("@type@", "AIC"))
    kernel_file.build_kernel(file, FAMILY)
    file.write_text(OF_OTHERS.replace("@type@", "AIV"))
    with pytest.raises(SourcesError, match="<false> waits for cube cores"):
        kernel_file.build_kernel(file, FAMILY)


BRACES = """\
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void braces(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(@type@);
  LocalTensor<half> tile;
  GlobalTensor<half> matrix;
  const uint16_t rows = 4;
  DataCopy(tile, matrix, {rows, static_cast<uint16_t>(2), static_cast<uint16_t>(rows - 1), 0});
  DataCopy(matrix, tile, {1, rows, 0, 0});
}
"""


@pytest.mark.parametrize(
    ("soc", "kind"),
    [
        ("Ascend910B2", "KERNEL_TYPE_AIV_ONLY"),
        ("Ascend910B2", "KERNEL_TYPE_MIX_AIC_1_2"),
        ("Ascend950PR_9589", "KERNEL_TYPE_AIV_ONLY"),
    ],
)
def test_copies_of_blocks_in_braces(tmp_path: Path, soc: str, kind: str) -> None:
    """Of the structs of copies, one has four fields."""
    file = tmp_path / "braces.cpp"
    file.write_text(BRACES.replace("@type@", kind))
    kernel_file.build_kernel(file, family_of(soc))


LAST_AXIS = """\
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void last_axis(GM_ADDR y, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<float> tile = buffer.Get<float>();
  const uint32_t shape[] = {2, 3, 16}, own[] = {5, 11};
  tile.SetShapeInfo(ShapeInfo(@shape@));
  const auto padded = GetLastAxisShapeND(tile.GetShapeInfo());
  const auto plain = GetLastAxisOriginShapeND(tile.GetShapeInfo());
  LocalTensor<int32_t> out = tile.ReinterpretCast<int32_t>();
  Duplicate(out, static_cast<int32_t>(padded.m * 100 + padded.k), 8);
  Duplicate(out[8], static_cast<int32_t>(plain.m * 100 + plain.k), 8);
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<int32_t> to;
  to.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y), 16);
  DataCopy(to, out, 16);
}
"""


def test_rows_and_columns_of_a_shape(tmp_path: Path, device: Device) -> None:
    """Kernels that write their own parts of softmax ask for them by these names."""
    file = tmp_path / "last_axis.cpp"
    file.write_text(LAST_AXIS.replace("@shape@", "3, shape, 2, own, DataFormat::ND"))
    ran = kernel_file.run_kernel(
        file, [], ["16:int32"], soc="Ascend910B2", workspace=0, open_device=lambda: device
    )
    (y,) = ran.outputs.values()
    assert not ran.findings and (y[0], y[8]) == (616, 511)


@pytest.mark.plants_faults
def test_rows_and_columns_of_no_shape(tmp_path: Path, device: Device) -> None:
    file = tmp_path / "last_axis.cpp"
    file.write_text(LAST_AXIS.replace("@shape@", ""))
    with pytest.raises(AclgradError, match="GetLastAxisShapeND(.|\\n)*SetShapeInfo"):
        kernel_file.run_kernel(
            file, [], ["16:int32"], soc="Ascend910B2", workspace=0, open_device=lambda: device
        )
