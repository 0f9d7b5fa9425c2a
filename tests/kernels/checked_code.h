// What the kernel tester puts in the place of src/kernels/code.cc: generated code that is entered
// through a trampoline, and that may be changed before it runs.
//
// The trampoline fills every vector register, mask and general register that a kernel may not rely
// on with a pattern, then calls the kernel, and compares what the System V ABI makes it preserve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace fbg::test {

// What kernels have not left as they found it since the last call of take_violations(): names of
// registers and flags, or nothing.
std::string take_violations();
// Calls of kernels so far.
std::uint64_t kernel_calls();

// Code as it was generated, and how often it was called from outside of it.
struct MadeCode {
  std::string name;
  std::vector<std::uint8_t> bytes;
  std::uint64_t calls = 0;
};
const std::deque<MadeCode>& made_code();

// Bytes that take the place of others when the code of that name is made executable.
struct CodeChange {
  std::string name;
  std::size_t offset = 0;
  std::vector<std::uint8_t> bytes;
};
void change_code(const CodeChange& change);

}  // namespace fbg::test
