// SPDX-License-Identifier: Apache-2.0
// Sections of an ELF file of this host's machine, uncompressed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace aclsim {

struct ElfSections {
  std::map<std::string, std::vector<uint8_t>> byName;
  uint64_t base = 0;    // the address that the file has for where it is loaded
  std::string missing;  // what keeps a section from being read, and what to do
};

// The sections that lines are read from, of a file or of the file beside it that has them. Copies: whoever writes the file
// meanwhile changes nothing.
ElfSections ReadDebugSections(const std::string& file);

}  // namespace aclsim
