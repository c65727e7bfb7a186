// SPDX-License-Identifier: Apache-2.0
// The request of an AIV's call to its AIC, and the answer.
#pragma once

#include "ascendc/matmul_abi.h"
#include "ascendc/matmul_batch.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC::detail::mm {

enum class Ask : uint32_t { kNothing, kIterate, kTile, kAll, kBatch, kEnd };

// Bits say what an AIV has set since its last request.
enum Change : uint32_t {
  kTilingChanged = 1,
  kOrgShapeChanged = 2,
  kPartChanged = 4,
  kAChanged = 8,
  kBChanged = 16,
  kBiasChanged = 32,
  kQuantChanged = 64,
  kCopiesChanged = 128,
  kScaleAChanged = 256,
  kScaleBChanged = 512,
};

struct GmMatrix {
  void* at = nullptr;
  uint64_t size = 0;
  bool transposed = false;
  bool isPart = false;  // an AIV's part alone
  bool isInL1 = false;  // `at` is an offset there

  template <typename T>
  void Set(const GlobalTensor<T>& tensor, bool isTransposed = false, bool isItsPart = false) {
    at = tensor.GetPhyAddr();
    size = tensor.GetSize();
    transposed = isTransposed;
    isPart = isItsPart;
    isInL1 = false;
  }
  // An AIV's tensor in TSCM.
  template <typename T>
  void SetInL1(const LocalTensor<T>& tensor, bool isTransposed = false) {
    at = reinterpret_cast<void*>(uintptr_t{aclsim::TscmOffset(tensor)});
    size = tensor.GetSize();
    transposed = isTransposed;
    isPart = false;
    isInL1 = true;
  }
  template <typename T>
  LocalTensor<T> GetInL1() const {
    return LocalTensor<T>(TPosition::TSCM, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at)),
                          static_cast<uint32_t>(size));
  }
  template <typename T>
  GlobalTensor<T> Get() const {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(static_cast<__gm__ T*>(at), size);
    return tensor;
  }
};

struct Request {
  uint32_t object = 0;  // as REGIST_MATMUL_OBJ has them
  Ask ask = Ask::kAll;
  uint64_t type = 0;  // of the object, which both halves have alike
  uint32_t changes = 0;
  bool answered = true;
  // Iterate, GetTensorC, IterateAll and IterateBatch fill these in.
  bool partialSum = false, dense = false;
  uint8_t atomic = 0;
  Batch batch;
  GmMatrix c;
  // The bits of `changes` say which of these count.
  bool hasTiling = false;
  TCubeTiling tiling;
  int32_t org[5] = {}, part[3] = {-1, -1, -1};
  GmMatrix a, b, bias, quant, scaleA, scaleB;
  bool hasBias = false, isQuantVector = false;
  uint64_t quantScalar = 0;
  uint64_t userInfo = 0, selfData = 0;
};
struct Answer {
  bool hasTile = false;
  uint32_t rows = 0, columns = 0, pitch = 0;        // of the tile
  uint32_t row = 0, column = 0, columnsOfPart = 0;  // where it lies in the AIV's part
};

// A matrix that an AIV has in UB: its AIC gets it by GM.
template <typename Type, bool = kIsScaled<Type>>
struct FromUb {
  using Of = MatmulType<TPosition::GM, Type::format, typename Type::T, Type::isTrans, Type::layout,
                        Type::ibShare>;
};
template <typename Type>
struct FromUb<Type, true> {
  using Of = MatmulTypeWithScale<TPosition::GM, Type::scalePosition, Type::format, typename Type::T,
                                 Type::isTrans, Type::srcPos, Type::scaleFormat, Type::isScaleTrans,
                                 Type::srcScalePos>;
};
template <typename Type>
using InGm = std::conditional_t<kIsInUb<Type>, typename FromUb<Type>::Of, Type>;

// Both halves compute the same number for the same types.
template <typename... Types>
constexpr uint64_t NumberOf() {
  uint64_t number = 0xCBF29CE484222325;
  for (const char* c = __PRETTY_FUNCTION__; *c != 0; ++c) {
    number = (number ^ static_cast<uint8_t>(*c)) * 0x100000001B3;
  }
  return number;
}

}  // namespace AscendC::detail::mm
