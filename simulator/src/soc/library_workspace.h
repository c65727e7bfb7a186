// SPDX-License-Identifier: Apache-2.0
// The part of every workspace that the toolkit keeps for itself: GetLibApiWorkSpaceSize.
#pragma once

#include <cstdint>

namespace aclsim {

// As CANN's headers have it by architecture.
constexpr uint64_t LibraryWorkspace(uint32_t npuArch) {
  constexpr uint64_t kMiB = 1024 * 1024;
  return npuArch == 1001 || npuArch == 2002 ? 2 * kMiB : 16 * kMiB;
}

}  // namespace aclsim
