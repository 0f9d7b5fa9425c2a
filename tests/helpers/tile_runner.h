// A microkernel and the reference on the same operands, which lie against inaccessible pages: one
// byte read or written outside them faults, and bytes of C between the valid ones must stay.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/float16.h"
#include "fbg/gemm/gemm.h"
#include "gemm/interleave.h"
#include "helpers/common_nans.h"
#include "helpers/specialization.h"
#include "helpers/tile_case.h"
#include "helpers/tile_keys.h"
#include "kernels/microkernel.h"

namespace fbg::test {

class TileRunner : public TileKeys {
 public:
  using TileKeys::TileKeys;

  // The column counts worth trying for a width: for a mask, a whole last vector is not one.
  std::vector<std::int64_t> column_counts(int vectors, bool masked) const {
    const std::int64_t full = vectors * geometry.lanes, before = full - geometry.lanes;
    if (!masked) return {full};
    return {before + 1, before + geometry.lanes / 2 + 1, full - 1};
  }

  // Runs the kernel and the reference on the same operands; C and all around it must agree. Returns
  // what does not, or nothing.
  std::string compare(const TileCase& tile, const std::vector<Stage>& stages) {
    if (!prepare(tile, stages)) return {};
    run(find_kernel(tile.key), std::array{this});
    return difference();
  }

  // The parts of compare(), for tiles that a kernel is given together: each has a runner, which
  // places its operands and computes what is expected. Returns false where no kernel has to compute
  // them.
  bool prepare(const TileCase& tile, const std::vector<Stage>& stages) {
    start_case(tile);
    const KernelKey& key = tile.key;
    const std::int64_t rows = key.rows;
    const std::int64_t panels = ceil_div(tile.first_column + tile.columns, kPanelColumns);
    // Columns of the last panel are readable to its end.
    const std::int64_t readable = panels * kPanelColumns - tile.first_column;
    Products products;
    for (std::size_t p = 0; p < tile.blocks.size(); ++p) place_block(tile, p, panels, products);

    TileArgs args;
    args.pairs = blocks_.place(products.pairs, tile.side);
    args.num_pairs = std::ssize(products.pairs);
    args.prefetch = tile.prefetches ? args.pairs : nullptr;
    args.picked = picked_.place(tile.picked, tile.side);
    args.num_picked = std::ssize(tile.picked);
    if (integer)
      args.b_sums =
          b_sums_.place(column_sums(products.reference, readable, tile.first_column), tile.side);
    place_parameters(tile, stages, readable, args);
    if (goes_on(key.sums)) {  // sums so far, apart from C
      args.ldpartial = tile.columns * 4 + 20;
      const std::int64_t bytes = (rows - 1) * args.ldpartial + tile.columns * 4;
      std::byte* partial = partial_.place(bytes, tile.side);
      fill_c(partial, bytes);
      if (!integer && tile.specials && takes_specials(key)) {
        for (unsigned left = 1 + random_() % 4; left > 0; --left) {
          const float value = special_value(!tile.blocks.empty());
          const std::int64_t row = random_() % static_cast<unsigned>(rows),
                             column = random_() % static_cast<unsigned>(tile.columns);
          std::memcpy(partial + row * args.ldpartial + column * 4, &value, sizeof value);
        }
      }
      args.partial = partial;
    }
    TileArgs reference = args;
    reference.set_blocks(products.reference);
    const std::int64_t width = key.vectors * geometry.lanes;
    const bool spills = products.pairs.size() > 1 || (products.pairs.size() == 1 &&
                                                      products.pairs[0].groups > tile.spill_groups);
    args.spill_groups = tile.spill_groups;
    std::vector<std::int32_t> reference_sums;
    if (gemm_type == GemmType::int16 && (spills || tile.seed % 2)) {
      reference_sums = ints(rows * width, -1000000, 1000000);
      args.partial = partial_.place(reference_sums, tile.side);
      reference.partial = reference_sums.data();
      reference.ldpartial = width * 4;
    }
    KernelKey generic = key;
    generic.a = ARows::strided;
    return expect(tile, args, reference, generic);
  }

  // The same for a kernel whose sums are not those of blocks: `reference` starts from them.
  bool expect(const TileCase& tile, TileArgs& args, TileArgs& reference, KernelKey generic) {
    tile_ = tile;
    const KernelKey& key = tile_.key;
    args.key = &key;
    const std::int64_t rows = tile.result_rows(), columns = tile.columns,
                       size = value_size(key.output());
    // Streams want whole vectors, which begin where C is aligned.
    args.ldc =
        key.caching == Caching::streams_c ? round_up(columns * size, 64) + 64 : columns * size + 12;
    const std::int64_t c_bytes = key.caching == Caching::streams_c || rows == 0
                                     ? rows * args.ldc
                                     : (rows - 1) * args.ldc + columns * size;
    std::byte* const c = c_.place(c_bytes, tile.side);
    fill_c(c, c_bytes);
    expected_.assign(c, c + c_bytes);
    expected_extents_.clear();
    if (extents_) expected_extents_ = first_extents_;

    generic.isa = Isa::generic;
    generic.narrow = false;
    reference.c = expected_.data();
    reference.ldc = args.ldc;
    reference.key = &generic;
    const TileFunction portable = find_kernel(generic);
    if (!fits_specialization(generic, reference, rows * columns)) return false;
    if (extents_) {
      const void*& target = placed_stages_[stage_args_.size() - 1].data;
      target = expected_extents_.data();
      if (tile.specials) {  // how far the rows reach
        std::ranges::fill(expected_extents_, kNothing);
        portable(&reference);
        for (RowExtent& extent : expected_extents_) extent = near_extent(extent);
        std::ranges::copy(expected_extents_, extents_);
      }
      portable(&reference);
      target = extents_;
    } else {
      portable(&reference);
    }
    args.c = c;
    args_ = args_operand_.place(std::vector<TileArgs>{args}, tile.side);
    return true;
  }

  // Calls a kernel with tiles that were prepared, and gives it one after the other.
  static void run(TileFunction kernel, std::span<TileRunner* const> tiles) {
    for (std::size_t i = 1; i < tiles.size(); ++i) tiles[i - 1]->args_->next = tiles[i]->args_;
    const TileRunner& first = *tiles.front();
    {
      const KernelScope scope(first.geometry, first.tile_.key.rows);
      kernel(first.args_);
    }
    if (first.tile_.key.caching == Caching::streams_c) fence_streams();
  }

  // How the results of a tile differ from what is expected, or nothing.
  std::string difference() {
    const TileCase& tile = tile_;
    const KernelKey& key = tile.key;
    const TileArgs& args = *args_;
    auto* const c = static_cast<std::byte*>(args.c);
    std::string problem;
    const bool any = makes_bits(key);
    if (tile.specials || any || functions_make_nans())
      copy_common_nans(key.output(), c, expected_.data(), tile.result_rows(), tile.columns,
                       args.ldc, any);
    if (std::memcmp(c, expected_.data(), expected_.size()) != 0) problem = "results differ";
    for (std::size_t i = 0; i < expected_extents_.size(); ++i)
      if (!same(extents_[i].lo, expected_extents_[i].lo) ||
          !same(extents_[i].hi, expected_extents_[i].hi))
        problem = "extents of rows differ";
    for (const Operand* operand : operands())
      if (!operand->intact()) problem = "memory beside an operand was written";
    if (problem.empty()) return problem;
    std::int64_t depth = 0;
    for (const BlockPair& pair : args.blocks()) depth += pair.groups;
    return problem + ": " + kernel_name(key) + ", " + std::to_string(tile.columns) +
           " columns from " + std::to_string(tile.first_column) + ", " +
           std::to_string(args.num_pairs) + " block pairs, depth " + std::to_string(depth) +
           (tile.side == Guard::after ? ", page after" : ", page before");
  }

  void start_case(const TileCase& tile) {
    random_.seed(tile.seed);
    magnitude_ = std::ldexp(1.0f, tile.magnitude);
    draw_kind_of_floats();
    if (tile.odd_floats) floats_ = Floats::odd;
    exact_scales_ = random_() % 4 == 0;
    one_signed_ = random_() % 8 == 0;
    row_signs_ = random_();
  }

  // What the pipeline reads besides the sums; `readable` columns of it.
  void place_parameters(const TileCase& tile, const std::vector<Stage>& stages,
                        std::int64_t readable, TileArgs& args) {
    const KernelKey& key = tile.key;
    const std::int64_t rows = std::max<std::int64_t>(tile.result_rows(), 1);
    extents_ = nullptr;
    stage_args_.clear();
    const bool special = tile.specials && takes_specials(key);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      StageArgs stage = stages[s].args;
      const std::int64_t n = tile.col + tile.columns;
      if (operand_of(stages[s]) == OperandKind::columns) {
        if (stages[s].wanted == ValueType::float32)
          stage.data = of_stages_[s].place(with_special(biases(n), special), tile.side);
        else
          stage.data = of_stages_[s].place(ints(n, -100000, 100000), tile.side);
      } else if (reads_matrix(stages[s])) {
        const std::int64_t ld = n + 3 + static_cast<std::int64_t>(s),
                           count = (tile.row + rows - 1) * ld + n;
        const std::int64_t size = value_size(stages[s].wanted);
        std::byte* const residual = of_stages_[s].place(count * size, tile.side);
        fill_residual(residual, count * size, stages[s].wanted);
        if (special && stages[s].wanted == ValueType::float32)
          reinterpret_cast<float*>(residual)[random_() % static_cast<std::uint64_t>(count)] =
              special_value(false);
        stage.data = residual;
        stage.ld = ld * size;
      }
      if (stages[s].kind == StageKind::row_range) {
        first_extents_.assign(static_cast<std::size_t>(tile.row + rows), kExtent);
        extents_ = of_stages_[s].place(first_extents_, tile.side);
        stage.data = extents_;
      }
      stage_args_.push_back(stage);
    }
    args.columns = tile.columns;
    args.row = tile.row;
    args.col = tile.col;
    args.stages = placed_stages_ = stages_.place(stage_args_, tile.side);
    // Scales of columns are the whole factors where requantization is folded.
    const float scale = std::ldexp(1e-3f, tile.magnitude), b_scale = key.folds() ? scale : 1e-3f;
    const unsigned specials = special && random_() % 4 == 0 ? random_() : 0;  // of which scales
    const bool special_a = specials & 1, special_b = specials & 2, special_offset = specials & 4;
    args.a_scale = a_scale_.place(with_special(scales(rows, scale), special_a), tile.side);
    args.b_scale = b_scale_.place(with_special(scales(readable, b_scale), special_b), tile.side);
    if (key.corrections != Corrections::none || is_int4(gemm_type)) {
      args.a_zero_point = a_zero_point_.place(a_zero_points(rows), tile.side);
      const int least = one_signed_ ? 0 : -128 * 64;
      args.col_offsets = col_offsets_.place(ints(readable, least, 127 * 64), tile.side);
    }
    if (is_int4(gemm_type))
      args.int4.weighted_offsets =
          weighted_offsets_.place(with_special(floats(readable, -9, 9), special_offset), tile.side);
    if (key.group_offsets) {
      std::int64_t groups = 0;
      for (const Block& block : tile.blocks) groups += in_groups(block.groups);
      const std::int64_t ld = rows + 3, count = groups ? (groups - 1) * ld + rows : 0;
      args.int4.group_sums = group_sums_.place(floats(count, 0, 32640), tile.side);
      args.int4.ld_group_sums = ld * 4;
    }
    if (key.corrections == Corrections::both) {
      args.b_zero_point = b_zero_point_.place(ints(readable, -128, 127), tile.side);
      args.row_terms = row_terms_.place(ints(rows, -255 * 64, 255 * 64), tile.side);
    }
  }
  // The sums of the columns from the tile's first one to the end of its last panel.
  std::vector<std::int32_t> column_sums(std::span<const BlockPair> pairs, std::int64_t columns,
                                        std::int64_t first_column) const {
    constexpr std::int64_t kr = Int32::format.kr;
    std::vector<std::int32_t> sums(static_cast<std::size_t>(columns));
    for (const BlockPair& pair : pairs)
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t panel = (first_column + j) / kPanelColumns;
        const auto* b = static_cast<const std::int8_t*>(pair.b) + panel * pair.b_panel_stride +
                        ((first_column + j) % kPanelColumns - first_column) * kr;
        for (std::int64_t g = 0; g < pair.groups; ++g, b += panel_group)
          for (std::int64_t k = 0; k < kr; ++k) sums[static_cast<std::size_t>(j)] += b[k];
      }
    return sums;
  }

  // Writes rows, which lie one after the other, in the wider type that the kernel reads.
  void widen(std::span<const std::byte> narrow, std::int64_t rows, std::byte* to, std::int64_t ld) {
    const auto widen_as = [&]<class T>(const T* from) {
      const std::int64_t k =
          rows ? std::ssize(narrow) / static_cast<std::int64_t>(sizeof(T)) / rows : 0;
      widen_rows(from, k, rows, k, to, ld, isa_features(isa));
    };
    if (reads_bytes(gemm_type))
      widen_as(reinterpret_cast<const std::uint8_t*>(narrow.data()));
    else
      widen_as(reinterpret_cast<const bfloat16*>(narrow.data()));
  }

  // Interleaves the same operands, in the place of those that the reference reads.
  void pair_operands(BlockPair& pair, std::int64_t rows, std::int64_t columns, std::size_t index,
                     Guard side) {
    const std::int64_t ld = interleaved_bytes(pair.groups);
    std::byte* const a = pairs_of_a_[index].place(round_up(rows, 2) * ld, side);
    std::byte* const b = pairs_of_b_[index].place(columns * ld, side);
    interleave_rows(static_cast<const std::byte*>(pair.a), pair.lda, rows,
                    pair.groups * geometry.format.a_group(), pair.groups, a, ld);
    interleave_columns(static_cast<const std::byte*>(pair.b), panel_group, columns, pair.groups, b);
    pair = {a, 2 * ld, b, 0, pair.groups};
  }

  // Puts pointers to the same rows in the place of a and lda.
  void read_through_pointers(BlockPair& pair, std::int64_t rows, int index, Guard side) {
    const std::int64_t offset = 40 * index - 24;
    std::vector<const std::byte*> pointers;
    for (std::int64_t i = 0; i < rows; ++i)
      pointers.push_back(static_cast<const std::byte*>(pair.a) + i * pair.lda - offset);
    pair.a = pointers_[index].place(pointers, side);
    pair.lda = offset;
  }

 protected:
  static constexpr std::size_t kMaxBlocks = 3;
  std::array<Operand, kMaxBlocks> a_, b_;

 private:
  // What a kernel multiplies, and the same as the reference reads it.
  struct Products {
    std::vector<BlockPair> pairs, reference;
    std::array<std::vector<std::byte>, kMaxBlocks> narrow;
  };

  // Between so much and twice as much.
  std::vector<float> scales(std::int64_t n, float least) {
    std::vector<float> x = floats(n, least, 2 * least);
    for (float& scale : x)
      if (exact_scales_) scale = std::exp2(std::ceil(std::log2(scale)));
    return x;
  }
  std::vector<float> biases(std::int64_t n) {
    const bool is_small =
        floats_ == Floats::odd || (floats_ == Floats::single && random_() % 2 != 0);
    std::vector<float> x = is_small ? floats(n, -0.01f, 0.01f) : floats(n, -3, 3);
    for (float& bias : x)
      if (floats_ == Floats::odd) bias = left(1);
    return x;
  }
  std::vector<float> with_special(std::vector<float> values, bool special) {
    for (unsigned left = special ? 1 + random_() % 4 : 0; left > 0; --left)
      values[random_() % values.size()] = special_value(false);
    return values;
  }
  // A zero is +0 in both, and a NaN the same.
  static bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  }

  void place_block(const TileCase& tile, std::size_t p, std::int64_t panels, Products& products) {
    const KernelKey& key = tile.key;
    const std::int64_t rows = key.rows, groups = in_groups(tile.blocks[p].groups);
    const std::int64_t row_bytes = groups * geometry.format.a_group();
    const std::int64_t lda = row_bytes + tile.blocks[p].a_padding;
    const std::int64_t a_bytes = row_bytes ? (rows - 1) * lda + row_bytes : 0;
    std::byte* const a = a_[p].place(a_bytes, tile.side);
    fill_a(a, a_bytes);
    const bool special = tile.specials && p == 0 && takes_specials(key) && random_() % 4 == 0;
    if (special && !geometry.format.wide_a) place_special(a, a_bytes);
    sign_rows(a, rows, row_bytes, lda);
    const bool has_offsets = key.group_offsets;
    const std::int64_t stride = groups * geometry.format.b_group(has_offsets);
    std::byte* const b = b_[p].place(panels * stride, tile.side);
    fill_b(b, panels * stride, tile.spill_groups, has_offsets);
    make_positive(b, panels * stride);
    if (tile.specials && p == 0 && takes_specials(key) && random_() % 8 == 0)
      place_special_right(b, panels * stride);
    BlockPair pair{a, lda, b + tile.first_column * geometry.format.b_column_group(), stride,
                   groups};
    products.reference.push_back(pair);
    if (geometry.format.wide_a) {  // the reference reads a narrow type, the kernel the wider one
      std::vector<std::byte>& narrow = products.narrow[p];
      BlockPair& reference = products.reference.back();
      reference.lda = groups * packed_format(gemm_type).a_group();
      narrow.resize(static_cast<std::size_t>(rows * reference.lda));
      fill_a(narrow.data(), std::ssize(narrow));
      if (special) place_special(narrow.data(), std::ssize(narrow));
      sign_rows(narrow.data(), groups ? rows : 0, reference.lda, reference.lda);
      widen(narrow, groups ? rows : 0, a, lda);
      reference.a = narrow.data();
    }
    if (key.a == ARows::interleaved)
      pair_operands(pair, rows, key.vectors * geometry.lanes, p, tile.side);
    if (key.a == ARows::pointers) read_through_pointers(pair, rows, static_cast<int>(p), tile.side);
    products.pairs.push_back(pair);
  }

  // Where results are to have the sign of their row: that of the elements of A, or a zero point at
  // the end of its range, and no negative element of B.
  void sign_rows(std::byte* a, std::int64_t rows, std::int64_t row_bytes, std::int64_t ld) const {
    if (!one_signed_ || reads_bytes(gemm_type)) return;
    const std::int64_t size = packed_format(gemm_type).a_bytes;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t end = size; end <= row_bytes; end += size)
        set_sign(a[row * ld + end - 1], is_negative(row));
  }
  void make_positive(std::byte* b, std::int64_t bytes) const {
    if (!one_signed_ || is_int4(gemm_type)) return;
    for (std::int64_t i = 0; i < bytes && integer; ++i)
      if (static_cast<std::int8_t>(b[i]) < 0) b[i] = ~b[i];
    if (integer) return;
    const std::int64_t size = gemm_type == GemmType::float32 ? 4 : 2;
    for (std::int64_t end = size; end <= bytes; end += size) set_sign(b[end - 1], false);
  }
  static void set_sign(std::byte& last, bool negative) {
    last = (last & std::byte{0x7f}) | std::byte{static_cast<std::uint8_t>(negative ? 0x80 : 0)};
  }
  bool is_negative(std::int64_t row) const { return row_signs_ >> row % 32 & 1; }
  std::vector<std::int32_t> a_zero_points(std::int64_t rows) {
    std::vector<std::int32_t> points = ints(rows, 0, 255);
    for (std::int64_t row = 0; row < rows && one_signed_; ++row)
      points[static_cast<std::size_t>(row)] = is_negative(row) ? 255 : 0;
    return points;
  }

  std::vector<const Operand*> operands() const {
    std::vector<const Operand*> all{
        &a_scale_,     &b_scale_, &a_zero_point_, &b_zero_point_, &row_terms_,
        &col_offsets_, &c_,       &b_sums_,       &partial_,      &weighted_offsets_,
        &stages_,      &blocks_,  &group_sums_,   &args_operand_, &picked_};
    const auto add = [&](const auto& some) {
      for (const Operand& operand : some) all.push_back(&operand);
    };
    add(a_), add(b_), add(pairs_of_a_), add(pairs_of_b_), add(of_stages_), add(pointers_);
    return all;
  }

  std::array<Operand, kMaxBlocks> pairs_of_a_, pairs_of_b_, pointers_;
  std::array<Operand, kMaxStages> of_stages_;
  Operand a_scale_, b_scale_, a_zero_point_, b_zero_point_, row_terms_, col_offsets_, c_;
  Operand b_sums_, weighted_offsets_, group_sums_, partial_, stages_, blocks_, args_operand_,
      picked_;
  bool one_signed_ = false;
  std::uint32_t row_signs_ = 0;
  std::vector<StageArgs> stage_args_;
  StageArgs* placed_stages_ = nullptr;
  RowExtent* extents_ = nullptr;
  std::vector<RowExtent> first_extents_;
  // What prepare() leaves for difference().
  TileCase tile_{};
  TileArgs* args_ = nullptr;
  std::vector<std::byte> expected_;
  std::vector<RowExtent> expected_extents_;
};

}  // namespace fbg::test
