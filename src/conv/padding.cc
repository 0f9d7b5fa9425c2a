#include "conv/padding.h"

#include <algorithm>
#include <cstring>

namespace fbg {

void fill_padding(std::byte* to, std::int64_t count, std::int32_t zero_point,
                  std::int64_t element) noexcept {
  if (element == 2) {  // widened bytes, or bfloat16, whose zero point is 0
    std::fill_n(reinterpret_cast<std::uint16_t*>(to), count,
                static_cast<std::uint16_t>(zero_point));
    return;
  }
  // A float of zero is bytes of zero.
  std::memset(to, zero_point, static_cast<std::size_t>(count * element));
}

void copy_padded(const std::byte* row, std::int64_t stride, std::int64_t width, std::int64_t first,
                 std::int64_t count, std::int64_t pixel, const std::byte* padding,
                 std::byte* to) noexcept {
  const auto bytes = static_cast<std::size_t>(pixel);
  const std::int64_t end = first + count;
  const std::int64_t inside = std::clamp<std::int64_t>(0, first, end);
  const std::int64_t after = std::clamp(width, inside, end);
  for (std::int64_t i = first; i < inside; ++i, to += pixel) std::memcpy(to, padding, bytes);
  if (stride == pixel) {
    std::memcpy(to, row + inside * pixel, bytes * static_cast<std::size_t>(after - inside));
    to += (after - inside) * pixel;
  } else {
    for (std::int64_t i = inside; i < after; ++i, to += pixel)
      std::memcpy(to, row + i * stride, bytes);
  }
  for (std::int64_t i = after; i < end; ++i, to += pixel) std::memcpy(to, padding, bytes);
}

}  // namespace fbg
