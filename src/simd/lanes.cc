// Layouts for convolutions, one source compiled by Highway for each target.
#include "simd/lanes.h"

#include <cstring>

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/lanes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

using WordTag = hn::ScalableTag<std::uint32_t>;
using WordVec = hn::Vec<WordTag>;

// One lane's word: bytes of up to four rows, `bits` apart.
HWY_INLINE std::uint32_t word_of(const std::uint8_t* const* rows, int count, int bits,
                                 std::size_t c) {
  std::uint32_t word = 0;
  for (int i = 0; i < count; ++i) word |= static_cast<std::uint32_t>(rows[i][c]) << (bits * i);
  return word;
}

#if HWY_TARGET != HWY_SCALAR
// Words of a vector of channels: each row's bytes widened and moved to their place.
HWY_INLINE WordVec words_of(const std::uint8_t* const* rows, int count, int bits, std::size_t c) {
  const WordTag d;
  const hn::Rebind<std::uint8_t, WordTag> d8;
  WordVec sum = hn::PromoteTo(d, hn::LoadU(d8, rows[0] + c));
  for (int i = 1; i < count; ++i) {
    const WordVec word = hn::PromoteTo(d, hn::LoadU(d8, rows[i] + c));
    sum = hn::Or(sum, bits == 16 ? hn::ShiftLeft<16>(word)
                      : i == 1   ? hn::ShiftLeft<8>(word)
                      : i == 2   ? hn::ShiftLeft<16>(word)
                                 : hn::ShiftLeft<24>(word));
  }
  return sum;
}

#endif

template <int kRows, int kBits>
HWY_ATTR void interleave(const std::uint8_t* const* rows, const std::int64_t* strides,
                         std::size_t pixels, std::size_t channels, std::size_t stride_y,
                         std::uint32_t* y) {
  const std::uint8_t* at[kRows];
  for (int i = 0; i < kRows; ++i) at[i] = rows[i];
#if HWY_TARGET != HWY_SCALAR
  const WordTag d;
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::ScalableTag<std::uint16_t> d16;
  const std::size_t lanes = hn::Lanes(d), whole = 4 * lanes;
  HWY_ALIGN std::int32_t order[16] = {};
  const auto blocks = static_cast<std::int32_t>(lanes / 4);
  for (std::int32_t b = 0; b < blocks; ++b)
    for (std::int32_t i = 0; i < 4; ++i) order[4 * b + i] = i * blocks + b;
  const auto deal = hn::SetTableIndices(d, order);
#endif
  for (std::size_t x = 0; x < pixels; ++x, y += stride_y) {
    std::size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
    // A whole vector of bytes of four rows becomes four vectors of words. Unpacking works within
    // blocks of 16 bytes, so the words of each row are first dealt out to the blocks: word i of
    // block b takes what stood at word i * blocks + b, and words come out in the order of the
    // channels.
    if constexpr (kRows == 4) {
      for (; c + whole <= channels; c += whole) {
        const auto row = [&](int i) FBG_INLINE_LAMBDA {
          return hn::BitCast(d8,
                             hn::TableLookupLanes(hn::BitCast(d, hn::LoadU(d8, at[i] + c)), deal));
        };
        const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
        const auto low01 = hn::BitCast(d16, hn::InterleaveLower(d8, r0, r1));
        const auto high01 = hn::BitCast(d16, hn::InterleaveUpper(d8, r0, r1));
        const auto low23 = hn::BitCast(d16, hn::InterleaveLower(d8, r2, r3));
        const auto high23 = hn::BitCast(d16, hn::InterleaveUpper(d8, r2, r3));
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d16, low01, low23)), d, y + c);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d16, low01, low23)), d, y + c + lanes);
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d16, high01, high23)), d, y + c + 2 * lanes);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d16, high01, high23)), d, y + c + 3 * lanes);
      }
    }
    for (; c + lanes <= channels; c += lanes) hn::StoreU(words_of(at, kRows, kBits, c), d, y + c);
#endif
    for (; c < channels; ++c) y[c] = word_of(at, kRows, kBits, c);
    for (int i = 0; i < kRows; ++i) at[i] += strides[i];
  }
}

template <bool kFloats>
HWY_ATTR void spread(const std::byte* x, std::int64_t stride, std::size_t pixels,
                     const std::byte* end, const LaneSpread* vectors, std::size_t count,
                     std::uint32_t* y) {
  const WordTag d;
  const std::size_t lanes = hn::Lanes(d), bytes = kFloats ? 4 * lanes : 16;
  for (std::size_t v = 0; v < count; ++v) {
    const LaneSpread& spread = vectors[v];
    const std::byte* from = x + spread.offset;
    std::uint32_t* to = y + v * lanes;
#if HWY_TARGET == HWY_SCALAR
    for (std::size_t p = 0; p < pixels; ++p, from += stride, to += count)
      std::memcpy(to, from + 4 * spread.index[0], 4);
    static_cast<void>(end);
    static_cast<void>(bytes);
#else
    const auto index = hn::SetTableIndices(d, spread.index);
    for (std::size_t p = 0; p < pixels; ++p, from += stride, to += count * lanes) {
      const auto* words = reinterpret_cast<const std::uint32_t*>(from);
      HWY_ALIGN std::uint32_t copy[16];
      if (end && from + bytes > end) {
        std::memcpy(copy, from, static_cast<std::size_t>(end - from));
        words = copy;
      }
      WordVec vector;
      if constexpr (kFloats)
        vector = hn::LoadU(d, words);
      else
        vector = hn::LoadDup128(d, words);
      hn::StoreU(hn::TableLookupLanes(vector, index), d, to);
    }
#endif
  }
}

// A run of more than kShortRun bytes: whole vectors, of which the last overlaps the one before.
HWY_INLINE void copy_long_run(const std::byte* x, std::size_t bytes, std::byte* y) {
  const hn::CappedTag<std::uint8_t, kShortRun> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* from = reinterpret_cast<const std::uint8_t*>(x);
  auto* to = reinterpret_cast<std::uint8_t*>(y);
  for (std::size_t i = 0; i + lanes < bytes; i += lanes)
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + bytes - lanes), d, to + bytes - lanes);
}

// A run of at most kBytes bytes: of 17 to 24 bytes exactly, others by whole steps. kLong stands for
// any that are longer.
constexpr std::size_t kLong = kMaxRun;

template <std::size_t kBytes>
HWY_INLINE void copy_run(const std::byte* x, [[maybe_unused]] std::size_t bytes, std::byte* y) {
  if constexpr (kBytes == kLong) return copy_long_run(x, bytes, y);
  if constexpr (kBytes == 24) {  // two stores, of which fewer cross a cache line than of a wide one
    std::memcpy(y, x, 16);
    std::memcpy(y + bytes - 8, x + bytes - 8, 8);
    return;
  }
#if HWY_MAX_BYTES < 32
  std::memcpy(y, x, kBytes);
#else
  const hn::FixedTag<std::uint8_t, 32> d32;
  const hn::FixedTag<std::uint8_t, 16> d16;
  const auto* from = reinterpret_cast<const std::uint8_t*>(x);
  auto* to = reinterpret_cast<std::uint8_t*>(y);
  if constexpr (kBytes >= 32) hn::StoreU(hn::LoadU(d32, from), d32, to);
  if constexpr (kBytes == 64) hn::StoreU(hn::LoadU(d32, from + 32), d32, to + 32);
  if constexpr (kBytes % 32 != 0)
    hn::StoreU(hn::LoadU(d16, from + kBytes - 16), d16, to + kBytes - 16);
#endif
}

template <std::size_t kBytes>
HWY_INLINE void copy_rows(const PatchRow* rows, std::size_t num_rows, std::size_t bytes,
                          std::size_t count, std::byte* y, std::int64_t stride_y) {
  for (std::size_t i = 0; i < count; ++i, y += stride_y) {
    std::byte* to = y;
    const auto patch = static_cast<std::int64_t>(i);
    for (std::size_t r = 0; r < num_rows; ++r, to += bytes)
      copy_run<kBytes>(rows[r].data + patch * rows[r].step, bytes, to);
  }
}

void copy_patches(const PatchRow* rows, std::size_t num_rows, std::size_t bytes, std::size_t count,
                  std::byte* y, std::int64_t stride_y) {
  if (bytes <= 16) return copy_rows<16>(rows, num_rows, bytes, count, y, stride_y);
  if (bytes <= 24) return copy_rows<24>(rows, num_rows, bytes, count, y, stride_y);
  if (bytes <= 32) return copy_rows<32>(rows, num_rows, bytes, count, y, stride_y);
  if (bytes <= 48) return copy_rows<48>(rows, num_rows, bytes, count, y, stride_y);
  if (bytes <= kShortRun) return copy_rows<kShortRun>(rows, num_rows, bytes, count, y, stride_y);
  copy_rows<kLong>(rows, num_rows, bytes, count, y, stride_y);
}

void repeat_bytes(const std::uint8_t* x, std::int64_t stride, std::size_t pixels,
                  std::size_t channels, std::size_t times, std::uint8_t* y) {
  if (stride == static_cast<std::int64_t>(channels)) {  // pixels without gaps are one long pixel
    channels *= pixels;
    pixels = 1;
  }
  for (std::size_t p = 0; p < pixels; ++p, x += stride, y += channels * times) {
    std::size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    if (times >= 2 && times <= 4) {
      for (; c + lanes <= channels; c += lanes) {
        const auto v = hn::LoadU(d, x + c);
        if (times == 2) hn::StoreInterleaved2(v, v, d, y + c * 2);
        if (times == 3) hn::StoreInterleaved3(v, v, v, d, y + c * 3);
        if (times == 4) hn::StoreInterleaved4(v, v, v, v, d, y + c * 4);
      }
    }
#endif
    for (; c < channels; ++c) std::memset(y + c * times, x[c], times);
  }
}

extern const LaneKernels kLaneKernels;
const LaneKernels kLaneKernels = {
    .interleave_bytes = interleave<4, 8>,
    .interleave_words = interleave<2, 16>,
    .spread_bytes = spread<false>,
    .spread_floats = spread<true>,
    .copy_patches = copy_patches,
    .repeat_bytes = repeat_bytes,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
