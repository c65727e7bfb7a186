// SPDX-License-Identifier: Apache-2.0
#include "findings/fault.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>

#include "host/debug_lines.h"

namespace aclsim {

namespace {

constexpr int kMaxFrames = 48;

namespace fs = std::filesystem;

// As the file system has a path, or as it is spelled where there is no such file.
fs::path Canonical(const fs::path& path) {
  std::error_code error;
  fs::path found = fs::weakly_canonical(path, error);
  return error ? path : found;
}

// The toolkit that this library belongs to.
const fs::path& Toolkit() {
  static const fs::path* const folder = [] {
    Dl_info info{};
    const bool known = dladdr(reinterpret_cast<const void*>(&CaptureStack), &info) != 0;
    return new fs::path(known ? Canonical(info.dli_fname).parent_path().parent_path() : "");
  }();
  return *folder;
}

bool LiesIn(const fs::path& file, const fs::path& folder) {
  const auto [rest, differs] = std::ranges::mismatch(folder, file);
  return !folder.empty() && rest == folder.end();
}

// Returns whether a folder above a file is the include folder of a C++ standard library, which is told by what it holds.
bool IsStandardHeader(const fs::path& file) {
  std::error_code error;
  for (fs::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    for (const char* const header : {"bits/stl_algobase.h", "bits/c++config.h", "__config"}) {
      if (fs::is_regular_file(folder / header, error)) {
        return true;
      }
    }
  }
  return false;
}

// Returns whether a line is of the simulator's or the standard library's headers, which is never the kernel's.
bool IsLibraryLine(const CodeLine& line) {
  std::error_code error;
  if (line.toolkit || LiesIn(Canonical(line.file), Toolkit() / "include")) {
    return true;
  }
  return fs::exists(line.file, error) ? IsStandardHeader(line.file) : line.standard;
}

// Libraries that are made to be moved name their sources relative to the checkout. It is looked for
// above the library, then in the working folder; the name stays relative when it is in neither.
std::string FindSource(const std::string& name, const std::string& module) {
  const fs::path source = fs::path(name).lexically_normal();
  if (source.is_absolute()) {
    return source.string();
  }
  std::error_code error;
  for (fs::path folder = fs::weakly_canonical(module, error); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (const fs::path found = folder.parent_path() / source; fs::is_regular_file(found, error)) {
      return found.string();
    }
  }
  return source.string();
}

std::string ReadLine(const std::string& file, int number) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return "";
  }
  std::ifstream in(file);
  std::string line;
  for (int i = 0; i < number && std::getline(in, line); ++i) {
  }
  const size_t first = line.find_first_not_of(" \t");
  return in && first != std::string::npos ? line.substr(first) : "";
}

// A text of others as reports can hold it: what is no UTF-8 and what controls a terminal is written as \xNN.
// The bytes of UTF-8 are a table of ranges, which reads best in one place.
std::string Printable(const std::string& text) {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    bool whole = length > 0 && i + length <= text.size();
    for (size_t next = 1; whole && next < length; ++next) {
      whole = (static_cast<uint8_t>(text[i + next]) & 0xc0) == 0x80;
    }
    const auto second = static_cast<uint8_t>(whole && length > 1 ? text[i + 1] : 0);
    // Forms that are longer than they need to be, halves of pairs, and numbers past the last.
    whole = whole && !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second >= 0xa0) &&
            !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second >= 0x90);
    if (!whole || (first < 0x20 && first != '\t') || first == 0x7f) {
      shown += Format("\\x%02x", unsigned{first});
      i += 1;
    } else {
      shown += text.substr(i, length);
      i += length;
    }
  }
  return shown;
}

// A place says where code lies, in a file that may be written anew.
struct Place {
  std::string module;
  ino_t inode;
  time_t seconds;
  long nanoseconds;
  uintptr_t offset;
  bool head =
      false;  // the head of the function that begins there is meant, not its first instruction

  bool operator==(const Place&) const = default;
};

// Lines that are known, for all threads. Only ever added to, without a lock, which a fork could leave taken.
struct Known {
  Place place;
  SourceLine line;
  const Known* next;
};
std::array<std::atomic<const Known*>, 256> g_known;

// Returns how often this process has loaded or unloaded a library.
uint64_t Loadings() {
  uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* sum) {
        *static_cast<uint64_t*>(sum) = info->dlpi_adds + info->dlpi_subs;
        return 1;  // the first knows
      },
      &count);
  return count;
}

// The file of a module as it was at the first question since a library was loaded: each launch asks, mostly of one module.
struct stat FileOf(const std::string& module) {
  struct Asked {
    std::string module;
    uint64_t loadings = 0;
    struct stat file{};
  };
  // The memory of threads that a library has of its own is scarce where several copies of it are loaded.
  thread_local const auto last = std::make_unique<Asked>();
  const uint64_t loadings = Loadings();
  if (last->loadings != loadings || last->module != module) {
    *last = {module, loadings, {}};
    stat(module.c_str(), &last->file);
  }
  return last->file;
}

// Returns where code lies in a module that is loaded.
Place PlaceOf(const std::string& module, uintptr_t offset, bool head) {
  const struct stat file = FileOf(module);
  return {module, file.st_ino, file.st_mtim.tv_sec, file.st_mtim.tv_nsec, offset, head};
}

const SourceLine* FindKnown(const Place& place) {
  const Known* one = g_known[place.offset % g_known.size()].load();
  for (; one != nullptr; one = one->next) {
    if (one->place == place) {
      return &one->line;
    }
  }
  return nullptr;
}

// The debug information of modules that were asked for last. Whoever reads one takes it out, so that no thread waits for another and
// no fork leaves a lock taken; who finds it gone opens it again.
struct Opened {
  Place place;  // its offset and head do not count
  DebugLines lines;
};
std::array<std::atomic<Opened*>, 4> g_opened;

std::unique_ptr<Opened> Open(const Place& place) {
  for (std::atomic<Opened*>& slot : g_opened) {
    std::unique_ptr<Opened> taken(slot.exchange(nullptr));
    if (taken != nullptr) {
      taken->place.offset = place.offset;
      taken->place.head = place.head;
      if (taken->place == place) {
        return taken;
      }
      Opened* none = nullptr;
      if (slot.compare_exchange_strong(none, taken.get())) {
        taken.release();
      }
    }
  }
  return std::unique_ptr<Opened>(new Opened{place, DebugLines(place.module)});
}

void PutBack(std::unique_ptr<Opened> opened) {
  for (std::atomic<Opened*>& slot : g_opened) {
    Opened* none = nullptr;
    if (slot.compare_exchange_strong(none, opened.get())) {
      opened.release();
      return;
    }
  }
  static std::atomic<size_t> turn;
  delete g_opened[turn++ % g_opened.size()].exchange(opened.release());
}

// The kernel's line among those of a place, or none.
SourceLine ReadPlace(const Place& place) {
  SourceLine found;
  if (LiesIn(Canonical(place.module), Toolkit() / "lib64")) {
    return found;
  }
  found.missing = "build the kernel with -g";
  try {
    std::unique_ptr<Opened> opened = Open(place);
    if (!opened->lines.missing().empty()) {
      found.missing = opened->lines.missing();
    }
    for (const CodeLine& line :
         place.head ? opened->lines.HeadAt(place.offset) : opened->lines.At(place.offset)) {
      if (!IsLibraryLine(line) && !line.implicit) {
        found.file = FindSource(line.file, place.module);
        found.line = line.line;
        found.text = Printable(ReadLine(found.file, found.line));
        found.file = Printable(found.file);
        break;
      }
    }
    PutBack(std::move(opened));
  } catch (
      const std::exception&) {  // damaged debug information may ask for more memory than there is
    found.missing = "its debug information is damaged: build the kernel again";
  }
  return found;
}

// The kernel's line of one address of a module, or none. Each launch of a kernel has the same findings in threads of its own: lines
// are kept for as long as the module's file is the same.
const SourceLine& LineAt(const std::string& module, uintptr_t offset, bool head) {
  Place place = PlaceOf(module, offset, head);
  if (const SourceLine* found = FindKnown(place)) {
    return *found;
  }
  std::atomic<const Known*>& known = g_known[place.offset % g_known.size()];
  SourceLine line = ReadPlace(place);
  auto* const added = new Known{std::move(place), std::move(line), known.load()};
  while (!known.compare_exchange_weak(added->next, added)) {
  }
  return added->line;
}

// Returns where the library of an address was loaded.
const void* BaseOf(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Where the library was loaded that defines a name, or null: a program may be linked with it, and has kernels of its own.
const void* LibraryOf(const char* name) {
  const void* const base = BaseOf(dlsym(RTLD_DEFAULT, name));
  return base == BaseOf(reinterpret_cast<const void*>(getauxval(AT_ENTRY))) ? nullptr : base;
}

// Libraries whose code is never a kernel's: this one, the C library and the runtimes of sanitizers, which may have debug information of
// their own. As they were loaded: every launch asks.
const std::array g_libraryBases = {
    BaseOf(reinterpret_cast<const void*>(&FindKernelLine)), LibraryOf("gnu_get_libc_version"),
    LibraryOf("__asan_init"), LibraryOf("__tsan_init"), LibraryOf("__ubsan_handle_add_overflow")};

}  // namespace

std::vector<void*> CaptureStack() {
  std::vector<void*> stack(kMaxFrames);
  stack.resize(static_cast<size_t>(backtrace(stack.data(), kMaxFrames)));
  return stack;
}

void ThrowFault(std::string kind, std::string detail, std::string advice,
                std::vector<void*> stack) {
  throw KernelFault{
      std::move(kind), std::move(detail), std::move(advice), std::move(stack), {}, ""};
}

void EndCore(std::string kind, std::string detail, std::string advice, std::vector<void*> stack) {
  throw KernelFault{
      std::move(kind), std::move(detail), std::move(advice), std::move(stack), {}, "", true};
}

namespace {

// Code of a library that is none of those; no module otherwise.
struct Frame {
  const char* module = nullptr;
  uintptr_t offset = 0;
  uintptr_t kernel = 0;  // where the function begins, if it is a kernel: extern "C"
  bool head = false;
};

Frame FrameAt(const void* address, bool head) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr ||
      std::ranges::find(g_libraryBases, info.dli_fbase) != g_libraryBases.end()) {
    return {};
  }
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  const bool isKernel = info.dli_sname != nullptr && std::strncmp(info.dli_sname, "_Z", 2) != 0;
  // A return address is one past the call.
  return {info.dli_fname, reinterpret_cast<uintptr_t>(address) - base - (head ? 0 : 1),
          isKernel ? reinterpret_cast<uintptr_t>(info.dli_saddr) - base : 0, head};
}

}  // namespace

SourceLine FindKernelLine(const std::vector<void*>& stack) {
  SourceLine
      fallback;       // module and offset of the first frame, for kernels without debug information
  bool head = false;  // HeadOf: what follows is a function
  for (const void* address : stack) {
    const Frame frame = FrameAt(address, head);
    head = address == nullptr;
    if (frame.module == nullptr) {
      continue;
    }
    const SourceLine& line = LineAt(frame.module, frame.offset, frame.head);
    if (!line.file.empty()) {
      return line;
    }
    // Compilers do not describe the caller of each inlined function.
    if (frame.kernel != 0) {
      if (const SourceLine& entry = LineAt(frame.module, frame.kernel, true); !entry.file.empty()) {
        return entry;
      }
    }
    if (fallback.file.empty() && !line.missing.empty()) {
      fallback.file =
          Printable(frame.module) + "+" + Format("0x%zx", static_cast<size_t>(frame.offset));
      fallback.missing = line.missing;
    }
  }
  return fallback;
}

}  // namespace aclsim
