// SPDX-License-Identifier: Apache-2.0
// As host/level.h says. Every level has the same results to the last bit: orders of additions and the rounding of
// quotients are part of them.
#include "timing/shares.h"

#include "host/level.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

constexpr double kNever = 1e300;

// Operators on it work value by value. Anywhere in an array of double.
typedef double Wide
    __attribute__((vector_size(kSharesWidth * sizeof(double)), aligned(8), may_alias));

Wide& At(double* values, size_t i) { return *reinterpret_cast<Wide*>(values + i); }
const Wide& At(const double* values, size_t i) {
  return *reinterpret_cast<const Wide*>(values + i);
}

double Sum(const Wide& wide) {
  double sum = 0;
  for (size_t i = 0; i < kSharesWidth; ++i) {
    sum += wide[i];
  }
  return sum;
}

double FirstEnd(const Shares& moving, double now, size_t* first) {
  Wide least = Wide{} + kNever;
  for (size_t i = 0; i < moving.count; i += kSharesWidth) {
    const Wide takes = At(moving.left, i) * At(moving.cycles, i);
    least = takes < least ? takes : least;
  }
  double soonest = kNever;
  for (size_t i = 0; i < kSharesWidth; ++i) {
    soonest = least[i] < soonest ? least[i] : soonest;
  }
  // Quotients decide, but only of those that are as near as rounding can tell.
  const double most = soonest + soonest * 1e-12 + now * 1e-14;
  double ends = kNever;
  for (size_t i = 0; i < moving.count; ++i) {
    if (moving.left[i] * moving.cycles[i] <= most) {
      const double end = now + moving.left[i] / moving.rate[i];
      if (end < ends) {
        ends = end;
        *first = i;
      }
    }
  }
  return ends;
}

void Pass(const Shares& moving, double cycles) {
  const Wide none = {};
  for (size_t i = 0; i < moving.count; i += kSharesWidth) {
    const Wide left = At(moving.left, i) - cycles * At(moving.rate, i);
    At(moving.left, i) = none < left ? left : none;
  }
}

// Returns whether they want more than there is, by the sum in their order: it takes its time, and is seldom so close.
bool Exceeds(const double* demand, size_t count, double capacity) {
  Wide sums = {};
  for (size_t i = 0; i < count; i += kSharesWidth) {
    sums += At(demand, i);
  }
  double sum = Sum(sums);
  constexpr double kRounding = 1e-9;
  if (sum > capacity * (1 + kRounding) || sum < capacity * (1 - kRounding)) {
    return sum > capacity;
  }
  sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += demand[i];
  }
  return sum > capacity;
}

// Sorts the first `count` of moving.ordered: those that want no more than `share` go behind the others, and what they want goes
// from the capacity. Returns how many others there are.
size_t SetAside(const Shares& moving, size_t count, double share, double* capacity) {
  double* const demand = moving.ordered;
  size_t few = 0;
  for (size_t i = 0; i < count; ++i) {
    few += demand[i] > share ? 0 : 1;
  }
  // Those in front change places with the last of the others, the first of them with the very last.
  const size_t kept = count - few;
  size_t other = count;
  for (size_t i = 0; i < kept; ++i) {
    if (demand[i] > share) {
      continue;
    }
    do {
      --other;
    } while (!(demand[other] > share));
    const double content = demand[i];
    demand[i] = demand[other];
    demand[other] = content;
  }
  for (size_t i = kept; i < count; ++i) {
    *capacity -= demand[i];
  }
  return kept;
}

// Returns what is left to each of the others, and to those that want more than that, once all have been set aside that want less.
double ShareInOrder(const Shares& moving, const double* bytes, double capacity) {
  size_t wanting = 0;
  for (size_t i = 0; i < moving.count; ++i) {
    moving.ordered[wanting] = moving.demand[i];
    wanting += bytes[i] > 0 ? 1 : 0;
  }
  double share = kNever;
  for (size_t before = 0; before != wanting && wanting > 0;) {
    before = wanting;
    share = capacity / static_cast<double>(wanting);
    wanting = SetAside(moving, wanting, share, &capacity);
  }
  return wanting > 0 ? share : kNever;
}

// Returns the same, without looking at their order as long as those that are set aside together want the same.
double ShareOf(const Shares& moving, const double* bytes, double capacity) {
  const double whole = capacity;
  const Wide none = {}, one = none + 1;
  Wide counts = none;
  for (size_t i = 0; i < moving.count; i += kSharesWidth) {
    counts += none < At(bytes, i) ? one : none;
  }
  double wanting = Sum(counts);
  for (double before = 0;;) {
    const double share = capacity / wanting;
    Wide least = none + kNever, most = none;
    counts = none;
    for (size_t i = 0; i < moving.count; i += kSharesWidth) {
      const Wide demand = At(moving.demand, i);
      const Wide content = demand <= share ? demand : none;
      const Wide set = before < content ? content : none;
      most = set > most ? set : most;
      least = none < set ? (set < least ? set : least) : least;
      counts += none < set ? one : none;
    }
    const double few = Sum(counts);
    if (few == 0) {
      return share;
    }
    double lowest = kNever, highest = 0;
    for (size_t i = 0; i < kSharesWidth; ++i) {
      lowest = least[i] < lowest ? least[i] : lowest;
      highest = most[i] > highest ? most[i] : highest;
    }
    if (lowest != highest || few == wanting) {
      return ShareInOrder(moving, bytes, whole);
    }
    for (double i = 0; i < few; ++i) {
      capacity -= highest;
    }
    wanting -= few;
    before = share;
  }
}

void Limit(const Shares& moving, const double* bytes, double capacity) {
  for (size_t i = 0; i < moving.count; i += kSharesWidth) {
    At(moving.demand, i) = At(bytes, i) * At(moving.rate, i);
  }
  if (!Exceeds(moving.demand, moving.count, capacity)) {
    return;
  }
  const double share = ShareOf(moving, bytes, capacity);
  const double perShare = 1 / share;
  for (size_t i = 0; i < moving.count; i += kSharesWidth) {
    const Wide demand = At(moving.demand, i);
    const Wide of = At(bytes, i);
    At(moving.rate, i) = demand > share ? share / of : At(moving.rate, i);
    At(moving.cycles, i) = demand > share ? of * perShare : At(moving.cycles, i);
  }
}

void Share(const Shares& moving, double l2, double memory) {
  for (size_t i = 0; i < moving.count; i += kSharesWidth) {
    At(moving.rate, i) = At(moving.fullRate, i);
    At(moving.cycles, i) = At(moving.fullCycles, i);
  }
  Limit(moving, moving.l2, l2);
  Limit(moving, moving.memory, memory);
}

}  // namespace

const SharesTable& TableOfShares();
const SharesTable& TableOfShares() {
  static constexpr SharesTable kTable = {FirstEnd, Pass, Share};
  return kTable;
}

}  // namespace aclsim::ACLSIM_LEVEL
