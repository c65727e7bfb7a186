// SPDX-License-Identifier: Apache-2.0
// This tells what a launch would take with one thing changed in its kernel: the model's time of the same tapes, of which some steps are
// shorter, merged or gone. Advice rests on it.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/core.h"
#include "engine/flag_numbers.h"
#include "findings/finding.h"
#include "host/host_threads.h"
#include "host/options.h"
#include "timing/profile_parts.h"

namespace aclsim {

namespace {

// Lines of the kernel that a change is about, with what they weigh: cycles or bytes.
struct Weight {
  std::string instruction;
  double weight = 0;
  uint64_t count = 0;
};
using Places = std::map<std::vector<void*>, Weight>;

struct Change {
  const char* rule;
  // The places are of one core's tape. No place: the change does not apply.
  std::function<void(uint32_t core, Tape* tape, Places* places)> edit;
  std::string more;  // JSON: members
};

void Note(const Tape& tape, const Step& step, double weight, Places* places) {
  Weight& place = (*places)[tape.stacks.at(step.site)];
  place.instruction = tape.names[step.name];
  place.weight += weight;
  ++place.count;
}

double Took(const Step& step) { return step.head + step.cycles + step.tail; }

// A step that costs nothing, so that the others stay where they are.
void Drop(Step* step) {
  const uint32_t site = step->site;
  const uint16_t name = step->name;
  *step = {};
  step->site = site;
  step->name = name;
}

// --- loops -------------------------------------------------------------------------------------------------------------------

struct Loop {
  size_t begin = 0;
  size_t period = 0;  // steps of a turn, or of two where buffers alternate
  size_t turns = 0;
};

uint64_t KeyOf(const Step& step, bool flags) {
  const bool flag = flags && (step.kind == StepKind::kSet || step.kind == StepKind::kWait);
  uint64_t key = step.site;
  for (const uint64_t part : {uint64_t{step.name}, static_cast<uint64_t>(step.kind),
                              static_cast<uint64_t>(step.pipe), uint64_t{flag ? step.flag : 0}}) {
    key = (key ^ part) * 0x9E3779B97F4A7C15u;
    key ^= key >> 29;
  }
  return key;
}

std::vector<uint64_t> KeysOf(const Tape& tape, bool flags = true) {
  std::vector<uint64_t> keys;
  keys.reserve(tape.steps.size());
  for (const Step& step : tape.steps) {
    keys.push_back(KeyOf(step, flags));
  }
  return keys;
}

// The loop that takes the most of the steps around the middle of a kernel.
Loop LongestLoop(const std::vector<uint64_t>& keys) {
  constexpr size_t kMostPeriods = 64;
  Loop best;
  for (const size_t part : {2, 1, 3}) {
    const size_t from = keys.size() * part / 4;
    size_t tried = 0;
    for (size_t i = from + 1; i < keys.size() && tried < kMostPeriods; ++i) {
      if (keys[i] != keys[from]) {
        continue;
      }
      ++tried;
      const size_t period = i - from;
      size_t end = from, begin = from;
      while (end + period < keys.size() && keys[end] == keys[end + period]) {
        ++end;
      }
      while (begin > 0 && keys[begin - 1] == keys[begin - 1 + period]) {
        --begin;
      }
      const size_t turns = (end + period - begin) / period;
      if (turns > 1 && turns * period > best.turns * best.period) {
        best = {begin, period, turns};
      }
    }
  }
  return best;
}

// Turns of the kernel's source in one period: more than one where buffers alternate.
size_t TurnsOfPeriod(const Tape& tape, const Loop& loop) {
  const std::vector<uint64_t> keys = KeysOf(tape, false);
  const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(loop.begin);
  size_t most = 1;
  for (size_t parts = 2; parts <= 8; ++parts) {
    const size_t turn = loop.period / parts;
    if (turn > 0 && loop.period % parts == 0 &&
        std::equal(begin, begin + static_cast<std::ptrdiff_t>(loop.period - turn),
                   begin + static_cast<std::ptrdiff_t>(turn))) {
      most = parts;
    }
  }
  return most;
}

bool IsCoresOwn(const Step& step) {
  return step.kind != StepKind::kMeet && step.kind != StepKind::kTell &&
         step.kind != StepKind::kHear && !IsCoreFlag(step.flag);
}

// One copy in place of two that are alike.
void Join(const GmCopy& next, GmCopy* copy) {
  const int64_t apart = static_cast<int64_t>(next.addr) - static_cast<int64_t>(copy->addr);
  const auto whole = static_cast<int64_t>(copy->bytes * copy->blocks);
  const bool dense = copy->blocks == 1 || copy->step == static_cast<int64_t>(copy->bytes);
  if (apart == 0) {
    return;  // the copy moves the same bytes again
  }
  if (dense && apart == whole) {
    copy->bytes = static_cast<uint64_t>(whole) + next.bytes * next.blocks;
    copy->blocks = 1;
    return;
  }
  copy->step = copy->blocks == 1 ? apart : copy->step;
  copy->blocks += next.blocks;
}

// True where data decide where a turn's copy is: it has no step from turn to turn, or none but an index that may be 0.
bool IsScattered(const Tape& tape, const Loop& loop, size_t at) {
  constexpr double kRegular = 0.75;  // of the turns
  std::map<int64_t, size_t> steps;
  size_t most = 0;
  for (size_t turn = 1; turn < loop.turns; ++turn) {
    const Step* const step = &tape.steps[loop.begin + turn * loop.period + at];
    const auto apart = static_cast<int64_t>(tape.copies[step->copy].addr -
                                            tape.copies[(step - loop.period)->copy].addr);
    if (apart != 0 || !step->indexed) {
      most = std::max(most, ++steps[apart]);
    }
  }
  return static_cast<double>(most) < kRegular * static_cast<double>(loop.turns - 1);
}

// Lets one turn do the work of several, so that fewer remain. Copies whose place data decide stay as many as they were.
void Merge(const Loop& loop, size_t factor, Tape* tape) {
  const auto from = tape->steps.begin() + static_cast<std::ptrdiff_t>(loop.begin);
  std::vector<Step> merged;
  std::vector<bool> scattered(loop.period);
  for (size_t at = 0; at < loop.period; ++at) {
    scattered[at] = from[static_cast<std::ptrdiff_t>(at)].kind == StepKind::kCopy &&
                    IsScattered(*tape, loop, at);
  }
  for (size_t turn = 0; turn * factor < loop.turns; ++turn) {
    const size_t end = std::min((turn + 1) * factor, loop.turns);
    for (size_t at = 0; at < loop.period; ++at) {
      const auto of = [&](size_t k) -> const Step& {
        return from[static_cast<std::ptrdiff_t>(k * loop.period + at)];
      };
      Step step = of(turn * factor);
      step.flag = step.kind == StepKind::kCopy ? step.flag : of(turn).flag;
      for (size_t k = turn * factor + 1; k < end; ++k) {
        if (step.kind == StepKind::kVector) {
          step.cycles += step.carried ? static_cast<float>(Took(of(k))) : of(k).stream;
        } else if (step.kind == StepKind::kScalar) {
          step.cycles += of(k).cycles;
        } else if (scattered[at]) {
          merged.push_back(of(k));
        } else if (step.kind == StepKind::kCopy) {
          GmCopy copy = tape->copies[step.copy];
          Join(tape->copies[of(k).copy], &copy);
          step.copy = static_cast<uint32_t>(tape->copies.size());
          tape->copies.push_back(copy);
        }
      }
      merged.push_back(step);
    }
  }
  // The steps behind the loop stay where they are.
  const size_t steps = loop.turns * loop.period;
  for (size_t i = 0; i < steps; ++i) {
    Step& step = from[static_cast<std::ptrdiff_t>(i)];
    if (i < merged.size()) {
      step = merged[i];
    } else {
      Drop(&step);
    }
  }
}

// --- the changes -------------------------------------------------------------------------------------------------------------

// A turn of the kernel's loop has several times as many bytes, as many as UB has room for.
void AddTiles(const Profile& profile, std::vector<Change>* changes) {
  std::vector<Loop> loops;
  size_t most = 0;
  bool scattered = false;
  double room = 1e9, bytes = 0, turns = 0;
  for (const Tape& tape : profile.tapes) {
    Loop loop = LongestLoop(KeysOf(tape));
    const auto first = tape.steps.begin() + static_cast<std::ptrdiff_t>(loop.begin);
    const auto last = first + static_cast<std::ptrdiff_t>(loop.period);
    const auto copies =
        std::count_if(first, last, [](const Step& step) { return step.kind == StepKind::kCopy; });
    if (copies == 0 || !std::all_of(first, last, IsCoresOwn)) {
      loop = {};
    }
    for (size_t at = 0; at < loop.period; ++at) {
      scattered |= (first + static_cast<std::ptrdiff_t>(at))->kind == StepKind::kCopy &&
                   IsScattered(tape, loop, at);
    }
    const auto each = static_cast<double>(TurnsOfPeriod(tape, loop));
    std::for_each(first, last, [&](const Step& step) { bytes += BytesOf(tape, step) / each; });
    turns += static_cast<double>(loop.turns) * each;
    most = std::max(most, loop.turns);
    loops.push_back(loop);
    double touched = 0;
    for (const UbBuffer& buffer : tape.buffers) {
      touched += static_cast<double>(buffer.touched);
    }
    room = std::min(room, static_cast<double>(profile.soc->ubBytes) / std::max(touched, 1.0));
  }
  for (size_t factor = 2; static_cast<double>(factor) <= room && factor <= most; factor *= 2) {
    const auto edit = [loops, factor](uint32_t core, Tape* tape, Places* places) {
      const Loop& loop = loops[core];
      for (size_t i = loop.begin; i < loop.begin + loop.period; ++i) {
        const Step& step = tape->steps[i];
        if (step.kind == StepKind::kCopy) {
          Note(*tape, step, BytesOf(*tape, step), places);
        }
      }
      Merge(loop, factor, tape);
    };
    const auto cores = static_cast<double>(profile.tapes.size());
    changes->push_back(
        {"tiles", edit,
         Format(",\"factor\":%zu,\"scattered\":%s,\"bytes\":%.0f,\"turns\":%.0f", factor,
                scattered ? "true" : "false", bytes / cores, turns / cores)});
  }
}

// True where a turn takes what one before it has made.
bool IsChain(const Tape& tape, const Loop& loop) {
  for (size_t i = loop.begin + loop.period; i < loop.begin + loop.turns * loop.period; ++i) {
    const size_t turn = i - (i - loop.begin) % loop.period;
    const Step& step = tape.steps[i];
    if (step.carried || (step.reads > loop.begin && step.reads <= turn)) {
      return true;
    }
  }
  return false;
}

// The loop from there on that has the most steps; no turns: none.
template <typename Joins>
Loop LongestLoop(const Tape& tape, const std::vector<uint64_t>& keys, size_t begin, Joins joins) {
  constexpr size_t kMostSteps = 16;
  Loop best;
  for (size_t period = 1; tape.steps[begin].kind == StepKind::kVector && period <= kMostSteps;
       ++period) {
    if (begin + period > keys.size() || !joins(tape.steps[begin + period - 1])) {
      break;
    }
    size_t end = begin;
    while (end + period < keys.size() && keys[end] == keys[end + period]) {
      ++end;
    }
    const Loop loop{begin, period, (end - begin) / period + 1};
    if (loop.turns > 1 && loop.turns * period > best.turns * best.period && !IsChain(tape, loop)) {
      best = loop;
    }
  }
  return best;
}

// Makes one instruction each, with repeats, of what an inner loop does row by row: of sums that have been folded, or of all but sums.
void JoinRows(bool folded, Tape* tape, Places* places) {
  const std::vector<uint64_t> keys = KeysOf(*tape);
  const auto joins = [folded](const Step& step) {
    return (step.kind == StepKind::kVector && !step.again && (step.folds > 1) == folded) ||
           step.kind == StepKind::kScalar ||
           (step.kind == StepKind::kBarrier && step.pipe == Pipe::kVector) ||
           ((step.kind == StepKind::kSet || step.kind == StepKind::kWait) && IsCoresOwn(step));
  };
  for (size_t i = 0; i < keys.size();) {
    const Loop best = LongestLoop(*tape, keys, i, joins);
    if (best.turns == 0) {
      ++i;
      continue;
    }
    for (size_t at = i; at < i + best.turns * best.period; ++at) {
      if (tape->steps[at].kind == StepKind::kVector) {
        Note(*tape, tape->steps[at], Took(tape->steps[at]), places);
      }
    }
    Merge(best, best.turns, tape);
    i += best.turns * best.period;
  }
}

// Sums of many repeats are folded by Add, Max or Min until one repeat is left of each.
void Fold(const Soc& soc, Tape* tape, Places* places) {
  const double least = VectorCostsOf().leastCycles;
  for (Step& step : tape->steps) {
    if (step.kind != StepKind::kVector || step.folds < 2) {
      continue;
    }
    const std::string& name = tape->names[step.name];
    const bool max = name.find("Max") != std::string::npos;
    const bool min = name.find("Min") != std::string::npos;
    const InstructionCost fold = CostOf(soc, max ? "Max" : min ? "Min" : "Add").chain.front();
    const InstructionCost sum = CostOf(soc, max   ? "WholeReduceMax"
                                            : min ? "WholeReduceMin"
                                                  : "WholeReduceSum")
                                    .chain.front();
    const auto perRepeat = [&](const InstructionCost& cost) {
      return step.wide ? cost.perRepeat32 : cost.perRepeat16;
    };
    const double results = static_cast<double>(step.repeats) / step.folds;
    double stream = perRepeat(sum) * results;
    double cycles = std::max(least, stream);
    for (uint32_t left = step.folds; left > 1; left = (left + 1) / 2) {
      const double adds = perRepeat(fold) * results * (left / 2);
      stream += adds;
      cycles += std::max(least, adds) + fold.tail + fold.head;
    }
    if (cycles + sum.tail >= step.cycles + step.tail) {
      continue;
    }
    Note(*tape, step, Took(step), places);
    step.cycles = static_cast<float>(cycles);
    step.tail = static_cast<float>(sum.tail);
    step.stream = static_cast<float>(stream);
  }
}

// A cast of bytes that have been cast to the same type is gone: its result is kept.
void CastOnce(Tape* tape, Places* places) {
  for (Step& step : tape->steps) {
    if (step.again) {
      Note(*tape, step, Took(step), places);
      Drop(&step);
    }
  }
}

// Chains of instructions whose results go through UB become one vector function.
void UseRegisters(const Soc& soc, Tape* tape, Places* places) {
  const FunctionTimes& times = FunctionTimesOf();
  std::vector<size_t> barriers;  // since the last vector instruction
  for (size_t i = 0; i < tape->steps.size(); ++i) {
    Step& step = tape->steps[i];
    if (step.kind == StepKind::kBarrier && step.pipe == Pipe::kVector) {
      barriers.push_back(i);
    }
    if (step.kind != StepKind::kVector) {
      continue;
    }
    const RegisterCost cost = RegisterCostOf(soc.npuArch, tape->names[step.name].c_str());
    const Step* const before = step.reads > 0 ? &tape->steps[step.reads - 1] : nullptr;
    if (cost.known && step.lanes && before != nullptr && before->lanes &&
        before->repeats == step.repeats) {
      Note(*tape, step, Took(step), places);
      const double initiation = step.wide ? cost.initiation32 : cost.initiation16;
      step.cycles = static_cast<float>(step.repeats * initiation / times.ports);
      step.head = step.tail = step.issue = 0;
      for (const size_t barrier : barriers) {
        Drop(&tape->steps[barrier]);
      }
    }
    barriers.clear();
  }
}

// Results of the vector pipe that the scalar pipe reads, and hands to the vector pipe again, stay in UB.
void StayInUb(Tape* tape, Places* places) {
  std::unordered_map<uint32_t, Pipe> setBy;
  for (const Step& step : tape->steps) {
    if (step.kind == StepKind::kSet) {
      setBy.emplace(step.flag, step.pipe);
    }
  }
  std::unordered_map<uint32_t, bool> turns;  // flags between the two pipes
  for (const Step& step : tape->steps) {
    const auto set = setBy.find(step.flag);
    if (step.kind == StepKind::kWait && set != setBy.end() && !IsCoreFlag(step.flag)) {
      const auto both = std::minmax(set->second, step.pipe);
      turns[step.flag] = both.first == Pipe::kScalar && both.second == Pipe::kVector;
    }
  }
  const auto reads = [](const Step& step) {
    return step.kind == StepKind::kScalar && step.reads > 0 && step.flag == 0;
  };
  if (std::ranges::none_of(tape->steps, reads)) {
    return;
  }
  for (Step& step : tape->steps) {
    const bool flag = step.kind == StepKind::kSet || step.kind == StepKind::kWait;
    if (reads(step)) {
      Note(*tape, step, step.cycles, places);
      Drop(&step);
    } else if (flag && turns.contains(step.flag) && turns.at(step.flag)) {
      Drop(&step);
    }
  }
}

// Queues of one buffer have two: AllocTensor waits for the tensor before the last one.
void AddDepth(const Profile& profile, std::vector<Change>* changes) {
  double needs = 0;
  std::string names;
  const Tape& shown = profile.tapes.front();
  for (size_t i = 0; i < shown.buffers.size(); ++i) {
    const UbBuffer& buffer = shown.buffers[i];
    const uint32_t flag = FreeFlag(static_cast<uint32_t>(i));
    if (buffer.ofQueue == 1 && std::ranges::any_of(shown.steps, [&](const Step& step) {
          return step.kind == StepKind::kWait && step.flag == flag;
        })) {
      needs += static_cast<double>(buffer.bytes);
      names += (names.empty() ? "" : ",") + JsonQuoted(QueNameOf(buffer.initPc, buffer.pos));
    }
  }
  const auto edit = [](uint32_t, Tape* tape, Places* places) {
    for (size_t i = 0; i < tape->buffers.size(); ++i) {
      const UbBuffer& buffer = tape->buffers[i];
      const auto wait = std::ranges::find_if(tape->steps, [&](const Step& step) {
        return step.kind == StepKind::kWait && step.flag == FreeFlag(static_cast<uint32_t>(i));
      });
      if (buffer.ofQueue == 1 && wait != tape->steps.end()) {
        Weight& place = (*places)[{buffer.initPc}];
        place.instruction = "InitBuffer";
        place.weight += static_cast<double>(buffer.bytes);
        ++place.count;
        Drop(&*wait);
      }
    }
  };
  changes->push_back({"depth", edit, Format(",\"bytes\":%.0f,\"queues\":[", needs) + names + "]"});
}

// --- traffic -----------------------------------------------------------------------------------------------------------------

struct Piece {
  uint64_t begin, end;
  uint32_t core, step;
};

// Returns, of each piece, the bytes that pieces before it in the list have as well, of a list in the order of addresses.
template <typename F>
void ForEachAgain(const std::vector<Piece>& pieces, bool byCore, F&& again) {
  const Piece* before = nullptr;
  for (const Piece& piece : pieces) {
    if (before != nullptr && (!byCore || before->core == piece.core) && piece.begin < before->end) {
      again(piece, *before, std::min(piece.end, before->end) - piece.begin);
    } else {
      before = nullptr;
    }
    before = before == nullptr || piece.end >= before->end ? &piece : before;
  }
}

// Copies that move what the core has moved before are gone, where UB could have kept it.
void AddTraffic(const Profile& profile, std::vector<Change>* changes) {
  Places places;
  std::map<std::vector<void*>, std::string> tensors;
  std::vector<std::vector<uint32_t>> gone(profile.tapes.size());
  double excess = 0;
  for (const bool write : {false, true}) {
    std::vector<Piece> pieces;
    std::vector<std::vector<double>> moved(profile.tapes.size());  // bytes before each step
    for (uint32_t core = 0; core < profile.tapes.size(); ++core) {
      const Tape& tape = profile.tapes[core];
      double bytes = 0;
      for (uint32_t i = 0; i < tape.steps.size(); ++i) {
        moved[core].push_back(bytes);
        if (tape.steps[i].kind != StepKind::kCopy) {
          continue;
        }
        bytes += BytesOf(tape, tape.steps[i]);
        const GmCopy& copy = tape.copies[tape.steps[i].copy];
        for (uint32_t block = 0; copy.write == write && block < copy.blocks; ++block) {
          const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
          pieces.push_back({begin, begin + copy.bytes, core, i});
        }
      }
    }
    const auto order = [](const Piece& a, const Piece& b) {
      return std::tie(a.begin, a.core, a.step) < std::tie(b.begin, b.core, b.step);
    };
    std::sort(pieces.begin(), pieces.end(), order);
    ForEachAgain(pieces, false, [&](const Piece& piece, const Piece&, uint64_t bytes) {
      const Tape& tape = profile.tapes[piece.core];
      const Step& step = tape.steps[piece.step];
      Note(tape, step, static_cast<double>(bytes), &places);
      excess += static_cast<double>(bytes);
      for (const GmRegion& region : profile.regions) {
        const uint64_t at = piece.begin - reinterpret_cast<uint64_t>(region.addr);
        if (at < region.bytes) {
          tensors[tape.stacks.at(step.site)] =
              region.name + (tape.copies[step.copy].atomic ? ", atomic" : "");
        }
      }
    });
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.core < b.core; });
    std::map<std::pair<uint32_t, uint32_t>, double> kept;  // bytes again, by core and step
    ForEachAgain(pieces, true, [&](const Piece& piece, const Piece& before, uint64_t bytes) {
      // Sums stay in UB however long it takes; what is read, until other reads need the room.
      const double between = moved[piece.core][piece.step] - moved[piece.core][before.step];
      const bool known = !profile.tapes[piece.core].steps[piece.step].indexed;
      if (write || (known && between <= static_cast<double>(profile.soc->ubBytes) / 2)) {
        kept[{piece.core, piece.step}] += static_cast<double>(bytes);
      }
    });
    for (const auto& [at, bytes] : kept) {
      const Tape& tape = profile.tapes[at.first];
      if (2 * bytes > BytesOf(tape, tape.steps[at.second])) {
        gone[at.first].push_back(at.second);
      }
    }
  }
  const auto most = std::max_element(
      places.begin(), places.end(),
      [](const auto& a, const auto& b) { return a.second.weight < b.second.weight; });
  if (most == places.end()) {
    return;
  }
  const auto edit = [places, gone](uint32_t core, Tape* tape, Places* shown) {
    *shown = core == 0 ? places : Places{};
    for (const uint32_t step : gone[core]) {
      Drop(&tape->steps[step]);
    }
  };
  changes->push_back(
      {"traffic", edit,
       Format(",\"bytes\":%.0f,\"tensor\":", excess) + JsonQuoted(tensors[most->first])});
}

// JSON: the lines that weigh most.
std::string PlacesJson(const Places& places) {
  constexpr size_t kMost = 3;
  KernelLines lines;
  std::vector<std::tuple<double, std::string, const Places::value_type*>> order;
  for (const auto& place : places) {
    order.emplace_back(-place.second.weight, lines.Of(place.first).code, &place);
  }
  std::sort(order.begin(), order.end());
  std::string json;
  for (size_t i = 0; i < std::min(order.size(), kMost); ++i) {
    const auto& [stack, place] = *std::get<2>(order[i]);
    const KernelLines::Place& line = lines.Of(stack);
    json += Format("%s{\"code\":%s,\"text\":%s,\"instruction\":%s,\"weight\":%.1f,\"count\":%llu}",
                   json.empty() ? "" : ",", JsonQuoted(line.code).c_str(),
                   JsonQuoted(line.text).c_str(), JsonQuoted(place.instruction).c_str(),
                   place.weight, static_cast<unsigned long long>(place.count));
  }
  return "[" + json + "]";
}

}  // namespace

std::string ChangesJson(const Profile& profile) {
  const Soc& soc = *profile.soc;
  std::vector<Change> changes;
  const auto add = [&](const char* rule, auto edit) {
    changes.push_back(
        {rule, [edit](uint32_t, Tape* tape, Places* places) { edit(tape, places); }, ""});
  };
  add("rows", [](Tape* tape, Places* places) { JoinRows(false, tape, places); });
  add("fold", [&soc](Tape* tape, Places* places) {
    Places joined;
    Fold(soc, tape, places);
    JoinRows(true, tape, &joined);
  });
  add("casts", CastOnce);
  add("scalar", StayInUb);
  if (soc.npuArch == kRegisterArch) {
    add("registers", [&soc](Tape* tape, Places* places) { UseRegisters(soc, tape, places); });
  }
  AddDepth(profile, &changes);
  AddTiles(profile, &changes);
  AddTraffic(profile, &changes);
  std::vector<std::string> found(changes.size());
  const ChipCosts chip = ChipCostsOf(soc);
  const ModelCosts costs = ModelCostsOf(soc);
  HostThreads::Instance().Run(
      static_cast<uint32_t>(changes.size()), HostThreadCount(), [&](uint32_t i) {
        const Change& change = changes[i];
        std::vector<Tape> tapes = profile.tapes;
        Places places;
        for (uint32_t core = 0; core < tapes.size(); ++core) {
          Places own;
          change.edit(core, &tapes[core], &own);
          for (const auto& [stack, place] : own) {
            Weight& sum = places[stack];
            sum.instruction = place.instruction;
            sum.weight += place.weight;
            sum.count += place.count;
          }
        }
        if (places.empty()) {
          return;
        }
        const double us =
            Time(tapes, costs).end / chip.cyclesPerMicrosecond + chip.launchMicroseconds;
        found[i] = Format("{\"rule\":\"%s\",\"microseconds\":%.3f,\"places\":", change.rule, us) +
                   PlacesJson(places) + change.more + "}";
      });
  std::string json;
  for (const std::string& one : found) {
    json += one.empty() ? "" : (json.empty() ? "" : ",") + one;
  }
  return "[" + json + "]";
}

}  // namespace aclsim
