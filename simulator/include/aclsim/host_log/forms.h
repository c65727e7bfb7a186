// SPDX-License-Identifier: Apache-2.0
// Names that op_host projects of CANN 8 bring in a common folder of their own, over log/log.h. The build of an operator that comes
// without that folder finds them here, behind every other folder.
#pragma once

#include "log/log.h"

#ifndef OP_LOGE_IF
#define OP_LOGE_IF(condition, returnValue, op, ...) \
  OP_CHECK_IF(condition, OP_LOGE(op, __VA_ARGS__), return returnValue)
#endif
#ifndef OP_LOGW_IF
#define OP_LOGW_IF(condition, op, ...) OP_CHECK_IF(condition, OP_LOGW(op, __VA_ARGS__), )
#endif
#ifndef OP_LOGI_IF_RETURN
#define OP_LOGI_IF_RETURN(condition, returnValue, op, ...) \
  OP_CHECK_IF(condition, OP_LOGI(op, __VA_ARGS__), return returnValue)
#endif
#ifndef OP_LOGD_FULL
#define OP_LOGD_FULL(op, ...) OP_LOGD(op, __VA_ARGS__)
#define OP_LOGI_FULL(op, ...) OP_LOGI(op, __VA_ARGS__)
#define OP_LOGW_FULL(op, ...) OP_LOGW(op, __VA_ARGS__)
#endif
#ifndef OP_EVENT
#define OP_EVENT(op, ...) OP_LOGI(op, __VA_ARGS__)
#endif
#ifndef OP_TILING_CHECK
#define OP_TILING_CHECK(condition, log, returnExpr) OP_CHECK_IF(condition, log, returnExpr)
#endif
#ifndef OP_CHECK
#define OP_CHECK(condition, log, returnExpr) OP_CHECK_IF(condition, log, returnExpr)
#endif
#ifndef OPS_CHECK_NULL_WITH_CONTEXT
#define OPS_CHECK_NULL_WITH_CONTEXT OP_CHECK_NULL_WITH_CONTEXT
#endif
#ifndef OPS_CHECK_NULL_WITH_CONTEXT_RET
#define OPS_CHECK_NULL_WITH_CONTEXT_RET(context, ptr, returnValue) \
  OP_CHECK_IF((ptr) == nullptr, OP_LOGE(context, "%s is nullptr", #ptr), return returnValue)
#endif

#define ACLSIM_INNER_ERROR_(op, ...) OP_LOGE(op, __VA_ARGS__)
#ifndef VECTOR_INNER_ERR_REPORT_TILIING  // spelt so
#define VECTOR_INNER_ERR_REPORT_TILIING ACLSIM_INNER_ERROR_
#endif
#ifndef VECTOR_INNER_ERR_REPORT
#define VECTOR_INNER_ERR_REPORT ACLSIM_INNER_ERROR_
#endif
#ifndef VECTOR_INFER_SHAPE_INNER_ERR_REPORT
#define VECTOR_INFER_SHAPE_INNER_ERR_REPORT ACLSIM_INNER_ERROR_
#endif
#ifndef CUBE_INNER_ERR_REPORT
#define CUBE_INNER_ERR_REPORT ACLSIM_INNER_ERROR_
#endif
#ifndef OPS_REPORT_VECTOR_INNER_ERR
#define OPS_REPORT_VECTOR_INNER_ERR ACLSIM_INNER_ERROR_
#endif
#ifndef OPS_REPORT_CUBE_INNER_ERR
#define OPS_REPORT_CUBE_INNER_ERR ACLSIM_INNER_ERROR_
#endif
#ifndef OPS_INNER_ERR_STUB
#define OPS_INNER_ERR_STUB(code, op, ...) ACLSIM_INNER_ERROR_(op, __VA_ARGS__)
#endif

#ifndef OPS_LOG_D
#define OPS_LOG_D(op, ...) OP_LOGD(op, __VA_ARGS__)
#define OPS_LOG_I(op, ...) OP_LOGI(op, __VA_ARGS__)
#define OPS_LOG_W(op, ...) OP_LOGW(op, __VA_ARGS__)
#define OPS_LOG_E(op, ...) OP_LOGE(op, __VA_ARGS__)
#endif
#ifndef OPS_LOG_E_WITHOUT_REPORT
#define OPS_LOG_E_WITHOUT_REPORT(op, ...) OP_LOGE_WITHOUT_REPORT(op, __VA_ARGS__)
#endif
#ifndef OPS_LOG_EVENT
#define OPS_LOG_EVENT(op, ...) OP_LOGI(op, __VA_ARGS__)
#endif
#ifndef OPS_LOG_FULL
#define OPS_LOG_FULL(level, op, ...) OpLogSub(OP, level, op, __VA_ARGS__)
#define OPS_LOG_D_FULL(op, ...) OP_LOGD(op, __VA_ARGS__)
#define OPS_LOG_I_FULL(op, ...) OP_LOGI(op, __VA_ARGS__)
#define OPS_LOG_W_FULL(op, ...) OP_LOGW(op, __VA_ARGS__)
#endif
#ifndef OPS_LOG_E_IF
#define OPS_LOG_D_IF(condition, op, expr, ...) \
  OP_CHECK_IF(condition, OPS_LOG_D(op, __VA_ARGS__), expr)
#define OPS_LOG_I_IF(condition, op, expr, ...) \
  OP_CHECK_IF(condition, OPS_LOG_I(op, __VA_ARGS__), expr)
#define OPS_LOG_W_IF(condition, op, expr, ...) \
  OP_CHECK_IF(condition, OPS_LOG_W(op, __VA_ARGS__), expr)
#define OPS_LOG_E_IF(condition, op, expr, ...) \
  OP_CHECK_IF(condition, OPS_LOG_E(op, __VA_ARGS__), expr)
#define OPS_LOG_EVENT_IF(condition, op, expr, ...) \
  OP_CHECK_IF(condition, OPS_LOG_EVENT(op, __VA_ARGS__), expr)
#endif
#ifndef OPS_LOG_E_IF_NULL
#define OPS_LOG_E_IF_NULL(op, ptr, expr) \
  OP_CHECK_IF((ptr) == nullptr, OPS_LOG_E(op, "%s is nullptr", #ptr), expr)
#endif
#ifndef OPS_CHECK
#define OPS_CHECK(condition, log, expr) OP_CHECK_IF(condition, log, expr)
#endif
#ifndef OPS_ERR_IF
#define OPS_ERR_IF(condition, log, expr) OP_CHECK_IF(condition, log, expr)
#endif
