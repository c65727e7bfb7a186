// SPDX-License-Identifier: Apache-2.0
#include "host/elf_sections.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "host/format.h"
#include "host/pages.h"

namespace aclsim {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of one section: more is damage
const std::set<std::string> kWanted = {".debug_info",     ".debug_abbrev",   ".debug_line",
                                       ".debug_str",      ".debug_line_str", ".debug_ranges",
                                       ".debug_rnglists", ".debug_addr",     ".debug_str_offsets"};
constexpr char kNoDebug[] = "build the kernel with -g";

class File {
 public:
  explicit File(const std::string& name) : handle_(open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status{};
    if (handle_ >= 0 && fstat(handle_, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<uint64_t>(status.st_size);
    }
  }
  ~File() {
    if (handle_ >= 0) {
      close(handle_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool Read(uint64_t at, void* to, uint64_t bytes) const {
    if (at > size_ || bytes > size_ - at) {
      return false;
    }
    for (auto* out = static_cast<uint8_t*>(to); bytes > 0;) {
      const ssize_t got = pread(handle_, out, bytes, static_cast<off_t>(at));
      if (got <= 0) {
        return false;
      }
      out += got;
      at += static_cast<uint64_t>(got);
      bytes -= static_cast<uint64_t>(got);
    }
    return true;
  }

  std::vector<uint8_t> Read(uint64_t at, uint64_t bytes) const {
    std::vector<uint8_t> read;
    if (at <= size_ && bytes <= size_ - at && bytes <= kMostBytes) {
      read.resize(bytes);
      if (!Read(at, read.data(), bytes)) {
        read.clear();
      }
    }
    return read;
  }

 private:
  int handle_;
  uint64_t size_ = 0;
};

// The library that unpacks a section is the host's own, which compilers that pack have brought.
template <typename Function>
Function* Unpacker(const char* library, const char* function) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle, function));
}

std::string Unpack(std::vector<uint8_t>* section) {
  ElfW(Chdr) header;
  if (section->size() < sizeof(header)) {
    return "its compressed debug information is damaged: build the kernel again";
  }
  std::memcpy(&header, section->data(), sizeof(header));
  const uint8_t* const packed = section->data() + sizeof(header);
  const size_t bytes = section->size() - sizeof(header);
  // Neither format packs more than some 1,000 to one in real code; a damaged header must not take all memory.
  if (header.ch_size > kMostBytes || header.ch_size / 4096 > bytes) {
    return "its compressed debug information is damaged: build the kernel again";
  }
  std::vector<uint8_t> whole(header.ch_size);
  bool done = false;
  if (header.ch_type == ELFCOMPRESS_ZLIB) {
    static auto* const unpack =
        Unpacker<int(uint8_t*, unsigned long*, const uint8_t*, unsigned long)>("libz.so.1",
                                                                               "uncompress");
    unsigned long got = whole.size();
    done =
        unpack != nullptr && unpack(whole.data(), &got, packed, bytes) == 0 && got == whole.size();
  } else if (header.ch_type == 2) {  // ELFCOMPRESS_ZSTD, which older headers lack
    static auto* const unpack =
        Unpacker<size_t(void*, size_t, const void*, size_t)>("libzstd.so.1", "ZSTD_decompress");
    done = unpack != nullptr && unpack(whole.data(), whole.size(), packed, bytes) == whole.size();
  }
  if (!done) {
    return "its debug information is compressed: build the kernel with -gz=none";
  }
  *section = std::move(whole);
  return "";
}

// A name in a table of strings.
std::string NameIn(const std::vector<uint8_t>& names, uint64_t at) {
  const auto* const begin = reinterpret_cast<const char*>(names.data());
  return at < names.size() ? std::string(begin + at, strnlen(begin + at, names.size() - at)) : "";
}

struct Elf {
  ElfSections sections;
  std::string link;     // .gnu_debuglink
  std::string buildId;  // in hexadecimal digits
};

// Returns where the first segment that is loaded begins; 0 where none is.
uint64_t BaseOf(const File& file, const ElfW(Ehdr) & header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (file.Read(header.e_phoff + uint64_t{i} * sizeof(segment), &segment, sizeof(segment)) &&
        segment.p_type == PT_LOAD) {
      return RoundDown(segment.p_vaddr, PageBytes());
    }
  }
  return 0;
}

std::optional<Elf> ReadElf(const std::string& name) {
  const File file(name);
  ElfW(Ehdr) header;
  if (!file.Read(0, &header, sizeof(header)) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  Elf elf;
  elf.sections.base = BaseOf(file, header);
  std::vector<ElfW(Shdr)> table(header.e_shnum);
  if (table.empty() || header.e_shentsize != sizeof(ElfW(Shdr)) ||
      !file.Read(header.e_shoff, table.data(), table.size() * sizeof(table[0])) ||
      header.e_shstrndx >= table.size()) {
    return elf;
  }
  const ElfW(Shdr)& strings = table[header.e_shstrndx];
  const std::vector<uint8_t> names = file.Read(strings.sh_offset, strings.sh_size);
  for (const ElfW(Shdr) & section : table) {
    const std::string its = NameIn(names, section.sh_name);
    if (section.sh_type == SHT_NOBITS) {
      continue;
    }
    if (its == ".gnu_debuglink") {
      elf.link = NameIn(file.Read(section.sh_offset, section.sh_size), 0);
    } else if (its == ".note.gnu.build-id") {
      const std::vector<uint8_t> note = file.Read(section.sh_offset, section.sh_size);
      for (size_t i = 16; i < note.size(); ++i) {  // behind the note's header and "GNU"
        elf.buildId += Format("%02x", note[i]);
      }
    } else if (its.starts_with(".zdebug_")) {
      elf.sections.missing =
          "its debug information is compressed as in 2012: build it with -gz=none";
    } else if (kWanted.contains(its)) {
      std::vector<uint8_t>& bytes = elf.sections.byName[its];
      bytes = file.Read(section.sh_offset, section.sh_size);
      if ((section.sh_flags & SHF_COMPRESSED) != 0) {
        if (std::string why = Unpack(&bytes); !why.empty()) {
          elf.sections.missing = std::move(why);
          bytes.clear();
        }
      }
    }
  }
  return elf;
}

}  // namespace

ElfSections ReadDebugSections(const std::string& file) {
  std::optional<Elf> elf = ReadElf(file);
  if (!elf) {
    return {{}, 0, kNoDebug};
  }
  if (elf->sections.byName.contains(".debug_info") || !elf->sections.missing.empty()) {
    return std::move(elf->sections);
  }
  // As debuggers look for it.
  const fs::path folder = fs::path(file).parent_path();
  std::vector<fs::path> places;
  if (elf->buildId.size() > 2) {
    places.push_back(fs::path("/usr/lib/debug/.build-id") / elf->buildId.substr(0, 2) /
                     (elf->buildId.substr(2) + ".debug"));
  }
  if (!elf->link.empty()) {
    places.push_back(folder / elf->link);
    places.push_back(folder / ".debug" / elf->link);
    places.push_back(fs::path("/usr/lib/debug" + folder.string()) / elf->link);
  }
  for (const fs::path& place : places) {
    std::optional<Elf> other = ReadElf(place.string());
    if (other && other->buildId == elf->buildId && other->sections.byName.contains(".debug_info")) {
      other->sections.base = elf->sections.base;
      return std::move(other->sections);
    }
  }
  elf->sections.missing =
      elf->link.empty() ? kNoDebug : "its debug information, " + elf->link + ", is not beside it";
  return std::move(elf->sections);
}

}  // namespace aclsim
