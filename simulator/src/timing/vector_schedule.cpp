// SPDX-License-Identifier: Apache-2.0
#include "timing/vector_schedule.h"

#include <algorithm>
#include <cstring>

#include "engine/dtypes.h"

namespace aclsim {

VectorSchedule::VectorSchedule(uint32_t arch) : arch_(arch), times_(FunctionTimesOf()) {}

void VectorSchedule::Begin() {
  cycles_.fill({});
  retirements_.assign(static_cast<size_t>(times_.queue), 0);
  issued_ = 0;
  places_.clear();
  place_ = 0;
  loop_ = SIZE_MAX;
  turns_ = 0;
  retired_ = 0;
  barrier_ = memory_ = end_ = 0;
  ground_ = times_.evidence;
}

VectorSchedule::Cycle& VectorSchedule::At(int64_t cycle) {
  Cycle& slot = cycles_[static_cast<size_t>(cycle) % kCycles];
  if (slot.at != cycle) {
    slot = {};
    slot.at = cycle;
  }
  return slot;
}

int VectorSchedule::FreePort(int64_t cycle, const RegisterCost& cost, int64_t initiation) {
  for (int port = 0; port < static_cast<int>(times_.ports); ++port) {
    const auto bit = static_cast<uint8_t>(1u << port);
    bool free = (At(cycle).started & bit) == 0;
    for (int64_t i = 0; free && initiation > 1 && i < initiation; ++i) {
      free = (At(cycle + i).slow & bit) == 0;
    }
    if (free) {
      return port;
    }
    if (cost.unit == RegisterUnit::kOnePort) {
      return -1;
    }
  }
  return -1;
}

int64_t VectorSchedule::StartOf(const RegisterCost& cost, int64_t initiation, int64_t earliest) {
  for (int64_t cycle = earliest;; ++cycle) {
    Cycle& slot = At(cycle);
    if (cost.unit == RegisterUnit::kLoad || cost.unit == RegisterUnit::kStore) {
      const bool write = cost.unit == RegisterUnit::kStore;
      // An instruction that takes longer takes all of UB's ports for so many cycles.
      const auto take = initiation > 1 ? static_cast<int>(times_.ubAccesses) : 1;
      bool free = true;
      for (int64_t i = 0; free && i < initiation; ++i) {
        const Cycle& each = At(cycle + i);
        free = each.accesses + take <= static_cast<int>(times_.ubAccesses) &&
               (!write || each.writes < static_cast<int>(times_.ubWrites));
      }
      if (free) {
        for (int64_t i = 0; i < initiation; ++i) {
          Cycle& each = At(cycle + i);
          each.accesses = static_cast<uint8_t>(each.accesses + take);
          each.writes = static_cast<uint8_t>(each.writes + (write ? 1 : 0));
        }
        return cycle;
      }
      continue;
    }
    if (cost.unit == RegisterUnit::kNone) {
      return cycle;
    }
    const int port = FreePort(cycle, cost, initiation);
    if (port >= 0) {
      const auto bit = static_cast<uint8_t>(1u << port);
      slot.started = static_cast<uint8_t>(slot.started | bit);
      for (int64_t i = 0; initiation > 1 && i < initiation; ++i) {
        Cycle& each = At(cycle + i);
        each.slow = static_cast<uint8_t>(each.slow | bit);
      }
      return cycle;
    }
  }
}

const RegisterCost& VectorSchedule::CostOf(const char* name) {
  const auto [found, isNew] = known_.try_emplace(name);
  if (isNew) {
    found->second = RegisterCostOf(arch_, name);
    if (!found->second.known) {
      unknown_.emplace_back(name);
    }
  }
  return found->second;
}

int64_t VectorSchedule::Issue(const char* name, DType dtype, int64_t ready, uint32_t site) {
  const RegisterCost& cost = CostOf(name);
  const bool narrow = WidthOf(dtype) < 4;
  ground_ = std::max(ground_, cost.evidence);
  const bool memory = cost.unit == RegisterUnit::kLoad || cost.unit == RegisterUnit::kStore;
  if (cost.unit == RegisterUnit::kBarrier) {
    barrier_ = memory_;
    return barrier_;
  }
  // A place that is not behind the last one: a loop turns, and nothing comes in meanwhile.
  const auto [at, isNew] = places_.try_emplace(site, places_.size());
  if (!isNew && at->second <= place_) {
    turns_ += times_.turn + (std::exchange(loop_, at->second) != at->second ? times_.loop : 0);
  }
  place_ = at->second;
  // It comes in once the one so many before and all before that are done, and a few come in a cycle.
  int64_t& slot = retirements_[issued_ % retirements_.size()];
  int64_t earliest = std::max(
      {ready, slot, static_cast<int64_t>(static_cast<double>(issued_) / times_.dispatch + turns_)});
  if (memory) {
    earliest = std::max(earliest, barrier_);
  }
  ++issued_;
  const double initiations = narrow ? cost.initiation16 : cost.initiation32;
  const auto initiation =
      static_cast<int64_t>(IsReal(dtype) ? initiations : initiations * cost.integers);
  const int64_t start = StartOf(cost, initiation, earliest);
  const auto forward = static_cast<int64_t>(narrow ? cost.forward16 : cost.forward32);
  const int64_t done = start + forward;
  slot = retired_ = std::max(retired_, done);
  if (memory) {
    memory_ = std::max(memory_, done);
  }
  end_ = std::max(end_, done);
  return done;
}

double VectorSchedule::End() { return static_cast<double>(end_); }

}  // namespace aclsim
