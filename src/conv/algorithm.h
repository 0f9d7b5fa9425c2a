// The interface of an algorithm of convolution. Each algorithm is one file, which tells whether it
// applies and what it costs, and prepares and runs it. algorithms.cc has the table of all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conv/padding.h"
#include "conv/phase_decomposition.h"
#include "fbg/conv/conv.h"
#include "fbg/conv/pack_im2col.h"
#include "gemm/kernel_table.h"

namespace fbg {

// What is to be computed. The choice of an algorithm never depends on the number of threads, and
// the batch only scales costs.
struct ConvProblem {
  const PackedConv& weights;
  const ConvGeometry& geometry;
  ConvShape shape;
  std::span<const Stage> stages;
  bool has_scale;  // x has a scale and a zero point
  Features features;
  int threads;          // the most that a run will have
  bool halves = false;  // x is bfloat16, and the kernels multiply float32

  GemmType family() const { return weights.family(); }
  const PackedFormat& format() const { return weights.format().packed; }
  bool is_integer() const { return fbg::is_integer(family()); }
  bool b_has_zero_point() const { return weights.zero_point() != nullptr; }
};

// x as kernels read it, and what else a run brings. Scales are per image.
struct ConvRun {
  const std::byte* x;
  std::int64_t batch_stride;  // bytes, as all strides here
  Extent3 strides;
  const std::byte* end;  // of x: nothing beyond is read
  const float* scale;    // [batch]; null: none
  const std::int32_t* zero_point;
  std::span<const Stage> stages;
  OutputView c;
  PixelGrid grid{};  // of the pixels that the step computes, in c

  float image_scale(std::int64_t n) const { return scale ? scale[n] : 1.0f; }
  std::int32_t image_zero_point(std::int64_t n) const { return zero_point ? zero_point[n] : 0; }
  // Around image n, whose elements have so many bytes.
  Padding padding(std::int64_t n, std::int64_t element) const {
    return {image_zero_point(n), element};
  }
  ImageView view() const { return {x, batch_stride, strides, scale, zero_point, end}; }
};

class ConvStep {
 public:
  virtual ~ConvStep() = default;
  virtual std::string kernel() const = 0;
  virtual int phases() const noexcept { return 1; }
  // Whether it reads elements of twice as many bytes as those of x, because its kernels need them
  // widened (PackedFormat::wide_a).
  virtual bool widens() const noexcept { return false; }
  // Whether it reads bfloat16 where its kernels multiply float32 (ConvProblem::halves).
  virtual bool reads_halves() const noexcept { return false; }
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void run(const ConvRun& run, std::byte* workspace, int phase, int thread_id,
                   int num_threads) const noexcept = 0;
};

struct ConvMethod {
  const char* name;
  bool exact;  // the sum of an output is one chain of the products themselves
  bool (*applies)(const ConvProblem&);
  // Modelled cycles of one thread, in units of one vector multiply-add per kernel port.
  double (*cost)(const ConvProblem&);
  std::unique_ptr<ConvStep> (*prepare)(const ConvProblem&);
  bool any_grid = false;  // writes pixels wherever ConvRun::grid has them (pixel_grid.h)
  // In floating point: products are added in the order of the positions of the kernel and, at each
  // position, of the channels. All exact methods of which this is true give the same bits.
  bool in_kernel_order = true;
  bool (*serves)(GemmType) = nullptr;  // GEMM types; null: all
  bool whole = false;  // computes transposed convolutions itself, and not their phases
};

// All methods for weights of a family.
std::span<const ConvMethod> conv_methods(GemmType family);

// A convolution, and all its phases. It is computed by one method.
struct ConvProblems {
  ConvProblem whole;
  std::vector<ConvProblem> phases;

  bool is_integer() const { return whole.is_integer(); }
};
ConvProblems conv_problems(const PackedConv& weights, const ConvShape& shape,
                           const std::vector<SubConvolution>& phases, std::span<const Stage> stages,
                           const ConvOptions& options, Features features);

// The method of least cost among those that apply and that options admit, or the measured one that
// options name, if it applies and gives the same bits. Throws std::invalid_argument for an
// algorithm that does not exist or does not apply.
const ConvMethod& choose_method(const ConvProblems& problems, const ConvOptions& options);

// The geometry of products of any depth: that of a matrix unit, if there is one.
inline Geometry unit_geometry(const ConvProblem& p) {
  constexpr std::int64_t kManyGroups = 1 << 20;
  return choose_geometry(p.family(), p.features, {}, kManyGroups);
}

// For ConvMethod::serves.
template <GemmType kFamily>
constexpr bool only(GemmType family) {
  return family == kFamily;
}
template <GemmType kOne, GemmType kOther>
constexpr bool either(GemmType family) {
  return family == kOne || family == kOther;
}

// One function per algorithm, each in the file of its name.
ConvMethod pointwise_method();
ConvMethod implicit_gemm_method();
ConvMethod im2col_method();
ConvMethod channel_vectorized_method();
ConvMethod row_blocked_method();
ConvMethod blocked_im2col_method();
ConvMethod flattened_rows_method();
// For bytes, and for bfloat16: there an input that is not finite spoils other groups as well.
std::array<ConvMethod, 2> block_diagonal_methods();
// One for each number of outputs that a tile has along an axis: winograd2, ..., winograd6.
std::array<ConvMethod, 5> winograd_methods();
// One for each number of levels: strassen1, strassen2.
std::array<ConvMethod, 2> strassen_methods();
ConvMethod sliding_window_method();
ConvMethod col2im_method();

// Makes a stage read its operand `columns` further on, for the next group of channels.
void skip_columns(Stage& stage, std::int64_t columns) noexcept;

// The column offsets of weights that are packed without their zero points.
inline std::vector<std::int32_t> offsets_without_zero_points(const PackedConv& weights) {
  const ConvGeometry& g = weights.geometry();
  std::vector<std::int32_t> offsets(weights.col_offsets(), weights.col_offsets() + g.out_channels);
  for (std::size_t o = 0; o < offsets.size(); ++o)
    offsets[o] -= static_cast<std::int32_t>(g.depth()) * weights.zero_point()[o];
  return offsets;
}

// The key of kernels that run the stages of a problem. All pixels of an image share a scale and a
// zero point, so that requantization is folded where there is any.
inline KernelKey conv_kernel_key(const ConvProblem& p, const Geometry& geometry,
                                 std::optional<GemmType> sums = std::nullopt) {
  KernelKey key = make_kernel_key(geometry, sums.value_or(p.family()), p.stages, p.has_scale,
                                  p.weights.scale() != nullptr, p.b_has_zero_point());
  if (key.corrections == Corrections::a) key.corrections = Corrections::folded;
  return key;
}

}  // namespace fbg
