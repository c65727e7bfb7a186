// SPDX-License-Identifier: Apache-2.0
// The opening macros of aclnn functions call these, and so does the logging of op_api sources.
#include "opbase/context.h"

#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <unordered_map>

#include "host/fork.h"
#include "host/format.h"
#include "host/lock.h"
#include "log/log.h"
#include "opbase/op_types.h"
#include "opbase/storage.h"
#include "opdev/aicpu/aicpu_task.h"
#include "opdev/op_dfx.h"
#include "opdev/op_log.h"
#include "runtime/runtime.h"

namespace op {
namespace {

// Libraries keep the numbers that they were given, so a forked child keeps the table.
struct OpTypeTable {
  aclsim::Mutex<9, "operator type numbers"> mutex;
  std::vector<std::string> names;
  std::unordered_map<std::string, uint32_t> ids;
};

OpTypeTable& OpTypes() {
  static OpTypeTable* table = new OpTypeTable;
  return *table;
}

// "DFX_IN(grad, output, dim)" -> {"grad", "output", "dim"}
std::vector<std::string> ArgNames(const std::string& text) {
  std::vector<std::string> names;
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return names;
  std::string name;
  int depth = 0;
  for (size_t i = open + 1; i <= close; ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || i == close)) {
      names.push_back(name);
      name.clear();
      continue;
    }
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (std::isspace(static_cast<unsigned char>(c)) == 0) name += c;
  }
  return names;
}

bool CheckAlive(const internal::HandleArg& arg, const std::string& name) {
  if (arg.kind == internal::HandleKind::kOther || arg.handle == nullptr) return true;
  if (internal::IsAlive(arg.kind, arg.handle)) return true;
  const internal::Stale stale = internal::DescribeStale(arg.kind, arg.handle);
  char detail[512];
  std::snprintf(detail, sizeof(detail), "argument %s is %p, which %s", name.c_str(), arg.handle,
                stale.text.c_str());
  const char* next = "destroy it after its last use";
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s. Next: %s", detail, next);
  aclsim::ReportMisuse({stale.mistake, internal::CurrentCall().api, name, detail, next, {}});
  return false;
}

bool CheckArgs(const char* text, const std::vector<internal::HandleArg>& args) {
  const std::vector<std::string> names = ArgNames(text);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : std::to_string(i);
    if (!CheckAlive(args[i], name)) return false;
    if (args[i].handle == nullptr) continue;
    if (args[i].kind == internal::HandleKind::kTensor) {
      internal::CurrentCall().tensors.emplace_back(static_cast<const aclTensor*>(args[i].handle),
                                                   name);
    } else if (args[i].kind == internal::HandleKind::kTensorList) {
      const auto* list = static_cast<const aclTensorList*>(args[i].handle);
      for (uint64_t j = 0; j < list->Size(); ++j) {
        const aclTensor* tensor = list->GetData()[j];
        const std::string item = name + "[" + std::to_string(j) + "]";
        if (!CheckAlive({internal::HandleKind::kTensor, tensor}, item)) return false;
        internal::CurrentCall().tensors.emplace_back(tensor, item);
      }
    }
  }
  return true;
}

}  // namespace

uint32_t GenOpTypeId(const char* opName) {
  const aclsim::HoldFork hold;
  OpTypeTable& table = OpTypes();
  const std::lock_guard lock(table.mutex);
  const auto [found, added] =
      table.ids.try_emplace(opName, static_cast<uint32_t>(table.names.size()));
  if (added) table.names.emplace_back(opName);
  return found->second;
}

namespace internal {

std::string OpTypeName(uint32_t id) {
  const aclsim::HoldFork hold;
  OpTypeTable& table = OpTypes();
  const std::lock_guard lock(table.mutex);
  return id < table.names.size() ? table.names[id] : std::string();
}

CallContext& CurrentCall() {
  thread_local CallContext context;
  return context;
}

aclnnStatus EnterPhase1WithoutPointers(const char* api, const char* inNames,
                                       const std::vector<HandleArg>& in, const char* outNames,
                                       const std::vector<HandleArg>& out) {
  CallContext& call = CurrentCall();
  call.api = api;
  call.tensors.clear();
  return CheckArgs(inNames, in) && CheckArgs(outNames, out) ? ACLNN_SUCCESS
                                                            : ACLNN_ERR_PARAM_INVALID;
}

aclnnStatus EnterPhase1(const char* api, aclOpExecutor** executor, const uint64_t* workspaceSize,
                        const char* inNames, const std::vector<HandleArg>& in, const char* outNames,
                        const std::vector<HandleArg>& out) {
  CurrentCall().api = api;
  CurrentCall().tensors.clear();
  if (workspaceSize == nullptr || executor == nullptr) {
    OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "argument %s is NULL",
            workspaceSize == nullptr ? "workspaceSize" : "executor");
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  return EnterPhase1WithoutPointers(api, inNames, in, outNames, out);
}

void EnterPhase2(const char* api) {
  CurrentCall().api = api;
  CurrentCall().tensors.clear();
}

void EnterL0(const char* name) { OP_LOGD("enter %s", name); }

bool LogEnabled(int level) { return CheckLogLevel(OP_MODULE_ID, level) == 1; }

void LogText(int level, const char* file, int line, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const std::string text = aclsim::FormatV(fmt, args);
  va_end(args);
  DlogRecord(OP_MODULE_ID, level, "[%s:%d] %s: %s", file, line, CurrentCall().api.c_str(),
             text.c_str());
}

void ReportStatus(int code, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const std::string text = aclsim::FormatV(fmt, args);
  va_end(args);
  const std::string& api = CurrentCall().api;
  // Sources may name their function themselves.
  const bool named = api.empty() || text.compare(0, api.size() + 1, api + ":") == 0;
  aclsim::ReportError("[%d] %s%s%s", code, named ? "" : api.c_str(), named ? "" : ": ",
                      text.c_str());
}

aclnnStatus RefuseAiCpuTask(const char* opName) {
  OP_LOGE(ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
          "%s would run on the AI CPU, which the simulator does not have", opName);
  return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
}

}  // namespace internal
}  // namespace op
