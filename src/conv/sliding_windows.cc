#include "conv/sliding_windows.h"

#include <algorithm>

#include "core/policy.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kVectorBytes = 64;  // of bytes

}  // namespace

SlidingWindows::SlidingWindows(const ConvGeometry& g, const ConvShape& shape,
                               const SlidingBlocks& blocks, Features features)
    : geometry_(g),
      shape_(shape),
      blocks_(blocks),
      form_(blocks.form()),
      wide_(blocks.blocks().front().key),
      lane_kernels_(simd::kernels(features).lanes) {
  // Lanes that windows share are kept for all blocks, unless there are too many.
  const bool loads = wide_.mode == kernels::SlidingMode::loads;
  const std::int64_t pixel = loads ? wide_.sources() * wide_.step * kVectorBytes : 0;
  goes_down_ = form_.shared > 0 && pixel * blocks.vectors() * policy::sliding_window::kLeastPixels >
                                       policy::sliding_window::kLanesBytes;
  const bool all = form_.shared > 0 && !goes_down_;
  const std::int64_t vectors = all ? blocks.vectors() : wide_.vectors();
  const std::int64_t repeated =
      g.is_depthwise() && g.group_outputs() > 1 ? wide_.rows * wide_.step * g.out_channels : 0;
  std::int64_t most = policy::sliding_window::kMaxPixels;
  if (pixel > 0)
    most = std::clamp(policy::sliding_window::kLanesBytes / (pixel * vectors),
                      policy::sliding_window::kLeastPixels, most);
  if (repeated > 0)
    most = std::clamp(policy::sliding_window::kRepeatedBytes / repeated,
                      policy::sliding_window::kLeastPixels, most);
  parts_ = BalancedSplit::split(shape.output[2], most);
  const std::int64_t columns = this->columns(std::max<std::int64_t>(parts_.largest, 1));
  lanes_bytes_ = loads ? vectors * kVectorBytes * wide_.sources() * columns : 0;
  repeated_bytes_ = repeated > 0 ? round_up(wide_.rows * columns * g.out_channels, 64) : 0;
}

std::int64_t SlidingWindows::columns(std::int64_t pixels) const {
  return (pixels - 1) * wide_.step + wide_.taps;
}

void SlidingWindows::find_lanes(const SlidingWindow& w, std::int64_t index, std::byte* lanes,
                                kernels::SlidingArgs& args) const noexcept {
  if (lanes_bytes_ == 0) return;
  const SlidingBlock& block = blocks_.blocks()[static_cast<std::size_t>(index)];
  const std::int64_t sources = block.key.sources(), columns = this->columns(parts_.largest);
  if (form_.shared > 0 && !goes_down_)
    lanes += block.channel / wide_.lanes() * kVectorBytes * sources * columns;
  // New lanes take the place of those that are not needed any more.
  const std::int64_t first = w.z * (sources - form_.shared);
  for (std::int64_t s = 0; s < sources; ++s)
    args.lanes[s] = lanes + (first + s) % sources * block.key.vectors() * kVectorBytes * columns;
}

std::int64_t SlidingWindows::number(const SlidingWindow& w, std::int64_t index) const noexcept {
  const std::int64_t windows = ceil_div(shape_.output[1], form_.lines);
  const std::int64_t blocks = std::ssize(blocks_.blocks());
  const std::int64_t row = (w.image * parts_.count + w.part) * windows + w.y / form_.lines;
  return (row * blocks + index) * shape_.output[0] + w.z;
}

bool SlidingWindows::find_rows(const ConvRun& run, const SlidingWindow& w, std::byte* padding,
                               std::byte* repeated,
                               kernels::SlidingSegment* segment) const noexcept {
  const ConvGeometry& g = geometry_;
  const std::int64_t x = w.x.begin * g.stride[2] - g.pad_before[2];
  const std::int64_t columns = this->columns(w.x.size());
  const std::int64_t left = std::clamp<std::int64_t>(-x, 0, columns);
  const std::int64_t right = std::clamp<std::int64_t>(shape_.input[2] - x, left, columns);
  const auto border = [&](std::int64_t count) {
    if (count == 0) return;
    segment->columns = count;
    segment->stride = 0;
    std::fill_n(segment->rows, wide_.rows, padding);
    std::fill_n(segment->moves, wide_.rows, 0);
    ++segment;
  };
  border(left);
  bool inside = true;
  if (right > left) {
    inside = find_inside(run, w, x + left, right - left, padding, *segment);
    if (repeated_bytes_ > 0) repeat_channels(repeated, *segment);
    ++segment;
  }
  border(columns - right);
  return inside;
}

bool SlidingWindows::find_inside(const ConvRun& run, const SlidingWindow& w, std::int64_t x,
                                 std::int64_t columns, std::byte* padding,
                                 kernels::SlidingSegment& segment) const noexcept {
  const ConvGeometry& g = geometry_;
  segment.columns = columns;
  segment.stride = run.strides[2];
  bool inside = true;
  const int rows = static_cast<int>(g.kernel[0] * form_.plane_rows);
  for (int row = 0; row < rows; ++row) {
    const auto [kz, ky] = wide_.row(row, static_cast<int>(form_.plane_rows));
    const std::int64_t z = w.z * g.stride[0] - g.pad_before[0] + kz * g.dilation[0];
    const std::int64_t y = w.y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1];
    const bool outside = z < 0 || z >= shape_.input[0] || y < 0 || y >= shape_.input[1];
    inside &= !outside;
    segment.moves[row] = outside ? 0 : -1;
    segment.rows[row] = outside ? padding
                                : run.x + w.image * run.batch_stride + z * run.strides[0] +
                                      y * run.strides[1] + x * run.strides[2];
  }
  return inside;
}

// Repeats each channel once for each of its outputs, so that every output channel has input of its
// own.
void SlidingWindows::repeat_channels(std::byte* to,
                                     kernels::SlidingSegment& segment) const noexcept {
  for (int row = 0; row < wide_.rows; ++row) {
    if (segment.moves[row] == 0) continue;  // padding
    lane_kernels_.repeat_bytes(
        reinterpret_cast<const std::uint8_t*>(segment.rows[row]), segment.stride,
        static_cast<std::size_t>(segment.columns), static_cast<std::size_t>(geometry_.in_channels),
        static_cast<std::size_t>(geometry_.group_outputs()), reinterpret_cast<std::uint8_t*>(to));
    segment.rows[row] = to;
    to += segment.columns * geometry_.out_channels;
  }
  segment.stride = geometry_.out_channels;
}

}  // namespace fbg
