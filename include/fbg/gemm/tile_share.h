// Shares of threads whose rows are cut between tiles.
#pragma once

#include <cstdint>

#include "fbg/gemm/gemm.h"

namespace fbg {

// thread_share() of `tiles` tiles, of up to `tile_rows` rows, in place of rows: few tiles are not
// divided evenly by every number of parts, so that columns may be. The rows of the share are tiles.
Share tile_share(std::int64_t tiles, std::int64_t tile_rows, std::int64_t cols, int thread_id,
                 int num_threads) noexcept;

}  // namespace fbg
