// Sizes and validity of convolutions.
#include "fbg/conv/geometry.h"

#include <limits>
#include <stdexcept>

namespace fbg {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr const char* kAxis[kSpatialAxes] = {"depth", "height", "width"};

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument("convolution: " + message);
}

std::string axis_text(const char* member, int axis) {
  return std::string(member) + " of the " + kAxis[axis] + " must be ";
}

// The product of sizes, whose bytes must be countable.
std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 16;
  if (b != 0 && a > kLimit / b)
    throw std::length_error("convolution: a tensor has more elements than memory can hold");
  return a * b;
}

std::string extent_text(const Extent3& e) {
  std::string text;
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    if (text.empty() && e[axis] == 1 && axis + 1 < kSpatialAxes) continue;
    if (!text.empty()) text += 'x';
    text += std::to_string(e[axis]);
  }
  return text;
}

// One number if all padded axes have it on both sides, otherwise "before+after" of each axis.
std::string padding_text(const ConvGeometry& g) {
  std::int64_t common = -1;
  bool even = true;
  std::string all;
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    const std::int64_t before = g.pad_before[axis], after = g.pad_after[axis];
    if (all.empty() && before + after == 0 && g.kernel[axis] == 1) continue;
    even = even && before == after && (common < 0 || common == before);
    common = before;
    if (!all.empty()) all += 'x';
    all += std::to_string(before) + '+' + std::to_string(after);
  }
  if (!even) return all;
  return common > 0 ? std::to_string(common) : std::string();
}

}  // namespace

void ConvGeometry::validate() const {
  const auto positive = [](std::int64_t value, const std::string& what) {
    require(value >= 1 && value <= kMost,
            what + "within [1, " + std::to_string(kMost) + "], got " + std::to_string(value));
  };
  positive(in_channels, "in_channels must be ");
  positive(out_channels, "out_channels must be ");
  positive(groups, "groups must be ");
  require(in_channels % groups == 0 && out_channels % groups == 0,
          "groups must divide the " + std::to_string(in_channels) + " input and " +
              std::to_string(out_channels) + " output channels, got " + std::to_string(groups));
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    positive(kernel[axis], axis_text("kernel", axis));
    positive(stride[axis], axis_text("stride", axis));
    positive(dilation[axis], axis_text("dilation", axis));
    for (const std::int64_t pad : {pad_before[axis], pad_after[axis]})
      require(pad >= 0 && pad <= kMost,
              axis_text("padding", axis) + "0 or more, got " + std::to_string(pad));
    require(output_padding[axis] >= 0 &&
                (output_padding[axis] < stride[axis] || output_padding[axis] < dilation[axis] ||
                 output_padding[axis] == 0),
            axis_text("output_padding", axis) +
                "0 or more and less than the stride or the dilation, got " +
                std::to_string(output_padding[axis]));
    require(transposed || output_padding[axis] == 0,
            "output_padding is for transposed convolutions");
  }
  checked_product(checked_product(out_channels, group_inputs()),
                  checked_product(checked_product(kernel[0], kernel[1]), kernel[2]));
}

ConvShape ConvShape::of(const ConvGeometry& g, std::int64_t batch, const Extent3& input) {
  ConvShape shape{batch, input, {}};
  require(batch >= 0, "the batch must be 0 or more, got " + std::to_string(batch));
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    require(input[axis] >= 0 && input[axis] <= kMost, std::string("the input's ") + kAxis[axis] +
                                                          " must be 0 or more, got " +
                                                          std::to_string(input[axis]));
    const std::int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1) + 1;
    const std::int64_t pads = g.pad_before[axis] + g.pad_after[axis];
    if (g.transposed) {
      // An empty input has an empty output, whatever the kernel.
      const std::int64_t size = input[axis] == 0 ? 0
                                                 : (input[axis] - 1) * g.stride[axis] + reach -
                                                       pads + g.output_padding[axis];
      require(size >= 0, "the padding of the " + std::string(kAxis[axis]) +
                             " removes more than the whole output: " + std::to_string(pads) +
                             " of " + std::to_string(size + pads));
      shape.output[axis] = size;
    } else if (input[axis] == 0) {
      shape.output[axis] = 0;
    } else {
      require(input[axis] + pads >= reach,
              std::string("the kernel's ") + kAxis[axis] + " (" + std::to_string(reach) +
                  " with dilation) is larger than that of the padded input (" +
                  std::to_string(input[axis] + pads) + ")");
      shape.output[axis] = (input[axis] + pads - reach) / g.stride[axis] + 1;
    }
  }
  for (const auto& [extent, channels] :
       {std::pair{shape.input, g.in_channels}, std::pair{shape.output, g.out_channels}}) {
    std::int64_t elements = checked_product(batch, channels);
    for (const std::int64_t size : extent) elements = checked_product(elements, size);
  }
  return shape;
}

std::string to_string(const ConvGeometry& g) {
  std::string text = extent_text(g.kernel) + " " + std::to_string(g.in_channels) + "->" +
                     std::to_string(g.out_channels);
  if (g.groups > 1) text += " groups " + std::to_string(g.groups);
  if (volume(g.stride) > 1) text += " stride " + extent_text(g.stride);
  if (volume(g.dilation) > 1) text += " dilation " + extent_text(g.dilation);
  const std::string pads = padding_text(g);
  if (!pads.empty()) text += " pad " + pads;
  if (g.transposed) text += " transposed";
  return text;
}

}  // namespace fbg
