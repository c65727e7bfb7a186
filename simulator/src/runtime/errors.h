// SPDX-License-Identifier: Apache-2.0
// Every acl* function reports by this header: one entry guard, one place that words the error.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "acl/acl.h"
#include "host/format.h"
#include "runtime/runtime.h"

namespace aclsim {

struct Context;

// "aclgrad: text" on stderr, in one write so that threads do not mix their lines.
void PrintError(const std::string& text);
// Does the same for what aclGetRecentErrMsg would return first.
void PrintNewestError();

// Memory for a string whose pointer a C function returns; it lives until this thread asks for the
// same slot again.
enum class ReturnedText { kOption, kErrorMessage, kFindings, kProfiles };
const char* KeepForCaller(ReturnedText slot, std::string text);

// The running acl* function: its name opens every message.
class Api {
 public:
  // caller: where the program called it.
  explicit Api(const char* name, const void* caller = nullptr) : name_(name), caller_(caller) {}
  const char* name() const { return name_; }
  const void* caller() const { return caller_; }

  // Notes the error for aclGetRecentErrMsg and aclrtGetLastError; returns code.
  int32_t Fail(int32_t code, const char* fmt, ...) const __attribute__((format(printf, 3, 4)));
  int32_t FailText(int32_t code, const std::string& text) const;

  // Does the same for a mistake that is also listed as a finding. next: how to mend it.
  int32_t Refuse(int32_t code, const char* kind, const char* argument, const std::string& detail,
                 const std::string& next, HostEnd other = {}) const;

  // 0, or ACL_ERROR_INVALID_PARAM for a null argument.
  int32_t NotNull(const void* pointer, const char* argument) const;
  // 0, or ACL_ERROR_UNINITIALIZE.
  int32_t Ready() const;
  // 0 and the calling thread's context, or the error that says how to get one.
  int32_t Current(std::shared_ptr<Context>* context) const;

 private:
  const char* name_;
  const void* caller_;
};

// Nothing thrown may cross the C boundary. Inlined, so that the return address is that of the acl*
// function.
template <typename Body>
[[gnu::always_inline]] inline int32_t Enter(const char* name, Body&& body) noexcept {
  const Api api(name, __builtin_return_address(0));
  try {
    return body(api);
  } catch (const std::bad_alloc&) {
    return ACL_ERROR_BAD_ALLOC;
  } catch (const std::exception& error) {
    try {
      return api.Fail(ACL_ERROR_INTERNAL_ERROR, "%s", error.what());
    } catch (...) {
      return ACL_ERROR_INTERNAL_ERROR;
    }
  }
}

}  // namespace aclsim

// For the first lines of a function body: leave with the error of a failed check.
#define ACLSIM_RETURN_IF_ERROR(call)     \
  do {                                   \
    if (const int32_t error_ = (call)) { \
      return error_;                     \
    }                                    \
  } while (false)
