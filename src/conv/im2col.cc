// im2col and pointwise: a convolution as one product per group, by the driver of gemm.h.
//
// im2col applies to every convolution, whatever its stride, padding, dilation and groups, also with
// weights that have zero points and with int16 sums and outliers. A pointwise convolution is the
// same product with A read in place.
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
#include "fbg/gemm/gemm.h"
#include "simd/kernels.h"

namespace fbg {

static_assert(PackAModel<PackAWithIm2Col<std::uint8_t, true>>);

bool is_pointwise(const ConvGeometry& g) {
  const Extent3 ones{1, 1, 1}, zeros{0, 0, 0};
  return !g.transposed && g.kernel == ones && g.stride == ones && g.pad_before == zeros &&
         g.pad_after == zeros;
}

const std::byte* PatchRows::pixels() const {
  const std::int64_t line = shape_.input[2] * x_.strides[2], ld = in_place_ld();
  const std::int64_t plane = shape_.input[1] * x_.strides[1], image = volume(shape_.output);
  if (!is_pointwise(g_) || rows() == 0) return nullptr;
  const std::int64_t n = pixels_.begin / image;
  const bool even =
      (shape_.input[1] == 1 || x_.strides[1] == line) &&
      (shape_.input[0] == 1 || x_.strides[0] == plane) &&
      (pixels_.end <= (n + 1) * image || x_.batch_stride == shape_.input[0] * x_.strides[0]);
  if (!even) return nullptr;
  return x_.data + n * x_.batch_stride + group_ * g_.group_inputs() * element_ +
         (pixels_.begin - n * image) * ld;
}

const std::byte* PatchRows::in_place() const {
  const std::byte* const data = pixels();
  if (!data) return nullptr;
  const MatrixView<const std::byte> bytes{data, rows(), depth() * element_, in_place_ld(), 1};
  return readable_in_place(bytes) ? data : nullptr;
}

void PatchRows::prepare(Range rows, ABlock& block) const noexcept {
  if (!x_.scale) return;
  const std::int64_t pixels = volume(shape_.output);
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const std::int64_t image = (pixels_.begin + rows.begin + i) / pixels;
    block.scale[i] = x_.scale[image];
    block.zero_point[i] = x_.zero_point ? x_.zero_point[image] : 0;
  }
  const std::byte* const data = block.row_offsets ? in_place() : nullptr;
  if (!data) return;
  const simd::RowKernels& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i)
    block.row_offsets[i] = kernels.sum_row(
        reinterpret_cast<const std::uint8_t*>(data) + (rows.begin + i) * in_place_ld(),
        static_cast<std::size_t>(depth()));
}

namespace {

// How many of `count` patches have `bytes` bytes before `end`, where reading ends.
std::int64_t readable_patches(const simd::PatchRow& row, std::int64_t count, std::int64_t bytes,
                              const std::byte* end) {
  while (count > 0 && (!end || row.data + (count - 1) * row.step + bytes > end)) --count;
  return count;
}

}  // namespace

void PatchRows::pack(Range rows, ABlock& block) const noexcept {
  const simd::Kernels& kernels = simd::kernels(block.features);
  const std::int64_t k = depth(), width = shape_.output[2], ld = block.ld;
  std::byte* const first = static_cast<std::byte*>(block.packed);
  std::int64_t done = 0;
  const std::int64_t run = k * element_, whole = simd::copied_bytes(run);
  if (const std::byte* const data = pixels(); data && run <= simd::kMaxRun && whole <= ld) {
    const simd::PatchRow row{data + rows.begin * in_place_ld(), in_place_ld()};
    done = readable_patches(row, rows.size(), whole, x_.end);
    kernels.lanes.copy_patches(&row, 1, static_cast<std::size_t>(run),
                               static_cast<std::size_t>(done), first, ld);
  }
  while (done < rows.size()) {
    const std::int64_t pixel = pixels_.begin + rows.begin + done, x = pixel % width;
    const std::int64_t count = std::min(width - x, rows.size() - done);
    gather(pixel / width, {x, x + count}, block.features, first + done * ld, ld);
    done += count;
  }
  // A float that meets a weight of zero must be a number; a byte may be anything.
  if (k % 4 != 0 && element_ > 1)
    for (std::int64_t i = 0; i < rows.size(); ++i)
      std::memset(first + i * ld + k * element_, 0,
                  static_cast<std::size_t>((round_up(k, std::int64_t{4}) - k) * element_));
  if (block.row_offsets)
    for (std::int64_t i = 0; i < rows.size(); ++i)
      block.row_offsets[i] = kernels.rows.sum_row(
          reinterpret_cast<const std::uint8_t*>(first + i * ld), static_cast<std::size_t>(k));
}

// Gathers the patches of output pixels `xs` of a line, which is counted over the batch. For each
// row of the kernel, it writes the run of (kx, channel) of each pixel. Runs that are contiguous in
// the image are copied at once, and short ones in whole steps: first all rows of the kernel of one
// pixel, then those of the next. The bytes that a step writes beyond its run are overwritten by the
// next row. The loops use copies of members, which can stay in registers: for all the compiler
// knows, the bytes that are written could be members.
void PatchRows::gather(std::int64_t line, Range xs, Features features, std::byte* to,
                       std::int64_t ld) const noexcept {
  constexpr std::int64_t kMaxRows = 16;
  const std::int64_t bytes = g_.group_inputs() * element_, taps = g_.kernel[2], run = taps * bytes;
  const std::int64_t dilation = g_.dilation[2], step = g_.stride[2], before = g_.pad_before[2];
  const std::int64_t width = shape_.input[2], stride = x_.strides[2];
  const std::int64_t y = line % shape_.output[1], z = line / shape_.output[1] % shape_.output[0];
  const std::int64_t n = line / (shape_.output[1] * shape_.output[0]);
  const bool is_run = stride == bytes && dilation == 1;
  const std::int64_t whole = simd::copied_bytes(run), rows = g_.kernel[0] * g_.kernel[1];
  const std::byte* const end = x_.end;
  const Padding padding{x_.zero_point ? x_.zero_point[n] : 0, element_};
  // The pixels whose taps are all inside the line.
  Range inside{xs.begin, xs.begin};
  if (const std::int64_t last = width + before - (taps - 1) * dilation - 1; last >= 0) {
    inside.begin = std::clamp(ceil_div(before, step), xs.begin, xs.end);
    inside.end = std::clamp(last / step + 1, inside.begin, xs.end);
  }
  const std::byte* const image = x_.data + n * x_.batch_stride + group_ * bytes;
  const std::int64_t skipped = (inside.begin * step - before) * stride, next_patch = step * stride;
  // The first pixels inside the line, whose runs may be read by whole steps.
  std::int64_t stepped = 0;
  std::array<simd::PatchRow, kMaxRows> runs;
  std::array<std::byte, simd::kMaxRun> outside;
  if (is_run && end && rows <= kMaxRows && run <= simd::kMaxRun &&
      g_.depth() * element_ - run + whole <= ld && inside.size() > 0) {
    stepped = inside.size();
    for_each_line(image, x_.strides, g_, shape_.input, z, y,
                  [&](std::int64_t row, const std::byte* from) {
                    const simd::PatchRow none{outside.data(), 0};
                    if (!from) padding.fill(outside.data(), whole);
                    simd::PatchRow& patches = runs[static_cast<std::size_t>(row)];
                    patches = from ? simd::PatchRow{from + skipped, next_patch} : none;
                    if (from) stepped = readable_patches(patches, stepped, whole, end);
                  });
    simd::kernels(features).lanes.copy_patches(
        runs.data(), static_cast<std::size_t>(rows), static_cast<std::size_t>(run),
        static_cast<std::size_t>(stepped), to + (inside.begin - xs.begin) * ld, ld);
  }
  for_each_line(
      image, x_.strides, g_, shape_.input, z, y, [=](std::int64_t row, const std::byte* from) {
        std::byte* next = to + row * run;
        const auto copy_border = [&](Range part) {
          for (std::int64_t x = part.begin; x < part.end; ++x, next += ld) {
            if (!from) {
              padding.fill(next, run);
              continue;
            }
            const std::int64_t first = x * step - before, count = dilation == 1 ? taps : 1;
            for (std::int64_t tap = 0; tap < taps; tap += count)
              copy_padded(from, stride, width, first + tap * dilation, count, bytes, padding,
                          next + tap * bytes);
          }
        };
        copy_border({xs.begin, inside.begin});
        next += stepped * ld;
        const std::int64_t left = inside.size() - stepped;
        if (!from) return copy_border({inside.end - left, xs.end});
        const std::byte* first = from + skipped + stepped * next_patch;
        for (std::int64_t i = 0; i < left; ++i, next += ld, first += next_patch) {
          if (is_run)
            std::memcpy(next, first, static_cast<std::size_t>(run));
          else
            for (std::int64_t tap = 0; tap < taps; ++tap)
              std::memcpy(next + tap * bytes, first + tap * dilation * stride,
                          static_cast<std::size_t>(bytes));
        }
        copy_border({inside.end, xs.end});
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
    // All groups have the same shape, so that one product serves all of them; if it is that of
    // narrow weights, all are narrow.
    const std::int64_t groups = weights_.front()->groups();
    const Geometry plain = choose_geometry(p.family(), p.features, {}, groups);
    const Geometry tile = conv_tile(p, plain, groups, rows);
    Blocking blocking;
    if (tile.max_rows < plain.max_rows) blocking.rows = tile.max_rows;
    const ProductTypes types{p.family(), p.is_integer() && p.has_scale, 0};
    const PackedMatrix& any = **std::ranges::min_element(weights_, {}, &PackedMatrix::is_narrow);
    product_.emplace(types, any, pipeline_view(p.stages), rows, any.with_weights(p.features),
                     blocking);
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
    // Rows of C are equally far apart only within a line. Each thread has lines of its own.
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
  // Computes output pixels `pixels`, the first of which is row `first` of C.
  void run_rows(const ConvRun& run, Range pixels, std::int64_t first, std::byte* workspace,
                int thread_id, int num_threads) const noexcept {
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
      const PatchRows a(run.view(), geometry_, shape_, group, pixels, element_);
      product_->run(row_source(a), *weights_[static_cast<std::size_t>(group)],
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
  const double finish =
      p.is_integer() && !p.stages.empty() ? costs::kRowScalesFinish : costs::kFloatFinish;
  return static_cast<double>(g.groups) * count * vectors *
         (tile_cost(tile, tiles.largest, groups) + static_cast<double>(tiles.largest) * finish) *
         costs::kDriver;
}

// Gathering is a pass over A: a call for each run, whose bytes are read and written.
double im2col_cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const double rows = static_cast<double>(p.shape.out_pixels() * g.groups);
  const double bytes = static_cast<double>(g.depth()) * p.format().a_bytes;
  return product_cost(p) +
         rows * (static_cast<double>(g.taps()) * costs::kGatheredTap +
                 bytes * (p.is_integer() ? costs::kGatheredByte : costs::kGatheredFloatByte));
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
