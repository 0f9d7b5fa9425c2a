// The codecs of weights whose elements have places of their own, [K/kr][32][kr], and the table of
// all codecs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "core/float16.h"
#include "kernels/weight_codec.h"

namespace fbg::kernels {
namespace {

template <class Element>
void round_floats(const float* x, std::size_t n, void* elements) noexcept {
  std::transform(x, x + n, static_cast<Element*>(elements), from_float<Element>);
}

void read_element(const PackedFormat& format, const std::byte* group, std::int64_t column,
                  std::int64_t r, void* element) noexcept {
  std::memcpy(element, group + (column * format.kr + r) * format.b_bytes,
              static_cast<std::size_t>(format.b_bytes));
}

void multiply_add(std::int32_t& sum, std::uint8_t a, std::int8_t b) {
  sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                  static_cast<std::uint32_t>(std::int32_t{a} * b));
}
template <class A, class B>
void multiply_add(float& sum, A a, B b) {
  sum = std::fma(to_float(a), to_float(b), sum);
}

template <class Family>
Value dot(const TileArgs& args, std::int64_t i, std::int64_t j, Value start) noexcept {
  constexpr std::int64_t kr = Family::format.kr, width = kPanelColumns;
  typename Family::C sum;
  std::memcpy(&sum, &start, sizeof sum);
  for (const BlockPair& pair : args.blocks()) {
    const std::byte* const row = args.key->a == ARows::pointers
                                     ? static_cast<const std::byte* const*>(pair.a)[i] + pair.lda
                                     : static_cast<const std::byte*>(pair.a) + i * pair.lda;
    const auto* a = reinterpret_cast<const typename Family::A*>(row);
    // The tile may start inside a panel, but never crosses a panel's end unless it starts at one.
    const auto* panel = reinterpret_cast<const typename Family::B*>(
        static_cast<const std::byte*>(pair.b) + j / width * pair.b_panel_stride);
    const auto* b = panel + j % width * kr;
    for (std::int64_t g = 0; g < pair.groups; ++g)
      for (int k = 0; k < kr; ++k) multiply_add(sum, a[g * kr + k], b[g * kr * width + k]);
  }
  Value value;
  std::memcpy(&value, &sum, sizeof value);
  return value;
}

// See Float16.
Value dot_halves(const TileArgs& args, std::int64_t i, std::int64_t j, Value start) noexcept {
  constexpr std::int64_t width = kPanelColumns;
  Value value = start;
  for (const BlockPair& pair : args.blocks()) {
    const auto* a =
        reinterpret_cast<const float16*>(static_cast<const std::byte*>(pair.a) + i * pair.lda);
    const auto* b = reinterpret_cast<const float16*>(static_cast<const std::byte*>(pair.b) +
                                                     j / width * pair.b_panel_stride) +
                    j % width;
    for (std::int64_t done = 0; done < pair.groups; done += kHalfDepth) {
      const std::int64_t n = std::min<std::int64_t>(kHalfDepth, pair.groups - done);
      float16 sum[2] = {};
      for (std::int64_t k = 0; k < n; ++k, ++a, b += width) {
        float16& s = sum[k < n / 4 * 4 ? k % 2 : 0];
        s = multiply_add(*a, *b, s);
      }
      constexpr float16 kOne{0x3c00};
      value.f = std::fma(to_float(multiply_add(sum[1], kOne, sum[0])), args.a_scale[i], value.f);
    }
  }
  return value;
}

template <class Family>
constexpr WeightCodec plain() {
  if constexpr (std::is_same_v<typename Family::B, std::int8_t>)
    return {nullptr, read_element, dot<Family>};
  else
    return {round_floats<typename Family::B>, read_element, dot<Family>};
}

constexpr WeightCodec kInt4{nullptr, read_int4, dot_int4};

// In the order of GemmType.
constexpr WeightCodec kCodecs[] = {plain<Int32>(),
                                   plain<Float32>(),
                                   plain<BFloat16>(),
                                   plain<Float32BF16>(),
                                   plain<Float32F16>(),
                                   plain<Int16>(),
                                   kInt4,
                                   kInt4,
                                   kInt4,
                                   {round_floats<float16>, read_element, dot_halves}};
static_assert(std::size(kCodecs) == kWeightFormats.size());

}  // namespace

const WeightCodec& weight_codec(GemmType family) noexcept {
  return kCodecs[static_cast<std::size_t>(family)];
}

}  // namespace fbg::kernels
