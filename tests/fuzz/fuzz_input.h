// What the fuzz targets share: choices read from the bytes of a case, operands that end at a guard
// page, and the check that ends the process where a property does not hold.
//
// A target is one file with `extern "C" int LLVMFuzzerTestOneInput`. libFuzzer makes and keeps
// cases (make fuzz); replay.cc runs cases that were kept (ctest, with any compiler).
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
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

// Pages that stay mapped between cases, with an inaccessible page behind them. An operand is placed
// so that it ends where that page begins: code that was generated has no instrumentation, and this
// is how a read or write behind an operand is noticed. What lies before it is checked for writes.
class GuardedPages {
 public:
  explicit GuardedPages(std::size_t bytes) : bytes_(bytes) {
    void* const base =
        ::mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(base);
    if (::mprotect(base_ + bytes, kPage, PROT_NONE) != 0) throw std::bad_alloc();
  }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  ~GuardedPages() { ::munmap(base_, bytes_ + kPage); }

  // Room for `count` elements, filled with a pattern, which also stands before them.
  template <class T>
  T* place(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count) * sizeof(T);
    require(size + kCanary <= bytes_, "the harness asked for an operand that is too large");
    begin_ = base_ + bytes_ - size;
    std::memset(begin_ - kCanary, kPattern, size + kCanary);
    return reinterpret_cast<T*>(begin_);
  }
  void require_intact() const {
    for (std::size_t i = 1; i <= kCanary; ++i)
      require(begin_[-static_cast<std::ptrdiff_t>(i)] == std::byte{kPattern},
              "memory before an operand was written");
  }
  static constexpr std::uint8_t kPattern = 0xa5;

 private:
  static constexpr std::size_t kPage = 65536, kCanary = 128;  // pages have at most 64 KiB
  std::size_t bytes_;
  std::byte *base_ = nullptr, *begin_ = nullptr;
};

// Elements at random, or all at an end of their range: cheap, since a case should cost little.
class Filler {
 public:
  explicit Filler(Choices& choices)
      : state_(choices.byte() * 0x9e3779b97f4a7c15u + 1), extreme_(choices.byte() % 4 == 3) {}

  template <class T>
  void integers(T* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = next();
      to[i] = static_cast<T>(extreme_ ? (bits & 1 ? 0x7f : 0x80) | (bits & 2 ? 0x80 : 0) : bits);
    }
  }
  void floats(float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(static_cast<std::int64_t>(next() >> 40) - (1 << 23)) * 0x1p-22f;
  }

 private:
  std::uint64_t next() {  // xorshift64*
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du >> 8;
  }
  std::uint64_t state_;
  bool extreme_;
};

}  // namespace fbg::fuzz
