// Operands of kernels for tests: elements at random, placed against inaccessible pages, with a
// canary on their other side.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/float16.h"
#include "fbg/gemm/gemm.h"
#include "helpers/guarded.h"
#include "kernels/microkernel.h"

namespace fbg::test {

inline constexpr GemmType kGemmTypes[] = {
    GemmType::int32,        GemmType::int16,       GemmType::float32, GemmType::bfloat16,
    GemmType::float32_bf16, GemmType::float32_f16, GemmType::float16, GemmType::int4_g32,
    GemmType::int4_g64,     GemmType::int4_g128};

// An accumulator family on the ISA that generates it.
struct Family {
  GemmType gemm_type;
  Isa isa;
  bool narrow = false;  // for narrow weights

  // What its kernels may use and rely on.
  Features features() const {
    return isa_features(isa) | (narrow ? feature::narrow_weights : Features{0});
  }
  Geometry geometry() const { return choose_geometry(gemm_type, features(), {}, kMaxDepthRaw); }
};

inline std::vector<Family> generated_families() {
  std::vector<Family> families;
  for (const GemmType gemm_type : kGemmTypes)
    for (const Isa isa : supported_isas())
      for (const bool narrow : {false, true}) {
        const Family family{gemm_type, isa, narrow};
        const Geometry geometry = family.geometry();
        if (isa != Isa::generic && geometry.isa == isa && geometry.narrow == narrow)
          families.push_back(family);
      }
  return families;
}

// A buffer next to a guard page whose last (or first) bytes are handed out as an operand. On the
// side of the operand that is open is a canary.
class Operand {
 public:
  explicit Operand(std::size_t capacity = 128 << 10)
      : after_(capacity + kCanary, Guard::after), before_(capacity + kCanary, Guard::before) {}

  std::byte* place(std::int64_t bytes, Guard side) {
    if (static_cast<std::size_t>(bytes) + kCanary > after_.size())
      throw std::length_error("Operand: it is larger than its buffer");
    std::byte* const to = side == Guard::after ? after_.end() - bytes : before_.data();
    canary_ = side == Guard::after ? to - kCanary : to + bytes;
    std::fill_n(canary_, kCanary, kPattern);
    return to;
  }
  template <class T>
  T* place(const std::vector<T>& values, Guard side) {
    const std::size_t bytes = values.size() * sizeof(T);
    std::byte* to = place(static_cast<std::int64_t>(bytes), side);
    if (bytes) std::memcpy(to, values.data(), bytes);
    return reinterpret_cast<T*>(to);
  }
  // Whether nothing was written beside what was placed last.
  bool intact() const {
    return !canary_ ||
           std::all_of(canary_, canary_ + kCanary, [](std::byte x) { return x == kPattern; });
  }

 private:
  static constexpr std::size_t kCanary = 64;
  static constexpr std::byte kPattern{0xa5};

  Guarded<std::byte> after_, before_;
  std::byte* canary_ = nullptr;
};

// xorshift64*, which is quicker than std::mt19937 and as good for operands.
class QuickRandom {
 public:
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  void seed(std::uint64_t value) { state_ = (value + 1) * 0x9e3779b97f4a7c15u | 1; }
  result_type operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<result_type>(state_ * 0x2545f4914f6cdd1du >> 32);
  }

 private:
  std::uint64_t state_ = 1;
};

// Elements as an accumulator family can take them.
class OperandFiller {
 public:
  explicit OperandFiller(const Family& family)
      : gemm_type(family.gemm_type), isa(family.isa), geometry(family.geometry()) {}

  const GemmType gemm_type;
  const Isa isa;
  const Geometry geometry;
  const bool integer = is_integer(gemm_type);
  const std::int64_t panel_group = geometry.format.b_group();  // bytes of one k-group of a panel

  template <class T, class F>
  static void fill_with(std::byte* to, std::int64_t bytes, F value) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i + size <= bytes; i += size) {
      const T x = value();
      std::memcpy(to + i, &x, sizeof(T));
    }
  }
  void fill_bytes(std::byte* to, std::int64_t bytes) {
    fill_with<std::uint8_t>(to, bytes, [&] {  // half of the values at the ends of their range
      const unsigned r = random_();
      return static_cast<std::uint8_t>(r & 0x100 ? r : (r & 0x200 ? 0xff : 0x80));
    });
  }
  // Elements of A; also of residuals, with a magnitude of 1.
  void fill_floats(std::byte* to, std::int64_t bytes, float magnitude = 1) {
    fill_with<float>(to, bytes, [&] { return left(magnitude); });
  }
  // Elements of B.
  template <class T>
  void fill_right(std::byte* to, std::int64_t bytes) {
    fill_with<T>(to, bytes, [&] { return from_float<T>(right()); });
  }
  // Both factors of a dot product of bfloat16. The order in which vdpbf16ps adds its two products
  // makes no difference to integers.
  void fill_bfloat16(std::byte* to, std::int64_t bytes, float magnitude = 1) {
    fill_with<bfloat16>(to, bytes, [&] {
      const float x = floats_ == Floats::integers ? small_integer() : large_integer();
      return from_float<bfloat16>(x * magnitude);
    });
  }
  // Every float16 that is finite, subnormals included.
  void fill_float16(std::byte* to, std::int64_t bytes) {
    fill_with<std::uint16_t>(to, bytes, [&] {
      const unsigned r = random_() & 0xffff;
      return static_cast<std::uint16_t>((r & 0x7c00) == 0x7c00 ? r ^ 0x4000 : r);
    });
  }
  // As int16 sums of `depth` k-groups can hold them: |b| <= 128 / (2 * depth), most at the limit.
  void fill_small(std::byte* to, std::int64_t bytes, int depth) {
    const int limit = 128 / (2 * depth);
    fill_with<std::int8_t>(to, bytes, [&] {
      const unsigned r = random_();
      if (r & 0x100) return static_cast<std::int8_t>(r & 0x200 ? limit : -limit);
      return static_cast<std::int8_t>(static_cast<int>(r % (2 * limit + 1)) - limit);
    });
  }
  // Any values; scales and offsets of moderate size.
  void fill_int4(std::byte* to, std::int64_t bytes, bool has_offsets) {
    const std::int64_t group = geometry.format.b_group(has_offsets);
    const std::int64_t scales = group - kPanelColumns * geometry.format.kr / 2;
    fill_bytes(to, bytes);
    for (std::int64_t end = group; end <= bytes; end += group)
      fill_with<std::uint16_t>(to + end - scales, scales, [&] {
        const unsigned r = random_();
        return static_cast<std::uint16_t>((r & (exact_scales_ ? 0x8000 : 0x83ff)) +
                                          0x3000);  // ±2^-3 to ±2^-2
      });
  }
  void fill_a(std::byte* to, std::int64_t bytes) {
    if (reads_bytes(gemm_type))
      fill_bytes(to, bytes);
    else if (gemm_type == GemmType::bfloat16)
      fill_bfloat16(to, bytes, magnitude_);
    else if (gemm_type == GemmType::float16)
      fill_with<float16>(to, bytes, [&] { return from_float<float16>(left(magnitude_)); });
    else
      fill_floats(to, bytes, magnitude_);
  }
  void fill_b(std::byte* to, std::int64_t bytes, int depth, bool has_offsets = false) {
    if (gemm_type == GemmType::int16)
      fill_small(to, bytes, depth);
    else if (geometry.narrow)
      fill_small(to, bytes, 2);
    else if (integer)
      fill_bytes(to, bytes);
    else if (is_int4(gemm_type))
      fill_int4(to, bytes, has_offsets);
    else if (gemm_type == GemmType::bfloat16)
      fill_bfloat16(to, bytes);
    else if (gemm_type == GemmType::float32)
      fill_right<float>(to, bytes);
    else if (gemm_type == GemmType::float32_bf16)
      fill_right<bfloat16>(to, bytes);
    else if (floats_ == Floats::normal)
      fill_float16(to, bytes);
    else
      fill_right<float16>(to, bytes);
  }
  void fill_residual(std::byte* to, std::int64_t bytes, ValueType type) {
    if (type == ValueType::float32)
      fill_floats(to, bytes);
    else if (type == ValueType::float16)
      fill_float16(to, bytes);
    else if (type == ValueType::bfloat16)
      fill_with<bfloat16>(to, bytes, [&] { return from_float<bfloat16>(left(1)); });
    else
      fill_bytes(to, bytes);
  }
  // What a load of C reads, and what a store must leave alone around the tile.
  void fill_c(std::byte* to, std::int64_t bytes) {
    if (integer)
      fill_bytes(to, bytes);
    else
      fill_with<float>(to, bytes, [&] {
        if (floats_ == Floats::odd) return odd();
        return floats_ == Floats::single && gemm_type != GemmType::bfloat16
                   ? critical()
                   : static_cast<float>(random_() % 999) * magnitude_;
      });
  }

  std::vector<float> floats(std::int64_t n, float lo, float hi) {
    std::uniform_real_distribution<float> uniform(lo, hi);
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& v : x) v = uniform(random_);
    return x;
  }
  std::vector<std::int32_t> ints(std::int64_t n, int lo, int hi) {
    std::uniform_int_distribution<std::int32_t> uniform(lo, hi);
    std::vector<std::int32_t> x(static_cast<std::size_t>(n));
    for (auto& v : x) v = uniform(random_);
    return x;
  }

 protected:
  static constexpr RowExtent kExtent{0.5f, -0.5f};
  static constexpr RowExtent kNothing{std::numeric_limits<float>::infinity(),
                                      -std::numeric_limits<float>::infinity()};

  // What a row widens on one side or both, often by one element, or not at all. A zero is +0.
  RowExtent near_extent(RowExtent row) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                    kNan = std::numeric_limits<float>::quiet_NaN();
    switch (random_() % 8) {
      case 0:
        return kNothing;
      case 1:
        return {kNan, kNan};
      case 2:
        return row;
      case 3:
        return {row.lo, std::nextafter(row.hi, -kInfinity) + 0.0f};
      case 4:
        return {std::nextafter(row.lo, kInfinity) + 0.0f, row.hi};
      case 5:
        return {row.lo - 1, std::nextafter(row.hi, -kInfinity) + 0.0f};
      case 6:
        return {std::nextafter(row.lo, kInfinity) + 0.0f, row.hi + 1};
      default:
        return kExtent;
    }
  }

  // Whether no specialization excludes them, and no function reads the bits of a NaN: which of two
  // NaN a product takes is not defined.
  static bool takes_specials(const KernelKey& key) {
    return std::ranges::none_of(key.pipeline(), [](const StageCode& stage) {
      return stage.specialization.bounded || reads_bits(stage.binary.operation);
    });
  }
  static bool reads_bits(Operation function) {
    return function >= Operation::merge && function <= Operation::equal_int32;
  }
  // Whether a function that follows may take an integer for a float, which may be a NaN.
  static bool makes_bits(const KernelKey& key) {
    return std::ranges::any_of(key.pipeline(), [](const StageCode& stage) {
      const Operation function = stage.binary.operation;
      return function == Operation::to_int32 || reads_bits(function);
    });
  }
  // Dot products of bfloat16 take subnormal numbers for zeros.
  float special_value(bool is_multiplied) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kValues[] = {std::numeric_limits<float>::quiet_NaN(),
                                 std::bit_cast<float>(0x7fffffffu),  // rounding it would carry
                                 kInfinity,
                                 -kInfinity,
                                 -0.0f,
                                 3e38f,
                                 1e-40f,
                                 -3e-39f};
    return kValues[random_() %
                   (is_multiplied && gemm_type == GemmType::bfloat16 ? 5 : std::size(kValues))];
  }
  // In the place of an element of A.
  void place_special(std::byte* a, std::int64_t bytes) {
    if (reads_bytes(gemm_type) || bytes == 0) return;
    if (gemm_type == GemmType::bfloat16)
      place_special<bfloat16>(a, bytes);
    else if (gemm_type == GemmType::float16)
      place_special<float16>(a, bytes);
    else
      place_special<float>(a, bytes);
  }
  // In the place of an element of B.
  void place_special_right(std::byte* b, std::int64_t bytes) {
    if (reads_bytes(gemm_type) || bytes == 0) return;
    if (gemm_type == GemmType::float32)
      place_special<float>(b, bytes);
    else if (gemm_type == GemmType::float32_f16 || gemm_type == GemmType::float16)
      place_special<float16>(b, bytes);
    else
      place_special<bfloat16>(b, bytes);
  }
  template <class T>
  void place_special(std::byte* to, std::int64_t bytes) {
    const T value = truncated<T>(special_value(true));
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t at = static_cast<std::int64_t>(random_()) % (bytes / size) * size;
    std::memcpy(to + at, &value, sizeof value);
  }
  // bfloat16 with the upper bits of a float: the NaN that rounding would carry stays one.
  template <class T>
  static T truncated(float x) {
    if constexpr (std::is_same_v<T, bfloat16>)
      return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16)};
    else
      return from_float<T>(x);
  }

  // What the floats of a case are. Results of small integers are often in the middle of two 16-bit
  // floats. `single`: most elements of A are 0, and others near 1, so that results are those of B,
  // which lie where activations reach their bounds, in the middle of integers, and at all
  // magnitudes. `cancelling`: sums of large numbers that cancel out mostly, so that the order of
  // additions shows. `odd`: as TileCase has it.
  enum class Floats { normal, integers, single, cancelling, odd };

  void draw_kind_of_floats() {
    constexpr Floats kKinds[] = {Floats::normal,   Floats::normal,    Floats::normal,
                                 Floats::integers, Floats::integers,  Floats::single,
                                 Floats::single,   Floats::cancelling};
    floats_ = kKinds[random_() % std::size(kKinds)];
  }

  float small_integer() { return static_cast<float>(static_cast<int>(random_() % 33) - 16); }
  // As many bits as a bfloat16 has; sums of a few hundred products are exact as floats.
  float large_integer() { return static_cast<float>(static_cast<int>(random_() % 511) - 255); }
  float sign() { return random_() & 1 ? 1.0f : -1.0f; }
  float between(float lo, float hi) {
    return lo + (hi - lo) * 0x1p-32f * static_cast<float>(random_());
  }

  float left(float magnitude) {
    switch (floats_) {
      case Floats::integers:
        return small_integer() * magnitude;
      case Floats::single:
        if (random_() % 4) return 0.0f;
        return sign() * (random_() % 2 ? 1.0f : between(0.9f, 1.1f));
      case Floats::odd:
        return random_() % 2 ? 0.0f : odd();
      case Floats::cancelling:
        return random_() % 4 ? normal_(random_) : sign() * 0x1p22f;
      default:
        return normal_(random_) * magnitude;
    }
  }
  float right() {
    switch (floats_) {
      case Floats::integers:
        return small_integer();
      case Floats::single:
        return critical();
      case Floats::cancelling:
        return sign();
      default:
        return normal_(random_);
    }
  }
  float odd() {
    const std::uint32_t r = random_(), bits = random_();
    if (r % 4 == 0) return critical();
    if (r % 4 == 1) return std::bit_cast<float>(bits & 0x807fffff);
    const std::uint32_t exponent = 100 + r / 4 % 50;
    return std::bit_cast<float>((bits & 0x807f0000) | exponent << 23 | 0x8000);
  }
  float critical() {
    switch (random_() % 8) {
      // One of six tangents of what is a little less than 9 is rounded beyond 1 before it is
      // bounded; twice of that goes for the sigmoid, and 5.15 for GELU by the tangent.
      case 0:
        return sign() * between(8.95f, 9);
      case 1:
        return sign() * between(17.9f, 18);
      case 2:
        return sign() * between(5.13f, 5.16f);
      case 3:
        return sign() * between(0, 9);
      case 4:
        return sign() * static_cast<float>(random_() % 64) * 0.5f;
      default:
        return sign() * std::ldexp(between(1, 2), static_cast<int>(random_() % 56) - 20);
    }
  }

  QuickRandom random_;
  std::normal_distribution<float> normal_;
  Floats floats_ = Floats::normal;
  // Scales are powers of two: integers that are multiplied often lie in the middle of two others.
  bool exact_scales_ = false;
  float magnitude_ = 1;  // of floats of A: a power of two, so that what is exact stays so
};

}  // namespace fbg::test
