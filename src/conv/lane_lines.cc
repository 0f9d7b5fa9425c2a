// The lines of U: how an image is laid out for channel-vectorized kernels.
#include <algorithm>
#include <cstring>

#include "conv/channel_vectorized.h"
#include "conv/padding.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kWord = 4;  // bytes of a lane
constexpr int kMaxShare = 4;

using Kind = LaneLayout::Kind;

}  // namespace

LaneLayout LaneLayout::of(const ConvGeometry& g, int depth) {
  LaneLayout u{Kind::channels, depth, 1, depth, 0, 1, 1};
  const std::int64_t inputs = g.group_inputs();
  constexpr std::int64_t kFewColumns = 7;
  if (depth == 1 && inputs == 1 && g.group_outputs() == 1 && g.kernel[2] <= kFewColumns) {
    u.kind = Kind::in_place;
    u.sources = g.kernel[1];
    return u;
  }
  const int channels = inputs == 1 ? 1 : inputs == 2 ? 2 : 4;
  if (channels >= depth) {
    u.quads = ceil_div(inputs, static_cast<std::int64_t>(depth));
    u.sources = g.kernel[1] * u.quads;
    return u;
  }
  u.kind = Kind::rows;
  u.channels = channels;
  u.rows = depth / channels;
  u.sources = ceil_div(g.kernel[1], static_cast<std::int64_t>(u.rows));
  if (g.dilation[1] == 1)
    u.share =
        std::min<std::int64_t>((u.sources * u.rows - g.kernel[1]) / g.stride[1] + 1, kMaxShare);
  return u;
}

LaneLines::LaneLines(const ConvGeometry& geometry, const ConvShape& shape, const LaneLayout& layout,
                     int lanes, Features features, bool integer)
    : geometry_(geometry),
      shape_(shape),
      layout_(layout),
      kernels_(simd::kernels(features).lanes),
      integer_(integer),
      vector_(lanes),
      element_(integer ? 1 : kWord),
      pixel_(geometry.in_channels * element_),
      padded_(round_up(geometry.out_channels, static_cast<std::int64_t>(lanes))) {
  if (layout.kind != Kind::channels) return;
  for (std::int64_t first = 0; first < padded_; first += vector_)
    spread_.push_back(simd::LaneSpread::of(first, vector_, geometry.out_channels,
                                           geometry.group_outputs(), geometry.group_inputs(),
                                           element_));
}

std::int64_t LaneLines::lines_of(std::int64_t rows) const {
  if (layout_.kind == Kind::rows) return ceil_div(rows, layout_.share) * layout_.sources;
  const std::int64_t reach = geometry_.dilation[1] * (geometry_.kernel[1] - 1) + 1;
  return ((rows - 1) * geometry_.stride[1] + reach) * layout_.quads;
}

std::int64_t LaneLines::pixels_of(std::int64_t columns) const {
  return (columns - 1) * geometry_.stride[2] + geometry_.dilation[2] * (geometry_.kernel[2] - 1) +
         1;
}

const std::byte* LaneLines::image_row(const ConvRun& run, const LaneBlock& b, std::int64_t kz,
                                      std::int64_t y) const noexcept {
  const std::int64_t z =
      b.z * geometry_.stride[0] - geometry_.pad_before[0] + kz * geometry_.dilation[0];
  if (z < 0 || z >= shape_.input[0] || y < 0 || y >= shape_.input[1]) return nullptr;
  return run.x + b.image * run.batch_stride + z * run.strides[0] + y * run.strides[1];
}

const std::byte* LaneLines::find(const ConvRun& run, const LaneBlock& b, std::int64_t kz,
                                 std::int64_t y, std::int64_t ky, std::int64_t pixels,
                                 const std::byte* padding, std::int64_t* lda,
                                 std::byte* copy) const noexcept {
  const ConvGeometry& g = geometry_;
  const std::byte* const row =
      image_row(run, b, kz, y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1]);
  if (!row) {
    *lda = 0;
    return padding;
  }
  const std::int64_t x = b.x.begin * g.stride[2] - g.pad_before[2];
  // Whole vectors are read, so that reading the last channels goes beyond the pixel.
  const std::int64_t slack = (padded_ - g.out_channels) * kWord;
  if (x >= 0 && x + pixels <= shape_.input[2] &&
      row + (x + pixels - 1) * run.strides[2] + pixel_ + slack <= run.end) {
    *lda = run.strides[2];
    return row + x * run.strides[2];
  }
  // Only the channels of the block are copied. The result is where channel 0 would be.
  const std::int64_t first = b.lanes.begin * kWord;
  *lda = std::min(b.lanes.end, g.out_channels) * kWord - first;
  copy_padded(row + first, run.strides[2], shape_.input[2], x, pixels, *lda,
              run.padding(b.image, element_), copy);
  return copy - first;
}

void LaneLines::build(const ConvRun& run, const LaneBlock& b, std::int64_t kz, std::int64_t line,
                      std::int64_t pixels, const std::byte* padding,
                      std::uint32_t* to) const noexcept {
  const ConvGeometry& g = geometry_;
  const std::int64_t lanes = b.lanes.size();
  // Rows of the image that the elements of a lane come from.
  std::int64_t y = b.y.begin * g.stride[1] - g.pad_before[1];
  std::int64_t quad = 0;
  int rows = 1;
  if (layout_.kind == Kind::rows) {
    y += line / layout_.sources * layout_.share * g.stride[1] +
         line % layout_.sources * layout_.rows * g.dilation[1];
    rows = layout_.rows;
  } else {
    y += line / layout_.quads;
    quad = line % layout_.quads;
  }
  const std::byte* from[4];
  std::int64_t strides[4];
  for (int i = 0; i < rows; ++i) {
    const std::byte* const row = image_row(run, b, kz, y + i * g.dilation[1]);
    from[i] = row ? row : padding;
    strides[i] = row ? run.strides[2] : 0;
  }
  // Pixels outside the image on the left and on the right, and those inside.
  const std::int64_t x = b.x.begin * g.stride[2] - g.pad_before[2];
  const std::int64_t first = std::clamp<std::int64_t>(-x, 0, pixels);
  const std::int64_t last = std::clamp<std::int64_t>(shape_.input[2] - x, first, pixels);
  const std::uint32_t outside = padding_word(run.image_zero_point(b.image));
  std::fill_n(to, first * lanes, outside);
  std::fill_n(to + last * lanes, (pixels - last) * lanes, outside);
  if (last <= first) return;
  for (int i = 0; i < rows; ++i) from[i] += (x + first) * strides[i];
  fill(run, b.lanes, from, strides, rows, quad, last - first, to + first * lanes);
}

std::uint32_t LaneLines::padding_word(std::int32_t zero_point) const noexcept {
  if (!integer_) return 0;
  return static_cast<std::uint32_t>(zero_point) * (layout_.depth == 4 ? 0x01010101u : 0x00010001u);
}

// Fills the lanes of `pixels` pixels inside the image.
void LaneLines::fill(const ConvRun& run, Range lanes, const std::byte* const* from,
                     const std::int64_t* strides, int rows, std::int64_t quad, std::int64_t pixels,
                     std::uint32_t* to) const noexcept {
  const ConvGeometry& g = geometry_;
  const std::int64_t real = std::min(lanes.end, g.out_channels) - lanes.begin;
  if (layout_.kind == Kind::rows && g.is_depthwise()) {
    fill_rows({lanes.begin, lanes.begin + real}, lanes.size(), from, strides, rows, pixels, to);
    return;
  }
  if (layout_.kind == Kind::channels && (!integer_ || layout_.depth == 4)) {
    const auto* const vectors = spread_.data() + lanes.begin / vector_;
    const std::int64_t count = lanes.size() / vector_;
    if (std::all_of(vectors, vectors + count, [](const auto& spread) { return spread.fits; })) {
      const std::int64_t offset = quad * kWord;
      const auto spread = integer_ ? kernels_.spread_bytes : kernels_.spread_floats;
      // The buffer of padding has room for whole vectors.
      spread(from[0] + offset, strides[0], static_cast<std::size_t>(pixels),
             strides[0] ? run.end : nullptr, vectors, static_cast<std::size_t>(count), to);
      return;
    }
  }
  fill_one_by_one({lanes.begin, lanes.begin + real}, from, strides, quad, pixels, to);
}

// Fills the lanes of a depthwise convolution, each of whose input channels has group_outputs()
// lanes: a few pixels of the input channels are interleaved and then repeated.
void LaneLines::fill_rows(Range lanes, std::int64_t stride, const std::byte* const* from,
                          const std::int64_t* strides, int rows, std::int64_t pixels,
                          std::uint32_t* to) const noexcept {
  const std::int64_t multiplier = geometry_.group_outputs();
  const Range inputs{lanes.begin / multiplier, ceil_div(lanes.end, multiplier)};
  const auto interleave =
      layout_.depth == 4 ? kernels_.interleave_bytes : kernels_.interleave_words;
  const std::uint8_t* bytes[4];
  for (int i = 0; i < rows; ++i)
    bytes[i] = reinterpret_cast<const std::uint8_t*>(from[i]) + inputs.begin;
  const auto channels = static_cast<std::size_t>(inputs.size());
  if (multiplier == 1) {
    interleave(bytes, strides, static_cast<std::size_t>(pixels), channels,
               static_cast<std::size_t>(stride), to);
    return;
  }
  std::uint32_t words[1024];
  const std::int64_t most = std::ssize(words) / inputs.size();
  for (std::int64_t x = 0; x < pixels; x += most) {
    const std::int64_t count = std::min(most, pixels - x);
    interleave(bytes, strides, static_cast<std::size_t>(count), channels, channels, words);
    for (int i = 0; i < rows; ++i) bytes[i] += count * strides[i];
    for (std::int64_t p = 0; p < count; ++p, to += stride) {
      const std::uint32_t* word = words + p * inputs.size();
      std::int64_t repeat = lanes.begin % multiplier;
      for (std::int64_t o = 0; o < lanes.size(); ++o) {
        to[o] = *word;
        if (++repeat < multiplier) continue;
        repeat = 0;
        ++word;
      }
    }
  }
}

void LaneLines::fill_one_by_one(Range lanes, const std::byte* const* from,
                                const std::int64_t* strides, std::int64_t quad, std::int64_t pixels,
                                std::uint32_t* to) const noexcept {
  const ConvGeometry& g = geometry_;
  const std::int64_t stride = round_up(lanes.size(), vector_);
  for (std::int64_t x = 0; x < pixels; ++x, to += stride)
    for (std::int64_t o = lanes.begin; o < lanes.end; ++o) {
      const std::int64_t group = o / g.group_outputs() * g.group_inputs();
      std::uint32_t lane = 0;
      for (int s = 0; s < layout_.rows * layout_.channels; ++s) {
        const bool of_rows = layout_.kind == Kind::rows;
        const std::int64_t c = of_rows ? s % layout_.channels : quad * layout_.depth + s;
        if (c >= g.group_inputs()) continue;
        const int row = of_rows ? s / layout_.channels : 0;
        const std::byte* const value = from[row] + x * strides[row] + (group + c) * element_;
        if (integer_)
          lane |= static_cast<std::uint32_t>(*value) << (layout_.depth == 4 ? 8 : 16) * s;
        else
          std::memcpy(&lane, value, kWord);
      }
      to[o - lanes.begin] = lane;
    }
}

}  // namespace fbg
