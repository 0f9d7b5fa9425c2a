// Names of kernels: every key of the table has one of its own.
#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "helpers/binary_stages.h"
#include "helpers/microkernel_fixture.h"
#include "kernels/microkernel.h"
#include "kernels/table.h"

namespace fbg {
namespace {

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
                          test::binary(Operation::add, OperandKind::constant),
                          test::binary(Operation::subtract, OperandKind::columns, true),
                          test::binary(Operation::subtract, OperandKind::columns),
                          RowRange(nullptr).stage(),
                          Cast{ValueType::float16}.stage(),
                          Cast{ValueType::bfloat16}.stage(),
                          Requantize{1, 0, ValueType::uint8}.stage(),
                          Requantize{1, 0, ValueType::uint8, {.unit_scale = true}}.stage(),
                          Requantize{1, 0, ValueType::uint8, {.bounded = true}}.stage(),
                          Requantize{1, 0, ValueType::int8, {true, true, true}}.stage(),
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
  std::unordered_map<std::string, KernelKey> keys;
  const auto add = [&](const KernelKey& key) {
    const auto [at, added] = keys.emplace(kernel_name(key), key);
    EXPECT_TRUE(added || at->second == key) << at->first;
  };
  for (const GemmType gemm_type : test::kGemmTypes) {
    const auto start = is_integer(gemm_type) ? ValueType::acc : ValueType::float32;
    const auto pipelines = short_pipelines(start);
    for (const Isa isa : kAllIsas) {
      if (!kernels::find_family(gemm_type, isa)) continue;
      for (const std::uint8_t rows : {1, 11, 12})
        for (const std::uint8_t vectors : {1, 2, 11})
          for (int flags = 0; flags < 8 * 3 * 4 * 4 * 3; ++flags) {
            KernelKey key{};
            key.gemm_type = gemm_type;
            key.isa = isa;
            key.rows = rows;
            key.vectors = vectors;
            int rest = flags;
            const auto draw = [&](int count) { return std::exchange(rest, rest / count) % count; };
            key.group_offsets = draw(2);
            key.narrow = flags % 5 == 0 && kernels::find_family(gemm_type, isa, true);
            key.masked = draw(2);
            key.row_mask = draw(2);
            key.a = static_cast<ARows>(draw(3));
            key.sums = static_cast<Sums>(draw(4));
            key.corrections = static_cast<Corrections>(draw(4));
            key.caching = static_cast<Caching>(draw(3));
            // All pipelines once, a few everywhere: others with other parts of the key.
            const bool every = rows == 12 && vectors == 2 && flags == 0;
            const std::size_t step = every ? 1 : 499;
            for (std::size_t p = flags % step; p < pipelines.size(); p += step) {
              key.num_stages = static_cast<std::uint8_t>(pipelines[p].count);
              key.stages = pipelines[p].codes;
              add(key);
            }
          }
    }
  }
  EXPECT_GT(keys.size(), 100000u);
}

}  // namespace
}  // namespace fbg
