// SPDX-License-Identifier: Apache-2.0
// A profiled launch leaves these, and the files that look at it share them: profile_summary.cpp, profile_lines.cpp,
// profile_trace.cpp. Kept and reported by profile.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "engine/kernel_launch.h"
#include "timing/profile.h"

namespace aclsim {

struct Profile {
  std::string op;
  const Soc* soc = nullptr;
  uint32_t blockDim = 0;
  KernelLaunch cores;  // of it, which kinds the cores are of
  uint64_t tilingKey = 0;
  std::string tiling;
  std::vector<GmRegion> regions;
  LaunchStats stats;
  double end = 0;   // in cycles
  ChipTimes times;  // empty when only the summary is kept, as tapes
  std::vector<Tape> tapes;
  bool uncounted =
      false;  // scalar code may take more than a tenth of the time, and is no part of it
  std::string sensitivity;  // JSON behind the rest: a member, or nothing
  std::string json;
};

// JSON: what the estimate becomes with each cost halved, and doubled.
std::string SensitivityJson(const Profile& profile);
// JSON: a list of what it would become with one thing changed in the kernel, each with the lines that it is about.
std::string ChangesJson(const Profile& profile);
// JSON: all but the instructions one by one.
std::string SummaryJson(const Profile& profile);
// JSON: what each line of the kernel costs on these cores.
std::string LinesJson(const Profile& profile, const std::vector<uint32_t>& cores);
// False with a reason when the file cannot be written.
bool WriteTraceOf(const Profile& profile, const std::vector<uint32_t>& cores,
                  const std::string& path, std::string* why);

// The slowest, the fastest and the first core: what a page or a trace shows when nobody says which.
std::vector<uint32_t> ShownCores(const ChipTimes& times);
// Blocks that cost more for where they start: those that lie in more than one line.
uint64_t UnalignedBlocks(const GmCopy& copy, uint64_t alignment);

// Lines of the kernel by the stacks that the tapes keep.
class KernelLines {
 public:
  struct Place {
    std::string code;  // file:line
    std::string text;
    std::string address;
  };
  const Place& Of(const std::vector<void*>& stack);

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

inline bool IsDrain(StepKind kind) {
  return kind == StepKind::kBarrier || kind == StepKind::kAll || kind == StepKind::kMeet;
}

inline bool IsWait(StepKind kind) {
  return kind == StepKind::kWait || kind == StepKind::kTell || kind == StepKind::kHear ||
         IsDrain(kind);
}

inline double BytesOf(const Tape& tape, const Step& step) {
  if (step.kind != StepKind::kCopy) {
    return 0;
  }
  const GmCopy& copy = tape.copies[step.copy];
  return static_cast<double>(copy.bytes) * copy.blocks;
}

}  // namespace aclsim
