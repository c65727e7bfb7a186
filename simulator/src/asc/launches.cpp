// SPDX-License-Identifier: Apache-2.0
#include "asc/launches.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace aclsim {

namespace {

enum class Kind { kWord, kNumber, kLiteral, kSign };

struct Token {
  Kind kind;
  size_t begin;
  size_t end;
};

bool IsWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80u) != 0;
}
bool IsWordPart(char c) {
  return IsWordStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Splits preprocessed text. Signs are single characters: whether two of them are one operator depends on who asks.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  std::vector<Token> Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        lineStart_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (c == '#' && lineStart_) {
        // A line marker or a pragma.
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        lineStart_ = false;
        Next(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  void Next(char c) {
    const size_t begin = at_;
    if (c == '"' || c == '\'') {
      SkipQuoted(c);
      Add(Kind::kLiteral, begin);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at_ < text_.size() &&
             (IsWordPart(text_[at_]) || text_[at_] == '.' ||
              (text_[at_] == '\'' && at_ + 1 < text_.size() && IsWordPart(text_[at_ + 1])))) {
        ++at_;
      }
      Add(Kind::kNumber, begin);
    } else if (IsWordStart(c)) {
      while (at_ < text_.size() && IsWordPart(text_[at_])) {
        ++at_;
      }
      const std::string_view word(text_.data() + begin, at_ - begin);
      const bool quoted = at_ < text_.size() && text_[at_] == '"';
      if (quoted &&
          (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
        SkipRaw();
        Add(Kind::kLiteral, begin);
      } else {
        Add(Kind::kWord, begin);
      }
    } else {
      ++at_;
      Add(Kind::kSign, begin);
    }
  }

  void SkipQuoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      at_ += text_[at_] == '\\' ? 1 : 0;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void SkipRaw() {
    const size_t open = text_.find('(', at_);
    if (open == std::string::npos) {
      at_ = text_.size();
      return;
    }
    const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const size_t found = text_.find(close, open);
    at_ = found == std::string::npos ? text_.size() : found + close.size();
  }

  void Add(Kind kind, size_t begin) { tokens_.push_back({kind, begin, at_}); }

  const std::string& text_;
  size_t at_ = 0;
  bool lineStart_ = true;
  std::vector<Token> tokens_;
};

struct Edit {
  size_t begin;
  size_t end;
  std::string with;
};

class Rewriter {
 public:
  Rewriter(const std::string& text, const std::function<std::string(const std::string&)>& coresOf)
      : text_(text), coresOf_(coresOf), tokens_(Scanner(text).Run()) {}

  std::string Run() {
    for (size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (const size_t end = SpacesEnd(i); end > i) {
        edits_.push_back({tokens_[i].begin, tokens_[end].end, ""});
      } else if (i > 0 && IsTriple(i, '<') && !Is(i - 1, "operator") &&
                 (tokens_[i - 1].kind == Kind::kWord || Is(i - 1, ">") || Is(i - 1, ")"))) {
        Launch(i);
      } else if (IsMark(i, kWorkspaceCommas)) {
        TakeWorkspace(i);
      } else if (IsMark(i, kFunctionCommas)) {
        BeginVectorFunction(i);
      }
    }
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out;
    size_t at = 0;
    for (const Edit& edit : edits_) {
      out.append(text_, at, edit.begin - at);
      out += edit.with;
      // Words of a launch may stand on several lines.
      out.append(static_cast<size_t>(
                     std::count(text_.begin() + static_cast<std::ptrdiff_t>(edit.begin),
                                text_.begin() + static_cast<std::ptrdiff_t>(edit.end), '\n')),
                 '\n');
      at = edit.end;
    }
    return out.append(text_, at, std::string::npos);
  }

 private:
  std::string_view Text(size_t token) const {
    return {text_.data() + tokens_[token].begin, tokens_[token].end - tokens_[token].begin};
  }
  bool Is(size_t token, std::string_view text) const {
    return token < tokens_.size() && tokens_[token].kind != Kind::kLiteral && Text(token) == text;
  }
  // The preprocessor may put a space between the two operators that it takes the three signs for.
  bool IsTriple(size_t first, char sign) const {
    if (first + 2 >= tokens_.size()) {
      return false;
    }
    for (size_t i = first; i < first + 3; ++i) {
      if (!Is(i, {&sign, 1})) {
        return false;
      }
    }
    return tokens_[first].end == tokens_[first + 1].begin;
  }
  // Words of the device compiler that the headers expand to attributes without a name: __kfc_workspace__ has two commas, __simd_vf__
  // three.
  static constexpr size_t kWorkspaceCommas = 2, kFunctionCommas = 3;
  static constexpr size_t kAround = 5;  // tokens of a mark beside its commas
  bool IsMark(size_t first, size_t commas) const {
    if (!Is(first, "__attribute__") || !Is(first + 1, "(") || !Is(first + 2, "(")) {
      return false;
    }
    for (size_t i = 0; i < commas; ++i) {
      if (!Is(first + 3 + i, ",")) {
        return false;
      }
    }
    return Is(first + 3 + commas, ")") && Is(first + 4 + commas, ")");
  }

  // The last token of [aicore] or [host, aicore] in front of a declaration, which is what the device compiler's words for it expand to
  // in sources that write them by hand. Otherwise the first token: no subscript and no lambda has a word behind it.
  size_t SpacesEnd(size_t first) const {
    size_t at = first;
    if (!Is(first, "[") || (first > 0 && Is(first - 1, "["))) {
      return first;
    }
    do {
      ++at;
      if (!Is(at, "aicore") && !Is(at, "host")) {
        return first;
      }
      ++at;
    } while (Is(at, ","));
    const bool declares = at + 1 < tokens_.size() && !Is(at + 1, "mutable") &&
                          (tokens_[at + 1].kind == Kind::kWord || Is(at + 1, "~"));
    return Is(at, "]") && declares ? at : first;
  }

  // The core has the parameter from the kernel's first statement on. mark: where the mark begins.
  void TakeWorkspace(size_t mark) {
    const size_t begin = mark + kAround + kWorkspaceCommas;
    size_t end = begin;
    while (end < tokens_.size() && !Is(end, ",") && !Is(end, ")")) {
      ++end;
    }
    size_t close = end;
    for (size_t depth = Is(end, ")") ? 0 : 1; depth > 0 && close + 1 < tokens_.size();) {
      ++close;
      depth += Is(close, "(") ? 1 : 0;
      depth -= Is(close, ")") ? 1 : 0;
    }
    // One word behind the mark is a type without a name, unless the type stands before the mark.
    const bool hasType = end - begin > 1 || (mark > 0 && Is(mark - 1, "*"));
    if (end > begin && tokens_[end - 1].kind == Kind::kWord && hasType && Is(close + 1, "{")) {
      const size_t body = tokens_[close + 1].end;
      edits_.push_back({body, body,
                        " ::aclsim::SetSystemWorkspace(reinterpret_cast<unsigned char*>(" +
                            std::string(Text(end - 1)) + "));"});
    }
  }

  // A __simd_vf__ function is a vector function also where its name is called, without asc_vf_call. mark: where the mark begins.
  void BeginVectorFunction(size_t mark) {
    bool hasParameters = false;
    int depth = 0;
    for (size_t i = mark + kAround + kFunctionCommas; i < tokens_.size(); ++i) {
      depth += Is(i, "(") ? 1 : Is(i, ")") ? -1 : 0;
      hasParameters = hasParameters || Is(i, ")");
      if (depth == 0 && Is(i, ";")) {
        return;  // a declaration
      }
      if (depth == 0 && hasParameters && Is(i, "{")) {
        const size_t body = tokens_[i].end;
        edits_.push_back({body, body, " const ::aclsim::VectorFunctionBody aclsimVectorFunction;"});
        return;
      }
    }
  }

  // "::" ends at this token.
  bool EndsScope(size_t token) const {
    return token > 0 && Is(token, ":") && Is(token - 1, ":") &&
           tokens_[token - 1].end == tokens_[token].begin;
  }

  void Launch(size_t open) {
    const size_t close = Close(open);
    size_t name = open - 1;
    const size_t first = NameBegin(open, &name);
    edits_.push_back({tokens_[first].begin, tokens_[first].begin,
                      "::aclsim::AscKernel<aclsimProgramArch>(\"" + std::string(Text(name)) +
                          "\", [=](auto... aclsimArguments) { "});
    const std::string cores = coresOf_ ? coresOf_(std::string(Text(name))) : "";
    edits_.push_back(
        {tokens_[open - 1].end, tokens_[open - 1].end, "(aclsimArguments...); }" + cores + ")"});
    edits_.push_back({tokens_[open].begin, tokens_[open + 2].end, ".On("});
    edits_.push_back({tokens_[close].begin, tokens_[close + 2].end, ")"});
  }

  // First of the three closing signs. Templates among the values may end in three of them as well; behind those of a launch
  // stand its arguments.
  size_t Close(size_t open) const {
    int depth = 0;
    int commas = 0;
    size_t fallback = 0;
    for (size_t i = open + 3; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Kind::kSign) {
        continue;
      }
      const char sign = text_[tokens_[i].begin];
      if (sign == '(' || sign == '[' || sign == '{') {
        ++depth;
      } else if (sign == ')' || sign == ']' || sign == '}') {
        --depth;
      } else if (depth == 0 && sign == ',') {
        ++commas;
      } else if (depth == 0 && IsTriple(i, '>') && Is(i + 3, "(")) {
        if (commas >= 2) {
          return i;
        }
        fallback = fallback == 0 ? i : fallback;
      }
      if (depth < 0 || (depth == 0 && sign == ';')) {
        break;
      }
    }
    if (fallback == 0) {
      Fail(open, "no >>>(arguments) behind <<<");
    }
    return fallback;
  }

  // First token of what stands before <<<, and the token that is the kernel's own name.
  size_t NameBegin(size_t open, size_t* name) const {
    size_t at = open - 1;
    if (Is(at, ")")) {
      return BracketOpen(at, open, name);
    }
    for (bool isOwn = true;; isOwn = false) {
      if (Is(at, ">")) {
        at = TemplateOpen(at, open);
        if (at == 0) {
          Fail(open, "no kernel before <<<");
        }
        --at;
      }
      if (tokens_[at].kind != Kind::kWord) {
        Fail(open, "no kernel before <<<");
      }
      if (isOwn) {
        *name = at;
      }
      if (at > 0 && Is(at - 1, "template")) {
        --at;
      }
      if (at < 2 || !EndsScope(at - 1)) {
        return at;
      }
      at -= 2;
      const bool qualified = at > 0 && (Is(at - 1, ">") || IsName(at - 1));
      if (!qualified) {
        return at;
      }
      --at;
    }
  }

  // The bracket that ends at this token, around a kernel.
  size_t BracketOpen(size_t close, size_t launch, size_t* name) const {
    size_t begin = close;
    for (int depth = 1; depth > 0;) {
      if (begin-- == 0) {
        Fail(launch, "no kernel before <<<");
      }
      depth += Is(begin, ")") ? 1 : Is(begin, "(") ? -1 : 0;
    }
    for (size_t i = begin + 1; i < close && !Is(i, "<"); ++i) {
      *name = tokens_[i].kind == Kind::kWord ? i : *name;
    }
    if (tokens_[*name].kind != Kind::kWord) {
      Fail(launch, "no kernel before <<<");
    }
    return begin;
  }

  bool IsName(size_t token) const {
    static constexpr std::array<std::string_view, 8> kWords = {
        "return", "else", "do", "case", "throw", "co_return", "co_yield", "co_await"};
    return tokens_[token].kind == Kind::kWord &&
           std::find(kWords.begin(), kWords.end(), Text(token)) == kWords.end();
  }

  // The '<' of the template arguments that end at this token.
  size_t TemplateOpen(size_t close, size_t launch) const {
    int angles = 0;
    int brackets = 0;
    for (size_t i = close;; --i) {
      if (tokens_[i].kind == Kind::kSign) {
        const char sign = text_[tokens_[i].begin];
        if (sign == ')' || sign == ']' || sign == '}') {
          ++brackets;
        } else if (sign == '(' || sign == '[' || sign == '{') {
          --brackets;
        } else if (brackets == 0 && sign == '>') {
          ++angles;
        } else if (brackets == 0 && sign == '<' && --angles == 0) {
          return i;
        }
        if (brackets < 0 || (brackets == 0 && sign == ';')) {
          break;
        }
      }
      if (i == 0) {
        break;
      }
    }
    Fail(launch, "the kernel's template arguments have no beginning");
  }

  [[noreturn]] void Fail(size_t token, const std::string& what) const {
    std::string file;
    long line = 1;
    size_t at = 0;
    while (at < tokens_[token].begin) {
      const size_t end = text_.find('\n', at);
      if (end == std::string::npos || end >= tokens_[token].begin) {
        break;
      }
      ++line;
      if (text_[at] == '#') {
        char* rest = nullptr;
        const std::string marker = text_.substr(at, end - at);
        const long number = std::strtol(marker.c_str() + 1, &rest, 10);
        const size_t quote = marker.find('"');
        if (rest != marker.c_str() + 1 && quote != std::string::npos) {
          line = number;
          file = marker.substr(quote + 1, marker.find('"', quote + 1) - quote - 1);
        }
      }
      at = end + 1;
    }
    throw LaunchSyntaxError(file + ":" + std::to_string(line) + ": error: kernel launch: " + what +
                            ", want kernel<<<blocks, l2ctrl, stream>>>(arguments)");
  }

  const std::string& text_;
  const std::function<std::string(const std::string&)>& coresOf_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
};

}  // namespace

std::string RewriteLaunches(const std::string& text,
                            const std::function<std::string(const std::string&)>& coresOf) {
  return Rewriter(text, coresOf).Run();
}

}  // namespace aclsim
