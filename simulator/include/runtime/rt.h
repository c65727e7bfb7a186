// SPDX-License-Identifier: Apache-2.0
// Functions of CANN's runtime below ACL, as far as op_api sources call them.
#pragma once

#include "acl/acl_rt.h"

typedef int32_t rtError_t;
typedef enum {
  SYS_OPT_DETERMINISTIC = 0,
  SYS_OPT_ENABLE_DEBUG_KERNEL = 1,
  SYS_OPT_STRONG_CONSISTENCY = 2
} rtSysParamOpt;

#ifndef RT_ERROR_NONE
#define RT_ERROR_NONE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif
ACL_FUNC_VISIBILITY rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len);
// The text of a key of a section of the SoC's platform file, e.g. "AICoreSpec", "l1_size"; maxLen
// counts its last zero.
ACL_FUNC_VISIBILITY rtError_t rtGetSocSpec(const char* label, const char* key, char* val,
                                           const uint32_t maxLen);
#ifdef __cplusplus
}
#endif

static inline rtError_t rtCtxGetSysParamOpt(const rtSysParamOpt configOpt,
                                            int64_t* const configVal) {
  return aclrtCtxGetSysParamOpt((aclSysParamOpt)configOpt, configVal);
}
