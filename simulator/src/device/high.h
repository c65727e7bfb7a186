// SPDX-License-Identifier: Apache-2.0
// Functions of the high-level API share these: loading and rounding of lanes, checks of operands and scratch, one record per call.
#pragma once

#include <cmath>
#include <initializer_list>

#include "ascendc/high_abi.h"
#include "device/vec.h"
#include "engine/options.h"

namespace aclsim {

// A double as a float whose last bit says whether anything was cut off: rounding that to fewer bits rounds only once.
inline float SingleToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value || std::isinf(nearest)) {
    return nearest;
  }
  const uint32_t bits = BitsOf(nearest);
  if ((bits & 1) != 0) {
    return nearest;
  }
  return FloatOf(std::fabs(back) < std::fabs(value) ? bits + 1 : bits - 1);
}

// Lanes of a type are computed in this one.
template <typename T>
struct Lane {
  using Value = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  static Value Load(const void* lanes, size_t i) {
    T value;
    std::memcpy(&value, static_cast<const uint8_t*>(lanes) + i * sizeof(T), sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(value);
    } else {
      return static_cast<double>(static_cast<float>(value));
    }
  }
  static void Store(void* lanes, size_t i, Value value) {
    T rounded;
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, float>) {
      rounded = static_cast<T>(value);
    } else {
      rounded = T(SingleToOdd(value));
    }
    std::memcpy(static_cast<uint8_t*>(lanes) + i * sizeof(T), &rounded, sizeof(T));
  }
  static Value Of(ScalarValue scalar) {
    if constexpr (std::is_integral_v<T>) {
      return scalar.i;
    } else {
      return scalar.f;
    }
  }
};

// Element i of a tensor of half or float.
inline double LoadFloat(DType dtype, const uint8_t* lanes, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return dtype == DType::kFloat ? Lane<float>::Load(lanes, at) : Lane<half>::Load(lanes, at);
}
inline void StoreFloat(DType dtype, uint8_t* lanes, int64_t i, double value) {
  const auto at = static_cast<size_t>(i);
  dtype == DType::kFloat ? Lane<float>::Store(lanes, at, value)
                         : Lane<half>::Store(lanes, at, value);
}

// A dense operand of a call.
struct HighOperand {
  const Ub* ub;
  int64_t bytes;
  const char* role;
};

// Reports what the documentation excludes and kernels in use do all the same. Once per core and function: whoever calls it in a loop does
// so for every tile.
void Hint(Core& core, const char* kind, const char* note, std::string detail, const char* advice);
// A value that the documentation excludes, found when the running call reads it. Once for each line of the kernel.
void FindValue(Core& core, double value, size_t index, const char* legal, const char* advice);
// Bounds and alignment.
void CheckHighOperand(Core& core, const HighOperand& operand);
// Scratch of at least `least` bytes: the caller's, or what InitBuffer has left of UB. There `fewest` bytes do, with a hint:
// kernels in use fill UB to the end.
void CheckHighWork(Core& core, const HighWork& work, int64_t least, int64_t fewest,
                   std::initializer_list<HighOperand> operands);
inline void CheckHighWork(Core& core, const HighWork& work, int64_t least,
                          std::initializer_list<HighOperand> operands) {
  CheckHighWork(core, work, least, least, operands);
}
// dst lies clear of src. The very same bytes are a hint unless the documentation allows them (shared): kernels in use do it,
// and it is right here.
void CheckHighOverlap(Core& core, const HighOperand& dst, const HighOperand& src, bool shared);
// The API leaves the mask register as count forms do.
inline void ResetMaskRegister(Core& core) {
  core.maskCounter = false;
  core.maskBits[0] = core.maskBits[1] = ~0ull;
}
// The scratch's content is undefined afterwards.
inline Access WorkAccess(const Core& core, const HighWork& work) {
  return UbAccess(core, Use::kSpoil, work.ub, work.given ? work.bytes : 0);
}
inline void SpoilHighWork(const HighWork& work) {
  if (work.given && work.bytes != 0 && CheckedMode()) {
    std::memset(work.ub.addr, kPoisonByte, work.bytes);
  }
}
// Rows of `used` bytes, `step` bytes apart.
inline Access HighRows(const Core& core, Use use, const Ub& operand, int64_t rows, int64_t used,
                       int64_t step) {
  return BlockAccess(Space::kUb, use, core.UbOffset(operand.addr), static_cast<uint64_t>(used),
                     static_cast<uint64_t>(rows), static_cast<uint64_t>(step), operand.buf);
}

// Columns of a matrix, one repeat per column.
inline Access HighColumns(const Core& core, Use use, const Ub& operand, int64_t rows,
                          int64_t columns, int64_t rowBytes) {
  const size_t width = WidthOf(operand.dtype);
  Access access = UbAccess(core, use, operand, rows * static_cast<int64_t>(width));
  access.width = static_cast<uint8_t>(width);
  access.chunk = width;
  access.chunkStride = rowBytes;
  access.repeat = static_cast<uint32_t>(columns);
  access.repStride = static_cast<int64_t>(width);
  return access;
}

template <typename Body>
void IssueHighLevel(Core& core, Flow flow, DType dtype, std::initializer_list<Access> accesses,
                    Body&& body) {
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = flow;
        record.dtype = dtype;
        for (const Access& access : accesses) {
          if (access.bytes != 0) {
            record.Add(access);
          }
        }
      },
      std::forward<Body>(body));
}

}  // namespace aclsim
