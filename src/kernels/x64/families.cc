// The rows of x86-64 in the table of kernel families: AVX2, AVX-VNNI, AVX-512, AVX-512 VNNI and
// BF16, FP16, AMX. The best row of each GEMM type stands first.
#include "core/policy.h"
#include "kernels/table.h"
#include "kernels/x64/generators.h"

namespace fbg {

void fence_streams() noexcept { __builtin_ia32_sfence(); }

namespace kernels {

bool looks_up_bytes(Features features) noexcept {
  static const bool permutes = __builtin_cpu_supports("avx512vbmi");
  return permutes && (features & feature::avx512) != 0;
}

namespace {

constexpr VectorFile kZmm{16, 32}, kYmm{8, 16};

constexpr TileBudget kZmmTile{1, 2, 12}, kYmmTile{1, 2, 6};
// Where an instruction multiplies a vector of B as it is, the sums of one panel hide enough of its
// latency for tiles that read B from memory.
constexpr int kOnePanelRows = policy::gemm::kOnePanelRows;
constexpr TileBudget kZmmDotTile{1, 2, 12, 0, kOnePanelRows},
    kYmmDotTile{1, 2, 6, 0, kOnePanelRows};
constexpr TileBudget kZmmFloatTile{1, 2, 14, 0, kOnePanelRows};
// Vectors of B take two registers where pairs are split into even and odd.
constexpr TileBudget kZmmSplitTile{2, 2, 12};
// Operands of B are in memory; registers hold two k-groups of a row, their products, and ones.
constexpr TileBudget kZmmPairTile{0, 5, 12}, kYmmPairTile{0, 5, 5};
// Stages need a register for each float sum; the K loop takes two of float16 for two of these.
constexpr TileBudget kZmmHalfTile{0, 4, 7};
constexpr TileBudget kAmxTile{1, 2, 32}, kAmxInt8Tile{1, 2, 32, 0, kOnePanelRows};

constexpr Features kAvx2 = feature::avx2, kAvx512 = feature::avx512;
constexpr Features kAvxVnni = feature::avx2 | feature::avx_vnni;
constexpr Features kAvx512Vnni = feature::avx512 | feature::avx512_vnni;
constexpr Features kAvx512Bf16 = feature::avx512 | feature::avx512_bf16;
constexpr Features kAvx512Fp16 = feature::avx512 | feature::avx512_fp16;

constexpr Features kAvx2Narrow = kAvx2 | feature::narrow_weights;
constexpr Features kAvx512Narrow = kAvx512 | feature::narrow_weights;

constexpr Features kAvx512Amx = kAvx512Vnni | kAvx512Bf16 | feature::amx;

// int8 sums are exact, so short tiles, which would leave most of a matrix tile empty, may run on
// vectors. Sums of bfloat16 depend on who computes them: they are those of AMX for every height.
constexpr MatrixUnit kAmxInt8{16, 16, 8}, kAmxBf16{16, 32, 0};

constexpr PackedFormat kInt8 = Int32::format;
constexpr PackedFormat kWideInt8{kInt8.kr, kInt8.panel_columns, 2, 1, true};
constexpr PackedFormat kFp32 = Float32::format, kFp16 = Float32F16::format;
constexpr PackedFormat kBf16 = BFloat16::format, kFp32Bf16 = Float32BF16::format;
constexpr PackedFormat kWideBf16{kBf16.kr, kBf16.panel_columns, 4, 2, true};

template <int kGroup>
constexpr PackedFormat kWideInt4{kGroup, kPanelColumns, 2, 1, true, true};

constexpr GenerateGemm kNibbles = generate_gemm<Dot::nibbles>;
constexpr GenerateGemm kWideNibbles = generate_gemm<Dot::wide_nibbles>;

constexpr auto kOne = Summing::one_accumulator, kTwo = Summing::two_accumulators,
               kSpilled = Summing::spilled;

using enum GemmType;

constexpr GemmFamily kFamilies[] = {
    {int32, Isa::avx512_amx, kAvx512Amx, kZmm, kAmxInt8Tile, kInt8, kTwo, generate_amx, nullptr,
     kAmxInt8},
    {int32, Isa::avx512_vnni, kAvx512Vnni, kZmm, kZmmDotTile, kInt8, kTwo,
     generate_gemm<Dot::vnni>},
    {int32, Isa::avx2_vnni, kAvxVnni, kYmm, kYmmDotTile, kInt8, kTwo, generate_gemm<Dot::vnni>},
    {int32, Isa::avx512, kAvx512Narrow, kZmm, kZmmPairTile, kInt8, kOne,
     generate_gemm<Dot::pair_sums>},
    {int32, Isa::avx512, kAvx512, kZmm, kZmmTile, kWideInt8, kOne, generate_gemm<Dot::widen_int8>},
    {int32, Isa::avx2, kAvx2Narrow, kYmm, kYmmPairTile, kInt8, kOne, generate_gemm<Dot::pair_sums>},
    {int32, Isa::avx2, kAvx2, kYmm, kYmmTile, kWideInt8, kOne, generate_gemm<Dot::widen_int8>},
    // With VNNI int32 sums are no slower: only what was packed elsewhere runs here.
    {int16, Isa::avx512_vnni, kAvx512Vnni, kZmm, kZmmDotTile, kInt8, kTwo,
     generate_gemm<Dot::vnni>},
    {int16, Isa::avx2_vnni, kAvxVnni, kYmm, kYmmDotTile, kInt8, kTwo, generate_gemm<Dot::vnni>},
    {int16, Isa::avx512, kAvx512, kZmm, kZmmTile, kInt8, kSpilled, generate_gemm<Dot::maddubs>},
    {int16, Isa::avx2, kAvx2, kYmm, kYmmTile, kInt8, kSpilled, generate_gemm<Dot::maddubs>},
    {int4_g32, Isa::avx512_vnni, kAvx512Vnni, kZmm, kZmmDotTile, Int4<32>::format, kTwo, kNibbles},
    {int4_g32, Isa::avx2_vnni, kAvxVnni, kYmm, kYmmDotTile, Int4<32>::format, kTwo, kNibbles},
    {int4_g32, Isa::avx512, kAvx512, kZmm, kZmmTile, kWideInt4<32>, kOne, kWideNibbles},
    {int4_g32, Isa::avx2, kAvx2, kYmm, kYmmTile, kWideInt4<32>, kOne, kWideNibbles},
    {int4_g64, Isa::avx512_vnni, kAvx512Vnni, kZmm, kZmmDotTile, Int4<64>::format, kTwo, kNibbles},
    {int4_g64, Isa::avx2_vnni, kAvxVnni, kYmm, kYmmDotTile, Int4<64>::format, kTwo, kNibbles},
    {int4_g64, Isa::avx512, kAvx512, kZmm, kZmmTile, kWideInt4<64>, kOne, kWideNibbles},
    {int4_g64, Isa::avx2, kAvx2, kYmm, kYmmTile, kWideInt4<64>, kOne, kWideNibbles},
    {int4_g128, Isa::avx512_vnni, kAvx512Vnni, kZmm, kZmmDotTile, Int4<128>::format, kTwo,
     kNibbles},
    {int4_g128, Isa::avx2_vnni, kAvxVnni, kYmm, kYmmDotTile, Int4<128>::format, kTwo, kNibbles},
    {int4_g128, Isa::avx512, kAvx512, kZmm, kZmmTile, kWideInt4<128>, kOne, kWideNibbles},
    {int4_g128, Isa::avx2, kAvx2, kYmm, kYmmTile, kWideInt4<128>, kOne, kWideNibbles},
    {float32, Isa::avx512, kAvx512, kZmm, kZmmFloatTile, kFp32, kOne, generate_gemm<Dot::fma>},
    {float32, Isa::avx2, kAvx2, kYmm, kYmmDotTile, kFp32, kOne, generate_gemm<Dot::fma>},
    {float32_f16, Isa::avx512, kAvx512, kZmm, kZmmTile, kFp16, kOne, generate_gemm<Dot::fma_f16>},
    {float32_f16, Isa::avx2, kAvx2, kYmm, kYmmTile, kFp16, kOne, generate_gemm<Dot::fma_f16>},
    {float32_bf16, Isa::avx512, kAvx512, kZmm, kZmmSplitTile, kFp32Bf16, kOne,
     generate_gemm<Dot::fma_bf16>},
    {float32_bf16, Isa::avx2, kAvx2, kYmm, kYmmTile, kFp32Bf16, kOne, generate_gemm<Dot::fma_bf16>},
    {GemmType::float16, Isa::avx512_fp16, kAvx512Fp16, kZmm, kZmmHalfTile, Float16::format, kTwo,
     generate_gemm<Dot::fma_half>},
    {bfloat16, Isa::avx512_amx, kAvx512Amx, kZmm, kAmxTile, kBf16, kOne, generate_amx, nullptr,
     kAmxBf16},
    {bfloat16, Isa::avx512_bf16, kAvx512Bf16, kZmm, kZmmDotTile, kBf16, kOne,
     generate_gemm<Dot::dot_bf16>},
    {bfloat16, Isa::avx512, kAvx512, kZmm, kZmmSplitTile, kWideBf16, kOne,
     generate_gemm<Dot::fma_bf16>},
    {bfloat16, Isa::avx2, kAvx2, kYmm, kYmmTile, kWideBf16, kOne, generate_gemm<Dot::fma_bf16>},
};

}  // namespace

std::span<const GemmFamily> generated_families() noexcept { return kFamilies; }

std::vector<std::uint8_t> generate_sliding(const SlidingKey& key) {
  if (key.is_float()) return generate_sliding_floats(key);
  return key.source == SlidingSource::pairs ? generate_sliding_pairs(key)
                                            : generate_sliding_bytes(key);
}

}  // namespace kernels
}  // namespace fbg
