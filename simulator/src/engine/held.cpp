// SPDX-License-Identifier: Apache-2.0
#include "engine/held.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>

#include "host/fork.h"
#include "host/lock.h"

namespace aclsim {

namespace {

constexpr size_t kMostNotes = 16;

struct HeldNote {
  uint32_t core = 0;
  uint32_t number = 0;
  Place place;
};

struct HeldState {
  // A child holds back what its parent does. A fork waits for a thread that changes it.
  static HeldState* AfterFork(const HeldState& parent) {
    auto* const own = new HeldState;
    own->held = parent.held;
    return own;
  }

  Mutex<9, "instructions held back"> mutex;
  HeldBack held;
  std::vector<HeldNote> notes;
};
PerProcess<HeldState> heldState;

}  // namespace

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
  const std::lock_guard lock(heldState->mutex);
  return heldState->held;
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
  const HoldFork hold;
  const std::lock_guard lock(heldState->mutex);
  heldState->held = std::move(held);
  heldState->notes.clear();
  return true;
}

void NoteHeld(uint32_t number, uint32_t core, const Place& place) {
  const std::lock_guard lock(heldState->mutex);
  std::vector<HeldNote>& notes = heldState->notes;
  const bool known = std::any_of(notes.begin(), notes.end(), [&](const HeldNote& note) {
    return note.core == core && note.number == number;
  });
  if (!known && notes.size() < kMostNotes) {
    notes.push_back({core, number, place});
  }
}

std::string HeldJson() {
  const std::lock_guard lock(heldState->mutex);
  std::vector<HeldNote> notes = heldState->notes;
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

}  // namespace aclsim
