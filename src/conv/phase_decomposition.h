// The phase decomposition of a transposed convolution. Output pixels whose positions have the same
// remainder modulo the stride, which is their phase, read the same taps. Each phase is an ordinary
// convolution with stride 1 and a smaller kernel that writes every stride-th pixel, so that no
// zeros are inserted into the image.
#pragma once

#include <vector>

#include "conv/pixel_grid.h"
#include "fbg/conv/packed_conv.h"

namespace fbg {

struct SubConvolution {
  PackedConv weights;
  ConvGeometry geometry;  // negative padding means that so many pixels of the image are not read
  ConvShape shape;
  PixelGrid grid;
};

// The phases of a transposed convolution, whose weights are made once for all shapes. Another
// convolution is its only phase.
std::vector<SubConvolution> decompose_phases(const PackedConv& weights, const ConvShape& shape);

}  // namespace fbg
