// Derives the kernel key of a product from its pipeline and operands, and generates the kernel of
// every tile that a run may need. The families of kernels are listed in src/kernels/table.h.
#include "gemm/kernel_table.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace fbg {

KernelKey make_kernel_key(const Geometry& geometry, GemmType gemm_type,
                          std::span<const Stage> stages, bool a_has_scale, bool b_has_scale,
                          bool b_has_zero_point) {
  const bool integer = is_integer(gemm_type);
  KernelKey key{};
  key.gemm_type = gemm_type;
  key.isa = geometry.isa;
  key.narrow = geometry.narrow;
  key.rows = key.vectors = 1;
  const TypedPipeline typed = type_pipeline(stages, integer ? ValueType::acc : ValueType::float32);
  for (int s = 0; s < typed.count; ++s) {
    const StageCode& code = typed.codes[s];
    if (scales_sums(code) && !(a_has_scale && b_has_scale))
      throw PipelineTypeError(std::string("gemm: ") + stage_name(code.kind) +
                              " needs the scales of both operands, but " +
                              (a_has_scale ? "the weights have none" : "the left one has none"));
    if (corrects_sums(code) && !a_has_scale)
      throw PipelineTypeError(std::string("gemm: ") + stage_name(code.kind) +
                              " needs the zero point of the left operand, which has none");
    if (corrects_sums(code)) {
      key.corrections = b_has_zero_point ? Corrections::both : Corrections::a;
    }
    key.stages[s] = code;
  }
  if (is_int4(gemm_type) && !a_has_scale)
    throw PipelineTypeError(
        "gemm: int4 weights need the scales of the left operand, which has none");
  key.group_offsets = is_int4(gemm_type) && b_has_zero_point;
  key.num_stages = static_cast<std::uint8_t>(typed.count);
  return key;
}

KernelTable::KernelTable(const Geometry& geometry, KernelKey key, std::int64_t n,
                         std::int64_t min_rows, std::int64_t max_m)
    : geometry_(geometry),
      kernels_(static_cast<std::size_t>(geometry.max_rows) * 16, Entry{key, nullptr}) {
  const int tallest = static_cast<int>(std::clamp<std::int64_t>(max_m, 1, geometry.max_rows));
  for (int rows = static_cast<int>(min_rows); rows <= tallest; ++rows) {
    // Beside tiles that are one row taller it has their width, as Geometry::widest() says; where
    // that is a part of a panel, it is none of the widths below.
    const bool has_taller = rows < geometry.max_rows && 2 * (rows + 1) > geometry.max_rows;
    for (const int vectors : {geometry.max_vectors[rows - 1], geometry.widest(rows),
                              geometry.max_vectors[has_taller ? rows : rows - 1]}) {
      const std::int64_t nr = vectors * geometry.lanes;
      const std::int64_t unit = std::min<std::int64_t>(nr, kPanelColumns);
      const auto add = [&](std::int64_t columns) {
        const auto count = ceil_div(columns, geometry.lanes);
        const bool masked = columns % geometry.lanes != 0;
        Entry& entry = kernels_[index(rows, count, masked)];
        entry.key.rows = static_cast<std::uint8_t>(rows);
        entry.key.vectors = static_cast<std::uint8_t>(count);
        entry.key.masked = masked;
        entry.run = find_kernel(entry.key);
      };
      // A thread's columns start at a panel: it may end after any number of panels, or where N
      // does.
      for (std::int64_t columns = 0; columns < nr; columns += unit) {
        if (columns + unit <= n) add(columns + unit);
        if (n % unit != 0 && columns + n % unit <= n) add(columns + n % unit);
      }
    }
  }
}

void KernelTable::require(std::int64_t max_rows, std::int64_t vectors, bool masked) const {
  for (std::int64_t rows = 1; rows <= max_rows; ++rows) {
    if (find(rows, vectors, masked).run) continue;
    throw std::logic_error("kernel table: no kernel was prepared for tiles of " +
                           std::to_string(rows) + " rows and " + std::to_string(vectors) +
                           (masked ? " vectors, masked" : " vectors"));
  }
}

}  // namespace fbg
