// SPDX-License-Identifier: Apache-2.0
// Fixpipe, and the DataCopy out of L0C that is the same instruction: conversion, relu, order of elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ascendc/narrow_floats.h"
#include "device/cube.h"
#include "device/link.h"

namespace aclsim {

namespace {

constexpr uint64_t kColumns = 16;

// A mode makes this of L0C.
struct QuantFacts {
  const char* name;
  DType src;
  std::array<DType, 2> dst;
  bool scaled;  // by a parameter
  bool vector;  // one for each column
};
constexpr QuantFacts Scaled(const char* name, DType src, DType dst, bool vector) {
  return {name, src, {dst, dst}, true, vector};
}
constexpr std::array<DType, 2> kBytes = {DType::kInt8, DType::kUint8};
// In the order of Quant. NoQuant has rules of its own.
constexpr std::array kQuants = {
    QuantFacts{"NoQuant", DType::kFloat, {DType::kFloat, DType::kFloat}, false, false},
    QuantFacts{"F322F16", DType::kFloat, {DType::kHalf, DType::kHalf}, false, false},
    QuantFacts{"F322BF16", DType::kFloat, {DType::kBf16, DType::kBf16}, false, false},
    Scaled("DEQF16", DType::kInt32, DType::kHalf, false),
    Scaled("VDEQF16", DType::kInt32, DType::kHalf, true),
    QuantFacts{"QF322B8_PRE", DType::kFloat, kBytes, true, false},
    QuantFacts{"VQF322B8_PRE", DType::kFloat, kBytes, true, true},
    QuantFacts{"REQ8", DType::kInt32, kBytes, true, false},
    QuantFacts{"VREQ8", DType::kInt32, kBytes, true, true},
    Scaled("QF322F16_PRE", DType::kFloat, DType::kHalf, false),
    Scaled("VQF322F16_PRE", DType::kFloat, DType::kHalf, true),
    Scaled("QF322BF16_PRE", DType::kFloat, DType::kBf16, false),
    Scaled("VQF322BF16_PRE", DType::kFloat, DType::kBf16, true),
    Scaled("QF322F32_PRE", DType::kFloat, DType::kFloat, false),
    Scaled("VQF322F32_PRE", DType::kFloat, DType::kFloat, true),
    Scaled("QF322FP8_PRE", DType::kFloat, DType::kE4m3, false),
    Scaled("VQF322FP8_PRE", DType::kFloat, DType::kE4m3, true),
    Scaled("QF322HIF8_PRE", DType::kFloat, DType::kHif8, false),
    Scaled("VQF322HIF8_PRE", DType::kFloat, DType::kHif8, true),
    Scaled("QF322HIF8_PRE_HYBRID", DType::kFloat, DType::kHif8, false),
    Scaled("VQF322HIF8_PRE_HYBRID", DType::kFloat, DType::kHif8, true),
    Scaled("QS322BF16_PRE", DType::kInt32, DType::kBf16, false),
    Scaled("VQS322BF16_PRE", DType::kInt32, DType::kBf16, true),
};
static_assert(kQuants.size() == static_cast<size_t>(Quant::kIntToBf16Vector) + 1);
const QuantFacts& FactsOf(Quant quant) { return kQuants[static_cast<size_t>(quant)]; }
bool IsVector(Quant quant) { return FactsOf(quant).vector; }
bool IsScaled(Quant quant) { return FactsOf(quant).scaled; }
const char* NameOf(Quant quant) { return FactsOf(quant).name; }

// The word that a scaled mode takes for a column.
struct Scale {
  float factor;
  bool shifts;  // int32 >> shift, saturated to 16 bits, before all else
  uint32_t shift;
  int32_t offset;
  bool isSigned;

  explicit Scale(uint64_t word)
      : factor(FloatOf(static_cast<uint32_t>(word) & 0xFFFFE000u)),
        shifts((word >> 36 & 1) != 0),
        shift(static_cast<uint32_t>(word >> 32 & 15)),
        offset(static_cast<int32_t>(word >> 37 & 0x1FF)),
        isSigned((word >> 46 & 1) != 0) {
    constexpr int32_t kSign = 0x100;
    offset = (offset ^ kSign) - kSign;
  }
};

// Computes what becomes of one element of L0C.
struct Converter {
  Quant quant;
  bool relu;
  DType src, dst;

  template <typename T>
  static void Put(uint8_t* to, T value) {
    std::memcpy(to, &value, sizeof(value));
  }
  double Value(const uint8_t* from, const Scale* scale) const {
    if (src == DType::kFloat) {
      float value;
      std::memcpy(&value, from, sizeof(value));
      return value;
    }
    int32_t value;
    std::memcpy(&value, from, sizeof(value));
    if (scale != nullptr && scale->shifts) {
      value = std::clamp(value >> scale->shift, -32768, 32767);
    }
    return value;
  }
  void operator()(uint8_t* to, const uint8_t* from, const Scale* scale) const {
    if (quant == Quant::kNone) {
      if (src == DType::kInt32) {
        int32_t value;
        std::memcpy(&value, from, sizeof(value));
        Put(to, relu ? std::max(value, 0) : value);
        return;
      }
      const auto value = static_cast<float>(Value(from, nullptr));
      Put(to, relu && value < 0 ? 0.0f : value);
      return;
    }
    auto value = static_cast<float>(Value(from, scale));
    if (scale == nullptr) {
      value = relu && value < 0 ? 0.0f : value;
    } else {
      value = value < 0 && relu ? 0.0f : value * scale->factor;
    }
    switch (dst) {
      case DType::kFloat:
        Put(to, value);
        return;
      case DType::kHalf:
        Put(to, FloatToHalf(value));
        return;
      case DType::kBf16:
        Put(to, FloatToBf16(value));
        return;
      case DType::kE4m3:
        Put(to, FloatToE4m3(value));
        return;
      case DType::kHif8:
        Put(to, FloatToHif8(value));
        return;
      default:
        PutByte(to, value, *scale);
    }
  }
  // int8_t or uint8_t, as the parameter says.
  static void PutByte(uint8_t* to, float value, const Scale& scale) {
    const float rounded = std::clamp(std::nearbyint(value), -256.0f, 255.0f);
    const int32_t whole = (value != value ? 0 : static_cast<int32_t>(rounded)) + scale.offset;
    if (scale.isSigned) {
      Put(to, static_cast<int8_t>(std::clamp(whole, -128, 127)));
    } else {
      Put(to, static_cast<uint8_t>(std::clamp(whole, 0, 255)));
    }
  }
};

// Places of elements: runs of them that follow each other in the destination.
struct Layout {
  FixpipeCtl ctl;
  uint64_t width;  // bytes of a result
  uint64_t block;  // columns of a fractal of the destination

  explicit Layout(const FixpipeCtl& given)
      : ctl(given),
        width(WidthOf(given.dst)),
        block(given.channelSplit        ? 8
              : WidthOf(given.dst) == 1 ? 32
                                        : kColumns) {
    ctl.ndNum = ctl.toNd || ctl.toDn ? ctl.ndNum : 1;
  }

  uint64_t SourceOf(uint64_t nd, uint64_t row, uint64_t column) const {
    return (nd * ctl.srcNdStride * ctl.srcNdUnit + column / kColumns * ctl.srcStride * kColumns +
            row * ctl.srcRow * kColumns + column % kColumns) *
           kAccumulator;
  }
  // Bytes of L0C from the first element to the last.
  uint64_t SourceBytes() const {
    return SourceOf(ctl.ndNum - 1, ctl.m - 1, ctl.n - 1) + kAccumulator;
  }

  // Calls run(nd, row, column, count, bytes from the destination's first element).
  template <typename Run>
  void ForEachRun(const Run& run) const {
    for (uint64_t nd = 0; nd < ctl.ndNum; ++nd) {
      if (ctl.toNd) {
        for (uint64_t row = 0; row < ctl.m; ++row) {
          run(nd, row, 0, ctl.n, (nd * ctl.dstNdStride + row * ctl.dstStride) * width);
        }
        continue;
      }
      if (ctl.toDn) {
        for (uint64_t column = 0; column < ctl.n; ++column) {
          for (uint64_t row = 0; row < ctl.m; ++row) {
            run(nd, row, column, 1, (nd * ctl.dstNdStride + column * ctl.dstStride + row) * width);
          }
        }
        continue;
      }
      for (uint64_t column = 0; column < ctl.n; column += block) {
        const uint64_t count = std::min(block, ctl.n - column);
        for (uint64_t row = 0; row < ctl.m; ++row) {
          run(nd, row, column, count,
              column / block * ctl.dstStride * ctl.dstUnit + row * count * width);
        }
      }
    }
  }
  uint64_t TargetBytes() const {
    uint64_t end = 0;
    ForEachRun([&](uint64_t, uint64_t, uint64_t, uint64_t count, uint64_t at) {
      end = std::max(end, at + count * width);
    });
    return end;
  }
  // The destination's bytes as accesses: add(offset, len, count, step, chunk, chunkStep).
  template <typename Add>
  void AddTarget(const Add& add) const {
    if (ctl.toNd || ctl.toDn) {
      const uint64_t lines = ctl.toNd ? ctl.m : ctl.n;
      const uint64_t line = (ctl.toNd ? ctl.n : ctl.m) * width, pitch = ctl.dstStride * width;
      if (ctl.ndNum == 1) {
        add(0, line, lines, pitch, line, line);
      } else {
        add(0, lines * line, ctl.ndNum, ctl.dstNdStride * width, line, pitch);
      }
      return;
    }
    const uint64_t whole = ctl.n / block, step = ctl.dstStride * ctl.dstUnit;
    if (whole > 0) {
      const uint64_t bytes = ctl.m * block * width;
      add(0, bytes, whole, step, bytes, bytes);
    }
    if (const uint64_t rest = ctl.n % block; rest != 0) {
      const uint64_t bytes = ctl.m * rest * width;
      add(whole * step, bytes, 1, bytes, bytes, bytes);
    }
  }
  void AddSource(Record* record, const Core& core, const Ub& src) const {
    for (uint64_t nd = 0; nd < std::min<uint64_t>(ctl.ndNum, 4); ++nd) {
      const uint64_t first = SourceOf(nd, 0, 0);
      const uint64_t bytes = ((ctl.m - 1) * ctl.srcRow + 1) * kColumns * kAccumulator;
      if (nd == 3 && ctl.ndNum > 4) {  // the rest, with what lies between
        record->Add(PartOf(core, src, Use::kRead, first, SourceBytes() - first, 1, 0));
        return;
      }
      record->Add(PartOf(core, src, Use::kRead, first, bytes, CeilDiv(ctl.n, kColumns),
                         ctl.srcStride * kColumns * kAccumulator));
    }
  }
};

// A Fixpipe with all that it takes from registers.
struct Plan {
  Layout layout;
  Converter convert;
  uint64_t src = 0;                    // in the image
  std::optional<uint64_t> parameters;  // of columns, in the image
  uint64_t word = 0;                   // of all columns

  // The parameters of all columns, or their shadow. Hardware has them in FB before it writes, so that a result in L1 may go
  // to where they lie.
  std::vector<uint8_t> ParametersIn(const uint8_t* image) const {
    if (!parameters) {
      return {};
    }
    return {image + *parameters, image + *parameters + layout.ctl.n * sizeof(uint64_t)};
  }
  // One run of results. taken: what ParametersIn gave.
  void Results(const uint8_t* image, const std::vector<uint8_t>& taken, uint64_t nd, uint64_t row,
               uint64_t column, uint64_t count, uint8_t* to) const {
    const bool scaled = IsScaled(convert.quant);
    Scale scale(word);
    for (uint64_t i = 0; i < count; ++i) {
      if (!taken.empty()) {
        uint64_t own;
        std::memcpy(&own, taken.data() + (column + i) * sizeof(own), sizeof(own));
        scale = Scale(own);
      }
      convert(to + i * layout.width, image + src + layout.SourceOf(nd, row, column + i),
              scaled ? &scale : nullptr);
    }
  }
  // Its shadow.
  void Shade(const uint8_t* image, const std::vector<uint8_t>& taken, uint64_t nd, uint64_t row,
             uint64_t column, uint64_t count, uint8_t* to) const {
    const auto any = [](const uint8_t* bytes, uint64_t of) {
      return std::any_of(bytes, bytes + of, [](uint8_t byte) { return byte != 0; });
    };
    for (uint64_t i = 0; i < count; ++i) {
      const bool undefined =
          any(image + src + layout.SourceOf(nd, row, column + i), kAccumulator) ||
          (!taken.empty() && any(taken.data() + (column + i) * 8, 8));
      std::memset(to + i * layout.width, undefined ? 0xFF : 0, layout.width);
    }
  }
};

void CheckTypes(const FixpipeCtl& ctl) {
  const QuantFacts& facts = FactsOf(ctl.quant);
  const bool isThere = ctl.quant <= Quant::kIntTo8Vector || Core::Current().soc.npuArch == 3510;
  const bool fits =
      isThere &&
      (ctl.quant == Quant::kNone
           ? ctl.src == ctl.dst && (ctl.src == DType::kFloat || ctl.src == DType::kInt32)
           : ctl.src == facts.src && (ctl.dst == facts.dst[0] || ctl.dst == facts.dst[1]));
  if (!fits) {
    ThrowFault(
        "dtype-unsupported",
        Format("%s with quantPre %s of %s to %s", Core::Current().instruction, NameOf(ctl.quant),
               aclsim::NameOf(ctl.src), aclsim::NameOf(ctl.dst)),
        "Hardware converts other bits, or the device compiler refuses it. float gives half "
        "by F322F16, bfloat16_t by F322BF16, 8 bits by (V)QF322B8_PRE; int32_t gives half by "
        "(V)DEQF16 and 8 bits by (V)REQ8; NoQuant keeps the type. Ascend 950 has further ones.");
  }
  if (ctl.quant == Quant::kScaledToHif8Hybrid || ctl.quant == Quant::kScaledToHif8HybridVector) {
    ThrowNotSimulated(
        Format("Fixpipe with quantPre %s, whose rounding is random", NameOf(ctl.quant)));
  }
}

void CheckStride(bool tooSmall, const char* field, uint64_t value, const char* unit,
                 uint64_t want) {
  if (tooSmall) {
    ThrowFault("value-range",
               Format("%s of %s is %llu %s: parts that are %llu long overlap", field,
                      Core::Current().instruction, static_cast<unsigned long long>(value), unit,
                      static_cast<unsigned long long>(want)),
               "Hardware takes elements twice, or overwrites what it has just written. srcStride "
               "counts 16 elements of L0C and is M aligned to 16; dstStride counts 32 bytes for NZ "
               "and elements of a row for ND.");
  }
}

void CheckSizes(const FixpipeCtl& ctl, const Layout& layout) {
  constexpr const char* kSplit = "Hardware keeps the low bits: it copies less. Split the copy.";
  constexpr uint64_t kMostRows = 65535, kMostNdRows = 8192, kMostColumns = 4095;
  CheckRange("nSize", ctl.n, 0, kMostColumns, kSplit);
  const bool lines = ctl.toNd || ctl.toDn;
  CheckRange("mSize", ctl.m, 0, lines ? kMostNdRows : kMostRows, kSplit);
  CheckRange("srcStride", ctl.srcStride, 0, 65535, kSplit);
  CheckRange("dstStride", ctl.dstStride, 0, UINT32_MAX, kSplit);
  CheckRange("ndNum", ctl.ndNum, 0, 65535, kSplit);
  const bool wide = ctl.srcNdUnit == kColumns;  // the form of Ascend 950
  CheckRange("srcNdStride", ctl.srcNdStride, 0, wide ? 65535 : 512, kSplit);
  CheckRange("dstNdStride", ctl.dstNdStride, 0, wide ? UINT32_MAX : 65535, kSplit);
  const uint64_t unit = ctl.channelSplit ? 8 : kColumns;
  if (!lines && ctl.n % unit != 0) {
    ThrowFault("value-range",
               Format("nSize of %s to NZ is %llu, legal are multiples of %llu",
                      Core::Current().instruction, static_cast<unsigned long long>(ctl.n),
                      static_cast<unsigned long long>(unit)),
               "Hardware copies whole fractals. Round nSize up, or copy to ND.");
  }
  if (ctl.channelSplit && (lines || ctl.unitFlag != 0 || ctl.dst != DType::kFloat)) {
    ThrowFault("value-range", "isChannelSplit with ND, a unit flag, or results other than float",
               "Hardware splits channels of float to NZ only.");
  }
  CheckStride(ctl.n > kColumns && ctl.srcStride < ctl.m, "srcStride", ctl.srcStride,
              "x 16 elements", ctl.m);
  if (ctl.toNd) {
    CheckStride(ctl.m > 1 && ctl.dstStride < ctl.n, "dstStride", ctl.dstStride, "elements", ctl.n);
  } else if (ctl.toDn) {
    CheckStride(ctl.n > 1 && ctl.dstStride < ctl.m, "dstStride", ctl.dstStride, "elements", ctl.m);
  } else {
    const uint64_t fractals = ctl.m * layout.block * layout.width / ctl.dstUnit;
    CheckStride(ctl.n > layout.block && ctl.dstStride < fractals, "dstStride", ctl.dstStride,
                ctl.dstUnit == kCubeBlock ? "x 32 bytes" : "elements", fractals);
    if (ctl.dstStride * ctl.dstUnit % kCubeBlock != 0) {
      ThrowFault(
          "value-range",
          Format("dstStride of %s is %llu elements, no whole blocks of 32 bytes",
                 Core::Current().instruction, static_cast<unsigned long long>(ctl.dstStride)),
          "Hardware raises an exception: columns of fractals start on 32 bytes.");
    }
  }
}

void CheckWord(uint64_t word, DType dst) {
  const Scale scale(word);
  if (!std::isfinite(scale.factor) ||
      (scale.factor != 0 && std::abs(scale.factor) < std::numeric_limits<float>::min())) {
    PassFault("value-range", "the factor of the quantisation is infinite, NaN or denormal",
              "Hardware's results are undefined. Pass a normal float in bits 13 to 31.",
              "done with it");
  }
  if ((dst == DType::kInt8 && !scale.isSigned) || (dst == DType::kUint8 && scale.isSigned)) {
    PassFault("value-range",
              Format("bit 46 of the quantisation parameter says %s, the destination is %s",
                     scale.isSigned ? "int8_t" : "uint8_t", aclsim::NameOf(dst)),
              "Hardware saturates to the other type's range: wrong numbers. Set bit 46 for int8_t, "
              "and leave it 0 for uint8_t.",
              "done by the bit");
  }
}

// Takes from registers what the call leaves to them.
FixpipeCtl Resolved(const Core& core, FixpipeCtl ctl) {
  const CubeRegisters& registers = core.cube;
  if (!ctl.ndSet && ctl.toNd) {
    if (!registers.ndSet) {
      ThrowFault("instruction-absent", "nz2ndEn, and nothing has called SetFixpipeNz2ndFlag",
                 "Hardware takes what the last kernel left. Call SetFixpipeNz2ndFlag before.");
    }
    ctl.ndNum = registers.ndNum;
    ctl.srcNdStride = registers.srcNdStride;
    ctl.dstNdStride = registers.dstNdStride;
  }
  if (!ctl.scalarSet && IsScaled(ctl.quant) && !IsVector(ctl.quant)) {
    if (!registers.quantWord) {
      ThrowFault(
          "instruction-absent",
          Format("quantPre %s, and nothing has called SetFixpipePreQuantFlag", NameOf(ctl.quant)),
          "Hardware takes what the last kernel left. Call SetFixpipePreQuantFlag before.");
    }
    ctl.scalar = *registers.quantWord;
  }
  return ctl;
}

// Checks all that does not depend on the destination's memory; none: nothing to do.
std::optional<Plan> PlanOf(Core& core, const Ub& src, const Ub& parameters, const FixpipeCtl& given,
                           Ub* vector) {
  const FixpipeCtl ctl = Resolved(core, given);
  CheckTypes(ctl);
  if (ctl.relu > 1) {
    ThrowNotSimulated(
        Format("Fixpipe with relu mode %llu", static_cast<unsigned long long>(ctl.relu)));
  }
  const Layout layout(ctl);
  CheckSizes(ctl, layout);
  if (ctl.unitFlag != 0 && ctl.unitFlag != 3) {
    CheckRange("unitFlag", ctl.unitFlag, 3, 3, "0 is no unit flag, 3 waits for it and clears it.");
  }
  CheckOperandIn(core, src, {Space::kL0c}, 64, "src");
  if (ctl.n == 0 || ctl.m == 0 || layout.ctl.ndNum == 0) {
    return std::nullopt;
  }
  core.CheckUb(src, 0, static_cast<int64_t>(layout.SourceBytes()), "src");
  Plan plan{layout, {ctl.quant, ctl.relu == 1, ctl.src, ctl.dst}, core.UbOffset(src.addr), {}, 0};
  if (IsVector(ctl.quant)) {
    if (!ctl.hasVector && !core.cube.quantTensor) {
      ThrowFault("instruction-absent",
                 Format("quantPre %s without a tensor of parameters", NameOf(ctl.quant)),
                 "Hardware takes what lies in the fixpipe buffer. Pass the tensor in L1, or call "
                 "SetFixPipeConfig with one in C2PIPE2GM.");
    }
    *vector = ctl.hasVector ? parameters : *core.cube.quantTensor;
    CheckOperandIn(core, *vector, {ctl.hasVector ? Space::kL1 : Space::kFb},
                   ctl.hasVector ? 32 : 128, "the quantisation tensor");
    core.CheckUb(*vector, 0, static_cast<int64_t>(RoundTo(ctl.n, kColumns) * sizeof(uint64_t)),
                 "the quantisation tensor");
    plan.parameters = core.UbOffset(vector->addr);
  } else if (IsScaled(ctl.quant)) {
    plan.word = ctl.scalar;
    CheckWord(ctl.scalar, ctl.dst);
  }
  return plan;
}

Ub BehindOf(const Ub& operand, uint64_t bytes) {
  return {operand.addr + bytes, operand.buf, operand.dtype, operand.generation};
}

void FillRecord(Record* record, const Core& core, const Plan& plan, const Ub& src,
                const Ub& vector) {
  const FixpipeCtl& ctl = plan.layout.ctl;
  record->dtype = ctl.src;
  record->repeat =
      static_cast<int32_t>(CeilDiv(ctl.ndNum * ctl.m * RoundTo(ctl.n, kColumns), kColumns));
  plan.layout.AddSource(record, core, src);
  if (plan.parameters) {
    record->Add(PartOf(core, vector, Use::kRead, 0, ctl.n * sizeof(uint64_t), 1, 0));
  }
}

// L0C is drained tile by tile: what an Mmad of the same M and N has filled.
uint64_t TileBytes(const FixpipeCtl& ctl) {
  return CeilDiv(ctl.n, kColumns) * RoundTo(ctl.m, kFractalRows) * kColumns * kAccumulator;
}

void StoreResults(Core& core, const Plan& plan, uint8_t* to, AtomicState atomic) {
  std::vector<uint8_t> line;
  line.resize(plan.layout.ctl.n * plan.layout.width + kCubeBlock);
  const std::vector<uint8_t> taken = plan.ParametersIn(core.ub);
  plan.layout.ForEachRun(
      [&](uint64_t nd, uint64_t row, uint64_t column, uint64_t count, uint64_t at) {
        const uint64_t bytes = count * plan.layout.width;
        plan.Results(core.ub, taken, nd, row, column, count, line.data());
        if (atomic.op == Atomic::kNone) {
          core.SettleAtomics(to + at, bytes);
          std::memcpy(to + at, line.data(), bytes);
        } else {
          core.StoreGm(to + at, line.data(), bytes, atomic);
        }
      });
}

// image: a shadow of local memory.
void StoreShadow(const Plan& plan, const uint8_t* image, uint8_t* to, bool adds) {
  std::vector<uint8_t> line(plan.layout.ctl.n * plan.layout.width + kCubeBlock), old(line.size());
  const std::vector<uint8_t> taken = plan.ParametersIn(image);
  plan.layout.ForEachRun(
      [&](uint64_t nd, uint64_t row, uint64_t column, uint64_t count, uint64_t at) {
        const uint64_t bytes = count * plan.layout.width;
        plan.Shade(image, taken, nd, row, column, count, line.data());
        if (adds) {
          LoadGmShadow(to + at, bytes, old.data());
          for (uint64_t i = 0; i < bytes; ++i) {
            line[i] |= old[i];
          }
        }
        StoreGmShadow(to + at, bytes, line.data());
      });
}

}  // namespace

void CubeFixpipe(void* dst, const Ub& from, const Ub& parameters, const FixpipeCtl& given) try {
  Core& core = Core::Current();
  core.instruction = "Fixpipe (L0C to GM)";
  CheckIsCube(core);
  const Ub src = AccumulatorOf(core, from);
  CheckWay(core, Space::kL0c, Space::kGm);
  Ub vector;
  const std::optional<Plan> found = PlanOf(core, src, parameters, given, &vector);
  if (!found) {
    return;
  }
  const Plan& plan = *found;
  const FixpipeCtl& ctl = plan.layout.ctl;
  auto* const to = static_cast<uint8_t*>(dst);
  core.CheckGm(to, plan.layout.TargetBytes(), true, "dst");
  CheckAtomic(core, plan.layout.width, ctl.dst);
  core.progress.Moved(ctl.ndNum * ctl.m * ctl.n * plan.layout.width);
  if (ctl.unitFlag != 0) {
    AwaitUnitFlag(core, false, plan.src, TileBytes(ctl));
  }
  core.Issue(
      Pipe::kFix,
      [&](Record& record) {
        record.flow = Flow::kStore;
        record.atomic = core.atomic.op != Atomic::kNone;
        if (record.atomic) {
          record.group = static_cast<uint8_t>(core.atomic.op);
        }
        plan.layout.AddTarget([&](uint64_t offset, uint64_t len, uint64_t count, uint64_t step,
                                  uint64_t chunk, uint64_t chunkStep) {
          Access access = BlockAccess(Space::kGm, Use::kWrite,
                                      reinterpret_cast<uint64_t>(to) + offset, len, count, step, 0);
          access.chunk = chunk;
          access.chunkStride = static_cast<int64_t>(chunkStep);
          record.Add(access);
        });
        FillRecord(&record, core, plan, src, vector);
        record.move = [plan, to, adds = record.atomic](uint8_t* image) {
          StoreShadow(plan, image, to, adds);
        };
      },
      [&core, plan, to, atomic = core.atomic] { StoreResults(core, plan, to, atomic); });
  if (ctl.unitFlag != 0) {
    PassUnitFlag(core, false, plan.src, TileBytes(ctl));
  }
}
ACLSIM_SKIPS_FAULTS()

void CubeFixpipeToL1(const Ub& dst, const Ub& from, const Ub& parameters,
                     const FixpipeCtl& given) try {
  Core& core = Core::Current();
  core.instruction = "Fixpipe (L0C to L1)";
  CheckIsCube(core);
  const Ub src = AccumulatorOf(core, from);
  CheckWay(core, Space::kL0c, Space::kL1);
  CheckOperandIn(core, dst, {Space::kL1}, kCubeBlock, "dst");
  const bool wide = given.dst == DType::kFloat || given.dst == DType::kInt32;
  if (given.toDn || (given.toNd && !core.soc.matrix.Lacks("Fixpipe of 32 bits to L1"))) {
    ThrowNotSimulated("Fixpipe to L1 in rows or columns");
  }
  if (given.toNd || given.channelSplit ||
      (wide && core.soc.matrix.Lacks("Fixpipe of 32 bits to L1"))) {
    ThrowFault("value-range",
               Format("Fixpipe to L1 of %s%s", aclsim::NameOf(given.dst),
                      given.toNd           ? " to ND"
                      : given.channelSplit ? " with isChannelSplit"
                                           : ""),
               "Hardware writes half, bfloat16_t and 8-bit types to L1, in NZ: take CFG_NZ and a "
               "quantPre.");
  }
  Ub vector;
  const std::optional<Plan> found = PlanOf(core, src, parameters, given, &vector);
  if (!found) {
    return;
  }
  const Plan& plan = *found;
  const FixpipeCtl& ctl = plan.layout.ctl;
  core.CheckUb(dst, 0, static_cast<int64_t>(plan.layout.TargetBytes()), "dst");
  const uint64_t to = core.UbOffset(dst.addr);
  if (ctl.unitFlag != 0) {
    AwaitUnitFlag(core, false, plan.src, TileBytes(ctl));
  }
  core.Issue(
      Pipe::kFix,
      [&](Record& record) {
        record.flow = Flow::kMove;
        plan.layout.AddTarget(
            [&](uint64_t offset, uint64_t len, uint64_t count, uint64_t step, uint64_t, uint64_t) {
              record.Add(PartOf(core, dst, Use::kWrite, offset, len, count, step));
            });
        FillRecord(&record, core, plan, src, vector);
        record.move = [plan, to](uint8_t* image) {
          const std::vector<uint8_t> taken = plan.ParametersIn(image);
          plan.layout.ForEachRun(
              [&](uint64_t nd, uint64_t row, uint64_t column, uint64_t count, uint64_t at) {
                plan.Shade(image, taken, nd, row, column, count, image + to + at);
              });
        };
      },
      [plan, to, image = core.ub] {
        const std::vector<uint8_t> taken = plan.ParametersIn(image);
        plan.layout.ForEachRun(
            [&](uint64_t nd, uint64_t row, uint64_t column, uint64_t count, uint64_t at) {
              plan.Results(image, taken, nd, row, column, count, image + to + at);
            });
      });
  if (ctl.unitFlag != 0) {
    PassUnitFlag(core, false, plan.src, TileBytes(ctl));
  }
}
ACLSIM_SKIPS_FAULTS()

namespace {

// The dual mode: all to one AIV, or halves of rows or of columns to the first one and to the second.
enum Dual : uint64_t { kSingle, kRows, kColumnHalves };

void CheckTargets(const Core& core, const FixpipeCtl& ctl) {
  const uint32_t vectors = core.launch.Mixed() ? core.launch.group.vectors : 0;
  if (vectors == 0) {
    ThrowFault("instruction-absent", Format("%s of a kernel without AIVs", core.instruction),
               "Nobody reads that memory. Fixpipe to UB is of MIX kernels: "
               "KERNEL_TYPE_MIX_AIC_1_2, or __mix__(1, 2).");
  }
  constexpr const char* kModes =
      "0 writes all to the AIV of subBlockId, 1 halves of the rows to both, 2 halves of the "
      "columns.";
  CheckRange("dualDstCtl", ctl.dual, kSingle, kColumnHalves, kModes);
  if (vectors == 1 && (ctl.dual != kSingle || ctl.sub != 0)) {
    ThrowFault("value-range",
               Format("%s of %s, and each AI core of the launch has one AIV", core.instruction,
                      ctl.dual != kSingle ? "both halves" : "subBlockId 1"),
               "Hardware writes to a memory that nobody reads. Launch two AIVs for each AIC: "
               "KERNEL_TYPE_MIX_AIC_1_2, or __mix__(1, 2).");
  }
  if (ctl.dual == kSingle) {
    return;
  }
  if (ctl.toDn || ctl.relu != 0 || IsScaled(ctl.quant)) {
    ThrowFault("value-range",
               Format("dualDstCtl %llu of %s with %s", static_cast<unsigned long long>(ctl.dual),
                      core.instruction,
                      ctl.toDn        ? "columns (DN)"
                      : ctl.relu != 0 ? "relu"
                                      : NameOf(ctl.quant)),
               "Hardware has the dual mode to NZ and ND, without what else Fixpipe does on the "
               "way. Write to each AIV on its own, by subBlockId.");
  }
  const uint64_t whole = ctl.dual == kRows ? 2 : 32, size = ctl.dual == kRows ? ctl.m : ctl.n;
  if (size % whole != 0) {
    ThrowFault(
        "value-range",
        Format("%s of %s with dualDstCtl %llu is %llu, legal are multiples of %llu",
               ctl.dual == kRows ? "mSize" : "nSize", core.instruction,
               static_cast<unsigned long long>(ctl.dual), static_cast<unsigned long long>(size),
               static_cast<unsigned long long>(whole)),
        "Hardware gives each AIV one half of whole rows, or of whole fractals.");
  }
}

void CheckUbLines(const Core& core, const FixpipeCtl& ctl) {
  if (ctl.channelSplit) {
    ThrowFault("value-range", Format("isChannelSplit of %s", core.instruction),
               "Hardware splits channels on the way to GM only.");
  }
  const uint64_t line = (ctl.toNd ? ctl.n : ctl.m) * WidthOf(ctl.dst);
  if ((ctl.toNd || ctl.toDn) && line % kCubeBlock != 0) {
    ThrowFault(
        "value-range",
        Format("a %s of %s has %llu bytes, legal are multiples of 32", ctl.toNd ? "row" : "column",
               core.instruction, static_cast<unsigned long long>(line)),
        "Hardware writes blocks of 32 bytes to UB. Round nSize up, to DN mSize.");
  }
}

// The part of the results that goes to one AIV.
struct UbPart {
  Plan plan;
  std::shared_ptr<Handover> handover;

  void Fill(const uint8_t* image, bool shadow, std::vector<uint8_t>* to) const {
    to->resize(handover->data.size());
    const std::vector<uint8_t> taken = plan.ParametersIn(image);
    uint8_t* at = to->data();
    plan.layout.ForEachRun(
        [&](uint64_t nd, uint64_t row, uint64_t column, uint64_t count, uint64_t) {
          if (shadow) {
            plan.Shade(image, taken, nd, row, column, count, at);
          } else {
            plan.Results(image, taken, nd, row, column, count, at);
          }
          at += count * plan.layout.width;
        });
  }
};

std::vector<UbPart> PartsOf(Core& core, const Ub& dst, const Ub& src, const Plan& first,
                            const FixpipeCtl& given) {
  const uint64_t to = core.UbOffset(dst.addr);
  std::vector<UbPart> parts;
  for (uint32_t i = 0; i < (given.dual == kSingle ? 1u : 2u); ++i) {
    Plan plan = first;
    if (i == 1) {
      const FixpipeCtl& half = first.layout.ctl;
      const uint64_t behind = first.layout.SourceOf(0, given.dual == kRows ? half.m : 0,
                                                    given.dual == kRows ? 0 : half.n);
      plan.src += behind;
      core.CheckUb(src, Signed(behind), Signed(behind + plan.layout.SourceBytes()), "src");
    }
    const uint32_t sub = given.dual == kSingle ? static_cast<uint32_t>(given.sub) : i;
    UbPart part{plan, NewHandover(core, CoreBeside(core, CoreKind::kVector, sub), Pipe::kFix)};
    plan.layout.ForEachRun([&](uint64_t, uint64_t, uint64_t, uint64_t count, uint64_t at) {
      part.handover->Add(to + at, count * plan.layout.width);
    });
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

void CubeFixpipeToUb(const Ub& dst, const Ub& from, const Ub& parameters,
                     const FixpipeCtl& given) try {
  Core& core = Core::Current();
  core.instruction = "Fixpipe (L0C to UB)";
  CheckIsCube(core);
  const Ub src = AccumulatorOf(core, from);
  CheckWay(core, Space::kL0c, Space::kUb);
  CheckOperandIn(core, dst, {Space::kUb}, kCubeBlock, "dst");
  CheckTargets(core, given);
  FixpipeCtl one = given;  // what each AIV gets
  one.m /= given.dual == kRows ? 2 : 1;
  one.n /= given.dual == kColumnHalves ? 2 : 1;
  CheckUbLines(core, one);
  Ub vector;
  const std::optional<Plan> found = PlanOf(core, src, parameters, one, &vector);
  if (!found) {
    return;
  }
  core.CheckUb(dst, 0, Signed(found->layout.TargetBytes()), "dst");
  const std::vector<UbPart> parts = PartsOf(core, dst, src, *found, given);
  const FixpipeCtl& ctl = found->layout.ctl;
  core.progress.Moved(parts.size() * ctl.ndNum * ctl.m * ctl.n * found->layout.width);
  if (ctl.unitFlag != 0) {
    AwaitUnitFlag(core, false, found->src, TileBytes(given));
  }
  core.Issue(
      Pipe::kFix,
      [&](Record& record) {
        record.flow = Flow::kStore;
        FillRecord(&record, core, *found, src, vector);
        // The two halves of the dual mode go at the same time, each by its own way: the record counts one.
        record.dtype = ctl.dst;
        for (size_t i = 0; i < parts.size(); ++i) {
          record.handovers[i] = parts[i].handover.get();
          if (i > 0) {
            parts[i].plan.layout.AddSource(&record, core,
                                           BehindOf(src, parts[i].plan.src - found->src));
          }
        }
        record.move = [parts](uint8_t* image) {
          for (const UbPart& part : parts) {
            part.Fill(image, true, &part.handover->shadow);
          }
        };
      },
      [&core, parts] {
        for (const UbPart& part : parts) {
          part.Fill(core.ub, false, &part.handover->data);
          core.meeting->HandOver(core, part.handover);
        }
      });
  if (ctl.unitFlag != 0) {
    PassUnitFlag(core, false, found->src, TileBytes(given));
  }
}
ACLSIM_SKIPS_FAULTS()

void CubeSetQuantTensor(const Ub& tensor, bool unitFlag) try {
  Core& core = Core::Current();
  core.instruction = "SetFixPipeConfig";
  CheckIsCube(core);
  if (unitFlag) {
    ClearUnitFlags(core);
    if (core.SpaceOf(tensor) == Space::kL0c) {
      return;  // the call is for the unit flags alone
    }
  }
  CheckOperandIn(core, tensor, {Space::kFb}, 128, "the quantisation tensor");
  core.cube.quantTensor = tensor;
}
ACLSIM_SKIPS_FAULTS()

void CubeSetQuantScalar(uint64_t word) try {
  Core& core = Core::Current();
  core.instruction = "SetFixpipePreQuantFlag";
  CheckIsCube(core);
  core.cube.quantWord = word;
}
ACLSIM_SKIPS_FAULTS()

void CubeSetNz2nd(uint64_t ndNum, uint64_t srcNdStride, uint64_t dstNdStride) try {
  Core& core = Core::Current();
  core.instruction = "SetFixpipeNz2ndFlag";
  CheckIsCube(core);
  core.cube.ndNum = ndNum;
  core.cube.srcNdStride = srcNdStride;
  core.cube.dstNdStride = dstNdStride;
  core.cube.ndSet = true;
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
