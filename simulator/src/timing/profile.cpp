// SPDX-License-Identifier: Apache-2.0
#include "timing/profile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "engine/finding.h"

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
  ChipTimes times;
  std::vector<Tape> tapes;
  std::string json;
};

std::mutex profilesMutex;
std::deque<Profile>& Profiles() {
  static auto* profiles = new std::deque<Profile>;  // leaked: launches may end late
  return *profiles;
}
std::atomic<int> profileMode{-1};  // -1: not decided yet

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
    for (size_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      if (step.kind == StepKind::kVector || step.kind == StepKind::kCopy ||
          step.kind == StepKind::kScalar) {
        Instruction& row = found[tape.names[step.name]];
        const Span& span = profile.times.cores[core].spans[i];
        row.count += 1;
        row.cycles += span.end - span.start;
        row.pipe = step.pipe;
      }
    }
  }
  return found;
}

std::string Summary(const Profile& profile) {
  const ChipCosts chip = ChipCostsOf(*profile.soc);
  const double cycles = chip.cyclesPerMicrosecond;
  Evidence evidence = chip.evidence;
  std::vector<std::string> unknown;
  double conflicts = 0;
  std::string cores;
  for (size_t i = 0; i < profile.tapes.size(); ++i) {
    const Tape& tape = profile.tapes[i];
    const CoreTimes& times = profile.times.cores[i];
    evidence = std::max(evidence, tape.evidence);
    conflicts += tape.conflictCycles;
    for (const std::string& name : tape.unknown) {
      if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) {
        unknown.push_back(name);
      }
    }
    const auto of = [](const std::array<double, kPipes>& row, Pipe pipe) {
      return row[static_cast<size_t>(pipe)];
    };
    cores += Format(
        "%s{\"block_id\":%zu,\"start\":%.1f,\"cycles\":%.1f,\"scalar\":%.1f,\"vec\":%.1f,\"mte2\":%"
        ".1f,"
        "\"mte3\":%.1f,\"scalarWait\":%.1f,\"vecWait\":%.1f,\"mte2Wait\":%.1f,\"mte3Wait\":%.1f,"
        "\"steps\":%zu}",
        i == 0 ? "" : ",", i, times.start, times.end, of(times.busy, Pipe::kScalar),
        of(times.busy, Pipe::kVector), of(times.busy, Pipe::kMte2), of(times.busy, Pipe::kMte3),
        of(times.waited, Pipe::kScalar), of(times.waited, Pipe::kVector),
        of(times.waited, Pipe::kMte2), of(times.waited, Pipe::kMte3), tape.steps.size());
  }
  std::string instructions;
  for (const auto& [name, row] : InstructionsOf(profile)) {
    instructions +=
        Format("%s{\"name\":%s,\"pipe\":\"%s\",\"count\":%llu,\"cycles\":%.1f}",
               instructions.empty() ? "" : ",", JsonQuoted(name).c_str(), PipeName(row.pipe),
               static_cast<unsigned long long>(row.count), row.cycles);
  }
  std::string names;
  for (const std::string& name : unknown) {
    names += names.empty() ? "" : ",";
    names += JsonQuoted(name);
  }
  return Format(
      "{\"op\":%s,\"soc\":\"%s\",\"npuArch\":%u,\"blockDim\":%u,\"tilingKey\":%llu,\"tiling\":%s,"
      "\"cycles\":%.1f,\"microseconds\":%.3f,\"launchMicroseconds\":%.2f,\"mhz\":%.0f,"
      "\"memoryBytesPerCycle\":%.3f,\"l2BytesPerCycle\":%.3f,\"l2Capacity\":%llu,"
      "\"memoryBytes\":%.0f,\"l2Bytes\":%.0f,\"readBytes\":%.0f,\"hitBytes\":%.0f,"
      "\"gmReadBytes\":%llu,\"gmWriteBytes\":%llu,\"conflictCycles\":%.1f,\"ubPeakBytes\":%llu,"
      "\"ubBytes\":%llu,\"vecCores\":%u,\"evidence\":\"%s\",\"band\":[%g,%g,%g],"
      "\"assumed\":[%s],\"cores\":[%s],\"instructions\":[%s]}",
      JsonQuoted(profile.op).c_str(), profile.soc->name.c_str(), profile.soc->npuArch,
      profile.blockDim, static_cast<unsigned long long>(profile.tilingKey),
      JsonQuoted(profile.tiling).c_str(), profile.times.end,
      profile.times.end / cycles + chip.launchMicroseconds, chip.launchMicroseconds, cycles,
      chip.bytesPerCycle, chip.l2BytesPerCycle,
      static_cast<unsigned long long>(profile.soc->l2Bytes), profile.times.memoryBytes,
      profile.times.l2Bytes, profile.times.readBytes, profile.times.hitBytes,
      static_cast<unsigned long long>(profile.stats.gmReadBytes),
      static_cast<unsigned long long>(profile.stats.gmWriteBytes), conflicts,
      static_cast<unsigned long long>(profile.stats.ubPeakBytes),
      static_cast<unsigned long long>(profile.soc->ubBytes), profile.soc->aivCores,
      EvidenceName(evidence), chip.band[0], chip.band[1], chip.band[2], names.c_str(),
      cores.c_str(), instructions.c_str());
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
  double Micros(double cycles) const { return cycles / profile_.soc->vecFreqMhz; }

  void WriteCore(uint32_t core) {
    const Tape& tape = profile_.tapes[core];
    const CoreTimes& times = profile_.times.cores[core];
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
    std::map<uint32_t, std::deque<size_t>> sets;  // by flag: those that no wait has taken
    for (size_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      const Span& span = times.spans[i];
      const Lane& lane = LaneOf(step.pipe);
      const char* const name = tape.names[step.name].c_str();
      if (step.kind == StepKind::kSet) {
        sets[step.flag].push_back(i);
        continue;
      }
      if (step.kind == StepKind::kWait) {
        Flow(tape, times, pid, sets[step.flag], i);
        continue;
      }
      const bool drain = step.kind == StepKind::kBarrier || step.kind == StepKind::kAll ||
                         step.kind == StepKind::kMeet;
      const double bytes =
          step.kind == StepKind::kCopy
              ? static_cast<double>(tape.copies[step.copy].bytes) * tape.copies[step.copy].blocks
              : 0;
      Event(
          Format("{\"name\":%s,\"cname\":\"%s\",\"ph\":\"X\",\"ts\":%.4f,\"dur\":%.4f,\"pid\":%s,"
                 "\"tid\":\"%s\",\"args\":{\"code\":%s,\"detail\":\"%s\",\"process_bytes\":%.0f}}",
                 JsonQuoted(name).c_str(), drain ? "good" : lane.colour, Micros(span.start),
                 Micros(span.end - span.start), pid.c_str(), lane.name,
                 JsonQuoted(CodeOf(tape, step.site)).c_str(),
                 step.automatic ? "inserted by the compiler" : "", bytes));
    }
  }

  // A wait, and the arrow from its set.
  void Flow(const Tape& tape, const CoreTimes& times, const std::string& pid,
            std::deque<size_t>& sets, size_t wait) {
    const Step& step = tape.steps[wait];
    const Lane& to = LaneOf(step.pipe);
    const Span& span = times.spans[wait];
    if (span.end > span.start) {
      Event(Format(
          "{\"name\":\"WAIT_FLAG\",\"cname\":\"yellow\",\"ph\":\"X\",\"ts\":%.4f,\"dur\":%.4f,"
          "\"pid\":%s,\"tid\":\"%s\",\"args\":{\"code\":%s,\"detail\":%s}}",
          Micros(span.start), Micros(span.end - span.start), pid.c_str(), to.name,
          JsonQuoted(CodeOf(tape, step.site)).c_str(), JsonQuoted(tape.names[step.name]).c_str()));
    }
    if (sets.empty()) {
      return;
    }
    const size_t set = sets.front();
    sets.pop_front();
    const Lane& from = LaneOf(tape.steps[set].pipe);
    const uint64_t id = ++flows_;
    Event(Format(
        "{\"name\":\"flow\",\"cat\":\"%sTo%s\",\"ph\":\"s\",\"id\":%llu,\"ts\":%.4f,\"pid\":%s,"
        "\"tid\":\"%s\"}",
        from.name, to.name, static_cast<unsigned long long>(id), Micros(times.spans[set].start),
        pid.c_str(), from.name));
    Event(Format(
        "{\"name\":\"flow\",\"cat\":\"%sTo%s\",\"ph\":\"t\",\"id\":%llu,\"ts\":%.4f,\"pid\":%s,"
        "\"tid\":\"%s\"}",
        from.name, to.name, static_cast<unsigned long long>(id), Micros(span.end), pid.c_str(),
        to.name));
  }

  const std::string& CodeOf(const Tape& tape, uint32_t site) {
    const std::vector<void*>& stack = tape.stacks.at(site);
    const auto found = codes_.find(stack);
    if (found != codes_.end()) {
      return found->second;
    }
    const SourceLine line = FindKernelLine(stack);
    return codes_
        .emplace(stack, line.line > 0 ? Format("%s:%d", line.file.c_str(), line.line) : line.file)
        .first->second;
  }

  const Profile& profile_;
  std::FILE* const file_;
  bool first_ = true;
  uint64_t flows_ = 0;
  std::map<std::vector<void*>, std::string> codes_;
};

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
  profile.tapes = std::move(tapes);
  profile.json = Summary(profile);
  const std::lock_guard<std::mutex> lock(profilesMutex);
  std::deque<Profile>& profiles = Profiles();
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

bool WriteTrace(size_t launch, const std::vector<uint32_t>& cores, const std::string& path,
                std::string* why) {
  const std::lock_guard<std::mutex> lock(profilesMutex);
  const std::deque<Profile>& profiles = Profiles();
  if (launch >= profiles.size() || profiles[launch].tapes.empty()) {
    *why = Format("launch %zu: %zu were profiled, and the last %zu of them keep a trace", launch,
                  profiles.size(), kTraced);
    return false;
  }
  const Profile& profile = profiles[launch];
  for (const uint32_t core : cores) {
    if (core >= profile.tapes.size()) {
      *why = Format("core %u: the launch has %zu", core, profile.tapes.size());
      return false;
    }
  }
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

}  // namespace aclsim
