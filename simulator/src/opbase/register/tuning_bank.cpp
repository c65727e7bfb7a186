// SPDX-License-Identifier: Apache-2.0
// Registration of tilings that CANN's tuner measures and keeps in a bank. op_host code of the matmul and convolution families
// registers them while its library loads. There is no bank here, so that nothing is kept and tiling functions compute. The headers
// are the repositories' own, with types of a JSON library in between, hence the declarations here.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "exe_graph/runtime/tiling_context.h"
#include "graph/ascend_string.h"

namespace tuningtiling {

class TuningTilingDef;

class TuningTilingClassFactory {
 public:
  using Constructor = std::shared_ptr<TuningTilingDef> (*)();
  static void RegisterTilingData(const ge::AscendString& optype, Constructor constructor);
  static std::shared_ptr<TuningTilingDef> CreateTilingDataInstance(const ge::AscendString& optype);
};

void TuningTilingClassFactory::RegisterTilingData(const ge::AscendString&, Constructor) {}
std::shared_ptr<TuningTilingDef> TuningTilingClassFactory::CreateTilingDataInstance(
    const ge::AscendString&) {
  return nullptr;
}

// Both versions differ by their names alone.
using Convert = std::function<bool(const gert::TilingContext*, std::shared_ptr<void>&, size_t&)>;
using Parse = std::function<bool(const std::shared_ptr<void>&, size_t, ge::AscendString&)>;
using Load = std::function<bool(std::shared_ptr<void>&, size_t&, const ge::AscendString&)>;

class OpBankKeyFuncRegistry {
 public:
  OpBankKeyFuncRegistry(const ge::AscendString& optype, const Convert& convert);
  OpBankKeyFuncRegistry(const ge::AscendString& optype, const Parse& parse, const Load& load);
};
class OpBankKeyFuncRegistryV2 {
 public:
  OpBankKeyFuncRegistryV2(const ge::AscendString& optype, const Convert& convert);
  OpBankKeyFuncRegistryV2(const ge::AscendString& optype, const Parse& parse, const Load& load);
};

OpBankKeyFuncRegistry::OpBankKeyFuncRegistry(const ge::AscendString&, const Convert&) {}
OpBankKeyFuncRegistry::OpBankKeyFuncRegistry(const ge::AscendString&, const Parse&, const Load&) {}
OpBankKeyFuncRegistryV2::OpBankKeyFuncRegistryV2(const ge::AscendString&, const Convert&) {}
OpBankKeyFuncRegistryV2::OpBankKeyFuncRegistryV2(const ge::AscendString&, const Parse&,
                                                 const Load&) {}

}  // namespace tuningtiling

namespace RuntimeKb {

uint32_t QueryBank(const void* src, size_t bytes, const std::string& opType, const std::string& soc,
                   uint32_t cores, std::shared_ptr<tuningtiling::TuningTilingDef>& tiling);

// A status other than 0 says that the bank has no tiling for these arguments.
uint32_t QueryBank(const void*, size_t, const std::string&, const std::string&, uint32_t,
                   std::shared_ptr<tuningtiling::TuningTilingDef>&) {
  return 1;
}

}  // namespace RuntimeKb
