// im2col and pointwise: a convolution as one product per group, by the driver of gemm.h.
//
// im2col applies to every convolution: any stride, padding, dilation and number of groups, weights
// with zero points, sums in int16 with outliers. A pointwise convolution is the same product with A
// read in place.
#include <cstring>
#include <vector>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/tiles.h"
#include "fbg/conv/pack_im2col.h"
#include "simd/kernels.h"

namespace fbg {

bool is_pointwise(const ConvGeometry& g) {
  const Extent3 ones{1, 1, 1}, zeros{0, 0, 0};
  return !g.transposed && g.kernel == ones && g.stride == ones && g.pad_before == zeros &&
         g.pad_after == zeros;
}

template <class T, bool HasScale>
const T* PackAWithIm2Col<T, HasScale>::in_place() const {
  const std::int64_t line = shape_.input[2] * x_.strides[2];
  const std::int64_t plane = shape_.input[1] * x_.strides[1];
  const bool even = (shape_.input[1] == 1 || x_.strides[1] == line) &&
                    (shape_.input[0] == 1 || x_.strides[0] == plane) &&
                    (shape_.batch == 1 || x_.batch_stride == shape_.input[0] * x_.strides[0]);
  if (!is_pointwise(g_) || !even) return nullptr;
  const T* const data = reinterpret_cast<const T*>(x_.data) + group_ * g_.group_inputs() +
                        pixels_.begin * in_place_ld();
  return readable_in_place(MatrixView<const T>{data, rows(), depth(), in_place_ld(), 1}) ? data
                                                                                         : nullptr;
}

template <class T, bool HasScale>
void PackAWithIm2Col<T, HasScale>::prepare(Range rows, ABlock& block) const noexcept {
  if constexpr (HasScale) {
    const std::int64_t pixels = volume(shape_.output);
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const std::int64_t image = (pixels_.begin + rows.begin + i) / pixels;
      block.scale[i] = x_.scale[image];
      block.zero_point[i] = x_.zero_point ? x_.zero_point[image] : 0;
    }
    if (!block.row_offsets || !in_place()) return;
    const simd::RowKernels& kernels = simd::kernels(block.features).rows;
    for (std::int64_t i = 0; i < rows.size(); ++i)
      block.row_offsets[i] = kernels.sum_row(
          reinterpret_cast<const std::uint8_t*>(in_place()) + (rows.begin + i) * in_place_ld(),
          static_cast<std::size_t>(depth()));
  }
}

template <class T, bool HasScale>
void PackAWithIm2Col<T, HasScale>::pack(Range rows, ABlock& block) const noexcept {
  const std::int64_t k = depth();
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    T* const to = reinterpret_cast<T*>(static_cast<std::byte*>(block.packed) + i * block.ld);
    gather(pixels_.begin + rows.begin + i, to);
    std::fill(to + k, to + round_up(k, std::int64_t{4}), T{});
    if constexpr (HasScale)
      if (block.row_offsets)
        block.row_offsets[i] = simd::kernels(block.features)
                                   .rows.sum_row(reinterpret_cast<const std::uint8_t*>(to),
                                                 static_cast<std::size_t>(k));
  }
}

// The patch of one output pixel: runs of (kx, channel) where those are contiguous.
template <class T, bool HasScale>
void PackAWithIm2Col<T, HasScale>::gather(std::int64_t row, T* to) const noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const Extent3 &out = shape_.output, &in = shape_.input;
  const std::int64_t ox = row % out[2], oy = row / out[2] % out[1],
                     oz = row / (out[2] * out[1]) % out[0], n = row / volume(out);
  const std::int64_t channels = g_.group_inputs(), bytes = channels * kSize;
  const std::int32_t zero_point = x_.zero_point ? x_.zero_point[n] : 0;
  const std::byte* const image = x_.data + n * x_.batch_stride + group_ * bytes;
  const std::int64_t x0 = ox * g_.stride[2] - g_.pad_before[2];
  for (std::int64_t kz = 0; kz < g_.kernel[0]; ++kz) {
    const std::int64_t z = oz * g_.stride[0] - g_.pad_before[0] + kz * g_.dilation[0];
    for (std::int64_t ky = 0; ky < g_.kernel[1]; ++ky) {
      const std::int64_t y = oy * g_.stride[1] - g_.pad_before[1] + ky * g_.dilation[1];
      if (z < 0 || z >= in[0] || y < 0 || y >= in[1]) {
        fill_padding(reinterpret_cast<std::byte*>(to), g_.kernel[2] * channels, zero_point, kSize);
        to += g_.kernel[2] * channels;
        continue;
      }
      const std::byte* const line = image + z * x_.strides[0] + y * x_.strides[1];
      for (std::int64_t kx = 0; kx < g_.kernel[2]; ++kx, to += channels) {
        const std::int64_t x = x0 + kx * g_.dilation[2];
        if (x < 0 || x >= in[2])
          fill_padding(reinterpret_cast<std::byte*>(to), channels, zero_point, kSize);
        else
          std::memcpy(to, line + x * x_.strides[2], static_cast<std::size_t>(bytes));
      }
    }
  }
}

template class PackAWithIm2Col<std::uint8_t, true>;
template class PackAWithIm2Col<std::uint8_t, false>;
template class PackAWithIm2Col<float, false>;
template class PackAWithIm2Col<bfloat16, false>;

namespace {

template <class Acc, bool HasScale>
class Im2ColStep final : public ConvStep<Acc> {
  using Packer = PackAWithIm2Col<typename Acc::A, HasScale>;
  using Product = Gemm<Packer, Acc, RuntimePipeline>;

 public:
  explicit Im2ColStep(const ConvProblem<Acc>& p)
      : geometry_(p.geometry), shape_(p.shape), threads_(p.threads) {
    const std::int64_t rows = std::max<std::int64_t>(p.shape.out_pixels(), 1);
    for (std::int64_t i = 0; i < p.geometry.groups; ++i)
      weights_.push_back(&p.weights.panels(i, p.geometry.depth()));
    // Groups are alike: one product serves them all.
    const std::int64_t groups = weights_.front()->groups();
    const Geometry plain = choose_geometry(Acc::kind, p.features, {}, groups);
    const Geometry tile = conv_tile(p, plain, groups, rows);
    Blocking blocking;
    if (tile.max_rows < plain.max_rows) blocking.rows = tile.max_rows;
    product_ = std::make_unique<Product>(*weights_.front(), p.stages, rows, p.features, blocking);
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
    const std::int64_t columns = geometry_.group_outputs();
    TilePlace place(run.stages, run.c, run.grid.step[2]);
    TileArgs at;
    place.set(at, first, 0, product_->output_type());
    std::array<Stage, kMaxStages> stages;
    std::ranges::copy(run.stages, stages.begin());
    // Here rows are counted from 0 on.
    for (std::size_t s = 0; s < run.stages.size(); ++s) {
      stages[s].args = at.stages[s];
      if (at.row != 0 && at.stages[s].ld != 0)
        stages[s].args.data =
            static_cast<const std::byte*>(at.stages[s].data) + at.row * at.stages[s].ld;
    }
    const RuntimePipeline pipeline(stages.data(), run.stages.size());
    for (std::int64_t group = 0; group < geometry_.groups; ++group) {
      const OutputView c{
          static_cast<std::byte*>(at.c) + group * columns * value_size(product_->output_type()),
          at.ldc};
      product_->run(Packer(x, geometry_, shape_, group, pixels),
                    *weights_[static_cast<std::size_t>(group)], pipeline, c, workspace, thread_id,
                    num_threads);
      for (std::size_t s = 0; s < run.stages.size(); ++s) skip_columns(stages[s], columns);
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const int threads_;
  std::vector<const PackedB<Acc>*> weights_;  // by group
  std::unique_ptr<Product> product_;
};

template <class Acc>
std::unique_ptr<ConvStep<Acc>> prepare(const ConvProblem<Acc>& p) {
  if constexpr (is_integer(Acc::kind))
    if (p.has_scale) return std::make_unique<Im2ColStep<Acc, true>>(p);
  return std::make_unique<Im2ColStep<Acc, false>>(p);
}

template <class Acc>
double product_cost(const ConvProblem<Acc>& p) {
  const ConvGeometry& g = p.geometry;
  const std::int64_t groups = ceil_div(g.depth(), Acc::format.kr);
  const Geometry tile = choose_geometry(Acc::kind, p.features, {}, groups);
  const BalancedSplit tiles = BalancedSplit::split(volume(p.shape.output), tile.max_rows);
  const double count = static_cast<double>(p.shape.batch * tiles.count);
  const double vectors = static_cast<double>(ceil_div(g.group_outputs(), tile.lanes));
  // The pipeline of the products divides the scales of each row.
  const double finish = is_integer(Acc::kind) && !p.stages.empty() ? 24 : 3;
  return static_cast<double>(g.groups) * count * vectors *
         (tile_cost(tile, tiles.largest, groups) + static_cast<double>(tiles.largest) * finish) *
         1.04;
}

// Gathering costs a pass over A: a call per run, and its bytes twice, which floats displace from
// the L1.
template <class Acc>
double im2col_cost(const ConvProblem<Acc>& p) {
  const ConvGeometry& g = p.geometry;
  const double rows = static_cast<double>(p.shape.out_pixels() * g.groups);
  const double bytes = static_cast<double>(g.depth()) * sizeof(typename Acc::A);
  const double byte = is_integer(Acc::kind) ? 0.125 : 0.25;
  return product_cost(p) + rows * (static_cast<double>(g.taps()) * 12 + bytes * byte);
}

template <class Acc>
bool im2col_applies(const ConvProblem<Acc>& p) {
  return !p.geometry.transposed;
}
template <class Acc>
bool pointwise_applies(const ConvProblem<Acc>& p) {
  return is_pointwise(p.geometry);
}

}  // namespace

template <class Acc>
ConvMethod<Acc> im2col_method() {
  return {"im2col", true, im2col_applies<Acc>, im2col_cost<Acc>, prepare<Acc>, true};
}

template <class Acc>
ConvMethod<Acc> pointwise_method() {
  return {"pointwise", true, pointwise_applies<Acc>, product_cost<Acc>, prepare<Acc>, true};
}

template ConvMethod<Int32> im2col_method();
template ConvMethod<Int32> pointwise_method();
template ConvMethod<Int16> im2col_method();
template ConvMethod<Int16> pointwise_method();
template ConvMethod<Float32> im2col_method();
template ConvMethod<Float32> pointwise_method();
template ConvMethod<BFloat16> im2col_method();
template ConvMethod<BFloat16> pointwise_method();
template ConvMethod<Float32BF16> im2col_method();
template ConvMethod<Float32BF16> pointwise_method();
template ConvMethod<Float32F16> im2col_method();
template ConvMethod<Float32F16> pointwise_method();

}  // namespace fbg
