// SPDX-License-Identifier: Apache-2.0
#include "engine/tiling_checks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "findings/fault.h"
#include "host/fork.h"
#include "host/lock.h"

namespace aclsim {

namespace {

constexpr uintptr_t kNoUserWorkspace = uintptr_t{1} << 40;
constexpr uint64_t kMostBehind = uint64_t{1} << 36;  // from there on an address is no workspace's

unsigned long long Wide(uint64_t value) { return value; }

const GmRegion* RegionOfKind(const KernelLaunch& launch, RegionKind kind) {
  const auto found = std::ranges::find(launch.regions, kind, &GmRegion::kind);
  return found == launch.regions.end() ? nullptr : &*found;
}

[[noreturn]] void ThrowWorkspace(const KernelLaunch& launch, uint64_t begin, uint64_t bytes,
                                 bool write, const char* role) {
  const GmRegion* const region = WorkspaceOf(launch);
  const uint64_t all = region == nullptr ? 0 : region->bytes;
  const LaunchTiling& tiling = TilingOf(launch);
  const uint64_t reserved = tiling.reservedWorkspace;
  const uint64_t own = all - std::min(all, reserved);
  const bool counted = reserved != 0;
  KernelFault fault;
  fault.kind = "workspace-too-small";
  fault.detail =
      Format("%s covers bytes [%llu, %llu) of the %sworkspace, which has %llu", role, Wide(begin),
             Wide(begin + bytes), counted ? "user's " : "", Wide(counted ? own : all));
  if (counted) {
    fault.detail += Format(
        ": the tiling asked for %llu B, and the first %llu of a workspace are "
        "the framework's",
        Wide(all), Wide(reserved));
  }
  fault.advice = Format(
      "Hardware would %s what lies behind the workspace: other tensors of the same stream. Next: "
      "ask for %s%llu bytes or more with GetWorkspaceSizes in the tiling function.",
      write ? "overwrite" : "read", counted ? "GetLibApiWorkSpaceSize() and " : "",
      Wide(begin + bytes));
  fault.stack = CaptureStack();
  if (!tiling.places.workspace.empty()) {
    fault.related.push_back(
        {tiling.places.workspace, "GetWorkspaceSizes", Format("asked for %llu bytes", Wide(all))});
  }
  throw fault;
}

struct Tilings {
  Mutex<9, "expected tilings"> mutex;
  std::map<const KernelLaunch*, LaunchTiling> of;
};
PerProcess<Tilings> tilings;

}  // namespace

LaunchTilingScope::LaunchTilingScope(const KernelLaunch& launch, LaunchTiling tiling)
    : launch_(&launch) {
  const std::lock_guard lock(tilings->mutex);
  tilings->of.insert_or_assign(launch_, std::move(tiling));
}

LaunchTilingScope::~LaunchTilingScope() {
  const std::lock_guard lock(tilings->mutex);
  tilings->of.erase(launch_);
}

const LaunchTiling& TilingOf(const KernelLaunch& launch) {
  static const LaunchTiling none;
  const std::lock_guard lock(tilings->mutex);
  const auto found = tilings->of.find(&launch);
  return found == tilings->of.end() ? none : found->second;
}

const GmRegion* WorkspaceOf(const KernelLaunch& launch) {
  return RegionOfKind(launch, RegionKind::kWorkspace);
}

uint8_t* NoUserWorkspace() { return reinterpret_cast<uint8_t*>(kNoUserWorkspace); }

void CheckWorkspace(const KernelLaunch& launch, const uint8_t* begin, uint64_t bytes, bool write,
                    const char* role) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const uint64_t reservedBytes = TilingOf(launch).reservedWorkspace;
  if (reservedBytes != 0 && at >= kNoUserWorkspace && at - kNoUserWorkspace < kMostBehind) {
    ThrowWorkspace(launch, at - kNoUserWorkspace, bytes, write, role);
  }
  const GmRegion* const region = WorkspaceOf(launch);
  if (region == nullptr || begin < region->addr) {
    return;
  }
  const auto offset = static_cast<uint64_t>(begin - region->addr);
  const bool inside = offset <= region->bytes && bytes <= region->bytes - offset;
  const auto between = [&](const GmRegion& other) {
    return other.addr > region->addr && other.addr <= begin;
  };
  if (inside || offset >= kMostBehind || std::ranges::any_of(launch.regions, between)) {
    return;
  }
  const uint64_t reserved = std::min(reservedBytes, offset);
  ThrowWorkspace(launch, offset - reserved, bytes, write, role);
}

void CheckTilingData(const KernelLaunch& launch, const uint8_t* begin, uint64_t bytes) {
  const GmRegion* const region = RegionOfKind(launch, RegionKind::kTiling);
  if (region == nullptr || begin < region->addr || begin > region->addr + region->bytes ||
      bytes <= region->bytes - static_cast<uint64_t>(begin - region->addr)) {
    return;
  }
  const auto offset = static_cast<uint64_t>(begin - region->addr);
  KernelFault fault;
  fault.kind = "tiling-data";
  fault.detail = region->bytes == 0
                     ? Format(
                           "the kernel reads a tiling struct of %llu bytes, and the tiling "
                           "function has set no tiling data",
                           Wide(offset + bytes))
                     : Format(
                           "the kernel reads a tiling struct of %llu bytes, and the tiling "
                           "function has set %llu",
                           Wide(offset + bytes), Wide(region->bytes));
  fault.advice =
      region->bytes == 0
          ? "Hardware would read whatever lies there. Next: fill GetTilingData<Struct>() in the "
            "tiling function, or call SetDataSize after SaveToBuffer."
          : "Hardware would read whatever lies behind it as the last fields. Next: use one "
            "definition of the struct for op_host and op_kernel.";
  fault.stack = CaptureStack();
  if (const std::vector<void*>& set = TilingOf(launch).places.data; !set.empty()) {
    fault.related.push_back({set, "GetTilingData", Format("set %llu bytes", Wide(region->bytes))});
  }
  throw fault;
}

}  // namespace aclsim
