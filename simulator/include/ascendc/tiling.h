// SPDX-License-Identifier: Apache-2.0
// Tiling data and tiling keys in kernels: what CANN's operator compiler generates around a kernel source.
#pragma once

#include "ascendc/device_abi.h"
#include "ascendc/lang.h"

#define REGISTER_TILING_DEFAULT(structName) \
  using AscendcDefaultTilingData [[maybe_unused]] = structName
#define REGISTER_TILING_FOR_TILINGKEY(condition, structName) \
  static_assert(aclsim::kTilingOfKey<structName>, ACLSIM_TEXT(condition))
// For CANN's op compiler, which makes a second binary of such a kernel, with DETERMINISTIC_MODE of 1, and reads of a
// kernel without tiling structs that it has none. Here there is one library, of the mode by default, and it has what it includes.
#define ENABLE_DETERMINISTIC() static_assert(true, "deterministic")
#define REGISTER_NONE_TILING static_assert(true, "no tiling struct")
namespace aclsim {
template <typename Struct>
inline constexpr bool kTilingOfKey = sizeof(Struct) > 0;
}  // namespace aclsim
#define ACLSIM_TEXT_OF(text) #text
#define ACLSIM_TEXT(text) ACLSIM_TEXT_OF(text)  // with its macros replaced

// A header given to the compiler beforehand may bring its own, as CANN's generated tiling headers do.
#ifndef GET_TILING_DATA_WITH_STRUCT
#define GET_TILING_DATA_WITH_STRUCT(structName, name, tilingArg) \
  structName name;                                               \
  aclsim::ReadTiling(&name, tilingArg, sizeof(name))
#endif
#ifndef GET_TILING_DATA
#define GET_TILING_DATA(name, tilingArg) \
  GET_TILING_DATA_WITH_STRUCT(AscendcDefaultTilingData, name, tilingArg)
#endif
#ifndef GET_TILING_DATA_PTR_WITH_STRUCT
#define GET_TILING_DATA_PTR_WITH_STRUCT(structName, name, tilingArg) \
  structName* name = reinterpret_cast<structName*>(tilingArg)
#endif
// Copies of a part of the tiling data, with a pointer to the copy.
#ifndef COPY_TILING_WITH_STRUCT
#define COPY_TILING_WITH_STRUCT(structName, from, name)                             \
  const structName aclsim_copy_##name = *reinterpret_cast<const structName*>(from); \
  const structName* name = &aclsim_copy_##name
#endif
#ifndef COPY_TILING_WITH_ARRAY
#define COPY_TILING_WITH_ARRAY(type, count, from, name)                                 \
  struct aclsim_struct_##name {                                                         \
    type values[count];                                                                 \
  };                                                                                    \
  const auto aclsim_copy_##name = *reinterpret_cast<const aclsim_struct_##name*>(from); \
  const type(*name)[count] = &aclsim_copy_##name.values
#endif
#ifndef GET_TILING_DATA_MEMBER
#define GET_TILING_DATA_MEMBER(structName, member, name, tilingArg)                              \
  decltype(structName::member) name;                                                             \
  aclsim::ReadTiling(&name,                                                                      \
                     reinterpret_cast<const uint8_t*>(tilingArg) + offsetof(structName, member), \
                     sizeof(name))
#endif

// The AI core's number as a built-in name: an object, so that a kernel's own block_idx hides it.
namespace aclsim {
struct BlockIdxWord {
  operator int64_t() const { return AiCoreIdx(); }
};
}  // namespace aclsim
[[maybe_unused]] static constexpr aclsim::BlockIdxWord block_idx;

#define TILING_KEY_IS(key) (aclsim::TilingKeyIs(key))
// One word, as kernels name it in #if too. A library holds all keys: in a function of the kernel source itself such an #if is an if
// at run time, elsewhere the word counts as 0.
namespace aclsim {
struct TilingKeyWord {
  operator uint64_t() const { return TilingKey(); }
};
}  // namespace aclsim
[[maybe_unused]] static constexpr aclsim::TilingKeyWord aclsimTilingKey;
#define TILING_KEY_VAR aclsimTilingKey

// The address space of a pointer to tiling data, which is CANN's build's choice.
#ifndef __tiling_data_ptr__
#define __tiling_data_ptr__
#endif

// Names for the front end of ascc, which reads them from the preprocessed text as CANN's op compiler does.
enum KernelMetaType : uint8_t {
  KERNEL_TYPE_AIV_ONLY,
  KERNEL_TYPE_MIX_AIV_1_0,
  KERNEL_TYPE_AICORE,
  KERNEL_TYPE_MIX_VECTOR_CORE,
  KERNEL_TYPE_AIC_ONLY,
  KERNEL_TYPE_MIX_AIC_1_0,
  KERNEL_TYPE_MIX_AIC_1_1,
  KERNEL_TYPE_MIX_AIC_1_2,
};
namespace aclsim {
template <KernelMetaType kind>
struct KernelTypeOf {
#if __NPU_ARCH__ != 2201 && __NPU_ARCH__ != 3510
  static_assert(kind != KERNEL_TYPE_MIX_AIC_1_1 && kind != KERNEL_TYPE_MIX_AIC_1_2,
                "matrix units: MIX kernels, on AICs and AIVs together, are simulated for "
                "architectures 2201 and 3510 (Atlas A2, A3 and 950) only; docs/simulator.md says "
                "what is");
#elif !defined(ACLSIM_HALVES)
  static_assert(kind != KERNEL_TYPE_MIX_AIC_1_1 && kind != KERNEL_TYPE_MIX_AIC_1_2,
                "matrix units: the halves of a MIX kernel are compiled apart, by ascc and by "
                "aclgrad build; a source that is compiled once has one kind of core");
#endif
  static constexpr bool kKnown = true;
};
template <KernelMetaType kind>
inline constexpr bool kKernelType = KernelTypeOf<kind>::kKnown;
}  // namespace aclsim
#define KERNEL_TASK_TYPE_DEFAULT(kind) static_assert(aclsim::kKernelType<kind>, "default")
#define KERNEL_TASK_TYPE(key, kind) static_assert(aclsim::kKernelType<kind>, ACLSIM_TEXT(key))
