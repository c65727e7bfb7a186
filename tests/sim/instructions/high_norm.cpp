// SPDX-License-Identifier: Apache-2.0
// Normalisation and softmax in pieces. Operands lie at fixed places of the areas: see kAt.
#include "bench.h"

using namespace AscendC;

namespace {

// Of the first area: the result, means, variances, reciprocals; of the third: gamma, beta, means, variances.
constexpr uint32_t kAt[5] = {0, 16384, 20480, 24576, 28672};
constexpr LayerNormConfig kPlain{true, true, false, true};
constexpr NormalizeConfig kBare{ReducePattern::AR, -1, true, true, true};
constexpr WelfordUpdateConfig kInPlace = {true};
constexpr SoftmaxConfig kPacked = {true, 0, 0, SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};

struct Case {
  explicit Case(const Call& call, Areas* where)
      : worked(call.extra[0] != 0),
        rows(static_cast<uint32_t>(call.extra[2])),
        columns(static_cast<uint32_t>(call.extra[3])),
        step(static_cast<uint32_t>(call.extra[4])),
        areas(where) {
    areas->pipe.InitBuffer(buffer, 65536);
    work = buffer.Get<uint8_t>();
    if (call.extra[1] != 0) {
      work.SetSize(static_cast<uint32_t>(call.extra[1]));
    }
  }
  template <typename T>
  LocalTensor<T> Out(int i) {
    return areas->Area<uint8_t>(0)[kAt[i]].template ReinterpretCast<T>();
  }
  template <typename T>
  LocalTensor<T> In(int i) {
    return areas->Area<uint8_t>(2)[i * 8192].template ReinterpretCast<T>();
  }
  bool worked;
  uint32_t rows;
  uint32_t columns;
  uint32_t step;
  Areas* areas;
  TBuf<> buffer;
  LocalTensor<uint8_t> work;
};

}  // namespace

// op: 0 LayerNorm, 1 of rows, 2 of rows without gamma and beta, 3 RmsNorm, 4 GroupNorm with 2 channels in 2 groups, 5 BatchNorm,
// 6 Normalize, 7 Normalize without gamma, beta and results besides. scalar: epsilon.
CALL_KERNEL(norm) {
  Case s(c, &areas);
  const float epsilon = ScalarOf<float>(c);
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = s.Out<T>(0);
    const LocalTensor<T> mean = s.Out<T>(1);
    const LocalTensor<T> variance = s.Out<T>(2);
    const LocalTensor<float> wideMean = s.Out<float>(1);
    const LocalTensor<float> rstd = s.Out<float>(3);
    const LocalTensor<T> x = areas.Area<T>(1);
    const LocalTensor<T> gamma = s.In<T>(0);
    const LocalTensor<T> beta = s.In<T>(1);
    const LocalTensor<float> wideGamma = s.In<float>(0);
    const LocalTensor<float> wideBeta = s.In<float>(1);
    const T e = T(epsilon);
    LayerNormTiling layer;
    layer.bLength = 1;
    layer.sLength = s.rows;
    layer.hLength = s.step;
    layer.originalHLength = s.columns;
    RmsNormTiling rms;
    rms.bLength = s.rows;
    rms.sLength = 1;
    rms.hLength = s.step;
    rms.originalHLength = s.columns;
    GroupNormTiling group;
    group.n = s.rows / 2;
    group.g = group.d = 2;
    group.hw = s.columns / 2;
    group.dhwAlignSize = s.step;
    BatchNormTiling batch;
    batch.meanVarSize = s.step;
    batch.originalBLength = s.rows;
    const LayerNormSeparateTiling separate;
    const LayerNormPara para = {s.rows, s.columns, s.step};
    const NormalizePara known = {s.rows, s.columns, s.step};
    switch (c.op) {
      case 0:
        s.worked ? LayerNorm<T>(dst, mean, variance, x, gamma, beta, s.work, e, layer)
                 : LayerNorm<T, true>(dst, mean, variance, x, gamma, beta, e, layer);
        break;
      case 1:
        s.worked ? LayerNorm<float, T>(dst, wideMean, rstd, x, wideGamma, wideBeta, epsilon, s.work,
                                       para, separate)
                 : LayerNorm<float, T>(dst, wideMean, rstd, x, wideGamma, wideBeta, epsilon, para,
                                       separate);
        break;
      case 2:
        LayerNorm<T, T, false, kPlain>(dst, wideMean, rstd, x, gamma, beta, epsilon, s.work, para,
                                       separate);
        break;
      case 3:
        s.worked ? RmsNorm<T>(dst, x, gamma, s.work, e, rms) : RmsNorm<T>(dst, x, gamma, e, rms);
        break;
      case 4:
        s.worked ? GroupNorm<T>(dst, mean, variance, x, gamma, beta, s.work, e, group)
                 : GroupNorm<T>(dst, mean, variance, x, gamma, beta, e, group);
        break;
      case 5:
        s.worked ? BatchNorm<T>(dst, mean, variance, x, gamma, beta, s.work, e, batch)
                 : BatchNorm<T>(dst, mean, variance, x, gamma, beta, e, batch);
        break;
      case 6:
        s.worked ? Normalize<float, T>(dst, rstd, s.In<float>(2), s.In<float>(3), x, wideGamma,
                                       wideBeta, s.work, epsilon, known)
                 : Normalize<float, T>(dst, rstd, s.In<float>(2), s.In<float>(3), x, wideGamma,
                                       wideBeta, epsilon, known);
        break;
      default:
        Normalize<T, T, false, kBare>(dst, rstd, s.In<float>(2), s.In<float>(3), x, gamma, beta,
                                      s.work, epsilon, known);
    }
  });
}

// op: 0 WelfordUpdate, 1 that keeps the rest, 2 WelfordFinalize of a head and a tail, 3 with counts in the second area.
// columns: lanes that count; rows: of the head; mask: counts of head and tail; scalar: a reciprocal. Operands are the third
// area's third and fourth parts.
CALL_KERNEL(welford) {
  Case s(c, &areas);
  const float reciprocal = ScalarOf<float>(c);
  const auto mean = s.Out<float>(1);
  const auto variance = s.Out<float>(2);
  const auto inMean = s.In<float>(2);
  const auto inVariance = s.In<float>(3);
  const WelfordUpdateParam update = {1, s.step, s.columns, reciprocal};
  WelfordFinalizePara finalize = {1,
                                  s.step,
                                  static_cast<uint32_t>(c.mask[0]),
                                  s.rows,
                                  static_cast<uint32_t>(c.mask[1]),
                                  s.step - s.rows,
                                  1.0f / static_cast<float>(s.step),
                                  reciprocal};
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> x = areas.Area<T>(1);
    if (c.op == 0) {
      s.worked ? WelfordUpdate<T, float>(mean, variance, inMean, inVariance, x, s.work, update)
               : WelfordUpdate<T, float>(mean, variance, inMean, inVariance, x, update);
    } else if (c.op == 1) {
      WelfordUpdate<T, float, false, kInPlace>(mean, variance, inMean, inVariance, x, s.work,
                                               update);
    } else if (c.op == 2) {
      s.worked ? WelfordFinalize(mean, variance, inMean, inVariance, s.work, finalize)
               : WelfordFinalize(mean, variance, inMean, inVariance, finalize);
    } else {
      const LocalTensor<int32_t> counts = areas.Area<int32_t>(1);
      s.worked ? WelfordFinalize(mean, variance, inMean, inVariance, counts, s.work, finalize)
               : WelfordFinalize(mean, variance, inMean, inVariance, counts, finalize);
    }
  });
}

// op: 0 SoftmaxFlash, 1 with what came before, 2 SoftmaxFlashV2, 3 with what came before, 4 with one element per row, 5 that keeps the
// maxima of the piece too, 6 and has nothing before.
// mode: statistics in float next to half.
CALL_KERNEL(flash) {
  Case s(c, &areas);
  const SoftMaxTiling tiling;
  const SoftMaxShapeInfo shape = {s.rows, s.step, s.rows, s.columns};
  const auto run = [&](auto element, auto statistic) {
    using T = decltype(element);
    using S = decltype(statistic);
    const LocalTensor<T> dst = s.Out<T>(0);
    const LocalTensor<S> max = s.Out<S>(1);
    const LocalTensor<S> sum = s.Out<S>(2);
    const LocalTensor<T> factor = s.Out<T>(3);
    const LocalTensor<T> x = areas.Area<T>(1);
    const LocalTensor<S> inMax = s.In<S>(2);
    const LocalTensor<S> inSum = s.In<S>(3);
    switch (c.op) {
      case 0:
      case 1:
        s.worked
            ? SoftmaxFlash<T>(dst, sum, max, x, factor, inSum, inMax, s.work, tiling, c.op == 1,
                              shape)
            : SoftmaxFlash<T>(dst, sum, max, x, factor, inSum, inMax, tiling, c.op == 1, shape);
        break;
      case 2:
        s.worked ? SoftmaxFlashV2<T>(dst, sum, max, x, factor, inSum, inMax, s.work, tiling, shape)
                 : SoftmaxFlashV2<T>(dst, sum, max, x, factor, inSum, inMax, tiling, shape);
        break;
      case 3:
        SoftmaxFlashV2<T, true>(dst, sum, max, x, factor, inSum, inMax, s.work, tiling, shape);
        break;
      case 4:
        SoftmaxFlashV2<T, true, false, false, false, kPacked>(dst, sum, max, x, factor, inSum,
                                                              inMax, s.work, tiling, shape);
        break;
      default:
        if constexpr (std::is_same_v<T, S>) {
          const LocalTensor<T> own = s.Out<T>(4);
          if (c.op == 6) {
            SoftmaxFlashV2<T, false, false, false, false, kPacked>(dst, own, sum, max, x, factor,
                                                                   inSum, inMax, tiling, shape);
          } else if (s.worked) {
            SoftmaxFlashV2<T, true, false, false, false, kPacked>(
                dst, own, sum, max, x, factor, inSum, inMax, s.work, tiling, shape);
          } else {
            SoftmaxFlashV2<T, true, false, false, false, kPacked>(dst, own, sum, max, x, factor,
                                                                  inSum, inMax, tiling, shape);
          }
        }
    }
  };
  if (c.dtype == 0) {
    run(float(), float());
  } else if (c.mode == 0) {
    run(half(), half());
  } else {
    run(half(), float());
  }
}

// op: 0 AscendQuant by tensor, 1 by channel with a scalar offset, 2 with offsets, 3 to 5 the same of whole tensors,
// 6 AscendDequant, 7 by a scalar, 8 of rows that stay rows. dtype: of the source, or of the result. Scales and offsets are the
// third area's first parts. scalar: the scale; mode: the offset.
CALL_KERNEL(quant) {
  Case s(c, &areas);
  const float scale = ScalarOf<float>(c);
  const auto offset = static_cast<float>(c.mode);
  const auto count = static_cast<uint32_t>(c.count);
  const auto narrow = [&](auto element) {
    using T = decltype(element);
    const LocalTensor<int8_t> dst = areas.Area<int8_t>(0);
    LocalTensor<T> x = areas.Area<T>(1);
    LocalTensor<T> scales = s.In<T>(0);
    LocalTensor<T> offsets = s.In<T>(1);
    if (c.op > 2) {
      x.SetSize(count);
      scales.SetSize(s.columns);
      offsets.SetSize(s.columns);
    }
    switch (c.op) {
      case 0:
        s.worked ? AscendQuant(dst, x, s.work, scale, offset, count)
                 : AscendQuant(dst, x, scale, offset, count);
        break;
      case 1:
        s.worked ? AscendQuant(dst, x, s.work, scales, T(offset), s.columns, count)
                 : AscendQuant(dst, x, scales, T(offset), s.columns, count);
        break;
      case 2:
        s.worked ? AscendQuant(dst, x, s.work, scales, offsets, s.columns, s.step, count)
                 : AscendQuant(dst, x, scales, offsets, s.columns, s.step, count);
        break;
      case 3:
        s.worked ? AscendQuant(dst, x, s.work, scale, offset) : AscendQuant(dst, x, scale, offset);
        break;
      case 4:
        s.worked ? AscendQuant(dst, x, s.work, scales, T(offset))
                 : AscendQuant(dst, x, scales, T(offset));
        break;
      default:
        s.worked ? AscendQuant(dst, x, s.work, scales, offsets)
                 : AscendQuant(dst, x, scales, offsets);
    }
  };
  const DequantParams params = {s.rows, s.step, s.columns};
  const auto widen = [&](auto element, auto factor) {
    using T = decltype(element);
    using S = decltype(factor);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<int32_t> x = areas.Area<int32_t>(1);
    const LocalTensor<S> scales = s.In<S>(0);
    if (c.op == 6) {
      s.worked ? AscendDequant(dst, x, scales, s.work, params)
               : AscendDequant(dst, x, scales, params);
      return;
    }
    if (c.op == 8) {
      AscendDequant<T, S, DeQuantMode::DEQUANT_WITH_MULTI_ROW>(dst, x, scales, s.work, params);
      return;
    }
    if constexpr (!std::is_same_v<S, uint64_t>) {
      s.worked ? AscendDequant<T, S>(dst, x, S(scale), s.work, params)
               : AscendDequant<T, S>(dst, x, S(scale), params);
    }
  };
  if (c.op < 6) {
    c.dtype == 0 ? narrow(float()) : narrow(half());
  } else if (c.dtype == 1) {
    widen(half(), uint64_t());
  } else if (c.dtype == 2) {
    c.srcDtype == 2 ? widen(bfloat16_t(), bfloat16_t()) : widen(bfloat16_t(), float());
  } else {
    c.srcDtype == 2 ? widen(float(), bfloat16_t()) : widen(float(), float());
  }
}

// What the last maximum or minimum found, from the register. op: 0 ReduceMax, 1 WholeReduceMax, 2 WholeReduceMin, of 7 repeats.
CALL_KERNEL(extreme) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    constexpr int32_t kLanes = 256 / sizeof(T);
    if (c.op == 0) ReduceMax(dst, areas.Area<T>(1), areas.Area<T>(2), c.count, true);
    if (c.op == 1) WholeReduceMax(dst, areas.Area<T>(1), kLanes, 7, 1, 1, 8);
    if (c.op == 2) WholeReduceMin(dst, areas.Area<T>(1), kLanes, 7, 1, 1, 8);
    T value;
    T index;
    T again;
    GetReduceMaxMinCount(value, index);
    GetReduceRepeatMaxMinSpr(again);
    dst.SetValue(64, value);
    dst.SetValue(65, index);
    dst.SetValue(66, again);
  });
}

// op: 0 scales and offsets, 1 scales, 2 scalars, 3 a scalar scale; mode: transposed. dtype: of the result. count: of the source,
// columns: K, step: elements of scale.
CALL_KERNEL(anti_quant) {
  Case s(c, &areas);
  const auto run = [&](auto element, auto transposed) {
    using T = decltype(element);
    constexpr bool kTransposed = decltype(transposed)::value;
    const LocalTensor<T> dst = areas.Area<T>(0);
    LocalTensor<int8_t> x = areas.Area<int8_t>(1);
    LocalTensor<T> scales = s.In<T>(0);
    const LocalTensor<T> offsets = s.In<T>(1);
    x.SetSize(static_cast<uint32_t>(c.count));
    scales.SetSize(s.step);
    const T scale = T(ScalarOf<float>(c));
    const uint32_t k = s.columns;
    const AntiQuantShapeInfo shape = {1, s.step, 1, s.step};
    switch (c.op) {
      case 0:
        s.worked
            ? AscendAntiQuant<int8_t, T, kTransposed>(dst, x, offsets, scales, s.work, k, shape)
            : AscendAntiQuant<int8_t, T, kTransposed>(dst, x, offsets, scales, k);
        break;
      case 1:
        s.worked ? AscendAntiQuant<int8_t, T, kTransposed>(dst, x, scales, s.work, k)
                 : AscendAntiQuant<int8_t, T, kTransposed>(dst, x, scales, k, shape);
        break;
      case 2:
        s.worked ? AscendAntiQuant<int8_t, T, kTransposed>(dst, x, T(3), scale, s.work, k)
                 : AscendAntiQuant<int8_t, T, kTransposed>(dst, x, T(3), scale, k);
        break;
      default:
        s.worked ? AscendAntiQuant<int8_t, T, kTransposed>(dst, x, scale, s.work, k)
                 : AscendAntiQuant<int8_t, T, kTransposed>(dst, x, scale, k);
    }
  };
  if (c.dtype == 1) {
    c.mode == 0 ? run(half(), std::false_type()) : run(half(), std::true_type());
  } else {
    c.mode == 0 ? run(bfloat16_t(), std::false_type()) : run(bfloat16_t(), std::true_type());
  }
}

// op: 0 of rows, 1 with indices, 2 with rows that are finished, 3 small, 4 small with indices; mode: the smallest. The second area
// has the values, the third indices and finished rows. Indices lie 16384 bytes behind the values of the result. count: k.
CALL_KERNEL(topk) {
  Case s(c, &areas);
  const TopkTiling tiling;
  const TopKInfo info = {static_cast<int32_t>(s.rows), static_cast<int32_t>(s.step),
                         static_cast<int32_t>(s.columns)};
  const bool largest = c.mode == 0;
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> values = s.Out<T>(0);
    const LocalTensor<int32_t> indices = s.Out<int32_t>(1);
    const LocalTensor<T> x = areas.Area<T>(1);
    const LocalTensor<int32_t> given = s.In<int32_t>(0);
    const LocalTensor<bool> finished = s.In<bool>(3);
    constexpr TopKMode kSmall = TopKMode::TOPK_NSMALL;
    switch (c.op) {
      case 0:
        s.worked
            ? TopK<T>(values, indices, x, given, finished, s.work, c.count, tiling, info, largest)
            : TopK<T>(values, indices, x, given, finished, c.count, tiling, info, largest);
        break;
      case 1:
        TopK<T, true>(values, indices, x, given, finished, s.work, c.count, tiling, info, largest);
        break;
      case 2:
        TopK<T, true, true>(values, indices, x, given, finished, s.work, c.count, tiling, info,
                            largest);
        break;
      case 3:
        TopK<T, false, false, false, kSmall>(values, indices, x, given, finished, s.work, c.count,
                                             tiling, info, largest);
        break;
      default:
        TopK<T, true, false, false, kSmall>(values, indices, x, given, finished, s.work, c.count,
                                            tiling, info, largest);
    }
  });
}

// Rows of 64 of which `columns` arrive, and `step` take part. op: RmsNorm, SoftmaxFlashV2, AscendQuant by channel. mode: nothing
// waits for the copies.
extern "C" __global__ __aicore__ void norm_flow(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  const auto columns = static_cast<uint32_t>(c.extra[3]);
  const auto step = static_cast<uint32_t>(c.extra[4]);
  TPipe pipe;
  TBuf<> buffers[4];
  for (TBuf<>& buffer : buffers) {
    pipe.InitBuffer(buffer, 4096);
  }
  GlobalTensor<float> from;
  GlobalTensor<uint8_t> to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(aGm));
  to.SetGlobalBuffer(dstGm);
  const LocalTensor<float> src = buffers[0].Get<float>();
  const LocalTensor<float> dst = buffers[1].Get<float>();
  const LocalTensor<float> other = buffers[2].Get<float>();
  const LocalTensor<uint8_t> work = buffers[3].Get<uint8_t>();
  Duplicate(other, 1.0f, 1024);
  PipeBarrier<PIPE_V>();
  for (uint32_t r = 0; r < 8; ++r) {
    DataCopy(src[r * 64], from, columns);
  }
  if (c.mode == 0) {
    PipeBarrier<PIPE_ALL>();
  }
  if (c.op == 0) {
    RmsNormTiling tiling;
    tiling.bLength = 8;
    tiling.sLength = 1;
    tiling.hLength = 64;
    tiling.originalHLength = step;
    RmsNorm<float>(dst, src, other, work, 0.5f, tiling);
  } else if (c.op == 1) {
    SoftmaxFlashV2<float, true>(dst, other[256], other[512], src, other[768], other, other, work,
                                SoftMaxTiling(), SoftMaxShapeInfo{8, 64, 8, step});
  } else {
    AscendQuant(dst.ReinterpretCast<int8_t>(), src, work, other, 0.0f, step, step);
  }
  PipeBarrier<PIPE_ALL>();
  // The last row: nobody may count on its padding.
  const LocalTensor<uint8_t> result = dst.ReinterpretCast<uint8_t>();
  c.op == 2 ? DataCopy(to, result, 32) : DataCopy(to, result[7 * 256], 128);
}
