// The instruction set that is chosen for described CPUs: those of today and to come, hypervisors
// and kernels that hide a part of them, and flags that contradict each other.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "core/x64_features.h"

namespace fbg {
namespace {

constexpr std::uint32_t bits(std::initializer_list<int> indexes) {
  std::uint32_t value = 0;
  for (const int index : indexes) value |= 1u << index;
  return value;
}

constexpr std::uint64_t kYmm = 0x7, kZmm = 0xe7, kTiles = 0x600e7;
constexpr std::uint32_t kAvx512Bits = bits({16, 17, 28, 30, 31});
constexpr std::uint32_t kAvx10 = 0x24;

struct Machine {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters> leaves;
  std::uint64_t xcr0 = kYmm;
  bool tiles_permitted = true;

  CpuidRegisters& leaf(std::uint32_t number, std::uint32_t subleaf = 0) {
    return leaves[{number, subleaf}];
  }
  Features features() const {
    return x64_features({[&](std::uint32_t number, std::uint32_t subleaf) {
                           const auto found = leaves.find({number, subleaf});
                           return found == leaves.end() ? CpuidRegisters{} : found->second;
                         },
                         [&] { return xcr0; }, [&] { return tiles_permitted; }});
  }
  Isa isa() const { return best_isa(features()); }
};

Machine haswell() {
  Machine m;
  m.leaf(1).c = bits({12, 27, 28, 29});
  m.leaf(7).b = bits({3, 5, 8});
  return m;
}
Machine alder_lake() {
  Machine m = haswell();
  m.leaf(7).a = 1;
  m.leaf(7, 1).a = bits({4});
  return m;
}
Machine ice_lake() {
  Machine m = haswell();
  m.leaf(7).b |= kAvx512Bits;
  m.leaf(7).c = bits({11});
  m.xcr0 = kZmm;
  return m;
}
Machine sapphire_rapids() {
  Machine m = ice_lake();
  m.leaf(7).a = 1;
  m.leaf(7, 1).a = bits({4, 5});
  m.leaf(7).d = bits({22, 23, 24, 25});
  m.xcr0 = kTiles;
  return m;
}
// AVX10 of a version, without the flags of AVX-512.
Machine avx10(std::uint32_t version, std::initializer_list<int> widths) {
  Machine m = alder_lake();
  m.leaf(7, 1).d = bits({19});
  m.leaf(kAvx10).b = version | bits(widths);
  m.xcr0 = kZmm;
  return m;
}

TEST(X64Features, CpusHaveTheirInstructionSet) {
  EXPECT_EQ(Machine{}.isa(), Isa::generic);
  EXPECT_EQ(haswell().isa(), Isa::avx2);
  EXPECT_EQ(alder_lake().isa(), Isa::avx2_vnni);
  EXPECT_EQ(ice_lake().isa(), Isa::avx512_vnni);
  EXPECT_EQ(sapphire_rapids().isa(), Isa::avx512_amx);
}

TEST(X64Features, StateThatIsNotSavedIsNotUsed) {
  Machine m = sapphire_rapids();
  m.xcr0 = kZmm;
  EXPECT_EQ(m.isa(), Isa::avx512_fp16);
  m.xcr0 = kTiles & ~0x20000u;  // the configuration of tiles, but not their data
  EXPECT_EQ(m.isa(), Isa::avx512_fp16);
  m.xcr0 = kZmm & ~0x80u;  // not the upper half of the vector registers
  EXPECT_EQ(m.isa(), Isa::avx2_vnni);
  m.xcr0 = kYmm;
  EXPECT_EQ(m.isa(), Isa::avx2_vnni);
  m.xcr0 = 0x3;
  EXPECT_EQ(m.isa(), Isa::generic);
  m.xcr0 = kTiles;
  m.leaf(1).c &= ~bits({27});  // the operating system uses no XSAVE
  EXPECT_EQ(m.isa(), Isa::generic);
}

TEST(X64Features, DeniedTilesAreNotUsed) {
  Machine m = sapphire_rapids();
  m.tiles_permitted = false;
  EXPECT_EQ(m.isa(), Isa::avx512_fp16);
}

TEST(X64Features, EveryFlagOfAnInstructionSetCounts) {
  Machine without = sapphire_rapids();
  without.tiles_permitted = false;
  without.leaf(7).d &= ~bits({23});
  EXPECT_EQ(without.isa(), Isa::avx512_bf16);
  for (const int missing : {16, 17, 28, 30, 31}) {
    Machine m = sapphire_rapids();
    m.leaf(7).b &= ~bits({missing});
    EXPECT_EQ(m.isa(), Isa::avx2_vnni) << missing;
  }
  for (const int missing : {22, 24, 25}) {
    Machine m = sapphire_rapids();
    m.leaf(7).d &= ~bits({missing});
    EXPECT_EQ(m.isa(), Isa::avx512_fp16) << missing;
  }
  for (const int missing : {3, 5, 8}) {
    Machine m = sapphire_rapids();
    m.leaf(7).b &= ~bits({missing});
    EXPECT_EQ(m.isa(), Isa::generic) << missing;
  }
  for (const int missing : {12, 28, 29}) {
    Machine m = sapphire_rapids();
    m.leaf(1).c &= ~bits({missing});
    EXPECT_EQ(m.isa(), Isa::generic) << missing;
  }
  Machine m = sapphire_rapids();
  m.leaf(7).a = 0;  // what stands in leaf 7.1 then means nothing
  m.leaf(7).d = 0;
  EXPECT_EQ(m.isa(), Isa::avx512_vnni);
}

TEST(X64Features, WhatNoKernelNeedsYetIsDetected) {
  constexpr Features kTilesOnly = feature::amx_fp16 | feature::amx_fp8 | feature::amx_tf32;
  Machine m = sapphire_rapids();
  EXPECT_EQ(m.features() & (kTilesOnly | feature::avx10_2), 0u);
  m.leaf(7, 1).a |= bits({21});
  EXPECT_EQ(m.features() & kTilesOnly, feature::amx_fp16);
  m.leaf(0x1e, 1).a = bits({4, 6});
  EXPECT_EQ(m.features() & kTilesOnly, kTilesOnly);
  m.tiles_permitted = false;
  EXPECT_EQ(m.features() & kTilesOnly, 0u);
  EXPECT_EQ(avx10(1, {18}).features() & feature::avx10_2, 0u);
  EXPECT_EQ(avx10(2, {18}).features() & feature::avx10_2, feature::avx10_2);
}

TEST(X64Features, Avx10With512BitsIsAvx512) {
  EXPECT_EQ(avx10(1, {16, 17, 18}).isa(), Isa::avx512_fp16);
  EXPECT_EQ(avx10(2, {16, 17, 18}).isa(), Isa::avx512_fp16);
  Machine m = avx10(2, {18});
  m.leaf(7).d = bits({22, 24, 25});
  m.xcr0 = kTiles;
  EXPECT_EQ(m.isa(), Isa::avx512_amx);
  m.xcr0 = kYmm;
  EXPECT_EQ(m.isa(), Isa::avx2_vnni);
}

TEST(X64Features, Avx10Without512BitsIsAvx2) {
  EXPECT_EQ(avx10(1, {16, 17}).isa(), Isa::avx2_vnni);
  EXPECT_EQ(avx10(0, {18}).isa(), Isa::avx2_vnni);  // a leaf without a version
  Machine m = avx10(1, {18});
  m.leaf(7, 1).d = 0;  // the leaf without the flag
  EXPECT_EQ(m.isa(), Isa::avx2_vnni);
  m = avx10(1, {17});
  m.leaves.erase({kAvx10, 0});  // the flag without the leaf
  EXPECT_EQ(m.isa(), Isa::avx2_vnni);
}

}  // namespace
}  // namespace fbg
