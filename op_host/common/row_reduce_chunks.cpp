// SPDX-License-Identifier: Apache-2.0
// Plans of axes that are longer than a tile: chunks, and the cores that share them (ReduceChunked).
#include <numeric>
#include <vector>

#include "common/row_reduce_planner.h"
#include "common/row_reduce_sharing.h"

namespace optiling {
namespace {

constexpr int64_t kFrameworkEvents = 2;
constexpr int64_t kStreaming = 2;  // ring buffers that keep moving when not all chunks are resident
constexpr int64_t kSumLanes = kRowReduceSumLanes;
constexpr int64_t kStreamColumns = 64;  // lanes of a column tile that is read twice: whole repeats
// Columns in chunks, widest first. GM moves in lines of 512 bytes, of which L2 keeps the other half for
// the cores next to them.
constexpr int64_t kChunkedColumnBytes[] = {256, 128};
constexpr int64_t kMostLineRows = 4;  // of folded columns
// Of columns that are no whole blocks, which are wider rather than narrower than these: more rows take too many parts.
constexpr int64_t kMostWideRows = 2048;
constexpr int64_t kFirstBlock = 16;  // elements that one may have
constexpr int64_t kSumsOut = 2;      // of parts, on their way to the workspace
// Rows of whole blocks keep GM busy when a few cores are left over: there pieces go around where that saves
// a tenth of the rounds.
constexpr double kFewerTurns = 0.9;
// Or a quarter of them, where cores wait for the sums of the round that they are in.
constexpr double kFewerTurnsThatWait = 0.75;

class ChunkPlanner : private RowReducePlanner {
 public:
  explicit ChunkPlanner(const RowReduceCase& wanted)
      : RowReducePlanner(wanted), ring_(wanted.soc.eventIds - kFrameworkEvents) {
    plan_.path = view_.inner == 1 ? RowReducePath::kLongRows : RowReducePath::kLongSlabs;
    packs_ = packs_ && !InRegisters();
  }

  std::string Make(RowReducePlan* plan) {
    if (AlongLanes()) {
      const int64_t parts = ResidentParts({0});
      Cut(parts > 0 ? parts : MostParts());
    } else if (shareable_) {
      ShareableSlabs();
    } else {
      OwnSlabs();
    }
    Share();
    const UbBudget least = Budget(kRepeatLanes);
    return Finish(Budget(plan_.tileLanes), least,
                  "The smallest tile that works is " + std::to_string(kRepeatLanes) + " lanes (" +
                      WithCommas(least.Total()) +
                      " B): check the UB size that the platform reports (" +
                      WithCommas(soc_.ubBytes) + " B)",
                  plan);
  }

 private:
  bool AlongLanes() const { return plan_.path == RowReducePath::kLongRows; }

  // Chunks need no work area then.
  bool InRegisters() const { return soc_.registers && !Folded(); }

  // Lanes of a chunk of packed rows that are not its own: it may begin and end within a block, and keeps
  // the first results once more behind them.
  int64_t Ends() const { return Packs() ? 2 * blockLanes_ : 0; }

  // Mirrors the InitBuffer calls of ReduceChunked and PartialSums.
  UbBudget Budget(int64_t lanes) const {
    UbBudget budget;
    budget.Add("in (y, g)", static_cast<uint64_t>(ring_),
               static_cast<uint64_t>(2 * lanes * bytes_));
    budget.Add("out", 2, static_cast<uint64_t>(lanes * bytes_));
    if (!InRegisters()) {
      AddWork(lanes, &budget);
    }
    if (Packs()) {
      AddPacked(plan_.chunk == 0 ? lanes : plan_.chunk, &budget);
    } else if (bytes_ == kFloatBytes && !InRegisters()) {
      budget.Add("half a chunk", 1, static_cast<uint64_t>((lanes / 2 + FoldApart()) * kFloatBytes));
    }
    AddFolded(1, &budget);
    budget.Add("sum of a part", 1,
               static_cast<uint64_t>(std::max(kSumLanes, SumLanes()) * kFloatBytes));
    budget.Add("partial sums", 1, static_cast<uint64_t>(SumBytes(Parts())));
    return budget;
  }

  // Mirrors those of PackedRow and FirstBlock.
  void AddPacked(int64_t chunk, UbBudget* budget) const {
    budget->Add("circle", 1,
                static_cast<uint64_t>(CircleOf(chunk, kRowReduceChunkCircle) * kFloatBytes));
    budget->Add("turned circle", 1, static_cast<uint64_t>(3 * kRepeatLanes * kFloatBytes));
    budget->Add("lane offsets", 1,
                static_cast<uint64_t>((kRepeatLanes + kFirstBlock) * kFloatBytes));
  }

  int64_t MaxChunkLanes(int64_t parts) const {
    const bool none = InRegisters() || (bytes_ == kFloatBytes && Packs());
    const int64_t work = none ? 0 : bytes_ < kFloatBytes ? 2 * kFloatBytes : kFloatBytes / 2;
    const int64_t apart = none ? 0 : bytes_ < kFloatBytes ? kWorkApart : FoldApart();
    UbBudget others;
    AddFolded(1, &others);
    if (Packs()) {
      AddPacked(usable_, &others);
    }
    const int64_t sums = SumBytes(parts) + std::max(kSumLanes, SumLanes()) * kFloatBytes +
                         static_cast<int64_t>(others.Total());
    const int64_t lanes =
        (usable_ - apart * kFloatBytes - sums) / ((2 * ring_ + 2) * bytes_ + work);
    return std::max<int64_t>(0, TileLanesDown(lanes) - Ends());
  }

  // Lanes of one of the sums that the parts of a reduction leave.
  int64_t SumLanes() const {
    if (Folded()) {
      return PeriodOf(plan_.columns);
    }
    return AlongLanes() ? kBlockBytes / kFloatBytes : AlignUp(plan_.colTile, blockLanes_);
  }

  // Lanes that half a chunk may have more than half of a chunk's.
  int64_t FoldApart() const { return std::max(kBankGroupLanes, SumLanes()); }

  // What PartialSums holds, shared or not: the sums of all parts, two on their way to the workspace, and
  // of columns the sum of all.
  int64_t SumBytes(int64_t parts) const {
    const int64_t sums = !shareable_    ? parts
                         : AlongLanes() ? std::max(parts, kSumsOut)
                                        : parts + 1 + kSumsOut;
    return sums * SumLanes() * kFloatBytes;
  }

  int64_t MostParts() const { return shareable_ ? PartsOfStreams(soc_.ubBytes) : 1; }

  int64_t Chunks() const { return plan_.chunk == 0 ? 1 : CeilDiv(view_.reduce, plan_.chunk); }
  int64_t Parts() const {
    return plan_.chunk == 0 ? wantedParts_ : CeilDiv(Chunks(), plan_.partChunks);
  }

  // A chunk is elements of a row here, rows of a column tile in slabs: `pitch` lanes each.
  int64_t Pitch() const { return AlongLanes() ? 1 : AlignUp(plan_.colTile, blockLanes_); }

  // Chunks of rows that are whole GM lines start on lines, and those of folded columns where few rows are lines.
  int64_t ChunkStep() const {
    if (Folded()) {
      const int64_t rows = kLineBytes / std::gcd(view_.inner * bytes_, kLineBytes);
      return rows <= kMostLineRows ? rows : 1;
    }
    const bool lines = view_.reduce * bytes_ % kLineBytes == 0;
    return AlongLanes() ? (lines ? kLineBytes : kHalfLineBytes) / bytes_ : 1;
  }

  // Odd rows start anywhere: there UB is filled to the last block. Of fp32 that earns nothing.
  int64_t MostPerChunk(int64_t parts) const {
    const bool fills = Packs() && !soc_.registers && bytes_ < kFloatBytes;
    const int64_t step = fills ? blockLanes_ : ChunkStep();
    return AlignDown(MaxChunkLanes(parts) / Pitch(), step);
  }

  // The fewest parts of which `keep` chunks hold one; 0 if it takes more than `most`.
  int64_t FewestParts(int64_t keep, int64_t most) const {
    for (int64_t parts = 1; parts <= most; ++parts) {
      if (MostPerChunk(parts) * keep * parts >= view_.reduce) {
        return parts;
      }
    }
    return 0;
  }

  // Parts that stay in UB between the passes; 0 if there are none. Chooses the number of chunk buffers, and of
  // columns between widths.
  int64_t ResidentParts(const std::vector<int64_t>& widths) {
    if (!shareable_) {
      return FewestParts(ring_, 1);
    }
    std::vector<SharedAxis> axes;
    for (const int64_t width : widths) {
      SetColumns(width);
      const int64_t steps = view_.reduce * (Folded() ? view_.inner / SumLanes() : 1);
      axes.push_back({steps, AlongLanes() ? 1 : SumLanes(), bytes_, soc_.ubBytes});
    }
    const SharingChoice choice = ChooseSharing(axes, [&](size_t axis, const Sharing& sharing) {
      SetColumns(widths[axis]);
      ring_ = sharing.ring;
      return FewestParts(sharing.keep, kRowReduceMostParts);
    });
    SetColumns(widths[choice.axis]);
    ring_ = choice.ring;
    return choice.parts;
  }

  // Units of so many columns, or all; 0 leaves a row as it is.
  void SetColumns(int64_t most) {
    if (most > 0) {
      int64_t tiles = CeilDiv(view_.inner, most);
      const bool widens = OddColumns() && tiles > 1 && view_.reduce <= kMostWideRows;
      if (widens && AlignUp(CeilDiv(view_.inner, tiles), blockLanes_) < most) {
        --tiles;
      }
      plan_.colTile = std::min(view_.inner, AlignUp(CeilDiv(view_.inner, tiles), blockLanes_));
      plan_.colTiles = CeilDiv(view_.inner, plan_.colTile);
    }
  }

  void Cut(int64_t parts) {
    wantedParts_ = parts;
    const int64_t most = MostPerChunk(parts);
    if (most == 0) {
      return;
    }
    const int64_t least = AlongLanes() ? blockLanes_ : CeilDiv(blockLanes_, plan_.colTile);
    const int64_t part = CeilDiv(view_.reduce, parts);
    plan_.partChunks = CeilDiv(part, most);
    const int64_t even = AlignUp(CeilDiv(part, plan_.partChunks), ChunkStep());
    plan_.chunk =
        LongLastPart(view_.reduce, std::min(even, most), AlongLanes() ? ChunkStep() : least, least);
    plan_.tileLanes = TileLanesUp(plan_.chunk * Pitch() + Ends());
  }

  // The cores that share units. Groups of cores with a unit each know its sum a round after they have added
  // up theirs. Where pieces go around among all cores instead, none of these is left over, but
  // some units begin in one round and end in another: their first pieces have to wait for the last.
  void Share() {
    if (plan_.chunk == 0) {
      return;
    }
    const int64_t parts = Parts();
    plan_.units = view_.outer * plan_.colTiles;
    plan_.share = shareable_ ? CeilDiv(parts, CeilDiv(parts, std::min(parts, soc_.cores))) : 1;
    const int64_t groups = std::max<int64_t>(
        1, std::min(plan_.units, CoresFor(plan_.units * plan_.share) / plan_.share));
    plan_.cores = groups * plan_.share;
    if (parts > 1) {
      const int64_t all = CoresFor(plan_.units * parts);
      const int64_t turns = CeilDiv(plan_.units, groups) * CeilDiv(parts, plan_.share);
      const int64_t late = LateOf(ring_, plan_.partChunks);
      // Rounds from the first piece of a unit to its last.
      const int64_t longest = (all - std::gcd(parts, all) + parts - 1) / all;
      const bool known = CeilDiv(parts - 1, all) < late;
      // Rows have little else to do meanwhile.
      const bool waits = !AlongLanes() && longest <= late;
      const double fewer = !known                     ? kFewerTurnsThatWait
                           : AlongLanes() && !Packs() ? kFewerTurns
                                                      : 1;
      if (shareable_ && (known || waits) && CeilDiv(plan_.units * parts, all) < turns * fewer) {
        plan_.share = parts;
        plan_.cores = all;
      }
    }
    const int64_t mine = std::min(Chunks(), CeilDiv(parts, plan_.share) * plan_.partChunks);
    plan_.ring = ring_;
    plan_.resident = mine <= ring_ ? mine : std::max<int64_t>(0, ring_ - kStreaming);
    if (mine == plan_.resident) {
      plan_.pastL2 = PastL2Of(1);
    }
    if (plan_.share > 1) {
      plan_.late = LateOf(ring_, mine);
      const int64_t slot = AlignUp(parts * (AlongLanes() ? 1 : SumLanes()), kRowReduceSlotLanes);
      plan_.slots = CeilDiv(kRowReduceRounds * plan_.cores, plan_.share) + 1;
      // One line more: the workspace may start within one.
      plan_.workspaceBytes =
          static_cast<uint64_t>((plan_.slots * slot + kRowReduceSlotLanes) * kFloatBytes);
    }
  }

  // Columns of half a GM line, unless the UB of all cores together holds narrower ones only.
  void ShareableSlabs() {
    std::vector<int64_t> widths;
    if (InRegisters()) {  // arithmetic leaves L2 as the limit, which moves lines for parts of them
      widths.push_back(kLineBytes / bytes_);
    }
    for (const int64_t bytes : kChunkedColumnBytes) {
      widths.push_back(Folded() ? view_.inner : bytes / bytes_);
    }
    const int64_t parts = ResidentParts(widths);
    Cut(parts > 0 ? parts : MostParts());
  }

  // Where cores cannot wait for each other: the widest columns whose chunks all stay in UB; where even
  // narrow ones do not, whole repeats.
  void OwnSlabs() {
    const int64_t whole = AlignUp(view_.inner, blockLanes_);
    const int64_t least = std::min(whole, kMinColumnBytes / bytes_);
    plan_.colTile = least;
    const int64_t most = AlignDown(ring_ * MaxChunkLanes(1) / view_.reduce, blockLanes_);
    for (plan_.colTile = std::min(whole, most); plan_.colTile >= least;
         plan_.colTile -= blockLanes_) {
      if (FewestParts(ring_, 1) > 0) {
        break;
      }
    }
    if (plan_.colTile < least) {
      plan_.colTile = std::min(whole, kStreamColumns);
    }
    const int64_t columns = plan_.colTile;
    plan_.colTile = std::min(columns, view_.inner);
    Cut(1);
    SplitColumns(columns);
    plan_.tileLanes = TileLanesUp(plan_.chunk * Pitch());
  }

  int64_t ring_;  // chunk buffers
  int64_t wantedParts_ = 1;
};

}  // namespace

std::string PlanChunks(const RowReduceCase& wanted, RowReducePlan* plan) {
  return ChunkPlanner(wanted).Make(plan);
}

}  // namespace optiling
