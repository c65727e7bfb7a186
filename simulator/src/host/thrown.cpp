// SPDX-License-Identifier: Apache-2.0
#include "host/thrown.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>

namespace aclsim {

std::string ThrownText() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  std::string text = "an exception of another language";
  if (type != nullptr) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
    text = name != nullptr ? name.get() : type->name();
  }
  try {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;  // The thread ends, by pthread_exit or pthread_cancel.
  } catch (const std::exception& error) {
    return text + ": " + error.what();
  } catch (...) {
    return text;
  }
}

}  // namespace aclsim
