# SPDX-License-Identifier: Apache-2.0
"""What the device compiler has built in, as names alone, and headers that an installation has and a
checkout does not.
"""

from __future__ import annotations

SECUREC = """\
#pragma once
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cwchar>
using errno_t = int;
#define EOK 0
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#define SECUREC_STRING_MAX_LEN 0x7fffffffUL
extern "C" {
errno_t memcpy_s(void*, size_t, const void*, size_t);
errno_t memmove_s(void*, size_t, const void*, size_t);
errno_t memset_s(void*, size_t, int, size_t);
errno_t strcpy_s(char*, size_t, const char*);
errno_t strncpy_s(char*, size_t, const char*, size_t);
errno_t strcat_s(char*, size_t, const char*);
int sprintf_s(char*, size_t, const char*, ...);
int snprintf_s(char*, size_t, size_t, const char*, ...);
int vsnprintf_s(char*, size_t, size_t, const char*, va_list);
}
"""

# Kernels read their tiling through these; the operator compiler generates them per operator.
TILING = """\
#pragma once
namespace aclgrad_headers {
template <class T>
inline __aicore__ T Tiling(__gm__ uint8_t* data) {
  return *reinterpret_cast<__gm__ T*>(data);
}
}  // namespace aclgrad_headers
#define GET_TILING_DATA_WITH_STRUCT(type, name, data) \\
  type name = aclgrad_headers::Tiling<type>(data)
"""
DEVICE_TILING = TILING.replace(
    "  return *reinterpret_cast<__gm__ T*>(data);\n",
    """\
  T made;
  for (uint64_t i = 0; i < sizeof(T); ++i) {
    reinterpret_cast<uint8_t*>(&made)[i] = data[i];
  }
  return made;
""",
)

SPACES = ("gm", "ubuf", "cbuf", "ca", "cb", "cc", "fbuf", "biasbuf", "ssbuf")
EMPTY_WORDS = (
    "host", "global", "aicore", "host_aicore", "sync_noalias", "sync_alias", "check_sync_alias",
    "sync_out", "sync_in", "simt_callee", "simt_vf", "simd_callee", "simd_vf", "vector", "cube",
    "no_simd_vf_fusion", "disable_kernel_type_autoinfer", "kfc_workspace",
)  # fmt: skip
REGISTERS = (
    "vector_u8", "vector_u16", "vector_u32", "vector_u64", "vector_s8", "vector_s16", "vector_s32",
    "vector_s64", "vector_f16", "vector_f32", "vector_bf16", "vector_bool", "vector_align",
    "vector_2xvl_s64", "vector_2xvl_u64", "vector_s4x2", "vector_f8e5m2", "vector_f8e4m3",
    "vector_f8e8m0", "vector_hif8", "vector_f4e2m1x2", "vector_f4e1m2x2",
)  # fmt: skip
NARROW = (
    "hifloat8_t", "int4x2_t",
)  # fmt: skip
# Containers and streams do not exist on a core: their headers declare nothing here.
HOST_LIBRARY = (
    "ARRAY", "DEQUE", "FUNCTIONAL", "IOSTREAM", "LIST", "MAP", "MEMORY", "MUTEX", "SET", "SSTREAM",
    "STRING", "THREAD", "UNORDERED_MAP", "UNORDERED_SET", "VECTOR",
)  # fmt: skip

# Enumerations that the device compiler has built in, and how their members can be told.
ENUMS = {
    "pipe_t": r"PIPE_[A-Z0-9]+",
    "event_t": r"EVENT_ID[0-9]",
    "pad_t": r"PAD_[A-Z0-9]+",
    "QuantMode_t": "",
    "ConvRelu_t": r"CRMODE_\w+",
    "ConvReluFix_t": r"CRFMODE_\w+",
    "atomic_type_t": r"ATOMIC_(?:NONE|[SUF][0-9]+|BF16)",
    "atomic_op_t": r"ATOMIC_SUM",
    "mem_dsb_t": r"DSB_[A-Z0-9]+",
    "mem_t": r"(?:L1|L0A|L0B|L0C|UB|BT|FB)",
    "cache_line_t": "",
    "dcci_dst_t": "",
    "Order_t": "",
    "addr_cal_mode_t": r"(?:inc|dec)",
    "ub_addr8_t": r"VA[0-7]",
    "vtype_t": r"(?:b8|b16|b32)",
    "bm_t": r"(?:L128|H128)",
    "csize_t": r"CSIZE[01]",
}

ANY = """\
#pragma once
#include <type_traits>
namespace aclgrad_headers {
// Result of an instruction: a number, or whatever else is asked for.
struct Any {
  __aicore__ operator int64_t() const;
  template <class T, class = std::enable_if_t<std::is_class_v<T> || std::is_pointer_v<T>>>
  __aicore__ operator T() const;
};
template <class T, class... Types>
inline constexpr bool kOneOf = (std::is_same_v<T, Types> || ...);
}  // namespace aclgrad_headers
"""

KEYWORDS = frozenset({
    "alignas", "alignof", "asm", "catch", "const_cast", "constexpr", "decltype", "defined",
    "delete", "do", "dynamic_cast", "else", "explicit", "for", "if", "new", "noexcept",
    "operator", "reinterpret_cast", "return", "sizeof", "static_assert", "static_cast", "switch",
    "template", "throw", "typeid", "typename", "using", "while", "int", "bool", "float", "char",
    "void", "short", "long", "double", "unsigned", "signed", "auto", "not", "and", "or",
    "volatile", "elif", "endif",
})  # fmt: skip
