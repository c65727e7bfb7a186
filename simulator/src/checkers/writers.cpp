// SPDX-License-Identifier: Apache-2.0
#include "checkers/writers.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "checkers/gm_use.h"
#include "host/fork.h"
#include "host/lock.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr size_t kMostLaunches = 8;
constexpr size_t kMostRuns =
    1 << 20;  // of a launch; a kernel that writes element by element may have more
constexpr int32_t kNobody = -1;
constexpr int32_t kSeveral = -2;

// Describes one output: bytes [begin, end) in pieces, as GmAccess.
struct Run {
  uint64_t begin, end, piece;
  uint32_t core, count, step;
  Pipe pipe;
};

struct Output {
  std::string name;
  uint64_t bytes;
  uint32_t width;
  std::vector<Run> runs;
};

struct Written {
  std::string op;
  uint32_t blockDim;
  std::vector<Output> outputs;
};

struct Kept {
  Mutex<9, "writers of outputs"> mutex;
  std::deque<Written> launches;
};
PerProcess<Kept> kept;
std::atomic<bool> keeping{false};

Output OutputOf(const GmRegion& region, const std::vector<GmUse*>& cores, size_t* room) {
  Output output{region.name, region.bytes, region.width, {}};
  const auto start = reinterpret_cast<uint64_t>(region.addr);
  for (const GmUse* core : cores) {
    if (core == nullptr) {
      continue;
    }
    for (const GmAccess& access : RowsOf(core->accesses)) {
      if (!access.write || access.begin < start || access.end > start + region.bytes ||
          *room == 0) {
        continue;
      }
      --*room;
      output.runs.push_back({access.begin - start, access.end - start, access.piece, access.core,
                             access.count, access.step, access.pipe});
    }
  }
  return output;
}

// The instruction: no two of a launch have the same number.
int64_t PieceOf(const Run& run, uint64_t at) {
  const uint64_t count = run.count + run.step * ((at - run.begin) / run.piece);
  return static_cast<int64_t>((static_cast<uint64_t>(run.core) << 40) |
                              (static_cast<uint64_t>(run.pipe) << 36) | count);
}

}  // namespace

void KeepWriters(bool on) {
  const std::lock_guard lock(kept->mutex);
  kept->launches.clear();
  keeping = on;
}

bool KeepsWriters() { return keeping; }

void AddWriters(const KernelLaunch& launch, const std::vector<GmUse*>& cores) {
  Written written{launch.opType, launch.blockDim, {}};
  size_t room = kMostRuns;
  for (const GmRegion& region : launch.regions) {
    if (region.kind == RegionKind::kOutput) {
      written.outputs.push_back(OutputOf(region, cores, &room));
    }
  }
  if (room == 0) {
    return;
  }
  const std::lock_guard lock(kept->mutex);
  kept->launches.push_back(std::move(written));
  if (kept->launches.size() > kMostLaunches) {
    kept->launches.pop_front();
  }
}

std::string WritersJson() {
  const std::lock_guard lock(kept->mutex);
  std::string text = "[";
  for (const Written& launch : kept->launches) {
    text += Format("%s{\"op\":%s,\"blockDim\":%u,\"outputs\":[", text.size() > 1 ? "," : "",
                   JsonQuoted(launch.op).c_str(), launch.blockDim);
    for (size_t i = 0; i < launch.outputs.size(); ++i) {
      const Output& output = launch.outputs[i];
      text += Format("%s{\"name\":%s,\"bytes\":%llu,\"width\":%u}", i > 0 ? "," : "",
                     JsonQuoted(output.name).c_str(), static_cast<Ull>(output.bytes), output.width);
    }
    text += "]}";
  }
  return text + "]";
}

bool PaintWriters(size_t launch, size_t output, uint64_t elementBytes, uint64_t count,
                  int32_t* cores, int64_t* pieces, std::string* why) {
  const std::lock_guard lock(kept->mutex);
  if (launch >= kept->launches.size() || output >= kept->launches[launch].outputs.size()) {
    *why = Format("output %zu of launch %zu was not kept", output, launch);
    return false;
  }
  const Output& found = kept->launches[launch].outputs[output];
  if (elementBytes == 0 || count > found.bytes / elementBytes) {
    *why = Format("%llu elements of %llu bytes are more than the %llu bytes of %s",
                  static_cast<Ull>(count), static_cast<Ull>(elementBytes),
                  static_cast<Ull>(found.bytes), found.name.c_str());
    return false;
  }
  std::fill_n(cores, count, kNobody);
  std::fill_n(pieces, count, int64_t{kNobody});
  for (const Run& run : found.runs) {
    const uint64_t last =
        std::min(count, (run.end + elementBytes - 1) / elementBytes);  // one past it
    for (uint64_t i = run.begin / elementBytes; i < last; ++i) {
      const auto core = static_cast<int32_t>(run.core);
      cores[i] = cores[i] == kNobody || cores[i] == core ? core : kSeveral;
      pieces[i] = PieceOf(run, std::max(run.begin, i * elementBytes));
    }
  }
  return true;
}

}  // namespace aclsim
