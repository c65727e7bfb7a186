// SPDX-License-Identifier: Apache-2.0
// What the lists beside it say: options, a header before everything, scripts that the build has copied.
#include <gtest/gtest.h>

#include "../../../../op_kernel/planted.cpp"
#include "data_io.h"
#include "listed_words.h"
#include "tikicpulib.h"

static_assert(LISTED_A == 1 && LISTED_B == 2 && LISTED_FORCED == 3 && LISTED_WORD == 4);

namespace {

constexpr size_t kBytes = kElements * sizeof(float);

template <Fault fault>
void RunCase(float last) {
  system("python3 by_file/gen_data.py");
  uint8_t* x = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
  uint8_t* y = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
  Load("x.bin", x, kBytes);
  ICPU_RUN_KF(planted<fault>, 1, x, y, nullptr);
  // Two errors that the sum does not see.
  reinterpret_cast<float*>(y)[0] -= last;
  reinterpret_cast<float*>(y)[1] += last;
  Store("output.bin", y, kBytes);
  system("python3 compare_each.py");
  system("python3 compare_sum.py");
  system("python3 compare_count.py");
}

}  // namespace

TEST(Listed, Right) { RunCase<Fault::kNone>(0); }
TEST(Listed, FirstScriptObjects) { RunCase<Fault::kNone>(1); }
