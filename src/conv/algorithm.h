// What an algorithm of convolution is to the rest: one file that answers whether it applies, what
// it costs, and how it is prepared and run. The table of all of them is in algorithms.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "conv/parts.h"
#include "fbg/conv/conv.h"

namespace fbg {

// What is to be computed. A choice never depends on the threads, and the batch only scales costs.
template <class Acc>
struct ConvProblem {
  const PackedConv<Acc>& weights;
  const ConvGeometry& geometry;
  ConvShape shape;
  std::span<const Stage> stages;
  bool has_scale;  // x has a scale and a zero point
  Features features;
  int threads;  // the most that a run will have

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
};

template <class Acc>
class ConvStep {
 public:
  virtual ~ConvStep() = default;
  virtual std::string kernel() const = 0;
  virtual int phases() const noexcept { return 1; }
  // Bytes of an element of x as it reads them: more than in the image where kernels want them
  // widened (PackedFormat::wide_a).
  virtual std::int64_t element_bytes() const noexcept { return sizeof(typename Acc::A); }
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void run(const ConvRun& run, std::byte* workspace, int phase, int thread_id,
                   int num_threads) const noexcept = 0;
};

template <class Acc>
struct ConvMethod {
  const char* name;
  bool exact;  // the sum of an output is one chain of the products themselves
  bool (*applies)(const ConvProblem<Acc>&);
  // Modelled cycles of one thread, in units of one vector multiply-add per kernel port.
  double (*cost)(const ConvProblem<Acc>&);
  std::unique_ptr<ConvStep<Acc>> (*prepare)(const ConvProblem<Acc>&);
  bool any_grid = false;  // writes pixels wherever ConvRun::grid has them (pixel_grid.h)
  // In floating point: the chain has the order of the kernel's positions, and at each position that
  // of the channels. All exact methods of which this is true give the same bits.
  bool in_kernel_order = true;
};

template <class Acc>
std::span<const ConvMethod<Acc>> conv_methods();

// The problems of all parts of a convolution, to which one method is applied.
template <class Acc>
bool applies_to_parts(const ConvMethod<Acc>& method, std::span<const ConvProblem<Acc>> parts);
template <class Acc>
double cost_of_parts(const ConvMethod<Acc>& method, std::span<const ConvProblem<Acc>> parts);

// Whether two methods give the same bits for every problem to which both apply.
template <class Acc>
bool rounds_alike(const ConvMethod<Acc>& a, const ConvMethod<Acc>& b) {
  const auto in_order = [](const ConvMethod<Acc>& m) { return m.exact && m.in_kernel_order; };
  return is_integer(Acc::kind) || std::string_view(a.name) == b.name ||
         (in_order(a) && in_order(b));
}

// The method of least cost among those that apply and that options admit, or the measured one that
// options name, if it applies and gives the same bits. Throws std::invalid_argument for an
// algorithm that does not exist or does not apply, where `geometry` is that of the whole
// convolution.
template <class Acc>
const ConvMethod<Acc>& choose_method(std::span<const ConvProblem<Acc>> parts,
                                     const ConvGeometry& geometry, const ConvOptions& options);

// One function per algorithm, each in the file of its name.
template <class Acc>
ConvMethod<Acc> pointwise_method();
template <class Acc>
ConvMethod<Acc> taps_method();
template <class Acc>
ConvMethod<Acc> im2col_method();
template <class Acc>
ConvMethod<Acc> lanewise_method();
template <class Acc>
ConvMethod<Acc> strips_method();
ConvMethod<Int32> patches_method();
ConvMethod<Int32> lines_method();
ConvMethod<Int32> merged_method();
// One for each number of outputs that a tile has along an axis: winograd2, ..., winograd6.
std::array<ConvMethod<Float32>, 5> winograd_methods();
// One for each number of levels: strassen1, strassen2.
std::array<ConvMethod<Float32>, 2> strassen_methods();
template <class Acc>
ConvMethod<Acc> sliding_method();

// Makes a stage read its operand `columns` further on: for the next group of channels.
void skip_columns(Stage& stage, std::int64_t columns) noexcept;

// The key of kernels that run the stages of a problem. All pixels of an image share a scale and a
// zero point, so that kernels are given the terms of columns where the stages have any.
template <class Acc>
KernelKey conv_kernel_key(const ConvProblem<Acc>& p, const Geometry& geometry,
                          Accumulator accumulator = Acc::kind) {
  KernelKey key = make_kernel_key(geometry, accumulator, p.stages, p.has_scale,
                                  p.weights.scale() != nullptr, p.b_has_zero_point());
  key.column_terms = takes_column_terms(key);
  return key;
}

// The name of the kernel for the tallest of the tiles, for reports.
inline std::string tallest_kernel_name(KernelKey key, const Geometry& tile,
                                       const BalancedSplit& tiles) {
  key.rows = static_cast<std::uint8_t>(std::max<std::int64_t>(tiles.largest, 1));
  key.vectors = static_cast<std::uint8_t>(tile.max_vectors[key.rows - 1]);
  return kernel_name(key);
}

// Cuts the tiles of a batch, `per_image` of each image, into blocks of at most `most` tiles of one
// image: begin_image(n) before the first block of image n, f(n, tiles) for each block.
template <class BeginImage, class F>
void for_each_block(Range tiles, std::int64_t per_image, std::int64_t most, BeginImage begin_image,
                    F f) {
  std::int64_t image = -1;
  for (std::int64_t i = tiles.begin; i < tiles.end;) {
    const std::int64_t n = i / per_image;
    if (n != image) begin_image(image = n);
    const std::int64_t end = std::min({i + most, tiles.end, (n + 1) * per_image});
    f(n, Range{i, end});
    i = end;
  }
}

}  // namespace fbg
