// SPDX-License-Identifier: Apache-2.0
// Vector functions of Ascend 950: one instruction on registers at a time, between loads and stores.
#include "bench.h"

using namespace AscendC;
namespace Reg = AscendC::Reg;
using Reg::MaskMergeMode;

namespace {

template <typename T>
T* At(Areas& areas, int area, int32_t byte = 0) {
  return reinterpret_cast<T*>(areas.Area<uint8_t>(area).GetPhyAddr() + static_cast<uint64_t>(byte));
}

// The mask of a call: its first lanes, or those whose bytes are not 0 at byte 1024 of src1.
template <typename T>
Reg::MaskReg MaskOf(const Call& c, Areas& areas) {
  if (c.form == kBits) {
    Reg::RegTensor<T> flags;
    Reg::LoadAlign(flags, At<T>(areas, 2, 1024));
    Reg::MaskReg all = Reg::CreateMask<T>(), mask;
    Reg::Compares<T, CMPMODE::NE>(mask, flags, 0, all);
    return mask;
  }
  auto count = static_cast<uint32_t>(c.mask[0]);
  return Reg::UpdateMask<T>(count);
}

// dst from area 0, sources from 1 and 2; run(dst, a, b, mask), then dst goes back whole.
template <typename T, typename Run>
void OnRegisters(const Call& c, Areas& areas, Run run) {
  __VEC_SCOPE__ {
    Reg::RegTensor<T> dst, a, b;
    Reg::MaskReg all = Reg::CreateMask<T>();
    Reg::LoadAlign(dst, At<T>(areas, 0));
    Reg::LoadAlign(a, At<T>(areas, 1));
    Reg::LoadAlign(b, At<T>(areas, 2));
    Reg::MaskReg mask = MaskOf<T>(c, areas);
    run(dst, a, b, mask);
    Reg::StoreAlign(At<T>(areas, 0), dst, all);
  }
}

}  // namespace

#define MERGED(Name, ...)                                          \
  (c.mode == 1 ? Reg::Name<T, MaskMergeMode::MERGING>(__VA_ARGS__) \
               : Reg::Name<T, MaskMergeMode::ZEROING>(__VA_ARGS__))

CALL_KERNEL(arithmetic) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    OnRegisters<T>(c, areas, [&](auto& dst, auto& a, auto& b, auto& mask) {
      switch (c.op) {
        case 0:
          return MERGED(Add, dst, a, b, mask);
        case 1:
          return MERGED(Sub, dst, a, b, mask);
        case 2:
          return MERGED(Mul, dst, a, b, mask);
        case 3:
          return MERGED(Max, dst, a, b, mask);
        case 4:
          return MERGED(Min, dst, a, b, mask);
        case 5:
          return MERGED(MulAddDst, dst, a, b, mask);
        default:
          Trap();
      }
    });
  });
}

CALL_KERNEL(floats) {
  const auto run = [&](auto element) {
    using T = decltype(element);
    OnRegisters<T>(c, areas, [&](auto& dst, auto& a, auto& b, auto& mask) {
      static constexpr Reg::DivSpecificMode kDiv = {MaskMergeMode::ZEROING, true};
      switch (c.op) {
        case 0:
          return Reg::Div<T, &kDiv>(dst, a, b, mask);
        case 1:
          return MERGED(Exp, dst, a, mask);
        case 2:
          return MERGED(Ln, dst, a, mask);
        case 3:
          return MERGED(Sqrt, dst, a, mask);
        case 4:
          return MERGED(Abs, dst, a, mask);
        case 5:
          return MERGED(Neg, dst, a, mask);
        case 6:
          return MERGED(Relu, dst, a, mask);
        case 7:
          return Reg::Log2(dst, a, mask);
        case 8:
          return Reg::Log10(dst, a, mask);
        case 9:
          return MERGED(MulDstAdd, dst, a, b, mask);
        case 10:
          return MERGED(Prelu, dst, a, b, mask);
        case 11:
          return MERGED(AbsSub, dst, a, b, mask);
        case 12:
          return Reg::Adds(dst, a, ScalarOf<T>(c), mask);
        case 13:
          return Reg::Muls(dst, a, ScalarOf<T>(c), mask);
        case 14:
          return Reg::Maxs(dst, a, ScalarOf<T>(c), mask);
        case 15:
          return Reg::Mins(dst, a, ScalarOf<T>(c), mask);
        case 16:
          return Reg::Axpy(dst, a, ScalarOf<T>(c), mask);
        case 17:
          return Reg::LeakyRelu(dst, a, ScalarOf<T>(c), mask);
        case 18:
          return Reg::Truncate<T, RoundMode::CAST_FLOOR>(dst, a, mask);
        case 19:
          return Reg::Truncate<T, RoundMode::CAST_RINT>(dst, a, mask);
        default:
          Trap();
      }
    });
  };
  c.dtype == 0 ? run(float()) : run(half());
}

CALL_KERNEL(integers) {
  const auto run = [&](auto element) {
    using T = decltype(element);
    OnRegisters<T>(c, areas, [&](auto& dst, auto& a, auto& b, auto& mask) {
      switch (c.op) {
        case 0:
          return MERGED(And, dst, a, b, mask);
        case 1:
          return MERGED(Or, dst, a, b, mask);
        case 2:
          return MERGED(Xor, dst, a, b, mask);
        case 3:
          return MERGED(Not, dst, a, mask);
        case 4:
          return Reg::ShiftLefts(dst, a, static_cast<int16_t>(c.count), mask);
        case 5:
          return Reg::ShiftRights(dst, a, static_cast<int16_t>(c.count), mask);
        case 6:
          return Reg::ShiftLeft(dst, a, (Reg::RegTensor<std::make_signed_t<T>>&)b, mask);
        case 7:
          return Reg::ShiftRight(dst, a, (Reg::RegTensor<std::make_signed_t<T>>&)b, mask);
        case 8:
          return Reg::Arange(dst, static_cast<T>(c.count));
        case 9:
          return Reg::Arange<T, Reg::IndexOrder::DECREASE_ORDER>(dst, static_cast<T>(c.count));
        case 10:
          return Reg::Unsqueeze(dst, mask);
        default:
          Trap();
      }
    });
  };
  switch (c.dtype) {
    case 3:
      return run(int8_t());
    case 5:
      return run(int16_t());
    case 6:
      return run(uint16_t());
    case 7:
      return run(int32_t());
    case 8:
      return run(uint32_t());
    default:
      Trap();
  }
}

// What moves lanes, of elements of any type.
CALL_KERNEL(lanes) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    OnRegisters<T>(c, areas, [&](auto& dst, auto& a, auto& b, auto& mask) {
      switch (c.op) {
        case 0:
          return Reg::Select(dst, a, b, mask);
        case 1:
          return Reg::Move(dst, a, mask);
        case 2:
          return Reg::Move(dst, a);
        case 3:
          return Reg::Duplicate(dst, a, mask);
        case 4:
          return MERGED(Duplicate, dst, ScalarOf<T>(c), mask);
        case 5:
          return Reg::Duplicate(dst, ScalarOf<T>(c));
        case 6:
          return Reg::Interleave(dst, b, a, b);
        case 7:
          return Reg::Interleave(b, dst, a, b);
        case 8:
          return Reg::DeInterleave(dst, b, a, b);
        case 9:
          return Reg::DeInterleave(b, dst, a, b);
        case 10:
          return Reg::Squeeze(dst, a, mask);
        default:
          Trap();
      }
    });
  });
}

namespace {

template <int layout, RoundMode round, int saturation>
constexpr Reg::CastTrait kTrait = {static_cast<Reg::RegLayout>(layout),
                                   static_cast<Reg::SatMode>(saturation), MaskMergeMode::ZEROING,
                                   round};

template <typename To, typename From, RoundMode round = RoundMode::CAST_RINT>
void CastBy(const Call& c, Areas& areas) {
  __VEC_SCOPE__ {
    Reg::RegTensor<To> dst;
    Reg::RegTensor<From> src;
    Reg::MaskReg all = Reg::CreateMask<To>();
    Reg::LoadAlign(src, At<From>(areas, 1));
    Reg::MaskReg mask = MaskOf<From>(c, areas);
    switch (c.mode + 2 * c.count) {
      case 0:
        Reg::Cast<To, From, kTrait<0, round, 0>>(dst, src, mask);
        break;
      case 1:
        Reg::Cast<To, From, kTrait<1, round, 0>>(dst, src, mask);
        break;
      case 2:
        Reg::Cast<To, From, kTrait<0, round, 1>>(dst, src, mask);
        break;
      default:
        Reg::Cast<To, From, kTrait<1, round, 1>>(dst, src, mask);
        break;
    }
    Reg::StoreAlign(At<To>(areas, 0), dst, all);
  }
}

}  // namespace

CALL_KERNEL(cast) {
  switch (c.op) {
    case 0:
      return CastBy<float, half>(c, areas);
    case 1:
      return CastBy<half, float>(c, areas);
    case 2:
      return CastBy<float, bfloat16_t>(c, areas);
    case 3:
      return CastBy<bfloat16_t, float>(c, areas);
    case 4:
      return CastBy<int32_t, float, RoundMode::CAST_FLOOR>(c, areas);
    case 5:
      return CastBy<float, int32_t>(c, areas);
    case 6:
      return CastBy<int16_t, int32_t>(c, areas);
    case 7:
      return CastBy<int32_t, int16_t>(c, areas);
    case 8:
      return CastBy<uint8_t, half>(c, areas);
    case 9:
      return CastBy<half, int8_t>(c, areas);
    case 10:
      return CastBy<half, bfloat16_t>(c, areas);
    case 11:
      return CastBy<int64_t, int32_t>(c, areas);
    default:
      Trap();
  }
}

// The comparison as 0 and 1 in the lanes of dst.
CALL_KERNEL(compare) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    OnRegisters<T>(c, areas, [&](auto& dst, auto& a, auto& b, auto& mask) {
      Reg::MaskReg result;
      switch (c.op) {
        case 0:
          Reg::Compare<T, CMPMODE::LT>(result, a, b, mask);
          break;
        case 1:
          Reg::Compare<T, CMPMODE::GT>(result, a, b, mask);
          break;
        case 2:
          Reg::Compare<T, CMPMODE::EQ>(result, a, b, mask);
          break;
        case 3:
          Reg::Compare<T, CMPMODE::LE>(result, a, b, mask);
          break;
        case 4:
          Reg::Compare<T, CMPMODE::GE>(result, a, b, mask);
          break;
        case 5:
          Reg::Compare<T, CMPMODE::NE>(result, a, b, mask);
          break;
        default:
          Reg::CompareScalar<T, CMPMODE::GE>(result, a, ScalarOf<T>(c), mask);
          break;
      }
      Reg::RegTensor<T> one, zero;
      Reg::Duplicate(one, T(1));
      Reg::Duplicate(zero, T(0));
      Reg::Select(dst, one, zero, result);
    });
  });
}

namespace {

template <typename To, typename From>
void ReduceBy(const Call& c, Areas& areas) {
  __VEC_SCOPE__ {
    Reg::RegTensor<To> dst;
    Reg::RegTensor<From> src;
    Reg::MaskReg all = Reg::CreateMask<To>();
    Reg::LoadAlign(src, At<From>(areas, 1));
    Reg::MaskReg mask = MaskOf<From>(c, areas);
    if (c.op == 0) {
      Reg::Reduce<ReduceType::SUM>(dst, src, mask);
    } else if (c.op == 1) {
      Reg::ReduceDataBlock<ReduceType::SUM>(dst, src, mask);
    }
    if constexpr (std::is_same_v<To, From>) {
      if (c.op == 2) {
        Reg::Reduce<ReduceType::MAX>(dst, src, mask);
      } else if (c.op == 3) {
        Reg::ReduceMin(dst, src, mask);
      } else if (c.op == 4) {
        Reg::ReduceDataBlock<ReduceType::MAX>(dst, src, mask);
      } else if (c.op == 5) {
        Reg::PairReduceElem(dst, src, mask);
      }
    }
    Reg::StoreAlign(At<To>(areas, 0), dst, all);
  }
}

}  // namespace

CALL_KERNEL(reduce) {
  switch (c.dtype) {
    case 0:
      return ReduceBy<float, float>(c, areas);
    case 1:
      return ReduceBy<half, half>(c, areas);
    case 5:
      return ReduceBy<int32_t, int16_t>(c, areas);
    case 7:
      return ReduceBy<int32_t, int32_t>(c, areas);
    default:
      Trap();
  }
}

template <typename T, Reg::LoadDist dist = Reg::LoadDist::DIST_NORM>
void LoadAs(Areas& areas, int32_t from) {
  Reg::RegTensor<T> dst;
  Reg::MaskReg all = Reg::CreateMask<T>();
  Reg::LoadAlign<T, dist>(dst, At<T>(areas, 1, from));
  Reg::StoreAlign(At<T>(areas, 0), dst, all);
}
// By the older name.
template <typename T, Reg::LoadDist dist>
void CopyAs(Areas& areas, int32_t from) {
  Reg::RegTensor<T> dst;
  Reg::MaskReg all = Reg::CreateMask<T>();
  Reg::DataCopy<T, dist>(dst, At<T>(areas, 1, from));
  Reg::StoreAlign(At<T>(areas, 0), dst, all);
}
template <typename T, Reg::LoadDist dist>
void LoadTwoAs(Areas& areas, int32_t from) {
  Reg::RegTensor<T> dst0, dst1;
  Reg::MaskReg all = Reg::CreateMask<T>();
  Reg::LoadAlign<T, dist>(dst0, dst1, At<T>(areas, 1, from));
  Reg::StoreAlign(At<T>(areas, 0), dst0, all);
  Reg::StoreAlign(At<T>(areas, 0, 256), dst1, all);
}

// Loads by every distribution. extra[0]: the byte where it starts.
CALL_KERNEL(load) {
  const int32_t from = c.extra[0];
  using Reg::LoadDist;
  __VEC_SCOPE__ {
    switch (c.op) {
      case 0:
        return LoadAs<uint8_t>(areas, from);
      case 1:
        return LoadAs<uint8_t, LoadDist::DIST_BRC_B8>(areas, from);
      case 2:
        return LoadAs<uint16_t, LoadDist::DIST_BRC_B16>(areas, from);
      case 3:
        return LoadAs<uint32_t, LoadDist::DIST_BRC_B32>(areas, from);
      case 4:
        return LoadAs<uint8_t, LoadDist::DIST_US_B8>(areas, from);
      case 5:
        return LoadAs<uint16_t, LoadDist::DIST_US_B16>(areas, from);
      case 6:
        return LoadAs<uint8_t, LoadDist::DIST_DS_B8>(areas, from);
      case 7:
        return CopyAs<uint16_t, LoadDist::DIST_DS_B16>(areas, from);
      case 8:
        return LoadAs<uint8_t, LoadDist::DIST_UNPACK_B8>(areas, from);
      case 9:
        return CopyAs<uint16_t, LoadDist::DIST_UNPACK_B16>(areas, from);
      case 10:
        return LoadAs<uint32_t, LoadDist::DIST_UNPACK_B32>(areas, from);
      case 11:
        return LoadAs<uint8_t, LoadDist::DIST_UNPACK4_B8>(areas, from);
      case 12:
        return LoadAs<uint16_t, LoadDist::DIST_BLK>(areas, from);
      case 13:
        return LoadAs<uint16_t, LoadDist::DIST_E2B_B16>(areas, from);
      case 14:
        return LoadAs<uint32_t, LoadDist::DIST_E2B_B32>(areas, from);
      case 15:
        return LoadTwoAs<uint8_t, LoadDist::DIST_DINTLV_B8>(areas, from);
      case 16:
        return LoadTwoAs<uint16_t, LoadDist::DIST_DINTLV_B16>(areas, from);
      case 17:
        return LoadTwoAs<uint32_t, LoadDist::DIST_DINTLV_B32>(areas, from);
    }
    Reg::RegTensor<uint8_t> dst, other;
    Reg::MaskReg all = Reg::CreateMask<uint8_t>();
    auto* at = At<uint8_t>(areas, 1, from);
    switch (c.op) {
      case 18: {  // not aligned, and again where the first one ended
        Reg::UnalignRegForLoad ureg;
        Reg::LoadUnAlignPre(ureg, at);
        Reg::LoadUnAlign(dst, ureg, at, 256);
        Reg::LoadUnAlign(other, ureg, at, 256);
        Reg::StoreAlign(At<uint8_t>(areas, 0, 256), other, all);
        break;
      }
      case 19:  // every other block
        Reg::LoadAlign<uint8_t, Reg::DataCopyMode::DATA_BLOCK_COPY>(dst, at, 2, all);
        break;
      case 20: {
        Reg::AddrReg offset = Reg::CreateAddrReg<uint8_t>(2, 32, 3, 64);
        Reg::LoadAlign(dst, at, offset);
        break;
      }
      default:
        Reg::LoadAlign<uint8_t, Reg::PostLiteral::POST_MODE_UPDATE>(dst, at, 64);
        Reg::LoadAlign(dst, at);
    }
    Reg::StoreAlign(At<uint8_t>(areas, 0), dst, all);
  }
}

CALL_KERNEL(store) {
  const int32_t to = c.extra[0];
  __VEC_SCOPE__ {
    Reg::RegTensor<uint8_t> a8, b8;
    Reg::LoadAlign(a8, At<uint8_t>(areas, 1));
    Reg::LoadAlign(b8, At<uint8_t>(areas, 2));
    auto& a16 = (Reg::RegTensor<uint16_t>&)a8;
    auto& b16 = (Reg::RegTensor<uint16_t>&)b8;
    auto& a32 = (Reg::RegTensor<uint32_t>&)a8;
    auto& b32 = (Reg::RegTensor<uint32_t>&)b8;
    Reg::MaskReg mask8 = MaskOf<uint8_t>(c, areas);
    Reg::MaskReg mask16 = MaskOf<uint16_t>(c, areas);
    Reg::MaskReg mask32 = MaskOf<uint32_t>(c, areas);
    auto* const p8 = At<uint8_t>(areas, 0, to);
    auto* const p16 = At<uint16_t>(areas, 0, to);
    auto* const p32 = At<uint32_t>(areas, 0, to);
    using Reg::StoreDist;
    switch (c.op) {
      case 0:
        Reg::StoreAlign(p8, a8, mask8);
        break;
      case 1:
        Reg::StoreAlign(p16, a16, mask16);
        break;
      case 2:
        Reg::DataCopy<uint32_t, StoreDist::DIST_NORM_B32>(p32, a32, mask32);
        break;
      case 3:
        Reg::StoreAlign<uint8_t, StoreDist::DIST_FIRST_ELEMENT_B8>(p8, a8, mask8);
        break;
      case 4:
        Reg::StoreAlign<uint16_t, StoreDist::DIST_FIRST_ELEMENT_B16>(p16, a16, mask16);
        break;
      case 5:
        Reg::StoreAlign<uint32_t, StoreDist::DIST_FIRST_ELEMENT_B32>(p32, a32, mask32);
        break;
      case 6:
        Reg::StoreAlign<uint16_t, StoreDist::DIST_PACK_B16>(p16, a16, mask16);
        break;
      case 7:
        Reg::StoreAlign<uint32_t, StoreDist::DIST_PACK_B32>(p32, a32, mask32);
        break;
      case 8:
        Reg::StoreAlign<uint32_t, StoreDist::DIST_PACK4_B32>(p32, a32, mask32);
        break;
      case 9:
        Reg::StoreAlign<uint8_t, StoreDist::DIST_INTLV_B8>(p8, a8, b8, mask8);
        break;
      case 10:
        Reg::StoreAlign<uint16_t, StoreDist::DIST_INTLV_B16>(p16, a16, b16, mask16);
        break;
      case 11:
        Reg::StoreAlign<uint32_t, StoreDist::DIST_INTLV_B32>(p32, a32, b32, mask32);
        break;
      case 12: {  // c.count bytes of each, one behind the other
        Reg::UnalignRegForStore ureg;
        auto* at = p8;
        const auto count = static_cast<uint32_t>(c.count);
        Reg::StoreUnAlign(at, a8, ureg, count);
        Reg::StoreUnAlign(at, b8, ureg, count);
        Reg::StoreUnAlignPost(at, ureg, 0);
        break;
      }
      case 13:  // every other block
        Reg::StoreAlign<uint16_t, Reg::DataCopyMode::DATA_BLOCK_COPY>(p16, a16, 2, mask16);
        break;
      case 14: {  // what Squeeze keeps of both
        Reg::UnalignRegForStore ureg;
        Reg::ClearSpr<SpecialPurposeReg::AR>();
        Reg::RegTensor<uint8_t> kept;
        Reg::Squeeze<uint8_t, Reg::GatherMaskMode::STORE_REG>(kept, a8, mask8);
        Reg::StoreUnAlign(p8, kept, ureg);
        Reg::Squeeze<uint8_t, Reg::GatherMaskMode::STORE_REG>(kept, b8, mask8);
        Reg::StoreUnAlign(p8, kept, ureg);
        Reg::StoreUnAlignPost(p8, ureg);
        break;
      }
      default:
        Trap();
    }
  }
}

// Halves and doubles of elements.
CALL_KERNEL(pack) {
  __VEC_SCOPE__ {
    Reg::RegTensor<uint8_t> a8;
    Reg::LoadAlign(a8, At<uint8_t>(areas, 1));
    Reg::MaskReg all = Reg::CreateMask<uint8_t>();
    Reg::RegTensor<uint16_t> u16;
    Reg::RegTensor<int32_t> i32;
    auto& result = c.op < 2 ? (Reg::RegTensor<uint8_t>&)u16 : (Reg::RegTensor<uint8_t>&)i32;
    switch (c.op) {
      case 0:
        Reg::Pack(u16, (Reg::RegTensor<uint32_t>&)a8);
        break;
      case 1:
        Reg::Pack<uint16_t, uint32_t, Reg::HighLowPart::HIGHEST>(u16,
                                                                 (Reg::RegTensor<uint32_t>&)a8);
        break;
      case 2:
        Reg::UnPack(i32, (Reg::RegTensor<int16_t>&)a8);
        break;
      default:
        Reg::UnPack<int32_t, int16_t, Reg::HighLowPart::HIGHEST>(i32, (Reg::RegTensor<int16_t>&)a8);
        break;
    }
    Reg::StoreAlign(At<uint8_t>(areas, 0), result, all);
  }
}

// Masks as 32 bytes each: those of areas 1 and 2, changed.
CALL_KERNEL(masks) {
  __VEC_SCOPE__ {
    Reg::MaskReg a, b, dst, other;
    Reg::MaskReg all = Reg::CreateMask<uint8_t>();
    Reg::LoadAlign(a, At<uint8_t>(areas, 1));
    Reg::LoadAlign(b, At<uint8_t>(areas, 2));
    switch (c.op) {
      case 0:
        Reg::And(dst, a, b, all);
        break;
      case 1:
        Reg::MaskOr(dst, a, b, all);
        break;
      case 2:
        Reg::Xor(dst, a, b, a);
        break;
      case 3:
        Reg::Not(dst, a, b);
        break;
      case 4:
        Reg::Select(dst, a, b, b);
        break;
      case 5:
        Reg::MaskPack(dst, a);
        break;
      case 6:
        Reg::Pack<Reg::HighLowPart::HIGHEST>(dst, a);
        break;
      case 7:
        Reg::MaskUnPack<Reg::HighLowPart::LOWEST>(dst, a);
        break;
      case 8:
        Reg::UnPack<Reg::HighLowPart::HIGHEST>(dst, a);
        break;
      case 9:
        Reg::Interleave<uint16_t>(dst, other, a, b);
        Reg::StoreAlign(At<uint8_t>(areas, 0, 32), other);
        break;
      case 10:
        Reg::DeInterleave<uint8_t>(dst, other, a, b);
        Reg::StoreAlign(At<uint8_t>(areas, 0, 32), other);
        break;
      case 11:
        dst = Reg::CreateMask<uint16_t, Reg::MaskPattern::VL3>();
        break;
      case 12:
        dst = Reg::CreateMask<float, Reg::MaskPattern::M4>();
        break;
      case 13:
        dst = Reg::CreateMask<half, Reg::MaskPattern::H>();
        break;
      case 14:
        dst = Reg::CreateMask<uint8_t, Reg::MaskPattern::ALLF>();
        break;
      default:
        dst = Reg::CreateMask<int64_t, Reg::MaskPattern::ALL>();
        break;
    }
    Reg::StoreAlign(At<uint8_t>(areas, 0), dst);
  }
}

// Elements by an index register: from UB, to UB, from a register.
CALL_KERNEL(pick) {
  __VEC_SCOPE__ {
    Reg::RegTensor<uint32_t> index, values;
    Reg::MaskReg mask = MaskOf<uint32_t>(c, areas);
    Reg::LoadAlign(index, At<uint32_t>(areas, 2));
    if (c.op == 0) {
      Reg::Gather(values, At<uint32_t>(areas, 1), index, mask);
    } else if (c.op == 1) {
      Reg::LoadAlign(values, At<uint32_t>(areas, 1));
      Reg::Scatter(At<uint32_t>(areas, 0), values, index, mask);
    } else {
      Reg::RegTensor<uint32_t> from;
      Reg::LoadAlign(from, At<uint32_t>(areas, 1));
      Reg::Gather(values, from, index);
    }
    if (c.op != 1) {
      Reg::MaskReg all = Reg::CreateMask<uint32_t>();
      Reg::StoreAlign(At<uint32_t>(areas, 0), values, all);
    }
  }
}

namespace {

constexpr Reg::CastTrait kWiden = {Reg::RegLayout::ZERO, Reg::SatMode::UNKNOWN,
                                   MaskMergeMode::ZEROING, RoundMode::UNKNOWN};
constexpr Reg::CastTrait kNarrow = {Reg::RegLayout::ZERO, Reg::SatMode::NO_SAT,
                                    MaskMergeMode::ZEROING, RoundMode::CAST_RINT};

// The product of two rows in float, less its sum.
__simd_vf__ inline void HalfRow(__ubuf__ half* dst, __ubuf__ half* a, __ubuf__ half* b,
                                uint32_t count) {
  using Reg::LoadDist;
  Reg::RegTensor<half> a16, b16, dst16;
  Reg::RegTensor<float> x, y, sum;
  Reg::MaskReg all = Reg::CreateMask<float>();
  Reg::MaskReg mask = Reg::UpdateMask<float>(count);
  Reg::LoadAlign<half, LoadDist::DIST_UNPACK_B16>(a16, a);
  Reg::LoadAlign<half, LoadDist::DIST_UNPACK_B16>(b16, b);
  Reg::Cast<float, half, kWiden>(x, a16, mask);
  Reg::Cast<float, half, kWiden>(y, b16, mask);
  Reg::Mul(x, x, y, mask);
  Reg::Reduce<ReduceType::SUM>(sum, x, mask);
  Reg::Duplicate(sum, sum, all);
  Reg::Sub(x, x, sum, mask);
  Reg::Cast<half, float, kNarrow>(dst16, x, mask);
  Reg::StoreAlign<half, Reg::StoreDist::DIST_PACK_B32>(dst, dst16, mask);
}

}  // namespace

CALL_KERNEL(half_row) {
  asc_vf_call<HalfRow>(At<half>(areas, 0), At<half>(areas, 1), At<half>(areas, 2),
                       static_cast<uint32_t>(c.mask[0]));
}

// What is wrong, one by one.
CALL_KERNEL(wrong) {
  Reg::MaskReg all;
  Reg::RegTensor<float> x, y;
  if (c.op == 0) {  // not in a vector function
    Reg::Add(x, x, x, all);
  }
  __VEC_SCOPE__ {
    all = Reg::CreateMask<float>();
    Reg::LoadAlign(x, At<float>(areas, 1));
    switch (c.op) {
      case 1:  // not aligned
        Reg::LoadAlign(x, At<float>(areas, 1, 4));
        break;
      case 2:  // behind the buffer's end
        Reg::StoreAlign(At<float>(areas, 2, kAreaBytes - 128), x, all);
        break;
      case 3:  // loads what was stored just before
        Reg::StoreAlign(At<float>(areas, 1), x, all);
        Reg::LoadAlign(y, At<float>(areas, 1));
        Reg::StoreAlign(At<float>(areas, 0), y, all);
        break;
      case 4:  // the same with a barrier
        Reg::StoreAlign(At<float>(areas, 1), x, all);
        Reg::LocalMemBar<Reg::MemType::VEC_STORE, Reg::MemType::VEC_LOAD>();
        Reg::LoadAlign(y, At<float>(areas, 1));
        Reg::StoreAlign(At<float>(areas, 0), y, all);
        break;
      case 5:  // a register that nothing has written
        Reg::Add(x, x, y, all);
        Reg::StoreAlign(At<float>(areas, 0), x, all);
        break;
      case 6:  // lanes behind the end of a buffer, used
        Reg::LoadAlign(x, At<float>(areas, 2, kAreaBytes - 32));
        Reg::StoreAlign(At<float>(areas, 0), x, all);
        break;
      case 7: {  // and not used
        uint32_t count = 8;
        Reg::MaskReg some = Reg::UpdateMask<float>(count);
        Reg::LoadAlign(x, At<float>(areas, 2, kAreaBytes - 32));
        Reg::StoreAlign(At<float>(areas, 0), x, some);
        break;
      }
      case 8: {  // an index outside
        Reg::RegTensor<uint32_t> index;
        Reg::Duplicate(index, kAreaBytes);
        Reg::Gather(x, At<float>(areas, 1), index, all);
        break;
      }
      case 9:
        asc_vf_call<HalfRow>(At<half>(areas, 0), At<half>(areas, 1), At<half>(areas, 2), 4u);
        break;
      case 10: {  // jumps while bytes are held back
        Reg::UnalignRegForStore ureg;
        auto* at = At<float>(areas, 0);
        Reg::StoreUnAlign(at, x, ureg, 3);
        at += 8;
        Reg::StoreUnAlign(at, x, ureg, 3);
        Reg::StoreUnAlignPost(at, ureg, 0);
        break;
      }
      case 11: {  // MERGING keeps lanes that nothing has written
        uint32_t count = 3;
        Reg::MaskReg some = Reg::UpdateMask<float>(count);
        Reg::Abs<float, MaskMergeMode::MERGING>(y, x, some);
        Reg::StoreAlign(At<float>(areas, 0), y, all);
        break;
      }
      default:
        break;
    }
  }
}
