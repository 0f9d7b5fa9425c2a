// Counts allocations: malloc and its like, operator new (which calls it) and mmap. A test program
// that links allocations.cc has the C library's own functions replaced by counting ones.
#pragma once

#include <cstdint>

namespace fbg {

std::int64_t allocations() noexcept;  // of this thread
std::int64_t allocations_of_all_threads() noexcept;

}  // namespace fbg
