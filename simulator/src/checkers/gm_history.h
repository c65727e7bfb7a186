// SPDX-License-Identifier: Apache-2.0
// When each pipe of a core last touched which bytes of GM.
#pragma once

#include <array>
#include <map>
#include <utility>

#include "engine/record.h"

namespace aclsim {

class GmHistory {
 public:
  // By pipe, up to which of its instructions; 0: never.
  struct Marks {
    std::array<uint32_t, kPipes> wrote{}, touched{};
  };
  // The latest of a pipe's earlier accesses that a new one must come after, and the first range that both have.
  struct Latest {
    uint32_t clock = 0;
    bool wrote = false;
    uint64_t begin = 0, end = 0;
  };

  // An access by `pipe` to the tensor that begins at address `tensor`.
  std::array<Latest, kPipes> Before(const Access& access, uint64_t tensor, size_t pipe);
  void Touch(const Access& access, uint64_t tensor, size_t pipe, uint32_t now);
  uint32_t LastWrite(size_t pipe, uint64_t begin, uint64_t end) const;

 private:
  // Marks of ranges that do not overlap: of bytes, or of rows.
  class Pieces {
   public:
    bool Any(uint64_t begin, uint64_t end) const { return First(begin) != Behind(end); }
    // Calls each(begin, end, marks) for what there is in [begin, end).
    template <typename Each>
    void ForEach(uint64_t begin, uint64_t end, const Each& each);
    // Calls change(marks) for all of [begin, end).
    template <typename Change>
    void ForAll(uint64_t begin, uint64_t end, const Change& change);
    uint32_t LastWrite(size_t pipe, uint64_t begin, uint64_t end) const;
    void MoveTo(Pieces* bytes, uint64_t address, uint64_t length, uint64_t step) const;

   private:
    using Map = std::map<uint64_t, std::pair<uint64_t, Marks>>;  // begin -> end, marks

    Map::const_iterator First(uint64_t begin) const;
    Map::const_iterator Behind(uint64_t end) const { return pieces_.lower_bound(end); }
    Map::iterator Split(uint64_t at);

    Map pieces_;
  };

  // A tensor that is copied in tiles of columns: rows are `step` bytes, and each tile's columns have a history by row.
  struct Columns {
    uint64_t end = 0;
    Pieces rows;
  };
  struct Grid {
    uint64_t step = 0;
    uint64_t begin = 0, end = 0;          // addresses between which something was touched
    std::map<uint64_t, Columns> columns;  // by their first; they do not overlap
  };

  // Rows of the same columns of a grid; columns is null where an access is none of these.
  struct Rows {
    Columns* columns = nullptr;
    uint64_t begin = 0, end = 0;
    uint64_t address = 0;  // of row 0
    uint64_t step = 0;
  };
  Rows RowsOf(const Access& access, uint64_t tensor);
  static bool Find(const Access& access, uint64_t tensor, Grid* grid, Rows* rows);

  Pieces bytes_;
  std::map<uint64_t, Grid>
      grids_;  // by where the tensor begins; nothing is both there and in bytes_
};

}  // namespace aclsim
