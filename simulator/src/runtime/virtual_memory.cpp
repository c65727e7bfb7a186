// SPDX-License-Identifier: Apache-2.0
// Address ranges that a program reserves, and physical memory that it maps there. What is mapped beside one another is one block:
// bounds are those of the whole.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "acl/acl.h"
#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "host/pages.h"
#include "runtime/device_memory.h"
#include "runtime/errors.h"

namespace aclsim {

namespace {

constexpr uint64_t kHugePage = 2ULL << 20;

using Ull = unsigned long long;

}  // namespace

int32_t DeviceMemory::ReserveRange(uint64_t bytes, uint64_t align, const void* caller, void** out,
                                   std::string* why) {
  const std::lock_guard lock(mutex_);
  const uint64_t span = RoundUp(bytes, PageBytes()) + PageBytes();
  const uintptr_t start = PlaceCommittedLocked(span, std::max(align, kHugePage));
  if (start == 0) {
    *why = Format("the host gives no more address space for %llu bytes", static_cast<Ull>(bytes));
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  reserved_[start] = {bytes, span, caller};
  *out = reinterpret_cast<void*>(start);
  return 0;
}

int32_t DeviceMemory::ReleaseRange(const void* pointer, std::string* why) {
  const std::lock_guard lock(mutex_);
  const auto start = reinterpret_cast<uintptr_t>(pointer);
  const auto range = reserved_.find(start);
  if (range == reserved_.end()) {
    *why = DescribeLocked(start) + "; want what aclrtReserveMemAddress returned";
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  const auto mapped = mappings_.lower_bound(start);
  if (mapped != mappings_.end() && mapped->first < start + range->second.bytes) {
    *why = Format("%p still has memory mapped, at %p; call aclrtUnmapMem first", pointer,
                  reinterpret_cast<void*>(mapped->first));
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  freed_[start] = {range->second.bytes, range->second.span, "aclrtReleaseMemAddress"};
  quarantine_.push_back(start);
  quarantineBytes_ += range->second.span;
  reserved_.erase(range);
  return 0;
}

int32_t DeviceMemory::AllocatePhysical(uint64_t bytes, uint64_t limit, int32_t device,
                                       const void* caller, uint64_t id, std::string* why) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes % kHugePage != 0) {
    *why = Format(
        "size is %llu bytes, want a multiple of %llu, what aclrtMemGetAllocationGranularity says",
        static_cast<Ull>(bytes), static_cast<Ull>(kHugePage));
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (bytes > limit || used_[device].now > limit - bytes) {
    *why = Format("out of device memory: %llu bytes wanted, %llu of %llu in use",
                  static_cast<Ull>(bytes), static_cast<Ull>(used_[device].now),
                  static_cast<Ull>(limit));
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  if (file_ < 0) {
    file_ = memfd_create("aclgrad-device-memory", MFD_CLOEXEC);
  }
  // First fit: handles of a program have few sizes.
  auto hole = std::find_if(fileHoles_.begin(), fileHoles_.end(),
                           [&](const auto& one) { return one.second >= bytes; });
  uint64_t offset = fileEnd_;
  if (hole != fileHoles_.end()) {
    offset = hole->first;
    const uint64_t left = hole->second - bytes;
    fileHoles_.erase(hole);
    if (left > 0) {
      fileHoles_[offset + bytes] = left;
    }
  } else if (file_ < 0 || ftruncate(file_, static_cast<off_t>(fileEnd_ + bytes)) != 0) {
    *why = Format("the host gives no memory for %llu bytes", static_cast<Ull>(bytes));
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  } else {
    fileEnd_ += bytes;
  }
  physical_[id] = {bytes, offset, device, caller};
  used_[device].Add(bytes);
  return 0;
}

void DeviceMemory::ReleasePhysicalLocked(uint64_t id) {
  const auto it = physical_.find(id);
  const Physical& memory = it->second;
  used_[memory.device].now -= memory.bytes;
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(memory.offset),
            static_cast<off_t>(memory.bytes));
  fileHoles_[memory.offset] = memory.bytes;
  physical_.erase(it);
}

bool DeviceMemory::HasPhysical(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto it = physical_.find(id);
  return it != physical_.end() && !it->second.freed;
}

bool DeviceMemory::FreePhysical(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = physical_.find(id);
  if (it == physical_.end() || it->second.freed) {
    return false;
  }
  it->second.freed = true;
  if (it->second.mappedAt == 0) {
    ReleasePhysicalLocked(id);
  }
  return true;
}

const DeviceMemory::Reservation* DeviceMemory::FindReservedLocked(uintptr_t address,
                                                                  uintptr_t* start) const {
  auto it = reserved_.upper_bound(address);
  if (it == reserved_.begin()) {
    return nullptr;
  }
  --it;
  *start = it->first;
  return address - it->first < it->second.bytes ? &it->second : nullptr;
}

// The blocks of a reserved range: as far as memory of one device lies beside one another.
void DeviceMemory::JoinMappingsLocked(uintptr_t start) {
  const Reservation& range = reserved_.at(start);
  const uintptr_t end = start + range.bytes;
  for (auto it = live_.lower_bound(start); it != live_.end() && it->first < end;) {
    it = live_.erase(it);
  }
  Block* last = nullptr;
  for (auto it = mappings_.lower_bound(start); it != mappings_.end() && it->first < end; ++it) {
    const Physical& memory = physical_.at(it->second.id);
    if (last != nullptr && last->start + last->bytes == it->first &&
        last->device == memory.device) {
      last->bytes += it->second.bytes;
      continue;
    }
    Block block;
    block.start = it->first;
    block.bytes = it->second.bytes;
    block.number = ++count_;
    block.caller = range.caller;
    block.contents = BackingOf(it->first);
    block.device = memory.device;
    block.mapped = true;
    last = &(live_[it->first] = block);
  }
}

int32_t DeviceMemory::Map(const void* pointer, uint64_t bytes, uint64_t id, bool checked,
                          std::string* why) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  uintptr_t start = 0;
  const Reservation* range = FindReservedLocked(address, &start);
  if (range == nullptr || bytes > start + range->bytes - address) {
    *why = Format("%s; want %llu bytes of an address range of aclrtReserveMemAddress",
                  DescribeLocked(address).c_str(), static_cast<Ull>(bytes));
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  Physical& memory = physical_.at(id);
  if (memory.mappedAt != 0) {
    *why = Format("the physical memory is mapped at %p already; call aclrtUnmapMem first",
                  reinterpret_cast<void*>(memory.mappedAt));
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (bytes == 0 || bytes != memory.bytes || address % kHugePage != 0) {
    *why =
        Format("%llu bytes at %p, want all %llu bytes of the physical memory at a multiple of %llu",
               static_cast<Ull>(bytes), pointer, static_cast<Ull>(memory.bytes),
               static_cast<Ull>(kHugePage));
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  const auto next = mappings_.lower_bound(address);
  const bool below =
      next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address;
  if (below || (next != mappings_.end() && next->first < address + bytes)) {
    *why = Format("memory is mapped at %p already; call aclrtUnmapMem first", pointer);
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  // The file's pages are memory as soon as they are filled.
  if (checked && !memory.used && !HostHas(bytes, why)) {
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  if (mmap(BackingOf(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
           static_cast<off_t>(memory.offset)) == MAP_FAILED) {
    *why = Format("the host cannot map %llu bytes", static_cast<Ull>(bytes));
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  madvise(BackingOf(address), bytes, MADV_HUGEPAGE);
  memory.mappedAt = address;
  mappings_[address] = {bytes, id};
  JoinMappingsLocked(start);
  if (checked) {
    // The bytes that an earlier mapping wrote are still there.
    UndefineLocked(address, bytes);
    if (memory.used) {
      MarkGm(BackingOf(address), bytes, true);
    } else {
      std::memset(BackingOf(address), kPoisonByte, bytes);
    }
  }
  memory.used = true;
  return 0;
}

void DeviceMemory::UnmapLocked(uintptr_t address) {
  const auto it = mappings_.find(address);
  const auto [bytes, id] = it->second;
  mmap(BackingOf(address), bytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  madvise(BackingOf(address), bytes, MADV_HUGEPAGE);
  UndefineLocked(address, bytes);
  mappings_.erase(it);
  Physical& memory = physical_.at(id);
  memory.mappedAt = 0;
  if (memory.freed) {
    ReleasePhysicalLocked(id);
  }
  uintptr_t start = 0;
  if (FindReservedLocked(address, &start) != nullptr) {
    JoinMappingsLocked(start);
  }
}

int32_t DeviceMemory::Unmap(const void* pointer, uint64_t* bytes, std::string* why) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto it = mappings_.find(address);
  if (it == mappings_.end()) {
    *why = DescribeLocked(address) + "; want the start of what aclrtMapMem mapped";
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  *bytes = it->second.bytes;
  UnmapLocked(address);
  return 0;
}

uint64_t DeviceMemory::MappedBytes(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto it = mappings_.find(reinterpret_cast<uintptr_t>(pointer));
  return it == mappings_.end() ? 0 : it->second.bytes;
}

std::vector<DeviceMemory::Block> DeviceMemory::LivePhysical() const {
  const std::lock_guard lock(mutex_);
  std::vector<Block> all;
  for (const auto& [id, memory] : physical_) {
    Block block;
    block.bytes = memory.bytes;
    block.number = id;
    block.caller = memory.caller;
    block.device = memory.device;
    all.push_back(block);
  }
  return all;
}

// Frees what a device that is reset takes along.
void DeviceMemory::DropPhysicalLocked(int32_t device) {
  std::vector<uint64_t> ids;
  for (auto& [id, memory] : physical_) {
    if (memory.device == device) {
      ids.push_back(id);
    }
  }
  for (const uint64_t id : ids) {
    physical_.at(id).freed = true;
    if (const uintptr_t at = physical_.at(id).mappedAt; at != 0) {
      UnmapLocked(at);
    } else {
      ReleasePhysicalLocked(id);
    }
  }
}

}  // namespace aclsim
