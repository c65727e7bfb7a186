// SPDX-License-Identifier: Apache-2.0
// Every reduction in every form.
#include "bench.h"

using namespace AscendC;

#define REDUCE_FORMS(Name, T, ...)                                                            \
  do {                                                                                        \
    uint64_t bits[2] = {c.mask[0], c.mask[1]};                                                \
    if (c.form == kBits) {                                                                    \
      Name(dst, src, bits, c.repeat, c.rep[0], c.blk[1], c.rep[1], ##__VA_ARGS__);            \
    } else if (Preset(c)) {                                                                   \
      Name<T, false>(dst, src, 0, c.repeat, c.rep[0], c.blk[1], c.rep[1], ##__VA_ARGS__);     \
    } else {                                                                                  \
      Name(dst, src, static_cast<int32_t>(c.mask[0]), c.repeat, c.rep[0], c.blk[1], c.rep[1], \
           ##__VA_ARGS__);                                                                    \
    }                                                                                         \
  } while (0)

// The block and pair forms take the repeat before the mask.
#define BLOCK_FORMS(Name, T)                                                                   \
  do {                                                                                         \
    const uint64_t bits[2] = {c.mask[0], c.mask[1]};                                           \
    if (c.form == kBits) {                                                                     \
      Name(dst, src, c.repeat, bits, c.rep[0], c.blk[1], c.rep[1]);                            \
    } else if (Preset(c)) {                                                                    \
      Name<T, false>(dst, src, c.repeat, 0, c.rep[0], c.blk[1], c.rep[1]);                     \
    } else {                                                                                   \
      Name(dst, src, c.repeat, static_cast<int32_t>(c.mask[0]), c.rep[0], c.blk[1], c.rep[1]); \
    }                                                                                          \
  } while (0)

#define ALL_FORMS(Name, ...)                                                                    \
  do {                                                                                          \
    const uint64_t bits[2] = {c.mask[0], c.mask[1]};                                            \
    if (c.form == kCount) {                                                                     \
      Name(dst, src, work, c.count, ##__VA_ARGS__);                                             \
    } else if (c.form == kBits) {                                                               \
      Name(dst, src, work, bits, c.repeat, c.rep[1], ##__VA_ARGS__);                            \
    } else {                                                                                    \
      Name(dst, src, work, static_cast<int32_t>(c.mask[0]), c.repeat, c.rep[1], ##__VA_ARGS__); \
    }                                                                                           \
  } while (0)

namespace {

template <typename T>
void Reduce(const Call& c, const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<T>& work) {
  const auto order = static_cast<ReduceOrder>(c.mode);
  const bool index = c.mode != 0;
  switch (c.op) {
    case 0:
      REDUCE_FORMS(WholeReduceSum, T);
      break;
    case 1:
      REDUCE_FORMS(WholeReduceMax, T, order);
      break;
    case 2:
      REDUCE_FORMS(WholeReduceMin, T, order);
      break;
    case 3:
      BLOCK_FORMS(BlockReduceSum, T);
      break;
    case 4:
      BLOCK_FORMS(BlockReduceMax, T);
      break;
    case 5:
      BLOCK_FORMS(BlockReduceMin, T);
      break;
    case 6:
      BLOCK_FORMS(PairReduceSum, T);
      break;
    case 7:
      if (c.form == kCounterPreset) {
        ReduceSum<T, false>(dst, src, work, 1);
      } else {
        ALL_FORMS(ReduceSum);
      }
      break;
    case 8:
      ALL_FORMS(ReduceMax, index);
      break;
    case 9:
      ALL_FORMS(ReduceMin, index);
      break;
    default:
      Trap();
  }
}

}  // namespace

CALL_KERNEL(reduce) {
  if (c.dtype == 0) {
    WithMask<float>(c, [&] {
      Reduce<float>(c, areas.Area<float>(0), areas.Area<float>(1), areas.Area<float>(2));
    });
  } else {
    WithMask<half>(
        c, [&] { Reduce<half>(c, areas.Area<half>(0), areas.Area<half>(1), areas.Area<half>(2)); });
  }
}
