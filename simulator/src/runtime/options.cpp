// SPDX-License-Identifier: Apache-2.0
// The table of options: what aclsimSetOption and the environment call them, which texts they take, who obeys them.
#include "runtime/options.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "aclsim/aclsim.h"
#include "engine/going_on.h"
#include "engine/held.h"
#include "engine/options.h"
#include "findings/levels.h"
#include "host/format.h"
#include "host/options.h"
#include "launch/launch_line.h"
#include "runtime/errors.h"
#include "runtime/state.h"
#include "soc/overlay.h"
#include "soc/select.h"
#include "timing/costs.h"
#include "timing/options.h"

namespace aclsim {

namespace {

constexpr const char* kDefaultSoc = "Ascend910B2";
constexpr const char* kOptionNames =
    "soc, mode, threads, cores, autosync, chaos, held, profile, sensitivity, race_times, "
    "hang_limit, keep_going, "
    "recover, progress, partial_outputs, tiling_buffer or "
    "findings";
constexpr uint32_t kMaxThreads = 1024;
constexpr double kMostHangLimit = 1e6;
// Stands in where soc.json has no memBytes, so that a limit exists there too.
constexpr uint64_t kUnstatedMemory = 32ULL << 30;

// Set by aclsimSetOption; what is null or negative here comes from the environment.
std::atomic<const Soc*> chosenSoc{nullptr};
std::atomic<const Soc*> environmentSoc{nullptr};  // as the last aclInit found it
std::atomic<uint32_t> programArch{0};             // that this program's kernels are compiled for
std::atomic<int64_t> chosenCores{-1};
std::atomic<bool> recovers{false};
std::atomic<TilingBuffer> tilingBuffer{TilingBuffer::kCleared};

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
    *why = Format("%s is \"%.32s\", want a number from 0 (all) to %u", what, text, most);
    return false;
  }
  return true;
}

bool ParseEither(const char* text, const char* what, const char* yes, const char* no, bool* value,
                 std::string* why) {
  *value = std::strcmp(text, yes) == 0;
  if (!*value && std::strcmp(text, no) != 0) {
    *why = Format("%s is \"%.32s\", want %s or %s", what, text, yes, no);
    return false;
  }
  return true;
}

bool ParseSeed(const char* text, const char* what, uint32_t* seed, std::string* why) {
  if (!ParseCount(text, INT32_MAX, what, seed, why)) {
    *why = Format("%s is \"%.32s\", want 0 (off) or a seed up to %d", what, text, INT32_MAX);
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

// An option that is in force at once, set by its name or else by its environment variable.
struct Setting {
  const char* name;
  const char* variable;
  // `what` names the text in an error.
  bool (*apply)(const char* text, const char* what, std::string* why);
  std::string (*value)();
};

template <void (*Set)(bool)>
bool ApplySwitch(const char* text, const char* what, std::string* why) {
  bool on = false;
  if (!ParseEither(text, what, "on", "off", &on, why)) {
    return false;
  }
  Set(on);
  return true;
}

template <bool (*Get)()>
std::string SwitchText() {
  return Get() ? "on" : "off";
}

bool ApplyMode(const char* text, const char* what, std::string* why) {
  bool checked = false;
  if (!ParseEither(text, what, "checked", "fast", &checked, why)) {
    return false;
  }
  ChangeMode(checked);
  return true;
}

bool ApplyThreads(const char* text, const char* what, std::string* why) {
  uint32_t threads = 0;
  if (!ParseCount(text, kMaxThreads, what, &threads, why)) {
    return false;
  }
  SetHostThreadCount(threads);
  return true;
}

bool ApplyChaos(const char* text, const char* what, std::string* why) {
  uint32_t seed = 0;
  if (!ParseSeed(text, what, &seed, why)) {
    return false;
  }
  SetChaosSeed(seed);
  return true;
}

bool ApplyHeld(const char* text, const char* what, std::string* why) {
  if (!SetHeld(text)) {
    *why = Format("%s is \"%.32s\", want all, or numbers of instructions such as 12+40-41", what,
                  text);
    return false;
  }
  return true;
}

bool ApplyHangLimit(const char* text, const char* what, std::string* why) {
  const char* end = text + std::strlen(text);
  double seconds = 0;
  const auto [rest, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || rest != end || !(seconds >= 0 && seconds <= kMostHangLimit)) {
    *why = Format("%s is \"%.32s\", want 0 (off) or up to %g seconds", what, text, kMostHangLimit);
    return false;
  }
  SetHangLimit(seconds);
  return true;
}

bool ApplyKeepGoing(const char* text, const char* what, std::string* why) {
  struct Word {
    const char* text;
    std::optional<bool> on;
  };
  constexpr Word kWords[] = {
      {"on", true}, {"1", true}, {"off", false}, {"0", false}, {"default", {}}};
  for (const Word& word : kWords) {
    if (std::strcmp(text, word.text) == 0) {
      SetKeepGoing(word.on);
      return true;
    }
  }
  *why = Format("%s is \"%.32s\", want on (or 1), off (or 0), or default: on in fast mode", what,
                text);
  return false;
}

bool ApplyProgress(const char* text, const char* what, std::string* why) {
  if (std::strcmp(text, "auto") == 0) {
    SetShowsProgress(Shows::kOnTerminal);
    return true;
  }
  bool on = false;
  if (!ParseEither(text, what, "on", "off", &on, why)) {
    *why += ", or auto: on a terminal";
    return false;
  }
  SetShowsProgress(on ? Shows::kAlways : Shows::kNever);
  return true;
}

std::string ProgressText() {
  constexpr const char* kWords[] = {"off", "on", "auto"};
  return kWords[static_cast<size_t>(ShowsProgress())];
}

bool ApplyPartialOutputs(const char* text, const char* what, std::string* why) {
  constexpr const char* kLegal =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,[]*= ";
  if (text[std::strspn(text, kLegal)] != '\0') {
    *why =
        Format("%s is \"%.32s\", want names of outputs with commas between, such as y,Sort.indices",
               what, text);
    return false;
  }
  SetPartialOutputs(std::strcmp(text, "none") == 0 ? "" : text);
  return true;
}

constexpr const char* kTilingBuffers[] = {"cleared", "watched", "filled"};

bool ApplyTilingBuffer(const char* text, const char* what, std::string* why) {
  for (size_t i = 0; i < std::size(kTilingBuffers); ++i) {
    if (std::strcmp(text, kTilingBuffers[i]) == 0) {
      SetBufferOfTiling(static_cast<TilingBuffer>(i));
      return true;
    }
  }
  *why = Format("%s is \"%.32s\", want cleared, watched or filled", what, text);
  return false;
}

std::string TilingBufferText() { return kTilingBuffers[static_cast<size_t>(BufferOfTiling())]; }

bool ApplyFindingLevels(const char* text, const char* what, std::string* why) {
  std::string bad;
  if (!SetFindingLevels(text, &bad)) {
    *why = Format(
        "%s has \"%.64s\", want error, warn or off, KIND=warn, @FILE=warn or KIND@FILE=warn, with "
        "commas between",
        what, bad.c_str());
    return false;
  }
  return true;
}

constexpr Setting kSettings[] = {
    {"mode", "ACLGRAD_SIM_MODE", ApplyMode,
     [] { return std::string(CheckedMode() ? "checked" : "fast"); }},
    {"threads", "ACLGRAD_SIM_THREADS", ApplyThreads,
     [] { return std::to_string(HostThreadCount()); }},
    {"autosync", "ACLGRAD_SIM_AUTOSYNC", ApplySwitch<SetAutoSync>, SwitchText<AutoSync>},
    {"profile", "ACLGRAD_SIM_PROFILE", ApplySwitch<SetProfileMode>, SwitchText<ProfileMode>},
    {"sensitivity", "ACLGRAD_SIM_SENSITIVITY", ApplySwitch<SetSensitivityMode>,
     SwitchText<SensitivityMode>},
    {"race_times", "ACLGRAD_SIM_RACE_TIMES", ApplySwitch<SetRaceTimes>, SwitchText<RaceTimes>},
    {"keep_going", "ACLGRAD_SIM_KEEP_GOING", ApplyKeepGoing, SwitchText<GoesOnAfterErrors>},
    {"recover", "ACLGRAD_SIM_RECOVER", ApplySwitch<SetRecovers>, SwitchText<Recovers>},
    {"chaos", "ACLGRAD_SIM_CHAOS", ApplyChaos, [] { return std::to_string(ChaosSeed()); }},
    {"held", "ACLGRAD_SIM_HELD", ApplyHeld, HeldText},
    {"hang_limit", "ACLGRAD_SIM_HANG_LIMIT", ApplyHangLimit,
     [] { return Format("%g", HangLimit()); }},
    {"progress", "ACLGRAD_SIM_PROGRESS", ApplyProgress, ProgressText},
    {"partial_outputs", "ACLGRAD_SIM_PARTIAL_OUTPUTS", ApplyPartialOutputs,
     [] { return PartialOutputs().empty() ? std::string("none") : PartialOutputs(); }},
    {"tiling_buffer", "ACLGRAD_SIM_TILING_BUFFER", ApplyTilingBuffer, TilingBufferText},
    {"findings", "ACLGRAD_FINDINGS", ApplyFindingLevels, FindingLevels},
};
// aclsimSetOption has set these of kSettings: their variables no longer count.
std::array<std::atomic<bool>, std::size(kSettings)> chosen{};

int32_t UnknownOption(const Api& api, const char* name) {
  return api.Fail(ACL_ERROR_INVALID_PARAM, "unknown option \"%.32s\", want %s", name, kOptionNames);
}

int32_t SetOption(const Api& api, const std::string& name, const char* value) {
  std::string why;
  if (name == "soc") {
    const Soc* soc = FindSoc(value);
    if (soc == nullptr) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, UnknownSocText(value));
    }
    chosenSoc = soc;
    return 0;
  }
  if (name == "cores") {
    const Soc* soc = SelectedSoc(&why);
    uint32_t cores = 0;
    if (soc == nullptr ||
        !ParseCount(value, soc->aivCores, ("cores of " + soc->name).c_str(), &cores, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosenCores = cores;
    return 0;
  }
  for (size_t i = 0; i < std::size(kSettings); ++i) {
    if (name != kSettings[i].name) {
      continue;
    }
    if (!kSettings[i].apply(value, kSettings[i].name, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    chosen[i] = true;
    return 0;
  }
  return UnknownOption(api, name.c_str());
}

}  // namespace

TilingBuffer BufferOfTiling() { return tilingBuffer; }

void SetBufferOfTiling(TilingBuffer buffer) { tilingBuffer = buffer; }

bool Recovers() { return recovers; }

void SetRecovers(bool on) { recovers = on; }

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

namespace {

bool ParseDevices(const char* text, uint32_t* devices, std::string* why) {
  constexpr uint32_t kMost = 64;
  std::string ignored;
  if (ParseCount(text, kMost, "", devices, &ignored) && *devices > 0) {
    return true;
  }
  *why = Format("ACLGRAD_DEVICES is \"%.32s\", want the number of devices, 1 to %u", text, kMost);
  return false;
}

}  // namespace

uint32_t DeviceCount() {
  const char* text = Environment("ACLGRAD_DEVICES");
  uint32_t devices = 1;
  std::string why;
  return text != nullptr && ParseDevices(text, &devices, &why) ? devices : 1;
}

int32_t ApplyEnvironment(std::string* why) {
  if (chosenSoc == nullptr) {
    environmentSoc = SocOfEnvironment(why);
  }
  const Soc* soc = SelectedSoc(why);
  if (soc == nullptr) {
    return ACL_ERROR_RT_SOC_VERSION;
  }
  for (size_t i = 0; i < std::size(kSettings); ++i) {
    const Setting& setting = kSettings[i];
    const char* text = chosen[i] ? nullptr : Environment(setting.variable);
    if (text != nullptr && !setting.apply(text, setting.variable, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
  }
  uint32_t devices = 0;
  if (const char* text = Environment("ACLGRAD_DEVICES");
      text != nullptr && !ParseDevices(text, &devices, why)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  *why = BoardOverlay().why;
  if (const std::string problem = OverlaidCostsProblem(); why->empty() && !problem.empty()) {
    *why = Format("ACLGRAD_CALIBRATION=%s: %s. Next: aclgrad calibrate --read %s", OverlayPath(),
                  problem.c_str(), OverlayPath());
  }
  if (!why->empty()) {
    return ACL_ERROR_INVALID_FILE;
  }
  uint32_t cores = 0;
  if (const char* text = Environment("ACLGRAD_SIM_CORES"); text != nullptr && chosenCores < 0) {
    const std::string what = "ACLGRAD_SIM_CORES (vector cores of " + soc->name + ")";
    if (!ParseCount(text, soc->aivCores, what.c_str(), &cores, why)) {
      return ACL_ERROR_INVALID_PARAM;
    }
  }
  return 0;
}

uint64_t DeviceMemoryBytes() {
  const uint64_t bytes = CurrentSoc().memBytes;
  return bytes != 0 ? bytes : kUnstatedMemory;
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
    const auto setting =
        std::find_if(std::begin(aclsim::kSettings), std::end(aclsim::kSettings),
                     [&](const aclsim::Setting& one) { return option == one.name; });
    if (option == "soc") {
      value = aclsim::CurrentSoc().name;
    } else if (option == "cores") {
      value = std::to_string(aclsim::VectorCoreCount());
    } else if (setting != std::end(aclsim::kSettings)) {
      value = setting->value();
    } else {
      return aclsim::UnknownOption(api, name);
    }
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kOption, std::move(value));
    return 0;
  });
  return text;
}

}  // extern "C"
