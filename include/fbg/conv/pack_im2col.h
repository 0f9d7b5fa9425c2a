// The packer of A for convolutions. The rows of A are output pixels; its columns are the positions
// of the kernel and, at each position, the input channels of a group. The patch of a pixel is
// gathered while its block is packed, so the ordinary GEMM driver computes convolutions of any
// geometry. The image of a pointwise convolution is read in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/conv/geometry.h"
#include "fbg/gemm/gemm.h"
#include "fbg/gemm/pack_a.h"

namespace fbg {

// An image in memory: channels are contiguous, and strides of the other axes count bytes.
struct ImageView {
  const std::byte* data = nullptr;
  std::int64_t batch_stride = 0;
  Extent3 strides{};
  const float* scale = nullptr;              // [batch]; null: none
  const std::int32_t* zero_point = nullptr;  // [batch]; null: 0. Padding has this value
  const std::byte* end = nullptr;            // what comes before may be read; null: only the pixels
};

// A packer of the patches of output pixels `pixels`, which are counted over the batch. Elements
// have `element` bytes.
class PatchRows {
 public:
  using Element = std::byte;
  static constexpr bool kHasScale = true;  // where the image has

  PatchRows(const ImageView& x, const ConvGeometry& geometry, const ConvShape& shape,
            std::int64_t group, Range pixels, std::int64_t element)
      : x_(x), g_(geometry), shape_(shape), group_(group), pixels_(pixels), element_(element) {}
  std::int64_t rows() const { return pixels_.size(); }
  std::int64_t depth() const { return g_.depth(); }
  const std::byte* in_place() const;
  std::int64_t in_place_ld() const { return x_.strides[2]; }
  void prepare(Range rows, ABlock& block) const noexcept;
  void pack(Range rows, ABlock& block) const noexcept;

 private:
  // The first pixel, if patches are pixels and follow each other without gaps.
  const std::byte* pixels() const;
  void gather(std::int64_t line, Range xs, Features features, std::byte* to,
              std::int64_t ld) const noexcept;

  ImageView x_;
  const ConvGeometry& g_;
  ConvShape shape_;
  std::int64_t group_;
  Range pixels_;
  std::int64_t element_;
};

// A packer of a Gemm whose types are known when a program is compiled. T is what the kernel reads.
// With HasScale, `x.scale` and `x.zero_point` must not be null.
template <class T, bool HasScale>
class PackAWithIm2Col : public PatchRows {
 public:
  using Element = T;
  static constexpr bool kHasScale = HasScale;

  PackAWithIm2Col(const ImageView& x, const ConvGeometry& geometry, const ConvShape& shape,
                  std::int64_t group, Range pixels)
      : PatchRows(x, geometry, shape, group, pixels, sizeof(T)) {}
  const T* in_place() const { return reinterpret_cast<const T*>(PatchRows::in_place()); }
  std::int64_t in_place_ld() const {
    return PatchRows::in_place_ld() / static_cast<std::int64_t>(sizeof(T));
  }
};

// Whether every output pixel is the input pixel at the same place.
bool is_pointwise(const ConvGeometry& g);

}  // namespace fbg
