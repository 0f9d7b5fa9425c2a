// The instructions that bound each family of kernels, as loops that do nothing else.
#include "kernels/peak_loops.h"

#include "kernels/aarch64/neon_assembler.h"

namespace fbg::kernels {
namespace {

using Vec = const NeonAssembler::Vec&;

// sum += a * b
using Emit = void (*)(NeonAssembler& as, Vec sum, Vec a, Vec b);

void fma(NeonAssembler& as, Vec sum, Vec a, Vec b) { as.fmla(sum.s4, a.s4, b.s4[0]); }
void sdot(NeonAssembler& as, Vec sum, Vec a, Vec b) { as.sdot(sum.s4, a.b16, b.b4[0]); }
void sudot(NeonAssembler& as, Vec sum, Vec a, Vec b) { as.sudot(sum.s4, a.b16, b.b4[0]); }
void bfdot(NeonAssembler& as, Vec sum, Vec a, Vec b) { as.bfdot(sum.s4, a.h8, b.h2[0]); }
void smlal(NeonAssembler& as, Vec sum, Vec a, Vec b) { as.smlal(sum.s4, a.h4, b.h8[0]); }

constexpr int kUnroll = 4, kSums = 24;

template <Emit emit>
std::vector<std::uint8_t> generate_peak() {
  // v8 to v15, which belong to the caller, are operands that nobody writes.
  NeonAssembler as;
  const NeonAssembler::XReg rounds(0);
  const auto sum = [&](int i) { return as.vec(i < 8 ? i : i + 8); };
  for (int i = 0; i < kSums; ++i) as.zero(sum(i));
  NeonAssembler::Label loop;
  as.L(loop);
  for (int u = 0; u < kUnroll; ++u)
    for (int i = 0; i < kSums; ++i) emit(as, sum(i), as.vec(8), as.vec(9));
  as.subs(rounds, rounds, 1);
  as.b(as.NE, loop);
  as.ret();
  return as.code();
}

// macs: multiply-adds per 32-bit lane.
template <Emit emit>
constexpr PeakLoop peak(const char* name, Isa isa, int macs) {
  return {name, isa, 2.0 * kUnroll * kSums * NeonAssembler::kLanes * macs, generate_peak<emit>};
}

constexpr PeakLoop kLoops[] = {
    peak<sudot>("int8_sudot_neon", Isa::neon_i8mm, 4),
    peak<sdot>("int8_sdot_neon", Isa::neon_dot, 4),
    peak<smlal>("int8_smlal_neon", Isa::neon, 1),
    peak<bfdot>("bf16_bfdot_neon", Isa::neon_bf16, 2),
    peak<fma>("fp32_fmla_neon", Isa::neon, 1),
};

std::vector<std::uint8_t> generate_read() {
  NeonAssembler as;
  const NeonAssembler::XReg from(0), steps(1);
  NeonAssembler::Label loop;
  as.L(loop);
  for (std::size_t offset = 0; offset < kReadStep; offset += NeonAssembler::kVectorBytes)
    as.ldr(as.vec(static_cast<int>(offset / NeonAssembler::kVectorBytes % 8)).q, at(from, offset));
  as.add(from, from, 1, 12);  // 4096
  as.subs(steps, steps, 1);
  as.b(as.NE, loop);
  as.ret();
  return as.code();
}

constexpr ReadLoop kReadLoop{"read_neon", Isa::neon, generate_read};

}  // namespace

std::span<const PeakLoop> peak_loops() noexcept { return kLoops; }
const ReadLoop* read_loop() noexcept { return &kReadLoop; }

}  // namespace fbg::kernels
