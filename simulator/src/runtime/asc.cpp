// SPDX-License-Identifier: Apache-2.0
// Programs of .asc files: compiled for one architecture, and their launches have no return value.
#include "aclsim/aclsim.h"
#include "findings/finding.h"
#include "runtime/errors.h"
#include "runtime/options.h"
#include "runtime/runtime.h"
#include "soc/select.h"

namespace aclsim {

namespace {

constexpr int64_t kMaxBlocks = 65535;

int32_t CheckAscLaunch(const Api& api, const char* name, uint32_t npuArch, int64_t blocks) {
  if (blocks < 1 || blocks > kMaxBlocks) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "kernel %s: blocks is %lld, want 1 to %lld", name,
                    static_cast<long long>(blocks), static_cast<long long>(kMaxBlocks));
  }
  const Soc& soc = CurrentSoc();
  if (soc.npuArch != npuArch) {
    return api.Fail(ACL_ERROR_INVALID_PARAM,
                    "kernel %s was compiled for dav-%u, but %s is a dav-%u. Next: compile with"
                    " --npu-arch=dav-%u, or unset ACLGRAD_SOC",
                    name, npuArch, soc.name.c_str(), soc.npuArch, soc.npuArch);
  }
  return 0;
}

}  // namespace
}  // namespace aclsim

extern "C" {

int32_t aclsimUseArch(uint32_t npuArch) {
  aclsim::SetProgramArch(npuArch);
  aclsim::PrintFindings();
  return 0;
}

int32_t aclsimLaunchAsc(const char* name, uint32_t npuArch, const void* entry,
                        aclsimKernelBody body, void* context, void (*release)(void* context),
                        int64_t blocks, void* const* args, size_t argCount, void* stream) {
  // The source of a launch says when its kernel runs on AICs; other sources of the same library do not count.
  const aclsim::NextCores cores =
      aclsim::TakeNextCores().value_or(aclsim::NextCores{{0, 1}, nullptr});
  int32_t status = aclsim::Enter("<<<>>>", [&](const aclsim::Api& api) {
    return aclsim::CheckAscLaunch(api, name, npuArch, blocks);
  });
  if (status != 0) {
    release(context);
  } else {
    aclsimNextCores(cores.group.cubes, cores.group.vectors, cores.cubeBody);
    status = aclsimLaunchBody(name, entry, body, context, release, static_cast<uint32_t>(blocks), 0,
                              args, argCount, stream);
  }
  if (status != 0) {
    aclsim::PrintNewestError();
  }
  return status;
}

}  // extern "C"
