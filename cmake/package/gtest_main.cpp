// SPDX-License-Identifier: Apache-2.0
// googletest's main for kernel tests: a test in which the simulator's checks found an error has failed.
#include <gtest/gtest.h>

#include <cstring>

#include "aclsim/aclsim.h"

namespace {

class Findings : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { aclsimClearFindings(); }
  void OnTestEnd(const testing::TestInfo&) override {
    if (std::strstr(aclsimFindings(), "\"severity\":\"error\"") != nullptr) {
      ADD_FAILURE() << "the simulator's checks found an error in this test; it is printed above";
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Findings);
  return RUN_ALL_TESTS();
}
