// The floating-point environment of the library, inside a program that has set another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"
#include "helpers/float_control.h"

namespace fbg {
namespace {

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

#ifdef FBG_HAS_FLOAT_CONTROL
constexpr float kSubnormal = 1e-40f, kLeast = 0x1p-126f;

bool flushes_operands() { return multiply(kSubnormal, 0x1p20f) == 0.0f; }
bool flushes_results() { return multiply(kLeast, 0.5f) == 0.0f; }
bool flushes() {
  EXPECT_EQ(flushes_operands(), flushes_results());
  return flushes_operands();
}

TEST(FloatEnvironment, KeepsSubnormalsAndRestoresTheCallersFlushing) {
  const FlushingCaller caller;
  EXPECT_TRUE(flushes());
  {
    const FloatEnvironment environment;
    EXPECT_FALSE(flushes());
    EXPECT_EQ(multiply(kSubnormal, 1.0f), kSubnormal);
  }
  EXPECT_TRUE(flushes());
  EXPECT_TRUE(FlushingCaller::is_active());
}

TEST(FloatEnvironment, FlushesSubnormalsWhereAskedAndKeepsTheirSigns) {
  const std::uint64_t before = float_control();
  {
    const FloatEnvironment environment(Subnormals::flush);
    EXPECT_TRUE(flushes());
    EXPECT_TRUE(std::signbit(multiply(-kSubnormal, 1.0f)));
    EXPECT_TRUE(std::signbit(multiply(-kLeast, 0.5f)));
    EXPECT_EQ(third(), 1.0f / 3.0f);
  }
  EXPECT_FALSE(flushes());
  EXPECT_EQ(float_control(), before);
}

TEST(FloatEnvironment, AScopeWithoutAModeHasThatOfTheScopeAroundIt) {
  const FlushingCaller caller;  // whose mode no scope takes over
  {
    const FloatEnvironment plan(Subnormals::flush);
    {
      const FloatEnvironment product;
      EXPECT_TRUE(flushes());
      {
        const FloatEnvironment weights(Subnormals::keep);
        const FloatEnvironment packer;
        EXPECT_FALSE(flushes());
        EXPECT_EQ(FloatEnvironment::subnormals(), Subnormals::keep);
      }
      EXPECT_TRUE(flushes());
      EXPECT_EQ(FloatEnvironment::subnormals(), Subnormals::flush);
    }
    EXPECT_TRUE(flushes());
  }
  EXPECT_TRUE(FlushingCaller::is_active());
  const FloatEnvironment product;
  EXPECT_FALSE(flushes());
}

TEST(FloatEnvironment, AnExceptionRestoresTheModeOfTheCaller) {
  const std::uint64_t before = float_control();
  EXPECT_THROW(
      {
        const FloatEnvironment environment(Subnormals::flush);
        throw std::runtime_error("out of the scope");
      },
      std::runtime_error);
  EXPECT_EQ(float_control(), before);
  EXPECT_FALSE(flushes());
}

// A worker serves plans and products in turn.
TEST(FloatEnvironment, ThreadsOfATeamHaveTheScopeOfTheirCaller) {
  for (const int threads : {1, 3}) {
    const auto modes = [&] {
      std::vector<char> flushed(static_cast<std::size_t>(threads), 2);
      run_team(threads, [&](int thread_id, int) {
        flushed[static_cast<std::size_t>(thread_id)] = flushes() ? 1 : 0;
      });
      std::erase(flushed, 2);  // of threads that the team did not get
      return flushed;
    };
    const auto all = [](const std::vector<char>& flushed, char mode) {
      return !flushed.empty() && std::ranges::all_of(flushed, [&](char f) { return f == mode; });
    };
    const FlushingCaller caller;
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(all(modes(), 0));
      {
        const FloatEnvironment plan(Subnormals::flush);
        EXPECT_TRUE(all(modes(), 1));
      }
      EXPECT_TRUE(FlushingCaller::is_active());
    }
  }
}
#endif

}  // namespace
}  // namespace fbg
