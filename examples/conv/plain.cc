// plain: the definition of convolution, one output pixel at a time, in float32. docs/convolution.md
// names this file as the pattern of an algorithm; tests/conv/test_plain_algorithm.cc runs it.
#include <algorithm>
#include <memory>
#include <string>

#include "conv/epilogue.h"

namespace fbg {
namespace {

class PlainStep final : public ConvStep {
 public:
  explicit PlainStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        weights_(p.weights.weights<float>()),
        stages_(p, choose_geometry(GemmType::float32, p.features)),
        threads_(p.threads) {}

  std::string kernel() const override { return "plain_fp32"; }  // a name for reports
  std::size_t workspace_bytes() const noexcept override {       // of all threads
    return static_cast<std::size_t>(threads_ * thread_bytes());
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    float* const sums = reinterpret_cast<float*>(workspace + thread_id * thread_bytes());
    TilePlace place(run.stages, run.c, run.grid.step[2]);
    const Extent3& out = shape_.output;
    const std::int64_t count = shape_.out_pixels();
    for (std::int64_t i = count * thread_id / num_threads;
         i < count * (thread_id + 1) / num_threads; ++i) {
      const std::int64_t n = i / volume(out), z = i / (out[1] * out[2]) % out[0],
                         y = i / out[2] % out[1], x = i % out[2];
      add_products(run, n, {z, y, x}, sums);
      // The stages of the pipeline, and the result in C.
      stages_.run(sums, geometry_.out_channels, 1, run.grid.row(n, z, y, x),
                  {0, geometry_.out_channels}, place);
    }
  }

 private:
  std::int64_t thread_bytes() const { return round_up(geometry_.out_channels * 4, 64); }

  // sums[o] = sum over the taps inside the image, and over the input channels of o's group. Pixels
  // outside are zero, and are left out; quantized images have run.image_zero_point(n) there.
  void add_products(const ConvRun& run, std::int64_t n, const Extent3& at,
                    float* sums) const noexcept {
    const ConvGeometry& g = geometry_;
    std::fill_n(sums, g.out_channels, 0.0f);
    for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
      const Extent3 k{tap / (g.kernel[2] * g.kernel[1]), tap / g.kernel[2] % g.kernel[1],
                      tap % g.kernel[2]};
      const std::byte* pixel = run.x + n * run.batch_stride;
      bool inside = true;
      for (std::size_t axis = 0; axis < kSpatialAxes; ++axis) {
        const std::int64_t i =
            at[axis] * g.stride[axis] - g.pad_before[axis] + k[axis] * g.dilation[axis];
        inside = inside && i >= 0 && i < shape_.input[axis];
        pixel += i * run.strides[axis];
      }
      if (!inside) continue;
      for (std::int64_t o = 0; o < g.out_channels; ++o) {
        const float* const x =
            reinterpret_cast<const float*>(pixel) + o / g.group_outputs() * g.group_inputs();
        const float* const w = weights_ + (o * g.taps() + tap) * g.group_inputs();
        for (std::int64_t c = 0; c < g.group_inputs(); ++c) sums[o] += x[c] * w[c];
      }
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const float* const weights_;  // [output channel][tap][input channel of the group]
  const SumsEpilogue stages_;
  const int threads_;
};

}  // namespace

ConvMethod plain_method() {
  return {
      .name = "plain",
      .exact = true,  // one chain of products for each output
      .applies = [](const ConvProblem& p) { return !p.geometry.transposed; },
      // A scalar multiply-add, with its loads, takes about as long as two of vectors.
      .cost =
          [](const ConvProblem& p) {
            return static_cast<double>(p.shape.out_pixels() * p.geometry.out_channels *
                                       p.geometry.depth()) *
                   2;
          },
      .prepare = [](const ConvProblem& p) -> std::unique_ptr<ConvStep> {
        return std::make_unique<PlainStep>(p);
      },
      .any_grid = true,
      .in_kernel_order = false,  // implicit GEMM fuses multiplication and addition: other bits
      .serves = only<GemmType::float32>,
  };
}

}  // namespace fbg
