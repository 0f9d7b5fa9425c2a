// Shares of threads whose rows are cut between tiles.
#pragma once

#include <cstdint>

#include "fbg/gemm/gemm.h"

namespace fbg {

// thread_share() for `tiles` tiles of up to `tile_rows` rows: the rows of the share count tiles.
// Few tiles cannot be divided evenly among every number of threads; then the columns are divided.
Share tile_share(std::int64_t tiles, std::int64_t tile_rows, std::int64_t cols, int thread_id,
                 int num_threads) noexcept;

}  // namespace fbg
