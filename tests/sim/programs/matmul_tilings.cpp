// SPDX-License-Identifier: Apache-2.0
// Prints the tiling of each product that it reads: the words of a TCubeTiling, or "-1" and why there is none. Both structs must agree.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "acl/acl.h"
#include "tiling/tiling_api.h"

using matmul_tiling::CubeFormat;
using matmul_tiling::DataType;
using matmul_tiling::MatmulApiTilingBase;
using matmul_tiling::ScheduleType;
using matmul_tiling::TPosition;

namespace {

struct Product {
  int cores = 0;  // 0: MatmulApiTiling, of one core
  int type = 0, out = 0, bias = -1, transA = 0, transB = 0;
  int local = 0;  // 1: A is in TSCM, 2: B
  int m = 0, n = 0, k = 0;
  int fixed[3] = {}, single[3] = {}, most[3] = {};
  int order = 0, splitsK = 0, l1 = -1, l0c = -1;
  int mx = 0;  // 1: scales in GM, 2: scales that nobody describes, 3: those of A in TSCM
  int schedule = 0, config = 1;
};

bool Read(Product* p) {
  auto& in = std::cin >> p->cores >> p->type >> p->out >> p->bias >> p->transA >> p->transB >>
             p->local >> p->m >> p->n >> p->k;
  for (int* three : {p->fixed, p->single, p->most}) in >> three[0] >> three[1] >> three[2];
  return static_cast<bool>(in >> p->order >> p->splitsK >> p->l1 >> p->l0c >> p->mx >>
                           p->schedule >> p->config);
}

void Describe(const Product& p, MatmulApiTilingBase* tiling) {
  const auto type = static_cast<DataType>(p.type);
  const auto position = [&](int which) {
    return p.local == which ? TPosition::TSCM : TPosition::GM;
  };
  const auto format = [&](int which) { return p.local == which ? CubeFormat::NZ : CubeFormat::ND; };
  tiling->SetAType(position(1), format(1), type, p.transA != 0);
  tiling->SetBType(position(2), format(2), type, p.transB != 0);
  tiling->SetCType(TPosition::GM, CubeFormat::ND, static_cast<DataType>(p.out));
  if (p.mx != 0) {
    tiling->SetMadType(matmul_tiling::MatrixMadType::MXMODE);
  }
  if (p.mx == 1 || p.mx == 3) {
    tiling->SetScaleAType(p.mx == 3 ? TPosition::TSCM : TPosition::GM,
                          p.mx == 3 ? CubeFormat::NZ : CubeFormat::ND, false);
    tiling->SetScaleBType(TPosition::GM, CubeFormat::ND, true);
  }
  if (p.bias >= 0) {
    tiling->SetBiasType(TPosition::GM, CubeFormat::ND, static_cast<DataType>(p.bias));
    tiling->EnableBias(true);
  }
  tiling->SetShape(p.m, p.n, p.k);
  tiling->SetOrgShape(p.m, p.n, p.k);
  tiling->SetFixSplit(p.fixed[0], p.fixed[1], p.fixed[2]);
  tiling->SetMatmulConfigParams({p.config, false, static_cast<ScheduleType>(p.schedule)});
  if (p.order != 0) tiling->SetTraverse(static_cast<matmul_tiling::MatrixTraverse>(p.order));
  tiling->SetBufferSpace(p.l1, p.l0c, -1);
}

int64_t Both(MatmulApiTilingBase* tiling, TCubeTiling* plain) {
  optiling::TCubeTiling field;
  const int64_t status = tiling->GetTiling(*plain);
  if (status == -1) return -1;
  TCubeTiling saved;
  if (tiling->GetTiling(field) == -1 || field.GetDataSize() != sizeof(saved)) return -2;
  field.SaveToBuffer(&saved, sizeof(saved));
  return std::memcmp(&saved, plain, sizeof(saved)) == 0 ? 0 : -2;
}

}  // namespace

int main() {
  aclInit(nullptr);
  platform_ascendc::PlatformAscendC* platform =
      platform_ascendc::PlatformAscendCManager::GetInstance();
  for (Product p; Read(&p);) {
    TCubeTiling tiling;
    int64_t status = 0;
    if (p.cores == 0) {
      matmul_tiling::MatmulApiTiling one(*platform);
      Describe(p, &one);
      status = Both(&one, &tiling);
    } else {
      matmul_tiling::MultiCoreMatmulTiling all(*platform);
      Describe(p, &all);
      all.SetDim(p.cores);
      all.SetSingleShape(p.single[0], p.single[1], p.single[2]);
      all.SetSingleRange(p.most[0], p.most[1], p.most[2]);
      all.EnableMultiCoreSplitK(p.splitsK != 0);
      status = Both(&all, &tiling);
      int32_t dim = 0, inM = 0, inN = 0, m = 0, n = 0, k = 0;
      if (status == 0 && (all.GetCoreNum(dim, inM, inN) != 0 || dim != tiling.usedCoreNum ||
                          all.GetSingleShape(m, n, k) != 0 || m != tiling.singleCoreM ||
                          n != tiling.singleCoreN || k != tiling.singleCoreK)) {
        status = -3;
      }
    }
    if (status != 0) {
      const char* why = aclGetRecentErrMsg();
      std::string text = why == nullptr ? "" : why;
      for (char& c : text) c = c == '\n' ? ' ' : c;
      std::printf("%lld %s\n", static_cast<long long>(status), text.c_str());
      continue;
    }
    int32_t words[sizeof(tiling) / sizeof(int32_t)];
    std::memcpy(words, &tiling, sizeof(tiling));
    for (const int32_t word : words) std::printf("%d ", word);
    std::printf("\n");
  }
  return 0;
}
