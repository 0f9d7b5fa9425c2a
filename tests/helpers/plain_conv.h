// Convolutions by plain loops, the reference of tests.
#pragma once

#include <cstdint>
#include <vector>

#include "fbg/conv/geometry.h"

namespace fbg::test {

// For each output pixel and channel the sum over taps and channels; x outside of the image is
// `pad`. Taps of a transposed convolution that meet no pixel position are left out.
template <class X, class W, class Sum>
std::vector<Sum> plain_conv(const ConvGeometry& g, const ConvShape& shape, const X* x, const W* w,
                            Sum pad) {
  const Extent3 &in = shape.input, &out = shape.output;
  std::vector<Sum> y(static_cast<std::size_t>(shape.out_pixels() * g.out_channels));
  std::size_t at = 0;
  for (std::int64_t pixel = 0; pixel < shape.out_pixels(); ++pixel)
    for (std::int64_t o = 0; o < g.out_channels; ++o, ++at) {
      const std::int64_t n = pixel / volume(out);
      const Extent3 place{pixel / (out[2] * out[1]) % out[0], pixel / out[2] % out[1],
                          pixel % out[2]};
      const std::int64_t first = o / g.group_outputs() * g.group_inputs();
      for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
        const Extent3 k{tap / (g.kernel[2] * g.kernel[1]), tap / g.kernel[2] % g.kernel[1],
                        tap % g.kernel[2]};
        Extent3 p{};
        bool inside = true, meets = true;
        for (std::size_t a = 0; a < kSpatialAxes; ++a) {
          p[a] = place[a] * g.stride[a] - g.pad_before[a] + k[a] * g.dilation[a];
          if (g.transposed) {
            const std::int64_t scaled = place[a] + g.pad_before[a] - k[a] * g.dilation[a];
            meets = meets && scaled % g.stride[a] == 0;
            p[a] = scaled / g.stride[a];
          }
          inside = inside && p[a] >= 0 && p[a] < in[a];
        }
        if (!meets) continue;
        const std::int64_t source = ((n * in[0] + p[0]) * in[1] + p[1]) * in[2] + p[2];
        for (std::int64_t i = 0; i < g.group_inputs(); ++i) {
          const Sum value = inside ? static_cast<Sum>(x[source * g.in_channels + first + i]) : pad;
          y[at] += value * static_cast<Sum>(w[(o * g.taps() + tap) * g.group_inputs() + i]);
        }
      }
    }
  return y;
}

}  // namespace fbg::test
