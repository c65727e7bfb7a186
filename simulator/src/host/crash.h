// SPDX-License-Identifier: Apache-2.0
// Signals that code of kernels and of operator libraries raises, and code of theirs that does not end.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/watchdog.h"

namespace aclsim {

// This is what ended code that is not the simulator's.
struct Crash {
  int signal = 0;  // kStuckSignal: the watchdog has ended it
  int code = 0;    // siginfo_t::si_code
  uintptr_t address = 0;
  std::vector<void*> stack;  // as CaptureStack
  Stuck stuck = Stuck::kNo;
  double seconds = 0;  // ThreadProgress::Seconds
  size_t overrun =
      0;  // bytes of its callers' stack that it has changed; may be all there is to say (signal 0)
};

// In the handler of a signal that an instruction raised: as CaptureStack, up to `most` frames. Their number.
int StackInSignal(void** stack, int most, const void* context);

// "SIGSEGV at address 0x10"
std::string CrashText(const Crash& crash);

// Scopes that a library counts on each thread. A crash in other people's code skips their destructors, so RunForeign closes them.
struct ThreadScopes {
  uint32_t (*open)();            // how many the thread is in
  void (*close)(uint32_t left);  // the innermost, until so many are left
};
// nullptr: the library is unloaded.
void SetThreadScopes(const ThreadScopes* scopes);

std::optional<Crash> RunForeign(const void* library, void (*call)(const void* code),
                                const void* code);

// Runs code. A SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT in it ends it, without destroying its locals
// but ThreadScopes and HoldFork, unless it comes from malloc or free, or under HoldsLocks: these end the process, as does a stack that is damaged
// further up than a page. Exceptions pass. library: any
// address in the library of what it runs, which the watchdog may then end; null: it may not.
template <typename Code>
std::optional<Crash> RunForeign(const void* library, const Code& code) {
  return RunForeign(library, [](const void* self) { (*static_cast<const Code*>(self))(); }, &code);
}

// While one lives, an integer division by zero in code under RunForeign goes on, as a processor does that does not trap there: the quotient
// has all bits set, and the remainder is the dividend. Of the first one the stack is kept. Only x86-64 traps.
class DivisionsGoOn {
 public:
  DivisionsGoOn();
  ~DivisionsGoOn();
  DivisionsGoOn(const DivisionsGoOn&) = delete;
  DivisionsGoOn& operator=(const DivisionsGoOn&) = delete;

  // Empty if there was none.
  std::vector<void*> Stack() const { return {stack_, stack_ + depth_}; }
  // In the handler. False: it is none, or one that cannot be passed over.
  static bool PassOver(const siginfo_t* info, void* context);

 private:
  static constexpr int kMost = 48;
  DivisionsGoOn* const outer_;
  int depth_ = 0;
  void* stack_[kMost];
};

// While one lives, the thread holds locks that others may wait for. A fault of other people's code then ends the process: nobody would
// let go of them.
class HoldsLocks {
 public:
  HoldsLocks();
  ~HoldsLocks();
  HoldsLocks(const HoldsLocks&) = delete;
  HoldsLocks& operator=(const HoldsLocks&) = delete;
};

// Asked, in the handler, of a signal outside of RunForeign. True: it has said what there is to say, and
// the signal comes again for whoever handled it before.
using ExplainSignal = bool (*)(const siginfo_t* info);

// Threads that start while it lives get no signals but faults: others are the program's business, and must
// not land on a thread that it does not know.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// Asked, in the handler, of each SIGSEGV before all else. True: the instruction may run again.
using MendFault = bool (*)(const siginfo_t* info, const void* context);
void SetMendFault(MendFault mend);
// Returns whether the handler is still the process's: a program may have put its own there.
bool HandlesSegv();

// Installs the handler once per process.
void InstallCrashHandler(ExplainSignal explain);

}  // namespace aclsim
