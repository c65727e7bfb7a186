// SPDX-License-Identifier: Apache-2.0
// Into the memories of the matrix unit: ND2NZ, LoadData of fractals, fills, tables of bias and quantisation.
#include <algorithm>

#include "device/cube.h"
#include "device/tscm.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

constexpr const char* kSplit = "Hardware keeps the low bits: another move. Split the move.";

// The pipe of a move into a memory from L1, or a fill.
Pipe FillPipe(Space space) { return space == Space::kL1 ? Pipe::kMte2 : Pipe::kMte1; }

uint64_t SpanOf(uint64_t count, uint64_t step, uint64_t len) { return (count - 1) * step + len; }

// Columns of 32 bytes of L1 that one matrix takes.
struct NzShape {
  uint64_t columns;     // of the source, whole
  uint64_t c0Step;      // bytes from one to the next
  uint64_t rowStep;     // bytes
  uint64_t matrixStep;  // bytes
};

void MoveNd2Nz(uint8_t* to, const uint8_t* from, const Nd2NzCtl& ctl, uint64_t width,
               const NzShape& shape, LoadGm load) {
  for (uint64_t i = 0; i < ctl.ndNum; ++i) {
    for (uint64_t n = 0; ctl.fromColumns && n < ctl.nValue; ++n) {
      const uint8_t* const first = from + (i * ctl.srcNdMatrixStride + n) * width;
      uint8_t* const target = to + i * shape.matrixStep + n * shape.rowStep;
      for (uint64_t at = 0; at < shape.columns * kCubeBlock; at += width) {
        uint8_t* const element = target + at / kCubeBlock * shape.c0Step + at % kCubeBlock;
        if (at / width < ctl.dValue) {
          load(first + at * ctl.srcDValue, width, element);
        } else {
          std::memset(element, 0, width);
        }
      }
    }
    for (uint64_t n = 0; !ctl.fromColumns && n < ctl.nValue; ++n) {
      const uint8_t* const row = from + (i * ctl.srcNdMatrixStride + n * ctl.srcDValue) * width;
      for (uint64_t j = 0; j < shape.columns; ++j) {
        const uint64_t bytes = std::min(kCubeBlock, ctl.dValue * width - j * kCubeBlock);
        uint8_t* const block = to + i * shape.matrixStep + j * shape.c0Step + n * shape.rowStep;
        load(row + j * kCubeBlock, bytes, block);
        std::memset(block + bytes, 0, kCubeBlock - bytes);
      }
    }
  }
}

}  // namespace

void CubeNd2Nz(const Ub& dst, const void* src, const Nd2NzCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = ctl.fromColumns ? "DataCopy (DN to NZ)" : "DataCopy (ND to NZ)";
  if (IsInTscm(core, dst)) {
    CopyNd2NzToTscm(core, dst, src, ctl);
    return;
  }
  CheckIsCube(core);
  const uint64_t width = WidthOf(dst.dtype);
  constexpr const char* kRows =
      "Hardware keeps the low 16 bits: it copies from other rows. Copy row by row where the pitch "
      "is longer.";
  CheckRange("ndNum", ctl.ndNum, 0, 4095, kSplit);
  CheckRange("nValue", ctl.nValue, 0, 16384, kSplit);
  constexpr uint64_t kMostColumns = (1 << 21) - 1, kMostPitch = (uint64_t{1} << 40) - 1;
  CheckRange("dValue", ctl.dValue, 0, ctl.fromColumns ? kMostColumns : 65535, kSplit);
  if (ctl.ndNum == 0 || ctl.nValue == 0 || ctl.dValue == 0) {
    MarkNothing(core, dst, "copies nothing: ndNum, nValue or dValue is 0");
    return;
  }
  const uint64_t mostPitch = ctl.fromColumns ? kMostPitch : 65535;
  CheckRange("srcNdMatrixStride", ctl.srcNdMatrixStride, 0, mostPitch, kRows);
  constexpr const char* kOneRow = "done: one row has none to be apart from";
  const bool isOneLine = (ctl.fromColumns ? ctl.dValue : ctl.nValue) == 1;
  CheckRange("srcDValue", ctl.srcDValue, 1, mostPitch, kRows, isOneLine ? kOneRow : nullptr);
  CheckRange("dstNzC0Stride", ctl.dstNzC0Stride, 1, 16384, kFewerBits);
  CheckRange("dstNzNStride", ctl.dstNzNStride, 1, 16384, kFewerBits,
             ctl.nValue == 1 ? kOneRow : nullptr);
  CheckRange("dstNzMatrixStride", ctl.dstNzMatrixStride, 0, 16384, kFewerBits);
  CheckOperandIn(core, dst, {Space::kL1}, kCubeBlock, "dst");
  if (width > 4) {
    ThrowFault("dtype-unsupported", Format("ND to NZ of %s", NameOf(dst.dtype)),
               "The device compiler refuses it. Elements have 8, 16 or 32 bits.");
  }
  const NzShape shape{CeilDiv(ctl.dValue * width, kCubeBlock), ctl.dstNzC0Stride * kCubeBlock,
                      ctl.dstNzNStride * kCubeBlock, ctl.dstNzMatrixStride * width};
  const uint64_t rows = SpanOf(ctl.nValue, shape.rowStep, kCubeBlock);
  const uint64_t matrix = SpanOf(shape.columns, shape.c0Step, rows);
  if (ctl.ndNum > 1 && shape.matrixStep % kCubeBlock != 0) {
    ThrowFault("value-range",
               Format("dstNzMatrixStride of %llu elements is no whole block of 32 bytes",
                      static_cast<unsigned long long>(ctl.dstNzMatrixStride)),
               "Hardware raises an exception: blocks of L1 start on 32 bytes.");
  }
  core.CheckUb(dst, 0, Signed(SpanOf(ctl.ndNum, shape.matrixStep, matrix)), "dst");
  // Lines of the source: rows, or columns.
  const uint64_t lines = ctl.fromColumns ? ctl.dValue : ctl.nValue;
  const uint64_t row = (ctl.fromColumns ? ctl.nValue : ctl.dValue) * width;
  const uint64_t pitch = ctl.srcDValue * width;
  const uint64_t inMatrix = SpanOf(lines, pitch, row);
  const uint64_t inAll = SpanOf(ctl.ndNum, ctl.srcNdMatrixStride * width, inMatrix);
  core.CheckGm(src, inAll, false, "src");
  const auto* from = static_cast<const uint8_t*>(src);
  const uint64_t to = core.UbOffset(dst.addr);
  core.progress.Moved(ctl.ndNum * lines * row);
  core.Issue(
      Pipe::kMte2,
      [&](Record& record) {
        record.flow = Flow::kMoveGm;
        record.dtype = dst.dtype;
        record.repeat = static_cast<int32_t>(ctl.ndNum * lines);
        if (ctl.ndNum == 1) {
          // Columns of C0, each with its rows.
          Access access = PartOf(core, dst, Use::kWrite, 0, ctl.nValue * kCubeBlock, shape.columns,
                                 shape.c0Step);
          access.chunk = kCubeBlock;
          access.chunkStride = Signed(shape.rowStep);
          record.Add(access);
          record.Add(BlockAccess(Space::kGm, Use::kRead, reinterpret_cast<uint64_t>(src), row,
                                 lines, pitch, 0));
        } else {
          record.Add(PartOf(core, dst, Use::kWrite, 0, matrix, ctl.ndNum, shape.matrixStep));
          Access access = BlockAccess(Space::kGm, Use::kRead, reinterpret_cast<uint64_t>(src),
                                      lines * row, ctl.ndNum, ctl.srcNdMatrixStride * width, 0);
          access.chunk = row;
          access.chunkStride = Signed(pitch);
          record.Add(access);
        }
        record.move = [=, own = core.ub](uint8_t* image) {
          MoveNd2Nz(image + to, from, ctl, width, shape, LoaderOf(image, own));
        };
      },
      [&core, ctl, to, from, width, shape, inAll] {
        core.SettleAtomics(from, inAll);
        MoveNd2Nz(core.ub + to, from, ctl, width, shape, LoaderOf(core.ub, core.ub));
      });
  if (core.Observed() && ctl.ndNum == 1 && ctl.dstNzNStride == 1) {
    core.cube.origins.AddMatrix(to, shape.c0Step, CeilDiv(ctl.nValue, kFractalRows), shape.columns);
  }
}
ACLSIM_SKIPS_FAULTS()

namespace {

// Square matrices of `rows` x `rows` elements, transposed; element(matrix, row, column) says where one lies, in elements.
template <typename T, typename From, typename To>
void Transpose(T* to, const T* from, uint64_t rows, const From& fromAt, const To& toAt) {
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < rows; ++c) {
      to[toAt(c, r)] = from[fromAt(r, c)];
    }
  }
}

void MoveFractals(uint8_t* to, const uint8_t* from, const Load2dCtl& ctl, LoadGm load) {
  const uint64_t dstStep = (ctl.dstGap + 1) * kFractal;
  for (uint64_t i = 0; i < ctl.repeatTimes; ++i) {
    const uint64_t index =
        ctl.descending ? ctl.startIndex - i * ctl.srcStride : ctl.startIndex + i * ctl.srcStride;
    const uint8_t* const source = from + index * kFractal;
    uint8_t* const target = to + i * dstStep;
    if (!ctl.transpose) {
      load(source, kFractal, target);
      continue;
    }
    uint16_t square[kFractal / 2];
    uint16_t turned[kFractal / 2];
    load(source, kFractal, reinterpret_cast<uint8_t*>(square));
    const auto at = [](uint64_t r, uint64_t c) { return r * kFractalRows + c; };
    Transpose(turned, square, kFractalRows, at, at);
    std::memcpy(target, turned, kFractal);
  }
}

void CheckLoad2d(Core& core, const Ub& dst, const Load2dCtl& ctl) {
  CheckRange("repeatTimes", ctl.repeatTimes, 0, 255, kFewerBits);
  CheckRange("startIndex", ctl.startIndex, 0, 65535, kFewerBits);
  CheckRange("srcStride", ctl.srcStride, 0, 65535, kFewerBits);
  CheckRange("dstGap", ctl.dstGap, 0, 65535, kFewerBits);
  CheckOperandIn(core, dst, {Space::kL0a, Space::kL0b}, kFractal, "dst");
}

}  // namespace

void CubeLoad2d(const Ub& dst, const Ub& src, const Load2dCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "LoadData";
  CheckIsCube(core);
  CheckLoad2d(core, dst, ctl);
  const bool toA = core.SpaceOf(dst) == Space::kL0a;
  core.instruction = toA ? "LoadData (L1 to L0A)" : "LoadData (L1 to L0B)";
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  if (ctl.dstGap != 0 && ctl.transpose && toA) {
    // A turned row of fractals is a column, which Ascend 950 stores without gaps.
    CheckThere(core, "gaps of transposing LoadData (L1 to L0A)");
  }
  if (ctl.repeatTimes == 0) {
    MarkNothing(core, dst, "loads nothing: its repeatTimes is 0");
    return;
  }
  if (ctl.descending) {
    ThrowFault("value-range", "addrMode 1, descending addresses, is of loads from GM only",
               "The device compiler or hardware ignores it. Load from GM, or take addrMode 0.");
  }
  if (ctl.transpose && ctl.bits != 16) {
    ThrowFault("dtype-unsupported",
               Format("ifTranspose with elements of %u bits, 16 alone can be transposed", ctl.bits),
               "Hardware transposes 16 x 16 elements of 16 bits. Use LoadDataWithTranspose.");
  }
  const uint64_t srcStep = ctl.srcStride * kFractal;
  const uint64_t dstStep = (ctl.dstGap + 1) * kFractal;
  const uint64_t first = ctl.startIndex * kFractal;
  core.CheckUb(src, Signed(first), Signed(first + SpanOf(ctl.repeatTimes, srcStep, kFractal)),
               "src");
  core.CheckUb(dst, 0, Signed(SpanOf(ctl.repeatTimes, dstStep, kFractal)), "dst");
  const uint64_t to = core.UbOffset(dst.addr);
  const uint64_t from = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kMte1,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(ctl.repeatTimes * kFractal);
        record.Add(PartOf(core, dst, Use::kWrite, 0, kFractal, ctl.repeatTimes, dstStep));
        record.Add(PartOf(core, src, Use::kRead, first, kFractal, ctl.repeatTimes, srcStep));
      },
      [=](uint8_t* image) { MoveFractals(image + to, image + from, ctl, PlainLoad); });
  const uint64_t observed = core.Observed() ? ctl.repeatTimes : 0;
  for (uint64_t i = 0; i < observed; ++i) {
    core.cube.origins.AddFractal(to + i * dstStep, from + first + i * srcStep, ctl.transpose,
                                 core.lastSite);
  }
}
ACLSIM_SKIPS_FAULTS()

void CubeLoad2dGm(const Ub& dst, const void* src, const Load2dCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "LoadData";
  CheckIsCube(core);
  CheckRange("repeatTimes", ctl.repeatTimes, 0, 255, kFewerBits);
  CheckRange("startIndex", ctl.startIndex, 0, 65535, kFewerBits);
  CheckRange("srcStride", ctl.srcStride, 0, 65535, kFewerBits);
  CheckRange("dstGap", ctl.dstGap, 0, 65535, kFewerBits);
  CheckOperandIn(core, dst, {Space::kL0a, Space::kL0b, Space::kL1},
                 core.SpaceOf(dst) == Space::kL1 ? kCubeBlock : kFractal, "dst");
  const Space space = core.SpaceOf(dst);
  core.instruction = space == Space::kL1    ? "LoadData (GM to L1)"
                     : space == Space::kL0a ? "LoadData (GM to L0A)"
                                            : "LoadData (GM to L0B)";
  CheckThere(core, core.instruction);
  CheckWay(core, Space::kGm, space);
  if (ctl.repeatTimes == 0) {
    MarkNothing(core, dst, "loads nothing: its repeatTimes is 0");
    return;
  }
  if (ctl.transpose || ctl.bits == 4) {
    ThrowFault("dtype-unsupported",
               ctl.transpose ? "ifTranspose of a load from GM" : "int4b_t of a load from GM",
               "Hardware has both for loads from L1 only. Load into L1 first.");
  }
  const uint64_t reach = (ctl.repeatTimes - 1) * ctl.srcStride;
  if (ctl.descending && ctl.startIndex < reach) {
    ThrowFault("value-range",
               Format("descending addresses from fractal %llu with %llu fractals of stride %llu",
                      static_cast<unsigned long long>(ctl.startIndex),
                      static_cast<unsigned long long>(ctl.repeatTimes),
                      static_cast<unsigned long long>(ctl.srcStride)),
               "Hardware reads in front of the tensor. Begin at a later fractal.");
  }
  const uint64_t lowest = ctl.descending ? ctl.startIndex - reach : ctl.startIndex;
  const uint64_t dstStep = (ctl.dstGap + 1) * kFractal;
  const auto* from = static_cast<const uint8_t*>(src);
  const uint64_t bytes = (reach + 1) * kFractal;
  core.CheckGm(from + lowest * kFractal, bytes, false, "src");
  core.CheckUb(dst, 0, Signed(SpanOf(ctl.repeatTimes, dstStep, kFractal)), "dst");
  const uint64_t to = core.UbOffset(dst.addr);
  core.progress.Moved(ctl.repeatTimes * kFractal);
  core.Issue(
      Pipe::kMte2,
      [&](Record& record) {
        record.flow = Flow::kMoveGm;
        record.dtype = dst.dtype;
        record.repeat = static_cast<int32_t>(ctl.repeatTimes);
        record.Add(PartOf(core, dst, Use::kWrite, 0, kFractal, ctl.repeatTimes, dstStep));
        record.Add(BlockAccess(Space::kGm, Use::kRead,
                               reinterpret_cast<uint64_t>(from + lowest * kFractal), kFractal,
                               ctl.repeatTimes, ctl.srcStride * kFractal, 0));
        record.move = [=, own = core.ub](uint8_t* image) {
          MoveFractals(image + to, from, ctl, LoaderOf(image, own));
        };
      },
      [&core, ctl, to, from, lowest, bytes] {
        core.SettleAtomics(from + lowest * kFractal, bytes);
        MoveFractals(core.ub + to, from, ctl, LoaderOf(core.ub, core.ub));
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

// A square of LoadDataWithTranspose lies in fractals as this says: its side, how many fractals it has, and whether they are columns of it.
struct Square {
  uint64_t side;
  uint64_t fractals;
  bool besides;
};
Square SquareOf(uint8_t bits) {
  switch (bits) {
    case 4:
      return {64, 4, false};
    case 8:
      return {32, 2, false};
    case 32:
      return {16, 2, true};
    default:
      return {16, 1, false};
  }
}

template <typename T>
void TransposeSquare(uint8_t* to, uint64_t toStep, const uint8_t* from, uint64_t fromStep,
                     const Square& square) {
  const uint64_t columns = kCubeBlock / sizeof(T);
  T in[2 * kFractal / sizeof(T)];
  T out[2 * kFractal / sizeof(T)];
  const uint64_t perFractal = kFractal / sizeof(T);
  for (uint64_t f = 0; f < square.fractals; ++f) {
    std::memcpy(in + f * perFractal, from + f * fromStep, kFractal);
  }
  const auto at = [&](uint64_t r, uint64_t c) {
    return square.besides ? c / columns * perFractal + r * columns + c % columns
                          : r / kFractalRows * perFractal + r % kFractalRows * columns + c;
  };
  Transpose(out, in, square.side, at, at);
  for (uint64_t f = 0; f < square.fractals; ++f) {
    std::memcpy(to + f * toStep, out + f * perFractal, kFractal);
  }
}

// Two elements share a byte, the first in the lower half.
void TransposeNibbles(uint8_t* to, uint64_t toStep, const uint8_t* from, uint64_t fromStep) {
  constexpr uint64_t kSide = 64;
  uint8_t out[4 * kFractal] = {};
  const auto byteOf = [](uint64_t r, uint64_t c) { return r % kFractalRows * kCubeBlock + c / 2; };
  for (uint64_t r = 0; r < kSide; ++r) {
    for (uint64_t c = 0; c < kSide; ++c) {
      const uint8_t byte = from[r / kFractalRows * fromStep + byteOf(r, c)];
      const auto value = static_cast<uint8_t>(c % 2 == 0 ? byte & 15 : byte >> 4);
      out[c / kFractalRows * kFractal + byteOf(c, r)] |=
          static_cast<uint8_t>(value << (r % 2 == 0 ? 0 : 4));
    }
  }
  for (uint64_t f = 0; f < 4; ++f) {
    std::memcpy(to + f * toStep, out + f * kFractal, kFractal);
  }
}

struct TransposeMove {
  uint64_t to, from;
  uint64_t count;
  uint64_t dstStep, dstFractal;  // bytes
  uint64_t srcStep, srcFractal;
  Square square;
  uint8_t bits;

  void operator()(uint8_t* image) const {
    for (uint64_t i = 0; i < count; ++i) {
      uint8_t* const target = image + to + i * dstStep;
      const uint8_t* const source = image + from + i * srcStep;
      switch (bits) {
        case 4:
          TransposeNibbles(target, dstFractal, source, srcFractal);
          break;
        case 8:
          TransposeSquare<uint8_t>(target, dstFractal, source, srcFractal, square);
          break;
        case 16:
          TransposeSquare<uint16_t>(target, dstFractal, source, srcFractal, square);
          break;
        default:
          TransposeSquare<uint32_t>(target, dstFractal, source, srcFractal, square);
      }
    }
  }
};

// The fractals of squares, `between` apart within one: as one access where they follow each other, else one for each.
void AddSquares(Record* record, const Core& core, const Ub& operand, Use use, uint64_t offset,
                uint64_t count, uint64_t step, const Square& square, uint64_t between) {
  for (uint64_t f = 0; f < square.fractals; ++f) {
    record->Add(PartOf(core, operand, use, offset + f * between, kFractal, count, step));
  }
}

}  // namespace

void CubeLoadTransposed(const Ub& dst, const Ub& src, const Load2dCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "LoadDataWithTranspose";
  CheckIsCube(core);
  CheckLoad2d(core, dst, ctl);
  CheckRange("dstFracGap", ctl.dstFracGap, 0, 65535, kFewerBits);
  CheckRange("srcFracGap", ctl.srcFracGap, 0, 65535, kFewerBits);
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  const bool toA = core.SpaceOf(dst) == Space::kL0a;
  core.instruction =
      toA ? "LoadDataWithTranspose (L1 to L0A)" : "LoadDataWithTranspose (L1 to L0B)";
  CheckThere(core, core.instruction);
  if (ctl.bits == 4 && toA) {
    ThrowFault("dtype-unsupported", "int4b_t transposed into L0A",
               "Hardware transposes int4b_t into L0B only.");
  }
  if (ctl.repeatTimes == 0) {
    MarkNothing(core, dst, "loads nothing: its repeatTimes is 0");
    return;
  }
  const Square square = SquareOf(ctl.bits);
  TransposeMove move;
  move.count = ctl.repeatTimes;
  move.square = square;
  move.bits = ctl.bits;
  const uint64_t unit = ctl.fractals ? kFractal : square.fractals * kFractal;
  move.srcStep = ctl.srcStride * unit;
  move.srcFractal = (ctl.srcFracGap + 1) * kFractal;
  move.dstStep = (ctl.dstGap + 1) * kFractal;
  move.dstFractal = (ctl.dstFracGap + 1) * kFractal;
  const uint64_t first = ctl.startIndex * unit;
  const auto reach = [&](uint64_t step, uint64_t fractal) {
    return SpanOf(ctl.repeatTimes, step, SpanOf(square.fractals, fractal, kFractal));
  };
  core.CheckUb(src, Signed(first), Signed(first + reach(move.srcStep, move.srcFractal)), "src");
  core.CheckUb(dst, 0, Signed(reach(move.dstStep, move.dstFractal)), "dst");
  move.to = core.UbOffset(dst.addr);
  move.from = core.UbOffset(src.addr) + first;
  core.IssueMove(
      Pipe::kMte1,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(ctl.repeatTimes * square.fractals * kFractal);
        AddSquares(&record, core, dst, Use::kWrite, 0, ctl.repeatTimes, move.dstStep, square,
                   move.dstFractal);
        AddSquares(&record, core, src, Use::kRead, first, ctl.repeatTimes, move.srcStep, square,
                   move.srcFractal);
      },
      move);
}
ACLSIM_SKIPS_FAULTS()

namespace {

// Two elements of 4 bits share a byte, the first in the lower half.
uint8_t NibbleAt(const uint8_t* bytes, uint64_t element) {
  return element % 2 == 0 ? bytes[element / 2] & 15 : bytes[element / 2] >> 4;
}
void PutNibble(uint8_t* bytes, uint64_t element, uint8_t value) {
  uint8_t& byte = bytes[element / 2];
  byte = static_cast<uint8_t>(element % 2 == 0 ? (byte & 0xF0) | value : (byte & 15) | value << 4);
}

struct WindowMove {
  Load2dWindowCtl ctl;
  uint64_t to = 0, from = 0;  // in the image; `from` of the window's first fractal

  uint64_t K0() const { return ColumnsOf(ctl.bits); }
  // Fractals along M and K that the destination gets.
  uint64_t RowsTo() const { return ctl.transpose ? ctl.kStep * K0() / kFractalRows : ctl.mStep; }
  uint64_t ColumnsTo() const { return ctl.transpose ? ctl.mStep * kFractalRows / K0() : ctl.kStep; }

  template <typename Put>
  void ForEachElement(const Put& put) const {
    const uint64_t k0 = K0(), perFractal = kFractalRows * k0;
    for (uint64_t column = 0; column < ctl.kStep * k0; ++column) {
      for (uint64_t row = 0; row < ctl.mStep * kFractalRows; ++row) {
        const int64_t inSource =
            (Signed(column / k0) * ctl.srcStride + Signed(row / kFractalRows)) *
                Signed(perFractal) +
            Signed(row % kFractalRows * k0 + column % k0);
        const uint64_t inTarget = (row / k0 * ctl.dstStride + column / kFractalRows) * perFractal +
                                  column % kFractalRows * k0 + row % k0;
        put(inTarget, inSource);
      }
    }
  }
  template <typename T>
  void Turn(uint8_t* image) const {
    T* const target = reinterpret_cast<T*>(image + to);
    const T* const source = reinterpret_cast<const T*>(image + from);
    ForEachElement(
        [=](uint64_t inTarget, int64_t inSource) { target[inTarget] = source[inSource]; });
  }

  void operator()(uint8_t* image) const {
    if (!ctl.transpose) {
      for (uint64_t k = 0; k < ctl.kStep; ++k) {
        std::memcpy(image + to + k * ctl.dstStride * kFractal,
                    image + (Signed(from) + Signed(k) * ctl.srcStride * Signed(kFractal)),
                    ctl.mStep * kFractal);
      }
      return;
    }
    switch (ctl.bits) {
      case 4:
        ForEachElement([&](uint64_t inTarget, int64_t inSource) {
          const int64_t element = 2 * Signed(from) + inSource;
          PutNibble(image + to, inTarget, NibbleAt(image, static_cast<uint64_t>(element)));
        });
        return;
      case 8:
        Turn<uint8_t>(image);
        return;
      case 16:
        Turn<uint16_t>(image);
        return;
      default:
        Turn<uint32_t>(image);
    }
  }
};

}  // namespace

void CubeLoad2dWindow(const Ub& dst, const Ub& src, const Load2dWindowCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "LoadData";
  CheckIsCube(core);
  CheckOperandIn(core, dst, {Space::kL0a, Space::kL0b}, kFractal, "dst");
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  core.instruction =
      core.SpaceOf(dst) == Space::kL0a ? "LoadData (L1 to L0A)" : "LoadData (L1 to L0B)";
  CheckRange("mStep", ctl.mStep, 0, 255, kFewerBits);
  CheckRange("kStep", ctl.kStep, 0, 255, kFewerBits);
  CheckRange("dstStride", ctl.dstStride, 0, 65535, kFewerBits);
  if (ctl.mStep == 0 || ctl.kStep == 0) {
    MarkNothing(core, dst, "loads nothing: its mStep or kStep is 0");
    return;
  }
  WindowMove move;
  move.ctl = ctl;
  const uint64_t k0 = ColumnsOf(ctl.bits);
  if (ctl.transpose && (ctl.mStep * kFractalRows % k0 != 0 || ctl.kStep * k0 % kFractalRows != 0)) {
    ThrowFault("value-range",
               Format("a transposed window of %llu x %llu fractals of elements of %u bits",
                      static_cast<unsigned long long>(ctl.mStep),
                      static_cast<unsigned long long>(ctl.kStep), ctl.bits),
               "Hardware turns squares: mStep is a multiple of 4 for 4 bits and of 2 for 8, kStep "
               "one of 2 for 32.");
  }
  if (move.ColumnsTo() > 1 && ctl.dstStride < move.RowsTo()) {
    ThrowFault("value-range",
               Format("dstStride of %s is %llu fractals: columns that are %llu long overlap",
                      core.instruction, static_cast<unsigned long long>(ctl.dstStride),
                      static_cast<unsigned long long>(move.RowsTo())),
               "Hardware overwrites what it has just written. dstStride counts fractals of 512 "
               "bytes from one column of L0 to the next: M, or N, by 16.");
  }
  const int64_t stride = ctl.srcStride * Signed(kFractal);
  const int64_t first =
      Signed((ctl.kStart * static_cast<uint64_t>(std::abs(ctl.srcStride)) + ctl.mStart) * kFractal);
  const int64_t last = first + Signed(ctl.kStep - 1) * stride;
  core.CheckUb(src, std::min(first, last), std::max(first, last) + Signed(ctl.mStep * kFractal),
               "src");
  const uint64_t column = move.RowsTo() * kFractal;
  core.CheckUb(dst, 0, Signed(SpanOf(move.ColumnsTo(), ctl.dstStride * kFractal, column)), "dst");
  move.to = core.UbOffset(dst.addr);
  move.from = core.UbOffset(src.addr) + static_cast<uint64_t>(first);
  core.IssueMove(
      Pipe::kMte1,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(ctl.mStep * ctl.kStep * kFractal);
        record.Add(
            PartOf(core, dst, Use::kWrite, 0, column, move.ColumnsTo(), ctl.dstStride * kFractal));
        record.Add(PartOf(core, src, Use::kRead, static_cast<uint64_t>(std::min(first, last)),
                          ctl.mStep * kFractal, ctl.kStep,
                          static_cast<uint64_t>(std::abs(stride))));
      },
      move);
  const uint64_t observed = core.Observed() && !ctl.transpose ? ctl.kStep * ctl.mStep : 0;
  for (uint64_t i = 0; i < observed; ++i) {
    const uint64_t column = i / ctl.mStep, row = i % ctl.mStep;
    core.cube.origins.AddFractal(
        move.to + (column * ctl.dstStride + row) * kFractal,
        static_cast<uint64_t>(Signed(move.from) + Signed(column) * stride) + row * kFractal, false,
        core.lastSite);
  }
}
ACLSIM_SKIPS_FAULTS()

void CubeLoadScales(const Ub& dst, const Ub& src, const LoadScalesCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "LoadData (scales)";
  CheckIsCube(core);
  CheckOperandIn(core, dst, {Space::kL0a, Space::kL0b}, kFractal, "dst");
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "srcMx");
  CheckRange("xStep", ctl.xStep, 0, 255, kFewerBits);
  CheckRange("yStep", ctl.yStep, 0, 255, kFewerBits);
  CheckRange("srcStride", ctl.srcStride, 0, 65535, kFewerBits);
  CheckRange("dstStride", ctl.dstStride, 0, 65535, kFewerBits);
  if (ctl.xStep == 0 || ctl.yStep == 0) {
    MarkNothing(core, dst, "loads no scales: its xStep or yStep is 0");
    return;
  }
  if (ctl.xStep > 1 && ctl.dstStride < ctl.yStep) {
    ThrowFault("value-range",
               Format("dstStride of the scales is %llu: rows that are %llu long overlap",
                      static_cast<unsigned long long>(ctl.dstStride),
                      static_cast<unsigned long long>(ctl.yStep)),
               "Hardware overwrites what it has just written. dstStride counts 32 bytes: K by 64.");
  }
  const uint64_t len = ctl.yStep * kCubeBlock;
  const uint64_t srcStep = ctl.srcStride * kCubeBlock, dstStep = ctl.dstStride * kCubeBlock;
  const uint64_t first = ctl.xStart * srcStep + ctl.yStart * kCubeBlock;
  core.CheckUb(src, Signed(first), Signed(first + SpanOf(ctl.xStep, srcStep, len)), "srcMx");
  const Space space = core.SpaceOf(dst) == Space::kL0a ? Space::kMxa : Space::kMxb;
  const uint64_t to = ScalesOf(core, dst);
  if (to + SpanOf(ctl.xStep, dstStep, len) > core.image.End(space)) {
    ThrowFault(kUbOutOfBounds,
               Format("%llu bytes of scales from byte %llu of %s, which has %llu",
                      static_cast<unsigned long long>(SpanOf(ctl.xStep, dstStep, len)),
                      static_cast<unsigned long long>(to - core.image.Begin(space)),
                      SpaceName(space), static_cast<unsigned long long>(core.soc.BytesOf(space))),
               "Hardware would raise an exception. Load fewer rows at once.");
  }
  const uint64_t from = core.UbOffset(src.addr) + first;
  core.IssueMove(
      Pipe::kMte1,
      [&](Record& record) {
        record.dtype = src.dtype;
        record.repeat = BlocksOf(ctl.xStep * len);
        record.Add(BlockAccess(space, Use::kWrite, to, len, ctl.xStep, dstStep, dst.buf));
        record.Add(PartOf(core, src, Use::kRead, first, len, ctl.xStep, srcStep));
      },
      [=](uint8_t* image) {
        for (uint64_t x = 0; x < ctl.xStep; ++x) {
          std::memcpy(image + to + x * dstStep, image + from + x * srcStep, len);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

void CubeLoadSparse(const Ub& dst, const Ub& src, const Ub& index, uint64_t startIndex,
                    uint64_t repeatTimes) try {
  Core& core = Core::Current();
  core.instruction = "LoadDataWithSparse";
  CheckIsCube(core);
  CheckOperandIn(core, dst, {Space::kL0b}, kFractal, "dst");
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  CheckOperandIn(core, index, {Space::kL1}, kCubeBlock, "idx");
  CheckRange("repeatTimes", repeatTimes, 0, 255, kFewerBits);
  if (repeatTimes == 0) {
    MarkNothing(core, dst, "loads nothing: its repeatTimes is 0");
    return;
  }
  const uint64_t bytes = repeatTimes * kFractal, ofIndex = repeatTimes * kFractalIndex;
  const uint64_t first = startIndex * kFractal, firstIndex = startIndex * kFractalIndex;
  core.CheckUb(dst, 0, Signed(bytes), "dst");
  core.CheckUb(src, Signed(first), Signed(first + bytes), "src");
  core.CheckUb(index, Signed(firstIndex), Signed(firstIndex + ofIndex), "idx");
  const uint64_t to = core.UbOffset(dst.addr), from = core.UbOffset(src.addr) + first;
  const uint64_t toIndex = IndexOf(core, dst), fromIndex = core.UbOffset(index.addr) + firstIndex;
  core.IssueMove(
      Pipe::kMte1,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(bytes);
        record.Add(PartOf(core, dst, Use::kWrite, 0, bytes, 1, 0));
        record.Add(PartOf(core, src, Use::kRead, first, bytes, 1, 0));
        record.Add(BlockAccess(Space::kIndex, Use::kWrite, toIndex, ofIndex, 1, 0, dst.buf));
        record.Add(PartOf(core, index, Use::kRead, firstIndex, ofIndex, 1, 0));
      },
      [=](uint8_t* image) {
        std::memcpy(image + to, image + from, bytes);
        std::memcpy(image + toIndex, image + fromIndex, ofIndex);
      });
}
ACLSIM_SKIPS_FAULTS()

void CubeFill(const Ub& dst, const FillCtl& given) try {
  Core& core = Core::Current();
  core.instruction = "InitConstValue";
  CheckIsCube(core);
  const bool l1 = core.SpaceOf(dst) == Space::kL1;
  CheckOperandIn(core, dst, {Space::kL1, Space::kL0a, Space::kL0b}, l1 ? kCubeBlock : kFractal,
                 "dst");
  if (!l1) {
    CheckThere(
        core, core.SpaceOf(dst) == Space::kL0a ? "InitConstValue of L0A" : "InitConstValue of L0B");
  }
  // A coupled core fills fractals behind each other in every memory.
  const bool fractals = !l1 || core.kind == CoreKind::kCoupled;
  FillCtl ctl = given;
  if (core.kind == CoreKind::kCoupled) {
    ctl.blocks = 1;
    ctl.gap = 0;
  }
  CheckRange("repeatTimes", ctl.repeat, 0, 32767, kFewerBits);
  CheckRange("blockNum", ctl.blocks, 0, 32767, kFewerBits);
  CheckRange("dstGap", ctl.gap, 0, 32767, kFewerBits);
  if (ctl.repeat == 0 || ctl.blocks == 0) {
    MarkNothing(core, dst, "fills nothing: its repeatTimes or blockNum is 0");
    return;
  }
  const uint64_t unit = fractals ? kFractal : kCubeBlock;
  const uint64_t len = ctl.blocks * unit;
  const uint64_t step = len + ctl.gap * unit;
  core.CheckUb(dst, 0, Signed(SpanOf(ctl.repeat, step, len)), "dst");
  const uint64_t width = WidthOf(dst.dtype);
  core.Issue(
      FillPipe(core.SpaceOf(dst)),
      [&](Record& record) {
        record.flow = Flow::kNone;
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(ctl.repeat * len);
        record.Add(PartOf(core, dst, Use::kWrite, 0, len, ctl.repeat, step));
      },
      [ctl, len, step, width, to = dst.addr] {
        for (uint64_t i = 0; i < ctl.repeat; ++i) {
          for (uint64_t at = 0; at < len; at += width) {
            std::memcpy(to + i * step + at, &ctl.value, width);
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

void CheckTableTypes(const Core& core, Space table, DType dst, DType src) {
  const std::vector<std::string>& known = core.soc.matrix.tableTypes;
  const std::string pair = Format("%s %s", NameOf(src), NameOf(dst));
  const bool fits = table == Space::kBt ? std::ranges::find(known, pair) != known.end()
                                        : src == DType::kUint64 && dst == DType::kUint64;
  if (!fits) {
    ThrowFault("dtype-unsupported",
               Format("%s of %s to %s", core.instruction, NameOf(src), NameOf(dst)),
               "The device compiler refuses it. BT takes float, int32_t, and half (on Ascend 950 "
               "bfloat16_t too) as float; FB takes uint64_t.");
  }
}

}  // namespace

void CubeCopyToTable(const Ub& dst, const Ub& src, uint64_t blockCount, uint64_t blockLen,
                     uint64_t srcGap, uint64_t dstGap) try {
  Core& core = Core::Current();
  core.instruction = "DataCopy (L1 to a table)";
  CheckIsCube(core);
  CheckRange("blockCount", blockCount, 0, 4095, kSplit);
  CheckRange("blockLen", blockLen, 0, 65535, kSplit);
  CheckOperandIn(core, dst, {Space::kBt, Space::kFb}, core.SpaceOf(dst) == Space::kFb ? 128 : 64,
                 "dst");
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  const bool bias = core.SpaceOf(dst) == Space::kBt;
  core.instruction = bias ? "DataCopy (L1 to BT)" : "DataCopy (L1 to FB)";
  CheckTableTypes(core, core.SpaceOf(dst), dst.dtype, src.dtype);
  const bool widens = src.dtype != dst.dtype;
  if (blockCount == 0 || blockLen == 0) {
    MarkNothing(core, dst, "copies nothing: its blockCount or blockLen is 0");
    return;
  }
  const uint64_t unit = bias ? core.soc.matrix.tableBlock : 128;
  if (bias && blockLen * unit % 64 != 0) {
    ThrowFault(
        "value-range",
        Format("blockLen of %s is %llu x %llu bytes, no multiple of 64", core.instruction,
               static_cast<unsigned long long>(blockLen), static_cast<unsigned long long>(unit)),
        "Hardware raises an exception: BT takes 64 bytes at a time. Let blockLen be even.");
  }
  const uint64_t len = blockLen * unit;  // of the source
  const uint64_t out = widens ? 2 * len : len;
  const uint64_t srcStep = bias ? len + srcGap * 32 : srcGap * 32;
  const uint64_t dstStep = bias ? out + dstGap * unit : dstGap * 128;
  core.CheckUb(src, 0, Signed(SpanOf(blockCount, srcStep, len)), "src");
  core.CheckUb(dst, 0, Signed(SpanOf(blockCount, dstStep, out)), "dst");
  const uint64_t to = core.UbOffset(dst.addr);
  const uint64_t from = core.UbOffset(src.addr);
  core.IssueMove(
      bias ? Pipe::kMte1 : Pipe::kFix,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = BlocksOf(blockCount * len);
        record.Add(PartOf(core, dst, Use::kWrite, 0, out, blockCount, dstStep));
        record.Add(PartOf(core, src, Use::kRead, 0, len, blockCount, srcStep));
      },
      [=, own = core.ub, half = src.dtype == DType::kHalf](uint8_t* image) {
        for (uint64_t i = 0; i < blockCount; ++i) {
          const uint8_t* const block = image + from + i * srcStep;
          uint8_t* const target = image + to + i * dstStep;
          for (uint64_t at = 0; widens && at < len; at += sizeof(uint16_t)) {
            uint16_t bits;
            std::memcpy(&bits, block + at, sizeof(bits));
            const uint32_t wide = image == own
                                      ? BitsOf(half ? HalfToFloat(bits) : Bf16ToFloat(bits))
                                  : bits != 0 ? UINT32_MAX
                                              : 0;
            std::memcpy(target + 2 * at, &wide, sizeof(wide));
          }
          if (!widens) {
            std::memcpy(target, block, len);
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
