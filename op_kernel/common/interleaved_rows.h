// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for 16-bit rows (B == 1) that are no whole blocks of 32 bytes and too long for
// short_rows.h to take whole blocks of them. A unit is a group of 16 rows, which are whole blocks together: a tile is one
// piece of GM that starts on one.
//
// TransDataTo5HD makes row i of each group lane i, from the block on in which the row begins. All groups begin alike, so
// the row starts on position `lead` of its lane, lead = i R mod 16, in every group. The positions in front of it and
// behind it are its neighbours': `And` with constant bits clears them, in the operands, since a neighbour may be NaN, and
// in the result. Additions are those of PackedRows, which do not care on which position of a circle a row starts.
//
// On the way back neighbours share a block. Even rows go to one image of the tile, odd ones to another, where they leave
// zeros around each other: the result is `Or` of both.
#ifndef OP_KERNEL_COMMON_INTERLEAVED_ROWS_H_
#define OP_KERNEL_COMMON_INTERLEAVED_ROWS_H_

#include "common/short_rows.h"
#include "common/whole_rows.h"

namespace rowreduce {

template <typename T, typename Step, typename Mask = NoMask>
class ReduceInterleaved : private WholeTiles<T, Step, ReduceInterleaved<T, Step, Mask>> {
  using Base = WholeTiles<T, Step, ReduceInterleaved>;
  using typename Base::Pair;
  using typename Base::Tile;
  friend Base;

 public:
  using Base::Process;

  __aicore__ inline ReduceInterleaved(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                      const RowReduceTilingData& t, const Step& step, Mask& mask)
      : Base(pipe, y, g, out, t, step, 0),
        length_(static_cast<uint32_t>(t.reduce)),
        taken_(length_ + kStreams - Min(kStreams, length_ & (~length_ + 1))),
        positions_(AlignUp(taken_, kStreams)),
        lanes_(static_cast<uint32_t>(t.tileLanes)),
        mask_(mask) {
    constexpr uint32_t kBytes = static_cast<uint32_t>(sizeof(T));
    pipe->InitBuffer(images_, (2 * lanes_ + kImagesApart) * kBytes);
    pipe->InitBuffer(edges_, 3 * kEdgesApart * static_cast<uint32_t>(sizeof(int16_t)));
    // What no copy and no row ever writes is read all the same.
    AscendC::Duplicate(images_.template Get<float>(), 0.0F,
                       static_cast<int32_t>(lanes_ + kImagesApart / 2));
    for (uint8_t i = 0; i < kBuffers; ++i) {
      LocalTensor<T> in = this->inQueue_.template AllocTensor<T>();
      AscendC::Duplicate(in.template ReinterpretCast<float>(), 0.0F, static_cast<int32_t>(lanes_));
      this->inQueue_.FreeTensor(in);
    }
    MakeEdges();
    PipeBarrier<PIPE_V>();
  }

 private:
  using Bits = LocalTensor<int16_t>;
  // Half of the bank groups of UB, modulo all.
  static constexpr uint32_t kImagesApart = 128;
  static constexpr uint32_t kRepeatPositions = 8;  // of 16 lanes
  static constexpr int16_t kSign = -32768;         // of a half, and of a bf16
  static constexpr uint32_t kRepeatBytes = kRepeatLanes * static_cast<uint32_t>(sizeof(float));
  // From edges to their copy: behind a row up to two blocks, in front of it one, an odd number of repeats in all.
  static constexpr uint32_t kEdgesApart = 7 * kRepeatPositions * kStreams;
  static constexpr uint32_t kSpreadPositions = 4;  // of a repeat of fp32

  __aicore__ inline Tile At(int64_t unit, uint32_t units) const {
    const int64_t row = unit * kStreams;
    const int64_t left = this->t_.outer - row;
    const uint32_t rows = left < units * kStreams ? static_cast<uint32_t>(left) : units * kStreams;
    const uint32_t count = rows * length_;
    return Tile{unit,
                units,
                static_cast<uint64_t>(row) * length_,
                BlockShape{1, count, count},
                AlignUp(count, kStreams),
                0};
  }

  __aicore__ inline void LoadTile(const Tile& tile) {
    LocalTensor<T> in = this->OpenTile();
    this->LoadPair(in, tile.offset, tile.shape, tile.pitch);
    this->inQueue_.EnQue(in);
    mask_.Load(tile.unit * kStreams, tile.shape.length / length_, 0);
  }

  __aicore__ inline void StoreTile(const LocalTensor<T>& out, const Tile& tile) {
    StoreBlocks(this->outGm_, tile.offset, out, tile.shape, tile.pitch);
  }

  // Positions from the first that may be behind a row to the end of a lane: whole repeats.
  __aicore__ inline uint32_t Behind() const {
    return AlignUp(positions_ - length_, kRepeatPositions);
  }

  __aicore__ inline static void Fill(const Bits& dst, int16_t value, uint64_t* mask,
                                     uint8_t copies) {
    if (mask[0] != 0 || mask[1] != 0) {
      AscendC::Duplicate(dst, value, mask, copies, 1, kEdgesApart / kStreams);
    }
  }

  // Bits of the positions at the end of a group's lanes and at the start of the next group's: all of those that are
  // rows'. Twice, in both halves of the bank groups of UB; then the sign of the others.
  __aicore__ inline void MakeEdges() {
    uint16_t begun[kStreams] = {};  // lanes whose row has begun on a position
    for (uint32_t i = 0; i < kStreams; ++i) {
      begun[i * length_ % kStreams] |= static_cast<uint16_t>(1u << i);
    }
    for (uint32_t p = 1; p < kStreams; ++p) {
      begun[p] |= begun[p - 1];
    }
    const Bits edges = edges_.template Get<int16_t>();
    AscendC::Duplicate(edges, static_cast<int16_t>(0), static_cast<int32_t>(3 * kEdgesApart));
    PipeBarrier<PIPE_V>();
    const uint32_t behind = Behind();
    for (uint32_t at = 0; at < behind + kStreams; at += kRepeatPositions) {
      uint64_t mask[2] = {0, 0};
      for (uint32_t i = 0; i < kRepeatPositions; ++i) {
        const uint32_t p = at + i;
        const uint32_t ended = p + positions_ - behind - length_;  // wraps in front of the end
        const bool whole = p < behind && p + positions_ < behind + length_;
        const uint16_t lanes = whole              ? 0xFFFF
                               : p >= behind      ? begun[p - behind]
                               : ended < kStreams ? static_cast<uint16_t>(~begun[ended])
                                                  : 0;
        mask[i / 4] |= static_cast<uint64_t>(lanes) << (i % 4 * kStreams);
      }
      Fill(edges[at * kStreams], static_cast<int16_t>(-1), mask, 2);
      uint64_t others[2] = {~mask[0], ~mask[1]};
      Fill(edges[2 * kEdgesApart + at * kStreams], kSign, others, 1);
    }
  }

  // The positions of a lane that are not its row's become 0.
  __aicore__ inline void ClearEdges(const Bits& lanes, uint32_t groups) {
    const Bits edges = edges_.template Get<int16_t>();
    const bool same = SameBanks(lanes[Behind() * kStreams], edges);
    ForEdges(
        lanes, same ? edges[kEdgesApart] : edges, groups,
        [](const Bits& at, const Bits& kept, int32_t count) { AscendC::And(at, at, kept, count); });
  }

  // And then -0, which adds nothing to a -0 either. Circles of rows that are alike start with +0 anyway.
  __aicore__ inline void SignEdges(const Bits& lanes, uint32_t groups) {
    const Bits edges = edges_.template Get<int16_t>();
    ForEdges(
        lanes, edges[2 * kEdgesApart], groups,
        [](const Bits& at, const Bits& sign, int32_t count) { AscendC::Or(at, at, sign, count); });
  }

  // Those between two groups at once.
  template <typename Change>
  __aicore__ inline void ForEdges(const Bits& lanes, const Bits& edges, uint32_t groups,
                                  const Change& change) const {
    const uint32_t behind = Behind();
    for (uint32_t u = 0; u <= groups; ++u) {
      const uint32_t from = u > 0 ? 0 : behind;
      const uint32_t to = u < groups ? behind + kStreams : behind;
      change(lanes[(u * positions_ + from) * kStreams - behind * kStreams], edges[from * kStreams],
             static_cast<int32_t>((to - from) * kStreams));
    }
  }

  // Blocks of rows become positions of lanes (kIn), or the way back, from which odd rows go to an image of their own.
  template <bool kIn>
  __aicore__ inline void Turn(const LocalTensor<half>& positions, const LocalTensor<half>& rows,
                              uint32_t apart, uint32_t groups) const {
    const uint32_t blocks = positions_ / kStreams;
    const bool byGroups = kIn || groups < blocks;
    const uint32_t repeats = byGroups ? blocks : groups;
    const uint16_t ofRows = static_cast<uint16_t>(repeats == 1 ? 0 : byGroups ? 1 : length_);
    const uint16_t ofLanes = static_cast<uint16_t>(repeats == 1 ? 0
                                                   : byGroups   ? kStreams
                                                                : positions_);
    const AscendC::TransDataTo5HDParams p(false, false, Bits8(repeats), kIn ? ofLanes : ofRows,
                                          kIn ? ofRows : ofLanes);
    for (uint32_t n = 0; n < (byGroups ? groups : blocks); ++n) {
      const uint32_t position = n * (byGroups ? positions_ : kStreams);
      const uint32_t row = n * (byGroups ? length_ : 1);
      uint64_t ofPositions[kStreams];
      uint64_t ofBlocks[kStreams];
      for (uint32_t i = 0; i < kStreams; ++i) {
        ofPositions[i] = AddressOf(positions[(position + i) * kStreams]);
        ofBlocks[i] = AddressOf(rows[i % 2 * apart + (i * length_ / kStreams + row) * kStreams]);
      }
      if constexpr (kIn) {
        AscendC::TransDataTo5HD<half>(ofPositions, ofBlocks, p);
      } else {
        AscendC::TransDataTo5HD<half>(ofBlocks, ofPositions, p);
        PipeBarrier<PIPE_V>();  // what the next one writes lies between these blocks
      }
    }
  }

  // The sums of the rows of each group, on eight positions each. scratch: as many lanes as f.
  __aicore__ inline Folded Sum(const LocalTensor<float>& f, uint32_t groups,
                               const LocalTensor<float>& scratch) const {
    const Folded fours =
        SumSlabs(f, length_, SlabLie{taken_, positions_}, groups, scratch, 2 * kSpreadPositions);
    // What is left of the circle, twice, so that it can be read from any of its positions on.
    const uint32_t pitch = fours.pitch;
    const LocalTensor<float>& low = fours.lanes;
    const LocalTensor<float> high = low[2 * kRepeatLanes];
    AddTwice(high, low, low[kRepeatLanes], pitch, groups);
    AddTwice(low, high, high[kRepeatLanes / 2], pitch, groups);
    AddTwice(high, low, low[kRepeatLanes / 4], pitch, groups);
    return Folded{high, pitch, kRepeatLanes};
  }

  __aicore__ inline static void AddTwice(const LocalTensor<float>& dst, const LocalTensor<float>& a,
                                         const LocalTensor<float>& b, uint32_t pitch,
                                         uint32_t groups) {
    ForRows<Op::kAdd>(dst, pitch, a, pitch, b, pitch, groups, kRepeatLanes);
    ForRows<Op::kAdd>(dst[kRepeatLanes], pitch, a, pitch, b, pitch, groups, kRepeatLanes);
    PipeBarrier<PIPE_V>();
  }

  // Whether two tensors begin in one half of the bank groups of UB: instructions that read a repeat of both would wait.
  template <typename A, typename B>
  __aicore__ inline static bool SameBanks(const LocalTensor<A>& a, const LocalTensor<B>& b) {
    return ((AddressOf(a) ^ AddressOf(b)) & kRepeatBytes) == 0;
  }

  // y[u, p, :] *= sums[u, :]. Every other repeat takes the other copy of the sums.
  __aicore__ inline void Scale(const LocalTensor<float>& y, const Folded& sums,
                               uint32_t groups) const {
    const BinaryRepeatParams p(1, 1, 1, 2 * kRepeatBlocks, 2 * kRepeatBlocks, 0);
    const uint32_t first = SameBanks(y, sums.lanes) ? kRepeatLanes : 0;
    for (uint32_t c = 0; c < 2 * kRepeatLanes; c += kRepeatLanes) {
      for (uint32_t u = 0; u < groups; ++u) {
        const LocalTensor<float> lanes = y[u * positions_ * kStreams + c];
        const LocalTensor<float> sum = sums.lanes[u * sums.pitch + (first ^ c)];
        Repeat<Op::kMul>(lanes, lanes, sum, kRepeatLanes, positions_ / (2 * kSpreadPositions), p);
      }
    }
  }

  __aicore__ inline void Compute(const Tile& tile, LocalTensor<T>& in) {
    const uint32_t groups = tile.units;
    const uint32_t count = groups * positions_ * kStreams;
    const LocalTensor<float> y = this->work_.template Get<float>();
    const LocalTensor<float> f = y[lanes_ + Base::kWorkApart / 2];
    const LocalTensor<T> narrow = f.template ReinterpretCast<T>();
    const LocalTensor<half> images = images_.template Get<half>();
    const LocalTensor<half> loaded = in.template ReinterpretCast<half>();
    Turn<true>(narrow.template ReinterpretCast<half>(), loaded, 0, groups);
    PipeBarrier<PIPE_V>();
    Turn<true>(loaded, loaded[lanes_], 0, groups);  // y has made room
    ClearEdges(narrow.template ReinterpretCast<int16_t>(), groups);
    PipeBarrier<PIPE_V>();
    AscendC::Cast(y, narrow, RoundMode::CAST_NONE, count);
    ClearEdges(in.template ReinterpretCast<int16_t>(), groups);
    PipeBarrier<PIPE_V>();
    if (!RowsAlike(length_)) {
      SignEdges(in.template ReinterpretCast<int16_t>(), groups);
      PipeBarrier<PIPE_V>();
    }
    AscendC::Cast(f, in, RoundMode::CAST_NONE, count);
    PipeBarrier<PIPE_V>();
    this->step_.Prepare(f, y, count);
    PipeBarrier<PIPE_V>();
    Scale(y, Sum(f, groups, in.template ReinterpretCast<float>()), groups);
    this->inQueue_.FreeTensor(in);
    PipeBarrier<PIPE_V>();
    this->step_.Combine(y, f, y, count);
    PipeBarrier<PIPE_V>();
    AscendC::Cast(narrow, y, kToNearestEven, count);
    PipeBarrier<PIPE_V>();
    ClearEdges(narrow.template ReinterpretCast<int16_t>(), groups);
    PipeBarrier<PIPE_V>();
    Turn<false>(narrow.template ReinterpretCast<half>(), images, lanes_ + kImagesApart, groups);
    LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
    const Bits even = images_.template Get<int16_t>();
    AscendC::Or(out.template ReinterpretCast<int16_t>(), even, even[lanes_ + kImagesApart],
                static_cast<int32_t>(tile.pitch));
    PipeBarrier<PIPE_V>();
    mask_.Clear(out, length_, 0, tile.unit * kStreams, tile.shape.length / length_, f, y);
    this->outQueue_.EnQue(out);
  }

  const uint32_t length_;  // elements of a row
  const uint32_t
      taken_;  // positions of a lane from the first element of a row to the last of another
  const uint32_t positions_;  // of a lane, whole blocks
  const uint32_t lanes_;      // of a tile
  TBuf<TPosition::VECCALC> images_;
  TBuf<TPosition::VECCALC> edges_;  // bits
  Mask& mask_;
};

template <typename T, typename Step>
__aicore__ inline void RunInterleaved(GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                      const RowReduceTilingData& t) {
  if constexpr (kPacks && sizeof(T) == 2) {
    TPipe pipe;
    const Step step;
    NoMask mask;
    ReduceInterleaved<T, Step> path(&pipe, y, g, out, t, step, mask);
    path.Process();
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_INTERLEAVED_ROWS_H_
