// SPDX-License-Identifier: Apache-2.0
// Operands that are in each other's way: banks and groups of UB.
#include <algorithm>
#include <array>

#include "timing/tape.h"

namespace aclsim {

namespace {

constexpr uint64_t kRepeat = 256;
constexpr uint64_t kBlock = 32;

// A2's banks: 16 groups of one block, a bank is 128 rows of a group. Cycles per repeat: VectorCosts.
constexpr uint64_t kGroups = kBankGroups;
constexpr uint64_t kBankBytes = 65536;

// Returns how far apart the repeats of an operand are.
int64_t RepeatStride(const Access& access) {
  return access.repeat > 1 ? access.repStride : static_cast<int64_t>(kRepeat);
}

// Bit per group that a full repeat touches; worst: most blocks in one group.
uint32_t Groups(const Access& whole, int* worst, int64_t repeat = 0) {
  Access access = whole;
  access.addr += static_cast<uint64_t>(repeat * RepeatStride(whole));
  std::array<int, kGroups> count{};
  uint32_t groups = 0;
  const uint64_t bytes = std::min<uint64_t>(access.bytes, kRepeat);
  *worst = 1;
  if (access.chunk >= access.bytes) {  // contiguous
    const uint64_t blocks = (bytes + kBlock - 1) / kBlock;
    for (uint64_t i = 0; i < blocks; ++i) {
      groups |= 1u << BankGroupOf(access.addr + i * kBlock);
    }
    return groups;
  }
  if (access.chunkStride == 0) {
    return 1u << BankGroupOf(access.addr);
  }
  for (uint64_t at = 0, block = 0; at < bytes && block < 8; at += access.chunk, ++block) {
    const uint64_t group = BankGroupOf(
        access.addr + static_cast<uint64_t>(static_cast<int64_t>(block) * access.chunkStride));
    groups |= 1u << group;
    *worst = std::max(*worst, ++count[group]);
  }
  return groups;
}

// Cycles per repeat by which two sources hold each other up.
double ReadConflicts(const Access& a, const Access& b) {
  int unused = 0;
  const auto shared = [&](int64_t repeat) {
    return (Groups(a, &unused, repeat) & Groups(b, &unused, repeat)) != 0;
  };
  constexpr auto kRow = static_cast<int64_t>(kGroups * kBlock);
  if ((RepeatStride(a) - RepeatStride(b)) % kRow == 0) {
    return shared(0) ? VectorCostsOf().sharedGroups : 0;
  }
  int found = 0;
  constexpr int kPeriod = kGroups;  // strides are whole blocks
  for (int repeat = 0; repeat < kPeriod; ++repeat) {
    found += shared(repeat) ? 1 : 0;
  }
  return (found == kPeriod ? VectorCostsOf().sharedGroups : VectorCostsOf().someRepeats) * found /
         kPeriod;
}

}  // namespace

BankConflicts ConflictsOf(const Soc& soc, const Record& record) {
  BankConflicts found;
  if (soc.npuArch != 2201 || record.accessCount == 0) {
    return found;
  }
  if (record.crowd > 0) {
    // A repeat takes two cycles: two blocks of a group are there in time.
    found.groups = std::max(0, record.crowd - 2);
    return found;
  }
  const Access* reads[2] = {nullptr, nullptr};
  const Access* write = nullptr;
  int count = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || access.table) {
      continue;
    }
    int worst = 1;
    Groups(access, &worst);
    found.groups = std::max(found.groups, static_cast<double>(worst - 1));
    if (access.use == Use::kRead && count < 2) {
      reads[count++] = &access;
    } else if (access.use == Use::kWrite && write == nullptr) {
      write = &access;
    }
  }
  int unused = 0;
  if (count == 2 && reads[0]->addr != reads[1]->addr) {
    found.groups += ReadConflicts(*reads[0], *reads[1]);
  }
  if (write != nullptr) {
    const uint32_t to = Groups(*write, &unused);
    for (int i = 0; i < count; ++i) {
      // A write that lies whole repeats away is a repeat late, and clear of the read.
      const uint64_t apart = reads[i]->addr > write->addr ? reads[i]->addr - write->addr
                                                          : write->addr - reads[i]->addr;
      if (apart % kRepeat != 0 && reads[i]->addr / kBankBytes == write->addr / kBankBytes &&
          (Groups(*reads[i], &unused) & to) != 0) {
        found.banks = VectorCostsOf().readWrite;
        return found;
      }
    }
  }
  return found;
}

}  // namespace aclsim
