// SPDX-License-Identifier: Apache-2.0
// ascc: the compiler of .asc files, kernels and host code in one. It takes the words of a C++ compiler command and those of the
// device compiler that matter here, and has the host's C++ compiler do the work: preprocess, rewrite launches, compile, link.
// With --cube-half it makes the AICs' half of a kernel library of objects that were compiled for them.
// With --front-end it only checks kernel sources of any name for what CANN's op compiler refuses, with --device-code for what the
// device compiler refuses too.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "asc/command.h"
#include "asc/device_code.h"
#include "asc/front_end.h"
#include "asc/launches.h"
#include "asc/parsed_headers.h"
#include "asc/processes.h"
#include "soc/soc.h"

namespace {

namespace fs = std::filesystem;
using aclsim::Command;
using aclsim::Execute;
using aclsim::LaunchSet;
using aclsim::Soc;
using aclsim::StartsWith;
using aclsim::TemporaryFolder;
using aclsim::Words;

// CXX may be several words.
Words Split(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

class Driver {
 public:
  explicit Driver(Command command)
      : command_(std::move(command)),
        toolkit_(fs::read_symlink("/proc/self/exe").parent_path().parent_path()),
        soc_(aclsim::SocOfArchitecture(command_.arch)),
        folders_(FoldersOf(command_.macros)) {}

  int Run() {
    if (command_.sources.empty() && command_.linking.empty()) {
      throw aclsim::UsageError(
          "no input files. Next: ascc --npu-arch=dav-2201 program.asc -o program");
    }
    if (!command_.stage.empty() && command_.sources.size() > 1 && !command_.output.empty()) {
      throw aclsim::UsageError("-o: one file for " + std::to_string(command_.sources.size()) +
                               " sources");
    }
    if (command_.frontEnd) {
      return FrontEnd();
    }
    if (command_.cubeHalf) {
      return CubeHalf();
    }
    if (command_.kernelCores) {
      return KernelCores();
    }
    Words objects;
    for (const std::string& source : command_.sources) {
      const std::string output = OutputOf(source);
      const int status = Compile(source, output);
      if (status != 0) {
        return status;
      }
      objects.push_back(output);
    }
    return command_.stage.empty() ? Link(objects) : 0;
  }

 private:
  bool IsAsc(const std::string& source) const {
    return command_.launchesAsc || fs::path(source).extension() == ".asc";
  }

  std::string OutputOf(const std::string& source) const {
    const std::string stem = fs::path(source).stem().string();
    if (command_.stage.empty()) {
      return temporary_.File(std::to_string(&source - command_.sources.data()) + stem + ".o");
    }
    if (!command_.output.empty() || command_.stage == "-E") {
      return command_.output;
    }
    return stem + (command_.stage == "-S" ? ".s" : ".o");
  }

  Words Compiler() const { return Split(command_.compiler); }

  Words DeviceFlags() const {
    Words words;
    if (!command_.standard) {
      words.push_back("-std=c++17");
    }
    if (!command_.optimised) {
      words.push_back("-O1");
    }
    // Lines for the reports, which walk frame pointers to the call of an instruction; two roundings for a multiply and an add, as
    // the instructions do.
    for (const char* word :
         {"-gdwarf-4", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
          "-fstack-clash-protection", "-ffp-contract=off", "-Wno-unknown-pragmas"}) {
      words.push_back(word);
    }
    return words;
  }

  // halves: the source has code for both kinds of cores.
  Words Preprocessing(bool cube, bool halves) const {
    Words words = {"-D__NPU_ARCH__=" + std::to_string(soc_.npuArch),
                   "-D__CCE_AICORE__=" + std::to_string(soc_.cceAicore), "-D__CCE__=1",
                   "-DACLSIM_ASC"};
    for (const std::string& word : aclsim::ArchitectureWords(soc_.npuArch, cube)) {
      words.push_back("-D" + word);
    }
    if (halves) {
      words.push_back("-DACLSIM_HALVES=" + std::string(kTable));
    }
    if (command_.runMode == "cpu") {
      words.push_back("-DASCENDC_CPU_DEBUG");
    }
    return words;
  }

  int Preprocess(const std::string& source, const std::string& output, const std::string& expanded,
                 bool cube, bool halves = false) {
    const Words macros = Preprocessing(cube, halves);
    parsed_ = Parsed(source, macros, {});
    parseForDeviceCode_ = [this, source, macros] {
      return Parsed(source, macros, DeviceCodeFlags());
    };
    Words words = Compiler();
    const Words device = DeviceFlags();
    words.insert(words.end(), device.begin(), device.end());
    words.insert(words.end(), macros.begin(), macros.end());
    words.insert(words.end(), {"-isystem", (toolkit_ / "include").string(), "-include",
                               parsed_.empty() ? "aclsim/asc.h" : parsed_});
    if (!parsed_.empty()) {
      words.push_back("-fpch-preprocess");
    }
    if (!parsed_.empty() && command_.depend) {
      words.push_back("-fpch-deps");
    }
    words.insert(words.end(), command_.macros.begin(), command_.macros.end());
    words.insert(words.end(), command_.flags.begin(), command_.flags.end());
    AddDependencies(output, &words);
    words.insert(words.end(), {"-E", "-x", "c++", source, "-o", expanded});
    const int status = Execute(words);
    if (status == 0 && command_.depend && !parsed_.empty() &&
        fs::is_regular_file(DependenciesOf(output))) {
      LeaveOutParsed(DependenciesOf(output));
    }
    return status;
  }

  // Takes what is made on the way from a list of dependencies: a build that goes by time would take it for changed since.
  void LeaveOutParsed(const std::string& list) const {
    std::string text = Read(list);
    std::string made;  // as a rule for make has it
    for (const char c : parsed_) {
      made += c == ' ' || c == '#' ? std::string("\\") + c : std::string(c == '$' ? 2 : 1, c);
    }
    for (const std::string& word : {" " + aclsim::ParsedForm(made), " " + made}) {
      for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
        text.erase(at, word.size());
      }
    }
    Write(list, text);
  }

  // The path of a header to include before all else: the simulator's headers that a source begins with, parsed with these macros. What
  // is asked for as preprocessed text has them as text.
  std::string Parsed(const std::string& source, const Words& macros, const Words& last) const {
    const auto forced = [](const std::string& word) {
      return word == "-include" || word == "-imacros";
    };
    if (!mayUseParsed_ || command_.stage == "-E" ||
        std::any_of(command_.macros.begin(), command_.macros.end(), forced)) {
      return {};
    }
    aclsim::HeaderParse parse{Compiler(), ToolkitHeaders(source), (toolkit_ / "include").string(),
                              Write};
    for (const Words& part : {DeviceFlags(), macros, command_.flags, last}) {
      // Warnings are those of the text that follows.
      std::copy_if(part.begin(), part.end(), std::back_inserter(parse.words),
                   [](const std::string& word) {
                     return !StartsWith(word, "-W") && !StartsWith(word, "-fdiagnostics") &&
                            !StartsWith(word, "-fmax-errors");
                   });
    }
    return aclsim::ParsedHeader(parse);
  }

  // The simulator's headers that a source begins with, in an order that is the same for all sources: they are made for any.
  Words ToolkitHeaders(const std::string& source) const {
    std::set<std::string> found;
    for (const std::string& header : aclsim::LeadingHeaders(Read(source))) {
      const std::string name = header.substr(1, header.size() - 2);
      const auto has = [&name](const fs::path& folder) { return fs::exists(folder / name); };
      const bool beside = header[0] == '"' && has(fs::path(source).parent_path());
      // The user's own may say something that changes those which follow.
      if (beside || std::any_of(folders_.begin(), folders_.end(), has)) {
        break;
      }
      if (has(toolkit_ / "include")) {
        found.insert("<" + name + ">");
      }
    }
    Words headers(found.begin(), found.end());
    if (!headers.empty()) {
      headers.insert(headers.begin(), "<aclsim/asc.h>");
    }
    return headers;
  }

  // The folders of headers that a command names.
  static Words FoldersOf(const Words& macros) {
    Words folders;
    for (size_t i = 0; i < macros.size(); ++i) {
      if (macros[i] == "-I" || macros[i] == "-isystem" || macros[i] == "-iquote") {
        folders.push_back(macros[++i]);
      } else if (StartsWith(macros[i], "-I")) {
        folders.push_back(macros[i].substr(2));
      }
    }
    return folders;
  }

  int Compile(const std::string& source, const std::string& output) {
    if (!IsAsc(source)) {
      return CompilePlain(source, output);
    }
    const int status = CompileAsc(source, output);
    // Another process makes room in the cache for what it needs.
    const auto lost = [](const std::string& header) {
      return !header.empty() && !fs::exists(aclsim::ParsedForm(header));
    };
    if (status == 0 || (mayUseParsed_ && !lost(parsed_) && !lost(parsedForDeviceCode_))) {
      return status;
    }
    mayUseParsed_ = false;
    return CompileAsc(source, output);
  }

  int CompileAsc(const std::string& source, const std::string& output) {
    const std::string expanded = temporary_.File("expanded.ii");
    int status = Preprocess(source, output, expanded, false);
    if (status != 0) {
      return status;
    }
    std::string original = Read(expanded);
    aclsim::KernelSource kernel = Checked(original);
    if (!kernel.faults.empty()) {
      return 1;
    }
    if (kernel.branches) {
      const std::string ofCubes = temporary_.File("of_cubes.ii");
      status = Preprocess(source, output, ofCubes, true);
      if (status != 0) {
        return status;
      }
      kernel.derived = kernel.halves =
          aclsim::CallsMatrixUnits(Read(ofCubes), soc_.npuArch, OwnHeaders());
    }
    // An object has both halves; what is asked for as text has the one with the host's code that runs.
    const bool whole = command_.stage.empty() || command_.stage == "-c";
    if (kernel.cube || kernel.halves) {
      status = Preprocess(source, output, expanded, kernel.cube, kernel.halves);
      if (status != 0) {
        return status;
      }
      original = Read(expanded);
    }
    const auto coresOf = [&kernel](const std::string& name) { return CoresOf(kernel, name); };
    const std::string text = aclsim::RewriteLaunches(original, coresOf);
    if (command_.stage == "-E") {
      Write(output.empty() ? "/dev/stdout" : output, text);
      return 0;
    }
    const std::string own = kernel.halves && whole ? temporary_.File("vectors.o") : output;
    const std::string stage = command_.stage.empty() ? "-c" : command_.stage;
    LaunchSet vectors;
    LaunchSet* const derived = kernel.derived && whole ? &vectors : nullptr;
    status = CompileText(text, stage, own);
    status = status != 0 ? status : DeviceCode(kernel, text, kernel.cube, derived);
    if (status != 0 || !kernel.halves || !whole) {
      return status;
    }
    status = Preprocess(source, output, expanded, true, true);
    if (status != 0) {
      return status;
    }
    const std::string cubes = aclsim::RewriteLaunches(Read(expanded), coresOf);
    LaunchSet matrices;
    status = CompileText(cubes, stage, temporary_.File("cubes.o"));
    status = status != 0
                 ? status
                 : DeviceCode(kernel, cubes, true, derived == nullptr ? nullptr : &matrices);
    return status != 0 ? status : JoinHalves(own, output, vectors, matrices);
  }

  int CompileText(const std::string& text, const std::string& stage, const std::string& output) {
    const std::string rewritten = temporary_.File("rewritten.ii");
    Write(rewritten, text);
    Words words = Compiler();
    const Words device = DeviceFlags();
    words.insert(words.end(), device.begin(), device.end());
    words.insert(words.end(), command_.flags.begin(), command_.flags.end());
    words.insert(words.end(), {"-x", "c++-cpp-output", stage, rewritten, "-o", output});
    return ExecuteAsDevice(std::move(words));
  }

  // GCC refuses a member with the name of a type that its class uses before. The device's compiler takes it.
  int ExecuteAsDevice(Words words) const {
    const std::string said = temporary_.File("said.txt");
    if (isatty(STDERR_FILENO) != 0) {
      words.emplace_back("-fdiagnostics-color=always");
    }
    int status = Execute(words, said);
    std::string text = Read(said);
    const auto count = [&text](std::string_view what) {
      size_t found = 0;
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++found;
      }
      return found;
    };
    const size_t meanings = count("changes meaning of");
    if (status != 0 && meanings != 0 && meanings == count("error: ")) {
      words.emplace_back("-fpermissive");
      words.emplace_back("-w");
      status = Execute(words, said);
      text = Read(said);
    }
    std::fputs(text.c_str(), stderr);
    return status;
  }

  // A launch of this kernel passes this on about its cores.
  static std::string CoresOf(const aclsim::KernelSource& kernel, const std::string& name) {
    if (!kernel.halves) {
      return "";
    }
    const auto marked = kernel.kernels.find(name);
    if (marked == kernel.kernels.end() && kernel.derived) {
      return ", ::aclsim::kAsItsCodeSays";
    }
    const auto typed = kernel.types.find("default");
    const aclsim::KernelCores cores = marked != kernel.kernels.end() ? marked->second
                                      : typed != kernel.types.end()  ? typed->second
                                                                     : aclsim::KernelCores{};
    return ", " + std::to_string(cores.cubes) + ", " + std::to_string(cores.vectors);
  }

  // The mode --cube-half. --calls names a file for the table by which launches of the other half call this one.
  int CubeHalf() {
    Words calls;
    if (command_.calls.empty()) {
      return CubeHalf(command_.linking, command_.output, &calls);
    }
    const std::string half = temporary_.File("cube_half.o");
    const int status = CubeHalf(command_.linking, half, &calls);
    const auto unused = [](const std::string&) { return aclsim::KernelCores{1, 2}; };
    return status != 0 ? status : Join({half}, command_.calls, calls, command_.output, unused);
  }

  // One object of both halves, with the table of how the vector half's launches call the other one. Each object of a program has its
  // own.
  int JoinHalves(const std::string& own, const std::string& output, const LaunchSet& vectors,
                 const LaunchSet& matrices) {
    const std::string cubes = temporary_.File("cube_half.o");
    Words calls;
    if (const int status = CubeHalf({temporary_.File("cubes.o")}, cubes, &calls); status != 0) {
      return status;
    }
    const auto coresOf = [&](const std::string& call) {
      const bool ofCubes = matrices.count(call) != 0;
      const bool ofVectors = vectors.count(call) != 0;
      return aclsim::KernelCores{ofCubes ? 1U : 0U, ofCubes && ofVectors ? 2U : ofCubes ? 0U : 1U};
    };
    const std::string joined = temporary_.File("joined.o");
    const int status = Join({own, cubes}, std::string(kTable), calls, joined, coresOf);
    return status != 0
               ? status
               : Execute({"objcopy", "--localize-symbol=" + std::string(kTable), joined, output});
  }

  int Join(const Words& halves, const std::string& table, const Words& calls,
           const std::string& output,
           const std::function<aclsim::KernelCores(const std::string&)>& coresOf) {
    std::string text = "typedef void (*Call)(void*, void* const*);\n";
    std::string rows;
    for (size_t i = 0; i < calls.size(); ++i) {
      const std::string name = "aclsimCall" + std::to_string(i);
      text += "extern void " + name + "(void*, void* const*) __asm__(\"" + calls[i] +
              std::string(kOfCubes) + "\");\n";
      const aclsim::KernelCores cores = coresOf(calls[i]);
      rows += "{\"" + BoundType(calls[i]) + "\", " + name + ", " + std::to_string(cores.cubes) +
              ", " + std::to_string(cores.vectors) + "}, ";
    }
    text +=
        "struct Row { const char* type; Call run; unsigned cubes, vectors; };\n"
        "__attribute__((visibility(\"hidden\"))) const struct Row " +
        table + "[] = {" + rows + "{0, 0, 0, 0}};\n";
    const std::string source = temporary_.File("table.c");
    const std::string object = temporary_.File("table.o");
    Write(source, text);
    Words words = Compiler();
    words.insert(words.end(), {"-x", "c", "-fPIC", "-c", source, "-o", object});
    if (const int status = Execute(words); status != 0) {
      return status;
    }
    words = Compiler();
    const std::string both = temporary_.File("both.o");
    words.insert(words.end(), {"-r", "-nostdlib"});
    words.insert(words.end(), halves.begin(), halves.end());
    words.insert(words.end(), {object, "-o", both});
    if (const int status = Execute(words); status != 0) {
      return status;
    }
    if (calls.empty()) {
      fs::copy_file(both, output, fs::copy_options::overwrite_existing);
      return 0;
    }
    // Another object of the program may have functions of these names.
    std::string names;
    for (const std::string& call : calls) {
      names += call + std::string(kOfCubes) + "\n";
    }
    const std::string own = temporary_.File("own.txt");
    Write(own, names);
    return Execute({"objcopy", "--localize-symbols=" + own, both, output});
  }

  // The name that std::type_info has for the class of a function by which a launch calls its kernel.
  static std::string BoundType(const std::string& symbol) {
    return symbol.substr(2, symbol.rfind(aclsim::kRunOfLaunch) - 2) + "E";
  }

  // The name of the table of how launches call the AICs' half.
  static constexpr std::string_view kTable = "aclsimCubeHalves";
  // Symbols of the AICs' half have this behind them, so that a program or library has both halves: kernels by name, too.
  static constexpr std::string_view kOfCubes = ".cube";

  // calls: functions by which launches call kernels.
  int CubeHalf(const Words& objects, const std::string& output, Words* calls) {
    const std::string merged = temporary_.File("merged.o");
    Words words = Compiler();
    // Groups of inline functions would be taken for those of the other half.
    words.insert(words.end(),
                 {"-r", "-nostdlib", "-Wl,--force-group-allocation", "-Wl,-z,muldefs"});
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), {"-o", merged});
    if (const int status = Execute(words); status != 0) {
      return status;
    }
    std::string renamed, raised;
    for (const auto& [name, type] : SymbolsOf(merged)) {
      const bool call = aclsim::IsRunOfLaunch(name) && (type == 't' || type == 'T' || type == 'W');
      if (call) {
        calls->push_back(name);
        raised += name + "\n";
      }
      if (call || std::isupper(static_cast<unsigned char>(type)) != 0 || type == 'u') {
        renamed += name + " " + name + std::string(kOfCubes) + "\n";
      }
    }
    std::string open = merged;
    if (!calls->empty()) {  // objcopy takes no empty list
      const std::string global = temporary_.File("global.txt");
      open = temporary_.File("open.o");
      Write(global, raised);
      if (const int status = Execute({"objcopy", "--globalize-symbols=" + global, merged, open});
          status != 0) {
        return status;
      }
    }
    const std::string names = temporary_.File("names.txt");
    Write(names, renamed);
    Words rename = {"objcopy", "--redefine-syms=" + names};
    if (!calls->empty()) {
      // A program's host code runs once, from the other half.
      rename.insert(rename.end(),
                    {"--remove-section=.init_array*", "--remove-section=.fini_array*"});
    }
    rename.insert(rename.end(), {open, output});
    return Execute(rename);
  }

  // Defined symbols of an object, with the letters that nm has for their kinds.
  std::vector<std::pair<std::string, char>> SymbolsOf(const std::string& object) const {
    const std::string list = temporary_.File("symbols");
    if (Execute({"nm", "-P", "--defined-only", object}, {}, list) != 0) {
      throw std::runtime_error("nm failed. Next: apt-get install binutils");
    }
    std::vector<std::pair<std::string, char>> symbols;
    std::istringstream lines(Read(list));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string name;
      char type = 0;
      if (fields >> name >> type) {
        symbols.emplace_back(name, type);
      }
    }
    return symbols;
  }

  static Words DeviceCodeFlags() { return {"-O0", "-g1", "-w", "-fno-lto", "-fno-sanitize=all"}; }

  // Finds what the device compiler would refuse of a source that the host's compiler takes. working: if not null, gets the functions
  // by which launches call kernels that have instructions in this half.
  int DeviceCode(const aclsim::KernelSource& kernel, std::string text, bool cube,
                 LaunchSet* working = nullptr) {
    aclsim::DeviceCodeRules rules{soc_.npuArch,
                                  fs::weakly_canonical(toolkit_ / "include").string(),
                                  {},
                                  cube,
                                  kernel.vectorOnly,
                                  kernel.vectorKernels};
    std::string assembly = command_.assembly;
    if (assembly.empty()) {
      size_t at = text.find(aclsim::kKernelMark);
      if (at == std::string::npos) {
        return 0;
      }
      for (; at != std::string::npos; at = text.find(aclsim::kKernelMark, at)) {
        text.replace(at, aclsim::kKernelMark.size(), aclsim::kKernelMarkForDeviceCode);
      }
      const std::string form = aclsim::ParsedForm(parsed_);
      const size_t named = parsed_.empty() ? std::string::npos : text.find(form);
      if (named != std::string::npos) {
        parsedForDeviceCode_ = parseForDeviceCode_();
        if (parsedForDeviceCode_.empty()) {
          mayUseParsed_ = false;
          return 1;
        }
        text.replace(named, form.size(), aclsim::ParsedForm(parsedForDeviceCode_));
      }
      assembly = temporary_.File("device.s");
      const std::string marked = temporary_.File("device.ii");
      Write(marked, text);
      Words words = Compiler();
      const Words device = DeviceFlags();
      words.insert(words.end(), device.begin(), device.end());
      words.insert(words.end(), command_.flags.begin(), command_.flags.end());
      const Words last = DeviceCodeFlags();
      words.insert(words.end(), last.begin(), last.end());
      words.insert(words.end(), {"-x", "c++-cpp-output", "-S", marked, "-o", assembly});
      if (const int status = ExecuteAsDevice(words); status != 0) {
        return status;
      }
    }
    rules.systemHeaders = SystemHeaders();
    const std::vector<aclsim::SourceFault> faults =
        aclsim::ReadDeviceCode(Read(assembly), rules, working);
    Print(faults);
    return std::all_of(faults.begin(), faults.end(), [](const auto& one) { return one.warning; })
               ? 0
               : 1;
  }

  // The folders in which the host's compiler looks by itself.
  std::vector<std::string> SystemHeaders() const {
    const std::string list = temporary_.File("folders");
    Words words = Compiler();
    words.insert(words.end(), {"-E", "-v", "-x", "c++", "/dev/null", "-o", "/dev/null"});
    if (Execute(words, list) != 0) {
      return {"/usr/include", "/usr/lib"};
    }
    std::vector<std::string> folders;
    std::istringstream lines(Read(list));
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > 1 && line[0] == ' ' && line[1] == '/') {
        folders.push_back(fs::weakly_canonical(line.substr(1)).string());
      }
    }
    return folders;
  }

  static void Print(const std::vector<aclsim::SourceFault>& faults) {
    for (const aclsim::SourceFault& fault : faults) {
      std::fprintf(stderr, "%s:%zu:1: %s: %s\n", fault.file.c_str(), fault.line,
                   fault.warning ? "warning" : "error", fault.text.c_str());
    }
  }

  // The architecture is that of the command's macros, which a kernel's build gives: only the rules need --npu-arch. With -o the
  // tiling keys are written there, a line each, and what they run on.
  int FrontEnd() {
    bool refused = false;
    std::string keys;
    for (const std::string& source : command_.sources) {
      const std::string expanded = temporary_.File("expanded.ii");
      Words words = Compiler();
      words.insert(words.end(), command_.macros.begin(), command_.macros.end());
      words.insert(words.end(), command_.flags.begin(), command_.flags.end());
      words.insert(words.end(), {"-isystem", (toolkit_ / "include").string()});
      AddDependencies(command_.output, &words);
      words.insert(words.end(), {"-E", "-x", "c++", source, "-o", expanded});
      const int status = Execute(words);
      if (status != 0) {
        return status;
      }
      const std::string text = Read(expanded);
      const aclsim::KernelSource kernel = Checked(text);
      refused = refused || !kernel.faults.empty();
      if (kernel.faults.empty() && (command_.deviceCode || !command_.assembly.empty())) {
        refused = DeviceCode(kernel, text, kernel.cube) != 0 || refused;
      }
      for (const std::string& key : kernel.keys) {
        keys += key + "\n";
      }
      // The cores of its kernel follow from code that is not there yet.
      if (kernel.kernels.count(command_.entry) == 0 && command_.assembly.empty() &&
          (kernel.derived || (kernel.branches && CallsMatrixUnits(source)))) {
        keys += "open by code\n";
      }
      // A source that is compiled for both kinds of cores also says what each key runs on.
      if (kernel.halves) {
        std::map<std::string, aclsim::KernelCores> types = kernel.types;
        const auto marked = kernel.kernels.find(command_.entry);
        if (marked != kernel.kernels.end()) {
          types["default"] = marked->second;
        } else if (command_.entry.empty() && kernel.kernels.size() == 1) {
          types["default"] = kernel.kernels.begin()->second;
        }
        for (const auto& [key, cores] : types) {
          keys += "type " + key + " " + std::to_string(cores.cubes) + " " +
                  std::to_string(cores.vectors) + "\n";
        }
      }
    }
    if (!refused && !command_.output.empty()) {
      Write(command_.output, keys);
    }
    return refused ? 1 : 0;
  }

  // Returns whether the text of an operator's source for cube cores calls matrix units.
  bool CallsMatrixUnits(const std::string& source) const {
    const Words own = aclsim::ArchitectureWords(soc_.npuArch, false);
    const Words other = aclsim::ArchitectureWords(soc_.npuArch, true);
    Words macros = command_.macros;
    for (std::string& macro : macros) {
      for (size_t i = 0; i < own.size(); ++i) {
        macro = macro == "-D" + own[i] ? "-D" + other[i] : macro;
      }
    }
    const std::string expanded = temporary_.File("of_cubes.ii");
    Words words = Compiler();
    words.insert(words.end(), macros.begin(), macros.end());
    words.insert(words.end(), command_.flags.begin(), command_.flags.end());
    words.insert(words.end(),
                 {"-isystem", OwnHeaders(), "-E", "-x", "c++", source, "-o", expanded});
    // A source that does not get through the preprocessor for cube cores has nothing for them.
    return Execute(words, temporary_.File("said.txt")) == 0 &&
           aclsim::CallsMatrixUnits(Read(expanded), soc_.npuArch, OwnHeaders());
  }

  // The mode --kernel-cores: of the assembly of a kernel for vector cores, and of that for cube cores, what it runs on. The kernel type
  // that CANN's op compiler finds for a source that names none, from the code of both.
  int KernelCores() {
    if (command_.sources.size() != 2) {
      throw aclsim::UsageError(
          "--kernel-cores: want the assembly for vector cores, and for cube cores");
    }
    const bool vectors = aclsim::KernelHasWork(Read(command_.sources[0]), command_.entry, false);
    const bool cubes = aclsim::KernelHasWork(Read(command_.sources[1]), command_.entry, true);
    Write(command_.output, !cubes ? "" : vectors ? "type default 1 2\n" : "type default 1 0\n");
    return 0;
  }

  std::string OwnHeaders() const { return (toolkit_ / "include").string(); }

  // Prints what CANN's op compiler would refuse in a preprocessed source.
  aclsim::KernelSource Checked(const std::string& text) const {
    aclsim::KernelSource kernel = aclsim::ReadKernelSource(text, soc_.npuArch, command_.entry,
                                                           OwnHeaders(), command_.frontEnd);
    if (kernel.faults.empty()) {
      CheckConditions(&kernel);
    }
    Print(kernel.faults);
    return kernel;
  }

  // Each tiling key may match the conditions of one struct only. They are evaluated as the op compiler does it: by a preprocessor.
  void CheckConditions(aclsim::KernelSource* kernel) const {
    if (kernel->conditions.empty()) {
      return;
    }
    std::string text;
    for (const std::string& key : kernel->keys) {
      text += "#define TILING_KEY_VAR " + key + "UL\n";
      for (size_t i = 0; i < kernel->conditions.size(); ++i) {
        text += "#if " + kernel->conditions[i].condition + "\n" + key + " " + std::to_string(i) +
                "\n#endif\n";
      }
      text += "#undef TILING_KEY_VAR\n";
    }
    const std::string source = temporary_.File("conditions.cpp");
    const std::string output = temporary_.File("conditions.ii");
    Write(source, text);
    Words words = Compiler();
    words.insert(words.end(), {"-E", "-P", "-x", "c++", source, "-o", output});
    if (Execute(words) != 0) {
      const aclsim::TilingCondition& first = kernel->conditions.front();
      kernel->faults.push_back(
          {first.file, first.line,
           "REGISTER_TILING_FOR_TILINGKEY: a condition is no expression of the "
           "preprocessor. Next: e.g. \"TILING_KEY_VAR == 1\""});
      return;
    }
    std::map<std::string, const aclsim::TilingCondition*> structs;
    std::istringstream lines(Read(output));
    size_t index = 0;
    for (std::string key; lines >> key >> index;) {
      const aclsim::TilingCondition& found = kernel->conditions.at(index);
      const auto [at, fresh] = structs.emplace(key, &found);
      if (!fresh && at->second->name != found.name) {
        kernel->faults.push_back(
            {found.file, found.line,
             "REGISTER_TILING_FOR_TILINGKEY: tiling key " + key + " matches the conditions of " +
                 at->second->name + " (line " + std::to_string(at->second->line) + ") and of " +
                 found.name +
                 ": CANN's op compiler stops ('should have 1 unique corresponding tiling struct'). "
                 "Next: conditions that exclude each other"});
      }
    }
  }

  int CompilePlain(const std::string& source, const std::string& output) {
    Words words = Compiler();
    words.insert(words.end(), command_.macros.begin(), command_.macros.end());
    words.insert(words.end(), command_.flags.begin(), command_.flags.end());
    words.insert(words.end(), {"-isystem", (toolkit_ / "include").string()});
    AddDependencies(output, &words);
    words.insert(words.end(), {command_.stage.empty() ? "-c" : command_.stage, source});
    if (!output.empty()) {
      words.insert(words.end(), {"-o", output});
    }
    return Execute(words);
  }

  void AddDependencies(const std::string& output, Words* words) const {
    if (!command_.depend) {
      return;
    }
    words->insert(words->end(),
                  {command_.userHeadersOnly ? "-MMD" : "-MD", "-MF", DependenciesOf(output), "-MT",
                   command_.target.empty() ? Beside(output) : command_.target});
  }

  std::string Beside(const std::string& output) const {
    return command_.output.empty() ? output : command_.output;
  }

  std::string DependenciesOf(const std::string& output) const {
    return command_.dependencies.empty() ? fs::path(Beside(output)).replace_extension(".d").string()
                                         : command_.dependencies;
  }

  int Link(const Words& objects) {
    const std::string library = (toolkit_ / "lib64").string();
    Words words = Compiler();
    words.insert(words.end(), command_.flags.begin(), command_.flags.end());
    if (command_.shared) {
      words.push_back("-shared");
    }
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), command_.linking.begin(), command_.linking.end());
    // Reports tell the API's functions from the kernel's by their dynamic symbols.
    words.insert(words.end(),
                 {"-rdynamic", "-L" + library, "-Wl,-rpath," + library, "-lregister", "-lascendcl",
                  "-o", command_.output.empty() ? "a.out" : command_.output});
    return Execute(words);
  }

  static std::string Read(const std::string& name) {
    std::error_code error;
    std::ifstream file;
    // Opening a pipe would wait for its writer, and reading a device need not end.
    if (std::filesystem::is_regular_file(name, error)) {
      file.open(name, std::ios::binary);
    }
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      throw std::runtime_error(name + ": cannot be read");
    }
    return std::move(text).str();
  }

  static void Write(const std::string& name, const std::string& text) {
    std::ofstream file(name, std::ios::binary);
    file << text;
    if (!file.flush()) {
      throw std::runtime_error(name + ": cannot be written");
    }
  }

  Command command_;
  fs::path toolkit_;
  const Soc& soc_;
  const Words folders_;
  bool mayUseParsed_ = true;
  // Headers parsed for a compile, and for that of DeviceCode; empty: parsed with the source.
  std::string parsed_;
  std::string parsedForDeviceCode_;
  std::function<std::string()> parseForDeviceCode_;
  TemporaryFolder temporary_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return Driver(aclsim::ParseCommand(Words(argv + 1, argv + argc))).Run();
  } catch (const aclsim::LaunchSyntaxError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ascc: error: %s\n", error.what());
  }
  return 1;
}
