// SPDX-License-Identifier: Apache-2.0
// Instructions around registers: the comparison register, sums, the dequantisation scale, the padding value.
#include "ascendc/device_registers.h"

#include "device/high.h"
#include "device/vec.h"

namespace aclsim {

namespace {

Access CmpMaskAccess(const Core& core, Use use, uint64_t bytes) {
  return DenseAccess(use, core.soc.UbMemory(), bytes, 0);
}

}  // namespace

Buffer UbRest() try {
  Core& core = Core::Current();
  constexpr uint64_t kReserved2201 = 184 * 1024;  // where the compiler's 8 KB begin
  const uint64_t end = core.soc.npuArch == 2201 ? kReserved2201 : core.soc.ubBytes;
  const auto block = static_cast<uint64_t>(kBlock);
  const uint64_t begin = (core.UbUsed() + block - 1) / block * block;
  return begin < end ? UbAt(begin, (end - begin) / block * block) : Buffer();
}
ACLSIM_SKIPS_FAULTS({})

void VecCompareRegister(Compare op, const Ub& src0, const Ub& src1, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Compare";
  RequireFloat(core, src0.dtype);
  const LaneSet lanes = ResolveLanes(core, ctl, src0.dtype);
  if (lanes.Empty()) {
    return;
  }
  const OperandWalk a = CheckedWalk(core, lanes, src0, "src0", ctl, 1, false);
  const OperandWalk b = CheckedWalk(core, lanes, src1, "src1", ctl, 2, false);
  const auto compare = Lanes().compare[static_cast<size_t>(op)][static_cast<size_t>(src0.dtype)];
  // All of the register: the half for which a repeat of float has no lanes is 0.
  constexpr uint64_t kBytes = kMaxLanes / 8;
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kBits;
        record.dtype = src0.dtype;
        record.Add(CmpMaskAccess(core, Use::kWrite, kBytes));
        record.Add(AccessOf(core, a, lanes));
        record.Add(AccessOf(core, b, lanes));
      },
      [=, &core] {
        alignas(64) uint8_t temp0[kRepeatBytes] = {};
        alignas(64) uint8_t temp1[kRepeatBytes] = {};
        const int64_t active = lanes.ActiveIn(0);
        std::memcpy(temp0, GatherRepeat(a, 0, active, temp0),
                    static_cast<size_t>(active * a.width));
        std::memcpy(temp1, GatherRepeat(b, 0, active, temp1),
                    static_cast<size_t>(active * b.width));
        uint8_t bits[kBytes] = {};
        compare(bits, temp0, temp1, 1, static_cast<size_t>(lanes.lanes));
        for (int64_t lane = 0; lane < lanes.lanes; ++lane) {
          if (lane >= active || !lanes.Works(lane)) {
            bits[lane / 8] = static_cast<uint8_t>(bits[lane / 8] & ~(1u << (lane % 8)));
          }
        }
        std::memcpy(core.ub + core.soc.UbMemory(), bits, kBytes);
      });
}
ACLSIM_SKIPS_FAULTS()

void VecSelectRegister(const Ub& dst, const Ub& src0, const Ub& src1, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Select";
  RequireFloat(core, dst.dtype);
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a, b] = WalkBinary(core, lanes, dst, src0, src1, ctl);
  const auto select = d.width == 2 ? Lanes().select2 : Lanes().select4;
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = dst.dtype;
        record.Add(AccessOf(core, d, lanes));
        record.Add(AccessOf(core, a, lanes));
        record.Add(AccessOf(core, b, lanes));
        record.Add(CmpMaskAccess(core, Use::kRead, static_cast<uint64_t>(lanes.lanes / 8)));
      },
      [=, &core](uint8_t* ub) {
        const auto on = [&](OperandWalk walk) {
          walk.ub.addr = ub + core.UbOffset(walk.ub.addr);
          return walk;
        };
        const OperandWalk to = on(d);
        const OperandWalk x = on(a);
        const OperandWalk y = on(b);
        // In an image of what is undefined, a lane is so too when its bit is.
        const uint8_t* const image = ub == core.ub ? nullptr : ub + core.soc.UbMemory();
        alignas(64) uint8_t temp0[kRepeatBytes];
        alignas(64) uint8_t temp1[kRepeatBytes];
        alignas(64) uint8_t result[kRepeatBytes];
        for (int64_t r = 0; r < lanes.repeat; ++r) {
          const int64_t active = lanes.ActiveIn(r);
          select(result, core.ub + core.soc.UbMemory(), GatherRepeat(x, r, active, temp0),
                 GatherRepeat(y, r, active, temp1), 1, static_cast<size_t>(active));
          for (int64_t i = 0; image != nullptr && i < active; ++i) {
            if ((image[i / 8] >> (i % 8)) & 1) {
              std::memset(result + i * to.width, 0xFF, static_cast<size_t>(to.width));
            }
          }
          ScatterRepeat(to, lanes, r, result);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

void VecSelectDescribed(bool scalar, const Ub& dst, const Ub& src0, const void* src1,
                        const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "vsel";
  RequireFloat(core, dst.dtype);
  core.ScalarWaits(Pipe::kVector);
  const uint8_t* const described = core.ub + core.soc.UbMemory();
  if (scalar) {
    ScalarValue value;
    value.f = LoadLane(dst.dtype, described);
    SelectByBits(dst, UbPointer(src1, DType::kUint8), src0, nullptr, value, false, ctl, 0);
    return;
  }
  uint32_t address;
  std::memcpy(&address, described, sizeof(address));
  const Ub bits = UbPointer(reinterpret_cast<const void*>(uintptr_t{address}), DType::kUint8);
  const Ub second = UbPointer(src1, dst.dtype);
  SelectByBits(dst, bits, src0, &second, {}, false, ctl, 0);
}
ACLSIM_SKIPS_FAULTS()

namespace {

constexpr int64_t kRegisterBytes = 16;

void MoveRegister(Core& core, const Ub& operand, bool load) {
  CheckOperand(core, operand, kRegisterBytes, load ? "src" : "dst", kRegisterBytes);
  const uint64_t memory = core.UbOffset(operand.addr);
  const uint64_t to = load ? core.soc.UbMemory() : memory;
  const uint64_t from = load ? memory : core.soc.UbMemory();
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = operand.dtype;
        record.Add(DenseAccess(Use::kWrite, to, kRegisterBytes, load ? 0 : operand.buf));
        record.Add(DenseAccess(Use::kRead, from, kRegisterBytes, load ? operand.buf : 0));
      },
      [=](uint8_t* ub) { std::memcpy(ub + to, ub + from, kRegisterBytes); });
}

}  // namespace

void LoadCmpMask(const Ub& src) try {
  Core& core = Core::Current();
  core.instruction = "SetCmpMask";
  MoveRegister(core, src, true);
}
ACLSIM_SKIPS_FAULTS()

void StoreCmpMask(const Ub& dst) try {
  Core& core = Core::Current();
  core.instruction = "GetCmpMask";
  constexpr uint32_t kDocumented = 128;  // although the register is shorter
  const BufferInfo& buffer = core.Info(dst.buf);
  const uint64_t left = buffer.offset + buffer.bytes - core.UbOffset(dst.addr);
  if (left < kDocumented) {
    Hint(core, "ub-out-of-bounds", "writes",
         Format("dst has %llu bytes left in its buffer, documented are at least %u\n  buffer: %s",
                static_cast<unsigned long long>(left), kDocumented,
                core.DescribeBuffer(dst.buf).c_str()),
         "The register has 16 bytes, which is what is written here. Give dst 128 bytes.");
  }
  MoveRegister(core, dst, false);
}
ACLSIM_SKIPS_FAULTS()

uint32_t ReducedSum() try {
  Core& core = Core::Current();
  core.instruction = "GetAccVal";
  core.ScalarWaits(Pipe::kVector);
  return core.registers.sum;
}
ACLSIM_SKIPS_FAULTS({})

void ReducedExtreme(uint32_t bits[2]) try {
  Core& core = Core::Current();
  core.instruction = "GetReduceRepeatMaxMinSpr";
  core.ScalarWaits(Pipe::kVector);
  std::copy_n(core.registers.extreme, 2, bits);
}
ACLSIM_SKIPS_FAULTS()

void SetMaskLanes(uint64_t high, uint64_t low) {
  SetMaskBits(high, low);
  if (high != 0) {
    Core& core = Core::Current();
    core.instruction = "SetVectorMask";
    HintAt(core, "mask-range", "of counter mode has a maskHigh, which its page wants to be 0",
           "Hardware takes the number of lanes from maskLow alone. Give 0, or MaskMode::NORMAL for "
           "a mask with a bit for each lane.");
  }
}

void SetDequantScale(half scale) {
  Registers& registers = Core::Current().registers;
  registers.deqScale = scale.bits;
  registers.deqScaleSet = true;
}

void SetCopyPadValue(uint64_t bits) try {
  Core& core = Core::Current();
  core.registers.padValue = bits;
  core.registers.padSet = true;
}
ACLSIM_SKIPS_FAULTS()

namespace {

constexpr int kInt4Min = -8;
constexpr int kInt4Max = 7;

// Two lanes of a byte cannot be told apart: they work both or neither.
LaneSet ResolvePairs(Core& core, const VecCtl& ctl) {
  const LaneSet lanes = ResolveLanes(core, ctl, DType::kHalf);
  bool even =
      lanes.contiguous ? lanes.total % 2 == 0 : lanes.active % 2 == 0 && lanes.lastActive % 2 == 0;
  for (int64_t lane = 0; even && !lanes.contiguous && lane < lanes.active; lane += 2) {
    even = lanes.Works(lane) == lanes.Works(lane + 1);
  }
  if (!even) {
    ThrowFault("int4-pairs", "an odd number of int4b_t, or a mask that splits a pair of them",
               "Wrong numbers on hardware: two int4b_t share a byte. Use an even count, and equal "
               "bits for the lanes of a byte.");
  }
  return lanes;
}

// The packed operand as bytes: a lane of it stands for two of the other one.
LaneSet Packed(LaneSet lanes) {
  lanes.total /= 2;
  lanes.lanes /= 2;
  lanes.active /= 2;
  lanes.lastActive /= 2;
  uint64_t bits = 0;
  for (int64_t i = 0; i < 64; ++i) {
    bits |= static_cast<uint64_t>(lanes.Works(2 * i)) << i;
  }
  lanes.bits[0] = bits;
  lanes.bits[1] = 0;
  return lanes;
}

// Source: the Cast tables of the public Ascend C API documentation.
bool HasInt4Cast(uint32_t arch, DType wide, bool unpack, Round round) {
  const bool isNone = round == Round::kNone;
  if (arch == 3510) {
    return unpack
               ? isNone && (wide == DType::kHalf || wide == DType::kBf16 || wide == DType::kInt16)
               : (wide == DType::kInt16 && isNone) ||
                     (wide == DType::kHalf && !isNone && round < Round::kOdd);
  }
  return arch == 2201 && wide == DType::kHalf && (unpack ? isNone : round < Round::kOdd);
}

void CheckInt4Cast(const Core& core, DType wide, bool unpack, Round round) {
  if (HasInt4Cast(core.soc.npuArch, wide, unpack, round)) [[likely]] {
    return;
  }
  const char* const legal =
      core.soc.npuArch == 3510
          ? "half with CAST_RINT to CAST_TRUNC and from int16_t with CAST_NONE, and goes to half, "
            "int16_t and bfloat16_t with CAST_NONE"
          : "half in every mode but CAST_ODD and goes to half with CAST_NONE";
  ThrowFault("cast-unsupported",
             Format("%s%s%s with mode %u on %s; int4b_t comes from %s", unpack ? "int4b_t to " : "",
                    NameOf(wide), unpack ? "" : " to int4b_t", static_cast<unsigned>(round),
                    core.soc.name.c_str(), legal),
             "Hardware writes zeros or garbage without an error. Go through half.");
}

// `count` whole numbers that fit int4b_t, in a type of 16 bits.
void WidenInt4(uint8_t* to, DType wide, const int8_t* values, int64_t count) {
  if (wide == DType::kHalf) {
    Lanes().cast[static_cast<size_t>(DType::kInt8)][static_cast<size_t>(wide)](
        to, values, Round::kNone, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t bits = wide == DType::kBf16
                              ? FloatToBf16(values[i])
                              : static_cast<uint16_t>(static_cast<int16_t>(values[i]));
    std::memcpy(to + 2 * i, &bits, sizeof(bits));
  }
}

// The other way round, to what int8_t holds.
void NarrowToInt4(int8_t* values, DType wide, const uint8_t* from, Round round, int64_t count) {
  if (wide == DType::kHalf) {
    Lanes().cast[static_cast<size_t>(wide)][static_cast<size_t>(DType::kInt8)](
        values, from, round, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    int16_t value;
    std::memcpy(&value, from + 2 * i, sizeof(value));
    values[i] = static_cast<int8_t>(std::clamp<int>(value, kInt4Min, kInt4Max));
  }
}

void CastInt4(const Ub& packed, const Ub& halves, bool unpack, Round round, const VecCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "Cast";
  CheckInt4Cast(core, halves.dtype, unpack, round);
  const LaneSet lanes = ResolvePairs(core, ctl);
  if (IsIdle(core, lanes, unpack ? halves : packed)) {
    return;
  }
  const LaneSet bytes = Packed(lanes);
  OperandWalk p = MakeWalk(packed, unpack ? "src" : "dst", ctl, unpack ? 1 : 0, !unpack);
  const OperandWalk h = MakeWalk(halves, unpack ? "dst" : "src", ctl, unpack ? 0 : 1, unpack);
  // A block of 16 half is 8 bytes of int4b_t, and blocks of 32 bytes hold four of them.
  CheckWalk(core, p, bytes);
  CheckWalk(core, h, lanes);
  const OperandWalk& dst = unpack ? h : p;
  const OperandWalk& src = unpack ? p : h;
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kLanes;
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = halves.dtype;
        // Lanes of the record are pairs.
        Access pairs = AccessOf(core, h, lanes);
        pairs.width = 4;
        if (!lanes.contiguous) {
          pairs.mask[0] = bytes.bits[0];
          pairs.mask[1] = 0;
        }
        const Access single = AccessOf(core, p, bytes);
        record.Add(unpack ? pairs : single);
        record.Add(unpack ? single : pairs);
      },
      [=, wide = halves.dtype] {
        const auto convert = [=](uint8_t* to, const uint8_t* from, int64_t n) {
          int8_t values[kMaxLanes];
          for (int64_t done = 0; done < n; done += kMaxLanes) {
            const int64_t count = std::min(kMaxLanes, n - done);
            if (unpack) {
              for (int64_t i = 0; i < count; ++i) {
                const uint8_t byte = from[(done + i) / 2];
                const int nibble = i % 2 == 0 ? byte & 15 : byte >> 4;
                values[i] = static_cast<int8_t>(nibble > kInt4Max ? nibble - 16 : nibble);
              }
              WidenInt4(to + done * 2, wide, values, count);
              continue;
            }
            NarrowToInt4(values, wide, from + done * 2, round, count);
            for (int64_t i = 0; i < count; i += 2) {
              const int low = std::clamp<int>(values[i], kInt4Min, kInt4Max);
              const int high = std::clamp<int>(values[i + 1], kInt4Min, kInt4Max);
              to[(done + i) / 2] = static_cast<uint8_t>((low & 15) | ((high & 15) << 4));
            }
          }
        };
        if (lanes.contiguous) {
          convert(dst.ub.addr, src.ub.addr, lanes.total);
          return;
        }
        alignas(64) uint8_t temp[kRepeatBytes];
        alignas(64) uint8_t result[kRepeatBytes];
        for (int64_t r = 0; r < lanes.repeat; ++r) {
          const int64_t active = lanes.ActiveIn(r);
          const uint8_t* from = GatherRepeat(src, r, unpack ? active / 2 : active, temp);
          convert(result, from, active);
          ScatterRepeat(dst, unpack ? lanes : bytes, r, result);
        }
      });
}

}  // namespace

void VecCastFromInt4(const Ub& dst, const Ub& src, Round round, const VecCtl& ctl) try {
  CastInt4(src, dst, true, round, ctl);
}
ACLSIM_SKIPS_FAULTS()

void VecCastToInt4(const Ub& dst, const Ub& src, Round round, const VecCtl& ctl) try {
  CastInt4(dst, src, false, round, ctl);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
