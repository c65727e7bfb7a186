// SPDX-License-Identifier: Apache-2.0
// Stand-in for the device API: as much as the kernel of test_headers.py uses.
#pragma once
#include <type_traits>
#ifdef ASCENDC_CPU_DEBUG
#include <vector>

#include "stub_fun.h"
#endif
#define GM_ADDR __gm__ uint8_t*
#define REGISTER_TILING_DEFAULT(type)
#define TILING_KEY_IS(key) (g_tilingKey == (key))

namespace AscendC {

enum class RoundMode { CAST_NONE, CAST_RINT };

template <typename T>
class LocalTensor {
 public:
  __ubuf__ T* address = nullptr;
};

template <typename T>
class GlobalTensor {
 public:
  __aicore__ void SetGlobalBuffer(__gm__ T* buffer) { address = buffer; }
  __gm__ T* address = nullptr;
};

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                uint32_t count) {
  copy_gm_to_ubuf(dst.address, src.address, count);
}

template <typename T>
__aicore__ inline void Add(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                           const LocalTensor<T>& src1, int32_t count) {
  vadd(dst.address, src0.address, src1.address, static_cast<uint64_t>(count));
}

template <typename D, typename S>
__aicore__ inline void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, RoundMode,
                            uint32_t count) {
  if constexpr (std::is_same_v<S, half>) {
    vconv_f162f32(dst.address, src.address, count);
  } else {
    vconv_bf162f32(dst.address, src.address, count);
  }
}

// Known to the device compiler alone.
__aicore__ inline void Finish() { only_the_device_compiler_knows(0); }

}  // namespace AscendC
