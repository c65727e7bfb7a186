// SPDX-License-Identifier: Apache-2.0
// Kernels with the structures of those that a cycle model of Ascend 950 was published for: board.py names them. Either many small
// tiles on eight cores, or one tile on one core; what they compute is of no account.
#include "kernels.h"

namespace {

// rows elements of each input, columns of the output; queues of one buffer, and `work` for what the function needs besides.
template <typename In, typename Out, int inputs, typename Compute>
void OneTile(GM_ADDR x, GM_ADDR y, GM_ADDR z, const Parameters& p, Compute compute) {
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in[inputs > 0 ? inputs : 1];
  TQue<QuePosition::VECOUT, 1> out;
  const auto count = static_cast<uint32_t>(p.rows);
  const auto results = static_cast<uint32_t>(p.columns);
  GM_ADDR source[3] = {x, y, x};
  for (int i = 0; i < inputs; ++i) {
    pipe.InitBuffer(in[i], 1, count * sizeof(In));
  }
  pipe.InitBuffer(out, 1, results * sizeof(Out));
  LocalTensor<In> from[inputs > 0 ? inputs : 1];
  for (int i = 0; i < inputs; ++i) {
    from[i] = in[i].template AllocTensor<In>();
  }
  for (int i = 0; i < inputs; ++i) {
    DataCopy(from[i], Global<In>(source[i], 0, count), count);
  }
  for (int i = 0; i < inputs; ++i) {
    in[i].EnQue(from[i]);
  }
  for (int i = 0; i < inputs; ++i) {
    from[i] = in[i].template DeQue<In>();
  }
  LocalTensor<Out> to = out.template AllocTensor<Out>();
  compute(pipe, to, from, count);
  out.EnQue(to);
  for (int i = 0; i < inputs; ++i) {
    in[i].FreeTensor(from[i]);
  }
  to = out.template DeQue<Out>();
  DataCopy(Global<Out>(z, 0, results), to, results);
  out.FreeTensor(to);
}

}  // namespace

// Kernels of many tiles: name, type, inputs, and the call on tensors `to` and `from` of `count` elements.
#define TILES(name, T, inputs, call)                                                         \
  extern "C" __global__ __aicore__ void tiles_##name(GM_ADDR x, GM_ADDR y, GM_ADDR z,        \
                                                     GM_ADDR parameters) {                   \
    Elementwise<T, inputs>(                                                                  \
        x, y, z, ParametersAt(parameters),                                                   \
        [](const LocalTensor<T>& to, const LocalTensor<T>* from, uint32_t count) { call; }); \
  }
// Kernels of one tile.
#define TILE(name, In, Out, inputs, call)                                                 \
  extern "C" __global__ __aicore__ void tile_##name(GM_ADDR x, GM_ADDR y, GM_ADDR z,      \
                                                    GM_ADDR parameters) {                 \
    OneTile<In, Out, inputs>(x, y, z, ParametersAt(parameters),                           \
                             []([[maybe_unused]] TPipe& pipe, const LocalTensor<Out>& to, \
                                [[maybe_unused]] const LocalTensor<In>* from,             \
                                [[maybe_unused]] uint32_t count) { call; });              \
  }

TILES(Abs, float, 1, Abs(to, from[0], count))
TILES(Exp, float, 1, Exp(to, from[0], count))
TILES(Ln, float, 1, Ln(to, from[0], count))
TILES(Sqrt, float, 1, Sqrt(to, from[0], count))
TILES(Rsqrt, float, 1, Rsqrt(to, from[0], count))
TILES(Reciprocal, float, 1, Reciprocal(to, from[0], count))
TILES(Relu, float, 1, Relu(to, from[0], count))
TILES(Adds, float, 1, Adds(to, from[0], 1.0f, count))
TILES(Muls, float, 1, Muls(to, from[0], 2.0f, count))
TILES(Maxs, float, 1, Maxs(to, from[0], 1.0f, count))
TILES(Mins, float, 1, Mins(to, from[0], 1.0f, count))
TILES(Cast, float, 1, Cast(to.ReinterpretCast<int32_t>(), from[0], RoundMode::CAST_RINT, count))
TILES(Not, int16_t, 1, Not(to, from[0], count))
TILES(DataCopy, float, 1, DataCopy(to, from[0], count))
TILES(Add, float, 2, Add(to, from[0], from[1], count))
TILES(Sub, float, 2, Sub(to, from[0], from[1], count))
TILES(Mul, float, 2, Mul(to, from[0], from[1], count))
TILES(Div, float, 2, Div(to, from[0], from[1], count))
TILES(Max, float, 2, Max(to, from[0], from[1], count))
TILES(Min, float, 2, Min(to, from[0], from[1], count))
TILES(And, int16_t, 2, And(to, from[0], from[1], count))
TILES(Or, int16_t, 2, Or(to, from[0], from[1], count))
TILES(Sigmoid, float, 1, Sigmoid(to, from[0], count))
TILES(Silu, float, 1, Silu(to, from[0], count))
TILES(Tanh, float, 1, Tanh(to, from[0], count))
TILES(Sin, float, 1, Sin(to, from[0], count))
TILES(Cos, float, 1, Cos(to, from[0], count))
TILES(Tan, float, 1, Tan(to, from[0], count))
TILES(Asin, float, 1, Asin(to, from[0], count))
TILES(Acos, float, 1, Acos(to, from[0], count))
TILES(Atan, float, 1, Atan(to, from[0], count))
TILES(Sinh, float, 1, Sinh(to, from[0], count))
TILES(Cosh, float, 1, Cosh(to, from[0], count))
TILES(Ceil, float, 1, Ceil(to, from[0], count))
TILES(Floor, float, 1, Floor(to, from[0], count))
TILES(Round, float, 1, Round(to, from[0], count))
TILES(Trunc, float, 1, Trunc(to, from[0], count))
TILES(Frac, float, 1, Frac(to, from[0], count))
TILES(Sign, float, 1, Sign(to, from[0], count))
TILES(Erf, float, 1, Erf(to, from[0], count))
TILES(Erfc, float, 1, Erfc(to, from[0], count))
TILES(Log, float, 1, Log(to, from[0], count))
TILES(Log2, float, 1, Log2(to, from[0], count))
TILES(Log10, float, 1, Log10(to, from[0], count))
TILES(Power, float, 2, Power(to, from[0], from[1], count))
TILES(Fmod, float, 2, Fmod(to, from[0], from[1], count))
TILES(Digamma, float, 1, Digamma(to, from[0], count))
TILES(Lgamma, float, 1, Lgamma(to, from[0], count))

TILE(Duplicate, float, float, 0, Duplicate(to, 3.0f, 64))
TILE(CreateVecIndex, int32_t, int32_t, 0, CreateVecIndex(to, 0, 64))
TILE(LeakyRelu, float, float, 1, LeakyRelu(to, from[0], 0.5f, count))
TILE(Axpy, float, float, 1, Duplicate(to, 1.0f, count); PipeBarrier<PIPE_V>();
     Axpy(to, from[0], 2.0f, count))
TILE(CastF2H, float, half, 1, Cast(to, from[0], RoundMode::CAST_RINT, count))
TILE(Brcb, float, float, 1, Brcb(to, from[0], 1, BrcbRepeatParams(1, 8)))
TILE(Transpose, half, half, 1, Transpose(to, from[0]))
TILE(ReduceSum, float, float, 1, TBuf<TPosition::VECCALC> room; pipe.InitBuffer(room, 1024);
     ReduceSum(to, from[0], room.Get<float>(), count))
TILE(ReduceMax, float, float, 1, TBuf<TPosition::VECCALC> room; pipe.InitBuffer(room, 1024);
     ReduceMax(to, from[0], room.Get<float>(), count))
TILE(ReduceMin, float, float, 1, TBuf<TPosition::VECCALC> room; pipe.InitBuffer(room, 1024);
     ReduceMin(to, from[0], room.Get<float>(), count))
TILE(BlockReduceSum, float, float, 1, BlockReduceSum(to, from[0], 8, 64, 1, 1, 8))
TILE(BlockReduceMax, float, float, 1, BlockReduceMax(to, from[0], 8, 64, 1, 1, 8))
TILE(BlockReduceMin, float, float, 1, BlockReduceMin(to, from[0], 8, 64, 1, 1, 8))
TILE(WholeReduceSum, float, float, 1, WholeReduceSum(to, from[0], 64, 8, 1, 1, 8))
TILE(WholeReduceMax, float, float, 1, WholeReduceMax(to, from[0], 64, 8, 1, 1, 8))
TILE(WholeReduceMin, float, float, 1, WholeReduceMin(to, from[0], 64, 8, 1, 1, 8))
TILE(PairReduceSum, float, float, 1, PairReduceSum(to, from[0], 8, 64, 1, 1, 8))
TILE(AddRelu, float, float, 2, AddRelu(to, from[0], from[1], count))
TILE(SubRelu, float, float, 2, SubRelu(to, from[0], from[1], count))
TILE(AddHalf, half, half, 2, Add(to, from[0], from[1], count))
TILE(FusedMulAdd, float, float, 2, Duplicate(to, 1.0f, count); PipeBarrier<PIPE_V>();
     FusedMulAdd(to, from[0], from[1], count))
TILE(MulAddDst, float, float, 2, Duplicate(to, 1.0f, count); PipeBarrier<PIPE_V>();
     MulAddDst(to, from[0], from[1], count))
TILE(Gather, float, float, 2,
     Gather(to, from[0], from[1].template ReinterpretCast<uint32_t>(), 0u, count))
TILE(
    Compare, float, float, 1, TBuf<TPosition::VECCALC> rooms[4];
    for (TBuf<TPosition::VECCALC> & room : rooms) {
      pipe.InitBuffer(room, 256);
    } const LocalTensor<float>
        a = rooms[0].Get<float>();
    const LocalTensor<float> b = rooms[1].Get<float>();
    const LocalTensor<float> c = rooms[2].Get<float>();
    const LocalTensor<uint8_t> mask = rooms[3].Get<uint8_t>(); Duplicate(a, 31.5f, count);
    Duplicate(b, 1.0f, count); Duplicate(c, 0.0f, count); PipeBarrier<PIPE_V>();
    Compare(mask, from[0], a, CMPMODE::LT, count); PipeBarrier<PIPE_V>();
    Select(to, mask, b, c, SELMODE::VSEL_TENSOR_TENSOR_MODE, count))
TILE(Mean, float, float, 1, TBuf<TPosition::VECCALC> room; pipe.InitBuffer(room, 1024);
     Mean(to, from[0], room.Get<uint8_t>(), {1, 64, 64}))
