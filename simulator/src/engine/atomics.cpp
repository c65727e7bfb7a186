// SPDX-License-Identifier: Apache-2.0
// SetAtomicAdd, Max, Min: copies to GM that combine with what is there. Each core collects its own; they take effect when the
// cores meet, in the order of the cores, so that floating-point sums do not depend on host threads. On hardware the order is
// undefined.
#include <algorithm>
#include <cstring>

#include "engine/core.h"
#include "engine/dtypes.h"
#include "engine/meeting.h"
#include "host/crash.h"
#include "host/fork.h"
#include "host/lock.h"

namespace aclsim {

namespace {

PerProcess<Mutex<9, "atomic copies">> settleMutex;

template <typename T>
T Combine(Atomic op, T a, T b) {
  switch (op) {
    case Atomic::kMax:
      return std::max(a, b);
    case Atomic::kMin:
      return std::min(a, b);
    default:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
      } else {
        return a + b;
      }
  }
}

template <typename Bits, typename Load, typename Save>
void ForLanes(uint8_t* dst, const uint8_t* src, size_t bytes, Atomic op, Load load, Save save) {
  for (size_t i = 0; i < bytes; i += sizeof(Bits)) {
    Bits a, b;
    std::memcpy(&a, dst + i, sizeof(a));
    std::memcpy(&b, src + i, sizeof(b));
    const Bits sum = save(Combine(op, load(a), load(b)));
    std::memcpy(dst + i, &sum, sizeof(sum));
  }
}

template <typename T>
void ForNumbers(uint8_t* dst, const uint8_t* src, size_t bytes, Atomic op) {
  const auto same = [](T value) { return value; };
  ForLanes<T>(dst, src, bytes, op, same, same);
}

void Apply(const AtomicWrite& write) {
  const Atomic op = write.state.op;
  uint8_t* dst = write.dst;
  const uint8_t* src = write.data.data();
  const size_t bytes = write.data.size();
  switch (write.state.dtype) {
    case DType::kHalf:
      ForLanes<uint16_t>(dst, src, bytes, op, HalfToFloat, FloatToHalf);
      return;
    case DType::kBf16:
      ForLanes<uint16_t>(dst, src, bytes, op, Bf16ToFloat, FloatToBf16);
      return;
    case DType::kInt8:
      ForNumbers<int8_t>(dst, src, bytes, op);
      return;
    case DType::kInt16:
      ForNumbers<int16_t>(dst, src, bytes, op);
      return;
    case DType::kInt32:
      ForNumbers<int32_t>(dst, src, bytes, op);
      return;
    default:
      ForNumbers<float>(dst, src, bytes, op);
      return;
  }
}

}  // namespace

void ApplyAtomics(const std::vector<AtomicWrite>& writes) {
  const HoldsLocks holds;
  const std::lock_guard lock(*settleMutex);
  for (const AtomicWrite& write : writes) {
    Apply(write);
  }
}

void Core::StoreGm(uint8_t* dst, const uint8_t* src, uint64_t bytes, AtomicState state) {
  atomics_.push_back({dst, state, std::vector<uint8_t>(src, src + bytes)});
}

void SettleAtomics(std::vector<AtomicWrite>* writes, const uint8_t* begin, uint64_t bytes) {
  const HoldsLocks holds;
  const std::lock_guard lock(*settleMutex);
  for (AtomicWrite& write : *writes) {
    if (write.dst < begin + bytes && begin < write.dst + write.data.size()) {
      Apply(write);
      write.data.clear();
    }
  }
}

void Core::SettleAtomics(const void* gm, uint64_t bytes) {
  const auto* begin = static_cast<const uint8_t*>(gm);
  if (atomicsTold) {
    meeting->SettleAtomics(*this, begin, bytes);
  }
  if (!atomics_.empty()) {
    aclsim::SettleAtomics(&atomics_, begin, bytes);
  }
}

}  // namespace aclsim
