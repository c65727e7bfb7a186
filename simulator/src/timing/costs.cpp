// SPDX-License-Identifier: Apache-2.0
#include "timing/costs.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace aclsim {

namespace {

constexpr size_t kMostInstructions = 16;  // of one function; cost_table.py checks

struct InstructionRow {
  uint32_t arch;
  const char* name;
  double perRepeat32, perRepeat16, head, tail;
  Evidence evidence;
};
struct FunctionRow {
  const char* name;
  bool levels;
  const char* chain[kMostInstructions];
};
struct CopyRow {
  uint32_t arch;
  double readLatency, missLatency, writeLatency, leastCycles, window, unaligned;
  uint64_t alignment;
  double sameLine, requestBytes, writeBack, earlyWriteBack, smallCopy;
  double ubBlock, lineTurn, besideVector;
  CopyLaw::Curve readHit, readMiss, write;
  Evidence evidence;
};
struct ArchRow {
  uint32_t arch;
  double memoryFactor, l2BytesPerSecond, launchMicroseconds, startCycles;
  double band[3];
  Evidence evidence;
};
struct MemoryRow {
  const char* soc;
  double bytesPerSecond;
};

#include "cost_table.inc"

constexpr uint32_t kMeasuredArch = 2201;

const InstructionRow* FindInstruction(uint32_t arch, const char* name) {
  for (const InstructionRow& row : kInstructions) {
    if (row.arch == arch && std::strcmp(row.name, name) == 0) {
      return &row;
    }
  }
  return nullptr;
}

// The architecture's own measurement, else that of A2, labelled so.
InstructionCost CostOfInstruction(uint32_t arch, const char* name) {
  const InstructionRow* row = FindInstruction(arch, name);
  const bool own = row != nullptr;
  if (!own) {
    row = FindInstruction(kMeasuredArch, name);
  }
  InstructionCost cost{row->perRepeat32, row->perRepeat16, row->head, row->tail, row->evidence};
  if (!own) {
    cost.evidence = Evidence::kExtrapolated;
  }
  return cost;
}

template <typename Row, size_t n>
const Row* OfArch(const Row (&rows)[n], uint32_t arch) {
  const auto found =
      std::find_if(rows, rows + n, [arch](const Row& row) { return row.arch == arch; });
  return found != rows + n ? found : nullptr;
}

}  // namespace

const char* EvidenceName(Evidence evidence) {
  static const char* const kNames[kEvidences] = {"board",     "official", "fitted",
                                                 "simulator", "assumed",  "extrapolated"};
  return kNames[static_cast<size_t>(evidence)];
}

FunctionCost CostOf(const Soc& soc, const char* function) {
  FunctionCost cost;
  for (const FunctionRow& row : kFunctions) {
    if (std::strcmp(row.name, function) == 0) {
      cost.levels = row.levels;
      for (size_t i = 0; i < kMostInstructions && row.chain[i] != nullptr; ++i) {
        cost.chain.push_back(CostOfInstruction(soc.npuArch, row.chain[i]));
        cost.evidence = std::max(cost.evidence, cost.chain.back().evidence);
      }
      if (cost.chain.size() > 1) {
        cost.evidence = std::max(cost.evidence, Evidence::kAssumed);
      }
      return cost;
    }
  }
  cost.known = false;
  cost.evidence = Evidence::kAssumed;
  cost.chain.resize(4);
  return cost;
}

const CopyLaw& CopyLawOf(const Soc& soc) {
  static const auto laws = [] {
    std::map<uint32_t, CopyLaw> made;
    for (const CopyRow& row : kCopies) {
      made[row.arch] = {row.readLatency,  row.missLatency, row.writeLatency,   row.leastCycles,
                        row.window,       row.unaligned,   row.alignment,      row.sameLine,
                        row.requestBytes, row.writeBack,   row.earlyWriteBack, row.smallCopy,
                        row.ubBlock,      row.lineTurn,    row.besideVector,   row.readHit,
                        row.readMiss,     row.write,       row.evidence};
    }
    return made;
  }();
  const auto found = laws.find(soc.npuArch);
  return found != laws.end() ? found->second : laws.at(kMeasuredArch);
}

ChipCosts ChipCostsOf(const Soc& soc) {
  const ArchRow* arch = OfArch(kArchs, soc.npuArch);
  if (arch == nullptr) {
    arch = OfArch(kArchs, kMeasuredArch);
  }
  const auto memory = std::find_if(std::begin(kMemory), std::end(kMemory),
                                   [&](const MemoryRow& row) { return soc.name == row.soc; });
  const double bytesPerSecond = memory != std::end(kMemory) ? memory->bytesPerSecond : 1e12;
  const double cyclesPerSecond = soc.vecFreqMhz * 1e6;
  ChipCosts chip;
  chip.bytesPerCycle = bytesPerSecond * arch->memoryFactor / cyclesPerSecond;
  chip.l2BytesPerCycle = arch->l2BytesPerSecond / cyclesPerSecond;
  chip.cyclesPerMicrosecond = soc.vecFreqMhz;
  chip.launchMicroseconds = arch->launchMicroseconds;
  chip.startCycles = arch->startCycles;
  std::copy(std::begin(arch->band), std::end(arch->band), chip.band);
  chip.evidence = arch->evidence;
  return chip;
}

const ScalarCosts& ScalarCostsOf() { return kScalarCosts; }

double OnCurve(const CopyLaw::Curve& curve, double bytes) {
  if (bytes <= curve.front().first) {
    return curve.front().second * bytes / curve.front().first;
  }
  for (size_t i = 1; i < curve.size(); ++i) {
    if (bytes <= curve[i].first) {
      const auto& [x0, y0] = curve[i - 1];
      const auto& [x1, y1] = curve[i];
      return y0 + (y1 - y0) * (bytes - x0) / (x1 - x0);
    }
  }
  return curve.back().second * bytes / curve.back().first;
}

}  // namespace aclsim
