// SPDX-License-Identifier: Apache-2.0
// The loop "full load": a tile holds all that its results need, so each byte of GM moves once.
//
//   MTE2 loads tile t + 1 | VECTOR works on tile t | MTE3 stores tile t - 1
//
// A Layout says what a tile is and what becomes of it:
//   Element                     what the tensors hold
//   tiles, ub                   the tiles of this core; the buffers
//   Init(pipe, loop)            makes the buffers but `in` and `out`
//   Load(loop, tile)            copies the operands of a tile to loop.AllocIn() and hands that over: loop.EnQueIn(in)
//   Compute(loop, tile, in)     puts results into loop.AllocOut(), hands them over, loop.EnQueOut(out), and gives the
//                               operands' buffer back: loop.FreeIn(in)
//   Store(out, tile)            copies the results to GM
// The queues order the pipes. Where they do not order two instructions, both are of VECTOR, and PipeBarrier<PIPE_V>
// stands between them.
#ifndef OP_KERNEL_COMMON_FULL_LOAD_H_
#define OP_KERNEL_COMMON_FULL_LOAD_H_

#include "common/gm_copy.h"
#include "common/sizes.h"

namespace common {

// CoreTiles says which units a core has (rows, slabs, column tiles or elements), and how tiles cut them.
struct CoreTiles {
  int64_t first;
  int64_t last;            // behind the last one
  int64_t tileUnits;       // most units of a tile
  int64_t alignUnits = 1;  // each tile but the first starts on a multiple of this unit number
  int64_t leastUnits = 0;  // fewest units of the last tile
};

struct Tile {
  int64_t unit;  // the first one
  uint32_t units;
};

template <typename Layout>
class FullLoad {
  using T = typename Layout::Element;

 public:
  // The order of the buffers decides which of them lie in one bank group of UB.
  __aicore__ inline FullLoad(TPipe* pipe, Layout& layout) : tiles_(layout.tiles), layout_(layout) {
    pipe->InitBuffer(outQueue_, static_cast<uint8_t>(layout.ub.out.count), layout.ub.out.bytes);
    pipe->InitBuffer(inQueue_, static_cast<uint8_t>(layout.ub.in.count), layout.ub.in.bytes);
    layout.Init(pipe, *this);
  }

  // Sets all inputs to zero, for layouts whose instructions read lanes that no copy writes.
  __aicore__ inline void ZeroInputs(uint32_t bytes) {
    for (uint32_t i = 0; i < layout_.ub.in.count; ++i) {
      LocalTensor<T> in = inQueue_.template AllocTensor<T>();
      AscendC::Duplicate(in.template ReinterpretCast<float>(), 0.0F,
                         static_cast<int32_t>(bytes / sizeof(float)));
      inQueue_.FreeTensor(in);
    }
    PipeBarrier<PIPE_V>();
  }

  // Process issues the copies of a tile before the arithmetic of the tile in front of it: SCALAR
  // cannot issue them while the queue of VECTOR is full.
  __aicore__ inline void Process() {
    if (tiles_.first >= tiles_.last) {
      return;
    }
    Tile next = Load(tiles_.first);
    for (;;) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      const Tile tile = next;
      const int64_t end = tile.unit + tile.units;
      if (end < tiles_.last) {
        next = Load(end);
      }
      layout_.Compute(*this, tile, in);
      LocalTensor<T> out = outQueue_.template DeQue<T>();
      layout_.Store(out, tile);
      outQueue_.FreeTensor(out);
      if (end >= tiles_.last) {
        return;
      }
    }
  }

  __aicore__ inline LocalTensor<T> AllocIn() { return inQueue_.template AllocTensor<T>(); }
  __aicore__ inline void EnQueIn(LocalTensor<T>& in) { inQueue_.EnQue(in); }
  __aicore__ inline void FreeIn(LocalTensor<T>& in) { inQueue_.FreeTensor(in); }
  __aicore__ inline LocalTensor<T> AllocOut() { return outQueue_.template AllocTensor<T>(); }
  __aicore__ inline void EnQueOut(LocalTensor<T>& out) { outQueue_.EnQue(out); }

 private:
  // Enqueues the operands of the tile that starts with `unit`.
  __aicore__ inline Tile Load(int64_t unit) {
    const int64_t rest = tiles_.last - unit;
    int64_t units = Min(rest, tiles_.tileUnits - unit % tiles_.alignUnits);
    if (units < rest && rest - units < tiles_.leastUnits) {
      units -= tiles_.leastUnits;
    }
    const Tile tile{unit, static_cast<uint32_t>(units)};
    layout_.Load(*this, tile);
    return tile;
  }

  const CoreTiles tiles_;
  Layout& layout_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

template <typename Layout>
__aicore__ inline void RunFullLoad(TPipe* pipe, Layout& layout) {
  FullLoad<Layout> loop(pipe, layout);
  loop.Process();
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_FULL_LOAD_H_
