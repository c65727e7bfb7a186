// SPDX-License-Identifier: Apache-2.0
#include "checkers/gm_history.h"

#include <algorithm>

#include "checkers/rows.h"

namespace aclsim {

GmHistory::Pieces::Map::const_iterator GmHistory::Pieces::First(uint64_t begin) const {
  const auto next = pieces_.upper_bound(begin);
  return next != pieces_.begin() && std::prev(next)->second.first > begin ? std::prev(next) : next;
}

GmHistory::Pieces::Map::iterator GmHistory::Pieces::Split(uint64_t at) {
  auto next = pieces_.lower_bound(at);
  if (next != pieces_.begin()) {
    const auto piece = std::prev(next);
    if (piece->second.first > at) {
      next = pieces_.emplace_hint(next, at, piece->second);
      piece->second.first = at;
    }
  }
  return next;
}

template <typename Each>
void GmHistory::Pieces::ForEach(uint64_t begin, uint64_t end, const Each& each) {
  for (auto piece = Split(begin); piece != pieces_.end() && piece->first < end; ++piece) {
    each(std::max(begin, piece->first), std::min(end, piece->second.first), piece->second.second);
  }
}

template <typename Change>
void GmHistory::Pieces::ForAll(uint64_t begin, uint64_t end, const Change& change) {
  auto piece = Split(begin);
  Split(end);
  uint64_t at = begin;
  while (at < end) {
    if (piece == pieces_.end() || piece->first >= end || piece->first > at) {
      const uint64_t until = piece == pieces_.end() ? end : std::min(end, piece->first);
      Marks marks;
      change(marks);
      pieces_.emplace_hint(piece, at, std::make_pair(until, marks));
      at = until;
    } else {
      change(piece->second.second);
      at = piece->second.first;
      ++piece;
    }
  }
}

uint32_t GmHistory::Pieces::LastWrite(size_t pipe, uint64_t begin, uint64_t end) const {
  uint32_t last = 0;
  for (auto piece = First(begin); piece != Behind(end); ++piece) {
    last = std::max(last, piece->second.second.wrote[pipe]);
  }
  return last;
}

// Rows become the bytes [address, address + length) and those `step` bytes on.
void GmHistory::Pieces::MoveTo(Pieces* bytes, uint64_t address, uint64_t length,
                               uint64_t step) const {
  for (const auto& [begin, piece] : pieces_) {
    for (uint64_t row = begin; row < piece.first; ++row) {
      const uint64_t at = address + row * step;
      bytes->pieces_.emplace(at, std::make_pair(at + length, piece.second));
    }
  }
}

// False: the access has bytes of several rows, or of some columns only that were touched together.
bool GmHistory::Find(const Access& access, uint64_t tensor, Grid* grid, Rows* rows) {
  const uint64_t column = (access.addr - tensor) % grid->step;
  const uint64_t end = column + access.bytes;
  const bool one = access.repeat == 1 && !access.masked && access.chunk >= access.bytes;
  if (end > grid->step ||
      !(one || (IsRows(access) && static_cast<uint64_t>(access.repStride) == grid->step))) {
    return false;
  }
  const auto next = grid->columns.upper_bound(column);
  const auto before = next == grid->columns.begin() ? grid->columns.end() : std::prev(next);
  const bool known = before != grid->columns.end() && before->first == column;
  if (known ? before->second.end != end
            : (before != grid->columns.end() && before->second.end > column) ||
                  (next != grid->columns.end() && next->first < end)) {
    return false;
  }
  rows->columns =
      known ? &before->second : &grid->columns.emplace(column, Columns{end, {}}).first->second;
  rows->begin = (access.addr - tensor) / grid->step;
  rows->end = rows->begin + access.repeat;
  rows->address = tensor + column;
  rows->step = grid->step;
  return true;
}

GmHistory::Rows GmHistory::RowsOf(const Access& access, uint64_t tensor) {
  Rows rows;
  const bool many = IsRows(access);
  if (!many && grids_.empty()) {
    return rows;
  }
  const uint64_t end = access.addr + access.Extent();
  // By a byte that both may have, they are no longer apart.
  const bool apart = !bytes_.Any(access.addr, end);
  if (many && apart) {
    grids_.try_emplace(tensor, Grid{static_cast<uint64_t>(access.repStride), access.addr, end, {}});
  }
  for (auto at = grids_.begin(); at != grids_.end();) {
    const uint64_t start = at->first;
    Grid& grid = at->second;
    const bool touches = access.addr < grid.end && grid.begin < end;
    if (start == tensor && apart && (many || touches) && Find(access, tensor, &grid, &rows)) {
      grid.begin = std::min(grid.begin, access.addr);
      grid.end = std::max(grid.end, end);
    } else if (touches) {
      for (const auto& [column, columns] : grid.columns) {
        columns.rows.MoveTo(&bytes_, start + column, columns.end - column, grid.step);
      }
      at = grids_.erase(at);
      continue;
    }
    ++at;
  }
  return rows;
}

std::array<GmHistory::Latest, kPipes> GmHistory::Before(const Access& access, uint64_t tensor,
                                                        size_t pipe) {
  const bool writes = access.use != Use::kRead;
  std::array<Latest, kPipes> latest;
  const auto look = [&](uint64_t begin, uint64_t end, const Marks& marks) {
    for (size_t q = 0; q < kPipes; ++q) {
      const uint32_t clock = writes && q != pipe ? marks.touched[q] : marks.wrote[q];
      if (clock > latest[q].clock) {
        latest[q] = {clock, marks.wrote[q] == clock, begin, end};
      }
    }
  };
  if (const Rows rows = RowsOf(access, tensor); rows.columns != nullptr) {
    rows.columns->rows.ForEach(rows.begin, rows.end,
                               [&](uint64_t begin, uint64_t, const Marks& marks) {
                                 const uint64_t at = rows.address + begin * rows.step;
                                 look(at, at + access.bytes, marks);
                               });
    return latest;
  }
  ForEachSpan(access,
              [&](uint64_t from, uint64_t to, uint32_t) { bytes_.ForEach(from, to, look); });
  return latest;
}

void GmHistory::Touch(const Access& access, uint64_t tensor, size_t pipe, uint32_t now) {
  const auto touch = [&](Marks& marks) {
    marks.touched[pipe] = now;
    if (access.use != Use::kRead) {
      marks.wrote[pipe] = now;
    }
  };
  if (const Rows rows = RowsOf(access, tensor); rows.columns != nullptr) {
    rows.columns->rows.ForAll(rows.begin, rows.end, touch);
    return;
  }
  ForEachSpan(access,
              [&](uint64_t from, uint64_t to, uint32_t) { bytes_.ForAll(from, to, touch); });
}

uint32_t GmHistory::LastWrite(size_t pipe, uint64_t begin, uint64_t end) const {
  uint32_t last = bytes_.LastWrite(pipe, begin, end);
  for (const auto& [tensor, grid] : grids_) {
    for (uint64_t at = std::max(begin, grid.begin); at < std::min(end, grid.end);) {
      const uint64_t row = (at - tensor) / grid.step;
      const uint64_t start = tensor + row * grid.step;
      const uint64_t until = std::min(end, start + grid.step);
      for (const auto& [column, columns] : grid.columns) {
        if (start + column < until && at < start + columns.end) {
          last = std::max(last, columns.rows.LastWrite(pipe, row, row + 1));
        }
      }
      at = until;
    }
  }
  return last;
}

}  // namespace aclsim
