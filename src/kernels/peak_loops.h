// Loops that show what a core can do at most: instructions on registers alone, and loads alone.
// Each architecture brings its own (src/kernels/x64/peak_loops.cc); peak.cc times them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fbg/core/isa.h"

namespace fbg::kernels {

// A loop over independent accumulators, enough to hide every latency: void(std::int64_t
// iterations).
struct PeakLoop {
  const char* name;
  Isa isa;
  double operations;  // of an iteration; 2 per multiply-add
  std::vector<std::uint8_t> (*generate)();
};
std::span<const PeakLoop> peak_loops() noexcept;

// Loads every vector of steps * kReadStep bytes: void(const std::byte* from, std::int64_t steps).
inline constexpr std::size_t kReadStep = 4096;
struct ReadLoop {
  const char* name;
  Isa isa;
  std::vector<std::uint8_t> (*generate)();
};
// The loop of the widest vectors that this CPU has; null without one.
const ReadLoop* read_loop() noexcept;

}  // namespace fbg::kernels
