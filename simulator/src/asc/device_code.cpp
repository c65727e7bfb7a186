// SPDX-License-Identifier: Apache-2.0
#include "asc/device_code.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace aclsim {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFeaturePage =
    "CANN: C/C++ syntax restrictions, docs/zh/guide/技术附录/CPP标准支持/语法限制/特性.md";
constexpr const char* kOverviewPage =
    "CANN: C++ support, docs/zh/guide/技术附录/CPP标准支持/概述.md: parts of the C++ run time are "
    "missing";
constexpr const char* kFunctionPage =
    "CANN: C/C++ syntax restrictions, docs/zh/guide/技术附录/CPP标准支持/语法限制/函数.md and "
    "特性.md";
constexpr const char* kDoublePage = "CANN: CCE intrinsic guide, kernel functions";
constexpr const char* kFlagPage =
    "CANN: CrossCoreSetFlag, constraints, "
    "docs/zh/api/SIMD-API/基础API/同步控制/核间同步/CrossCoreSetFlag(ISASI).md";

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool IsSymbolPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80u) != 0;
}

struct Line {
  uint32_t file = 0;
  uint32_t line = 0;

  bool operator<(const Line& other) const {
    return std::tie(file, line) < std::tie(other.file, other.line);
  }
};

struct Reference {
  std::string symbol;
  Line at;
};

struct Function {
  std::string name;
  Line begin;
  std::vector<Reference> references;
  std::vector<Line> wideArithmetic;  // of double and long double
  std::vector<Line> indirectCalls;
};

// An assembly file as functions, and what its symbols are.
class Assembly {
 public:
  explicit Assembly(std::string_view text) {
    sections_.push_back({".text", false});
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Next(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  const std::vector<Function>& Functions() const { return functions_; }
  const std::set<std::string>& KernelSymbols() const { return kernels_; }

  const Function* Find(const std::string& symbol) const {
    const auto alias = aliases_.find(symbol);
    const auto found = byName_.find(alias == aliases_.end() ? symbol : alias->second);
    return found == byName_.end() ? nullptr : &functions_[found->second];
  }
  // A variable that this file defines in memory that can be written.
  bool IsVariable(const std::string& symbol) const { return variables_.count(symbol) != 0; }
  std::string File(const Line& at) const {
    const auto found = files_.find(at.file);
    return found == files_.end() ? std::string() : found->second;
  }

 private:
  struct Section {
    std::string name;
    bool writable = false;
  };

  void Next(std::string_view line) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') {
      return;
    }
    if (first == 0) {
      const size_t colon = line.find(':');
      if (colon != std::string_view::npos &&
          std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon),
                      IsSymbolPart)) {
        Label(std::string(line.substr(0, colon)));
        return;
      }
    }
    line = Uncommented(line.substr(first));
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, end);
    std::string_view rest = line.substr(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (word[0] == '.') {
      Directive(word, rest);
    } else if (current_ != nullptr) {
      Instruction(word, rest);
    }
  }

  static std::string_view Uncommented(std::string_view line) {
#if defined(__aarch64__)
    constexpr std::string_view kComment = "//";
#else
    constexpr std::string_view kComment = "#";
#endif
    if (StartsWith(line, ".file") || StartsWith(line, ".section")) {
      return line;  // with names of anybody's choice
    }
    for (size_t at = line.find(kComment, 1); at != std::string_view::npos;
         at = line.find(kComment, at + 1)) {
      if (line[at - 1] == ' ' || line[at - 1] == '\t') {
        return line.substr(0, at);
      }
    }
    return line;
  }

  void Label(const std::string& name) {
    if (StartsWith(name, ".L")) {
      return;
    }
    if (types_[name] == 'f') {
      byName_.emplace(name, functions_.size());
      functions_.push_back({name, {}, {}, {}, {}});
      current_ = &functions_.back();
    } else {
      current_ = nullptr;
      if (sections_.back().writable) {
        variables_.insert(name);
      }
    }
  }

  static std::vector<std::string_view> Split(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
      const size_t comma = std::min(text.find(','), text.size());
      std::string_view part = text.substr(0, comma);
      while (!part.empty() && std::isspace(static_cast<unsigned char>(part.front())) != 0) {
        part.remove_prefix(1);
      }
      while (!part.empty() && std::isspace(static_cast<unsigned char>(part.back())) != 0) {
        part.remove_suffix(1);
      }
      parts.push_back(part);
      if (comma == text.size()) {
        return parts;
      }
      text.remove_prefix(comma + 1);
    }
  }

  void Location(std::string_view rest) {
    uint32_t numbers[2] = {0, 0};
    const char* at = rest.data();
    const char* end = at + rest.size();
    for (uint32_t& number : numbers) {
      while (at < end && *at == ' ') {
        ++at;
      }
      at = std::from_chars(at, end, number).ptr;
    }
    here_ = {numbers[0], numbers[1]};
    if (current_ != nullptr && current_->begin.line == 0) {
      current_->begin = here_;
    }
  }

  void Type(const std::vector<std::string_view>& parts) {
    if (parts.size() == 2) {
      types_[std::string(parts[0])] =
          parts[1].find("function") != std::string_view::npos ? 'f' : 'o';
    }
  }

  void Directive(std::string_view word, std::string_view rest) {
    if (word == ".loc") {
      Location(rest);
    } else if (word == ".file") {
      SourceFile(rest);
    } else if (word == ".type") {
      Type(Split(rest));
    } else if (word == ".section" || word == ".pushsection") {
      const auto parts = Split(rest);
      const bool writable = parts.size() > 1 && parts[1].find('w') != std::string_view::npos;
      Enter(std::string(parts[0]), writable, word == ".pushsection");
    } else if (word == ".popsection" && sections_.size() > 1) {
      sections_.pop_back();
    } else if (word == ".previous") {
      std::swap(sections_.back(), previous_);
    } else if (word == ".text" || word == ".data" || word == ".bss") {
      Enter(std::string(word), word != ".text", false);
    } else if (word == ".comm" || word == ".lcomm") {
      variables_.insert(std::string(Split(rest)[0]));
    } else if (word == ".protected") {
      kernels_.insert(std::string(Split(rest)[0]));
    } else if (word == ".set" || word == ".equ") {
      const auto parts = Split(rest);
      if (parts.size() == 2) {
        aliases_.emplace(parts[0], parts[1]);
      }
    }
  }

  void Enter(std::string name, bool writable, bool push) {
    // Constants that hold addresses are writable until they are relocated.
    writable = writable && !StartsWith(name, ".data.rel.ro");
    if (push) {
      sections_.push_back({});
    } else {
      previous_ = sections_.back();
    }
    sections_.back() = {std::move(name), writable};
  }

  // 1 "file", or 1 "folder" "file"
  void SourceFile(std::string_view rest) {
    uint32_t number = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (read.ec != std::errc()) {
      return;
    }
    std::vector<std::string> texts;
    for (size_t at = rest.find('"'); at < rest.size(); at = rest.find('"', at)) {
      std::string text;
      for (++at; at < rest.size() && rest[at] != '"'; ++at) {
        if (rest[at] != '\\' || at + 1 == rest.size()) {
          text += rest[at];
        } else if (IsDigit(rest[at + 1])) {
          int value = 0;
          for (int digits = 0; digits < 3 && at + 1 < rest.size() && IsDigit(rest[at + 1]);
               ++digits) {
            value = value * 8 + (rest[++at] - '0');
          }
          text += static_cast<char>(value);
        } else {
          text += rest[++at];
        }
      }
      ++at;
      texts.push_back(std::move(text));
    }
    if (!texts.empty()) {
      files_[number] =
          texts.size() == 1 ? texts[0] : (fs::path(texts[0]) / fs::path(texts[1])).string();
    }
  }

  void Instruction(std::string_view word, std::string_view operands) {
    const bool call = StartsWith(word, "call") || word == "bl" || word == "blr";
    if (call && (word == "blr" || operands.find('*') != std::string_view::npos)) {
      current_->indirectCalls.push_back(here_);
    }
    if (IsWideArithmetic(word, operands)) {
      current_->wideArithmetic.push_back(here_);
    }
    for (size_t at = 0; at < operands.size();) {
      const bool isRegister = operands[at] == '%' || operands[at] == '@';  // or @PLT, @GOTPCREL
      if (!isRegister && !IsSymbolPart(operands[at])) {
        ++at;
        continue;
      }
      size_t end = at + 1;
      while (end < operands.size() && IsSymbolPart(operands[end])) {
        ++end;
      }
      std::string_view symbol = operands.substr(at, end - at);
      at = end;
      symbol.remove_prefix(symbol[0] == '$' ? 1 : 0);
      if (!isRegister && !symbol.empty() && !IsDigit(symbol[0]) && symbol[0] != '.' &&
          symbol[0] != '-') {
        current_->references.push_back({std::string(symbol), here_});
      }
    }
  }

  // Arithmetic and conversions, not moves: a double that is only stored needs no unit for it.
  static bool IsWideArithmetic(std::string_view word, std::string_view operands) {
#if defined(__aarch64__)
    if ((word[0] != 'f' && !StartsWith(word, "scvtf") && !StartsWith(word, "ucvtf")) ||
        StartsWith(word, "fmov")) {
      return false;
    }
    for (size_t at = operands.find('d'); at < operands.size(); at = operands.find('d', at + 1)) {
      const bool starts = at == 0 || !IsSymbolPart(operands[at - 1]);
      if (starts && at + 1 < operands.size() && IsDigit(operands[at + 1])) {
        return true;
      }
    }
    return false;
#else
    static_cast<void>(operands);
    if (word[0] == 'f') {
      return true;  // x87, which has long double alone in code for x86-64
    }
    if (word[0] == 'v') {
      word.remove_prefix(1);
    }
    if (StartsWith(word, "cvt")) {
      return word.find("sd") != std::string_view::npos || word.find("pd") != std::string_view::npos;
    }
    static constexpr std::string_view kNames[] = {"add", "sub",  "mul", "div",   "sqrt",
                                                  "max", "min",  "cmp", "ucomi", "comi",
                                                  "and", "andn", "or",  "xor",   "round"};
    return (EndsWith(word, "sd") || EndsWith(word, "pd")) &&
           std::any_of(std::begin(kNames), std::end(kNames),
                       [&](std::string_view name) { return StartsWith(word, name); });
#endif
  }

  std::map<uint32_t, std::string> files_;
  std::unordered_map<std::string, char> types_;
  std::unordered_map<std::string, std::string> aliases_;
  std::unordered_map<std::string, size_t> byName_;
  std::set<std::string> variables_;
  std::set<std::string> kernels_;
  std::vector<Section> sections_;
  Section previous_{".text", false};
  std::vector<Function> functions_;
  Function* current_ = nullptr;
  Line here_;
};

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

// std::vector<int, std::allocator<int> >::push_back(int&&) -> std::vector::push_back
std::string ShortName(const std::string& symbol) {
  std::string text = Demangled(symbol);
  std::string name;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool isOperator = EndsWith(name, "operator");
    if (text[i] == '<' && !isOperator) {
      ++depth;
    } else if (text[i] == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      if (text[i] == '(' && !isOperator) {
        break;
      }
      if (text[i] == ' ' && !isOperator) {
        name.clear();  // a result type
      } else {
        name += text[i];
      }
    }
  }
  const size_t version = name.find("__cxx11::");
  if (version != std::string::npos) {
    name.erase(version, 9);
  }
  return name.empty() ? text : name;
}

enum class Owner { kKernel, kToolkit, kHost };

bool IsStd(const std::string& symbol) {
  static constexpr std::string_view kStarts[] = {
      "_ZSt",   "_ZNSt",   "_ZNKSt", "_ZNVSt",        "_ZNOSt",         "_ZNKRSt",        "_ZNRSt",
      "_ZNSa",  "_ZNSs",   "_ZNKSs", "_ZNSi",         "_ZNSo",          "_ZNKSo",         "_ZZNSt",
      "_ZGRSt", "_ZTVNSt", "_ZTVSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN10__cxxabiv1"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return StartsWith(symbol, start); });
}

bool IsOneOf(std::string_view symbol, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), symbol) != names.end();
}

bool IsHeap(const std::string& symbol) {
  if (StartsWith(symbol, "_Znw") || StartsWith(symbol, "_Zna") || StartsWith(symbol, "_Zdl") ||
      StartsWith(symbol, "_Zda")) {
    return !EndsWith(symbol, "mPv") && !EndsWith(symbol, "PvS_");  // placement
  }
  return IsOneOf(symbol, {"malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign",
                          "posix_memalign", "strdup", "strndup", "reallocarray", "valloc"});
}

bool IsThrow(std::string_view symbol) {
  return IsOneOf(symbol, {"__cxa_throw", "__cxa_allocate_exception", "__cxa_rethrow",
                          "__cxa_begin_catch", "__cxa_free_exception"});
}

bool IsTypeInformation(std::string_view symbol) {
  return StartsWith(symbol, "_ZTI") ||
         IsOneOf(symbol, {"__dynamic_cast", "__cxa_bad_typeid", "__cxa_bad_cast"});
}

// Functions of libgcc that stand for arithmetic of long double, or of double.
bool IsWideHelper(std::string_view symbol) {
  return StartsWith(symbol, "__") &&
         (EndsWith(symbol, "tf2") || EndsWith(symbol, "tf3") || EndsWith(symbol, "sitf") ||
          EndsWith(symbol, "ditf") || StartsWith(symbol, "__fixtf") ||
          StartsWith(symbol, "__fixunstf") || StartsWith(symbol, "__trunctf") ||
          IsOneOf(symbol, {"__powidf2", "__muldc3", "__divdc3", "__floattidf", "__fixdfti"}));
}

// Compilers call these by themselves, or the device compiler has them under the same name.
bool IsOfDevice(std::string_view symbol) {
  return IsOneOf(symbol, {"memcpy",
                          "memmove",
                          "memset",
                          "memcmp",
                          "sqrt",
                          "sqrtf",
                          "abs",
                          "labs",
                          "llabs",
                          "fabs",
                          "fabsf",
                          "__assert_fail",
                          "__stack_chk_fail",
                          "_Unwind_Resume",
                          "__cxa_atexit",
                          "__cxa_guard_acquire",
                          "__cxa_guard_release",
                          "__cxa_guard_abort",
                          "__cxa_end_catch",
                          "__cxa_call_unexpected",
                          "__tls_get_addr",
                          "__gxx_personality_v0",
                          "__cxa_pure_virtual",
                          "_GLOBAL_OFFSET_TABLE_",
                          "__dso_handle"});
}

// Functions of the host's C library.
bool IsOfHostLibrary(const std::string& symbol) {
  static const std::vector<void*> libraries = [] {
    std::vector<void*> opened;
    for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libpthread.so.0"}) {
      opened.push_back(dlopen(name, RTLD_LAZY | RTLD_LOCAL));
    }
    return opened;
  }();
  return std::any_of(libraries.begin(), libraries.end(), [&](void* library) {
    return library != nullptr && dlsym(library, symbol.c_str()) != nullptr;
  });
}

// Functions of the C++ library that only name types and values, and those that are built in on a core.
bool IsHarmless(const std::string& file, const std::string& symbol) {
  const std::string name = fs::path(file).filename().string();
  if (name == "cmath") {
    return IsOneOf(ShortName(symbol), {"std::sqrt", "std::abs", "std::fabs", "std::isnan",
                                       "std::isinf", "std::isfinite", "std::signbit"});
  }
  return IsOneOf(name,
                 {"type_traits", "limits", "utility", "move.h", "utility.h", "initializer_list",
                  "cstddef", "std_abs.h", "bit", "stl_pair.h", "concepts", "version"});
}

// The functions of the device API that a kernel reaches are of these units. Flags, registers and scalar accesses are of either kind of core.
struct Work {
  bool ofCubes = false;
  bool ofVectors = false;
  bool copies = false;

  void Add(std::string_view symbol) {
    constexpr std::string_view kSpace = "_ZN6aclsim";
    if (!StartsWith(symbol, kSpace)) {
      return;
    }
    symbol.remove_prefix(kSpace.size());
    while (!symbol.empty() && IsDigit(symbol.front())) {
      symbol.remove_prefix(1);
    }
    const auto isOneOf = [&](std::initializer_list<std::string_view> starts) {
      return std::any_of(starts.begin(), starts.end(),
                         [&](std::string_view start) { return StartsWith(symbol, start); });
    };
    ofCubes |= isOneOf({"Cube", "MatmulServe"}) && !StartsWith(symbol, "CubeSet");
    ofVectors |= isOneOf({"Vec", "Reg", "High", "MatmulRequest"});
    copies |= StartsWith(symbol, "Copy");
  }
};

// A half has work if it has instructions of its own units. Its copies count too, unless it has instructions of the other half's
// units: then the source does not tell the halves apart.
bool HasWork(const Assembly& assembly, const Function& root, bool cube) {
  std::set<const Function*> seen = {&root};
  std::vector<const Function*> open = {&root};
  Work work;
  while (!open.empty()) {
    const Function* const function = open.back();
    open.pop_back();
    for (const Reference& reference : function->references) {
      work.Add(reference.symbol);
      const Function* const next = assembly.Find(reference.symbol);
      if (next != nullptr && seen.insert(next).second) {
        open.push_back(next);
      }
    }
  }
  const bool own = cube ? work.ofCubes : work.ofVectors;
  const bool others = cube ? work.ofVectors : work.ofCubes;
  return own || (work.copies && !others);
}

class Checker {
 public:
  Checker(const Assembly& assembly, const DeviceCodeRules& rules)
      : assembly_(assembly), rules_(rules) {}

  std::vector<SourceFault> Run() {
    for (const std::string& kernel : assembly_.KernelSymbols()) {
      const Function* root = assembly_.Find(kernel);
      if (root == nullptr) {
        continue;
      }
      kernel_ = root;
      onWay_.clear();
      state_.clear();
      Walk(*root);
    }
    std::sort(faults_.begin(), faults_.end(), [](const SourceFault& a, const SourceFault& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    return std::move(faults_);
  }

 private:
  Owner OwnerOf(const std::string& file) {
    const auto known = owners_.find(file);
    if (known != owners_.end()) {
      return known->second;
    }
    std::error_code ignored;
    const std::string path = fs::weakly_canonical(fs::path(file), ignored).string();
    const auto below = [&](const std::string& folder) {
      return !folder.empty() && StartsWith(path, folder + "/");
    };
    const bool host = file.empty() ||
                      std::any_of(rules_.systemHeaders.begin(), rules_.systemHeaders.end(), below);
    const Owner owner = below(rules_.toolkitHeaders) ? Owner::kToolkit
                        : host                       ? Owner::kHost
                                                     : Owner::kKernel;
    owners_.emplace(file, owner);
    return owner;
  }

  Owner OwnerOf(const Function& function) {
    return IsStd(function.name) ? Owner::kHost : OwnerOf(assembly_.File(function.begin));
  }

  bool IsKernels(const Line& at) { return OwnerOf(assembly_.File(at)) == Owner::kKernel; }

  // Depth first; what is on the way to a function and is called again is a recursion.
  void Walk(const Function& function) {
    state_[&function] = true;
    onWay_.push_back(&function);
    const Owner owner = OwnerOf(function);
    if (owner == Owner::kKernel) {
      Arithmetic(function);
    }
    for (const Reference& reference : function.references) {
      const bool here = owner == Owner::kKernel && IsKernels(reference.at);
      if (here && Refused(function, reference)) {
        continue;
      }
      const Function* next = assembly_.Find(reference.symbol);
      if (next == nullptr || OwnerOf(*next) == Owner::kHost) {
        continue;
      }
      const auto seen = state_.find(next);
      if (seen == state_.end()) {
        Walk(*next);
      } else if (seen->second && here && OwnerOf(*next) == Owner::kKernel) {
        Recursion(*next, reference);
      }
    }
    onWay_.pop_back();
    state_[&function] = false;
  }

  void Fault(const Line& at, const std::string& what, const std::string& text,
             bool warning = false) {
    if (told_.insert({at, what}).second) {
      faults_.push_back({assembly_.File(at), at.line, text, warning});
    }
  }

  void Arithmetic(const Function& function) {
    // Every other architecture computes double in no unit at all.
    if (rules_.npuArch != 3510) {
      for (const Line& at : function.wideArithmetic) {
        if (IsKernels(at)) {
          Wide(at);
        }
      }
    }
    for (const Line& at : function.indirectCalls) {
      if (IsKernels(at)) {
        Fault(at, "indirect",
              "a call by a function pointer or of a virtual function in a kernel: the device "
              "compiler must know every function that is called (" +
                  std::string(kFunctionPage) +
                  "), which it does where all of it is inlined. Next: call the function by its "
                  "name, or pass it as a template argument",
              true);
      }
    }
  }

  void Wide(const Line& at) {
    Fault(at, "double",
          "arithmetic of double or long double in a kernel: architecture " +
              std::to_string(rules_.npuArch) + " has no such type (" + kDoublePage +
              "). Next: float, with an f behind each literal (0.5f); constants of double belong "
              "in constexpr, or in the tiling");
  }

  void Recursion(const Function& next, const Reference& reference) {
    const bool itself = onWay_.back() == &next;
    Fault(reference.at, "recursion",
          ShortName(next.name) + (itself ? " calls itself" : " calls itself by way of others") +
              ": the device compiler has no recursion at run time (" + kFeaturePage +
              "). Next: a loop, or a template or constexpr function that ends at compile time");
  }

  // Returns whether a reference from the kernel's own code is refused, and so not followed.
  bool Refused(const Function& function, const Reference& reference) {
    const std::string& symbol = reference.symbol;
    const Line& at = reference.at;
    if (IsHeap(symbol)) {
      const bool frees = StartsWith(symbol, "_Zd") || symbol == "free";
      // The destructor of a class with virtual functions has one, which no line of the source says.
      if (frees && symbol != "free" && function.name.find("D0Ev") != std::string::npos) {
        return true;
      }
      Fault(at, "heap",
            ShortName(symbol) + " in a kernel: a core has no heap (" + kFeaturePage +
                "). Next: an array of a fixed size, or a LocalTensor of a TBuf or TQue");
      return true;
    }
    if (IsThrow(symbol)) {
      Fault(at, "exceptions",
            "throw, try or catch in a kernel: device code is compiled without exceptions (" +
                std::string(kOverviewPage) +
                "). Next: check what may be wrong in the tiling, which refuses it by "
                "GRAPH_FAILED");
      return true;
    }
    if (IsTypeInformation(symbol)) {
      if (told_.count({at, "exceptions"}) == 0) {
        Fault(at, "typeid",
              "typeid or dynamic_cast in a kernel: there is no type information at run time (" +
                  std::string(kFeaturePage) + "). Next: choose by templates and if constexpr");
      }
      return true;
    }
    if (StartsWith(symbol, "_ZTV") || StartsWith(symbol, "_ZTT") || StartsWith(symbol, "_ZTC")) {
      const std::string name = Demangled(symbol);
      Fault(at, "virtual",
            name.substr(name.rfind(' ') + 1) +
                " has virtual functions or virtual bases: the device compiler has neither (" +
                kFeaturePage + "). Next: a template parameter in place of the base class");
      return true;
    }
    if (assembly_.IsVariable(symbol)) {
      Variable(symbol, at);
      return true;
    }
    if (IsWideHelper(symbol)) {
      if (rules_.npuArch != 3510) {
        Wide(at);
      }
      return true;
    }
    if (IsHardSync(symbol)) {
      Synchronisation(symbol, at);
      return false;
    }
    return HostFunction(symbol, at);
  }

  // Variables at namespace scope are none of this: with __gm__ in front they are data of the device.
  void Variable(const std::string& symbol, const Line& at) {
    if (!StartsWith(symbol, "_ZZ") || rules_.npuArch == 3510) {
      return;  // published kernels for 3510 have static variables
    }
    std::string name = Demangled(symbol);
    name = name.substr(name.rfind("::") + 2);
    if (!variables_.insert(symbol).second) {
      return;
    }
    Fault(at, "static " + symbol,
          "static variable " + name +
              " in a kernel: a core has no memory of its own that outlives the call of a function. "
              "Next: a member of the kernel's class, constexpr, or a word of the workspace");
  }

  static bool IsHardSync(const std::string& symbol) {
    if (StartsWith(symbol, "_ZN7AscendC16CrossCoreSetFlag") ||
        StartsWith(symbol, "_ZN7AscendC17CrossCoreWaitFlag")) {
      return true;
    }
    return StartsWith(symbol, "_ZN7AscendC7SyncAll") && EndsWith(symbol, "vv");
  }

  void Synchronisation(const std::string& symbol, const Line& at) {
    // Kernels of 3510 that are published do both.
    const bool marked = rules_.vectorKernels.count(ShortName(kernel_->name)) != 0;
    if (rules_.npuArch != 2201 || !(rules_.vectorOnly || marked)) {
      return;
    }
    Fault(at, "sync",
          ShortName(symbol) + " in a kernel of " +
              (marked ? "__vector__" : "type KERNEL_TYPE_AIV_ONLY") +
              ": hardware does not start the scheduler of such kernels, so that cores do not "
              "meet (" +
              kFlagPage + "). Next: " +
              (marked ? "__mix__(0, 1) in place of __vector__"
                      : "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0), or SyncAll with a "
                        "workspace"),
          marked && !rules_.vectorOnly);
  }

  bool HostFunction(const std::string& symbol, const Line& at) {
    const Function* found = assembly_.Find(symbol);
    if (IsStd(symbol)) {
      const bool harmless = found != nullptr && IsHarmless(assembly_.File(found->begin), symbol);
      // A destructor has a constructor, and an allocator has a container.
      const bool destructor = StartsWith(symbol, "_ZNSaI") ||
                              symbol.find("D1Ev") != std::string::npos ||
                              symbol.find("D2Ev") != std::string::npos;
      const bool tuple = StartsWith(symbol, "_ZNSt5tuple");  // AscendC::Std::tuple is the same
      if (!harmless && !destructor && !tuple && !StartsWith(symbol, "_ZSt7nothrow")) {
        Host(symbol, at);
      }
      return true;
    }
    if (found != nullptr) {
      if (OwnerOf(*found) == Owner::kHost && !IsHarmless(assembly_.File(found->begin), symbol) &&
          symbol != "__clang_call_terminate" && !StartsWith(symbol, "_Znwm") &&
          !StartsWith(symbol, "_Znam")) {
        Host(symbol, at);
        return true;
      }
      return false;
    }
    if (StartsWith(symbol, "_Z") || IsOfDevice(symbol) || !IsOfHostLibrary(symbol)) {
      return false;
    }
    Host(symbol, at);
    return true;
  }

  void Host(const std::string& symbol, const Line& at) {
    Fault(at, "host",
          ShortName(symbol) +
              " in a kernel is host code: a core has neither the C nor the C++ library (" +
              kFeaturePage +
              "). Next: what AscendC has for it, such as AscendC::printf, min and max; or "
              "compute it in the tiling");
  }

  const Assembly& assembly_;
  const DeviceCodeRules& rules_;
  const Function* kernel_ = nullptr;
  std::vector<const Function*> onWay_;
  std::map<const Function*, bool> state_;  // whether it is on the way; absent: not seen
  std::map<std::string, Owner> owners_;
  std::set<std::pair<Line, std::string>> told_;
  std::set<std::string> variables_;  // that are told
  std::vector<SourceFault> faults_;
};

}  // namespace

bool IsRunOfLaunch(std::string_view symbol) {
  return symbol.find("11BoundKernelI") != std::string_view::npos &&
         symbol.find(kRunOfLaunch) != std::string_view::npos;
}

std::vector<SourceFault> ReadDeviceCode(const std::string& assembly, const DeviceCodeRules& rules,
                                        LaunchSet* working) {
  const Assembly read(assembly);
  if (working != nullptr) {
    for (const Function& function : read.Functions()) {
      if (IsRunOfLaunch(function.name) && HasWork(read, function, rules.cube)) {
        working->insert(function.name);
      }
    }
  }
  return Checker(read, rules).Run();
}

bool KernelHasWork(const std::string& assembly, const std::string& entry, bool cube) {
  const Assembly read(assembly);
  std::vector<const Function*> all;
  std::vector<const Function*> named;
  for (const std::string& symbol : read.KernelSymbols()) {
    const Function* const kernel = read.Find(symbol);
    if (kernel == nullptr) {
      continue;
    }
    all.push_back(kernel);
    const std::string name = ShortName(symbol);
    if (name == entry || EndsWith(name, "::" + entry)) {
      named.push_back(kernel);
    }
  }
  const std::vector<const Function*>& kernels = named.empty() ? all : named;
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const Function* kernel) { return HasWork(read, *kernel, cube); });
}

}  // namespace aclsim
