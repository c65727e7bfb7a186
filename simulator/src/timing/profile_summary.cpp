// SPDX-License-Identifier: Apache-2.0
// A launch in figures: bounds, pipes, copies, instructions, and what the estimate rests on.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "timing/l2.h"
#include "timing/profile_parts.h"

namespace aclsim {

namespace {

struct Instruction {
  uint64_t count = 0;
  double cycles = 0;
  Pipe pipe = Pipe::kScalar;
};

// By name: how often, and how long the pipes worked on it.
std::map<std::string, Instruction> InstructionsOf(const Profile& profile) {
  std::map<std::string, Instruction> found;
  for (size_t core = 0; core < profile.tapes.size(); ++core) {
    const Tape& tape = profile.tapes[core];
    std::vector<Instruction*> rows(tape.names.size());
    for (size_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      if (step.kind == StepKind::kVector || step.kind == StepKind::kUnit ||
          step.kind == StepKind::kCopy || step.kind == StepKind::kScalar) {
        if (rows[step.name] == nullptr) {
          rows[step.name] = &found[tape.names[step.name]];
        }
        Instruction& row = *rows[step.name];
        const Span& span = profile.times.cores[core].spans[i];
        row.count += 1;
        row.cycles += span.end - span.start;
        row.pipe = step.pipe;
      }
    }
  }
  return found;
}

// Sums what a core's copies move, and how long its vector pipe drains at barriers.
struct CoreSums {
  double readBytes = 0, writeBytes = 0, vectorDrain = 0;
  uint64_t reads = 0, writes = 0, unaligned = 0, blocks = 0;
};

CoreSums SumsOf(const Tape& tape, const CoreTimes& times, uint64_t alignment) {
  CoreSums sums;
  for (const GmCopy& copy : tape.copies) {
    const double bytes = static_cast<double>(copy.bytes) * copy.blocks;
    (copy.write ? sums.writeBytes : sums.readBytes) += bytes;
    ++(copy.write ? sums.writes : sums.reads);
    sums.blocks += copy.blocks;
    sums.unaligned += UnalignedBlocks(copy, alignment);
  }
  for (size_t i = 0; i < tape.steps.size(); ++i) {
    if (tape.steps[i].kind == StepKind::kBarrier && tape.steps[i].pipe == Pipe::kVector) {
      sums.vectorDrain += times.spans[i].end - times.spans[i].start;
    }
  }
  return sums;
}

// JSON behind the rest of a core: in a MIX kernel its name, and the pipes that cube cores alone have.
std::string OwnJson(const KernelLaunch& launch, uint32_t core, const CoreTimes& times) {
  static constexpr std::pair<Pipe, const char*> kKeys[] = {
      {Pipe::kMte1, "mte1"}, {Pipe::kCube, "cube"}, {Pipe::kFix, "fixpipe"}};
  std::string json = launch.Mixed() ? Format(",\"name\":\"%s\"", launch.NameOf(core).c_str()) : "";
  for (const auto& [pipe, key] : kKeys) {
    if (HasPipe(launch.KindOf(core), pipe)) {
      const auto index = static_cast<size_t>(pipe);
      json +=
          Format(",\"%s\":%.1f,\"%sWait\":%.1f", key, times.busy[index], key, times.waited[index]);
    }
  }
  return json;
}

// JSON: a list of names.
std::string NamesJson(const std::set<std::string>& names) {
  std::string json;
  for (const std::string& name : names) {
    json += json.empty() ? "" : ",";
    json += JsonQuoted(name);
  }
  return "[" + json + "]";
}

// Lists what a launch rests on: of the costs in the tapes, and of what the model adds.
std::vector<std::vector<Ground>> GroundsOf(const Profile& profile) {
  std::vector<std::vector<Ground>> found;
  const double writeBack = profile.times.writeBackCycles;
  for (size_t i = 0; i < profile.tapes.size(); ++i) {
    const CoreTimes& times = profile.times.cores[i];
    std::vector<Ground> grounds = profile.tapes[i].grounds;
    const auto add = [&](Evidence evidence, const char* name, double cycles) {
      if (cycles > 0) {
        grounds.push_back({name, evidence, cycles});
      }
    };
    const ScalarCosts& scalar = ScalarCostsOf(*profile.soc);
    add(scalar.evidence, "scalar pipe",
        times.busy[static_cast<size_t>(Pipe::kScalar)] - scalar.start);
    add(Evidence::kFitted, "writing back", writeBack);
    add(Evidence::kAssumed, "turns of a line", times.turns);
    add(Evidence::kAssumed, "blocks of UB", times.blocks);
    if (profile.uncounted) {
      add(Evidence::kAssumed, "scalar code", kDecides);
    }
    found.push_back(std::move(grounds));
  }
  return found;
}

// The worst class that a twentieth of the time rests on, on some core.
Evidence DecidingEvidence(const std::vector<std::vector<Ground>>& cores, double end) {
  constexpr double kLeast = 0.05;
  Evidence worst = Evidence::kBoard;
  for (const std::vector<Ground>& grounds : cores) {
    std::array<double, kEvidences> cycles{};
    for (const Ground& ground : grounds) {
      cycles[static_cast<size_t>(ground.evidence)] += ground.cycles;
    }
    double sum = 0;
    for (size_t i = kEvidences; i-- > 0;) {
      sum += cycles[i];
      if (sum >= kLeast * end) {
        worst = std::max(worst, static_cast<Evidence>(i));
        break;
      }
    }
  }
  return worst;
}

// JSON: names by the class of their evidence.
std::string GroundsJson(const std::vector<std::vector<Ground>>& cores) {
  std::array<std::set<std::string>, kEvidences> names;
  for (const std::vector<Ground>& grounds : cores) {
    for (const Ground& ground : grounds) {
      names[static_cast<size_t>(ground.evidence)].insert(ground.name);
    }
  }
  std::string json;
  for (size_t evidence = 0; evidence < kEvidences; ++evidence) {
    if (!names[evidence].empty()) {
      json += json.empty() ? "" : ",";
      json += Format("\"%s\":", EvidenceName(static_cast<Evidence>(evidence))) +
              NamesJson(names[evidence]);
    }
  }
  return "{" + json + "}";
}

std::string Joined(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (const uint32_t number : numbers) {
    text += Format(text.empty() ? "%u" : ",%u", number);
  }
  return text;
}

}  // namespace

uint64_t UnalignedBlocks(const GmCopy& copy, uint64_t alignment) {
  uint64_t found = 0;
  for (uint32_t block = 0; block < copy.blocks; ++block) {
    const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
    found += begin % alignment != 0 && begin / kL2Line != (begin + copy.bytes - 1) / kL2Line;
  }
  return found;
}

std::vector<uint32_t> ShownCores(const ChipTimes& times) {
  const auto shorter = [](const CoreTimes& a, const CoreTimes& b) {
    return a.end - a.start < b.end - b.start;
  };
  const auto first = times.cores.begin();
  std::vector<uint32_t> shown;
  for (const auto core : {std::max_element(first, times.cores.end(), shorter),
                          std::min_element(first, times.cores.end(), shorter), first}) {
    const auto index = static_cast<uint32_t>(core - first);
    if (std::find(shown.begin(), shown.end(), index) == shown.end()) {
      shown.push_back(index);
    }
  }
  return shown;
}

namespace {

std::string CoreJson(const KernelLaunch& launch, uint32_t number, const Tape& tape,
                     const CoreTimes& times, const CoreSums& sums) {
  const auto of = [](const std::array<double, kPipes>& row, Pipe pipe) {
    return row[static_cast<size_t>(pipe)];
  };
  return Format(
      "%s{\"block_id\":%u,\"start\":%.1f,\"cycles\":%.1f,\"scalar\":%.1f,\"vec\":%.1f,\"mte2\":%"
      ".1f,"
      "\"mte3\":%.1f,\"scalarWait\":%.1f,\"vecWait\":%.1f,\"mte2Wait\":%.1f,\"mte3Wait\":%.1f,"
      "\"vecDrain\":%.1f,\"conflict\":%.1f,\"bankGroupConflict\":%.1f,\"bankConflict\":%.1f,"
      "\"readBytes\":%.0f,\"writeBytes\":%.0f,\"reads\":%llu,"
      "\"writes\":%llu,\"blocks\":%llu,\"unalignedBlocks\":%llu,\"steps\":%zu,\"queue\":%.1f,"
      "\"cold\":%.1f%s}",
      number == 0 ? "" : ",", number, times.start, times.end, of(times.busy, Pipe::kScalar),
      of(times.busy, Pipe::kVector), of(times.busy, Pipe::kMte2), of(times.busy, Pipe::kMte3),
      of(times.waited, Pipe::kScalar), of(times.waited, Pipe::kVector),
      of(times.waited, Pipe::kMte2), of(times.waited, Pipe::kMte3), sums.vectorDrain,
      tape.conflicts.groups + tape.conflicts.banks, tape.conflicts.groups, tape.conflicts.banks,
      sums.readBytes, sums.writeBytes, static_cast<unsigned long long>(sums.reads),
      static_cast<unsigned long long>(sums.writes), static_cast<unsigned long long>(sums.blocks),
      static_cast<unsigned long long>(sums.unaligned), tape.steps.size(), tape.queueCycles,
      tape.coldCycles, OwnJson(launch, number, times).c_str());
}

}  // namespace

std::string SummaryJson(const Profile& profile) {
  const ChipCosts chip = ChipCostsOf(*profile.soc);
  const double cycles = chip.cyclesPerMicrosecond;
  const double start = ScalarCostsOf(*profile.soc).start;
  std::set<std::string> unknown;
  const std::vector<std::vector<Ground>> grounds = GroundsOf(profile);
  double conflicts = 0, vectorBytes = 0, rowSums = 0, vector = 0, flops = 0, flopsPerCycle = 0;
  std::string cores;
  const uint64_t alignment = CopyLawOf(*profile.soc).alignment;
  for (size_t i = 0; i < profile.tapes.size(); ++i) {
    const Tape& tape = profile.tapes[i];
    const CoreTimes& times = profile.times.cores[i];
    conflicts += tape.conflicts.groups + tape.conflicts.banks;
    vectorBytes += static_cast<double>(tape.vectorBytes);
    rowSums += tape.rowSums;
    flops += tape.flops;
    flopsPerCycle = std::max(flopsPerCycle, tape.flopsPerCycle);
    vector += times.busy[static_cast<size_t>(Pipe::kVector)];
    const CoreSums sums = SumsOf(tape, times, alignment);
    unknown.insert(tape.unknown.begin(), tape.unknown.end());
    cores += CoreJson(profile.cores, static_cast<uint32_t>(i), tape, times, sums);
  }
  std::string instructions;
  for (const auto& [name, row] : InstructionsOf(profile)) {
    instructions +=
        Format("%s{\"name\":%s,\"pipe\":\"%s\",\"count\":%llu,\"cycles\":%.1f}",
               instructions.empty() ? "" : ",", JsonQuoted(name).c_str(), PipeName(row.pipe),
               static_cast<unsigned long long>(row.count), row.cycles);
  }
  return Format(
      "{\"op\":%s,\"soc\":\"%s\",\"npuArch\":%u,\"blockDim\":%u,\"tilingKey\":%llu,\"tiling\":%s,"
      "\"cycles\":%.1f,\"microseconds\":%.3f,\"boundMicroseconds\":%.3f,\"launchMicroseconds\":%."
      "2f,\"kernelStart\":%.0f,\"mhz\":%.0f,"
      "\"memoryBytesPerCycle\":%.3f,\"l2BytesPerCycle\":%.3f,\"l2Capacity\":%llu,\"writeBack\":%g,"
      "\"earlyWriteBack\":%g,"
      "\"memoryBytes\":%.0f,\"l2Bytes\":%.0f,\"readBytes\":%.0f,\"hitBytes\":%.0f,"
      "\"gmReadBytes\":%llu,\"gmWriteBytes\":%llu,\"conflictCycles\":%.1f,\"vectorBytes\":%.0f,"
      "\"flops\":%.0f,\"flopsPerCycle\":%.0f,\"alignment\":%llu,\"ubPeakBytes\":%llu,"
      "\"ubBytes\":%llu,\"coreKind\":\"%s\",\"vecCores\":%u,\"aicCores\":%u,\"evidence\":\"%s\","
      "\"socEvidence\":\"%s\",\"band\":[%g,%g,"
      "%g],"
      "\"uncounted\":%s,\"rowSums\":%.4f,\"assumed\":%s,\"grounds\":%s,\"shown\":[%s],\"cores\":[%"
      "s],\"instructions\":[%s]%s}",
      JsonQuoted(profile.op).c_str(), profile.soc->name.c_str(), profile.soc->npuArch,
      profile.blockDim, static_cast<unsigned long long>(profile.tilingKey),
      JsonQuoted(profile.tiling).c_str(), profile.times.end,
      profile.times.end / cycles + chip.launchMicroseconds,
      (std::max(profile.times.memoryCycles, profile.times.l2Bytes / chip.l2BytesPerCycle) + start) /
              cycles +
          chip.launchMicroseconds,
      chip.launchMicroseconds, start, cycles, chip.bytesPerCycle, chip.l2BytesPerCycle,
      static_cast<unsigned long long>(chip.l2Bytes), CopyLawOf(*profile.soc).writeBack,
      CopyLawOf(*profile.soc).earlyWriteBack, profile.times.memoryBytes, profile.times.l2Bytes,
      profile.times.readBytes, profile.times.hitBytes,
      static_cast<unsigned long long>(profile.stats.gmReadBytes),
      static_cast<unsigned long long>(profile.stats.gmWriteBytes), conflicts, vectorBytes, flops,
      flopsPerCycle, static_cast<unsigned long long>(alignment),
      static_cast<unsigned long long>(profile.stats.ubPeakBytes),
      static_cast<unsigned long long>(profile.soc->ubBytes),
      profile.cores.Mixed()                        ? "mix"
      : profile.cores.KindOf(0) == CoreKind::kCube ? "cube"
                                                   : "vector",
      profile.soc->aivCores, profile.soc->aicCores,
      EvidenceName(DecidingEvidence(grounds, profile.times.end - start)),
      EvidenceName(chip.evidence), chip.band[0], chip.band[1], chip.band[2],
      profile.uncounted ? "true" : "false", vector > 0 ? rowSums / vector : 0,
      NamesJson(unknown).c_str(), GroundsJson(grounds).c_str(),
      Joined(ShownCores(profile.times)).c_str(), cores.c_str(), instructions.c_str(),
      profile.sensitivity.c_str());
}

}  // namespace aclsim
