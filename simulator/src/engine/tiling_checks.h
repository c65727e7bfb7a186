// SPDX-License-Identifier: Apache-2.0
// This keeps what the tiling function of a launch has decided, and what the kernel makes of it: the workspace and the tiling data.
#pragma once

#include "engine/kernel_launch.h"

namespace aclsim {

// "numBlocks ... 1 to 65535" of the page on calls of kernels, and MAX_BLOCK_DIM of CANN's opbase.
inline constexpr uint32_t kMaxBlockDim = 65535;

// The tiling function set what it decides at these places: stacks for reports.
struct TilingPlaces {
  std::vector<void*> blockDim, key, data, workspace;
};

struct LaunchTiling {
  TilingPlaces places;
  // Bytes at the start of the workspace that the framework keeps for its own; GetUserWorkspace begins behind them.
  uint64_t reservedWorkspace = 0;
};

// Says what decided a launch, for as long as it lives: around Launch.
class LaunchTilingScope {
 public:
  LaunchTilingScope(const KernelLaunch& launch, LaunchTiling tiling);
  ~LaunchTilingScope();
  LaunchTilingScope(const LaunchTilingScope&) = delete;
  LaunchTilingScope& operator=(const LaunchTilingScope&) = delete;

 private:
  const KernelLaunch* const launch_;
};

// Returns that of the launch. Without a tiling function nothing is reserved, no place is known.
const LaunchTiling& TilingOf(const KernelLaunch& launch);

// The workspace of a launch; nullptr where the tiling asked for none.
const GmRegion* WorkspaceOf(const KernelLaunch& launch);

// GetUserWorkspace points here if the workspace ends within the part that the framework reserves: no address of GM.
uint8_t* NoUserWorkspace();

// Throws a fault that names the workspace, if the bytes begin in it or behind it and leave it.
void CheckWorkspace(const KernelLaunch& launch, const uint8_t* begin, uint64_t bytes, bool write,
                    const char* role);

// Throws a fault if the kernel's struct is larger than what the tiling function has set.
void CheckTilingData(const KernelLaunch& launch, const uint8_t* begin, uint64_t bytes);

}  // namespace aclsim
