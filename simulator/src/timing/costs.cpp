// SPDX-License-Identifier: Apache-2.0
#include "timing/costs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "host/format.h"
#include "soc/overlay.h"

namespace aclsim {

namespace {

constexpr size_t kMostInstructions = 40;  // of one function; cost_table.py checks

struct InstructionRow {
  uint32_t arch;
  const char* name;
  double perRepeat32, perRepeat16, head, tail;
  Evidence evidence;
  uint32_t dtypes;
};
struct FunctionRow {
  uint32_t arch;  // 0: all that have no row of their own, which comes first
  const char* name;
  bool levels;
  const char* chain[kMostInstructions];
};
struct CopyRow {
  uint32_t arch;
  double readLatency, missLatency, writeLatency, leastCycles, window, unaligned;
  uint64_t alignment;
  double sameLine, requestBytes, writeBack, earlyWriteBack, smallCopy;
  double ubBlock, l1Row, lineTurn, atomicTurn, besideVector;
  CopyLaw::Curve readHit, readMiss, write;
  Evidence evidence;
};
struct ArchRow {
  uint32_t arch;
  double memoryFactor, l2BytesPerSecond, launchMicroseconds, startCycles;
  double band[3];
  Evidence evidence;
};
struct RegisterRow {
  uint32_t arch;
  const char* name;
  RegisterCost cost;
};
struct ScalarRow {
  uint32_t arch;
  ScalarCosts costs;
};
struct MemoryRow {
  const char* soc;
  double bytesPerSecond;
};

#include "cost_table.inc"

constexpr uint32_t kMeasuredArch = 2201;

// Fields by their names in costs.json, for the board's calibration.
struct CopyField {
  const char* name;
  double CopyLaw::* field;
};
constexpr CopyField kCopyFields[] = {
    {"readLatency", &CopyLaw::readLatency},
    {"missLatency", &CopyLaw::missLatency},
    {"writeLatency", &CopyLaw::writeLatency},
    {"leastCycles", &CopyLaw::leastCycles},
    {"window", &CopyLaw::window},
    {"unaligned", &CopyLaw::unaligned},
    {"sameLine", &CopyLaw::sameLine},
    {"requestBytes", &CopyLaw::requestBytes},
    {"writeBack", &CopyLaw::writeBack},
    {"earlyWriteBack", &CopyLaw::earlyWriteBack},
    {"smallCopy", &CopyLaw::smallCopy},
    {"ubBlock", &CopyLaw::ubBlock},
    {"l1Row", &CopyLaw::l1Row},
    {"lineTurn", &CopyLaw::lineTurn},
    {"atomicTurn", &CopyLaw::atomicTurn},
    {"besideVector", &CopyLaw::besideVector},
};
struct CurveField {
  const char* name;
  CopyLaw::Curve CopyLaw::* field;
};
constexpr CurveField kCurveFields[] = {
    {"readHit", &CopyLaw::readHit}, {"readMiss", &CopyLaw::readMiss}, {"write", &CopyLaw::write}};
constexpr double kCurvesAt = 65536;  // bytes whose cycles stand for a curve
struct ScalarField {
  const char* name;
  double ScalarCosts::* field;
};
constexpr ScalarField kScalarFields[] = {
    {"start", &ScalarCosts::start},       {"buffer", &ScalarCosts::buffer},
    {"cold", &ScalarCosts::cold},         {"coldFunction", &ScalarCosts::coldFunction},
    {"issue", &ScalarCosts::issue},       {"sync", &ScalarCosts::sync},
    {"queue", &ScalarCosts::queue},       {"queueOut", &ScalarCosts::queueOut},
    {"access", &ScalarCosts::access},     {"gmMiss", &ScalarCosts::gmMiss},
    {"gmHit", &ScalarCosts::gmHit},       {"meet", &ScalarCosts::meet},
    {"meetInGm", &ScalarCosts::meetInGm}, {"mark", &ScalarCosts::mark}};
struct VectorField {
  const char* name;
  double VectorCosts::* field;
};
constexpr VectorField kVectorFields[] = {{"leastCycles", &VectorCosts::leastCycles},
                                         {"partialRepeat", &VectorCosts::partialRepeat},
                                         {"sharedGroups", &VectorCosts::sharedGroups},
                                         {"someRepeats", &VectorCosts::someRepeats},
                                         {"readWrite", &VectorCosts::readWrite}};
struct FunctionField {
  const char* name;
  double FunctionTimes::* field;
};
constexpr FunctionField kFunctionFields[] = {
    {"head", &FunctionTimes::head},         {"drain", &FunctionTimes::drain},
    {"queue", &FunctionTimes::queue},       {"dispatch", &FunctionTimes::dispatch},
    {"ports", &FunctionTimes::ports},       {"ubAccesses", &FunctionTimes::ubAccesses},
    {"ubWrites", &FunctionTimes::ubWrites}, {"turn", &FunctionTimes::turn},
    {"loop", &FunctionTimes::loop},         {"between", &FunctionTimes::between}};
struct RegisterField {
  const char* name;
  double RegisterCost::* field;
};
constexpr RegisterField kRegisterFields[] = {{"forward32", &RegisterCost::forward32},
                                             {"forward16", &RegisterCost::forward16},
                                             {"initiation32", &RegisterCost::initiation32},
                                             {"initiation16", &RegisterCost::initiation16}};
constexpr const char* kInstructionFields[] = {"repeat32", "repeat16", "wait"};
constexpr const char* kChipFields[] = {"l2BytesPerSecond", "launchMicroseconds", "startCycles"};

// The board's value of a cost.
const double* Overlaid(const std::string& name) {
  const std::map<std::string, double>& costs = BoardOverlay().costs;
  if (costs.empty()) {
    return nullptr;
  }
  const auto found = costs.find(name);
  return found != costs.end() ? &found->second : nullptr;
}

bool OverlayCost(const std::string& name, double* value) {
  const double* const own = Overlaid(name);
  *value = own != nullptr ? *own : *value;
  return own != nullptr;
}

std::string CostName(const char* group, uint32_t arch, const char* name) {
  return Format("%s.%u.%s", group, arch, name);
}

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
  InstructionCost cost{row->perRepeat32, row->perRepeat16, row->head,
                       row->tail,        row->evidence,    row->dtypes};
  if (!own) {
    cost.evidence = Evidence::kExtrapolated;
  }
  if (!BoardOverlay().costs.empty()) {
    const std::string prefix = CostName("instructions", arch, name) + ".";
    const bool wide = OverlayCost(prefix + "repeat32", &cost.perRepeat32);
    const bool narrow = OverlayCost(prefix + "repeat16", &cost.perRepeat16);
    if (const double* wait = Overlaid(prefix + "wait")) {
      const double scale = *wait / (cost.head + cost.tail);
      cost.head *= scale;
      cost.tail *= scale;
    }
    if (wide || narrow) {
      cost.evidence = Evidence::kYours;
    }
  }
  return cost;
}

// The board's law of copies.
void OverlayLaw(uint32_t arch, CopyLaw* law) {
  bool own = false;
  for (const CopyField& field : kCopyFields) {
    own = OverlayCost(CostName("copies", arch, field.name), &(law->*field.field)) || own;
  }
  auto alignment = static_cast<double>(law->alignment);
  own = OverlayCost(CostName("copies", arch, "alignment"), &alignment) || own;
  law->alignment = static_cast<uint64_t>(alignment);
  for (const CurveField& field : kCurveFields) {
    if (const double* cycles = Overlaid(CostName("copies", arch, field.name))) {
      const double scale = *cycles / OnCurve(law->*field.field, kCurvesAt);
      for (auto& [bytes, there] : law->*field.field) {
        there *= scale;
      }
      own = true;
    }
  }
  law->evidence = own ? Evidence::kYours : law->evidence;
}

template <typename Row, size_t n>
const Row* OfArch(const Row (&rows)[n], uint32_t arch) {
  const auto found =
      std::find_if(rows, rows + n, [arch](const Row& row) { return row.arch == arch; });
  return found != rows + n ? found : nullptr;
}

}  // namespace

const char* EvidenceName(Evidence evidence) {
  static const char* const kNames[kEvidences] = {
      "board (yours)", "board", "official", "fitted", "simulator", "assumed", "extrapolated"};
  return kNames[static_cast<size_t>(evidence)];
}

FunctionCost CostOf(const Soc& soc, const char* function) {
  FunctionCost cost;
  const uint32_t arch =
      FindInstruction(soc.npuArch, "vadd") != nullptr ? soc.npuArch : kMeasuredArch;
  for (const FunctionRow& row : kFunctions) {
    if ((row.arch == 0 || row.arch == arch) && std::strcmp(row.name, function) == 0) {
      cost.levels = row.levels;
      for (size_t i = 0; i < kMostInstructions && row.chain[i] != nullptr; ++i) {
        cost.chain.push_back(CostOfInstruction(soc.npuArch, row.chain[i]));
        cost.evidence = std::max(cost.evidence, cost.chain.back().evidence);
        cost.dtypes &= cost.chain.back().dtypes;
      }
      if (cost.chain.size() > 1 && row.arch == 0) {  // else counted
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
                        row.ubBlock,      row.l1Row,       row.lineTurn,       row.atomicTurn,
                        row.besideVector, row.readHit,     row.readMiss,       row.write,
                        row.evidence};
    }
    for (const ArchRow& row : kArchs) {
      CopyLaw& law = made.try_emplace(row.arch, made.at(kMeasuredArch)).first->second;
      OverlayLaw(row.arch, &law);
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
  double bytesPerSecond = memory != std::end(kMemory) ? memory->bytesPerSecond : 1e12;
  const double cyclesPerSecond = soc.vecFreqMhz * 1e6;
  double l2BytesPerSecond = arch->l2BytesPerSecond;
  auto l2Bytes = static_cast<double>(soc.l2Bytes);
  ChipCosts chip;
  chip.launchMicroseconds = arch->launchMicroseconds;
  chip.startCycles = arch->startCycles;
  const std::string& name = soc.name;
  bool own = OverlayCost("memory." + name, &bytesPerSecond);
  own = OverlayCost("l2." + name, &l2Bytes) || own;
  own = OverlayCost(CostName("chips", soc.npuArch, "l2BytesPerSecond"), &l2BytesPerSecond) || own;
  OverlayCost(CostName("chips", soc.npuArch, "launchMicroseconds"), &chip.launchMicroseconds);
  OverlayCost(CostName("chips", soc.npuArch, "startCycles"), &chip.startCycles);
  chip.bytesPerCycle = bytesPerSecond * arch->memoryFactor / cyclesPerSecond;
  chip.l2BytesPerCycle = l2BytesPerSecond / cyclesPerSecond;
  chip.l2Bytes = static_cast<uint64_t>(l2Bytes);
  chip.cyclesPerMicrosecond = soc.vecFreqMhz;
  std::copy(std::begin(arch->band), std::end(arch->band), chip.band);
  chip.evidence = own ? Evidence::kYours : arch->evidence;
  return chip;
}

const ScalarCosts& ScalarCostsOf(const Soc& soc) {
  static const auto all = [] {
    std::map<uint32_t, ScalarCosts> made;
    for (const ScalarRow& row : kScalar) {
      ScalarCosts& costs = made[row.arch] = row.costs;
      for (const ScalarField& field : kScalarFields) {
        OverlayCost(std::string("scalar.") + field.name, &(costs.*field.field));
      }
    }
    return made;
  }();
  const auto found = all.find(soc.npuArch);
  return found != all.end() ? found->second : all.at(kMeasuredArch);
}

const VectorCosts& VectorCostsOf() {
  static const VectorCosts costs = [] {
    VectorCosts made = kVectorCosts;
    for (const VectorField& field : kVectorFields) {
      OverlayCost(std::string("vector.") + field.name, &(made.*field.field));
    }
    return made;
  }();
  return costs;
}

const FunctionTimes& FunctionTimesOf() {
  static const FunctionTimes times = [] {
    FunctionTimes made = kFunctionTimes;
    for (const FunctionField& field : kFunctionFields) {
      double& value = made.*field.field;
      if (OverlayCost(std::string("vectorFunction.") + field.name, &value)) {
        made.evidence = Evidence::kYours;
      }
      value = std::max(
          value,
          field.field == &FunctionTimes::head || field.field == &FunctionTimes::drain ? 0.0 : 1.0);
    }
    return made;
  }();
  return times;
}

RegisterCost RegisterCostOf(uint32_t arch, const char* name) {
  for (const RegisterRow& row : kRegisters) {
    if (row.arch != arch || std::strcmp(row.name, name) != 0) {
      continue;
    }
    RegisterCost cost = row.cost;
    for (const RegisterField& field : kRegisterFields) {
      if (OverlayCost(CostName("registers", arch, name) + "." + field.name, &(cost.*field.field))) {
        cost.evidence = Evidence::kYours;
      }
    }
    cost.initiation32 = std::max(cost.initiation32, 1.0);
    cost.initiation16 = std::max(cost.initiation16, 1.0);
    return cost;
  }
  return {};
}

namespace {

// Every name that a calibration may give a value.
std::set<std::string> CostNames() {
  std::set<std::string> names;
  for (const ArchRow& row : kArchs) {
    for (const CopyField& field : kCopyFields) {
      names.insert(CostName("copies", row.arch, field.name));
    }
    names.insert(CostName("copies", row.arch, "alignment"));
    for (const CurveField& field : kCurveFields) {
      names.insert(CostName("copies", row.arch, field.name));
    }
    for (const char* field : kChipFields) {
      names.insert(CostName("chips", row.arch, field));
    }
    for (const InstructionRow& instruction : kInstructions) {
      for (const char* field : kInstructionFields) {
        names.insert(CostName("instructions", row.arch, instruction.name) + "." + field);
      }
    }
  }
  for (const Soc& soc : AllSocs()) {
    names.insert("memory." + soc.name);
    names.insert("l2." + soc.name);
  }
  for (const ScalarField& field : kScalarFields) {
    names.insert(std::string("scalar.") + field.name);
  }
  for (const VectorField& field : kVectorFields) {
    names.insert(std::string("vector.") + field.name);
  }
  for (const FunctionField& field : kFunctionFields) {
    names.insert(std::string("vectorFunction.") + field.name);
  }
  for (const RegisterRow& row : kRegisters) {
    for (const RegisterField& field : kRegisterFields) {
      names.insert(CostName("registers", row.arch, row.name) + "." + field.name);
    }
  }
  return names;
}

}  // namespace

std::string OverlaidCostsProblem() {
  const std::set<std::string> names = CostNames();
  for (const auto& [name, value] : BoardOverlay().costs) {
    if (names.count(name) == 0) {
      return Format("no cost has the name %s", name.c_str());
    }
    if (!(value >= 0) || value > 1e18) {
      return Format("%s is %g, want a number from 0 on", name.c_str(), value);
    }
  }
  return "";
}

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
