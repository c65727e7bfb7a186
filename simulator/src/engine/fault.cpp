// SPDX-License-Identifier: Apache-2.0
#include "engine/fault.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace aclsim {

namespace {

constexpr int kMaxFrames = 48;

// How this build calls the folder of the simulator's own sources.
std::string_view OwnSources() {
  constexpr std::string_view kThis = "engine/fault.cpp";
  const std::string_view file = __FILE__;
  return file.substr(0, file.size() - kThis.size());
}

// The headers that belong to this library.
std::filesystem::path OwnHeaders() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&CaptureStack), &info) == 0) {
    return {};
  }
  return std::filesystem::weakly_canonical(info.dli_fname, error).parent_path().parent_path() /
         "include";
}

// Whether a line is the simulator's own, which is never the kernel's. A project's folders may be called as ours are: a folder of
// our headers is known by what lies in it, and where it is no more, by what this library's own has.
bool IsSimulatorFile(const std::string& file) {
  if (file.starts_with(OwnSources()) || file.find("/include/c++/") != std::string::npos) {
    return true;
  }
  // Of contexts and attributes, which tiling functions have inline: where this library's own are, or those of its checkout.
  if (!OwnHeaders().empty() && file.starts_with(OwnHeaders().string() + "/")) {
    return true;
  }
  if (file.find("simulator/include/") != std::string::npos &&
      std::filesystem::exists(OwnHeaders() / file.substr(file.rfind("/include/") + 9))) {
    return true;
  }
  for (const std::string_view part :
       {"/include/ascendc/", "/include/aclsim/", "/include/tikicpulib.h"}) {
    const size_t at = file.rfind(part);
    if (at == std::string::npos) {
      continue;
    }
    const size_t end = at + std::string_view("/include").size();
    const std::filesystem::path folder = file.substr(0, end);
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) {
      return std::filesystem::exists(folder / "aclsim/aclsim.h", error);
    }
    return std::filesystem::exists(OwnHeaders() / file.substr(end + 1), error);
  }
  return false;
}

// "file:line", with " (discriminator 2)" behind it at times. Nothing else is taken off: a file may have any name.
bool ReadPlace(std::string_view text, SourceLine* line) {
  if (const size_t note = text.rfind(" (discriminator "); note != std::string_view::npos) {
    const std::string_view rest = text.substr(note + std::string_view(" (discriminator ").size());
    if (rest.find_first_not_of("0123456789)") == std::string_view::npos) {
      text = text.substr(0, note);
    }
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(0, colon) == "??") {
    return false;
  }
  *line = {std::string(text.substr(0, colon)), atoi(std::string(text.substr(colon + 1)).c_str()),
           ""};
  return true;
}

// What a command prints; nothing when it cannot run. Not by popen, whose lock a forked child may find taken.
std::string OutputOf(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return "";
  }
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool runs = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0;
       (got = read(ends[0], buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR);) {
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
  close(ends[0]);
  while (runs && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// "file:line" pairs of addresses, inlined callers included, innermost first, by address.
std::vector<std::vector<SourceLine>> Symbolise(const std::string& module,
                                               const std::vector<uintptr_t>& offsets) {
  std::vector<std::string> words = {"addr2line", "-aie", module};
  for (const uintptr_t offset : offsets) {
    words.push_back(Format("0x%zx", static_cast<size_t>(offset)));
  }
  std::istringstream output(OutputOf(std::move(words)));
  std::vector<std::vector<SourceLine>> lines;
  for (std::string text; std::getline(output, text);) {
    if (text.starts_with("0x") &&
        text.find_first_not_of("0123456789abcdefx") == std::string::npos) {
      lines.emplace_back();
    } else if (SourceLine line; !lines.empty() && ReadPlace(text, &line)) {
      lines.back().push_back(std::move(line));
    }
  }
  lines.resize(offsets.size());  // without the tool there are none
  return lines;
}

// Libraries that are made to be moved name their sources relative to the checkout. It is looked for
// above the library, then in the working folder; the name stays relative when it is in neither.
std::string FindSource(const std::string& name, const std::string& module) {
  namespace fs = std::filesystem;
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

// Where code lies, in a file that may be written anew.
struct Place {
  std::string module;
  ino_t inode;
  time_t seconds;
  long nanoseconds;
  uintptr_t offset;

  bool operator==(const Place&) const = default;
};

// Lines that are known, for all threads. Only ever added to, without a lock, which a fork could leave taken.
struct Known {
  Place place;
  SourceLine line;
  const Known* next;
};
std::array<std::atomic<const Known*>, 256> g_known;

// How often this process has loaded or unloaded a library.
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
  thread_local Asked last;
  const uint64_t loadings = Loadings();
  if (last.loadings != loadings || last.module != module) {
    last = {module, loadings, {}};
    stat(module.c_str(), &last.file);
  }
  return last.file;
}

// Where code lies in a module that is loaded.
Place PlaceOf(const std::string& module, uintptr_t offset) {
  const struct stat file = FileOf(module);
  return {module, file.st_ino, file.st_mtim.tv_sec, file.st_mtim.tv_nsec, offset};
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

// Keeps the kernel's line among those of one address, or none.
const SourceLine& Keep(Place place, const std::vector<SourceLine>& lines) {
  std::atomic<const Known*>& known = g_known[place.offset % g_known.size()];
  auto* added = new Known{std::move(place), {}, nullptr};
  for (const SourceLine& line : lines) {
    if (!IsSimulatorFile(line.file)) {
      added->line = line;
      added->line.file = FindSource(line.file, added->place.module);
      added->line.text = ReadLine(added->line.file, line.line);
      break;
    }
  }
  added->next = known.load();
  while (!known.compare_exchange_weak(added->next, added)) {
  }
  return added->line;
}

// The kernel's line of one address of a module, or none. Each launch of a kernel has the same findings in threads of its own, and to
// find a line takes a process: lines are kept for as long as the module's file is the same.
const SourceLine& LineAt(const std::string& module, uintptr_t offset) {
  Place place = PlaceOf(module, offset);
  const SourceLine* found = FindKnown(place);
  return found != nullptr ? *found : Keep(std::move(place), Symbolise(module, {offset})[0]);
}

// Where the library of an address was loaded.
const void* BaseOf(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Of this library, and of the C library, which may have debug information of its own. As both are loaded: every launch asks.
const void* const g_ownBase = BaseOf(reinterpret_cast<const void*>(&FindKernelLine));
const void* const g_libcBase = BaseOf(dlsym(RTLD_DEFAULT, "abort"));

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

// Code of a library that is neither this one nor the C library; no module otherwise.
struct Frame {
  const char* module = nullptr;
  uintptr_t offset = 0;
  uintptr_t kernel = 0;  // where the function begins, if it is a kernel: extern "C"
};

Frame FrameAt(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr || info.dli_fbase == g_ownBase ||
      info.dli_fbase == g_libcBase) {
    return {};
  }
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  const bool isKernel = info.dli_sname != nullptr && std::strncmp(info.dli_sname, "_Z", 2) != 0;
  // A return address is one past the call.
  return {info.dli_fname, reinterpret_cast<uintptr_t>(address) - base - 1,
          isKernel ? reinterpret_cast<uintptr_t>(info.dli_saddr) - base : 0};
}

}  // namespace

SourceLine FindKernelLine(const std::vector<void*>& stack) {
  SourceLine
      fallback;  // module and offset of the first frame, for kernels without debug information
  for (const void* address : stack) {
    const Frame frame = FrameAt(address);
    if (frame.module == nullptr) {
      continue;
    }
    if (const SourceLine& line = LineAt(frame.module, frame.offset); !line.file.empty()) {
      return line;
    }
    // addr2line does not find the caller of each inlined function.
    if (frame.kernel != 0) {
      if (const SourceLine& line = LineAt(frame.module, frame.kernel); !line.file.empty()) {
        return line;
      }
    }
    if (fallback.file.empty()) {
      fallback.file =
          std::string(frame.module) + "+" + Format("0x%zx", static_cast<size_t>(frame.offset));
    }
  }
  return fallback;
}

void FindKernelLinesTogether(const std::vector<const std::vector<void*>*>& stacks) {
  for (bool more = true; more;) {
    std::map<std::string, std::vector<uintptr_t>> wanted;  // by module
    for (const std::vector<void*>* stack : stacks) {
      for (const void* address : *stack) {
        const Frame frame = FrameAt(address);
        if (frame.module == nullptr) {
          continue;
        }
        const SourceLine* known = FindKnown(PlaceOf(frame.module, frame.offset));
        if (known != nullptr && known->file.empty()) {
          continue;  // the caller may have one
        }
        std::vector<uintptr_t>& offsets = wanted[frame.module];
        if (known == nullptr && std::ranges::find(offsets, frame.offset) == offsets.end()) {
          offsets.push_back(frame.offset);
        }
        break;
      }
    }
    more = false;
    for (const auto& [module, offsets] : wanted) {
      if (offsets.empty()) {
        continue;
      }
      more = true;
      const std::vector<std::vector<SourceLine>> lines = Symbolise(module, offsets);
      for (size_t i = 0; i < offsets.size(); ++i) {
        Keep(PlaceOf(module, offsets[i]), lines[i]);
      }
    }
  }
}

}  // namespace aclsim
