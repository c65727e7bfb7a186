// SPDX-License-Identifier: Apache-2.0
// Libraries of operators by path.
#pragma once

#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"

namespace gert {

enum class OppImplVersionTag { kOpp, kOppKernel, kVersionEnd = 20 };

class OppSoDesc {
 public:
  OppSoDesc(const std::vector<ge::AscendString>& paths, const ge::AscendString& package)
      : paths_(paths), package_(package) {}
  std::vector<ge::AscendString> GetSoPaths() const { return paths_; }
  ge::AscendString GetPackageName() const { return package_; }

 private:
  std::vector<ge::AscendString> paths_;
  ge::AscendString package_;
};

}  // namespace gert
