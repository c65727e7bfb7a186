// SPDX-License-Identifier: Apache-2.0
#include "timing/race_times.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "timing/profile_parts.h"

namespace aclsim {

namespace {

constexpr double kAround = 0.35;      // of what lies between the ends, before and behind them
constexpr double kLeastAround = 100;  // cycles
constexpr double kFinest = 160;       // of the picture: what is shorter is drawn with its neighbour
constexpr size_t kMostArrows = 60;

// Cores and pipes that a picture shows.
using LaneKey = std::pair<uint32_t, Pipe>;

struct End {
  LaneKey lane;
  Span span;
};

struct Slice {
  size_t lane = 0;
  Span span;
  bool waits = false;
  const std::string* name = nullptr;
  uint32_t core = 0;
  uint32_t site = 0;
  uint32_t count = 1;
  double longest = 0;
};

struct Arrow {
  size_t from = 0, to = 0;
  double begin = 0, end = 0;
  const std::string* name = nullptr;
};

Pipe PipeOf(const std::string& name) {
  for (size_t pipe = 0; pipe < kPipes; ++pipe) {
    if (name == PipeName(static_cast<Pipe>(pipe))) {
      return static_cast<Pipe>(pipe);
    }
  }
  return Pipe::kScalar;
}

class Timeline {
 public:
  Timeline(const std::vector<Tape>& tapes, const ChipTimes& times) : tapes_(tapes), times_(times) {}

  std::string Of(const Finding& finding, double mhz) {
    std::vector<End> ends;
    if (!Add(finding.at, &ends)) {
      return "";
    }
    for (const Place& place : finding.related) {
      if (!Add(place, &ends)) {
        break;
      }
    }
    if (ends.size() < 2) {
      return "";
    }
    begin_ = kNever;
    end_ = 0;
    for (const End& end : ends) {
      begin_ = std::min(begin_, end.span.start);
      end_ = std::max(end_, end.span.end);
    }
    const double around = std::max(kLeastAround, kAround * (end_ - begin_));
    begin_ = std::max(0.0, begin_ - around);
    end_ += around;
    lanes_.clear();
    slices_.clear();
    arrows_.clear();
    std::vector<uint32_t> cores;
    for (const End& end : ends) {
      if (std::find(cores.begin(), cores.end(), end.lane.first) == cores.end()) {
        cores.push_back(end.lane.first);
        for (const Pipe pipe : {Pipe::kScalar, Pipe::kMte2, Pipe::kVector, Pipe::kMte3}) {
          lanes_.emplace_back(end.lane.first, pipe);
        }
        Collect(end.lane.first);
      }
    }
    return Json(ends, mhz);
  }

 private:
  static constexpr double kNever = 1e300;

  bool Add(const Place& place, std::vector<End>* ends) const {
    if (place.count == 0 || place.core >= tapes_.size()) {
      return false;
    }
    const Pipe pipe = PipeOf(place.pipe);
    const std::vector<uint32_t>& steps = tapes_[place.core].instructions[static_cast<size_t>(pipe)];
    if (place.count > steps.size()) {
      return false;
    }
    ends->push_back({{place.core, pipe}, times_.cores[place.core].spans[steps[place.count - 1]]});
    return true;
  }

  size_t LaneOf(uint32_t core, Pipe pipe) const {
    return static_cast<size_t>(std::find(lanes_.begin(), lanes_.end(), LaneKey{core, pipe}) -
                               lanes_.begin());
  }

  bool Shown(double begin, double end) const { return begin < end_ && end > begin_; }

  void Collect(uint32_t core) {
    const Tape& tape = tapes_[core];
    const std::vector<Span>& spans = times_.cores[core].spans;
    struct Set {
      size_t lane;
      double time;
    };
    std::map<uint32_t, std::deque<Set>> sets;  // by flag, that no wait has taken yet
    InTurn turns;
    std::array<size_t, kPipes> last{};
    last.fill(SIZE_MAX);
    for (size_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      const size_t lane = LaneOf(core, step.pipe);
      if (step.kind == StepKind::kSet) {
        sets[step.flag].push_back({lane, spans[i].end});
        continue;
      }
      const Span own = turns.Next(step.pipe, spans[i]);
      if (step.kind == StepKind::kWait && !sets[step.flag].empty()) {
        const Set set = sets[step.flag].front();
        sets[step.flag].pop_front();
        if (set.lane != lane && Shown(set.time, spans[i].end) && arrows_.size() < kMostArrows) {
          arrows_.push_back({set.lane, lane, set.time, spans[i].end, &tape.names[step.name]});
        }
      }
      if (own.end > own.start && Shown(own.start, own.end)) {
        Draw({lane, own, IsWait(step.kind), &tape.names[step.name], core, step.site, 1,
              own.end - own.start},
             &last[static_cast<size_t>(step.pipe)]);
      }
    }
  }

  void Draw(const Slice& slice, size_t* last) {
    const double width = (end_ - begin_) / kFinest;
    if (*last != SIZE_MAX) {
      Slice& before = slices_[*last];
      if (slice.span.end - slice.span.start < width && slice.span.end - before.span.start < width) {
        before.waits = before.waits && slice.waits;
        before.span.end = slice.span.end;
        before.count += slice.count;
        if (slice.longest > before.longest) {
          before.longest = slice.longest;
          before.name = slice.name;
          before.site = slice.site;
        }
        return;
      }
    }
    *last = slices_.size();
    slices_.push_back(slice);
  }

  std::string Json(const std::vector<End>& ends, double mhz) {
    const auto join = [](std::string* to, std::string text) {
      to->append(to->empty() ? "" : ",").append(std::move(text));
    };
    std::string lanes, found, slices, arrows;
    for (const auto& [core, pipe] : lanes_) {
      join(&lanes, Format("[%u,\"%s\"]", core, PipeName(pipe)));
    }
    for (const End& end : ends) {
      join(&found, Format("[%zu,%.0f,%.0f]", LaneOf(end.lane.first, end.lane.second),
                          end.span.start, end.span.end));
    }
    for (const Slice& slice : slices_) {
      const KernelLines::Place& place = lines_.Of(tapes_[slice.core].stacks.at(slice.site));
      join(&slices, Format("[%zu,%.0f,%.0f,%d,%s,%s,%u]", slice.lane, slice.span.start,
                           slice.span.end, slice.waits ? 1 : 0, JsonQuoted(*slice.name).c_str(),
                           JsonQuoted(place.code).c_str(), slice.count));
    }
    for (const Arrow& arrow : arrows_) {
      join(&arrows, Format("[%zu,%zu,%.0f,%.0f,%s]", arrow.from, arrow.to, arrow.begin, arrow.end,
                           JsonQuoted(*arrow.name).c_str()));
    }
    return Format("{\"mhz\":%.0f,\"begin\":%.0f,\"end\":%.0f,\"lanes\":[", mhz, begin_, end_) +
           lanes + "],\"ends\":[" + found + "],\"slices\":[" + slices + "],\"arrows\":[" + arrows +
           "]}";
  }

  const std::vector<Tape>& tapes_;
  const ChipTimes& times_;
  KernelLines lines_;
  double begin_ = 0, end_ = 0;
  std::vector<LaneKey> lanes_;
  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
};

}  // namespace

void AddTimelines(const KernelLaunch& launch, const std::vector<Tape>& tapes,
                  std::vector<Finding>* findings) {
  std::optional<ChipTimes> times;
  std::optional<Timeline> timeline;
  for (Finding& finding : *findings) {
    const bool known =
        finding.at.count > 0 && !finding.related.empty() && finding.related.front().count > 0;
    if (known) {
      if (!times.has_value()) {
        times = Time(tapes, ModelCostsOf(*launch.soc));
        timeline.emplace(tapes, *times);
      }
      finding.timeline = timeline->Of(finding, launch.soc->vecFreqMhz);
    }
  }
}

}  // namespace aclsim
