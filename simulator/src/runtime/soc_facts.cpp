// SPDX-License-Identifier: Apache-2.0
// aclsimSocJson, aclsimSocNames: facts of SoCs for programs.
#include <map>
#include <string>

#include "aclsim/aclsim.h"
#include "host/format.h"
#include "runtime/errors.h"
#include "runtime/state.h"
#include "soc/select.h"
#include "soc/soc.h"

namespace aclsim {

namespace {

std::string SocJson(const Soc& soc) {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string memory = soc.memBytes != 0 ? std::to_string(soc.memBytes) : "null";
  return Format(
      "{\"name\":\"%s\",\"shortName\":\"%s\",\"npuArch\":%u,\"cceAicore\":%u,\"aicCores\":%u,"
      "\"aivCores\":%u,"
      "\"vecFreqMhz\":%u,\"ubBytes\":%llu,\"ubTilingBytes\":%llu,\"l1Bytes\":%llu,\"l0aBytes\":%"
      "llu,"
      "\"l0cBytes\":%llu,\"l2Bytes\":%llu,\"memBytes\":%s,\"dataCopyPad\":%s,\"bf16\":%s}",
      soc.name.c_str(), soc.shortName.c_str(), soc.npuArch, soc.cceAicore, soc.aicCores,
      soc.aivCores, soc.vecFreqMhz, number(soc.ubBytes), number(soc.ubTilingBytes),
      number(soc.BytesOf(Space::kL1)), number(soc.BytesOf(Space::kL0a)),
      number(soc.BytesOf(Space::kL0c)), number(soc.l2Bytes), memory.c_str(),
      soc.dataCopyPad ? "true" : "false", soc.bf16 ? "true" : "false");
}

}  // namespace

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

const char* aclsimSocJson(const char* name) {
  const char* text = nullptr;
  Enter("aclsimSocJson", [&](const Api& api) -> int32_t {
    // Leaked, so that the strings live as long as the process.
    static const auto* rows = [] {
      auto* made = new std::map<std::string, std::string>;
      for (const aclsim::Soc& soc : aclsim::AllSocs()) {
        (*made)[soc.name] = aclsim::SocJson(soc);
      }
      return made;
    }();
    const std::string wanted = name != nullptr ? std::string(name) : aclsim::CurrentSoc().name;
    const auto row = rows->find(wanted);
    if (row == rows->end()) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, aclsim::UnknownSocText(wanted));
    }
    text = row->second.c_str();
    return 0;
  });
  return text;
}

const char* aclsimSocNames() {
  const char* text = nullptr;
  Enter("aclsimSocNames", [&](const Api&) -> int32_t {
    static const auto* names = [] {
      auto* made = new std::string("[");
      for (const aclsim::Soc& soc : aclsim::AllSocs()) {
        *made += (made->size() > 1 ? ",\"" : "\"") + soc.name + "\"";
      }
      *made += "]";
      return made;
    }();
    text = names->c_str();
    return 0;
  });
  return text;
}

}  // extern "C"
