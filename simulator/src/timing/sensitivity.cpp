// SPDX-License-Identifier: Apache-2.0
// This finds which costs decide an estimate: the time of the same tapes with each of them halved, and doubled.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "host/host_threads.h"
#include "host/options.h"
#include "timing/profile_parts.h"

namespace aclsim {

namespace {

// One cost: how the model's costs or the steps of the tapes change with a factor.
struct Cost {
  std::string name;
  Evidence evidence = Evidence::kAssumed;
  std::function<void(ModelCosts& costs, double factor)> ofModel;
  std::function<void(const Tape& tape, Step& step, double factor)> ofStep;
};

void ScaleVector(Step& step, double factor) {
  step.head = static_cast<float>(step.head * factor);
  step.cycles = static_cast<float>(step.cycles * factor);
  step.tail = static_cast<float>(step.tail * factor);
}

// A factor of which only what it has beyond 1 is scaled.
double Beyond1(double value, double factor) { return 1 + (value - 1) * factor; }

std::vector<Cost> CostsOfModel(const Soc& soc) {
  const Evidence law = CopyLawOf(soc).evidence;
  const auto fitted = std::max(law, Evidence::kFitted);
  const auto assumed = std::max(law, Evidence::kAssumed);
  std::vector<Cost> costs;
  const auto of = [&](const char* name, Evidence evidence, double CopyLaw::* field) {
    costs.push_back({name,
                     evidence,
                     [field](ModelCosts& changed, double factor) { changed.law.*field *= factor; },
                     {}});
  };
  const auto model = [&](const char* name, Evidence evidence, auto change) {
    costs.push_back({name, evidence, change, {}});
  };
  const auto step = [&](const char* name, Evidence evidence, auto change) {
    costs.push_back({name, evidence, {}, change});
  };
  of("a line of L2 for a part of it (requestBytes)", fitted, &CopyLaw::requestBytes);
  of("writing back (writeBack)", fitted, &CopyLaw::writeBack);
  of("writing back at once (earlyWriteBack)", fitted, &CopyLaw::earlyWriteBack);
  of("copies of 8 KiB and less (smallCopy)", fitted, &CopyLaw::smallCopy);
  of("bytes in flight (window)", fitted, &CopyLaw::window);
  of("cycles between copies (leastCycles)", fitted, &CopyLaw::leastCycles);
  of("a block of UB (ubBlock)", assumed, &CopyLaw::ubBlock);
  of("a line's turn (lineTurn)", assumed, &CopyLaw::lineTurn);
  of("a line's turn of an atomic copy (atomicTurn)", assumed, &CopyLaw::atomicTurn);
  model("latencies of copies", law, [](ModelCosts& changed, double factor) {
    changed.law.readLatency *= factor;
    changed.law.missLatency *= factor;
    changed.law.writeLatency *= factor;
  });
  model("where a block starts well (alignment)", assumed, [](ModelCosts& changed, double factor) {
    changed.law.alignment =
        static_cast<uint64_t>(static_cast<double>(changed.law.alignment) * factor);
  });
  model("blocks that start elsewhere (unaligned)", fitted, [](ModelCosts& changed, double factor) {
    changed.law.unaligned = Beyond1(changed.law.unaligned, factor);
  });
  model("reads of one line (sameLine)", fitted, [](ModelCosts& changed, double factor) {
    changed.law.sameLine = 1 / Beyond1(1 / changed.law.sameLine, factor);
  });
  // No board shows any: doubled, a tenth.
  model(
      "copies beside vector instructions (besideVector)", assumed,
      [](ModelCosts& changed, double factor) { changed.law.besideVector = factor > 1 ? 0.1 : 0; });
  model("SyncAll and flags between cores (meet)", Evidence::kAssumed,
        [](ModelCosts& changed, double factor) { changed.scalar.meet *= factor; });
  model("a core's mark for another one (mark)", Evidence::kAssumed,
        [](ModelCosts& changed, double factor) { changed.scalar.mark *= factor; });
  model("the start of the kernel", ScalarCostsOf(soc).evidence,
        [](ModelCosts& changed, double factor) { changed.scalar.start *= factor; });
  model("cores that start later (startCycles)", fitted,
        [](ModelCosts& changed, double factor) { changed.chip.startCycles *= factor; });
  // The step is of an instruction of a pipe, or of the scalar pipe's other steps.
  const auto issue = [&](const char* name, Evidence evidence, bool pipes) {
    step(name, evidence, [pipes](const Tape&, Step& one, double factor) {
      const bool works = one.kind == StepKind::kVector || one.kind == StepKind::kCopy;
      one.issue = static_cast<float>(one.issue * (works == pipes ? factor : 1));
    });
  };
  issue("issue of an instruction", Evidence::kFitted, true);
  issue("flags, queues and barriers", Evidence::kAssumed, false);
  step("scalar accesses", Evidence::kFitted, [](const Tape&, Step& one, double factor) {
    if (one.kind == StepKind::kScalar) {
      one.cycles = static_cast<float>(one.cycles * factor);
    }
  });
  return costs;
}

// The vector pipe as a whole, and those functions that take most of its time.
std::vector<Cost> CostsOfVector(const Profile& profile) {
  constexpr size_t kMost = 6;
  constexpr double kLeast = 0.02;  // of the time
  std::map<std::string, double> cycles;
  Evidence worst = Evidence::kBoard;
  for (const Tape& tape : profile.tapes) {
    for (const Step& step : tape.steps) {
      if (step.kind == StepKind::kVector) {
        cycles[tape.names[step.name]] += step.head + step.cycles + step.tail;
      }
    }
  }
  std::vector<std::pair<double, std::string>> longest;
  for (const auto& [name, took] : cycles) {
    longest.emplace_back(-took, name);
    worst = std::max(worst, CostOf(*profile.soc, name.c_str()).evidence);
  }
  std::sort(longest.begin(), longest.end());
  std::vector<Cost> costs;
  if (!longest.empty()) {
    costs.push_back(
        {"all vector instructions", worst, {}, [](const Tape&, Step& step, double factor) {
           if (step.kind == StepKind::kVector) {
             ScaleVector(step, factor);
           }
         }});
  }
  const double all = profile.times.end * static_cast<double>(profile.tapes.size());
  for (const auto& [took, name] : longest) {
    if (costs.size() > kMost || -took < kLeast * all) {
      break;
    }
    costs.push_back({name,
                     CostOf(*profile.soc, name.c_str()).evidence,
                     {},
                     [name = name](const Tape& tape, Step& step, double factor) {
                       if (step.kind == StepKind::kVector && tape.names[step.name] == name) {
                         ScaleVector(step, factor);
                       }
                     }});
  }
  return costs;
}

double EndWith(const Profile& profile, const Cost& cost, double factor) {
  ModelCosts costs = ModelCostsOf(*profile.soc);
  if (cost.ofModel) {
    cost.ofModel(costs, factor);
    return Time(profile.tapes, costs).end;
  }
  std::vector<Tape> changed = profile.tapes;
  for (Tape& tape : changed) {
    for (Step& step : tape.steps) {
      cost.ofStep(tape, step, factor);
    }
  }
  return Time(changed, costs).end;
}

}  // namespace

std::string SensitivityJson(const Profile& profile) {
  std::vector<Cost> costs = CostsOfVector(profile);
  for (Cost& cost : CostsOfModel(*profile.soc)) {
    costs.push_back(std::move(cost));
  }
  constexpr double kFactors[] = {0.5, 2};
  std::vector<double> ends(2 * costs.size());
  HostThreads::Instance().Run(
      static_cast<uint32_t>(ends.size()), HostThreadCount(),
      [&](uint32_t i) { ends[i] = EndWith(profile, costs[i / 2], kFactors[i % 2]); });
  const ChipCosts chip = ChipCostsOf(*profile.soc);
  const auto microseconds = [&](double cycles) {
    return cycles / chip.cyclesPerMicrosecond + chip.launchMicroseconds;
  };
  std::string json;
  for (size_t i = 0; i < costs.size(); ++i) {
    json += Format("%s{\"cost\":%s,\"evidence\":\"%s\",\"halved\":%.3f,\"doubled\":%.3f}",
                   json.empty() ? "" : ",", JsonQuoted(costs[i].name).c_str(),
                   EvidenceName(costs[i].evidence), microseconds(ends[2 * i]),
                   microseconds(ends[2 * i + 1]));
  }
  return "[" + json + "]";
}

}  // namespace aclsim
