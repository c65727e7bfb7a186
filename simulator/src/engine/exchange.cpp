// SPDX-License-Identifier: Apache-2.0
#include "engine/exchange.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <vector>

#include "engine/gm_shadow.h"
#include "host/fork.h"
#include "host/lock.h"
#include "host/pages.h"

namespace aclsim {

namespace {

// Its shadow stays declared for as long as the process lives, so that later launches take it again.
struct Part {
  uint8_t* memory;
  uint8_t* bits;
  uint64_t bytes;
  bool isLent;
};

struct Parts {
  Mutex<9, "memory between cores"> mutex;
  std::vector<Part> all;
};
PerProcess<Parts> parts;

uint8_t* Map(uint64_t bytes) {
  void* const addr = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addr == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return static_cast<uint8_t*>(addr);
}

// The page behind it is part of no other memory.
Part Made(uint64_t bytes) {
  uint8_t* const memory = Map(bytes + PageBytes());
  mprotect(memory + bytes, PageBytes(), PROT_NONE);
  return {memory, Map(bytes / 8), bytes, true};
}

}  // namespace

Exchange::Exchange(uint64_t bytes) {
  // Launches of many sizes share few parts, as each part takes a range of AddGmShadow for good.
  const uint64_t whole = std::bit_ceil(RoundUp(bytes, 8 * PageBytes()));
  const std::lock_guard lock(parts->mutex);
  auto part = std::ranges::find_if(
      parts->all, [&](const Part& each) { return !each.isLent && each.bytes >= whole; });
  if (part == parts->all.end()) {
    parts->all.push_back(Made(whole));
    part = std::prev(parts->all.end());
    AddGmShadow(part->memory, part->bytes, part->bits);
  }
  part->isLent = true;
  region_ = {RegionKind::kGlobal, part->memory, bytes, "memory between cores"};
}

Exchange::~Exchange() {
  const std::lock_guard lock(parts->mutex);
  const auto part = std::ranges::find(parts->all, region_.addr, &Part::memory);
  // Pages that the system takes back read as zeros.
  madvise(part->memory, part->bytes, MADV_DONTNEED);
  madvise(part->bits, part->bytes / 8, MADV_DONTNEED);
  part->isLent = false;
}

}  // namespace aclsim
