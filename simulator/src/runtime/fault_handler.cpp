// SPDX-License-Identifier: Apache-2.0
#include "runtime/fault_handler.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "runtime/signal_text.h"
#include "runtime/state.h"

namespace aclsim {

namespace {

struct sigaction previousSegv;
struct sigaction previousBus;
// Where a fault inside a guarded copy of this thread continues; null outside of one. initial-exec:
// a first access from the handler must not allocate.
thread_local sigjmp_buf* volatile guard __attribute__((tls_model("initial-exec"))) = nullptr;

void ReportDeviceAccess(uintptr_t address) {
  char where[256];
  Global().device.DescribeInSignal(address, where, sizeof(where));
  char line[512];
  SignalText text(line, sizeof(line));
  text.Text("aclgrad: host code accessed device memory: ").Text(where);
  text.Text(". Device memory is not host memory: copy with aclrtMemcpy.\n");
  const ssize_t ignored = write(STDERR_FILENO, line, text.length());
  static_cast<void>(ignored);
}

void OnFault(int number, siginfo_t* info, void* context) {
  if (guard != nullptr) {
    siglongjmp(*guard, 1);
  }
  const struct sigaction& previous = number == SIGSEGV ? previousSegv : previousBus;
  const int savedErrno = errno;
  if (info->si_code > 0 && Global().device.InRange(info->si_addr)) {
    ReportDeviceAccess(reinterpret_cast<uintptr_t>(info->si_addr));
    // The faulting instruction runs again under the previous disposition: a core dump or a debugger
    // sees the real place.
    sigaction(number, &previous, nullptr);
    errno = savedErrno;
    return;
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else {
    signal(number, SIG_DFL);
    raise(number);  // delivered on return; also right for a signal that somebody sent
  }
  errno = savedErrno;
}

// noinline keeps the copy out of the frame that sigsetjmp may return to twice.
template <typename Work>
__attribute__((noinline)) bool Guarded(const Work& work) {
  sigjmp_buf buffer;
  if (sigsetjmp(buffer, 1) != 0) {
    guard = nullptr;
    return false;
  }
  guard = &buffer;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  work();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guard = nullptr;
  return true;
}

}  // namespace

void InstallFaultHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previousSegv);
    sigaction(SIGBUS, &action, &previousBus);  // a file mapping cut short raises this one
  });
}

bool GuardedCopy(void* dst, const void* src, size_t bytes) {
  return Guarded([=] { std::memmove(dst, src, bytes); });
}

bool GuardedFill(void* dst, int value, size_t bytes) {
  return Guarded([=] { std::memset(dst, value, bytes); });
}

}  // namespace aclsim
