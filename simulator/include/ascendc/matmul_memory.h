// SPDX-License-Identifier: Apache-2.0
// The memories of the matrix unit that all Matmul objects of a TPipe work in, and the flags that order the pipes over them. One object has
// them at a time: whoever goes on with them waits for the work of the one before.
#pragma once

#include <algorithm>

#include "ascendc/cube.h"
#include "ascendc/sync.h"

namespace AscendC::detail::mm {

constexpr uint32_t kRows = 16;  // of a fractal
constexpr uint32_t kFractalBytes = 512;
constexpr bool kOn950 = kArch == 3510;
constexpr uint32_t kL1Bytes = 512 * 1024, kL0Bytes = 64 * 1024,
                   kL0cBytes = (kOn950 ? 256 : 128) * 1024, kTableBytes = kOn950 ? 4096 : 1024;
constexpr uint32_t kSumBytes = 4;   // an element of L0C, and of the bias table
constexpr uint32_t kMostSlots = 2;  // of a memory that is filled while the other half is read

constexpr uint32_t Word(int32_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t UpTo(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }
constexpr uint32_t PartsOf(uint32_t value, uint32_t part) { return (value + part - 1) / part; }

template <typename T>
constexpr uint32_t kBitsOf = kBits<T>;
template <typename T>
constexpr uint32_t kC0 = ONE_BLK_SIZE * 8 / kBitsOf<T>;
// Rows and columns that transposition moves at a time.
template <typename T>
constexpr uint32_t kSide = kBitsOf<T> < 16 ? kC0<T> : kRows;
template <typename T>
constexpr uint32_t BytesIn(uint32_t elements) {
  return static_cast<uint32_t>(BytesOf<T>(uint64_t{elements}));
}

template <typename T>
constexpr bool kIsInteger = std::is_same_v<T, int8_t> || std::is_same_v<T, int4b_t>;
template <typename T>
using SumOf = std::conditional_t<kIsInteger<T>, int32_t, float>;

// The halves of a memory that one pipe fills and another one empties: `there` says that a half is full, `back` that it is free again.
template <HardEvent there, HardEvent back>
class Ring {
 public:
  // Returns the half that is filled next, once it is free.
  uint32_t Take(uint32_t slots) {
    const uint32_t slot = next_ % slots;
    next_ = slot + 1;
    Reclaim(slot);
    return slot;
  }
  void Filled(uint32_t slot) {
    SetFlag<there>(there_[slot]);
    WaitFlag<there>(there_[slot]);
    isHeld_[slot] = true;
  }
  void Free(uint32_t slot) {
    SetFlag<back>(back_[slot]);
    isHeld_[slot] = false;
    isFreed_[slot] = true;
  }
  // The pipe that fills waits for the one that empties, if it has not done so.
  void Reclaim(uint32_t slot) {
    if (isFreed_[slot]) {
      WaitFlag<back>(back_[slot]);
      isFreed_[slot] = false;
    }
  }
  void Drain() {
    for (uint32_t slot = 0; slot < kMostSlots; ++slot) {
      if (isHeld_[slot]) {  // by an object that has lost the memories meanwhile
        Free(slot);
      }
      Reclaim(slot);
    }
    next_ = 0;
  }
  bool IsOpen() const { return count_ != 0; }
  void Open(TPipe* pipe, uint32_t slots) {
    for (count_ = 0; count_ < slots; ++count_) {
      there_[count_] = pipe->AllocEventID<there>();
      back_[count_] = pipe->AllocEventID<back>();
    }
  }
  void Close(TPipe* pipe) {
    Drain();
    for (; count_ > 0; --count_) {
      pipe->ReleaseEventID<there>(there_[count_ - 1]);
      pipe->ReleaseEventID<back>(back_[count_ - 1]);
    }
  }

 private:
  TEventID there_[kMostSlots] = {}, back_[kMostSlots] = {};
  bool isFreed_[kMostSlots] = {}, isHeld_[kMostSlots] = {};
  uint32_t next_ = 0, count_ = 0;
};

class Memory : public PipeParts {
 public:
  // Those of the pipe, which live as long as its buffers do.
  static Memory& Of(TPipe* pipe) {
    if (pipe->Parts() == nullptr) {
      pipe->SetParts(new Memory(pipe));
    }
    return *static_cast<Memory*>(pipe->Parts());
  }

  // Buffers of at least these sizes.
  __attribute__((always_inline)) void Reserve(uint32_t inL1, uint32_t inL0c, bool withTable) {
    if (!hasL0_) {
      pipe_->InitBuffer(l0a_, kL0Bytes);
      pipe_->InitBuffer(l0b_, kL0Bytes);
      hasL0_ = true;
    }
    if (inL1 > inL1_) {
      pipe_->InitBuffer(l1_, inL1);
      inL1_ = inL1;
    }
    if (inL0c > inL0c_) {
      pipe_->InitBuffer(l0c_, inL0c);
      inL0c_ = inL0c;
    }
    if (withTable && !hasTable_) {
      pipe_->InitBuffer(table_, kTableBytes);
      hasTable_ = true;
    }
  }
  // From here on the memories are this object's.
  void Own(const void* owner) {
    if (owner_ == owner) {
      return;
    }
    if (owner_ == nullptr) {
      a1.Open(pipe_, kMostSlots);
      b1.Open(pipe_, kMostSlots);
      bias1.Open(pipe_, 1);
      quant1.Open(pipe_, 1);
      l0.Open(pipe_, kMostSlots);
      table.Open(pipe_, 1);
      l0c.Open(pipe_, kMostSlots);
    } else {
      scaleA1.Drain();
      scaleB1.Drain();
      a1.Drain();
      b1.Drain();
      bias1.Drain();
      quant1.Drain();
      l0.Drain();
      table.Drain();
      l0c.Drain();
    }
    owner_ = owner;
  }
  bool IsOwnedBy(const void* owner) const { return owner_ == owner; }
  // Opens what blocks of scales need that outlive those of their matrix; other objects leave these flags to the kernel.
  void OpenScales() {
    if (!scaleA1.IsOpen()) {
      scaleA1.Open(pipe_, 1);
      scaleB1.Open(pipe_, 1);
    }
  }
  // Nobody's: all work is waited for, all ids are given back.
  void Release() {
    a1.Close(pipe_);
    b1.Close(pipe_);
    bias1.Close(pipe_);
    quant1.Close(pipe_);
    l0.Close(pipe_);
    table.Close(pipe_);
    l0c.Close(pipe_);
    scaleA1.Close(pipe_);
    scaleB1.Close(pipe_);
    owner_ = nullptr;
  }
  // Nobody's, of an object without End: the pipe may end so, and no other object may follow.
  void Leave() {
    Release();
    wasLeft_ = true;
  }
  bool WasLeft() const { return wasLeft_; }

  template <typename T>
  LocalTensor<T> L1(uint32_t offset) {
    static_assert(sizeof(T) == 0 || detail::kArch == 2201 || kOn950,
                  "matrix units: Matmul is simulated for architectures 2201 and 3510 (Atlas A2 and "
                  "A3, 950) only: 310P and 910 have other ways into L0 and out of L0C, and kernels "
                  "by their basic API; docs/simulator.md says what is simulated");
    return l1_.Get<uint8_t>()[offset].template ReinterpretCast<T>();
  }
  template <typename T>
  LocalTensor<T> L0a(uint32_t offset) {
    return l0a_.Get<uint8_t>()[offset].template ReinterpretCast<T>();
  }
  template <typename T>
  LocalTensor<T> L0b(uint32_t offset) {
    return l0b_.Get<uint8_t>()[offset].template ReinterpretCast<T>();
  }
  template <typename T>
  LocalTensor<T> L0c(uint32_t offset) {
    return l0c_.Get<uint8_t>()[offset].template ReinterpretCast<T>();
  }
  template <typename T>
  LocalTensor<T> Table() {
    return table_.Get<T>();
  }

  Ring<HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2> a1, b1, bias1, scaleA1, scaleB1;
  Ring<HardEvent::MTE2_FIX, HardEvent::FIX_MTE2> quant1;
  Ring<HardEvent::MTE1_M, HardEvent::M_MTE1> l0, table;
  Ring<HardEvent::M_FIX, HardEvent::FIX_M> l0c;

 private:
  explicit Memory(TPipe* pipe) : pipe_(pipe) {}

  TPipe* pipe_;
  const void* owner_ = nullptr;
  bool wasLeft_ = false;
  TBuf<TPosition::A1> l1_;
  TBuf<TPosition::A2> l0a_;
  TBuf<TPosition::B2> l0b_;
  TBuf<TPosition::CO1> l0c_;
  TBuf<TPosition::C2> table_;
  uint32_t inL1_ = 0, inL0c_ = 0;
  bool hasL0_ = false, hasTable_ = false;
};

}  // namespace AscendC::detail::mm
