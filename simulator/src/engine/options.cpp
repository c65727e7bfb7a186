// SPDX-License-Identifier: Apache-2.0
#include "engine/options.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>

#include "engine/going_on.h"
#include "findings/levels.h"
#include "host/fork.h"
#include "host/lock.h"

namespace aclsim {

namespace {

std::atomic<int> checkedMode{-1};  // -1: not decided yet
std::atomic<int64_t> chaosSeed{-1};
std::atomic<int> autoSync{-1};
std::atomic<int> keepGoing{-1};

struct PartialNames {
  // A child has its parent's. A fork waits for a thread that changes them.
  static PartialNames* AfterFork(const PartialNames& parent) {
    auto* const own = new PartialNames;
    own->names = parent.names;
    return own;
  }

  Mutex<9, "partial outputs"> mutex;
  std::optional<std::string> names;  // none: not decided yet
};
PerProcess<PartialNames> partial;

}  // namespace

bool CheckedMode() {
  int mode = checkedMode;
  if (mode < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_MODE");
    mode = text != nullptr && std::strcmp(text, "fast") == 0 ? 0 : 1;
    checkedMode = mode;
  }
  return mode != 0;
}

void SetCheckedMode(bool on) { checkedMode = on ? 1 : 0; }

uint64_t ChaosSeed() {
  int64_t seed = chaosSeed;
  if (seed < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_CHAOS");
    seed = text != nullptr ? std::max(std::strtoll(text, nullptr, 10), 0LL) : 0;
    chaosSeed = seed;
  }
  return static_cast<uint64_t>(seed);
}

void SetChaosSeed(uint64_t seed) { chaosSeed = static_cast<int64_t>(seed); }

bool AutoSync() {
  int on = autoSync;
  if (on < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_AUTOSYNC");
    on = text != nullptr && std::strcmp(text, "off") == 0 ? 0 : 1;
    autoSync = on;
  }
  return on != 0;
}

void SetAutoSync(bool on) { autoSync = on ? 1 : 0; }

bool GoesOnAfterErrors() {
  const int on = keepGoing;
  return on < 0 ? !CheckedMode() : on != 0;
}

bool KeepGoing() { return GoesOnAfterErrors() || AnyTolerated(); }

void SetKeepGoing(std::optional<bool> on) { keepGoing = on ? static_cast<int>(*on) : -1; }

std::string PartialOutputs() {
  const HoldFork hold;
  const std::lock_guard lock(partial->mutex);
  if (!partial->names) {
    const char* text = std::getenv("ACLGRAD_SIM_PARTIAL_OUTPUTS");
    partial->names = text != nullptr ? text : "";
  }
  return *partial->names;
}

void SetPartialOutputs(const std::string& names) {
  const HoldFork hold;
  const std::lock_guard lock(partial->mutex);
  partial->names = names;
}

namespace {

// Returns whether an output is among the names; `kept`: among those that stand behind an equals sign.
bool IsNamed(const std::string& op, const std::string& output, bool kept) {
  const std::string plain = output.substr(0, output.find('['));
  std::istringstream names(PartialOutputs());
  for (std::string name; std::getline(names, name, ',');) {
    const size_t first = name.find_first_not_of(' ');
    name = first == std::string::npos ? ""
                                      : name.substr(first, name.find_last_not_of(' ') + 1 - first);
    const bool begun = name.starts_with('=');
    if (begun) {
      name.erase(0, 1);
    } else if (kept) {
      continue;
    }
    if (const size_t dot = name.find('.'); dot != std::string::npos) {
      if (name.substr(0, dot) != op) {
        continue;
      }
      name = name.substr(dot + 1);
    }
    if (name == "*" || name == output || name == plain) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsPartialOutput(const std::string& op, const std::string& output) {
  return IsNamed(op, output, false);
}

bool IsKeptOutput(const std::string& op, const std::string& output) {
  return IsNamed(op, output, true);
}

}  // namespace aclsim
