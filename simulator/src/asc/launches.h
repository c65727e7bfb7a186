// SPDX-License-Identifier: Apache-2.0
// Kernel launches in the text of a program: name<arguments><<<blocks, l2ctrl, stream>>>(arguments).
#pragma once

#include <stdexcept>
#include <string>

namespace aclsim {

// A launch that cannot be read; the text says where it stands.
class LaunchSyntaxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Turns each launch of a preprocessed C++ text into a call that the host compiler understands. Every character keeps its line:
// line markers, and with them reports and debuggers, stay right. Strings and literals are left alone.
std::string RewriteLaunches(const std::string& text);

}  // namespace aclsim
