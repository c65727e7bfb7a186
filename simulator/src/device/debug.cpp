// SPDX-License-Identifier: Apache-2.0
// ASSERT, DumpTensor, Trap: always on in the simulator.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "device/lanes.h"
#include "engine/core.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

std::string Element(DType dtype, const uint8_t* addr) {
  uint64_t bits = 0;
  std::memcpy(&bits, addr, WidthOf(dtype));
  switch (dtype) {
    case DType::kFloat:
      return Format("%g", static_cast<double>(FloatOf(static_cast<uint32_t>(bits))));
    case DType::kHalf:
      return Format("%g", static_cast<double>(HalfToFloat(static_cast<uint16_t>(bits))));
    case DType::kBf16:
      return Format("%g", static_cast<double>(Bf16ToFloat(static_cast<uint16_t>(bits))));
    case DType::kInt8:
      return Format("%d", static_cast<int8_t>(bits));
    case DType::kInt16:
      return Format("%d", static_cast<int16_t>(bits));
    case DType::kInt32:
      return Format("%d", static_cast<int32_t>(bits));
    case DType::kInt64:
      return Format("%" PRId64, static_cast<int64_t>(bits));
    default:
      return Format("%" PRIu64, bits);
  }
}

void PrintTensor(const Core& core, const char* space, DType dtype, const uint8_t* addr,
                 uint32_t desc, uint32_t count) {
  std::string text =
      Format("DumpTensor: %s, desc %u, %s, %s[%u]:", core.launch.NameOf(core.index).c_str(), desc,
             space, NameOf(dtype), count);
  for (uint32_t i = 0; i < count; ++i) {
    text += (i % 16 == 0 ? "\n  " : " ") + Element(dtype, addr + i * WidthOf(dtype));
  }
  std::fprintf(stdout, "%s\n", text.c_str());
  std::fflush(stdout);
}

}  // namespace

void AssertFail(const char* condition, const char* file, int line, const char* message) {
  EndCore("assert", Format("ASSERT(%s) failed at %s:%d %s", condition, file, line, message),
          "Hardware traps the core in debug builds (507015).");
}

void Trap() {
  EndCore("trap", "Trap() was called", "Hardware stops the core with an exception (507015).");
}

void Print(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const std::string text = FormatV(format, args);
  va_end(args);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Dump(const Ub& tensor, uint32_t desc, uint32_t count) try {
  Core& core = Core::Current();
  core.instruction = "DumpTensor";
  core.scheduler->Drain();
  core.CheckUb(tensor, 0, static_cast<int64_t>(count * WidthOf(tensor.dtype)), "tensor");
  PrintTensor(core, "UB", tensor.dtype, tensor.addr, desc, count);
}
ACLSIM_SKIPS_FAULTS()

void DumpGm(const void* addr, DType dtype, uint32_t desc, uint32_t count) try {
  Core& core = Core::Current();
  core.instruction = "DumpTensor";
  core.scheduler->Drain();
  core.CheckGm(addr, count * WidthOf(dtype), false, "tensor");
  PrintTensor(core, "GM", dtype, static_cast<const uint8_t*>(addr), desc, count);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
