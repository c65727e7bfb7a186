// SPDX-License-Identifier: Apache-2.0
// Kernel launches in the text of a program: name<arguments><<<blocks, l2ctrl, stream>>>(arguments).
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace aclsim {

// A launch that cannot be read; the text says where it stands.
class LaunchSyntaxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Turns each launch of a preprocessed C++ text into a call that the host compiler understands, and drops [host, aicore]. Every character keeps its line:
// line markers, and with them reports and debuggers, stay right. Strings and literals are left alone.
// coresOf: what stands behind a kernel's name and itself among the arguments of that call, by the name; may be null.
std::string RewriteLaunches(const std::string& text,
                            const std::function<std::string(const std::string&)>& coresOf = {});

}  // namespace aclsim
