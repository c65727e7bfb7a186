// SPDX-License-Identifier: Apache-2.0
// Mmad: L0C becomes A x B on top of what it begins with.
#include <algorithm>
#include <string_view>
#include <vector>

#include "ascendc/narrow_floats.h"
#include "ascendc/types.h"
#include "device/cube.h"
#include "device/cube_loops.h"

namespace aclsim {

namespace {

constexpr uint64_t kColumns = 16;  // of a fractal of L0C
constexpr uint64_t kOrderedFractals =
    10;  // results from which on hardware orders one Mmad behind another
constexpr uint64_t kMostSize = 4095;
constexpr uint64_t kScaled = 32;  // elements along K that share a scale
constexpr uint64_t kDropped = 2;  // rows of A for each one of B, in products of 4:2 sparsity

// Places of elements, in bytes from the operand's first one.
struct MmadShape {
  uint64_t m, n, k;
  uint8_t bits;
  bool vector;  // GEMV: A is one row, element behind element
  bool nz;      // fractals of A column by column
  bool scaled;
  bool sparse;
  uint64_t width;  // bytes of a result
  uint64_t k0, m1, n1;
  uint64_t stepsA;  // fractals of A along K

  MmadShape(const MmadCtl& ctl, const MatrixFacts& unit, DType result)
      : m(ctl.m),
        n(ctl.n),
        k(ctl.k),
        bits(ctl.bits),
        vector(ctl.m == 1 && !ctl.noVector),
        nz(unit.nzA),
        scaled(ctl.scaled),
        sparse(ctl.sparse),
        width(WidthOf(result)),
        k0(ColumnsOf(ctl.bits)),
        m1(CeilDiv(ctl.m, kFractalRows)),
        n1(CeilDiv(ctl.n, kFractalRows)),
        stepsA(ctl.alignsK && ctl.bits == 32 ? 2 * CeilDiv(ctl.k, kFractalRows)
                                             : CeilDiv(ctl.k, ColumnsOf(ctl.bits))) {}

  uint64_t Steps() const { return CeilDiv(k, k0); }
  // The row of a fractal that begins with column `step` * k0.
  uint64_t OfA(uint64_t row, uint64_t step) const {
    const uint64_t fractal =
        nz ? step * m1 + row / kFractalRows : row / kFractalRows * stepsA + step;
    return vector ? step * kCubeBlock : fractal * kFractal + row % kFractalRows * kCubeBlock;
  }
  // The scale of 32 columns of A in a row, or of 32 rows of B in a column: fractals of 16 x 2.
  uint64_t OfScale(uint64_t line, uint64_t group) const {
    return (line / kFractalRows * CeilDiv(k, 2 * kScaled) + group / 2) * kCubeBlock +
           line % kFractalRows * 2 + group % 2;
  }
  uint64_t BytesOfScales(uint64_t lines) const {
    return CeilDiv(lines, kFractalRows) * CeilDiv(k, 2 * kScaled) * kCubeBlock;
  }
  uint64_t Groups() const { return CeilDiv(k, kScaled); }
  uint64_t OfB(uint64_t step, uint64_t column) const {
    return (step * n1 + column / kFractalRows) * kFractal + column % kFractalRows * kCubeBlock;
  }
  uint64_t OfC(uint64_t row, uint64_t column) const {
    return ColumnStep() * (column / kColumns) + (row * kColumns + column % kColumns) * width;
  }
  uint64_t ColumnStep() const { return m1 * kFractalRows * kColumns * width; }
  uint64_t BytesOfA() const { return vector ? Steps() * kCubeBlock : m1 * stepsA * kFractal; }
  // Rows of B, and their fractals along K.
  uint64_t RowsOfB() const { return sparse ? CeilDiv(k, kDropped) : k; }
  uint64_t StepsOfB() const { return CeilDiv(RowsOfB(), k0); }
  uint64_t BytesOfB() const { return StepsOfB() * n1 * kFractal; }
  uint64_t BytesOfIndex() const { return StepsOfB() * n1 * kFractalIndex; }
  // Two bits for each element, the first one lowest.
  uint64_t OfIndex(uint64_t row, uint64_t column) const {
    return (row / k0 * n1 + column / kFractalRows) * kFractalIndex +
           column % kFractalRows * (k0 / 4) + row % k0 / 4;
  }
  uint64_t BytesOfC() const { return n1 * ColumnStep(); }
  // Elements of the last step along K.
  uint64_t InStep(uint64_t step) const { return std::min(k0, k - step * k0); }
  uint64_t InStepOfB(uint64_t step) const { return std::min(k0, RowsOfB() - step * k0); }
};

// The contents that C begins with.
enum class Initial : uint8_t { kZero, kTable, kOld };

struct MmadPlaces {
  uint64_t c, a, b, bias;  // in the image
  uint64_t scaleA, scaleB, index;
  Initial initial;
};

// How A and B are read.
struct MmadForms {
  CubeForm a, b;
  bool halves;  // C is half: sums are made in float, and rounded once they are complete
};

CubeForm FormOf(DType dtype, uint8_t bits, const CubeRegisters& registers) {
  switch (dtype) {
    case DType::kInt8:
      return bits == 4 ? CubeForm::kInt4 : CubeForm::kInt8;
    case DType::kUint8:
      return CubeForm::kUint8;
    case DType::kE4m3:
      return CubeForm::kE4m3;
    case DType::kE5m2:
      return CubeForm::kE5m2;
    case DType::kHif8:
      return CubeForm::kHif8;
    case DType::kE2m1:
      return CubeForm::kE2m1;
    case DType::kE1m2:
      return CubeForm::kE1m2;
    case DType::kBf16:
      return CubeForm::kBf16;
    case DType::kHalf:
      return CubeForm::kHalf;
    default:
      return !registers.hf32            ? CubeForm::kFloat
             : registers.hf32TowardZero ? CubeForm::kHf32TowardZero
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

template <typename T, typename Read, typename Panels, typename Scale, typename Compute>
void MultiplyAs(CubeOperands<T>* operands, T* c, const uint8_t* image, const MmadShape& shape,
                const MmadPlaces& at, const MmadForms& forms, const Read& read,
                const Panels& panels, const Scale& scale, const Compute& compute) {
  const uint64_t fractal = kFractalRows * shape.k0;
  const uint64_t fractals = CeilDiv(shape.BytesOfA(), kFractal);
  operands->a.resize(fractals * fractal);
  operands->b.resize(shape.Steps() * shape.n1 * fractal);
  operands->tail.resize(shape.m * kColumns);
  read(operands->a.data(), image + at.a, fractals, forms.a);
  panels(operands->b.data(), image + at.b, shape.Steps(), shape.n1, forms.b);
  scale(operands);
  const T* const table = reinterpret_cast<const T*>(image + at.bias);
  CubeProduct product;
  product.m = shape.m;
  product.k = shape.k;
  product.k0 = shape.k0;
  product.panels = shape.n / kColumns;
  product.stepA = shape.vector ? shape.k0 : shape.nz ? shape.m1 * fractal : fractal;
  product.blockA = shape.nz ? fractal : shape.stepsA * fractal;
  product.panelB = shape.Steps() * fractal;
  product.panelC = shape.ColumnStep() / shape.width;
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

// Powers of two are put on the numbers: products of numbers and scales have what products of scaled numbers have.
void ScaleNumbers(CubeOperands<float>* operands, const uint8_t* image, const MmadShape& shape,
                  const MmadPlaces& at) {
  for (uint64_t group = 0; group < shape.Groups(); ++group) {
    const uint64_t step = group * kScaled / shape.k0, inStep = group * kScaled % shape.k0;
    for (uint64_t m = 0; m < shape.m; ++m) {
      const float factor = E8m0ToFloat(image[at.scaleA + shape.OfScale(m, group)]);
      float* const row = operands->a.data() + shape.OfA(m, step) * 8 / shape.bits + inStep;
      std::transform(row, row + kScaled, row, [=](float value) { return value * factor; });
    }
    for (uint64_t n = 0; n < shape.n; ++n) {
      const float factor = E8m0ToFloat(image[at.scaleB + shape.OfScale(n, group)]);
      float* const column = operands->b.data() +
                            (n / kColumns * shape.Steps() * shape.k0 + group * kScaled) * kColumns +
                            n % kColumns;
      for (uint64_t i = 0; i < kScaled; ++i) {
        column[i * kColumns] *= factor;
      }
    }
  }
}

void MultiplyFloats(CubeRegisters* registers, float* c, const uint8_t* image,
                    const MmadShape& shape, const MmadPlaces& at, const MmadForms& forms) {
  const CubeTable& loops = CubeLoops();
  MultiplyAs(
      &registers->floats, c, image, shape, at, forms, loops.readFloats, loops.floatPanels,
      [&](CubeOperands<float>* operands) {
        if (shape.scaled) {
          ScaleNumbers(operands, image, shape, at);
        }
      },
      loops.floats);
}

// By way of floats, in the order in which the halves lie.
void MultiplyHalves(CubeRegisters* registers, uint8_t* image, const MmadShape& shape,
                    const MmadPlaces& at, const MmadForms& forms) {
  uint16_t* const c = reinterpret_cast<uint16_t*>(image + at.c);
  std::vector<float>& wide = registers->floats.results;
  wide.resize(shape.BytesOfC() / sizeof(uint16_t));
  std::transform(c, c + wide.size(), wide.begin(), HalfToFloat);
  MultiplyFloats(registers, wide.data(), image, shape, at, forms);
  for (uint64_t n = 0; n < shape.n; ++n) {
    for (uint64_t m = 0; m < shape.m; ++m) {
      const uint64_t element = shape.OfC(m, n) / sizeof(uint16_t);
      c[element] = FloatToHalf(wide[element]);
    }
  }
}

// B with its zeros, as panels: of four rows each element is of the one that the index says, 0 to 2 of the first two bits, 1 to 3 of the
// others. Two elements of one row are added up.
void FillUp(int32_t* to, const uint8_t* image, const MmadShape& shape, const MmadPlaces& at) {
  const uint64_t panel = shape.Steps() * shape.k0 * kColumns;
  std::fill_n(to, shape.n1 * panel, 0);
  for (uint64_t n = 0; n < shape.n; ++n) {
    for (uint64_t k = 0; k < shape.RowsOfB(); ++k) {
      const uint8_t bits = image[at.index + shape.OfIndex(k, n)];
      const uint64_t row = k / 2 * 4 + (bits >> k % 4 * 2 & 3) + k % 2;
      if (row < shape.k) {
        to[n / kColumns * panel + row * kColumns + n % kColumns] +=
            static_cast<int8_t>(image[at.b + shape.OfB(k / shape.k0, n) + k % shape.k0]);
      }
    }
  }
}

void Multiply(CubeRegisters* registers, uint8_t* image, const MmadShape& shape,
              const MmadPlaces& at, const MmadForms& forms) {
  if (forms.a == CubeForm::kInt8 || forms.a == CubeForm::kUint8 || forms.a == CubeForm::kInt4) {
    const CubeTable& loops = CubeLoops();
    MultiplyAs(
        &registers->integers, reinterpret_cast<int32_t*>(image + at.c), image, shape, at, forms,
        loops.readIntegers,
        [&](int32_t* to, const uint8_t* from, size_t steps, size_t across, CubeForm form) {
          if (shape.sparse) {
            FillUp(to, image, shape, at);
          } else {
            loops.integerPanels(to, from, steps, across, form);
          }
        },
        [](CubeOperands<int32_t>*) {}, loops.integers);
  } else if (forms.halves) {
    MultiplyHalves(registers, image, shape, at, forms);
  } else {
    MultiplyFloats(registers, reinterpret_cast<float*>(image + at.c), image, shape, at, forms);
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
  }
  for (uint64_t step = 0; step < shape.StepsOfB(); ++step) {
    const uint64_t bytes = CeilDiv(shape.InStepOfB(step) * shape.bits, 8);
    for (uint64_t n = 0; n < shape.n; ++n) {
      columns[n] |= any(image + at.b + shape.OfB(step, n), bytes) ? 1 : 0;
      columns[n] |= shape.sparse && any(image + at.index + shape.OfIndex(step * shape.k0, n),
                                        CeilDiv(bytes, 4))
                        ? 1
                        : 0;
    }
  }
  for (uint64_t group = 0; shape.scaled && group < shape.Groups(); ++group) {
    for (uint64_t m = 0; m < shape.m; ++m) {
      rows[m] |= image[at.scaleA + shape.OfScale(m, group)];
    }
    for (uint64_t n = 0; n < shape.n; ++n) {
      columns[n] |= image[at.scaleB + shape.OfScale(n, group)];
    }
  }
  for (uint64_t m = 0; m < shape.m; ++m) {
    for (uint64_t n = 0; n < shape.n; ++n) {
      uint8_t* const c = image + at.c + shape.OfC(m, n);
      const bool begins = at.initial == Initial::kTable
                              ? any(image + at.bias + n * shape.width, shape.width)
                              : at.initial == Initial::kOld && any(c, shape.width);
      std::memset(c, rows[m] != 0 || columns[n] != 0 || begins ? 0xFF : 0, shape.width);
    }
  }
}

// Returns the name that kernels have for a type of A or B: 4-bit integers travel as bytes.
const char* TypeName(DType dtype, uint8_t bits) {
  return dtype == DType::kInt8 && bits == 4 ? "int4b_t" : NameOf(dtype);
}

void CheckTypes(const Core& core, const Ub& dst, const Ub& a, const Ub& b, const MmadCtl& ctl) {
  using Product = MatrixFacts::Product;
  const std::vector<Product>& products =
      ctl.scaled ? core.soc.matrix.scaledProducts : core.soc.matrix.products;
  const std::string_view ofA = TypeName(a.dtype, ctl.bits), ofB = TypeName(b.dtype, ctl.bits);
  const auto fits = [&](const Product& product) {
    return ofA == product.a && ofB == product.b && std::string_view(NameOf(dst.dtype)) == product.c;
  };
  if (std::ranges::none_of(products, fits)) {
    std::string known;
    for (const Product& product : products) {
      known +=
          Format("%s%s x %s to %s", known.empty() ? "" : ", ", product.a, product.b, product.c);
    }
    ThrowFault(
        "dtype-unsupported",
        Format("%s of %s x %s to %s", core.instruction, ofA.data(), ofB.data(), NameOf(dst.dtype)),
        Format("The device compiler refuses it, or it is not simulated. %s multiplies %s.",
               core.soc.name.c_str(), known.empty() ? "nothing so" : known.c_str()));
  }
  if (ctl.bits == 4 && ctl.k % 2 != 0) {
    ThrowFault("value-range",
               Format("k of Mmad of %s is %llu, which is odd", ofA.data(),
                      static_cast<unsigned long long>(ctl.k)),
               "Hardware raises an exception: two elements share a byte.");
  }
  if (ctl.sparse && ctl.alignsK) {
    ThrowFault("value-range", "kDirectionAlign of MmadWithSparse is true, legal is false",
               "Hardware has it for float alone.");
  }
  if (ctl.scaled && ctl.k % (2 * kScaled) != 0) {
    ThrowFault("value-range",
               Format("k of %s is %llu, no multiple of 64", core.instruction,
                      static_cast<unsigned long long>(ctl.k)),
               "Hardware raises an exception: scales lie in pairs of 32 elements each. Fill A, B "
               "and K up with zeros.");
  }
}

Initial InitialOf(Core& core, const Ub& dst, const Ub& bias, const MmadCtl& ctl) {
  if (!ctl.hasBias) {
    return ctl.fromZero ? Initial::kZero : ctl.fromTable ? Initial::kTable : Initial::kOld;
  }
  if (core.soc.BytesOf(Space::kBt) == 0) {
    ThrowFault(
        "instruction-absent",
        Format("Mmad with a bias: %s has no bias table", core.soc.name.c_str()),
        "The device compiler refuses it. Put the bias into L0C by BroadCastVecToMM, and pass "
        "cmatrixInitVal = false.");
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

// Returns whether lines (rows of A, columns of B) and steps along K lie where place(line, step) says, in fractals from `begin` on. False where the
// fractals are not known to be of one matrix.
template <typename Place>
bool LieAt(const FractalOrigins& origins, uint64_t begin, uint64_t lines, uint64_t steps,
           const Place& place) {
  const FractalOrigins::Origin* first = nullptr;
  for (uint64_t line = 0; line < lines; ++line) {
    for (uint64_t step = 0; step < steps; ++step) {
      const auto* const origin = origins.Of(begin + place(line, step) * kFractal);
      first = first == nullptr ? origin : first;
      if (origin == nullptr || origin->matrix != first->matrix ||
          origin->transposed != first->transposed) {
        return false;
      }
      const uint64_t down = origin->row - first->row, across = origin->column - first->column;
      if ((origin->transposed ? across : down) != line ||
          (origin->transposed ? down : across) != step) {
        return false;
      }
    }
  }
  return true;
}

// Other numbers are multiplied where the fractals of a matrix lie in the order of another architecture, and nothing else shows it.
void CheckOrder(Core& core, const MmadShape& shape, const MmadPlaces& at) {
  const uint64_t steps = shape.Steps();
  if (!core.Observed() || steps < 2 || shape.sparse) {
    return;
  }
  const auto byLines = [](uint64_t of) {
    return [of](uint64_t line, uint64_t step) { return line * of + step; };
  };
  const auto bySteps = [](uint64_t of) {
    return [of](uint64_t line, uint64_t step) { return step * of + line; };
  };
  const FractalOrigins& origins = core.cube.origins;
  const auto find = [&](uint64_t operand, std::string detail, std::string advice) {
    KernelFault fault{"fractal-order", std::move(detail), std::move(advice), CaptureStack(), {}};
    fault.related.push_back(
        {core.sites.Stack(origins.Of(operand)->site), "LoadData", "put them there"});
    core.GoOn(std::move(fault), "done with the fractals as they lie");
  };
  if (shape.vector && origins.Of(at.a) != nullptr) {
    find(at.a,
         Format("m is 1, so Mmad takes A as a vector, and A lies in L0A as a matrix: a step of K "
                "is the next row of its first fractal, not the next %llu columns",
                static_cast<unsigned long long>(shape.k0)),
         "Hardware multiplies other numbers: wrong results. Load A as blocks of 32 bytes one "
         "behind the other, or pass m = 2 and store one row.");
  }
  if (shape.m1 > 1 && (shape.nz ? LieAt(origins, at.a, shape.m1, steps, byLines(shape.stepsA))
                                : LieAt(origins, at.a, shape.m1, steps, bySteps(shape.m1)))) {
    const char* const column = "column by column (NZ)";
    const char* const row = "row by row (ZZ)";
    find(at.a,
         Format("the %llu x %llu fractals of A lie in L0A %s; %s takes them %s",
                static_cast<unsigned long long>(shape.m1),
                static_cast<unsigned long long>(shape.stepsA), shape.nz ? row : column,
                core.soc.name.c_str(), shape.nz ? column : row),
         Format(
             "Hardware multiplies other rows of A: wrong numbers. Load the fractal of row i "
             "and column j to number %s of L0A. Ascend 950 has one order, Atlas A2 and A3 "
             "the other.",
             shape.nz
                 ? Format("j * %llu + i", static_cast<unsigned long long>(shape.m1)).c_str()
                 : Format("i * %llu + j", static_cast<unsigned long long>(shape.stepsA)).c_str()));
  }
  if (shape.n1 > 1 && LieAt(origins, at.b, shape.n1, steps, byLines(steps))) {
    find(at.b,
         Format("the %llu x %llu fractals of B lie in L0B one column of N after the other; Mmad "
                "takes one step of K after the other (ZN)",
                static_cast<unsigned long long>(steps), static_cast<unsigned long long>(shape.n1)),
         Format("Hardware multiplies other columns of B: wrong numbers. Load the fractal of step "
                "i of K and columns j of N to number i * %llu + j of L0B.",
                static_cast<unsigned long long>(shape.n1)));
  }
}

// Columns of A that are multiplied in a cycle.
uint8_t CubeK(const Core& core, const MmadCtl& ctl) {
  return static_cast<uint8_t>(ctl.bits != 32 || core.cube.hf32 ? ColumnsOf(ctl.bits)
                                                               : core.soc.matrix.floatK);
}

// The bytes of C that hold m x n results.
void AddResult(Record* record, const Core& core, const Ub& dst, Use use, const MmadShape& shape) {
  const uint64_t whole = shape.n / kColumns;
  if (whole > 0) {
    record->Add(
        PartOf(core, dst, use, 0, shape.m * kColumns * shape.width, whole, shape.ColumnStep()));
  }
  if (shape.n % kColumns != 0) {
    record->Add(PartOf(core, dst, use, whole * shape.ColumnStep(), shape.n % kColumns * shape.width,
                       shape.m, kColumns * shape.width));
  }
}

}  // namespace

void CubeMmad(const Ub& given, const Ub& a, const Ub& b, const Ub& bias, const MmadCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = ctl.scaled ? "MmadMx" : ctl.sparse ? "MmadWithSparse" : "Mmad";
  CheckIsCube(core);
  const Ub dst = AccumulatorOf(core, given);
  constexpr const char* kSplit = "Hardware keeps the low 12 bits. Split the product.";
  CheckRange("m", ctl.m, 0, kMostSize, kSplit);
  CheckRange("n", ctl.n, 0, kMostSize, kSplit);
  CheckRange("k", ctl.k, 0, kMostSize, kSplit);
  const uint32_t fractalOfC = kFractalRows * kColumns * static_cast<uint32_t>(WidthOf(dst.dtype));
  const uint32_t align = ctl.scaled && ctl.bits == 8 ? 2 * kFractal : kFractal;
  CheckOperandIn(core, dst, {Space::kL0c}, fractalOfC, "dst");
  CheckOperandIn(core, a, {Space::kL0a}, align, "fm");
  CheckOperandIn(core, b, {Space::kL0b}, align, "filter");
  CheckTypes(core, dst, a, b, ctl);
  if (ctl.unitFlag != 0 && !HasPipe(core.kind, Pipe::kFix)) {
    CheckRange("unitFlag", ctl.unitFlag, 0, 0,
               "Unit flags are between Mmad and Fixpipe, which this core does not have.");
  }
  if (ctl.unitFlag != 0 && ctl.unitFlag != 2 && ctl.unitFlag != 3) {
    CheckRange("unitFlag", ctl.unitFlag, 2, 3, "0 is no unit flag, 2 checks it, 3 sets it too.");
  }
  const Initial initial = InitialOf(core, dst, bias, ctl);
  if (ctl.m == 0 || ctl.n == 0 || ctl.k == 0) {
    core.MarkIdle(dst, "multiplies nothing: m, n or k is 0");
    return;
  }
  const MmadShape shape(ctl, core.soc.matrix, dst.dtype);
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
  const MmadPlaces at{
      core.UbOffset(dst.addr), core.UbOffset(a.addr),
      core.UbOffset(b.addr),   initial == Initial::kTable ? core.UbOffset(table.addr) : 0,
      ScalesOf(core, a),       ScalesOf(core, b),
      IndexOf(core, b),        initial};
  const MmadForms forms{FormOf(a.dtype, ctl.bits, core.cube), FormOf(b.dtype, ctl.bits, core.cube),
                        dst.dtype == DType::kHalf};
  CheckOrder(core, shape, at);
  if (ctl.unitFlag != 0) {
    AwaitUnitFlag(core, true, at.c, shape.BytesOfC());
  }
  core.Issue(
      Pipe::kCube,
      [&](Record& record) {
        record.flow = Flow::kMove;
        record.dtype = a.dtype;
        record.ordered = shape.m1 * shape.n1 >= kOrderedFractals;
        record.group = CubeK(core, ctl);
        record.repeat = static_cast<int32_t>(shape.m1 * shape.n1 *
                                             CeilDiv(shape.RowsOfB(), uint64_t{record.group}));
        AddResult(&record, core, dst, Use::kWrite, shape);
        record.Add(PartOf(core, a, Use::kRead, 0, shape.BytesOfA(), 1, 0));
        record.Add(PartOf(core, b, Use::kRead, 0, shape.BytesOfB(), 1, 0));
        if (ctl.scaled) {
          record.Add(BlockAccess(Space::kMxa, Use::kRead, at.scaleA, shape.BytesOfScales(shape.m),
                                 1, 0, a.buf));
          record.Add(BlockAccess(Space::kMxb, Use::kRead, at.scaleB, shape.BytesOfScales(shape.n),
                                 1, 0, b.buf));
        }
        if (ctl.sparse) {
          record.Add(
              BlockAccess(Space::kIndex, Use::kRead, at.index, shape.BytesOfIndex(), 1, 0, b.buf));
        }
        if (initial == Initial::kOld) {
          AddResult(&record, core, dst, Use::kRead, shape);
        } else if (initial == Initial::kTable) {
          record.Add(PartOf(core, table, Use::kRead, 0, shape.n * kAccumulator, 1, 0));
        }
        record.move = [shape, at](uint8_t* image) { Shade(image, shape, at); };
      },
      [shape, at, forms, &core, image = core.ub] {
        Multiply(&core.cube, image, shape, at, forms);
      });
  if (ctl.unitFlag == 3) {
    PassUnitFlag(core, true, at.c, shape.BytesOfC());
  }
}
ACLSIM_SKIPS_FAULTS()

namespace {

// These functions set bits of a register that AIVs have too. Nothing looks at them there, so that both halves of a MIX kernel may call them.
Core& CoreWithModes(const char* name) {
  Core& core = Core::Current();
  core.instruction = name;
  if (core.kind != CoreKind::kVector) {
    CheckThere(core, name);
  }
  return core;
}

}  // namespace

void CubeSetHf32(bool on) try {
  Core& core = CoreWithModes("SetHF32Mode");
  core.cube.hf32 = on;
  core.cube.hf32Site = core.sites.Capture();
}
ACLSIM_SKIPS_FAULTS()

void CubeSetHf32Rounding(bool towardZero) try {
  CoreWithModes("SetHF32TransMode").cube.hf32TowardZero = towardZero;
}
ACLSIM_SKIPS_FAULTS()

void CubeSetOrder(bool) try { CoreWithModes("SetMMLayoutTransform"); }
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
