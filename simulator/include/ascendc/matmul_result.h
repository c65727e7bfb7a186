// SPDX-License-Identifier: Apache-2.0
// How Fixpipe takes a tile out of L0C: by the types of Matmul, and by enAtomic.
#pragma once

#include "ascendc/cube.h"
#include "ascendc/matmul_misuse.h"

namespace AscendC::detail::mm {

template <typename SrcA, typename Sum, typename Dst>
constexpr QuantMode_t ModeOf(bool isVector) {
  if constexpr (std::is_same_v<Dst, Sum>) {
    return QuantMode_t::NoQuant;
  } else if constexpr (kIsInteger<SrcA>) {
    return std::is_same_v<Dst, half> ? (isVector ? QuantMode_t::VDEQF16 : QuantMode_t::DEQF16)
                                     : (isVector ? QuantMode_t::VREQ8 : QuantMode_t::REQ8);
  } else if constexpr (std::is_same_v<Dst, int8_t> || std::is_same_v<Dst, uint8_t>) {
    return isVector ? QuantMode_t::VQF322B8_PRE : QuantMode_t::QF322B8_PRE;
  } else {
    return std::is_same_v<Dst, half> ? QuantMode_t::F322F16 : QuantMode_t::F322BF16;
  }
}

template <typename Dst>
void SetAtomicOf(uint8_t enAtomic) {
  switch (enAtomic) {
    case 0:
      return;
    case 1:
      SetAtomicAdd<Dst>();
      return;
    case 2:
      SetAtomicMax<Dst>();
      return;
    case 3:
      SetAtomicMin<Dst>();
      return;
    default:
      Misuse("GetTensorC", "1 adds, 2 keeps the larger one, 3 the smaller one.",
             "enAtomic is %d; it is 0 to 3", int{enAtomic});
  }
}

}  // namespace AscendC::detail::mm
