// SPDX-License-Identifier: Apache-2.0
// Where the matrices of a batch lie in GM: by the layout of a MatmulType, and by the axes that the tiling has of it.
#pragma once

#include <algorithm>

#include "ascendc/matmul_config.h"
#include "ascendc/matmul_memory.h"
#include "ascendc/matmul_misuse.h"

namespace AscendC::detail::mm {

// A part of a tile.
struct Window {
  uint32_t row = 0, column = 0, rows = 0, columns = 0;
};

// IterateBatch is asked for this.
struct Batch {
  uint32_t a = 0, b = 0;  // matrices of A and of B; the fewer ones are used several times
  uint32_t loop = 0;      // the call's number in IterateNBatch
  uint32_t strideA = 0, strideB = 0;  // elements from matrix to matrix; 0: as the layout says
  bool isPart = false;                // C lies row by row as the part alone, on its way to UB
  uint32_t Products() const { return std::max(a, b); }
};

// The axes of a layout. A matrix has `rows` x `columns` elements: S x D, or S1 x S2.
struct Axes {
  uint32_t b = 1, rows = 0, n = 1, g = 1, columns = 0;
};

// The first element of a matrix, and how far apart its rows are.
struct Place {
  uint64_t offset = 0;
  uint32_t pitch = 0;  // 0: as matrices without a layout have it
};

constexpr Place PlaceOf(LayoutMode layout, const Axes& axes, uint32_t matrix) {
  const uint32_t inRow = axes.n * axes.g;
  switch (layout) {
    case LayoutMode::BSNGD:
      return {(uint64_t{matrix / inRow} * axes.rows * inRow + matrix % inRow) * axes.columns,
              inRow * axes.columns};
    case LayoutMode::SBNGD:
      return {uint64_t{matrix} * axes.columns, axes.b * inRow * axes.columns};
    default:  // one matrix behind the other
      return {uint64_t{matrix} * axes.rows * axes.columns, axes.columns};
  }
}

inline Axes AxesOf(const char* setter, int32_t b, int32_t rows, int32_t n, int32_t g,
                   int32_t columns) {
  if (std::min({b, rows, n, g, columns}) < 1) {
    Misuse("IterateBatch", "The tiling function calls it for A, B and C.",
           "the tiling has no layout by %s: its axes are %d, %d, %d, %d and %d", setter, b, rows, n,
           g, columns);
  }
  return {Word(b), Word(rows), Word(n), Word(g), Word(columns)};
}
inline Axes Plain(uint32_t rows, uint32_t columns) {
  Axes axes;
  axes.rows = rows, axes.columns = columns;
  return axes;
}
// The rows and columns that lie in memory: NZ has whole fractals, rows of ND_ALIGN are whole blocks of 32 bytes.
template <typename Type>
Axes Whole(Axes axes) {
  constexpr uint32_t kBlock = kC0<typename Type::T>;
  axes.rows = UpTo(axes.rows, Type::format == CubeFormat::NZ ? kRows : 1);
  axes.columns = UpTo(axes.columns, Type::format == CubeFormat::ND ? 1 : kBlock);
  return axes;
}
inline Place PlaceIn(LayoutMode layout, const Axes& axes, uint32_t matrix, uint32_t stride) {
  Place place = PlaceOf(layout, axes, matrix);
  if (stride != 0) {
    place.offset = uint64_t{matrix} * stride;
  }
  return place;
}
inline void CheckFitsAxes(const char* name, const Axes& axes, uint32_t rows, uint32_t columns) {
  if (rows > axes.rows || columns > axes.columns) {
    Misuse("IterateBatch", "Let the layout in the tiling be that of the tensor.",
           "a matrix of %s is %u x %u by its layout, and the part of it is %u x %u", name,
           axes.rows, axes.columns, rows, columns);
  }
}

// A tile of C, by its number.
struct Tile {
  uint32_t row = 0, column = 0, rows = 0, columns = 0;
};
constexpr uint32_t TilesIn(uint32_t extent, uint32_t base) { return (extent + base - 1) / base; }
constexpr Tile TileAt(uint32_t number, uint32_t m, uint32_t n, uint32_t baseM, uint32_t baseN,
                      bool alongM) {
  const uint32_t inM = TilesIn(m, baseM), inN = TilesIn(n, baseN);
  Tile tile;
  tile.row = (alongM ? number % inM : number / inN) * baseM;
  tile.column = (alongM ? number / inM : number % inN) * baseN;
  tile.rows = std::min(baseM, m - tile.row);
  tile.columns = std::min(baseN, n - tile.column);
  return tile;
}

}  // namespace AscendC::detail::mm
