// SPDX-License-Identifier: Apache-2.0
// Numbers of operator types back to names.
#pragma once

#include <cstdint>
#include <string>

namespace op::internal {

// Empty for a number that GenOpTypeId never gave out.
std::string OpTypeName(uint32_t id);

}  // namespace op::internal
