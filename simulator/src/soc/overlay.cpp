// SPDX-License-Identifier: Apache-2.0
#include "soc/overlay.h"

#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "host/format.h"
#include "soc/choices.h"

namespace aclsim {

namespace {

constexpr size_t kMostBytes = 64u << 20;
constexpr int kMostDeep = 64;

// JSON, of which only the overlay is kept. Throws std::runtime_error.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Overlay Read() {
    Overlay overlay;
    bool found = false;
    bool made = false;
    std::string told;
    std::string sum;
    Members([&](const std::string& name) {
      if (name == "overlaySum") {
        told = String();
        return;
      }
      made |= name == "sum";
      if (name != "overlay") {
        Skip(0);
        return;
      }
      found = true;
      Peek();
      const size_t begin = at_;
      Members([&](const std::string& kind) {
        if (kind == "costs") {
          Members([&](const std::string& cost) { overlay.costs[cost] = Number(); });
        } else if (kind == "choices") {
          Members([&](const std::string& choice) { overlay.choices[choice] = String(); });
        } else {
          Fail("want \"costs\" or \"choices\" in \"overlay\", got \"" + kind + "\"");
        }
      });
      sum = SumOf(begin);
    });
    if (!found) {
      Fail("no member \"overlay\"");
    }
    if (Peek() != '\0') {
      Fail("text behind the end");
    }
    // A file of costs alone is one that a person writes; what aclgrad calibrate has written stays as it is.
    if (made && told.empty()) {
      throw std::runtime_error("it was made by another version");
    }
    if ((made || !told.empty()) && told != sum) {
      throw std::runtime_error("its sum does not fit: the file was cut or edited by hand");
    }
    return overlay;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error(Format("%s, at byte %zu", what.c_str(), at_));
  }
  // 64-bit FNV-1a of the text from there to here without spaces.
  std::string SumOf(size_t begin) const {
    uint64_t sum = 0xCBF29CE484222325;
    for (size_t i = begin; i < at_; ++i) {
      if (std::isspace(static_cast<unsigned char>(text_[i])) == 0) {
        sum = (sum ^ static_cast<unsigned char>(text_[i])) * 0x100000001B3;
      }
    }
    return Format("%016llx", static_cast<unsigned long long>(sum));
  }
  char Peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void Want(char c) {
    if (Peek() != c) {
      Fail(Format("want %c", c));
    }
    ++at_;
  }
  std::string String() {
    Want('"');
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        ++at_;  // names and words have no escapes; elsewhere they are passed over
      }
      if (at_ < text_.size()) {
        value += text_[at_++];
      }
    }
    if (at_ >= text_.size()) {
      Fail("a string without its end");
    }
    ++at_;
    return value;
  }
  double Number() {
    Peek();
    const char* const begin = text_.c_str() + at_;
    char* end = nullptr;
    const double value = std::strtod(begin, &end);
    if (end == begin || !std::isfinite(value)) {
      Fail("want a number");
    }
    at_ += static_cast<size_t>(end - begin);
    return value;
  }
  template <typename Member>
  void Members(Member member) {
    Want('{');
    if (Peek() == '}') {
      ++at_;
      return;
    }
    for (;;) {
      const std::string name = String();
      Want(':');
      member(name);
      if (Peek() != ',') {
        break;
      }
      ++at_;
    }
    Want('}');
  }
  void Skip(int deep) {
    if (deep > kMostDeep) {
      Fail("nested too deep");
    }
    const char c = Peek();
    if (c == '{') {
      Members([&](const std::string&) { Skip(deep + 1); });
    } else if (c == '[') {
      ++at_;
      while (Peek() != ']') {
        Skip(deep + 1);
        if (Peek() != ',') {
          break;
        }
        ++at_;
      }
      Want(']');
    } else if (c == '"') {
      String();
    } else {
      const size_t begin = at_;
      while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                    text_[at_] == '+' || text_[at_] == '-' || text_[at_] == '.')) {
        ++at_;
      }
      if (at_ == begin) {
        Fail("want a value");
      }
    }
  }

  const std::string& text_;
  size_t at_ = 0;
};

Overlay FromFile(const char* path) {
  Overlay overlay;
  std::error_code error;
  std::ifstream file;
  // Opening a pipe would wait for its writer, and reading a device need not end.
  const bool regular = std::filesystem::is_regular_file(path, error);
  if (regular) {
    file.open(path, std::ios::binary);
  }
  if (!file.is_open()) {
    overlay.why = error || regular ? "cannot be read" : "is not a regular file";
  } else if (std::filesystem::file_size(path, error) > kMostBytes) {
    overlay.why = "is longer than 64 MB";
  } else {
    overlay = ReadOverlay({std::istreambuf_iterator<char>(file), {}});
  }
  if (!overlay.why.empty()) {
    overlay.why = Format("ACLGRAD_CALIBRATION=%s: %s. Next: aclgrad calibrate --read %s", path,
                         overlay.why.c_str(), path);
  }
  return overlay;
}

}  // namespace

Overlay ReadOverlay(const std::string& text) {
  Overlay overlay;
  try {
    overlay = Reader(text).Read();
    for (const auto& [name, alternative] : overlay.choices) {
      if (!HasAlternative(name, alternative)) {
        throw std::runtime_error("no choice \"" + name + "\" has an alternative \"" + alternative +
                                 "\" here");
      }
    }
  } catch (const std::exception& error) {
    overlay = {};
    overlay.why = error.what();
  }
  return overlay;
}

const Overlay& BoardOverlay() {
  // Leaked: stream threads may still ask for it while the process exits.
  static const Overlay* const overlay = [] {
    const char* const path = OverlayPath();
    auto* read = new Overlay(path != nullptr ? FromFile(path) : Overlay());
    if (!read->why.empty()) {
      std::fprintf(stderr, "[aclgrad simulator] %s\n", read->why.c_str());
    }
    return read;
  }();
  return *overlay;
}

}  // namespace aclsim
