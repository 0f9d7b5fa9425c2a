// Ops of networks whose buffers are tensors: what a file in the ONNX format describes.
//
// The buffer of a tensor is one row (RowKind::tensor): its dense elements, in whatever order of
// axes the builder of the graph has chosen. It counts bytes, or floats where the plan may hold them
// as bfloat16. An op therefore brings all it has to know with it: extents, strides and types. Sizes
// are fixed when the graph is built. Images are channels-last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fbg/conv/conv.h"
#include "fbg/plan/graph.h"

namespace fbg {

// A dense tensor of so many bytes, at least one, that every run brings.
Buffer tensor_input(Graph& graph, std::int64_t bytes);

// A tensor that is known beforehand; aligned to its elements.
Buffer tensor_constant(Graph& graph, std::shared_ptr<const std::byte> data, std::int64_t bytes);

// Moving elements -------------------------------------------------------------------------------

// An axis of what `arrange` copies. Element i of it goes to i * to_stride and comes from
// i * from_stride, or, where `table` is not empty, from table[i]; strides and entries of the table
// count elements. A negative entry leaves the element as it was filled.
struct ArrangeAxis {
  std::int64_t extent = 1, to_stride = 0, from_stride = 0;
  std::vector<std::int64_t> table = {};
};

// A block of elements of inputs[input], from element `from` on, to element `to` of the output on.
struct ArrangePart {
  std::size_t input = 0;
  std::int64_t to = 0, from = 0;
  std::vector<ArrangeAxis> axes = {};
};

// Copies elements of 1, 2, 4 or 8 bytes: transposition, slices, concatenation, padding, repetition,
// and whatever else an index for each axis describes. No two parts may write to the same element.
// `fill`: what the output holds where no part writes; empty where there is no such element.
struct Arrangement {
  std::int64_t elements = 0;  // of the output
  int element_bytes = 4;
  std::vector<ArrangePart> parts = {};
  std::vector<std::byte> fill = {};  // one element
};
Buffer arrange(Graph& graph, std::vector<Buffer> inputs, Arrangement arrangement);

// Functions of elements -------------------------------------------------------------------------

// A step of a program that computes an element of the output from the elements of the operands.
// Register i holds operand i, and register `operands + j` what step j computes from registers a and
// b. Values are float32.
struct ElementwiseStep {
  std::string function;  // a name that elementwise_function() of src/simd/elementwise.h knows
  int a = 0, b = 0;
  float c0 = 0, c1 = 0;
};

// strides: of the elements of an operand along the extents of the program; the last is 0 or 1.
struct ElementwiseOperand {
  Buffer buffer = 0;
  ValueType type = ValueType::float32;
  std::vector<std::int64_t> strides = {};
};

// One pass over all operands. Results of 8 bits are saturated; they have been rounded by a step.
// Those of int32 are the bits that the last step gives.
struct ElementwiseProgram {
  std::vector<std::int64_t> extents = {};  // of the output, which is dense
  std::vector<ElementwiseOperand> operands = {};
  std::vector<ElementwiseStep> steps = {};
  ValueType output = ValueType::float32;
};
Buffer elementwise(Graph& graph, ElementwiseProgram program);

// What a stage of an expression reads: elements that follow each other along the columns. strides:
// of the other extents, 0 where the operand is broadcast.
struct ExpressionOperand {
  Buffer buffer = 0;
  std::vector<std::int64_t> strides = {};
};

// An output pipeline without a product, over a dense tensor: matrices of the two innermost extents.
// Each stage that reads a matrix reads the next one of the operands. Values start as 0.
struct Expression {
  std::vector<std::int64_t> extents = {};
  std::vector<ExpressionOperand> operands = {};
  std::vector<Stage> stages = {};
  bool gives_floats = true;  // where results have 32 bits; otherwise they are the bits of int32
};
Buffer expression(Graph& graph, Expression expression);

// y = table[x] for every byte.
Buffer look_up(Graph& graph, Buffer x, std::array<std::uint8_t, 256> table);

// Windows and reductions ------------------------------------------------------------------------

enum class WindowFunction : std::uint8_t { max, min, sum, mean };

// For every channel, the maximum, minimum, sum or mean over a window of pixels. x is (batch,
// *input, channels); pixels outside of it are left out.
struct Window {
  std::int64_t batch = 1, channels = 1;
  Extent3 input{1, 1, 1}, output{1, 1, 1};
  Extent3 kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad_before{0, 0, 0};
  // Divisor of a mean: all pixels of the window that are not beyond input + pad_after, or, if
  // false, those of the image.
  bool count_padding = false;
  Extent3 pad_after{0, 0, 0};
  ValueType type = ValueType::float32;  // of x and y: float32, uint8 or int8
  // For a mean or sum of integers: r = (mean(x) - zero_point) * factor, and y is
  // saturate(rint(r) + output_zero_point), or r itself, as float32.
  bool float_output = false;
  float factor = 1;
  std::int32_t zero_point = 0, output_zero_point = 0;
};
Buffer window(Graph& graph, Buffer x, WindowFunction function, const Window& window);

// The same over each row of (rows, cols): one value for each row. float32.
Buffer reduce_rows(Graph& graph, Buffer x, WindowFunction function, std::int64_t rows,
                   std::int64_t cols);

// x (outer, input, inner) float32 to y (outer, output, inner):
//   y[o][j][i] = sum over t of weights[j * taps + t] * x[o][sources[j * taps + t]][i]
struct Resampling {
  std::int64_t outer = 1, input = 1, output = 1, inner = 1, taps = 1;
  std::vector<std::int32_t> sources = {};
  std::vector<float> weights = {};
};
Buffer resample(Graph& graph, Buffer x, Resampling resampling);

// softmax(x) of each row of (rows, cols).
Buffer softmax_rows(Graph& graph, Buffer x, std::int64_t rows, std::int64_t cols);
// Its logarithm.
Buffer log_softmax_rows(Graph& graph, Buffer x, std::int64_t rows, std::int64_t cols);

// LayerNorm of each row of (rows, cols): gamma and beta have `cols` elements; beta may be empty.
Buffer layer_norm_rows(Graph& graph, Buffer x, std::int64_t rows, SharedMatrix gamma,
                       SharedMatrix beta, float eps);
// The same of Graph::rms_norm.
Buffer rms_norm_rows(Graph& graph, Buffer x, std::int64_t rows, SharedMatrix gamma, float eps);

// x (batch, pixels, channels), whose channels make up `groups` of neighbours: with the mean and the
// variance of a group of an image, (x - mean) / sqrt(variance + eps) * gamma + beta (Wu and He,
// 2018, arXiv:1803.08494). gamma and beta have an element for each channel.
struct GroupNorm {
  std::int64_t batch = 1, pixels = 1, groups = 1;
  SharedMatrix gamma, beta;
  float eps = 0;
  bool has_planes = false;  // x is (batch, channels, pixels)
};
Buffer group_norm(Graph& graph, Buffer x, GroupNorm norm);

// x (batch, *input, channels) between its pixels: y (batch, points, channels), at the places that
// grid (batch, points, axes) names: -1 and 1 are the ends of an axis, the last axis first, namely
// the centers of its first and last pixels (align_corners) or their outer edges.
enum class Interpolation : std::uint8_t { nearest, linear, cubic };
enum class Beyond : std::uint8_t { zeros, border, reflection };  // pixels outside of the image
struct GridSampling {
  std::int64_t batch = 1, channels = 1, axes = 2;
  Extent3 input{1, 1, 1};  // the last `axes` of them; 1 before
  std::int64_t points = 1;
  Interpolation interpolation = Interpolation::linear;
  Beyond beyond = Beyond::zeros;
  bool align_corners = false;
};
Buffer grid_sample(Graph& graph, Buffer x, Buffer grid, const GridSampling& sampling);

// Products --------------------------------------------------------------------------------------

// A stack of matrices in a tensor of float32. Element (i, j) of the matrix at a place of the stack
// is at  place * strides + i * row_stride + j * column_stride.
struct StackedMatrices {
  Buffer buffer = 0;
  std::vector<std::int64_t> strides = {};  // along the extents of the stack; 0 repeats a matrix
  std::int64_t row_stride = 0, column_stride = 1;
};

// C = A B for each matrix of a stack. Rows of A and C have unit stride, and so have rows or columns
// of B. The matrices of C fill the output; its buffer is not read.
struct StackedProduct {
  std::vector<std::int64_t> stack = {};
  std::int64_t rows = 1, depth = 1, columns = 1;
  StackedMatrices a, b, c;
};
Buffer multiply(Graph& graph, StackedProduct product);

// softmax(scale * Q K^T + bias) V for each matrix of a stack: Q (queries, depth), K (keys, depth),
// V (keys, columns), bias (queries, keys). Rows of all have unit stride.
struct StackedAttention {
  std::vector<std::int64_t> stack = {};
  std::int64_t queries = 1, keys = 1, depth = 1, columns = 1;
  StackedMatrices q, k, v, output;
  std::optional<StackedMatrices> bias = {};
  float scale = 1;
  bool allow_bfloat16 = false;  // products may round their operands
};
Buffer attend(Graph& graph, StackedAttention attention);

// Results of convolutions side by side: one becomes channels [first, first + its channels) of a
// tensor of `channels`. The others are those of `before`, a tensor of the same size, or undefined.
struct ConvPlace {
  std::int64_t channels = 0, first = 0;
  std::optional<Buffer> before = {};
};

// What follows the products of a convolution. The matrix of an Add is the buffer `residual`, of the
// shape of the output; the data of all other stages lives as long as `owner`. place: where the
// result becomes a part of a tensor.
struct ConvEpilogue {
  std::vector<Stage> stages = {};
  std::shared_ptr<const void> owner = {};
  std::optional<Buffer> residual = {};
  std::optional<ConvPlace> place = {};
};

// Scale and zero point of x, if runs compute them: a float32, and a byte of the type of x.
struct ConvQuantization {
  std::optional<Buffer> scale = {}, zero_point = {};
};

// A convolution of a dense channels-last tensor, or, as one of kernel size 1, a product with
// constant weights. `source`, `algorithm`, `measured` and `exact` of the options count; scale and
// zero point are those of x, unless `computed` has them.
Buffer convolve(Graph& graph, Buffer x, PackedConv weights, const ConvShape& shape,
                const ConvOptions& options, ConvEpilogue epilogue, float scale,
                std::int32_t zero_point, const ConvQuantization& computed = {});

// Recurrent layers ------------------------------------------------------------------------------

enum class RecurrentCell : std::uint8_t { rnn, gru, lstm };

// A function of elements by its name in src/simd/elementwise.h, with its constants.
struct ElementFunction {
  std::string name;
  float c0 = 0, c1 = 0;
};

// RNN, GRU and LSTM as ONNX defines them. What x contributes to all steps has been computed:
// `inputs`, (steps, batch, directions, gates, hidden) floats whose two outer axes have any strides,
// gates being z, r, h of a GRU and i, o, f, c of an LSTM. The output holds what each step gives,
// then the last states: (steps + 1, batch, directions, hidden), or steps + 2 where cells have a
// state of their own.
struct Recurrence {
  RecurrentCell cell = RecurrentCell::rnn;
  std::int64_t steps = 1, batch = 1, directions = 1, hidden = 1;
  bool reversed = false;  // the only direction; of two, it is always the second
  Buffer inputs = 0;
  std::int64_t step_stride = 0, batch_stride = 0;
  // The sequence of row b has lengths[b] steps, int32 between 0 and `steps`; all that follows is 0.
  std::optional<Buffer> lengths = {};
  std::optional<Buffer> hidden_state = {},
                        cell_state = {};  // (directions, batch, hidden), or zeros
  // As convolutions of kernel size 1 with a group for each direction. A GRU that applies the reset
  // gate before the product has two: of the gates z and r, and of h. int8 weights multiply states
  // that are quantized in each step, all rows of a direction alike.
  std::vector<PackedConv> weights = {};
  SharedMatrix bias = {};       // (directions * hidden): of h, within the reset gate's product
  SharedMatrix peepholes = {};  // (directions * 3 * hidden): i, o, f
  std::vector<ElementFunction> functions = {};  // of each direction: f (and g (and h))
  float clip = 0;                               // a bound of gates before their functions; 0: none
  bool couples_forget = false;                  // f = 1 - i
};
Buffer recur(Graph& graph, Recurrence recurrence);

}  // namespace fbg
