// SPDX-License-Identifier: Apache-2.0
#include "runtime/errors.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <utility>

#include "runtime/state.h"
#include "runtime/unread.h"

namespace aclsim {

namespace {

// A program that never reads its errors must not grow without bound.
constexpr size_t kMaxPending = 32;

struct ThreadErrors {
  std::deque<std::string> pending;  // newest first
  uint64_t dropped = 0;
  int32_t last = ACL_SUCCESS;
  int32_t unread = ACL_SUCCESS;         // of a synchronisation, whose text is still pending
  std::array<std::string, 4> returned;  // by ReturnedText
};

thread_local ThreadErrors* threadErrors = nullptr;

// A key's destructor instead of a thread_local object: acl functions may be called from static
// destructors, after the main thread's thread_local objects are gone.
ThreadErrors& Mine() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, [](void* errors) {
      delete static_cast<ThreadErrors*>(errors);
      threadErrors = nullptr;
    });
    return made;
  }();
  if (threadErrors == nullptr) {
    threadErrors = new ThreadErrors;
    pthread_setspecific(key, threadErrors);
  }
  return *threadErrors;
}

}  // namespace

void PrintError(const std::string& text) {
  const std::string line = "aclgrad: " + text + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (wrote <= 0) {
      return;
    }
    done += static_cast<size_t>(wrote);
  }
}

const char* KeepForCaller(ReturnedText slot, std::string text) {
  std::string& kept = Mine().returned.at(static_cast<size_t>(slot));
  kept = std::move(text);
  return kept.c_str();
}

void PrintNewestError() {
  if (!Mine().pending.empty()) {
    PrintError(Mine().pending.front());
  }
}

void SetUnread(int32_t code) { Mine().unread = code; }

int32_t TakeUnread() { return std::exchange(Mine().unread, ACL_SUCCESS); }

void ReportErrorText(const std::string& text) {
  ThreadErrors& mine = Mine();
  mine.pending.push_front(text);
  if (mine.pending.size() > kMaxPending) {
    mine.pending.pop_back();
    ++mine.dropped;
  }
}

void ReportError(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  ReportErrorText(FormatV(fmt, args));
  va_end(args);
}

int32_t Api::FailText(int32_t code, const std::string& text) const {
  ReportErrorText(std::string(name_) + ": " + text + " (error " + std::to_string(code) + ")");
  // A function that is not there says so by its code alone. PyTorch's backend asks for the last error when any later call fails, and takes
  // that failure for the missing feature, about which it says nothing.
  if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    Mine().last = code;
  }
  return code;
}

int32_t Api::Fail(int32_t code, const char* fmt, ...) const {
  va_list args;
  va_start(args, fmt);
  const std::string text = FormatV(fmt, args);
  va_end(args);
  return FailText(code, text);
}

int32_t Api::Refuse(int32_t code, const char* kind, const char* argument, const std::string& detail,
                    const std::string& next, HostEnd other) const {
  ReportMisuse({kind, name_, argument, detail, next, std::move(other)});
  return FailText(code, detail + ". Next: " + next);
}

int32_t Api::NotNull(const void* pointer, const char* argument) const {
  return pointer != nullptr ? 0 : Fail(ACL_ERROR_INVALID_PARAM, "%s is null", argument);
}

int32_t Api::Ready() const {
  return RuntimeReady()
             ? 0
             : Fail(ACL_ERROR_UNINITIALIZE, "the runtime is not initialised; call aclInit first");
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

const char* aclGetRecentErrMsg() {
  try {
    aclsim::ThreadErrors& mine = aclsim::Mine();
    if (mine.pending.empty()) {
      return nullptr;
    }
    std::string text;
    for (const std::string& one : mine.pending) {
      text += (text.empty() ? "" : "\n") + one;
    }
    if (mine.dropped > 0) {
      text += aclsim::Format("\n(%llu older messages were dropped)",
                             static_cast<unsigned long long>(mine.dropped));
    }
    mine.pending.clear();
    mine.dropped = 0;
    mine.unread = ACL_SUCCESS;
    return aclsim::KeepForCaller(aclsim::ReturnedText::kErrorMessage, std::move(text));
  } catch (...) {
    return nullptr;
  }
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (level != ACL_RT_THREAD_LEVEL) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "level is %d, want ACL_RT_THREAD_LEVEL (0)",
                      static_cast<int>(level));
    }
    return aclsim::Mine().last;
  });
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  const aclError last = aclrtPeekAtLastError(level);
  if (level == ACL_RT_THREAD_LEVEL && last != ACL_SUCCESS) {
    aclsim::Mine().last = ACL_SUCCESS;
  }
  return last;
}

}  // extern "C"
