// y = pipeline(x * w), a convolution prepared for one shape: start reading here.
//
//   convert    x into what kernels read: a no-op, a shift of int8, or quantization per image
//   algorithm  one of those in src/conv, chosen by cost: pointwise, implicit_gemm, im2col, ...
//   pipeline   in the kernels, while a tile of (output pixels x output channels) is in registers
//
// The constructor makes all decisions and allocations. run() computes a share of a phase; the next
// phase may begin when all shares are done. It allocates nothing and throws nothing; the caller
// provides the workspace. For a given algorithm, a result depends neither on the batch nor on the
// number of threads or the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fbg/conv/geometry.h"
#include "fbg/conv/packed_conv.h"
#include "fbg/core/isa.h"
#include "fbg/gemm/gemm.h"
#include "fbg/gemm/pipeline.h"

namespace fbg {

// How x arrives.
enum class ConvSource : std::uint8_t {
  native,    // elements as kernels read them: uint8, float32 or bfloat16
  int8,      // of integer kernels: shifted by 128 first
  quantize,  // of integer kernels: float32, quantized per image to uint8
  round,     // of kernels that multiply bfloat16 by bfloat16: float32, rounded half to even
  widen,     // of kernels that multiply float32: bfloat16
};

// A channels-last tensor: channels are contiguous, strides of the others count elements.
struct ConvInput {
  const void* data = nullptr;
  std::int64_t batch_stride = 0;
  Extent3 strides{};  // of depth, height, width
  // In the terms of x's own type; of ConvSource::quantize they are found per image.
  float scale = 1;
  std::int32_t zero_point = 0;

  static ConvInput dense(const void* data, const ConvGeometry& g, const ConvShape& shape);
};

struct ConvOptions {
  ConvSource source = ConvSource::native;
  bool has_scale = false;      // whether run() brings scale and zero point of x
  std::string_view algorithm;  // empty: the one of least cost
  bool exact = false;          // leaves out algorithms whose rounding differs from a plain sum
  // What measurements found to be fastest: replaces the algorithm of least cost if it applies and
  // gives the same bits. Without effect where `algorithm` names one.
  std::string_view measured;
  int threads = 1;  // the most that run() will have
};

// An algorithm that applies, and its modelled cost in cycles of one thread: only ratios of costs
// are meaningful.
struct ConvAlgorithm {
  std::string name;
  double cost;
  bool same_bits;  // as the cheapest one
};

class ConvStep;  // src/conv/algorithm.h

class Conv {
 public:
  // Throws std::invalid_argument for an algorithm that does not apply, PipelineTypeError for stages
  // that do not fit, std::runtime_error where executable memory is denied.
  Conv(const PackedConv& weights, RuntimePipeline pipeline, const ConvShape& shape,
       const ConvOptions& options = {}, Features features = active_features());
  ~Conv();
  Conv(Conv&&) noexcept;
  Conv& operator=(Conv&&) noexcept;

  ValueType output_type() const;
  const ConvShape& shape() const;
  std::string_view algorithm() const;
  std::string kernel_name() const;
  // Whether a run begins with a copy of x, whose elements kernels cannot read as they are.
  bool copies_x() const noexcept;
  int phases() const noexcept;
  std::size_t workspace_bytes() const noexcept;

  // `pipeline` is that of the constructor, with the parameters of this call. c holds out_pixels()
  // rows of out_channels results. Subnormal numbers are kept, except inside of a FloatEnvironment
  // that flushes them. `workspace` is 64-byte aligned and shared by all threads.
  void run(const ConvInput& x, RuntimePipeline pipeline, OutputView c, std::byte* workspace,
           int phase, int thread_id, int num_threads) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What applies, cheapest first. Without `exact` algorithms that round differently are among them.
std::vector<ConvAlgorithm> conv_algorithms(const PackedConv& weights, RuntimePipeline pipeline,
                                           const ConvShape& shape, const ConvOptions& options = {},
                                           Features features = active_features());

}  // namespace fbg
