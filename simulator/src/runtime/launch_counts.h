// SPDX-License-Identifier: Apache-2.0
// How often each kernel was launched, for programs that want to know what ran.
#pragma once

#include <string>

namespace aclsim {

void CountLaunch(const std::string& kernel);

}  // namespace aclsim
