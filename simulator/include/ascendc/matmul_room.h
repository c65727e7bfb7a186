// SPDX-License-Identifier: Apache-2.0
// The bytes of L1, L0A, L0B and L0C that a tiling wants. One that does not fit is named with its sizes.
#pragma once

#include <algorithm>

#include "ascendc/matmul_memory.h"
#include "ascendc/matmul_misuse.h"
#include "ascendc/matmul_scale.h"
#include "ascendc/matmul_sparse.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC::detail::mm {

template <typename T>
constexpr uint32_t kWhole = std::max(kC0<T>, kRows);

// A block of scales in L1 covers so many elements of a matrix. It lies beside the block of the matrix, or alone where it covers more.
struct RoomOfScales {
  uint32_t outer = 0, k = 0;
  uint32_t at = 0, bytes = 0;
  bool isAlone = false;
};

// Bytes of the memories, by the tiling.
struct Room {
  uint32_t ofA = 0, ofB = 0;        // one block
  uint32_t ofIndex = 0;             // at the end of one of B
  uint32_t slotsA = 0, slotsB = 0;  // blocks
  uint32_t atB = 0, atBias = 0, atQuant = 0, all = 0;
  uint32_t ofTile = 0, l0c = 0;
  uint32_t l0a = 0, l0b = 0;  // one tile
  RoomOfScales scaleA, scaleB;
};

inline void CheckMultiple(const char* name, uint32_t value, uint32_t unit) {
  constexpr uint32_t kMost = 4095;
  if (value % unit != 0 || value > kMost) {
    Misuse("Init", "Tiles are whole fractals; GetTiling gives such ones.",
           "%s of the tiling is %u; it is a multiple of %u below 4096", name, value, unit);
  }
}
inline void CheckDouble(const char* name, int32_t value) {
  if (value > 2) {
    Misuse("Init", "GetTiling gives such ones.", "%s of the tiling is %d; it is 1 or 2", name,
           value);
  }
}
inline void CheckFits(const char* memory, const char* what, uint32_t bytes, uint32_t most) {
  if (bytes > most) {
    Misuse("Init", "Smaller base extents fit; GetTiling gives some.",
           "the tiling does not fit %s: %s are %u bytes of %u", memory, what, bytes, most);
  }
}
inline uint32_t SlotsOf(const char* name, int32_t depth, int32_t step) {
  if (depth != step && depth != 2 * step) {
    Misuse("Init", "GetTiling gives such ones.",
           "%s of the tiling is %d; with its steps it is %d or %d", name, depth, step, 2 * step);
  }
  return Word(depth / step);
}
template <typename Type>
uint32_t BlockBytes(uint32_t outer, uint32_t k) {
  using T = typename Type::T;
  if (kIsInL1<Type>) {
    return 0;
  }
  if (BytesOf<T>(uint64_t{outer} * k) > kL1Bytes) {
    Misuse("Init", "Smaller steps or base extents fit; GetTiling gives some.",
           "the tiling does not fit L1: a block of %u x %u elements of %u bits is "
           "larger than its %u bytes",
           outer, k, kBitsOf<T>, kL1Bytes);
  }
  return Type::format == CubeFormat::VECTOR
             ? UpTo(BytesIn<T>(k), kFractalBytes) +
                   kFractalBytes  // loads take whole fractals from any block on
             : BytesIn<T>(UpTo(outer, kWhole<T>) * UpTo(k, kWhole<T>));
}

// outer, k: of a block of the matrix; ofCore, kOfCore: of the core's part. factors: mxTypePara's bits of the operand, those of K first.
template <typename Type>
RoomOfScales RoomOfBlocks(const char* name, uint32_t outer, uint32_t k, uint32_t ofCore,
                          uint32_t kOfCore, uint32_t factors, uint32_t slots) {
  constexpr uint32_t kMask = 127, kUpper = 16;
  RoomOfScales room;
  if (kHasScalesInL1<Type>) {
    return room;
  }
  const uint32_t ofK = factors & kMask, ofOuter = factors >> kUpper & kMask;
  if (ofK == 0 || ofOuter == 0) {
    Misuse("Init", "GetTiling gives such ones; each of the four is 1 where nothing is cached.",
           "mxTypePara of the tiling has the factors %u along K and %u along %s; each is 1 to 127",
           ofK, ofOuter, name);
  }
  if (ofOuter > 1 && uint64_t{k} * ofK < kOfCore) {
    Misuse("Init", "L1 has several blocks along the other axis where it has all of K.",
           "mxTypePara of the tiling has the factor %u along %s, and %u of %u elements along K lie "
           "in L1",
           ofOuter, name, k * ofK, kOfCore);
  }
  room.isAlone = kIsInL1<Type> || ofK > 1 || ofOuter > 1;
  // No more than there is.
  room.outer = ofOuter == 1 ? outer : std::min(outer * ofOuter, UpTo(ofCore, outer));
  room.k = ofK == 1 ? k : std::min(k * ofK, UpTo(kOfCore, k));
  room.bytes = UpTo(BytesOfScales(room.outer, room.k), kFractalBytes) * (room.isAlone ? 1 : slots);
  return room;
}

// ownsCo1: C stays in a tensor of the kernel's. quantises: Fixpipe takes parameters from L1.
template <typename A, typename B, typename BiasT, bool ownsCo1, bool quantises, bool caches>
Room RoomFor(const TCubeTiling& tiling) {
  using SrcA = typename A::T;
  using SrcB = typename B::T;
  Room room;
  const struct {
    const char* name;
    int32_t value;
  } positive[] = {{"M", tiling.M},
                  {"N", tiling.N},
                  {"Ka", tiling.Ka},
                  {"Kb", tiling.Kb},
                  {"singleCoreM", tiling.singleCoreM},
                  {"singleCoreN", tiling.singleCoreN},
                  {"singleCoreK", tiling.singleCoreK},
                  {"baseM", tiling.baseM},
                  {"baseN", tiling.baseN},
                  {"baseK", tiling.baseK},
                  {"depthA1", tiling.depthA1},
                  {"depthB1", tiling.depthB1},
                  {"stepM", tiling.stepM},
                  {"stepN", tiling.stepN},
                  {"stepKa", tiling.stepKa},
                  {"stepKb", tiling.stepKb},
                  {"dbL0A", tiling.dbL0A},
                  {"dbL0B", tiling.dbL0B},
                  {"dbL0C", tiling.dbL0C}};
  for (const auto& [name, value] : positive) {
    if (value < 1) {
      Misuse("Init", "Is it the struct that GetTiling has filled, as a whole?",
             "%s of the tiling is %d; it is 1 or more", name, value);
    }
  }
  const uint32_t baseM = Word(tiling.baseM), baseN = Word(tiling.baseN), baseK = Word(tiling.baseK);
  constexpr bool kOfMx = kIsScaled<A> && kIsScaled<B>;
  constexpr uint32_t kUnitK = kOfMx                                   ? kPair
                              : !kMayLieTurned<A> && kMayLieTurned<B> ? kC0<SrcA>
                                                                      : kWhole<SrcA>;
  CheckMultiple("baseM", baseM, kRows);
  CheckMultiple("baseN", baseN, kRows);
  CheckMultiple("baseK", baseK, kUnitK * kDropped<B>);
  CheckDouble("dbL0A", tiling.dbL0A);
  CheckDouble("dbL0B", tiling.dbL0B);
  CheckDouble("dbL0C", tiling.dbL0C);
  // Transposition moves whole squares; a B whose MatmulType has a transpose may come without.
  const uint32_t rowsM = UpTo(baseM, kMayLieTurned<A> ? kSide<SrcA> : kRows);
  const uint32_t rowsN = UpTo(baseN, kSide<SrcB>);
  const uint32_t tileK = UpTo(baseK, kUnitK);
  // Two fractals of scaled bytes have 32 bytes of scales.
  constexpr uint32_t kUnitOfL0 = (kOfMx && kBitsOf<SrcA> == 8 ? 2 : 1) * kFractalBytes;
  room.l0a = UpTo(BytesIn<SrcA>(rowsM * tileK), kUnitOfL0);
  room.l0b = UpTo(BytesIn<SrcB>(rowsN * tileK / kDropped<B>), kUnitOfL0);
  CheckFits("L0A", "baseM x baseK x dbL0A", room.l0a * Word(tiling.dbL0A), kL0Bytes);
  CheckFits("L0B", "baseN x baseK x dbL0B", room.l0b * Word(tiling.dbL0B), kL0Bytes);
  room.ofTile = (kOn950 ? rowsM : baseM) * rowsN * kSumBytes;
  room.l0c = ownsCo1 ? 0 : room.ofTile * Word(tiling.dbL0C);
  CheckFits("L0C", "baseM x baseN x 4 bytes x dbL0C", room.ofTile * Word(tiling.dbL0C), kL0cBytes);
  if (tiling.isBias != 0) {
    CheckFits("the bias table", "baseN x 4 bytes", baseN * kSumBytes, kTableBytes);
  }
  room.slotsA = SlotsOf("depthA1", tiling.depthA1, tiling.stepM * tiling.stepKa);
  room.slotsB = SlotsOf("depthB1", tiling.depthB1, tiling.stepN * tiling.stepKb);
  room.ofA = BlockBytes<A>(baseM * Word(tiling.stepM), baseK * Word(tiling.stepKa));
  room.ofB = BlockBytes<B>(baseN * Word(tiling.stepN), baseK * Word(tiling.stepKb) / kDropped<B>);
  if constexpr (kIsSparse<B>) {
    room.ofIndex = room.ofB / kOfIndex;
    room.ofB += room.ofIndex;
  }
  constexpr uint32_t kTableUnit = 64, kQuantUnit = 128;
  room.atB = room.ofA * room.slotsA;
  room.atBias = room.atB + room.ofB * room.slotsB;
  if constexpr (kOfMx) {
    constexpr uint32_t kOfB = 8;  // bits of mxTypePara before those of B
    const uint32_t factors = Word(caches ? tiling.mxTypePara : kFactorsOfOne);
    const uint32_t kOfCore = Word(tiling.singleCoreK);
    room.scaleA = RoomOfBlocks<A>("M", baseM * Word(tiling.stepM), baseK * Word(tiling.stepKa),
                                  Word(tiling.singleCoreM), kOfCore, factors, room.slotsA);
    room.scaleB = RoomOfBlocks<B>("N", baseN * Word(tiling.stepN), baseK * Word(tiling.stepKb),
                                  Word(tiling.singleCoreN), kOfCore, factors >> kOfB, room.slotsB);
    room.scaleA.at = room.atBias;
    room.scaleB.at = room.scaleA.at + room.scaleA.bytes;
    room.atBias = room.scaleB.at + room.scaleB.bytes;
  }
  room.atQuant = UpTo(
      room.atBias + (tiling.isBias != 0 ? UpTo(baseN * uint32_t{sizeof(BiasT)}, kTableUnit) : 0),
      kQuantUnit);
  room.all = room.atQuant + (quantises ? UpTo(baseN, kRows) * uint32_t{sizeof(uint64_t)} : 0);
  if (room.all > kL1Bytes) {
    Misuse("Init", "Smaller steps, depths or base extents fit; GetTiling gives some.",
           "the tiling does not fit L1: %u blocks of A of %u bytes, %u of B of %u and the rest "
           "are %u bytes of %u%s",
           room.slotsA, room.ofA, room.slotsB, room.ofB, room.all, kL1Bytes,
           kOfMx ? ", scales with them" : "");
  }
  return room;
}

}  // namespace AscendC::detail::mm
