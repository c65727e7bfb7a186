// SPDX-License-Identifier: Apache-2.0
// Chooses path, tile and split for the row-reduction family. Path, chunk and everything else that
// the order of additions depends on follow from R, B and the dtype; only the split into units looks
// at the number of cores.
#include "common/row_reduce_tiling.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "common/row_reduce_sharing.h"
#include "common/ub_budget.h"

namespace optiling {
namespace {

constexpr int64_t kFloatBytes = 4;
constexpr int64_t kBlockBytes = 32;
constexpr int64_t kRepeatLanes = 64;
constexpr int64_t kBlocksPerRepeat = 8;
constexpr int64_t kStreams = 16;      // of a tile of short rows, and the least elements of one
constexpr int64_t kMaxShortRow = 64;  // longer ones cost little more when copied one by one
constexpr int64_t kMaxRowsPerTile = 255 * kBlocksPerRepeat;  // Brcb takes 8 rows per repeat
constexpr int64_t kMaskedRowLanes = 16;  // of a row whose mask is widened to half: whole blocks
constexpr int64_t kFrameworkEvents = 2;
constexpr int64_t kStreaming = 2;  // ring buffers that keep moving when not all chunks are resident
constexpr int64_t kSumLanes = kRowReduceSumLanes;
constexpr int64_t kBankGroupLanes = 2 * kRepeatLanes;  // over all 16 bank groups of UB
// Lanes that the fp32 work of a 16-bit tile leaves free.
constexpr int64_t kWorkApart = kBankGroupLanes;
constexpr int64_t kMinColumnBytes = 64;  // narrower strided reads waste most of each GM request
constexpr int64_t kSplitColumnBytes = 128;
constexpr int64_t kStreamColumns = 64;  // lanes of a column tile that is read twice: whole repeats
// Columns in chunks, widest first. GM moves in lines of 512 bytes, of which L2 keeps the other half for
// the cores next to them.
constexpr int64_t kChunkedColumnBytes[] = {256, 128};
constexpr int64_t kSumsOut = 2;      // of parts, on their way to the workspace
constexpr int64_t kEvenUnits = 8;    // up to so many units per core, an uneven split would show
constexpr int64_t kLineBytes = 512;  // GM moves in lines; wide column tiles start on one
constexpr int64_t kLineColumnBytes = 8192;
constexpr int64_t kMinCoreBytes = 4096;  // below this a core costs more to start than it saves
constexpr int64_t kGoodCopyBytes = 16384;
constexpr int64_t kHalfLineBytes = 256;  // copies that start elsewhere are slower
constexpr int64_t kPipelineTiles = 4;    // tiles per core that let copies and arithmetic overlap

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }
int64_t AlignDown(int64_t a, int64_t b) { return a / b * b; }

// y and f lie this many fp32 lanes apart. 64 modulo 128 puts blocks of the two that one instruction
// reads together into different UB bank groups (16 groups of 32 B), which halves its time.
int64_t ApartUp(int64_t lanes) {
  return AlignUp(lanes + kRepeatLanes, 2 * kRepeatLanes) - kRepeatLanes;
}

class Planner {
 public:
  Planner(const char* op, const ReduceView& view, int64_t elementBytes, const SocFacts& soc,
          RowStreams streams)
      : op_(op),
        view_(view),
        bytes_(elementBytes),
        soc_(soc),
        masked_(streams == RowStreams::kPairAndMask),
        shareable_(!soc.wholeBlocksOnly),
        ring_(soc.eventIds - kFrameworkEvents),
        usable_(static_cast<int64_t>(UsableUb(soc.ubBytes))),
        blockLanes_(kBlockBytes / elementBytes) {}

  std::string Make(RowReducePlan* plan) {
    if (view_.reduce == 1 && !masked_) {
      // Nothing to add up: the whole tensor is one long line of independent columns.
      view_ = {1, 1, view_.outer * view_.inner};
    }
    if (masked_) {
      plan_.path = RowReducePath::kRows;
    } else if (view_.inner == 1 && view_.reduce > 1) {
      plan_.path =
          MostShortTiles() > 0 ? RowReducePath::kShortRows
          : WholeBudget(TileLanesUp(RowLanes()), 1).Total() <= static_cast<uint64_t>(usable_)
              ? RowReducePath::kRows
              : RowReducePath::kLongRows;
    } else {
      plan_.path = view_.reduce <= MaxTileLanes() / WholeColumns() ? RowReducePath::kSlabs
                                                                   : RowReducePath::kLongSlabs;
    }
    plan_.outer = view_.outer;
    plan_.reduce = view_.reduce;
    plan_.inner = view_.inner;
    switch (plan_.path) {
      case RowReducePath::kRows:
        Rows();
        break;
      case RowReducePath::kShortRows:
        ShortRows();
        break;
      case RowReducePath::kLongRows:
        LongRows();
        break;
      case RowReducePath::kSlabs:
        Slabs();
        break;
      case RowReducePath::kLongSlabs:
        LongSlabs();
        break;
    }
    const UbBudget budget = plan_.path == RowReducePath::kShortRows ? ShortBudget(plan_.tileLanes)
                            : plan_.ring > 0                        ? ChunkedBudget(plan_.tileLanes)
                                             : WholeBudget(plan_.tileLanes, plan_.tileUnits);
    plan_.ubBytes = budget.Total();
    if (plan_.tileLanes <= 0 || plan_.ubBytes > static_cast<uint64_t>(usable_)) {
      return OverBudget();
    }
    *plan = plan_;
    return {};
  }

 private:
  bool AlongLanes() const {
    return plan_.path == RowReducePath::kRows || plan_.path == RowReducePath::kLongRows;
  }

  // Mirrors the InitBuffer calls of ReduceWhole.
  UbBudget WholeBudget(int64_t lanes, int64_t units) const {
    UbBudget budget;
    budget.Add("in (y, g)", 2, static_cast<uint64_t>(2 * lanes * bytes_));
    budget.Add("out", 2, static_cast<uint64_t>(lanes * bytes_));
    AddWork(lanes, &budget);
    if (AlongLanes()) {
      const int64_t rows = AlignUp(units, kBlocksPerRepeat);
      budget.Add("row sums", 1, static_cast<uint64_t>(rows * kFloatBytes));
      budget.Add("spread sums", 1, static_cast<uint64_t>(rows * kBlockBytes));
    }
    if (masked_) {
      budget.Add("mask", 2, static_cast<uint64_t>(units * MaskRowBytes()));
    }
    return budget;
  }

  // Mirrors the InitBuffer calls of ReduceShort.
  UbBudget ShortBudget(int64_t lanes) const {
    UbBudget budget;
    budget.Add("in (y, g)", 2, static_cast<uint64_t>(2 * lanes * bytes_));
    budget.Add("out", 2, static_cast<uint64_t>(lanes * bytes_));
    budget.Add("f32 work", 1, static_cast<uint64_t>(2 * lanes * kFloatBytes));
    return budget;
  }

  // Mirrors the InitBuffer calls of ReduceChunked and PartialSums.
  UbBudget ChunkedBudget(int64_t lanes) const {
    UbBudget budget;
    budget.Add("in (y, g)", static_cast<uint64_t>(ring_),
               static_cast<uint64_t>(2 * lanes * bytes_));
    budget.Add("out", 2, static_cast<uint64_t>(lanes * bytes_));
    AddWork(lanes, &budget);
    if (bytes_ == kFloatBytes) {
      budget.Add("half a chunk", 1, static_cast<uint64_t>((lanes / 2 + FoldApart()) * kFloatBytes));
    }
    budget.Add("sum of a part", 1,
               static_cast<uint64_t>(std::max(kSumLanes, SumLanes()) * kFloatBytes));
    budget.Add("partial sums", 1, static_cast<uint64_t>(SumBytes(Parts())));
    return budget;
  }

  void AddWork(int64_t lanes, UbBudget* budget) const {
    if (bytes_ < kFloatBytes) {
      budget->Add("f32 work", 1, static_cast<uint64_t>((2 * lanes + kWorkApart) * kFloatBytes));
    }
  }

  // Lanes from one row to the next. Whole blocks, or rows that are whole blocks once they are fp32.
  int64_t RowLanes() const {
    const bool packed = !soc_.wholeBlocksOnly && view_.reduce % (kBlockBytes / kFloatBytes) == 0;
    return AlignUp(view_.reduce, masked_  ? kMaskedRowLanes
                                 : packed ? kBlockBytes / kFloatBytes
                                          : blockLanes_);
  }

  int64_t MaskRowBytes() const { return masked_ ? AlignUp(view_.reduce, kBlockBytes) : 0; }

  // Lanes of a tile without row sums.
  int64_t MaxTileLanes() const {
    const int64_t apart = bytes_ < kFloatBytes ? kWorkApart * kFloatBytes : 0;
    return TileLanesDown((usable_ - apart) / LaneBytes());
  }

  // Lanes of a tile, see ApartUp. 16-bit tiles lie whole repeats apart in their buffers, clear of the
  // banks that Cast writes, and their fp32 lanes kWorkApart / 2 further apart.
  int64_t TileLanesUp(int64_t lanes) const {
    return bytes_ < kFloatBytes ? AlignUp(lanes, 2 * kRepeatLanes) : ApartUp(lanes);
  }
  int64_t TileLanesDown(int64_t lanes) const {
    const int64_t up = TileLanesUp(lanes);
    return up > lanes ? up - 2 * kRepeatLanes : up;
  }

  int64_t LaneBytes() const { return 6 * bytes_ + (bytes_ < kFloatBytes ? 2 * kFloatBytes : 0); }

  int64_t MaxChunkLanes(int64_t parts) const {
    const int64_t perLane =
        (2 * ring_ + 2) * bytes_ + (bytes_ < kFloatBytes ? 2 * kFloatBytes : kFloatBytes / 2);
    const int64_t apart = (bytes_ < kFloatBytes ? kWorkApart : FoldApart()) * kFloatBytes;
    const int64_t sums = SumBytes(parts) + std::max(kSumLanes, SumLanes()) * kFloatBytes;
    return std::max<int64_t>(0, TileLanesDown((usable_ - apart - sums) / perLane));
  }

  // Lanes of one of the sums that the parts of a reduction leave.
  int64_t SumLanes() const {
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

  int64_t MostParts() const { return shareable_ ? kRowReduceMostParts : 1; }

  int64_t Chunks() const { return plan_.chunk == 0 ? 1 : CeilDiv(view_.reduce, plan_.chunk); }
  int64_t Parts() const {
    return plan_.chunk == 0 ? wantedParts_ : CeilDiv(Chunks(), plan_.partChunks);
  }

  int64_t MinColumns() const {
    return std::min(AlignUp(view_.inner, blockLanes_), kMinColumnBytes / bytes_);
  }

  // Where R rows of so many columns do not fit in a tile, the axis is cut into chunks.
  int64_t WholeColumns() const {
    return shareable_ ? std::min(AlignUp(view_.inner, blockLanes_), kChunkedColumnBytes[0] / bytes_)
                      : MinColumns();
  }

  int64_t CoresFor(int64_t units) const {
    const int64_t total = view_.outer * view_.reduce * view_.inner * bytes_;
    return std::min({soc_.cores, units, CeilDiv(total, kMinCoreBytes)});
  }

  void Split(int64_t units) {
    plan_.units = units;
    plan_.cores = CoresFor(units);
  }

  // Units per tile: what fits, but enough tiles per core for the pipes to overlap as long as copies
  // stay large.
  int64_t UnitsPerTile(int64_t most, int64_t unitBytes) const {
    const int64_t perCore = CeilDiv(plan_.units, plan_.cores);
    const int64_t byCopies = perCore / std::max<int64_t>(1, CeilDiv(kGoodCopyBytes, unitBytes));
    const int64_t tiles = std::max(CeilDiv(perCore, most), std::min(kPipelineTiles, byCopies));
    return CeilDiv(perCore, std::max<int64_t>(1, tiles));
  }

  void Rows() {
    const int64_t row = RowLanes();
    const int64_t rowBytes = row * LaneBytes() + kFloatBytes + kBlockBytes + 2 * MaskRowBytes();
    int64_t most = std::clamp<int64_t>(usable_ / rowBytes, 1, kMaxRowsPerTile);
    while (most > 1 &&
           WholeBudget(TileLanesUp(most * row), most).Total() > static_cast<uint64_t>(usable_)) {
      --most;
    }
    if (most > kBlocksPerRepeat) {
      most = AlignDown(most, kBlocksPerRepeat);
    }
    Split(view_.outer);
    plan_.tileUnits = OnLines(UnitsPerTile(most, row * bytes_), most);
    plan_.tileLanes = TileLanesUp(plan_.tileUnits * row);
    plan_.pastL2 = TilesPastL2();
  }

  // Narrower columns leave a part of each GM request to other cores, for which L2 has to keep it.
  bool SharesRequests() const {
    return plan_.colTiles > 1 && plan_.colTile * bytes_ % kHalfLineBytes != 0;
  }

  int32_t OwnPastL2(int64_t tilesPerCore) const {
    return SharesRequests() ? 0
                            : PastL2(view_.outer * view_.reduce * view_.inner,
                                     3 * bytes_ + (masked_ ? 1 : 0), bytes_, tilesPerCore, soc_);
  }

  int32_t TilesPastL2() const {
    return OwnPastL2(CeilDiv(CeilDiv(plan_.units, plan_.cores), plan_.tileUnits));
  }

  // About `units` rows that take whole GM lines, if at most `most` can: tiles start on lines then.
  // Rows that are padded in UB are copied one by one.
  int64_t OnLines(int64_t units, int64_t most) const {
    const bool padded = soc_.wholeBlocksOnly || RowLanes() != view_.reduce;
    int64_t whole = 1;
    while (whole * view_.reduce * bytes_ % kLineBytes != 0) {
      whole *= 2;
    }
    if (padded || units <= whole || CeilDiv(plan_.units, plan_.cores) <= units) {
      return units;
    }
    const int64_t up = AlignUp(units, whole);
    return up <= most ? up : AlignDown(units, whole);
  }

  // Rows of the smallest tile of ReduceShort: streams of whole rows, of whole blocks, and of at least
  // 16 elements.
  int64_t ShortTileRows() const {
    int64_t rows = blockLanes_ / std::gcd(view_.reduce, blockLanes_);
    while (rows * view_.reduce < kStreams) {
      rows *= 2;
    }
    return kStreams * rows;
  }

  // The smallest tiles that UB can hold as one; none where rows are whole blocks without them.
  int64_t MostShortTiles() const {
    if (soc_.wholeBlocksOnly || view_.reduce % (kBlockBytes / kFloatBytes) == 0 ||
        view_.reduce > kMaxShortRow) {
      return 0;
    }
    const int64_t tile = ShortTileRows() * view_.reduce;
    const int64_t perLane = 6 * bytes_ + 2 * kFloatBytes;
    int64_t most = usable_ / perLane / tile;
    while (most > 0 && ShortBudget(ApartUp(most * tile)).Total() > static_cast<uint64_t>(usable_)) {
      --most;
    }
    return most;
  }

  void ShortRows() {
    const int64_t rows = ShortTileRows();
    Split(view_.outer);
    const int64_t units = UnitsPerTile(MostShortTiles() * rows, view_.reduce * bytes_);
    plan_.tileUnits = std::min(MostShortTiles() * rows, AlignUp(units, rows));
    plan_.tileLanes = ApartUp(plan_.tileUnits * view_.reduce);
    plan_.pastL2 = TilesPastL2();
  }

  // A chunk is elements of a row here, rows of a column tile in slabs: `pitch` lanes each.
  int64_t Pitch() const { return AlongLanes() ? 1 : AlignUp(plan_.colTile, blockLanes_); }

  int64_t ChunkStep() const { return AlongLanes() ? kHalfLineBytes / bytes_ : 1; }

  int64_t MostPerChunk(int64_t parts) const {
    return AlignDown(MaxChunkLanes(parts) / Pitch(), ChunkStep());
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

  // Parts that stay in UB between the passes; 0 if there are none. Chooses the number of chunk buffers.
  int64_t ResidentParts() {
    if (!shareable_) {
      return FewestParts(ring_, 1);
    }
    const SharedAxis axis{view_.reduce, AlongLanes(), bytes_, soc_.ubBytes};
    const SharingChoice choice = ChooseSharing(axis, [this](const Sharing& sharing) {
      ring_ = sharing.ring;
      return FewestParts(sharing.keep, sharing.mostParts);
    });
    ring_ = choice.ring;
    return choice.parts;
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
    plan_.chunk = LongLastPart(view_.reduce, AlignUp(CeilDiv(part, plan_.partChunks), ChunkStep()),
                               AlongLanes() ? ChunkStep() : least, least);
    plan_.tileLanes = TileLanesUp(plan_.chunk * Pitch());
  }

  // Groups of cores that share units.
  void Share() {
    if (plan_.chunk == 0) {
      return;
    }
    const int64_t parts = Parts();
    plan_.units = view_.outer * plan_.colTiles;
    plan_.share = shareable_ ? CeilDiv(parts, CeilDiv(parts, std::min(parts, soc_.cores))) : 1;
    const int64_t groups = std::min(plan_.units, CoresFor(plan_.units * plan_.share) / plan_.share);
    plan_.cores = std::max<int64_t>(1, groups) * plan_.share;
    const int64_t mine = std::min(Chunks(), CeilDiv(parts, plan_.share) * plan_.partChunks);
    plan_.ring = ring_;
    plan_.resident = mine <= ring_ ? mine : std::max<int64_t>(0, ring_ - kStreaming);
    if (mine == plan_.resident) {
      plan_.pastL2 = OwnPastL2(0);
    }
    if (plan_.share > 1) {
      const int64_t slot = AlignUp(parts * (AlongLanes() ? 1 : SumLanes()), kRowReduceSlotLanes);
      const int64_t slots = kRowReduceRounds * plan_.cores / plan_.share;
      // One line more: the workspace may start within one.
      plan_.workspaceBytes =
          static_cast<uint64_t>((slots * slot + kRowReduceSlotLanes) * kFloatBytes);
    }
  }

  void LongRows() {
    const int64_t parts = ResidentParts();
    Cut(parts > 0 ? parts : MostParts());
    Share();
  }

  // Where copies move whole blocks only, nothing shorter than one can be stored. The longest part, at
  // most `part` and if possible a multiple of `unit`, that cuts `total` such that what is left over
  // at the end is at least `least` long.
  int64_t LongLastPart(int64_t total, int64_t part, int64_t unit, int64_t least) const {
    if (!soc_.wholeBlocksOnly) {
      return part;
    }
    for (const int64_t step : {unit, int64_t{1}}) {
      for (int64_t length = part; length >= least; length -= step) {
        const int64_t last = total - (CeilDiv(total, length) - 1) * length;
        if (last >= least || last == total) {
          return length;
        }
      }
    }
    return part;
  }

  // Columns of a unit: at most `most`, fewer when there would be fewer units than cores. `floor` is
  // as narrow as it goes.
  void SplitColumns(int64_t most, int64_t floor) {
    const int64_t wanted = CoresFor(std::numeric_limits<int64_t>::max());
    const int64_t perSlab = CeilDiv(wanted, view_.outer);
    const int64_t narrow =
        std::max(std::min(floor, most), AlignUp(CeilDiv(view_.inner, perSlab), blockLanes_));
    const int64_t width = std::min(most, narrow);
    if (width >= view_.inner) {
      plan_.colTile = view_.inner;
      plan_.colTiles = 1;
    } else {
      int64_t tiles = CeilDiv(view_.inner, width);
      if (view_.outer * tiles < kEvenUnits * wanted) {
        // Few units per core: as many as all cores can share without a rest.
        const int64_t even = CeilDiv(view_.outer * tiles, wanted) * wanted / view_.outer;
        tiles = std::max(tiles, std::min(even, view_.inner / std::max<int64_t>(1, floor)));
      }
      const int64_t columns = CeilDiv(view_.inner, tiles);
      const int64_t bytes = columns * bytes_;
      const int64_t step = (bytes >= kLineColumnBytes ? kLineBytes
                            : bytes >= kHalfLineBytes ? kHalfLineBytes
                                                      : kBlockBytes) /
                           bytes_;
      plan_.colTile =
          LongLastPart(view_.inner, std::min(AlignDown(width, step), AlignUp(columns, step)),
                       blockLanes_, blockLanes_);
      plan_.colTiles = CeilDiv(view_.inner, plan_.colTile);
    }
    Split(view_.outer * plan_.colTiles);
  }

  void Slabs() {
    const int64_t lanes = MaxTileLanes();
    SplitColumns(AlignDown(lanes / view_.reduce, blockLanes_), kSplitColumnBytes / bytes_);
    const int64_t unit = view_.reduce * AlignUp(plan_.colTile, blockLanes_);
    if (plan_.colTiles == 1) {
      plan_.tileUnits = UnitsPerTile(lanes / unit, unit * bytes_);
    }
    plan_.tileLanes = TileLanesUp(plan_.tileUnits * unit);
    plan_.pastL2 = TilesPastL2();
  }

  void LongSlabs() {
    if (shareable_) {
      SharedSlabs();
    } else {
      OwnSlabs();
    }
    Share();
  }

  void SharedSlabs() {
    const auto cut = [this](int64_t bytes) {
      const int64_t tiles = CeilDiv(view_.inner, bytes / bytes_);
      plan_.colTile = std::min(view_.inner, AlignUp(CeilDiv(view_.inner, tiles), blockLanes_));
      plan_.colTiles = CeilDiv(view_.inner, plan_.colTile);
      return ResidentParts();
    };
    int64_t parts = 0;
    for (const int64_t bytes : kChunkedColumnBytes) {
      parts = cut(bytes);
      if (parts > 0) {
        break;
      }
    }
    if (parts == 0) {
      cut(kChunkedColumnBytes[0]);
      parts = MostParts();
    }
    Cut(parts);
  }

  // The widest columns whose chunks all stay in UB; where even narrow ones do not, whole repeats.
  void OwnSlabs() {
    const int64_t whole = AlignUp(view_.inner, blockLanes_);
    plan_.colTile = MinColumns();
    const int64_t most = AlignDown(ring_ * MaxChunkLanes(1) / view_.reduce, blockLanes_);
    for (plan_.colTile = std::min(whole, most); plan_.colTile >= MinColumns();
         plan_.colTile -= blockLanes_) {
      if (FewestParts(ring_, 1) > 0) {
        break;
      }
    }
    if (plan_.colTile < MinColumns()) {
      plan_.colTile = std::min(whole, kStreamColumns);
    }
    const int64_t columns = plan_.colTile;
    plan_.colTile = std::min(columns, view_.inner);
    Cut(1);
    SplitColumns(columns, kSplitColumnBytes / bytes_);
    plan_.tileLanes = TileLanesUp(plan_.chunk * Pitch());
  }

  std::string OverBudget() const {
    const UbBudget budget = plan_.ring > 0 || plan_.path == RowReducePath::kLongRows ||
                                    plan_.path == RowReducePath::kLongSlabs
                                ? ChunkedBudget(kRepeatLanes)
                                : WholeBudget(plan_.tileLanes, plan_.tileUnits);
    const std::string hint = masked_ ? "A row and its mask are not split: shorten the last dim"
                                     : "The smallest tile that works is " +
                                           std::to_string(kRepeatLanes) + " lanes (" +
                                           WithCommas(ChunkedBudget(kRepeatLanes).Total()) +
                                           " B): check the UB size that the platform reports (" +
                                           WithCommas(soc_.ubBytes) + " B)";
    return std::string(op_) + ": UB needs " + WithCommas(budget.Total()) + " B of " +
           WithCommas(static_cast<uint64_t>(std::max<int64_t>(0, usable_))) + " B usable on " +
           soc_.name + " (" + budget.Table() + ") at [A, R, B] = [" + std::to_string(view_.outer) +
           ", " + std::to_string(view_.reduce) + ", " + std::to_string(view_.inner) + "], " +
           std::to_string(bytes_) + " B per element. " + hint;
  }

  const char* op_;
  ReduceView view_;
  int64_t bytes_;
  const SocFacts& soc_;
  bool masked_;
  bool shareable_;  // cores can wait for each other
  int64_t ring_;    // chunk buffers
  int64_t wantedParts_ = 1;
  int64_t usable_;
  int64_t blockLanes_;
  RowReducePlan plan_;
};

}  // namespace

std::string MakeReduceView(const std::vector<int64_t>& dims, int64_t axis, ReduceView* view) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (rank > 8) {
    return "rank " + std::to_string(rank) + " of the input, wanted at most 8";
  }
  const int64_t most = std::max<int64_t>(rank, 1);
  if (axis < -most || axis >= most) {
    return "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank) +
           ", wanted a value in [" + std::to_string(-most) + ", " + std::to_string(most - 1) + "]";
  }
  const int64_t at = axis < 0 ? axis + most : axis;
  *view = {1, 1, 1};
  int64_t total = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (dim <= 0) {
      return "dim " + std::to_string(i) + " of the input is " + std::to_string(dim) +
             ", wanted a positive size (an empty tensor needs no launch)";
    }
    // 8-byte offsets on the device must not wrap.
    if (total > std::numeric_limits<int64_t>::max() / 8 / dim) {
      return "the input has more than 2^60 elements at dim " + std::to_string(i);
    }
    total *= dim;
    (i < at ? view->outer : (i == at ? view->reduce : view->inner)) *= dim;
  }
  return {};
}

std::string MakeRowReducePlan(const char* op, const ReduceView& view, uint32_t elementBytes,
                              const SocFacts& soc, RowReducePlan* plan, RowStreams streams) {
  if (elementBytes != 2 && elementBytes != 4) {
    return std::string(op) + ": " + std::to_string(elementBytes) +
           " B per element, wanted 4 (FLOAT) or 2 (FLOAT16, BF16)";
  }
  if (soc.cores <= 0) {
    return std::string(op) + ": the platform reports " + std::to_string(soc.cores) +
           " vector cores on " + soc.name + ", wanted at least 1";
  }
  if (streams == RowStreams::kPairAndMask && view.inner != 1) {
    return std::string(op) + ": a mask along the axis in the middle, [A, R, B] = [" +
           std::to_string(view.outer) + ", " + std::to_string(view.reduce) + ", " +
           std::to_string(view.inner) + "], wanted B == 1";
  }
  return Planner(op, view, elementBytes, soc, streams).Make(plan);
}

}  // namespace optiling
