// Pixels outside an image: what they hold, and rows copied together with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/conv/geometry.h"

namespace fbg {

// What the elements of pixels outside an image hold: the zero point as uint8 or uint16, or a float
// of zero. An element has 1, 2 or 4 bytes.
struct Padding {
  std::int32_t zero_point;
  std::int64_t element;  // bytes

  void fill(std::byte* to, std::int64_t bytes) const noexcept;
};

// Copies pixels [first, first + count) of a row of `width` pixels, `stride` bytes apart, to `to`,
// where they are `pixel` bytes apart. Those outside the row are padding.
void copy_padded(const std::byte* row, std::int64_t stride, std::int64_t width, std::int64_t first,
                 std::int64_t count, std::int64_t pixel, const Padding& padding,
                 std::byte* to) noexcept;

// Calls use(row, line) for each row of the kernel, where `line` is the line of the image that this
// row reads for line y of plane z of the output, or null if that line is outside the image.
template <class Use>
void for_each_line(const std::byte* image, const Extent3& strides, const ConvGeometry& g,
                   const Extent3& input, std::int64_t z, std::int64_t y, Use use) {
  std::int64_t row = 0;
  for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz) {
    const std::int64_t iz = z * g.stride[0] - g.pad_before[0] + kz * g.dilation[0];
    for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky, ++row) {
      const std::int64_t iy = y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1];
      const bool inside = iz >= 0 && iz < input[0] && iy >= 0 && iy < input[1];
      use(row, inside ? image + iz * strides[0] + iy * strides[1] : nullptr);
    }
  }
}

}  // namespace fbg
