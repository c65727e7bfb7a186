// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_memory.h"

#include <cstdlib>

namespace aclsim {

namespace {
constexpr uint64_t kAlign = 4096;  // pinned memory comes in pages
}

HostMemory::Block::~Block() { std::free(start); }

void* HostMemory::Allocate(uint64_t bytes) {
  if (bytes > UINT64_MAX - kAlign) {
    return nullptr;
  }
  void* memory = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (memory == nullptr) {
    return nullptr;
  }
  auto block = std::make_shared<const Block>(static_cast<uint8_t*>(memory), bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  live_[reinterpret_cast<uintptr_t>(memory)] = std::move(block);
  return memory;
}

bool HostMemory::Free(const void* pointer) {
  std::shared_ptr<const Block> block;  // released after the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == live_.end()) {
    return false;
  }
  block = std::move(it->second);
  live_.erase(it);
  return true;
}

std::shared_ptr<const HostMemory::Block> HostMemory::Find(const void* pointer) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) {
    return nullptr;
  }
  --it;
  return address - it->first < it->second->bytes ? it->second : nullptr;
}

}  // namespace aclsim
