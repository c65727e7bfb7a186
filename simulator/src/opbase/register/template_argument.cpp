// SPDX-License-Identifier: Apache-2.0
// Template tiling keys on the host.
#include "ascendc/host_api/tiling/template_argument.h"

#include <algorithm>
#include <string>

#include "runtime/runtime.h"

namespace AscendC {
namespace {

constexpr uint32_t kKeyBits = 64;

}  // namespace

std::vector<uint64_t> ExpandTplValues(std::initializer_list<uint64_t> described) {
  const std::vector<uint64_t> words(described);
  if (words.empty()) return {};
  const uint64_t form = words[0];
  std::vector<uint64_t> values;
  size_t next = 1;
  if (form != ASCENDC_TPL_UI_LIST) {
    const uint64_t ranges = words.size() > 1 ? words[1] : 0;
    next = 2;
    for (uint64_t range = 0; range < ranges && next + 1 < words.size(); ++range, next += 2) {
      for (uint64_t value = words[next]; value <= words[next + 1]; ++value) values.push_back(value);
    }
    if (form == ASCENDC_TPL_UI_RANGE) return values;
  }
  values.insert(values.end(),
                words.begin() + static_cast<std::ptrdiff_t>(std::min(next, words.size())),
                words.end());
  return values;
}

uint64_t EncodeTilingKey(const std::vector<TplParam>& declared,
                         std::initializer_list<uint64_t> values) {
  uint64_t key = 0;
  uint32_t bit = 0;
  auto value = values.begin();
  for (const TplParam& param : declared) {
    if (value == values.end()) break;
    uint64_t code = *value++;
    if (param.kind == ASCENDC_TPL_UINT) {
      const auto found = std::find(param.values.begin(), param.values.end(), code);
      if (found == param.values.end()) {
        aclsim::ReportError("GET_TPL_TILING_KEY: %s has no value %llu in its ASCENDC_TPL_UINT_DECL",
                            param.name, static_cast<unsigned long long>(code));
        return INVALID_TILING_KEY;
      }
      code = static_cast<uint64_t>(found - param.values.begin());
    }
    if (bit + param.bits > kKeyBits) {
      aclsim::ReportError("GET_TPL_TILING_KEY: the declared parameters take more than %u bits",
                          kKeyBits);
      return INVALID_TILING_KEY;
    }
    key |= code << bit;
    bit += param.bits;
  }
  return key;
}

}  // namespace AscendC
