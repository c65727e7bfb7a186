// SPDX-License-Identifier: Apache-2.0
#include "engine/fractal_origins.h"

#include <algorithm>

namespace aclsim {

void FractalOrigins::Forget(const Record& record) {
  for (int each = 0; each < record.accessCount; ++each) {
    const Access& access = record.access[static_cast<size_t>(each)];
    const bool ofL1 = access.space == Space::kL1;
    const bool ofL0 = access.space == Space::kL0a || access.space == Space::kL0b;
    if (access.use == Use::kRead || (!ofL1 && !ofL0)) {
      continue;
    }
    for (uint32_t i = 0; i < access.repeat; ++i) {
      const uint64_t begin =
          access.addr + static_cast<uint64_t>(static_cast<int64_t>(i) * access.repStride);
      const uint64_t end = begin + (i + 1 == access.repeat ? access.lastBytes : access.bytes);
      if (ofL1) {
        std::erase_if(matrices_, [=](const Matrix& matrix) {
          return begin < matrix.begin + matrix.columns * matrix.columnStep && matrix.begin < end;
        });
      } else {
        fractals_.erase(fractals_.lower_bound(begin - begin % kFractal),
                        fractals_.lower_bound(end));
      }
    }
  }
}

void FractalOrigins::AddMatrix(uint64_t begin, uint64_t columnStep, uint64_t rows,
                               uint64_t columns) {
  if (columnStep % kFractal != 0) {
    return;  // its blocks make up no fractals
  }
  matrices_.push_back({++last_, begin, columnStep, rows, columns});
}

void FractalOrigins::AddFractal(uint64_t to, uint64_t from, bool transposed, uint32_t site) {
  const auto matrix = std::ranges::find_if(matrices_, [=](const Matrix& each) {
    return from >= each.begin && from < each.begin + each.columns * each.columnStep;
  });
  if (matrix == matrices_.end()) {
    return;
  }
  const uint64_t offset = from - matrix->begin, inColumn = offset % matrix->columnStep;
  if (inColumn % kFractal == 0 && inColumn / kFractal < matrix->rows) {
    fractals_[to] = {matrix->number, inColumn / kFractal, offset / matrix->columnStep, transposed,
                     site};
  }
}

const FractalOrigins::Origin* FractalOrigins::Of(uint64_t at) const {
  const auto found = fractals_.find(at);
  return found == fractals_.end() ? nullptr : &found->second;
}

}  // namespace aclsim
