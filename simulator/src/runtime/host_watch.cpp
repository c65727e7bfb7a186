// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_watch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "host/crash.h"
#include "host/fork.h"
#include "host/lock.h"
#include "host/pages.h"
#include "runtime/misuse.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr size_t kMostWatches = 128;  // further copies are not watched
constexpr size_t kMostFrames = 24;
constexpr int kMostRetries = 1000;

enum State : int {
  kFree,
  kArmed,
  kHit,       // the handler has opened the pages
  kReleased,  // they are open; another thread may still be on its way into the handler
};

struct Watch {
  std::atomic<int> state{kFree};
  std::atomic<uintptr_t> pages{0}, pagesEnd{0};
  uintptr_t begin = 0, end = 0;
  bool writes = false;
  uint64_t stream = 0;
  uint64_t ticket = UINT64_MAX;
  std::string by;
  const void* caller = nullptr;
  int opened = 0;
  std::atomic<int> retries{0};
  // The first access has these.
  uintptr_t hitAddress = 0;
  std::array<void*, kMostFrames> frames{};
  std::atomic<int> depth{0};  // 0: none that matters
};

std::array<Watch, kMostWatches> watches;
std::atomic<int> live{0};
PerProcess<Mutex<9, "watched copies">> watchMutex;

void Protect(const Watch& watch, int rights) {
  mprotect(reinterpret_cast<void*>(watch.pages.load()), watch.pagesEnd - watch.pages, rights);
}
int Rights(const Watch& watch) { return watch.writes ? PROT_NONE : PROT_READ; }

void Report(const Watch& watch, const std::vector<void*>& frames) {
  Finding finding;
  finding.kind = "host-unsynchronised";
  finding.space = "host";
  finding.at.pipe = "host";
  finding.at.instruction = "host code";
  finding.at.note = watch.writes ? "uses pinned memory" : "writes to pinned memory";
  for (void* const frame : frames) {
    if (finding.at.line = ProgramLine(frame); finding.at.line.line > 0) {
      break;
    }
  }
  finding.related.push_back(HostPlace(watch.by,
                                      watch.writes
                                          ? "writes it on a stream that nothing has waited for"
                                          : "reads it on a stream that nothing has waited for",
                                      watch.caller));
  finding.detail =
      watch.writes
          ? Format(
                "%s is to copy %llu bytes to %p on stream %llu: the host uses byte %llu of them, "
                "and nothing has waited for the copy",
                watch.by.c_str(), static_cast<Ull>(watch.end - watch.begin),
                reinterpret_cast<void*>(watch.begin), static_cast<Ull>(watch.stream),
                static_cast<Ull>(watch.hitAddress - watch.begin))
          : Format(
                "%s is to copy %llu bytes from %p on stream %llu: the host changes byte %llu of "
                "them, and nothing has waited for the copy",
                watch.by.c_str(), static_cast<Ull>(watch.end - watch.begin),
                reinterpret_cast<void*>(watch.begin), static_cast<Ull>(watch.stream),
                static_cast<Ull>(watch.hitAddress - watch.begin));
  finding.advice =
      watch.writes
          ? "Hardware runs the stream beside the host: sometimes the old bytes, sometimes the new "
            "ones. Next: call aclrtSynchronizeStream before the host reads what the copy brings."
          : "Hardware runs the stream beside the host: the copy takes the old bytes or the new "
            "ones. "
            "Next: call aclrtSynchronizeStream before the host changes them, or use another "
            "buffer.";
  ReportFinding(std::move(finding));
}

struct Hit {
  const Watch* watch;
  std::vector<void*> frames;
};

// Opens the pages for good. The mutex is held.
void End(Watch& watch, std::vector<Hit>* hits) {
  int armed = kArmed;
  if (watch.state.compare_exchange_strong(armed, kReleased)) {
    Protect(watch, PROT_READ | PROT_WRITE);
  } else {
    watch.state = kReleased;
  }
  if (const int depth = watch.depth; depth > 0) {
    hits->push_back(
        {&watch, std::vector<void*>(watch.frames.begin(), watch.frames.begin() + depth)});
    watch.depth = 0;
  }
  --live;
}

bool IsLive(const Watch& watch) { return watch.state == kArmed || watch.state == kHit; }

template <typename Which>
void EndAll(const Which& which) {
  if (live == 0) {
    return;
  }
  const std::lock_guard lock(*watchMutex);
  std::vector<Hit> hits;
  for (Watch& watch : watches) {
    if (IsLive(watch) && which(watch)) {
      End(watch, &hits);
    }
  }
  for (const Hit& hit : hits) {
    Report(*hit.watch, hit.frames);
  }
}

}  // namespace

uint64_t HostWatch::Begin(const std::shared_ptr<const HostMemory::Block>& block, const void* begin,
                          uint64_t bytes, bool writes, const char* by, const void* caller) {
  // A handler of the program's own would take the access for a crash.
  if (!HandlesSegv()) {
    return 0;
  }
  SetMendFault(&HostWatch::Handle);
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t last = first + bytes;
  // Pages of aclrtMallocHost are the block's alone; of the program's own memory others may have parts.
  const uintptr_t pages = block->own ? RoundDown(first, PageBytes()) : RoundUp(first, PageBytes());
  const uintptr_t pagesEnd = block->own ? RoundUp(last, PageBytes()) : RoundDown(last, PageBytes());
  if (pages >= pagesEnd) {
    return 0;
  }
  const std::lock_guard lock(*watchMutex);
  Watch* found = nullptr;
  for (Watch& watch : watches) {
    if (IsLive(watch)) {
      if (watch.pages < pagesEnd && pages < watch.pagesEnd) {
        return 0;  // one copy after the other
      }
    } else if (found == nullptr || watch.state == kFree) {
      found = found != nullptr && found->state == kFree ? found : &watch;
    }
  }
  if (found == nullptr) {
    return 0;
  }
  found->state = kFree;
  found->pages = pages;
  found->pagesEnd = pagesEnd;
  found->begin = first;
  found->end = last;
  found->writes = writes;
  found->stream = 0;
  found->ticket = UINT64_MAX;
  found->by = by;
  found->caller = caller;
  found->opened = 0;
  found->retries = 0;
  found->depth = 0;
  found->state = kArmed;
  ++live;
  Protect(*found, Rights(*found));
  return static_cast<uint64_t>(found - watches.data()) + 1;
}

void HostWatch::Enqueued(uint64_t watch, uint64_t stream, uint64_t ticket) {
  if (watch != 0) {
    const std::lock_guard lock(*watchMutex);
    watches[watch - 1].stream = stream;
    watches[watch - 1].ticket = ticket;
  }
}

void HostWatch::Release(uint64_t stream, uint64_t ticket) {
  EndAll([&](const Watch& watch) { return watch.stream == stream && watch.ticket <= ticket; });
}

void HostWatch::ReleaseBlock(const HostMemory::Block& block) {
  const auto begin = reinterpret_cast<uintptr_t>(block.start);
  EndAll([&](const Watch& watch) {
    return watch.begin >= begin && watch.begin < begin + block.bytes;
  });
}

bool HostWatch::CopyPast(void* dst, const void* src, uint64_t bytes) {
  if (live == 0) {
    return false;
  }
  // This file reads and writes memory of the process whatever its pages allow. Opened anew: a child's is another one.
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (memory < 0) {
    return false;
  }
  constexpr uint64_t kMostAtOnce = uint64_t{1} << 20;
  std::vector<char> part(std::min(bytes, kMostAtOnce));
  uint64_t done = 0;
  while (done < bytes) {
    const uint64_t count = std::min<uint64_t>(part.size(), bytes - done);
    const auto from = static_cast<off_t>(reinterpret_cast<uintptr_t>(src) + done);
    const auto to = static_cast<off_t>(reinterpret_cast<uintptr_t>(dst) + done);
    const auto whole = static_cast<ssize_t>(count);
    if (pread(memory, part.data(), count, from) != whole ||
        pwrite(memory, part.data(), count, to) != whole) {
      break;
    }
    done += count;
  }
  close(memory);
  return done == bytes;
}

HostWatch::Open::Open(const void* begin, uint64_t bytes)
    : begin_(reinterpret_cast<uintptr_t>(begin)), end_(begin_ + bytes) {
  if (live == 0) {
    return;
  }
  const std::lock_guard lock(*watchMutex);
  for (Watch& watch : watches) {
    if (IsLive(watch) && watch.pages < end_ && begin_ < watch.pagesEnd && watch.opened++ == 0 &&
        watch.state == kArmed) {
      Protect(watch, PROT_READ | PROT_WRITE);
    }
  }
}

HostWatch::Open::~Open() {
  if (live == 0) {
    return;
  }
  const std::lock_guard lock(*watchMutex);
  for (Watch& watch : watches) {
    if (IsLive(watch) && watch.pages < end_ && begin_ < watch.pagesEnd && watch.opened > 0 &&
        --watch.opened == 0 && watch.state == kArmed) {
      Protect(watch, Rights(watch));
    }
  }
}

namespace {

// The instruction, as if it were a call, and where the function returns to that it is in, if that has no frame: memcpy.
std::array<void*, 2> Accessing(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {reinterpret_cast<void*>(machine.gregs[REG_RIP] + 1),
          *reinterpret_cast<void**>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {reinterpret_cast<void*>(machine.pc + 1), reinterpret_cast<void*>(machine.regs[30])};
#else
  static_cast<void>(machine);
  return {};
#endif
}

}  // namespace

bool HostWatch::Handle(const siginfo_t* info, const void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Watch& watch : watches) {
    const int state = watch.state;
    if (state == kFree || address < watch.pages || address >= watch.pagesEnd) {
      continue;
    }
    if (state == kArmed) {
      const bool matters = address >= watch.begin && address < watch.end;
      watch.hitAddress = address;
      int depth = 0;
      if (matters) {
        const std::array<void*, 2> places = Accessing(context);
        std::copy(places.begin(), places.end(), watch.frames.begin());
        constexpr int kPlaces = 2;
        depth = kPlaces + StackInSignal(watch.frames.data() + kPlaces,
                                        static_cast<int>(kMostFrames) - kPlaces, context);
      }
      int armed = kArmed;
      if (watch.state.compare_exchange_strong(armed, kHit)) {
        Protect(watch, PROT_READ | PROT_WRITE);
        watch.depth = depth;
      }
      return true;
    }
    return ++watch.retries < kMostRetries;  // open by now
  }
  return false;
}

}  // namespace aclsim
