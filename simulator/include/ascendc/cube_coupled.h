// SPDX-License-Identifier: Apache-2.0
// Copies of a core that has both units (310P, 910): L0C and UB, UB and L1. cube.h includes it, whose macros it uses.
#pragma once

namespace AscendC {

enum class BlockMode : uint8_t {
  BLOCK_MODE_NORMAL = 0,
  BLOCK_MODE_MATRIX,
  BLOCK_MODE_VECTOR,
  BLOCK_MODE_SMALL_CHANNEL,
  BLOCK_MODE_DEPTHWISE,
};
enum class DeqScale : uint8_t { DEQ_NONE = 0, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
struct DataCopyEnhancedParams {
  DataCopyEnhancedParams() = default;
  DataCopyEnhancedParams(BlockMode mode, DeqScale scale, uint64_t deq, uint8_t sid, bool relu,
                         pad_t /*padMode*/, uint64_t pad)
      : blockMode(mode),
        deqScale(scale),
        deqValue(deq),
        sidStoreMode(sid),
        isRelu(relu),
        padValue(pad) {}
  BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
  DeqScale deqScale = DeqScale::DEQ_NONE;
  uint64_t deqValue = 0;
  uint8_t sidStoreMode = 0;
  bool isRelu = false;
  uint64_t padValue = 0;
  uint64_t deqTensorAddr = 0;
};
namespace detail {
template <typename...>
constexpr bool kCoupled = detail::kArch == 2002 || detail::kArch == 1001;
}  // namespace detail
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p,
              const DataCopyEnhancedParams& enhanced) {
  ACLSIM_CUBE("DataCopy with DataCopyEnhancedParams", T, U);
  static_assert(detail::kCoupled<T>,
                "DataCopy with DataCopyEnhancedParams exists on architectures 2002 and 1001 only: "
                "elsewhere Fixpipe copies out of L0C");
  if (enhanced.deqScale != DeqScale::DEQ_NONE || enhanced.sidStoreMode != 0 ||
      enhanced.blockMode > BlockMode::BLOCK_MODE_VECTOR) {
    aclsim::AssertFail(
        "matrix units: DataCopy out of L0C with a deqScale, a sidStoreMode or another block mode "
        "than matrix and vector is not simulated yet; docs/simulator.md says what is",
        __FILE__, __LINE__, "");
  }
  if (enhanced.blockMode == BlockMode::BLOCK_MODE_NORMAL) {
    aclsim::CubeCopyUbToL1(dst, src, detail::BlockCopy(p));
  } else {
    aclsim::CubeCopyFractals(dst, src,
                             {p.blockCount, p.blockLen, p.srcStride, p.dstStride,
                              enhanced.blockMode == BlockMode::BLOCK_MODE_VECTOR, enhanced.isRelu});
  }
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U>
void BroadCastVecToMM(const LocalTensor<T>& dst, const LocalTensor<U>& src, int32_t blockCount,
                      uint8_t blockLen, uint8_t srcGap, uint8_t dstGap) {
  ACLSIM_CUBE("BroadCastVecToMM", T, U);
  static_assert(detail::kCoupled<T>, "BroadCastVecToMM exists on architectures 2002 and 1001 only");
  aclsim::CubeBroadcast(dst, src, static_cast<uint64_t>(blockCount), blockLen, srcGap, dstGap);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC
