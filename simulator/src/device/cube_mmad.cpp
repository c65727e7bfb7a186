// SPDX-License-Identifier: Apache-2.0
// Mmad: L0C becomes A x B on top of what it begins with.
#include <algorithm>
#include <vector>

#include "ascendc/types.h"
#include "device/cube.h"
#include "device/cube_loops.h"

namespace aclsim {

namespace {

constexpr uint32_t kResultAlign = 1024;
constexpr uint64_t kColumns = 16;  // of a fractal of L0C
constexpr uint64_t kOrderedFractals =
    10;  // results from which on hardware orders one Mmad behind another
constexpr uint64_t kMostSize = 4095;

// Places of elements, in bytes from the operand's first one.
struct MmadShape {
  uint64_t m, n, k;
  uint8_t bits;
  bool vector;  // GEMV: A is one row, element behind element
  uint64_t k0, m1, n1;
  uint64_t stepsA;  // fractals of A along K

  MmadShape(const MmadCtl& ctl)
      : m(ctl.m),
        n(ctl.n),
        k(ctl.k),
        bits(ctl.bits),
        vector(ctl.m == 1),
        k0(ColumnsOf(ctl.bits)),
        m1(CeilDiv(ctl.m, kFractalRows)),
        n1(CeilDiv(ctl.n, kFractalRows)),
        stepsA(ctl.alignsK && ctl.bits == 32 ? 2 * CeilDiv(ctl.k, kFractalRows)
                                             : CeilDiv(ctl.k, ColumnsOf(ctl.bits))) {}

  uint64_t Steps() const { return CeilDiv(k, k0); }
  // The row of a fractal that begins with column `step` * k0.
  uint64_t OfA(uint64_t row, uint64_t step) const {
    return vector
               ? step * kCubeBlock
               : (row / kFractalRows * stepsA + step) * kFractal + row % kFractalRows * kCubeBlock;
  }
  uint64_t OfB(uint64_t step, uint64_t column) const {
    return (step * n1 + column / kFractalRows) * kFractal + column % kFractalRows * kCubeBlock;
  }
  uint64_t OfC(uint64_t row, uint64_t column) const {
    return ColumnStep() * (column / kColumns) + (row * kColumns + column % kColumns) * kAccumulator;
  }
  uint64_t ColumnStep() const { return m1 * kFractalRows * kColumns * kAccumulator; }
  uint64_t BytesOfA() const { return vector ? Steps() * kCubeBlock : m1 * stepsA * kFractal; }
  uint64_t BytesOfB() const { return Steps() * n1 * kFractal; }
  uint64_t BytesOfC() const { return n1 * ColumnStep(); }
  // Elements of the last step along K.
  uint64_t InStep(uint64_t step) const { return std::min(k0, k - step * k0); }
};

// The contents that C begins with.
enum class Initial : uint8_t { kZero, kTable, kOld };

struct MmadPlaces {
  uint64_t c, a, b, bias;  // in the image
  Initial initial;
};

CubeForm FormOf(DType dtype, uint8_t bits, const CubeRegisters& registers) {
  switch (bits) {
    case 4:
      return CubeForm::kInt4;
    case 8:
      return CubeForm::kInt8;
    case 16:
      return dtype == DType::kBf16 ? CubeForm::kBf16 : CubeForm::kHalf;
    default:
      return !registers.hf32 || dtype != DType::kFloat ? CubeForm::kFloat
             : registers.hf32TowardZero                ? CubeForm::kHf32TowardZero
                                                       : CubeForm::kHf32;
  }
}

// Begin fills the `columns` columns of C, 16 behind each other for each row.
template <typename T>
void Begin(T* c, const T* old, const T* table, uint64_t rows, uint64_t columns, Initial initial) {
  for (uint64_t m = 0; m < rows; ++m) {
    T* const row = c + m * kColumns;
    if (initial == Initial::kZero) {
      std::fill_n(row, columns, T{0});
    } else {
      const T* const from = initial == Initial::kTable ? table : old + m * kColumns;
      std::copy_n(from, columns, row);
    }
  }
}

template <typename T, typename Read, typename Panels, typename Compute>
void MultiplyAs(CubeOperands<T>* operands, uint8_t* image, const MmadShape& shape,
                const MmadPlaces& at, CubeForm form, const Read& read, const Panels& panels,
                const Compute& compute) {
  const uint64_t fractal = kFractalRows * shape.k0;
  const uint64_t fractals = CeilDiv(shape.BytesOfA(), kFractal);
  operands->a.resize(fractals * fractal);
  operands->b.resize(shape.Steps() * shape.n1 * fractal);
  operands->tail.resize(shape.m * kColumns);
  read(operands->a.data(), image + at.a, fractals, form);
  panels(operands->b.data(), image + at.b, shape.Steps(), shape.n1, form);
  T* const c = reinterpret_cast<T*>(image + at.c);
  const T* const table = reinterpret_cast<const T*>(image + at.bias);
  CubeProduct product;
  product.m = shape.m;
  product.k = shape.k;
  product.k0 = shape.k0;
  product.panels = shape.n / kColumns;
  product.stepA = shape.vector ? shape.k0 : fractal;
  product.blockA = shape.stepsA * fractal;
  product.panelB = shape.Steps() * fractal;
  product.panelC = shape.ColumnStep() / kAccumulator;
  for (uint64_t panel = 0; panel < product.panels && at.initial != Initial::kOld; ++panel) {
    Begin(c + panel * product.panelC, c, table + panel * kColumns, shape.m, kColumns, at.initial);
  }
  compute(c, operands->a.data(), operands->b.data(), product);
  // Columns behind the last one stay as they are.
  const uint64_t rest = shape.n % kColumns, first = product.panels;
  if (rest == 0) {
    return;
  }
  T* const tail = operands->tail.data();
  T* const last = c + first * product.panelC;
  Begin(tail, last, table + first * kColumns, shape.m, rest, at.initial);
  product.panels = 1;
  compute(tail, operands->a.data(), operands->b.data() + first * product.panelB, product);
  for (uint64_t m = 0; m < shape.m; ++m) {
    std::copy_n(tail + m * kColumns, rest, last + m * kColumns);
  }
}

void Multiply(CubeRegisters* registers, uint8_t* image, const MmadShape& shape,
              const MmadPlaces& at, CubeForm form) {
  const CubeTable& loops = CubeLoops();
  if (shape.bits <= 8) {
    MultiplyAs(&registers->integers, image, shape, at, form, loops.readIntegers,
               loops.integerPanels, loops.integers);
  } else {
    MultiplyAs(&registers->floats, image, shape, at, form, loops.readFloats, loops.floatPanels,
               loops.floats);
  }
}

// An element of C has a value where its row of A, its column of B and what it begins with have: junk in the tails of fractals plays no part.
void Shade(uint8_t* image, const MmadShape& shape, const MmadPlaces& at) {
  const auto any = [](const uint8_t* bytes, uint64_t count) {
    return std::any_of(bytes, bytes + count, [](uint8_t byte) { return byte != 0; });
  };
  std::vector<uint8_t> rows(shape.m), columns(shape.n);
  for (uint64_t step = 0; step < shape.Steps(); ++step) {
    const uint64_t bytes = CeilDiv(shape.InStep(step) * shape.bits, 8);
    for (uint64_t m = 0; m < shape.m; ++m) {
      rows[m] |= any(image + at.a + shape.OfA(m, step), bytes) ? 1 : 0;
    }
    for (uint64_t n = 0; n < shape.n; ++n) {
      columns[n] |= any(image + at.b + shape.OfB(step, n), bytes) ? 1 : 0;
    }
  }
  for (uint64_t m = 0; m < shape.m; ++m) {
    for (uint64_t n = 0; n < shape.n; ++n) {
      uint8_t* const c = image + at.c + shape.OfC(m, n);
      const bool begins = at.initial == Initial::kTable
                              ? any(image + at.bias + n * kAccumulator, kAccumulator)
                              : at.initial == Initial::kOld && any(c, kAccumulator);
      std::memset(c, rows[m] != 0 || columns[n] != 0 || begins ? 0xFF : 0, kAccumulator);
    }
  }
}

bool IsFloating(const Ub& operand) { return IsReal(operand.dtype); }

void CheckTypes(const Ub& dst, const Ub& a, const MmadCtl& ctl) {
  const bool integers = ctl.bits <= 8 && a.dtype == DType::kInt8;
  const bool fits =
      integers ? dst.dtype == DType::kInt32 : IsFloating(a) && dst.dtype == DType::kFloat;
  if (!fits) {
    ThrowFault(
        "dtype-unsupported",
        Format("Mmad of %s to %s", ctl.bits == 4 ? "int4b_t" : NameOf(a.dtype), NameOf(dst.dtype)),
        "The device compiler refuses it. On Atlas A2 int8_t and int4b_t give int32_t; half, "
        "bfloat16_t and float give float.");
  }
  if (ctl.bits == 4 && ctl.k % 2 != 0) {
    ThrowFault("value-range",
               Format("k of Mmad of int4b_t is %llu, which is odd",
                      static_cast<unsigned long long>(ctl.k)),
               "Hardware raises an exception: two elements share a byte.");
  }
}

Initial InitialOf(Core& core, const Ub& dst, const Ub& bias, const MmadCtl& ctl) {
  if (!ctl.hasBias) {
    return ctl.fromZero ? Initial::kZero : ctl.fromTable ? Initial::kTable : Initial::kOld;
  }
  CheckOperandIn(core, bias, {Space::kBt, Space::kL0c}, 64, "bias");
  if (ctl.fromZero) {
    PassFault("value-range", "Mmad has a bias, and cmatrixInitVal is true",
              "Hardware begins with 0: the bias is dropped. Set cmatrixInitVal to false.",
              "done without the bias");
    return Initial::kZero;
  }
  if (core.SpaceOf(bias) == Space::kBt) {
    if (bias.dtype != dst.dtype) {
      ThrowFault("dtype-unsupported",
                 Format("a bias of %s for results of %s", NameOf(bias.dtype), NameOf(dst.dtype)),
                 "Hardware takes the bits for numbers of the result's type.");
    }
    return Initial::kTable;
  }
  if (bias.addr != dst.addr) {
    ThrowNotSimulated("Mmad with a bias in L0C elsewhere than its result");
  }
  return Initial::kOld;
}

// Columns of A that are multiplied in a cycle.
uint8_t CubeK(const Ub& a, const MmadCtl& ctl, bool hf32) {
  return ctl.bits == 32 ? (hf32 && a.dtype == DType::kFloat ? 8 : 4)
                        : static_cast<uint8_t>(ColumnsOf(ctl.bits));
}

// The bytes of C that hold m x n results.
void AddResult(Record* record, const Core& core, const Ub& dst, Use use, const MmadShape& shape) {
  const uint64_t whole = shape.n / kColumns;
  if (whole > 0) {
    record->Add(
        PartOf(core, dst, use, 0, shape.m * kColumns * kAccumulator, whole, shape.ColumnStep()));
  }
  if (shape.n % kColumns != 0) {
    record->Add(PartOf(core, dst, use, whole * shape.ColumnStep(),
                       shape.n % kColumns * kAccumulator, shape.m, kColumns * kAccumulator));
  }
}

}  // namespace

void CubeMmad(const Ub& dst, const Ub& a, const Ub& b, const Ub& bias, const MmadCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Mmad";
  CheckIsCube(core);
  constexpr const char* kSplit = "Hardware keeps the low 12 bits. Split the product.";
  CheckRange("m", ctl.m, 0, kMostSize, kSplit);
  CheckRange("n", ctl.n, 0, kMostSize, kSplit);
  CheckRange("k", ctl.k, 0, kMostSize, kSplit);
  CheckOperandIn(core, dst, {Space::kL0c}, kResultAlign, "dst");
  CheckOperandIn(core, a, {Space::kL0a}, kFractal, "fm");
  CheckOperandIn(core, b, {Space::kL0b}, kFractal, "filter");
  CheckTypes(dst, a, ctl);
  if (ctl.unitFlag != 0 && ctl.unitFlag != 2 && ctl.unitFlag != 3) {
    CheckRange("unitFlag", ctl.unitFlag, 2, 3, "0 is no unit flag, 2 checks it, 3 sets it too.");
  }
  const Initial initial = InitialOf(core, dst, bias, ctl);
  if (ctl.m == 0 || ctl.n == 0 || ctl.k == 0) {
    core.MarkIdle(dst, "multiplies nothing: m, n or k is 0");
    return;
  }
  const MmadShape shape(ctl);
  core.CheckUb(a, 0, static_cast<int64_t>(shape.BytesOfA()), "fm");
  core.CheckUb(b, 0, static_cast<int64_t>(shape.BytesOfB()), "filter");
  core.CheckUb(dst, 0, static_cast<int64_t>(shape.BytesOfC()), "dst");
  Ub table = bias;
  if (initial == Initial::kTable && !ctl.hasBias) {
    const Buffer start =
        LocalAt(static_cast<uint8_t>(AscendC::TPosition::C2), 0, shape.n * kAccumulator);
    table = {start.addr, start.buf, dst.dtype, start.generation};
  }
  if (initial == Initial::kTable) {
    core.CheckUb(table, 0, static_cast<int64_t>(shape.n * kAccumulator), "bias");
  }
  const MmadPlaces at{core.UbOffset(dst.addr), core.UbOffset(a.addr), core.UbOffset(b.addr),
                      initial == Initial::kTable ? core.UbOffset(table.addr) : 0, initial};
  const CubeForm form = FormOf(a.dtype, ctl.bits, core.cube);
  if (ctl.unitFlag != 0) {
    AwaitUnitFlag(core, true, at.c, shape.BytesOfC());
  }
  core.Issue(
      Pipe::kCube,
      [&](Record& record) {
        record.flow = Flow::kMove;
        record.dtype = a.dtype;
        record.ordered = shape.m1 * shape.n1 >= kOrderedFractals;
        record.group = CubeK(a, ctl, core.cube.hf32);
        record.repeat =
            static_cast<int32_t>(shape.m1 * shape.n1 * CeilDiv(shape.k, uint64_t{record.group}));
        AddResult(&record, core, dst, Use::kWrite, shape);
        record.Add(PartOf(core, a, Use::kRead, 0, shape.BytesOfA(), 1, 0));
        record.Add(PartOf(core, b, Use::kRead, 0, shape.BytesOfB(), 1, 0));
        if (initial == Initial::kOld) {
          AddResult(&record, core, dst, Use::kRead, shape);
        } else if (initial == Initial::kTable) {
          record.Add(PartOf(core, table, Use::kRead, 0, shape.n * kAccumulator, 1, 0));
        }
        record.move = [shape, at](uint8_t* image) { Shade(image, shape, at); };
      },
      [shape, at, form, &core, image = core.ub] { Multiply(&core.cube, image, shape, at, form); });
  if (ctl.unitFlag == 3) {
    PassUnitFlag(core, true, at.c, shape.BytesOfC());
  }
}
ACLSIM_SKIPS_FAULTS()

void CubeSetHf32(bool on) try {
  Core& core = Core::Current();
  core.instruction = "SetHF32Mode";
  CheckIsCube(core);
  core.cube.hf32 = on;
  core.cube.hf32Site = core.sites.Capture();
}
ACLSIM_SKIPS_FAULTS()

void CubeSetHf32Rounding(bool towardZero) try {
  Core& core = Core::Current();
  core.instruction = "SetHF32TransMode";
  CheckIsCube(core);
  core.cube.hf32TowardZero = towardZero;
}
ACLSIM_SKIPS_FAULTS()

void CubeSetOrder(bool) try {
  Core& core = Core::Current();
  core.instruction = "SetMMLayoutTransform";
  CheckIsCube(core);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
