// SPDX-License-Identifier: Apache-2.0
// What the plans of whole axes (row_reduce_whole.cpp) and of chunks (row_reduce_chunks.cpp) share.
#ifndef OP_HOST_COMMON_ROW_REDUCE_PLANNER_H_
#define OP_HOST_COMMON_ROW_REDUCE_PLANNER_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/row_reduce_tiling.h"
#include "common/ub_budget.h"

namespace optiling {

struct RowReduceCase {
  const char* op;
  ReduceView view;
  int64_t elementBytes;
  const SocFacts& soc;
  bool masked;
  bool packs;  // rows may be packed
  // Of folded columns (FoldColumns), whose view is that of their rows.
  int64_t columns = 0;
  int64_t missing = 0;
};

// Columns that are no whole blocks as rows of several of them, unless a tile holds slabs of them as streams.
void FoldColumns(RowReduceCase* wanted);

// Whether a tile holds the axis, of columns that are worth a copy.
bool FitsWhole(const RowReduceCase& wanted);

// Both return an empty string, or what is wrong and what would be right.
std::string PlanWhole(const RowReduceCase& wanted, RowReducePlan* plan);
std::string PlanChunks(const RowReduceCase& wanted, RowReducePlan* plan);

class RowReducePlanner {
 protected:
  static constexpr int64_t kFloatBytes = 4;
  static constexpr int64_t kBlockBytes = 32;
  static constexpr int64_t kRepeatLanes = 64;
  static constexpr int64_t kBankGroupLanes = 2 * kRepeatLanes;  // over all 16 bank groups of UB
  // Lanes that the fp32 work of a 16-bit tile leaves free.
  static constexpr int64_t kWorkApart = kBankGroupLanes;
  static constexpr int64_t kLineBytes = 512;      // GM moves in lines
  static constexpr int64_t kHalfLineBytes = 256;  // copies that start elsewhere are slower
  static constexpr int64_t kMinColumnBytes = 64;  // narrower ones waste most of each GM request

  explicit RowReducePlanner(const RowReduceCase& wanted)
      : op_(wanted.op),
        view_(wanted.view),
        bytes_(wanted.elementBytes),
        soc_(wanted.soc),
        masked_(wanted.masked),
        packs_(wanted.packs && !wanted.soc.wholeBlocksOnly),
        shareable_(!wanted.soc.wholeBlocksOnly),
        usable_(static_cast<int64_t>(UsableUb(wanted.soc.ubBytes))),
        blockLanes_(kBlockBytes / wanted.elementBytes) {
    plan_.outer = view_.outer;
    plan_.reduce = view_.reduce;
    plan_.inner = view_.inner;
    plan_.columns = wanted.columns;
    plan_.missing = wanted.missing;
  }

  static int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
  static int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }
  static int64_t AlignDown(int64_t a, int64_t b) { return a / b * b; }

  // y and f lie this many fp32 lanes apart. 64 modulo 128 puts blocks of the two that one instruction
  // reads together into different UB bank groups (16 groups of 32 B), which halves its time.
  static int64_t ApartUp(int64_t lanes) {
    return AlignUp(lanes + kRepeatLanes, 2 * kRepeatLanes) - kRepeatLanes;
  }

  // Lanes of a tile, see ApartUp. 16-bit tiles lie whole repeats apart in their buffers, clear of the
  // banks that Cast writes, and their fp32 lanes kWorkApart / 2 further apart.
  int64_t TileLanesUp(int64_t lanes) const;
  int64_t TileLanesDown(int64_t lanes) const;

  void AddWork(int64_t lanes, UbBudget* budget) const;

  // Whether rows are no whole blocks and may be packed.
  bool Packs() const { return packs_ && view_.inner == 1 && view_.reduce % blockLanes_ != 0; }

  // Lanes of the circle on which `length` of them are added up, in two turns or more.
  static int64_t CircleOf(int64_t length, int64_t most) {
    int64_t circle = kRepeatLanes;
    while (circle < most && 4 * circle <= length) {
      circle *= 2;
    }
    return circle;
  }

  bool Folded() const { return plan_.columns > 0; }

  // Columns whose rows start anywhere in a GM line: L2 moves a line more for each piece.
  bool OddColumns() const {
    return shareable_ && !soc_.registers && !Folded() && view_.inner % blockLanes_ != 0;
  }

  // Mirrors those of FoldedColumns, for so many slabs at a time.
  void AddFolded(int64_t units, UbBudget* budget) const;

  // Lanes that B and a block of fp32 divide.
  static int64_t PeriodOf(int64_t columns);

  int64_t CoresFor(int64_t units) const;
  void Split(int64_t units);

  // Columns of a unit: at most `most`, fewer when there would be fewer units than cores, but at least
  // kSplitColumnBytes.
  void SplitColumns(int64_t most);

  // Where copies move whole blocks only, nothing shorter than one can be stored. The longest part, at
  // most `part` and if possible a multiple of `unit`, that cuts `total` such that what is left over
  // at the end is at least `least` long.
  int64_t LongLastPart(int64_t total, int64_t part, int64_t unit, int64_t least) const;

  // RowReduceTilingData::pastL2, where every byte moves once.
  int32_t PastL2Of(int64_t tilesPerCore) const;

  // Hands the plan out where UB holds `budget`. Otherwise an error with the table of `shown`.
  std::string Finish(const UbBudget& budget, const UbBudget& shown, const std::string& hint,
                     RowReducePlan* plan);

  const char* op_;
  ReduceView view_;
  int64_t bytes_;
  const SocFacts& soc_;
  bool masked_;
  bool packs_;
  bool shareable_;  // cores can wait for each other
  int64_t usable_;
  int64_t blockLanes_;
  RowReducePlan plan_;
};

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_PLANNER_H_
