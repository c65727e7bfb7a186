// SPDX-License-Identifier: Apache-2.0
// The register-level vector API of Ascend 950: AscendC::Reg, which is AscendC::MicroAPI as well. Templates here only pack operands.
#pragma once

#include "ascendc/reg_arith.h"
#include "ascendc/reg_cast.h"
#include "ascendc/reg_cmpsel.h"
#include "ascendc/reg_copy.h"
#include "ascendc/reg_fill.h"
#include "ascendc/reg_masks.h"
#include "ascendc/reg_pack.h"
#include "ascendc/reg_reduce.h"
#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510
#define __VEC_SCOPE__ if (const ::aclsim::VectorFunction aclsimVectorFunction{}; true)
#ifdef ACLSIM_ASC
#define __simd_vf__ __attribute__((, , , ))  // ascc finds it
#else
#define __simd_vf__
#endif
#define __simd_callee__
#ifndef __local_mem__
#define __local_mem__ __ubuf__
#endif

namespace AscendC {

namespace MicroAPI = Reg;

namespace Reg::detail {

// No address can be in it: a number of at most 4 bytes.
template <typename T>
constexpr bool kNoAddress = (std::is_arithmetic_v<T> || std::is_enum_v<T>) && sizeof(T) <= 4;
template <typename T>
const void* AddressIn(const T& arg) {
  if constexpr (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>) {
    return const_cast<const void*>(static_cast<const volatile void*>(arg));
  }
  return nullptr;
}
template <typename... Args>
void Give(const Args&... args) {
  if constexpr (sizeof...(Args) > 0 &&
                ((std::is_pointer_v<std::decay_t<Args>> || kNoAddress<Args>) && ...)) {
    const void* const addresses[] = {AddressIn<std::decay_t<Args>>(args)...};
    aclsim::VectorFunctionGets(addresses, sizeof...(Args));
  }
}

}  // namespace Reg::detail

// Starts a vector function.
template <auto function, typename... Args>
void asc_vf_call(Args&&... args) {
  const aclsim::VectorFunction scope;
  aclsim::VectorFunctionIsCalled();
  Reg::detail::Give(args...);
  function(std::forward<Args>(args)...);
}
template <auto function, typename... Args>
void VF_CALL(Args&&... args) {
  const aclsim::VectorFunction scope;
  aclsim::VectorFunctionIsCalled();
  Reg::detail::Give(args...);
  function(std::forward<Args>(args)...);
}

}  // namespace AscendC

using AscendC::asc_vf_call;

// The device compiler's own names.
using vector_bool = AscendC::Reg::MaskReg;
enum aclsim_post_t { POST_UPDATE };
inline namespace aclsim_device {
#define ACLSIM_PLT(name, type)                              \
  inline vector_bool name(uint32_t& count, aclsim_post_t) { \
    return AscendC::Reg::UpdateMask<type>(count);           \
  }
ACLSIM_PLT(plt_b8, uint8_t)
ACLSIM_PLT(plt_b16, uint16_t)
ACLSIM_PLT(plt_b32, uint32_t)
#undef ACLSIM_PLT
}  // namespace aclsim_device

#else  // what names them first says where they exist
#define ACLSIM_OF_950(Name) \
  Name " exists on architecture 3510 only, Ascend 950. Next: use instructions on LocalTensor."
#define __VEC_SCOPE__ static_assert(false, ACLSIM_OF_950("__VEC_SCOPE__"));
namespace AscendC {
namespace Reg {
template <typename... Types>
struct RegTensor {
  static_assert(sizeof...(Types) > 99, ACLSIM_OF_950("RegTensor"));
};
}  // namespace Reg
namespace MicroAPI = Reg;
template <auto function, typename... Args>
void asc_vf_call(Args&&...) {
  static_assert(sizeof...(Args) > 99, ACLSIM_OF_950("asc_vf_call"));
}
}  // namespace AscendC
using AscendC::asc_vf_call;
#endif
