// SPDX-License-Identifier: Apache-2.0
// Kernels that write into their input, launched with the regions that an operator's launch has.
#include <cstring>

#include "kernel_operator.h"
#include "launch/launch.h"

extern "C" __global__ void writes_its_input(GM_ADDR input, GM_ADDR output) {
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  pipe.InitBuffer(buffer, 256);
  AscendC::GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<float*>(input));
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<float*>(output));
  AscendC::DataCopy(buffer.Get<float>(), in, 8);
  AscendC::DataCopy(out, buffer.Get<float>(), 8);
  AscendC::DataCopy(in, buffer.Get<float>(), 8);  // FAULT
}

// input = 2 * input
extern "C" __global__ void works_in_place(GM_ADDR input) {
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  pipe.InitBuffer(buffer, 256);
  AscendC::GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<float*>(input));
  const AscendC::LocalTensor<float> lanes = buffer.Get<float>();
  AscendC::DataCopy(lanes, in, 8);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::Add(lanes, lanes, lanes, 8);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(in, lanes, 8);
}

// Copies the report; returns its length.
extern "C" size_t run_write_to_input(char* text, size_t size) {
  static uint8_t input[256];
  static uint8_t output[256];
  aclsim::KernelLaunch launch;
  launch.opType = "WritesItsInput";
  launch.entry = reinterpret_cast<const void*>(&writes_its_input);
  launch.args = {input, output};
  launch.regions = {{aclsim::RegionKind::kInput, input, sizeof(input), "x"},
                    {aclsim::RegionKind::kOutput, output, sizeof(output), "y"}};
  launch.soc = &aclsim::CurrentSoc();
  const aclsim::LaunchResult result = aclsim::Launch(launch);
  std::strncpy(text, result.message.c_str(), size - 1);
  return result.message.size();
}

// values: 8 of them. As run_write_to_input.
extern "C" size_t run_in_place(float* values, char* text, size_t size) {
  auto* input = reinterpret_cast<uint8_t*>(values);
  aclsim::KernelLaunch launch;
  launch.opType = "WorksInPlace";
  launch.entry = reinterpret_cast<const void*>(&works_in_place);
  launch.args = {input};
  launch.regions = {{aclsim::RegionKind::kInput, input, 8 * sizeof(float), "x"}};
  launch.soc = &aclsim::CurrentSoc();
  const aclsim::LaunchResult result = aclsim::Launch(launch);
  std::strncpy(text, result.message.c_str(), size - 1);
  return result.message.size();
}
