// Embedding tables as they lie in memory, and how floats become their rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/core/types.h"
#include "fbg/kernels/embedding_rows.h"

namespace fbg {

// A table in place: `stride` bytes from row to row. Nothing needs to be aligned.
struct EmbeddingRows {
  const std::byte* data = nullptr;
  std::int64_t rows = 0, stride = 0;
};

// Quantizes rows, in float32; T is the type of scale and bias, and x the rows of a matrix whose
// columns are contiguous. To integers by FBGEMM's definition:
//
//   8 bits, T = float32   bias = min     scale = (max - min) / 255   r = 255 / (max - min + 1e-8)
//   others                bias = T(min)  scale = T((max - bias) / (2^bits - 1))  r = 1 / scale
//                         scale = 1 where the range is 0, or T makes the scale or 1 / r 0
//
//   q = saturate(rint((x - bias) * r)), half to even
//
// A minimum of -0 counts as 0, because it depends on the order of comparisons which of the two is
// found. To float8_e4m3fn:
//
//   scale = T(max |x| / 448), or 1 where that is 0     q = saturate(x / scale), half to even
//
// Returns the first row that has a NaN or an infinity, or whose scale or bias is too large for T,
// and writes neither that row nor those behind it; -1 if there is none.
std::int64_t quantize_rows(const RowLayout& layout, MatrixView<const float> x, std::byte* rows,
                           std::int64_t stride) noexcept;

}  // namespace fbg
