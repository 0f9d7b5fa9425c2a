// Operands of AArch64 instructions as types: general registers, vector registers seen as lanes of
// one size, their elements, addresses and labels. What an instruction does not take does not
// compile; numbers that it does not take throw std::logic_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace fbg::kernels::aarch64 {

// What stands in a field of an instruction for a number: value / step, of which a field for
// negative numbers takes the lower bits. Throws std::logic_error with the names where the number is
// not a multiple of step from least to most.
std::uint32_t field(const char* instruction, const char* operand, std::int64_t value,
                    std::int64_t least, std::int64_t most, std::int64_t step = 1);

struct Register {
  std::uint32_t index;
};

// x0 to x30, and w0 to w30, their lower halves. Number 31 is the stack pointer or zero, depending
// on the instruction; sp stands for it where it is a base.
struct XReg : Register {
  explicit XReg(int number) : Register{field("x", "number", number, 0, 30)} {}
};
struct WReg : Register {
  explicit WReg(int number) : Register{field("w", "number", number, 0, 30)} {}
  explicit WReg(XReg x) : Register(x) {}
};
struct StackPointer {};
inline constexpr StackPointer sp;

// The lowest 1, 2, 4, 8 or 16 bytes of a vector register.
template <int log_bytes>
struct Scalar : Register {};
using BReg = Scalar<0>;
using HReg = Scalar<1>;
using SReg = Scalar<2>;
using DReg = Scalar<3>;
using QReg = Scalar<4>;

template <class View>
struct Element : Register {
  int lane;
};

// A vector register as `count` lanes of 1, 2, 4 or 8 bytes. Four bytes, or two halves, are what
// dot products take as an element.
template <int log_bytes, int count>
struct Lanes : Register {
  static constexpr int kBytes = 1 << log_bytes;
  static constexpr int kElements = count * kBytes == 4 ? 4 : 16 / kBytes;
  Element<Lanes> operator[](int lane) const { return {{*this}, lane}; }
};
using B4 = Lanes<0, 4>;
using B8 = Lanes<0, 8>;
using B16 = Lanes<0, 16>;
using H2 = Lanes<1, 2>;
using H4 = Lanes<1, 4>;
using H8 = Lanes<1, 8>;
using S4 = Lanes<2, 4>;
using D2 = Lanes<3, 2>;

// v0 to v31, and how instructions see them.
struct Vec : Register {
  explicit Vec(int number) : Register{field("v", "number", number, 0, 31)} {}
  B4 b4{{index}};
  B8 b8{{index}};
  B16 b16{{index}};
  H2 h2{{index}};
  H4 h4{{index}};
  H8 h8{{index}};
  S4 s4{{index}};
  D2 d2{{index}};
  BReg b{{index}};
  HReg h{{index}};
  SReg s{{index}};
  DReg d{{index}};
  QReg q{{index}};
};

// Four registers that follow each other, v0 after v31: first - last.
struct FourB16 : Register {};
inline FourB16 operator-(B16 first, B16 last) {
  const auto distance = static_cast<int>((last.index - first.index) % 32);
  field("list", "distance of the last register", distance, 3, 3);
  return {first};
}

struct Base : Register {
  Base(XReg x) : Register(x) {}
  Base(StackPointer) : Register{31} {}
};
// At base + offset; at base + offset, which becomes the base; at base, which grows by the offset
// afterwards.
struct At {
  Base base;
  std::int64_t offset;
};
struct Pre {
  Base base;
  int offset;
};
struct Post {
  Base base;
  int offset;
};
inline At at(Base base, std::int64_t offset) { return {base, offset}; }
inline Pre pre_ptr(Base base, int offset) { return {base, offset}; }
inline Post post_ptr(Base base, int offset) { return {base, offset}; }

// How the distance to a label is encoded: in instructions or in bytes, with that many bits.
enum class Distance : std::uint8_t { words26, words19, bytes21 };

// A place in the code, which may be used before it is bound.
class Label {
 public:
  Label() = default;
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  friend class Encoder;
  static constexpr std::size_t kUnbound = std::numeric_limits<std::size_t>::max();
  struct Use {
    const char* instruction;
    std::size_t position;
    Distance distance;
  };
  std::size_t position_ = kUnbound;  // in words
  std::vector<Use> uses_;            // that wait for it
};

}  // namespace fbg::kernels::aarch64
