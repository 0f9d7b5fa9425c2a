// What the kernel tester runs: a kernel that was drawn at random, and cases of it.
//
//   subject              what it runs                          reference
//   gemm_subject.cc      tiles of products                     the portable kernels
//   lanewise_subject.cc  depthwise and groupwise convolutions  plain loops, then portable ones
//   sliding_subject.cc   the same, sliding along rows          plain loops
//   lookup_subject.cc    bags of rows of embedding tables      the portable kernel
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fuzz/fuzz_input.h"
#include "helpers/operand_filler.h"
#include "helpers/tile_runner.h"

namespace fbg::test {

using fuzz::Choices;

class Subject {
 public:
  virtual ~Subject() = default;
  // Draws a shape and operands, runs the kernel on them and compares; what is wrong, or nothing.
  virtual std::string run(Choices& choices, unsigned seed) = 0;
};

// Null where what was drawn fits no kernel, or where the ISA has none of the kind.
std::unique_ptr<Subject> draw_gemm(Isa isa, Choices& choices);
std::unique_ptr<Subject> draw_lanewise(Isa isa, Choices& choices);
std::unique_ptr<Subject> draw_sliding(Isa isa, Choices& choices);
std::unique_ptr<Subject> draw_lookup(Isa isa, Choices& choices);

// The families that are generated for exactly this ISA.
std::vector<Family> families_of(Isa isa);

// Stages of all kinds that fit together, for sums of a family. Their arrays are placed by a runner.
std::vector<Stage> draw_stages(Choices& choices, ValueType start, std::int64_t most);

// Gives them other scales, bounds and zero points, within what they are specialized for.
void vary_parameters(Choices& choices, std::vector<Stage>& stages);

}  // namespace fbg::test
