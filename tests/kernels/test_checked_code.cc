// The trampoline of the kernel tester notices whatever code does not preserve, and puts it right.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "kernels/checked_code.h"
#include "kernels/code.h"

namespace fbg::test {
namespace {

using Code = std::vector<std::uint8_t>;

const void* make(const std::string& name, Code code) {
  return kernels::make_executable(code.data(), code.size(), name);
}

// Runs code, after which vzeroupper and ret are added.
std::string violations_of(Code code) {
  code.insert(code.end(), {0xc5, 0xf8, 0x77, 0xc3});
  const auto run = reinterpret_cast<void (*)(const void*)>(const_cast<void*>(make("code", code)));
  take_violations();
  run(nullptr);
  return take_violations();
}

class CheckedCode : public testing::Test {
 protected:
  void SetUp() override {
    if (!(cpu_features() & feature::avx2)) GTEST_SKIP() << "needs AVX2";
  }
};

TEST_F(CheckedCode, CodeThatPreservesAllPasses) {
  EXPECT_EQ(violations_of({}), "");
  EXPECT_EQ(violations_of({0x31, 0xc0, 0x31, 0xc9}), "");  // rax and rcx may change
}

TEST_F(CheckedCode, ResultsAreHandedOn) {
  const Code seven{0xb8, 7, 0, 0, 0, 0xc5, 0xf8, 0x77, 0xc3};  // mov eax, 7; vzeroupper; ret
  const auto run = reinterpret_cast<int (*)(const void*)>(const_cast<void*>(make("seven", seven)));
  EXPECT_EQ(run(nullptr), 7);
  EXPECT_EQ(take_violations(), "");
}

TEST_F(CheckedCode, RegistersAreNamed) {
  EXPECT_EQ(violations_of({0xbb, 1, 0, 0, 0}), "rbx");
  EXPECT_EQ(violations_of({0xbd, 1, 0, 0, 0}), "rbp");
  EXPECT_EQ(violations_of({0x41, 0xbc, 1, 0, 0, 0}), "r12");
  EXPECT_EQ(violations_of({0x41, 0xbd, 1, 0, 0, 0}), "r13");
  EXPECT_EQ(violations_of({0x41, 0xbe, 1, 0, 0, 0}), "r14");
  EXPECT_EQ(violations_of({0x41, 0xbf, 1, 0, 0, 0, 0xbb, 1, 0, 0, 0}), "rbx, r15");
}

TEST_F(CheckedCode, FlagsAndControlWordsAreNamedAndRestored) {
  const Code set_direction{0xfd};
  const Code flush_denormals{0x0f, 0xae, 0x5c, 0x24, 0xf8,                    // stmxcsr [rsp - 8]
                             0x81, 0x4c, 0x24, 0xf8, 0x00, 0x80, 0x00, 0x00,  // or
                             0x0f, 0xae, 0x54, 0x24, 0xf8};                   // ldmxcsr
  const Code round_down{0xd9, 0x7c, 0x24, 0xf8,                               // fnstcw [rsp - 8]
                        0x66, 0x81, 0x4c, 0x24, 0xf8, 0x00, 0x04,             // or
                        0xd9, 0x6c, 0x24, 0xf8};                              // fldcw
  EXPECT_EQ(violations_of(set_direction), "the direction flag");
  EXPECT_EQ(violations_of(flush_denormals), "the control bits of MXCSR");
  EXPECT_EQ(violations_of(round_down), "the x87 control word");
  EXPECT_EQ(violations_of({}), "");
}

TEST_F(CheckedCode, TheStackOfTheCallerIsWatched) {
  const Code clear_above{0x48, 0xc7, 0x44, 0x24, 0x08, 0, 0, 0, 0};  // mov qword [rsp + 8], 0
  EXPECT_EQ(violations_of(clear_above), "the stack above the return address");
}

TEST_F(CheckedCode, UpperHalvesOfVectorsMustBeZero) {
  const auto run = reinterpret_cast<void (*)(const void*)>(const_cast<void*>(make("ret", {0xc3})));
  run(nullptr);
  EXPECT_EQ(take_violations(), "the upper halves of vector registers");
}

TEST_F(CheckedCode, ChangesApplyToTheCodeOfThatName) {
  const Code sets_rbx{0xbb, 1, 0, 0, 0};
  change_code({"code", 0, {0x90, 0x90, 0x90, 0x90, 0x90}});
  EXPECT_EQ(violations_of(sets_rbx), "");
  change_code({"another", 0, {0x90, 0x90, 0x90, 0x90, 0x90}});
  EXPECT_EQ(violations_of(sets_rbx), "rbx");
  change_code({});
  EXPECT_EQ(made_code().back().name, "code");
  EXPECT_EQ(made_code().back().calls, 1u);
}

}  // namespace
}  // namespace fbg::test
