// SPDX-License-Identifier: Apache-2.0
#include "engine/globals.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace aclsim {

namespace {

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool Holds(uint64_t at) const { return at >= begin && at < end; }
};

// A library or program of this process.
struct Module {
  std::string file;
  uint64_t bias = 0;  // what its addresses are moved by
  std::vector<Range> segments;
  std::vector<Range> writable;
  Range constants;  // within writable: read-only once the loader is done
};

std::optional<Module> ModuleOf(const void* address) {
  struct Search {
    uint64_t address;
    std::optional<Module> found;
  } search{reinterpret_cast<uint64_t>(address), std::nullopt};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& looked = *static_cast<Search*>(data);
        Module module;
        module.bias = info->dlpi_addr;
        bool holds = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          const Range range{module.bias + header.p_vaddr,
                            module.bias + header.p_vaddr + header.p_memsz};
          if (header.p_type == PT_GNU_RELRO) {
            module.constants = range;
          } else if (header.p_type == PT_LOAD) {
            holds = holds || range.Holds(looked.address);
            module.segments.push_back(range);
            if ((header.p_flags & PF_W) != 0) {
              module.writable.push_back(range);
            }
          }
        }
        if (!holds) {
          return 0;
        }
        const bool program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
        module.file = program ? "/proc/self/exe" : info->dlpi_name;
        looked.found = std::move(module);
        return 1;
      },
      &search);
  return search.found;
}

struct Object {
  Range range;
  std::string name;
};

template <typename T>
bool ReadAt(std::ifstream& in, uint64_t offset, size_t count, std::vector<T>* to, uint64_t size) {
  if (offset > size || count > (size - offset) / sizeof(T)) {
    return false;
  }
  to->resize(count);
  in.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(in.read(reinterpret_cast<char*>(to->data()),
                                   static_cast<std::streamsize>(count * sizeof(T))));
}

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return text ? text.get() : name;
}

// The arrays and variables of an ELF file by address, those without a name outside of it too.
std::vector<Object> ReadObjects(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<uint64_t>(in.tellg()) : 0;
  std::vector<ElfW(Ehdr)> header;
  if (!in || !ReadAt(in, 0, 1, &header, size) ||
      std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) {
    return {};
  }
  std::vector<ElfW(Shdr)> sections;
  if (!ReadAt(in, header[0].e_shoff, header[0].e_shnum, &sections, size)) {
    return {};
  }
  std::vector<Object> objects;
  for (const ElfW(Word) type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const ElfW(Shdr) & section : sections) {
      std::vector<ElfW(Sym)> symbols;
      std::vector<char> names;
      if (section.sh_type != type || section.sh_link >= sections.size() ||
          !ReadAt(in, section.sh_offset, section.sh_size / sizeof(ElfW(Sym)), &symbols, size) ||
          !ReadAt(in, sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size,
                  &names, size)) {
        continue;
      }
      names.push_back('\0');
      for (const ElfW(Sym) & symbol : symbols) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size != 0 && symbol.st_name < names.size()) {
          objects.push_back(
              {{symbol.st_value, symbol.st_value + symbol.st_size}, names.data() + symbol.st_name});
        }
      }
    }
    if (!objects.empty()) {
      break;  // what is exported is among all
    }
  }
  std::ranges::sort(objects, {}, [](const Object& object) { return object.range.begin; });
  return objects;
}

const std::vector<Object>& ObjectsOf(const std::string& file) {
  using Key = std::tuple<std::string, dev_t, ino_t, time_t, long>;
  thread_local std::map<Key, std::vector<Object>> files;  // no lock that a fork could leave taken
  struct stat status{};
  stat(file.c_str(), &status);
  const auto [known, isNew] = files.try_emplace(
      Key(file, status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  if (isNew) {
    known->second = ReadObjects(file);
  }
  return known->second;
}

}  // namespace

std::optional<GmRegion> FindGlobal(const void* code, const void* addr) {
  const std::optional<Module> module = ModuleOf(code);
  const auto at = reinterpret_cast<uint64_t>(addr);
  const auto holds = [at](const Range& range) { return range.Holds(at); };
  if (!module || std::ranges::none_of(module->segments, holds)) {
    return std::nullopt;
  }
  const std::vector<Object>& objects = ObjectsOf(module->file);
  const auto next = std::ranges::upper_bound(
      objects, at - module->bias, {}, [](const Object& object) { return object.range.begin; });
  if (next == objects.begin() || !std::prev(next)->range.Holds(at - module->bias)) {
    return std::nullopt;
  }
  const Object& object = *std::prev(next);
  const bool constant =
      std::ranges::none_of(module->writable, holds) || module->constants.Holds(at);
  GmRegion region;
  region.kind = constant ? RegionKind::kConstant : RegionKind::kGlobal;
  region.addr = reinterpret_cast<uint8_t*>(module->bias + object.range.begin);
  region.bytes = object.range.end - object.range.begin;
  region.name = Demangled(object.name.c_str());
  return region;
}

}  // namespace aclsim
