// SPDX-License-Identifier: Apache-2.0
#include "launch/block_locals.h"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace aclsim {

namespace {

struct Found {
  const uint8_t* image = nullptr;
  uint64_t given = 0, bytes = 0;
  uint8_t* here = nullptr;  // of this thread; null if it has not used any yet
};

// The thread-local variables of the library that has an address.
Found VariablesAt(const void* address) {
  struct Search {
    uint64_t address;
    Found found;
  } search{reinterpret_cast<uint64_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& looked = *static_cast<Search*>(data);
        Found found;
        bool holds = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          const uint64_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_LOAD) {
            holds = holds || (looked.address >= begin && looked.address - begin < header.p_memsz);
          } else if (header.p_type == PT_TLS) {
            found.image = reinterpret_cast<const uint8_t*>(begin);
            found.given = header.p_filesz;
            found.bytes = header.p_memsz;
            found.here = static_cast<uint8_t*>(info->dlpi_tls_data);
          }
        }
        if (holds) {
          looked.found = found;
        }
        return holds ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace

BlockLocals::BlockLocals(const void* code) : code_(code) {
  const Found found = VariablesAt(code);
  image_ = found.image;
  given_ = found.given;
  bytes_ = found.bytes;
}

BlockLocals::OfCore::OfCore(const BlockLocals& all) {
  if (all.bytes_ == 0) {
    return;
  }
  at_ = VariablesAt(all.code_).here;
  if (at_ != nullptr) {
    before_.assign(at_, at_ + all.bytes_);
    std::memset(std::copy_n(all.image_, all.given_, at_), 0, all.bytes_ - all.given_);
  }
}

BlockLocals::OfCore::~OfCore() { std::ranges::copy(before_, at_); }

}  // namespace aclsim
