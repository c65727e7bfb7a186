// SPDX-License-Identifier: Apache-2.0
// A trace in msopprof's conventions: timelines of cores for Chrome's viewer and Perfetto.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "findings/finding.h"
#include "host/report_file.h"
#include "timing/profile_parts.h"

namespace aclsim {

namespace {

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
                                {"MTE3", 8, "rail_response"},
                                {"MTE1", 3, "thread_state_uninterruptible"},
                                {"CUBE", 4, "detailed_memory_dump"},
                                {"FIXP", 5, "thread_state_sleeping"}};
  return kLanes[static_cast<size_t>(pipe)];
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
    std::fputs("\n],\"buffers\":[", file_);
    first_ = true;
    for (const uint32_t core : cores) {
      WriteBuffers(core);
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
  // Returns where a pair of B and E starts that is to end at a time: at least 1 ns before.
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
    const KernelLines::Place& place = lines_.Of(tape.stacks.at(step.site));
    std::string args =
        Format("{\"pc_addr\":\"%s\",\"code\":%s,\"detail\":%s", place.address.c_str(),
               JsonQuoted(place.code).c_str(), JsonQuoted(detail).c_str());
    if (const double bytes = BytesOf(tape, step); bytes > 0) {
      args += Format(",\"process_bytes\":\"%.0f\"", bytes);
    }
    return args + "}";
  }

  // Pairs of B and E of one lane. A pipe is free before what it has done is complete, so that a flag may be set when the pipe stands
  // at the next one already: the later pair begins behind the earlier one, where it would begin in it and end with it or behind it.
  class Pairs {
   public:
    std::pair<int64_t, int64_t> Place(const Step& step, int64_t begin, int64_t end) {
      Pair& last = last_[static_cast<size_t>(step.pipe)];
      if (last.kind != step.kind && Rounded(begin) >= Rounded(last.begin) &&
          Rounded(begin) < Rounded(last.end)) {
        begin = last.end;
        end = std::max(end, begin + kTicksPerNs);
      }
      if (end >= last.end) {
        last = {step.kind, begin, end};
      }
      return {begin, end};
    }

   private:
    struct Pair {
      StepKind kind = StepKind::kScalar;
      int64_t begin = 0, end = 0;
    };
    std::array<Pair, kPipes> last_;
  };

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

  std::string CoreName(uint32_t core) const {
    const KernelLaunch& cores = profile_.cores;
    if (cores.KindOf(core) == CoreKind::kCube) {
      return Format("core%u.cubecore0", cores.GroupOf(core));
    }
    return cores.Mixed() ? Format("core%u.veccore%u", cores.GroupOf(core), cores.SubOf(core))
                         : Format("core%u.veccore%u", core / 2, core % 2);
  }
  // Cores of an AI core stand next to each other, its AIC first.
  uint32_t SortIndex(uint32_t core) const {
    const KernelLaunch& cores = profile_.cores;
    if (!cores.Mixed()) {
      return core / 2 * 3 + 2 + core % 2;
    }
    const bool cube = cores.KindOf(core) == CoreKind::kCube;
    return cores.GroupOf(core) * 3 + (cube ? 1 : 2 + cores.SubOf(core));
  }

  void WriteCore(uint32_t core) {
    const Tape& tape = profile_.tapes[core];
    const std::string pid = Format("\"%s\"", CoreName(core).c_str());
    Event(Format(
        "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%s,\"args\":{\"sort_index\":%u}}",
        pid.c_str(), SortIndex(core)));
    const CoreKind kind = profile_.cores.KindOf(core);
    for (size_t pipe = 0; pipe < PipesEnd(kind); ++pipe) {
      if (!HasPipe(kind, static_cast<Pipe>(pipe))) {
        continue;
      }
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

  // Beside what viewers read: which buffers of UB there are, and from when to when each is used, in us.
  void WriteBuffers(uint32_t core) {
    const Tape& tape = profile_.tapes[core];
    const std::vector<Span>& spans = profile_.times.cores[core].spans;
    std::vector<size_t> places(tape.buffers.size(), SIZE_MAX);
    std::string buffers, uses;
    size_t count = 0;
    for (const UbUse& use : tape.uses) {
      const UbBuffer& buffer = tape.buffers[use.buffer];
      size_t& place = places[use.buffer];
      if (place == SIZE_MAX) {
        place = count++;
        buffers += Format("%s[%s,%u,%u]", place == 0 ? "" : ",",
                          JsonQuoted(QueNameOf(buffer.initPc, buffer.pos)).c_str(), buffer.offset,
                          buffer.bytes);
      }
      double end = 0;
      for (const uint32_t last : use.last) {
        end = last == 0 ? end : std::max(end, spans[std::min<size_t>(last, spans.size()) - 1].end);
      }
      const double start = spans[std::min<size_t>(use.first, spans.size() - 1)].start;
      uses += Format("%s[%zu,%s,%s]", uses.empty() ? "" : ",", place,
                     Micros(Tick(std::min(start, end))).c_str(), Micros(Tick(end)).c_str());
    }
    Event(Format("{\"pid\":\"%s\",\"bytes\":%llu,\"buffers\":[%s],\"uses\":[%s]}",
                 CoreName(core).c_str(), static_cast<unsigned long long>(profile_.soc->ubBytes),
                 buffers.c_str(), uses.c_str()));
  }

  std::vector<Mark> MarksOf(const Tape& tape, const CoreTimes& times) {
    std::vector<Mark> marks;
    marks.reserve(tape.steps.size());
    std::map<uint32_t, std::deque<size_t>>
        arrows;  // by flag: marks of sets that no wait has taken yet
    InTurn lanes;
    Pairs pairs;
    for (uint32_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      if (step.kind == StepKind::kSet) {
        const int64_t last = std::max(kTicksPerNs, Tick(times.spans[i].end));
        const auto [begin, end] = pairs.Place(step, BeginOf(last, last), last);
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
        const int64_t ends = std::max(kTicksPerNs, end);
        const auto [begin, last] = pairs.Place(step, BeginOf(Tick(span.start), ends), ends);
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
  KernelLines lines_;
};

}  // namespace

bool WriteTraceOf(const Profile& profile, const std::vector<uint32_t>& cores,
                  const std::string& path, std::string* why) {
  ReportFile file(path, ReportFile::Mode::kReplace);
  if (file.get() != nullptr) {
    TraceWriter(profile, file.get()).Write(cores);
  }
  if (!file.Close()) {
    *why = Format("%s: %s", path.c_str(), file.why().c_str());
    return false;
  }
  return true;
}

}  // namespace aclsim
