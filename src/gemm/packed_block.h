// The one allocation that holds a packed matrix: its sections and its checksum. Every
// way of packing fills one of these; PackedB::from_bytes reads it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/memory.h"
#include "fbg/gemm/pack_b.h"

namespace fbg {

// The fields from which the layout follows.
struct BlockShape {
  GemmType gemm_type;
  std::int64_t k, n;
  bool scale, zero_point;  // for int4: false, and whether groups have offsets
  std::int64_t num_outliers = 0;
};

// Header with every offset set; throws std::length_error where the sizes cannot be counted.
PackedHeader lay_out(const BlockShape& shape);

// The offsets of the three arrays of the outliers, from outliers_offset on, and their end.
struct OutlierLayout {
  std::int64_t indptr, rows, values, end;
  static OutlierLayout of(std::int64_t offset, std::int64_t n, std::int64_t num_outliers);
};

// A block being filled.
struct PackedBlock {
  std::shared_ptr<AlignedBuffer> buffer;
  PackedHeader header;

  // Without Fill::zero, whoever fills it writes every byte after the header, padding included.
  explicit PackedBlock(const PackedHeader& h, Fill fill = Fill::zero);
  template <class T>
  T* at(std::int64_t offset) {
    return reinterpret_cast<T*>(buffer->data() + offset);
  }
  // Writes the header, which comes last because it has the checksum of the sections, and counts
  // the packing. A block that is never stored needs no checksum.
  std::shared_ptr<const std::byte> finish(bool checksum = true);
};

// use(constant): 1, 2 or 4, the number of bytes or elements that have a place of their own in a
// panel, as a std::integral_constant.
template <class Use>
void with_constant(std::int64_t value, Use use) {
  if (value == 4) return use(std::integral_constant<std::int64_t, 4>());
  if (value == 2) return use(std::integral_constant<std::int64_t, 2>());
  use(std::integral_constant<std::int64_t, 1>());
}

}  // namespace fbg
