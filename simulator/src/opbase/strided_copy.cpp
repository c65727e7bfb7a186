// SPDX-License-Identifier: Apache-2.0
// Views are reduced to as few dims as possible; what remains is runs (memcpy), a tiled transpose,
// or a plain loop over rows.
#include "opbase/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "host/options.h"

namespace op::internal {
namespace {

struct Dim {
  int64_t size;
  int64_t dst;
  int64_t src;
};

// 16 bytes as one value that loops can move.
struct alignas(1) Wide {
  unsigned char bytes[16];
};

template <typename T>
void CopyRow(T* __restrict dst, int64_t dstStride, const T* __restrict src, int64_t srcStride,
             int64_t count) {
  if (srcStride == 0) {
    const T value = *src;
    for (int64_t i = 0; i < count; ++i) dst[i * dstStride] = value;
  } else if (dstStride == 1) {
    for (int64_t i = 0; i < count; ++i) dst[i] = src[i * srcStride];
  } else {
    for (int64_t i = 0; i < count; ++i) dst[i * dstStride] = src[i * srcStride];
  }
}

// dst runs along columns, src along rows. Squares go through a buffer, so that memory is read and
// written in whole cache lines even where a stride is a power of two and its lines compete for one
// place in the cache.
template <typename T>
void TransposeBlock(T* __restrict dst, int64_t dstRow, const T* __restrict src, int64_t srcCol,
                    int64_t rows, int64_t cols) {
  constexpr int64_t kTile = sizeof(T) == 1 ? 64 : 32;
  constexpr int64_t kPitch = kTile + 1;
  T tile[kTile * kPitch];
  for (int64_t c0 = 0; c0 < cols; c0 += kTile) {
    const int64_t width = std::min(cols - c0, kTile);
    for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
      const int64_t height = std::min(rows - r0, kTile);
      for (int64_t c = 0; c < width; ++c) {
        std::memcpy(static_cast<void*>(tile + c * kPitch), src + r0 + (c0 + c) * srcCol,
                    static_cast<size_t>(height) * sizeof(T));
      }
      for (int64_t r = 0; r < height; ++r) {
        T* row = dst + (r0 + r) * dstRow + c0;
        for (int64_t c = 0; c < width; ++c) row[c] = tile[c * kPitch + r];
      }
    }
  }
}

template <typename T>
class Copier {
 public:
  explicit Copier(const std::vector<Dim>& dims) : dims_(dims) {}

  void Run(T* dst, const T* src) const { Walk(dst, src, 0); }

 private:
  void Walk(T* dst, const T* src, size_t depth) const {
    const size_t left = dims_.size() - depth;
    const Dim& dim = dims_[depth];
    if (left == 1) {
      if (dim.dst == 1 && dim.src == 1) {
        std::memcpy(static_cast<void*>(dst), src, static_cast<size_t>(dim.size) * sizeof(T));
      } else {
        CopyRow(dst, dim.dst, src, dim.src, dim.size);
      }
      return;
    }
    if (left == 2 && dims_[depth + 1].dst == 1 && dim.src == 1) {
      TransposeBlock(dst, dim.dst, src, dims_[depth + 1].src, dim.size, dims_[depth + 1].size);
      return;
    }
    for (int64_t i = 0; i < dim.size; ++i) Walk(dst + i * dim.dst, src + i * dim.src, depth + 1);
  }

  const std::vector<Dim>& dims_;
};

// Outer dims first by dst stride, so that writes are as local as they can be; neighbours that
// continue each other become one. The order of dims stays when dst repeats elements, because the
// last write in row-major order has to win.
std::vector<Dim> Simplify(const std::vector<int64_t>& dstStrides,
                          const std::vector<int64_t>& srcStrides,
                          const std::vector<int64_t>& dims) {
  std::vector<Dim> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) result.push_back({dims[i], dstStrides[i], srcStrides[i]});
  }
  // Insertion: dims of equal stride keep their order, and there are few.
  std::vector<Dim> sorted;
  for (const Dim& dim : result) {
    auto place = sorted.end();
    while (place != sorted.begin() && std::abs((place - 1)->dst) < std::abs(dim.dst)) --place;
    sorted.insert(place, dim);
  }
  bool distinct = true;
  int64_t reach = 0;  // of the dims inside
  for (size_t i = sorted.size(); i-- > 0;) {
    if (std::abs(sorted[i].dst) <= reach) distinct = false;
    reach += std::abs(sorted[i].dst) * (sorted[i].size - 1);
  }
  if (distinct) result = std::move(sorted);
  std::vector<Dim> merged;
  for (const Dim& dim : result) {
    if (!merged.empty() && merged.back().dst == dim.dst * dim.size &&
        merged.back().src == dim.src * dim.size) {
      merged.back() = {merged.back().size * dim.size, dim.dst, dim.src};
    } else {
      merged.push_back(dim);
    }
  }
  // Bring the dim along which src is contiguous next to the innermost one, where the transpose
  // looks for it.
  if (distinct && merged.size() > 2 && merged.back().dst == 1 && merged.back().src != 1) {
    const auto found =
        std::find_if(merged.begin(), merged.end() - 1, [](const Dim& dim) { return dim.src == 1; });
    if (found != merged.end() - 1) std::rotate(found, found + 1, merged.end() - 1);
  }
  if (merged.empty()) merged.push_back({1, 1, 1});
  return merged;
}

template <typename T>
void CopyAs(uint8_t* dst, const uint8_t* src, std::vector<Dim> dims) {
  T* to = reinterpret_cast<T*>(dst);
  const T* from = reinterpret_cast<const T*>(src);
  constexpr int64_t kParallelBytes = int64_t{4} << 20;
  int64_t total = sizeof(T);
  for (const Dim& dim : dims) total *= dim.size;
  const int64_t threads =
      std::min<int64_t>({static_cast<int64_t>(aclsim::HostThreadCount()), 8, dims[0].size});
  // A dst that repeats elements has a dim of stride 0 or overlapping ones; order matters then, so
  // it is not split. The check for the first dim is enough: dims are sorted by stride unless
  // something overlaps.
  int64_t inside = 0;
  for (size_t i = 1; i < dims.size(); ++i) inside += std::abs(dims[i].dst) * (dims[i].size - 1);
  if (total < kParallelBytes || threads < 2 || std::abs(dims[0].dst) <= inside) {
    Copier<T>(dims).Run(to, from);
    return;
  }
  const int64_t outer = dims[0].size;
  std::vector<std::thread> workers;
  for (int64_t t = 0; t < threads; ++t) {
    const int64_t begin = outer * t / threads;
    const int64_t end = outer * (t + 1) / threads;
    workers.emplace_back([=, part = dims]() mutable {
      part[0].size = end - begin;
      Copier<T>(part).Run(to + begin * part[0].dst, from + begin * part[0].src);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace

void StridedCopy(uint8_t* dst, const std::vector<int64_t>& dstStrides, const uint8_t* src,
                 const std::vector<int64_t>& srcStrides, const std::vector<int64_t>& dims,
                 size_t elementBytes) {
  for (int64_t dim : dims) {
    if (dim == 0) return;
  }
  std::vector<Dim> plan = Simplify(dstStrides, srcStrides, dims);
  switch (elementBytes) {
    case 1:
      return CopyAs<uint8_t>(dst, src, std::move(plan));
    case 2:
      return CopyAs<uint16_t>(dst, src, std::move(plan));
    case 4:
      return CopyAs<uint32_t>(dst, src, std::move(plan));
    case 8:
      return CopyAs<uint64_t>(dst, src, std::move(plan));
    case 16:
      return CopyAs<Wide>(dst, src, std::move(plan));
    default:
      // Rare sizes as bytes of an extra innermost dim.
      for (Dim& dim : plan) {
        dim.dst *= static_cast<int64_t>(elementBytes);
        dim.src *= static_cast<int64_t>(elementBytes);
      }
      plan.push_back({static_cast<int64_t>(elementBytes), 1, 1});
      return CopyAs<uint8_t>(dst, src, std::move(plan));
  }
}

}  // namespace op::internal
