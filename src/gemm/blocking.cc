// The text of a blocking, and the list of blockings that a tuner times.
#include "fbg/gemm/blocking.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/policy.h"
#include "gemm/partition.h"

namespace fbg {
namespace {

// Bytes of a row of A between two cuts of K, as kernels read it.
std::int64_t row_bytes(const Geometry& geometry, std::int64_t k) {
  const std::int64_t whole = std::max<std::int64_t>(k, 1) * geometry.format.a_bytes;
  return BalancedSplit::split(whole, policy::gemm::kDepthBytes).largest;
}

}  // namespace

std::string to_string(const Blocking& blocking) {
  std::string text;
  const auto add = [&](const char* name, int value) {
    if (value <= 0) return;
    if (!text.empty()) text += ' ';
    text += name;
    text += std::to_string(value);
  };
  add("rows=", blocking.rows);
  add("panels=", blocking.panels);
  add("a_kib=", blocking.a_kib);
  add("row_parts=", blocking.row_parts);
  return text;
}

std::vector<Blocking> candidate_blockings(GemmType gemm_type, Features features, std::int64_t m,
                                          std::int64_t n, std::int64_t k, int num_threads) {
  std::vector<Blocking> candidates;
  const PackedFormat format = packed_format(gemm_type);
  const std::int64_t groups = ceil_div(k, format.kr);
  const std::int64_t b_bytes = ceil_div(n, format.panel_columns) * groups * format.b_group();
  std::set<std::array<std::int64_t, 5>> seen;  // the work of a thread with a whole share
  const auto add = [&](const Blocking& blocking) {
    const Geometry geometry =
        choose_geometry(gemm_type, features, tile_limits(blocking, b_bytes), groups);
    const int row_parts =
        blocking.row_parts ? blocking.row_parts : choose_row_parts(m, n, num_threads);
    const std::int64_t rows = ceil_div(m, row_parts);
    const std::int64_t mc = a_block_rows(blocking, row_bytes(geometry, k), geometry.max_rows);
    const BalancedSplit blocks = BalancedSplit::split(rows, mc);
    const BalancedSplit tiles = BalancedSplit::split(blocks.largest, geometry.max_rows);
    const std::int64_t vectors = geometry.max_vectors[static_cast<std::size_t>(tiles.largest - 1)];
    // Too few sums to hide the latency of a multiply-add, where taller tiles have more.
    const bool weak = blocking.rows > 0 && tiles.largest * vectors < geometry.lanes;
    if (!weak && seen.insert({row_parts, blocks.count, tiles.count, tiles.largest, vectors}).second)
      candidates.push_back(blocking);
  };
  const int tallest = choose_geometry(gemm_type, features, {}, groups).max_rows;
  add({});
  for (int row_parts = 1; row_parts <= num_threads; ++row_parts) {
    if (num_threads % row_parts != 0) continue;
    const int parts = num_threads > 1 ? row_parts : 0;
    for (const int a_kib : {0, default_a_block_kib() / 2, default_a_block_kib() * 2}) {
      add({0, 0, a_kib, parts});
      for (const int panels : {1, 2, 4}) add({0, panels, a_kib, parts});
      for (const int rows : {tallest * 2 / 3, tallest / 2})
        for (const int panels : {1, 2}) add({rows, panels, a_kib, parts});
    }
  }
  return candidates;
}

}  // namespace fbg
