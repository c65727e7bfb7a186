// SPDX-License-Identifier: Apache-2.0
// aclsimLaunchKernel, aclsimLaunchBody: launches without an operator package.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "aclsim/framework.h"
#include "engine/gm_shadow.h"
#include "engine/inside_struct.h"
#include "engine/options.h"
#include "engine/tiling_checks.h"
#include "host/fork.h"
#include "host/lock.h"
#include "launch/touched.h"
#include "runtime/misuse.h"
#include "runtime/state.h"
#include "runtime/stream.h"

namespace aclsim {

namespace {

struct Argument {
  const void* pointer = nullptr;
  uint64_t bytes = 0;
  bool wholeBlock = false;  // the kernel may also go back from pointer
  aclsimTensorMemory tensor =
      {};               // the part of the block that it may touch then, where that is known
  bool inside = false;  // of a struct among the arguments
};

std::atomic<aclsimListTensors> listTensors{nullptr};

// The parts of allocations that a framework has made of them, by address.
class TensorMemories {
 public:
  // Asks whoever said that he knows; of no use in fast mode, which is to be fast.
  TensorMemories() {
    const aclsimListTensors list = listTensors;
    if (list == nullptr || !CheckedMode()) {
      return;
    }
    constexpr size_t kFirst = 1024;
    memories_.resize(kFirst);
    for (;;) {
      const uint64_t count = list(memories_.data(), memories_.size());
      const bool complete = count <= memories_.size();
      memories_.resize(count);
      if (complete) {
        return;
      }
    }
  }

  // Null: the pointer leads into no allocation that was divided.
  const aclsimTensorMemory* Find(const void* pointer) const {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const auto after = std::ranges::upper_bound(memories_, address, {}, &aclsimTensorMemory::start);
    if (after == memories_.begin()) {
      return nullptr;
    }
    const aclsimTensorMemory& memory = *std::prev(after);
    return address - memory.start < memory.room ? &memory : nullptr;
  }

 private:
  std::vector<aclsimTensorMemory> memories_;
};

// The program says this of a coming launch's output.
struct ExpectedOutput {
  const void* pointer = nullptr;
  uint64_t bytes = 0;
  uint32_t width = 0;
  std::string name;
};

// A child has none of its parent's device memory, and so none of these.
struct Expected {
  Mutex<9, "expected outputs"> mutex;
  std::vector<ExpectedOutput> outputs;
};
PerProcess<Expected> expected;

// Returns what the kernel may touch through an argument, by device address.
DeviceUse UseOf(const Argument& argument, size_t index) {
  DeviceUse use = {argument.pointer, argument.bytes, true, false,
                   argument.inside ? kInsideStruct : "argument " + std::to_string(index)};
  if (argument.tensor.bytes != 0) {
    use.start = reinterpret_cast<const void*>(argument.tensor.start);
    use.bytes = argument.tensor.bytes;
  } else if (argument.wholeBlock) {
    const DeviceMemory::Block block = Global().device.Find(argument.pointer);
    use.start = reinterpret_cast<const void*>(block.start);
    use.bytes = block.bytes;
  }
  return use;
}

// Translates the arguments; false with the reason.
bool Translate(const std::vector<Argument>& arguments, KernelLaunch* launch, std::string* why,
               const void** bad = nullptr) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    auto* bytes = static_cast<uint8_t*>(const_cast<void*>(argument.pointer));
    if (reinterpret_cast<uint64_t>(bytes) == kHardwareSyncAddress) {
      launch->args.push_back(bytes);
      continue;
    }
    if (argument.pointer != nullptr || argument.bytes != 0) {
      bytes = ToBacking(argument.pointer, argument.bytes, why);
      if (bytes == nullptr) {
        *why = Format("argument %zu of kernel %s: %s", i, launch->opType.c_str(), why->c_str());
        if (bad != nullptr) {
          *bad = argument.pointer;
        }
        return false;
      }
      const DeviceUse use = UseOf(argument, i);
      if (use.bytes != 0) {
        // Nothing says which arguments the kernel writes: TellTouched does when it has run.
        launch->regions.push_back(
            {RegionKind::kOutput, ToBacking(use.start, use.bytes, why), use.bytes, use.name});
      }
    }
    launch->args.push_back(bytes);
  }
  return true;
}

// Takes those that lie within the arguments.
std::vector<ExpectedOutput> TakeExpected(const std::vector<DeviceUse>& uses) {
  std::vector<ExpectedOutput> taken;
  const std::lock_guard lock(expected->mutex);
  std::erase_if(expected->outputs, [&](const ExpectedOutput& output) {
    const auto begin = reinterpret_cast<uintptr_t>(output.pointer);
    const bool reached = std::ranges::any_of(uses, [&](const DeviceUse& use) {
      const auto start = reinterpret_cast<uintptr_t>(use.start);
      return begin >= start && begin + output.bytes <= start + use.bytes;
    });
    if (reached) {
      taken.push_back(output);
    }
    return reached;
  });
  return taken;
}

// Right before the launch.
void AddExpected(const std::vector<ExpectedOutput>& outputs, KernelLaunch* launch) {
  for (const ExpectedOutput& output : outputs) {
    std::string why;
    uint8_t* bytes = ToBacking(output.pointer, output.bytes, &why);
    if (bytes == nullptr || !CheckedMode() || IsPartialOutput(launch->opType, output.name)) {
      continue;
    }
    std::memset(bytes, kPoisonByte, output.bytes);
    MarkGm(bytes, output.bytes, false);
    // Behind the argument's own region: the kernel may touch what lies around the output.
    launch->regions.push_back(
        {RegionKind::kOutput, bytes, output.bytes, output.name, true, output.width});
  }
}

int32_t ExpectOutput(const Api& api, const void* output, uint64_t bytes, uint32_t elementBytes,
                     const char* name) {
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.NotNull(output, "output"));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(name, "name"));
  std::string why;
  if (ToBacking(output, bytes, &why) == nullptr) {
    return api.Refuse(ACL_ERROR_INVALID_PARAM, MistakeOf(output), "output", why,
                      "pass live device memory, with as many bytes as it has from there");
  }
  const std::lock_guard lock(expected->mutex);
  std::erase_if(expected->outputs,
                [&](const ExpectedOutput& other) { return other.pointer == output; });
  expected->outputs.push_back({output, bytes, elementBytes, name});
  return 0;
}

int32_t CheckCall(const Api& api, const char* name, const void* entry, uint32_t blockDim,
                  void* const* args, size_t argCount) {
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.NotNull(name, "name"));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(entry, "entry"));
  if (argCount > 0) {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(args, "args"));
  }
  Dl_info library = {};
  if (dladdr(entry, &library) == 0) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "entry %p of kernel %s is in no loaded library", entry,
                    name);
  }
  if (blockDim == 0 || blockDim > kMaxBlockDim) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "blockDim of kernel %s is %u, want 1 to %u", name,
                    blockDim, kMaxBlockDim);
  }
  return 0;
}

// Keeps what the launch, which had these regions for these uses, did to them.
void TellTouched(const KernelLaunch& launch, const std::vector<DeviceUse>& uses,
                 const std::vector<GmTouch>& touched) {
  std::vector<PendingWork::Range> ranges;
  for (const GmTouch& touch : touched) {
    for (size_t i = 0; i < uses.size() && i < launch.regions.size(); ++i) {
      const auto begin = reinterpret_cast<uint64_t>(launch.regions[i].addr);
      if (touch.begin >= begin && touch.end <= begin + launch.regions[i].bytes) {
        const uintptr_t start = reinterpret_cast<uintptr_t>(uses[i].start) + (touch.begin - begin);
        ranges.push_back({start, start + (touch.end - touch.begin), touch.write});
        break;
      }
    }
  }
  const RunningTask task = TaskOfThread();
  ReportStreamRaces(Global().pending.Touched(task.stream, task.ticket, ranges));
}

int32_t Enqueue(const Api& api, KernelLaunch launch, const std::vector<Argument>& arguments,
                void* stream) {
  launch.soc = &CurrentSoc();
  std::string why;
  KernelLaunch probe = launch;
  const void* bad = nullptr;
  if (!Translate(arguments, &probe, &why, &bad)) {
    return api.Refuse(ACL_ERROR_INVALID_PARAM, MistakeOf(bad), "args", why,
                      "pass live device memory, with as many bytes as it has from there");
  }
  std::vector<DeviceUse> uses;
  for (size_t i = 0; i < arguments.size(); ++i) {
    DeviceUse use = UseOf(arguments[i], i);
    if (use.bytes != 0) {
      uses.push_back(std::move(use));
    }
  }
  const std::string name = launch.opType;
  // Translated again when its turn comes: a block may have been freed by then.
  return EnqueueKernel(
      stream,
      [launch, arguments, uses, outputs = TakeExpected(uses)]() mutable -> TaskResult {
        std::string reason;
        if (!Translate(arguments, &launch, &reason)) {
          return {ACL_ERROR_RT_PARAM_INVALID, reason};
        }
        AddExpected(outputs, &launch);
        TouchedGm touched;
        LaunchResult result = LaunchCounted(launch);
        if (CheckedMode()) {
          TellTouched(launch, uses, touched.ranges);
        }
        return {result.status, std::move(result.message), result.goesOn};
      },
      uses, name);
}

thread_local std::optional<NextCores> nextCores;
thread_local size_t nextInside = SIZE_MAX;

int32_t LaunchKernel(const Api& api, const char* name, const void* entry, uint32_t blockDim,
                     uint64_t tilingKey, void* const* args, const uint64_t* argBytes,
                     size_t argCount, void* stream) {
  ACLSIM_RETURN_IF_ERROR(CheckCall(api, name, entry, blockDim, args, argCount));
  if (argCount > 0) {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(argBytes, "argBytes"));
  }
  KernelLaunch launch;
  launch.opType = name;
  launch.entry = entry;
  launch.blockDim = blockDim;
  launch.tilingKey = tilingKey;
  if (std::string why; !FindHalves(&launch, &why)) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "%s", why.c_str());
  }
  std::vector<Argument> arguments;
  for (size_t i = 0; i < argCount; ++i) {
    arguments.push_back({args[i], argBytes[i], false, {}});
  }
  return Enqueue(api, std::move(launch), arguments, stream);
}

// A kernel that gets memory whose tensor is gone: the program is told where it waits, as of any fault of a kernel.
int32_t RefuseGone(const Api& api, const char* name, size_t index, const void* pointer,
                   void* stream) {
  const std::string detail = Format(
      "argument %zu of kernel %s is %p, where no tensor is any more: the framework has the memory "
      "back and gives it to the next tensor",
      index, name, pointer);
  const std::string next = "keep the tensor alive until the kernel has been launched";
  (void)EnqueueTask(stream, [text = detail + ". Next: " + next]() -> TaskResult {
    return {ACL_ERROR_RT_PARAM_INVALID, text, true};
  });
  return api.Refuse(ACL_ERROR_INVALID_PARAM, "host-use-after-free", "args", detail, next);
}

int32_t LaunchBody(const Api& api, const char* name, const void* entry, aclsimKernelBody body,
                   const std::shared_ptr<void>& context, uint32_t blockDim, uint64_t tilingKey,
                   void* const* args, size_t argCount, void* stream) {
  const std::optional<NextCores> told = TakeNextCores();
  const size_t inside = std::exchange(nextInside, SIZE_MAX);
  ACLSIM_RETURN_IF_ERROR(CheckCall(api, name, entry, blockDim, args, argCount));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(reinterpret_cast<const void*>(body), "body"));
  KernelLaunch launch;
  launch.opType = name;
  launch.entry = entry;
  const auto calling = [&context](aclsimKernelBody called) {
    return [called, context](const std::vector<uint8_t*>& pointers) {
      const std::vector<void*> own(pointers.begin(), pointers.end());
      called(context.get(), own.data());
    };
  };
  launch.blockDim = blockDim;
  launch.tilingKey = tilingKey;
  launch.body = calling(body);
  if (told && told->group.cubes > 0 && told->group.vectors > 0 && told->cubeBody == nullptr) {
    return api.Fail(
        ACL_ERROR_INVALID_PARAM,
        "kernel %s runs on AICs too, and its half for them is not in the program. Next: "
        "compile it once more with ascc",
        name);
  }
  if (told) {
    FindCores(&launch);  // whether a coupled core uses its matrix unit
    launch.group = told->group;
    if (told->cubeBody != nullptr) {
      (launch.Mixed() ? launch.cubeBody : launch.body) = calling(told->cubeBody);
    }
  } else if (std::string why; !FindHalves(&launch, &why)) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "%s", why.c_str());
  } else if (launch.cubeEntry != nullptr) {
    const auto half = reinterpret_cast<aclsimKernelBody>(
        const_cast<void*>(CubeHalfOf(reinterpret_cast<void*>(body))));
    ACLSIM_RETURN_IF_ERROR(
        api.NotNull(reinterpret_cast<const void*>(half), "the AICs' half of body"));
    (launch.Mixed() ? launch.cubeBody : launch.body) = calling(half);
  }
  std::vector<Argument> arguments;
  const TensorMemories tensors;
  for (size_t i = 0; i < argCount; ++i) {
    arguments.push_back({args[i], 0, args[i] != nullptr, {}});
    arguments.back().inside = i >= inside;
    if (const aclsimTensorMemory* const tensor = tensors.Find(args[i])) {
      if (tensor->bytes == 0) {
        return RefuseGone(api, name, i, args[i], stream);
      }
      arguments.back().tensor = *tensor;
    }
  }
  return Enqueue(api, std::move(launch), arguments, stream);
}

}  // namespace

std::optional<NextCores> TakeNextCores() { return std::exchange(nextCores, std::nullopt); }

}  // namespace aclsim

extern "C" {

int32_t aclsimSetListTensors(aclsimListTensors list) {
  aclsim::listTensors = list;
  return 0;
}

void aclsimNextIsCube() { aclsim::nextCores = {{1, 0}, nullptr}; }

void aclsimNextCores(uint32_t cubes, uint32_t vectors, aclsimKernelBody cubeBody) {
  aclsim::nextCores = {{cubes, vectors}, cubeBody};
}

ACLSIM_API void aclsimNextInside(size_t first) { aclsim::nextInside = first; }

ACLSIM_API int32_t aclsimIsDeviceMemory(const void* pointer) {
  const aclsim::DeviceMemory& device = aclsim::Global().device;
  return device.InRange(pointer) && device.Find(pointer).bytes != 0 ? 1 : 0;
}

const void* aclsimCubeHalf(const void* function) { return aclsim::CubeHalfOf(function); }

int32_t aclsimExpectOutput(const void* output, uint64_t bytes, uint32_t elementBytes,
                           const char* name) {
  return aclsim::Enter(__func__, [&](const aclsim::Api& api) {
    return aclsim::ExpectOutput(api, output, bytes, elementBytes, name);
  });
}

int32_t aclsimLaunchKernel(const char* name, const void* entry, uint32_t blockDim,
                           uint64_t tilingKey, void* const* args, const uint64_t* argBytes,
                           size_t argCount, void* stream) {
  return aclsim::Enter(__func__, [&](const aclsim::Api& api) {
    return aclsim::LaunchKernel(api, name, entry, blockDim, tilingKey, args, argBytes, argCount,
                                stream);
  });
}

int32_t aclsimLaunchBody(const char* name, const void* entry, aclsimKernelBody body, void* context,
                         void (*release)(void* context), uint32_t blockDim, uint64_t tilingKey,
                         void* const* args, size_t argCount, void* stream) {
  return aclsim::Enter(__func__, [&](const aclsim::Api& api) {
    const std::shared_ptr<void> owned(context, [release](void* made) {
      if (release != nullptr) {
        release(made);
      }
    });
    return aclsim::LaunchBody(api, name, entry, body, owned, blockDim, tilingKey, args, argCount,
                              stream);
  });
}

}  // extern "C"
