// A packer of A: rows of a 4-bit embedding table, looked up and unpacked where the kernel wants
// them.
//
//   table     [rows][(K + 1) / 2]   bytes; k even: low four bits, k odd: high four
//             real = scale * (q - zero_point), one of each per row of the table
//   indices   row i of A is row indices[i] of the table
//
// The looked-up matrix, eight times the table's size as float, never exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fbg/gemm/pack_a.h"

struct EmbeddingTable {
  std::int64_t columns;  // K
  std::vector<std::uint8_t> nibbles;
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;

  const std::uint8_t* row(std::int64_t i) const { return nibbles.data() + i * ((columns + 1) / 2); }
};

class PackEmbeddingRows {
 public:
  using Element = std::uint8_t;            // what the integer kernels read
  static constexpr bool kHasScale = true;  // so Dequantize and Requantize may follow

  PackEmbeddingRows(const EmbeddingTable& table, const std::vector<std::int64_t>& indices)
      : table_(table), indices_(indices) {}

  std::int64_t rows() const { return static_cast<std::int64_t>(indices_.size()); }
  std::int64_t depth() const { return table_.columns; }

  // Nothing that the kernel could read where it lies.
  const std::uint8_t* in_place() const { return nullptr; }
  std::int64_t in_place_ld() const { return 0; }

  // What is known of the rows before their elements are read.
  void prepare(fbg::Range rows, fbg::ABlock& block) const noexcept {
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const std::int64_t index = indices_[rows.begin + i];
      block.scale[i] = table_.scale[index];
      block.zero_point[i] = table_.zero_point[index];
    }
  }

  // The elements, zeros up to a whole k-group, and row sums where the weights have zero points.
  void pack(fbg::Range rows, fbg::ABlock& block) const noexcept {
    const std::int64_t columns = table_.columns;
    const std::int64_t padded = fbg::round_up(columns, fbg::Int32::format.kr);
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const std::uint8_t* from = table_.row(indices_[rows.begin + i]);
      auto* to =
          reinterpret_cast<std::uint8_t*>(static_cast<std::byte*>(block.packed) + i * block.ld);
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < columns; ++k) {
        to[k] = from[k / 2] >> (k % 2 * 4) & 15;
        sum += to[k];
      }
      for (std::int64_t k = columns; k < padded; ++k) to[k] = 0;
      if (block.row_offsets) block.row_offsets[i] = sum;
    }
  }

 private:
  const EmbeddingTable& table_;
  const std::vector<std::int64_t>& indices_;
};
static_assert(fbg::PackAModel<PackEmbeddingRows>);
