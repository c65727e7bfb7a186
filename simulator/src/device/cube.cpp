// SPDX-License-Identifier: Apache-2.0
#include "device/cube.h"

#include <algorithm>

#include "ascendc/types.h"
#include "engine/keep_going.h"
#include "engine/meeting.h"

namespace aclsim {

void CheckIsCube(const Core& core) {
  if (core.kind == CoreKind::kVector) {
    ThrowFault("instruction-absent",
               Format("%s is an instruction of the matrix unit, and the kernel runs on AIVs",
                      core.instruction),
               "CANN leaves it out there. Next: mark the kernel __cube__, or give it "
               "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY); in a MIX kernel put it under "
               "ASCEND_IS_AIC.");
  }
  CheckThere(core, core.instruction);
}

void CheckThere(const Core& core, const char* name) {
  const MatrixFacts& unit = core.soc.matrix;
  if (unit.Lacks(name)) {
    ThrowFault("instruction-absent", Format("%s does not exist on %s", name, core.soc.name.c_str()),
               "The device compiler refuses it, or hardware ignores it. Next: docs/simulator.md "
               "says what there is in its place.");
  }
  if (std::ranges::find(unit.unsimulated, name) != unit.unsimulated.end()) {
    ThrowNotSimulated(Format("%s on %s", name, core.soc.name.c_str()));
  }
}

void CheckWay(const Core& core, Space from, Space to) {
  if (core.soc.matrix.HasWay(from, to)) {
    return;
  }
  std::string reached, sources;
  for (size_t i = 0; i < kSpaces; ++i) {
    const auto other = static_cast<Space>(i);
    if (core.soc.matrix.HasWay(from, other)) {
      reached += (reached.empty() ? "" : ", ") + std::string(SpaceName(other));
    }
    if (core.soc.matrix.HasWay(other, to)) {
      sources += (sources.empty() ? "" : ", ") + std::string(SpaceName(other));
    }
  }
  ThrowFault("instruction-absent",
             Format("%s: %s has no copy from %s to %s", core.instruction, core.soc.name.c_str(),
                    SpaceName(from), SpaceName(to)),
             Format("The device compiler refuses it. From %s data goes to %s; what %s holds comes "
                    "from %s.",
                    SpaceName(from), reached.empty() ? "nowhere" : reached.c_str(), SpaceName(to),
                    sources.empty() ? "nowhere" : sources.c_str()));
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
             core.kind == CoreKind::kCoupled
                 ? "Hardware has no way between these memories: the device compiler refuses it. "
                   "The TPosition of a tensor says where it lies: A1, B1 and TSCM in L1, A2 in "
                   "L0A, B2 in L0B, CO1 and C2 in L0C, all others in UB."
                 : "Hardware has no way between these memories: the device compiler refuses it. "
                   "The TPosition of a tensor says where it lies: A1, B1, C1 and TSCM in L1, A2 in "
                   "L0A, B2 in L0B, CO1 in L0C, C2 in BT, C2PIPE2GM in FB.");
}

Ub AccumulatorOf(Core& core, const Ub& operand) {
  if (operand.buf != 0) {
    return operand;
  }
  PassFault(
      "ub-never-allocated", "the LocalTensor was never given a buffer",
      "Hardware uses L0C from address 0 on, if nothing else was written to the tensor. Take it "
      "from AllocTensor, DeQue or TBuf::Get, or say its address.",
      "done, from address 0 of L0C on");
  const auto offset = reinterpret_cast<uintptr_t>(operand.addr);
  const uint64_t there = core.image.End(Space::kL0c) - core.image.Begin(Space::kL0c);
  const Buffer whole = LocalAt(static_cast<uint8_t>(AscendC::TPosition::CO1), 0, there);
  return {whole.addr + std::min<uint64_t>(offset, there), whole.buf, operand.dtype,
          whole.generation};
}

void CheckRange(const char* field, uint64_t value, uint64_t least, uint64_t most, const char* why,
                const char* how) {
  if (value >= least && value <= most) {
    return;
  }
  const auto ull = [](uint64_t number) { return static_cast<unsigned long long>(number); };
  std::string detail = Format("%s of %s is %llu, legal are %llu..%llu", field,
                              Core::Current().instruction, ull(value), ull(least), ull(most));
  if (how != nullptr) {
    PassFault("value-range", std::move(detail), why, how);
  } else {
    ThrowFault("value-range", std::move(detail), why);
  }
}

uint64_t ScalesOf(const Core& core, const Ub& operand) {
  const Space space = core.SpaceOf(operand);
  const Space scales = space == Space::kL0a ? Space::kMxa : Space::kMxb;
  return core.image.Begin(scales) + (core.UbOffset(operand.addr) - core.image.Begin(space)) / 16;
}

uint64_t IndexOf(const Core& core, const Ub& operand) {
  return core.image.Begin(Space::kIndex) +
         (core.UbOffset(operand.addr) - core.image.Begin(Space::kL0b)) / (kFractal / kFractalIndex);
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
