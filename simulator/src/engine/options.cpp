// SPDX-License-Identifier: Apache-2.0
#include "engine/options.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>

#include "engine/launch.h"

namespace aclsim {

namespace {

std::atomic<uint32_t> hostThreads{0};
std::atomic<int> checkedMode{-1};  // -1: not decided yet
std::atomic<int64_t> chaosSeed{-1};
std::atomic<int> autoSync{-1};
std::atomic<int> keepGoing{-1};
std::atomic<bool> recovers{false};
std::atomic<TilingBuffer> tilingBuffer{TilingBuffer::kCleared};
std::atomic<int> showsProgress{-1};
std::atomic<double> hangLimit{-1};
std::atomic<double> executeLimit{0};
constexpr double kDefaultHangLimit = 20;

struct PartialNames {
  std::mutex mutex;
  std::optional<std::string> names;  // none: not decided yet
};
PartialNames partial;

constexpr size_t kMostNotes = 16;

struct HeldNote {
  uint32_t core = 0;
  uint32_t number = 0;
  Place place;
};

struct HeldState {
  std::mutex mutex;
  HeldBack held;
  std::vector<HeldNote> notes;
};
HeldState heldState;

uint32_t DefaultHostThreads() {
  if (const char* text = std::getenv("ACLGRAD_SIM_THREADS")) {
    const long value = std::strtol(text, nullptr, 10);
    if (value > 0) {
      return static_cast<uint32_t>(std::min(value, 1024L));
    }
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return static_cast<uint32_t>(std::max(CPU_COUNT(&set), 1));
  }
  return 1;
}

}  // namespace

uint32_t HostThreadCount() {
  const uint32_t threads = hostThreads;
  return threads != 0 ? threads : DefaultHostThreads();
}

void SetHostThreadCount(uint32_t threads) { hostThreads = threads; }

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

bool HeldBack::Has(uint32_t number) const {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return range.first <= number && number <= range.last;
  });
}

bool HeldBack::Few() const {
  return std::accumulate(ranges.begin(), ranges.end(), uint64_t{0},
                         [](uint64_t sum, const Range& range) {
                           return sum + range.last - range.first + 1;
                         }) <= kMostNotes;
}

HeldBack Held() {
  const std::lock_guard lock(heldState.mutex);
  return heldState.held;
}

std::string HeldText() {
  std::string text;
  for (const HeldBack::Range& range : Held().ranges) {
    text.append(text.empty() ? "" : "+").append(std::to_string(range.first));
    if (range.last != range.first) {
      text.append("-").append(std::to_string(range.last));
    }
  }
  return text.empty() ? "all" : text;
}

bool SetHeld(const std::string& text) {
  HeldBack held;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (text != "all") {
    HeldBack::Range range;
    auto [rest, error] = std::from_chars(at, end, range.first);
    range.last = range.first;
    if (error == std::errc() && rest != end && *rest == '-') {
      std::tie(rest, error) = [&, from = rest + 1] {
        const auto found = std::from_chars(from, end, range.last);
        return std::pair(found.ptr, found.ec);
      }();
    }
    if (error != std::errc() || range.last < range.first || (rest != end && *rest != '+')) {
      return false;
    }
    held.ranges.push_back(range);
    if (rest == end) {
      break;
    }
    at = rest + 1;
  }
  const std::lock_guard lock(heldState.mutex);
  heldState.held = std::move(held);
  heldState.notes.clear();
  return true;
}

void NoteHeld(uint32_t number, uint32_t core, const Place& place) {
  const std::lock_guard lock(heldState.mutex);
  std::vector<HeldNote>& notes = heldState.notes;
  const bool known = std::any_of(notes.begin(), notes.end(), [&](const HeldNote& note) {
    return note.core == core && note.number == number;
  });
  if (!known && notes.size() < kMostNotes) {
    notes.push_back({core, number, place});
  }
}

std::string HeldJson() {
  const std::lock_guard lock(heldState.mutex);
  std::vector<HeldNote> notes = heldState.notes;
  std::sort(notes.begin(), notes.end(), [](const HeldNote& a, const HeldNote& b) {
    return std::tie(a.number, a.core) < std::tie(b.number, b.core);
  });
  std::string text = "[";
  for (const HeldNote& note : notes) {
    text += text.size() == 1 ? "" : ",";
    text += Format(
        R"({"number":%u,"core":%u,"pipe":%s,"instruction":%s,"file":%s,"line":%d})", note.number,
        note.core, JsonQuoted(note.place.pipe).c_str(), JsonQuoted(note.place.instruction).c_str(),
        JsonQuoted(note.place.line.file).c_str(), static_cast<int>(note.place.line.line));
  }
  return text + "]";
}

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

bool KeepGoing() {
  const int on = keepGoing;
  return on < 0 ? !CheckedMode() : on != 0;
}

TilingBuffer BufferOfTiling() { return tilingBuffer; }

void SetBufferOfTiling(TilingBuffer buffer) { tilingBuffer = buffer; }

bool Recovers() { return recovers; }

void SetRecovers(bool on) { recovers = on; }

void SetKeepGoing(std::optional<bool> on) { keepGoing = on ? static_cast<int>(*on) : -1; }

Shows ShowsProgress() {
  int when = showsProgress;
  if (when < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_PROGRESS");
    const std::string_view word = text != nullptr ? text : "";
    when = static_cast<int>(word == "on"    ? Shows::kAlways
                            : word == "off" ? Shows::kNever
                                            : Shows::kOnTerminal);
    showsProgress = when;
  }
  return static_cast<Shows>(when);
}

void SetShowsProgress(Shows when) { showsProgress = static_cast<int>(when); }

double HangLimit() {
  double seconds = hangLimit;
  if (seconds < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_HANG_LIMIT");
    char* rest = nullptr;
    seconds = text != nullptr ? std::strtod(text, &rest) : kDefaultHangLimit;
    if (rest == text || !(seconds >= 0)) {
      seconds = kDefaultHangLimit;
    }
    hangLimit = seconds;
  }
  return seconds;
}

void SetHangLimit(double seconds) { hangLimit = seconds; }

double StuckLimit() {
  const double limit = HangLimit();
  const double execute = executeLimit;
  return execute > 0 && (limit == 0 || execute < limit) ? execute : limit;
}

void SetExecuteLimit(double seconds) { executeLimit = seconds; }

std::string PartialOutputs() {
  const std::lock_guard<std::mutex> lock(partial.mutex);
  if (!partial.names) {
    const char* text = std::getenv("ACLGRAD_SIM_PARTIAL_OUTPUTS");
    partial.names = text != nullptr ? text : "";
  }
  return *partial.names;
}

void SetPartialOutputs(const std::string& names) {
  const std::lock_guard<std::mutex> lock(partial.mutex);
  partial.names = names;
}

namespace {

// Whether an output is among the names; `kept`: among those that stand behind an equals sign.
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
