// SPDX-License-Identifier: Apache-2.0
// Transpose: elements move, none is computed with.
#include <vector>

#include "ascendc/device_reorder.h"
#include "device/high.h"
#include "device/vec.h"
#include "engine/options.h"

namespace aclsim {

namespace {

constexpr int64_t kTile = 16;
constexpr uint32_t kMostExtent = 4095;
// These are values of TransposeType.
constexpr uint8_t kNothing = 0;
constexpr uint8_t kTileType = 10;
constexpr uint8_t kChannelsLast = 11;
constexpr uint8_t kChannelsFirst = 12;

// Each batch has rows x columns elements before and columns x rows after.
void Turn(Core& core, const Ub& dst, const Ub& src, int64_t batches, int64_t rows, int64_t columns,
          const Access* scratch) {
  const auto width = static_cast<int64_t>(WidthOf(src.dtype));
  const int64_t bytes = batches * rows * columns * width;
  CheckOperand(core, dst, bytes, "dst");
  CheckOperand(core, src, bytes, "src");
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

void VecTranspose(const Ub& dst, const Ub& src) try {
  Core& core = Core::Current();
  core.instruction = "Transpose";
  if (src.dtype != DType::kInt16 && src.dtype != DType::kUint16 && src.dtype != DType::kHalf) {
    UnsupportedDType(core, core.instruction, src.dtype);
  }
  Turn(core, dst, src, 1, kTile, kTile, nullptr);
}
ACLSIM_SKIPS_FAULTS()

void VecTransposeBatches(const Ub& dst, const Ub& src, const Ub& work,
                         const TransposeCtl& ctl) try {
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
    CheckOperand(core, work, wanted, "sharedTmpBuffer");
    scratch = UbAccess(core, Use::kSpoil, work, wanted);
  }
  Turn(core, dst, src, ctl.batches, last ? ctl.channels : ctl.pixels,
       last ? ctl.pixels : ctl.channels, needsScratch ? &scratch : nullptr);
}
ACLSIM_SKIPS_FAULTS()

namespace {

// These are values of TransposeType.
enum class Layout : uint8_t {
  kNz2Nd0213 = 1,
  kNz2Nz0213,
  kNz2NzWithN,
  kNz2NdWithN,
  kNz2NdWithoutN,
  kNz2NzWithoutN,
  kTurn,
};

// Place of element (row, column) of a matrix of `rows` rows in tiles of 16 by 16, column of tiles after column of tiles.
int64_t InTiles(int64_t row, int64_t column, int64_t rows) {
  return (column / kTile * rows + row) * kTile + column % kTile;
}

// For every element of dst the element of src that it takes.
std::vector<int64_t> Origins(const LayoutCtl& ctl) {
  const auto type = static_cast<Layout>(ctl.type);
  const int64_t heads = ctl.heads, rows = ctl.rows, columns = ctl.columns;
  const int64_t matrix = rows * columns, row = heads * columns, batch = heads * matrix;
  std::vector<int64_t> origins(static_cast<size_t>(ctl.batches * batch));
  for (int64_t b = 0; b < ctl.batches; ++b) {
    for (int64_t n = 0; n < heads; ++n) {
      for (int64_t s = 0; s < rows; ++s) {
        for (int64_t d = 0; d < columns; ++d) {
          const int64_t ofHead = b * batch + n * matrix + InTiles(s, d, rows);
          const int64_t ofBatch = b * batch + InTiles(s, n * columns + d, rows);
          int64_t from = ofHead;
          int64_t to = 0;
          switch (type) {
            case Layout::kNz2Nd0213:
            case Layout::kNz2NdWithoutN:
              to = b * batch + s * row + n * columns + d;
              break;
            case Layout::kNz2Nz0213:
              to = (b * rows + s) * row + InTiles(n, d, heads);
              break;
            case Layout::kNz2NzWithN:
              from = ofBatch;
              to = ofHead;
              break;
            case Layout::kNz2NdWithN:
              from = ofBatch;
              to = b * batch + n * matrix + s * columns + d;
              break;
            case Layout::kNz2NzWithoutN:
              to = ofBatch;
              break;
            case Layout::kTurn:
              from = s * columns + d;
              to = d * rows + s;
              break;
          }
          origins[static_cast<size_t>(to)] = from;
        }
      }
    }
  }
  return origins;
}

}  // namespace

void VecTransposeLayout(const Ub& dst, const Ub& src, const LayoutCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Transpose";
  if (ctl.type == 0 || ctl.type > static_cast<uint8_t>(Layout::kTurn)) {
    ThrowFault("instruction-absent",
               Format("Transpose with a tiling has no transposeType %u on %s", ctl.type,
                      core.soc.name.c_str()),
               "It does nothing on hardware. Use one of the scenes 1 to 7.");
  }
  const size_t width = WidthOf(src.dtype);
  if ((width != 2 && width != 4) || src.dtype == DType::kBf16) {
    UnsupportedDType(core, core.instruction, src.dtype);
  }
  const auto type = static_cast<Layout>(ctl.type);
  const bool headTiles = type == Layout::kNz2Nz0213;
  if (ctl.rows % kTile != 0 || ctl.columns % kTile != 0 || (headTiles && ctl.heads % kTile != 0)) {
    ThrowFault("shape",
               Format("[%u, %u, %u, %u]: lengths of tiles are multiples of 16 in this simulator",
                      ctl.batches, ctl.heads, ctl.rows, ctl.columns),
               "Hardware pads them. Pad the shape, or run this on hardware.");
  }
  const int64_t count = int64_t{ctl.batches} * ctl.heads * ctl.rows * ctl.columns;
  if (count == 0) {
    return;
  }
  const int64_t bytes = count * static_cast<int64_t>(width);
  const HighOperand to{&dst, bytes, "dst"};
  const HighOperand from{&src, bytes, "src"};
  CheckHighOperand(core, to);
  CheckHighOperand(core, from);
  CheckHighOverlap(core, to, from, false);
  const int64_t tiles = type == Layout::kTurn ? 0 : type <= Layout::kNz2Nz0213 ? 1 : 2;
  CheckHighWork(core, ctl.work, tiles * kTile * kTile * static_cast<int64_t>(width), {to, from});
  ResetMaskRegister(core);
  const uint64_t target = core.UbOffset(dst.addr);
  const uint64_t source = core.UbOffset(src.addr);
  const HighWork work = ctl.work;
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = src.dtype;
        if (work.given && work.bytes != 0) {
          record.Add(WorkAccess(core, work));
        }
        record.Add(UbAccess(core, Use::kWrite, dst, bytes));
        record.Add(UbAccess(core, Use::kRead, src, bytes));
      },
      [=, &core, origins = Origins(ctl)](uint8_t* ub) {
        const std::vector<uint8_t> old(ub + source, ub + source + bytes);
        for (size_t i = 0; i < origins.size(); ++i) {
          std::memcpy(ub + target + i * width, old.data() + static_cast<size_t>(origins[i]) * width,
                      width);
        }
        if (ub == core.ub) {
          SpoilHighWork(work);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
