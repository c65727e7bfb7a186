// SPDX-License-Identifier: Apache-2.0
// Storage formats.
#pragma once

#include <string>

#include "acl/acl_base.h"
#include "opdev/common_types.h"

namespace op {

// Formats in which memory order is not the order of the dims.
bool IsPrivateFormat(Format format);
Format ToFormat(const std::string& name);  // "NCHW" -> FORMAT_NCHW
ge::AscendString ToString(Format format);

inline Format GetPrimaryFormat(Format format) {
  return static_cast<Format>(static_cast<uint32_t>(format) & 0xffU);
}
inline int32_t GetPrimaryFormat(int32_t format) { return format & 0xff; }
inline int32_t GetSubFormat(int32_t format) { return (format & 0xffff00) >> 8; }

inline Format ToOpFormat(aclFormat format) {
  return format == ACL_FORMAT_UNDEFINED ? Format::FORMAT_MAX : static_cast<Format>(format);
}
inline aclFormat ToAclFormat(Format format) {
  return format == Format::FORMAT_MAX ? ACL_FORMAT_UNDEFINED : static_cast<aclFormat>(format);
}

}  // namespace op
