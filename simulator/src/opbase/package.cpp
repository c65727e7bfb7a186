// SPDX-License-Identifier: Apache-2.0
// Look-up of operator packages and kernel libraries. Libraries are loaded once and stay.
#include "opbase/package.h"

#include <dlfcn.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "graph/utils/type_utils.h"
#include "host/fork.h"
#include "host/lock.h"
#include "opdev/op_errno.h"
#include "opdev/op_log.h"
#include "soc/soc.h"

namespace op::internal {
namespace {

namespace fs = std::filesystem;

struct Package {
  fs::path root;
  aclsim::PackageId id = 0;
  void* tilingLibrary = nullptr;
  std::string problem;  // why it has no tiling library
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, separator)) {
    part.erase(0, part.find_first_not_of(" \t\r"));
    part.erase(part.find_last_not_of(" \t\r") + 1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Machine() {
  utsname names{};
  return uname(&names) == 0 ? names.machine : "x86_64";
}

// The folder that this library lies in, which it was loaded from once.
const fs::path& LibraryFolder() {
  static const fs::path folder = [] {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&SnakeCase), &info) == 0) return fs::path();
    std::error_code error;
    const fs::path path = fs::weakly_canonical(info.dli_fname, error);
    return error ? fs::path() : path.parent_path();
  }();
  return folder;
}

// vendors/config.ini: load_priority=<vendor>,<vendor>. Without the file, every folder in the order
// of its name.
std::vector<fs::path> Vendors(const fs::path& vendors, std::vector<std::string>* tried) {
  std::vector<fs::path> roots;
  std::error_code unreadable;
  std::ifstream config;
  if (fs::is_regular_file(vendors / "config.ini", unreadable)) {
    config.open(vendors / "config.ini");
  }
  std::string line;
  bool configured = false;
  while (std::getline(config, line)) {
    const size_t equal = line.find('=');
    if (equal == std::string::npos ||
        Split(line.substr(0, equal), ' ') != std::vector<std::string>{"load_priority"}) {
      continue;
    }
    configured = true;
    for (const std::string& name : Split(line.substr(equal + 1), ',')) {
      roots.push_back(vendors / name);
    }
  }
  if (!configured) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(vendors, error)) {
      if (entry.is_directory(error)) roots.push_back(entry.path());
    }
    std::sort(roots.begin(), roots.end());
  }
  if (roots.empty()) tried->push_back(vendors.string());
  return roots;
}

class Packages {
 public:
  // In order of priority; the folders that were looked at and hold no package are in *tried.
  std::vector<const Package*> List(std::vector<std::string>* tried) {
    const std::lock_guard lock(mutex_);
    std::vector<fs::path> roots;
    for (const std::string& root : Split(Environment("ASCEND_CUSTOM_OPP_PATH"), ':')) {
      roots.emplace_back(root);
    }
    const std::string opp = Environment("ASCEND_OPP_PATH");
    if (!opp.empty()) Append(Vendors(fs::path(opp) / "vendors", tried), &roots);
    const fs::path& own = LibraryFolder();
    if (!own.empty()) Append(Vendors(own.parent_path() / "opp" / "vendors", tried), &roots);

    std::vector<const Package*> packages;
    std::set<std::string> seen;
    for (const fs::path& root : roots) {
      std::error_code error;
      const bool there = fs::is_directory(root / "op_impl", error);
      const std::string key = KeyOf(root, there);
      if (!seen.insert(key).second) continue;
      if (!there) {
        tried->push_back(root.string());
        continue;
      }
      packages.push_back(&Load(key));
    }
    return packages;
  }

 private:
  static void Append(const std::vector<fs::path>& from, std::vector<fs::path>* to) {
    to->insert(to->end(), from.begin(), from.end());
  }

  // The folder without links. Asked once of a package: its library is loaded once as well.
  std::string KeyOf(const fs::path& root, bool there) {
    const auto known = keys_.find(root.string());
    if (there && known != keys_.end()) return known->second;
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(root, error);
    const std::string key = error ? root.string() : canonical.string();
    if (there && root.is_absolute()) keys_[root.string()] = key;
    return key;
  }

  const Package& Load(const std::string& root) {
    const auto [found, added] = loaded_.try_emplace(root);
    Package& package = found->second;
    if (!added) return package;
    package.root = root;
    package.id = aclsim::PackageOf(root);
    const fs::path tiling = package.root / "op_impl" / "ai_core" / "tbe" / "op_tiling";
    fs::path library = tiling / "lib" / "linux" / Machine() / "libcust_opmaster_rt2.0.so";
    std::error_code error;
    if (!fs::exists(library, error) && fs::exists(tiling / "liboptiling.so", error)) {
      library = tiling / "liboptiling.so";
    }
    const aclsim::PackageScope scope(package.id);
    const aclsim::HoldFork hold;
    package.tilingLibrary = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (package.tilingLibrary == nullptr) package.problem = dlerror();
    return package;
  }

  aclsim::Mutex<3, "packages"> mutex_;
  std::map<std::string, Package> loaded_;
  std::map<std::string, std::string> keys_;
};

aclsim::PerProcess<Packages> allPackages;

std::string Join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

constexpr const char* kAdvice = "run `aclgrad doctor` to see what is installed";

// numpy's names, as kernel files spell them.
std::string NumpyName(ge::DataType type) {
  switch (type) {
    case ge::DT_FLOAT:
      return "float32";
    case ge::DT_FLOAT16:
      return "float16";
    case ge::DT_BF16:
      return "bfloat16";
    case ge::DT_DOUBLE:
      return "float64";
    case ge::DT_BOOL:
      return "bool";
    case ge::DT_INT8:
      return "int8";
    case ge::DT_INT16:
      return "int16";
    case ge::DT_INT32:
      return "int32";
    case ge::DT_INT64:
      return "int64";
    case ge::DT_UINT8:
      return "uint8";
    case ge::DT_UINT16:
      return "uint16";
    case ge::DT_UINT32:
      return "uint32";
    case ge::DT_UINT64:
      return "uint64";
    case ge::DT_COMPLEX64:
      return "complex64";
    case ge::DT_COMPLEX128:
      return "complex128";
    default: {
      // DT_INT4 -> int4
      std::string name = ge::TypeUtils::DataTypeToSerialString(type).substr(3);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return name;
    }
  }
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The SoC's own kernel folder first, then those of other SoCs with the same instruction set.
std::vector<std::string> KernelFolders() {
  const aclsim::Soc& current = aclsim::CurrentSoc();
  std::vector<std::string> folders = {Lower(current.shortName)};
  for (const aclsim::Soc& soc : aclsim::AllSocs()) {
    const std::string name = Lower(soc.shortName);
    if (soc.npuArch == current.npuArch &&
        std::find(folders.begin(), folders.end(), name) == folders.end()) {
      folders.push_back(name);
    }
  }
  return folders;
}

struct KernelLibraries {
  aclsim::Mutex<3, "kernel libraries"> mutex;
  std::map<std::string, void*> loaded;
};
aclsim::PerProcess<KernelLibraries> kernelLibraries;

// The entry function of a kernel library and its tiling keys; false with the reason in *why.
bool LoadKernel(const fs::path& path, const std::string& symbol, KernelEntry* kernel,
                std::string* why) {
  auto& [mutex, loaded] = *kernelLibraries;
  const std::lock_guard lock(mutex);
  void*& library = loaded[path.string()];
  if (library == nullptr) {
    const aclsim::HoldFork hold;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    *why = dlerror();
    return false;
  }
  kernel->entry = dlsym(library, symbol.c_str());
  if (kernel->entry == nullptr) *why = path.string() + " has no function " + symbol;
  kernel->keys.reset();
  if (const auto* keys = static_cast<const uint64_t*>(dlsym(library, "aclsimTilingKeys"))) {
    kernel->keys.emplace(keys + 1, keys + 1 + keys[0]);
  }
  return kernel->entry != nullptr;
}

}  // namespace

std::string TypeText(const std::vector<ge::DataType>& inputs,
                     const std::vector<ge::DataType>& outputs) {
  std::string text;
  for (const auto* types : {&inputs, &outputs}) {
    text += types == &inputs ? "(" : " -> (";
    for (size_t i = 0; i < types->size(); ++i) {
      const ge::DataType type = (*types)[i];
      text += (i == 0 ? "" : ", ") + (type == ge::DT_UNDEFINED ? "none" : NumpyName(type));
    }
    text += ")";
  }
  return text;
}

std::string SnakeCase(const std::string& opType) {
  std::string snake;
  for (char c : opType) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !snake.empty()) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return snake;
}

std::vector<FoundOp> FindOpInPackages(const std::string& opType, int32_t* status,
                                      std::string* lookedAt) {
  std::vector<std::string> tried;
  const std::vector<const Package*> packages = allPackages->List(&tried);
  gert::OpImplEntry* own = aclsim::FindOp(0, opType);
  std::vector<FoundOp> found;
  std::vector<std::string> searched;
  for (const Package* package : packages) {
    gert::OpImplEntry* entry = aclsim::FindOp(package->id, opType);
    // A tiling library that the process had loaded before registered there.
    if (entry == nullptr) entry = own;
    if (entry != nullptr) {
      found.push_back({entry, package->root.string(), package->tilingLibrary});
    }
    searched.push_back(package->root.string() +
                       (package->problem.empty() ? "" : " (" + package->problem + ")"));
  }
  if (!found.empty()) return found;
  if (own != nullptr) {
    found.push_back({own, "", nullptr});
    return found;
  }
  if (lookedAt != nullptr) {
    *status = ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
    *lookedAt = Join(packages.empty() ? tried : searched, ", ");
    return found;
  }
  if (packages.empty()) {
    *status = ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND;
    OP_LOGE(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND,
            "no operator package was found; looked at ASCEND_CUSTOM_OPP_PATH=\"%s\", "
            "ASCEND_OPP_PATH=\"%s\" and: %s; %s",
            Environment("ASCEND_CUSTOM_OPP_PATH").c_str(), Environment("ASCEND_OPP_PATH").c_str(),
            Join(tried, ", ").c_str(), kAdvice);
    return found;
  }
  *status = ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
  OP_LOGE(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, "operator %s is in none of the packages: %s; %s",
          opType.c_str(), Join(searched, ", ").c_str(), kAdvice);
  return found;
}

bool ResolveTypes(const FoundOp& op, const std::vector<ge::DataType>& inputs,
                  const std::vector<ge::DataType>& outputs, std::vector<ge::DataType>* types,
                  std::vector<std::string>* names, std::string* why) {
  names->clear();
  if (!op.entry->def.has_value()) {
    *types = inputs;
    types->insert(types->end(), outputs.begin(), outputs.end());
    for (size_t i = 0; i < inputs.size(); ++i) names->push_back("input" + std::to_string(i));
    for (size_t i = 0; i < outputs.size(); ++i) names->push_back("output" + std::to_string(i));
    return true;
  }
  aclsim::ResolvedOp resolved;
  const std::string soc = aclsim::CurrentSoc().shortName;
  if (!aclsim::ResolveOp(*op.entry->def, soc, &resolved, why)) return false;
  if (inputs.size() > resolved.inputs.size() || outputs.size() > resolved.outputs.size()) {
    *why = "its definition has " + std::to_string(resolved.inputs.size()) + " inputs and " +
           std::to_string(resolved.outputs.size()) + " outputs";
    return false;
  }
  if (aclsim::MatchDataTypes(resolved, inputs, outputs, types) < 0) {
    *why = "its definition has no such dtype combination for " + Lower(soc);
    return false;
  }
  for (const auto* params : {&resolved.inputs, &resolved.outputs}) {
    for (const ops::ParamRecord& param : *params) names->emplace_back(param.name.GetString());
  }
  return true;
}

// Returns the name of a kernel library, the one that kernel_stem of aclgrad/spec/naming.py gives: where dtypes
// make it too long for a file, a sum over them.
static std::string KernelFile(const std::string& opType, const std::vector<ge::DataType>& types) {
  constexpr size_t kLongest = 200;
  std::string stem = opType;
  for (ge::DataType type : types) stem += "_" + NumpyName(type);
  if (stem.size() <= kLongest) return stem + ".so";
  uint64_t total = 0xCBF29CE484222325U;  // 64-bit FNV-1a
  for (const char byte : stem) total = (total ^ static_cast<uint8_t>(byte)) * 0x100000001B3U;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016" PRIx64, total);
  return opType + "_" + digits.data() + ".so";
}

int32_t FindKernel(const std::string& opType, const std::vector<FoundOp>& candidates,
                   const std::vector<ge::DataType>& inputs,
                   const std::vector<ge::DataType>& outputs, KernelEntry* kernel,
                   const FoundOp** chosen) {
  const std::string snake = SnakeCase(opType);
  std::vector<std::string> problems;
  for (const FoundOp& candidate : candidates) {
    const std::string where =
        candidate.packageRoot.empty() ? "this process" : candidate.packageRoot;
    std::vector<ge::DataType> types;
    std::vector<std::string> names;
    std::string reason;
    if (!ResolveTypes(candidate, inputs, outputs, &types, &names, &reason)) {
      problems.push_back(where + ": " + reason);
      continue;
    }
    const std::string file = KernelFile(opType, types);
    std::vector<std::string> missing;
    for (const std::string& soc : KernelFolders()) {
      const fs::path path = fs::path(candidate.packageRoot) / "op_impl" / "ai_core" / "tbe" /
                            "kernel" / soc / snake / file;
      std::error_code error;
      if (candidate.packageRoot.empty() || !fs::exists(path, error)) {
        missing.push_back(path.string());
        continue;
      }
      std::string why;
      if (LoadKernel(path, snake, kernel, &why)) {
        kernel->names = names;
        *chosen = &candidate;
        return ACLNN_SUCCESS;
      }
      problems.push_back(why);
    }
    if (!missing.empty()) {
      problems.push_back(where + " has no kernel file " + Join(missing, " or "));
    }
  }
  OP_LOGE(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, "%s%s cannot run on %s: %s; %s", opType.c_str(),
          TypeText(inputs, outputs).c_str(), aclsim::CurrentSoc().name.c_str(),
          Join(problems, "; ").c_str(), kAdvice);
  return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
}

namespace {

// Returns what a function of the tiling's library writes into a buffer; empty where there is none.
template <typename Function, typename... Args>
std::string Written(const FoundOp& op, const std::string& symbol, Args... args) {
  void* library = op.tilingLibrary == nullptr ? RTLD_DEFAULT : op.tilingLibrary;
  const auto function = reinterpret_cast<Function>(dlsym(library, symbol.c_str()));
  if (function == nullptr) return "";
  std::string text(16384, '\0');
  const int64_t length = function(args..., text.data(), text.size());
  if (length < 0 || static_cast<uint64_t>(length) > text.size()) return "";
  text.resize(static_cast<size_t>(length));
  return text;
}

}  // namespace

std::string TilingJson(const FoundOp& op, const std::vector<uint8_t>& data) {
  using Function = int64_t (*)(const void*, uint64_t, char*, uint64_t);
  return Written<Function>(op, op.entry->type + "TilingJson", static_cast<const void*>(data.data()),
                           data.size());
}

std::string TilingChoices(const FoundOp& op) {
  return Written<int64_t (*)(char*, uint64_t)>(op, "TilingChoicesJson");
}

}  // namespace op::internal
