// The parts that a convolution is computed in. An ordinary convolution is one part. In a transposed
// one, output pixels whose positions have the same remainder modulo the stride read the same taps,
// so that each remainder is an ordinary convolution with stride 1 and a smaller kernel, which
// writes every stride-th pixel: no zeros are inserted into the image.
#pragma once

#include <vector>

#include "conv/pixel_grid.h"
#include "fbg/conv/packed_conv.h"

namespace fbg {

struct ConvPart {
  PackedConv weights;
  ConvGeometry geometry;  // its padding may be negative: so many pixels of the image are not read
  ConvShape shape;
  PixelGrid grid;
};

// At least one; of a transposed convolution, their weights are made once for all shapes.
std::vector<ConvPart> conv_parts(const PackedConv& weights, const ConvShape& shape);

}  // namespace fbg
