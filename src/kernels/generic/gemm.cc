// The portable microkernel, which runs everywhere and is the reference of every test: a tile
// computed element by element from the definition, through the codec of the weights and the scalar
// implementation of each stage. Floats are fused multiply-adds in one chain over k, as in the
// generated kernels. Any tile shape and any pipeline will do; both are read from TileArgs::key.

#include <array>
#include <cmath>

#include "kernels/table.h"
#include "kernels/weight_codec.h"

namespace fbg::kernels {
namespace {

// What stages see of element (i, j) of the tile.
Element element_of(const TileArgs& args, std::int64_t i, std::int64_t j) {
  const KernelKey& key = *args.key;
  Element e{args.row + i, args.col + j, 1, 1, 0, 0, 0, 0};
  e.folded = key.folds();
  if (args.a_scale && !e.folded) e.a_scale = args.a_scale[i];
  if (args.b_scale) e.b_scale = args.b_scale[j];
  if (key.corrections == Corrections::none) return e;
  e.col_offset = args.col_offsets[j];
  if (!e.folded) e.a_zero_point = args.a_zero_point[i];
  if (key.corrections == Corrections::both) {
    e.b_zero_point = args.b_zero_point[j];
    e.row_term = args.row_terms[i];
  }
  return e;
}

void reference_tile(const TileArgs* tile) {
  const TileArgs& args = *tile;
  const KernelKey& key = *args.key;
  const auto dot = weight_codec(key.gemm_type).dot;
  const bool becomes_result = is_int4(key.gemm_type) && completes(key.sums);
  const bool starts = goes_on(key.sums) || (key.gemm_type == GemmType::int16 && args.partial);
  const std::int64_t rows = key.row_mask ? args.num_picked : key.rows;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t of_tile = key.row_mask ? args.picked[i] : i;
    auto* c_row = static_cast<std::byte*>(args.c) + i * args.ldc;
    for (std::int64_t j = 0; j < args.columns; ++j) {
      Value value;
      value.i = 0;
      if (starts)
        value = reinterpret_cast<const Value*>(static_cast<const std::byte*>(args.partial) +
                                               of_tile * args.ldpartial)[j];
      value = dot(args, of_tile, j, value);
      if (becomes_result)
        value.f = std::fma(-static_cast<float>(args.a_zero_point[i]), args.int4.weighted_offsets[j],
                           value.f) *
                  args.a_scale[i];
      std::array<Value, kMaxSlots> slots;
      Element e = element_of(args, i, j);
      e.slots = slots.data();
      for (int s = 0; s < key.num_stages; ++s)
        if (!is_folded(key, s)) value = apply_stage(key.stages[s], args.stages[s], value, e);
      store_values(&value, 1, key.output(), c_row + j * value_size(key.output()));
    }
  }
}

// A tile of four rows of two vectors is as good as any: elements are computed one by one.
constexpr auto kFamilies = [] {
  std::array<GemmFamily, kWeightFormats.size()> families{};
  for (std::size_t i = 0; i < families.size(); ++i)
    families[i] = {static_cast<GemmType>(i),
                   Isa::generic,
                   0,
                   {8, 32},
                   {1, 2, 4},
                   kWeightFormats[i].packed,
                   Summing::one_accumulator,
                   nullptr,
                   reference_tile};
  return families;
}();

}  // namespace

std::span<const GemmFamily> generic_families() noexcept { return kFamilies; }

}  // namespace fbg::kernels
