// SPDX-License-Identifier: Apache-2.0
#include "device/high.h"

namespace aclsim {

namespace {

bool Overlap(const HighOperand& a, const Ub& b, int64_t bytes) {
  return a.ub->addr < b.addr + bytes && b.addr < a.ub->addr + a.bytes;
}

}  // namespace

void Hint(Core& core, const char* kind, const char* note, std::string detail, const char* advice) {
  if (!core.Observed()) {
    return;
  }
  for (const Finding& known : core.findings) {
    if (known.kind == kind && known.at.instruction == core.instruction) {
      return;
    }
  }
  Finding finding;
  finding.kind = kind;
  finding.severity = Severity::kHint;
  finding.space = "UB";
  finding.at = core.PlaceOf(core.instruction, Pipe::kVector, core.sites.Capture(), note);
  finding.detail = std::move(detail);
  finding.advice = advice;
  core.Find(std::move(finding));
}

void FindValue(Core& core, double value, size_t index, const char* legal, const char* advice) {
  const uint32_t site = core.runningSite != 0 ? core.runningSite : core.sites.Capture();
  if (!core.Observed() || !core.IsFirst("value-range", site, 0)) {
    return;
  }
  Finding finding;
  finding.kind = "value-range";
  finding.space = "UB";
  finding.at = core.PlaceOf(core.instruction, Pipe::kVector, site, "");
  finding.detail = Format("element %zu of the source is %.9g, legal are %s", index, value, legal);
  finding.advice = advice;
  core.Find(std::move(finding));
}

void CheckHighOperand(Core& core, const HighOperand& operand) {
  CheckOperand(core, *operand.ub, operand.bytes, operand.role);
}

void CheckHighWork(Core& core, const HighWork& work, int64_t least, int64_t fewest,
                   std::initializer_list<HighOperand> operands) {
  if (!work.given) {
    // The room that is left reaches to the end of UB: the function is not one of those that work in the compiler's 8 KB.
    constexpr int64_t kUb2201 = 192 * 1024;
    const int64_t total =
        core.soc.npuArch == 2201 ? kUb2201 : static_cast<int64_t>(core.soc.ubBytes);
    const int64_t left = total - static_cast<int64_t>(core.UbUsed());
    if (left >= least) {
      return;
    }
    if (left < fewest) {
      PassFault(
          "ub-scratch",
          Format("%s takes %lld bytes of scratch from what InitBuffer leaves of UB, and "
                 "that is %lld of %lld B\n  buffers:\n%s",
                 core.instruction, static_cast<long long>(least), static_cast<long long>(left),
                 static_cast<long long>(total), core.BufferTable().c_str()),
          "Hardware would overwrite buffers or hang. Allocate less, or pass a "
          "sharedTmpBuffer.",
          "done, without the scratch");
    }
    Hint(core, "ub-scratch", "without a sharedTmpBuffer",
         Format("%lld bytes of UB are left for scratch, and %lld are the documented least",
                static_cast<long long>(left), static_cast<long long>(least)),
         "It works in smaller pieces with the CANN that kernels in use were tested with. Allocate "
         "less, or pass a sharedTmpBuffer.");
    return;
  }
  if (work.bytes < least) {
    PassFault("ub-scratch",
              Format("sharedTmpBuffer of %s has %u bytes, and %lld are the least", core.instruction,
                     work.bytes, static_cast<long long>(least)),
              "Hardware would compute wrong numbers or hang. Size it on the host with the "
              "function's Get...MaxMinTmpSize.",
              "done, without the scratch");
  }
  if (work.bytes == 0) {
    return;
  }
  CheckHighOperand(core, {&work.ub, work.bytes, "sharedTmpBuffer"});
  for (const HighOperand& operand : operands) {
    if (Overlap(operand, work.ub, work.bytes)) {
      ThrowFault("overlap", Format("sharedTmpBuffer overlaps %s", operand.role),
                 "Hardware overwrites the operand. Use another buffer.");
    }
  }
}

void CheckHighOverlap(Core& core, const HighOperand& dst, const HighOperand& src, bool shared) {
  if (!Overlap(dst, *src.ub, src.bytes)) {
    return;
  }
  if (dst.ub->addr != src.ub->addr || dst.bytes != src.bytes) {
    ThrowFault("overlap",
               Format("dst and %s overlap in part: they start %lld bytes apart", src.role,
                      static_cast<long long>(dst.ub->addr - src.ub->addr)),
               "Hardware reads results as operands. Use another buffer.");
  }
  if (shared) {
    return;
  }
  Hint(
      core, "overlap", "in place", Format("dst and %s are the same tensor", src.role),
      "The documentation of this function excludes it: only the version of CANN that you test with "
      "is known to compute it right. Use another destination.");
}

}  // namespace aclsim
