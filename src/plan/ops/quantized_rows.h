// Rows that a linear layer hands on as the bytes that their readers multiply.
//
//   a row of floats  [f32 f32 f32 f32 f32 f32 f32 f32 ...]
//   the same, quantized  [u8 ... to a whole cache line][Parameters]
//
// Where all readers of a product quantize its rows, it quantizes them, in place, as the readers
// would (PackAWithQuantRowOffset). The readers multiply the bytes where they are: the same bits,
// but rows are quantized once, however many threads read them. With many rows, each thread computes
// those that it quantizes; with fewer, threads share columns as well, and quantize rows when all
// are done; with too few, the readers quantize floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/memory.h"
#include "core/policy.h"
#include "fbg/gemm/pack_a.h"
#include "plan/ops/ops.h"
#include "simd/rows.h"

namespace fbg {

// A view of such a buffer, and a packer (PackAModel) of its rows.
class QuantizedRows {
 public:
  using Element = std::uint8_t;
  static constexpr bool kHasScale = true;

  explicit QuantizedRows(const BufferView& buffer) : buffer_(buffer) {}

  // Whether a row of so many floats has room for the same quantized.
  static bool serves(std::int64_t cols) {
    return parameters_at(cols) + static_cast<std::int64_t>(sizeof(Parameters)) <=
           arena_row_bytes(cols, ValueType::float32);
  }
  // Whether a run of so many rows hands them on quantized.
  static bool gains(std::int64_t rows, int num_threads) {
    return rows >= num_threads * policy::gemm::kQuantizedRows;
  }
  // Whether each thread computes whole rows.
  static bool whole(std::int64_t rows, int num_threads) {
    return rows >= num_threads * policy::gemm::kWholeRows;
  }

  std::int64_t rows() const { return buffer_.rows; }
  std::int64_t depth() const { return buffer_.cols; }
  const std::uint8_t* in_place() const { return bytes(0); }
  std::int64_t in_place_ld() const { return buffer_.row_bytes; }

  void prepare(Range rows, ABlock& block) const noexcept {
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const Parameters& p = parameters(rows.begin + i);
      block.scale[i] = p.scale;
      block.zero_point[i] = p.zero_point;
      if (block.row_offsets) block.row_offsets[i] = p.row_offset;
    }
  }
  void pack(Range rows, ABlock& block) const noexcept {
    for (std::int64_t i = 0; i < rows.size(); ++i)
      std::memcpy(static_cast<std::byte*>(block.packed) + i * block.ld, bytes(rows.begin + i),
                  static_cast<std::size_t>(buffer_.cols));
  }

  // Quantizes the rows, which are floats, times the factors of columns, if they are not null.
  void quantize(const float* factors, const simd::RowKernels& kernels) const noexcept {
    const auto n = static_cast<std::size_t>(buffer_.cols);
    for (std::int64_t i = 0; i < buffer_.rows; ++i) {
      const float* const x = buffer_.as<const float>().data + i * buffer_.row_bytes / 4;
      const simd::RowQuant quant = kernels.choose_row_quant(x, factors, n);
      const std::int32_t sum = kernels.quantize_row(x, factors, n, quant, bytes(i));
      parameters(i) = {quant.scale, quant.zero_point, sum};
    }
  }

 private:
  struct Parameters {
    float scale;
    std::int32_t zero_point, row_offset;
  };

  static std::int64_t parameters_at(std::int64_t cols) {
    return round_up(cols, static_cast<std::int64_t>(kCacheLine));
  }
  std::uint8_t* bytes(std::int64_t i) const {
    return reinterpret_cast<std::uint8_t*>(buffer_.data + i * buffer_.row_bytes);
  }
  Parameters& parameters(std::int64_t i) const {
    return *reinterpret_cast<Parameters*>(bytes(i) + parameters_at(buffer_.cols));
  }

  const BufferView buffer_;
};

}  // namespace fbg
