// The geometry of a convolution: kernel, strides, padding, dilation and groups, and the size of the
// output for a given input.
//
// Tensors are channels-last: the input is (N, D, H, W, I), the output (N, OD, OH, OW, O). Every
// convolution has three spatial axes; a 1-D or 2-D one has leading axes of size 1. A tensor of
// pixels is a matrix: its rows are pixels (N * D * H * W), its columns channels.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fbg/core/types.h"

namespace fbg {

inline constexpr int kSpatialAxes = 3;
using Extent3 = std::array<std::int64_t, kSpatialAxes>;  // depth, height, width

constexpr std::int64_t volume(const Extent3& e) { return e[0] * e[1] * e[2]; }

// out[o] = sum over (i, k) of in[o * stride - pad_before + k * dilation, i] * w[o, i, k], where the
// input outside its borders has the value zero (of quantized data: the zero point). A transposed
// convolution is the adjoint of that: out[i * stride - pad_before + k * dilation] += in[i] * w[k].
struct ConvGeometry {
  std::int64_t in_channels = 1, out_channels = 1, groups = 1;
  Extent3 kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Extent3 pad_before{0, 0, 0}, pad_after{0, 0, 0};
  bool transposed = false;
  Extent3 output_padding{0, 0, 0};  // of a transposed convolution: added to the end of the output
  friend bool operator==(const ConvGeometry&, const ConvGeometry&) = default;

  std::int64_t taps() const { return volume(kernel); }
  std::int64_t group_inputs() const { return in_channels / groups; }
  std::int64_t group_outputs() const { return out_channels / groups; }
  // Products that make one element of the output.
  std::int64_t depth() const { return taps() * group_inputs(); }
  bool is_depthwise() const { return groups == in_channels; }

  // Throws std::invalid_argument naming the member that no convolution can have.
  void validate() const;
};

// A convolution of a batch of inputs of one size.
struct ConvShape {
  std::int64_t batch = 0;
  Extent3 input{1, 1, 1}, output{1, 1, 1};

  std::int64_t in_pixels() const { return batch * volume(input); }
  std::int64_t out_pixels() const { return batch * volume(output); }
  // Multiplications and additions of the whole convolution.
  double operations(const ConvGeometry& g) const {
    return 2.0 * static_cast<double>(out_pixels()) * static_cast<double>(g.out_channels) *
           static_cast<double>(g.depth());
  }

  // Throws std::invalid_argument where the kernel is larger than the padded input,
  // std::length_error where the number of elements of a tensor cannot be counted.
  static ConvShape of(const ConvGeometry& g, std::int64_t batch, const Extent3& input);
};

// "3x3 64->128 stride 2 pad 1": for names of plans and error messages.
std::string to_string(const ConvGeometry& g);

}  // namespace fbg
