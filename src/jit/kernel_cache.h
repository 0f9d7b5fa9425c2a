// Generated kernels by key: made once, kept for the life of the process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fbg/microkernel.h"

namespace fbg::jit {

// Thread-safe. Null when no generator applies; throws std::runtime_error where executable memory is
// denied.
TileFunction find_or_generate(const KernelKey& key);

struct KernelInfo {
  KernelKey key;
  std::size_t bytes;
};
// Every kernel generated so far, in order of generation.
std::vector<KernelInfo> generated_kernels();

}  // namespace fbg::jit
