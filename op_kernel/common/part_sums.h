// SPDX-License-Identifier: Apache-2.0
// PartSums keeps the sums of the parts of one reduction: in UB where a core has all parts, in the
// workspace where cores share them. They are added in an order that depends on their number alone.
//
// Cores that share need the hard synchronisation of all cores: KERNEL_TYPE_MIX_AIV_1_0 on the
// device, batch scheduling from the host. A core publishes its sums of round r and then awaits
// those of a round up to two before it, or of a later one, where a unit ends later. So cores are
// up to three rounds apart: one that publishes r + 2 has awaited r - 1, which the slowest core has
// published. That one has awaited r - 4 and may still read the sums of units with a piece in r - 3.
// The workspace holds the six rounds from r - 3 to r + 2 (kRounds), each with a flag of its own.
#ifndef OP_KERNEL_COMMON_PART_SUMS_H_
#define OP_KERNEL_COMMON_PART_SUMS_H_

#include "common/row_reduce_data.h"
#include "common/sum_tree.h"

namespace rowreduce {

// PartSums is what the sums of rows and those of columns have in common.
class PartSums {
 public:
  // Open returns the place for the sum of a part; that of a row belongs in its first lane.
  __aicore__ inline LocalTensor<float> Open(int64_t part) {
    return shared_ ? mine_.AllocTensor<float>()
                   : here_.Get<float>()[static_cast<uint32_t>(part) * width_];
  }

  // Tells the other cores that this one has closed all its parts of a round.
  __aicore__ inline void Publish(int64_t round) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
    if (shared_) {
      AscendC::CrossCoreSetFlag<0, PIPE_MTE3>(FlagOf(round));
    }
#endif
  }

  // Waits until all cores have published a round.
  __aicore__ inline void Await(int64_t round) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
    for (; shared_ && awaited_ <= round; ++awaited_) {
      AscendC::CrossCoreWaitFlag(FlagOf(awaited_));
    }
#endif
  }

 protected:
  // `width` is the number of lanes of a sum, a multiple of 8.
  __aicore__ inline void Init(GM_ADDR workspace, uint32_t parts, uint32_t width, bool shared) {
    parts_ = parts;
    width_ = width;
    shared_ = shared;
    if (shared) {
      const uint64_t start = reinterpret_cast<uint64_t>(AscendC::GetUserWorkspace(workspace));
      constexpr uint64_t kLine = kCacheLineLanes * sizeof(float);
      gm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>((start + kLine - 1) / kLine * kLine));
    }
  }

  // OffsetOf is where the workspace has the sums of its unit `index`: they start on a line of the cores' data caches.
  __aicore__ inline uint64_t OffsetOf(uint64_t index, uint32_t lanes) const {
    return index * AlignUp(lanes, kCacheLineLanes);
  }

  uint32_t parts_;
  uint32_t width_;  // lanes of a sum in UB
  bool shared_;
  GlobalTensor<float> gm_;
  TQue<TPosition::VECOUT, 1> mine_;  // sums on their way to the workspace
  TBuf<TPosition::VECCALC> here_;

 private:
  __aicore__ inline static uint16_t FlagOf(int64_t round) {
    return static_cast<uint16_t>(round % kRounds);
  }

  int64_t awaited_ = 0;  // the next round to await
};

// RowPartSums has the sums of rows, one value for each part. SCALAR adds them up while VECTOR
// works. SCALAR reads the workspace itself: a copy would hold up those of chunks for its latency.
class RowPartSums : public PartSums {
 public:
  using Sum = float;

  __aicore__ inline void Init(TPipe* pipe, const SharedUb& ub, GM_ADDR workspace, uint32_t parts,
                              uint32_t width, bool shared) {
    PartSums::Init(workspace, parts, width, shared);
    if (shared) {
      pipe->InitBuffer(mine_, static_cast<uint8_t>(ub.mine.count), ub.mine.bytes);
    } else {
      pipe->InitBuffer(here_, ub.sums.bytes);
    }
  }

  __aicore__ inline void Close(uint64_t index, int64_t part, LocalTensor<float>& sum) {
    if (shared_) {
      mine_.EnQue(sum);
      sum = mine_.DeQue<float>();
      CopyOut(gm_, OffsetOf(index, parts_) + static_cast<uint64_t>(part), sum, 1);
      mine_.FreeTensor(sum);
    }
  }

  // The flag also says that SCALAR has read the sums of an earlier round: the other cores, and later copies of this one,
  // write over them.
  __aicore__ inline void Publish(int64_t round) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
    if (shared_) {
      const auto read =
          static_cast<event_t>(GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_MTE3));
      AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(read);
      AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(read);
      PartSums::Publish(round);
    }
#endif
  }

  // Lines of the data cache may be older than the sums. They are made invalid before the sums are awaited, while VECTOR has
  // work. Only a scalar access to a line brings it back, and there is none until Fetch returns: sums of a unit are whole
  // lines, and scalar accesses keep their order.
  __aicore__ inline void Invalidate(uint64_t index) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
    if (shared_) {
      fetched_ = OffsetOf(index, parts_);
      for (uint32_t i = 0; i < parts_; i += kCacheLineLanes) {
        AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::SINGLE_CACHE_LINE,
                                          AscendC::DcciDst::CACHELINE_OUT>(gm_[fetched_ + i]);
      }
    }
#endif
  }

  // Waits for the sums whose lines were made invalid last.
  __aicore__ inline void Fetch(int64_t round, uint64_t) { Await(round); }

  __aicore__ inline float Take() {
    float sums[kMostParts];
    if (shared_) {
      for (uint32_t i = 0; i < parts_; ++i) {
        sums[i] = gm_.GetValue(fetched_ + i);
      }
    } else {
      const auto ready = static_cast<event_t>(GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_S));
      AscendC::SetFlag<AscendC::HardEvent::V_S>(ready);
      AscendC::WaitFlag<AscendC::HardEvent::V_S>(ready);
      const LocalTensor<float> here = here_.Get<float>();
      for (uint32_t i = 0; i < parts_; ++i) {
        sums[i] = here.GetValue(i * width_);
      }
      const auto read = static_cast<event_t>(GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_V));
      AscendC::SetFlag<AscendC::HardEvent::S_V>(read);  // sums of the next unit overwrite these
      AscendC::WaitFlag<AscendC::HardEvent::S_V>(read);
    }
    for (uint32_t left = parts_; left > 1; left = CeilDiv(left, 2)) {
      for (uint32_t i = 0; i < left / 2; ++i) {
        sums[i] += sums[left - 1 - i];
      }
    }
    return sums[0];
  }

 private:
  uint64_t fetched_ = 0;
};

// ColumnPartSums has the sums of columns, a vector for each part.
class ColumnPartSums : public PartSums {
 public:
  using Sum = LocalTensor<float>;

  // The last columns of a slab may be fewer than a sum has lanes. The other lanes are read, and never stored.
  __aicore__ inline void Init(TPipe* pipe, const SharedUb& ub, GM_ADDR workspace, uint32_t parts,
                              uint32_t width, bool shared) {
    PartSums::Init(workspace, parts, width, shared);
    pipe->InitBuffer(here_, ub.sums.bytes);
    if (shared) {
      pipe->InitBuffer(all_, 1, ub.all.bytes);
      pipe->InitBuffer(mine_, static_cast<uint8_t>(ub.mine.count), ub.mine.bytes);
      for (uint32_t i = 0; i < ub.mine.count; ++i) {
        LocalTensor<float> sum = mine_.AllocTensor<float>();
        AscendC::Duplicate(sum, 0.0F, static_cast<int32_t>(width));
        mine_.FreeTensor(sum);
      }
    } else {
      AscendC::Duplicate(here_.Get<float>(), 0.0F, static_cast<int32_t>(parts * width));
    }
    PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Close(uint64_t index, int64_t part, LocalTensor<float>& sum) {
    if (shared_) {
      mine_.EnQue(sum);
      sum = mine_.DeQue<float>();
      AscendC::DataCopy(
          gm_[OffsetOf(index, parts_ * width_) + static_cast<uint64_t>(part) * width_], sum,
          width_);
      mine_.FreeTensor(sum);
    }
  }

  __aicore__ inline void Invalidate(uint64_t) {}

  // Starts to read the sums of all parts.
  __aicore__ inline void Fetch(int64_t round, uint64_t index) {
    if (shared_) {
      Await(round);
      LocalTensor<float> all = all_.AllocTensor<float>();
      AscendC::DataCopy(all, gm_[OffsetOf(index, parts_ * width_)], parts_ * width_);
      all_.EnQue(all);
    }
  }

  // The sum of the unit, which stays until the next one is taken.
  __aicore__ inline LocalTensor<float> Take() {
    const LocalTensor<float> sum = here_.Get<float>();
    if (!shared_) {
      PipeBarrier<PIPE_V>();
      AddHalvesOfRow(sum, parts_ * width_, width_, width_, sum);
      return sum;
    }
    LocalTensor<float> all = all_.DeQue<float>();
    const Matrix halves = AddHalvesOfRow(all, parts_ * width_, width_, 2 * width_, all);
    if (halves.width > width_) {
      AscendC::Add(sum, halves.lanes, halves.lanes[width_], static_cast<int32_t>(width_));
    } else {
      AscendC::DataCopy(sum, halves.lanes, width_);
    }
    PipeBarrier<PIPE_V>();
    all_.FreeTensor(all);
    return sum;
  }

 private:
  TQue<TPosition::VECIN, 1> all_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_PART_SUMS_H_
