// im2col and pointwise: a convolution as one product per group, by the driver of gemm.h.
//
// im2col applies to every convolution: any stride, padding, dilation and number of groups, weights
// with zero points, sums in int16 with outliers. A pointwise convolution is the same product with A
// read in place.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/tiles.h"
#include "fbg/conv/pack_im2col.h"
#include "gemm/driver.h"
#include "simd/kernels.h"

namespace fbg {

static_assert(PackAModel<PackAWithIm2Col<std::uint8_t, true>>);

bool is_pointwise(const ConvGeometry& g) {
  const Extent3 ones{1, 1, 1}, zeros{0, 0, 0};
  return !g.transposed && g.kernel == ones && g.stride == ones && g.pad_before == zeros &&
         g.pad_after == zeros;
}

RowSource PatchRows::source() const noexcept {
  return {this,
          rows(),
          in_place_bytes(),
          in_place_ld_bytes(),
          [](const void* packer, Range rows, ABlock& block) noexcept {
            static_cast<const PatchRows*>(packer)->prepare(rows, block);
          },
          [](const void* packer, Range rows, ABlock& block) noexcept {
            static_cast<const PatchRows*>(packer)->pack(rows, block);
          }};
}

const std::byte* PatchRows::in_place_bytes() const {
  const std::int64_t line = shape_.input[2] * x_.strides[2], ld = in_place_ld_bytes();
  const std::int64_t plane = shape_.input[1] * x_.strides[1];
  const bool even = (shape_.input[1] == 1 || x_.strides[1] == line) &&
                    (shape_.input[0] == 1 || x_.strides[0] == plane) &&
                    (shape_.batch == 1 || x_.batch_stride == shape_.input[0] * x_.strides[0]);
  const MatrixView<const std::byte> bytes{
      x_.data + group_ * g_.group_inputs() * element_ + pixels_.begin * ld, rows(),
      depth() * element_, ld, 1};
  return is_pointwise(g_) && even && readable_in_place(bytes) ? bytes.data : nullptr;
}

void PatchRows::prepare(Range rows, ABlock& block) const noexcept {
  if (!x_.scale) return;
  const std::int64_t pixels = volume(shape_.output);
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const std::int64_t image = (pixels_.begin + rows.begin + i) / pixels;
    block.scale[i] = x_.scale[image];
    block.zero_point[i] = x_.zero_point ? x_.zero_point[image] : 0;
  }
  const std::byte* const data = block.row_offsets ? in_place_bytes() : nullptr;
  if (!data) return;
  const simd::RowKernels& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i)
    block.row_offsets[i] = kernels.sum_row(
        reinterpret_cast<const std::uint8_t*>(data) + (rows.begin + i) * in_place_ld_bytes(),
        static_cast<std::size_t>(depth()));
}

void PatchRows::pack(Range rows, ABlock& block) const noexcept {
  const Extent3& out = shape_.output;
  const std::int64_t k = depth(), first = pixels_.begin + rows.begin;
  std::int64_t n = first / volume(out);
  Extent3 at{first / (out[2] * out[1]) % out[0], first / out[2] % out[1], first % out[2]};
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    std::byte* const to = static_cast<std::byte*>(block.packed) + i * block.ld;
    gather(n, at, to);
    if (k % 4 != 0)
      std::fill(to + k * element_, to + round_up(k, std::int64_t{4}) * element_, std::byte{});
    if (block.row_offsets)
      block.row_offsets[i] =
          simd::kernels(block.features)
              .rows.sum_row(reinterpret_cast<const std::uint8_t*>(to), static_cast<std::size_t>(k));
    std::size_t axis = kSpatialAxes;
    while (axis > 0 && ++at[axis - 1] == out[axis - 1]) at[--axis] = 0;
    if (axis == 0) ++n;
  }
}

// The patch of output pixel `at` of image n: runs of (kx, channel) where those are contiguous. What
// it needs of members is in registers, because bytes that are written could be theirs.
void PatchRows::gather(std::int64_t n, const Extent3& at, std::byte* to) const noexcept {
  const std::int64_t element = element_, channels = g_.group_inputs(), bytes = channels * element;
  const std::int64_t taps = g_.kernel[2], dilation = g_.dilation[2], width = shape_.input[2];
  const std::int64_t first = at[2] * g_.stride[2] - g_.pad_before[2];
  const std::int64_t stride = x_.strides[2], last = first + (taps - 1) * dilation;
  const bool inside = first >= 0 && last < width, is_run = stride == bytes && dilation == 1;
  const std::int32_t zero_point = x_.zero_point ? x_.zero_point[n] : 0;
  const std::byte* const image = x_.data + n * x_.batch_stride + group_ * bytes;
  for_each_line(image, x_.strides, g_, shape_.input, at[0], at[1],
                [=](std::int64_t row, const std::byte* line) {
                  std::byte* next = to + row * taps * bytes;
                  if (!line) return fill_padding(next, taps * channels, zero_point, element);
                  if (inside && is_run) {
                    std::memcpy(next, line + first * stride,
                                static_cast<std::size_t>(taps * bytes));
                    return;
                  }
                  for (std::int64_t x = first; x <= last; x += dilation, next += bytes)
                    if (!inside && (x < 0 || x >= width))
                      fill_padding(next, channels, zero_point, element);
                    else
                      std::memcpy(next, line + x * stride, static_cast<std::size_t>(bytes));
                });
}

namespace {

class Im2ColStep final : public ConvStep {
 public:
  explicit Im2ColStep(const ConvProblem& p)
      : geometry_(p.geometry), shape_(p.shape), element_(p.format().a_bytes), threads_(p.threads) {
    const std::int64_t rows = std::max<std::int64_t>(p.shape.out_pixels(), 1);
    for (std::int64_t i = 0; i < p.geometry.groups; ++i)
      weights_.push_back(&p.weights.panels(i, p.geometry.depth()));
    // Groups are alike: one product serves them all.
    const std::int64_t groups = weights_.front()->groups();
    const Geometry plain = choose_geometry(p.family(), p.features, {}, groups);
    const Geometry tile = conv_tile(p, plain, groups, rows);
    Blocking blocking;
    if (tile.max_rows < plain.max_rows) blocking.rows = tile.max_rows;
    const ProductTypes types{p.family(), p.is_integer() && p.has_scale, 0};
    product_.emplace(types, *weights_.front(), pipeline_view(p.stages), rows, p.features, blocking);
  }
  std::string kernel() const override { return product_->kernel_name(); }
  std::size_t workspace_bytes() const noexcept override {
    return product_->workspace_bytes(threads_);
  }
  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    if (run.grid.is_dense(shape_.output)) {
      run_rows(run, {0, shape_.out_pixels()}, 0, workspace, thread_id, num_threads);
      return;
    }
    // Rows of C are the same distance apart within a line only: each thread has lines of its own.
    const std::int64_t depth = shape_.output[0], height = shape_.output[1];
    const std::int64_t width = shape_.output[2], lines = shape_.batch * depth * height;
    workspace += static_cast<std::size_t>(thread_id) * product_->workspace_bytes(1);
    for (std::int64_t i = lines * thread_id / num_threads;
         i < lines * (thread_id + 1) / num_threads; ++i)
      run_rows(run, {i * width, (i + 1) * width},
               run.grid.row(i / (depth * height), i / height % depth, i % height, 0), workspace, 0,
               1);
  }

 private:
  // Output pixels `pixels`, the first of which is row `first` of C.
  void run_rows(const ConvRun& run, Range pixels, std::int64_t first, std::byte* workspace,
                int thread_id, int num_threads) const noexcept {
    const ImageView x{run.x, run.batch_stride, run.strides, run.scale, run.zero_point};
    const std::int64_t columns = geometry_.group_outputs(), step = run.grid.step[2];
    std::array<Stage, kMaxStages> all;
    std::ranges::copy(run.stages, all.begin());
    const auto stages = std::span(all).first(run.stages.size());
    for (Stage& stage : stages) {
      if (stage.args.ld != 0)
        stage.args.data = static_cast<const std::byte*>(stage.args.data) + first * stage.args.ld;
      stage.args.ld *= step;
    }
    OutputView c{static_cast<std::byte*>(run.c.data) + first * run.c.ld, run.c.ld * step};
    for (std::int64_t group = 0; group < geometry_.groups; ++group) {
      const PatchRows a(x, geometry_, shape_, group, pixels, element_);
      product_->run(a.source(), *weights_[static_cast<std::size_t>(group)],
                    pipeline_view(RuntimePipeline(stages)), c, workspace, thread_id, num_threads);
      for (Stage& stage : stages) skip_columns(stage, columns);
      c.data = static_cast<std::byte*>(c.data) + columns * value_size(product_->output_type());
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const std::int64_t element_;
  const int threads_;
  std::vector<const PackedMatrix*> weights_;  // by group
  std::optional<GemmDriver> product_;
};

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) { return std::make_unique<Im2ColStep>(p); }

double product_cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const std::int64_t groups = ceil_div(g.depth(), p.format().kr);
  const Geometry tile = choose_geometry(p.family(), p.features, {}, groups);
  const BalancedSplit tiles = BalancedSplit::split(volume(p.shape.output), tile.max_rows);
  const double count = static_cast<double>(p.shape.batch * tiles.count);
  const double vectors = static_cast<double>(ceil_div(g.group_outputs(), tile.lanes));
  // The pipeline of the products divides the scales of each row.
  const double finish = p.is_integer() && !p.stages.empty() ? 24 : 3;
  return static_cast<double>(g.groups) * count * vectors *
         (tile_cost(tile, tiles.largest, groups) + static_cast<double>(tiles.largest) * finish) *
         1.04;
}

// Gathering costs a pass over A: a call per run, and its bytes twice, which floats displace from
// the L1.
double im2col_cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const double rows = static_cast<double>(p.shape.out_pixels() * g.groups);
  const double bytes = static_cast<double>(g.depth()) * p.format().a_bytes;
  const double byte = p.is_integer() ? 0.125 : 0.25;
  return product_cost(p) + rows * (static_cast<double>(g.taps()) * 12 + bytes * byte);
}

}  // namespace

ConvMethod im2col_method() {
  return {.name = "im2col",
          .exact = true,
          .applies = [](const ConvProblem& p) { return !p.geometry.transposed; },
          .cost = im2col_cost,
          .prepare = prepare,
          .any_grid = true};
}

ConvMethod pointwise_method() {
  return {.name = "pointwise",
          .exact = true,
          .applies = [](const ConvProblem& p) { return is_pointwise(p.geometry); },
          .cost = product_cost,
          .prepare = prepare,
          .any_grid = true};
}

}  // namespace fbg
