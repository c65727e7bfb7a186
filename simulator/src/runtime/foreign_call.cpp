// SPDX-License-Identifier: Apache-2.0
// aclsimCallForeign: functions of others whose arguments are known only when the program runs.
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "aclsim/aclsim.h"
#include "findings/fault.h"
#include "host/crash.h"
#include "host/format.h"
#include "host/thrown.h"

namespace aclsim {

namespace {

template <size_t>
using Word = uint64_t;
template <size_t>
using Real = double;

// By the calling conventions of our hosts the first integers and the first reals lie in registers, in an order of their own, and
// what is left in words of the stack; more of each than a function declares does no harm.
template <size_t... I, size_t... R, size_t... S>
int32_t Call(const void* function, const aclsimArguments& given, std::index_sequence<I...>,
             std::index_sequence<R...>, std::index_sequence<S...>) {
  using Function = int32_t (*)(Word<I>..., Real<R>..., Word<S>...);
  return reinterpret_cast<Function>(const_cast<void*>(function))(
      given.integers[I]..., given.reals[R]..., given.rest[S]...);
}

}  // namespace

}  // namespace aclsim

extern "C" int32_t aclsimCallForeign(const void* function, const aclsimArguments* arguments,
                                     int32_t* returned, char* text, uint64_t size) {
  std::string what;
  try {
    const auto crash = aclsim::RunForeign(function, [&] {
      *returned = aclsim::Call(function, *arguments, std::make_index_sequence<ACLSIM_INTEGERS>(),
                               std::make_index_sequence<ACLSIM_REALS>(),
                               std::make_index_sequence<ACLSIM_REST>());
    });
    if (!crash) {
      return 0;
    }
    what =
        (crash->stuck == aclsim::Stuck::kNo ? "crashed: " : "hangs: ") + aclsim::CrashText(*crash);
    if (const aclsim::SourceLine at = aclsim::FindKernelLine(crash->stack); at.line > 0) {
      what += aclsim::Format(", at %s:%d", at.file.c_str(), at.line);
    }
  } catch (...) {
    what = "threw " + aclsim::ThrownText();
  }
  snprintf(text, size, "%s", what.c_str());
  return 1;
}
