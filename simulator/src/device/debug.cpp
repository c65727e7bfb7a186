// SPDX-License-Identifier: Apache-2.0
// ASSERT, DumpTensor, asc_dump, Trap: always on in the simulator.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "ascendc/narrow_floats.h"
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
    case DType::kE4m3:
      return Format("%g", static_cast<double>(E4m3ToFloat(static_cast<uint8_t>(bits))));
    case DType::kE5m2:
      return Format("%g", static_cast<double>(E5m2ToFloat(static_cast<uint8_t>(bits))));
    case DType::kHif8:
      return Format("%g", static_cast<double>(Hif8ToFloat(static_cast<uint8_t>(bits))));
    case DType::kE8m0:
      return Format("%g", static_cast<double>(E8m0ToFloat(static_cast<uint8_t>(bits))));
    case DType::kDouble: {
      double value = 0;
      std::memcpy(&value, addr, sizeof(value));
      return Format("%g", value);
    }
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
  if (Core::CurrentOrNull() == nullptr) {  // the kernel's assert in a program's other half
    std::fprintf(stderr, "%s:%d: Assertion `%s' failed. %s\n", file, line, condition, message);
    std::abort();
  }
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
  PrintTensor(core, SpaceName(core.SpaceOf(tensor)), tensor.dtype, tensor.addr, desc, count);
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

void DumpAt(const void* addr, const char* memory, DType dtype, uint32_t desc, uint32_t count) try {
  Core& core = Core::Current();
  core.instruction = "asc_dump";
  core.scheduler->Drain();
  const uint64_t begin = core.UbOffset(addr);
  const uint64_t bytes = count * WidthOf(dtype);
  const bool local = begin < core.image.Bytes();
  const Space space = local ? core.image.SpaceOf(begin) : Space::kGm;
  const std::string_view named = memory;
  if (!named.empty() && named != SpaceName(space)) {
    ThrowFault(kUbOutOfBounds,
               Format("input is no address of %s%s%s", memory, local ? " but of " : "",
                      local ? SpaceName(space) : ""),
               "Hardware would print other bytes. Call the function of the memory that has them.");
  }
  if (!local) {
    core.CheckGm(addr, bytes, false, "input");
  } else if (begin + bytes > core.image.End(space)) {
    ThrowFault(
        kUbOutOfBounds,
        Format("input has %llu bytes from byte %llu of %s on, which has %llu",
               static_cast<unsigned long long>(bytes),
               static_cast<unsigned long long>(begin - core.image.Begin(space)), SpaceName(space),
               static_cast<unsigned long long>(core.image.End(space) - core.image.Begin(space))),
        "Hardware would print other bytes. Check the number of elements.");
  }
  PrintTensor(core, SpaceName(space), dtype, static_cast<const uint8_t*>(addr), desc, count);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
