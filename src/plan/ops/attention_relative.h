// Terms of relative positions in the scores of attention: products of queries with vectors of
// distances, and of other vectors of distances with keys. Only rows of the tables that a sequence
// has distances for are multiplied.
//
//   once for a head   position_to_content = K queries^T   tokens x table rows
//   for each block    content_to_position = Q keys^T      rows x table rows
//   for each score    S_ij += content_to_position[i][r] + position_to_content[j][r], r: of j - i
#pragma once

#include <algorithm>
#include <cstdint>

#include "gemm/panel_product.h"
#include "plan/ops/attention_panels.h"
#include "plan/ops/attention_shape.h"
#include "plan/ops/ops.h"

namespace fbg {

// Disentangled attention (He et al., 2020, arXiv:2006.03654): distances have vectors of their own,
// and a score is Q_i K_j + Q_i key_r + query_r K_j, where r is the row of the distance j - i.
// Either table may be empty. There must be as many heads of keys as of queries.
struct RelativePositions {
  RelativePositions() = default;
  explicit RelativePositions(Fields& f)
      : keys(f.table("keys")), queries(f.table("queries")), rows(f.indices("rows")) {}
  SharedMatrix keys = {}, queries = {};  // (R, q_heads * head_dim)
  // [2 L - 1]: r of the distances 1 - L to L - 1, ascending, in [0, R). Sequence positions must be
  // less than L.
  std::vector<std::int32_t> rows = {};

  std::int64_t num_rows() const { return std::max(keys.rows, queries.rows); }
};

// Throws std::invalid_argument unless the tables fit the heads.
void require_relative_positions(const RelativePositions& relative, const AttentionShape& shape);

// A head of a sequence.
struct RelativeHead {
  std::int64_t first_row = 0, rows = 0;       // rows of the tables
  float *keys = nullptr, *queries = nullptr;  // as panels; null where there is no such table
  float *content_to_position = nullptr, *position_to_content = nullptr;
  std::int32_t* gathered = nullptr;  // room for the table row of each key
};

class RelativeScores {
 public:
  RelativeScores(const RelativePositions& relative, const AttentionShape& shape,
                 const simd::RowKernels& kernels, GemmType type)
      : relative_(relative),
        head_dim_(shape.head_dim),
        kernels_(kernels),
        panels_(kernels, type, false) {}

  explicit operator bool() const { return relative_.num_rows() > 0; }

  // The state for a head with `length` tokens, whose queries come in blocks of so many rows.
  std::int64_t scratch_words(std::int64_t length, std::int64_t block_rows) const {
    if (!*this) return 0;
    return 2 * panel_words() + (length + block_rows) * row_stride(relative_.num_rows()) +
           round_up(length, 16);
  }

  // `k`: its keys, as words, at ascending positions. `rounded` has room for 32 rows behind them,
  // in case that it holds them.
  RelativeHead begin(std::int64_t head, const std::int32_t* positions,
                     const MatrixView<const float>& k, const KernelTable& kernels, float* scratch,
                     float* rounded) const noexcept {
    const std::int32_t* const rows = relative_.rows.data() + relative_.rows.size() / 2;
    const std::int64_t reach = positions[k.rows - 1] - positions[0], depth = words();
    RelativeHead at{rows[-reach], rows[reach] - rows[-reach] + 1};
    const std::int64_t stride = row_stride(relative_.num_rows());
    at.gathered = reinterpret_cast<std::int32_t*>(scratch);
    scratch += round_up(k.rows, 16);
    float* const free_rows = rounded + k.rows * depth;
    if (relative_.queries.data) {
      at.queries = scratch + panel_words();
      at.position_to_content = scratch + 2 * panel_words();
      pack(relative_.queries, head, at, at.queries, free_rows);
      multiply_panels(
          kernels, k, at.queries, depth,
          {at.position_to_content, k.rows, round_up(at.rows, kKeyPadding), row_stride(at.rows), 1});
    }
    if (relative_.keys.data) {
      at.keys = scratch;
      at.content_to_position = scratch + 2 * panel_words() + k.rows * stride;
      pack(relative_.keys, head, at, at.keys, free_rows);
    }
    return at;
  }

  // A block of queries of that head, as words.
  void begin_rows(const RelativeHead& at, const MatrixView<const float>& queries,
                  const KernelTable& kernels) const noexcept {
    if (!at.keys) return;
    multiply_panels(kernels, queries, at.keys, words(),
                    {at.content_to_position, queries.rows, round_up(at.rows, kKeyPadding),
                     row_stride(at.rows), 1});
  }

  // Adds the terms of each visible key to the scores of a row of that block.
  void add(const RelativeHead& at, const std::int32_t* positions, std::int64_t row,
           std::int32_t query_position, Range visible, float* scores) const noexcept {
    const std::int32_t* const rows =
        relative_.rows.data() + relative_.rows.size() / 2 - query_position;
    const std::int32_t* columns = rows + positions[visible.begin];
    // Where masked tokens stood between the keys, their distances are no range.
    if (positions[visible.end - 1] - positions[visible.begin] != visible.size() - 1) {
      for (std::int64_t j = 0; j < visible.size(); ++j)
        at.gathered[j] = rows[positions[visible.begin + j]];
      columns = at.gathered;
    }
    const std::int64_t stride = row_stride(at.rows);
    kernels_.add_columns(at.keys ? at.content_to_position + row * stride : nullptr,
                         at.queries ? at.position_to_content + visible.begin * stride : nullptr,
                         static_cast<std::size_t>(stride), columns,
                         static_cast<std::int32_t>(at.first_row),
                         static_cast<std::size_t>(visible.size()), scores);
  }

 private:
  std::int64_t words() const { return panels_.words(head_dim_); }
  std::int64_t panel_words() const {
    return round_up(relative_.num_rows(), kPanelColumns) * words();
  }

  void pack(const SharedMatrix& table, std::int64_t head, const RelativeHead& at, float* panels,
            float* rounded) const noexcept {
    panels_.keys({table.row(at.first_row) + head * head_dim_, at.rows, head_dim_, table.cols, 1},
                 panels, rounded);
  }

  const RelativePositions& relative_;
  const std::int64_t head_dim_;
  const simd::RowKernels& kernels_;
  const AttentionPanels panels_;  // floats, whatever attention reads
};

}  // namespace fbg
