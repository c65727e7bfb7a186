// SPDX-License-Identifier: Apache-2.0
// Device memory: addresses that host code cannot dereference, the bytes behind them, and a bit for
// each byte that says whether it was ever written.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/gm_shadow.h"
#include "host/lock.h"

namespace aclsim {

// Blocks live in reserved ranges without access rights; byte a of a range has its contents at a
// + delta in a second mapping of the same layout. There is one range at first, a small part of the
// device's memory, and further ones, each as large as all before, when blocks want them. Freed blocks are quarantined, so that a use after
// free can be named, and their pages go back to the host or, of large ones, to the next block, which in fast mode has their old
// bytes as a device's would. The second mapping stays accessible: a kernel that still uses a freed block never crashes. In checked mode a
// known pattern lies before and behind every block, so that writes by raw pointers past it are seen.
class DeviceMemory {
 public:
  struct Block {
    uintptr_t start = 0;
    uint64_t bytes = 0;
    uint64_t number = 0;           // n-th allocation of the process
    const void* caller = nullptr;  // where the program asked for it
    bool guarded = false;
    bool mapped = false;  // of aclrtMapMem: physical memory in a reserved range
    int32_t device = 0;
    uint8_t* contents = nullptr;  // the block's bytes
    bool moved = false;           // they lie in pages of another block that was freed
    bool fillOnUse = false;       // a page of them takes memory when it is first written
  };
  // Changed bytes outside a block, counted from its start: all of [begin, end) lie before or behind
  // it.
  struct Overrun {
    Block block;
    int64_t begin = 0;
    int64_t end = 0;
  };

  // Reserves the first addresses once, for devices with that much memory together. Returns 0 or an aclError
  // with the reason.
  int32_t Reserve(uint64_t deviceBytes, std::string* why);
  // In a forked child, before Reserve: the ranges are the parent's, and none of its blocks is there.
  void Inherit(const DeviceMemory& parent);

  // Returns 0 or an aclError with the reason. limit: bytes that the device has. checked: poison the
  // block, call it undefined and guard it.
  int32_t Allocate(uint64_t bytes, uint64_t limit, int32_t device, bool checked, const void* caller,
                   void** out, std::string* why);
  // As it was when it was new.
  int32_t Renew(const void* pointer, std::string* why);
  // A part of a block, by its backing bytes, which is filled as that of a new one.
  void FillAsNew(uint8_t* backing, uint64_t bytes);
  // by: the function that frees, for later messages.
  int32_t Free(const void* pointer, const char* by, std::string* why);
  std::vector<Block> FreeAll(const char* by, int32_t device);

  // Address ranges without memory, and physical memory that is mapped into them: blocks of
  // their own. Each returns 0 or an aclError with the reason.
  int32_t ReserveRange(uint64_t bytes, uint64_t align, const void* caller, void** out,
                       std::string* why);
  int32_t ReleaseRange(const void* pointer, std::string* why);
  int32_t AllocatePhysical(uint64_t bytes, uint64_t limit, int32_t device, const void* caller,
                           uint64_t id, std::string* why);
  bool HasPhysical(uint64_t id) const;
  // Goes when it is mapped no more. False: not live.
  bool FreePhysical(uint64_t id);
  int32_t Map(const void* pointer, uint64_t bytes, uint64_t id, bool checked, std::string* why);
  int32_t Unmap(const void* pointer, uint64_t* bytes, std::string* why);
  uint64_t MappedBytes(const void* pointer) const;
  std::vector<Block> LivePhysical() const;
  // Addresses of freed blocks may be used again at once.
  void ForgetFreed();

  // Backing bytes of [pointer, pointer + bytes), or nullptr with the reason.
  uint8_t* Resolve(const void* pointer, uint64_t bytes, std::string* why) const;
  // The live block that holds pointer; bytes == 0 when there is none.
  Block Find(const void* pointer) const;
  Block FindBacking(const void* backing) const;
  // Returns whether the address lies in a block that was freed, as far as that is remembered.
  bool WasFreed(const void* pointer) const;
  // True for every address of the reserved ranges, live or not. Needs no lock.
  bool InRange(const void* pointer) const;
  // Returns in words what the pointer is.
  std::string Describe(const void* pointer) const;

  // Returns what was written around the live block that holds this backing byte, or around every block;
  // each change is told once.
  std::vector<Overrun> TakeOverruns(const uint8_t* backing);
  std::vector<Overrun> TakeAllOverruns();
  // Live blocks count as written: in fast mode nobody kept book.
  void AssumeDefined();

  uint64_t UsedBytes(int32_t device) const;
  uint64_t PeakBytes(int32_t device) const;
  std::vector<Block> Live() const;

  // Writes what Describe would say into text without allocating: for a signal handler.
  void DescribeInSignal(uintptr_t address, char* text, size_t size) const;

 private:
  struct Freed {
    uint64_t bytes = 0;
    uint64_t span = 0;
    const char* by = nullptr;
    bool moved = false;
  };
  // A freed block's first pages, which the next one gets.
  struct Spare {
    uintptr_t start = 0;
    uint64_t bytes = 0;
  };
  struct Reservation {
    uint64_t bytes = 0;
    uint64_t span = 0;
    const void* caller = nullptr;
  };
  struct Physical {
    uint64_t bytes = 0;
    uint64_t offset = 0;  // in the file
    int32_t device = 0;
    const void* caller = nullptr;
    bool freed = false;
    bool used = false;  // was mapped before
    uintptr_t mappedAt = 0;
  };
  struct Mapping {
    uint64_t bytes = 0;
    uint64_t id = 0;
  };
  struct Usage {
    uint64_t now = 0;
    uint64_t peak = 0;
    void Add(uint64_t bytes) {
      now += bytes;
      peak = now > peak ? now : peak;
    }
  };
  // A range of addresses, its contents and its shadow. No two lie beside one another.
  struct Range {
    uintptr_t base = 0;
    uint64_t size = 0;
    uintptr_t delta = 0;
    uint8_t* shadow = nullptr;  // bit a - base of it: byte a was written
    uintptr_t committed = 0;    // contents below are readable and writable
    uintptr_t bump = 0;         // addresses below were handed out at least once, or are holes
    uintptr_t inherited = 0;    // and below here by the process that this one was forked from
    bool Has(uintptr_t address) const { return address - base < size; }
    uint8_t* BackingOf(uintptr_t address) const {
      return reinterpret_cast<uint8_t*>(address + delta);
    }
  };
  using Blocks = std::map<uintptr_t, Block>;
  using FreedBlocks = std::map<uintptr_t, Freed>;

  static uint64_t Span(uint64_t bytes);
  const Block* FindLocked(uintptr_t address) const;
  const std::pair<const uintptr_t, Freed>* FindFreedLocked(uintptr_t address) const;
  const Reservation* FindReservedLocked(uintptr_t address, uintptr_t* start) const;
  void JoinMappingsLocked(uintptr_t start);
  void UnmapLocked(uintptr_t address);
  void ReleasePhysicalLocked(uint64_t id);
  void DropPhysicalLocked(int32_t device);
  // The range of an address, or nullptr. Needs no lock.
  const Range* RangeOf(uintptr_t address) const;
  bool AddRangeLocked(uint64_t size);
  bool GrowLocked(uint64_t need, uint64_t limit);
  uintptr_t FindPlaceLocked(uint64_t span, uint64_t align);
  // Addresses that may be used, or 0: in no range, or in new ones, or in those of freed blocks.
  uintptr_t PlaceLocked(uint64_t span, uint64_t align);
  // This is the same memory, readable and writable.
  uintptr_t PlaceCommittedLocked(uint64_t span, uint64_t align);
  bool CommitLocked(uintptr_t start, uintptr_t end);
  void FreeInheritedLocked();
  void AddHoleLocked(uintptr_t start, uint64_t length);
  void RemoveHoleLocked(uintptr_t start, uint64_t length);
  void EvictLocked(uint64_t keepBytes, size_t keepBlocks);
  void QuarantineLocked(const Block& block, const char* by);
  // Returns how many bytes of a block that goes keep their pages.
  uint64_t KeepPagesLocked(const Block& block);
  void DropPagesLocked(uint64_t keepBytes);
  void TakePagesLocked(Block* block);
  // Addresses as they were before their first use.
  void RestoreLocked(uintptr_t start, const Freed& freed);
  void UndefineLocked(uintptr_t start, uint64_t bytes);
  void FillLocked(const Block& block, uint8_t* backing, uint64_t bytes);
  // Returns whether the host can give a new block its memory; why names what limits it.
  bool HostHas(uint64_t bytes, std::string* why) const;
  bool GuardedBehindLocked(const Block& block) const;
  bool GuardedBeforeLocked(const Block& block) const;
  template <typename F>
  void ForEachGuardLocked(const Block& block, F&& guard) const;
  void TakeOverrunsLocked(const Block& block, std::vector<Overrun>* overruns);
  uint8_t* BackingOf(uintptr_t address) const { return RangeOf(address)->BackingOf(address); }
  // The device address that has its contents there, or 0.
  uintptr_t AddressOf(const void* backing) const;
  std::string DescribeLocked(uintptr_t address) const;

  mutable Mutex<6, "device memory"> mutex_;
  // Twice as much with each: there are never many.
  static constexpr size_t kMostRanges = kMostDeviceRanges;
  std::array<Range, kMostRanges> ranges_;
  std::atomic<size_t> rangeCount_{0};  // a range is complete before it counts, and stays
  uint64_t reservedBytes_ = 0;         // all ranges
  uint64_t deviceBytes_ = 0;
  bool inheritedFreed_ = true;
  std::map<int32_t, Usage> used_;  // by device
  uint64_t count_ = 0;
  Blocks live_;
  FreedBlocks freed_;
  std::deque<uintptr_t> quarantine_;  // freed_ from the oldest on
  uint64_t quarantineBytes_ = 0;
  std::deque<Spare> spare_;  // from the oldest on
  uint64_t spareBytes_ = 0;
  std::atomic<uint64_t> fillOnUseBytes_{0};
  std::map<uintptr_t, Reservation> reserved_;
  std::map<uintptr_t, Mapping> mappings_;
  std::map<uint64_t, Physical> physical_;
  int file_ = -1;  // what physical memory holds
  uint64_t fileEnd_ = 0;
  std::map<uint64_t, uint64_t> fileHoles_;
  std::map<uintptr_t, uint64_t> holes_;                   // addresses to use again, by start ...
  std::set<std::pair<uint64_t, uintptr_t>> holesBySize_;  // ... and by length
};

}  // namespace aclsim
