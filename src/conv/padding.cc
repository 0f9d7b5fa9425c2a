#include "conv/padding.h"

#include <algorithm>
#include <cstring>

namespace fbg {

void Padding::fill(std::byte* to, std::int64_t bytes) const noexcept {
  if (element == 2) {  // widened bytes, or bfloat16, whose zero point is 0
    std::fill_n(reinterpret_cast<std::uint16_t*>(to), bytes / 2,
                static_cast<std::uint16_t>(zero_point));
    return;
  }
  // A float of zero is bytes of zero.
  std::memset(to, zero_point, static_cast<std::size_t>(bytes));
}

void copy_padded(const std::byte* row, std::int64_t stride, std::int64_t width, std::int64_t first,
                 std::int64_t count, std::int64_t pixel, const Padding& padding,
                 std::byte* to) noexcept {
  const auto bytes = static_cast<std::size_t>(pixel);
  const std::int64_t end = first + count;
  const std::int64_t inside = std::clamp<std::int64_t>(0, first, end);
  const std::int64_t after = std::clamp(width, inside, end);
  if (inside > first) padding.fill(to, (inside - first) * pixel);
  to += (inside - first) * pixel;
  if (stride == pixel) {
    std::memcpy(to, row + inside * pixel, bytes * static_cast<std::size_t>(after - inside));
    to += (after - inside) * pixel;
  } else {
    for (std::int64_t i = inside; i < after; ++i, to += pixel)
      std::memcpy(to, row + i * stride, bytes);
  }
  if (end > after) padding.fill(to, (end - after) * pixel);
}

}  // namespace fbg
