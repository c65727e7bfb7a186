// SPDX-License-Identifier: Apache-2.0
// The scalar pipe does these by itself: elements, cache lines, registers, tiling data and system variables.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/dtypes.h"
#include "engine/gm_shadow.h"
#include "engine/meeting.h"
#include "engine/options.h"
#include "engine/pipe.h"
#include "engine/scheduler.h"
#include "engine/tiling_checks.h"

namespace aclsim {

namespace {

constexpr const char* kTilingKeyIs = "TILING_KEY_IS";

// Says what becomes of an element that cannot be reached.
const char* HowOf(ScalarUse use) {
  return use == ScalarUse::kRead    ? "the element was read as 0"
         : use == ScalarUse::kWrite ? "the element was not written"
                                    : "the element was read as 0, and nothing was written";
}

}  // namespace

uint8_t* UbScalar(const Ub& tensor, uint64_t offsetBytes, uint32_t bytes, ScalarUse use) try {
  Core& core = Core::Current();
  core.instruction = use == ScalarUse::kWrite ? "LocalTensor::SetValue" : "LocalTensor::GetValue";
  const auto begin = static_cast<int64_t>(offsetBytes);
  core.CheckUb(tensor, begin, begin + bytes, "the element");
  core.CountAccess(tensor.addr + offsetBytes);
  core.strips.Run();
  core.referenced |= use == ScalarUse::kReference;
  if (core.Observed() || core.Defers(Pipe::kVector)) {
    Access access = DenseAccess(use == ScalarUse::kRead ? Use::kRead : Use::kWrite,
                                core.UbOffset(tensor.addr) + offsetBytes, bytes, tensor.buf);
    core.ScalarAccess(access, tensor.dtype, use == ScalarUse::kReference);
    if (use == ScalarUse::kRead) {
      core.TellRead(tensor.addr + offsetBytes, bytes);
    }
  }
  return tensor.addr + offsetBytes;
} catch (KernelFault& fault) {
  SkipFault(std::move(fault), HowOf(use));
  return Core::Current().Nowhere(bytes);
}

uint8_t* ReachGmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes, ScalarUse use) try {
  Core& core = Core::Current();
  core.instruction = use == ScalarUse::kWrite ? "GlobalTensor::SetValue" : "GlobalTensor::GetValue";
  auto* element = static_cast<uint8_t*>(const_cast<void*>(addr)) + offsetBytes;
  core.CheckGm(element, bytes, use == ScalarUse::kWrite, "the element");
  if (core.Observed() || core.Defers(Pipe::kVector)) {
    const Access access =
        BlockAccess(Space::kGm, use == ScalarUse::kRead ? Use::kRead : Use::kWrite,
                    reinterpret_cast<uint64_t>(element), bytes, 1, bytes, 0);
    core.ScalarAccess(access, DType::kUint8, use == ScalarUse::kReference);
  }
  return element;
} catch (KernelFault& fault) {
  SkipFault(std::move(fault), HowOf(use));
  return Core::Current().Nowhere(bytes);
}

uint8_t* GmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes, ScalarUse use) {
  uint8_t* const element = ReachGmScalar(addr, offsetBytes, bytes, use);
  Core& core = Core::Current();
  return use == ScalarUse::kRead && core.Observed() ? core.ReadScalar(element, bytes) : element;
}

void NoteGlobalTensor(const void* addr) {
  constexpr size_t kMost = 64;  // a kernel has a few
  Core* const core = Core::CurrentOrNull();
  if (core == nullptr || !core->Observed() || core->globalTensors.size() == kMost) {
    return;
  }
  const GmRegion* const region = core->RegionOf(reinterpret_cast<uint64_t>(addr));
  GlobalTensorCall call{region, core->sites.Capture()};
  const auto known = std::ranges::find_if(core->globalTensors, [&](const GlobalTensorCall& other) {
    return other.region == call.region && other.site == call.site;
  });
  if (region == nullptr) {
    call.outside = addr;  // a line that makes many of them keeps the last
  }
  if (known == core->globalTensors.end()) {
    core->globalTensors.push_back(call);
  } else {
    *known = call;
  }
}

void HintL2(const void* addr, bool read, bool write, bool bypass) {
  Core::Current().HintL2(reinterpret_cast<uint64_t>(addr), read, write, bypass);
}

namespace {

// Cleaning lines again and again that stay as they are is waiting for another core. Then the pipes go on as they do on hardware, and
// so does the host's thread.
void Poll(Core& core, uint64_t line) {
  constexpr uint32_t kMostPolls = 1024;
  if (core.launch.Cores() == 1 || core.RegionOf(line) == nullptr) {
    return;
  }
  const uint32_t polls = core.meeting->CleaningsInVain(core, line);
  if (polls != 0 && polls % kMostPolls == 0) {
    if (ChaosSeed() != 0) {  // another core may wait for what this one has yet to copy
      for (const Pipe pipe : IssuedPipes(core.kind)) {
        core.scheduler->Drain(pipe);
      }
    }
    core.meeting->Yield(core);
  }
}

}  // namespace

void CleanCache(const void* addr) {
  Core& core = Core::Current();
  core.instruction = "DataCacheCleanAndInvalid";
  const auto at = reinterpret_cast<uint64_t>(addr);
  if (addr == nullptr) {
    core.CacheClean(0, UINT64_MAX - kLineBytes);
  } else {
    core.CacheClean(at, at + 1);
    Poll(core, at / kLineBytes * kLineBytes);
  }
}

void SetAtomic(Atomic op, DType dtype) try {
  Core& core = Core::Current();
  core.instruction = "SetAtomic";
  const bool known = dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kInt16 ||
                     dtype == DType::kInt32 || dtype == DType::kInt8 || dtype == DType::kBf16;
  const bool old = core.soc.npuArch == 2002 || core.soc.npuArch == 1001;
  const bool there = core.soc.npuArch == 1001 ? dtype == DType::kFloat
                     : old
                         ? dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kInt16
                         : known;
  if (op != Atomic::kNone && !there) {
    PassFault("dtype-unsupported",
              Format("atomic operations of this type do not exist on %s", core.soc.name.c_str()),
              "The device compiler refuses it. float and half exist on Atlas A2, float everywhere.",
              known ? "done all the same" : "copies add floats");
    dtype = known ? dtype : DType::kFloat;
  }
  core.atomic = {op, dtype};
  core.atomicSite = core.sites.Capture();
}
ACLSIM_SKIPS_FAULTS()

void SetAtomicType(DType dtype) {
  const Atomic op = Core::Current().atomic.op;
  SetAtomic(op == Atomic::kNone ? Atomic::kAdd : op, dtype);
}

void SetOverflow(uint64_t mode) try {
  Core::Current().instruction = "SetOverflow";
  if (mode != 1) {
    PassFault("instruction-absent",
              Format("SetOverflow: got %llu, want 1: floats that saturate are not simulated",
                     static_cast<unsigned long long>(mode)),
              "Hardware's largest finite numbers are Inf here. Compare such results on an NPU.",
              "results that overflow are Inf and NaN");
  }
}
ACLSIM_SKIPS_FAULTS()

void SetMaskMode(bool counter) {
  Core& core = Core::Current();
  core.maskCounter = counter;
  core.maskModeSite = counter ? core.sites.Capture() : 0;
}

void SetMaskBits(uint64_t high, uint64_t low) {
  Core& core = Core::Current();
  core.maskBits[0] = low;
  core.maskBits[1] = high;
  core.maskSite = ~high == 0 && ~low == 0 ? 0 : core.sites.Capture();
}

// Finds what the kernel leaves behind for the one that runs on the core after it.
void CheckModesOff(Core& core) {
  const auto report = [&core](Severity severity, uint32_t site, const char* call,
                              std::string detail, const char* advice) {
    Finding finding;
    finding.kind = severity == Severity::kError ? "atomic-left-on" : "mask-left-set";
    finding.severity = severity;
    finding.at = core.PlaceOf(call, Pipe::kScalar, site, "");
    finding.detail = std::move(detail);
    finding.advice = advice;
    core.Find(std::move(finding));
  };
  if (core.atomic.op != Atomic::kNone) {
    const char* const name = core.atomic.op == Atomic::kAdd   ? "SetAtomicAdd"
                             : core.atomic.op == Atomic::kMax ? "SetAtomicMax"
                                                              : "SetAtomicMin";
    report(Severity::kError, core.atomicSite, name,
           Format("%s of %s is still on when the kernel ends", name, NameOf(core.atomic.dtype)),
           "Copies to GM of whatever runs on the core next combine with what is there, unless it "
           "begins with a TPipe. Call DisableDmaAtomic or SetAtomicNone after the last copy.");
  }
  if (!core.Observed()) {
    return;
  }
  if (core.maskCounter && core.maskModeSite != 0) {
    report(Severity::kHint, core.maskModeSite, "SetMaskCount",
           "the mask is still in counter mode when the kernel ends",
           "The documents ask for SetMaskNorm: instructions of whatever runs next would take their "
           "mask for a count, unless it begins with a TPipe.");
  }
  if (core.maskSite != 0) {
    report(Severity::kHint, core.maskSite, "SetVectorMask",
           Format("the mask is still {0x%llx, 0x%llx} when the kernel ends",
                  static_cast<unsigned long long>(core.maskBits[0]),
                  static_cast<unsigned long long>(core.maskBits[1])),
           "The documents ask for ResetMask: instructions of whatever runs next may leave lanes "
           "out, unless it begins with a TPipe.");
  }
}

uint64_t ParaBase() { return reinterpret_cast<uint64_t>(Core::Current().launch.args.data()); }
int64_t BlockIdx() { return Core::Current().blockIdx; }
int64_t BlockNum() { return Core::Current().launch.blockDim; }
int64_t AiCoreIdx() {
  const Core& core = Core::Current();
  return core.launch.GroupOf(core.index);
}
int64_t SubBlockIdx() {
  const Core& core = Core::Current();
  return core.launch.Mixed() ? core.launch.SubOf(core.index) : 0;
}
int64_t SubBlockNum() {
  const Core& core = Core::Current();
  return core.launch.CoresOf(core.kind) / core.launch.blockDim;
}
uint64_t TilingKey() { return Core::Current().launch.tilingKey; }
void ReadTiling(void* dst, const void* tiling, uint64_t bytes) {
  Core& core = Core::Current();
  core.instruction = "GET_TILING_DATA";
  uint64_t there = bytes;
  try {
    CheckTilingData(core.launch, static_cast<const uint8_t*>(tiling), bytes);
    core.CheckGm(tiling, bytes, false, "the tiling struct");
  } catch (KernelFault& fault) {
    there = core.GmRoom(core.RegionOf(reinterpret_cast<uint64_t>(tiling)),
                        static_cast<const uint8_t*>(tiling), bytes, false);
    SkipFault(std::move(fault), Format("the last %llu bytes were read as 0",
                                       static_cast<unsigned long long>(bytes - there)));
    std::memset(dst, 0, bytes);
  }
  std::memcpy(dst, tiling, there);
}

ACLSIM_DEVICE_API uint8_t* UserWorkspace(uint8_t* workspace);
uint8_t* UserWorkspace(uint8_t* workspace) {
  const KernelLaunch& launch = Core::Current().launch;
  const uint64_t reserved = TilingOf(launch).reservedWorkspace;
  if (reserved == 0) {
    return workspace;
  }
  const GmRegion* const region = WorkspaceOf(launch);
  return region == nullptr || region->bytes < reserved ? NoUserWorkspace()
                                                       : region->addr + reserved;
}

ACLSIM_DEVICE_API void SetSystemWorkspace(uint8_t* workspace);
void SetSystemWorkspace(uint8_t* workspace) {
  Core::Current().registers.systemWorkspace = workspace;
}

ACLSIM_DEVICE_API uint8_t* SystemWorkspace();
uint8_t* SystemWorkspace() {
  uint8_t* const set = Core::Current().registers.systemWorkspace;
  return set != nullptr ? set : reinterpret_cast<uint8_t*>(uintptr_t{4096});
}

ACLSIM_DEVICE_API uint64_t* LoopMode(bool toUb);
uint64_t* LoopMode(bool toUb) { return Core::Current().registers.loopModes[toUb ? 1 : 0]; }

uint64_t UbCapacity() { return Core::Current().soc.ubBytes; }

bool TilingKeyIs(uint64_t key) {
  Core& core = Core::Current();
  core.instruction = kTilingKeyIs;
  core.tilingKeyAsked = true;
  const bool same = core.launch.tilingKey == key;
  core.tilingKeyMatched |= same;
  return same;
}

int64_t SystemCycle() {
  Core& core = Core::Current();
  core.ownTime.Enters();
  const double perNanosecond = core.soc.npuArch == 3510 ? 1 : 0.05;  // 1 GHz, 50 MHz
  const std::chrono::duration<double, std::nano> host =
      std::chrono::steady_clock::now().time_since_epoch();
  const double now = core.Nanoseconds().value_or(host.count());
  core.ownTime.Leaves();
  return static_cast<int64_t>(now * perNanosecond);
}

void CheckTilingKey(const Core& core, const char* last) {
  // The twin is one program for all keys: it runs what stands in a plain else. On the device no such binary exists.
  const bool ranElse = core.launch.twin && last != kTilingKeyIs;
  if (core.tilingKeyAsked && !core.tilingKeyMatched && !ranElse) {
    const std::vector<void*>& set = TilingOf(core.launch).places.key;
    auto* const entry = static_cast<char*>(const_cast<void*>(core.launch.entry));
    KernelFault fault{"tiling-key-unknown",
                      Format("no TILING_KEY_IS matched tiling key %llu",
                             static_cast<unsigned long long>(core.launch.tilingKey)),
                      "Hardware would run an empty kernel and leave the output untouched, or "
                      "refuse the launch. Make the tiling function and the kernel agree on the "
                      "keys.",
                      set.empty() ? std::vector<void*>{entry + 1} : set,
                      {},
                      ""};
    SkipFault(std::move(fault), "what stands outside of the branches was run");
  }
}

}  // namespace aclsim
