// SPDX-License-Identifier: Apache-2.0
// A program asks for these after launches: findings, profiles, writers of outputs, instructions that chaos held back.
#include <string>

#include "aclsim/aclsim.h"
#include "checkers/writers.h"
#include "engine/held.h"
#include "findings/finding.h"
#include "findings/printed_findings.h"
#include "runtime/errors.h"
#include "runtime/misuse.h"
#include "runtime/state.h"
#include "timing/profile.h"

using aclsim::Api;
using aclsim::Enter;

extern "C" {

const char* aclsimFindings() {
  const char* text = "[]";
  Enter("aclsimFindings", [&](const Api&) -> int32_t {
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kFindings, aclsim::FindingsJson());
    return 0;
  });
  return text;
}

const char* aclsimProfiles() {
  const char* text = "[]";
  Enter("aclsimProfiles", [&](const Api&) -> int32_t {
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kProfiles, aclsim::ProfilesJson());
    return 0;
  });
  return text;
}

const char* aclsimProfileLines(size_t launch, const uint32_t* cores, size_t coreCount) {
  const char* text = nullptr;
  Enter("aclsimProfileLines", [&](const Api& api) -> int32_t {
    if (coreCount > 0) {
      ACLSIM_RETURN_IF_ERROR(api.NotNull(cores, "cores"));
    }
    std::string why;
    std::string json = aclsim::ProfileLinesJson(launch, {cores, cores + coreCount}, &why);
    if (json.empty()) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kProfiles, std::move(json));
    return 0;
  });
  return text;
}

const char* aclsimProfileChanges(size_t launch) {
  const char* text = nullptr;
  Enter("aclsimProfileChanges", [&](const Api& api) -> int32_t {
    std::string why;
    std::string json = aclsim::ProfileChangesJson(launch, &why);
    if (json.empty()) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kProfiles, std::move(json));
    return 0;
  });
  return text;
}

const char* aclsimHeld() {
  const char* text = "[]";
  Enter("aclsimHeld", [&](const Api&) -> int32_t {
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kFindings, aclsim::HeldJson());
    return 0;
  });
  return text;
}

void aclsimKeepWriters(int32_t on) { aclsim::KeepWriters(on != 0); }

const char* aclsimWriters() {
  const char* text = "[]";
  Enter("aclsimWriters", [&](const Api&) -> int32_t {
    text = aclsim::KeepForCaller(aclsim::ReturnedText::kFindings, aclsim::WritersJson());
    return 0;
  });
  return text;
}

int32_t aclsimPaintWriters(size_t launch, size_t output, uint64_t elementBytes, uint64_t count,
                           int32_t* cores, int64_t* pieces) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (count > 0) {
      ACLSIM_RETURN_IF_ERROR(api.NotNull(cores, "cores"));
      ACLSIM_RETURN_IF_ERROR(api.NotNull(pieces, "pieces"));
    }
    std::string why;
    return aclsim::PaintWriters(launch, output, elementBytes, count, cores, pieces, &why)
               ? 0
               : api.FailText(ACL_ERROR_INVALID_PARAM, why);
  });
}

void aclsimClearProfiles() { aclsim::ClearProfiles(); }

int32_t aclsimWriteTrace(size_t launch, const uint32_t* cores, size_t coreCount, const char* path) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(path, "path"));
    if (coreCount > 0) {
      ACLSIM_RETURN_IF_ERROR(api.NotNull(cores, "cores"));
    }
    std::string why;
    if (!aclsim::WriteTrace(launch, {cores, cores + coreCount}, path, &why)) {
      return api.FailText(ACL_ERROR_INVALID_PARAM, why);
    }
    return 0;
  });
}

void aclsimSilenceFindings() { aclsim::SilenceFindings(); }

void aclsimClearFindings() {
  aclsim::ClearFindings();
  aclsim::ForgetMisuse();
}

}  // extern "C"
