// SPDX-License-Identifier: Apache-2.0
// Options of operator compilation. Nothing is compiled here when an operator is called, so what is set is kept for who asks.
#include <array>
#include <cstring>
#include <map>
#include <string>

#include "acl/acl_op_compiler.h"
#include "host/fork.h"
#include "host/lock.h"
#include "runtime/errors.h"
#include "soc/select.h"
#include "soc/soc.h"

namespace aclsim {

namespace {

struct CompileOptions {
  Mutex<9, "compile options"> mutex;
  std::map<int, std::string> set;
};
PerProcess<CompileOptions> options;

// Before Atlas A2 operators are compiled when they are called.
const char* JitCompile() {
  const int arch = CurrentSoc().npuArch;
  return arch == 1001 || arch == 2002 ? "enable" : "disable";
}

std::string Value(int opt) {
  const std::lock_guard lock(options->mutex);
  const auto found = options->set.find(opt);
  if (found != options->set.end()) {
    return found->second;
  }
  return opt == ACL_OP_JIT_COMPILE ? JitCompile() : "";
}

int32_t CheckOption(const Api& api, int opt) {
  return opt >= 0 && opt <= ACL_OP_DEBUG_OPTION
             ? 0
             : api.Fail(ACL_ERROR_INVALID_PARAM, "opt is %d, want an aclCompileOpt of 0 to %d", opt,
                        static_cast<int>(ACL_OP_DEBUG_OPTION));
}

}  // namespace

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckOption(api, opt));
    if (opt == ACL_OP_JIT_COMPILE && std::strcmp(value, "enable") != 0 &&
        std::strcmp(value, "disable") != 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "ACL_OP_JIT_COMPILE is %s, want enable or disable",
                      value);
    }
    const std::lock_guard lock(aclsim::options->mutex);
    aclsim::options->set[opt] = value;
    return 0;
  });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  size_t size = 0;
  Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckOption(api, opt));
    const std::string value = aclsim::Value(opt);
    size = value.empty() ? 0 : value.size() + 1;
    return 0;
  });
  return size;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckOption(api, opt));
    const std::string text = aclsim::Value(opt);
    if (text.empty()) {
      return api.Fail(ACL_ERROR_API_NOT_SUPPORT, "option %d was not set and has no default",
                      static_cast<int>(opt));
    }
    if (length <= text.size()) {
      return api.Fail(ACL_ERROR_INVALID_PARAM,
                      "length is %zu, want at least %zu: aclGetCompileoptSize", length,
                      text.size() + 1);
    }
    std::memcpy(value, text.c_str(), text.size() + 1);
    return 0;
  });
}

}  // extern "C"
