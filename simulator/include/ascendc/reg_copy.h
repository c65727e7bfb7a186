// SPDX-License-Identifier: Apache-2.0
// Between UB and registers or masks. POST_MODE_UPDATE moves the address, POST_MODE_NORMAL counts the stride in. LoadAlign and
// StoreAlign want the alignment of their form; LoadUnAlign takes any address, and StoreUnAlign holds the bytes behind the last
// whole block back until StoreUnAlignPost. Gather and Scatter take elements by index, GatherB whole blocks by byte offset.
// LocalMemBar holds loads and stores back until those before it are done.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

namespace detail {

struct LoadForm {
  aclsim::RegLoad how;
  uint8_t width;
  bool two = false;
};
template <LoadDist dist>
constexpr LoadForm FormOfLoad(uint8_t width) {
  using aclsim::RegLoad;
  switch (dist) {
    case LoadDist::DIST_NORM:
      return {RegLoad::kNorm, width};
    case LoadDist::DIST_BRC_B8:
      return {RegLoad::kBroadcast, 1};
    case LoadDist::DIST_BRC_B16:
      return {RegLoad::kBroadcast, 2};
    case LoadDist::DIST_BRC_B32:
      return {RegLoad::kBroadcast, 4};
    case LoadDist::DIST_US_B8:
      return {RegLoad::kUpsample, 1};
    case LoadDist::DIST_US_B16:
      return {RegLoad::kUpsample, 2};
    case LoadDist::DIST_DS_B8:
      return {RegLoad::kDownsample, 1};
    case LoadDist::DIST_DS_B16:
      return {RegLoad::kDownsample, 2};
    case LoadDist::DIST_UNPACK_B8:
      return {RegLoad::kUnpack, 1};
    case LoadDist::DIST_UNPACK_B16:
      return {RegLoad::kUnpack, 2};
    case LoadDist::DIST_UNPACK_B32:
      return {RegLoad::kUnpack, 4};
    case LoadDist::DIST_UNPACK4_B8:
      return {RegLoad::kUnpack4, 1};
    case LoadDist::DIST_BLK:
      return {RegLoad::kBlock, 1};
    case LoadDist::DIST_E2B_B16:
      return {RegLoad::kElementToBlock, 2};
    case LoadDist::DIST_E2B_B32:
      return {RegLoad::kElementToBlock, 4};
    case LoadDist::DIST_DINTLV_B8:
      return {RegLoad::kDeinterleave, 1, true};
    case LoadDist::DIST_DINTLV_B16:
      return {RegLoad::kDeinterleave, 2, true};
    case LoadDist::DIST_DINTLV_B32:
      return {RegLoad::kDeinterleave, 4, true};
    default:
      return {RegLoad::kNorm, 0};
  }
}
template <LoadDist dist, bool two>
constexpr LoadForm CheckedLoad(uint8_t width) {
  static_assert(FormOfLoad<dist>(1).width != 0 && FormOfLoad<dist>(1).two == two,
                "LoadAlign does not have this LoadDist, for so many registers, on Ascend 950");
  return FormOfLoad<dist>(width);
}

struct StoreForm {
  aclsim::RegStore how;
  uint8_t width;
  bool two = false;
};
template <StoreDist dist>
constexpr StoreForm FormOfStore(uint8_t width) {
  using aclsim::RegStore;
  switch (dist) {
    case StoreDist::DIST_NORM:
      return {RegStore::kNorm, width};
    case StoreDist::DIST_NORM_B8:
      return {RegStore::kNorm, 1};
    case StoreDist::DIST_NORM_B16:
      return {RegStore::kNorm, 2};
    case StoreDist::DIST_NORM_B32:
      return {RegStore::kNorm, 4};
    case StoreDist::DIST_FIRST_ELEMENT_B8:
      return {RegStore::kFirst, 1};
    case StoreDist::DIST_FIRST_ELEMENT_B16:
      return {RegStore::kFirst, 2};
    case StoreDist::DIST_FIRST_ELEMENT_B32:
      return {RegStore::kFirst, 4};
    case StoreDist::DIST_PACK_B16:
      return {RegStore::kPack, 2};
    case StoreDist::DIST_PACK_B32:
      return {RegStore::kPack, 4};
    case StoreDist::DIST_PACK_B64:
      return {RegStore::kPack, 8};
    case StoreDist::DIST_PACK4_B32:
      return {RegStore::kPack4, 4};
    case StoreDist::DIST_INTLV_B8:
      return {RegStore::kInterleave, 1, true};
    case StoreDist::DIST_INTLV_B16:
      return {RegStore::kInterleave, 2, true};
    case StoreDist::DIST_INTLV_B32:
      return {RegStore::kInterleave, 4, true};
    default:
      return {RegStore::kNorm, 0};
  }
}
template <StoreDist dist, bool two>
constexpr StoreForm CheckedStore(uint8_t width) {
  static_assert(FormOfStore<dist>(1).width != 0 && FormOfStore<dist>(1).two == two,
                "StoreAlign does not have this StoreDist, for so many registers, on Ascend 950");
  return FormOfStore<dist>(width);
}

template <typename T>
T* Moved(T* address, AddrReg offset) {
  return reinterpret_cast<T*>(reinterpret_cast<uint64_t>(address) + offset.offset);
}

}  // namespace detail

// --- addresses --------------------------------------------------------------------------------------------------------

template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0) {
  return {uint64_t{index0} * stride0 * sizeof(T)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1) {
  return {(uint64_t{index0} * stride0 + uint64_t{index1} * stride1) * sizeof(T)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1,
                      uint16_t index2, uint32_t stride2) {
  return {CreateAddrReg<T>(index0, stride0, index1, stride1).offset +
          CreateAddrReg<T>(index2, stride2).offset};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1,
                      uint16_t index2, uint32_t stride2, uint16_t index3, uint32_t stride3) {
  return {CreateAddrReg<T>(index0, stride0, index1, stride1).offset +
          CreateAddrReg<T>(index2, stride2, index3, stride3).offset};
}

// --- loads ------------------------------------------------------------------------------------------------------------

// Both names of the public API, newer and older, with one body.
#define ACLSIM_LOADS(Name)                                                                         \
  template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename U,             \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T* srcAddr) {                                                      \
    detail::CheckType<T, U>();                                                                     \
    constexpr auto form = detail::CheckedLoad<dist, false>(detail::kWidth<U>);                     \
    aclsim::RegLoadAligned(&dstReg, nullptr, srcAddr, form.how, form.width);                       \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, PostLiteral postMode, LoadDist dist = LoadDist::DIST_NORM,   \
            typename U, typename = detail::OfRegister<U>>                                          \
  void Name(U& dstReg, __ubuf__ T*& srcAddr, int32_t postUpdateStride) {                           \
    Name<T, dist>(dstReg,                                                                          \
                  srcAddr + (postMode == PostLiteral::POST_MODE_NORMAL ? postUpdateStride : 0));   \
    srcAddr += postMode == PostLiteral::POST_MODE_UPDATE ? postUpdateStride : 0;                   \
  }                                                                                                \
  template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename U,             \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T* srcAddr, AddrReg offset) {                                      \
    Name<T, dist>(dstReg, detail::Moved(srcAddr, offset));                                         \
  }                                                                                                \
  template <typename T = DefaultType, LoadDist dist, typename U, typename = detail::OfRegister<U>> \
  void Name(U& dstReg0, U& dstReg1, __ubuf__ T* srcAddr) {                                         \
    detail::CheckType<T, U>();                                                                     \
    constexpr auto form = detail::CheckedLoad<dist, true>(detail::kWidth<U>);                      \
    aclsim::RegLoadAligned(&dstReg0, &dstReg1, srcAddr, form.how, form.width);                     \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, PostLiteral postMode, LoadDist dist, typename U,             \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg0, U& dstReg1, __ubuf__ T*& srcAddr, int32_t postUpdateStride) {              \
    Name<T, dist>(dstReg0, dstReg1,                                                                \
                  srcAddr + (postMode == PostLiteral::POST_MODE_NORMAL ? postUpdateStride : 0));   \
    srcAddr += postMode == PostLiteral::POST_MODE_UPDATE ? postUpdateStride : 0;                   \
  }                                                                                                \
  template <typename T = DefaultType, LoadDist dist, typename U, typename = detail::OfRegister<U>> \
  void Name(U& dstReg0, U& dstReg1, __ubuf__ T* srcAddr, AddrReg offset) {                         \
    Name<T, dist>(dstReg0, dstReg1, detail::Moved(srcAddr, offset));                               \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, typename U,                           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T* srcAddr, uint32_t dataBlockStride, MaskReg& mask) {             \
    detail::CheckType<T, U>();                                                                     \
    aclsim::RegLoadBlocks(&dstReg, srcAddr, dataBlockStride, mask);                                \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, PostLiteral postMode, typename U,     \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T*& srcAddr, uint32_t dataBlockStride, uint32_t repeatStride,      \
            MaskReg& mask) {                                                                       \
    T* const next = srcAddr + repeatStride * ONE_BLK_SIZE / sizeof(T);                             \
    Name<T, dataMode>(dstReg, postMode == PostLiteral::POST_MODE_NORMAL ? next : srcAddr,          \
                      dataBlockStride, mask);                                                      \
    srcAddr = postMode == PostLiteral::POST_MODE_UPDATE ? next : srcAddr;                          \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(MaskReg& mask, __ubuf__ T* srcAddr) {                                                  \
    aclsim::RegLoadMask(&mask, srcAddr, static_cast<aclsim::RegMaskCopy>(dist));                   \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(MaskReg& mask, __ubuf__ T* srcAddr, AddrReg offset) {                                  \
    Name<T, dist>(mask, detail::Moved(srcAddr, offset));                                           \
  }                                                                                                \
  template <typename T, PostLiteral postMode, MaskDist dist = MaskDist::DIST_NORM>                 \
  void Name(MaskReg& mask, __ubuf__ T*& srcAddr, int32_t offset) {                                 \
    Name<T, dist>(mask, srcAddr);                                                                  \
    srcAddr = reinterpret_cast<T*>(reinterpret_cast<uint64_t>(srcAddr) +                           \
                                   static_cast<uint64_t>(int64_t{offset}));                        \
  }
ACLSIM_LOADS(LoadAlign)
ACLSIM_LOADS(DataCopy)
#undef ACLSIM_LOADS

#define ACLSIM_STORES(Name)                                                                        \
  template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM, typename U,           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, MaskReg& mask) {                                       \
    detail::CheckType<T, U>();                                                                     \
    constexpr auto form = detail::CheckedStore<dist, false>(detail::kWidth<U>);                    \
    aclsim::RegStoreAligned(dstAddr, &srcReg, nullptr, form.how, form.width, mask);                \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, PostLiteral postMode, StoreDist dist = StoreDist::DIST_NORM, \
            typename U, typename = detail::OfRegister<U>>                                          \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, int32_t postUpdateStride, MaskReg& mask) {            \
    Name<T, dist>(dstAddr + (postMode == PostLiteral::POST_MODE_NORMAL ? postUpdateStride : 0),    \
                  srcReg, mask);                                                                   \
    dstAddr += postMode == PostLiteral::POST_MODE_UPDATE ? postUpdateStride : 0;                   \
  }                                                                                                \
  template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM, typename U,           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, AddrReg offset, MaskReg& mask) {                       \
    Name<T, dist>(detail::Moved(dstAddr, offset), srcReg, mask);                                   \
  }                                                                                                \
  template <typename T = DefaultType, StoreDist dist, typename U,                                  \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg0, U& srcReg1, MaskReg& mask) {                          \
    detail::CheckType<T, U>();                                                                     \
    constexpr auto form = detail::CheckedStore<dist, true>(detail::kWidth<U>);                     \
    aclsim::RegStoreAligned(dstAddr, &srcReg0, &srcReg1, form.how, form.width, mask);              \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, StoreDist dist, typename U,                                  \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg0, U& srcReg1, AddrReg offset, MaskReg& mask) {          \
    Name<T, dist>(detail::Moved(dstAddr, offset), srcReg0, srcReg1, mask);                         \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, typename U,                           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, uint32_t dataBlockStride, MaskReg& mask) {             \
    detail::CheckType<T, U>();                                                                     \
    aclsim::RegStoreBlocks(dstAddr, &srcReg, dataBlockStride, detail::kWidth<U>, mask);            \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, PostLiteral postMode, typename U,     \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, uint32_t dataBlockStride, uint32_t repeatStride,      \
            MaskReg& mask) {                                                                       \
    T* const next = dstAddr + repeatStride * ONE_BLK_SIZE / sizeof(T);                             \
    Name<T, dataMode>(postMode == PostLiteral::POST_MODE_NORMAL ? next : dstAddr, srcReg,          \
                      dataBlockStride, mask);                                                      \
    dstAddr = postMode == PostLiteral::POST_MODE_UPDATE ? next : dstAddr;                          \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(__ubuf__ T* dstAddr, MaskReg& mask) {                                                  \
    aclsim::RegStoreMask(dstAddr, mask,                                                            \
                         dist == MaskDist::DIST_NORM ? aclsim::RegMaskCopy::kNorm                  \
                                                     : aclsim::RegMaskCopy::kDownsample);          \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(__ubuf__ T* dstAddr, MaskReg& mask, AddrReg offset) {                                  \
    Name<T, dist>(detail::Moved(dstAddr, offset), mask);                                           \
  }                                                                                                \
  template <typename T, PostLiteral postMode, MaskDist dist = MaskDist::DIST_NORM>                 \
  void Name(__ubuf__ T*& dstAddr, MaskReg& mask, int32_t offset) {                                 \
    Name<T, dist>(dstAddr, mask);                                                                  \
    dstAddr = reinterpret_cast<T*>(reinterpret_cast<uint64_t>(dstAddr) +                           \
                                   static_cast<uint64_t>(int64_t{offset}));                        \
  }
ACLSIM_STORES(StoreAlign)
ACLSIM_STORES(DataCopy)
#undef ACLSIM_STORES

#define ACLSIM_UNALIGNED_LOADS(Pre, Name)                                                   \
  template <typename T>                                                                     \
  void Pre(UnalignReg& ureg, __ubuf__ T* srcAddr) {                                         \
    aclsim::RegLoadUnalignedBegin(&ureg, srcAddr);                                          \
    ACLSIM_KEEP_FRAME();                                                                    \
  }                                                                                         \
  template <typename T>                                                                     \
  void Pre(UnalignReg& ureg, __ubuf__ T* srcAddr, AddrReg& areg) {                          \
    Pre(ureg, detail::Moved(srcAddr, areg));                                                \
  }                                                                                         \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>         \
  void Name(U& dstReg, UnalignReg& ureg, __ubuf__ T* srcAddr) {                             \
    detail::CheckType<T, U>();                                                              \
    aclsim::RegLoadUnaligned(&dstReg, &ureg, srcAddr);                                      \
    ACLSIM_KEEP_FRAME();                                                                    \
  }                                                                                         \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE, \
            typename U, typename = detail::OfRegister<U>>                                   \
  void Name(U& dstReg, UnalignReg& ureg, __ubuf__ T*& srcAddr, uint32_t postUpdateStride) { \
    detail::CheckType<T, U>();                                                              \
    aclsim::RegLoadUnaligned(&dstReg, &ureg, srcAddr);                                      \
    srcAddr += postUpdateStride;                                                            \
  }                                                                                         \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>         \
  void Name(U& dstReg, UnalignReg& ureg, __ubuf__ T*& srcAddr, AddrReg& areg, uint32_t) {   \
    detail::CheckType<T, U>();                                                              \
    aclsim::RegLoadUnaligned(&dstReg, &ureg, detail::Moved(srcAddr, areg));                 \
    ACLSIM_KEEP_FRAME();                                                                    \
  }
ACLSIM_UNALIGNED_LOADS(LoadUnAlignPre, LoadUnAlign)
ACLSIM_UNALIGNED_LOADS(DataCopyUnAlignPre, DataCopyUnAlign)
#undef ACLSIM_UNALIGNED_LOADS

#define ACLSIM_UNALIGNED_STORES(Name, Post)                                                    \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE,    \
            typename U, typename = detail::OfRegister<U>>                                      \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, UnalignReg& ureg, uint32_t postUpdateStride) {    \
    detail::CheckType<T, U>();                                                                 \
    aclsim::RegStoreUnaligned(dstAddr, &srcReg, &ureg,                                         \
                              static_cast<uint32_t>(postUpdateStride * sizeof(T)));            \
    dstAddr += postUpdateStride;                                                               \
  }                                                                                            \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE,    \
            typename U, typename = detail::OfRegister<U>>                                      \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, UnalignReg& ureg, AddrReg& areg) {                \
    detail::CheckType<T, U>();                                                                 \
    aclsim::RegStoreUnaligned(detail::Moved(dstAddr, areg), &srcReg, &ureg, VECTOR_REG_WIDTH); \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE,    \
            typename U, typename = detail::OfRegister<U>>                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, UnalignReg& ureg) {                                \
    detail::CheckType<T, U>();                                                                 \
    auto* const next = ureg.bytes != 0 ? ureg.at + ureg.bytes                                  \
                                       : reinterpret_cast<uint8_t*>(dstAddr) + ureg.written;   \
    const uint32_t bytes = aclsim::RegTakeSqueezed();                                          \
    ureg.written += bytes;                                                                     \
    aclsim::RegStoreUnaligned(next, &srcReg, &ureg, bytes);                                    \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE>                  \
  void Post(__ubuf__ T*& dstAddr, UnalignReg& ureg, int32_t postUpdateStride) {                \
    aclsim::RegStoreUnalignedEnd(&ureg, dstAddr);                                              \
    dstAddr += postUpdateStride;                                                               \
  }                                                                                            \
  template <typename T>                                                                        \
  void Post(__ubuf__ T*&, UnalignReg& ureg, AddrReg&) {                                        \
    aclsim::RegStoreUnalignedEnd(&ureg, nullptr);                                              \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T>                                                                        \
  void Post(__ubuf__ T*, UnalignReg& ureg) {                                                   \
    aclsim::RegStoreUnalignedEnd(&ureg, nullptr);                                              \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_UNALIGNED_STORES(StoreUnAlign, StoreUnAlignPost)
ACLSIM_UNALIGNED_STORES(DataCopyUnAlign, DataCopyUnAlignPost)
#undef ACLSIM_UNALIGNED_STORES

template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Load(U& dstReg, __ubuf__ T* srcAddr) {
  detail::CheckType<T, U>();
  UnalignReg ureg;
  aclsim::RegLoadUnalignedBegin(&ureg, srcAddr);
  aclsim::RegLoadUnaligned(&dstReg, &ureg, srcAddr);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Store(__ubuf__ T* dstAddr, U& srcReg, uint32_t count) {
  detail::CheckType<T, U>();
  UnalignReg ureg;
  aclsim::RegStoreUnaligned(dstAddr, &srcReg, &ureg, static_cast<uint32_t>(count * sizeof(T)));
  aclsim::RegStoreUnalignedEnd(&ureg, nullptr);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Store(__ubuf__ T* dstAddr, U& srcReg) {
  Store(dstAddr, srcReg, VECTOR_REG_WIDTH / sizeof(T));
}

#define ACLSIM_GATHERS(Name)                                                                \
  template <typename T0 = DefaultType, typename T1, typename T2 = DefaultType, typename T3, \
            typename T4, typename = detail::OfRegister<T3>>                                 \
  void Name(T3& dstReg, __ubuf__ T1* baseAddr, T4& index, MaskReg& mask) {                  \
    aclsim::RegGatherUb(&dstReg, baseAddr, &index, sizeof(T1), detail::kWidth<T4>, mask);   \
    ACLSIM_KEEP_FRAME();                                                                    \
  }
ACLSIM_GATHERS(Gather)
ACLSIM_GATHERS(DataCopyGather)
#undef ACLSIM_GATHERS
#define ACLSIM_GATHERS(Name)                                                                    \
  template <typename T = DefaultType, typename U, typename S, typename = detail::OfRegister<U>> \
  void Name(U& dstReg, __ubuf__ T* baseAddr, S& index, MaskReg& mask) {                         \
    aclsim::RegGatherBlocks(&dstReg, baseAddr, &index, mask);                                   \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_GATHERS(GatherB)
ACLSIM_GATHERS(DataCopyGatherB)
#undef ACLSIM_GATHERS
#define ACLSIM_SCATTERS(Name)                                                            \
  template <typename T = DefaultType, typename U = DefaultType, typename S, typename V,  \
            typename = detail::OfRegister<S>>                                            \
  void Name(__ubuf__ T* baseAddr, S& srcReg, V& index, MaskReg& mask) {                  \
    aclsim::RegScatterUb(baseAddr, &srcReg, &index, sizeof(T), detail::kWidth<V>, mask); \
    ACLSIM_KEEP_FRAME();                                                                 \
  }
ACLSIM_SCATTERS(Scatter)
ACLSIM_SCATTERS(DataCopyScatter)
#undef ACLSIM_SCATTERS

namespace detail {
constexpr bool IsVector(MemType type) {
  return type == MemType::VEC_STORE || type == MemType::VEC_LOAD || type == MemType::VEC_ALL;
}
constexpr bool IsAll(MemType type) {
  return type == MemType::VEC_ALL || type == MemType::SCALAR_ALL;
}
constexpr bool IsLoad(MemType type) {
  return type == MemType::VEC_LOAD || type == MemType::SCALAR_LOAD;
}
// A store is on one side at least and a vector pipe too; all pipes wait for all.
constexpr bool IsBarrier(MemType src, MemType dst) {
  return (IsVector(src) || IsVector(dst)) && IsAll(src) == IsAll(dst) &&
         !(IsLoad(src) && IsLoad(dst));
}
}  // namespace detail

template <MemType src, MemType dst>
void LocalMemBar() {
  static_assert(detail::IsBarrier(src, dst),
                "LocalMemBar does not have these two MemType on Ascend 950");
  constexpr bool kStoresBefore = src == MemType::VEC_STORE || src == MemType::VEC_ALL;
  constexpr bool kLoadsBefore = src == MemType::VEC_LOAD || src == MemType::VEC_ALL;
  constexpr bool kStoresAfter = dst == MemType::VEC_STORE || dst == MemType::VEC_ALL;
  constexpr bool kLoadsAfter = dst == MemType::VEC_LOAD || dst == MemType::VEC_ALL;
  aclsim::RegBarrier(kStoresBefore, kLoadsBefore, kStoresAfter, kLoadsAfter);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC::Reg

#endif
