// SPDX-License-Identifier: Apache-2.0
// Spreads the cores of a launch over host threads and turns a fault into a report.
#include "engine/launch.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

#include "checkers/traffic.h"
#include "engine/core.h"
#include "engine/options.h"

namespace aclsim {

namespace {

constexpr int32_t kVectorCoreException = 507035;  // ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
constexpr size_t kMaxKernelArgs = 48;

// Host threads that live as long as the process; one launch at a time uses them.
class HostThreads {
 public:
  static HostThreads& Instance() {
    // Leaked on purpose: worker threads may outlive static destruction at exit.
    static HostThreads* threads = [] {
      // A forked child has none of the threads, and locks in whatever state the fork found them.
      pthread_atfork(nullptr, nullptr, [] { threads = new HostThreads; });
      return new HostThreads;
    }();
    return *threads;
  }

  // Runs work(0) .. work(count - 1), the caller being one of the workers.
  void Run(uint32_t count, uint32_t threads, const std::function<void(uint32_t)>& work) {
    const std::lock_guard<std::mutex> oneLaunch(launchMutex_);
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    const uint32_t helpers = std::min(threads, count) - 1;
    while (started_ < helpers) {
      std::thread([this, id = started_] { Loop(id); }).detach();
      ++started_;
    }
    active_ = wanted_ = helpers;
    ++generation_;
    lock.unlock();
    wake_.notify_all();
    Drain();
    lock.lock();
    done_.wait(lock, [this] { return active_ == 0; });
    work_ = nullptr;
  }

 private:
  void Loop(uint32_t id) {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      if (id >= wanted_) {
        continue;
      }
      lock.unlock();
      Drain();
      lock.lock();
      if (--active_ == 0) {
        done_.notify_one();
      }
    }
  }

  void Drain() {
    for (uint32_t i = next_++; i < count_; i = next_++) {
      (*work_)(i);
    }
  }

  std::mutex launchMutex_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(uint32_t)>* work_ = nullptr;
  std::atomic<uint32_t> next_{0};
  uint32_t count_ = 0;
  uint32_t started_ = 0;
  uint32_t wanted_ = 0;
  uint32_t active_ = 0;
  uint64_t generation_ = 0;
};

// UB of the core that this host thread runs, big enough for every SoC and aligned to a page.
uint8_t* ThreadUb(uint64_t bytes) {
  struct Mapping {
    uint8_t* addr = nullptr;
    uint64_t bytes = 0;
    ~Mapping() {
      if (addr != nullptr) {
        munmap(addr, bytes);
      }
    }
  };
  thread_local Mapping mapping;
  if (mapping.bytes < bytes) {
    if (mapping.addr != nullptr) {
      munmap(mapping.addr, mapping.bytes);
      mapping.addr = nullptr;
      mapping.bytes = 0;
    }
    void* addr = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (addr == MAP_FAILED) {
      throw std::bad_alloc();
    }
    mapping.addr = static_cast<uint8_t*>(addr);
    mapping.bytes = bytes;
  }
  return mapping.addr;
}

template <size_t... I>
void CallKernel(const void* entry, const std::vector<uint8_t*>& args, std::index_sequence<I...>) {
  // The C calling conventions of our hosts let a function ignore arguments that it does not declare.
  using Kernel = void (*)(decltype(static_cast<void>(I), static_cast<uint8_t*>(nullptr))...);
  reinterpret_cast<Kernel>(const_cast<void*>(entry))((I < args.size() ? args[I] : nullptr)...);
}

std::string Report(const KernelLaunch& launch, const Core& core, const KernelFault& fault) {
  const SourceLine line = FindKernelLine(fault.stack);
  std::string text = Format("kernel fault [%s] in %s, core %u of %u", fault.kind.c_str(),
                            launch.opType.c_str(), core.index, launch.blockDim);
  if (core.instruction[0] != '\0') {
    text += Format(", %s", core.instruction);
  }
  if (line.line > 0) {
    text += Format("\n  at %s:%d\n     %s", line.file.c_str(), line.line, line.text.c_str());
  } else if (!line.file.empty()) {
    text += Format("\n  at %s (no line: build the kernel with -g)", line.file.c_str());
  }
  text += "\n  " + fault.detail + "\n  " + fault.advice;
  text += Format("\n  soc %s, tiling key %llu", launch.soc->name.c_str(),
                 static_cast<unsigned long long>(launch.tilingKey));
  if (!launch.tilingText.empty()) {
    text += ", tiling " + launch.tilingText;
  }
  return text;
}

// What a kernel must leave behind; queues still holding tensors mean that a copy was forgotten.
void CheckKernelEnd(Core& core) {
  core.instruction = "end of kernel";
  if (core.tilingKeyAsked && !core.tilingKeyMatched) {
    ThrowFault("tiling-key-unknown",
               Format("no TILING_KEY_IS matched tiling key %llu",
                      static_cast<unsigned long long>(core.launch.tilingKey)),
               "Hardware would run an empty kernel and leave the output untouched. Make the tiling "
               "function and the kernel "
               "agree on the keys.");
  }
  for (const QueInfo& que : core.ques) {
    if (!que.queued.empty()) {
      ThrowFault("queue-leak",
                 Format("%zu tensor(s) still enqueued at the end\n  queue: %s", que.queued.size(),
                        core.DescribeBuffer(que.queued[0]).c_str()),
                 "Hardware leaves an event set for the next kernel, which may hang. DeQue and free "
                 "every tensor.");
    }
  }
}

}  // namespace

LaunchResult Launch(const KernelLaunch& launch) noexcept {
  LaunchResult result;
  result.stats.blockDim = launch.blockDim;
  std::mutex resultMutex;
  uint32_t firstFault =
      UINT32_MAX;  // the lowest core's report, so that it does not depend on host threads
  const bool checked = CheckedMode();
  const auto fail = [&](uint32_t core, std::string message) {
    const std::lock_guard<std::mutex> lock(resultMutex);
    if (core < firstFault) {
      firstFault = core;
      result.status = kVectorCoreException;
      result.message = std::move(message);
    }
  };
  try {
    if (launch.entry == nullptr || launch.soc == nullptr || launch.args.size() > kMaxKernelArgs) {
      fail(0, Format("launch of %s refused: %zu arguments, at most %zu; entry %p",
                     launch.opType.c_str(), launch.args.size(), kMaxKernelArgs, launch.entry));
      return result;
    }
    const auto runCore = [&](uint32_t index) {
      try {
        uint8_t* ub = ThreadUb(launch.soc->ubBytes);
        TrafficObserver traffic;
        std::vector<Observer*> observers;
        if (checked) {
          std::memset(ub, kPoisonByte, launch.soc->ubBytes);
          observers.push_back(&traffic);
        }
        Core core(launch, index, ub, observers);
        Core::SetCurrent(&core);
        try {
          CallKernel(launch.entry, launch.args, std::make_index_sequence<kMaxKernelArgs>());
          CheckKernelEnd(core);
        } catch (const KernelFault& fault) {
          fail(index, Report(launch, core, fault));
        }
        Core::SetCurrent(nullptr);
        const std::lock_guard<std::mutex> lock(resultMutex);
        traffic.AddTo(&result.stats);
        result.stats.ubPeakBytes = std::max(result.stats.ubPeakBytes, core.ubPeak);
      } catch (const std::exception& error) {
        Core::SetCurrent(nullptr);
        fail(index, Format("%s, core %u: %s", launch.opType.c_str(), index, error.what()));
      }
    };
    HostThreads::Instance().Run(launch.blockDim, HostThreadCount(), runCore);
  } catch (const std::exception& error) {
    fail(0, Format("%s: %s", launch.opType.c_str(), error.what()));
  }
  return result;
}

}  // namespace aclsim
