// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_memory.h"

#include <cstdlib>

#include "host/pages.h"

namespace aclsim {

HostMemory::Block::~Block() {
  if (own) {
    std::free(start);
  }
}

void* HostMemory::Allocate(uint64_t bytes) {
  // Pinned memory comes in pages.
  if (bytes > UINT64_MAX - PageBytes()) {
    return nullptr;
  }
  void* memory = std::aligned_alloc(PageBytes(), RoundUp(bytes, PageBytes()));
  if (memory == nullptr) {
    return nullptr;
  }
  auto block = std::make_shared<const Block>(static_cast<uint8_t*>(memory), bytes);
  const std::lock_guard lock(mutex_);
  live_[reinterpret_cast<uintptr_t>(memory)] = std::move(block);
  return memory;
}

bool HostMemory::Free(const void* pointer) {
  std::shared_ptr<const Block> block;  // released after the lock
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == live_.end() || !it->second->own) {
    return false;
  }
  block = std::move(it->second);
  live_.erase(it);
  return true;
}

bool HostMemory::Register(void* pointer, uint64_t bytes) {
  const auto start = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  const auto next = live_.lower_bound(start);
  const bool above = next != live_.end() && next->first - start < bytes;
  const bool below =
      next != live_.begin() && start - std::prev(next)->first < std::prev(next)->second->bytes;
  if (above || below) {
    return false;
  }
  live_[start] = std::make_shared<const Block>(static_cast<uint8_t*>(pointer), bytes, false);
  return true;
}

bool HostMemory::Unregister(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == live_.end() || it->second->own) {
    return false;
  }
  live_.erase(it);
  return true;
}

std::shared_ptr<const HostMemory::Block> HostMemory::Find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) {
    return nullptr;
  }
  --it;
  return address - it->first < it->second->bytes ? it->second : nullptr;
}

}  // namespace aclsim
