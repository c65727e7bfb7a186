// SPDX-License-Identifier: Apache-2.0
// Chip facts for tiling, from the SoC table.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "opbase/register/op_call.h"
#include "opbase/register/soc_version.h"
#include "platform/platform_info.h"
#include "runtime/runtime.h"
#include "soc/library_workspace.h"
#include "soc/platform_values.h"
#include "soc/soc.h"
#include "tiling/platform/platform_ascendc.h"

namespace fe {
namespace {

// Returns where a size of local memory stands among what was set.
const char* KeyOf(LocalMemType type) {
  static constexpr const char* kKeys[] = {"l0_a_size", "l0_b_size", "l0_c_size",
                                          "l1_size",   nullptr,     "ub_size"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kKeys) ? kKeys[index] : nullptr;
}

}  // namespace

const std::string* PlatFormInfos::Given(const std::string& label, const std::string& key) const {
  const auto values = given_.find(label);
  if (values == given_.end()) return nullptr;
  const auto found = values->second.find(key);
  return found == values->second.end() ? nullptr : &found->second;
}

bool PlatFormInfos::GetPlatformRes(const std::string& label,
                                   std::map<std::string, std::string>& values) {
  if (const auto given = given_.find(label); given != given_.end()) {
    values = given->second;
    return true;
  }
  std::optional<std::map<std::string, std::string>> found = aclsim::PlatformValues(label);
  if (!found) return false;
  values = std::move(*found);
  return true;
}

bool PlatFormInfos::GetPlatformRes(const std::string& label, const std::string& key,
                                   std::string& value) {
  std::map<std::string, std::string> values;
  if (!GetPlatformRes(label, values)) return false;
  const auto found = values.find(key);
  if (found == values.end()) return false;
  value = found->second;
  return true;
}

uint32_t PlatFormInfos::GetCoreNum() const {
  return core_num_ == 0 ? aclsim::CubeCoreCount() : core_num_;
}

uint32_t PlatFormInfos::GetCoreNumByType(const std::string& coreType) {
  const char* key = coreType == "VectorCore" ? "vector_core_cnt" : "ai_core_cnt";
  if (const std::string* given = Given("SoCInfo", key); given != nullptr) {
    return static_cast<uint32_t>(std::strtoul(given->c_str(), nullptr, 10));
  }
  return coreType == "VectorCore" ? aclsim::VectorCoreCount() : aclsim::CubeCoreCount();
}

void PlatFormInfos::GetLocalMemSize(const LocalMemType& type, uint64_t& size) {
  const char* key = KeyOf(type);
  const std::string* given = key == nullptr ? nullptr : Given("AICoreSpec", key);
  if (given != nullptr) {
    size = std::strtoull(given->c_str(), nullptr, 10);
    return;
  }
  const aclsim::Soc& soc = aclsim::CurrentSoc();
  switch (type) {
    case LocalMemType::L0_A:
      size = soc.BytesOf(aclsim::Space::kL0a);
      break;
    case LocalMemType::L0_B:
      size = soc.BytesOf(aclsim::Space::kL0b);
      break;
    case LocalMemType::L0_C:
      size = soc.BytesOf(aclsim::Space::kL0c);
      break;
    case LocalMemType::L1:
      size = soc.BytesOf(aclsim::Space::kL1);
      break;
    case LocalMemType::L2:
      size = soc.l2Bytes;
      break;
    case LocalMemType::UB:
      size = soc.ubTilingBytes;
      break;
    case LocalMemType::HBM:
      size = soc.memBytes;
      break;
    case LocalMemType::RESERVED:
      size = 0;
      break;
  }
}

void PlatFormInfos::GetLocalMemBw(const LocalMemType& type, uint64_t& rate) {
  std::string value;
  if (type == LocalMemType::L2) GetPlatformRes("AICoreMemoryRates", "l2_rate", value);
  if (type == LocalMemType::HBM) GetPlatformRes("AICoreMemoryRates", "ddr_rate", value);
  rate = std::strtoull(value.c_str(), nullptr, 10);
}

std::string OptionalInfos::GetSocVersion() const { return aclsim::CurrentSoc().name; }
uint32_t OptionalInfos::GetAICoreNum() const { return aclsim::CurrentSoc().aicCores; }

PlatformInfoManager& PlatformInfoManager::Instance() {
  static PlatformInfoManager manager;
  return manager;
}

uint32_t PlatformInfoManager::GetPlatformInfo(const std::string&, PlatformInfo& platform,
                                              OptionalInfo& optional) {
  constexpr uint64_t kBlockBytes = 32;
  const aclsim::Soc& soc = aclsim::CurrentSoc();
  platform.str_info = {"AIC-C-" + std::to_string(soc.cceAicore), soc.shortName};
  platform.soc_info = {static_cast<uint32_t>(soc.aicCores),
                       static_cast<uint32_t>(aclsim::VectorCoreCount()), soc.memBytes, soc.l2Bytes};
  platform.ai_core_spec = {soc.BytesOf(aclsim::Space::kL0a),
                           soc.BytesOf(aclsim::Space::kL0b),
                           soc.BytesOf(aclsim::Space::kL0c),
                           soc.BytesOf(aclsim::Space::kL1),
                           soc.ubTilingBytes,
                           kBlockBytes};
  platform.vector_core_spec = {soc.ubTilingBytes, kBlockBytes};
  optional = {soc.name, "AiCore", static_cast<uint32_t>(soc.aicCores), ""};
  return 0;
}

uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatformInfo& platform,
                                                               OptionalInfo& optional) {
  return GetPlatformInfo("", platform, optional);
}
// Both types speak of the SoC that is current when they are asked.
uint32_t PlatformInfoManager::GetPlatformInfos(const std::string&, PlatFormInfos&, OptionalInfos&) {
  return 0;
}
uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatFormInfos&, OptionalInfos&) {
  return 0;
}

}  // namespace fe

namespace platform_ascendc {

PlatformAscendC::PlatformAscendC(fe::PlatFormInfos* platformInfo) : platformInfo_(platformInfo) {
  if (platformInfo == nullptr) {
    aclsim::ReportErrorText(
        "PlatformAscendC: the platform pointer is null; pass context->GetPlatformInfo()");
  }
}

namespace {

// Returns what was set of a platform, by the key for its kinds of cores; 0 when nothing was.
uint32_t GivenCores(const fe::PlatFormInfos& platform, const char* kind) {
  const std::string* kinds = platform.Given("SoCInfo", "core_type_list");
  const bool split = kinds != nullptr && *kinds == "CubeCore,VectorCore";
  const std::string* given = platform.Given("SoCInfo", split ? kind : "ai_core_cnt");
  return given == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(given->c_str(), nullptr, 10));
}

}  // namespace

uint32_t PlatformAscendC::GetCoreNum() const {
  return platformInfo_ == nullptr ? 0 : platformInfo_->GetCoreNum();
}

uint32_t PlatformAscendC::GetCoreNumAic() const {
  if (platformInfo_ == nullptr) return 0;
  const uint32_t given = GivenCores(*platformInfo_, "cube_core_cnt");
  return given == 0 ? aclsim::CubeCoreCount() : given;
}

uint32_t PlatformAscendC::GetCoreNumAiv() const {
  if (platformInfo_ == nullptr) return 0;
  const uint32_t given = GivenCores(*platformInfo_, "vector_core_cnt");
  return given == 0 ? aclsim::VectorCoreCount() : given;
}

uint32_t PlatformAscendC::GetCoreNumVector() const {
  const aclsim::Soc& soc = aclsim::CurrentSoc();
  if (platformInfo_ == nullptr || soc.npuArch != 2002 || soc.aivCores <= soc.aicCores) return 0;
  return soc.aivCores - soc.aicCores;
}

// On split chips the scheduler counts groups of one AI core with its vector cores.
uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum,
                                           uint32_t aivCoreNum) const {
  if (aicCoreNum == 0 || aivCoreNum == 0 || aicCoreNum > aivCoreNum) return sliceNum;
  const uint32_t ratio = aivCoreNum / aicCoreNum;
  return (sliceNum + ratio - 1) / ratio;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
  const auto arch = static_cast<uint32_t>(GetCurNpuArch());
  return static_cast<uint32_t>(aclsim::LibraryWorkspace(arch));
}

void PlatformAscendC::GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const {
  size = 0;
  if (platformInfo_ == nullptr) return;
  if (memType == CoreMemType::FB || memType == CoreMemType::BT) {
    size = aclsim::CurrentSoc().BytesOf(memType == CoreMemType::FB ? aclsim::Space::kFb
                                                                   : aclsim::Space::kBt);
  }
  if (memType > CoreMemType::HBM) return;
  platformInfo_->GetLocalMemSize(static_cast<fe::LocalMemType>(memType), size);
  // A size that is set has the part that the toolkit keeps for itself; the SoC table's size has not.
  const bool set =
      (memType == CoreMemType::UB && platformInfo_->Given("AICoreSpec", "ub_size") != nullptr) ||
      (memType == CoreMemType::L1 && platformInfo_->Given("AICoreSpec", "l1_size") != nullptr);
  constexpr uint64_t kKept = 256;
  if (set && GetSocVersion() == SocVersion::ASCEND910B) size -= std::min(size, kKept);
  if (memType == CoreMemType::UB) size -= std::min<uint64_t>(size, reservedMemSize_);
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType& memType, uint64_t& bwSize) const {
  bwSize = 0;
  if (platformInfo_ == nullptr || memType > CoreMemType::HBM) return;
  platformInfo_->GetLocalMemBw(static_cast<fe::LocalMemType>(memType), bwSize);
}

void PlatformAscendC::ReserveLocalMemory(ReservedSize size) {
  constexpr uint32_t kKiB = 1024;
  switch (size) {
    case ReservedSize::RESERVED_SIZE_8K:
      reservedMemSize_ = 8 * kKiB;
      break;
    case ReservedSize::RESERVED_SIZE_16K:
      reservedMemSize_ = 16 * kKiB;
      break;
    case ReservedSize::RESERVED_SIZE_32K:
      reservedMemSize_ = 32 * kKiB;
      break;
  }
}

namespace {

SocVersion VersionOf(const std::string& shortName) {
  static const std::pair<const char*, SocVersion> kVersions[] = {
      {"Ascend910", SocVersion::ASCEND910},       {"Ascend910B", SocVersion::ASCEND910B},
      {"Ascend910_93", SocVersion::ASCEND910_93}, {"Ascend310P", SocVersion::ASCEND310P},
      {"Ascend310B", SocVersion::ASCEND310B},     {"Ascend950", SocVersion::ASCEND950},
      {"Ascend910_95", SocVersion::ASCEND910_95}, {"Ascend310", SocVersion::ASCEND310},
      {"Ascend610", SocVersion::ASCEND610},       {"Ascend610Lite", SocVersion::ASCEND610Lite},
  };
  for (const auto& [name, version] : kVersions) {
    if (shortName == name) return version;
  }
  return SocVersion::RESERVED_VERSION;
}

}  // namespace

SocVersion PlatformAscendC::GetSocVersion() const {
  const std::string* given =
      platformInfo_ == nullptr ? nullptr : platformInfo_->Given("version", "Short_SoC_version");
  return VersionOf(given == nullptr ? aclsim::CurrentSoc().shortName : *given);
}

NpuArch PlatformAscendC::GetCurNpuArch() const {
  const std::string* given =
      platformInfo_ == nullptr ? nullptr : platformInfo_->Given("version", "NpuArch");
  if (given != nullptr) return static_cast<NpuArch>(std::strtoul(given->c_str(), nullptr, 10));
  return static_cast<NpuArch>(aclsim::CurrentSoc().npuArch);
}

uint32_t PlatformAscendC::GetVecRegLen() const {
  return aclsim::CurrentSoc().npuArch == 3510 ? 256 : 0;
}

PlatformAscendC* PlatformAscendCManager::GetInstance() {
  static fe::PlatFormInfos infos;
  static PlatformAscendC platform(&infos);
  return &platform;
}

PlatformAscendC* PlatformAscendCManager::GetInstance(const char*) { return GetInstance(); }

}  // namespace platform_ascendc

const aclsim::Soc& aclsim::SocOf(platform_ascendc::SocVersion version) {
  const Soc& current = CurrentSoc();
  if (platform_ascendc::VersionOf(current.shortName) == version) return current;
  for (const Soc& soc : AllSocs()) {
    if (platform_ascendc::VersionOf(soc.shortName) == version) return soc;
  }
  return current;
}
