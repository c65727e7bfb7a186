// SPDX-License-Identifier: Apache-2.0
// DataCopy of several dimensions, Ascend 950's.
#include <algorithm>
#include <cstring>

#include "ascendc/nd_copy.h"
#include "device/lanes.h"
#include "engine/core.h"

namespace aclsim {

namespace {

// Two dimensions of elements, as the bytes of an access.
Access Plane(Space space, Use use, uint64_t addr, uint32_t buffer, uint64_t width, uint64_t inner,
             uint64_t innerStride, uint64_t outer, uint64_t outerStride) {
  Access access = BlockAccess(space, use, addr, inner * width, outer, outerStride * width, buffer);
  access.chunk = innerStride == 1 ? inner * width : width;
  access.chunkStride = static_cast<int64_t>(innerStride == 1 ? inner * width : innerStride * width);
  return access;
}

void CopyPlane(uint8_t* dst, const uint8_t* src, const NdCopyCtl& ctl, uint64_t width) {
  for (uint64_t outer = 0; outer < ctl.size[1]; ++outer) {
    uint8_t* const to = dst + outer * ctl.dstStride[1] * width;
    const uint8_t* const from = src + outer * ctl.srcStride[1] * width;
    if (ctl.dstStride[0] == 1 && ctl.srcStride[0] == 1) {
      std::memcpy(to, from, ctl.size[0] * width);
      continue;
    }
    for (uint64_t inner = 0; inner < ctl.size[0]; ++inner) {
      std::memcpy(to + inner * ctl.dstStride[0] * width, from + inner * ctl.srcStride[0] * width,
                  width);
    }
  }
}

}  // namespace

void CopyNdGmToUb(const Ub& dst, const void* src, const NdCopyCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "DataCopy (dimensions)";
  if (core.soc.npuArch != 3510) {
    EndCore("instruction-absent",
            Format("DataCopy of several dimensions does not exist on %s", core.soc.name.c_str()),
            "Use DataCopyPad.");
  }
  const uint64_t width = WidthOf(dst.dtype);
  uint64_t ubElements = 1, gmElements = 1;
  for (const uint32_t size : ctl.size) {
    if (size == 0) {
      core.MarkIdle(dst, "copies nothing: a dimension has 0 elements");
      return;
    }
  }
  for (size_t i = 0; i < ctl.dim; ++i) {
    ubElements += uint64_t{ctl.size[i] - 1} * ctl.dstStride[i];
    gmElements += uint64_t{ctl.size[i] - 1} * ctl.srcStride[i];
  }
  core.CheckUb(dst, 0, static_cast<int64_t>(ubElements * width), "dst");
  core.CheckGm(src, gmElements * width, false, "src");
  const auto* const from = static_cast<const uint8_t*>(src);
  const auto read = reinterpret_cast<uint64_t>(src);
  // Two dimensions are recorded to the byte, more of them as all that lies between the first element and the last.
  const bool plane = ctl.size[2] == 1 && ctl.size[3] == 1 && ctl.size[4] == 1;
  core.Issue(
      Pipe::kMte2,
      [&](Record& record) {
        record.flow = Flow::kNone;
        record.dtype = dst.dtype;
        const uint64_t written = core.UbOffset(dst.addr);
        if (plane) {
          record.Add(Plane(Space::kUb, Use::kWrite, written, dst.buf, width, ctl.size[0],
                           ctl.dstStride[0], ctl.size[1], ctl.dstStride[1]));
          record.Add(Plane(Space::kGm, Use::kRead, read, 0, width, ctl.size[0], ctl.srcStride[0],
                           ctl.size[1], ctl.srcStride[1]));
        } else {
          record.Add(DenseAccess(Use::kWrite, written, ubElements * width, dst.buf));
          record.Add(BlockAccess(Space::kGm, Use::kRead, read, gmElements * width, 1,
                                 gmElements * width, 0));
        }
      },
      [&core, to = dst.addr, from, ctl, width, gmElements] {
        core.SettleAtomics(from, gmElements * width);
        for (uint64_t i = 0; i < ctl.size[4]; ++i) {
          for (uint64_t j = 0; j < ctl.size[3]; ++j) {
            for (uint64_t k = 0; k < ctl.size[2]; ++k) {
              CopyPlane(
                  to + (i * ctl.dstStride[4] + j * ctl.dstStride[3] + k * ctl.dstStride[2]) * width,
                  from +
                      (i * ctl.srcStride[4] + j * ctl.srcStride[3] + k * ctl.srcStride[2]) * width,
                  ctl, width);
            }
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
