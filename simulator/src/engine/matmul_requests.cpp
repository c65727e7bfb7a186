// SPDX-License-Identifier: Apache-2.0
// Requests of AIVs to the Matmul objects of their AIC, and its answers.
#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/in_meeting.h"
#include "engine/meeting.h"

namespace aclsim {

void Meeting::Register(const Core& core, uint32_t objects) {
  const std::lock_guard lock(mutex_);
  served_[core.index].objects = objects;
}

void Meeting::Post(Core& core, Request request) {
  const InMeeting here(core);
  const std::lock_guard lock(mutex_);
  served_[core.index].requests.push_back(std::move(request));
  Tell(core);
  Apply(core.index, UINT64_MAX);
  changed_.notify_all();
}

const Request* Meeting::TakeRequest(Core& core, uint32_t holder, uint32_t* vector) {
  const InMeeting here(core);
  std::unique_lock lock(mutex_);
  Served& own = served_[core.index];
  const uint32_t first = core.index + 1, count = launch_.group.vectors;
  if (!own.serves) {
    own.serves = true;
    own.next = *std::ranges::find_if(turns_, [&](uint32_t each) {
      return each >= first && each < first + count;
    }) - first;
  }
  own.works = false;
  const auto hasLeft = [&](uint32_t each) {
    return dead_[each] ||
           (left_[each] && served_[each].objects != 0 && served_[each].requests.empty());
  };
  constexpr uint32_t kNone = UINT32_MAX;
  const auto chosen = [&] {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t each = first + (own.next + i) % count;
      if (holder != kNone && each != holder) {
        continue;
      }
      if (!served_[each].requests.empty()) {
        return each;
      }
      const bool waits = waitsFor_[each] != nullptr && !(*waitsFor_[each])();
      if (!left_[each] && !waits) {
        return kNone;
      }
    }
    return kNone;
  };
  const auto allLeft = [&] {
    for (uint32_t i = 0; i < count; ++i) {
      if (!hasLeft(first + i)) {
        return false;
      }
    }
    return true;
  };
  const std::function<bool()> passes = [&] { return chosen() != kNone || allLeft(); };
  const auto vain = [&]() -> Vain {
    std::vector<uint32_t> absent;
    for (uint32_t i = 0; i < count; ++i) {
      if (!hasLeft(first + i)) {
        absent.push_back(first + i);
      }
    }
    const bool without = std::ranges::all_of(
        absent, [&](uint32_t each) { return left_[each] && served_[each].objects == 0; });
    return {Format("the server of Matmul objects on %s waits for %s, which %s",
                   launch_.NameOf(core.index).c_str(), launch_.NamesOf(absent).c_str(),
                   without ? "left the kernel without REGIST_MATMUL_OBJ"
                           : "neither ends nor calls an object"),
            absent,
            without ? "Hardware's server waits for the end of each AIV's objects: a hang. Call "
                      "REGIST_MATMUL_OBJ on every AIV, also on one that has no work."
                    : ""};
  };
  Wait(core, lock, passes, vain, false, "REGIST_MATMUL_OBJ");
  const uint32_t whose = chosen();
  if (whose == kNone) {
    return nullptr;
  }
  own.request = std::move(served_[whose].requests.front());
  served_[whose].requests.pop_front();
  own.next = (whose - first + 1) % count;
  own.works = true;
  *vector = whose;
  return &own.request;
}

const Request* Meeting::Serving(const Core& core) const {
  return served_[core.index].works ? &served_[core.index].request : nullptr;
}

void Meeting::Answer(Core& core, uint32_t vector, uint32_t object, std::vector<uint8_t> body) {
  const InMeeting here(core);
  const std::lock_guard lock(mutex_);
  served_[vector].answers[object].push_back(std::move(body));
  Tell(core);
  Apply(core.index, UINT64_MAX);
  changed_.notify_all();
}

std::vector<uint8_t> Meeting::TakeAnswer(Core& core, uint32_t object) {
  const InMeeting here(core);
  std::unique_lock lock(mutex_);
  std::deque<std::vector<uint8_t>>& answers = served_[core.index].answers[object];
  const uint32_t cube = launch_.GroupOf(core.index) * launch_.PerGroup();
  const std::function<bool()> passes = [&] { return !answers.empty(); };
  const auto vain = [&]() -> Vain {
    return {Format("Matmul on %s waits for %s, which %s", launch_.NameOf(core.index).c_str(),
                   launch_.NameOf(cube).c_str(),
                   left_[cube] ? "has left the kernel" : "does not serve it"),
            {cube},
            "Hardware would wait forever: a hang. Let the AIC get to REGIST_MATMUL_OBJ, with the "
            "same objects."};
  };
  Wait(core, lock, passes, vain, false, "Matmul");
  std::vector<uint8_t> body = std::move(answers.front());
  answers.pop_front();
  return body;
}

uint8_t* Meeting::ExchangeOf(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!exchange_) {
    exchange_.emplace(bytes);
  }
  return exchange_->Region().addr;
}

const GmRegion* Meeting::ExchangeAt(const void* addr) {
  const std::lock_guard lock(mutex_);
  return exchange_ && exchange_->Holds(addr) ? &exchange_->Region() : nullptr;
}

}  // namespace aclsim
