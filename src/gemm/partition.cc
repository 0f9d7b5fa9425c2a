// Cuts C into one part for each thread, and A into blocks.
#include "gemm/partition.h"

#include <algorithm>
#include <limits>

#include "core/policy.h"
#include "fbg/core/isa.h"

namespace fbg {
namespace {

Range part(std::int64_t units, std::int64_t unit_size, std::int64_t limit, int index, int parts) {
  const auto cut = [&](int i) { return std::min(units * i / parts * unit_size, limit); };
  return {cut(index), cut(index + 1)};
}

}  // namespace

int choose_row_parts(std::int64_t units, std::int64_t cols, int num_threads,
                     std::int64_t unit) noexcept {
  const std::int64_t panels = ceil_div(cols, kPanelColumns);
  int best_row_parts = 1;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int row_parts = 1; row_parts <= num_threads; ++row_parts) {
    if (num_threads % row_parts) continue;
    const std::int64_t part_rows = ceil_div(units, row_parts) * unit;
    const std::int64_t part_cols = ceil_div(panels, num_threads / row_parts) * kPanelColumns;
    const std::int64_t cost = part_rows * (part_cols + policy::gemm::kPackColumns) +
                              policy::gemm::kStreamRows * part_cols;
    if (cost < best) {
      best = cost;
      best_row_parts = row_parts;
    }
  }
  return best_row_parts;
}

Share thread_share(std::int64_t rows, std::int64_t cols, int thread_id, int num_threads,
                   int row_parts) noexcept {
  if (num_threads == 1) return {{0, rows}, {0, cols}};  // small products notice the divisions
  if (row_parts < 1 || num_threads % row_parts != 0)
    row_parts = choose_row_parts(rows, cols, num_threads);
  const int col_parts = num_threads / row_parts;
  const std::int64_t panels = ceil_div(cols, kPanelColumns);
  return {part(rows, 1, rows, thread_id / col_parts, row_parts),
          part(panels, kPanelColumns, cols, thread_id % col_parts, col_parts)};
}

Share tile_share(std::int64_t tiles, std::int64_t tile_rows, std::int64_t cols, int thread_id,
                 int num_threads) noexcept {
  return thread_share(tiles, cols, thread_id, num_threads,
                      choose_row_parts(tiles, cols, num_threads, tile_rows));
}

int default_a_block_kib() {
  return static_cast<int>(std::clamp<std::int64_t>(cpu_info().l2_bytes / 2 / policy::kKiB,
                                                   policy::gemm::kLeastABlockKib,
                                                   policy::gemm::kMostABlockKib));
}

std::int64_t a_block_rows(const Blocking& blocking, std::int64_t row_bytes, std::int64_t mr) {
  const std::int64_t kib = blocking.a_kib > 0 ? blocking.a_kib : default_a_block_kib();
  return std::clamp<std::int64_t>(kib * 1024 / row_bytes / mr * mr, mr,
                                  policy::gemm::kMaxABlockRows / mr * mr);
}

TileLimits tile_limits(const Blocking& blocking, std::int64_t b_bytes) {
  return {blocking.rows, blocking.panels, b_bytes > cpu_info().l2_bytes};
}

}  // namespace fbg
