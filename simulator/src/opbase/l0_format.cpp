// SPDX-License-Identifier: Apache-2.0
// l0op functions that change formats: ReFormat, TransData, FormatCast.
#include <algorithm>

#include "aclnn_kernels/transdata.h"
#include "opbase/l0_common.h"
#include "opbase/strided_copy.h"
#include "opdev/data_type_utils.h"
#include "opdev/format_utils.h"

namespace l0op {

using op::internal::Flow;
using op::internal::TensorUse;

namespace {

constexpr int64_t kBlockRows = 16;
constexpr int64_t kBlockRowBytes = 32;

bool NotSimulated(const char* name, const aclTensor* in, op::Format format,
                  const char* why = "of the private formats FRACTAL_NZ is") {
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s of %s from %s to %s is not simulated: %s", name,
          op::ToString(in->GetDataType()).GetString(),
          op::ToString(in->GetStorageFormat()).GetString(), op::ToString(format).GetString(), why);
  return false;
}

// Copies matrices whose elements are where the dims say to or from blocks of 16 rows. Blocks below each other
// are a column of blocks, in which row follows row. So all full columns are one strided copy, and the last one,
// where the matrix ends within its blocks, is another.
void CopyMatrices(const TensorUse& plain, uint8_t* plainFirst, const TensorUse& blocks,
                  uint8_t* blocksFirst, bool toBlocks) {
  const size_t batches = plain.dims.size() - 2;
  const auto bytes = static_cast<size_t>(ge::GetSizeByDataType(plain.dataType));
  const int64_t rows = plain.dims[batches];
  const int64_t columns = plain.dims[batches + 1];
  const int64_t width = blocks.dims.back();
  const int64_t full = columns / width;
  const auto copy = [&](int64_t first, int64_t count, int64_t wide) {
    std::vector<int64_t> dims(plain.dims.begin(), plain.dims.end() - 2);
    std::vector<int64_t> from(plain.strides.begin(), plain.strides.end() - 2);
    std::vector<int64_t> to(blocks.strides.begin(), blocks.strides.end() - 4);
    const int64_t step = width * plain.strides[batches + 1];
    const int64_t blockStep = blocks.strides[batches];
    dims.insert(dims.end(), {count, rows, wide});
    from.insert(from.end(), {step, plain.strides[batches], plain.strides[batches + 1]});
    to.insert(to.end(), {blockStep, width, 1});
    const auto size = static_cast<int64_t>(bytes);
    uint8_t* here = plainFirst + first * step * size;
    uint8_t* there = blocksFirst + first * blockStep * size;
    if (toBlocks) {
      op::internal::StridedCopy(there, to, here, from, dims, bytes);
    } else {
      op::internal::StridedCopy(here, from, there, to, dims, bytes);
    }
  };
  if (full > 0) copy(0, full, width);
  if (columns % width > 0) copy(full, 1, columns % width);
}

void Pack(const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
  std::fill_n(first[1], static_cast<size_t>(uses[1].Bytes()), uint8_t{0});
  CopyMatrices(uses[0], first[0], uses[1], first[1], true);
}

void Unpack(const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
  CopyMatrices(uses[1], first[1], uses[0], first[0], false);
}

// The tensor has to be all of the blocks of such matrices: of a view nobody could tell where it is in them.
bool Holds(const aclTensor* blocks, const op::Shape& shape) {
  const op::Shape& storage = blocks->GetStorageShape();
  const size_t rank = storage.GetDimNum();
  return rank >= 4 && storage[rank - 1] > 0 && storage == NzShape(shape, storage[rank - 1]) &&
         blocks->GetViewShape() == shape && blocks->GetViewOffset() == 0 &&
         op::internal::IsRowMajor(shape, blocks->GetViewStrides());
}

}  // namespace

bool IsNz(op::Format format) {
  const op::Format primary = op::GetPrimaryFormat(format);
  return primary == op::Format::FORMAT_FRACTAL_NZ ||
         (primary >= op::Format::FORMAT_FRACTAL_NZ_C0_16 &&
          primary <= op::Format::FORMAT_FRACTAL_NZ_C0_8);
}

op::Shape NzShape(const op::Shape& shape, int64_t width) {
  const size_t rank = shape.GetDimNum();
  op::Shape storage;
  if (rank < 2) return storage;
  for (size_t i = 0; i + 2 < rank; ++i) storage.AppendDim(shape[i]);
  storage.AppendDim((shape[rank - 1] + width - 1) / width);
  storage.AppendDim((shape[rank - 2] + kBlockRows - 1) / kBlockRows);
  storage.AppendDim(kBlockRows);
  storage.AppendDim(width);
  return storage;
}

bool AddFormatCast(const char* name, const aclTensor* in, const aclTensor* out,
                   aclOpExecutor* executor) {
  const bool fromPrivate = op::IsPrivateFormat(in->GetStorageFormat());
  const bool toPrivate = op::IsPrivateFormat(out->GetStorageFormat());
  const bool same = in->GetStorageFormat() == out->GetStorageFormat() &&
                    in->GetStorageShape() == out->GetStorageShape();
  if (in->GetDataType() != out->GetDataType()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: got %s and %s, want one data type", name,
            op::ToString(in->GetDataType()).GetString(),
            op::ToString(out->GetDataType()).GetString());
    return false;
  }
  if (fromPrivate == toPrivate && (same || !fromPrivate)) return AddCopy(name, in, out, executor);
  const aclTensor* blocks = toPrivate ? out : in;
  const aclTensor* plain = toPrivate ? in : out;
  if (fromPrivate == toPrivate || !IsNz(blocks->GetStorageFormat())) {
    return NotSimulated(name, in, out->GetStorageFormat());
  }
  if (ge::GetSizeByDataType(in->GetDataType()) >= ge::kDataTypeSizeBitOffset ||
      !Holds(blocks, plain->GetViewShape())) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "%s: %s%s and %s in a storage of %s in %s do not go together; want the whole tensor, a "
            "storage of [..., columns / C0, rows / 16, 16, C0], rounded up, and elements with "
            "whole bytes",
            name, op::ToString(in->GetDataType()).GetString(),
            op::ToString(plain->GetViewShape()).GetString(),
            op::ToString(blocks->GetViewShape()).GetString(),
            op::ToString(blocks->GetStorageShape()).GetString(),
            op::ToString(blocks->GetStorageFormat()).GetString());
    return false;
  }
  return AddHostTask(name, {in}, out, Flow::kMove, toPrivate ? Pack : Unpack, executor);
}

const aclTensor* ReFormat(const aclTensor* x, const op::Format& format, aclOpExecutor* executor) {
  if (x == nullptr) {
    OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "ReFormat: the tensor is NULL");
    return nullptr;
  }
  if (x->GetStorageFormat() == format && x->GetViewFormat() == format) return x;
  if (op::IsPrivateFormat(format) || op::IsPrivateFormat(x->GetStorageFormat())) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "ReFormat: %s to %s moves elements, want TransData",
            op::ToString(x->GetStorageFormat()).GetString(), op::ToString(format).GetString());
    return nullptr;
  }
  // Without an executor nobody owns a view, so the tensor itself changes.
  aclTensor* view = executor == nullptr
                        ? const_cast<aclTensor*>(x)
                        : executor->CreateView(x, x->GetViewShape(), x->GetStorageShape(),
                                               x->GetViewStrides(), x->GetViewOffset());
  if (view == nullptr) return nullptr;
  view->SetStorageFormat(format);
  view->SetOriginalFormat(format);
  view->SetViewFormat(format);
  return view;
}

const aclTensor* TransData(const aclTensor* x, op::Format dstPrimaryFormat, int64_t,
                           aclOpExecutor* executor) {
  if (!CheckL0Args("TransData", x, executor)) return nullptr;
  const op::Format format = x->GetStorageFormat();
  if (format == dstPrimaryFormat) return x;
  if (!op::IsPrivateFormat(dstPrimaryFormat) && !op::IsPrivateFormat(format)) {
    return ReFormat(x, dstPrimaryFormat, executor);
  }
  const op::Shape& shape = x->GetViewShape();
  op::Shape storage = shape;
  if (op::IsPrivateFormat(dstPrimaryFormat)) {
    const int size = ge::GetSizeByDataType(x->GetDataType());
    const bool nz = dstPrimaryFormat == op::Format::FORMAT_FRACTAL_NZ;
    if (!nz || size < 1 || size > 2) {
      nz ? NotSimulated("TransData", x, dstPrimaryFormat, "blocks are of elements of 1 or 2 bytes")
         : NotSimulated("TransData", x, dstPrimaryFormat);
      return nullptr;
    }
    storage = NzShape(shape, kBlockRowBytes / size);
  }
  const aclTensor* out =
      executor->AllocTensor(storage, shape, x->GetDataType(), dstPrimaryFormat, x->GetViewFormat());
  return out != nullptr && AddFormatCast("TransData", x, out, executor) ? out : nullptr;
}

const aclTensor* TransDataSpecial(const aclTensor* x, op::Format dstPrimaryFormat, int64_t groups,
                                  aclOpExecutor* executor) {
  return TransData(x, dstPrimaryFormat, groups, executor);
}

}  // namespace l0op
