// SPDX-License-Identifier: Apache-2.0
#include "runtime/available_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "host/pages.h"

namespace aclsim {

namespace {

namespace fs = std::filesystem;

uint64_t ReadNumber(const fs::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : UINT64_MAX;  // absent, or "max"
}

// The number behind a word at the beginning of a line, or `none`.
uint64_t ReadWord(const fs::path& path, const std::string& wanted, uint64_t none) {
  std::ifstream file(path);
  std::string word;
  uint64_t value = 0;
  for (std::string rest; file >> word >> value; std::getline(file, rest)) {
    if (word == wanted) {
      return value;
    }
  }
  return none;
}

// The two versions of control groups call their files so.
struct Names {
  const char* limit;
  const char* used;
  const char* reclaimable;  // pages of files that nobody has used lately, in memory.stat
};
constexpr Names kFirst = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Names kSecond = {"memory.max", "memory.current", "inactive_file"};

void LowerTo(const fs::path& group, const Names& names, AvailableMemory* available) {
  const uint64_t limit = ReadNumber(group / names.limit);
  const uint64_t used = ReadNumber(group / names.used);
  if (limit == UINT64_MAX || used == UINT64_MAX) {
    return;
  }
  const uint64_t taken =
      used - std::min(used, ReadWord(group / "memory.stat", names.reclaimable, 0));
  const uint64_t left = limit - std::min(limit, taken);
  if (left < available->bytes) {
    *available = {left, "the control group's limit of " + std::to_string(limit >> 20) + " MB (" +
                            (group / names.limit).string() + ")"};
  }
}

// The limits of a group and of those around it. In a container the root may be the group's own.
void LowerToAll(const fs::path& root, const std::string& group, const Names& names,
                AvailableMemory* available) {
  LowerTo(root, names, available);
  for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path()) {
    LowerTo(root / at, names, available);
  }
}

}  // namespace

AvailableMemory HostMemoryAvailable() {
  const uint64_t free = ReadWord("/proc/meminfo", "MemAvailable:", UINT64_MAX / 1024);
  AvailableMemory available = {free * 1024, "the host"};
  std::ifstream groups("/proc/self/cgroup");  // lines such as 4:memory:/a/b, or 0::/a/b
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      LowerToAll("/sys/fs/cgroup", group, kSecond, &available);
    } else if (controllers == "memory") {
      LowerToAll("/sys/fs/cgroup/memory", group, kFirst, &available);
    }
  }
  return available;
}

uint64_t PrivateBytes() {
  std::ifstream statm(
      "/proc/self/statm");  // in pages: all addresses, resident ones, those of files
  uint64_t all = 0;
  uint64_t resident = 0;
  uint64_t ofFiles = 0;
  return statm >> all >> resident >> ofFiles && resident > ofFiles
             ? (resident - ofFiles) * PageBytes()
             : 0;
}

}  // namespace aclsim
