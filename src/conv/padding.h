// Pixels outside an image: what they hold, and rows copied together with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fbg {

// `count` elements of 1, 2 or 4 bytes: the zero point as uint8 or uint16, or a float of zero.
void fill_padding(std::byte* to, std::int64_t count, std::int32_t zero_point,
                  std::int64_t element) noexcept;

// Pixels [first, first + count) of a row of `width` pixels, `stride` bytes apart, to `to`, where
// they are `pixel` bytes apart; those outside the row come from `padding`, one pixel of it.
void copy_padded(const std::byte* row, std::int64_t stride, std::int64_t width, std::int64_t first,
                 std::int64_t count, std::int64_t pixel, const std::byte* padding,
                 std::byte* to) noexcept;

}  // namespace fbg
