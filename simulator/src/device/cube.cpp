// SPDX-License-Identifier: Apache-2.0
#include "device/cube.h"

#include "engine/meeting.h"

namespace aclsim {

void CheckIsCube(const Core& core) {
  if (core.kind != CoreKind::kCube) {
    ThrowFault("instruction-absent",
               Format("%s is an instruction of the matrix unit, and the kernel runs on %s",
                      core.instruction,
                      core.kind == CoreKind::kVector ? "AIVs"
                                                     : "coupled cores, whose matrix unit is not "
                                                       "simulated yet"),
               "The device compiler refuses it there. Next: mark the kernel __cube__, or give it "
               "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY).");
  }
}

void CheckOperandIn(Core& core, const Ub& operand, std::initializer_list<Space> spaces,
                    uint32_t align, const char* role) {
  core.Info(operand.buf);
  const Space space = core.SpaceOf(operand);
  std::string wanted;
  for (const Space one : spaces) {
    if (one == space) {
      core.CheckUbAlign(operand, align, role);
      return;
    }
    wanted += (wanted.empty() ? "" : " or ") + std::string(SpaceName(one));
  }
  ThrowFault("instruction-absent",
             Format("%s lies in %s, %s takes it from %s\n  buffer: %s", role, SpaceName(space),
                    core.instruction, wanted.c_str(), core.DescribeBuffer(operand.buf).c_str()),
             "Hardware has no way between these memories: the device compiler refuses it. The "
             "TPosition of a tensor says where it lies: A1, B1, C1 and TSCM in L1, A2 in L0A, B2 "
             "in L0B, CO1 in L0C, C2 in BT, C2PIPE2GM in FB.");
}

void CheckRange(const char* field, uint64_t value, uint64_t least, uint64_t most, const char* why) {
  if (value >= least && value <= most) {
    return;
  }
  const auto ull = [](uint64_t number) { return static_cast<unsigned long long>(number); };
  ThrowFault("value-range",
             Format("%s of %s is %llu, legal are %llu..%llu", field, Core::Current().instruction,
                    ull(value), ull(least), ull(most)),
             why);
}

void ThrowNotSimulated(const std::string& what) {
  ThrowFault("instruction-absent", "matrix units: " + what + " is not simulated yet",
             "Hardware has it. Next: docs/simulator.md says what is simulated of the matrix unit.");
}

void MatmulMisuse(const char* call, const char* what, const char* next) {
  Core& core = Core::Current();
  core.instruction = "Matmul";
  const Request* request = core.meeting->Serving(core);
  EndCore("matmul-use", Format("%s of a Matmul object: %s", call, what), next,
          request != nullptr ? request->stack : CaptureStack());
}

Access PartOf(const Core& core, const Ub& operand, Use use, uint64_t offset, uint64_t len,
              uint64_t count, uint64_t step) {
  Access access = BlockAccess(core.SpaceOf(operand), use, core.UbOffset(operand.addr) + offset, len,
                              count, step, operand.buf);
  access.width = static_cast<uint8_t>(WidthOf(operand.dtype));
  return access;
}

}  // namespace aclsim
