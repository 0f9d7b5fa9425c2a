// The instructions that bound each family of kernels, as loops that do nothing else.
#include "kernels/peak_loops.h"

#include <random>

#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {
namespace {

using Vec = const SimdAssembler::Vec&;

// sum += a * b; `product` is a register to spare.
using Emit = void (*)(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec product);

void fma(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec) { as.vfmadd231ps(sum, a, b); }
void vnni(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec) {
  as.vpdpbusd(sum, a, b, as.is_zmm() ? Xbyak::EvexEncoding : Xbyak::VexEncoding);
}
void widen(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec product) {
  as.vpmaddwd(product, a, b);
  as.vpaddd(sum, sum, product);
}
void maddubs(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec product) {
  as.vpmaddubsw(product, a, b);
  as.vpaddw(sum, sum, product);
}
// Two k-groups of bytes.
void pair_sums(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec product) {
  const Vec other = as.vec(2 * as.num_vectors() - 3 - product.getIdx());
  as.vpmaddubsw(product, a, b);
  as.vpmaddubsw(other, a, b);
  as.vpaddw(product, product, other);
  as.vpmaddwd(product, product, a);
  as.vpaddd(sum, sum, product);
}
void bf16(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec) { as.vdpbf16ps(sum, a, b); }
void fp16(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec) { as.vfmadd231ph(sum, a, b); }

constexpr int kUnroll = 4;
constexpr int kOperands = 4;  // vector registers that hold no sum

template <Emit emit, int lanes>
std::vector<std::uint8_t> generate_peak() {
  SimdAssembler as(lanes);
  const int sums = as.num_vectors() - kOperands;
  for (int i = 0; i < as.num_vectors(); ++i) as.zero(as.vec(i));
  Xbyak::Label loop;
  as.L(loop);
  for (int u = 0; u < kUnroll; ++u)
    for (int i = 0; i < sums; ++i)
      emit(as, as.vec(i), as.vec(sums), as.vec(sums + 1), as.vec(sums + 2 + i % 2));
  as.dec(as.rdi);
  as.jnz(loop, as.T_NEAR);
  as.vzeroupper();
  as.ret();
  return as.code();
}

// macs: multiply-adds per 32-bit lane.
template <Emit emit, int lanes>
constexpr PeakLoop peak(const char* name, Isa isa, int macs) {
  const int sums = SimdAssembler::num_vectors(lanes) - kOperands;
  return {name, isa, 2.0 * kUnroll * sums * lanes * macs, generate_peak<emit, lanes>};
}

// As a tile of C of 32 x 32 is computed: four sums, which take longer than any latency. Tiles have
// 16 rows of 64 bytes. The loop configures them itself. With loads, each step reads the next two
// tiles of A and of B, which lie behind the code with random contents and come from the L1.
std::vector<std::uint8_t> tile_code(bool integer, bool loads) {
  constexpr int kSums = 4, kTiles = 8, kRowBytes = 64, kTileBytes = 16 * kRowBytes;
  SimdAssembler as(16);
  Xbyak::Label loop, config, operands;
  as.ldtilecfg(as.ptr[as.rip + config]);
  for (int i = 0; i < kTiles; ++i) as.tilezero(Xbyak::Tmm(i));
  as.lea(as.rax, as.ptr[as.rip + operands]);
  as.mov(as.edx, kRowBytes);
  as.L(loop);
  for (int u = 0; u < kUnroll; ++u) {
    for (int i = 0; loads && i < kSums; ++i)
      as.tileloadd(Xbyak::Tmm(kSums + i), as.ptr[as.rax + as.rdx + (u * kSums + i) * kTileBytes]);
    for (int i = 0; i < kSums; ++i) {
      const Xbyak::Tmm sum(i), a(kSums + i % 2), b(kSums + 2 + i / 2);
      integer ? as.tdpbusd(sum, a, b) : as.tdpbf16ps(sum, a, b);
    }
  }
  as.dec(as.rdi);
  as.jnz(loop, as.T_NEAR);
  as.tilerelease();
  as.ret();
  as.align(64);
  as.L(config);  // palette 1, bytes of a row, rows
  as.dq(1);
  as.dq(0);
  for (int i = 0; i < 16; ++i) as.dw(i < kTiles ? kRowBytes : 0);
  for (int i = 0; i < 16; ++i) as.db(i < kTiles ? 16 : 0);
  as.L(operands);
  std::minstd_rand random;
  for (int i = 0; loads && i < kUnroll * kSums * kTileBytes / 2; ++i) {
    const unsigned bits = static_cast<unsigned>(random()) >> 8;
    as.dw(integer ? bits & 0xffff : (bits & 0x807f) | 0x3f80);  // bfloat16: 1 to 2, either sign
  }
  return as.code();
}

template <bool integer, bool loads>
std::vector<std::uint8_t> generate_tile_peak() {
  return tile_code(integer, loads);
}

// macs: multiply-adds of a 32-bit lane of a row of a tile.
template <bool integer, bool loads = false>
constexpr PeakLoop tile_peak(const char* name, int macs) {
  return {name, Isa::avx512_amx, 2.0 * kUnroll * 4 * 16 * 16 * 16 * macs,
          generate_tile_peak<integer, loads>};
}

constexpr PeakLoop kPeakLoops[] = {
    tile_peak<true>("int8_tdpbusd", 4),
    tile_peak<true, true>("int8_tdpbusd_from_l1", 4),
    tile_peak<false>("bf16_tdpbf16ps", 2),
    tile_peak<false, true>("bf16_tdpbf16ps_from_l1", 2),
    peak<fma, 16>("fp32_fma_zmm", Isa::avx512, 1),
    peak<fma, 8>("fp32_fma_ymm", Isa::avx2, 1),
    peak<vnni, 16>("int8_vpdpbusd_zmm", Isa::avx512_vnni, 4),
    peak<vnni, 8>("int8_vpdpbusd_ymm", Isa::avx2_vnni, 4),
    peak<bf16, 16>("bf16_vdpbf16ps_zmm", Isa::avx512_bf16, 2),
    peak<fp16, 16>("fp16_vfmadd_zmm", Isa::avx512_fp16, 2),
    peak<maddubs, 16>("int16_maddubs_addw_zmm", Isa::avx512, 4),
    peak<maddubs, 8>("int16_maddubs_addw_ymm", Isa::avx2, 4),
    peak<pair_sums, 16>("int8_maddubs_maddwd_zmm", Isa::avx512, 8),
    peak<pair_sums, 8>("int8_maddubs_maddwd_ymm", Isa::avx2, 8),
    peak<widen, 16>("int8_maddwd_zmm", Isa::avx512, 2),
    peak<widen, 8>("int8_maddwd_ymm", Isa::avx2, 2),
};

template <int lanes>
std::vector<std::uint8_t> generate_read() {
  SimdAssembler as(lanes);
  Xbyak::Label loop;
  as.L(loop);
  const int step = static_cast<int>(kReadStep);
  for (int offset = 0; offset < step; offset += as.vector_bytes())
    as.vmovups(as.vec(offset / as.vector_bytes() % as.num_vectors()), as.ptr[as.rdi + offset]);
  as.add(as.rdi, step);
  as.dec(as.rsi);
  as.jnz(loop, as.T_NEAR);
  as.vzeroupper();
  as.ret();
  return as.code();
}

constexpr ReadLoop kReadLoops[] = {{"read_zmm", Isa::avx512, generate_read<16>},
                                   {"read_ymm", Isa::avx2, generate_read<8>}};

}  // namespace

std::span<const PeakLoop> peak_loops() noexcept { return kPeakLoops; }

const ReadLoop* read_loop() noexcept {
  for (const ReadLoop& loop : kReadLoops)
    if (isa_supported(loop.isa)) return &loop;
  return nullptr;
}

}  // namespace fbg::kernels
