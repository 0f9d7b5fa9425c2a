// Every form of an instruction that the encoder of AArch64 knows, with operands at random: the
// words that it writes, and the same instruction as text for an assembler.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace fbg::test {

using Random = std::mt19937;  // the same numbers everywhere

struct Instruction {
  std::string text;
  std::uint32_t word;
};

// One number of an instruction that is out of its range.
struct Wrong {
  enum Way { below, above, between_steps };
  int number;  // which one, of immediates, offsets, lanes and distances
  Way way;
  bool happened = false;  // false: the form has no such number
  std::int64_t value = 0;
};

struct Form {
  std::string mnemonic;
  std::function<Instruction(Random&, Wrong*)> draw;
};

std::vector<Form> aarch64_forms();

}  // namespace fbg::test
