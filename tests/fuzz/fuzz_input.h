// What the fuzz targets share: choices read from the bytes of a case, and the check that ends the
// process where a property does not hold.
//
// A target is one file with `extern "C" int LLVMFuzzerTestOneInput`. libFuzzer makes and keeps
// cases (make fuzz); replay.cc runs cases that were kept (ctest, with any compiler).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace fbg::fuzz {

// Ends the process as a failed case; libFuzzer then keeps the bytes.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

// Reads choices from the bytes of a case; where they are used up, every choice is the first one.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  bool flag() { return byte() & 1; }
  // Within [lo, hi]; one byte where that is enough.
  std::int64_t within(std::int64_t lo, std::int64_t hi) {
    const auto count = static_cast<std::uint64_t>(hi - lo) + 1;
    std::uint64_t value = byte();
    for (std::uint64_t limit = 256; limit < count && limit != 0; limit <<= 8)
      value = value << 8 | byte();
    return lo + static_cast<std::int64_t>(value % count);
  }
  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[byte() % N];
  }
  template <class Container>
  const auto& element_of(const Container& values) {
    return values[byte() % values.size()];
  }
  // An ordinary number or one of those at which arithmetic goes wrong.
  float number() {
    static constexpr float kNumbers[] = {1.0f,
                                         0.0f,
                                         -1.0f,
                                         0.01f,
                                         3.0f,
                                         1e-30f,
                                         -0.0f,
                                         127.5f,
                                         1e30f,
                                         3.4e38f,
                                         1e-45f,
                                         0.5f,
                                         __builtin_inff(),
                                         -__builtin_inff(),
                                         __builtin_nanf("")};
    return one_of(kNumbers);
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
};

// Elements at random: cheap, since a case should cost little.
class Filler {
 public:
  explicit Filler(Choices& choices)
      : state_((choices.byte() << 8 | choices.byte()) * 0x9e3779b97f4a7c15u + 1) {}

  void floats(float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      state_ ^= state_ >> 12;  // xorshift64*
      state_ ^= state_ << 25;
      state_ ^= state_ >> 27;
      const std::uint64_t bits = state_ * 0x2545f4914f6cdd1du >> 8;
      to[i] = static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (1 << 15)) * 0x1p-14f;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace fbg::fuzz
