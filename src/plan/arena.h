// Lays buffers out in one block of memory so that those alive at the same time never overlap. Runs
// once, when a plan is prepared.
#pragma once

#include <cstddef>
#include <span>

namespace fbg {

// A buffer of `bytes`, alive during ops first..last, both included. `offset` is the answer.
struct Lifetime {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;
};

// Sets every offset (a multiple of 64) and returns the bytes that the arena needs.
// Throws std::length_error when they overflow.
std::size_t lay_out_arena(std::span<Lifetime> buffers);

}  // namespace fbg
