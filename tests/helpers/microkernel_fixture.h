// A microkernel and the reference on the same operands, which lie against inaccessible pages: one
// byte read or written outside them faults, and bytes of C between the valid ones must stay.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fbg/gemm/gemm.h"
#include "fbg/gemm/pairs.h"
#include "fbg/kernels/microkernel.h"
#include "helpers/guarded.h"

namespace fbg::test {

inline constexpr Accumulator kAccumulators[] = {
    Accumulator::int32,    Accumulator::int16,        Accumulator::float32,
    Accumulator::bfloat16, Accumulator::float32_bf16, Accumulator::float32_f16,
    Accumulator::int4_g32, Accumulator::int4_g64,     Accumulator::int4_g128};

// An accumulator family on the ISA that generates it.
struct Family {
  Accumulator accumulator;
  Isa isa;
};

inline std::vector<Family> generated_families() {
  std::vector<Family> families;
  for (const Accumulator accumulator : kAccumulators)
    for (const Isa isa : supported_isas())
      if (isa != Isa::generic &&
          choose_geometry(accumulator, isa_features(isa), {}, kMaxDepthRaw).isa == isa)
        families.push_back({accumulator, isa});
  return families;
}

inline std::string family_name(const testing::TestParamInfo<Family>& family) {
  constexpr const char* names[] = {"int32", "float32",  "bfloat16", "float32_bf16", "float32_f16",
                                   "int16", "int4_g32", "int4_g64", "int4_g128"};
  return std::string(names[static_cast<int>(family.param.accumulator)]) + "_" +
         isa_name(family.param.isa);
}

// A buffer next to a guard page whose last (or first) bytes are handed out as an operand.
class Operand {
 public:
  explicit Operand(std::size_t capacity = 128 << 10)
      : after_(capacity, Guard::after), before_(capacity, Guard::before) {}

  std::byte* place(std::int64_t bytes, Guard side) {
    EXPECT_LE(static_cast<std::size_t>(bytes), after_.size());
    return side == Guard::after ? after_.end() - bytes : before_.data();
  }
  template <class T>
  T* place(const std::vector<T>& values, Guard side) {
    const std::size_t bytes = values.size() * sizeof(T);
    std::byte* to = place(static_cast<std::int64_t>(bytes), side);
    if (bytes) std::memcpy(to, values.data(), bytes);
    return reinterpret_cast<T*>(to);
  }

 private:
  Guarded<std::byte> after_, before_;
};

// One pair of blocks as a test describes it.
struct Block {
  std::int64_t groups;
  std::int64_t a_padding;  // bytes between the end of a row and the next
};

struct TileCase {
  KernelKey key;
  std::vector<Block> blocks;
  std::int64_t columns;
  std::int64_t first_column = 0;  // of the tile inside its first panel
  std::int64_t row = 0, col = 0;  // of the tile in C
  Guard side = Guard::after;
  int spill_groups = 1;
  unsigned seed = 0;
};

class Microkernel : public testing::TestWithParam<Family> {
 protected:
  const Accumulator accumulator = GetParam().accumulator;
  const Isa isa = GetParam().isa;
  const Geometry geometry = choose_geometry(accumulator, isa_features(isa), {}, kMaxDepthRaw);
  const bool integer = is_integer(accumulator);
  const bool loads_c = accumulator != Accumulator::int16;      // else `sums` take its place
  const std::int64_t panel_group = geometry.format.b_group();  // bytes of one k-group of a panel
  const ValueType start = integer ? ValueType::acc : ValueType::float32;

  KernelKey make_key(int rows, int vectors, bool masked, bool load_c,
                     const std::vector<Stage>& stages, bool correct_b) const {
    KernelKey key{};
    key.accumulator = accumulator;
    key.isa = isa;
    key.rows = static_cast<std::uint8_t>(rows);
    key.vectors = static_cast<std::uint8_t>(vectors);
    key.masked = masked;
    key.load_c = load_c;
    const TypedPipeline typed = type_pipeline(stages, start);
    key.num_stages = static_cast<std::uint8_t>(typed.count);
    key.stages = typed.codes;
    key.correct_a = is_int4(accumulator) && !stages.empty();
    for (int s = 0; s < typed.count; ++s) {
      const StageCode& code = typed.codes[s];
      if (code.in == ValueType::acc && code.kind != StageKind::bias) {
        key.correct_a = true;
        key.correct_b = correct_b;
      }
    }
    return key;
  }

  // Whether there are kernels that read A through pointers. A matrix unit has none, and the
  // pointers of more rows do not fit the registers.
  bool has_indirect() const { return geometry.block_groups == 1 && !is_int4(accumulator); }
  int max_indirect_rows() const { return std::min(geometry.max_rows, 12); }

  // Groups of int4 weights are deep: as many as have about the k of so many groups of 4.
  std::int64_t in_groups(std::int64_t groups) const {
    return is_int4(accumulator) ? ceil_div(groups * 4, geometry.format.kr) : groups;
  }

  template <class T, class F>
  static void fill_with(std::byte* to, std::int64_t bytes, F value) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i + size <= bytes; i += size) {
      const T x = value();
      std::memcpy(to + i, &x, sizeof(T));
    }
  }
  void fill_bytes(std::byte* to, std::int64_t bytes) {
    fill_with<std::uint8_t>(to, bytes, [&] {  // half of the values at the ends of their range
      const unsigned r = random_();
      return static_cast<std::uint8_t>(r & 0x100 ? r : (r & 0x200 ? 0xff : 0x80));
    });
  }
  void fill_floats(std::byte* to, std::int64_t bytes) {
    std::normal_distribution<float> normal;
    fill_with<float>(to, bytes, [&] { return normal(random_); });
  }
  // Small integers: the order in which vdpbf16ps adds its two products then makes no difference.
  void fill_bfloat16(std::byte* to, std::int64_t bytes) {
    fill_with<std::uint16_t>(to, bytes, [&] {
      const float x = static_cast<float>(static_cast<int>(random_() % 33) - 16);
      return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
    });
  }
  // Every float16 that is finite, subnormals included.
  void fill_float16(std::byte* to, std::int64_t bytes) {
    fill_with<std::uint16_t>(to, bytes, [&] {
      const unsigned r = random_() & 0xffff;
      return static_cast<std::uint16_t>((r & 0x7c00) == 0x7c00 ? r ^ 0x4000 : r);
    });
  }
  // As int16 sums of `depth` k-groups can hold them: |b| <= 128 / (2 * depth), most at the limit.
  void fill_small(std::byte* to, std::int64_t bytes, int depth) {
    const int limit = 128 / (2 * depth);
    fill_with<std::int8_t>(to, bytes, [&] {
      const unsigned r = random_();
      if (r & 0x100) return static_cast<std::int8_t>(r & 0x200 ? limit : -limit);
      return static_cast<std::int8_t>(static_cast<int>(r % (2 * limit + 1)) - limit);
    });
  }
  // Any values; scales of moderate size.
  void fill_int4(std::byte* to, std::int64_t bytes) {
    constexpr std::int64_t kScales = kPanelColumns * PackedFormat::kNibbleScaleBytes;
    fill_bytes(to, bytes);
    for (std::int64_t end = panel_group; end <= bytes; end += panel_group)
      fill_with<std::uint16_t>(to + end - kScales, kScales, [&] {
        const unsigned r = random_();
        return static_cast<std::uint16_t>((r & 0x83ff) + 0x3000);  // ±2^-3 to ±2^-2
      });
  }
  void fill_a(std::byte* to, std::int64_t bytes) {
    if (reads_bytes(accumulator))
      fill_bytes(to, bytes);
    else if (accumulator == Accumulator::bfloat16)
      fill_bfloat16(to, bytes);
    else
      fill_floats(to, bytes);
  }
  void fill_b(std::byte* to, std::int64_t bytes, int depth) {
    if (accumulator == Accumulator::int16)
      fill_small(to, bytes, depth);
    else if (integer)
      fill_bytes(to, bytes);
    else if (is_int4(accumulator))
      fill_int4(to, bytes);
    else if (accumulator == Accumulator::float32)
      fill_floats(to, bytes);
    else if (accumulator == Accumulator::float32_f16)
      fill_float16(to, bytes);
    else
      fill_bfloat16(to, bytes);
  }
  void fill_residual(std::byte* to, std::int64_t bytes, ValueType type) {
    if (type == ValueType::float32)
      fill_floats(to, bytes);
    else if (type == ValueType::float16)
      fill_float16(to, bytes);
    else if (type == ValueType::bfloat16)
      fill_bfloat16(to, bytes);
    else
      fill_bytes(to, bytes);
  }
  // What a load of C reads, and what a store must leave alone around the tile.
  void fill_c(std::byte* to, std::int64_t bytes) {
    if (integer)
      fill_bytes(to, bytes);
    else
      fill_with<float>(to, bytes, [&] { return static_cast<float>(random_() % 999); });
  }

  std::vector<float> floats(std::int64_t n, float lo, float hi) {
    std::uniform_real_distribution<float> uniform(lo, hi);
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& v : x) v = uniform(random_);
    return x;
  }
  std::vector<std::int32_t> ints(std::int64_t n, int lo, int hi) {
    std::uniform_int_distribution<std::int32_t> uniform(lo, hi);
    std::vector<std::int32_t> x(static_cast<std::size_t>(n));
    for (auto& v : x) v = uniform(random_);
    return x;
  }

  // Of the columns from the tile's first one to the end of its last panel.
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
    if (reads_bytes(accumulator))
      widen_as(reinterpret_cast<const std::uint8_t*>(narrow.data()));
    else
      widen_as(reinterpret_cast<const bfloat16*>(narrow.data()));
  }

  // Puts the same operands in pairs, in the place of those that the reference reads.
  void pair_operands(BlockPair& pair, std::int64_t rows, std::int64_t columns, std::size_t index,
                     Guard side) {
    const std::int64_t ld = paired_bytes(pair.groups);
    std::byte* const a = pairs_of_a_[index].place(round_up(rows, 2) * ld, side);
    std::byte* const b = pairs_of_b_[index].place(columns * ld, side);
    pair_rows(static_cast<const std::byte*>(pair.a), pair.lda, rows,
              pair.groups * geometry.format.a_group(), pair.groups, a, ld);
    pair_columns(static_cast<const std::byte*>(pair.b), panel_group, columns, pair.groups, b);
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

  // Runs the kernel and the reference on the same operands; C and all around it must agree.
  void expect_same(const TileCase& tile, const std::vector<Stage>& stages) {
    random_.seed(tile.seed);
    const KernelKey& key = tile.key;
    const std::int64_t rows = key.rows, columns = tile.columns;
    const std::int64_t panels = ceil_div(tile.first_column + columns, kPanelColumns);
    // Columns of the last panel are readable to its end.
    const std::int64_t readable = panels * kPanelColumns - tile.first_column;

    std::vector<BlockPair> pairs, reference_pairs;
    std::vector<std::vector<std::byte>> narrow(tile.blocks.size());
    std::int64_t depth = 0;
    for (std::size_t p = 0; p < tile.blocks.size(); ++p) {
      Block block = tile.blocks[p];
      block.groups = in_groups(block.groups);
      const std::int64_t a_group = geometry.format.a_group();
      const std::int64_t row_bytes = block.groups * a_group, lda = row_bytes + block.a_padding;
      const std::int64_t a_bytes = row_bytes ? (rows - 1) * lda + row_bytes : 0;
      std::byte* a = a_[p].place(a_bytes, tile.side);
      fill_a(a, a_bytes);
      const std::int64_t stride = block.groups * panel_group;
      std::byte* b = b_[p].place(panels * stride, tile.side);
      fill_b(b, panels * stride, tile.spill_groups);
      pairs.push_back(
          {a, lda, b + tile.first_column * geometry.format.b_column_group(), stride, block.groups});
      reference_pairs.push_back(pairs.back());
      if (geometry.format.wide_a) {  // the reference reads a narrow type, the kernel the wider one
        reference_pairs.back().lda = block.groups * packed_format(accumulator).a_group();
        narrow[p].resize(static_cast<std::size_t>(rows * reference_pairs.back().lda));
        fill_a(narrow[p].data(), std::ssize(narrow[p]));
        widen(narrow[p], block.groups ? rows : 0, a, lda);
        reference_pairs.back().a = narrow[p].data();
      }
      depth += block.groups;
      if (key.pairs) pair_operands(pairs.back(), rows, key.vectors * geometry.lanes, p, tile.side);
      if (key.indirect) read_through_pointers(pairs.back(), rows, static_cast<int>(p), tile.side);
    }

    std::vector<StageArgs> stage_args;
    std::vector<RowExtent> expected_extents;
    RowExtent* extents = nullptr;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      StageArgs args = stages[s].args;
      const std::int64_t n = tile.col + columns;
      if (stages[s].kind == StageKind::bias) {
        if (stages[s].wanted == ValueType::float32)
          args.data = operands_[s].place(floats(n, -3, 3), tile.side);
        else
          args.data = operands_[s].place(ints(n, -100000, 100000), tile.side);
      } else if (stages[s].kind == StageKind::add) {
        const std::int64_t ld = n + 3, count = (tile.row + rows - 1) * ld + n;
        const std::int64_t size = value_size(stages[s].wanted);
        std::byte* const residual = operands_[s].place(count * size, tile.side);
        fill_residual(residual, count * size, stages[s].wanted);
        args.data = residual;
        args.ld = ld * size;
      }
      if (stages[s].kind == StageKind::row_range) {
        expected_extents = std::vector<RowExtent>(tile.row + rows, RowExtent{0.5f, -0.5f});
        extents = operands_[s].place(expected_extents, tile.side);
        args.data = extents;
      }
      stage_args.push_back(args);
    }

    TileArgs args;
    args.pairs = pairs.data();
    args.num_pairs = static_cast<std::int64_t>(pairs.size());
    args.columns = columns;
    args.row = tile.row;
    args.col = tile.col;
    args.stages = stage_args.data();
    args.key = &key;
    args.a_scale = a_scale_.place(floats(rows, 1e-3f, 2e-3f), tile.side);
    args.b_scale = b_scale_.place(floats(readable, 1e-3f, 2e-3f), tile.side);
    if (key.correct_a) {
      args.a_zero_point = a_zero_point_.place(ints(rows, 0, 255), tile.side);
      args.col_offsets = col_offsets_.place(ints(readable, -128 * 64, 127 * 64), tile.side);
    }
    if (is_int4(accumulator))
      args.weighted_offsets = weighted_offsets_.place(floats(readable, -9, 9), tile.side);
    if (integer)
      args.b_sums =
          b_sums_.place(column_sums(reference_pairs, readable, tile.first_column), tile.side);
    if (key.correct_b) {
      args.b_zero_point = b_zero_point_.place(ints(readable, -128, 127), tile.side);
      args.row_terms = row_terms_.place(ints(rows, -255 * 64, 255 * 64), tile.side);
    }

    const std::int64_t size = value_size(key.output());
    args.ldc = columns * size + 12;
    const std::int64_t c_bytes = (rows - 1) * args.ldc + columns * size;
    std::byte* c = c_.place(c_bytes, tile.side);
    fill_c(c, c_bytes);
    std::vector<std::byte> expected(c, c + c_bytes);

    if (key.load_c) {  // sums so far, apart from C
      args.ldpartial = columns * 4 + 20;
      const std::int64_t bytes = (rows - 1) * args.ldpartial + columns * 4;
      std::byte* partial = partial_.place(bytes, tile.side);
      fill_c(partial, bytes);
      args.partial = partial;
    }
    TileArgs reference_args = args;
    reference_args.c = expected.data();
    reference_args.pairs = reference_pairs.data();
    KernelKey generic = key;
    generic.isa = Isa::generic;
    generic.indirect = false;
    const std::int64_t width = key.vectors * geometry.lanes;
    reference_args.key = &generic;
    const std::vector<std::int32_t> sums = ints(rows * width, -1000000, 1000000);
    std::vector<std::int32_t> reference_sums = sums;
    const bool spills =
        pairs.size() > 1 || (pairs.size() == 1 && pairs[0].groups > tile.spill_groups);
    args.spill_groups = tile.spill_groups;
    if (accumulator == Accumulator::int16 && (spills || tile.seed % 2)) {
      args.partial = partial_.place(sums, tile.side);
      reference_args.partial = reference_sums.data();
      reference_args.ldpartial = width * 4;
    }
    if (extents) stage_args.back().data = expected_extents.data();
    find_kernel(generic)(&reference_args);
    if (extents) stage_args.back().data = extents;
    args.c = c;
    {
      const KernelScope scope(geometry, rows);
      find_kernel(key)(&args);
    }
    ASSERT_EQ(std::memcmp(c, expected.data(), expected.size()), 0)
        << kernel_name(key) << ", " << columns << " columns from " << tile.first_column << ", "
        << pairs.size() << " block pairs, depth " << depth
        << (tile.side == Guard::after ? ", page after" : ", page before");
    for (std::size_t i = 0; i < expected_extents.size(); ++i) {
      ASSERT_EQ(extents[i].lo, expected_extents[i].lo) << kernel_name(key) << ", row " << i;
      ASSERT_EQ(extents[i].hi, expected_extents[i].hi) << kernel_name(key) << ", row " << i;
    }
  }

  // The column counts worth trying for a width: for a mask, a whole last vector is not one.
  std::vector<std::int64_t> column_counts(int vectors, bool masked) const {
    const std::int64_t full = vectors * geometry.lanes, before = full - geometry.lanes;
    if (!masked) return {full};
    return {before + 1, before + geometry.lanes / 2 + 1, full - 1};
  }

 private:
  std::mt19937 random_;
  Operand a_[3], b_[3], pairs_of_a_[3], pairs_of_b_[3], operands_[kMaxStages];
  Operand a_scale_, b_scale_, a_zero_point_, b_zero_point_, row_terms_, col_offsets_, c_;
  Operand b_sums_, weighted_offsets_, partial_, pointers_[3];
};

}  // namespace fbg::test
