// The floating-point environment that results depend on.
#pragma once

#include <cstdint>
#include <optional>

namespace fbg {

// What floating-point arithmetic does with subnormal numbers, which are nearer to 0 than 2^-126
// (float). `flush`: it takes subnormal operands for zeros of their sign, and returns such a zero
// for a subnormal result. Many CPUs need a hundred times as long where they keep them.
enum class Subnormals : std::uint8_t { keep, flush };

// While it exists, this thread rounds half to even, and keeps or flushes subnormal numbers,
// whatever its modes were before. Its destructor restores these.
//
// Products, convolutions and packers open a scope that agrees with the one around it: they flush
// subnormal numbers inside of one that does so, and keep them otherwise. Plans always flush. The
// threads of a run are in the scope of the thread that calls it.
class FloatEnvironment {
 public:
  // As the scope around it; outside of any, subnormal numbers are kept.
  FloatEnvironment() noexcept : FloatEnvironment(subnormals()) {}
  explicit FloatEnvironment(Subnormals subnormals) noexcept;
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

  // What the innermost scope of this thread does with them; `keep` outside of any.
  static Subnormals subnormals() noexcept;

 private:
  const std::optional<Subnormals> outer_;  // of the scope around it
  // MXCSR, FPCR, or the rounding mode of <cfenv>, if it had to be changed.
  std::optional<std::uint64_t> restored_;
};

}  // namespace fbg
