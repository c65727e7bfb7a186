// SPDX-License-Identifier: Apache-2.0
// The words that the device compiler adds to C++. Address spaces and function kinds mean nothing on a host.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "aclsim/toolkit_headers.h"
#include "ascendc/half.h"

#ifdef ACLSIM_TPL_LIST  // the list of entries and instances is read from the preprocessed text, where these words stay
#define ASCENDC_TPL_KERNEL
#else
#define __aicore__
// ascc tells kernels from other functions by this, and compiles them once more with another visibility: asc/device_code.h. Nothing behind
// the comma is an attribute: it tells them from what libraries export.
#ifndef ACLSIM_KERNEL_VISIBILITY
#define ACLSIM_KERNEL_VISIBILITY "default"
#endif
#define __global__ __attribute__((__visibility__(ACLSIM_KERNEL_VISIBILITY), ))
#endif
// The words that the device compiler has for the cube half of a source.
#if defined(__DAV_C220_CUBE__) || defined(__DAV_C310_CUBE__) || defined(__DAV_CUBE__)
#define ACLSIM_FOR_CUBE
#if __NPU_ARCH__ != 2201 && __NPU_ARCH__ != 3510
#error \
    "AICs exist on architectures 2201 and 3510 (Atlas A2, A3 and 950) only: elsewhere one core has both units; docs/simulator.md says what is simulated"
#endif
// The launch finds it in the library of the kernel: the kernel runs on AICs.
extern "C" __attribute__((weak, used, visibility("default"))) void aclsimCubeCode() {}
#endif
#define __gm__
#ifdef ACLSIM_ASC
#define __kfc_workspace__ __attribute__((, , ))  // ascc finds it
#else
#define __kfc_workspace__
#endif
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __vector__ __attribute__(())  // it means nothing, and can be found
#define __cube__ __attribute__((, ))  // the same
// Numbers that mean nothing, and can be found.
#define __mix__(cube, vector) \
  __attribute__((__patchable_function_entry__(0 * (cube), 0 * (vector))))
#define __forceinline__ inline
// A variable that each core has of its own: src/launch/block_locals.h.
#define __BLOCK_LOCAL__ thread_local
#define __sync_alias__
#define __sync_noalias__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)

#ifndef __bf16  // the device compiler's own word for the type
#define __bf16 bfloat16_t
#endif
// Built-in names of the device compiler.
using float16_t = half;
using float32_t = float;
using std::abs;
using std::sqrt;
// The device compiler's min and max of scalars. A source may have its own, of the same signature and at the same level: a pack of
// arguments is what every other function and template goes before, std's included.
namespace aclsim::scalars {
#define ACLSIM_MIN_MAX_(type)                                  \
  constexpr type Min(type a, type b) { return b < a ? b : a; } \
  constexpr type Max(type a, type b) { return a < b ? b : a; }
ACLSIM_MIN_MAX_(int32_t)
ACLSIM_MIN_MAX_(uint32_t)
ACLSIM_MIN_MAX_(int64_t)
ACLSIM_MIN_MAX_(uint64_t)
ACLSIM_MIN_MAX_(float)
#undef ACLSIM_MIN_MAX_
}  // namespace aclsim::scalars
namespace aclsim::builtin {
template <typename... Scalars>
constexpr auto min(Scalars... values) -> decltype(scalars::Min(values...)) {
  return scalars::Min(values...);
}
template <typename... Scalars>
constexpr auto max(Scalars... values) -> decltype(scalars::Max(values...)) {
  return scalars::Max(values...);
}
}  // namespace aclsim::builtin
using namespace aclsim::builtin;

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t*
#endif
#ifndef ASCENDC_TPL_KERNEL
#define ASCENDC_TPL_KERNEL
#endif

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
