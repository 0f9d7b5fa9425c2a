// The encoder of AArch64 writes the words that GNU's assembler writes, and refuses numbers that an
// instruction has no room for. It runs on every architecture. Where there is no such assembler, the
// words are those of tests/data/aarch64_words.txt, which this program prints where there is one:
//
//   build/tests/test_aarch64_encoder --words > tests/data/aarch64_words.txt
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/aarch64/encoder.h"
#include "kernels/aarch64_forms.h"

namespace fbg::test {
namespace {

using namespace kernels::aarch64;

const std::string kSource = FBG_SOURCE_DIR;
constexpr const char* kAssembler =
    "aarch64-linux-gnu-as -W -march=armv8.6-a+i8mm+bf16+dotprod+fp16";

std::vector<Instruction> draw_of_each(int count, unsigned seed) {
  Random random(seed);
  std::vector<Instruction> drawn;
  for (const Form& form : aarch64_forms())
    for (int i = 0; i < count; ++i) drawn.push_back(form.draw(random, nullptr));
  return drawn;
}

std::vector<Instruction> instructions_of_the_file() { return draw_of_each(4, 1); }

std::string line(const std::string& text, std::uint32_t word) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(word));
  return std::string(digits) + "  " + text;
}

// Whether this machine has the assembler.
bool has_assembler() {
  return std::system("aarch64-linux-gnu-as --version >/dev/null 2>&1") == 0 &&
         std::system("aarch64-linux-gnu-objcopy --version >/dev/null 2>&1") == 0;
}

std::vector<std::string> assembled(const std::vector<Instruction>& instructions) {
  const std::string file = testing::TempDir() + "fbg_aarch64_" + std::to_string(getpid());
  {
    std::ofstream source(file + ".s");
    for (const Instruction& each : instructions) source << each.text << '\n';
  }
  const std::string assemble = std::string(kAssembler) + " -o " + file + ".o " + file + ".s && " +
                               "aarch64-linux-gnu-objcopy -O binary -j .text " + file + ".o " +
                               file + ".bin";
  if (std::system(assemble.c_str()) != 0) throw std::runtime_error("failed: " + assemble);
  std::ifstream binary(file + ".bin", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(binary), {}};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 4; ++j)
      word |= std::uint32_t{static_cast<std::uint8_t>(bytes.at(4 * i + j))} << (8 * j);
    lines.push_back(line(instructions[i].text, word));
  }
  for (const char* ending : {".s", ".o", ".bin"}) std::remove((file + ending).c_str());
  return lines;
}

void expect_lines(const std::vector<Instruction>& ours, const std::vector<std::string>& wanted) {
  ASSERT_EQ(ours.size(), wanted.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_EQ(line(ours[i].text, ours[i].word), wanted[i]);
}

TEST(AArch64Encoder, WordsAreThoseOfTheAssembler) {
  if (!has_assembler()) GTEST_SKIP() << "needs aarch64-linux-gnu-as and -objcopy";
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::vector<Instruction> drawn = draw_of_each(100, seed);
  expect_lines(drawn, assembled(drawn));
}

TEST(AArch64Encoder, WordsAreThoseOfTheFile) {
  std::ifstream file(kSource + "/tests/data/aarch64_words.txt");
  std::vector<std::string> wanted;
  for (std::string each; std::getline(file, each);) wanted.push_back(each);
  expect_lines(instructions_of_the_file(), wanted);
}

// Public functions of the encoder that write an instruction, and forms that the tests draw.
TEST(AArch64Encoder, EveryFunctionIsListedAsAForm) {
  std::ifstream file(kSource + "/src/kernels/aarch64/encoder.h");
  std::string header{std::istreambuf_iterator<char>(file), {}};
  header.resize(header.find("private:"));
  std::map<std::string, int> forms, functions;
  for (const Form& form : aarch64_forms()) ++forms[form.mnemonic];
  const std::regex function(R"(\n  void (\w+?)_?\()");
  for (std::sregex_iterator at(header.begin(), header.end(), function), end; at != end; ++at)
    ++functions[(*at)[1]];
  for (const char* no_instruction : {"dd", "align", "L"}) functions.erase(no_instruction);
  EXPECT_GT(functions.size(), 60u);
  for (const auto& [mnemonic, count] : functions) EXPECT_GE(forms[mnemonic], count) << mnemonic;
}

TEST(AArch64Encoder, NumbersOutOfRangeAreRefused) {
  Random random(1);
  int refused = 0;
  for (const Form& form : aarch64_forms())
    for (int number = 0; number < 4; ++number)
      for (const Wrong::Way way : {Wrong::below, Wrong::above, Wrong::between_steps}) {
        Wrong wrong{number, way};
        try {
          const Instruction written = form.draw(random, &wrong);
          EXPECT_FALSE(wrong.happened) << written.text;
        } catch (const std::logic_error& error) {
          const std::string got = ", got " + std::to_string(wrong.value), message = error.what();
          EXPECT_TRUE(message.starts_with(form.mnemonic + ": the ")) << message;
          EXPECT_TRUE(message.ends_with(got)) << message << " for" << got;
          ++refused;
        }
      }
  EXPECT_GT(refused, 100);
}

TEST(AArch64Encoder, AMessageNamesInstructionOperandRangeAndValue) {
  const auto message = [](const auto& encode) {
    Encoder encoder;
    try {
      encode(encoder);
    } catch (const std::logic_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const XReg x(1);
  const Vec v(2), high(16);
  EXPECT_EQ(message([&](Encoder& e) { e.ldr(v.q, at(x, 24)); }),
            "ldr: the offset must be a multiple of 16 from 0 to 65520, got 24");
  EXPECT_EQ(message([&](Encoder& e) { e.add(x, x, 4096); }),
            "add: the immediate must be from 0 to 4095, got 4096");
  EXPECT_EQ(message([&](Encoder& e) { e.shll(v.s4, v.h4, 8); }),
            "shll: the shift must be 16, got 8");
  EXPECT_EQ(message([&](Encoder& e) { e.smlal(v.s4, v.h4, high.h8[0]); }),
            "smlal: the register of the element must be from 0 to 15, got 16");
  EXPECT_EQ(message([&](Encoder& e) { e.ld1(v.b16 - v.b16, x); }),
            "list: the distance of the last register must be 3, got 0");
  EXPECT_EQ(message([](Encoder&) { XReg(31); }), "x: the number must be from 0 to 30, got 31");
  EXPECT_EQ(message([](Encoder&) { WReg(-1); }), "w: the number must be from 0 to 30, got -1");
  EXPECT_EQ(message([](Encoder&) { Vec(32); }), "v: the number must be from 0 to 31, got 32");
}

TEST(AArch64Encoder, LabelsAreBoundOnceBeforeTheCodeIsTaken) {
  Encoder encoder;
  Label before, behind;
  encoder.L(before);
  encoder.b(before);
  encoder.b(behind);
  encoder.cbz(XReg(0), behind);
  EXPECT_THROW(encoder.code(), std::logic_error);
  encoder.L(behind);
  EXPECT_THROW(encoder.L(behind), std::logic_error);
  encoder.ret();
  const std::vector<std::uint8_t> code{0x00, 0x00, 0x00, 0x14, 0x02, 0x00, 0x00, 0x14,
                                       0x20, 0x00, 0x00, 0xb4, 0xc0, 0x03, 0x5f, 0xd6};
  EXPECT_EQ(encoder.code(), code);
}

TEST(AArch64Encoder, AlignmentAddsInstructionsThatDoNothingWhereItMust) {
  Encoder encoder;
  encoder.align(16);
  EXPECT_EQ(encoder.code().size(), 0u);
  encoder.ret();
  encoder.align(16);
  EXPECT_EQ(encoder.code().size(), 16u);
  encoder.align(16);
  EXPECT_EQ(encoder.code().size(), 16u);
}

}  // namespace
}  // namespace fbg::test

int main(int count, char** words) {
  using namespace fbg::test;
  if (count == 2 && std::string(words[1]) == "--words") {
    for (const std::string& each : assembled(instructions_of_the_file())) std::puts(each.c_str());
    return 0;
  }
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
