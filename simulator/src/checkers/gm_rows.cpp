// SPDX-License-Identifier: Apache-2.0
#include "checkers/gm_rows.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace aclsim {

namespace {

using Accesses = std::span<const GmAccess* const>;

uint64_t EndOf(const GmAccess& access) { return access.end + access.LastRow(); }

// Bytes as a part of a matrix.
struct Tile {
  uint64_t column, row, endColumn, endRow;
  uint32_t core;
  auto Key() const { return std::tie(column, row, endColumn, endRow, core); }
};

// The tiles of accesses in a matrix with rows of `step` bytes.
std::vector<Tile> TilesOf(Accesses accesses, uint64_t step) {
  const uint64_t base = accesses.front()->begin;
  std::vector<Tile> tiles;
  // Adds `rows` rows: [begin, end) is of the first, which may go on in the rows behind.
  const auto add = [&](uint64_t begin, uint64_t end, uint32_t rows, uint32_t core) {
    const uint64_t row = begin / step, last = (end - 1) / step;
    const uint64_t from = begin % step, to = (end - 1) % step + 1;
    if (row == last) {
      tiles.push_back({from, row, to, row + rows, core});
      return;
    }
    tiles.push_back({from, row, step, row + rows, core});
    if (last > row + 1) {
      tiles.push_back({0, row + 1, step, last, core});
    }
    tiles.push_back({0, last, to, last + rows, core});
  };
  for (const GmAccess* access : accesses) {
    add(access->begin - base, access->end - base, access->rows, access->core);
  }
  std::ranges::sort(tiles, [](const Tile& a, const Tile& b) { return a.Key() < b.Key(); });
  return tiles;
}

// Returns whether no two tiles overlap; the same one of the same core counts once. May say no where only one core's do.
bool Apart(const std::vector<Tile>& tiles) {
  // From left to right, those that reach there, by their rows; what has ended goes when another one takes its place.
  std::map<uint64_t, const Tile*> open;
  for (const Tile& tile : tiles) {
    auto at = open.upper_bound(tile.row);
    if (at != open.begin() && std::prev(at)->second->endRow > tile.row) {
      --at;
    }
    bool again = false;
    while (!again && at != open.end() && at->first < tile.endRow) {
      if (at->second->endColumn > tile.column) {
        if (at->second->Key() != tile.Key()) {
          return false;
        }
        again = true;
      } else {
        at = open.erase(at);
      }
    }
    if (!again) {
      open.emplace(tile.row, &tile);
    }
  }
  return true;
}

// Accesses between which there are no bytes that none of them spans. Whether cores stay clear of each other.
bool Harmless(Accesses accesses) {
  const auto rows =
      std::ranges::find_if(accesses, [](const GmAccess* access) { return access->rows > 1; });
  const auto other = [&](const GmAccess* access) {
    // Scalar accesses of other bytes matter too, in the same cache line.
    return access->pipe == Pipe::kScalar ||
           (access->rows > 1 && access->rowStep != (*rows)->rowStep);
  };
  return rows != accesses.end() && std::ranges::none_of(accesses, other) &&
         Apart(TilesOf(accesses, (*rows)->rowStep));
}

// Row by row, as if copies of many rows had been many copies.
void Split(Accesses accesses, std::deque<GmAccess>* rows) {
  std::vector<const GmAccess*> inOrder(accesses.begin(), accesses.end());
  std::ranges::sort(inOrder, [](const GmAccess* a, const GmAccess* b) {
    return a->core != b->core ? a->core < b->core : a < b;
  });
  std::vector<GmAccess> run;
  for (size_t i = 0; i < inOrder.size(); ++i) {
    run.push_back(*inOrder[i]);
    if (i + 1 == inOrder.size() || inOrder[i + 1] != inOrder[i] + 1) {
      const std::vector<GmAccess> more = RowsOf(run);
      rows->insert(rows->end(), more.begin(), more.end());
      run.clear();
    }
  }
}

}  // namespace

std::vector<const GmAccess*> Suspects(const std::vector<GmUse*>& cores,
                                      std::deque<GmAccess>* rows) {
  std::vector<const GmAccess*> all;
  bool any = false;
  for (const GmUse* core : cores) {
    for (size_t i = 0; core != nullptr && i < core->accesses.size(); ++i) {
      all.push_back(&core->accesses[i]);
      any = any || all.back()->rows > 1;
    }
  }
  if (!any) {
    return all;
  }
  std::ranges::sort(all, {}, [](const GmAccess* access) { return access->begin; });
  std::vector<const GmAccess*> suspects;
  for (auto first = all.begin(); first != all.end();) {
    auto last = first;
    uint64_t end = (*first)->begin;
    bool many = false;
    for (; last != all.end() && (*last)->begin <= end; ++last) {
      end = std::max(end, EndOf(**last));
      many = many || (*last)->rows > 1;
    }
    const Accesses together(first, last);
    if (!many) {
      suspects.insert(suspects.end(), first, last);
    } else if (!Harmless(together)) {
      const size_t before = rows->size();
      Split(together, rows);
      for (size_t i = before; i < rows->size(); ++i) {
        suspects.push_back(&(*rows)[i]);
      }
    }
    first = last;
  }
  return suspects;
}

}  // namespace aclsim
