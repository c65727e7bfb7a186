// SPDX-License-Identifier: Apache-2.0
// The words that the device compiler adds to C++. Address spaces and function kinds mean nothing on a host.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "ascendc/half.h"

#ifdef ACLSIM_TPL_LIST  // the list of entries and instances is read from the preprocessed text, where these words stay
#define ASCENDC_TPL_KERNEL
#else
#define __aicore__
#define __global__ __attribute__((visibility("default")))
#endif
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __vector__
#define __cube__
#define __mix__(...)
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
// Exact overloads, so that they win over std's templates where a source opens both namespaces.
#define ACLSIM_MIN_MAX_(type)                                         \
  inline constexpr type min(type a, type b) { return b < a ? b : a; } \
  inline constexpr type max(type a, type b) { return a < b ? b : a; }
ACLSIM_MIN_MAX_(int32_t)
ACLSIM_MIN_MAX_(uint32_t)
ACLSIM_MIN_MAX_(int64_t)
ACLSIM_MIN_MAX_(uint64_t)
ACLSIM_MIN_MAX_(float)
#undef ACLSIM_MIN_MAX_

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

// The values of ORIG_DTYPE_<INPUT>, as macros because kernels compare them in #if. Kernel compiles only: op_host code knows the
// same names as enumerators of ge::DataType, and an .asc file is both. Unit-test headers of public operators define some of them too.
#if (defined(__CCE_AICORE__) || defined(__NPU_ARCH__)) && !defined(ACLSIM_ASC)
#ifndef DT_FLOAT
#define DT_FLOAT 0
#endif
#ifndef DT_FLOAT16
#define DT_FLOAT16 1
#endif
#ifndef DT_INT8
#define DT_INT8 2
#endif
#ifndef DT_INT32
#define DT_INT32 3
#endif
#ifndef DT_UINT8
#define DT_UINT8 4
#endif
#ifndef DT_INT16
#define DT_INT16 6
#endif
#ifndef DT_UINT16
#define DT_UINT16 7
#endif
#ifndef DT_UINT32
#define DT_UINT32 8
#endif
#ifndef DT_INT64
#define DT_INT64 9
#endif
#ifndef DT_UINT64
#define DT_UINT64 10
#endif
#ifndef DT_DOUBLE
#define DT_DOUBLE 11
#endif
#ifndef DT_BOOL
#define DT_BOOL 12
#endif
#ifndef DT_COMPLEX64
#define DT_COMPLEX64 16
#endif
#ifndef DT_BF16
#define DT_BF16 27
#endif
#ifndef DT_INT4
#define DT_INT4 29
#endif
#ifndef FORMAT_NCHW
#define FORMAT_NCHW 0
#endif
#ifndef FORMAT_NHWC
#define FORMAT_NHWC 1
#endif
#ifndef FORMAT_ND
#define FORMAT_ND 2
#endif
#ifndef FORMAT_NC1HWC0
#define FORMAT_NC1HWC0 3
#endif
#ifndef FORMAT_NDHWC
#define FORMAT_NDHWC 27
#endif
#ifndef FORMAT_FRACTAL_NZ
#define FORMAT_FRACTAL_NZ 29
#endif
#ifndef FORMAT_NCDHW
#define FORMAT_NCDHW 30
#endif
#ifndef FORMAT_NDC1HWC0
#define FORMAT_NDC1HWC0 32
#endif
#endif  // a kernel compile
