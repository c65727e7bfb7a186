// SPDX-License-Identifier: Apache-2.0
#include "data_io.h"

#include <fstream>

bool Load(const std::string& path, void* to, size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  return static_cast<bool>(file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
}

bool Store(const std::string& path, const void* from, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  return static_cast<bool>(
      file.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes)));
}
