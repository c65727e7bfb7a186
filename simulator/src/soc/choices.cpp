// SPDX-License-Identifier: Apache-2.0
#include "soc/choices.h"

#include <array>

#include "soc/overlay.h"

namespace aclsim {

namespace {

const ChoiceRow* FindChoice(const std::string& name) {
  for (const ChoiceRow& row : kChoiceRows) {
    if (name == row.name) {
      return &row;
    }
  }
  return nullptr;
}

std::optional<uint8_t> NumberOf(const ChoiceRow& row, const std::string& alternative) {
  for (uint8_t i = 0; i < kMostAlternatives && row.alternatives[i] != nullptr; ++i) {
    if (alternative == row.alternatives[i]) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

uint8_t ChosenOf(Choice choice) {
  static const auto chosen = [] {
    std::array<uint8_t, kChoices> numbers{};
    for (const auto& [name, alternative] : BoardOverlay().choices) {
      if (const ChoiceRow* row = FindChoice(name)) {
        numbers[static_cast<size_t>(row - kChoiceRows)] =
            NumberOf(*row, alternative).value_or(uint8_t{0});
      }
    }
    return numbers;
  }();
  return chosen[static_cast<size_t>(choice)];
}

bool HasAlternative(const std::string& choice, const std::string& name) {
  const ChoiceRow* row = FindChoice(choice);
  return row != nullptr && NumberOf(*row, name).has_value();
}

}  // namespace aclsim
