// SPDX-License-Identifier: Apache-2.0
// Plans of tiles that hold the whole axis: of rows, of short rows and of slabs (ReduceWhole and
// ReduceShort).
#include <numeric>

#include "common/row_reduce_planner.h"

namespace optiling {
namespace {

constexpr int64_t kBlocksPerRepeat = 8;
constexpr int64_t kLanesPerRepeat = 64;  // of fp32
constexpr int64_t kStreams = 16;         // of a tile of short rows, and the least elements of one
constexpr int64_t kMaxShortRow = 64;     // longer ones cost little more when copied one by one
constexpr int64_t kMaxRepeats = 255;     // of an instruction, and blocks of a repeat stride
constexpr int64_t kMaxRowsPerTile = 255 * kBlocksPerRepeat;  // Brcb takes 8 rows per repeat
constexpr int64_t kMaskedRowLanes = 16;  // of a row whose mask is widened to half: whole blocks
constexpr int64_t kGoodCopyBytes = 16384;
constexpr int64_t kPipelineTiles = 4;  // tiles per core that let copies and arithmetic overlap

class WholePlanner : private RowReducePlanner {
 public:
  explicit WholePlanner(const RowReduceCase& wanted) : RowReducePlanner(wanted) {
    plan_.path = view_.inner > 1 || (view_.reduce == 1 && !masked_) ? RowReducePath::kSlabs
                 : MostShortTiles() > 0                             ? RowReducePath::kShortRows
                 : PacksTiles()                                     ? RowReducePath::kPackedRows
                                                                    : RowReducePath::kRows;
  }

  bool Fits() const {
    switch (plan_.path) {
      case RowReducePath::kSlabs:
        return view_.reduce <= MostSlabLanes() / LeastColumns();
      case RowReducePath::kRows:
        return masked_ || MostPackedRows() > 0 ||
               (!Packs() && Holds(RowsBudget(TileLanesUp(RowLanes()), 1)));
      default:
        return true;
    }
  }

  std::string Make(RowReducePlan* plan) {
    UbBudget budget;
    if (plan_.path == RowReducePath::kSlabs) {
      Slabs();
      budget = TileBudget(plan_.tileLanes);
    } else if (plan_.path == RowReducePath::kRows) {
      Rows();
      budget = RowsBudget(plan_.tileLanes, plan_.tileUnits);
    } else if (plan_.path == RowReducePath::kPackedRows) {
      PackedRows();
      budget = PackedBudget(plan_.tileUnits);
    } else {
      ShortRows();
      budget = ShortBudget(plan_.tileLanes);
    }
    plan_.pastL2 = PastL2Of(CeilDiv(CeilDiv(plan_.units, plan_.cores), plan_.tileUnits));
    return Finish(budget, budget, "A row and its mask are not split: shorten the last dim", plan);
  }

 private:
  bool Holds(const UbBudget& budget) const {
    return budget.Total() <= static_cast<uint64_t>(usable_);
  }

  UbBudget StreamsBudget(int64_t lanes) const {
    UbBudget budget;
    budget.Add("in (y, g)", 2, static_cast<uint64_t>(2 * lanes * bytes_));
    budget.Add("out", 2, static_cast<uint64_t>(lanes * bytes_));
    return budget;
  }

  // Mirrors the InitBuffer calls of ReduceWhole.
  UbBudget TileBudget(int64_t lanes) const {
    UbBudget budget = StreamsBudget(lanes);
    AddWork(lanes, &budget);
    return budget;
  }

  UbBudget RowsBudget(int64_t lanes, int64_t units, int64_t maskBytes) const {
    UbBudget budget = TileBudget(lanes);
    const int64_t rows = AlignUp(units, kBlocksPerRepeat);
    budget.Add("row sums", 1, static_cast<uint64_t>(rows * kFloatBytes));
    budget.Add("spread sums", 1, static_cast<uint64_t>(rows * kBlockBytes));
    budget.Add("mask", 2, static_cast<uint64_t>(maskBytes));
    return budget;
  }

  UbBudget RowsBudget(int64_t lanes, int64_t units) const {
    return RowsBudget(lanes, units, units * MaskRowBytes());
  }

  // Mirrors those of ReduceWhole and RowMask with packed rows.
  UbBudget PackedBudget(int64_t rows) const {
    const int64_t lanes = rows * PackedRowLanes();
    const int64_t runs = rows / kRowReduceMaskRun + 2;
    const int64_t mask = AlignUp(rows * view_.reduce, kBlockBytes) + runs * 2 * kBlockBytes;
    UbBudget budget = RowsBudget(PackedLanes(rows), rows, masked_ ? mask : 0);
    budget.Add("aligned rows", 1, static_cast<uint64_t>(lanes * kFloatBytes));
    const bool many = rows >= kBlocksPerRepeat && PackedRowLanes() < kRowReduceGatherLanes;
    const int64_t gathered = many ? kBlocksPerRepeat * PackedRowLanes() : kRowReduceGatherLanes;
    budget.Add("lane offsets", 1, static_cast<uint64_t>(gathered * kFloatBytes));
    return budget;
  }

  // Mirrors the InitBuffer calls of ReduceShort.
  UbBudget ShortBudget(int64_t lanes) const {
    UbBudget budget = StreamsBudget(lanes);
    budget.Add("f32 work", 1, static_cast<uint64_t>(2 * lanes * kFloatBytes));
    return budget;
  }

  // Lanes from one row to the next. Whole blocks, or rows that are whole blocks once they are fp32.
  int64_t RowLanes() const {
    const bool packed = !soc_.wholeBlocksOnly && view_.reduce % (kBlockBytes / kFloatBytes) == 0;
    return AlignUp(view_.reduce, masked_  ? kMaskedRowLanes
                                 : packed ? kBlockBytes / kFloatBytes
                                          : blockLanes_);
  }

  // Of a row that is added up on whole blocks.
  int64_t PackedRowLanes() const { return AlignUp(view_.reduce, blockLanes_); }

  int64_t MaskRowBytes() const { return masked_ ? AlignUp(view_.reduce, kBlockBytes) : 0; }

  int64_t LaneBytes() const { return 6 * bytes_ + (bytes_ < kFloatBytes ? 2 * kFloatBytes : 0); }

  int64_t MostSlabLanes() const {
    const int64_t apart = bytes_ < kFloatBytes ? kWorkApart * kFloatBytes : 0;
    return TileLanesDown((usable_ - apart) / LaneBytes());
  }

  // Where R rows of so many columns do not fit, chunks of wider ones are better.
  int64_t LeastColumns() const {
    const int64_t bytes = shareable_ ? kHalfLineBytes : kMinColumnBytes;
    return std::min(AlignUp(view_.inner, blockLanes_), bytes / bytes_);
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
    while (most > 1 && !Holds(RowsBudget(TileLanesUp(most * row), most))) {
      --most;
    }
    if (most > kBlocksPerRepeat) {
      most = AlignDown(most, kBlocksPerRepeat);
    }
    Split(view_.outer);
    plan_.tileUnits = OnLines(UnitsPerTile(most, row * bytes_), most);
    plan_.tileLanes = TileLanesUp(plan_.tileUnits * row);
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
    int64_t rows = BlockRows();
    while (rows * view_.reduce < kStreams) {
      rows *= 2;
    }
    return kStreams * rows;
  }

  // The smallest tiles that UB can hold as one; none where rows are whole blocks without them.
  int64_t MostShortTiles() const {
    if (masked_ || soc_.wholeBlocksOnly || view_.reduce % (kBlockBytes / kFloatBytes) == 0 ||
        view_.reduce > kMaxShortRow) {
      return 0;
    }
    const int64_t tile = ShortTileRows() * view_.reduce;
    const int64_t perLane = 6 * bytes_ + 2 * kFloatBytes;
    int64_t most = usable_ / perLane / tile;
    while (most > 0 && !(Holds(ShortBudget(ApartUp(most * tile))) && ShortStridesFit(most))) {
      --most;
    }
    return most;
  }

  // Whether repeats and strides of a tile of ReduceShort fit their 8 bits: a repeat of TransDataTo5HD
  // moves a block of each stream, and terms of sums (SumSlabs) lie as far apart as their slabs are long.
  bool ShortStridesFit(int64_t tiles) const {
    const int64_t slabs = tiles * ShortTileRows() / kStreams;
    const int64_t termBlocks =
        (AlignUp(slabs * kStreams, kLanesPerRepeat) + kStreams) / (kBlockBytes / kFloatBytes);
    const bool strided =
        view_.reduce > kBlocksPerRepeat;  // else one instruction takes a whole term
    return slabs * view_.reduce / blockLanes_ <= kMaxRepeats &&
           (!strided || (slabs <= kMaxRepeats && termBlocks <= kMaxRepeats));
  }

  // Rows that take whole blocks together.
  int64_t BlockRows() const { return blockLanes_ / std::gcd(view_.reduce, blockLanes_); }

  // Of a tile of packed rows, which may begin and end within a block, and keeps the first results once
  // more behind them.
  int64_t PackedLanes(int64_t rows) const {
    return TileLanesUp(rows * PackedRowLanes() + 2 * blockLanes_);
  }

  // The most rows that a tile of packed rows holds, if possible such that tiles start on blocks, as those
  // with a mask must.
  int64_t MostPackedRows() const {
    if (!Packs()) {
      return 0;
    }
    const int64_t row = PackedRowLanes() * (LaneBytes() + kFloatBytes) + kFloatBytes + kBlockBytes;
    int64_t most = std::min(usable_ / row, kMaxRowsPerTile);
    while (most > 0 && !Holds(PackedBudget(most))) {
      --most;
    }
    return most >= BlockRows() || masked_ ? AlignDown(most, BlockRows()) : most;
  }

  // Few tiles do not hide that packed ones take longer to compute. The sums are the same.
  bool PacksTiles() {
    if (MostPackedRows() == 0) {
      return false;
    }
    PackedRows();
    return CeilDiv(plan_.units, plan_.cores) >= kPipelineTiles * plan_.tileUnits;
  }

  void PackedRows() {
    const int64_t most = MostPackedRows();
    Split(view_.outer);
    const int64_t units = UnitsPerTile(most, view_.reduce * bytes_);
    plan_.tileUnits = most < BlockRows() ? units : std::min(most, AlignUp(units, BlockRows()));
    plan_.tileLanes = PackedLanes(plan_.tileUnits);
  }

  void ShortRows() {
    const int64_t rows = ShortTileRows();
    Split(view_.outer);
    const int64_t units = UnitsPerTile(MostShortTiles() * rows, view_.reduce * bytes_);
    plan_.tileUnits = std::min(MostShortTiles() * rows, AlignUp(units, rows));
    plan_.tileLanes = ApartUp(plan_.tileUnits * view_.reduce);
  }

  void Slabs() {
    const int64_t lanes = MostSlabLanes();
    SplitColumns(AlignDown(lanes / view_.reduce, blockLanes_));
    const int64_t unit = view_.reduce * AlignUp(plan_.colTile, blockLanes_);
    if (plan_.colTiles == 1) {
      plan_.tileUnits = UnitsPerTile(lanes / unit, unit * bytes_);
    }
    plan_.tileLanes = TileLanesUp(plan_.tileUnits * unit);
  }
};

}  // namespace

bool FitsWhole(const RowReduceCase& wanted) { return WholePlanner(wanted).Fits(); }

std::string PlanWhole(const RowReduceCase& wanted, RowReducePlan* plan) {
  return WholePlanner(wanted).Make(plan);
}

}  // namespace optiling
