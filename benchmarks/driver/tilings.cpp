// SPDX-License-Identifier: Apache-2.0
// Prints all tilings that search.py may try for a call on standard input, a line each. The first one is the host's own. The
// others have the host's buffers and its rules of what lies where, but any layout, tile, number of cores, width of columns,
// number of chunk buffers and number of parts that UB holds. A line is the place of a tiling in the search (search.py moves
// along one of these numbers at a time), then tiling key, cores, bytes of workspace, and the fields of the tiling data.
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/full_load_tiling.cpp"  // for its class, which is in no header
#include "common/row_reduce_tiling.cpp"
#include "common/shared_axis.cpp"

namespace optiling {
namespace {

// A place is the layout, and up to four numbers.
using Place = std::vector<int64_t>;

void Print(const Place& place, const RowReducePlan& plan) {
  for (size_t i = 0; i < 5; ++i) {
    std::printf("%ld ", i < place.size() ? place[i] : 0);
  }
  std::printf("%lu %ld %lu", plan.key, plan.cores, plan.workspaceBytes);
#define PRINT_FIELD(name) std::printf(" %ld", plan.data.name);
  ROW_REDUCE_TILING_FIELDS(PRINT_FIELD)
#undef PRINT_FIELD
  std::printf("\n");
}

// Around returns `chosen`, its neighbours, powers of two, and what cuts `total` into few pieces; all are multiples of
// `multiple` up to `most`.
std::set<int64_t> Around(int64_t chosen, int64_t total, int64_t most, int64_t multiple) {
  std::set<int64_t> found;
  const auto add = [&](int64_t value) {
    found.insert(
        std::clamp(AlignUp(value, multiple), multiple, Max(multiple, AlignDown(most, multiple))));
  };
  for (const int64_t step : {-8, -4, -2, -1, 0, 1, 2, 4, 8}) {
    add(chosen + step * multiple);
  }
  for (const int64_t pieces : {1, 2, 3, 4, 5, 6, 8, 12, 16, 32}) {
    add(CeilDiv(total, pieces));
    add(CeilDiv(most, pieces));
  }
  for (int64_t power = 1; power <= most; power *= 2) {
    add(power);
  }
  return found;
}

// Parts of the number of cores that there are, all of them where they are few.
std::set<int64_t> Cores(int64_t chosen, int64_t units, const SocFacts& soc) {
  std::set<int64_t> found;
  const auto add = [&](int64_t cores) {
    found.insert(std::clamp<int64_t>(cores, 1, Min(units, soc.cores)));
  };
  for (const int64_t eighths : {1, 2, 3, 4, 5, 6, 7, 8}) {
    add(soc.cores * eighths / 8);
  }
  for (const int64_t step : {-2, -1, 0, 1, 2}) {
    add(chosen + step);
  }
  return found;
}

class FullLoadTilings : private FullLoadPlanner {
 public:
  FullLoadTilings(const RowReduceCase& wanted, const RowReducePlan& chosen, RowReducePlan* plan)
      : FullLoadPlanner(wanted, plan), chosen_(chosen) {}

  void PrintAll() {
    const bool rows = view_.inner == 1;
    if (rows && soc_.registers && !masked_) {
      Tiles(
          ROW_REDUCE_REGISTERS, view_.outer, kMaxRegisterRows, 1,
          [this](int64_t n) { return RegisterLanes(n); },
          [this](int64_t n, int64_t lanes) { return BudgetOf(RegistersUbOf(Tile(n, lanes))); });
    }
    if (!masked_ && view_.reduce > 1 && !IsSideBySide()) {
      Tiles(
          ROW_REDUCE_TRANSPOSED, view_.outer, MostSlabs(kStreams), kStreams,
          [this](int64_t n) { return PadForBanks(StreamLanes(n)); },
          [this](int64_t, int64_t lanes) { return TransposedBudget(lanes); });
    }
    if (!rows || (view_.reduce == 1 && !masked_)) {
      PrintColumns();
    }
    if (rows && packs_ && IsMod64()) {
      Tiles(
          ROW_REDUCE_PACKED, view_.outer, kMaxRows, 1, [this](int64_t n) { return PackedLanes(n); },
          [this](int64_t n, int64_t lanes) { return RowsBudget(n, lanes, true); });
    }
    if (rows && view_.reduce > 1) {
      Tiles(
          ROW_REDUCE_PADDED, view_.outer, kMaxRows, 1,
          [this](int64_t n) { return TileLanesUp(n * PaddedRow()); },
          [this](int64_t n, int64_t lanes) { return RowsBudget(n, lanes, false); });
    }
  }

 private:
  // Prints tiles of up to `most` units for each number of cores.
  template <typename Lanes, typename Budget>
  void Tiles(uint64_t key, int64_t units, int64_t most, int64_t multiple, const Lanes& lanesOf,
             const Budget& budgetOf) {
    while (most >= multiple && !Holds(budgetOf(most, lanesOf(most)))) {
      most -= multiple;
    }
    if (most < multiple) {
      return;
    }
    plan_.key = key;
    plan_.units = units;
    const bool same = key == chosen_.key;
    for (const int64_t cores : Cores(chosen_.cores, units, soc_)) {
      plan_.cores = cores;
      data_.coreUnits = units / cores;
      data_.extraCores = units % cores;
      const int64_t chosen = same ? chosen_.data.tileUnits : most;
      for (const int64_t tile : Around(chosen, UnitsPerCore(), most, multiple)) {
        const int64_t lanes = lanesOf(tile);
        Take(tile, lanes, budgetOf(tile, lanes));
        for (const bool bypass : {true, false}) {
          data_.inputsBypassL2 = data_.resultsBypassL2 = 0;
          if (bypass) {
            SetL2Bypass(CeilDiv(UnitsPerCore(), tile));
          }
          if (Holds(budget_)) {
            Print({static_cast<int64_t>(key) * 2 + IsSideBySide(), data_.colTile, cores, tile,
                   bypass},
                  plan_);
          }
        }
      }
    }
  }

  void PrintColumns() {
    const auto budget = [this](int64_t n, int64_t lanes) { return ColumnsBudget(n, lanes); };
    if (IsSideBySide()) {
      data_.colTile = view_.inner;
      data_.sideLanes = Period();
      data_.sideRows = CeilDiv(Slab(), Period());
      Tiles(
          ROW_REDUCE_COLUMNS, view_.outer, kMaxRows, 1,
          [this](int64_t n) { return TileLanesUp(n * SideBySideSlab()); }, budget);
      return;
    }
    const int64_t widest =
        Min(AlignDown(MostColumnLanes() / view_.reduce, blockLanes_), AlignUp(width_, blockLanes_));
    if (widest < blockLanes_) {
      return;
    }
    const int64_t chosen = Max(chosen_.data.colTile, blockLanes_);
    for (const int64_t columns : Around(chosen, width_, widest, blockLanes_)) {
      data_.colTile = Min(columns, width_);
      data_.colTiles = CeilDiv(width_, data_.colTile);
      const int64_t unit = view_.reduce * AlignUp(data_.colTile, blockLanes_);
      Tiles(
          ROW_REDUCE_COLUMNS, view_.outer * data_.colTiles, data_.colTiles == 1 ? kMaxRows : 1, 1,
          [this, unit](int64_t n) { return TileLanesUp(n * unit); }, budget);
    }
  }

  const RowReducePlan& chosen_;
};

class SharedTilings : private SharedAxisPlanner {
 public:
  SharedTilings(const RowReduceCase& wanted, const RowReducePlan& chosen, RowReducePlan* plan)
      : SharedAxisPlanner(wanted, plan), chosen_(chosen), start_(*plan) {}

  void PrintAll() {
    const int64_t whole = AlignUp(width_, blockLanes_);
    std::set<int64_t> widths{0};
    if (!ar_) {
      widths = {Min(whole, Max(chosen_.data.colTile, blockLanes_))};
      for (int64_t bytes = 64; bytes <= 2048; bytes *= 2) {
        widths.insert(Min(whole, bytes / bytes_));
      }
    }
    if (IsSideBySide()) {
      widths = {width_};
    }
    for (const int64_t width : widths) {
      for (int64_t buffers = 3; buffers <= soc_.eventIds - 1; ++buffers) {
        for (const int64_t parts : Parts()) {
          for (const int64_t more : {0, 1, 2}) {
            Try(width, buffers, parts, more);
          }
        }
      }
    }
  }

 private:
  std::set<int64_t> Parts() const {
    if (!canWait_) {
      return {1};
    }
    std::set<int64_t> found;
    // SCALAR has room for the sums of kMostParts parts of a row.
    const int64_t most = ar_ ? kMostParts : Max(kMostParts, soc_.cores);
    for (int64_t parts = 1; parts <= most; parts += parts < 32 ? 1 : 4) {
      found.insert(parts);
    }
    found.insert({kMostParts, Min(most, soc_.cores), soc_.cores / 2});
    return found;
  }

  // Each part has `more` chunks more than it needs.
  void Try(int64_t width, int64_t buffers, int64_t parts, int64_t more) {
    plan_ = start_;
    plan_.key = ar_ ? ROW_REDUCE_SHARED_ROWS : ROW_REDUCE_SHARED_COLUMNS;
    Share(width, buffers);
    const int64_t most = MostPerChunk(parts);
    if (most == 0 || parts > axis_) {
      return;
    }
    const int64_t least = ar_ ? blockLanes_ : CeilDiv(blockLanes_, data_.colTile);
    const int64_t part = CeilDiv(axis_, parts);
    data_.partChunks = CeilDiv(part, most) + more;
    const int64_t even = AlignUp(CeilDiv(part, data_.partChunks), ChunkMultiple());
    data_.chunk = LongLast(axis_, Min(even, most), ar_ ? ChunkMultiple() : least, least);
    data_.tileLanes = TileLanesUp(data_.chunk * Pitch() + Ends());
    ShareOut();
    if (data_.pieces <= soc_.cores &&
        Holds(Budget(data_.tileLanes, SharedAxisPlanner::Parts(), data_.pieces > 1))) {
      Print({static_cast<int64_t>(plan_.key) * 2 + IsSideBySide(), width, buffers, parts, more},
            plan_);
    }
  }

  const RowReducePlan& chosen_;
  const RowReducePlan start_;
};

void PrintAll(const RowReduceCase& wanted, const RowReducePlan& chosen) {
  RowReducePlan plan;
  FullLoadTilings(wanted, chosen, &plan).PrintAll();
  if (wanted.inputs == RowInputs::kPair) {
    RowReducePlan shared;
    SharedTilings(wanted, chosen, &shared).PrintAll();
  }
}

}  // namespace
}  // namespace optiling

int main() {
  using namespace optiling;
  ReduceView view;
  SocFacts soc;
  unsigned bytes = 0;
  char kind = 0;
  int wholeBlocksOnly = 0;
  int registers = 0;
  if (std::scanf(" %c %ld %ld %ld %u %ld %lu %lu %ld %d %d", &kind, &view.outer, &view.reduce,
                 &view.inner, &bytes, &soc.cores, &soc.ubBytes, &soc.l2Bytes, &soc.eventIds,
                 &wholeBlocksOnly, &registers) != 11) {
    return 1;
  }
  soc.wholeBlocksOnly = wholeBlocksOnly != 0;
  soc.registers = registers != 0;
  const RowInputs inputs = kind == 'm' ? RowInputs::kPairAndMaskRuns : RowInputs::kPair;
  RowReducePlan chosen;
  const std::string error = MakeRowReducePlan("", view, bytes, soc, &chosen, inputs);
  if (!error.empty()) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 1;
  }
  Print({}, chosen);
  if (view.reduce == 1) {
    view = {1, 1, view.outer * view.inner};
  }
  RowReduceCase wanted{"", view, bytes, soc, inputs, {}};
  PrintAll(wanted, chosen);
  if (view.inner > 1 && view.reduce > 1) {
    wanted.side = SideBySideOf(wanted);
    if (wanted.side.rows > 0) {
      PrintAll(wanted, chosen);
    }
  }
  return 0;
}
