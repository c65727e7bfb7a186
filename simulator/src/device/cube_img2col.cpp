// SPDX-License-Identifier: Apache-2.0
// LoadData of feature maps: the matrix that img2col makes, and the registers that say how.
#include <algorithm>

#include "device/cube.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

// A window of the matrix that img2col makes of a feature map: row = place of the filter, column = (c1, kh, kw, c0).
struct Img2Col {
  Load3dCtl ctl;
  uint64_t width, c0;        // bytes of an element, channels of a block
  uint64_t placesW, places;  // Wo, Ho * Wo
  bool toA;
  bool nz;                  // L0A has fractals column by column
  uint64_t stride;          // fractals from one along K of the product to the next one
  uint64_t to, from, room;  // in the image; bytes of L1 from `from` to its end
  uint64_t l1;              // where L1 begins
  uint64_t pad;             // bits of the padding
  uint64_t boundary;
  const uint8_t* own;

  // Extents of what L0 holds, in fractals of 16 x C0: along M or N of the product, and along its K.
  uint64_t Outer() const {
    return CeilDiv(toA && !ctl.transpose ? ctl.mExtension : ctl.kExtension, kFractalRows);
  }
  uint64_t Inner() const {
    return CeilDiv(toA && !ctl.transpose ? ctl.kExtension : ctl.mExtension, c0);
  }
  // Bytes of L0 from the first fractal to the last one.
  uint64_t TargetBytes() const {
    return toA && !nz ? Outer() * Inner() * kFractal
                      : ((Inner() - 1) * stride + Outer()) * kFractal;
  }
  uint64_t TargetOf(uint64_t m, uint64_t k) const {
    const bool turned = !toA || ctl.transpose;
    const uint64_t row = turned ? k : m;
    const uint64_t column = turned ? m : k;
    const uint64_t fractal = toA && !nz ? row / kFractalRows * Inner() + column / c0
                                        : column / c0 * stride + row / kFractalRows;
    return fractal * kFractal + (row % kFractalRows * c0 + column % c0) * width;
  }
  // Offset in the feature map; none: padding.
  std::optional<uint64_t> SourceOf(uint64_t m, uint64_t k) const {
    const uint64_t place = ctl.mStart + m;
    const uint64_t column = ctl.kStart + k;
    const uint64_t inBlock = column % c0;
    const uint64_t kw = column / c0 % ctl.filterW;
    const uint64_t kh = column / c0 / ctl.filterW % ctl.filterH;
    const uint64_t c1 = column / c0 / ctl.filterW / ctl.filterH;
    const int64_t h =
        static_cast<int64_t>(place / placesW * ctl.strideH + kh * ctl.dilationH) - ctl.map.pad[2];
    const int64_t w =
        static_cast<int64_t>(place % placesW * ctl.strideW + kw * ctl.dilationW) - ctl.map.pad[0];
    if (h < 0 || w < 0 || h >= static_cast<int64_t>(ctl.map.l1H) ||
        w >= static_cast<int64_t>(ctl.map.l1W)) {
      return std::nullopt;
    }
    const uint64_t block =
        (c1 * ctl.map.l1H + static_cast<uint64_t>(h)) * ctl.map.l1W + static_cast<uint64_t>(w);
    return (block * c0 + inBlock) * width;
  }
  uint64_t InImage(uint64_t offset) const {
    const uint64_t at = from - l1 + offset;  // in L1
    return l1 + (boundary != 0 && at >= boundary ? at - boundary : at);
  }

  void operator()(uint8_t* image) const {
    const uint64_t fill = image == own ? pad : 0;  // in a shadow, 0 is what has a value
    for (uint64_t m = 0; m < ctl.mExtension && ctl.mStart + m < places; ++m) {
      for (uint64_t k = 0; k < ctl.kExtension; ++k) {
        const std::optional<uint64_t> source = SourceOf(m, k);
        uint8_t* const target = image + to + TargetOf(m, k);
        if (source) {
          std::memcpy(target, image + InImage(*source), width);
        } else {
          std::memcpy(target, &fill, width);
        }
      }
    }
  }
};

void CheckLoad3d(const Load3dCtl& ctl) {
  CheckRange("l1H", ctl.map.l1H, 0, 32767, kFewerBits);
  CheckRange("l1W", ctl.map.l1W, 0, 32767, kFewerBits);
  CheckRange("strideW", ctl.strideW, 1, 63, kFewerBits);
  CheckRange("strideH", ctl.strideH, 1, 63, kFewerBits);
  CheckRange("filterW", ctl.filterW, 1, 511, kFewerBits);
  CheckRange("filterH", ctl.filterH, 1, 511, kFewerBits);
  CheckRange("dilationFilterW", ctl.dilationW, 1, 255, kFewerBits);
  CheckRange("dilationFilterH", ctl.dilationH, 1, 255, kFewerBits);
}

void CheckLoad3dBits(const Load3dCtl& ctl, bool toA) {
  // The page of LoadDataWithStride leaves 8 bits into L0B out; CANN's own example of it loads int8_t there.
  const bool turns8 = Core::Current().soc.matrix.nzA;
  if (!toA && ctl.bits <= 8 && !turns8) {
    ThrowFault("dtype-unsupported", Format("a feature map of %u bits into L0B", ctl.bits),
               "Hardware has 16 and 32 bits there. Use LoadDataWithTranspose.");
  }
  if (toA && ctl.transpose && ctl.bits <= 8 && !turns8) {
    ThrowFault("dtype-unsupported", Format("enTranspose with elements of %u bits", ctl.bits),
               "Hardware transposes 16 and 32 bits. Use LoadDataWithTranspose.");
  }
}

// Returns how often the filter fits; 0: not once.
uint64_t PlacesOf(uint64_t size, uint64_t before, uint64_t behind, uint64_t filter,
                  uint64_t dilation, uint64_t stride) {
  const uint64_t all = size + before + behind;
  const uint64_t taken = (filter - 1) * dilation + 1;
  return all < taken ? 0 : (all - taken) / stride + 1;
}

// `value` is a multiple of unit, or reaches the edge.
void CheckWindow(const char* field, uint64_t start, uint64_t extension, uint64_t unit,
                 uint64_t edge) {
  const auto ull = [](uint64_t number) { return static_cast<unsigned long long>(number); };
  if (start % unit != 0 || (extension % unit != 0 && start + extension < edge)) {
    ThrowFault("value-range",
               Format("a window along %s from %llu with %llu; both are multiples of %llu, unless "
                      "the window reaches the edge, which is %llu",
                      field, ull(start), ull(extension), ull(unit), ull(edge)),
               "Hardware raises an exception or loads other elements. Let windows begin and end at "
               "whole fractals.");
  }
}

// The registers that the call sets, and what it takes from them.
Load3dCtl Resolved(Core& core, const Load3dCtl& given) {
  Load3dCtl ctl = given;
  if (ctl.setsMap) {
    core.cube.map = ctl.map;
  } else if (core.cube.map) {
    ctl.map = *core.cube.map;
  } else {
    ThrowFault("instruction-absent", "isSetFMatrix is false, and nothing has set the feature map",
               "Hardware takes what the last kernel left. Call SetFmatrix before.");
  }
  if (ctl.setsPadding) {
    core.cube.padding = ctl.padding;
  }
  return ctl;
}

// Returns the same of bytes: channels of 4 bits come in whole blocks, so that none is parted from the one beside it.
Load3dCtl InBytes(Load3dCtl ctl) {
  ctl.bits = 8;
  ctl.channelSize /= 2;
  ctl.kStart /= 2;
  ctl.kExtension /= 2;
  return ctl;
}

}  // namespace

void CubeLoad3d(const Ub& dst, const Ub& src, const Load3dCtl& given) try {
  Core& core = Core::Current();
  core.instruction = "LoadData (feature map)";
  CheckIsCube(core);
  const Load3dCtl ctl = Resolved(core, given);
  CheckLoad3d(ctl);
  CheckOperandIn(core, dst, {Space::kL0a, Space::kL0b}, kFractal, "dst");
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  const bool toA = core.SpaceOf(dst) == Space::kL0a;
  core.instruction = toA ? "LoadData (feature map to L0A)" : "LoadData (feature map to L0B)";
  CheckLoad3dBits(ctl, toA);
  if (ctl.map.l1H == 0 || ctl.map.l1W == 0 || ctl.channelSize == 0 || ctl.kExtension == 0 ||
      ctl.mExtension == 0) {
    MarkNothing(core, dst, "loads nothing: a size is 0");
    return;
  }
  if (core.cube.repeatTimes != 1) {
    ThrowNotSimulated("SetLoadDataRepeat of other than one window");
  }
  Img2Col move;
  move.ctl = ctl;
  move.width = ctl.bits / 8u;
  move.c0 = ColumnsOf(ctl.bits);
  move.toA = toA;
  move.nz = core.soc.matrix.nzA;
  move.stride = move.Outer();
  if (ctl.strided) {
    if (!core.cube.loadStride) {
      ThrowFault("instruction-absent", "LoadDataWithStride without SetLoadDataRepeatWithStride",
                 "Hardware takes the stride that the last kernel left. Call "
                 "SetLoadDataRepeatWithStride before; dstStride counts fractals of 512 bytes.");
    }
    CheckRange("dstStride", *core.cube.loadStride, move.Outer(), UINT16_MAX,
               "Fractals overwrite each other. It counts the fractals of M or N.");
    move.stride = *core.cube.loadStride;
  }
  move.placesW = PlacesOf(ctl.map.l1W, ctl.map.pad[0], ctl.map.pad[1], ctl.filterW, ctl.dilationW,
                          ctl.strideW);
  move.places = move.placesW * PlacesOf(ctl.map.l1H, ctl.map.pad[2], ctl.map.pad[3], ctl.filterH,
                                        ctl.dilationH, ctl.strideH);
  if (ctl.channelSize % move.c0 != 0) {
    ThrowNotSimulated(Format("a channelSize of %llu, no multiple of %llu",
                             static_cast<unsigned long long>(ctl.channelSize),
                             static_cast<unsigned long long>(move.c0)));
  }
  const uint64_t columns = ctl.channelSize * ctl.filterW * ctl.filterH;
  CheckWindow("M", ctl.mStart, ctl.mExtension, kFractalRows, move.places);
  CheckWindow("K", ctl.kStart, ctl.kExtension, move.c0, columns);
  if (ctl.kStart + ctl.kExtension > columns || ctl.mStart >= std::max<uint64_t>(move.places, 1)) {
    ThrowFault("value-range",
               Format("a window of %llu x %llu from (%llu, %llu) of a matrix of %llu x %llu",
                      static_cast<unsigned long long>(ctl.mExtension),
                      static_cast<unsigned long long>(ctl.kExtension),
                      static_cast<unsigned long long>(ctl.mStart),
                      static_cast<unsigned long long>(ctl.kStart),
                      static_cast<unsigned long long>(move.places),
                      static_cast<unsigned long long>(columns)),
               "Hardware reads what lies behind the feature map. Keep kStartPt + kExtension and "
               "mStartPt within the matrix that img2col makes.");
  }
  const uint64_t pad = core.cube.padding.value_or(0);
  if (ctl.bits < 8) {
    if (pad != 0 && std::ranges::any_of(ctl.map.pad, [](uint8_t side) { return side != 0; })) {
      ThrowNotSimulated("a padding of int4b_t with another value than 0");
    }
    move.ctl = InBytes(ctl);
    move.width = 1;
    move.c0 = ColumnsOf(move.ctl.bits);
  }
  const uint64_t source = move.ctl.channelSize / move.c0 * ctl.map.l1H * ctl.map.l1W * kCubeBlock;
  if (core.cube.boundary == 0) {
    core.CheckUb(src, 0, Signed(source), "src");
  }
  const uint64_t target = move.TargetBytes();
  core.CheckUb(dst, 0, Signed(target), "dst");
  move.to = core.UbOffset(dst.addr);
  move.from = core.UbOffset(src.addr);
  move.l1 = core.image.Begin(Space::kL1);
  move.room = core.image.End(Space::kL1) - move.from;
  move.boundary = core.cube.boundary;
  move.pad = pad;
  move.own = core.ub;
  core.IssueMove(
      Pipe::kMte1,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(target);
        if (move.stride == move.Outer()) {
          record.Add(PartOf(core, dst, Use::kWrite, 0, target, 1, target));
        } else {
          record.Add(PartOf(core, dst, Use::kWrite, 0, move.Outer() * kFractal, move.Inner(),
                            move.stride * kFractal));
        }
        record.Add(PartOf(core, src, Use::kRead, 0, std::min(source, move.room), 1, source));
      },
      move);
}
ACLSIM_SKIPS_FAULTS()

void CubeSetFmatrix(const FmatrixCtl& map) try {
  Core& core = Core::Current();
  core.instruction = "SetFmatrix";
  CheckIsCube(core);
  CheckRange("l1H", map.l1H, 1, 32767, kFewerBits);
  CheckRange("l1W", map.l1W, 1, 32767, kFewerBits);
  core.cube.map = map;
}
ACLSIM_SKIPS_FAULTS()

void CubeSetPadding(uint64_t bits) try {
  Core& core = Core::Current();
  core.instruction = "SetLoadDataPaddingValue";
  CheckIsCube(core);
  core.cube.padding = bits;
}
ACLSIM_SKIPS_FAULTS()

// Sets the windows that a load takes.
static void SetWindows(Core& core, uint64_t stride, uint64_t times, uint64_t mode) {
  CheckIsCube(core);
  CheckRange("repeatTime", times, 0, 255, kFewerBits);
  CheckRange("repeatStride", stride, 0, 65535, kFewerBits);
  CheckRange("repeatMode", mode, 0, 1, kFewerBits);
  core.cube.repeatTimes = times;
}

void CubeSetRepeat(uint64_t stride, uint64_t times, uint64_t mode) try {
  Core& core = Core::Current();
  core.instruction = "SetLoadDataRepeat";
  SetWindows(core, stride, times, mode);
}
ACLSIM_SKIPS_FAULTS()

void CubeSetRepeatWithStride(uint64_t stride, uint64_t times, uint64_t mode,
                             uint64_t fractals) try {
  Core& core = Core::Current();
  core.instruction = "SetLoadDataRepeatWithStride";
  SetWindows(core, stride, times, mode);
  core.cube.loadStride = fractals;
}
ACLSIM_SKIPS_FAULTS()

void CubeSetBoundary(uint64_t bytes) try {
  Core& core = Core::Current();
  core.instruction = "SetLoadDataBoundary";
  CheckIsCube(core);
  if (bytes != 0) {
    CheckRange("boundaryValue", bytes, 1024,
               core.image.End(Space::kL1) - core.image.Begin(Space::kL1),
               "0 is no boundary; a smaller one leads to undefined results.");
  }
  core.cube.boundary = bytes;
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
