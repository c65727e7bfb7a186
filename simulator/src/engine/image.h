// SPDX-License-Identifier: Apache-2.0
// The local memories of one core as one run of bytes: UB, then those of the matrix unit. See docs/decisions/0011.
#pragma once

#include <array>
#include <cstdint>

#include "soc/soc.h"

namespace aclsim {

// The comparison register of 16 bytes lies behind UB, so that checks follow its bits as they follow memory.
constexpr uint64_t kCmpMaskBytes = 32;

class Image {
 public:
  // keepGoing: with memory behind all for buffers that their space cannot hold.
  Image(const Soc& soc, CoreKind kind, bool keepGoing) {
    const auto put = [this](Space space, uint64_t bytes, uint64_t behind) {
      end_ = (end_ + kAlign - 1) / kAlign * kAlign;
      spaces_[static_cast<size_t>(space)] = {end_, end_ + bytes};
      end_ += bytes + behind;
    };
    put(Space::kUb, soc.UbMemory(), kCmpMaskBytes);
    tracked_ = soc.UbMemory();
    if (kind != CoreKind::kVector) {
      constexpr uint64_t kLines = 64;  // between memories: no span reaches from one into the next
      for (const Space space : {Space::kL1, Space::kL0a, Space::kL0b, Space::kL0c, Space::kBt,
                                Space::kFb, Space::kMxa, Space::kMxb, Space::kIndex}) {
        put(space, soc.BytesOf(space), kLines);
      }
      tracked_ = end_;
    }
    beyond_ = end_;
    end_ += keepGoing ? 2 * tracked_ : 0;
  }

  uint64_t Begin(Space space) const { return At(space).begin; }
  uint64_t End(Space space) const { return At(space).end; }
  // Returns the memory that holds a byte; UB for what lies behind them.
  Space SpaceOf(uint64_t offset) const {
    if (offset < At(Space::kUb).end) {
      return Space::kUb;
    }
    for (size_t i = static_cast<size_t>(Space::kL1); i < kSpaces; ++i) {
      if (offset >= spaces_[i].begin && offset < spaces_[i].end) {
        return static_cast<Space>(i);
      }
    }
    return Space::kUb;
  }
  bool Has(Space space) const { return At(space).end > At(space).begin; }
  // The race check follows bytes up to here.
  uint64_t Tracked() const { return tracked_; }
  uint64_t Beyond() const { return beyond_; }
  uint64_t Bytes() const { return end_; }

 private:
  // The memory that asks for most decides: an address is aligned where its offset in the image is.
  static constexpr uint64_t kAlign = 1024;
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  const Range& At(Space space) const { return spaces_[static_cast<size_t>(space)]; }

  std::array<Range, kSpaces> spaces_{};
  uint64_t tracked_ = 0;
  uint64_t beyond_ = 0;
  uint64_t end_ = 0;
};

}  // namespace aclsim
