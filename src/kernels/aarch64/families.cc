// The rows of AArch64 in the table of kernel families: NEON, and its extensions for dot products of
// bytes and of bfloat16. The best row of each GEMM type stands first.
#include "kernels/aarch64/gemm_generator.h"
#include "kernels/sliding.h"
#include "kernels/table.h"

namespace fbg {

void fence_streams() noexcept {}  // kernels do not bypass the caches
KernelScope::KernelScope(const Geometry&, std::int64_t) noexcept : configured_(false) {}
KernelScope::~KernelScope() = default;

namespace kernels {
namespace {

constexpr VectorFile kNeon{4, 32};

// Each row of A has a register, which holds several k-groups. Vectors of B take one register, or
// two where pairs are split into even and odd, or where the sums of columns are needed as well.
constexpr TileBudget kTile{1, 2, 8, 1}, kSplitTile{2, 1, 8, 1};
// 128 is subtracted from each row of A, so that wide tiles do this less often.
constexpr TileBudget kShiftedTile{1, 1, 5, 1};
// Two rows of A become one operand of a product of matrices, and so do two k-groups of B.
constexpr TileBudget kMatrixTile{1, 4, 8, 1}, kPairTile{1, 4, 8, 1, 0, 2};
// Bytes, and weights of 4 bits, are widened one vector of B at a time.
constexpr TileBudget kWideTile{0, 7, 8, 1};
// The same where the sums of columns are needed as well, or two rows become one operand.
constexpr TileBudget kInt4Tile{1, 4, 8, 1};

constexpr Features kPlain = feature::neon, kDot = kPlain | feature::neon_dot;
constexpr Features kI8mm = kDot | feature::neon_i8mm, kBf16s = kPlain | feature::neon_bf16;

constexpr PackedFormat kInt8 = Int32::format, kFp32 = Float32::format, kFp16 = Float32F16::format;
constexpr PackedFormat kBf16 = BFloat16::format, kFp32Bf16 = Float32BF16::format;
template <int kGroup>
constexpr PackedFormat kInt4 = Int4<kGroup>::format;
constexpr auto kOne = Summing::one_accumulator;

constexpr GenerateGemm kSudotInt4 = generate_gemm<Dot::sudot_int4>;
constexpr GenerateGemm kSdotInt4 = generate_gemm<Dot::sdot_int4>;
constexpr GenerateGemm kWidenInt4 = generate_gemm<Dot::widen_int4>;

using enum GemmType;

constexpr GemmFamily kFamilies[] = {
    {int32, Isa::neon_i8mm, kI8mm, kNeon, kPairTile, kInt8, kOne, generate_gemm<Dot::sudot>},
    {int32, Isa::neon_dot, kDot, kNeon, kShiftedTile, kInt8, kOne, generate_gemm<Dot::sdot>},
    {int32, Isa::neon, kPlain, kNeon, kWideTile, kInt8, kOne, generate_gemm<Dot::widen_int8>},
    // Sums in int32 are no slower: only what was packed elsewhere runs here.
    {int16, Isa::neon_i8mm, kI8mm, kNeon, kMatrixTile, kInt8, kOne, generate_gemm<Dot::sudot>},
    {int16, Isa::neon_dot, kDot, kNeon, kSplitTile, kInt8, kOne, generate_gemm<Dot::sdot>},
    {int16, Isa::neon, kPlain, kNeon, kWideTile, kInt8, kOne, generate_gemm<Dot::widen_int8>},
    {int4_g32, Isa::neon_i8mm, kI8mm, kNeon, kInt4Tile, kInt4<32>, kOne, kSudotInt4},
    {int4_g32, Isa::neon_dot, kDot, kNeon, kInt4Tile, kInt4<32>, kOne, kSdotInt4},
    {int4_g32, Isa::neon, kPlain, kNeon, kWideTile, kInt4<32>, kOne, kWidenInt4},
    {int4_g64, Isa::neon_i8mm, kI8mm, kNeon, kInt4Tile, kInt4<64>, kOne, kSudotInt4},
    {int4_g64, Isa::neon_dot, kDot, kNeon, kInt4Tile, kInt4<64>, kOne, kSdotInt4},
    {int4_g64, Isa::neon, kPlain, kNeon, kWideTile, kInt4<64>, kOne, kWidenInt4},
    {int4_g128, Isa::neon_i8mm, kI8mm, kNeon, kInt4Tile, kInt4<128>, kOne, kSudotInt4},
    {int4_g128, Isa::neon_dot, kDot, kNeon, kInt4Tile, kInt4<128>, kOne, kSdotInt4},
    {int4_g128, Isa::neon, kPlain, kNeon, kWideTile, kInt4<128>, kOne, kWidenInt4},
    {float32, Isa::neon, kPlain, kNeon, kTile, kFp32, kOne, generate_gemm<Dot::fma>},
    {float32_f16, Isa::neon, kPlain, kNeon, kTile, kFp16, kOne, generate_gemm<Dot::fma_f16>},
    {float32_bf16, Isa::neon, kPlain, kNeon, kSplitTile, kFp32Bf16, kOne,
     generate_gemm<Dot::fma_bf16>},
    {bfloat16, Isa::neon_bf16, kBf16s, kNeon, kPairTile, kBf16, kOne, generate_gemm<Dot::bfdot>},
    {bfloat16, Isa::neon, kPlain, kNeon, kSplitTile, kBf16, kOne, generate_gemm<Dot::widen_bf16>},
};

}  // namespace

std::span<const GemmFamily> generated_families() noexcept { return kFamilies; }
bool looks_up_bytes(Features) noexcept { return false; }

// Convolutions without kernels of their own are products of one form or another.
std::vector<std::uint8_t> generate_sliding(const SlidingKey&) { return {}; }

}  // namespace kernels
}  // namespace fbg
