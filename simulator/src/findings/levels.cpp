// SPDX-License-Identifier: Apache-2.0
#include "findings/levels.h"

#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace aclsim {

namespace {

struct Rule {
  std::string kind;  // empty: any
  std::string file;  // the same
  Level level = Level::kError;

  int Says() const { return (kind.empty() ? 0 : 1) + (file.empty() ? 0 : 2); }
};

struct Rules {
  std::string text = "error";
  std::vector<Rule> rules;
};

// Replaced as a whole and never given back, so that cores read it without a lock. A child has what its parent had.
std::atomic<const Rules*> current{nullptr};

std::optional<Level> ParseLevel(const std::string& word) {
  if (word == "error") {
    return Level::kError;
  }
  if (word == "warn") {
    return Level::kWarn;
  }
  return word == "off" ? std::optional(Level::kOff) : std::nullopt;
}

bool ParseRule(const std::string& word, Rule* rule) {
  const size_t equals = word.rfind('=');
  const bool general = equals == std::string::npos;
  const std::optional<Level> level = ParseLevel(general ? word : word.substr(equals + 1));
  if (!level || equals == 0) {
    return false;
  }
  rule->level = *level;
  if (!general) {
    const std::string what = word.substr(0, equals);
    const size_t at = what.find('@');
    rule->kind = what.substr(0, at);
    rule->file = at == std::string::npos ? "" : what.substr(at + 1);
    return at == std::string::npos || !rule->file.empty();
  }
  return true;
}

// The path, or whole names at its end.
bool IsFile(const std::string& pattern, const std::string& path) {
  const std::string inner = "*/" + pattern;
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0 ||
         fnmatch(inner.c_str(), path.c_str(), 0) == 0;
}

}  // namespace

bool SetFindingLevels(const std::string& text, std::string* bad) {
  auto rules = std::make_unique<Rules>();
  rules->text = text;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!ParseRule(word, &rules->rules.emplace_back())) {
      *bad = word;
      return false;
    }
    at = end + 1;
  }
  current = rules.release();
  return true;
}

std::string FindingLevels() {
  const Rules* const rules = current;
  return rules == nullptr ? "error" : rules->text;
}

bool AnyTolerated() {
  const Rules* const rules = current;
  return rules != nullptr && std::ranges::any_of(rules->rules, [](const Rule& rule) {
           return rule.level != Level::kError;
         });
}

Level LevelOf(const std::string& kind, const std::string& file) {
  const Rules* const rules = current;
  Level level = Level::kError;
  int says = -1;
  for (const Rule& rule : rules == nullptr ? std::vector<Rule>{} : rules->rules) {
    if ((rule.kind.empty() || rule.kind == kind) &&
        (rule.file.empty() || IsFile(rule.file, file)) && rule.Says() >= says) {
      level = rule.level;
      says = rule.Says();
    }
  }
  return level;
}

}  // namespace aclsim
