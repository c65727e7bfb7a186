// SPDX-License-Identifier: Apache-2.0
// The part of every workspace that the toolkit keeps for itself: GetLibApiWorkSpaceSize, and what the simulator has there.
#pragma once

#include <cstdint>

namespace aclsim {

// As CANN's headers have it by architecture.
constexpr uint64_t LibraryWorkspace(uint32_t npuArch) {
  constexpr uint64_t kMiB = 1024 * 1024;
  return npuArch == 1001 || npuArch == 2002 ? 2 * kMiB : 16 * kMiB;
}

// Matmul of MIX kernels has so much of it for each AIV: a tile of C and an image of UB, as large as L0C and UB of
// 2201. Ascend 950 has larger ones, which do not fit its 16 MiB.
constexpr uint64_t kMatmulTile = 128 * 1024;
constexpr uint64_t kMatmulShare = kMatmulTile + 192 * 1024;
constexpr uint64_t kMostVectors = 50;  // of any SoC with MIX kernels
static_assert(kMostVectors * kMatmulShare <= LibraryWorkspace(2201),
              "each AIV has its share of the library's workspace");

}  // namespace aclsim
