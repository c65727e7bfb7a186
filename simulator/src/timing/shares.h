// SPDX-License-Identifier: Apache-2.0
// Copies move at one time and share bandwidth here: the part of the event simulation that every event goes through.
// shares.cpp is compiled once per host instruction set, as device/lanes.cpp is; every table gives the same bits.
#pragma once

#include <cstddef>

namespace aclsim {

constexpr size_t kSharesWidth = 8;

// One value per copy that moves, in the order in which they started. Up to the next multiple of kSharesWidth copies follow
// that want nothing and never end.
struct Shares {
  size_t count = 0;
  double* left = nullptr;    // share of it that is to be moved
  double* rate = nullptr;    // share per cycle
  double* cycles = nullptr;  // 1 / rate, give or take the last bits
  // When nobody else moves.
  double* fullRate = nullptr;
  double* fullCycles = nullptr;
  // Bytes of a bandwidth.
  double* l2 = nullptr;
  double* memory = nullptr;
  // Room to work in.
  double* demand = nullptr;
  double* ordered = nullptr;
};

struct SharesTable {
  // When the first of them ends, and which it is: of those that end at one time, the first in the order.
  double (*firstEnd)(const Shares& moving, double now, size_t* first);
  void (*pass)(const Shares& moving, double cycles);
  // Equal shares of both bandwidths, in bytes per cycle; what one cannot use goes to the others.
  void (*share)(const Shares& moving, double l2, double memory);
};

const SharesTable& SharesLoops();

}  // namespace aclsim
