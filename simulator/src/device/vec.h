// SPDX-License-Identifier: Apache-2.0
// Every vector instruction shares these: which lanes work, where each operand's bytes lie, checks, and a record.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "device/lanes.h"
#include "engine/core.h"

namespace aclsim {

constexpr int64_t kBlock = 32;
constexpr int64_t kBlocksPerRepeat = 8;
constexpr int64_t kRepeatBytes = 256;
constexpr int64_t kMaxLanes = 256;

// A scalar operand as one element of any type.
struct alignas(8) Element : std::array<uint8_t, 8> {};

// The lanes of one instruction after mask mode, placeholders and limits are resolved.
struct LaneSet {
  bool contiguous = false;  // count form: the first `total` elements, strides play no part
  int64_t total = 0;
  int64_t repeat = 0;
  int64_t lanes = 0;       // lanes in a full repeat
  int64_t active = 0;      // 1 + the last lane that works in a repeat
  bool prefix = true;      // the first `active` lanes all work
  int64_t lastActive = 0;  // `active` of the last repeat (counter mode ends inside one)
  uint32_t maskSite = 0;   // of the SetVectorMask that leaves lanes out, or 0
  uint64_t bits[2] = {0, 0};

  bool Empty() const { return contiguous ? total == 0 : repeat == 0 || active == 0; }
  int64_t ActiveIn(int64_t r) const { return r + 1 == repeat ? lastActive : active; }
  bool Works(int64_t lane) const { return (bits[lane / 64] >> (lane % 64)) & 1; }
  // The first lane that works, where all up to the last one do; else -1.
  int64_t FirstOfRun() const {
    if (prefix) {
      return 0;
    }
    const int64_t first = bits[0] != 0 ? std::countr_zero(bits[0]) : 64 + std::countr_zero(bits[1]);
    return std::popcount(bits[0]) + std::popcount(bits[1]) == active - first ? first : -1;
  }
};

// widest: the type of the widest operand, which sets how many lanes a repeat has. Leaves the mask register as the API does:
// the count forms reset it, the others set it to their mask. maxRepeat: 255 where the instruction encodes the repeat.
LaneSet ResolveLanes(Core& core, const VecCtl& ctl, DType widest, int32_t maxRepeat = 255);
[[noreturn]] void FaultOfCount(int64_t count);
// Handles a repeat time out of its range. Returns where cores go on, and all repeats are done.
void FaultOfRepeat(int32_t repeat, int32_t least, int32_t most);
// The count form as repeats that follow each other, the last one partial; other forms as they are.
LaneSet Repeated(LaneSet lanes);

// "<instruction> <what>" as a hint, once for each line of the kernel.
void HintAt(Core& core, const char* kind, const char* what, const char* advice);
// Returns whether there is nothing to do, which the documents allow. Remembered, as a mask of SetVectorMask that leaves lanes out is:
// whoever finds dst undefined names the instruction.
bool IsIdle(Core& core, const LaneSet& lanes, const Ub& dst);
// Does the same for instructions without a mask.
bool IsIdle(Core& core, int32_t repeat, const Ub& dst);

// One operand's walk through UB.
struct OperandWalk {
  Ub ub;
  const char* role;
  int64_t width;      // bytes per lane
  int64_t blkStride;  // bytes between blocks inside a repeat
  int64_t repStride;  // bytes between repeats
  int64_t lanesPerBlock;
  bool write;

  bool Dense() const { return blkStride == lanesPerBlock * width; }
  uint8_t* RepeatBase(int64_t r) const { return ub.addr + r * repStride; }
  // Bytes from addr to one past the last byte touched.
  int64_t Extent(const LaneSet& lanes) const;
};

// slot: 0 dst, 1 src0, 2 src1, as in VecCtl. A conversion's narrow operand simply has fewer blocks per repeat.
OperandWalk MakeWalk(const Ub& ub, const char* role, const VecCtl& ctl, int slot, bool write);

// The vector pipe of a coupled core works on UB alone.
void CheckInUb(Core& core, const Ub& operand, const char* role);

// Bounds and alignment of an operand whose bytes follow each other.
inline void CheckOperand(Core& core, const Ub& operand, int64_t bytes, const char* role,
                         int64_t align = kBlock) {
  if (core.kind == CoreKind::kCoupled) [[unlikely]] {
    CheckInUb(core, operand, role);
  }
  core.CheckUb(operand, 0, bytes, role);
  core.CheckUbAlign(operand, static_cast<uint32_t>(align), role);
}
// Does the same for a walk.
void CheckWalk(Core& core, const OperandWalk& walk, const LaneSet& lanes);
// Does the same; where cores go on after faults, `lanes` is cut down to those that lie in the operand's buffer.
void CheckLanes(Core& core, const OperandWalk& walk, LaneSet& lanes);
inline OperandWalk CheckedWalk(Core& core, const LaneSet& lanes, const Ub& ub, const char* role,
                               const VecCtl& ctl, int slot, bool write) {
  const OperandWalk walk = MakeWalk(ub, role, ctl, slot, write);
  CheckWalk(core, walk, lanes);
  return walk;
}
// dst may be src, or lie clear of it. neverShared: not even that, because a lane's result is wider than its source.
// accumulates: a repeat may read what an earlier one has written.
void CheckOverlap(Core& core, const LaneSet& lanes, const OperandWalk& dst, const OperandWalk& src,
                  bool neverShared, bool accumulates = false);
// Returns what the operand touches, for the record.
Access AccessOf(const Core& core, const OperandWalk& walk, const LaneSet& lanes);
inline Access UbAccess(const Core& core, Use use, const Ub& operand, int64_t bytes) {
  return DenseAccess(use, core.UbOffset(operand.addr), static_cast<uint64_t>(bytes), operand.buf);
}
// The destination of an instruction that also reads it.
inline OperandWalk Read(OperandWalk walk) {
  walk.write = false;
  return walk;
}
// Issues an instruction of the vector pipe whose operands are walks; absent ones are null.
template <typename Body>
void IssueVector(Core& core, const LaneSet& lanes, std::initializer_list<const OperandWalk*> walks,
                 Body&& body, Flow flow = Flow::kLanes) {
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = flow;
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = (*walks.begin())->ub.dtype;
        for (const OperandWalk* walk : walks) {
          if (walk != nullptr) {
            record.Add(AccessOf(core, *walk, lanes));
          }
        }
      },
      std::forward<Body>(body));
}

// An instruction of one or two sources walks through this: checked for bounds, as CheckLanes does, alignment and overlap.
struct UnaryWalks {
  OperandWalk dst;
  OperandWalk src;
};
UnaryWalks WalkUnary(Core& core, LaneSet& lanes, const Ub& dst, const Ub& src, const VecCtl& ctl,
                     bool neverShared = false);
struct BinaryWalks {
  OperandWalk dst;
  OperandWalk src0;
  OperandWalk src1;
};
BinaryWalks WalkBinary(Core& core, LaneSet& lanes, const Ub& dst, const Ub& src0, const Ub& src1,
                       const VecCtl& ctl, bool neverShared = false, bool accumulates = false);

// One element of float or half, computed with in float.
inline float LoadLane(DType dtype, const uint8_t* addr) {
  if (dtype == DType::kFloat) {
    float value;
    std::memcpy(&value, addr, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, addr, sizeof(bits));
  return HalfToFloat(bits);
}
inline void StoreLane(DType dtype, uint8_t* addr, float value) {
  if (dtype == DType::kFloat) {
    std::memcpy(addr, &value, sizeof(value));
    return;
  }
  const uint16_t bits = FloatToHalf(value);
  std::memcpy(addr, &bits, sizeof(bits));
}
inline float RoundLane(DType dtype, float value) {
  return dtype == DType::kFloat ? value : HalfToFloat(FloatToHalf(value));
}

// Contiguous lanes of one repeat: the operand itself where its blocks follow each other, else gathered into temp.
const uint8_t* GatherRepeat(const OperandWalk& walk, int64_t r, int64_t active, uint8_t* temp);
// Writes lanes back where they belong, leaving lanes that do not work alone.
void ScatterRepeat(const OperandWalk& walk, const LaneSet& lanes, int64_t r, const uint8_t* temp);

// For instructions that are built on the 8 KB of UB that the toolchain keeps: what the kernel has in the first `bytes` of them is
// lost.
void SpoilReserved(Core& core, uint64_t bytes);
// Select, with as many bytes of scratch there.
void SelectByBits(const Ub& dst, const Ub& bits, const Ub& src0, const Ub* src1, ScalarValue scalar,
                  bool sameBits, const VecCtl& ctl, uint64_t reserved);

[[noreturn]] void UnsupportedDType(Core& core, const char* instruction, DType dtype);
inline bool IsFloat(DType dtype) { return dtype == DType::kFloat || dtype == DType::kHalf; }
inline void RequireFloat(Core& core, DType dtype) {
  if (!IsFloat(dtype)) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

// Repeats of eight blocks at their strides, as instructions that fill whole blocks write them.
Access RepeatedBlocks(const Core& core, const Ub& dst, int32_t repeat, int32_t dstBlk,
                      int32_t dstRep);

// Returns whether every repeat reads the same lanes of src, which dst leaves alone.
inline bool SameInAll(const LaneSet& lanes, const OperandWalk& dst, const OperandWalk* src) {
  return src != nullptr && src->repStride == 0 && lanes.repeat > 1 &&
         (src->ub.addr + src->Extent(lanes) <= dst.ub.addr ||
          dst.ub.addr + dst.Extent(lanes) <= src->ub.addr);
}

// Returns whether an operand's lanes follow one another, from repeat to repeat as well.
inline bool IsOneRun(const LaneSet& lanes, const OperandWalk* walk) {
  return walk == nullptr || (walk->Dense() && walk->repStride == lanes.lanes * walk->width);
}

// Lanes of a source that is the same in all repeats: gathered once for as many repeats as fit.
template <typename Body>
void RunWithSame(const LaneSet& lanes, const OperandWalk& dst, const OperandWalk* src0,
                 const OperandWalk& same, const Body& body) {
  alignas(64) uint8_t temp[kMaxLanes * 8];
  const int64_t bytes = lanes.lanes * same.width;
  const int64_t most = std::min<int64_t>(sizeof(temp) / bytes, lanes.repeat);
  const uint8_t* once = GatherRepeat(same, 0, lanes.active, temp);
  for (int64_t r = once == temp ? 1 : 0; r < most; ++r) {
    std::memcpy(temp + r * bytes, once, static_cast<size_t>(bytes));
  }
  for (int64_t r = 0; r < lanes.repeat; r += most) {
    const int64_t end = std::min(r + most, lanes.repeat);
    const int64_t n = (end - r - 1) * lanes.lanes + lanes.ActiveIn(end - 1);
    body(dst.RepeatBase(r), src0 != nullptr ? src0->RepeatBase(r) : nullptr, temp,
         static_cast<size_t>(n));
  }
}

template <typename Body>
void RunRepeats(const LaneSet& lanes, const OperandWalk& dst, const OperandWalk* src0,
                const OperandWalk* src1, bool readsDst, const Body& body) {
  alignas(64) uint8_t temp0[kMaxLanes * 8];
  alignas(64) uint8_t temp1[kMaxLanes * 8];
  alignas(64) uint8_t tempDst[kMaxLanes * 8];
  // The lanes of most masks are one after another.
  const int64_t first = lanes.FirstOfRun();
  const bool direct = dst.Dense() && first >= 0;
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    const int64_t active = lanes.ActiveIn(r);
    const uint8_t* a = src0 != nullptr ? GatherRepeat(*src0, r, active, temp0) : nullptr;
    const uint8_t* b = src1 != nullptr ? GatherRepeat(*src1, r, active, temp1) : nullptr;
    if (direct) {
      if (first < active) {
        body(dst.RepeatBase(r) + first * dst.width,
             a != nullptr ? a + first * src0->width : nullptr,
             b != nullptr ? b + first * src1->width : nullptr, static_cast<size_t>(active - first));
      }
      continue;
    }
    if (readsDst) {
      const uint8_t* old = GatherRepeat(dst, r, active, tempDst);
      if (old != tempDst) {
        std::memcpy(tempDst, old, static_cast<size_t>(active * dst.width));
      }
    }
    body(tempDst, a, b, static_cast<size_t>(active));
    ScatterRepeat(dst, lanes, r, tempDst);
  }
}

// Runs body(dst, sources, n) over contiguous lanes, for one to two sources.
template <typename Body>
void RunLanes(const LaneSet& lanes, const OperandWalk& dst, const OperandWalk* src0,
              const OperandWalk* src1, bool readsDst, Body body) {
  const auto addr = [](const OperandWalk* walk) {
    return walk != nullptr ? walk->ub.addr : nullptr;
  };
  if (lanes.contiguous) {
    body(dst.ub.addr, addr(src0), addr(src1), static_cast<size_t>(lanes.total));
    return;
  }
  const bool whole =
      lanes.prefix && lanes.active == lanes.lanes && IsOneRun(lanes, &dst) && IsOneRun(lanes, src0);
  if (whole && IsOneRun(lanes, src1)) {
    const int64_t n = (lanes.repeat - 1) * lanes.lanes + lanes.lastActive;
    body(dst.ub.addr, addr(src0), addr(src1), static_cast<size_t>(n));
  } else if (whole && SameInAll(lanes, dst, src1)) {
    RunWithSame(lanes, dst, src0, *src1, body);
  } else {
    RunRepeats(lanes, dst, src0, src1, readsDst, body);
  }
}

}  // namespace aclsim
