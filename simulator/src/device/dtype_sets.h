// SPDX-License-Identifier: Apache-2.0
// Sets of dtypes and of rounding modes as bits, for the tables of what an instruction takes.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "device/vec.h"

namespace aclsim {

constexpr uint32_t DTypes(std::initializer_list<DType> dtypes) {
  uint32_t bits = 0;
  for (const DType dtype : dtypes) {
    bits |= 1u << static_cast<uint32_t>(dtype);
  }
  return bits;
}

constexpr uint32_t kB8 = DTypes({DType::kInt8, DType::kUint8});
constexpr uint32_t kB64 = DTypes({DType::kInt64, DType::kUint64});
constexpr uint32_t kWords = DTypes({DType::kInt16, DType::kUint16, DType::kInt32, DType::kUint32});
constexpr uint32_t kInts = kB8 | kWords | kB64;
constexpr uint32_t kFloats = DTypes({DType::kHalf, DType::kFloat});
constexpr uint32_t kReals = kFloats | DTypes({DType::kBf16});
constexpr uint32_t kSigned =
    DTypes({DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) | kFloats;

constexpr uint8_t Bit(Round round) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(round));
}
constexpr uint8_t kNoMode = Bit(Round::kNone);
constexpr uint8_t kFiveModes = Bit(Round::kRint) | Bit(Round::kFloor) | Bit(Round::kCeil) |
                               Bit(Round::kRound) | Bit(Round::kTrunc);
constexpr uint8_t kOddMode = Bit(Round::kOdd);

}  // namespace aclsim
