// SPDX-License-Identifier: Apache-2.0
#include "asc/front_end.h"

#include "asc/device_code.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace aclsim {

namespace {

// As ascendc/tiling.h expands the macros.
constexpr std::string_view kKey = "(aclsim::TilingKeyIs(";
constexpr std::string_view kType = "static_assert(aclsim::kKernelType<";
constexpr std::string_view kDefaultStruct = "using AscendcDefaultTilingData [[maybe_unused]] = ";
constexpr std::string_view kVector =
    "__attribute__(())";  // __vector__, as ascendc/lang.h expands it
constexpr std::string_view kCube = "__attribute__((, ))";  // and __cube__
constexpr std::string_view kMix = "__attribute__((__patchable_function_entry__(0 * (";
constexpr std::string_view kCallsOfVectors =
    "::AscendC::detail::mm::RegistMixed(";  // REGIST_MATMUL_OBJ
constexpr std::string_view kCallsOfCubes =
    "::AscendC::detail::mm::Regist(";  // and with ASCENDC_CUBE_ONLY
constexpr std::string_view kStructOfKey = "static_assert(aclsim::kTilingOfKey<";

// Kernels of these architectures may run on both kinds of cores.
bool HasBothKinds(uint32_t npuArch) { return npuArch == 2201 || npuArch == 3510; }

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

struct Place {
  std::string file;
  size_t line = 0;
};

// A decimal number as the op compiler reads one: its digits without zeros in front.
struct Number {
  std::string digits;
  bool whole = false;  // nothing follows but a suffix such as UL
};

std::optional<Number> ReadNumber(std::string_view text) {
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const size_t first = at;
  while (at < text.size() && IsDigit(text[at])) {
    ++at;
  }
  if (at == first) {
    return std::nullopt;
  }
  size_t significant = first;
  while (significant + 1 < at && text[significant] == '0') {
    ++significant;
  }
  Number number{
      std::string(text.substr(0, first)) + std::string(text.substr(significant, at - significant)),
      true};
  for (; at < text.size(); ++at) {
    number.whole = number.whole && std::string_view("uUlL").find(text[at]) != std::string::npos;
  }
  return number;
}

std::string List(const std::set<std::string>& keys) {
  std::vector<std::string> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  std::string text;
  for (const std::string& key : sorted) {
    text += (text.empty() ? "" : ", ") + key;
  }
  return text;
}

// These kernel types count on an architecture; the op compiler passes over those of another.
enum class Types { kAll, kVectorCore, kAiCore, kNone };

Types TypesOf(uint32_t npuArch) {
  switch (npuArch) {
    case 2201:
    case 3510:
      return Types::kVectorCore;
    case 2002:
      return Types::kAiCore;
    case 1001:
    case 3002:
      return Types::kNone;
    default:
      return Types::kAll;
  }
}

// The types are those of split chips.
std::optional<KernelCores> CoresOfType(std::string_view name) {
  static const std::map<std::string_view, KernelCores> kTypes = {
      {"KERNEL_TYPE_AIV_ONLY", {0, 1}},    {"KERNEL_TYPE_MIX_AIV_1_0", {0, 1}},
      {"KERNEL_TYPE_AIC_ONLY", {1, 0}},    {"KERNEL_TYPE_MIX_AIC_1_0", {1, 0}},
      {"KERNEL_TYPE_MIX_AIC_1_1", {1, 1}}, {"KERNEL_TYPE_MIX_AIC_1_2", {1, 2}}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

bool Counts(Types types, std::string_view name) {
  return types == Types::kAll || CoresOfType(name).has_value() == (types == Types::kVectorCore);
}

class Reader {
 public:
  Reader(std::string_view text, uint32_t npuArch)
      : text_(text), npuArch_(npuArch), types_(TypesOf(npuArch)) {}

  bool CallsCubes(const std::string& toolkitHeaders) {
    Flatten();
    return CallsMatrixUnits(toolkitHeaders);
  }

  KernelSource Run(const std::string& entry, const std::string& toolkitHeaders, bool anyKernel) {
    Flatten();
    if (!entry.empty() && !Names(entry)) {
      Fault(first_, "the source has no function " + entry +
                        ", which the operator's definition asks for: CANN's op compiler stops "
                        "('kernel entry not implement'). Next: name the kernel function " +
                        entry + ", or set opInterface.value in the definition");
    }
    Each(kKey, ")", [this](std::string_view found) { Key(found); });
    Each(kType, ");", [this](std::string_view found) { Type(found); });
    Each(kDefaultStruct, ";", [this](std::string_view found) { DefaultStruct(found); });
    Each(kStructOfKey, ");", [this](std::string_view found) { StructOfKey(found); });
    CheckTypes();
    CheckStructs();
    const bool vectorOnly = kinds_.size() == 1 && kinds_.count("KERNEL_TYPE_AIV_ONLY") == 1;
    KernelSource source;
    source.vectorOnly = vectorOnly;
    source.vectorKernels = Marked(kVector);
    source.kernels = MarkedCores(source.vectorKernels);
    if (HasBothKinds(npuArch_) && cores_.empty()) {
      DeriveCores(&source.kernels, anyKernel && HasMatmulObjects());
      source.derived = CallsMatrixUnits(toolkitHeaders);
      source.branches = !source.derived && HasBranches(toolkitHeaders);
    }
    AddCores(&source, anyKernel);
    source.keys = std::move(keys_);
    source.conditions = std::move(conditions_);
    source.types = std::move(cores_);
    source.faults = std::move(faults_);
    return source;
  }

 private:
  // As the op compiler looks for a function: the word in front of a bracket.
  bool Names(const std::string& entry) const {
    for (size_t at = flat_.find(entry); at != std::string::npos; at = flat_.find(entry, at + 1)) {
      const bool starts = at == 0 || !IsWord(flat_[at - 1]);
      if (starts && NextSign(flat_, at + entry.size() - 1) == '(') {
        return true;
      }
    }
    return false;
  }

  // On which cores the kernels run: by their types, and by the words in front of them. anyKernel: those of open ones are decided
  // elsewhere.
  void AddCores(KernelSource* source, bool anyKernel) const {
    std::vector<KernelCores> all;
    for (const auto& [key, cores] : cores_) {
      all.push_back(cores);
    }
    const bool typed = !cores_.empty();
    bool open = false;
    const std::set<std::string> kernels = Marked(kKernelMark);
    const bool allKnown =
        std::all_of(kernels.begin(), kernels.end(),
                    [source](const std::string& name) { return source->kernels.count(name) != 0; });
    source->branches = source->branches && !allKnown;
    for (const std::string& name : kernels) {
      const auto marked = source->kernels.find(name);
      if (marked != source->kernels.end()) {
        all.push_back(marked->second);
      } else if (source->derived) {
        all.push_back(anyKernel ? KernelCores{} : KernelCores{1, 2});
        open = true;
      } else if (!typed) {
        all.push_back({});
      }
    }
    source->derived = open;
    const bool cubes =
        std::any_of(all.begin(), all.end(), [](const KernelCores& one) { return one.cubes > 0; });
    const bool vectors =
        std::any_of(all.begin(), all.end(), [](const KernelCores& one) { return one.vectors > 0; });
    source->cube = cubes && !vectors;
    source->halves = cubes && vectors;
  }

  // Marked __cube__, __vector__ or __mix__(cubes, vectors).
  std::map<std::string, KernelCores> MarkedCores(const std::set<std::string>& vectors) {
    std::map<std::string, KernelCores> kernels;
    for (const std::string& name : vectors) {
      kernels[name] = {0, 1};
    }
    for (const std::string& name : Marked(kCube)) {
      kernels[name] = {1, 0};
    }
    constexpr std::string_view kSecond = "0 * (";
    for (size_t at = flat_.find(kMix); at != std::string::npos; at = flat_.find(kMix, at)) {
      at += kMix.size();
      const std::string_view rest = std::string_view(flat_).substr(at);
      const size_t second = rest.find(kSecond);
      const std::string behind(
          second == std::string_view::npos ? "" : rest.substr(second + kSecond.size()));
      const std::optional<Number> cubes = ReadNumber(Trim(rest));
      const std::optional<Number> aivs = ReadNumber(Trim(behind));
      const std::string counts = (cubes ? cubes->digits : "?") + ", " + (aivs ? aivs->digits : "?");
      static const std::set<std::string> kKnown = {"0, 1", "1, 0", "1, 1", "1, 2"};
      if (kKnown.count(counts) == 0) {
        Fault(first_, "__mix__(" + counts +
                          "): an AI core has one AIC and two AIVs. Next: __mix__(1, 2), __mix__(1, "
                          "1), __mix__(1, 0) or __mix__(0, 1)");
        continue;
      }
      kernels[NameBehind(at)] = {static_cast<uint32_t>(counts[0] - '0'),
                                 static_cast<uint32_t>(counts[3] - '0')};
    }
    return kernels;
  }

  // A kernel without a mark or a type that registers Matmul objects: the cores follow from what calls the objects. One that has objects
  // and registers none (hasObjects) leaves some of its cores by ASCEND_IS_AIV: it runs on both kinds.
  void DeriveCores(std::map<std::string, KernelCores>* kernels, bool hasObjects) const {
    for (size_t at = flat_.find(kKernelMark); at != std::string::npos;
         at = flat_.find(kKernelMark, at)) {
      at += kKernelMark.size();
      const std::string name = NameBehind(at);
      const std::string_view code = CodeBehind(flat_.find(name, at));
      const bool ofVectors = code.find(kCallsOfVectors) != std::string_view::npos;
      const bool ofCubes = code.find(kCallsOfCubes) != std::string_view::npos;
      if (!name.empty() && (ofVectors || ofCubes)) {
        kernels->emplace(name, ofVectors ? KernelCores{1, 2} : KernelCores{1, 0});
      } else if (!name.empty() && hasObjects) {
        kernels->emplace(name, KernelCores{1, 2});
      }
    }
  }

  // Returns whether a file of the source, other than the simulator's headers, has one of the words that the device compiler defines for
  // one kind of core. Code behind such a word is not in the text of the other kind.
  bool HasBranches(const std::string& toolkitHeaders) const {
    std::set<std::string> files;
    for (const auto& [begin, place] : lines_) {
      files.insert(place.file);
    }
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      if (file.empty() || file[0] == '<' ||
          file.compare(0, toolkitHeaders.size(), toolkitHeaders) == 0) {
        return false;
      }
      std::ifstream stream(file, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(stream)),
                             std::istreambuf_iterator<char>());
      for (const char* word : {"__DAV_C220_CUBE__", "__DAV_C220_VEC__", "__DAV_C310_CUBE__",
                               "__DAV_C310_VEC__", "__DAV_CUBE__", "__DAV_VEC__"}) {
        if (text.find(word) != std::string::npos) {
          return true;
        }
      }
      return false;
    });
  }

  // Returns whether the source, other than by the simulator's headers, has a call of a function that only AICs have.
  bool CallsMatrixUnits(const std::string& toolkitHeaders) const {
    // The last three are the device compiler's own functions on addresses.
    for (const std::string_view call :
         {"Mmad(", "LoadData(", "Fixpipe(", "mad(", "load_cbuf_to_ca(", "copy_matrix_cc_to_gm("}) {
      for (size_t at = flat_.find(call); at != std::string::npos; at = flat_.find(call, at + 1)) {
        const std::string& file = PlaceOf(at).file;
        if ((at == 0 || !IsWord(flat_[at - 1])) &&
            file.compare(0, toolkitHeaders.size(), toolkitHeaders) != 0) {
          return true;
        }
      }
    }
    return false;
  }

  // Returns whether the source, other than by the toolkit's headers, has objects of Matmul and tells the kinds of cores apart.
  bool HasMatmulObjects() const {
    return SaysItself("MatmulImpl<") && SaysItself("g_coreType == AscendC::AI");
  }
  bool SaysItself(std::string_view words) const {
    for (size_t at = flat_.find(words); at != std::string::npos; at = flat_.find(words, at + 1)) {
      if ((at == 0 || !IsWord(flat_[at - 1])) &&
          PlaceOf(at).file.find("/include/ascendc/") == std::string::npos) {
        return true;
      }
    }
    return false;
  }

  const Place& PlaceOf(size_t at) const {
    return std::prev(std::upper_bound(
                         lines_.begin(), lines_.end(), at,
                         [](size_t offset, const auto& line) { return offset < line.first; }))
        ->second;
  }

  // Parameters and body of the function whose name stands here; nothing of a declaration.
  std::string_view CodeBehind(size_t name) const {
    size_t depth = 0;
    for (size_t at = name; at < flat_.size(); ++at) {
      const char c = flat_[at];
      if (c == '"' || c == '\'') {
        for (++at; at < flat_.size() && flat_[at] != c; ++at) {
          at += flat_[at] == '\\' ? 1 : 0;
        }
      } else if (c == '(' || c == '{') {
        ++depth;
      } else if (c == ')' || c == '}') {
        depth -= depth > 0 ? 1 : 0;
        if (c == '}' && depth == 0) {
          return std::string_view(flat_).substr(name, at - name);
        }
      } else if (c == ';' && depth == 0) {
        return {};
      }
    }
    return {};
  }

  std::set<std::string> Marked(std::string_view mark) const {
    std::set<std::string> names;
    for (size_t at = flat_.find(mark); at != std::string::npos; at = flat_.find(mark, at)) {
      at += mark.size();
      if (const std::string name = NameBehind(at); !name.empty()) {
        names.insert(name);
      }
    }
    return names;
  }

  // The name in front of the next bracket that opens parameters.
  std::string NameBehind(size_t at) const {
    constexpr std::string_view kAttribute = "__attribute__";
    for (size_t open = flat_.find('(', at); open != std::string::npos;) {
      size_t end = open;
      while (end > at && flat_[end - 1] == ' ') {
        --end;
      }
      size_t begin = end;
      while (begin > at && IsWord(flat_[begin - 1])) {
        --begin;
      }
      const std::string_view name = std::string_view(flat_).substr(begin, end - begin);
      if (name != kAttribute && !name.empty()) {
        return std::string(name);
      }
      const size_t close = flat_.find("))", open);
      open = close == std::string::npos ? close : flat_.find('(', close + 2);
    }
    return {};
  }

  // Line markers stand inside of expressions where a macro comes from a header that was found by -isystem.
  void Flatten() {
    Place place;
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      if (!line.empty() && line[0] == '#' && Marker(line, &place)) {
        first_ = first_.file.empty() ? Place{place.file, 1} : first_;
        continue;
      }
      if (line.find_first_not_of(" \t#") != std::string::npos && line[0] != '#') {
        lines_.emplace_back(flat_.size(), place);
        flat_.append(line).push_back(' ');
      }
      ++place.line;
    }
  }

  // # 12 "file" 1
  static bool Marker(std::string_view line, Place* place) {
    const size_t open = line.find('"');
    const size_t close = open == std::string::npos ? open : line.find('"', open + 1);
    size_t number = 0;
    const std::string_view digits = line.substr(std::min<size_t>(2, line.size()));
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (close == std::string::npos || read.ec != std::errc()) {
      return false;  // a pragma
    }
    *place = {std::string(line.substr(open + 1, close - open - 1)), number};
    return true;
  }

  // Returns what stands between a beginning and its end, everywhere. Brackets between them are closed again.
  template <typename Do>
  void Each(std::string_view begin, std::string_view end, Do&& found) {
    const std::string_view flat = flat_;
    for (size_t at = flat.find(begin); at != std::string::npos; at = flat.find(begin, at)) {
      here_ = PlaceOf(at);
      at += begin.size();
      size_t depth = 0;
      size_t stop = at;
      for (bool quoted = false; stop < flat.size(); ++stop) {
        const char c = flat[stop];
        quoted = c == '"' && flat[stop - 1] != '\\' ? !quoted : quoted;
        if (quoted) {
          continue;
        }
        if (depth == 0 && c == end[0] && (end.size() == 1 || NextSign(flat, stop) == end[1])) {
          break;
        }
        depth += c == '(' ? 1 : 0;
        depth -= c == ')' && depth > 0 ? 1 : 0;
      }
      found(Trim(flat.substr(at, stop - at)));
    }
  }

  static char NextSign(std::string_view text, size_t at) {
    const size_t next = text.find_first_not_of(' ', at + 1);
    return next == std::string::npos ? '\0' : text[next];
  }

  void Fault(const Place& place, std::string text) {
    const bool known = std::any_of(faults_.begin(), faults_.end(), [&](const SourceFault& fault) {
      return fault.file == place.file && fault.line == place.line && fault.text == text;
    });
    if (!known) {
      faults_.push_back({place.file, place.line, std::move(text)});
    }
  }

  void Key(std::string_view word) {
    const std::optional<Number> number = ReadNumber(word);
    const std::string named = "TILING_KEY_IS(" + std::string(word) + ")";
    if (!number.has_value()) {
      Fault(here_,
            named +
                ": the key must be a decimal number, or a macro for one. CANN's op compiler "
                "reads the preprocessed text, finds no number here, and builds no kernel for "
                "this key. Next: #define the key in place of a constant or an expression");
      return;
    }
    if (!number->whole) {
      Fault(here_, named + ": CANN's op compiler reads the digits in front, which is key " +
                       number->digits +
                       ". Next: write the key as one decimal number, or as a macro for one");
    }
    keys_.insert(number->digits);
  }

  // KIND>, "key"
  void Type(std::string_view found) {
    const size_t close = found.find('>');
    const std::string kind(Trim(found.substr(0, std::min(close, found.size()))));
    const size_t open = std::min(found.find('"') + 1, found.size());
    const std::string_view key = found.substr(open, found.rfind('"') - open);
    const bool isDefault = key == "default";
    const std::string named = isDefault
                                  ? "KERNEL_TASK_TYPE_DEFAULT(" + kind + ")"
                                  : "KERNEL_TASK_TYPE(" + std::string(key) + ", " + kind + ")";
    if (lastType_.line == here_.line && lastType_.file == here_.file) {
      Fault(here_, named +
                       ": another kernel type stands in the same line of the preprocessed text, of "
                       "which CANN's op compiler reads one. Next: a line for each, not one macro");
    }
    lastType_ = here_;
    if (types_ == Types::kNone) {
      Fault(here_,
            named + ": architecture " + std::to_string(npuArch_) +
                " has no kernel types; CANN's op compiler stops ('not support in current core "
                "version'). Next: leave it out there, by #if __NPU_ARCH__");
      return;
    }
    if (kind.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
        std::string::npos) {
      Fault(here_, named +
                       ": CANN's op compiler reads a kernel type by its plain name and passes over "
                       "this. Next: e.g. KERNEL_TYPE_AIV_ONLY");
      return;
    }
    if (!isDefault) {
      const std::optional<Number> number = ReadNumber(key);
      if (!number.has_value() || !number->whole) {
        Fault(here_,
              named +
                  ": the key must be a decimal number, or a macro for one: CANN's op compiler "
                  "passes over this line. Next: #define the key in place of a constant or an "
                  "expression");
        return;
      }
      if (Counts(types_, kind)) {
        kinds_.insert(kind);
        AddType(number->digits, kind);
        typed_.insert(number->digits);
        firstType_ = firstType_.has_value() ? firstType_ : std::optional<Place>(here_);
      }
    } else if (Counts(types_, kind)) {
      kinds_.insert(kind);
      AddType("default", kind);
      hasDefault_ = true;
    }
  }

  void AddType(const std::string& key, const std::string& kind) {
    if (const std::optional<KernelCores> cores = CoresOfType(kind)) {
      cores_[key] = *cores;
    }
  }

  void CheckTypes() {
    if (hasDefault_ || typed_.empty()) {
      return;
    }
    const std::set<std::string> keys = keys_.empty() ? std::set<std::string>{"0"} : keys_;
    std::set<std::string> untyped;
    std::set_difference(keys.begin(), keys.end(), typed_.begin(), typed_.end(),
                        std::inserter(untyped, untyped.end()));
    std::set<std::string> unused;
    std::set_difference(typed_.begin(), typed_.end(), keys.begin(), keys.end(),
                        std::inserter(unused, unused.end()));
    if (untyped.empty() && unused.empty()) {
      return;
    }
    Fault(*firstType_,
          "KERNEL_TASK_TYPE is given for tiling key " + List(typed_) +
              (untyped.empty() ? ", of which no TILING_KEY_IS asks for " + List(unused)
                               : ", not for " + List(untyped)) +
              ", without KERNEL_TASK_TYPE_DEFAULT: CANN's op compiler stops ('must provide default "
              "kernel type'). Next: add KERNEL_TASK_TYPE_DEFAULT(" +
              (types_ == Types::kAiCore ? "KERNEL_TYPE_AICORE" : "KERNEL_TYPE_AIV_ONLY") + ")");
  }

  static bool IsStructName(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return IsWord(c) || c == ':' || c == '<' || c == '>';
    });
  }

  void Unreadable(const char* macro, std::string_view name) {
    Fault(here_,
          std::string(macro) + ": CANN's op compiler cannot read the struct '" + std::string(name) +
              "' ('tiling struct match expression is wrong'). Next: a name of letters, digits "
              "and ::, by a using-declaration if need be");
  }

  void DefaultStruct(std::string_view name) {
    if (!IsStructName(name)) {
      Unreadable("REGISTER_TILING_DEFAULT", name);
    }
    if (!defaultStruct_.empty() && defaultStruct_ != name) {
      Fault(here_, "REGISTER_TILING_DEFAULT(" + std::string(name) +
                       ") after REGISTER_TILING_DEFAULT(" + defaultStruct_ +
                       "): CANN's op compiler stops ('Only one default tiling structure can be "
                       "configured'). Next: REGISTER_TILING_FOR_TILINGKEY for one of them");
    }
    defaultStruct_ = std::string(name);
  }

  // Struct>, "\"TILING_KEY_VAR == 1\""
  void StructOfKey(std::string_view found) {
    const size_t open = std::min(found.find('"'), found.size());
    const size_t close = found.substr(0, open).rfind('>');
    if (close == std::string::npos || open == found.size()) {
      return;
    }
    const std::string_view name = Trim(found.substr(0, close));
    const std::string_view condition = found.substr(open + 1);
    if (!IsStructName(name)) {
      Unreadable("REGISTER_TILING_FOR_TILINGKEY", name);
    }
    if (condition.substr(0, 2) != "\\\"") {
      Fault(
          here_,
          "REGISTER_TILING_FOR_TILINGKEY: the condition must be a string: CANN's op compiler stops "
          "('tiling struct match expression is wrong'). Next: e.g. \"TILING_KEY_VAR == 1\"");
      return;
    }
    // "\"condition\"": what the op compiler's regular expression takes, up to the last quote.
    const std::string_view inner = condition.substr(2, condition.rfind("\\\"") - 2);
    conditions_.push_back({here_.file, here_.line, std::string(inner), std::string(name)});
  }

  void CheckStructs() {
    if (!conditions_.empty() && defaultStruct_.empty()) {
      Fault(
          {conditions_[0].file, conditions_[0].line},
          "REGISTER_TILING_FOR_TILINGKEY without REGISTER_TILING_DEFAULT: CANN's op compiler stops "
          "('must provide default tiling struct'). Next: add REGISTER_TILING_DEFAULT(struct)");
    }
  }

  std::string_view text_;
  const uint32_t npuArch_;
  const Types types_;
  Place first_;  // of the source
  Place here_;
  std::string flat_;                             // without line markers and line ends
  std::vector<std::pair<size_t, Place>> lines_;  // where each line begins
  Place lastType_;
  std::set<std::string> keys_;
  std::set<std::string> typed_;
  std::set<std::string> kinds_;  // that count on the architecture
  std::map<std::string, KernelCores> cores_;
  bool hasDefault_ = false;
  std::optional<Place> firstType_;
  std::string defaultStruct_;
  std::vector<TilingCondition> conditions_;
  std::vector<SourceFault> faults_;
};

}  // namespace

KernelSource ReadKernelSource(std::string_view text, uint32_t npuArch, const std::string& entry,
                              const std::string& toolkitHeaders, bool anyKernel) {
  return Reader(text, npuArch).Run(entry, toolkitHeaders, anyKernel);
}

bool CallsMatrixUnits(std::string_view text, uint32_t npuArch, const std::string& toolkitHeaders) {
  return Reader(text, npuArch).CallsCubes(toolkitHeaders);
}

}  // namespace aclsim
