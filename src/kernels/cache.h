// Generated kernels by key: made once, kept for the life of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fbg/kernels/microkernel.h"

namespace fbg::kernels {

// A kernel that is ready, or null. Thread-safe.
TileFunction find(const KernelKey& key);
// Generates it under its name, unless another thread was quicker. Thread-safe. Null when no
// generator applies; throws std::runtime_error where executable memory is denied.
TileFunction generate(const KernelKey& key, const std::string& name);

struct KernelInfo {
  KernelKey key;
  std::string name;
  TileFunction code;
  std::size_t bytes;
  std::int64_t hits = 0;  // later look-ups: preparations that found it ready, not tiles it ran
};
// Every kernel generated so far, in order of generation.
std::vector<KernelInfo> generated_kernels();

}  // namespace fbg::kernels
