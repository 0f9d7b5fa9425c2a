// The emulator in a process that preloads it: tile instructions do what `Tiles` does, in every
// thread and after a fork, and the library uses them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

#include "fbg/core/isa.h"

namespace fbg {
namespace {

struct alignas(64) Data {
  std::array<std::uint8_t, 64> config{1};
  std::uint8_t a[16][64];
  std::int8_t b[16][64];
  std::int32_t c[16][16] = {};
};

void fill(Data& d) {
  for (std::size_t tile = 0; tile < 3; ++tile) {
    d.config[16 + 2 * tile] = 64;
    d.config[48 + tile] = 16;
  }
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 64; ++j) {
      d.a[i][j] = static_cast<std::uint8_t>(17 * i + 5 * j);
      d.b[i][j] = static_cast<std::int8_t>(29 * i - 3 * j);
    }
}

void configure(const Data& d) { __asm__ volatile("ldtilecfg %0" ::"m"(d.config)); }
void release() { __asm__ volatile("tilerelease"); }
void multiply(Data& d) {
  __asm__ volatile(
      "tilezero %%tmm0\n\t"
      "tileloadd (%0,%3), %%tmm1\n\t"
      "tileloaddt1 0(%1,%3), %%tmm2\n\t"
      "tdpbusd %%tmm2, %%tmm1, %%tmm0\n\t"
      "tilestored %%tmm0, (%2,%3)"
      :
      : "r"(d.a), "r"(d.b), "r"(d.c), "r"(std::int64_t{64})
      : "memory");
}

bool right(const Data& d) {
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      std::int32_t sum = 0;
      for (int k = 0; k < 64; ++k) sum += d.a[m][k] * d.b[k / 4][4 * n + k % 4];
      if (d.c[m][n] != sum) return false;
    }
  return true;
}

// The kernels need AVX-512 beside the tiles, so that nothing is emulated on CPUs without it.
class Emulator : public testing::Test {
 protected:
  void SetUp() override {
    if (!(cpu_features() & feature::avx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  }
};
using EmulatorDeathTest = Emulator;

TEST_F(Emulator, GrantsAmxToCpusThatHaveTheRest) {
  EXPECT_TRUE(cpu_features() & feature::amx);
  EXPECT_EQ(isa_supported(Isa::avx512_amx), isa_supported(Isa::avx512_bf16));
}

TEST_F(Emulator, EveryThreadHasTilesOfItsOwn) {
  Data mine;
  fill(mine);
  configure(mine);
  std::thread([] {
    Data other;
    fill(other);
    configure(other);
    multiply(other);
    EXPECT_TRUE(right(other));
    release();
  }).join();
  multiply(mine);  // still configured
  EXPECT_TRUE(right(mine));
  release();
}

TEST_F(Emulator, ChildOfAForkKeepsTheConfiguration) {
  Data d;
  fill(d);
  configure(d);
  const pid_t child = fork();
  if (child == 0) {
    multiply(d);
    _exit(right(d) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  release();
}

TEST_F(EmulatorDeathTest, EndsTheProcessWithAMessage) {
  Data d;
  fill(d);
  EXPECT_EXIT(multiply(d), testing::ExitedWithCode(99), "without a configuration");
  d.config[48] = 17;
  EXPECT_DEATH(configure(d), "");  // by the processor itself, where it has AMX
}

}  // namespace
}  // namespace fbg
