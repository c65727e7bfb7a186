// SPDX-License-Identifier: Apache-2.0
#include "launch/thread_ub.h"

#include <sys/mman.h>

#include <stdexcept>

#include "host/format.h"
#include "host/pages.h"

namespace aclsim {

namespace {

// UB lies here in a mapping of three times its size: nowhere would the lower half of an address, which
// is all that some kernels keep, look like an offset in UB, which counts as an address as well.
constexpr uint64_t UbWithin(uint64_t mapped, uint64_t bytes) {
  const uint64_t low = mapped & UINT32_MAX;
  return low < bytes || low + bytes > UINT32_MAX ? mapped + 2 * bytes : mapped;
}
static_assert(UbWithin(0x7f01'0003'0000, 0x30000) == 0x7f01'0003'0000);
static_assert(UbWithin(0x7f01'0002'f000, 0x30000) == 0x7f01'0008'f000);
static_assert(UbWithin(0x7f00'fffd'1000, 0x30000) == 0x7f01'0003'1000);
static_assert(UbWithin(0x7f00'fffc'f000, 0x30000) == 0x7f00'fffc'f000);

}  // namespace

uint8_t* ThreadUb(uint64_t bytes) {
  struct Mapping {
    uint8_t* addr = nullptr;
    uint64_t mapped = 0;
    uint8_t* ub = nullptr;
    uint64_t bytes = 0;
    ~Mapping() { Unmap(); }
    void Unmap() {
      if (addr != nullptr) {
        munmap(addr, mapped);
        addr = nullptr;
        bytes = 0;
      }
    }
  };
  thread_local Mapping mapping;
  if (mapping.bytes < bytes) {
    mapping.Unmap();
    const uint64_t pages = RoundUp(bytes, PageBytes());
    void* addr =
        mmap(nullptr, 3 * pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (addr == MAP_FAILED) {
      throw std::runtime_error(Format(
          "no %llu bytes of address space or memory for a core's UB. Next: raise the host's limit "
          "(ulimit -v), or run on fewer host threads (ACLGRAD_SIM_THREADS)",
          static_cast<unsigned long long>(3 * pages)));
    }
    mapping.addr = static_cast<uint8_t*>(addr);
    mapping.mapped = 3 * pages;
    mapping.bytes = bytes;
    const auto mapped = reinterpret_cast<uint64_t>(addr);
    mapping.ub = mapping.addr + (UbWithin(mapped, pages) - mapped);
  }
  return mapping.ub;
}

}  // namespace aclsim
