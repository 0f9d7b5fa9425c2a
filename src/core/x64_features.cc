// See x64_features.h.
#include "core/x64_features.h"

namespace fbg {
namespace {

constexpr bool bit(std::uint32_t reg, int index) { return (reg >> index) & 1u; }

// The version of AVX10 with vectors of 512 bits, or 0. It has everything of AVX-512 that kernels
// use, including VNNI, bfloat16 and float16, whether or not the CPU has the flags of AVX-512 as
// well. With vectors of 256 bits only, it adds nothing to AVX2 and AVX-VNNI that they would use.
std::uint32_t avx10_512(const X64Cpu& cpu, const CpuidRegisters& leaf7_1) {
  if (!bit(leaf7_1.d, 19)) return 0;
  const CpuidRegisters avx10 = cpu.cpuid(0x24, 0);
  return bit(avx10.b, 18) ? avx10.b & 0xff : 0;
}

}  // namespace

Features x64_features(const X64Cpu& cpu) {
  const CpuidRegisters leaf1 = cpu.cpuid(1, 0);
  const bool osxsave = bit(leaf1.c, 27), avx = bit(leaf1.c, 28);
  const bool fma = bit(leaf1.c, 12), f16c = bit(leaf1.c, 29);
  if (!osxsave || !avx) return 0;
  const std::uint64_t xcr0 = cpu.xcr0();
  const bool os_ymm = (xcr0 & 0x6) == 0x6, os_zmm = (xcr0 & 0xe6) == 0xe6;
  const bool os_tiles = (xcr0 & 0x60000) == 0x60000;
  if (!os_ymm) return 0;
  const CpuidRegisters leaf7 = cpu.cpuid(7, 0);
  const CpuidRegisters leaf7_1 = leaf7.a >= 1 ? cpu.cpuid(7, 1) : CpuidRegisters{};

  // Every AVX2 machine has BMI1 and BMI2; kernels use bzhi.
  const bool bmi = bit(leaf7.b, 3) && bit(leaf7.b, 8);
  if (!(bit(leaf7.b, 5) && bmi && fma && f16c)) return 0;
  Features f = feature::avx2;
  if (bit(leaf7_1.a, 4)) f |= feature::avx_vnni;
  // F, DQ, CD, BW and VL.
  const bool avx512 = bit(leaf7.b, 16) && bit(leaf7.b, 17) && bit(leaf7.b, 28) &&
                      bit(leaf7.b, 30) && bit(leaf7.b, 31);
  const std::uint32_t avx10 = avx10_512(cpu, leaf7_1);
  if (!os_zmm || !(avx512 || avx10)) return f;
  f |= feature::avx512;
  if (avx10 || bit(leaf7.c, 11)) f |= feature::avx512_vnni;
  if (avx10 || bit(leaf7_1.a, 5)) f |= feature::avx512_bf16;
  if (avx10 || bit(leaf7.d, 23)) f |= feature::avx512_fp16;
  const bool amx = bit(leaf7.d, 24) && bit(leaf7.d, 25) && bit(leaf7.d, 22);  // tiles, int8, bf16
  if (avx10 >= 2) f |= feature::avx10_2;
  if (!os_tiles || !amx || !cpu.tiles_permitted()) return f;
  f |= feature::amx;
  const CpuidRegisters tiles = cpu.cpuid(0x1e, 1);
  if (bit(leaf7_1.a, 21)) f |= feature::amx_fp16;
  if (bit(tiles.a, 4)) f |= feature::amx_fp8;
  if (bit(tiles.a, 6)) f |= feature::amx_tf32;
  return f;
}

}  // namespace fbg
