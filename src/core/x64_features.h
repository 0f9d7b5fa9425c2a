// The features of an x86-64 CPU, from CPUID, XCR0 and Linux. They are arguments, so that
// tests can describe CPUs that nobody has, and hypervisors that hide a part of one.
#pragma once

#include <cstdint>
#include <functional>

#include "fbg/core/isa.h"

namespace fbg {

// Of CPUs that are to come, and detected only: no kernel needs them (docs/add-a-kernel.md).
namespace feature {
inline constexpr Features amx_fp16 = 1u << 11;  // tdpfp16ps
inline constexpr Features amx_fp8 = 1u << 12;   // tdpbf8ps and its like
inline constexpr Features amx_tf32 = 1u << 13;  // tmmultf32ps
inline constexpr Features avx10_2 = 1u << 14;   // vdpphps, vpdpbssd
}  // namespace feature

struct CpuidRegisters {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
};

struct X64Cpu {
  // The registers of a leaf and a subleaf; zeros where the CPU has no such leaf.
  std::function<CpuidRegisters(std::uint32_t leaf, std::uint32_t subleaf)> cpuid;
  // The state that the operating system saves; asked only if CPUID says that it can be (OSXSAVE).
  std::function<std::uint64_t()> xcr0;
  // Whether Linux lets this process use tiles; asked only of a CPU that has them.
  std::function<bool()> tiles_permitted;
};

Features x64_features(const X64Cpu& cpu);

}  // namespace fbg
