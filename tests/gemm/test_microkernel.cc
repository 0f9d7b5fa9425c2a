// Every generated microkernel against the portable one, bit for bit: each tile height, width, mask
// and load of C, with raw results and with pipelines. Operands and C lie against inaccessible
// pages, so that one byte read or written outside them faults; bytes of C between the valid ones
// must stay.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fbg/gemm/gemm.h"
#include "fbg/kernels/microkernel.h"
#include "helpers/guarded.h"
#include "kernels/cache.h"

namespace fbg {
namespace {

using test::Guard;
using test::Guarded;

constexpr Accumulator kAccumulators[] = {Accumulator::int32,        Accumulator::int16,
                                         Accumulator::float32,      Accumulator::bfloat16,
                                         Accumulator::float32_bf16, Accumulator::float32_f16};

// Bytes of one k-group: of a row of A, and of a column of B.
struct GroupBytes {
  std::int64_t a, b;
};
template <class Acc>
constexpr GroupBytes group_bytes_of() {
  return {Acc::kr * sizeof(typename Acc::A), Acc::kr * sizeof(typename Acc::B)};
}
GroupBytes group_bytes(Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::int32:
    case Accumulator::int16:
      return group_bytes_of<Int32>();
    case Accumulator::float32:
      return group_bytes_of<Float32>();
    case Accumulator::bfloat16:
      return group_bytes_of<BFloat16>();
    case Accumulator::float32_bf16:
      return group_bytes_of<Float32BF16>();
    case Accumulator::float32_f16:
      return group_bytes_of<Float32F16>();
  }
  return {};
}

// An accumulator family on the ISA that generates it.
struct Family {
  Accumulator accumulator;
  Isa isa;
};

std::vector<Family> generated_families() {
  std::vector<Family> families;
  for (const Accumulator accumulator : kAccumulators)
    for (const Isa isa : supported_isas())
      if (isa != Isa::generic && choose_geometry(accumulator, isa_features(isa)).isa == isa)
        families.push_back({accumulator, isa});
  return families;
}

// A buffer next to a guard page whose last (or first) bytes are handed out as an operand.
class Operand {
 public:
  explicit Operand(std::size_t capacity = 16 << 10)
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
  const Geometry geometry = choose_geometry(accumulator, isa_features(isa));
  const bool integer = is_integer(accumulator);
  const bool loads_c = accumulator != Accumulator::int16;  // else `sums` take its place
  const GroupBytes group = group_bytes(accumulator);
  const std::int64_t panel_group = group.b * kPanelColumns;  // bytes of one k-group of a panel
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
    for (int s = 0; s < typed.count; ++s) {
      const StageCode& code = typed.codes[s];
      if (code.in == ValueType::acc && code.kind != StageKind::bias) {
        key.correct_a = true;
        key.correct_b = correct_b;
      }
    }
    return key;
  }

  // Widths that the driver may ask of a tile height: its own and that of a taller neighbour.
  int widest(int rows) const {
    const int neighbour = geometry.max_vectors[std::min(rows, geometry.max_rows - 1)];
    return std::max(geometry.max_vectors[rows - 1], neighbour);
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
  void fill_a(std::byte* to, std::int64_t bytes) {
    if (integer)
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

  // Runs the kernel and the reference on the same operands; C and all around it must agree.
  void expect_same(const TileCase& tile, const std::vector<Stage>& stages) {
    random_.seed(tile.seed);
    const KernelKey& key = tile.key;
    const std::int64_t rows = key.rows, columns = tile.columns;
    const std::int64_t panels = ceil_div(tile.first_column + columns, kPanelColumns);
    // Columns of the last panel are readable to its end.
    const std::int64_t readable = panels * kPanelColumns - tile.first_column;

    std::vector<BlockPair> pairs, reference_pairs;
    std::vector<std::vector<std::uint8_t>> narrow(tile.blocks.size());
    std::int64_t depth = 0;
    for (std::size_t p = 0; p < tile.blocks.size(); ++p) {
      const Block& block = tile.blocks[p];
      const std::int64_t a_group = geometry.wide_a ? kWideGroupBytes : group.a;
      const std::int64_t row_bytes = block.groups * a_group, lda = row_bytes + block.a_padding;
      const std::int64_t a_bytes = row_bytes ? (rows - 1) * lda + row_bytes : 0;
      std::byte* a = a_[p].place(a_bytes, tile.side);
      fill_a(a, a_bytes);
      const std::int64_t stride = block.groups * panel_group;
      std::byte* b = b_[p].place(panels * stride, tile.side);
      fill_b(b, panels * stride, tile.spill_groups);
      pairs.push_back({a, lda, b + tile.first_column * group.b, stride, block.groups});
      reference_pairs.push_back(pairs.back());
      if (geometry.wide_a) {  // the reference reads bytes, the kernel these bytes widened
        const std::int64_t k = block.groups * Int32::kr;
        narrow[p].resize(static_cast<std::size_t>(rows * k));
        fill_a(reinterpret_cast<std::byte*>(narrow[p].data()), rows * k);
        widen_rows(narrow[p].data(), k, k ? rows : 0, k, a, lda);
        reference_pairs.back().a = narrow[p].data();
        reference_pairs.back().lda = k;
      }
      depth += block.groups;
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
    find_kernel(key)(&args);
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
  Operand a_[3], b_[3], operands_[kMaxStages];
  Operand a_scale_, b_scale_, a_zero_point_, b_zero_point_, row_terms_, col_offsets_, c_;
  Operand partial_;
};

const std::vector<std::vector<Block>> kBlockLists = {
    {{9, 0}}, {{6, 5 * 4}, {1, 0}}, {{1, 8}, {0, 0}, {7, 64}}, {{0, 0}}, {},
};

TEST_P(Microkernel, RawResultEqualsTheReference) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= widest(rows); ++vectors)
      for (const bool masked : {false, true})
        for (const bool load_c : {false, true}) {
          if (load_c && !loads_c) continue;
          for (const std::int64_t columns : column_counts(vectors, masked))
            for (const auto& blocks : kBlockLists)
              for (const Guard side : {Guard::after, Guard::before}) {
                TileCase tile{make_key(rows, vectors, masked, load_c, {}, false), blocks, columns};
                tile.side = side;
                tile.seed = static_cast<unsigned>(rows * 100 + vectors);
                tile.spill_groups = 1 + (rows + vectors) % 5;
                expect_same(tile, {});
                if (HasFatalFailure()) return;
              }
        }
}

// Pipelines whose stages meet every type they accept; parameters are set by the test.
std::vector<std::vector<Stage>> pipelines(Accumulator accumulator) {
  const Stage correct = CorrectZeroPoints{}.stage(), dequantize = Dequantize{}.stage();
  const Stage bias = Bias{nullptr}.stage(), bias_int32 = BiasInt32{nullptr}.stage();
  const Stage relu = Relu{}.stage(), gelu = Gelu{}.stage(), add = Add{nullptr, 0}.stage();
  const Stage to_uint8 = Requantize{0.37f, 101, ValueType::uint8}.stage();
  const Stage to_int8 = Requantize{0.21f, -17, ValueType::int8}.stage();
  const Stage add_uint8 = Add(static_cast<const std::uint8_t*>(nullptr), 0, 0.3f, 128).stage();
  const Stage add_int8 = Add(static_cast<const std::int8_t*>(nullptr), 0, 0.7f, -5).stage();
  const Stage add_float16 = Add(static_cast<const float16*>(nullptr), 0).stage();
  const Stage add_bfloat16 = Add(static_cast<const bfloat16*>(nullptr), 0).stage();
  const Stage row_range = RowRange(nullptr).stage();
  if (!is_integer(accumulator))
    return {{bias},
            {relu},
            {row_range},
            {bias, gelu, row_range},
            {gelu},
            {add},
            {add_uint8},
            {add_int8, to_int8},
            {add_float16},
            {add_bfloat16, relu},
            {to_uint8},
            {to_int8},
            {bias, gelu, add, relu, to_int8}};
  return {{correct},
          {dequantize},
          {to_uint8},
          {to_int8},
          {bias_int32, correct, relu, to_uint8},
          {correct, bias_int32, relu, dequantize},
          {bias_int32, dequantize, bias, gelu, add},
          {dequantize, add_uint8, add_bfloat16},
          {dequantize, bias, row_range},
          {dequantize, bias, add_int8, add_float16, to_uint8},
          {dequantize, add, relu, gelu, bias, to_int8}};
}

TEST_P(Microkernel, EveryPipelineEqualsTheReference) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= widest(rows); ++vectors)
      for (const bool masked : {false, true})
        for (const auto& stages : pipelines(accumulator))
          for (const bool correct_b : {false, true}) {
            if (correct_b && !integer) continue;
            for (const std::int64_t columns : column_counts(vectors, masked))
              for (const Guard side : {Guard::after, Guard::before}) {
                TileCase tile{make_key(rows, vectors, masked, false, stages, correct_b),
                              {{5, 4}, {1, 0}},
                              columns};
                tile.row = 3;
                tile.col = side == Guard::after ? 32 : 0;
                tile.side = side;
                tile.seed = static_cast<unsigned>(rows * 100 + columns);
                expect_same(tile, stages);
                if (HasFatalFailure()) return;
              }
          }
}

TEST_P(Microkernel, LoadsOfCFeedThePipeline) {
  const std::vector<Stage> stages =
      integer ? std::vector{CorrectZeroPoints{}.stage(), Dequantize{}.stage(), Gelu{}.stage()}
              : std::vector{Bias{nullptr}.stage(), Gelu{}.stage()};
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (const bool masked : {false, true})
      for (const std::int64_t columns : column_counts(widest(rows), masked)) {
        TileCase tile{
            make_key(rows, widest(rows), masked, loads_c, stages, true), {{6, 4}}, columns};
        tile.seed = static_cast<unsigned>(rows);
        expect_same(tile, stages);
        if (HasFatalFailure()) return;
      }
}

TEST_P(Microkernel, TileMayStartInsideItsPanel) {
  const int lanes = geometry.lanes;
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int first = lanes; first < kPanelColumns; first += lanes)
      for (int vectors = 1; vectors <= std::min(widest(rows), (kPanelColumns - first) / lanes);
           ++vectors)
        for (const bool masked : {false, true})
          for (const std::int64_t columns : column_counts(vectors, masked)) {
            const std::vector<Stage> stages = pipelines(accumulator).back();
            TileCase tile{
                make_key(rows, vectors, masked, false, stages, integer), {{4, 0}, {1, 4}}, columns};
            tile.first_column = first;
            tile.col = first;
            expect_same(tile, stages);
            if (HasFatalFailure()) return;
          }
}

// Distances between rows of A are signed: 0 repeats a row, negative ones walk upwards.
TEST_P(Microkernel, RowsOfAMayRepeatOrWalkUpwards) {
  std::vector<std::byte> a(16 * 64), b(static_cast<std::size_t>(8 * panel_group));
  fill_a(a.data(), std::ssize(a));
  fill_b(b.data(), std::ssize(b), 8);
  // Where the kernel reads uint16, the reference reads the same values as bytes.
  const std::vector<std::byte> narrow(a.begin(), a.begin() + 16 * 32);
  const std::int64_t narrowing = geometry.wide_a ? 2 : 1;
  if (geometry.wide_a)
    widen_rows(reinterpret_cast<const std::uint8_t*>(narrow.data()), 0, 1, 16 * 32, a.data(), 0);
  for (const std::int64_t lda : {std::int64_t{0}, std::int64_t{-64}, std::int64_t{-32}})
    for (int rows = 1; rows <= geometry.max_rows; ++rows) {
      const KernelKey key = make_key(rows, 1, false, false, {}, false);
      const BlockPair pair{a.data() + 12 * 64, lda, b.data(), 8 * panel_group, 8};
      BlockPair reference_pair = pair;
      reference_pair.a = (geometry.wide_a ? narrow : a).data() + 12 * 64 / narrowing;
      reference_pair.lda /= narrowing;
      std::vector<std::int32_t> c(16 * 16), expected(c);
      TileArgs args;
      args.pairs = &pair;
      args.num_pairs = 1;
      args.spill_groups = 8;
      args.ldc = 64;
      args.columns = geometry.lanes;
      args.c = c.data();
      args.key = &key;
      find_kernel(key)(&args);
      KernelKey generic = key;
      generic.isa = Isa::generic;
      args.c = expected.data();
      args.pairs = &reference_pair;
      find_kernel(generic)(&args);
      ASSERT_EQ(c, expected) << "lda " << lda << ", rows " << rows;
    }
}

// Equal to the mathematical integer: the worst pairs of 255 with -128 and 127, and K at
// its limit.
TEST_P(Microkernel, ExtremeProductsAreExactUpToTheDepthLimit) {
  if (!integer) {  // the float families have one chain of fused multiply-adds instead
    TileCase tile{make_key(geometry.max_rows, 2, false, false, {}, false),
                  {{31, 0}, {32, 0}, {31, 0}},
                  2 * geometry.lanes};
    expect_same(tile, {});
    return;
  }
  constexpr std::int64_t groups = kMaxDepthRaw / 4;
  std::vector<std::uint8_t> a(groups * 4, 255);
  std::vector<std::int8_t> b(groups * panel_group);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto column = i / 4 % 32;  // all -128, all 127, alternating by k, by pairs of k
    const auto k = i / panel_group * 4 + i % 4;
    const bool low = column % 4 == 0   ? true
                     : column % 4 == 1 ? false
                     : column % 4 == 2 ? k % 2 == 0
                                       : k % 4 < 2;
    b[i] = low ? -128 : 127;
    if (geometry.spills) b[i] = low ? -64 : 64;  // all that a pair in int16 may be
  }
  const std::vector<std::uint16_t> wide(a.begin(), a.end());
  const BlockPair pair{geometry.wide_a ? static_cast<const void*>(wide.data()) : a.data(), 0,
                       b.data(), groups * panel_group, groups};
  const KernelKey key = make_key(geometry.max_rows, 1, false, false, {}, false);
  std::vector<std::int32_t> c(static_cast<std::size_t>(geometry.max_rows * geometry.lanes));
  std::vector<std::int32_t> sums(c.size());
  TileArgs args;
  args.partial = sums.data();
  args.spill_groups = 1;
  args.pairs = &pair;
  args.num_pairs = 1;
  args.c = c.data();
  args.ldc = geometry.lanes * 4;
  args.columns = geometry.lanes;
  args.key = &key;
  find_kernel(key)(&args);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % geometry.lanes;
    std::int64_t exact = 0;
    for (std::int64_t k = 0; k < groups * 4; ++k)
      exact += 255 * b[static_cast<std::size_t>(k / 4 * panel_group + column * 4 + k % 4)];
    ASSERT_EQ(c[i], exact);
  }
}

TEST_P(Microkernel, NotANumberStaysOneUntilRequantized) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t lanes = geometry.lanes;
  std::vector<Stage> stages{Bias{nullptr}.stage(), Relu{}.stage(),      Gelu{}.stage(),
                            GeluTanh{}.stage(),    Clip{-1, 1}.stage(), Tanh{}.stage()};
  if (integer) stages.insert(stages.begin(), Dequantize{}.stage());
  const std::vector<float> one(static_cast<std::size_t>(lanes), 1.0f);
  std::vector<float> bias(static_cast<std::size_t>(lanes), 1.0f);
  for (std::size_t i = 0; i < bias.size(); i += 3) bias[i] = i % 2 ? nan : -nan;
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(lanes), 0);
  for (const bool requantized : {false, true}) {
    if (requantized) stages.push_back(Requantize{0.1f, 7, ValueType::int8}.stage());
    const KernelKey key = make_key(1, 1, false, false, stages, false);
    std::vector<StageArgs> stage_args;
    for (const Stage& stage : stages) {
      stage_args.push_back(stage.args);
      if (stage.kind == StageKind::bias) stage_args.back().data = bias.data();
    }
    std::vector<float> c(static_cast<std::size_t>(lanes));
    TileArgs args;
    args.c = c.data();
    args.columns = lanes;
    args.a_scale = args.b_scale = one.data();
    args.a_zero_point = args.col_offsets = zeros.data();
    args.stages = stage_args.data();
    args.key = &key;
    find_kernel(key)(&args);
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (requantized)
        EXPECT_EQ(reinterpret_cast<const std::int8_t*>(c.data())[i], i % 3 == 0 ? -128 : 13) << i;
      else
        EXPECT_EQ(std::isnan(c[i]), i % 3 == 0) << i;
    }
  }
}

// Zeros, infinities and NaN in every lane of a row of one or two vectors, whole or partial.
TEST_P(Microkernel, RowRangeSeesEveryLane) {
  if (integer) return;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Stage stages[] = {Bias{nullptr}.stage(), RowRange(nullptr).stage()};
  const auto same = [](float a, float b) {  // zeros told apart, NaNs not
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<int>(a) == std::bit_cast<int>(b);
  };
  for (const int vectors : {1, 2})
    for (const bool masked : {false, true}) {
      const std::int64_t columns = vectors * geometry.lanes - (masked ? 3 : 0);
      const KernelKey key =
          make_key(1, vectors, masked, false, {std::begin(stages), std::end(stages)}, false);
      for (const float value : {1.0f, -1.0f, 0.0f, -0.0f, inf, -inf, nan, -nan})
        for (std::int64_t lane = 0; lane < columns; ++lane)
          for (const RowExtent before : {RowExtent{inf, -inf}, {-0.5f, 2.0f}, {nan, nan}}) {
            std::vector<float> bias(static_cast<std::size_t>(columns), -0.0f), c(bias.size());
            bias[static_cast<std::size_t>(lane)] = value;
            RowExtent extent = before;
            StageArgs stage_args[] = {stages[0].args, stages[1].args};
            stage_args[0].data = bias.data();
            stage_args[1].data = &extent;
            TileArgs args;
            args.c = c.data();
            args.columns = columns;
            args.stages = stage_args;
            args.key = &key;
            find_kernel(key)(&args);
            RowExtent wanted = before;
            for (const float x : c) RowRange::widen(wanted, x, x);
            ASSERT_TRUE(same(extent.lo, wanted.lo) && same(extent.hi, wanted.hi))
                << kernel_name(key) << " " << value << " in lane " << lane << ": " << extent.lo
                << " to " << extent.hi << ", wanted " << wanted.lo << " to " << wanted.hi;
            ASSERT_EQ(std::isnan(value) || std::isnan(before.lo), std::isnan(extent.lo));
            ASSERT_EQ(std::isnan(extent.lo), std::isnan(extent.hi));
          }
    }
}

TEST_P(Microkernel, GeometryFitsTheRegisterFile) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= widest(rows); ++vectors)
      EXPECT_NE(find_kernel(make_key(rows, vectors, true, loads_c, {}, false)), nullptr);
  EXPECT_THROW(find_kernel(make_key(geometry.max_rows + 1, 8, false, false, {}, false)),
               std::runtime_error);
}

TEST_P(Microkernel, LongestPipelineCanBeGenerated) {
  std::vector<Stage> stages(kMaxStages, Gelu{}.stage());
  if (integer) stages.front() = Dequantize{}.stage();
  for (int rows = 1; rows <= geometry.max_rows; ++rows) {
    TileCase tile{make_key(rows, widest(rows), true, false, stages, integer),
                  {{2, 0}},
                  widest(rows) * geometry.lanes - 1};
    expect_same(tile, stages);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, EachIsGeneratedOnceUnderItsName) {
  const KernelKey key = make_key(2, 2, true, false, {}, false);
  const TileFunction kernel = find_kernel(key);
  EXPECT_EQ(find_kernel(key), kernel);
  constexpr const char* operands[] = {"int32_u8_s8",   "fp32_f32_f32", "fp32_bf16_bf16",
                                      "fp32_f32_bf16", "fp32_f32_f16", "int16_u8_s8"};
  const std::string name = std::string("gemm_") + operands[static_cast<int>(accumulator)] + "_2x" +
                           std::to_string(2 * geometry.lanes) + "_" + isa_name(isa) + "_masked";
  EXPECT_EQ(kernel_name(key), name);
  int found = 0;
  for (const auto& info : kernels::generated_kernels()) found += info.key == key;
  EXPECT_EQ(found, 1);
}

std::string family_name(const testing::TestParamInfo<Family>& family) {
  constexpr const char* names[] = {"int32",        "float32",     "bfloat16",
                                   "float32_bf16", "float32_f16", "int16"};
  return std::string(names[static_cast<int>(family.param.accumulator)]) + "_" +
         isa_name(family.param.isa);
}

INSTANTIATE_TEST_SUITE_P(Generated, Microkernel, testing::ValuesIn(generated_families()),
                         family_name);
// A machine without AVX2 generates nothing.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Microkernel);

// Every pipeline of up to three stages that types allow.
std::vector<TypedPipeline> short_pipelines(ValueType start) {
  const Stage stages[] = {CorrectZeroPoints{}.stage(),
                          Dequantize{}.stage(),
                          BiasInt32{nullptr}.stage(),
                          Bias{nullptr}.stage(),
                          Relu{}.stage(),
                          Gelu{}.stage(),
                          GeluTanh{}.stage(),
                          Tanh{}.stage(),
                          Sigmoid{}.stage(),
                          Clip{-1, 1}.stage(),
                          Scale{2}.stage(),
                          Add{nullptr, 0}.stage(),
                          Add(static_cast<const std::uint8_t*>(nullptr), 0, 1, 0).stage(),
                          Add(static_cast<const float16*>(nullptr), 0).stage(),
                          RowRange(nullptr).stage(),
                          Cast{ValueType::float16}.stage(),
                          Cast{ValueType::bfloat16}.stage(),
                          Requantize{1, 0, ValueType::uint8}.stage(),
                          Requantize{1, 0, ValueType::int8}.stage()};
  std::vector<std::vector<Stage>> all{{}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() == 3) break;
    for (const Stage& stage : stages) {
      all.push_back(all[i]);
      all.back().push_back(stage);
    }
  }
  std::vector<TypedPipeline> typed;
  for (const std::vector<Stage>& pipeline : all) try {
      typed.push_back(type_pipeline(pipeline, start));
    } catch (const PipelineTypeError&) {
    }
  return typed;
}

TEST(MicrokernelNames, TellEveryKeyApart) {
  std::map<std::string, KernelKey> keys;
  const auto add = [&](const KernelKey& key) {
    const auto [at, added] = keys.emplace(kernel_name(key), key);
    EXPECT_TRUE(added || at->second == key) << at->first;
  };
  for (const Accumulator accumulator :
       {Accumulator::int32, Accumulator::int16, Accumulator::float32, Accumulator::bfloat16,
        Accumulator::float32_bf16, Accumulator::float32_f16}) {
    const auto start = is_integer(accumulator) ? ValueType::acc : ValueType::float32;
    const auto pipelines = short_pipelines(start);
    for (const Isa isa : kAllIsas)
      for (const std::uint8_t rows : {1, 11, 12})
        for (const std::uint8_t vectors : {1, 2, 11})
          for (int flags = 0; flags < 32; ++flags) {
            KernelKey key{};
            key.accumulator = accumulator;
            key.isa = isa;
            key.rows = rows;
            key.vectors = vectors;
            key.masked = flags & 1;
            key.load_c = flags & 2;
            key.correct_a = flags & 4;
            key.correct_b = flags & 8;
            key.streams = flags & 16;
            // All pipelines once, a few everywhere.
            const bool every = rows == 12 && vectors == 2;
            for (std::size_t p = 0; p < pipelines.size(); p += every ? 1 : 17) {
              key.num_stages = static_cast<std::uint8_t>(pipelines[p].count);
              key.stages = pipelines[p].codes;
              add(key);
            }
          }
  }
  EXPECT_GT(keys.size(), 10000u);
}

}  // namespace
}  // namespace fbg
