// A loop over independent accumulators, enough to hide every latency, and no memory operand.
#include "jit/peak.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "jit/code.h"
#include "jit/simd_assembler.h"

namespace fbg::jit {
namespace {

struct Peak {
  const char* name;
  Isa isa;
  int macs_per_lane;  // multiply-adds per 32-bit lane
  void (*emit)(SimdAssembler& as, const SimdAssembler::Vec& sum, const SimdAssembler::Vec& a,
               const SimdAssembler::Vec& b, const SimdAssembler::Vec& scratch);
};

using Vec = const SimdAssembler::Vec&;

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
void bf16(SimdAssembler& as, Vec sum, Vec a, Vec b, Vec) { as.vdpbf16ps(sum, a, b); }

constexpr Peak kPeaks[] = {
    {"fp32_fma_zmm", Isa::avx512, 1, fma},
    {"fp32_fma_ymm", Isa::avx2, 1, fma},
    {"int8_vpdpbusd_zmm", Isa::avx512_vnni, 4, vnni},
    {"int8_vpdpbusd_ymm", Isa::avx2_vnni, 4, vnni},
    {"bf16_vdpbf16ps_zmm", Isa::avx512_bf16, 2, bf16},
    {"int16_maddubs_addw_zmm", Isa::avx512, 4, maddubs},
    {"int16_maddubs_addw_ymm", Isa::avx2, 4, maddubs},
    {"int8_maddwd_zmm", Isa::avx512, 2, widen},
    {"int8_maddwd_ymm", Isa::avx2, 2, widen},
};

class PeakGenerator : public SimdAssembler {
 public:
  explicit PeakGenerator(const Peak& peak) : SimdAssembler(peak.isa) {
    const int sums = num_vectors() - 4;
    for (int i = 0; i < num_vectors(); ++i) zero(vec(i));
    Xbyak::Label loop;
    L(loop);
    for (int u = 0; u < kUnroll; ++u)
      for (int i = 0; i < sums; ++i)
        peak.emit(*this, vec(i), vec(sums), vec(sums + 1), vec(sums + 2 + i % 2));
    dec(rdi);
    jnz(loop, T_NEAR);
    vzeroupper();
    ret();
    operations = 2.0 * kUnroll * sums * lanes() * peak.macs_per_lane;
  }
  double operations;  // per iteration

 private:
  static constexpr int kUnroll = 4;
};

}  // namespace

std::vector<std::string> peak_names() {
  std::vector<std::string> names;
  for (const Peak& peak : kPeaks)
    if (isa_supported(peak.isa)) names.emplace_back(peak.name);
  return names;
}

double measure_peak(const std::string& name, double seconds) {
  const auto peak = std::find_if(std::begin(kPeaks), std::end(kPeaks), [&](const Peak& p) {
    return name == p.name && isa_supported(p.isa);
  });
  if (peak == std::end(kPeaks)) throw std::invalid_argument("measure_peak: no sequence " + name);
  PeakGenerator generator(*peak);
  generator.ready();
  const auto run = reinterpret_cast<void (*)(std::int64_t)>(
      const_cast<void*>(make_executable(generator.getCode(), generator.getSize(), "peak_" + name)));

  using Clock = std::chrono::steady_clock;
  const auto elapsed = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  run(10000);  // wakes the wide units
  double operations = 0;
  const auto start = Clock::now();
  do {
    constexpr std::int64_t kIterations = 2000;
    run(kIterations);
    operations += generator.operations * static_cast<double>(kIterations);
  } while (elapsed(start) < seconds);
  return operations / elapsed(start) * 1e-9;
}

}  // namespace fbg::jit
