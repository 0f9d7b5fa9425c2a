// col2im: products of the image before they are moved to their places, for few output channels,
// which leave most lanes of other kernels empty.
//
//   for each block of the output
//     for each line of the image that it reads, some pixels at a time
//       P[pixel][tap, output channel] = pixel . weights           one product, whose lanes are taps
//       sums[place of pixel and tap] += P                         places outside of the block: not
//     the stages                                                  a microkernel without products
//
// A transposed convolution is computed as it is defined, without phases. An ordinary one of stride
// 1 is a transposed one whose taps are in the opposite order. The sum of an output takes the lines
// in their order, and pixels in groups that do not depend on blocks, so that neither blocks nor
// threads change a bit of it.
#include <algorithm>
#include <string>
#include <vector>

#include "conv/cost.h"
#include "conv/epilogue.h"
#include "conv/scratchpad.h"
#include "core/policy.h"
#include "fbg/gemm/pack_b.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

// An axis of a transposed convolution: input i and tap k belong to output i * stride - pad + k *
// dilation.
struct ScatterAxis {
  std::int64_t inputs, outputs, taps, stride, dilation, pad;
  bool flips;  // the taps of the weights are in the opposite order

  static ScatterAxis of(const ConvGeometry& g, const ConvShape& shape, std::size_t axis) {
    const std::int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1);
    return {shape.input[axis], shape.output[axis],
            g.kernel[axis],    g.stride[axis],
            g.dilation[axis],  g.transposed ? g.pad_before[axis] : reach - g.pad_before[axis],
            !g.transposed};
  }
  std::int64_t reach() const { return dilation * (taps - 1); }
  // The inputs of some outputs.
  Range inputs_of(Range out) const {
    const std::int64_t first = std::max<std::int64_t>(out.begin + pad - reach(), 0);
    const std::int64_t last = out.end - 1 + pad;
    const std::int64_t end = last < 0 ? 0 : std::min(last / stride + 1, inputs);
    return {std::min(ceil_div(first, stride), end), end};
  }
};

// to[i * step + e] += from[i * ld + e] for each of `count` pixels, for e < width.
template <int kWidth>
void add_runs(const float* from, std::int64_t ld, std::int64_t count, std::int64_t step, float* to,
              std::int64_t width = kWidth) {
  for (std::int64_t i = 0; i < count; ++i, from += ld, to += step)
    for (std::int64_t e = 0; e < (kWidth ? kWidth : width); ++e) to[e] += from[e];
}

class Col2imStep final : public ConvStep {
 public:
  explicit Col2imStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        axes_{ScatterAxis::of(p.geometry, p.shape, 0), ScatterAxis::of(p.geometry, p.shape, 1),
              ScatterAxis::of(p.geometry, p.shape, 2)},
        tile_(choose_geometry(GemmType::float32, p.features)),
        stages_(p, tile_),
        plain_(p.stages.empty()),
        columns_(axes_[1].taps * axes_[2].taps * p.geometry.out_channels),
        padded_(round_up(columns_, std::int64_t{kPanelColumns})),
        threads_(p.threads),
        weights_(&p.weights.form_of("col2im", [&] { return order(p.weights); })) {
    const std::int64_t outputs = geometry_.out_channels;
    xs_ = BalancedSplit::split(axes_[2].outputs,
                               std::max<std::int64_t>(policy::col2im::kSums / outputs, 1));
    const std::int64_t width = std::max<std::int64_t>(xs_.largest * outputs, 1);
    const std::int64_t lines = std::max<std::int64_t>(policy::col2im::kSums / width, 1);
    ys_ = BalancedSplit::split(
        axes_[1].outputs,
        std::min(lines, std::max<std::int64_t>(ceil_div(axes_[1].outputs, threads_), 1)));
    line_ = (xs_.largest + 2 * axes_[2].reach()) * outputs;
    const KernelKey key = make_kernel_key(tile_, GemmType::float32, {}, false, false, false);
    products_ = KernelTable(tile_, key, columns_, 1, policy::col2im::kPixels);
  }

  std::string kernel() const override { return stages_.kernel(); }
  std::size_t workspace_bytes() const noexcept override {
    Scratchpad memory(nullptr);
    lay_out(memory);
    return static_cast<std::size_t>(threads_ * memory.bytes());
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    Scratchpad counted(nullptr);
    lay_out(counted);
    Scratchpad memory(workspace + thread_id * counted.bytes());
    const Thread t = lay_out(memory);
    TilePlace place(run.stages, run.c, run.grid.step[2]);
    const std::int64_t count = shape_.batch * axes_[0].outputs * ys_.count * xs_.count;
    for (std::int64_t i = count * thread_id / num_threads;
         i < count * (thread_id + 1) / num_threads; ++i) {
      const std::int64_t plane = i / xs_.count / ys_.count;
      const Block b{plane / axes_[0].outputs, plane % axes_[0].outputs,
                    ys_[i / xs_.count % ys_.count], xs_[i % xs_.count]};
      add_products(run, b, t);
      for (std::int64_t y = b.y.begin; y < b.y.end; ++y)
        finish(run, run.grid.row(b.image, b.z, y, b.x.begin), b.x.size(),
               t.sums + (y - b.y.begin) * line_ + axes_[2].reach() * geometry_.out_channels, place);
    }
  }

 private:
  struct Thread {
    float* sums;      // [line of the block][pixel, with those beyond its ends][channel]
    float* products;  // [pixel][tap of a plane][channel]
  };
  struct Block {
    std::int64_t image, z;
    Range y, x;
  };

  Thread lay_out(Scratchpad& memory) const {
    float* const sums = memory.take<float>(ys_.largest * line_);
    return {sums, memory.take<float>(policy::col2im::kPixels * columns_)};
  }

  // [plane of the kernel][row, column, output channel], padded to whole panels.
  PackedB<Float32> order(const PackedConv& weights) const {
    const ConvGeometry& g = geometry_;
    const std::vector<float> w = weights.floats();
    const std::int64_t inputs = g.in_channels, columns = g.kernel[0] * padded_;
    std::vector<float> ordered(static_cast<std::size_t>(columns * inputs));
    const auto tap = [](const ScatterAxis& axis, std::int64_t k) {
      return axis.flips ? axis.taps - 1 - k : k;
    };
    for (std::int64_t z = 0; z < g.kernel[0]; ++z)
      for (std::int64_t c = 0; c < columns_; ++c) {
        const std::int64_t o = c % g.out_channels, x = c / g.out_channels % g.kernel[2],
                           y = c / g.out_channels / g.kernel[2];
        const std::int64_t from =
            ((o * g.kernel[0] + tap(axes_[0], z)) * g.kernel[1] + tap(axes_[1], y)) * g.kernel[2] +
            tap(axes_[2], x);
        std::copy_n(w.begin() + from * inputs, inputs,
                    ordered.begin() + (z * padded_ + c) * inputs);
      }
    return PackedB<Float32>::pack({ordered.data(), inputs, columns, 1, inputs});
  }

  void add_products(const ConvRun& run, const Block& b, const Thread& t) const noexcept {
    constexpr std::int64_t kPixels = policy::col2im::kPixels;
    std::fill_n(t.sums, b.y.size() * line_, 0.0f);
    const ScatterAxis &depth = axes_[0], &height = axes_[1];
    const Range lines = height.inputs_of(b.y), pixels = axes_[2].inputs_of(b.x);
    for (std::int64_t kz = 0; kz < depth.taps; ++kz) {
      const std::int64_t z = b.z + depth.pad - kz * depth.dilation;
      if (z < 0 || z % depth.stride != 0 || z / depth.stride >= depth.inputs) continue;
      for (std::int64_t y = lines.begin; y < lines.end; ++y) {
        const std::byte* const line = run.x + b.image * run.batch_stride +
                                      z / depth.stride * run.strides[0] + y * run.strides[1];
        for (std::int64_t x = pixels.begin; x < pixels.end;) {
          const Range some{x, std::min(x / kPixels * kPixels + kPixels, pixels.end)};
          multiply(line + x * run.strides[2], run.strides[2], some.size(), kz, t.products);
          scatter(b, y, some, t);
          x = some.end;
        }
      }
    }
  }

  void multiply(const std::byte* from, std::int64_t stride, std::int64_t pixels, std::int64_t kz,
                float* to) const noexcept {
    const BalancedSplit tiles = BalancedSplit::split(pixels, tile_.max_rows);
    BlockPair pair{nullptr, stride, nullptr, weights_->panel_bytes(), geometry_.in_channels};
    TileArgs args;
    args.set_blocks({&pair, 1});
    args.ldc = columns_ * kFloat;
    args.prefetch = weights_->panels();
    for_each_column_group(tile_, tiles.largest, {0, columns_}, [&](const ColumnGroup& group) {
      const std::int64_t col = kz * padded_ + group.col;
      pair.a = from;
      pair.b = weights_->panels() + col / kPanelColumns * weights_->panel_bytes() +
               col % kPanelColumns * kFloat;
      args.columns = group.columns;
      float* tile = to + group.col;
      for_each_row_tile(tiles, {&pair, 1}, [&](std::int64_t rows) {
        args.c = tile;
        run_tile(products_, group, rows, args);
        tile += rows * columns_;
      });
    });
  }

  // Adds the products of some pixels of a line. As many taps as the stride belong to outputs that
  // those of the next pixel follow.
  void scatter(const Block& b, std::int64_t line, Range pixels, const Thread& t) const noexcept {
    const ScatterAxis &height = axes_[1], &width = axes_[2];
    const std::int64_t outputs = geometry_.out_channels, step = width.stride * outputs;
    const std::int64_t together = width.dilation == 1 ? std::min(width.stride, width.taps) : 1;
    const std::int64_t first =
        pixels.begin * width.stride - width.pad - b.x.begin + width.reach();  // of tap 0
    for (std::int64_t ky = 0; ky < height.taps; ++ky) {
      const std::int64_t y = line * height.stride - height.pad + ky * height.dilation;
      if (y < b.y.begin || y >= b.y.end) continue;
      float* const to = t.sums + (y - b.y.begin) * line_ + first * outputs;
      const float* const from = t.products + ky * width.taps * outputs;
      for (std::int64_t kx = 0; kx < width.taps; kx += together) {
        const std::int64_t run = std::min(together, width.taps - kx) * outputs;
        add(from + kx * outputs, pixels.size(), step, to + kx * width.dilation * outputs, run);
      }
    }
  }

  void add(const float* from, std::int64_t count, std::int64_t step, float* to,
           std::int64_t run) const noexcept {
    switch (run) {
      case 1:
        return add_runs<1>(from, columns_, count, step, to);
      case 2:
        return add_runs<2>(from, columns_, count, step, to);
      case 3:
        return add_runs<3>(from, columns_, count, step, to);
      case 4:
        return add_runs<4>(from, columns_, count, step, to);
      case 8:
        return add_runs<8>(from, columns_, count, step, to);
      default:
        return add_runs<0>(from, columns_, count, step, to, run);
    }
  }

  void finish(const ConvRun& run, std::int64_t row, std::int64_t pixels, const float* sums,
              TilePlace& place) const noexcept {
    const std::int64_t outputs = geometry_.out_channels;
    if (plain_ && run.c.ld == outputs * kFloat)
      std::copy_n(sums, pixels * outputs,
                  reinterpret_cast<float*>(static_cast<std::byte*>(run.c.data) + row * run.c.ld));
    else
      stages_.run(sums, outputs, pixels, row, {0, outputs}, place);
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const ScatterAxis axes_[kSpatialAxes];
  const Geometry tile_;
  const SumsEpilogue stages_;
  const bool plain_;                     // there are no stages
  const std::int64_t columns_, padded_;  // of the weights of a plane; in whole panels
  const int threads_;
  const PackedB<Float32>* weights_;
  BalancedSplit ys_{}, xs_{};  // of output lines and of pixels in blocks
  std::int64_t line_ = 0;      // floats of a line of sums
  KernelTable products_;
};

// Inputs of an ordinary convolution with negative padding would be read that it does not read.
bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  return g.groups == 1 && g.out_channels <= policy::col2im::kMostOutputs && g.taps() > 1 &&
         (g.transposed || volume(g.stride) == 1) &&
         std::ranges::all_of(g.pad_before, [](std::int64_t pad) { return pad >= 0; });
}

double cost(const ConvProblem& p) {
  using namespace policy::col2im;
  const ConvGeometry& g = p.geometry;
  const Geometry tile = choose_geometry(GemmType::float32, p.features);
  const std::int64_t columns = g.kernel[1] * g.kernel[2] * g.out_channels;
  const double planes =
      static_cast<double>(g.transposed ? ceil_div(g.kernel[0], g.stride[0]) : g.kernel[0]);
  const double pixels = static_cast<double>(p.shape.in_pixels()) * planes;
  const double lines = static_cast<double>(p.shape.batch * p.shape.output[0] * p.shape.output[1]);
  const double height = tile.max_rows;
  const double products = pixels / height *
                          static_cast<double>(ceil_div(columns, std::int64_t{tile.lanes})) *
                          (tile_cost(tile, height, g.in_channels) + kProduct);
  const double run = static_cast<double>(
      g.out_channels * (g.dilation[2] == 1 ? std::min(g.stride[2], g.kernel[2]) : 1));
  const double adds =
      pixels * static_cast<double>(columns) / run *
      (kRun + kAdd * static_cast<double>(ceil_div(static_cast<std::int64_t>(run), std::int64_t{4}) *
                                         std::min(run, 4.0)));
  const double outputs = static_cast<double>(p.shape.out_pixels()) *
                         static_cast<double>(ceil_div(g.out_channels, std::int64_t{tile.lanes}));
  return products + adds + outputs * (p.stages.empty() ? 1 : kFinish) + lines * kLine;
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) { return std::make_unique<Col2imStep>(p); }

bool serves(GemmType family) {
  return family == GemmType::float32 || family == GemmType::float32_f16 ||
         family == GemmType::float32_bf16;
}

}  // namespace

ConvMethod col2im_method() {
  return {.name = "col2im",
          .exact = false,  // sums of sums: one for each tap
          .applies = applies,
          .cost = cost,
          .prepare = prepare,
          .in_kernel_order = false,
          .serves = serves,
          .whole = true};
}

}  // namespace fbg
