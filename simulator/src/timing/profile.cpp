// SPDX-License-Identifier: Apache-2.0
#include "timing/profile.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "engine/finding.h"
#include "timing/l2.h"

namespace aclsim {

namespace {

constexpr size_t kTraced = 4;  // launches that keep their instructions

struct Profile {
  std::string op;
  const Soc* soc = nullptr;
  uint32_t blockDim = 0;
  uint64_t tilingKey = 0;
  std::string tiling;
  LaunchStats stats;
  double end = 0;   // in cycles
  ChipTimes times;  // empty when only the summary is kept, as tapes
  std::vector<Tape> tapes;
  std::string json;
};

std::mutex profilesMutex;
std::deque<Profile>& Profiles() {
  static auto* profiles = new std::deque<Profile>;  // leaked: launches may end late
  return *profiles;
}
std::atomic<int> profileMode{-1};  // -1: not decided yet

// Blocks that cost more for where they start: those that lie in more than one line.
uint64_t UnalignedBlocks(const GmCopy& copy, uint64_t alignment) {
  uint64_t found = 0;
  for (uint32_t block = 0; block < copy.blocks; ++block) {
    const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
    found += begin % alignment != 0 && begin / kL2Line != (begin + copy.bytes - 1) / kL2Line;
  }
  return found;
}

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
      if (step.kind == StepKind::kVector || step.kind == StepKind::kCopy ||
          step.kind == StepKind::kScalar) {
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

// What a core's copies move, and how long its vector pipe drains at barriers.
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

// JSON: a list of names.
std::string NamesJson(const std::set<std::string>& names) {
  std::string json;
  for (const std::string& name : names) {
    json += json.empty() ? "" : ",";
    json += JsonQuoted(name);
  }
  return "[" + json + "]";
}

// JSON: what an estimate rests on, by the class of its evidence.
std::string GroundsOf(const std::vector<Tape>& tapes) {
  std::string json;
  for (size_t evidence = 0; evidence < kEvidences; ++evidence) {
    std::set<std::string> names;
    for (const Tape& tape : tapes) {
      names.insert(tape.grounds[evidence].begin(), tape.grounds[evidence].end());
    }
    if (!names.empty()) {
      json += json.empty() ? "" : ",";
      json += Format("\"%s\":", EvidenceName(static_cast<Evidence>(evidence))) + NamesJson(names);
    }
  }
  return "{" + json + "}";
}

// The slowest, the fastest and the first core: what a page or a trace shows when nobody says which.
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

std::string Joined(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (const uint32_t number : numbers) {
    text += Format(text.empty() ? "%u" : ",%u", number);
  }
  return text;
}

std::string Summary(const Profile& profile) {
  const ChipCosts chip = ChipCostsOf(*profile.soc);
  const double cycles = chip.cyclesPerMicrosecond;
  Evidence evidence = chip.evidence;
  std::set<std::string> unknown;
  double conflicts = 0, vectorBytes = 0;
  std::string cores;
  const uint64_t alignment = CopyLawOf(*profile.soc).alignment;
  for (size_t i = 0; i < profile.tapes.size(); ++i) {
    const Tape& tape = profile.tapes[i];
    const CoreTimes& times = profile.times.cores[i];
    evidence = std::max(evidence, tape.evidence);
    const double conflict = tape.conflicts.groups + tape.conflicts.banks;
    conflicts += conflict;
    vectorBytes += static_cast<double>(tape.vectorBytes);
    const CoreSums sums = SumsOf(tape, times, alignment);
    unknown.insert(tape.unknown.begin(), tape.unknown.end());
    const auto of = [](const std::array<double, kPipes>& row, Pipe pipe) {
      return row[static_cast<size_t>(pipe)];
    };
    cores += Format(
        "%s{\"block_id\":%zu,\"start\":%.1f,\"cycles\":%.1f,\"scalar\":%.1f,\"vec\":%.1f,\"mte2\":%"
        ".1f,"
        "\"mte3\":%.1f,\"scalarWait\":%.1f,\"vecWait\":%.1f,\"mte2Wait\":%.1f,\"mte3Wait\":%.1f,"
        "\"vecDrain\":%.1f,\"conflict\":%.1f,\"bankGroupConflict\":%.1f,\"bankConflict\":%.1f,"
        "\"readBytes\":%.0f,\"writeBytes\":%.0f,\"reads\":%llu,"
        "\"writes\":%llu,\"blocks\":%llu,\"unalignedBlocks\":%llu,\"steps\":%zu}",
        i == 0 ? "" : ",", i, times.start, times.end, of(times.busy, Pipe::kScalar),
        of(times.busy, Pipe::kVector), of(times.busy, Pipe::kMte2), of(times.busy, Pipe::kMte3),
        of(times.waited, Pipe::kScalar), of(times.waited, Pipe::kVector),
        of(times.waited, Pipe::kMte2), of(times.waited, Pipe::kMte3), sums.vectorDrain, conflict,
        tape.conflicts.groups, tape.conflicts.banks, sums.readBytes, sums.writeBytes,
        static_cast<unsigned long long>(sums.reads), static_cast<unsigned long long>(sums.writes),
        static_cast<unsigned long long>(sums.blocks),
        static_cast<unsigned long long>(sums.unaligned), tape.steps.size());
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
      "2f,\"mhz\":%.0f,"
      "\"memoryBytesPerCycle\":%.3f,\"l2BytesPerCycle\":%.3f,\"l2Capacity\":%llu,\"writeBack\":%g,"
      "\"earlyWriteBack\":%g,"
      "\"memoryBytes\":%.0f,\"l2Bytes\":%.0f,\"readBytes\":%.0f,\"hitBytes\":%.0f,"
      "\"gmReadBytes\":%llu,\"gmWriteBytes\":%llu,\"conflictCycles\":%.1f,\"vectorBytes\":%.0f,"
      "\"alignment\":%llu,\"ubPeakBytes\":%llu,"
      "\"ubBytes\":%llu,\"vecCores\":%u,\"evidence\":\"%s\",\"socEvidence\":\"%s\",\"band\":[%g,%g,"
      "%g],"
      "\"assumed\":%s,\"grounds\":%s,\"shown\":[%s],\"cores\":[%s],\"instructions\":[%s]}",
      JsonQuoted(profile.op).c_str(), profile.soc->name.c_str(), profile.soc->npuArch,
      profile.blockDim, static_cast<unsigned long long>(profile.tilingKey),
      JsonQuoted(profile.tiling).c_str(), profile.times.end,
      profile.times.end / cycles + chip.launchMicroseconds,
      std::max(profile.times.memoryCycles, profile.times.l2Bytes / chip.l2BytesPerCycle) / cycles +
          chip.launchMicroseconds,
      chip.launchMicroseconds, cycles, chip.bytesPerCycle, chip.l2BytesPerCycle,
      static_cast<unsigned long long>(profile.soc->l2Bytes), CopyLawOf(*profile.soc).writeBack,
      CopyLawOf(*profile.soc).earlyWriteBack, profile.times.memoryBytes, profile.times.l2Bytes,
      profile.times.readBytes, profile.times.hitBytes,
      static_cast<unsigned long long>(profile.stats.gmReadBytes),
      static_cast<unsigned long long>(profile.stats.gmWriteBytes), conflicts, vectorBytes,
      static_cast<unsigned long long>(alignment),
      static_cast<unsigned long long>(profile.stats.ubPeakBytes),
      static_cast<unsigned long long>(profile.soc->ubBytes), profile.soc->aivCores,
      EvidenceName(evidence), EvidenceName(chip.evidence), chip.band[0], chip.band[1], chip.band[2],
      NamesJson(unknown).c_str(), GroundsOf(profile.tapes).c_str(),
      Joined(ShownCores(profile.times)).c_str(), cores.c_str(), instructions.c_str());
}

// --- trace ---------------------------------------------------------------------------------------------------------------

// The lanes of msopprof's simulator traces: order and colour.
struct Lane {
  const char* name;
  int sort;
  const char* colour;
};
const Lane& LaneOf(Pipe pipe) {
  static const Lane kLanes[] = {{"SCALAR", 1, "startup"},
                                {"VECTOR", 7, "cq_build_failed"},
                                {"MTE2", 6, "thread_state_iowait"},
                                {"MTE3", 8, "rail_response"}};
  return kLanes[static_cast<size_t>(pipe)];
}

// Where a stack leaves the simulator: what msopprof calls pc_addr, relative to the kernel's library.
std::string AddressOf(const std::vector<void*>& stack) {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&AddressOf), &self);
  for (void* frame : stack) {
    Dl_info info{};
    if (dladdr(frame, &info) != 0 && info.dli_fbase != self.dli_fbase) {
      return Format("0x%zx",
                    reinterpret_cast<size_t>(frame) - reinterpret_cast<size_t>(info.dli_fbase) - 1);
    }
  }
  return "0x0";
}

// Lines of the kernel by the stacks that the tapes keep.
class Lines {
 public:
  struct Place {
    std::string code;  // file:line
    std::string text;
    std::string address;
  };
  const Place& Of(const std::vector<void*>& stack) {
    const auto found = places_.find(stack);
    if (found != places_.end()) {
      return found->second;
    }
    const SourceLine line = FindKernelLine(stack);
    const std::string file = std::filesystem::path(line.file).lexically_normal().string();
    return places_
        .emplace(stack, Place{line.line > 0 ? Format("%s:%d", file.c_str(), line.line) : file,
                              line.text, AddressOf(stack)})
        .first->second;
  }

 private:
  std::map<std::vector<void*>, Place> places_;
};

// Instructions of a pipe one after the other: copies overlap in the model, and of each only what lies behind the end of
// the one before is its own.
class InTurn {
 public:
  Span Next(Pipe pipe, const Span& span) {
    double& last = ends_[static_cast<size_t>(pipe)];
    const Span own{std::min(std::max(span.start, last), std::max(span.end, last)),
                   std::max(span.end, last)};
    last = own.end;
    return own;
  }

 private:
  std::array<double, kPipes> ends_{};
};

bool IsDrain(StepKind kind) {
  return kind == StepKind::kBarrier || kind == StepKind::kAll || kind == StepKind::kMeet;
}

double BytesOf(const Tape& tape, const Step& step) {
  if (step.kind != StepKind::kCopy) {
    return 0;
  }
  const GmCopy& copy = tape.copies[step.copy];
  return static_cast<double>(copy.bytes) * copy.blocks;
}

class TraceWriter {
 public:
  TraceWriter(const Profile& profile, std::FILE* file) : profile_(profile), file_(file) {}

  void Write(const std::vector<uint32_t>& cores) {
    std::fputs(
        "{\"schemaVersion\":2,\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"traceEvents\":"
        "[",
        file_);
    for (const uint32_t core : cores) {
      WriteCore(core);
    }
    std::fputs("\n]}\n", file_);
  }

 private:
  void Event(const std::string& text) {
    std::fprintf(file_, "%s\n%s", first_ ? "" : ",", text.c_str());
    first_ = false;
  }
  // Ticks of 0.1 ns. Viewers round to whole ns, starts and lengths apart; what would overlap its neighbour then, or begin and
  // end at one time, is drawn elsewhere or dropped. So everything nests in whole ns.
  int64_t Tick(double cycles) const {
    return std::llround(cycles / profile_.soc->vecFreqMhz * kTicksPerMicrosecond);
  }
  static int64_t Rounded(int64_t ticks) { return (ticks + kTicksPerNs / 2) / kTicksPerNs; }
  static int64_t LengthOf(int64_t start, int64_t end) {
    const int64_t most = Rounded(end) - Rounded(start);
    return Rounded(end - start) > most ? most * kTicksPerNs : end - start;
  }
  // Where a pair of B and E starts that is to end at a time: at least 1 ns before.
  static int64_t BeginOf(int64_t start, int64_t end) {
    return Rounded(start) < Rounded(end) ? start : std::max<int64_t>(0, end - kTicksPerNs);
  }
  static std::string Micros(int64_t ticks) {
    return Format("%lld.%04lld", static_cast<long long>(ticks / kTicksPerMicrosecond),
                  static_cast<long long>(ticks % kTicksPerMicrosecond));
  }
  // A fifth digit keeps clear of halves, which would be rounded by chance.
  static std::string Time(int64_t ticks) { return Micros(ticks) + "2"; }

  std::string Args(const Tape& tape, const Step& step, const std::string& detail) {
    const Lines::Place& place = lines_.Of(tape.stacks.at(step.site));
    std::string args =
        Format("{\"pc_addr\":\"%s\",\"code\":%s,\"detail\":%s", place.address.c_str(),
               JsonQuoted(place.code).c_str(), JsonQuoted(detail).c_str());
    if (const double bytes = BytesOf(tape, step); bytes > 0) {
      args += Format(",\"process_bytes\":\"%.0f\"", bytes);
    }
    return args + "}";
  }

  // An event without its text: a step that loops over single values has millions. Viewers take events in the order of their
  // times, and those of one time in the order of the file.
  struct Mark {
    int64_t tick;
    int64_t end;  // of slices
    char phase;   // as in the file; 0: an arrow that nobody waits for
    uint32_t step;
    uint32_t other = 0;  // the step at the other end of an arrow
    uint32_t flag = 0;
  };

  void WriteCore(uint32_t core) {
    const Tape& tape = profile_.tapes[core];
    const std::string pid = Format("\"core%u.veccore%u\"", core / 2, core % 2);
    Event(Format(
        "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%s,\"args\":{\"sort_index\":%u}}",
        pid.c_str(), core / 2 * 3 + 2 + core % 2));
    for (size_t pipe = 0; pipe < kPipes; ++pipe) {
      const Lane& lane = LaneOf(static_cast<Pipe>(pipe));
      Event(
          Format("{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":%s,\"tid\":\"%s\","
                 "\"args\":{\"sort_index\":%d}}",
                 pid.c_str(), lane.name, lane.sort));
    }
    std::vector<Mark> marks = MarksOf(tape, profile_.times.cores[core]);
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.tick < b.tick; });
    for (const Mark& mark : marks) {
      if (mark.phase != 0) {
        Event(TextOf(mark, tape, pid));
      }
    }
  }

  std::vector<Mark> MarksOf(const Tape& tape, const CoreTimes& times) {
    std::vector<Mark> marks;
    marks.reserve(tape.steps.size());
    std::map<uint32_t, std::deque<size_t>>
        arrows;  // by flag: marks of sets that no wait has taken yet
    InTurn lanes;
    for (uint32_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      if (step.kind == StepKind::kSet) {
        const int64_t end = std::max(kTicksPerNs, Tick(times.spans[i].end));
        const int64_t begin = BeginOf(end, end);
        const uint32_t flag = ++flags_;
        marks.push_back({begin, 0, 'B', i, 0, flag});
        arrows[step.flag].push_back(marks.size());
        marks.push_back({begin, 0, 0, i, 0, flag});  // from inside of the slice
        marks.push_back({end, 0, 'E', i, 0, flag});
        continue;
      }
      const Span span = lanes.Next(step.pipe, times.spans[i]);
      const int64_t end = Tick(span.end);
      if (step.kind == StepKind::kWait) {
        std::deque<size_t>& waiting = arrows[step.flag];
        const uint32_t flag = waiting.empty() ? ++flags_ : marks[waiting.front()].flag;
        const int64_t last = std::max(kTicksPerNs, end);
        const int64_t begin = BeginOf(Tick(span.start), last);
        marks.push_back({begin, 0, 'B', i, 0, flag});
        if (!waiting.empty()) {
          Mark& set = marks[waiting.front()];
          waiting.pop_front();
          set.phase = 's';
          set.other = i;
          marks.push_back(
              {std::max({begin, last - kTicksPerNs, set.tick}), 0, 't', i, set.step, flag});
        }
        marks.push_back({last, 0, 'E', i, 0, flag});
        continue;
      }
      const int64_t start = Tick(IsDrain(step.kind) ? std::max(0.0, span.end - 1) : span.start);
      marks.push_back({start, end, 'X', i});
    }
    return marks;
  }

  std::string TextOf(const Mark& mark, const Tape& tape, const std::string& pid) {
    const Step& step = tape.steps[mark.step];
    const Lane& lane = LaneOf(step.pipe);
    const std::string& function = tape.names[step.name];
    const std::string detail = step.automatic ? function + ", inserted by the compiler" : function;
    const std::string where = Format("\"ph\":\"%c\",\"ts\":%s,\"pid\":%s,\"tid\":\"%s\"",
                                     mark.phase, Time(mark.tick).c_str(), pid.c_str(), lane.name);
    if (mark.phase == 'X') {
      const bool drain = IsDrain(step.kind);
      return Format("{\"name\":%s,\"cname\":\"%s\",%s,\"dur\":%s,\"args\":%s}",
                    drain ? "\"BAR\"" : JsonQuoted(function).c_str(), lane.colour, where.c_str(),
                    Micros(LengthOf(mark.tick, mark.end)).c_str(),
                    Args(tape, step, drain || step.automatic ? detail : "").c_str());
    }
    // Ids of digits alone: there are viewers that read them as a number.
    if (mark.phase == 'B' || mark.phase == 'E') {
      const bool set = step.kind == StepKind::kSet;
      return Format("{\"name\":\"%s\",\"cname\":\"%s\",%s,\"id\":\"%u\",\"args\":%s}",
                    set ? "SET_FLAG" : "WAIT_FLAG", set ? "black" : "yellow", where.c_str(),
                    mark.flag, mark.phase == 'B' ? Args(tape, step, detail).c_str() : "{}");
    }
    const Lane& other = LaneOf(tape.steps[mark.other].pipe);
    const bool from = mark.phase == 's';
    return Format("{\"name\":\"flow\",\"cat\":\"%sTo%s\",%s,\"id\":\"%u\"}",
                  from ? lane.name : other.name, from ? other.name : lane.name, where.c_str(),
                  mark.flag);
  }

  static constexpr int64_t kTicksPerMicrosecond = 10000, kTicksPerNs = 10;

  const Profile& profile_;
  std::FILE* const file_;
  bool first_ = true;
  uint32_t flags_ = 0;
  Lines lines_;
};

// --- by line -------------------------------------------------------------------------------------------------------------

// What one line of the kernel does with one instruction.
struct LineCost {
  uint64_t count = 0, blocks = 0, unaligned = 0;
  double cycles = 0, bytes = 0;
};

std::string LinesOf(const Profile& profile, const std::vector<uint32_t>& cores) {
  using Key = std::tuple<std::vector<void*>, std::string, Pipe, bool>;  // bool: stands and waits
  std::map<Key, LineCost> found;
  const uint64_t alignment = CopyLawOf(*profile.soc).alignment;
  for (const uint32_t core : cores) {
    const Tape& tape = profile.tapes[core];
    const std::vector<Span>& spans = profile.times.cores[core].spans;
    InTurn lanes;
    std::map<std::tuple<uint32_t, uint16_t, Pipe, bool>, LineCost*> here;
    for (size_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      if (step.kind == StepKind::kSet) {
        continue;
      }
      const Span span = lanes.Next(step.pipe, spans[i]);
      const bool waits = step.kind == StepKind::kWait || IsDrain(step.kind);
      LineCost*& row = here[{step.site, step.name, step.pipe, waits}];
      if (row == nullptr) {
        row = &found[{tape.stacks.at(step.site), tape.names[step.name], step.pipe, waits}];
      }
      row->count += 1;
      row->cycles += span.end - span.start;
      row->bytes += BytesOf(tape, step);
      if (step.kind == StepKind::kCopy) {
        row->blocks += tape.copies[step.copy].blocks;
        row->unaligned += UnalignedBlocks(tape.copies[step.copy], alignment);
      }
    }
  }
  Lines lines;
  std::string json = "[";
  for (const auto& [key, row] : found) {
    const auto& [stack, name, pipe, waits] = key;
    const Lines::Place& place = lines.Of(stack);
    json += Format(
        "%s{\"code\":%s,\"text\":%s,\"addr\":\"%s\",\"instruction\":%s,\"pipe\":\"%s\",\"waits\":%"
        "s,"
        "\"count\":%llu,\"cycles\":%.1f,\"bytes\":%.0f,\"blocks\":%llu,\"unaligned\":%llu}",
        json.size() > 1 ? "," : "", JsonQuoted(place.code).c_str(), JsonQuoted(place.text).c_str(),
        place.address.c_str(), JsonQuoted(name).c_str(), LaneOf(pipe).name,
        waits ? "true" : "false", static_cast<unsigned long long>(row.count), row.cycles, row.bytes,
        static_cast<unsigned long long>(row.blocks),
        static_cast<unsigned long long>(row.unaligned));
  }
  return json + "]";
}

// The profile of a launch that still has its instructions, or null with a reason.
const Profile* Traced(size_t launch, const std::vector<uint32_t>& cores, std::string* why) {
  const std::deque<Profile>& profiles = Profiles();
  if (launch >= profiles.size() || profiles[launch].tapes.empty()) {
    *why = Format("launch %zu: %zu were profiled, and the last %zu of them keep a trace", launch,
                  profiles.size(), kTraced);
    return nullptr;
  }
  const Profile& profile = profiles[launch];
  for (const uint32_t core : cores) {
    if (core >= profile.tapes.size()) {
      *why = Format("core %u: the launch has %zu", core, profile.tapes.size());
      return nullptr;
    }
  }
  return &profile;
}

bool WriteTraceOf(const Profile& profile, const std::vector<uint32_t>& cores,
                  const std::string& path, std::string* why) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    *why = Format("%s: %s", path.c_str(), std::strerror(errno));
    return false;
  }
  TraceWriter(profile, file).Write(cores);
  if (std::ferror(file) | std::fclose(file)) {
    *why = Format("%s: not written: %s", path.c_str(), std::strerror(errno));
    return false;
  }
  return true;
}

// --- for another process -------------------------------------------------------------------------------------------------

constexpr size_t kReported =
    32;  // launches that are reported with their instructions whatever they take

// Bytes that lie in at least one of the ranges.
uint64_t BytesCovered(std::vector<std::pair<uint64_t, uint64_t>>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  uint64_t bytes = 0, end = 0;
  for (const auto& [from, to] : ranges) {
    bytes += to > std::max(from, end) ? to - std::max(from, end) : 0;
    end = std::max(end, to);
  }
  return bytes;
}

// GM bytes that a launch reads or writes, those of copies once; single values of the scalar pipe as often as they are moved.
uint64_t BytesOnce(const Profile& profile, bool write) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t copied = 0;
  for (const Tape& tape : profile.tapes) {
    for (const GmCopy& copy : tape.copies) {
      if (copy.write == write) {
        for (uint32_t block = 0; block < copy.blocks; ++block) {
          const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
          ranges.emplace_back(begin, begin + copy.bytes);
        }
        copied += copy.bytes * copy.blocks;
      }
    }
  }
  const uint64_t moved = write ? profile.stats.gmWriteBytes : profile.stats.gmReadBytes;
  return BytesCovered(ranges) + (moved > copied ? moved - copied : 0);
}

bool WriteText(const std::string& path, const char* how, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), how);
  if (file == nullptr) {
    return false;
  }
  std::fputs(text.c_str(), file);
  return !(std::ferror(file) | std::fclose(file));
}

// The cores of ACLGRAD_SIM_PROFILE_CORES that the launch has, else those that tell most; none of them when it says so.
std::vector<uint32_t> ReportedCores(const Profile& profile) {
  std::vector<uint32_t> cores;
  const char* text = std::getenv("ACLGRAD_SIM_PROFILE_CORES");
  if (text != nullptr && std::strcmp(text, "none") == 0) {
    return cores;
  }
  for (char* end = nullptr; text != nullptr && *text != '\0'; text = *end == ',' ? end + 1 : end) {
    const unsigned long core = std::strtoul(text, &end, 10);
    if (end == text) {
      break;
    }
    if (core < profile.tapes.size()) {
      cores.push_back(static_cast<uint32_t>(core));
    }
  }
  return cores.empty() ? ShownCores(profile.times) : cores;
}

// What aclsimProfiles, aclsimProfileLines and aclsimWriteTrace would say, as files.
void Report(const std::string& folder, size_t number, const Profile& profile, bool whole) {
  const std::string stem = Format("%s/%zu", folder.c_str(), number);
  bool written = true;
  if (whole) {
    std::vector<uint32_t> all(profile.tapes.size());
    std::iota(all.begin(), all.end(), 0u);
    const std::vector<uint32_t> cores = ReportedCores(profile);
    std::string lines = "{\"all\":" + LinesOf(profile, all);
    for (const uint32_t core : cores) {
      lines += Format(",\"%u\":", core) + LinesOf(profile, {core});
    }
    written = WriteText(stem + ".lines.json", "w", lines + "}\n");
    std::string why;
    written =
        (cores.empty() || WriteTraceOf(profile, cores, stem + ".trace.json", &why)) && written;
  }
  written = WriteText(folder + "/launches", "a",
                      Format("{\"whole\":%s,\"readOnce\":%llu,\"writtenOnce\":%llu,\"profile\":",
                             whole ? "true" : "false",
                             static_cast<unsigned long long>(BytesOnce(profile, false)),
                             static_cast<unsigned long long>(BytesOnce(profile, true))) +
                          profile.json + "}\n") &&
            written;
  if (!written) {
    std::fprintf(stderr, "aclgrad: ACLGRAD_SIM_PROFILE_REPORT %s: not written: %s\n",
                 folder.c_str(), std::strerror(errno));
  }
}

}  // namespace

bool ProfileMode() {
  int mode = profileMode;
  if (mode < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_PROFILE");
    mode = text != nullptr && std::strcmp(text, "on") == 0 ? 1 : 0;
    profileMode = mode;
  }
  return mode != 0;
}

void SetProfileMode(bool on) { profileMode = on ? 1 : 0; }

void KeepProfile(const KernelLaunch& launch, const LaunchStats& stats, std::vector<Tape> tapes) {
  Profile profile;
  profile.op = launch.opType;
  profile.soc = launch.soc;
  profile.blockDim = launch.blockDim;
  profile.tilingKey = launch.tilingKey;
  profile.tiling = launch.tilingText;
  profile.stats = stats;
  profile.times = Time(*launch.soc, tapes);
  profile.end = profile.times.end;
  profile.tapes = std::move(tapes);
  profile.json = Summary(profile);
  const std::lock_guard<std::mutex> lock(profilesMutex);
  std::deque<Profile>& profiles = Profiles();
  if (const char* folder = std::getenv("ACLGRAD_SIM_PROFILE_REPORT");
      folder != nullptr && *folder != '\0') {
    const bool longest = std::all_of(profiles.begin(), profiles.end(),
                                     [&](const Profile& other) { return other.end < profile.end; });
    Report(folder, profiles.size(), profile, longest || profiles.size() < kReported);
  }
  profiles.push_back(std::move(profile));
  if (profiles.size() > kTraced) {
    Profile& old = profiles[profiles.size() - 1 - kTraced];
    old.tapes.clear();
    old.times = {};
  }
}

void ClearProfiles() {
  const std::lock_guard<std::mutex> lock(profilesMutex);
  Profiles().clear();
}

std::string ProfilesJson() {
  const std::lock_guard<std::mutex> lock(profilesMutex);
  std::string json = "[";
  for (const Profile& profile : Profiles()) {
    json += json.size() > 1 ? "," : "";
    json += profile.json;
  }
  return json + "]";
}

std::string ProfileLinesJson(size_t launch, std::vector<uint32_t> cores, std::string* why) {
  const std::lock_guard<std::mutex> lock(profilesMutex);
  const Profile* const profile = Traced(launch, cores, why);
  if (profile == nullptr) {
    return "";
  }
  if (cores.empty()) {
    cores.resize(profile->tapes.size());
    std::iota(cores.begin(), cores.end(), 0u);
  }
  return LinesOf(*profile, cores);
}

bool WriteTrace(size_t launch, const std::vector<uint32_t>& cores, const std::string& path,
                std::string* why) {
  const std::lock_guard<std::mutex> lock(profilesMutex);
  const Profile* const profile = Traced(launch, cores, why);
  if (profile == nullptr) {
    return false;
  }
  return WriteTraceOf(*profile, cores, path, why);
}

}  // namespace aclsim
