// SPDX-License-Identifier: Apache-2.0
#include "engine/fault.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

namespace aclsim {

namespace {

constexpr int kMaxFrames = 48;

// Address and folder of the simulator's own libraries and headers: frames there are never the kernel's.
bool IsSimulatorFile(const std::string& file) {
  return file.find("/include/ascendc/") != std::string::npos ||
         file.find("/include/aclsim/") != std::string::npos ||
         file.find("/include/tikicpulib.h") != std::string::npos ||
         file.find("/simulator/src/") != std::string::npos;
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

// "file:line" pairs of one address, inlined callers included, innermost first.
std::vector<SourceLine> Symbolise(const std::string& module, uintptr_t offset) {
  std::istringstream output(
      OutputOf({"addr2line", "-ie", module, Format("0x%zx", static_cast<size_t>(offset))}));
  std::vector<SourceLine> lines;
  for (std::string text; std::getline(output, text);) {
    text = text.substr(0, text.find_first_of(" ("));
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos || text[0] == '?') {
      continue;
    }
    lines.push_back({text.substr(0, colon), atoi(text.c_str() + colon + 1), ""});
  }
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

// The kernel's line of one address of a module, or none. Each launch of a kernel has the same findings in threads of its own, and to
// find a line takes a process: lines are kept for as long as the module's file is the same.
SourceLine LineAt(const std::string& module, uintptr_t offset) {
  struct stat file{};
  stat(module.c_str(), &file);
  Place place{module, file.st_ino, file.st_mtim.tv_sec, file.st_mtim.tv_nsec, offset};
  std::atomic<const Known*>& known = g_known[offset % g_known.size()];
  for (const Known* one = known.load(); one != nullptr; one = one->next) {
    if (one->place == place) {
      return one->line;
    }
  }
  auto* added = new Known{std::move(place), {}, nullptr};
  for (SourceLine& line : Symbolise(module, offset)) {
    if (!IsSimulatorFile(line.file)) {
      line.file = FindSource(line.file, module);
      line.text = ReadLine(line.file, line.line);
      added->line = line;
      break;
    }
  }
  added->next = known.load();
  while (!known.compare_exchange_weak(added->next, added)) {
  }
  return added->line;
}

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

SourceLine FindKernelLine(const std::vector<void*>& stack) {
  SourceLine
      fallback;  // module and offset of the first frame, for kernels without debug information
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&FindKernelLine), &self);
  Dl_info libc{};  // may have debug information of its own
  dladdr(dlsym(RTLD_DEFAULT, "abort"), &libc);
  for (void* frame : stack) {
    Dl_info info{};
    if (dladdr(frame, &info) == 0 || info.dli_fname == nullptr ||
        info.dli_fbase == self.dli_fbase || info.dli_fbase == libc.dli_fbase) {
      continue;
    }
    // A return address is one past the call.
    const uintptr_t offset =
        reinterpret_cast<uintptr_t>(frame) - reinterpret_cast<uintptr_t>(info.dli_fbase) - 1;
    if (SourceLine line = LineAt(info.dli_fname, offset); !line.file.empty()) {
      return line;
    }
    if (fallback.file.empty()) {
      fallback.file =
          std::string(info.dli_fname) + "+" + Format("0x%zx", static_cast<size_t>(offset));
    }
  }
  return fallback;
}

}  // namespace aclsim
