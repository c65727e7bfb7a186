// SPDX-License-Identifier: Apache-2.0
// Options, statistics and SoC facts: the part of aclsim.h that needs no device.
#include "runtime/options.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "aclsim/aclsim.h"
#include "engine/finding.h"
#include "engine/launch.h"
#include "engine/options.h"
#include "runtime/errors.h"
#include "runtime/misuse.h"
#include "runtime/state.h"
#include "soc/select.h"
#include "timing/profile.h"

namespace aclsim {

namespace {

constexpr const char* kDefaultSoc = "Ascend910B2";
constexpr const char* kOptionNames = "soc, mode, threads, cores, autosync, chaos or profile";
constexpr uint32_t kMaxThreads = 1024;
// Stands in where soc.json has no memBytes, so that a limit exists there too.
constexpr uint64_t kUnstatedMemory = 32ULL << 30;

// Set by aclsimSetOption; what is null or negative here comes from the environment.
std::atomic<const Soc*> chosenSoc{nullptr};
std::atomic<const Soc*> environmentSoc{nullptr};  // as the last aclInit found it
std::atomic<uint32_t> programArch{0};             // that this program's kernels are compiled for
std::atomic<int64_t> chosenCores{-1};
std::atomic<bool> chosenMode{false};
std::atomic<bool> chosenThreads{false};
std::atomic<bool> chosenAutoSync{false};
std::atomic<bool> chosenChaos{false};
std::atomic<bool> chosenProfile{false};

struct Counters {
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> gmReadBytes{0};
  std::atomic<uint64_t> gmWriteBytes{0};
  std::atomic<uint64_t> instructions{0};
  std::atomic<uint64_t> ubPeakBytes{0};
  std::atomic<uint64_t> kernelNanos{0};
  std::atomic<uint32_t> blockDim{0};
};
Counters counters;

// A set but empty variable counts as unset.
const char* Environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

bool ParseCount(const char* text, uint32_t most, const char* what, uint32_t* value,
                std::string* why) {
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, *value);
  if (error != std::errc() || rest != end || text == end || *value > most) {
    *why = FormatText("%s is \"%.32s\", want a number from 0 (all) to %u", what, text, most);
    return false;
  }
  return true;
}

bool ParseMode(const char* text, const char* what, bool* checked, std::string* why) {
  if (std::strcmp(text, "checked") != 0 && std::strcmp(text, "fast") != 0) {
    *why = FormatText("%s is \"%.32s\", want checked or fast", what, text);
    return false;
  }
  *checked = std::strcmp(text, "checked") == 0;
  return true;
}

bool ParseSwitch(const char* text, const char* what, bool* on, std::string* why) {
  if (std::strcmp(text, "on") != 0 && std::strcmp(text, "off") != 0) {
    *why = FormatText("%s is \"%.32s\", want on or off", what, text);
    return false;
  }
  *on = std::strcmp(text, "on") == 0;
  return true;
}

bool ParseSeed(const char* text, const char* what, uint32_t* seed, std::string* why) {
  if (!ParseCount(text, INT32_MAX, what, seed, why)) {
    *why = FormatText("%s is \"%.32s\", want 0 (off) or a seed up to %d", what, text, INT32_MAX);
    return false;
  }
  return true;
}

const Soc* DefaultSoc() {
  const Soc* soc = FindSoc(kDefaultSoc);
  if (programArch == 0 || soc->npuArch == programArch) {
    return soc;
  }
  const auto found = std::find_if(AllSocs().begin(), AllSocs().end(),
                                  [](const Soc& one) { return one.npuArch == programArch; });
  return found != AllSocs().end() ? &*found : soc;
}

const Soc* SocOfEnvironment(std::string* why) {
  const char* name = Environment("ACLGRAD_SOC");
  const Soc* soc = name != nullptr ? FindSoc(name) : DefaultSoc();
  if (soc == nullptr) {
    *why = "ACLGRAD_SOC: " + UnknownSocText(name);
  }
  return soc;
}

// Fast mode keeps no book of what was written.
void ChangeMode(bool checked) {
  if (checked && !CheckedMode()) {
    Global().device.AssumeDefined();
  }
  SetCheckedMode(checked);
}

int32_t SetOption(const Api& api, const std::string& name, const char* value) {
  std::string why;
  uint32_t number = 0;
  bool checked = true;
  if (name == "soc") {
    const Soc* soc = FindSoc(value);
    if (soc == nullptr) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, UnknownSocText(value));
    }
    chosenSoc = soc;
    return 0;
  }
  if (name == "mode") {
    if (!ParseMode(value, "mode", &checked, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenMode = true;
    ChangeMode(checked);
    return 0;
  }
  if (name == "threads") {
    if (!ParseCount(value, kMaxThreads, "threads", &number, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenThreads = true;
    SetHostThreadCount(number);
    return 0;
  }
  if (name == "cores") {
    const Soc* soc = SelectedSoc(&why);
    if (soc == nullptr ||
        !ParseCount(value, soc->aivCores, ("cores of " + soc->name).c_str(), &number, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenCores = number;
    return 0;
  }
  if (name == "autosync") {
    if (!ParseSwitch(value, "autosync", &checked, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenAutoSync = true;
    SetAutoSync(checked);
    return 0;
  }
  if (name == "profile") {
    if (!ParseSwitch(value, "profile", &checked, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenProfile = true;
    SetProfileMode(checked);
    return 0;
  }
  if (name == "chaos") {
    if (!ParseSeed(value, "chaos", &number, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenChaos = true;
    SetChaosSeed(number);
    return 0;
  }
  return api.Fail(ACL_ERROR_INVALID_PARAM, "unknown option \"%.32s\", want %s", name.c_str(),
                  kOptionNames);
}

std::string SocJson(const Soc& soc) {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string memory = soc.memBytes != 0 ? std::to_string(soc.memBytes) : "null";
  return FormatText(
      "{\"name\":\"%s\",\"shortName\":\"%s\",\"npuArch\":%u,\"cceAicore\":%u,\"aicCores\":%u,"
      "\"aivCores\":%u,"
      "\"vecFreqMhz\":%u,\"ubBytes\":%llu,\"ubTilingBytes\":%llu,\"l1Bytes\":%llu,\"l0aBytes\":%"
      "llu,"
      "\"l0cBytes\":%llu,\"l2Bytes\":%llu,\"memBytes\":%s,\"dataCopyPad\":%s,\"bf16\":%s}",
      soc.name.c_str(), soc.shortName.c_str(), soc.npuArch, soc.cceAicore, soc.aicCores,
      soc.aivCores, soc.vecFreqMhz, number(soc.ubBytes), number(soc.ubTilingBytes),
      number(soc.l1Bytes), number(soc.l0aBytes), number(soc.l0cBytes), number(soc.l2Bytes),
      memory.c_str(), soc.dataCopyPad ? "true" : "false", soc.bf16 ? "true" : "false");
}

}  // namespace

const Soc* SelectedSoc(std::string* why) {
  if (const Soc* soc = chosenSoc) {
    return soc;
  }
  const Soc* soc = environmentSoc;
  return soc != nullptr ? soc : SocOfEnvironment(why);
}

void SetProgramArch(uint32_t npuArch) {
  uint32_t none = 0;
  programArch.compare_exchange_strong(none, npuArch);
}

uint32_t SelectedCores() {
  if (const int64_t cores = chosenCores; cores >= 0) {
    return static_cast<uint32_t>(cores);
  }
  const char* text = Environment("ACLGRAD_SIM_CORES");
  uint32_t cores = 0;
  std::string why;
  return text != nullptr && ParseCount(text, UINT32_MAX, "ACLGRAD_SIM_CORES", &cores, &why) ? cores
                                                                                            : 0;
}

int32_t ApplyEnvironment(std::string* why) {
  if (chosenSoc == nullptr) {
    environmentSoc = SocOfEnvironment(why);
  }
  const Soc* soc = SelectedSoc(why);
  if (soc == nullptr) {
    return ACL_ERROR_RT_SOC_VERSION;
  }
  uint32_t number = 0;
  bool checked = true;
  if (const char* text = Environment("ACLGRAD_SIM_MODE"); text != nullptr && !chosenMode) {
    if (!ParseMode(text, "ACLGRAD_SIM_MODE", &checked, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
    ChangeMode(checked);
  }
  if (const char* text = Environment("ACLGRAD_SIM_THREADS"); text != nullptr && !chosenThreads) {
    if (!ParseCount(text, kMaxThreads, "ACLGRAD_SIM_THREADS", &number, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
    SetHostThreadCount(number);
  }
  if (const char* text = Environment("ACLGRAD_SIM_AUTOSYNC"); text != nullptr && !chosenAutoSync) {
    if (!ParseSwitch(text, "ACLGRAD_SIM_AUTOSYNC", &checked, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
    SetAutoSync(checked);
  }
  if (const char* text = Environment("ACLGRAD_SIM_PROFILE"); text != nullptr && !chosenProfile) {
    if (!ParseSwitch(text, "ACLGRAD_SIM_PROFILE", &checked, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
    SetProfileMode(checked);
  }
  if (const char* text = Environment("ACLGRAD_SIM_CHAOS"); text != nullptr && !chosenChaos) {
    if (!ParseSeed(text, "ACLGRAD_SIM_CHAOS", &number, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
    SetChaosSeed(number);
  }
  if (const char* text = Environment("ACLGRAD_SIM_CORES"); text != nullptr && chosenCores < 0) {
    const std::string what = "ACLGRAD_SIM_CORES (vector cores of " + soc->name + ")";
    if (!ParseCount(text, soc->aivCores, what.c_str(), &number, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
  }
  return 0;
}

uint64_t DeviceMemoryBytes() {
  const uint64_t bytes = CurrentSoc().memBytes;
  return bytes != 0 ? bytes : kUnstatedMemory;
}

LaunchResult LaunchCounted(const KernelLaunch& launch) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  LaunchResult result = Launch(launch);
  if (CheckedMode()) {
    AdoptPointerWrites(launch);
    CheckGuardsAfter(launch, &result);
  }
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::steady_clock::now() - begin);
  counters.launches += 1;
  counters.gmReadBytes += result.stats.gmReadBytes;
  counters.gmWriteBytes += result.stats.gmWriteBytes;
  counters.instructions += result.stats.instructions;
  counters.kernelNanos += static_cast<uint64_t>(nanos.count());
  counters.blockDim = result.stats.blockDim;
  uint64_t peak = counters.ubPeakBytes;
  while (peak < result.stats.ubPeakBytes &&
         !counters.ubPeakBytes.compare_exchange_weak(peak, result.stats.ubPeakBytes)) {
  }
  return result;
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

int32_t aclsimSetOption(const char* name, const char* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(name, "name"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    if (aclsim::AnyStreamBusy()) {
      return api.Fail(ACL_ERROR_INVALID_PARAM,
                      "a stream has work; call aclrtSynchronizeDevice before changing \"%.32s\"",
                      name);
    }
    return aclsim::SetOption(api, name, value);
  });
}

const char* aclsimGetOption(const char* name) {
  const char* text = nullptr;
  Enter("aclsimGetOption", [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(name, "name"));
    const std::string option = name;
    std::string value;
    if (option == "soc") {
      value = aclsim::CurrentSoc().name;
    } else if (option == "mode") {
      value = aclsim::CheckedMode() ? "checked" : "fast";
    } else if (option == "threads") {
      value = std::to_string(aclsim::HostThreadCount());
    } else if (option == "cores") {
      value = std::to_string(aclsim::VectorCoreCount());
    } else if (option == "autosync") {
      value = aclsim::AutoSync() ? "on" : "off";
    } else if (option == "profile") {
      value = aclsim::ProfileMode() ? "on" : "off";
    } else if (option == "chaos") {
      value = std::to_string(aclsim::ChaosSeed());
    } else {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "unknown option \"%.32s\", want %s", name,
                      aclsim::kOptionNames);
    }
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kOption, std::move(value));
    return 0;
  });
  return text;
}

void aclsimResetStats() {
  aclsim::Counters& counters = aclsim::counters;
  counters.launches = counters.gmReadBytes = counters.gmWriteBytes = counters.instructions = 0;
  counters.ubPeakBytes = counters.kernelNanos = 0;
  counters.blockDim = 0;
}

void aclsimGetStats(aclsimLaunchStats* stats) {
  if (stats == nullptr) {
    return;
  }
  const aclsim::Counters& counters = aclsim::counters;
  *stats = {};
  stats->launches = counters.launches;
  stats->gmReadBytes = counters.gmReadBytes;
  stats->gmWriteBytes = counters.gmWriteBytes;
  stats->instructions = counters.instructions;
  stats->ubPeakBytes = counters.ubPeakBytes;
  stats->kernelNanos = counters.kernelNanos;
  stats->blockDim = counters.blockDim;
}

const char* aclsimFindings() {
  const char* text = "[]";
  Enter("aclsimFindings", [&](const Api&) -> int32_t {
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kFindings, aclsim::FindingsJson());
    return 0;
  });
  return text;
}

const char* aclsimProfiles() {
  const char* text = "[]";
  Enter("aclsimProfiles", [&](const Api&) -> int32_t {
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kProfiles, aclsim::ProfilesJson());
    return 0;
  });
  return text;
}

const char* aclsimProfileLines(size_t launch, const uint32_t* cores, size_t coreCount) {
  const char* text = nullptr;
  Enter("aclsimProfileLines", [&](const Api& api) -> int32_t {
    if (coreCount > 0) {
      ACLSIM_RETURN_IF_ERROR(api.NotNull(cores, "cores"));
    }
    std::string why;
    std::string json = aclsim::ProfileLinesJson(launch, {cores, cores + coreCount}, &why);
    if (json.empty()) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kProfiles, std::move(json));
    return 0;
  });
  return text;
}

void aclsimClearProfiles() { aclsim::ClearProfiles(); }

int32_t aclsimWriteTrace(size_t launch, const uint32_t* cores, size_t coreCount, const char* path) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(path, "path"));
    if (coreCount > 0) {
      ACLSIM_RETURN_IF_ERROR(api.NotNull(cores, "cores"));
    }
    std::string why;
    if (!aclsim::WriteTrace(launch, {cores, cores + coreCount}, path, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    return 0;
  });
}

void aclsimClearFindings() {
  aclsim::ClearFindings();
  aclsim::ForgetMisuse();
}

const char* aclsimSocJson(const char* name) {
  const char* text = nullptr;
  Enter("aclsimSocJson", [&](const Api& api) -> int32_t {
    // Leaked, so that the strings live as long as the process.
    static const auto* rows = [] {
      auto* made = new std::map<std::string, std::string>;
      for (const aclsim::Soc& soc : aclsim::AllSocs()) {
        (*made)[soc.name] = aclsim::SocJson(soc);
      }
      return made;
    }();
    const std::string wanted = name != nullptr ? std::string(name) : aclsim::CurrentSoc().name;
    const auto row = rows->find(wanted);
    if (row == rows->end()) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, aclsim::UnknownSocText(wanted));
    }
    text = row->second.c_str();
    return 0;
  });
  return text;
}

const char* aclsimSocNames() {
  const char* text = nullptr;
  Enter("aclsimSocNames", [&](const Api&) -> int32_t {
    static const auto* names = [] {
      auto* made = new std::string("[");
      for (const aclsim::Soc& soc : aclsim::AllSocs()) {
        *made += (made->size() > 1 ? ",\"" : "\"") + soc.name + "\"";
      }
      *made += "]";
      return made;
    }();
    text = names->c_str();
    return 0;
  });
  return text;
}

}  // extern "C"
