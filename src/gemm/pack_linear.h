// Packing the weights of a linear layer from where a checkpoint keeps them, without a float copy of
// the matrix. A checkpoint stores a layer as (outputs, inputs), row-major. Layers that read the
// same input are one product, whose columns are their outputs side by side:
//
//   part 0  [N0][K]  ─┐
//   part 1  [N1][K]  ─┼─►  B (K x N), N = N0 + N1 + …; element (k, j) is w / divisor[j] * factor[k]
//   part 2  [N2][K]  ─┘
//
// The bytes are those that PackedB gives for that matrix.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gemm/panel_writer.h"

namespace fbg {

struct LinearWeights {
  std::vector<MatrixView<const float>> parts;  // (N_i, K) each, with contiguous rows
  std::vector<float> divisor = {};             // [N], or empty: all 1
  std::vector<float> factor = {};              // [K], or empty: all 1

  std::int64_t inputs() const { return parts.front().cols; }
  std::int64_t outputs() const;
  // The K weights of output j, and their divisor.
  const float* output(std::int64_t j) const;
  float divisor_of(std::int64_t j) const {
    return divisor.empty() ? 1.0f : divisor[static_cast<std::size_t>(j)];
  }
  // Throws std::invalid_argument where the sizes of the members do not fit together.
  void check() const;
};

// largest[k] = max(largest[k], |w(k, j) / divisor[j]|) over the outputs j of a range; NaN where one
// of them is NaN. Factors are not applied: they are computed from this.
void widen_magnitudes(const LinearWeights& weights, Range outputs, float* largest) noexcept;

// Packs for a family: int8 symmetric with one scale per column, int4 with the scale of each group
// that gives the least squared error, all others rounded half to even.
class LinearPacker final : public PanelWriter {
 public:
  // limit: the largest magnitude that a weight may have. symmetric: false gives groups offsets,
  // which only int4 has. Throws std::invalid_argument if the members of `weights` do not fit
  // together, if there are factors for another family than int8 and int4, or offsets for another
  // than int4; std::length_error, std::bad_alloc.
  LinearPacker(GemmType family, LinearWeights weights,
               float limit = std::numeric_limits<float>::infinity(), bool symmetric = true);

  // Throws std::invalid_argument where a weight is beyond the limit, or is not finite (int8: after
  // it was divided and multiplied).
  PackedMatrix finish(bool checksum = true) override;

 private:
  void read(Chunk& chunk) noexcept override;
  // Each returns the largest magnitude of what it read.
  float choose_scales(const Chunk& chunk) noexcept;
  float quantize_groups(std::int64_t j, Chunk& chunk) const noexcept;
  float convert(std::int64_t j, Chunk& chunk) const noexcept;

  const GemmType family_;
  const LinearWeights weights_;
  const float limit_;
  std::atomic<float> largest_{0.0f};
};

}  // namespace fbg
