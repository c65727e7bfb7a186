// SPDX-License-Identifier: Apache-2.0
// This file computes rows of y and g in vector registers (Ascend 950). Their sums are in the order
// "register": a row is cut into vectors of 256 bytes. A vector is 64 lanes of fp32, or two registers
// of 16-bit elements: those of even and those of odd position. Vectors are added lane by lane, one
// after the other; then the odd register is added to the even one, and 64 lanes are added as a
// tree. A row is seen from its first element on, wherever that lies in UB, so the order follows
// from the length of a row and the dtype.
#ifndef OP_KERNEL_COMMON_REGISTER_ROWS_H_
#define OP_KERNEL_COMMON_REGISTER_ROWS_H_

#include "common/registers.h"

#if OP_KERNEL_REGISTERS

namespace rowreduce {

// RegisterRows has the vector functions over rows that follow each other in UB. Rows are whole blocks if kAligned.
template <typename T, typename Step, bool kAligned>
class RegisterRows {
 public:
  static constexpr uint32_t kVector = kRegisterBytes / sizeof(T);  // elements

  // sums[r] = the sum of f(g, y) over row r, of `length` elements. If `onTop`, it is added to what sums[r] holds.
  __aicore__ inline static void Sum(__ubuf__ float* sums, __ubuf__ T* y, __ubuf__ T* g,
                                    uint32_t length, uint16_t rows, bool onTop = false) {
    const uint16_t before = onTop ? 1 : 0;
    const uint32_t first = length < kVector ? length : kVector;
    const uint32_t behind = length - first;
    const uint16_t full = static_cast<uint16_t>(behind / kVector);
    const uint32_t tail = behind % kVector;
    const uint16_t tails = tail > 0 ? 1 : 0;
    uint32_t firstEven = EvenOf(first);
    uint32_t firstOdd = OddOf(first);
    uint32_t inEven = EvenOf(tail);
    uint32_t inOdd = OddOf(tail);
    __VEC_SCOPE__ {
      LaneMask all = reg::CreateMask<T, reg::MaskPattern::ALL>();
      LaneMask evenOfFirst = reg::UpdateMask<T>(firstEven);
      LaneMask oddOfFirst = reg::UpdateMask<T>(firstOdd);
      LaneMask even = reg::UpdateMask<T>(inEven);
      LaneMask odd = reg::UpdateMask<T>(inOdd);
      for (uint16_t r = 0; r < rows; ++r) {
        Lanes a;
        Lanes b;
        SumRow(a, y + r * length, g + r * length, full, tails, evenOfFirst, oddOfFirst, even, odd,
               all);
        for (uint16_t i = 0; i < before; ++i) {
          reg::LoadAlign<float, reg::LoadDist::DIST_BRC_B32>(b, sums + r);
          reg::Add(a, b, a, all);
        }
        reg::StoreAlign<float, reg::StoreDist::DIST_FIRST_ELEMENT_B32>(sums + r, a, all);
      }
    }
  }

  // out[r] = h(f, sums[r] * y') for the elements of each row r. A store that may start anywhere waits for the one before
  // it, so results are stored in two sequences, of half of the rows each.
  __aicore__ inline static void Combine(__ubuf__ T* out, __ubuf__ float* sums, __ubuf__ T* y,
                                        __ubuf__ T* g, uint32_t length, uint16_t rows) {
    const uint16_t vectors = static_cast<uint16_t>(length / kVector);
    const uint32_t tail = length % kVector;
    const uint16_t tails = tail > 0 ? 1 : 0;
    const uint16_t half = rows / 2;
    const uint16_t rest = rows % 2;
    const uint16_t any = half > 0 ? 1 : 0;
    uint32_t inTail = tail;
    uint32_t inEven = EvenOf(tail);
    uint32_t inOdd = OddOf(tail);
    __VEC_SCOPE__ {
      LaneMask all = reg::CreateMask<T, reg::MaskPattern::ALL>();
      LaneMask even = reg::UpdateMask<T>(inEven);
      LaneMask odd = reg::UpdateMask<T>(inOdd);
      LaneMask stored = reg::UpdateMask<T>(inTail);
      reg::UnalignRegForStore held0;
      reg::UnalignRegForStore held1;
      reg::UnalignRegForLoad yRest0;
      reg::UnalignRegForLoad gRest0;
      reg::UnalignRegForLoad yRest1;
      reg::UnalignRegForLoad gRest1;
      Lanes s0;
      Lanes s1;
      for (uint16_t r = 0; r < half; ++r) {
        const uint32_t at0 = r * length;
        const uint32_t at1 = at0 + half * length;
        __ubuf__ T* y0 = y + at0;
        __ubuf__ T* g0 = g + at0;
        __ubuf__ T* out0 = out + at0;
        __ubuf__ T* y1 = y + at1;
        __ubuf__ T* g1 = g + at1;
        __ubuf__ T* out1 = out + at1;
        BeginRow(yRest0, y0, gRest0, g0);
        BeginRow(yRest1, y1, gRest1, g1);
        reg::LoadAlign<float, reg::LoadDist::DIST_BRC_B32>(s0, sums + r);
        reg::LoadAlign<float, reg::LoadDist::DIST_BRC_B32>(s1, sums + half + r);
        for (uint16_t i = 0; i < vectors; ++i) {
          CombineVector(out0, held0, kVector, all, s0, y0, yRest0, g0, gRest0, all, all);
          CombineVector(out1, held1, kVector, all, s1, y1, yRest1, g1, gRest1, all, all);
        }
        for (uint16_t i = 0; i < tails; ++i) {
          CombineVector(out0, held0, tail, stored, s0, y0, yRest0, g0, gRest0, even, odd);
          CombineVector(out1, held1, tail, stored, s1, y1, yRest1, g1, gRest1, even, odd);
        }
      }
      for (uint16_t r = 0; r < rest; ++r) {
        const uint32_t at = 2 * half * length;
        reg::LoadAlign<float, reg::LoadDist::DIST_BRC_B32>(s1, sums + 2 * half);
        CombineRow(out + at, held1, s1, y + at, g + at, vectors, tails, tail, stored, even, odd,
                   all);
      }
      if constexpr (!kAligned) {
        for (uint16_t i = 0; i < any; ++i) {
          EndRows(out + half * length, held0);
        }
        EndRows(out + rows * length, held1);
      }
    }
  }

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  // EvenOf and OddOf count the bits of a mask for the even and the odd register of a vector that
  // ends early. A mask of 16-bit elements has two bits for each lane, and conversions may look at
  // either.
  __aicore__ inline static uint32_t EvenOf(uint32_t elements) {
    return kFp32 ? elements : (elements + 1) / 2 * 2;
  }
  __aicore__ inline static uint32_t OddOf(uint32_t elements) { return elements / 2 * 2; }

  __aicore__ inline static void BeginRow(reg::UnalignRegForLoad& yRest, __ubuf__ T* y,
                                         reg::UnalignRegForLoad& gRest, __ubuf__ T* g) {
    if constexpr (!kAligned) {
      reg::LoadUnAlignPre(yRest, y);
      reg::LoadUnAlignPre(gRest, g);
    }
  }

  __aicore__ inline static void Load(reg::RegTensor<T>& dst, __ubuf__ T*& at,
                                     reg::UnalignRegForLoad& rest) {
    if constexpr (kAligned) {
      reg::LoadAlign<T, reg::PostLiteral::POST_MODE_UPDATE>(dst, at, static_cast<int32_t>(kVector));
    } else {
      reg::LoadUnAlign(dst, rest, at, kVector);
    }
  }

  // Loads the lanes of a vector. Those outside of the masks are 0, or anything where T is fp32.
  __aicore__ inline static void LoadVector(Lanes& a, Lanes& b, __ubuf__ T*& at,
                                           reg::UnalignRegForLoad& rest, LaneMask& even,
                                           LaneMask& odd) {
    if constexpr (kFp32) {
      Load(a, at, rest);
    } else {
      reg::RegTensor<T> elements;
      Load(elements, at, rest);
      reg::Cast<float, T, kWidenEven>(a, elements, even);
      reg::Cast<float, T, kWidenOdd>(b, elements, odd);
    }
  }

  // Makes f(g, y) of the next vector, and 0 outside of the masks.
  __aicore__ inline static void Summands(Lanes& fa, Lanes& fb, __ubuf__ T*& y,
                                         reg::UnalignRegForLoad& yRest, __ubuf__ T*& g,
                                         reg::UnalignRegForLoad& gRest, LaneMask& even,
                                         LaneMask& odd) {
    LoadVector(fa, fb, g, gRest, even, odd);
    if constexpr (!Step::kSumOfG) {
      Lanes ya;
      Lanes yb;
      LoadVector(ya, yb, y, yRest, even, odd);
      Step::Prepare(fa, ya, even);
      if constexpr (!kFp32) {
        Step::Prepare(fb, yb, odd);
      }
    } else if constexpr (kFp32) {
      reg::Adds(fa, fa, 0.0F, even);  // clears what is outside of the mask
    }
  }

  // Adds f(g, y) of the next vector to a and b.
  __aicore__ inline static void AddVector(Lanes& a, Lanes& b, __ubuf__ T*& y,
                                          reg::UnalignRegForLoad& yRest, __ubuf__ T*& g,
                                          reg::UnalignRegForLoad& gRest, LaneMask& even,
                                          LaneMask& odd, LaneMask& all) {
    Lanes fa;
    Lanes fb;
    Summands(fa, fb, y, yRest, g, gRest, even, odd);
    reg::Add(a, a, fa, all);
    if constexpr (!kFp32) {
      reg::Add(b, b, fb, all);
    }
  }

  // a = the sum of f(g, y) over a row of a first vector, `full` whole ones and, if `tails`, the tail; in lane 0.
  __aicore__ inline static void SumRow(Lanes& a, __ubuf__ T* y, __ubuf__ T* g, uint16_t full,
                                       uint16_t tails, LaneMask& evenOfFirst, LaneMask& oddOfFirst,
                                       LaneMask& even, LaneMask& odd, LaneMask& all) {
    Lanes b;
    reg::UnalignRegForLoad yRest;
    reg::UnalignRegForLoad gRest;
    BeginRow(yRest, y, gRest, g);
    Summands(a, b, y, yRest, g, gRest, evenOfFirst, oddOfFirst);
    for (uint16_t i = 0; i < full; ++i) {
      AddVector(a, b, y, yRest, g, gRest, all, all, all);
    }
    for (uint16_t i = 0; i < tails; ++i) {
      AddVector(a, b, y, yRest, g, gRest, even, odd, all);
    }
    if constexpr (!kFp32) {
      reg::Add(a, a, b, all);
    }
    reg::Reduce<reg::ReduceType::SUM>(a, a, all);
  }

  __aicore__ inline static void CombineRow(__ubuf__ T* out, reg::UnalignRegForStore& held, Lanes& s,
                                           __ubuf__ T* y, __ubuf__ T* g, uint16_t vectors,
                                           uint16_t tails, uint32_t tail, LaneMask& stored,
                                           LaneMask& even, LaneMask& odd, LaneMask& all) {
    reg::UnalignRegForLoad yRest;
    reg::UnalignRegForLoad gRest;
    BeginRow(yRest, y, gRest, g);
    for (uint16_t i = 0; i < vectors; ++i) {
      CombineVector(out, held, kVector, all, s, y, yRest, g, gRest, all, all);
    }
    for (uint16_t i = 0; i < tails; ++i) {
      CombineVector(out, held, tail, stored, s, y, yRest, g, gRest, even, odd);
    }
  }

  // Stores what unaligned stores in front of `end` have held back.
  __aicore__ inline static void EndRows(__ubuf__ T* end, reg::UnalignRegForStore& held) {
    reg::StoreUnAlignPost(end, held, 0);
  }

  // Stores the `count` results of the next vector.
  __aicore__ inline static void CombineVector(__ubuf__ T*& out, reg::UnalignRegForStore& held,
                                              uint32_t count, LaneMask& stored, Lanes& s,
                                              __ubuf__ T*& y, reg::UnalignRegForLoad& yRest,
                                              __ubuf__ T*& g, reg::UnalignRegForLoad& gRest,
                                              LaneMask& even, LaneMask& odd) {
    Lanes fa;
    Lanes fb;
    Lanes ya;
    Lanes yb;
    LoadVector(fa, fb, g, gRest, even, odd);
    LoadVector(ya, yb, y, yRest, even, odd);
    CombineLanes(fa, ya, s, even);
    if constexpr (kFp32) {
      Store(out, held, fa, count, stored);
    } else {
      CombineLanes(fb, yb, s, odd);
      reg::RegTensor<T> results;
      reg::RegTensor<T> others;
      reg::Cast<T, float, kNarrowEven>(results, fa, even);
      reg::Cast<T, float, kNarrowOdd>(others, fb, odd);
      using Words = reg::RegTensor<uint16_t>;
      reg::Or(reinterpret_cast<Words&>(results), reinterpret_cast<Words&>(results),
              reinterpret_cast<Words&>(others), stored);
      Store(out, held, results, count, stored);
    }
  }

  // f = h(f, s * y')
  __aicore__ inline static void CombineLanes(Lanes& f, Lanes& y, Lanes& s, LaneMask& mask) {
    Step::Prepare(f, y, mask);
    reg::Mul(y, y, s, mask);
    Step::Combine(f, f, y, mask);
  }

  __aicore__ inline static void Store(__ubuf__ T*& out, reg::UnalignRegForStore& held,
                                      reg::RegTensor<T>& src, uint32_t count, LaneMask& stored) {
    if constexpr (kAligned) {
      reg::StoreAlign<T, reg::PostLiteral::POST_MODE_UPDATE>(out, src,
                                                             static_cast<int32_t>(kVector), stored);
    } else {
      reg::StoreUnAlign(out, src, held, count);
    }
  }
};

}  // namespace rowreduce

#endif  // OP_KERNEL_REGISTERS
#endif  // OP_KERNEL_COMMON_REGISTER_ROWS_H_
