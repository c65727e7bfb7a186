// SPDX-License-Identifier: Apache-2.0
#include "launch/writer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "engine/core.h"
#include "host/crash.h"
#include "host/pages.h"
#include "launch/launch.h"

namespace aclsim {

namespace {

constexpr uintptr_t kMostWatched = 4096;
constexpr uintptr_t kLongestStore = 64;
constexpr int kPatienceMs = 10000;

// The child tells these.
struct Found {
  uint32_t core;
  int depth;
  std::array<void*, 48> stack;
};

// The child's alone.
struct Watch {
  uintptr_t page;
  uintptr_t begin;
  uintptr_t end;
  std::array<uint8_t, kMostWatched> before;  // of [begin, end)
  Found latest;
  int told;  // the pipe's end
  struct sigaction crash;
};
Watch watch;

void Protect(int rights) { mprotect(reinterpret_cast<void*>(watch.page), PageBytes(), rights); }

[[noreturn]] void Tell() {
  const ssize_t ignored = write(watch.told, &watch.latest, sizeof(watch.latest));
  static_cast<void>(ignored);
  _exit(0);
}

// The next instruction, and no other, may write: whether this is a host where that can be had.
bool Step(void* context, bool on) {
#if defined(__x86_64__)
  constexpr greg_t kTrapFlag = 0x100;
  greg_t& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  flags = on ? flags | kTrapFlag : flags & ~kTrapFlag;
  return true;
#else
  static_cast<void>(context);
  static_cast<void>(on);
  return false;
#endif
}

void OnStore(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (address < watch.page || address >= watch.page + PageBytes()) {
    watch.crash.sa_sigaction(number, info, context);
    return;
  }
  if (address + kLongestStore > watch.begin && address < watch.end) {
    const Core* const core = Core::CurrentOrNull();
    watch.latest.core = core != nullptr ? core->index : 0;
    watch.latest.depth = StackInSignal(watch.latest.stack.data(),
                                       static_cast<int>(watch.latest.stack.size()), context);
    if (address >= watch.begin) {
      Tell();
    }
  }
  if (!Step(context, true)) {
    _exit(1);
  }
  Protect(PROT_READ | PROT_WRITE);
}

void AfterStore(int, siginfo_t*, void* context) {
  if (std::memcmp(watch.before.data(), reinterpret_cast<const void*>(watch.begin),
                  watch.end - watch.begin) != 0) {
    Tell();
  }
  Step(context, false);
  Protect(PROT_READ);
}

[[noreturn]] void Watched(const KernelLaunch& launch, const uint8_t* begin, const uint8_t* end,
                          int told) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(nowhere, stream);
  }
  watch.told = told;
  watch.begin = reinterpret_cast<uintptr_t>(begin);
  watch.page = RoundDown(watch.begin, PageBytes());
  watch.end = std::min(
      {reinterpret_cast<uintptr_t>(end), watch.page + PageBytes(), watch.begin + kMostWatched});
  std::memcpy(watch.before.data(), begin, watch.end - watch.begin);
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = AfterStore;
  sigaction(SIGTRAP, &action, nullptr);
  action.sa_sigaction = OnStore;
  sigaction(SIGSEGV, &action, &watch.crash);
  Protect(PROT_READ);
  try {
    RunAgain(launch);
  } catch (...) {
  }
  _exit(1);
}

}  // namespace

std::optional<Writer> FindWriter(const KernelLaunch& launch, const uint8_t* begin,
                                 const uint8_t* end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const pid_t child = fork();
  if (child == 0) {
    Watched(launch, begin, end, ends[1]);
  }
  close(ends[1]);
  Found found{};
  bool heard = false;
  if (child > 0) {
    pollfd waiting{ends[0], POLLIN, 0};
    int ready = 0;
    while ((ready = poll(&waiting, 1, kPatienceMs)) < 0 && errno == EINTR) {
    }
    heard = ready > 0 && read(ends[0], &found, sizeof(found)) == sizeof(found);
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (!heard) {
    return std::nullopt;
  }
  void** const stack = found.stack.data();
  return Writer{found.core, std::vector<void*>(stack, stack + found.depth)};
}

}  // namespace aclsim
