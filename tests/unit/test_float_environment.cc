// The floating-point environment of the library, inside a program that has set another one.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>

#include "fbg/core/float_environment.h"

namespace fbg {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t kFlush = 0x8040;  // FTZ and DAZ of MXCSR
std::uint64_t control() { return __builtin_ia32_stmxcsr(); }
void set_control(std::uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FZ of FPCR
std::uint64_t control() {
  std::uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_control(std::uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }
#endif

float multiply(float x, float y) {
  volatile float a = x, b = y;  // computed here and now, in the environment of this moment
  return a * b;
}
float third() {
  volatile float one = 1.0f, three = 3.0f;
  return one / three;
}

TEST(FloatEnvironment, RoundsHalfToEvenAndRestoresTheCallersRounding) {
  const float nearest = third();  // above 1/3
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  const float downward = third();
  float inside = 0;
  {
    const FloatEnvironment environment;
    inside = third();
  }
  const float after = third();
  std::fesetround(FE_TONEAREST);
  EXPECT_LT(downward, nearest);
  EXPECT_EQ(inside, nearest);
  EXPECT_EQ(after, downward);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(FloatEnvironment, KeepsDenormalsAndRestoresTheCallersFlushing) {
  constexpr float kDenormal = 1e-40f;
  const std::uint64_t before = control();
  set_control(before | kFlush);
  const float flushed = multiply(kDenormal, 1.0f);
  float kept = 0;
  {
    const FloatEnvironment environment;
    kept = multiply(kDenormal, 1.0f);
  }
  const std::uint64_t after = control();
  const float flushed_again = multiply(kDenormal, 1.0f);
  set_control(before);
  EXPECT_EQ(flushed, 0.0f);
  EXPECT_EQ(kept, kDenormal);
  EXPECT_EQ(flushed_again, 0.0f);
  EXPECT_EQ(after & kFlush, kFlush);
}
#endif

}  // namespace
}  // namespace fbg
