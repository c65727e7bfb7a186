// SPDX-License-Identifier: Apache-2.0
// The CPU twin: GM that the host may dereference, and launches of functions of this process that are over at once.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

#include "aclsim/aclsim.h"
#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "runtime/misuse.h"
#include "runtime/options.h"
#include "runtime/state.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;
using Block = DeviceMemory::Block;

int32_t Prepare(const Api& api) {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  return PrepareLocked(api, state);
}

// Live blocks by the addresses of their contents, which is how the host knows them here.
class TwinBlocks {
 public:
  TwinBlocks() : blocks_(Global().device.Live()) {}

  const Block* Find(const void* pointer) const {
    const auto* address = static_cast<const uint8_t*>(pointer);
    const auto after = std::upper_bound(
        blocks_.begin(), blocks_.end(), address,
        [](const uint8_t* wanted, const Block& block) { return wanted < block.contents; });
    if (after == blocks_.begin()) {
      return nullptr;
    }
    const Block& block = *std::prev(after);
    return static_cast<uint64_t>(address - block.contents) < block.bytes ? &block : nullptr;
  }

  // Calls found(block) for the blocks whose addresses stand in this one: what a tensor list leads to.
  template <typename F>
  void ForEachNamedIn(const Block& block, F&& found) const {
    for (uint64_t at = 0; at + sizeof(uint64_t) <= block.bytes; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, block.contents + at, sizeof(word));
      if (word < reinterpret_cast<uint64_t>(blocks_.front().contents) ||
          word > reinterpret_cast<uint64_t>(blocks_.back().contents)) {
        continue;
      }
      const Block* named = Find(reinterpret_cast<const void*>(word));
      if (named != nullptr) {
        found(*named);
      }
    }
  }

 private:
  std::vector<Block> blocks_;  // by address
};

// The program's words for the arguments, without a cast, at the commas outside of brackets.
std::vector<std::string> SplitNames(const char* text, size_t count) {
  std::vector<std::string> names(1);
  int depth = 0;
  for (const char* at = text; *at != '\0'; ++at) {
    depth += std::strchr("([{", *at) != nullptr ? 1 : 0;
    depth -= std::strchr(")]}", *at) != nullptr ? 1 : 0;
    if (*at == ',' && depth == 0) {
      names.emplace_back();
    } else if (*at != ' ' || !names.back().empty()) {
      names.back() += *at;
    }
  }
  for (std::string& name : names) {
    const size_t cast = name.find("*)");
    if (name[0] == '(' && cast != std::string::npos && name.find('(', 1) > cast &&
        cast + 2 < name.size()) {
      name.erase(0, cast + 2);
    }
    if (name.size() > 2 && name.front() == '(' && name.find(')') == name.size() - 1) {
      name = name.substr(1, name.size() - 2);
    }
  }
  if (names.size() != count) {
    names.clear();
    for (size_t i = 0; i < count; ++i) {
      names.push_back("argument " + std::to_string(i));
    }
  }
  return names;
}

// Operator kernels take their inputs, their outputs, the workspace and the tiling data; only names tell where the last two begin.
bool IsWorkspace(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string word = name.substr(name.find_last_of(".>") + 1);
  return name.find("workspace") != std::string::npos || word == "ws" || word == "wk";
}

class Regions {
 public:
  explicit Regions(KernelLaunch* launch) : launch_(launch) {}

  void Add(const Block& block, RegionKind kind, const std::string& name) {
    if (!known_.insert(block.number).second) {
      return;
    }
    launch_->regions.push_back({kind, block.contents, block.bytes, name});
    blocks_.ForEachNamedIn(
        block, [&](const Block& named) { Add(named, RegionKind::kOutput, "memory of " + name); });
  }

  const TwinBlocks& blocks() const { return blocks_; }

 private:
  TwinBlocks blocks_;
  KernelLaunch* launch_;
  std::set<uint64_t> known_;
};

// False with a report when an argument is not memory of GmAlloc.
bool AddArguments(const Api& api, void* const* args, const std::vector<std::string>& names,
                  KernelLaunch* launch) {
  Regions regions(launch);
  RegionKind kind = RegionKind::kOutput;
  for (size_t i = 0; i < names.size(); ++i) {
    // Nothing says which of the arguments before the workspace the kernel writes.
    const bool last = kind == RegionKind::kWorkspace && i + 1 == names.size();
    kind = last                    ? RegionKind::kTiling
           : IsWorkspace(names[i]) ? RegionKind::kWorkspace
                                   : RegionKind::kOutput;
    launch->args.push_back(static_cast<uint8_t*>(args[i]));
    if (args[i] == nullptr) {
      continue;
    }
    const Block* block = regions.blocks().Find(args[i]);
    if (block == nullptr) {
      const std::string why =
          Format("%s of kernel %s is %p, which lies in no live block of GmAlloc", names[i].c_str(),
                 launch->opType.c_str(), args[i]);
      const std::string next = "allocate it with AscendC::GmAlloc, and free it after the launch";
      PrintError(why + ". Next: " + next);
      (void)api.Refuse(ACL_ERROR_INVALID_PARAM, "host-wrong-memory", names[i].c_str(), why, next);
      return false;
    }
    regions.Add(*block, kind, names[i]);
  }
  return true;
}

int32_t RunBody(const Api& api, KernelLaunch launch, void* const* args, size_t argCount,
                const char* argNames) {
  ACLSIM_RETURN_IF_ERROR(Prepare(api));
  ReportOverruns(api.name(), Global().device.TakeAllOverruns(), api.caller());
  if (launch.blockDim == 0) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "the block number of kernel %s is 0, want at least 1",
                    launch.opType.c_str());
  }
  if (!AddArguments(api, args, SplitNames(argNames, argCount), &launch)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  launch.soc = &CurrentSoc();
  const LaunchResult result = LaunchCounted(launch);
  if (result.status != 0) {
    PrintError(result.message);
    return api.FailText(result.status, result.message);
  }
  return 0;
}

void* GmAlloc(const Api& api, size_t size) {
  if (Prepare(api) != 0) {
    return nullptr;
  }
  void* address = nullptr;
  std::string why;
  DeviceMemory& device = Global().device;
  // A block of no bytes still has an address of its own.
  const uint64_t bytes = std::max<uint64_t>(size, 1);
  const int32_t error =
      device.Allocate(bytes, DeviceMemoryBytes(), 0, CheckedMode(), api.caller(), &address, &why);
  if (error != 0) {
    PrintError(Format("%s: ", api.name()) + why);
    (void)api.FailText(error, why);
    return nullptr;
  }
  uint8_t* contents = device.Find(address).contents;
  // As the files that CANN maps there: tests leave inputs and outputs as they come.
  std::memset(contents, 0, bytes);
  MarkGm(contents, bytes, true);
  return contents;
}

void GmFree(const Api& api, void* memory) {
  if (memory == nullptr) {
    return;
  }
  DeviceMemory& device = Global().device;
  const Block* block = nullptr;
  const TwinBlocks blocks;
  block = blocks.Find(memory);
  if (block == nullptr || block->contents != memory) {
    (void)api.Refuse(ACL_ERROR_INVALID_PARAM, "host-wrong-memory", "memory",
                     Format("memory %p is not the start of a live block of GmAlloc", memory),
                     "free what GmAlloc returned, once");
    return;
  }
  ReportOverruns(api.name(), device.TakeOverruns(block->contents), api.caller());
  std::string why;
  (void)device.Free(reinterpret_cast<const void*>(block->start), api.name(), &why);
}

}  // namespace
}  // namespace aclsim

extern "C" {

void* aclsimGmAlloc(size_t size) {
  void* memory = nullptr;
  (void)aclsim::Enter(__func__, [&](const aclsim::Api& api) {
    memory = aclsim::GmAlloc(api, size);
    return 0;
  });
  return memory;
}

void aclsimGmFree(void* memory) {
  (void)aclsim::Enter(__func__, [&](const aclsim::Api& api) {
    aclsim::GmFree(api, memory);
    return 0;
  });
}

int32_t aclsimRunBody(const char* name, const void* entry, aclsimKernelBody body, void* context,
                      uint32_t blockDim, uint64_t tilingKey, void* const* args, size_t argCount,
                      const char* argNames) {
  return aclsim::Enter(__func__, [&](const aclsim::Api& api) {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(name, "name"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(entry, "entry"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(reinterpret_cast<const void*>(body), "body"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(argNames, "argNames"));
    aclsim::KernelLaunch launch;
    launch.opType = name;
    launch.entry = entry;
    const auto calling = [context](aclsimKernelBody called) {
      return [=](const std::vector<uint8_t*>& pointers) {
        const std::vector<void*> own(pointers.begin(), pointers.end());
        called(context, own.data());
      };
    };
    launch.body = calling(body);
    launch.tilingKey = tilingKey;
    const std::optional<aclsim::NextCores> told = aclsim::TakeNextCores();
    if (told && told->group.cubes > 0) {
      launch.group = told->group;
    } else {
      aclsim::FindCores(&launch);
      const bool onCubes = told && launch.group.cubes > 0;
      if (onCubes && told->cubeBody == nullptr) {
        return api.Fail(
            ACL_ERROR_INVALID_PARAM,
            "kernel %s runs on AICs, and its half for them is not in the program. Next: "
            "give ICPU_RUN_KF the kernel, or a lambda that calls it",
            name);
      }
      if (onCubes) {
        (launch.Mixed() ? launch.cubeBody : launch.body) = calling(told->cubeBody);
      }
    }
    launch.twin = true;
    launch.blockDim = blockDim;
    launch.tilingKey = tilingKey;
    return aclsim::RunBody(api, std::move(launch), args, argCount, argNames);
  });
}

}  // extern "C"
