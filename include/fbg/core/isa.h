// Instruction sets as sets of CPU features. A kernel family states the features that it needs. A
// limit (FBG_MAX_ISA, set_isa_limit) takes features away, for tests and comparisons. The named
// instruction sets are not levels that contain each other: avx512, for example, lacks the VNNI of
// avx2_vnni, and those of AArch64 have nothing in common with those of x86-64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fbg {

// In the order of kIsaTable (src/core/isa.cc). An instruction set need not have kernels of its own
// for every GEMM type: each GEMM type uses the best kernel family that the features permit
// (src/kernels/table.h).
enum class Isa : std::uint8_t {
  generic,
  avx2,
  avx2_vnni,
  avx512,
  avx512_vnni,
  avx512_bf16,
  avx512_fp16,
  avx512_amx,
  neon,
  neon_dot,
  neon_i8mm,
  neon_bf16
};
inline constexpr Isa kAllIsas[] = {Isa::generic,     Isa::avx2,        Isa::avx2_vnni,
                                   Isa::avx512,      Isa::avx512_vnni, Isa::avx512_bf16,
                                   Isa::avx512_fp16, Isa::avx512_amx,  Isa::neon,
                                   Isa::neon_dot,    Isa::neon_i8mm,   Isa::neon_bf16};

using Features = std::uint32_t;
namespace feature {
inline constexpr Features avx2 = 1u << 0;         // AVX2 + FMA + F16C
inline constexpr Features avx_vnni = 1u << 1;     // VEX vpdpbusd
inline constexpr Features avx512 = 1u << 2;       // F + BW + DQ + VL + CD
inline constexpr Features avx512_vnni = 1u << 3;  // EVEX vpdpbusd
inline constexpr Features avx512_bf16 = 1u << 4;  // vdpbf16ps
inline constexpr Features amx = 1u << 5;          // AMX tiles: products of int8 and of bfloat16
inline constexpr Features neon = 1u << 6;         // AArch64 with Advanced SIMD, which every CPU has
inline constexpr Features neon_dot = 1u << 7;     // sdot
inline constexpr Features neon_i8mm = 1u << 8;    // sudot
inline constexpr Features neon_bf16 = 1u << 9;    // bfdot
inline constexpr Features avx512_fp16 = 1u << 10;  // vfmadd231ph
// Of a product, not of a CPU: its int8 weights are narrow (PackedMatrix::is_narrow). Whoever
// chooses kernels for weights adds this to the features that they may use.
inline constexpr Features narrow_weights = 1u << 31;
}  // namespace feature

// The features that a named ISA stands for (its own and those it builds upon).
Features isa_features(Isa isa) noexcept;
const char* isa_name(Isa isa) noexcept;
std::optional<Isa> isa_from_name(std::string_view name) noexcept;

// Features of this CPU whose state the operating system saves; detected once. On a CPU with AMX,
// the first call asks the kernel for permission to use its tiles, which lasts for the process;
// without the permission, AMX is not among the features.
Features cpu_features() noexcept;
bool isa_supported(Isa isa) noexcept;
std::vector<Isa> supported_isas();

// What kernels may use now: cpu_features() within the limit. Process-wide.
Features active_features() noexcept;
// The most capable named ISA whose features are all among these, or active.
Isa best_isa(Features features) noexcept;
Isa active_isa() noexcept;

// Restricts active_features() to those of `isa`; nullopt lifts the limit.
// Throws std::invalid_argument when the CPU lacks the ISA: never a silent fallback.
void set_isa_limit(std::optional<Isa> isa);
std::optional<Isa> isa_limit() noexcept;

struct CpuInfo {
  std::string name;
  std::int64_t l1d_bytes, l2_bytes, l3_bytes;
};
const CpuInfo& cpu_info();

}  // namespace fbg
