// SPDX-License-Identifier: Apache-2.0
// This file plans axes that no tile holds (op_kernel/common/shared_axis.h). It cuts them into chunks and parts, and decides how
// cores share these: how many chunk buffers there are, how many chunks stay in them, and how wide columns are.
#include <numeric>
#include <vector>

#include "common/row_reduce_tiling.h"

namespace optiling {
namespace {

// RoundsLate returns by how many rounds the results of a piece may follow its sums, where `keptChunks` of the chunk buffers
// hold it.
int64_t RoundsLate(int64_t chunkBuffers, int64_t keptChunks) {
  return Min(kMostLate, Max(0, chunkBuffers / keptChunks - 1));
}

class SharedAxisPlanner : protected RowReducePlanner {
 public:
  SharedAxisPlanner(const RowReduceCase& wanted, RowReducePlan* plan)
      : RowReducePlanner(wanted, plan),
        ar_(view_.inner == 1),
        inRegisters_(soc_.registers && !IsSideBySide()),
        packed_(packs_ && ar_ && !inRegisters_ && view_.reduce % blockLanes_ != 0),
        modelCores_(soc_.ubBytes <= kSmallUbBytes ? kModelCores : kModelCoresOfLargeUb),
        chunkBuffers_(soc_.eventIds - kSparedEvents) {}

  std::string Make() {
    plan_.key = ar_ ? ROW_REDUCE_SHARED_ROWS : ROW_REDUCE_SHARED_COLUMNS;
    if (ar_) {
      const int64_t parts = KeptParts({0});
      Cut(parts > 0 ? parts : PartsBeyondUb());
      plan_.choices.push_back({"Shared", true, "B == 1: a row is longer than a tile"});
    } else if (canWait_) {
      CutColumns();
      plan_.choices.push_back(
          {"Shared", true, "B > 1: R rows of 256 B of columns do not fit in UB"});
    } else {
      CutOwnColumns();
      plan_.choices.push_back(
          {"Shared", true, "B > 1 where cores cannot wait: each has its columns"});
    }
    if (data_.chunk > 0) {
      ShareOut();
    }
    const UbBudget least = Budget(kRepeatLanes, Parts(), false);
    return Finish(Budget(data_.tileLanes, Parts(), data_.pieces > 1), least,
                  "The smallest tile that works is " + std::to_string(kRepeatLanes) + " lanes (" +
                      WithCommas(least.Total()) +
                      " B): check the UB size that the platform reports (" +
                      WithCommas(soc_.ubBytes) + " B)");
  }

 protected:  // benchmarks/driver/tilings.cpp tries what the rules leave out
  UbBudget Budget(int64_t lanes, int64_t parts, bool shared) const {
    const int64_t chunk = data_.chunk > 0 ? data_.chunk : lanes;
    return WithSideBySide(
        BudgetOf(rowreduce::SharedUbOf({lanes, bytes_, chunkBuffers_, packed_ ? chunk : 0,
                                        SumLanes(), parts, ar_, shared, inRegisters_})),
        0);
  }

  // Ends is the room of a packed chunk beside its own lanes: it may begin and end within a block,
  // and has its first results a second time behind the last.
  int64_t Ends() const { return packed_ ? 2 * blockLanes_ : 0; }

  // MostLanes returns the most lanes of a chunk that UB holds beside the sums of `parts` parts.
  int64_t MostLanes(int64_t parts) const {
    rowreduce::SharedShape shape{0,     bytes_, chunkBuffers_, packed_ ? usable_ : 0, SumLanes(),
                                 parts, ar_,    canWait_,      inRegisters_};
    const UbBudget sharedBudget = WithSideBySide(BudgetOf(SharedUbOf(shape)), 0);
    shape.shared = false;
    const UbBudget aloneBudget = WithSideBySide(BudgetOf(SharedUbOf(shape)), 0);
    const int64_t fixed = static_cast<int64_t>(Max(sharedBudget.Total(), aloneBudget.Total()));
    const bool half = bytes_ == kFloatBytes && !inRegisters_ && !packed_;
    const int64_t work = bytes_ < kFloatBytes && !inRegisters_ ? 2 * kFloatBytes
                         : half                                ? kFloatBytes / 2
                                                               : 0;
    const int64_t lanes = (usable_ - fixed) / ((2 * chunkBuffers_ + 2) * bytes_ + work);
    return Max(0, TileLanesDown(lanes) - Ends());
  }

  // SumLanes is the number of lanes of the sum of a part.
  int64_t SumLanes() const {
    return IsSideBySide() ? rowreduce::PeriodOf(view_.inner)
           : ar_          ? kBlockBytes / kFloatBytes
                          : AlignUp(data_.colTile, blockLanes_);
  }

  // PartsBeyondUb is the number of parts of an axis that no UB holds: few enough for all of them to be taken at once, also on
  // SoCs with fewer cores.
  int64_t PartsBeyondUb() const { return canWait_ ? Min(kMostParts, modelCores_.second) : 1; }
  int64_t Chunks() const { return data_.chunk == 0 ? 1 : CeilDiv(axis_, data_.chunk); }
  int64_t Parts() const {
    return data_.chunk == 0 ? wantedParts_ : CeilDiv(Chunks(), data_.partChunks);
  }

  // Pitch is the lanes of a row of columns, or 1: those of an element of a row.
  int64_t Pitch() const { return ar_ ? 1 : AlignUp(data_.colTile, blockLanes_); }

  // A chunk is a multiple of ChunkMultiple elements or rows. Chunks of rows that are whole GM lines
  // start on lines, and so do chunks of columns side by side where few rows are whole lines.
  int64_t ChunkMultiple() const {
    if (IsSideBySide()) {
      const int64_t rows = kLineBytes / std::gcd(width_ * bytes_, kLineBytes);
      return rows <= kMostLineRows ? rows : 1;
    }
    const bool lines = axis_ * bytes_ % kLineBytes == 0;
    return ar_ ? (lines ? kLineBytes : kHalfLineBytes) / bytes_ : 1;
  }

  // 16-bit rows that start anywhere fill UB to the last block. Rows of fp32 gain nothing from that.
  int64_t MostPerChunk(int64_t parts) const {
    const bool fills = packed_ && !soc_.registers && bytes_ < kFloatBytes;
    return AlignDown(MostLanes(parts) / Pitch(), fills ? blockLanes_ : ChunkMultiple());
  }

  // FewestParts returns the fewest parts that hold the axis with `keptChunks` chunks each, or 0 where
  // that takes more than `most`.
  int64_t FewestParts(int64_t keptChunks, int64_t most) const {
    for (int64_t parts = 1; parts <= most; ++parts) {
      if (MostPerChunk(parts) * keptChunks * parts >= axis_) {
        return parts;
      }
    }
    return 0;
  }

  // OverlapOf is how much of the time loads go on beside the waiting.
  double OverlapOf(const Sharing& sharing) const {
    const Overlap& overlap = bytes_ == kFloatBytes ? kOverlap : kOverlapOf16Bit;
    const int64_t late = RoundsLate(sharing.chunkBuffers, sharing.keptChunks);
    const int64_t left = sharing.chunkBuffers - (late + 1) * sharing.keptChunks;
    return late > 0 ? (left > 0 ? overlap.lateAndAhead : overlap.late)
                    : (left > 1 ? overlap.ahead : overlap.none);
  }

  // Reached is the part of the bandwidth bound that a sharing may be expected to reach on `cores` cores.
  double Reached(const Sharing& sharing, int64_t parts, int64_t cores) const {
    if (parts > cores) {
      return 0;
    }
    const bool fp32 = bytes_ == kFloatBytes;
    const auto width = static_cast<double>(ar_ ? 1 : SumLanes());
    const auto reduce = static_cast<double>(axis_ * (IsSideBySide() ? width_ / SumLanes() : 1));
    // Pieces are spread over all cores where that makes no core wait.
    const bool spread = RoundsLate(sharing.chunkBuffers, sharing.keptChunks) > 1;
    const double working =
        spread ? 1 : static_cast<double>(cores / parts * parts) / static_cast<double>(cores);
    const double enough = fp32 ? Min(1.0, working / kEnoughCores) : working;
    // Each part reads the sums of all, which are as long as a row of the axis.
    const double work = (fp32 ? kTensors : kInstructions) * reduce;
    const double sums = ar_ ? 0 : static_cast<double>(parts * (parts + 1));
    const double chunk = reduce * width / static_cast<double>(parts * sharing.keptChunks);
    // 16-bit rows keep SCALAR busy with the sums of parts. Rows in registers leave it time.
    const bool busy = ar_ && !fp32 && soc_.ubBytes <= kSmallUbBytes;
    const double lines = busy ? static_cast<double>((parts - 1) / kCacheLineLanes) : 0;
    const double overhead =
        kChunkOverhead + kLineOfSums * lines / static_cast<double>(sharing.keptChunks);
    const double reached =
        OverlapOf(sharing) * enough * work / (work + sums) * chunk / (chunk + overhead);
    // Narrower columns make L2 move what nobody uses.
    return ar_ ? reached
               : Min(width * static_cast<double>(bytes_) / static_cast<double>(kHalfLineBytes),
                     reached);
  }

  void Share(int64_t width, int64_t chunkBuffers) {
    SetColumns(width);
    chunkBuffers_ = chunkBuffers;
  }

  // KeptParts chooses the width of columns, the first of `widths` if there is no better one, and the entry of kSharings that is
  // expected to come closest to the bandwidth bound. It returns the number of parts whose chunks stay in UB between the passes,
  // or 0 where UB does not hold them. The choice follows from the axis and from UB alone: chunks, and with them the order of
  // additions, must not depend on the number of cores.
  int64_t KeptParts(const std::vector<int64_t>& widths) {
    if (!canWait_) {
      return FewestParts(chunkBuffers_, 1);
    }
    const bool fp32 = bytes_ == kFloatBytes;
    const Sharing& holds = ar_ ? kHoldsFp32Rows : kHoldsColumns;
    Share(widths[0], holds.chunkBuffers);
    if ((!ar_ || fp32) && FewestParts(holds.keptChunks, kMostParts) == 1) {
      return 1;
    }
    struct Candidate {
      int64_t width;
      int64_t chunkBuffers;
      int64_t parts;
      double onFirst;  // what it reaches on the first number of model cores
      double onBoth;   // the sum of what it reaches on both numbers, by their weights
    };
    const bool spares = !ar_ && fp32;
    const double ofFirst = spares ? kOfFirstWithSpares : kOfFirst;
    std::vector<Candidate> candidates;
    double most = 0;
    for (const int64_t width : widths) {
      for (const Sharing& sharing : kSharings) {
        Share(width, sharing.chunkBuffers);
        const int64_t fewest = FewestParts(sharing.keptChunks, kMostParts);
        const int64_t enough = Min(kMostParts, fewest + (spares ? fewest / kSpareParts : 0));
        for (int64_t parts = Max(1, fewest); parts <= enough; ++parts) {
          const double onFirst = Reached(sharing, parts, modelCores_.first);
          const double onSecond = Reached(sharing, parts, modelCores_.second);
          candidates.push_back(
              {width, sharing.chunkBuffers, parts, onFirst, ofFirst * onFirst + onSecond});
          most = Max(most, onFirst);
        }
      }
    }
    Candidate best{widths[0], kSharings[0].chunkBuffers, 0, 0, 0};
    for (const Candidate& candidate : candidates) {
      if (candidate.onFirst >= kNear * most && candidate.onBoth > best.onBoth) {
        best = candidate;
      }
    }
    Share(best.width, best.chunkBuffers);
    return best.parts;
  }

  // Makes units of at most `most` columns; 0 leaves a row as it is.
  void SetColumns(int64_t most) {
    if (most > 0) {
      const int64_t tiles = CeilDiv(width_, most);
      data_.colTile = Min(width_, AlignUp(CeilDiv(width_, tiles), blockLanes_));
      data_.colTiles = CeilDiv(width_, data_.colTile);
    }
  }

  void Cut(int64_t parts) {
    wantedParts_ = parts;
    const int64_t most = MostPerChunk(parts);
    if (most == 0) {
      return;
    }
    const int64_t least = ar_ ? blockLanes_ : CeilDiv(blockLanes_, data_.colTile);
    const int64_t part = CeilDiv(axis_, parts);
    data_.partChunks = CeilDiv(part, most);
    const int64_t even = AlignUp(CeilDiv(part, data_.partChunks), ChunkMultiple());
    data_.chunk = LongLast(axis_, Min(even, most), ar_ ? ChunkMultiple() : least, least);
    data_.tileLanes = TileLanesUp(data_.chunk * Pitch() + Ends());
  }

  // A tile of columns has half a GM line, unless only narrower ones fit into the UB of all cores
  // together. In registers, L2 is the limit, which moves whole lines for parts of them, so tiles of
  // a whole line come first.
  void CutColumns() {
    std::vector<int64_t> widths;
    if (inRegisters_) {
      widths.push_back(kLineBytes / bytes_);
    }
    for (const int64_t bytes : kChunkColumnBytes) {
      widths.push_back(IsSideBySide() ? width_ : bytes / bytes_);
    }
    const int64_t parts = KeptParts(widths);
    Cut(parts > 0 ? parts : PartsBeyondUb());
  }

  // Each core takes columns of its own if cores cannot wait for each other: the widest columns whose chunks all stay in UB, or whole
  // repeats if even narrow columns do not stay.
  void CutOwnColumns() {
    const int64_t whole = AlignUp(width_, blockLanes_);
    const int64_t least = Min(whole, kSplitColumnBytes / bytes_);
    data_.colTile = least;
    const int64_t most = AlignDown(chunkBuffers_ * MostLanes(1) / axis_, blockLanes_);
    for (data_.colTile = Min(whole, most); data_.colTile >= least; data_.colTile -= blockLanes_) {
      if (FewestParts(chunkBuffers_, 1) > 0) {
        break;
      }
    }
    if (data_.colTile < least) {
      data_.colTile = Min(whole, kLegacyChunkColumns);
    }
    // Chunks are cut for the widest columns, so that they do not depend on how many cores SplitColumns shares these among.
    const int64_t columns = data_.colTile;
    data_.colTile = Min(columns, width_);
    Cut(1);
    SplitColumns(columns);
    data_.tileLanes = TileLanesUp(data_.chunk * Pitch());
  }

  // ShareOut says which cores share units. Groups of cores take a unit each, and know its sum a
  // round after they have added up theirs; cores that fill no group are idle. Pieces may be spread
  // over all cores instead. None is idle then, but a unit may begin in one round and end in another,
  // and its first pieces wait for the last.
  void ShareOut() {
    const int64_t parts = Parts();
    plan_.units = view_.outer * data_.colTiles;
    data_.pieces = canWait_ ? CeilDiv(parts, CeilDiv(parts, Min(parts, soc_.cores))) : 1;
    const int64_t groups =
        Max(1, Min(plan_.units, CoresFor(plan_.units * data_.pieces) / data_.pieces));
    plan_.cores = groups * data_.pieces;
    if (parts > 1 && canWait_ && SpreadsPieces(parts, groups)) {
      data_.pieces = parts;
      plan_.cores = CoresFor(plan_.units * parts);
    }
    const int64_t chunksOfPiece = Min(Chunks(), CeilDiv(parts, data_.pieces) * data_.partChunks);
    const bool stay = chunksOfPiece <= chunkBuffers_;
    data_.chunkBuffers = chunkBuffers_;
    data_.keptChunks = stay ? chunksOfPiece : Max(0, chunkBuffers_ - kAheadBuffers);
    if (stay) {
      SetL2Bypass(1);
      data_.resultsBypassL2 = 0;
    }
    if (data_.pieces > 1) {
      data_.roundsLate = RoundsLate(chunkBuffers_, chunksOfPiece);
      data_.workspaceUnits = CeilDiv(kRounds * plan_.cores, data_.pieces) + 1;
      const int64_t lanes = AlignUp(parts * (ar_ ? 1 : SumLanes()), kCacheLineLanes);
      // The workspace may start within a line, so it has one more.
      plan_.workspaceBytes =
          static_cast<uint64_t>((data_.workspaceUnits * lanes + kCacheLineLanes) * kFloatBytes);
    }
  }

  // SpreadsPieces says whether pieces are spread over all cores, instead of `groups` groups that take
  // a unit each.
  bool SpreadsPieces(int64_t parts, int64_t groups) const {
    const int64_t all = CoresFor(plan_.units * parts);
    const int64_t rounds = CeilDiv(plan_.units, groups) * CeilDiv(parts, data_.pieces);
    const int64_t late = RoundsLate(chunkBuffers_, data_.partChunks);
    // `longest` is the most rounds from the first piece of a unit to its last.
    const int64_t longest = (all - std::gcd(parts, all) + parts - 1) / all;
    const bool known = CeilDiv(parts - 1, all) < late;
    // Rows have too little else to do to wait for the last piece.
    const bool soon = !ar_ && longest <= late;
    const bool wholeRows = ar_ && !(packs_ && !inRegisters_ && view_.reduce % blockLanes_ != 0);
    const double fewer = !known ? kFewerRoundsThatWait : wholeRows ? kFewerRounds : 1;
    return (known || soon) && static_cast<double>(CeilDiv(plan_.units * parts, all)) <
                                  static_cast<double>(rounds) * fewer;
  }

  const bool ar_;  // B == 1
  const bool inRegisters_;
  const bool packed_;  // a chunk starts on any element
  const ModelCores modelCores_;
  int64_t chunkBuffers_;
  int64_t wantedParts_ = 1;
};

}  // namespace

std::string PlanSharedAxis(const RowReduceCase& wanted, RowReducePlan* plan) {
  return SharedAxisPlanner(wanted, plan).Make();
}

}  // namespace optiling
