// Peaks: a loop over independent accumulators, enough to hide every latency, and no memory operand.
// Reading: a loop of loads and nothing else.
#include "kernels/x64/peak.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "core/memory.h"
#include "kernels/code.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {
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

// void(const std::byte* from, std::int64_t steps): loads every vector of steps * kStep bytes.
class ReadGenerator : public SimdAssembler {
 public:
  static constexpr int kStep = 4096;

  explicit ReadGenerator(Isa isa) : SimdAssembler(isa) {
    Xbyak::Label loop;
    L(loop);
    for (int offset = 0; offset < kStep; offset += vector_bytes())
      vmovups(vec(offset / vector_bytes() % num_vectors()), ptr[rdi + offset]);
    add(rdi, kStep);
    dec(rsi);
    jnz(loop, T_NEAR);
    vzeroupper();
    ret();
  }
};

// Calls `run`, which returns the work it did, for `seconds`; billions per second.
template <class Run>
double rate(double seconds, Run run) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double work = 0, elapsed = 0;
  do {
    work += run();
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  } while (elapsed < seconds);
  return work / elapsed * 1e-9;
}

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

  run(10000);  // wakes the wide units
  constexpr std::int64_t kIterations = 2000;
  return rate(seconds, [&] {
    run(kIterations);
    return generator.operations * static_cast<double>(kIterations);
  });
}

double measure_read(std::size_t bytes, double seconds) {
  const Isa isa = isa_supported(Isa::avx512) ? Isa::avx512 : Isa::avx2;
  if (!isa_supported(isa)) throw std::invalid_argument("measure_read: needs AVX2");
  if (bytes < ReadGenerator::kStep)
    throw std::invalid_argument("measure_read: bytes must be at least 4096, got " +
                                std::to_string(bytes));
  ReadGenerator generator(isa);
  generator.ready();
  const auto run = reinterpret_cast<void (*)(const std::byte*, std::int64_t)>(
      const_cast<void*>(make_executable(generator.getCode(), generator.getSize(), "peak_read")));
  const AlignedBuffer buffer(bytes, Fill::zero);
  const auto steps = static_cast<std::int64_t>(bytes / ReadGenerator::kStep);
  run(buffer.data(), steps);  // brings it into the cache it fits in
  return rate(seconds, [&] {
    run(buffer.data(), steps);
    return static_cast<double>(steps) * ReadGenerator::kStep;
  });
}

}  // namespace fbg::kernels
