// SPDX-License-Identifier: Apache-2.0
#include "timing/profile.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>

#include "findings/finding.h"
#include "host/fork.h"
#include "host/lock.h"
#include "host/report_file.h"
#include "timing/options.h"
#include "timing/profile_parts.h"

namespace aclsim {

namespace {

constexpr size_t kTraced = 4;  // launches that keep their instructions

// Answers about a profile may want the host's threads, so that nobody holds `mutex` meanwhile.
using Shared = std::shared_ptr<const Profile>;
struct Kept {
  Mutex<4, "report of profiles"> reporting;  // keeps the files in the order of the launches
  Mutex<9, "profiles"> mutex;
  std::deque<Shared> profiles;  // all but the last ones have their summary alone
};
PerProcess<Kept> kept;
std::atomic<int64_t> modelledNanos{0};

// Returns whether scalar code may take more than a tenth of the estimate, were the scalar pipe no faster than this host.
bool Uncounted(const Profile& profile) {
  constexpr double kLeastSeconds = 1e-3;  // of the host: less may be its own start
  constexpr double kShare = 0.1;
  double seconds = 0;
  for (const Tape& tape : profile.tapes) {
    seconds = std::max(seconds, tape.ownSeconds);
  }
  const ChipCosts chip = ChipCostsOf(*profile.soc);
  const double us = profile.end / chip.cyclesPerMicrosecond + chip.launchMicroseconds;
  return seconds >= kLeastSeconds && 1e6 * seconds >= kShare * us;
}

// The profile of a launch that still has its instructions, or null with a reason.
Shared Traced(size_t launch, const std::vector<uint32_t>& cores, std::string* why) {
  const std::lock_guard lock(kept->mutex);
  const std::deque<Shared>& profiles = kept->profiles;
  if (launch >= profiles.size() || profiles[launch]->tapes.empty()) {
    *why = Format("launch %zu: %zu were profiled, and the last %zu of them keep a trace", launch,
                  profiles.size(), kTraced);
    return nullptr;
  }
  for (const uint32_t core : cores) {
    if (core >= profiles[launch]->tapes.size()) {
      *why = Format("core %u: the launch has %zu", core, profiles[launch]->tapes.size());
      return nullptr;
    }
  }
  return profiles[launch];
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

bool WriteText(const std::string& path, ReportFile::Mode mode, const std::string& text,
               std::string* why) {
  ReportFile file(path, mode);
  if (file.get() != nullptr) {
    std::fputs(text.c_str(), file.get());
  }
  if (!file.Close()) {
    *why = path + ": " + file.why();
    return false;
  }
  return true;
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

// Writes what aclsimProfiles, aclsimProfileLines and aclsimWriteTrace would say, as files.
void Report(const std::string& folder, size_t number, const Profile& profile, bool whole) {
  const std::string stem = Format("%s/%zu", folder.c_str(), number);
  bool written = true;
  std::string why;
  if (whole) {
    std::vector<uint32_t> all(profile.tapes.size());
    std::iota(all.begin(), all.end(), 0u);
    const std::vector<uint32_t> cores = ReportedCores(profile);
    std::string lines =
        "{\"all\":" + LinesJson(profile, all) + ",\"changes\":" + ChangesJson(profile);
    for (const uint32_t core : cores) {
      lines += Format(",\"%u\":", core) + LinesJson(profile, {core});
    }
    written = WriteText(stem + ".lines.json", ReportFile::Mode::kReplace, lines + "}\n", &why);
    written =
        (cores.empty() || WriteTraceOf(profile, cores, stem + ".trace.json", &why)) && written;
  }
  written = WriteText(folder + "/launches", ReportFile::Mode::kAppend,
                      Format("{\"whole\":%s,\"readOnce\":%llu,\"writtenOnce\":%llu,\"profile\":",
                             whole ? "true" : "false",
                             static_cast<unsigned long long>(BytesOnce(profile, false)),
                             static_cast<unsigned long long>(BytesOnce(profile, true))) +
                          profile.json + "}\n",
                      &why) &&
            written;
  if (!written) {
    std::fprintf(stderr, "aclgrad: ACLGRAD_SIM_PROFILE_REPORT: %s\n", why.c_str());
  }
}

}  // namespace

int64_t ModelledNanos() { return modelledNanos; }

void KeepProfile(const KernelLaunch& launch, const LaunchStats& stats, std::vector<Tape> tapes) {
  Profile profile;
  profile.op = launch.opType;
  profile.soc = launch.soc;
  profile.blockDim = launch.blockDim;
  profile.cores.soc = launch.soc;
  profile.cores.blockDim = launch.blockDim;
  profile.cores.group = launch.group;
  profile.tilingKey = launch.tilingKey;
  profile.tiling = launch.tilingText;
  profile.regions = launch.regions;
  profile.stats = stats;
  for (const Tape& tape : tapes) {
    profile.stats.gmReadBytes -= tape.polledBytes;
  }
  profile.times = Time(tapes, ModelCostsOf(*launch.soc));
  profile.end = profile.times.end;
  const ChipCosts chip = ChipCostsOf(*launch.soc);
  modelledNanos += static_cast<int64_t>(
      1e3 * (profile.end / chip.cyclesPerMicrosecond + chip.launchMicroseconds));
  profile.tapes = std::move(tapes);
  profile.uncounted = Uncounted(profile);
  if (SensitivityMode()) {
    profile.sensitivity = ",\"sensitivity\":" + SensitivityJson(profile);
  }
  profile.json = SummaryJson(profile);
  const auto shared = std::make_shared<const Profile>(std::move(profile));
  const char* const folder = std::getenv("ACLGRAD_SIM_PROFILE_REPORT");
  const bool reports = folder != nullptr && *folder != '\0';
  std::unique_lock reporting(kept->reporting, std::defer_lock);
  if (reports) {
    reporting.lock();
  }
  bool longest = true;
  size_t number = 0;
  {
    const std::lock_guard lock(kept->mutex);
    std::deque<Shared>& profiles = kept->profiles;
    number = profiles.size();
    longest = std::all_of(profiles.begin(), profiles.end(),
                          [&](const Shared& other) { return other->end < shared->end; });
    profiles.push_back(shared);
    if (number >= kTraced) {
      Shared& old = profiles[number - kTraced];
      auto summary = std::make_shared<Profile>();
      summary->end = old->end;
      summary->json = old->json;
      old = std::move(summary);
    }
  }
  if (reports) {
    Report(folder, number, *shared, longest || number < kReported);
  }
}

void ClearProfiles() {
  const std::lock_guard lock(kept->mutex);
  kept->profiles.clear();
}

std::string ProfilesJson() {
  const std::lock_guard lock(kept->mutex);
  std::string json = "[";
  for (const Shared& profile : kept->profiles) {
    json += json.size() > 1 ? "," : "";
    json += profile->json;
  }
  return json + "]";
}

std::string ProfileLinesJson(size_t launch, std::vector<uint32_t> cores, std::string* why) {
  const Shared profile = Traced(launch, cores, why);
  if (profile == nullptr) {
    return "";
  }
  if (cores.empty()) {
    cores.resize(profile->tapes.size());
    std::iota(cores.begin(), cores.end(), 0u);
  }
  return LinesJson(*profile, cores);
}

std::string ProfileChangesJson(size_t launch, std::string* why) {
  const Shared profile = Traced(launch, {}, why);
  return profile == nullptr ? "" : ChangesJson(*profile);
}

bool WriteTrace(size_t launch, const std::vector<uint32_t>& cores, const std::string& path,
                std::string* why) {
  const Shared profile = Traced(launch, cores, why);
  if (profile == nullptr) {
    return false;
  }
  return WriteTraceOf(*profile, cores, path, why);
}

}  // namespace aclsim
