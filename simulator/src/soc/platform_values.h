// SPDX-License-Identifier: Apache-2.0
// What CANN's platform files say of a SoC, by section and key.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace aclsim {

// Values of a section for the current SoC, as text; nothing for a section that there is not.
std::optional<std::map<std::string, std::string>> PlatformValues(const std::string& label);

}  // namespace aclsim
