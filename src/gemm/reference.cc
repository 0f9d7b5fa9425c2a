// The portable microkernel: a tile computed element by element from the definition, through the
// scalar face of each stage. Floats are fused multiply-adds in one chain over k, as in the JIT
// kernels.
#include "gemm/reference.h"

#include <cmath>
#include <type_traits>

#include "core/float16.h"

namespace fbg {
namespace {

void multiply_add(std::int32_t& sum, std::uint8_t a, std::int8_t b) {
  sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                  static_cast<std::uint32_t>(std::int32_t{a} * b));
}
template <class A, class B>
void multiply_add(float& sum, A a, B b) {
  sum = std::fma(to_float(a), to_float(b), sum);
}

template <class Acc>
typename Acc::C dot(const TileArgs& args, int i, std::int64_t j, typename Acc::C sum) {
  constexpr std::int64_t kGroup = kPanelColumns * Acc::kr;
  for (std::int64_t p = 0; p < args.num_pairs; ++p) {
    const BlockPair& pair = args.pairs[p];
    const auto* a = reinterpret_cast<const typename Acc::A*>(static_cast<const std::byte*>(pair.a) +
                                                             i * pair.lda);
    // The tile may start inside a panel, but never crosses a panel's end unless it starts at one.
    const auto* panel = reinterpret_cast<const typename Acc::B*>(
        static_cast<const std::byte*>(pair.b) + j / kPanelColumns * pair.b_panel_stride);
    const auto* b = panel + j % kPanelColumns * Acc::kr;
    for (std::int64_t g = 0; g < pair.groups; ++g)
      for (int k = 0; k < Acc::kr; ++k) multiply_add(sum, a[g * Acc::kr + k], b[g * kGroup + k]);
  }
  return sum;
}

template <class Acc>
void reference_tile(const TileArgs* tile) {
  const TileArgs& args = *tile;
  const KernelKey& key = *args.key;
  const bool starts = key.load_c || (Acc::kind == Accumulator::int16 && args.partial);
  for (int i = 0; i < key.rows; ++i) {
    auto* c_row = static_cast<std::byte*>(args.c) + i * args.ldc;
    for (std::int64_t j = 0; j < args.columns; ++j) {
      typename Acc::C sum = 0;
      if (starts)
        sum = reinterpret_cast<const typename Acc::C*>(static_cast<const std::byte*>(args.partial) +
                                                       i * args.ldpartial)[j];
      sum = dot<Acc>(args, i, j, sum);
      Value value;
      if constexpr (std::is_same_v<typename Acc::C, float>)
        value.f = sum;
      else
        value.i = sum;

      Element e{args.row + i, args.col + j, 1, 1, 0, 0, 0, 0};
      if (args.a_scale) e.a_scale = args.a_scale[i];
      if (args.b_scale) e.b_scale = args.b_scale[j];
      if (key.correct_a) {
        e.a_zero_point = args.a_zero_point[i];
        e.col_offset = args.col_offsets[j];
      }
      if (key.correct_b) {
        e.b_zero_point = args.b_zero_point[j];
        e.row_term = args.row_terms[i];
      }
      for (int s = 0; s < key.num_stages; ++s)
        value = apply_stage(key.stages[s], args.stages[s], value, e);
      store_values(&value, 1, key.output(), c_row + j * value_size(key.output()));
    }
  }
}

}  // namespace

TileFunction reference_kernel(Accumulator accumulator) noexcept {
  switch (accumulator) {
    case Accumulator::int32:
      return reference_tile<Int32>;
    case Accumulator::int16:
      return reference_tile<Int16>;
    case Accumulator::float32:
      return reference_tile<Float32>;
    case Accumulator::bfloat16:
      return reference_tile<BFloat16>;
    case Accumulator::float32_bf16:
      return reference_tile<Float32BF16>;
    case Accumulator::float32_f16:
      return reference_tile<Float32F16>;
  }
  return nullptr;
}

}  // namespace fbg
