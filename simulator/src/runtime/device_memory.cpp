// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "host/pages.h"
#include "runtime/available_memory.h"
#include "runtime/errors.h"
#include "runtime/signal_text.h"

namespace aclsim {

namespace {

constexpr uint64_t kHugePage = 2ULL << 20;
// Most programs use a small part of a device. What is reserved costs nothing on Linux but is counted by limits (ulimit -v) and by
// emulators, which keep tables of it.
constexpr uint64_t kFirstShare = 32;
constexpr uint64_t kMinRange = 64ULL << 20;
// Addresses for each byte of the device, beside those in quarantine, before freed ones are used again: blocks are never moved together.
constexpr uint64_t kRangePerByte = 4;
// A limit of the process's addresses is not for device memory alone: the first range takes this part of it, and those that are
// only there to remember freed blocks leave half of it.
constexpr uint64_t kFirstPartOfLimit = 16;
constexpr uint64_t kMostPartOfLimit = 4;
constexpr uint64_t kCommitStep = 64ULL << 20;
// Between the blocks of a process and those of a forked child.
constexpr uint64_t kForkGap = 2ULL << 20;
// Quarantined addresses keep their page tables (1/512 of their size), so their sum is bounded, as
// is their number.
constexpr uint64_t kQuarantineBytes = 16ULL << 30;
constexpr size_t kQuarantineBlocks = 65536;
// From here on it is worth asking the host whether it has that much.
constexpr uint64_t kAskHostFrom = 64ULL << 20;
// A process that has such blocks may want this besides.
constexpr uint64_t kSlack = 16ULL << 20;
// Blocks of this size are filled where they are first used. Smaller ones are filled at once: small pages that come one by one take
// longer than huge ones.
constexpr uint64_t kFillOnUseFrom = 256ULL << 20;
// Bytes of the file that has the filling: a block of 64 GiB then takes 4096 mappings, of the 65530 that a process may have.
constexpr uint64_t kFillFileBytes = 16ULL << 20;
// A freed block of this size keeps its pages, for the next one: to get them anew takes longer than most kernels. Each such block
// is a mapping of its own for as long as it is in quarantine, of which a process may have some ten thousand.
constexpr uint64_t kSpareFrom = 8ULL << 20;
constexpr uint64_t kMostSpare = 16ULL << 30;
constexpr uint64_t kMostSparePart = 2;  // of what the host can give
#ifndef MREMAP_DONTUNMAP
constexpr int MREMAP_DONTUNMAP = 4;
#endif
// From here on a block's part of the shadow is worth huge pages; below, they would hold back memory for addresses of no use.
constexpr uint64_t kHugeShadowFrom = 64ULL << 20;
constexpr uintptr_t kPatternBytes = 4096;

using Ull = unsigned long long;

// Address bytes that one page of the shadow stands for.
uint64_t ShadowUnit() { return 8 * PageBytes(); }

// Guards hold this, by address: no number that kernels write often.
const std::array<uint8_t, kPatternBytes>& GuardPattern() {
  static const auto* pattern = [] {
    auto* made = new std::array<uint8_t, kPatternBytes>;
    for (size_t i = 0; i < made->size(); ++i) {
      (*made)[i] = static_cast<uint8_t>(0xC3 ^ (i * 0x9D));
    }
    return made;
  }();
  return *pattern;
}

// Calls part(at, bytes, pattern) for what one copy of the pattern covers each.
template <typename F>
void ForEachPattern(uintptr_t begin, uintptr_t end, F&& part) {
  for (uintptr_t at = begin; at < end;) {
    const uintptr_t bytes = std::min(end - at, kPatternBytes - at % kPatternBytes);
    part(at, bytes, GuardPattern().data() + at % kPatternBytes);
    at += bytes;
  }
}

void* MapReserved(uint64_t bytes) {
  void* addr = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return addr == MAP_FAILED ? nullptr : addr;
}

// Makes addresses of a range as they were before their first use.
void MapAnew(uint8_t* backing, uint64_t bytes) {
  mmap(backing, bytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  madvise(backing, bytes, MADV_HUGEPAGE);
}

// Moves pages, both places being in ranges; what was there before reads as zeros. Not in one step: where that fails, older systems
// have taken the new place away by then, and another thread may be the next to get its addresses.
bool MovePages(uint8_t* from, uint8_t* to, uint64_t bytes) {
  constexpr int kMove = MREMAP_MAYMOVE | MREMAP_FIXED;
  auto* const reserved = static_cast<uint8_t*>(MapReserved(bytes + kHugePage));
  if (reserved == nullptr) {
    return false;
  }
  // On a huge page, so that whole tables of pages move.
  uint8_t* const between = reserved + (RoundUp(reinterpret_cast<uintptr_t>(reserved), kHugePage) -
                                       reinterpret_cast<uintptr_t>(reserved));
  uint8_t* const end = reserved + bytes + kHugePage;
  const bool left = mremap(from, bytes, bytes, kMove | MREMAP_DONTUNMAP, between) != MAP_FAILED;
  const bool gone = !left && errno == EFAULT;  // the pages came from two blocks
  if (!left && !gone) {                        // an older system
    munmap(reserved, bytes + kHugePage);
    return false;
  }
  if (between != reserved) {
    munmap(reserved, static_cast<size_t>(between - reserved));
  }
  munmap(between + bytes, static_cast<size_t>(end - between - static_cast<ptrdiff_t>(bytes)));
  if (gone) {
    return false;
  }
  const bool arrived = mremap(between, bytes, bytes, kMove, to) != MAP_FAILED;
  if (!arrived) {
    munmap(between, bytes);
  }
  return arrived;
}

uint64_t Limit(int resource) {
  rlimit limit = {};
  return getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 &&
                 limit.rlim_cur != RLIM_INFINITY
             ? limit.rlim_cur
             : UINT64_MAX;
}

uint64_t AddressLimit() { return Limit(RLIMIT_AS); }

// A file in memory that holds what new device memory is filled with, or -1.
int FillFile() {
  static const int file = [] {
    const int made =
        Limit(RLIMIT_FSIZE) < kFillFileBytes ? -1 : memfd_create("aclsim", MFD_CLOEXEC);
    if (made == -1) {
      return -1;
    }
    void* const bytes =
        ftruncate(made, kFillFileBytes) == 0
            ? mmap(nullptr, kFillFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0)
            : MAP_FAILED;
    if (bytes == MAP_FAILED) {
      close(made);
      return -1;
    }
    std::memset(bytes, kPoisonByte, kFillFileBytes);
    munmap(bytes, kFillFileBytes);
    return made;
  }();
  return file;
}

// Fills addresses of a range without taking memory: a page gets memory of its own when it is first written.
bool FillOnUse(uint8_t* backing, uint64_t bytes) {
  const int file = FillFile();
  bool mapped = file != -1;
  for (uint64_t at = 0; mapped && at < bytes; at += kFillFileBytes) {
    mapped = mmap(backing + at, std::min(bytes - at, kFillFileBytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0) != MAP_FAILED;
  }
  return mapped;
}

}  // namespace

int32_t DeviceMemory::Reserve(uint64_t deviceBytes, std::string* why) {
  const std::lock_guard lock(mutex_);
  deviceBytes_ = deviceBytes;
  if (rangeCount_ != 0) {
    FreeInheritedLocked();
    return 0;
  }
  const uint64_t first = std::min(deviceBytes / kFirstShare, AddressLimit() / kFirstPartOfLimit);
  for (uint64_t size = RoundUp(std::max(first, kMinRange), kHugePage); size >= kMinRange;
       size = RoundUp(size / 2, kHugePage)) {
    if (AddRangeLocked(size)) {
      return 0;
    }
  }
  *why = Format(
      "cannot reserve %llu bytes of address space twice for device memory; raise the limit (ulimit "
      "-v)",
      static_cast<Ull>(kMinRange));
  return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
}

bool DeviceMemory::AddRangeLocked(uint64_t size) {
  const size_t count = rangeCount_;
  if (count == kMostRanges) {
    return false;
  }
  // More than is used: what lies behind a range is never the next one.
  const uint64_t mapped = size + kHugePage;
  void* device = MapReserved(mapped);
  void* backing = device != nullptr ? MapReserved(mapped) : nullptr;
  void* shadow = backing != nullptr ? MapReserved(size / 8) : nullptr;
  if (shadow == nullptr) {
    for (void* part : {device, backing}) {
      if (part != nullptr) {
        munmap(part, mapped);
      }
    }
    return false;
  }
  Range& range = ranges_[count];
  range.base = RoundUp(reinterpret_cast<uintptr_t>(device), kHugePage);
  range.size = size;
  range.delta = RoundUp(reinterpret_cast<uintptr_t>(backing), kHugePage) - range.base;
  range.shadow = static_cast<uint8_t*>(shadow);
  range.committed = range.base;
  range.bump = range.base + PageBytes();  // the first block's guard
  range.inherited = range.base;
  madvise(range.BackingOf(range.base), size, MADV_HUGEPAGE);  // only a hint
  AddGmShadow(range.BackingOf(range.base), size, range.shadow);
  reservedBytes_ += size;
  rangeCount_.store(count + 1, std::memory_order_release);
  return true;
}

// One more range that has room for `need` bytes, in all at most `limit`.
bool DeviceMemory::GrowLocked(uint64_t need, uint64_t limit) {
  const uint64_t least = RoundUp(std::max(need + PageBytes(), kMinRange), kHugePage);
  if (reservedBytes_ >= limit || least > limit - reservedBytes_) {
    return false;
  }
  // There are reasons to be modest where there is no limit.
  const uint64_t step = limit == UINT64_MAX ? reservedBytes_ / 4 : reservedBytes_;
  uint64_t size = std::max(least, std::min(step, limit - reservedBytes_) / kHugePage * kHugePage);
  for (;; size = std::max(least, size / 2 / kHugePage * kHugePage)) {
    const size_t last = rangeCount_ - 1;
    if (AddRangeLocked(size)) {
      // The rest of the range before may still take small blocks.
      Range& before = ranges_[last];
      AddHoleLocked(before.bump, before.base + before.size - before.bump);
      before.bump = before.base + before.size;
      return true;
    }
    if (size == least) {
      return false;
    }
  }
}

// Other threads of the parent may have been at work on it: only single words are read, and addresses that it is about to hand out
// stay its own.
void DeviceMemory::Inherit(const DeviceMemory& parent) {
  const size_t count = parent.rangeCount_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    Range& range = ranges_[i];
    range = parent.ranges_[i];
    range.bump = range.inherited = std::min(range.bump + kForkGap, range.base + range.size);
    reservedBytes_ += range.size;
  }
  rangeCount_ = count;
  inheritedFreed_ = count == 0;
}

// Has what the parent had written by the time of the fork; it keeps its own.
void DeviceMemory::FreeInheritedLocked() {
  if (inheritedFreed_) {
    return;
  }
  for (size_t i = 0; i < rangeCount_; ++i) {
    const Range& range = ranges_[i];
    madvise(range.BackingOf(range.base), range.inherited - range.base, MADV_DONTNEED);
    madvise(range.shadow, (range.inherited - range.base) / 8, MADV_DONTNEED);
  }
  inheritedFreed_ = true;
}

const DeviceMemory::Range* DeviceMemory::RangeOf(uintptr_t address) const {
  const size_t count = rangeCount_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    if (ranges_[i].Has(address)) {
      return &ranges_[i];
    }
  }
  return nullptr;
}

uintptr_t DeviceMemory::AddressOf(const void* backing) const {
  const size_t count = rangeCount_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(backing) - ranges_[i].delta;
    if (ranges_[i].Has(address)) {
      return address;
    }
  }
  return 0;
}

uint64_t DeviceMemory::Span(uint64_t bytes) {
  // A page that nobody owns follows every block: its guard, and that of the next one.
  return RoundUp(bytes, PageBytes()) + PageBytes();
}

bool DeviceMemory::InRange(const void* pointer) const {
  return RangeOf(reinterpret_cast<uintptr_t>(pointer)) != nullptr;
}

bool DeviceMemory::CommitLocked(uintptr_t start, uintptr_t end) {
  Range& range = ranges_[RangeOf(start) - ranges_.data()];
  if (end <= range.committed) {
    return true;
  }
  // One growing prefix keeps this at two kernel mappings however many blocks there are.
  const uintptr_t target = std::min<uintptr_t>(range.base + RoundUp(end - range.base, kCommitStep),
                                               range.base + range.size);
  const uint64_t bytes = target - range.committed;
  if (mprotect(range.BackingOf(range.committed), bytes, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(range.shadow + (range.committed - range.base) / 8, bytes / 8,
               PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  range.committed = target;
  return true;
}

void DeviceMemory::RemoveHoleLocked(uintptr_t start, uint64_t length) {
  holes_.erase(start);
  holesBySize_.erase({length, start});
}

void DeviceMemory::AddHoleLocked(uintptr_t start, uint64_t length) {
  if (length == 0) {
    return;
  }
  auto next = holes_.lower_bound(start);
  if (next != holes_.end() && start + length == next->first) {
    const auto [nextStart, nextLength] = *next;
    length += nextLength;
    RemoveHoleLocked(nextStart, nextLength);
    next = holes_.lower_bound(start);
  }
  if (next != holes_.begin()) {
    const auto [previousStart, previousLength] = *std::prev(next);
    if (previousStart + previousLength == start) {
      RemoveHoleLocked(previousStart, previousLength);
      start = previousStart;
      length += previousLength;
    }
  }
  holes_[start] = length;
  holesBySize_.insert({length, start});
}

uintptr_t DeviceMemory::FindPlaceLocked(uint64_t span, uint64_t align) {
  const auto hole = holesBySize_.lower_bound({span + align - PageBytes(), 0});
  if (hole != holesBySize_.end()) {
    const auto [length, first] = *hole;
    RemoveHoleLocked(first, length);
    const uintptr_t start = RoundUp(first, align);
    AddHoleLocked(first, start - first);
    AddHoleLocked(start + span, first + length - (start + span));
    return start;
  }
  Range& range = ranges_[rangeCount_ - 1];
  const uintptr_t start = RoundUp(range.bump, align);
  const uintptr_t end = range.base + range.size;
  if (start > end || span > end - start) {
    return 0;
  }
  AddHoleLocked(range.bump, start - range.bump);
  range.bump = start + span;
  return start;
}

uintptr_t DeviceMemory::PlaceLocked(uint64_t span, uint64_t align) {
  uintptr_t start = FindPlaceLocked(span, align);
  if (start != 0) {
    return start;
  }
  const uint64_t wanted = kRangePerByte * deviceBytes_ + kQuarantineBytes;
  if (GrowLocked(span + align, std::min(wanted, AddressLimit() / kMostPartOfLimit))) {
    return FindPlaceLocked(span, align);
  }
  EvictLocked(0, 0);
  start = FindPlaceLocked(span, align);
  if (start == 0 && GrowLocked(span + align, UINT64_MAX)) {
    start = FindPlaceLocked(span, align);
  }
  return start;
}

uintptr_t DeviceMemory::PlaceCommittedLocked(uint64_t span, uint64_t align) {
  uintptr_t start = PlaceLocked(span, align);
  if (start == 0 || CommitLocked(start, start + span)) {
    return start;
  }
  // A host that promises no more than it has: what freed blocks had was promised before.
  AddHoleLocked(start, span);
  EvictLocked(0, 0);
  start = FindPlaceLocked(span, align);
  if (start != 0 && !CommitLocked(start, start + span)) {
    AddHoleLocked(start, span);
    return 0;
  }
  return start;
}

void DeviceMemory::EvictLocked(uint64_t keepBytes, size_t keepBlocks) {
  while (!quarantine_.empty() &&
         (quarantineBytes_ > keepBytes || quarantine_.size() > keepBlocks)) {
    const auto oldest = freed_.find(quarantine_.front());
    quarantine_.pop_front();
    quarantineBytes_ -= oldest->second.span;
    RestoreLocked(oldest->first, oldest->second);
    AddHoleLocked(oldest->first, oldest->second.span);
    freed_.erase(oldest);
  }
}

uint64_t DeviceMemory::KeepPagesLocked(const Block& block) {
  const uint64_t bytes = block.bytes / kHugePage * kHugePage;
  if (block.mapped || block.bytes < kSpareFrom) {
    return 0;
  }
  uint64_t peak = 0;  // more than what was in use at a time is of no use again
  for (const auto& [device, usage] : used_) {
    peak += usage.peak;
  }
  const uint64_t most = std::min({kMostSpare, peak, HostMemoryAvailable().bytes / kMostSparePart});
  if (bytes > most) {
    return 0;
  }
  DropPagesLocked(most - bytes);
  // A host that runs short takes them by itself; until then to write there again costs nothing.
  madvise(BackingOf(block.start), bytes, MADV_FREE);
  spare_.push_back({block.start, bytes});
  spareBytes_ += bytes;
  return bytes;
}

void DeviceMemory::DropPagesLocked(uint64_t keepBytes) {
  while (spareBytes_ > keepBytes) {
    const Spare oldest = spare_.front();
    spare_.pop_front();
    spareBytes_ -= oldest.bytes;
    madvise(BackingOf(oldest.start), oldest.bytes, MADV_DONTNEED);
  }
}

void DeviceMemory::TakePagesLocked(Block* block) {
  const uint64_t wanted = block->bytes / kHugePage * kHugePage;
  if (block->bytes < kSpareFrom || spare_.empty()) {
    return;
  }
  // The smallest that has enough, or else the largest.
  const auto worse = [&](const Spare& a, const Spare& b) {
    return a.bytes >= wanted && b.bytes >= wanted ? a.bytes > b.bytes : a.bytes < b.bytes;
  };
  const auto best = std::max_element(spare_.begin(), spare_.end(), worse);
  const uint64_t bytes = std::min(best->bytes, wanted);
  block->moved = MovePages(BackingOf(best->start), BackingOf(block->start), bytes);
  if (block->moved) {
    best->start += bytes;
    best->bytes -= bytes;
    spareBytes_ -= bytes;
  } else {
    MapAnew(BackingOf(block->start), bytes);
    madvise(BackingOf(best->start), best->bytes, MADV_DONTNEED);
    spareBytes_ -= std::exchange(best->bytes, 0);
  }
  if (best->bytes == 0) {
    spare_.erase(best);
  }
}

void DeviceMemory::RestoreLocked(uintptr_t start, const Freed& freed) {
  const auto end = start + freed.bytes;
  const auto spare = std::find_if(spare_.begin(), spare_.end(), [&](const Spare& one) {
    return one.start >= start && one.start < end;
  });
  if (spare != spare_.end()) {
    madvise(BackingOf(spare->start), spare->bytes, MADV_DONTNEED);
    spareBytes_ -= spare->bytes;
    spare_.erase(spare);
  }
  if (freed.moved) {  // the system joins new mappings with those beside them
    MapAnew(BackingOf(start), freed.bytes / kHugePage * kHugePage);
  }
}

// Pages of the shadow that stand for these bytes alone go back to the host, where they read as zero.
void DeviceMemory::UndefineLocked(uintptr_t start, uint64_t bytes) {
  const Range& range = *RangeOf(start);
  const uintptr_t base = range.base;
  const uintptr_t end = start + bytes;
  const uintptr_t first = base + RoundUp(start - base, ShadowUnit());
  const uintptr_t last = base + (end - base) / ShadowUnit() * ShadowUnit();
  if (first >= last) {
    MarkGm(BackingOf(start), bytes, false);
    return;
  }
  MarkGm(BackingOf(start), first - start, false);
  uint8_t* const shadow = range.shadow + (first - base) / 8;
  if (bytes >= kHugeShadowFrom) {
    madvise(shadow, (last - first) / 8, MADV_HUGEPAGE);
  }
  madvise(shadow, (last - first) / 8, MADV_DONTNEED);
  MarkGm(range.BackingOf(last), end - last, false);
}

void DeviceMemory::AssumeDefined() {
  const std::lock_guard lock(mutex_);
  for (const auto& [start, block] : live_) {
    MarkGm(BackingOf(start), block.bytes, true);
  }
}

bool DeviceMemory::GuardedBehindLocked(const Block& block) const {
  const auto next = live_.find(block.start + Span(block.bytes));
  return next != live_.end() && next->second.guarded;
}

bool DeviceMemory::GuardedBeforeLocked(const Block& block) const {
  const auto it = live_.lower_bound(block.start);
  if (it == live_.begin()) {
    return false;
  }
  const Block& previous = std::prev(it)->second;
  return previous.guarded && previous.start + Span(previous.bytes) == block.start;
}

// Calls guard(begin, end) for the bytes behind and before the block that are its own to watch. Two
// guarded blocks share the page between them by halves.
template <typename F>
void DeviceMemory::ForEachGuardLocked(const Block& block, F&& guard) const {
  const uintptr_t next = block.start + Span(block.bytes);
  guard(block.start + block.bytes, GuardedBehindLocked(block) ? next - PageBytes() / 2 : next);
  guard(block.start - (GuardedBeforeLocked(block) ? PageBytes() / 2 : PageBytes()), block.start);
}

void DeviceMemory::TakeOverrunsLocked(const Block& block, std::vector<Overrun>* overruns) {
  if (!block.guarded) {
    return;
  }
  ForEachGuardLocked(block, [&](uintptr_t begin, uintptr_t end) {
    uintptr_t first = 0;
    uintptr_t last = 0;
    ForEachPattern(begin, end, [&](uintptr_t start, uintptr_t bytes, const uint8_t* pattern) {
      uint8_t* const own = BackingOf(start);
      if (std::memcmp(own, pattern, bytes) == 0) return;
      for (uintptr_t i = 0; i < bytes; ++i) {
        if (own[i] != pattern[i]) {
          first = first == 0 ? start + i : first;
          last = start + i;
          own[i] = pattern[i];
        }
      }
    });
    if (first != 0) {
      const auto offset = [&](uintptr_t at) {
        return static_cast<int64_t>(at) - static_cast<int64_t>(block.start);
      };
      overruns->push_back({block, offset(first), offset(last) + 1});
    }
  });
}

std::vector<DeviceMemory::Overrun> DeviceMemory::TakeOverruns(const uint8_t* backing) {
  const std::lock_guard lock(mutex_);
  std::vector<Overrun> overruns;
  const Block* block = FindLocked(AddressOf(backing));
  if (block != nullptr) {
    TakeOverrunsLocked(*block, &overruns);
  }
  return overruns;
}

std::vector<DeviceMemory::Overrun> DeviceMemory::TakeAllOverruns() {
  const std::lock_guard lock(mutex_);
  std::vector<Overrun> overruns;
  for (const auto& [start, block] : live_) {
    TakeOverrunsLocked(block, &overruns);
  }
  return overruns;
}

bool DeviceMemory::HostHas(uint64_t bytes, std::string* why) const {
  if (bytes < kAskHostFrom) {
    return true;
  }
  const uint64_t taken = bytes + bytes / 8 + kSlack;  // with the bits that say what was written
  // Other blocks that are not in use yet have the first claim.
  const uint64_t claimed = fillOnUseBytes_ - std::min(fillOnUseBytes_.load(), PrivateBytes());
  const AvailableMemory host = HostMemoryAvailable();
  const uint64_t left = host.bytes - std::min(host.bytes, claimed);
  if (taken > left) {
    *why = Format(
        "checked mode fills new device memory: %llu bytes wanted, %s leaves %llu beside what other "
        "blocks may still take; use a smaller problem, raise the limit, or ACLGRAD_SIM_MODE=fast, "
        "which fills none",
        static_cast<Ull>(taken), host.limit.c_str(), static_cast<Ull>(left));
  }
  return taken <= left;
}

int32_t DeviceMemory::Allocate(uint64_t bytes, uint64_t limit, int32_t device, bool checked,
                               const void* caller, void** out, std::string* why) {
  if (checked && bytes <= limit && !HostHas(bytes, why)) {
    {
      const std::lock_guard lock(mutex_);
      DropPagesLocked(0);
    }
    if (!HostHas(bytes, why)) {
      return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
  }
  uintptr_t start = 0;
  bool filled = false;
  {
    const std::lock_guard lock(mutex_);
    Usage& used = used_[device];
    if (bytes > limit || used.now > limit - bytes) {
      *why = Format("out of device memory: %llu bytes wanted, %llu of %llu in use",
                    static_cast<Ull>(bytes), static_cast<Ull>(used.now), static_cast<Ull>(limit));
      return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    const uint64_t span = Span(bytes);
    // Big blocks start on a huge page: far fewer page faults on first touch.
    const uint64_t align = bytes >= kHugePage ? kHugePage : PageBytes();
    start = PlaceCommittedLocked(span, align);
    if (start == 0) {
      *why = Format("the host gives no more address space or memory for a block of %llu bytes",
                    static_cast<Ull>(bytes));
      return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    used.Add(bytes);
    Block& block =
        live_[start] = {start, bytes, ++count_, caller, checked, false, device, BackingOf(start)};
    TakePagesLocked(&block);
    if (checked && bytes >= kFillOnUseFrom && !block.moved) {
      const uint64_t data = RoundUp(bytes, PageBytes());
      block.fillOnUse = FillOnUse(BackingOf(start), data);
      if (block.fillOnUse) {
        fillOnUseBytes_ += data;
      } else {
        MapAnew(BackingOf(start), data);
      }
    }
    filled = block.fillOnUse;
    if (checked) {
      UndefineLocked(start, bytes);
      ForEachGuardLocked(block, [&](uintptr_t begin, uintptr_t end) {
        ForEachPattern(begin, end, [&](uintptr_t at, uintptr_t bytes, const uint8_t* pattern) {
          std::memcpy(BackingOf(at), pattern, bytes);
        });
      });
    }
  }
  if (checked && !filled) {
    std::memset(BackingOf(start), kPoisonByte, bytes);
  }
  *out = reinterpret_cast<void*>(start);
  return 0;
}

int32_t DeviceMemory::Renew(const void* pointer, std::string* why) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto it = live_.find(address);
  if (it == live_.end()) {
    *why = DescribeLocked(address) + "; want the start of a live block, as aclrtMalloc returned it";
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (it->second.guarded) {
    UndefineLocked(address, it->second.bytes);
    FillLocked(it->second, BackingOf(address), it->second.bytes);
  }
  return 0;
}

void DeviceMemory::FillLocked(const Block& block, uint8_t* backing, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(backing);
  const uintptr_t first = RoundUp(begin, PageBytes());
  const uintptr_t last = (begin + bytes) / PageBytes() * PageBytes();
  if (block.fillOnUse && first < last && FillOnUse(backing + (first - begin), last - first)) {
    std::memset(backing, kPoisonByte, first - begin);
    std::memset(backing + (last - begin), kPoisonByte, begin + bytes - last);
  } else {
    std::memset(backing, kPoisonByte, bytes);
  }
}

void DeviceMemory::FillAsNew(uint8_t* backing, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Block* const block = FindLocked(AddressOf(backing));
  FillLocked(block != nullptr ? *block : Block{}, backing, bytes);
  MarkGm(backing, bytes, false);
}

void DeviceMemory::QuarantineLocked(const Block& block, const char* by) {
  const uint64_t span = Span(block.bytes);
  freed_[block.start] = {block.bytes, span, by, block.moved};
  quarantine_.push_back(block.start);
  quarantineBytes_ += span;
  used_[block.device].now -= block.bytes;
  // The pages go before anybody can get the address again, or are another block's. MADV_DONTNEED: read back as zeros.
  const uint64_t data = RoundUp(block.bytes, PageBytes());
  if (block.fillOnUse) {
    fillOnUseBytes_ -= data;
    MapAnew(BackingOf(block.start), data);
  } else {
    const uint64_t kept = KeepPagesLocked(block);
    madvise(BackingOf(block.start) + kept, data - kept, MADV_DONTNEED);
  }
  if (block.guarded) {
    if (!GuardedBehindLocked(block)) {
      madvise(BackingOf(block.start + data), PageBytes(), MADV_DONTNEED);
    }
    if (!GuardedBeforeLocked(block)) {
      madvise(BackingOf(block.start - PageBytes()), PageBytes(), MADV_DONTNEED);
    }
    UndefineLocked(block.start, block.bytes);
  }
  EvictLocked(kQuarantineBytes, kQuarantineBlocks);
}

int32_t DeviceMemory::Free(const void* pointer, const char* by, std::string* why) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto it = live_.find(address);
  if (it == live_.end()) {
    *why = DescribeLocked(address) + "; want the start of a live block, as aclrtMalloc returned it";
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (it->second.mapped) {
    *why = DescribeLocked(address) +
           ", mapped by aclrtMapMem; want aclrtUnmapMem and aclrtFreePhysical";
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  const Block block = it->second;
  live_.erase(it);
  QuarantineLocked(block, by);
  return 0;
}

std::vector<DeviceMemory::Block> DeviceMemory::FreeAll(const char* by, int32_t device) {
  const std::lock_guard lock(mutex_);
  DropPhysicalLocked(device);
  std::vector<Block> all;
  for (const auto& [start, block] : live_) {
    if (block.device == device) {
      all.push_back(block);
    }
  }
  for (const Block& block : all) {
    live_.erase(block.start);
  }
  for (const Block& block : all) {
    QuarantineLocked(block, by);
  }
  return all;
}

void DeviceMemory::ForgetFreed() {
  const std::lock_guard lock(mutex_);
  EvictLocked(0, 0);
}

const DeviceMemory::Block* DeviceMemory::FindLocked(uintptr_t address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) {
    return nullptr;
  }
  --it;
  return address - it->first < it->second.bytes ? &it->second : nullptr;
}

const std::pair<const uintptr_t, DeviceMemory::Freed>* DeviceMemory::FindFreedLocked(
    uintptr_t address) const {
  auto it = freed_.upper_bound(address);
  if (it == freed_.begin()) {
    return nullptr;
  }
  --it;
  return address - it->first < it->second.bytes ? &*it : nullptr;
}

std::string DeviceMemory::DescribeLocked(uintptr_t address) const {
  const auto* pointer = reinterpret_cast<const void*>(address);
  if (address == 0) {
    return "a null pointer";
  }
  if (!InRange(pointer)) {
    return Format("%p is host memory", pointer);
  }
  if (const Block* block = FindLocked(address)) {
    return Format("%p is byte %llu of the device block %p of %llu bytes", pointer,
                  static_cast<Ull>(address - block->start), reinterpret_cast<void*>(block->start),
                  static_cast<Ull>(block->bytes));
  }
  if (address < RangeOf(address)->inherited) {
    return Format("%p is device memory of before the fork, and a child has none of its parent's",
                  pointer);
  }
  if (const auto* freed = FindFreedLocked(address)) {
    return Format("%p is byte %llu of the device block %p of %llu bytes that was freed by %s",
                  pointer, static_cast<Ull>(address - freed->first),
                  reinterpret_cast<void*>(freed->first), static_cast<Ull>(freed->second.bytes),
                  freed->second.by);
  }
  if (uintptr_t start = 0; const Reservation* range = FindReservedLocked(address, &start)) {
    return Format("%p is byte %llu of the address range %p of %llu bytes, where nothing is mapped",
                  pointer, static_cast<Ull>(address - start), reinterpret_cast<void*>(start),
                  static_cast<Ull>(range->bytes));
  }
  auto it = live_.upper_bound(address);
  if (it != live_.begin()) {
    const Block& below = std::prev(it)->second;
    return Format(
        "%p is in no device block; it lies %llu bytes behind the end of the block %p of %llu bytes",
        pointer, static_cast<Ull>(address - below.start - below.bytes),
        reinterpret_cast<void*>(below.start), static_cast<Ull>(below.bytes));
  }
  return Format("%p is a device address in no block", pointer);
}

std::string DeviceMemory::Describe(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  return DescribeLocked(reinterpret_cast<uintptr_t>(pointer));
}

uint8_t* DeviceMemory::Resolve(const void* pointer, uint64_t bytes, std::string* why) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const Block* block = FindLocked(address);
  if (block == nullptr) {
    *why = DescribeLocked(address) + "; want device memory of aclrtMalloc";
    return nullptr;
  }
  const uint64_t left = block->bytes - (address - block->start);
  if (bytes > left) {
    *why = Format("%s; %llu bytes are wanted from there, it has %llu left",
                  DescribeLocked(address).c_str(), static_cast<Ull>(bytes), static_cast<Ull>(left));
    return nullptr;
  }
  return BackingOf(address);
}

DeviceMemory::Block DeviceMemory::Find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const Block* block = FindLocked(reinterpret_cast<uintptr_t>(pointer));
  return block != nullptr ? *block : Block{};
}

DeviceMemory::Block DeviceMemory::FindBacking(const void* backing) const {
  const std::lock_guard lock(mutex_);
  const Block* block = FindLocked(AddressOf(backing));
  return block != nullptr ? *block : Block{};
}

bool DeviceMemory::WasFreed(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return FindLocked(address) == nullptr && FindFreedLocked(address) != nullptr;
}

uint64_t DeviceMemory::UsedBytes(int32_t device) const {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(device);
  return found == used_.end() ? 0 : found->second.now;
}

uint64_t DeviceMemory::PeakBytes(int32_t device) const {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(device);
  return found == used_.end() ? 0 : found->second.peak;
}

std::vector<DeviceMemory::Block> DeviceMemory::Live() const {
  const std::lock_guard lock(mutex_);
  std::vector<Block> all;
  for (const auto& [start, block] : live_) {
    all.push_back(block);
  }
  return all;
}

void DeviceMemory::DescribeInSignal(uintptr_t address, char* text, size_t size) const {
  SignalText out(text, size);
  out.Hex(address);
  // The faulting thread holds no lock of ours; another one may, for a moment.
  bool locked = false;
  for (int i = 0; i < 1000 && !(locked = mutex_.try_lock()); ++i) {
    sched_yield();
  }
  if (!locked) {
    out.Text(" is a device address");
    return;
  }
  if (const Block* block = FindLocked(address)) {
    out.Text(" is byte ")
        .Number(address - block->start)
        .Text(" of the device block ")
        .Hex(block->start);
    out.Text(" of ").Number(block->bytes).Text(" bytes");
  } else if (const auto* freed = FindFreedLocked(address)) {
    out.Text(" is byte ")
        .Number(address - freed->first)
        .Text(" of the device block ")
        .Hex(freed->first);
    out.Text(" of ")
        .Number(freed->second.bytes)
        .Text(" bytes that was freed by ")
        .Text(freed->second.by);
  } else {
    out.Text(" is a device address in no block");
  }
  mutex_.unlock();
}

}  // namespace aclsim
