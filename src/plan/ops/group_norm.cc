// GroupNorm. Where channels are planes of pixels, groups are runs of elements, which threads share.
// Of channels-last images it takes three phases:
//
//   moments   of each group of a block of pixels: mean and squared distances from it
//   combine   those of all blocks of an image (Chan, Golub and LeVeque, 1983), into a center, a
//             factor and an offset for each channel
//   apply     them to every pixel
//
// Blocks depend on sizes alone, and so do results.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/policy.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kBlockElements = 4 * policy::tensors::kFloats;  // they stay in the L1

// x (batch, pixels, channels), whose channels make up `groups` of neighbours: with the mean and the
// variance of a group of an image, (x - mean) / sqrt(variance + eps) * gamma + beta (Wu and He,
// 2018, arXiv:1803.08494). gamma and beta have an element for each channel.
struct GroupNorm {
  explicit GroupNorm(Fields& f)
      : batch(f("batch")),
        pixels(f("pixels")),
        groups(f("groups")),
        gamma(f.vector("gamma")),
        beta(f.vector("beta")),
        eps(f("eps")),
        has_planes(f("has_planes", false)) {}
  std::int64_t batch, pixels, groups;
  SharedMatrix gamma, beta;
  float eps;
  bool has_planes;  // x is (batch, channels, pixels)
};

class GroupNormStep final : public Step {
 public:
  GroupNormStep(Buffer x, Buffer y, const GroupNorm& norm, const PrepareContext& context)
      : x_(x), y_(y), n_(norm), kernels_(simd::kernels(context.features).rows) {
    channels_ = n_.gamma.cols;
    block_ = std::clamp<std::int64_t>(kBlockElements / channels_, 1, n_.pixels);
    blocks_ = ceil_div(n_.pixels, block_);
    threads_ = context.capacity.threads;
  }

  std::size_t scratch_bytes() const noexcept override {
    const std::int64_t floats =
        2 * n_.batch * blocks_ * n_.groups + 2 * n_.batch * channels_ + 2 * threads_ * channels_;
    return static_cast<std::size_t>(floats) * sizeof(float);
  }

  int phases(int) const noexcept override { return 3; }

  void run(const Frame& frame, std::byte* scratch, int thread_id,
           int num_threads) const noexcept override {
    float* const moments = reinterpret_cast<float*>(scratch);
    float* const terms = moments + 2 * n_.batch * blocks_ * n_.groups;
    float* const own = terms + 2 * n_.batch * channels_ + 2 * thread_id * channels_;
    const auto* const x = reinterpret_cast<const float*>(frame[x_].data);
    auto* const y = reinterpret_cast<float*>(frame[y_].data);

    if (frame.phase == 0) {
      const Range blocks = thread_rows(n_.batch * blocks_, thread_id, num_threads);
      for (std::int64_t b = blocks.begin; b < blocks.end; ++b)
        measure(x + first_pixel(b) * channels_, pixels_of(b), own, moments + 2 * b * n_.groups);
      return;
    }
    if (frame.phase == 1) {
      const Range groups = thread_rows(n_.batch * n_.groups, thread_id, num_threads);
      for (std::int64_t i = groups.begin; i < groups.end; ++i)
        combine(moments, i / n_.groups, i % n_.groups, terms);
      return;
    }
    const Range pixels = thread_rows(n_.batch * n_.pixels, thread_id, num_threads);
    const auto n = static_cast<std::size_t>(channels_);
    for (std::int64_t p = pixels.begin; p < pixels.end; ++p) {
      const float* const center = terms + 2 * (p / n_.pixels) * channels_;
      kernels_.normalize(x + p * channels_, center, center + channels_, n_.beta.data.get(), n,
                         y + p * channels_);
    }
  }

 private:
  std::int64_t first_pixel(std::int64_t b) const {
    return b / blocks_ * n_.pixels + b % blocks_ * block_;
  }
  std::int64_t pixels_of(std::int64_t b) const {
    return std::min(block_, n_.pixels - b % blocks_ * block_);
  }
  std::int64_t group_channels() const { return channels_ / n_.groups; }

  // Mean and squared distances of each group of a block. own: memory for two rows of channels.
  void measure(const float* x, std::int64_t pixels, float* own, float* moments) const {
    const auto n = static_cast<std::size_t>(channels_);
    const std::int64_t width = group_channels();
    float *const sums = own, *const centers = own + channels_;
    std::fill_n(sums, n, 0.0f);
    for (std::int64_t p = 0; p < pixels; ++p) kernels_.accumulate(x + p * channels_, 1, n, sums);
    for (std::int64_t g = 0; g < n_.groups; ++g) {
      const float mean = total(sums + g * width, width) / static_cast<float>(pixels * width);
      moments[2 * g] = mean;
      std::fill_n(centers + g * width, width, mean);
    }
    std::fill_n(sums, n, 0.0f);
    for (std::int64_t p = 0; p < pixels; ++p)
      kernels_.accumulate_squares(x + p * channels_, centers, n, sums);
    for (std::int64_t g = 0; g < n_.groups; ++g)
      moments[2 * g + 1] = total(sums + g * width, width);
  }

  static float total(const float* x, std::int64_t n) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
    return static_cast<float>(sum);
  }

  void combine(const float* moments, std::int64_t image, std::int64_t group, float* terms) const {
    const std::int64_t width = group_channels();
    double count = 0, mean = 0, squares = 0;
    for (std::int64_t b = image * blocks_; b < (image + 1) * blocks_; ++b) {
      const float* const own = moments + 2 * (b * n_.groups + group);
      const auto more = static_cast<double>(pixels_of(b) * width);
      const double distance = static_cast<double>(own[0]) - mean;
      count += more;
      mean += distance * more / count;
      squares += static_cast<double>(own[1]) + distance * distance * more * (count - more) / count;
    }
    const double deviation = std::sqrt(squares / count + static_cast<double>(n_.eps));
    float* const centers = terms + 2 * image * channels_;
    for (std::int64_t c = group * width; c < (group + 1) * width; ++c) {
      centers[c] = static_cast<float>(mean);
      centers[channels_ + c] =
          static_cast<float>(static_cast<double>(n_.gamma.data.get()[c]) / deviation);
    }
  }

  const Buffer x_, y_;
  const GroupNorm& n_;
  const simd::RowKernels& kernels_;
  std::int64_t channels_, block_, blocks_, threads_;
};

// Of images whose channels are planes. The pieces of a group depend on sizes alone.
class PlanesNormStep final : public Step {
 public:
  PlanesNormStep(Buffer x, Buffer y, const GroupNorm& norm, const PrepareContext& context)
      : x_(x), y_(y), n_(norm), kernels_(simd::kernels(context.features)) {
    piece_ = std::min(n_.pixels, policy::tensors::kFloats);
    threads_ = context.capacity.threads;
  }

  std::size_t scratch_bytes() const noexcept override {
    return static_cast<std::size_t>(4 * threads_ * piece_) * sizeof(float);
  }

  void run(const Frame& frame, std::byte* scratch, int thread_id,
           int num_threads) const noexcept override {
    float* const own = reinterpret_cast<float*>(scratch) + 4 * thread_id * piece_;
    const auto* const x = reinterpret_cast<const float*>(frame[x_].data);
    auto* const y = reinterpret_cast<float*>(frame[y_].data);
    const Range groups = thread_rows(n_.batch * n_.groups, thread_id, num_threads);
    const std::int64_t width = n_.gamma.cols / n_.groups;
    for (std::int64_t i = groups.begin; i < groups.end; ++i) {
      const std::int64_t first = i * width * n_.pixels;
      normalize(x + first, y + first, i % n_.groups * width, width, own);
    }
  }

 private:
  // function(begin, count) for each piece of so many elements.
  template <class Function>
  void for_each_piece(std::int64_t elements, Function function) const {
    for (std::int64_t i = 0; i < elements; i += piece_)
      function(i, static_cast<std::size_t>(std::min(piece_, elements - i)));
  }

  void normalize(const float* x, float* y, std::int64_t channel, std::int64_t width,
                 float* own) const {
    const std::int64_t elements = width * n_.pixels;
    float *const centers = own, *const factors = own + piece_, *const offsets = own + 2 * piece_;
    float* const squares = own + 3 * piece_;
    double sum = 0;
    for_each_piece(elements, [&](std::int64_t i, std::size_t n) {
      sum += static_cast<double>(kernels_.windows.row_sum(x + i, n));
    });
    const auto mean = static_cast<float>(sum / static_cast<double>(elements));
    std::fill_n(centers, piece_, mean);
    std::fill_n(squares, piece_, 0.0f);
    for_each_piece(elements, [&](std::int64_t i, std::size_t n) {
      kernels_.rows.accumulate_squares(x + i, centers, n, squares);
    });
    const auto total =
        static_cast<double>(kernels_.windows.row_sum(squares, static_cast<std::size_t>(piece_)));
    const double variance = total / static_cast<double>(elements);
    const double deviation = std::sqrt(variance + static_cast<double>(n_.eps));
    for (std::int64_t c = 0; c < width; ++c) {
      const double gamma = static_cast<double>(n_.gamma.data.get()[channel + c]);
      std::fill_n(factors, piece_, static_cast<float>(gamma / deviation));
      std::fill_n(offsets, piece_, n_.beta.data.get()[channel + c]);
      const std::int64_t first = c * n_.pixels;
      for_each_piece(n_.pixels, [&](std::int64_t i, std::size_t n) {
        kernels_.rows.normalize(x + first + i, centers, factors, offsets, n, y + first + i);
      });
    }
  }

  const Buffer x_, y_;
  const GroupNorm& n_;
  const simd::Kernels& kernels_;
  std::int64_t piece_, threads_;
};

class GroupNormOp final : public Op {
 public:
  explicit GroupNormOp(Fields& f) : Op("group_norm", f), norm_(f) {
    in_place = true;
    const std::int64_t channels = norm_.gamma.cols;
    require_vector(norm_.beta, channels, "group_norm: beta");
    shape = tensor_shape(checked_product({norm_.batch, norm_.pixels, channels, 4}, "group_norm"));
    require(norm_.groups >= 1 && channels % norm_.groups == 0,
            "group_norm: " + std::to_string(channels) + " channels cannot make up " +
                std::to_string(norm_.groups) + " groups");
    require_bytes(f.graph(), x_, shape.cols, "group_norm: x");
  }
  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    if (norm_.has_planes) return std::make_unique<PlanesNormStep>(x_, output, norm_, context);
    return std::make_unique<GroupNormStep>(x_, output, norm_, context);
  }

 private:
  const Buffer x_ = input("x");
  const GroupNorm norm_;
};

}  // namespace

Buffer kinds::group_norm(Graph& graph, Fields& f) { return append_as<GroupNormOp>(graph, f); }

}  // namespace fbg
