// SPDX-License-Identifier: Apache-2.0
#include "runtime/fault_handler.h"

#include <unistd.h>

#include <cstring>

#include "host/crash.h"
#include "runtime/signal_text.h"
#include "runtime/state.h"

namespace aclsim {

namespace {

bool ReportDeviceAccess(const siginfo_t* info) {
  const bool memory = info->si_signo == SIGSEGV || info->si_signo == SIGBUS;
  const State* const state = memory ? GlobalOrNull() : nullptr;
  if (state == nullptr || !state->device.InRange(info->si_addr)) {
    return false;
  }
  char where[256];
  state->device.DescribeInSignal(reinterpret_cast<uintptr_t>(info->si_addr), where, sizeof(where));
  char line[512];
  SignalText text(line, sizeof(line));
  text.Text("aclgrad: host code accessed device memory: ").Text(where);
  text.Text(". Device memory is not host memory: copy with aclrtMemcpy.\n");
  const ssize_t ignored = write(STDERR_FILENO, line, text.length());
  static_cast<void>(ignored);
  return true;
}

}  // namespace

void InstallFaultHandler() { InstallCrashHandler(ReportDeviceAccess); }

bool GuardedCopy(void* dst, const void* src, size_t bytes) {
  return !RunForeign(nullptr, [=] { std::memmove(dst, src, bytes); });
}

bool GuardedFill(void* dst, int value, size_t bytes) {
  return !RunForeign(nullptr, [=] { std::memset(dst, value, bytes); });
}

}  // namespace aclsim
