// SPDX-License-Identifier: Apache-2.0
// Template tiling keys (ASCENDC_TPL_*): which template parameters a kernel has, and which combinations of them exist. Three
// readers, three meanings:
//  - op_host code keeps the declaration to compute keys: GET_TPL_TILING_KEY(values in order of declaration);
//  - the list of instances is read from a preprocessed kernel with ACLSIM_TPL_LIST defined, where the words stay words;
//  - to the kernel's own compile they mean nothing: the entry that selects an instance by key is generated from the list.
// A key packs the parameters from the lowest bit on: dtypes and formats by value in 8 bits, bools in 1 bit, unsigned integers by
// their place among the declared values in as many bits as declared.
#pragma once

#include <cstdint>

#include "graph/c_types.h"

#if defined(__CCE_AICORE__) || defined(__NPU_ARCH__)
#define ACLSIM_TPL_KERNEL 1
// A unit test's file is host code as well, which knows these words as enumerators.
#ifndef __CCE_KT_TEST__
#include "ascendc/dtype_words.h"
#endif
#include "ascendc/lang.h"
#else
#include <initializer_list>
#include <vector>
#endif

#if !defined(ACLSIM_TPL_LIST)

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9
#define ASCENDC_TPL_MIX_AICORE 10
#define ASCENDC_TPL_MIX_VECTOR_CORE 11
#define ASCENDC_TPL_MAX 12

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

#define ASCENDC_TPL_DTYPE 0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT 2
#define ASCENDC_TPL_BOOL 3

#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

#define ASCENDC_TPL_INPUT_BIAS 100000000
#define ASCENDC_TPL_OUTPUT_BIAS 900000000
#define ASCENDC_TPL_INPUT(x) (ASCENDC_TPL_INPUT_BIAS + (x))
#define ASCENDC_TPL_OUTPUT(x) (ASCENDC_TPL_OUTPUT_BIAS + (x))

#endif

// No key, for values that were not declared.
constexpr uint64_t INVALID_TILING_KEY = UINT64_MAX;

#if defined(ACLSIM_TPL_LIST)

// Nothing to define: the words stay in the preprocessed text, with the macros in their arguments expanded.

#elif defined(ACLSIM_TPL_KERNEL)

#define ASCENDC_TPL_DTYPE_DECL(...)
#define ASCENDC_TPL_DATATYPE_DECL(...)
#define ASCENDC_TPL_FORMAT_DECL(...)
#define ASCENDC_TPL_UINT_DECL(...)
#define ASCENDC_TPL_BOOL_DECL(...)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(...)
#define ASCENDC_TPL_DTYPE_SEL(...)
#define ASCENDC_TPL_DATATYPE_SEL(...)
#define ASCENDC_TPL_FORMAT_SEL(...)
#define ASCENDC_TPL_UINT_SEL(...)
#define ASCENDC_TPL_BOOL_SEL(...)
#define ASCENDC_TPL_TILING_STRUCT_SEL(...)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
#define ASCENDC_TPL_SEL(...)

#else

namespace AscendC {

// One declared template parameter.
struct TplParam {
  const char* name;
  uint32_t kind;  // ASCENDC_TPL_DTYPE, ..
  uint32_t bits;
  std::vector<uint64_t> values;
};

// The key of these values. INVALID_TILING_KEY, with a report, for an integer that was not declared or more than 64 bits.
uint64_t EncodeTilingKey(const std::vector<TplParam>& declared,
                         std::initializer_list<uint64_t> values);
// The values that ASCENDC_TPL_UI_LIST, _RANGE and _MIX describe.
std::vector<uint64_t> ExpandTplValues(std::initializer_list<uint64_t> described);

}  // namespace AscendC

#define ACLSIM_TPL_PARAM_(name, kind, bits, ...) \
  ::AscendC::TplParam {                          \
    name, kind, bits, { __VA_ARGS__ }            \
  }
#define ASCENDC_TPL_DTYPE_DECL(x, ...) ACLSIM_TPL_PARAM_(#x, ASCENDC_TPL_DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(x, ...) ACLSIM_TPL_PARAM_(#x, ASCENDC_TPL_DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(x, ...) ACLSIM_TPL_PARAM_(#x, ASCENDC_TPL_FORMAT, 8, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(x, ...) ACLSIM_TPL_PARAM_(#x, ASCENDC_TPL_BOOL, 1, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(x, bits, ...) \
  ::AscendC::TplParam { #x, ASCENDC_TPL_UINT, bits, ::AscendC::ExpandTplValues({__VA_ARGS__}) }
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...) \
  ACLSIM_TPL_PARAM_(#x, ASCENDC_TPL_DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_ARGS_DECL(x, ...)                                                    \
  [[maybe_unused]] static const std::vector<::AscendC::TplParam> g_tilingDeclareParams { \
    __VA_ARGS__                                                                          \
  }
#define ASCENDC_TPL_SEL(...)

#define GET_TPL_TILING_KEY(...) ::AscendC::EncodeTilingKey(g_tilingDeclareParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...)                        \
  do {                                                             \
    const uint64_t aclsimTplKey = GET_TPL_TILING_KEY(__VA_ARGS__); \
    (context)->SetTilingKey(aclsimTplKey);                         \
  } while (0)

#endif
