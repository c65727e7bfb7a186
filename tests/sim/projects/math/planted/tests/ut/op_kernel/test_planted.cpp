// SPDX-License-Identifier: Apache-2.0
// Every one of these passes for googletest.
#include <gtest/gtest.h>

#include <string>

#include "../../../op_kernel/planted.cpp"
#include "acl/acl.h"
#include "data_io.h"
#include "tikicpulib.h"

namespace {

constexpr size_t kBytes = kElements * sizeof(float);

class Planted : public testing::Test {
 protected:
  void SetUp() override {
    system("cp -r ../../../../math/planted/tests/ut/op_kernel/planted_data .");
    system("cd planted_data && python3 gen_data.py");
    Load("planted_data/x.bin", x, kBytes);
  }

  void Compare(const std::string& script) {
    Store("planted_data/output.bin", y, kBytes);
    system(("cd planted_data && python3 " + script + " > /dev/null 2>&1").c_str());
  }

  uint8_t* x = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
  uint8_t* y = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
};

}  // namespace

TEST_F(Planted, Right) {
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, WrongAndSaid) {
  ICPU_RUN_KF(planted<Fault::kWrong>, 1, x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, WrongAndNotSeen) {
  ICPU_RUN_KF(planted<Fault::kWrong>, 1, x, y, nullptr);
  Compare("compare_blind.py");
}

TEST_F(Planted, RightAndNotSeen) {
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
  Compare("compare_blind.py");
}

TEST_F(Planted, CompareBroken) {
  ICPU_RUN_KF(planted<Fault::kWrong>, 1, x, y, nullptr);
  Compare("compare_broken.py");
}

TEST_F(Planted, NoResult) { system("cd planted_data && python3 compare_says.py"); }

TEST_F(Planted, DataBroken) {
  system("cd planted_data && python3 gen_broken.py");
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, Race) {
  ICPU_RUN_KF(planted<Fault::kRace>, 1, x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, Bounds) {
  ICPU_RUN_KF(planted<Fault::kBounds>, 1, (uint8_t*)x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, HostMemory) {
  uint8_t here[kBytes] = {};
  ICPU_RUN_KF(planted<Fault::kNone>, 1, here, y, nullptr);
}

TEST_F(Planted, HostWritesPastTheEnd) {
  x[kBytes] = 1;
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
}

TEST_F(Planted, UnknownKey) {
  ICPU_SET_TILING_KEY(3);
  ICPU_RUN_KF(planted_keys<false>, 1, x, y, nullptr);
}

TEST_F(Planted, PlainElse) {
  ICPU_SET_TILING_KEY(3);
  ICPU_RUN_KF(planted_keys<true>, 1, x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, Crash) {
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
  std::abort();
}

// Of no elements: what is written for them is not to be read.
TEST_F(Planted, NothingToRead) {
  system("cd planted_data && python3 gen_empty.py");
  Store("planted_data/output.bin", y, 1);
  system("cd planted_data && python3 compare_blind.py");
}

TEST_F(Planted, GoldenForgotten) {
  system("cd planted_data && python3 gen_empty.py");
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
  Compare("compare_blind.py");
}

TEST_F(Planted, FirstOfTwo) {
  ICPU_RUN_KF(planted<Fault::kWrong>, 1, x, y, nullptr);
  Compare("compare_says.py");
  ICPU_RUN_KF(planted<Fault::kNone>, 1, x, y, nullptr);
  Compare("compare_says.py");
}

TEST_F(Planted, NoSuchScript) {
  ICPU_RUN_KF(planted<Fault::kWrong>, 1, x, y, nullptr);
  Compare("compare_nowhere.py");
}

TEST(Copied, FromNowhere) {
  system("cp -r ../../../../math/planted/tests/ut/nowhere/planted_data .");
  system("cd planted_data && python3 gen_data.py");
  system("cd planted_data && python3 compare_says.py");
}

// aclsim/launch.h on a stream: pointers are translated, other arguments go as they are.
TEST(Launch, OnStream) {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void *x = nullptr, *y = nullptr;
  aclrtMalloc(&x, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&y, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(x, kBytes, 0, kBytes);
  const auto twice = [](GM_ADDR from, float add, GM_ADDR to) {
    planted<Fault::kNone>(from, to, nullptr);
    GlobalTensor<float> target;
    target.SetGlobalBuffer((__gm__ float*)to, kElements);
    target.SetValue(3, add);
  };
  EXPECT_EQ(aclsim::LaunchOnStream("twice", 1, stream, 0, twice, (uint8_t*)x, 7.0f, (uint8_t*)y),
            0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  float values[kElements] = {};
  aclrtMemcpy(values, kBytes, y, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
  EXPECT_EQ(values[2], 1.0f);
  EXPECT_EQ(values[3], 7.0f);
  aclrtFree(x);
  aclrtFree(y);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
}
