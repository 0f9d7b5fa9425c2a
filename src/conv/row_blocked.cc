// row_blocked: direct convolution of floats, blocked along rows of the output, for few input
// channels, in groups or in the whole image. The sums of a block, which is called a strip, stay in
// registers.
//
//   for each block of output rows, for each vector of output channels    weights stay in the L1
//     for each strip of a row                                            kernels/lanewise.h
//       for each row of the image under it, for each channel of that
//         w[kx] = the weights of the channel                             in registers
//         for each pixel: one broadcast, and a multiply-add for each tap
//
// In a depthwise convolution, each lane has an input channel of its own, and a load takes the place
// of the broadcast. One load serves up to as many multiply-adds as the kernel is wide; in a product
// (implicit_gemm.cc), it serves one or two. The image is read in place, and nothing is multiplied
// or copied beyond its borders: rows outside it are left out, and strips that cross the left or
// right border have kernels of their own.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "core/memory.h"
#include "core/policy.h"
#include "kernels/lanewise.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kMaxStep = 4, kMaxDilation = 16;  // along a row

constexpr bool has_strips(GemmType a) {
  return a == GemmType::float32 || a == GemmType::float32_f16 || a == GemmType::float32_bf16;
}

Geometry strip_geometry(Features features) { return choose_geometry(GemmType::float32, features); }

BalancedSplit split_row(const ConvGeometry& g, const ConvShape& shape, const Geometry& tile) {
  const int taps = static_cast<int>(g.kernel[2]);
  return BalancedSplit::split(shape.output[2], kernels::lanewise_max_rows(1, tile.isa, taps, 1));
}

// A vector of output channels, all of one group.
struct StripVector {
  std::int64_t group, channel, channels;  // the first channel, and how many
};
bool is_plain_depthwise(const ConvGeometry& g) {
  return g.is_depthwise() && g.group_outputs() == 1;
}

std::vector<StripVector> strip_vectors(const ConvGeometry& g, std::int64_t lanes) {
  std::vector<StripVector> vectors;
  if (is_plain_depthwise(g)) {
    for (std::int64_t i = 0; i < g.out_channels; i += lanes) vectors.push_back({i, i, lanes});
    return vectors;
  }
  for (std::int64_t group = 0; group < g.groups; ++group)
    for (std::int64_t i = 0; i < g.group_outputs(); i += lanes)
      vectors.push_back(
          {group, group * g.group_outputs() + i, std::min(lanes, g.group_outputs() - i)});
  return vectors;
}

// [vector][row of the kernel][input channel][kx][lane]
AlignedBuffer make_weights(const PackedConv& weights, std::span<const StripVector> vectors,
                           std::int64_t lanes) {
  const ConvGeometry& g = weights.geometry();
  const std::vector<float> w = weights.floats();
  const std::int64_t rows = g.kernel[0] * g.kernel[1], taps = g.kernel[2];
  const std::int64_t inputs = g.group_inputs();
  AlignedBuffer buffer(static_cast<std::size_t>(std::ssize(vectors) * g.depth() * lanes * kFloat),
                       Fill::zero);
  auto* to = buffer.as<float>();
  for (const StripVector& v : vectors)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < inputs; ++i)
        for (std::int64_t kx = 0; kx < taps; ++kx, to += lanes)
          for (std::int64_t o = 0; o < v.channels; ++o) {
            const std::int64_t tap = ((v.channel + o) * rows + row) * taps + kx;
            to[o] = w[static_cast<std::size_t>(tap * inputs + i)];
          }
  return buffer;
}

class RowBlockedStep final : public ConvStep {
 public:
  explicit RowBlockedStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        tile_(strip_geometry(p.features)),
        key_(conv_kernel_key(p, tile_, GemmType::float32)),
        output_(key_.output()),
        vectors_(strip_vectors(p.geometry, tile_.lanes)),
        strips_(split_row(p.geometry, p.shape, tile_)),
        threads_(p.threads) {
    const std::string name = "row blocked lanes " + std::to_string(tile_.lanes);
    weights_ =
        p.weights.form_of(name, [&] { return make_weights(p.weights, vectors_, tile_.lanes); })
            .data();
    const std::int64_t lines =
        strips_.count ? ceil_div(policy::row_blocked::kBlockStrips, strips_.count) : 1;
    blocks_ = BalancedSplit::split(shape_.output[1], lines);
    pairs_bytes_ = round_up(
        geometry_.kernel[0] * geometry_.kernel[1] * static_cast<std::int64_t>(sizeof(BlockPair)),
        64);
    for (std::int64_t i = 0; i < strips_.count; ++i) make_strip(strips_[i]);
  }

  std::string kernel() const override { return name_; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(pairs_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const std::int64_t planes = shape_.batch * shape_.output[0], vectors = std::ssize(vectors_);
    const std::int64_t count = planes * blocks_.count * vectors;
    Thread t{reinterpret_cast<BlockPair*>(workspace + thread_id * pairs_bytes_),
             TilePlace(run.stages, run.c, run.grid.step[2]),
             {}};
    t.args.pairs = t.pairs;
    for (std::int64_t i = count * thread_id / num_threads;
         i < count * (thread_id + 1) / num_threads; ++i) {
      const std::int64_t plane = i / vectors / blocks_.count;
      const Range lines = blocks_[i / vectors % blocks_.count];
      for (std::int64_t y = lines.begin; y < lines.end; ++y)
        run_line(run, plane / shape_.output[0], plane % shape_.output[0], y, i % vectors, t);
    }
  }

 private:
  struct Kernel {
    kernels::LanewiseKey key;
    TileFunction run = nullptr;
  };
  // A strip of an output row, and the first pixel of the image under it.
  struct Strip {
    std::int64_t x, first;
    Kernel kernels[2];  // [masked]
  };
  struct Thread {
    BlockPair* pairs;  // [row of the kernel inside the image]
    TilePlace place;
    TileArgs args;
  };

  void make_strip(Range pixels) {
    const ConvGeometry& g = geometry_;
    const std::int64_t x = pixels.begin * g.stride[2] - g.pad_before[2];
    const std::int64_t width =
        (pixels.size() - 1) * g.stride[2] + (g.kernel[2] - 1) * g.dilation[2] + 1;
    const std::int64_t left = std::clamp<std::int64_t>(-x, 0, width);
    const std::int64_t right =
        std::clamp<std::int64_t>(x + width - shape_.input[2], 0, width - left);
    Strip strip{pixels.begin, x + left, {}};
    kernels::LanewiseKey key;
    key.tile = key_;
    key.tile.rows = static_cast<std::uint8_t>(pixels.size());
    key.tile.vectors = 1;
    key.taps = static_cast<std::uint8_t>(g.kernel[2]);
    key.step = static_cast<std::uint8_t>(g.stride[2]);
    key.dilation = static_cast<std::uint8_t>(g.dilation[2]);
    key.spreads = !is_plain_depthwise(g);
    key.left = static_cast<std::uint8_t>(left);
    key.right = static_cast<std::uint8_t>(right);
    for (const StripVector& v : vectors_) {
      key.tile.masked = v.channels < tile_.lanes;
      Kernel& kernel = strip.kernels[key.tile.masked];
      if (!kernel.run) kernel = {key, kernels::find_lanewise(key)};
    }
    if (strips_by_row_.empty()) name_ = kernels::lanewise_name(key);
    strips_by_row_.push_back(strip);
  }

  void run_line(const ConvRun& run, std::int64_t image, std::int64_t z, std::int64_t y,
                std::int64_t vector, Thread& t) const noexcept {
    const ConvGeometry& g = geometry_;
    const StripVector& v = vectors_[static_cast<std::size_t>(vector)];
    const std::int64_t row_bytes = g.group_inputs() * g.kernel[2] * tile_.lanes * kFloat;
    const std::byte* weights = weights_ + vector * g.kernel[0] * g.kernel[1] * row_bytes;
    const std::byte* const first =
        run.x + image * run.batch_stride + v.group * g.group_inputs() * kFloat;
    std::int64_t count = 0;
    for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz)
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky, weights += row_bytes) {
        const std::int64_t iz = z * g.stride[0] - g.pad_before[0] + kz * g.dilation[0];
        const std::int64_t iy = y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1];
        if (iz < 0 || iz >= shape_.input[0] || iy < 0 || iy >= shape_.input[1]) continue;
        t.pairs[count++] = {first + iz * run.strides[0] + iy * run.strides[1], run.strides[2],
                            weights, tile_.lanes * kFloat, g.group_inputs()};
      }
    t.args.num_pairs = count;
    t.args.columns = v.channels;
    const bool masked = v.channels < tile_.lanes;
    std::int64_t at = 0;  // of the pairs: the first pixel under the strip
    for (const Strip& strip : strips_by_row_) {
      const std::int64_t bytes = (strip.first - std::exchange(at, strip.first)) * run.strides[2];
      for (std::int64_t i = 0; i < count; ++i)
        t.pairs[i].a = static_cast<const std::byte*>(t.pairs[i].a) + bytes;
      const Kernel& kernel = strip.kernels[masked];
      t.place.set(t.args, run.grid.row(image, z, y, strip.x), v.channel, output_);
      t.args.key = &kernel.key.tile;
      kernel.run(&t.args);
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const Geometry tile_;
  const KernelKey key_;
  const ValueType output_;
  const std::vector<StripVector> vectors_;
  const BalancedSplit strips_;  // of an output row
  const int threads_;
  BalancedSplit blocks_{};  // of output rows
  const std::byte* weights_;
  std::int64_t pairs_bytes_;
  std::vector<Strip> strips_by_row_;
  std::string name_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = strip_geometry(p.features);
  const bool fills = is_plain_depthwise(g) ? g.out_channels % tile.lanes == 0
                                           : 2 * g.group_outputs() >= tile.lanes;
  return has_strips(p.family()) && !g.transposed && kernels::has_lanewise(tile.isa) && fills &&
         g.kernel[2] > 1 && g.kernel[2] <= kernels::kLanewiseMaxTaps && g.stride[2] <= kMaxStep &&
         g.dilation[2] <= kMaxDilation;
}

// The number of pairs of an output and a tap along an axis whose pixel is inside the image.
double pairs_inside(const ConvGeometry& g, const ConvShape& shape, std::size_t axis) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < g.kernel[axis]; ++k) {
    const std::int64_t offset = k * g.dilation[axis] - g.pad_before[axis];
    const std::int64_t first = offset < 0 ? ceil_div(-offset, g.stride[axis]) : 0;
    const std::int64_t left = std::max<std::int64_t>(shape.input[axis] - offset, 0);
    const std::int64_t end = std::min(shape.output[axis], ceil_div(left, g.stride[axis]));
    count += std::max<std::int64_t>(end - first, 0);
  }
  return static_cast<double>(count);
}

double cost(const ConvProblem& p) {
  using namespace policy::row_blocked;
  const ConvGeometry& g = p.geometry;
  const Geometry tile = strip_geometry(p.features);
  const BalancedSplit strips = split_row(g, p.shape, tile);
  const double count = static_cast<double>(strips.count),
               pixels = static_cast<double>(p.shape.output[2]);
  const double vectors = static_cast<double>(std::ssize(strip_vectors(g, tile.lanes)));
  const double lines = static_cast<double>(p.shape.batch * p.shape.output[0] * p.shape.output[1]);
  const double sources = static_cast<double>(p.shape.batch * g.group_inputs()) *
                         pairs_inside(g, p.shape, 0) * pairs_inside(g, p.shape, 1);
  // The cost of a source, for a line: its multiply-adds, or its loads if those are more.
  const double loads = pixels * static_cast<double>(g.stride[2]) +
                       count * static_cast<double>((g.kernel[2] - 1) * g.dilation[2] + g.kernel[2]);
  const double source = std::max(pairs_inside(g, p.shape, 2), loads) + count * kSource;
  const auto weights = static_cast<double>(g.depth() * tile.lanes * kFloat);
  // Broadcasts take the place of loads that would otherwise hide the latency of weights from the
  // L2.
  return vectors * (sources * source + lines * count * read_cost(weights, weights) +
                    lines * (count * kStrip + kPixel * pixels));
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) {
  return std::make_unique<RowBlockedStep>(p);
}

}  // namespace

ConvMethod row_blocked_method() {
  return {"row_blocked", true, applies, cost, prepare, true, false};
}

}  // namespace fbg
