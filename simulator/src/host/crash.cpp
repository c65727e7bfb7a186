// SPDX-License-Identifier: Apache-2.0
#include "host/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>

#include "host/fork.h"
#include "host/format.h"
#include "host/pages.h"

namespace aclsim {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kMaxFrames = 48;
constexpr size_t kHandlerStackBytes = 64 << 10;
constexpr uintptr_t kLargestFrame = 64 << 20;
constexpr size_t kGuardBytes = 4096;
constexpr size_t kBrim = 64;  // of the guard: where this is gone, so may be what lies above
constexpr unsigned char kGuardByte = 0xA7;
// The allocator's code in glibc, in front of malloc and from there on. What lies in front of that raises signals, and is in any stack.
constexpr uintptr_t kBeforeMalloc = 32 << 10;
constexpr uintptr_t kFromMalloc = 8 << 10;

struct Frame {
  sigjmp_buf back;
  int signal;
  int code;
  uintptr_t address;
  void* stack[kMaxFrames];
  int depth;
  ThreadProgress* progress;    // null: the watchdog leaves it alone
  const unsigned char* guard;  // between the code of others and this; null before it runs
  const void* caller;          // the return address of the frame around the code of others
  size_t overrun;
  int holdsLocks;  // as below, before it runs
};

struct sigaction previous[std::size(kSignals)];
struct sigaction previousStuck;
// Where malloc is: that of glibc, and of a library that stands in its place. A program that is linked at fixed addresses, as Debian's Python
// is, has an entry of its own for it, and the dynamic linker gives that out in place of the code.
uintptr_t allocators[2] = {};
std::atomic<ExplainSignal> explainSignal{nullptr};
// A signal in code of others continues here; null outside of that. initial-exec: a first access from the
// handler must not allocate.
thread_local Frame* volatile current __attribute__((tls_model("initial-exec"))) = nullptr;
// How many HoldsLocks the thread has.
thread_local volatile int holdsLocks __attribute__((tls_model("initial-exec"))) = 0;

void* ProgramCounter(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(machine.pc);
#else
  static_cast<void>(machine);
  return nullptr;
#endif
}

// Raised by what the thread does, not sent by somebody.
bool IsOwn(const siginfo_t* info) {
  return info->si_code > 0 || (info->si_signo == SIGABRT && info->si_code == SI_TKILL);
}

bool IsInAllocator(const void* at) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  return std::any_of(std::begin(allocators), std::end(allocators), [address](uintptr_t allocator) {
    return allocator != 0 && address + kBeforeMalloc > allocator &&
           address < allocator + kFromMalloc;
  });
}

// Bytes of the guard up to the last that has another value.
size_t Overrun(const unsigned char* guard) {
  size_t bytes = guard == nullptr ? 0 : kGuardBytes;
  while (bytes > 0 && guard[bytes - 1] == kGuardByte) {
    --bytes;
  }
  return bytes;
}

template <size_t kSize>
void Say(const char (&text)[kSize]) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, kSize - 1);
}

bool IsBeyondGuard(size_t overrun) {
  if (overrun + kBrim <= kGuardBytes) {
    return false;
  }
  Say("aclgrad: code of an operator has written far past the end of a local array: the stack of "
      "its callers is gone, and with it the process. Next: build it with -fsanitize=address, or "
      "look at the arrays that its sizes index\n");
  return true;
}

bool IsUnderLock(const Frame& frame) {
  if (holdsLocks == frame.holdsLocks) {
    return false;
  }
  Say("aclgrad: code of an operator has called the simulator with memory that is not there, or has "
      "damaged the simulator's own: the fault came under a lock, and ends the process. Next: build "
      "the operator with -fsanitize=address, or run it under gdb\n");
  return true;
}

// Keeps what Crash tells. False: the heap is damaged, and its lock may be taken, or the stack, or another lock is taken; nothing could go on.
bool Keep(Frame* frame, const siginfo_t* info, const void* context) {
  frame->overrun = Overrun(frame->guard);
  if (IsBeyondGuard(frame->overrun) || IsUnderLock(*frame)) {
    return false;
  }
  frame->signal = info->si_signo;
  frame->code = info->si_code;
  frame->address = reinterpret_cast<uintptr_t>(info->si_addr);
  frame->depth = StackInSignal(frame->stack, kMaxFrames, context);
  // A sanitizer's library has the start of threads beside its malloc.
  void** const end = frame->stack + frame->depth;
  return std::none_of(frame->stack, std::find(frame->stack, end, frame->caller), IsInAllocator);
}

// To whoever handled the signal before.
void PassOn(const struct sigaction& before, int number, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    signal(number, SIG_DFL);
    raise(number);  // delivered on return; also right for a signal that somebody sent
  }
}

std::atomic<MendFault> mendFault{nullptr};

void OnSignal(int number, siginfo_t* info, void* context) {
  if (const MendFault mend = mendFault; number == SIGSEGV && mend != nullptr && IsOwn(info)) {
    const int before = errno;
    const bool mended = mend(info, context);
    errno = before;
    if (mended) {
      return;
    }
  }
  if (number == SIGFPE && current != nullptr && DivisionsGoOn::PassOver(info, context)) {
    return;
  }
  if (Frame* frame = current; frame != nullptr && IsOwn(info) && Keep(frame, info, context)) {
    siglongjmp(frame->back, 1);
  }
  const auto index = std::find(std::begin(kSignals), std::end(kSignals), number) - kSignals;
  const struct sigaction& before = previous[index];
  const int savedErrno = errno;
  const ExplainSignal explain = explainSignal;
  if (IsOwn(info) && explain != nullptr && explain(info)) {
    // The instruction runs again under the previous disposition: a core dump or a debugger sees the real place.
    sigaction(number, &before, nullptr);
  } else {
    PassOn(before, number, info, context);
  }
  errno = savedErrno;
}

void OnStuck(int number, siginfo_t* info, void* context) {
  const int savedErrno = errno;
  Frame* const frame = current;
  // A process may have two copies of this library.
  if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &stuckToken) {
    if ((previousStuck.sa_flags & SA_SIGINFO) != 0 || previousStuck.sa_handler != SIG_IGN) {
      PassOn(previousStuck, number, info, context);
    }
  } else if (frame != nullptr && frame->progress != nullptr &&
             frame->progress->EndsAt(ProgramCounter(context)) && Keep(frame, info, context)) {
    siglongjmp(frame->back, 1);
  }
  errno = savedErrno;
}

void Install() {
  static std::once_flag once;
  std::call_once(once, [] {
    void* frame = nullptr;
    backtrace(&frame, 1);  // the first call loads a library, which a handler must not
    allocators[0] = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "malloc"));
    if (void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); libc != nullptr) {
      allocators[1] = reinterpret_cast<uintptr_t>(dlsym(libc, "malloc"));
      dlclose(libc);
    }
    struct sigaction action = {};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], &action, &previous[i]);
    }
    action.sa_sigaction = OnStuck;
    action.sa_flags |= SA_RESTART;  // it may come while the simulator is at work
    sigaction(kStuckSignal, &action, &previousStuck);
  });
}

// A thread whose stack is full has no room for a handler; threads of streams block signals.
class HandlerStack {
 public:
  HandlerStack() {
    sigset_t stuck;
    sigemptyset(&stuck);
    sigaddset(&stuck, kStuckSignal);
    pthread_sigmask(SIG_UNBLOCK, &stuck, nullptr);
    stack_t now{};
    if (sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
      memory_ = std::make_unique<char[]>(kHandlerStackBytes);
      const stack_t own{memory_.get(), 0, kHandlerStackBytes};
      sigaltstack(&own, nullptr);
    }
  }
  ~HandlerStack() {
    stack_t now{};
    if (memory_ != nullptr && sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory_.get()) {
      const stack_t none{nullptr, SS_DISABLE, 0};
      sigaltstack(&none, nullptr);
    }
  }

 private:
  std::unique_ptr<char[]> memory_;
};

bool IsBelowStack(uintptr_t address) {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return false;
  }
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  const auto lowest = reinterpret_cast<uintptr_t>(low);
  return address < lowest + PageBytes() && address + kLargestFrame > lowest;
}

std::atomic<const ThreadScopes*> threadScopes{nullptr};

// How many scopes the thread was in before other people's code ran, to leave those that a crash in it has skipped the ends of.
class OpenScopes {
 public:
  OpenScopes()
      : scopes_(threadScopes),
        open_(scopes_ != nullptr ? scopes_->open() : 0),
        forkHolds_(HoldFork::Depth()) {}
  void CloseLater() const {
    // The library may have been loaded, or unloaded, by the code that crashed.
    if (const ThreadScopes* const now = threadScopes; now != nullptr) {
      now->close(now == scopes_ ? open_ : 0);
    }
    while (HoldFork::Depth() > forkHolds_) {
      HoldFork::End();
    }
  }

 private:
  const ThreadScopes* const scopes_;
  const uint32_t open_;
  const uint32_t forkHolds_;
};

class Watched {
 public:
  Watched(ThreadProgress* progress, const void* library)
      : progress_(progress), outer_(progress != nullptr ? progress->Begin(library) : nullptr) {}
  ~Watched() {
    if (progress_ != nullptr) {
      progress_->End(outer_);
    }
  }

 private:
  ThreadProgress* const progress_;
  const void* const outer_;
};

// A write past the end of a local array meets the guard before anything that the simulator needs: this frame is below all
// others. Says what was met.
__attribute__((noinline)) size_t RunGuarded(Frame* frame, void (*call)(const void*),
                                            const void* code) {
  unsigned char guard[kGuardBytes];
  std::memset(guard, kGuardByte, sizeof(guard));
  frame->guard = guard;
  frame->caller = __builtin_return_address(0);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  asm volatile("" : : "r"(guard) : "memory");
  call(code);
  asm volatile("" : : "r"(guard) : "memory");
  return Overrun(guard);
}

// noinline keeps the work out of the frame that sigsetjmp may return to twice.
__attribute__((noinline)) void Enter(Frame* frame, void (*call)(const void*), const void* code) {
  Frame* const outer = current;
  current = frame;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  try {
    const size_t overrun = RunGuarded(frame, call, code);
    if (IsBeyondGuard(overrun)) {
      abort();
    }
    frame->overrun = overrun;
  } catch (...) {
    current = outer;
    throw;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current = outer;
}

}  // namespace

namespace {

thread_local DivisionsGoOn* volatile divisions __attribute__((tls_model("initial-exec"))) = nullptr;

#if defined(__x86_64__)
// The bytes of div or idiv of 32 or 64 bits; 0: it is another instruction.
int LengthOfDivision(const uint8_t* code, bool* wide) {
  const uint8_t* at = code;
  *wide = false;
  if ((*at & 0xF0) == 0x40) {
    *wide = (*at & 8) != 0;
    ++at;
  }
  const int operation = at[1] >> 3 & 7;
  if (*at != 0xF7 || (operation != 6 && operation != 7)) {
    return 0;
  }
  const int mode = at[1] >> 6;
  const int base = at[1] & 7;
  const bool indexed = mode != 3 && base == 4;
  const bool far = mode == 2 || (mode == 0 && (indexed ? at[2] & 7 : base) == 5);
  return static_cast<int>(at - code) + 2 + (indexed ? 1 : 0) + (mode == 1 ? 1 : far ? 4 : 0);
}
#endif

}  // namespace

DivisionsGoOn::DivisionsGoOn() : outer_(divisions) { divisions = this; }
DivisionsGoOn::~DivisionsGoOn() { divisions = outer_; }

bool DivisionsGoOn::PassOver(const siginfo_t* info, void* context) {
#if defined(__x86_64__)
  DivisionsGoOn* const scope = divisions;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  bool wide = false;
  const int length = LengthOfDivision(reinterpret_cast<uint8_t*>(registers[REG_RIP]), &wide);
  const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
  const uint64_t dividend = static_cast<uint64_t>(registers[REG_RAX]) & mask;
  // The lowest number by -1 raises the same signal.
  if (scope == nullptr || info->si_code != FPE_INTDIV || length == 0 ||
      dividend == (mask >> 1) + 1) {
    return false;
  }
  if (scope->depth_ == 0) {
    scope->depth_ = StackInSignal(scope->stack_, kMost, context);
  }
  registers[REG_RAX] = static_cast<greg_t>(mask);
  registers[REG_RDX] = static_cast<greg_t>(dividend);
  registers[REG_RIP] += length;
  return true;
#else
  static_cast<void>(info);
  static_cast<void>(context);
  return false;
#endif
}

int StackInSignal(void** stack, int most, const void* context) {
  void** end = stack + backtrace(stack, most);
  if (void** at = std::find(stack, end, ProgramCounter(context)); at != end) {
    end = std::copy(at, end, stack);  // without the handlers, which may be those of others
    // The other frames are return addresses, one past a call.
    *stack = static_cast<char*>(*stack) + 1;
  }
  return static_cast<int>(end - stack);
}

namespace {

std::string SignalText(const Crash& crash) {
  switch (crash.signal) {
    case SIGFPE:
      return crash.code == FPE_INTDIV ? "SIGFPE, a division by zero" : "SIGFPE";
    case SIGILL:
      return "SIGILL, an illegal instruction";
    case SIGABRT:
      return "SIGABRT, of abort or assert";
    case kStuckSignal:
      return Format("an endless loop, ended after %.1f s of processor time", crash.seconds);
    default:
      break;
  }
  const char* name = crash.signal == SIGBUS ? "SIGBUS" : "SIGSEGV";
  return IsBelowStack(crash.address)
             ? Format("%s, a stack that is full", name)
             : Format("%s at address 0x%zx", name, static_cast<size_t>(crash.address));
}

}  // namespace

std::string CrashText(const Crash& crash) {
  if (crash.overrun == 0) {
    return SignalText(crash);
  }
  const std::string what =
      Format("it wrote past the end of a local array, over %zu bytes of its callers' stack",
             crash.overrun);
  return crash.signal == 0 ? what : SignalText(crash) + "; before that " + what;
}

std::optional<Crash> RunForeign(const void* library, void (*call)(const void*), const void* code) {
  Install();
  thread_local HandlerStack handlerStack;
  Frame frame;
  frame.guard = nullptr;
  frame.caller = nullptr;
  frame.overrun = 0;
  frame.holdsLocks = holdsLocks;
  frame.progress = library != nullptr ? &ThreadProgress::OfThread() : nullptr;
  const Watched watched(frame.progress, library);
  const OpenScopes scopes;
  Frame* const outer = current;
  if (sigsetjmp(frame.back, 1) != 0) {
    current = outer;
    scopes.CloseLater();
    Crash crash{frame.signal, frame.code, frame.address,
                std::vector<void*>(frame.stack, frame.stack + frame.depth)};
    if (frame.signal == kStuckSignal) {
      crash.stuck = frame.progress->How();
      crash.seconds = frame.progress->Seconds();
    }
    crash.overrun = frame.overrun;
    return crash;
  }
  Enter(&frame, call, code);
  if (frame.overrun > 0) {
    Crash crash;
    crash.overrun = frame.overrun;
    crash.stack = {static_cast<char*>(const_cast<void*>(library)) + 1};
    return crash;
  }
  return std::nullopt;
}

void SetThreadScopes(const ThreadScopes* scopes) { threadScopes = scopes; }

HoldsLocks::HoldsLocks() { holdsLocks = holdsLocks + 1; }
HoldsLocks::~HoldsLocks() { holdsLocks = holdsLocks - 1; }

void SetMendFault(MendFault mend) { mendFault = mend; }

bool HandlesSegv() {
  struct sigaction now = {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == OnSignal;
}

void InstallCrashHandler(ExplainSignal explain) {
  explainSignal = explain;
  Install();
}

BlockedSignals::BlockedSignals() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace aclsim
