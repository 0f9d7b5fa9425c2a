// The portable microkernel, which runs everywhere and is the reference of every test: a tile
// computed element by element from the definition, through the scalar implementation of each stage.
// Floats are fused multiply-adds in one chain over k, as in the generated kernels. Any tile shape
// and any pipeline will do; both are read from TileArgs::key.

#include <cmath>
#include <type_traits>

#include "core/float16.h"
#include "core/int4.h"
#include "kernels/table.h"

namespace fbg::kernels {
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
typename Acc::C dot(const TileArgs& args, std::int64_t i, std::int64_t j, typename Acc::C sum) {
  constexpr std::int64_t kr = Acc::format.kr, width = Acc::format.panel_columns;
  for (const BlockPair& pair : args.blocks()) {
    const std::byte* const row = args.key->indirect
                                     ? static_cast<const std::byte* const*>(pair.a)[i] + pair.lda
                                     : static_cast<const std::byte*>(pair.a) + i * pair.lda;
    const auto* a = reinterpret_cast<const typename Acc::A*>(row);
    // The tile may start inside a panel, but never crosses a panel's end unless it starts at one.
    const auto* panel = reinterpret_cast<const typename Acc::B*>(
        static_cast<const std::byte*>(pair.b) + j / width * pair.b_panel_stride);
    const auto* b = panel + j % width * kr;
    for (std::int64_t g = 0; g < pair.groups; ++g)
      for (int k = 0; k < kr; ++k) multiply_add(sum, a[g * kr + k], b[g * kr * width + k]);
  }
  return sum;
}

// The same of int4 weights: an exact sum for each group, scaled and added; then the offset.
template <class Acc>
float scaled_dot(const TileArgs& args, std::int64_t i, std::int64_t j, float sum) {
  constexpr PackedFormat format = Acc::format;
  const std::int64_t column = args.col % format.panel_columns + j;  // from the first panel on
  const std::int64_t place = column % format.panel_columns;
  const bool has_offsets = args.key->correct_b;
  const float* group_sums = args.group_sums;
  for (const BlockPair& pair : args.blocks()) {
    const auto* a =
        reinterpret_cast<const std::uint8_t*>(static_cast<const std::byte*>(pair.a) + i * pair.lda);
    const std::byte* group = static_cast<const std::byte*>(pair.b) +
                             column / format.panel_columns * pair.b_panel_stride -
                             args.col % format.panel_columns * format.b_column_group();
    for (std::int64_t g = 0; g < pair.groups; ++g) {
      std::int32_t exact = 0;
      for (std::int64_t k = 0; k < format.kr; ++k)
        exact += std::int32_t{a[g * format.kr + k]} * int4_value(group, place, k);
      sum = std::fma(static_cast<float>(exact), to_float(int4_scale(group, place, format.kr)), sum);
      if (has_offsets) {
        sum = std::fma(group_sums[i], to_float(int4_offset(group, place, format.kr)), sum);
        group_sums += args.ld_group_sums / static_cast<std::int64_t>(sizeof(float));
      }
      group += format.b_group(has_offsets);
    }
  }
  return sum;
}

template <class Acc>
void reference_tile(const TileArgs* tile) {
  const TileArgs& args = *tile;
  const KernelKey& key = *args.key;
  const bool starts = key.load_c || (Acc::kind == Accumulator::int16 && args.partial);
  const std::int64_t rows = key.picks_rows ? args.num_picked : key.rows;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t of_tile = key.picks_rows ? args.picked[i] : i;
    auto* c_row = static_cast<std::byte*>(args.c) + i * args.ldc;
    for (std::int64_t j = 0; j < args.columns; ++j) {
      typename Acc::C sum = 0;
      if (starts)
        sum = reinterpret_cast<const typename Acc::C*>(static_cast<const std::byte*>(args.partial) +
                                                       of_tile * args.ldpartial)[j];
      if constexpr (is_int4(Acc::kind))
        sum = scaled_dot<Acc>(args, of_tile, j, sum);
      else
        sum = dot<Acc>(args, of_tile, j, sum);
      Value value;
      if constexpr (is_int4(Acc::kind))
        value.f = key.correct_a ? std::fma(-static_cast<float>(args.a_zero_point[i]),
                                           args.weighted_offsets[j], sum) *
                                      args.a_scale[i]
                                : sum;
      else if constexpr (std::is_same_v<typename Acc::C, float>)
        value.f = sum;
      else
        value.i = sum;

      Element e{args.row + i, args.col + j, 1, 1, 0, 0, 0, 0};
      if (args.a_scale && !key.column_terms) e.a_scale = args.a_scale[i];
      if (args.b_scale) e.b_scale = args.b_scale[j];
      e.column_terms = key.column_terms;
      if (key.correct_a && !is_int4(Acc::kind)) {
        if (!key.column_terms) e.a_zero_point = args.a_zero_point[i];
        e.col_offset = args.col_offsets[j];
      }
      if (key.correct_b && !is_int4(Acc::kind)) {
        e.b_zero_point = args.b_zero_point[j];
        e.row_term = args.row_terms[i];
      }
      for (int s = 0; s < key.num_stages; ++s)
        if (!key.column_terms || !is_column_term(key, s))
          value = apply_stage(key.stages[s], args.stages[s], value, e);
      store_values(&value, 1, key.output(), c_row + j * value_size(key.output()));
    }
  }
}

// A tile of four rows of two vectors is as good as any: elements are computed one by one.
template <class Acc>
constexpr GemmFamily family() {
  return {Acc::kind, Isa::generic,       0, {8, 32}, {1, 2, 4}, Acc::format, Sums::one_chain,
          nullptr,   reference_tile<Acc>};
}

constexpr GemmFamily kFamilies[] = {family<Int32>(),    family<Int16>(),       family<Float32>(),
                                    family<BFloat16>(), family<Float32BF16>(), family<Float32F16>(),
                                    family<Int4<32>>(), family<Int4<64>>(),    family<Int4<128>>()};

}  // namespace

std::span<const GemmFamily> generic_families() noexcept { return kFamilies; }

}  // namespace fbg::kernels
