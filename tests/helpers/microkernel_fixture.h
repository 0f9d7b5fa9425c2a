// Tests for each accumulator family on each ISA that generates it: a microkernel and the reference
// on the same operands.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "helpers/tile_runner.h"

namespace fbg::test {

inline std::string family_name(const testing::TestParamInfo<Family>& family) {
  constexpr const char* names[] = {"int32", "float32",  "bfloat16", "float32_bf16", "float32_f16",
                                   "int16", "int4_g32", "int4_g64", "int4_g128",    "float16"};
  return std::string(names[static_cast<int>(family.param.gemm_type)]) + "_" +
         isa_name(family.param.isa) + (family.param.narrow ? "_narrow" : "");
}

class Microkernel : public testing::TestWithParam<Family>, protected TileRunner {
 protected:
  Microkernel() : TileRunner(GetParam()) {}

  void expect_same(const TileCase& tile, const std::vector<Stage>& stages) {
    ASSERT_EQ(compare(tile, stages), "");
  }
};

}  // namespace fbg::test
