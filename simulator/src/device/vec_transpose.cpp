// SPDX-License-Identifier: Apache-2.0
// Transpose: elements move, none is computed with.
#include <vector>

#include "ascendc/device_reorder.h"
#include "device/vec.h"

namespace aclsim {

namespace {

constexpr int64_t kTile = 16;
constexpr uint32_t kMostExtent = 4095;
// Of TransposeType.
constexpr uint8_t kNothing = 0;
constexpr uint8_t kTileType = 10;
constexpr uint8_t kChannelsLast = 11;
constexpr uint8_t kChannelsFirst = 12;

// Each batch has rows x columns elements before and columns x rows after.
void Turn(Core& core, const Ub& dst, const Ub& src, int64_t batches, int64_t rows, int64_t columns,
          const Access* scratch) {
  const auto width = static_cast<int64_t>(WidthOf(src.dtype));
  const int64_t bytes = batches * rows * columns * width;
  core.CheckUb(dst, 0, bytes, "dst");
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUb(src, 0, bytes, "src");
  core.CheckUbAlign(src, kBlock, "src");
  if (dst.addr != src.addr && dst.addr < src.addr + bytes && src.addr < dst.addr + bytes) {
    ThrowFault("overlap",
               Format("dst at UB byte %llu overlaps src at UB byte %llu",
                      static_cast<unsigned long long>(core.UbOffset(dst.addr)),
                      static_cast<unsigned long long>(core.UbOffset(src.addr))),
               "Hardware overwrites elements that it has yet to read. Operands must coincide or "
               "lie apart.");
  }
  const uint64_t to = core.UbOffset(dst.addr);
  const uint64_t from = core.UbOffset(src.addr);
  uint8_t* const spoilt = scratch != nullptr && CheckedMode() ? core.ub + scratch->addr : nullptr;
  const uint64_t spoiltBytes = scratch != nullptr ? scratch->TotalBytes() : 0;
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = src.dtype;
        if (scratch != nullptr) {
          record.Add(*scratch);
        }
        record.Add(UbAccess(core, Use::kWrite, dst, bytes));
        record.Add(UbAccess(core, Use::kRead, src, bytes));
      },
      [=, &core](uint8_t* ub) {
        const std::vector<uint8_t> old(ub + from, ub + from + bytes);
        for (int64_t b = 0; b < batches; ++b) {
          for (int64_t i = 0; i < columns; ++i) {
            for (int64_t j = 0; j < rows; ++j) {
              const int64_t place = (b * columns + i) * rows + j;
              const int64_t origin = (b * rows + j) * columns + i;
              std::memcpy(ub + to + place * width, old.data() + origin * width,
                          static_cast<size_t>(width));
            }
          }
        }
        if (spoilt != nullptr && ub == core.ub) {
          std::memset(spoilt, kPoisonByte, spoiltBytes);
        }
      });
}

}  // namespace

void VecTranspose(const Ub& dst, const Ub& src) {
  Core& core = Core::Current();
  core.instruction = "Transpose";
  if (src.dtype != DType::kInt16 && src.dtype != DType::kUint16 && src.dtype != DType::kHalf) {
    UnsupportedDType(core, core.instruction, src.dtype);
  }
  Turn(core, dst, src, 1, kTile, kTile, nullptr);
}

void VecTransposeBatches(const Ub& dst, const Ub& src, const Ub& work, const TransposeCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "Transpose";
  if (ctl.type == kNothing) {
    return;
  }
  if (ctl.type == kTileType) {
    VecTranspose(dst, src);
    return;
  }
  if (ctl.type != kChannelsLast && ctl.type != kChannelsFirst) {
    ThrowFault("instruction-absent", Format("Transpose has no transposeType %u", ctl.type),
               "It does nothing on hardware. Use TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC or "
               "TRANSPOSE_NHWC2NCHW.");
  }
  const auto width = static_cast<uint32_t>(WidthOf(src.dtype));
  if (width > 4 || src.dtype == DType::kBf16 || src.dtype == DType::kBool) {
    UnsupportedDType(core, core.instruction, src.dtype);
  }
  if (ctl.channels > kMostExtent || ctl.pixels > kMostExtent ||
      ctl.pixels * width % static_cast<uint32_t>(kBlock) != 0) {
    ThrowFault("shape",
               Format("cSize %u, hSize * wSize %u of %u bytes; both are at most %u, a plane is a "
                      "multiple of 32 bytes",
                      ctl.channels, ctl.pixels, width, kMostExtent),
               "Wrong numbers on hardware. Pad the planes.");
  }
  if (ctl.batches == 0 || ctl.channels == 0 || ctl.pixels == 0) {
    return;
  }
  const bool last = ctl.type == kChannelsLast;
  const uint32_t height = width == 1 ? 32 : 16;
  const uint32_t wanted = (last ? ctl.channels + 2 : 2 * ctl.channels + 1) * height * 32;
  Access scratch;
  const bool needsScratch = core.soc.npuArch != 2002;
  if (needsScratch) {
    core.CheckUb(work, 0, wanted, "sharedTmpBuffer");
    core.CheckUbAlign(work, kBlock, "sharedTmpBuffer");
    scratch = UbAccess(core, Use::kSpoil, work, wanted);
  }
  Turn(core, dst, src, ctl.batches, last ? ctl.channels : ctl.pixels,
       last ? ctl.pixels : ctl.channels, needsScratch ? &scratch : nullptr);
}

}  // namespace aclsim
