// The kernels that one product may need, generated before it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fbg/kernels/output.h"
#include "kernels/microkernel.h"

namespace fbg {

// The kernel key of a pipeline: its typed stages, and the corrections that the operands need.
KernelKey make_kernel_key(const Geometry& geometry, GemmType gemm_type,
                          std::span<const Stage> stages, bool a_has_scale, bool b_has_scale,
                          bool b_has_zero_point);

// The microkernels of one GEMM type, ISA and pipeline, by tile height, vectors and mask. All of
// them are generated when the table is made, so that no run generates any.
class KernelTable {
 public:
  struct Entry {
    KernelKey key;
    TileFunction run = nullptr;
  };

  KernelTable() = default;
  // Tiles of min_rows or more; max_m bounds the number of rows of any later run.
  KernelTable(const Geometry& geometry, KernelKey key, std::int64_t n, std::int64_t min_rows,
              std::int64_t max_m);
  const Geometry& geometry() const noexcept { return geometry_; }
  const Entry& find(std::int64_t rows, std::int64_t vectors, bool masked) const noexcept {
    return kernels_[index(rows, vectors, masked)];
  }
  // Throws std::logic_error unless the table has the kernels for tiles of up to so many rows.
  // Callers that form their own column groups must check this: a run would call a null pointer.
  void require(std::int64_t max_rows, std::int64_t vectors, bool masked) const;
  std::size_t nbytes() const noexcept { return kernels_.capacity() * sizeof(Entry); }

 private:
  static std::size_t index(std::int64_t rows, std::int64_t vectors, bool masked) noexcept {
    return static_cast<std::size_t>(((rows - 1) * 8 + (vectors - 1)) * 2 + masked);
  }
  Geometry geometry_{};
  std::vector<Entry> kernels_;
};

}  // namespace fbg
