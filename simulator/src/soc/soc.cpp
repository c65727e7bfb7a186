// SPDX-License-Identifier: Apache-2.0
// The SoC table and the choice of the simulated SoC.
#include "soc/soc.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "soc/select.h"

namespace aclsim {

namespace {

std::string Lower(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Levenshtein distance; names are short, so the quadratic table is fine.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

const char* SpaceName(Space space) {
  constexpr const char* kNames[kSpaces] = {"GM", "UB", "L1",     "L0A",    "L0B",      "L0C",
                                           "BT", "FB", "L0A_MX", "L0B_MX", "L0B_INDEX"};
  return kNames[static_cast<size_t>(space)];
}

const std::vector<Soc>& AllSocs() {
  // Leaked: stream threads may still ask for it while the process exits.
  static const auto* socs = new std::vector<Soc>{
#include "soc_table.inc"
  };
  return *socs;
}

const Soc* FindSoc(const std::string& name) {
  // A family, as OpDef's AddConfig writes it, stands for one of its SoCs.
  static constexpr std::pair<const char*, const char*> kOfFamily[] = {
      {"ascend910b", "Ascend910B2"},     {"ascend910_93", "Ascend910_9391"},
      {"ascend950", "Ascend950PR_9589"}, {"ascend310p", "Ascend310P3"},
      {"ascend310b", "Ascend310B1"},     {"ascend910", "Ascend910A"},
  };
  constexpr const char* kOfMsopgen = "ai_core-";
  std::string wanted = name.rfind(kOfMsopgen, 0) == 0 ? name.substr(8) : name;
  for (const Soc& soc : AllSocs()) {
    if (soc.name == wanted) {
      return &soc;
    }
  }
  wanted = Lower(wanted);
  for (const auto& [family, soc] : kOfFamily) {
    if (wanted == family) {
      wanted = Lower(soc);
      break;
    }
  }
  for (const Soc& soc : AllSocs()) {
    if (Lower(soc.name) == wanted) {
      return &soc;
    }
  }
  return nullptr;
}

std::string UnknownSocText(const std::string& name) {
  constexpr size_t kMaxName = 64;  // the name comes from the environment and may be anything
  const std::string shown = name.size() > kMaxName ? name.substr(0, kMaxName) + "..." : name;
  const std::string wanted = Lower(name.substr(0, kMaxName));
  std::vector<std::pair<size_t, const Soc*>> ranked;
  for (const Soc& soc : AllSocs()) {
    const std::string have = Lower(soc.name);
    // "910b2" and "ascend910b" are meant as prefixes or parts of a name more often than as
    // misspellings.
    const bool part = !wanted.empty() && have.find(wanted) != std::string::npos;
    ranked.emplace_back(part ? 0 : EditDistance(wanted, have), &soc);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr size_t kSuggestions = 5;
  std::string text = "unknown SoC \"" + shown + "\"; near matches:";
  for (size_t i = 0; i < kSuggestions && i < ranked.size(); ++i) {
    text += (i == 0 ? " " : ", ") + ranked[i].second->name;
  }
  return text + "; aclsimSocNames() lists all " + std::to_string(AllSocs().size());
}

const Soc& CurrentSoc() {
  std::string why;
  const Soc* soc = SelectedSoc(&why);
  if (soc == nullptr) {
    throw std::runtime_error(why);
  }
  return *soc;
}

uint32_t DeviceVectorCores() {
  const uint32_t all = CurrentSoc().aivCores;
  const uint32_t wanted = SelectedCores();
  return wanted == 0 ? all : std::min(wanted, all);
}

uint32_t VectorCoreCount() {
  const uint32_t limit = VectorCoreLimit();
  return limit == 0 ? DeviceVectorCores() : std::min(limit, DeviceVectorCores());
}

uint32_t CubeCoreCount() {
  const uint32_t limit = CubeCoreLimit();
  return limit == 0 ? CurrentSoc().aicCores : std::min(limit, CurrentSoc().aicCores);
}

}  // namespace aclsim
