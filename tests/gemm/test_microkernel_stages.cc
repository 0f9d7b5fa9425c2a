// Output pipelines of every generated microkernel against those of the portable one, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "helpers/binary_stages.h"
#include "helpers/microkernel_fixture.h"

namespace fbg::test {
namespace {

// Pipelines whose stages meet every type they accept; parameters are set by the test.
std::vector<std::vector<Stage>> pipelines(GemmType gemm_type) {
  const Stage correct = CorrectZeroPoints{}.stage(), dequantize = Dequantize{}.stage();
  const Stage bias = Bias{nullptr}.stage(), bias_int32 = BiasInt32{nullptr}.stage();
  const Stage relu = Relu{}.stage(), gelu = Gelu{}.stage(), add = Add{nullptr, 0}.stage();
  const Stage to_uint8 = Requantize{0.37f, 101, ValueType::uint8}.stage();
  const Stage to_int8 = Requantize{0.21f, -17, ValueType::int8}.stage();
  const Stage rounded = Requantize{1.0f, 3, ValueType::uint8, {.unit_scale = true}}.stage();
  const Stage add_uint8 = Add(static_cast<const std::uint8_t*>(nullptr), 0, 0.3f, 128).stage();
  const Stage positive = Requantize{1.0f, 0, ValueType::uint8, {true, true, true}}.stage();
  Stage add_centered = Add(static_cast<const std::uint8_t*>(nullptr), 0, 0.3f, 0).stage();
  add_centered.specialization.centered = true;
  const Stage add_int8 = Add(static_cast<const std::int8_t*>(nullptr), 0, 0.7f, -5).stage();
  const Stage add_float16 = Add(static_cast<const float16*>(nullptr), 0).stage();
  const Stage add_bfloat16 = Add(static_cast<const bfloat16*>(nullptr), 0).stage();
  const Stage row_range = RowRange(nullptr).stage();
  const Stage tanh = Tanh{}.stage(), sigmoid = Sigmoid{}.stage(), gelu_tanh = GeluTanh{}.stage();
  const Stage clip = Clip{-0.5f, 0.0f}.stage(), scale = Scale{0.37f}.stage();
  const Stage to_float16 = Cast{ValueType::float16}.stage();
  const Stage to_bfloat16 = Cast{ValueType::bfloat16}.stage();
  if (!is_integer(gemm_type))
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
            {rounded},
            {add_centered, positive},
            {tanh},
            {sigmoid, to_bfloat16},
            {gelu_tanh, to_float16},
            {clip},
            {scale},
            {bias, gelu, add, relu, to_int8}};
  return {{correct},
          {dequantize},
          {to_uint8},
          {to_int8},
          {bias_int32, correct, relu, to_uint8},
          {correct, bias_int32, relu, dequantize},
          {bias_int32, dequantize, bias, gelu, add},
          {dequantize, add_uint8, add_bfloat16},
          {dequantize, bias, add_uint8, relu, rounded},
          {bias_int32, dequantize, add_centered, positive},
          {dequantize, bias, row_range},
          {dequantize, bias, add_int8, add_float16, to_uint8},
          {dequantize, add, relu, gelu, bias, to_int8}};
}

// Expressions whose values are saved and read again, behind sums of either type.
std::vector<std::vector<Stage>> expressions(bool integer) {
  using enum Operation;
  using OperandKind::columns, OperandKind::constant, OperandKind::matrix, OperandKind::slot;
  const Stage to_int8 = Requantize{0.21f, -17, ValueType::int8}.stage();
  const auto of_bytes = [](Operation operation, bool reversed) {
    return binary(operation, matrix, reversed, 0, 0.3f, ValueType::uint8);
  };
  std::vector<std::vector<Stage>> all{
      {save(0), binary(add, constant, false, 0, 3), Clip{0, 6}.stage(), binary(multiply, slot),
       binary(divide, constant, false, 0, 6), binary(multiply, columns), binary(add, columns)},
      {save(0), function(Operation::absolute), save(1), function(Operation::square_root),
       binary(subtract, slot, true, 1), binary(divide, slot, false, 0), binary(minimum, columns),
       to_int8},
      {of_bytes(maximum, true), function(Operation::exp), save(3), function(Operation::silu),
       binary(prelu, columns), binary(add, slot, false, 3)},
      {save(5), function(Operation::round), binary(greater, slot, false, 5),
       binary(replace, slot, false, 5), function(Operation::floor), of_bytes(subtract, false),
       function(Operation::ceil)},
      {save(2), Gelu{}.stage(), binary(multiply, slot, false, 2), Sigmoid{}.stage(),
       GeluTanh{}.stage(), binary(minimum, matrix)}};
  for (auto& stages : all)
    if (integer) stages.insert(stages.begin(), Dequantize{}.stage());
  return all;
}

// Every operation with every operand in both orders, and every function.
std::vector<std::vector<Stage>> operations(bool integer) {
  std::vector<std::vector<Stage>> all;
  for (int i = 1; i <= static_cast<int>(Operation::replace); ++i)
    for (const OperandKind operand :
         {OperandKind::constant, OperandKind::columns, OperandKind::matrix, OperandKind::slot})
      for (const bool reversed : {false, true}) {
        all.push_back(
            {save(0), Scale(-0.9f).stage(), binary(static_cast<Operation>(i), operand, reversed)});
      }
  for (int i = static_cast<int>(Operation::absolute); i < kOperations; ++i)
    all.push_back({Scale(0.3f).stage(), function(static_cast<Operation>(i))});
  for (auto& stages : all)
    if (integer) stages.insert(stages.begin(), Dequantize{}.stage());
  return all;
}

TEST_P(Microkernel, EveryExpressionEqualsTheReference) {
  for (const int rows : {1, std::min(3, geometry.max_rows), geometry.max_rows})
    for (const bool masked : {false, true})
      for (const bool all : {false, true})
        for (const auto& stages : all ? operations(integer) : expressions(integer)) {
          const int vectors = geometry.widest(rows);
          TileCase tile{make_key(rows, vectors, masked, false, stages, false),
                        {{5, 4}, {1, 0}},
                        column_counts(vectors, masked).front()};
          tile.row = 3;
          tile.col = 32;
          tile.seed = static_cast<unsigned>(rows * 100 + masked);
          expect_same(tile, stages);
          if (HasFatalFailure()) return;
        }
}

TEST_P(Microkernel, EveryPipelineEqualsTheReference) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= geometry.widest(rows); ++vectors)
      for (const bool masked : {false, true})
        for (const auto& stages : pipelines(gemm_type))
          for (const bool correct_b : {false, true}) {
            if (correct_b && !reads_bytes(gemm_type)) continue;
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

// Kernels of convolutions: folded requantization, whose offsets sums may start from, and weights
// that are in the caches.
TEST_P(Microkernel, FoldedRequantizationEqualsTheReference) {
  if (!integer) return;
  const Stage correct = CorrectZeroPoints{}.stage(), relu = Relu{}.stage();
  const Stage dequantize = Dequantize{}.stage(), bias = BiasInt32{nullptr}.stage();
  const Stage to_uint8 = Requantize{3.0f, 7}.stage();
  const Stage specialized = Requantize{3.0f, 0, ValueType::int8, {false, true, true}}.stage();
  const Stage add = Add(static_cast<const std::int8_t*>(nullptr), 0, 0.7f, -5).stage();
  const std::vector<std::vector<Stage>> all{{correct},
                                            {bias, correct, relu, to_uint8},
                                            {correct, bias, relu, dequantize},
                                            {to_uint8},
                                            {bias, specialized},
                                            {bias, dequantize, add, specialized}};
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= geometry.widest(rows); ++vectors)
      for (const bool masked : {false, true})
        for (const bool goes_on : {false, true})
          for (const auto& stages : all) {
            TileCase tile{make_key(rows, vectors, masked, goes_on && loads_c, stages, false),
                          {{5, 4}, {1, 0}},
                          column_counts(vectors, masked).front()};
            EXPECT_EQ(tile.key.corrections, Corrections::a);
            tile.key.corrections = Corrections::folded;
            tile.key.caching = Caching::b_resident;
            tile.seed = static_cast<unsigned>(rows * 10 + vectors);
            expect_same(tile, stages);
            if (HasFatalFailure()) return;
          }
}

TEST_P(Microkernel, LoadsOfCFeedThePipeline) {
  const std::vector<Stage> stages =
      integer ? std::vector{CorrectZeroPoints{}.stage(), Dequantize{}.stage(), Gelu{}.stage()}
              : std::vector{Bias{nullptr}.stage(), Gelu{}.stage()};
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (const bool masked : {false, true})
      for (const std::int64_t columns : column_counts(geometry.widest(rows), masked)) {
        TileCase tile{make_key(rows, geometry.widest(rows), masked, loads_c, stages, true),
                      {{6, 4}},
                      columns};
        tile.seed = static_cast<unsigned>(rows);
        expect_same(tile, stages);
        if (HasFatalFailure()) return;
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
    args.int4.weighted_offsets = one.data();
    args.stages = stage_args.data();
    args.key = &key;
    {
      const KernelScope scope(geometry, key.rows);
      find_kernel(key)(&args);
    }
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
  const std::vector<float> ones(kPanelColumns, 1.0f);
  const std::int32_t zero = 0;
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
            args.a_scale = args.int4.weighted_offsets = ones.data();  // read for int4 weights
            args.a_zero_point = &zero;
            args.stages = stage_args;
            args.key = &key;
            {
              const KernelScope scope(geometry, key.rows);
              find_kernel(key)(&args);
            }
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

TEST_P(Microkernel, LongestPipelineCanBeGenerated) {
  std::vector<Stage> stages(kMaxStages, Gelu{}.stage());
  if (integer) stages.front() = Dequantize{}.stage();
  for (int rows = 1; rows <= geometry.max_rows; ++rows) {
    TileCase tile{
        make_key(rows, geometry.widest(rows), true, false, stages, reads_bytes(gemm_type)),
        {{2, 0}},
        geometry.widest(rows) * geometry.lanes - 1};
    expect_same(tile, stages);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, Microkernel, testing::ValuesIn(generated_families()),
                         family_name);
// A machine without AVX2 generates nothing.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Microkernel);

}  // namespace
}  // namespace fbg::test
