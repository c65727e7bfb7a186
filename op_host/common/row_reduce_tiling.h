// SPDX-License-Identifier: Apache-2.0
// MakeRowReducePlan is the tiling of the row reductions (op_kernel/common/row_reduce.h): a pure
// function of view, dtype and SoC. Layout, chunk and all else that the order of additions depends
// on follow from R, B and the dtype; only the split into units looks at the number of cores.
// RowReducePlanner is the base of its two plans: full load, and shared axes.
#ifndef OP_HOST_COMMON_ROW_REDUCE_TILING_H_
#define OP_HOST_COMMON_ROW_REDUCE_TILING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/row_reduce_data.h"
#include "common/soc_facts.h"

namespace optiling {

// ReduceView is a contiguous tensor [A, R, B] seen from its reduction axis R. It is AR where B is
// 1, else ARA.
struct ReduceView {
  int64_t outer = 0;
  int64_t reduce = 0;
  int64_t inner = 0;
};

// LayoutChoice is a row of the table by which the tiling chooses (full_load_tiling.cpp,
// shared_axis.cpp).
struct LayoutChoice {
  const char* layout;
  bool taken;
  const char* why;  // when it is taken
};

struct RowReducePlan {
  uint64_t key = 0;  // ROW_REDUCE_...
  RowReduceTilingData data{};
  int64_t units = 0;
  int64_t cores = 0;
  uint64_t workspaceBytes = 0;
  uint64_t ubBytes = 0;
  std::vector<LayoutChoice> choices;  // in the order in which they were asked, the taken one last
};

// RowInputs is what a tile reads: y and g, and for masks a byte of each element besides. With
// kPairAndMaskRuns, kMaskRun or more mask rows follow each other. Masks go with the layouts Padded
// and Packed.
enum class RowInputs { kPair, kPairAndMask, kPairAndMaskRuns };

// Both return an empty string, or what is wrong and what would be right.
std::string MakeReduceView(const std::vector<int64_t>& dims, int64_t axis, ReduceView* view);
std::string MakeRowReducePlan(const char* op, const ReduceView& view, uint32_t elementBytes,
                              const SocFacts& soc, RowReducePlan* plan,
                              RowInputs inputs = RowInputs::kPair);

// Columns that lie side by side form rows of `lanes` lanes (op_kernel/common/layout_columns.h).
// `rows` is 0 where none do.
struct SideBySide {
  int64_t rows = 0;
  int64_t lanes = 0;
};

struct RowReduceCase {
  const char* op;
  ReduceView view;
  int64_t elementBytes;
  const SocFacts& soc;
  RowInputs inputs;
  SideBySide side;
};

// IsTransposed says whether the layout Transposed takes slabs.
bool IsTransposed(const RowReduceCase& wanted);

// PlanFullLoad (full_load_tiling.cpp) leaves `plan->key` at 0 where no tile holds the axis. PlanSharedAxis (shared_axis.cpp)
// plans those. Both return an empty string, or what is wrong and what would be right.
std::string PlanFullLoad(const RowReduceCase& wanted, RowReducePlan* plan);
std::string PlanSharedAxis(const RowReduceCase& wanted, RowReducePlan* plan);

class RowReducePlanner {
 protected:
  static constexpr int64_t kBankGroupLanes = 128;  // fp32 lanes over all 16 bank groups of UB

  RowReducePlanner(const RowReduceCase& wanted, RowReducePlan* plan);

  // TileLanesUp and TileLanesDown round the room of an operand. PadForBanks makes it 64 lanes modulo
  // 128: the blocks of y and f of fp32 that one instruction reads are in different bank groups of UB
  // then, which halves its time. 16-bit operands have whole repeats, clear of the banks that Cast
  // writes.
  int64_t TileLanesUp(int64_t lanes) const;
  int64_t TileLanesDown(int64_t lanes) const;
  static int64_t PadForBanks(int64_t lanes) {
    return AlignUp(lanes + kRepeatLanes, kBankGroupLanes) - kRepeatLanes;
  }

  rowreduce::TileShape Tile(int64_t units, int64_t lanes) const {
    return {view_.reduce, units, lanes, bytes_, soc_.wholeBlocksOnly};
  }

  bool IsSideBySide() const { return side_.rows > 0; }

  // Rows of no multiple of 8 are added up in the order "mod64", and may be packed.
  bool IsMod64() const { return view_.reduce % (kBlockBytes / kFloatBytes) != 0; }

  int64_t CoresFor(int64_t units) const;
  // Split spreads units over cores, which then differ by at most one unit.
  void Split(int64_t units);
  // SplitColumns gives a unit at most `most` columns, and fewer where there would be fewer units than cores, down to
  // kSplitColumnBytes.
  void SplitColumns(int64_t most);
  // 310P and 910 store nothing shorter than a block. LongLast is the longest length, at most `most` and if possible a
  // multiple of `multiple`, that cuts `total` such that `least` elements are left for the last cut.
  int64_t LongLast(int64_t total, int64_t most, int64_t multiple, int64_t least) const;
  // SetL2Bypass says how many tiles of a core bypass L2. It is for plans in which every byte moves
  // once.
  void SetL2Bypass(int64_t tilesPerCore);

  UbBudget WithSideBySide(UbBudget budget, int64_t slabs) const;
  bool Holds(const UbBudget& budget) const {
    return budget.Total() <= static_cast<uint64_t>(usable_);
  }
  // Finish notes the budget, and returns an error with the table of `shown` where UB does not hold it.
  std::string Finish(const UbBudget& budget, const UbBudget& shown, const std::string& hint);

  const char* op_;
  const ReduceView view_;
  const SideBySide side_;
  const int64_t bytes_;
  const SocFacts& soc_;
  const bool masked_;
  const bool packs_;          // rows may be packed
  const bool canWait_;        // cores can wait for each other
  const int64_t usable_;      // bytes of UB
  const int64_t blockLanes_;  // elements of a block
  const int64_t axis_;        // rows of a slab in UB, or elements of a row
  const int64_t width_;       // lanes of such a row of columns
  RowReducePlan& plan_;
  RowReduceTilingData& data_;
};

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_TILING_H_
