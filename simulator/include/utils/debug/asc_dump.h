// SPDX-License-Identifier: Apache-2.0
// Functions that print elements behind a bare address, in the memory that their name says.
#pragma once

#include <type_traits>

#include "kernel_operator.h"

namespace aclsim {
template <typename T>
void DumpElements(const T* input, const char* memory, uint32_t desc, uint32_t count) {
  static_assert(!AscendC::detail::kNibbles<T>,
                "asc_dump of types of 4 bits does not exist: pass the address as one of uint8_t");
  DumpAt(input, memory, DTypeOf<T>::value, desc, count);
}
}  // namespace aclsim

#define ACLSIM_ASC_DUMP(name, memory)                              \
  template <typename T>                                            \
  void name(T* input, uint32_t desc, uint32_t dump_size) {         \
    using Element = std::remove_cv_t<T>;                           \
    aclsim::DumpElements<Element>(input, memory, desc, dump_size); \
  }
ACLSIM_ASC_DUMP(asc_dump_gm, "GM")
ACLSIM_ASC_DUMP(asc_dump_ubuf, "UB")
ACLSIM_ASC_DUMP(asc_dump_l1buf, "L1")
ACLSIM_ASC_DUMP(asc_dump_abuf, "L0A")
ACLSIM_ASC_DUMP(asc_dump_bbuf, "L0B")
ACLSIM_ASC_DUMP(asc_dump_cbuf, "L0C")
ACLSIM_ASC_DUMP(asc_dump, "")
#undef ACLSIM_ASC_DUMP
