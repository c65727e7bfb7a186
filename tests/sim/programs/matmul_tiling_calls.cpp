// SPDX-License-Identifier: Apache-2.0
// What the calls of Matmul's tiling answer, a line of numbers each: "name: ...". "name! ..." is the reason that the last call gave.
#include <cstdio>
#include <initializer_list>
#include <string>

#include "acl/acl.h"
#include "tiling/tiling_api.h"

namespace {

using namespace matmul_tiling;
using platform_ascendc::SocVersion;

void Say(const char* name, std::initializer_list<int64_t> numbers) {
  std::printf("%s:", name);
  for (const int64_t number : numbers) std::printf(" %lld", static_cast<long long>(number));
  std::printf("\n");
}
void SayWhy(const char* name) {
  const char* why = aclGetRecentErrMsg();
  std::string text = why == nullptr ? "" : why;
  for (char& c : text) c = c == '\n' ? ' ' : c;
  std::printf("%s! %s\n", name, text.c_str());
}

template <typename Tiling>
void OfHalf(Tiling* tiling, int32_t m, int32_t n, int32_t k) {
  tiling->SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
  tiling->SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
  tiling->SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
  tiling->SetShape(m, n, k);
  tiling->SetOrgShape(m, n, k);
}

void Splits() {
  MatmulApiTiling tiling;
  OfHalf(&tiling, 256, 256, 256);
  ::TCubeTiling got;
  Say("fixed", {tiling.SetFixSplit(0), tiling.SetFixSplit(24), tiling.SetFixSplit(-1, -16),
                tiling.SetFixSplit(-1, -1, 8), tiling.SetFixSplit(64), tiling.SetFixSplit(-1, 32)});
  SayWhy("fixed");
  // Each call keeps what the others have said.
  const int64_t status = tiling.GetTiling(got);
  Say("fixed base", {status, got.baseM, got.baseN, tiling.GetBaseM(), tiling.GetBaseN()});
}

void Sizes() {
  MatmulApiTiling tiling;
  OfHalf(&tiling, 256, 256, 256);
  Say("space", {tiling.SetBufferSpace(-1, -1, -1, -1), tiling.SetBufferSpace(-2),
                tiling.SetBufferSpace(-1, -2), tiling.SetBufferSpace(-1, -1, -2),
                tiling.SetBufferSpace(-1, -1, -1, -2), tiling.SetBufferSpace(1 << 30),
                tiling.SetBufferSpace(-1, 1 << 30), tiling.SetBufferSpace(512 * 1024)});
  // Nothing of a call that fails counts.
  ::TCubeTiling got;
  tiling.SetBufferSpace(64, 64, -2);
  Say("space kept", {tiling.GetTiling(got)});
}

void Cores() {
  MultiCoreMatmulTiling tiling;
  OfHalf(&tiling, 512, 256, 64);
  tiling.SetOrgShape(4096, 4096, 64);  // the product is a part of these matrices
  tiling.SetDim(8);
  tiling.SetSingleShape(128, 128);
  tiling.SetSingleShape(-1, -1, 64);
  ::TCubeTiling got;
  int32_t dim = 0, inM = 0, inN = 0;
  const int64_t status = tiling.GetTiling(got);
  tiling.GetCoreNum(dim, inM, inN);
  Say("cores", {status, got.M, got.singleCoreM, got.singleCoreN, dim, inM, inN});
}

void Batches() {
  MatmulApiTiling tiling;
  OfHalf(&tiling, 32, 64, 80);
  ::TCubeTiling got;
  tiling.SetBatchInfoForNormal(3, 5, 32, 64, 80);
  tiling.SetBatchNum(5);
  int64_t status = tiling.GetTiling(got);
  Say("normal",
      {status, got.ALayoutInfoB, got.ALayoutInfoS, got.ALayoutInfoN, got.ALayoutInfoG,
       got.ALayoutInfoD, got.BLayoutInfoB, got.BLayoutInfoS, got.CLayoutInfoB, got.CLayoutInfoS1,
       got.CLayoutInfoN, got.CLayoutInfoG, got.CLayoutInfoS2, got.BatchNum});
  // 2 x 3 matrices of A of 160 KiB, of which a call has so many; one of B.
  MatmulApiTiling many;
  OfHalf(&many, 1024, 64, 80);
  many.SetALayout(1, 1024, 2, 3, 80);
  many.SetBLayout(1, 64, 1, 1, 80);
  many.SetCLayout(1, 1024, 2, 3, 64);
  many.SetBatchNum(3);
  status = many.GetTiling(got);
  many.SetBatchNum(4);
  const int64_t over = many.GetTiling(got);
  SayWhy("batches");
  many.SetBatchInfoForNormal(6, 6, 1024, 64, 80);
  Say("batches", {status, over, many.GetTiling(got)});
}

// The chip of the platform, which another program than the simulated SoC's may be for.
void Chips() {
  const auto room = [](SocVersion version) {
    PlatformInfo platform;
    platform.socVersion = version;
    platform.l1Size = 512 * 1024, platform.l0CSize = 128 * 1024, platform.ubSize = 192 * 1024;
    platform.l0ASize = platform.l0BSize = 64 * 1024;
    return platform;
  };
  ::TCubeTiling got;
  // The header brings std::map, as CANN's does.
  const std::map<const char*, SocVersion> versions = {{"of 910B", SocVersion::ASCEND910B},
                                                      {"of 310P", SocVersion::ASCEND310P},
                                                      {"of 950", SocVersion::ASCEND950}};
  for (const auto& [name, version] : versions) {
    // A bias of 512 columns fits the table of a 950 alone; 310P has none, and brings results through UB.
    MatmulApiTiling tiling(room(version));
    OfHalf(&tiling, 16, 512, 64);
    tiling.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tiling.EnableBias(true);
    tiling.SetFixSplit(16, 512);
    const int64_t wide = tiling.GetTiling(got);
    tiling.SetFixSplit(16, 256);
    const int64_t narrow = tiling.GetTiling(got);
    tiling.SetBiasType(TPosition::TSCM, CubeFormat::ND, DataType::DT_FLOAT);
    const int64_t fromL1 = tiling.GetTiling(got);
    // Rows of a result of ND in UB are whole blocks on 310P.
    MatmulApiTiling out(room(version));
    OfHalf(&out, 16, 494, 64);
    out.SetCType(TPosition::VECCALC, CubeFormat::ND, DataType::DT_FLOAT16);
    const int64_t ragged = out.GetTiling(got);
    out.SetCType(TPosition::VECCALC, CubeFormat::NZ, DataType::DT_FLOAT16);
    Say(name, {wide, narrow, fromL1, ragged, out.GetTiling(got), got.transLength > 0 ? 1 : 0});
  }
  MatmulApiTiling tiling(room(SocVersion::ASCEND910B));
  OfHalf(&tiling, 64, 64, 64);
  tiling.socVersion = SocVersion::ASCEND310P;
  Say("told chip", {tiling.GetTiling(got), got.transLength > 0 ? 1 : 0});
}

void Halves() {
  MatmulApiTiling tiling;
  OfHalf(&tiling, 1024, 1024, 1024);
  const int64_t before = tiling.EnableL1BankConflictOptimise() ? 1 : 0;
  ::TCubeTiling got;
  const auto halves = [&](int32_t l1, int32_t config, TPosition position) {
    tiling.SetAType(position, CubeFormat::ND, DataType::DT_FLOAT16);
    tiling.SetMatmulConfigParams(MatmulConfigParams{config});
    tiling.SetBufferSpace(l1);
    if (tiling.GetTiling(got) != 0) return -1;
    return tiling.EnableL1BankConflictOptimise() ? 1 : 0;
  };
  Say("halves", {before, halves(-1, 0, TPosition::GM), halves(-1, 1, TPosition::TSCM),
                 halves(200 * 1024, 1, TPosition::GM)});
}

void Buffers() {
  ::TCubeTiling small{}, large{}, none{};
  small.shareL1Size = 100, small.shareL0CSize = 900, small.shareUbSize = 50;
  large.shareL1Size = 300, large.shareL0CSize = 200, large.shareUbSize = 70;
  SysTilingTempBufSize size;
  const int64_t status = MatmulGetTmpBufSizeV2(large, size) + MatmulGetTmpBufSizeV2(small, size) +
                         BatchMatmulGetTmpBufSizeV2(none, size);
  Say("buffers", {status, size.l1Size, size.l0cSize, size.ubSize});
}

}  // namespace

int main() {
  aclInit(nullptr);
  Splits();
  Sizes();
  Cores();
  Batches();
  Chips();
  Halves();
  Buffers();
  return 0;
}
