// SPDX-License-Identifier: Apache-2.0
#include "asc/command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

namespace aclsim {

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

namespace {

bool IsObject(const std::string& word) {
  static constexpr std::array<std::string_view, 4> kEndings = {".o", ".a", ".so", ".obj"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) {
                       return word.size() > ending.size() &&
                              word.compare(word.size() - ending.size(), ending.size(), ending) == 0;
                     }) ||
         word.find(".so.") != std::string::npos;
}

std::string DefaultCompiler() {
  const char* chosen = std::getenv("CXX");
  return chosen != nullptr && *chosen != '\0' ? chosen : "c++";
}

class Parser {
 public:
  explicit Parser(Words words) : words_(std::move(words)) {}

  Command Run() {
    command_.compiler = DefaultCompiler();
    for (at_ = 0; at_ < words_.size(); ++at_) {
      Word(words_[at_]);
    }
    return std::move(command_);
  }

 private:
  std::string Value(const std::string& word) {
    if (at_ + 1 >= words_.size()) {
      throw UsageError(word + ": its value is missing");
    }
    return words_[++at_];
  }

  // --name=value or --name value
  bool Takes(const std::string& word, const std::string& name, std::string* value) {
    if (word == name) {
      *value = Value(word);
      return true;
    }
    if (StartsWith(word, name + "=")) {
      *value = word.substr(name.size() + 1);
      return true;
    }
    return false;
  }

  void Word(const std::string& word) {
    if (TakesOwn(word) || TakesOutput(word) || TakesDependencies(word) || TakesLinking(word)) {
      return;
    }
    if (StartsWith(word, "-")) {
      Flag(word);
    } else if (IsObject(word)) {
      command_.linking.push_back(word);
    } else {
      command_.sources.push_back(word);
    }
  }

  // Options that other compilers do not have.
  bool TakesOwn(const std::string& word) {
    if (Takes(word, "--npu-arch", &command_.arch) || Takes(word, "--entry", &command_.entry) ||
        Takes(word, "--host-compiler", &command_.compiler) ||
        Takes(word, "--assembly", &command_.assembly) || Takes(word, "--calls", &command_.calls)) {
      return true;
    }
    if (Takes(word, "--run-mode", &command_.runMode)) {
      static constexpr std::array<std::string_view, 3> kModes = {"npu", "cpu", "sim"};
      if (std::find(kModes.begin(), kModes.end(), command_.runMode) == kModes.end()) {
        throw UsageError("--run-mode: got '" + command_.runMode + "', want npu, cpu or sim");
      }
    } else if (word == "--front-end") {
      command_.frontEnd = true;
    } else if (word == "--device-code") {
      command_.deviceCode = true;
    } else if (word == "--kernel-cores") {
      command_.kernelCores = true;
    } else if (word == "--cube-half") {
      command_.cubeHalf = true;
    } else if (word == "--asc-aicore-lang") {
      command_.launchesAsc = true;
    } else if (word == "--enable-simt" || word == "--aicore-only" || word == "--cce-aicore-only") {
      throw UsageError(word + " is not supported by the simulator");
    } else if (word == "-mllvm") {
      // Those of the device compiler's own back end say nothing to a host's compiler.
      if (const std::string value = Value(word); !StartsWith(value, "-cce-")) {
        command_.flags.insert(command_.flags.end(), {word, value});
      }
    } else {
      // Both halves of these are one compile here.
      return word == "-Xaicore-start" || word == "-Xaicore-end" || word == "-Xhost-start" ||
             word == "-Xhost-end";
    }
    return true;
  }

  bool TakesOutput(const std::string& word) {
    if (word == "-c" || word == "-E" || word == "-S") {
      command_.stage = word;
    } else if (StartsWith(word, "-o")) {
      command_.output = word.size() > 2 ? word.substr(2) : Value(word);
    } else if (StartsWith(word, "-x")) {
      const std::string language = word.size() > 2 ? word.substr(2) : Value(word);
      command_.launchesAsc = language == "asc" || language == "cce";
    } else {
      return false;
    }
    return true;
  }

  bool TakesDependencies(const std::string& word) {
    if (word == "-MD" || word == "-MMD") {
      command_.depend = true;
      command_.userHeadersOnly = word == "-MMD";
    } else if (word == "-MF") {
      command_.dependencies = Value(word);
    } else if (word == "-MT" || word == "-MQ") {
      command_.target = Value(word);
    } else {
      return false;
    }
    return true;
  }

  bool TakesLinking(const std::string& word) {
    if (StartsWith(word, "-l") || StartsWith(word, "-L") || StartsWith(word, "-Wl,") ||
        word == "-rdynamic") {
      command_.linking.push_back(word.size() == 2 ? word + Value(word) : word);
    } else if (word == "-s") {
      // Findings read their lines from the debug information that it would leave out.
    } else if (word == "-shared" || word == "--shared") {
      command_.shared = true;
    } else {
      return false;
    }
    return true;
  }

  void Flag(const std::string& word) {
    static const std::set<std::string> kWithValue = {
        "-I", "-D", "-U", "-include", "-isystem", "-iquote", "-imacros", "-idirafter"};
    command_.optimised = command_.optimised || StartsWith(word, "-O");
    command_.standard = command_.standard || StartsWith(word, "-std=");
    const bool takesValue = kWithValue.count(word) != 0;
    const bool preprocesses =
        takesValue || StartsWith(word, "-I") || StartsWith(word, "-D") || StartsWith(word, "-U");
    Words& flags = preprocesses ? command_.macros : command_.flags;
    flags.push_back(word);
    if (takesValue) {
      flags.push_back(Value(word));
    }
  }

  Words words_;
  size_t at_ = 0;
  Command command_;
};

}  // namespace

Command ParseCommand(Words words) { return Parser(std::move(words)).Run(); }

Words ArchitectureWords(uint32_t arch, bool cube) {
  switch (arch) {
    case 2201:
      return {"__DAV_C220__", cube ? "__DAV_C220_CUBE__" : "__DAV_C220_VEC__",
              cube ? "__DAV_CUBE__" : "__DAV_VEC__"};
    case 2002:
      return {"__DAV_M200__", "__DAV_M200_VEC__"};
    case 1001:
      return {"__DAV_C100__"};
    case 3510:
      return {"__DAV_C310__", cube ? "__DAV_C310_CUBE__" : "__DAV_C310_VEC__",
              cube ? "__DAV_CUBE__" : "__DAV_VEC__"};
    default:
      return {};
  }
}

const Soc& SocOfArchitecture(const std::string& name) {
  std::set<uint32_t> known;
  uint32_t wanted = 0;
  if (StartsWith(name, "dav-")) {
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 4, end, wanted);
    wanted = error == std::errc() && rest == end ? wanted : 0;
  }
  for (const Soc& soc : AllSocs()) {
    if (soc.npuArch == wanted) {
      return soc;
    }
    known.insert(soc.npuArch);
  }
  std::string list;
  for (const uint32_t arch : known) {
    list += (list.empty() ? "dav-" : ", dav-") + std::to_string(arch);
  }
  throw UsageError("--npu-arch: got '" + name + "', want one of " + list +
                   ". Next: --npu-arch=dav-2201");
}

}  // namespace aclsim
