// SPDX-License-Identifier: Apache-2.0
// The string type of CANN's interfaces. Holds no std::string, so that it means the same under both
// libstdc++ ABIs.
#pragma once

#include <functional>
#include <memory>

#include "graph/types.h"

namespace ge {

class AscendString {
 public:
  AscendString() = default;
  AscendString(const char_t* name);  // implicit, as in CANN
  AscendString(const char_t* name, size_t length);

  // "" for a default-constructed string, never nullptr.
  const char_t* GetString() const { return text_ == nullptr ? "" : text_.get(); }
  size_t GetLength() const { return length_; }
  size_t Find(const AscendString& other) const;
  size_t Hash() const;

  bool operator<(const AscendString& other) const { return Compare(other) < 0; }
  bool operator>(const AscendString& other) const { return Compare(other) > 0; }
  bool operator<=(const AscendString& other) const { return Compare(other) <= 0; }
  bool operator>=(const AscendString& other) const { return Compare(other) >= 0; }
  bool operator==(const AscendString& other) const { return Compare(other) == 0; }
  bool operator!=(const AscendString& other) const { return Compare(other) != 0; }
  bool operator==(const char_t* other) const { return *this == AscendString(other); }
  bool operator!=(const char_t* other) const { return !(*this == other); }

 private:
  int Compare(const AscendString& other) const;

  std::shared_ptr<char_t[]> text_;
  size_t length_ = 0;
};

}  // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
  size_t operator()(const ge::AscendString& name) const { return name.Hash(); }
};
}  // namespace std
