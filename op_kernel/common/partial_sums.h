// SPDX-License-Identifier: Apache-2.0
// The sums of the parts of one reduction: in UB where a core has all parts, through the workspace
// where cores share them. They are added in an order that depends on their number alone.
//
// Sharing takes the hard synchronisation of all cores: KERNEL_TYPE_MIX_AIV_1_0 on the device, batch
// scheduling from the host. Cores publish the sums of round r and await those of r or of r - 1 then.
// The workspace holds four rounds: a core that publishes r + 1 has awaited r - 1, so the others have
// published r - 1 and read r - 3, and may still read r - 2.
#ifndef OP_KERNEL_COMMON_PARTIAL_SUMS_H_
#define OP_KERNEL_COMMON_PARTIAL_SUMS_H_

#include "common/block_copy.h"
#include "common/lanes.h"
#include "common/row_reduce_data.h"
#include "kernel_operator.h"

namespace rowreduce {

class PartialSums {
 public:
  // width: lanes of a sum, a multiple of 8.
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR workspace, uint32_t parts,
                              uint32_t width, bool shared) {
    parts_ = parts;
    width_ = width;
    shared_ = shared;
    const uint32_t bytes = width * static_cast<uint32_t>(sizeof(float));
    if (shared) {
      gm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(AscendC::GetUserWorkspace(workspace)));
      pipe->InitBuffer(mine_, 2, bytes);
      pipe->InitBuffer(all_, 1, parts * bytes);
    } else {
      pipe->InitBuffer(here_, parts * bytes);
    }
  }

  // Where the workspace has the sums of one group of cores.
  __aicore__ inline uint64_t Slot(int64_t round, int64_t groups, int64_t group) const {
    return static_cast<uint64_t>(round % kRowReduceRounds * groups + group) * parts_ * width_;
  }

  // Zeros, to which a part is added.
  __aicore__ inline AscendC::LocalTensor<float> Open(int64_t part) {
    AscendC::LocalTensor<float> sum;
    if (shared_) {
      sum = mine_.AllocTensor<float>();
    } else {
      sum = here_.Get<float>()[static_cast<uint32_t>(part) * width_];
    }
    AscendC::Duplicate(sum, 0.0F, static_cast<int32_t>(width_));
    PipeBarrier<PIPE_V>();
    return sum;
  }

  __aicore__ inline void Close(uint64_t slot, int64_t part, AscendC::LocalTensor<float>& sum) {
    if (shared_) {
      mine_.EnQue(sum);
      sum = mine_.DeQue<float>();
      AscendC::DataCopy(gm_[slot + static_cast<uint64_t>(part) * width_], sum, width_);
      mine_.FreeTensor(sum);
    }
  }

  // This core has closed all its parts of a round.
  __aicore__ inline void Publish(int64_t round) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
    if (shared_) {
      AscendC::CrossCoreSetFlag<0, PIPE_MTE3>(FlagOf(round));
    }
#endif
  }

  // All cores have.
  __aicore__ inline void Await(int64_t round) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
    if (shared_) {
      AscendC::CrossCoreWaitFlag(FlagOf(round));
    }
#endif
  }

  // The sums of all parts, one behind the other.
  __aicore__ inline AscendC::LocalTensor<float> Collect(uint64_t slot) {
    if (!shared_) {
      return here_.Get<float>();
    }
    AscendC::LocalTensor<float> all = all_.AllocTensor<float>();
    AscendC::DataCopy(all, gm_[slot], parts_ * width_);
    all_.EnQue(all);
    return all_.DeQue<float>();
  }

  // The first sum becomes that of all.
  __aicore__ inline void Fold(const AscendC::LocalTensor<float>& all) {
    FoldRows(all, parts_ * width_, parts_ * width_, width_, width_, 1, all);
  }

  __aicore__ inline void Release(AscendC::LocalTensor<float>& all) {
    if (shared_) {
      all_.FreeTensor(all);
    }
  }

 private:
  // A flag is not set again before all cores have waited for it.
  __aicore__ inline static uint16_t FlagOf(int64_t round) {
    return static_cast<uint16_t>(round % 2);
  }

  uint32_t parts_;
  uint32_t width_;
  bool shared_;
  AscendC::GlobalTensor<float> gm_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> mine_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> all_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> here_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_PARTIAL_SUMS_H_
