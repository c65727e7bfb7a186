// SPDX-License-Identifier: Apache-2.0
// Plans of tiles that hold the whole axis: of rows, of short rows and of slabs (ReduceRows,
// ReduceSlabs and ReduceShort).
#include <algorithm>
#include <array>
#include <numeric>

#include "common/row_reduce_planner.h"

namespace optiling {
namespace {

constexpr int64_t kBlocksPerRepeat = 8;
constexpr int64_t kLanesPerRepeat = 64;  // of fp32
constexpr int64_t kEdgePositions = 168;  // whose bits tell an interleaved row from its neighbours
constexpr int64_t kImagesApart = 128;    // elements
// SoCs with a larger UB take 2 % longer for a copy that starts anywhere, not 28 %.
constexpr uint64_t kUbWhereStartsMatter = 192 * 1024;
constexpr int64_t kMinInterleaved = 112;
constexpr int64_t kMinInterleavedMasked = 44;
constexpr int64_t kStreams = 16;  // of a tile of short rows, and the least elements of one
// Of a tile whose rows are copied one by one: more of them would fill the queues of copies.
constexpr int64_t kPaddedRows = 24;
constexpr int64_t kTurnRows = 128;    // whose sums are spread at once where there is no Brcb
constexpr int64_t kMaxShortRow = 64;  // longer ones cost little more when copied one by one
constexpr int64_t kFewRows =
    16;  // of a core: turning them takes longer than one by one, the sums are the same
constexpr int64_t kMinLongRow = 512;  // 16-bit rows, of whose circles one takes few instructions
// Shorter ones are better turned, or fill too little of a register: of whole blocks as fp32, and others.
constexpr int64_t kMinRegisterRow = 48;
constexpr int64_t kMinNarrowRegisterRow = 16;
constexpr int64_t kMinOddRegisterRow = 9;
constexpr int64_t kBehindRows = 288;        // bytes that a load of the last one may reach behind it
constexpr int64_t kMaxRegisterRows = 4096;  // of a tile: a vector function counts in 16 bits
constexpr int64_t kMaxRepeats = 255;        // of an instruction, and blocks of a repeat stride
constexpr int64_t kMaxRowsPerTile = 255 * kBlocksPerRepeat;  // Brcb takes 8 rows per repeat
constexpr int64_t kMaskedRowLanes = 16;  // of a row whose mask is widened to half: whole blocks
constexpr int64_t kFoldedWaste =
    16;  // of a slab of folded columns one in so many lanes may be padding
// Of a row of them: an instruction takes as long as so many to be issued.
constexpr int64_t kFoldedRepeats = 4;

// Tiles of a core that let copies and arithmetic overlap, as long as each copy has so many bytes.
struct Tiles {
  int64_t count;
  int64_t copyBytes;
};
constexpr Tiles kTiles = {4, 16384};
// Where arithmetic is so short that the first and the last copy show.
constexpr Tiles kShortTiles = {8, 24576};

class WholePlanner : private RowReducePlanner {
 public:
  explicit WholePlanner(const RowReduceCase& wanted) : RowReducePlanner(wanted) {
    plan_.path = InRegisters()      ? RowReducePath::kRegisterRows
                 : Interleaves()    ? RowReducePath::kInterleavedRows
                 : StreamStep() > 0 ? RowReducePath::kShortRows
                 : view_.inner > 1 || (view_.reduce == 1 && !masked_) ? RowReducePath::kSlabs
                 : PacksTiles()                                       ? RowReducePath::kPackedRows
                                                                      : RowReducePath::kRows;
  }

  bool TakesStreams() const { return plan_.path == RowReducePath::kShortRows; }

  bool Fits() const {
    switch (plan_.path) {
      case RowReducePath::kSlabs:
        if (Folded()) {
          return Holds(FoldedBudget(1));
        }
        return view_.reduce <= MostSlabLanes() / LeastColumns();
      case RowReducePath::kRows:
        return masked_ || MostPackedRows() > 0 ||
               (!PacksWhole() && Holds(RowsBudget(TileLanesUp(RowLanes()), 1)));
      default:
        return true;
    }
  }

  std::string Make(RowReducePlan* plan) {
    UbBudget budget;
    if (plan_.path == RowReducePath::kSlabs) {
      if (Folded()) {
        FoldedSlabs();
      } else {
        Slabs();
      }
      budget = SlabBudget(plan_.tileLanes);
      AddFolded(plan_.tileUnits, &budget);
    } else if (plan_.path == RowReducePath::kRows) {
      Rows();
      budget = RowsBudget(plan_.tileLanes, plan_.tileUnits);
    } else if (plan_.path == RowReducePath::kInterleavedRows) {
      InterleavedRows();
      budget = InterleavedBudget(plan_.tileUnits);
    } else if (plan_.path == RowReducePath::kPackedRows) {
      PackedRows();
      budget = PackedBudget(plan_.tileUnits);
    } else if (plan_.path == RowReducePath::kRegisterRows) {
      RegisterRows();
      budget = RegisterBudget(plan_.tileUnits);
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

  UbBudget StreamsBudget(int64_t lanes, uint64_t outBuffers) const {
    UbBudget budget;
    budget.Add("in (y, g)", 2, static_cast<uint64_t>(2 * lanes * bytes_));
    budget.Add("out", outBuffers, static_cast<uint64_t>(lanes * bytes_));
    return budget;
  }

  // Columns are added up in registers, without a work area.
  bool ColumnsInRegisters() const {
    return soc_.registers && !Folded() && view_.inner >= kRowReduceRegisterColumns;
  }

  // Mirrors the InitBuffer calls of ReduceSlabs.
  UbBudget SlabBudget(int64_t lanes) const {
    if (!ColumnsInRegisters()) {
      return TileBudget(lanes);
    }
    UbBudget budget = StreamsBudget(lanes, 1);
    budget.Add("behind (y, g)", 2, static_cast<uint64_t>(kBehindRows));
    return budget;
  }

  // Mirrors the InitBuffer calls of ReduceRows, and of ReduceSlabs without registers.
  UbBudget TileBudget(int64_t lanes) const {
    UbBudget budget = StreamsBudget(lanes, 1);
    AddWork(lanes, &budget);
    return budget;
  }

  UbBudget RowsBudget(int64_t lanes, int64_t units, int64_t maskBytes) const {
    UbBudget budget = TileBudget(lanes);
    const int64_t rows = AlignUp(units, soc_.wholeBlocksOnly ? kTurnRows : kStreams);
    const int64_t spare = soc_.wholeBlocksOnly ? kTurnRows : 0;
    budget.Add("row sums", 1, static_cast<uint64_t>(rows * kFloatBytes));
    budget.Add("spread sums", 1, static_cast<uint64_t>((rows + spare) * kBlockBytes));
    if (soc_.wholeBlocksOnly && view_.reduce % blockLanes_ != 0) {
      budget.Add("tails", 3, static_cast<uint64_t>(AlignUp(units, kStreams) * kBlockBytes));
    }
    budget.Add("mask", 2, static_cast<uint64_t>(maskBytes));
    AddCircles(units, &budget);
    return budget;
  }

  // Mirrors those of PackedRows, on which rows are added up that are no whole blocks.
  void AddCircles(int64_t rows, UbBudget* budget) const {
    constexpr int64_t kLanes = kBlockBytes / kFloatBytes;
    if (soc_.wholeBlocksOnly || view_.reduce % kLanes == 0) {
      return;
    }
    const bool alike = std::lcm(view_.reduce, kLanes) <= kMaxRepeats * kLanes;
    const int64_t circle = alike ? kLanesPerRepeat : CircleOf(view_.reduce, kRowReduceCircleLanes);
    const int64_t blocks = AlignUp(rows, kStreams) * kBlockBytes;
    const int64_t circles = alike ? std::max<int64_t>(rows, 2) : rows;
    budget->Add("circles", 1, static_cast<uint64_t>(circles * circle * kFloatBytes));
    budget->Add("blocks of circles", 1, static_cast<uint64_t>(blocks));
    budget->Add("turned blocks", 1, static_cast<uint64_t>(blocks));
  }

  UbBudget RowsBudget(int64_t lanes, int64_t units) const {
    return RowsBudget(lanes, units, units * MaskRowBytes());
  }

  int64_t PackedMaskBytes(int64_t rows) const {
    const int64_t runs = rows / kRowReduceMaskRun + 2;
    return masked_ ? AlignUp(rows * view_.reduce, kBlockBytes) + runs * 2 * kBlockBytes : 0;
  }

  // Mirrors those of ReduceInterleaved.
  UbBudget InterleavedBudget(int64_t groups) const {
    const int64_t lanes = InterleavedLanes(groups);
    UbBudget budget = TileBudget(lanes);
    budget.Add("images", 1, static_cast<uint64_t>((2 * lanes + kImagesApart) * bytes_));
    budget.Add("edges", 1, static_cast<uint64_t>(kEdgePositions * kBlockBytes));
    budget.Add("mask", 2, static_cast<uint64_t>(PackedMaskBytes(groups * kStreams)));
    return budget;
  }

  // Mirrors those of ReduceRows and RowMask with packed rows.
  UbBudget PackedBudget(int64_t rows) const {
    UbBudget budget = RowsBudget(PackedLanes(rows), rows, PackedMaskBytes(rows));
    budget.Add("lane offsets", 1, static_cast<uint64_t>(kStreams * kFloatBytes));
    return budget;
  }

  // Whether rows are added up in registers. All that fit, so that their sums do not depend on their number.
  bool InRegisters() const {
    return soc_.registers && !masked_ && view_.inner == 1 && view_.reduce >= LeastInRegisters() &&
           Holds(RegisterBudget(1));
  }

  int64_t LeastInRegisters() const {
    return view_.reduce % (kBlockBytes / kFloatBytes) != 0 ? kMinOddRegisterRow
           : bytes_ == kFloatBytes                         ? kMinRegisterRow
                                                           : kMinNarrowRegisterRow;
  }

  bool LiesFlat() const { return view_.reduce * bytes_ <= kRowReduceFlatBytes; }

  int64_t RegisterLanes(int64_t rows) const {
    return AlignUp(rows * view_.reduce, LiesFlat() ? kLanesPerRepeat : blockLanes_);
  }

  // Mirrors the InitBuffer calls of ReduceRegisters.
  UbBudget RegisterBudget(int64_t rows) const {
    const int64_t lanes = RegisterLanes(rows);
    UbBudget budget = StreamsBudget(lanes, 2);
    budget.Add("behind (y, g)", 2, static_cast<uint64_t>(kBehindRows));
    if (LiesFlat()) {
      budget.Add("f32 work", bytes_ < kFloatBytes ? 2 : 1,
                 static_cast<uint64_t>(lanes * kFloatBytes));
      budget.Add("behind f32 work", 1, static_cast<uint64_t>(kBehindRows));
    } else {
      budget.Add("row sums", 1, static_cast<uint64_t>(rows * kFloatBytes));
    }
    return budget;
  }

  void RegisterRows() {
    int64_t most = std::clamp<int64_t>(usable_ / (view_.reduce * 6 * bytes_), 1, kMaxRegisterRows);
    while (most > 1 && !Holds(RegisterBudget(most))) {
      --most;
    }
    Split(view_.outer);
    plan_.tileUnits = std::min(UnitsPerTile(most, view_.reduce * bytes_),
                               UnitsPerTile(most, view_.reduce * bytes_, kShortTiles));
    plan_.tileLanes = RegisterLanes(plan_.tileUnits);
  }

  // Mirrors the InitBuffer calls of ReduceShort.
  UbBudget ShortBudget(int64_t lanes) const {
    UbBudget budget = StreamsBudget(lanes, 2);
    budget.Add("f32 work", 1, static_cast<uint64_t>(2 * lanes * kFloatBytes));
    budget.Add("tails", soc_.wholeBlocksOnly ? 2 : 0,
               static_cast<uint64_t>(kStreams * kBlockBytes));
    return budget;
  }

  // Lanes from one row to the next. Whole blocks, or rows that are whole blocks once they are fp32.
  int64_t RowLanes() const {
    const bool packed = !soc_.wholeBlocksOnly && view_.reduce % (kBlockBytes / kFloatBytes) == 0;
    return AlignUp(view_.reduce, masked_  ? kMaskedRowLanes
                                 : packed ? kBlockBytes / kFloatBytes
                                          : blockLanes_);
  }

  int64_t MaskRowBytes() const { return masked_ ? AlignUp(view_.reduce, kBlockBytes) : 0; }

  int64_t LaneBytes() const { return 5 * bytes_ + (bytes_ < kFloatBytes ? 2 * kFloatBytes : 0); }

  int64_t MostSlabLanes() const {
    if (ColumnsInRegisters()) {
      return TileLanesDown((usable_ - 2 * kBehindRows) / (5 * bytes_));
    }
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
  int64_t UnitsPerTile(int64_t most, int64_t unitBytes, const Tiles& wanted = kTiles) const {
    const int64_t perCore = CeilDiv(plan_.units, plan_.cores);
    const int64_t byCopies = perCore / std::max<int64_t>(1, CeilDiv(wanted.copyBytes, unitBytes));
    const int64_t tiles = std::max(CeilDiv(perCore, most), std::min(wanted.count, byCopies));
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
    if (soc_.wholeBlocksOnly && view_.reduce % blockLanes_ != 0) {
      most = std::min(most, kPaddedRows);
    }
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

  // Slabs of the smallest tile of ReduceShort: streams of whole slabs, of whole blocks, and of at least
  // 16 elements.
  int64_t ShortTileRows() const {
    int64_t rows = BlockRows();
    while (rows * Slab() < LeastStream()) {
      rows *= 2;
    }
    return kStreams * rows;
  }

  int64_t LeastStream() const { return soc_.wholeBlocksOnly ? kRowReduceLeastStream : kStreams; }

  // Whether a slab has no rows of whole blocks, nor one row that is better copied by itself.
  bool IsShort() const {
    if (view_.reduce == 1) {
      return false;
    }
    if (view_.inner == 1) {
      const int64_t block = soc_.wholeBlocksOnly ? blockLanes_ : kBlockBytes / kFloatBytes;
      return view_.reduce % block != 0 && view_.reduce <= kMaxShortRow;
    }
    return view_.inner % blockLanes_ != 0;
  }

  // Slabs by which tiles of streams grow; 0 where there are none, or UB holds none. Where slabs that are whole
  // blocks together do not fit, streams are padded: each is a piece of GM, which is worth it from a line on.
  int64_t StreamStep() const {
    if (masked_ || view_.reduce == 1) {
      return 0;
    }
    if (IsShort() && (soc_.wholeBlocksOnly || view_.inner > 1 || RowsOfCore() > kFewRows) &&
        MostStreams(ShortTileRows()) > 0) {
      return ShortTileRows();
    }
    const int64_t most = MostStreams(kStreams);
    if (soc_.wholeBlocksOnly) {  // the order of additions is not that of padded rows there
      const bool odd = view_.inner == 1 && view_.reduce % blockLanes_ != 0;
      return odd && most >= 2 * kStreams ? kStreams : 0;
    }
    if (view_.inner == 1) {
      const bool odd = view_.reduce % (kBlockBytes / kFloatBytes) != 0;
      // Few rows of a core do not fill the streams; the sums are the same.
      const bool many = RowsOfCore() >= kTiles.count * kStreams;
      return odd && many && bytes_ < kFloatBytes && most >= 2 * kStreams ? kStreams : 0;
    }
    const bool line = most * Slab() * bytes_ >= kStreams * kLineBytes;
    return view_.inner % blockLanes_ != 0 && line ? kStreams : 0;
  }

  int64_t RowsOfCore() const { return CeilDiv(view_.outer, CoresFor(view_.outer)); }

  // Elements of 16 streams of so many slabs: where these are no whole blocks, an odd number of blocks.
  int64_t StreamLanes(int64_t slabs) const {
    const int64_t count = slabs / kStreams * Slab();
    const int64_t least = LeastStream();
    const bool whole = count % blockLanes_ == 0 && count >= least;
    int64_t length = std::max(least, AlignUp(count, blockLanes_));
    length += whole || length / blockLanes_ % 2 == 1 ? 0 : blockLanes_;
    return kStreams * (soc_.wholeBlocksOnly ? AlignUp(length, least) : length);
  }

  // The most slabs of a tile of streams, in steps. A repeat of TransDataTo5HD moves a block of each stream.
  int64_t MostStreams(int64_t step) const {
    const int64_t perLane = 6 * bytes_ + 2 * kFloatBytes;
    int64_t most = AlignDown(usable_ / perLane / Slab(), step);
    while (most > 0 && !(Holds(ShortBudget(ApartUp(StreamLanes(most)))) &&
                         StreamLanes(most) / kStreams / blockLanes_ <= kMaxRepeats)) {
      most -= step;
    }
    return most;
  }

  // Elements of one a of [A, R, B]; B == 1: of a row.
  int64_t Slab() const { return view_.reduce * view_.inner; }

  // Slabs that take whole blocks together.
  int64_t BlockRows() const { return blockLanes_ / std::gcd(Slab(), blockLanes_); }

  // Of a tile of packed rows, which may begin and end within a block, and keeps the first results once
  // more behind them.
  int64_t PackedLanes(int64_t rows) const {
    return TileLanesUp(rows * view_.reduce + 3 * blockLanes_);
  }

  // Whether rows that fit are better packed. 16-bit ones take GM half the time, and of the vector pipe more
  // than padded ones, but where they are short or long.
  bool PacksWhole() const {
    const bool narrow = bytes_ < kFloatBytes;
    return Packs() && view_.reduce % (kBlockBytes / kFloatBytes) != 0 &&
           (!narrow || view_.reduce <= (masked_ ? 2 * kMaxShortRow : kMaxShortRow) ||
            view_.reduce >= kMinLongRow);
  }

  // The most rows that a tile of packed rows holds, if possible such that tiles start on blocks.
  int64_t MostPackedRows() const {
    if (!PacksWhole()) {
      return 0;
    }
    int64_t most = std::min(usable_ / (view_.reduce * LaneBytes()), kMaxRowsPerTile);
    while (most > 0 && !Holds(PackedBudget(most))) {
      --most;
    }
    return most >= 2 * BlockRows() ? AlignDown(most, BlockRows()) : most;
  }

  // Few tiles do not hide that packed ones take longer to compute. The sums are the same.
  bool PacksTiles() {
    if (MostPackedRows() == 0) {
      return false;
    }
    PackedRows();
    return CeilDiv(plan_.units, plan_.cores) >= kTiles.count * plan_.tileUnits;
  }

  void PackedRows() {
    const int64_t most = MostPackedRows();
    Split(view_.outer);
    const int64_t units = UnitsPerTile(most, view_.reduce * bytes_);
    plan_.tileUnits = most < BlockRows() ? units : std::min(most, AlignUp(units, BlockRows()));
    plan_.tileLanes = PackedLanes(plan_.tileUnits);
  }

  int64_t InterleavedLanes(int64_t groups) const {
    return TileLanesUp(groups * kStreams * Positions());
  }

  // Of a lane of interleaved rows, which begin on multiples of what their length shares with a block.
  int64_t Positions() const {
    return AlignUp(view_.reduce + kStreams - std::gcd(view_.reduce, kStreams), kStreams);
  }

  int64_t MostGroups() const {
    int64_t most = usable_ / (InterleavedLanes(1) * bytes_);
    while (most > 0 && !Holds(InterleavedBudget(most))) {
      --most;
    }
    return most;
  }

  // Rows of a group, at most, whose blocks at one position are in one bank group of UB: the transposition takes them
  // one after another.
  int64_t Crowd() const {
    std::array<int64_t, 16> rows{};
    for (int64_t i = 0; i < kStreams; ++i) {
      ++rows[static_cast<size_t>(i * view_.reduce / kStreams % 16)];
    }
    return *std::max_element(rows.begin(), rows.end());
  }

  // Positions that a lane of interleaved rows may have at most, in hundredths of its row, to take less time than the
  // path that would take the row else.
  int64_t MostPositions() const {
    const int64_t crowd = Crowd();
    if (masked_ && view_.reduce <= 2 * kMaxShortRow) {  // packed: even ones take half as long there
      return crowd <= 2 || (crowd <= 4 && view_.reduce % 2 == 1) ? 140 : 0;
    }
    if (crowd > 4 || view_.reduce < kMinInterleaved) {
      return 0;
    }
    return masked_ || crowd <= 2 ? 115 : 108;
  }

  // 16-bit rows that are no whole blocks. Few tiles do not hide that they take longer to compute.
  bool Interleaves() const {
    const bool odd = view_.inner == 1 && view_.reduce % (kBlockBytes / kFloatBytes) != 0;
    if (bytes_ == kFloatBytes || !packs_ || !odd || soc_.ubBytes > kUbWhereStartsMatter ||
        view_.reduce < kMinInterleavedMasked ||
        100 * Positions() > MostPositions() * view_.reduce || MostGroups() == 0) {
      return false;
    }
    const int64_t groups = CeilDiv(view_.outer, kStreams);
    return CeilDiv(groups, CoresFor(groups)) >= kTiles.count * MostGroups();
  }

  void InterleavedRows() {
    Split(CeilDiv(view_.outer, kStreams));
    plan_.tileUnits = UnitsPerTile(MostGroups(), kStreams * view_.reduce * bytes_);
    plan_.tileLanes = InterleavedLanes(plan_.tileUnits);
  }

  void ShortRows() {
    const int64_t step = StreamStep();
    const int64_t most = MostStreams(step);
    Split(view_.outer);
    plan_.tileUnits = std::min(most, AlignUp(UnitsPerTile(most, Slab() * bytes_), step));
    plan_.tileLanes = ApartUp(StreamLanes(plan_.tileUnits));
  }

  // Of slabs of folded columns.
  UbBudget FoldedBudget(int64_t units) const {
    UbBudget budget = TileBudget(TileLanesUp(units * Slab()));
    AddFolded(units, &budget);
    return budget;
  }

  void FoldedSlabs() {
    int64_t most = std::max<int64_t>(1, usable_ / (Slab() * LaneBytes()));
    while (most > 1 && !Holds(FoldedBudget(most))) {
      --most;
    }
    plan_.colTile = view_.inner;
    Split(view_.outer);
    plan_.tileUnits = UnitsPerTile(most, Slab() * bytes_);
    plan_.tileLanes = TileLanesUp(plan_.tileUnits * Slab());
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

void FoldColumns(RowReduceCase* wanted) {
  const ReduceView& view = wanted->view;
  const int64_t block = 32 / wanted->elementBytes;
  const int64_t period = std::lcm(view.inner, block);
  if (wanted->soc.wholeBlocksOnly || view.inner % block == 0 || period > kRowReduceFoldedLanes ||
      WholePlanner(*wanted).TakesStreams()) {
    return;
  }
  const int64_t slab = view.reduce * view.inner;
  const int64_t periods = (slab + period - 1) / period;
  // As many periods as possible that leave little of the last row without data: of whole repeats, if there are such.
  const int64_t most = std::min(periods, kRowReduceFoldedLanes / period);
  const auto rowsOf = [periods](int64_t count) { return (periods + count - 1) / count; };
  const auto wastes = [&](int64_t count) {
    return (rowsOf(count) * count - periods) * kFoldedWaste > periods;
  };
  const int64_t step = std::lcm(period, kLanesPerRepeat) / period;
  int64_t inRow = most / step * step;
  while (inRow * period >= kFoldedRepeats * kLanesPerRepeat && wastes(inRow)) {
    inRow -= step;
  }
  if (inRow * period < kFoldedRepeats * kLanesPerRepeat) {
    inRow = most;
    while (wastes(inRow)) {
      --inRow;
    }
  }
  wanted->columns = view.inner;
  wanted->view.reduce = rowsOf(inRow);
  wanted->view.inner = inRow * period;
  wanted->missing = wanted->view.reduce * wanted->view.inner - slab;
}

bool FitsWhole(const RowReduceCase& wanted) { return WholePlanner(wanted).Fits(); }

std::string PlanWhole(const RowReduceCase& wanted, RowReducePlan* plan) {
  return WholePlanner(wanted).Make(plan);
}

}  // namespace optiling
