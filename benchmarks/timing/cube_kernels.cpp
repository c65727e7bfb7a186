// SPDX-License-Identifier: Apache-2.0
// Products of matrices on cube cores, with the structure that the description of each published time has.
#include "kernels.h"

namespace {

// half A[m][k] and B[n][k] give half C[m][n]. A core has a part of C, which it goes through by base blocks. L1 has two buffers of A with
// `stepA` base blocks along K each, and two of B with `stepB`; L0A and L0B have two buffers of one block.
struct ProductSizes {
  uint32_t m, n, k;
  uint32_t coreM, coreN;
  uint32_t baseM, baseN;
  uint32_t stepA, stepB;
  uint32_t rounds;  // parts of M, one after the other: B stays in L2
  bool unitFlag;
};

constexpr uint32_t kBaseK = 64;
constexpr uint32_t kHalfL1 = 256 * 1024, kHalfL0 = 32 * 1024;

ProductSizes SizesOf(const Parameters& p) {
  return {static_cast<uint32_t>(p.rows),
          static_cast<uint32_t>(p.columns),
          p.tile,
          p.at[0],
          p.at[1],
          p.at[2],
          p.at[3],
          p.at[4],
          p.at[5],
          p.parts,
          p.shift != 0};
}

class Product {
 public:
  Product(GM_ADDR a, GM_ADDR b, GM_ADDR c, const ProductSizes& sizes)
      : s_(sizes),
        a_(Global<half>(a, 0, uint64_t{sizes.m} * sizes.k)),
        b_(Global<half>(b, 0, uint64_t{sizes.n} * sizes.k)),
        c_(Global<half>(c, 0, uint64_t{sizes.m} * sizes.n)) {}

  void Process() {
    const uint32_t alongM = Up(s_.m, s_.coreM), inRound = Up(alongM, s_.rounds);
    const auto core = static_cast<uint32_t>(GetBlockIdx());
    for (int32_t id = 0; id < 4; ++id) {
      SetFlag<HardEvent::MTE1_MTE2>(id);
    }
    SetFlag<HardEvent::M_MTE1>(EVENT_ID0);
    SetFlag<HardEvent::M_MTE1>(EVENT_ID1);
    for (uint32_t round = 0; round < s_.rounds; ++round) {
      const uint32_t m = (core % inRound + round * inRound) * s_.coreM;
      const uint32_t n = core / inRound * s_.coreN;
      for (uint32_t i = 0; i < Length(m, s_.coreM, s_.m); i += s_.baseM) {
        for (uint32_t j = 0; j < Length(n, s_.coreN, s_.n); j += s_.baseN) {
          Block(m + i, n + j);
        }
      }
    }
    for (int32_t id = 0; id < 4; ++id) {
      WaitFlag<HardEvent::MTE1_MTE2>(id);
    }
    WaitFlag<HardEvent::M_MTE1>(EVENT_ID0);
    WaitFlag<HardEvent::M_MTE1>(EVENT_ID1);
  }

 private:
  static uint32_t Up(uint32_t value, uint32_t by) { return (value + by - 1) / by; }
  static uint32_t Length(uint32_t from, uint32_t length, uint32_t end) {
    return from >= end ? 0 : from + length < end ? length : end - from;
  }
  static LocalTensor<half> In(TPosition position, uint32_t address) {
    return LocalTensor<half>(position, address, kHalfL0 / sizeof(half));
  }

  // `chunk` of K into its half of a half of L1.
  void CopyIn(const GlobalTensor<half>& from, uint32_t first, uint32_t rows, uint32_t step,
              uint32_t chunk, uint32_t ofL1, int32_t id) {
    const uint32_t at = chunk * step * kBaseK, columns = Length(at, step * kBaseK, s_.k);
    if (columns == 0) {
      return;
    }
    const int32_t event = id + static_cast<int32_t>(chunk % 2);
    WaitFlag<HardEvent::MTE1_MTE2>(event);
    DataCopy(LocalTensor<half>(TPosition::A1, ofL1 + chunk % 2 * kHalfL1 / 2, rows * columns),
             from[uint64_t{first} * s_.k + at], Nd2NzParams(1, rows, columns, 0, s_.k, rows, 1, 0));
    SetFlag<HardEvent::MTE2_MTE1>(event);
  }

#if __NPU_ARCH__ == 3510
  // A base block from L1, where its fractals lie as they do in L0: one instruction.
  static void Load(const LocalTensor<half>& to, const LocalTensor<half>& from, uint32_t rows) {
    LoadData2DParamsV2 load;
    load.mStep = load.srcStride = load.dstStride = rows / 16;
    load.kStep = kBaseK / 16;
    LoadData(to, from, load);
  }
  static void LoadA(uint32_t to, uint32_t from, uint32_t rows) {
    Load(In(TPosition::A2, to), In(TPosition::A1, from), rows);
  }
  static void LoadB(uint32_t to, uint32_t from, uint32_t columns) {
    Load(In(TPosition::B2, to), In(TPosition::B1, from), columns);
  }
#else
  // A base block of A from L1: one instruction.
  static void LoadA(uint32_t to, uint32_t from, uint32_t rows) {
    LoadData3DParamsV2<half> load;
    load.l1H = 1;
    load.l1W = rows;
    load.channelSize = load.kExtension = kBaseK;
    load.mExtension = rows;
    load.strideW = load.strideH = load.filterW = load.filterH = 1;
    load.dilationFilterW = load.dilationFilterH = 1;
    LoadData(In(TPosition::A2, to), In(TPosition::A1, from), load);
  }
  // A base block of B from L1: its fractals lie there as they do in L0B.
  static void LoadB(uint32_t to, uint32_t from, uint32_t columns) {
    LoadData(In(TPosition::B2, to), In(TPosition::B1, from),
             LoadData2DParams(0, columns / 16 * kBaseK / 16, 1, 0, 0, false, 0));
  }
#endif

  void Block(uint32_t m, uint32_t n) {
    const LocalTensor<float> sum(TPosition::CO1, 0, s_.baseM * s_.baseN);
    CopyIn(a_, m, s_.baseM, s_.stepA, 0, 0, 0);
    CopyIn(b_, n, s_.baseN, s_.stepB, 0, kHalfL1, 2);
    for (uint32_t k = 0; k * kBaseK < s_.k; ++k) {
      const uint32_t chunkA = k / s_.stepA, chunkB = k / s_.stepB;
      const uint32_t inA = k % s_.stepA, inB = k % s_.stepB;
      if (inB == 0) {
        CopyIn(b_, n, s_.baseN, s_.stepB, chunkB + 1, kHalfL1, 2);
      }
      if (inA == 0) {
        CopyIn(a_, m, s_.baseM, s_.stepA, chunkA + 1, 0, 0);
      }
      const auto ping = static_cast<int32_t>(ping_);
      WaitFlag<HardEvent::M_MTE1>(ping);
      if (inA == 0) {
        WaitFlag<HardEvent::MTE2_MTE1>(static_cast<int32_t>(chunkA % 2));
      }
      if (inB == 0) {
        WaitFlag<HardEvent::MTE2_MTE1>(static_cast<int32_t>(2 + chunkB % 2));
      }
      const uint32_t bytesA = s_.baseM * kBaseK * sizeof(half),
                     bytesB = s_.baseN * kBaseK * sizeof(half);
      LoadA(ping_ * kHalfL0, chunkA % 2 * kHalfL1 / 2 + inA * bytesA, s_.baseM);
      LoadB(ping_ * kHalfL0, kHalfL1 + chunkB % 2 * kHalfL1 / 2 + inB * bytesB, s_.baseN);
      const bool last = (k + 1) * kBaseK >= s_.k;
      if (inA + 1 == s_.stepA || last) {
        SetFlag<HardEvent::MTE1_MTE2>(static_cast<int32_t>(chunkA % 2));
      }
      if (inB + 1 == s_.stepB || last) {
        SetFlag<HardEvent::MTE1_MTE2>(static_cast<int32_t>(2 + chunkB % 2));
      }
      SetFlag<HardEvent::MTE1_M>(ping);
      WaitFlag<HardEvent::MTE1_M>(ping);
      const uint8_t flag = last ? 3 : 2;
      Mmad(sum, In(TPosition::A2, ping_ * kHalfL0), In(TPosition::B2, ping_ * kHalfL0),
           MmadParams(s_.baseM, s_.baseN, kBaseK, s_.unitFlag ? flag : 0, false, k == 0));
      SetFlag<HardEvent::M_MTE1>(ping);
      ping_ ^= 1;
    }
#if __NPU_ARCH__ == 3510
    FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> out(s_.baseN, s_.baseM, s_.baseM, s_.n);
    out.quantPre = QuantMode_t::F322F16;
#else
    FixpipeParamsV220 out(s_.baseN, s_.baseM, s_.baseM, s_.n, false, QuantMode_t::F322F16);
#endif
    if (s_.unitFlag) {
      out.unitFlag = 3;
    } else {
      SetFlag<HardEvent::M_FIX>(EVENT_ID0);
      WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
    }
    Fixpipe<half, float, CFG_ROW_MAJOR>(c_[uint64_t{m} * s_.n + n], sum, out);
    if (!s_.unitFlag) {
      SetFlag<HardEvent::FIX_M>(EVENT_ID0);
      WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
    }
  }

  ProductSizes s_;
  GlobalTensor<half> a_, b_, c_;
  uint32_t ping_ = 0;  // the half of L0A and L0B
};

}  // namespace

extern "C" __global__ __aicore__ void product(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR parameters) {
  Product(x, y, z, SizesOf(ParametersAt(parameters))).Process();
}
