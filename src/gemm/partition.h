// How the work of a product is divided: among threads, into blocks of A, into tiles.
#pragma once

#include <cstdint>

#include "fbg/core/types.h"
#include "fbg/gemm/blocking.h"
#include "kernels/microkernel.h"

namespace fbg {

// The part of C that one thread computes.
struct Share {
  Range rows, cols;
};

// The number of parts into which num_threads threads divide the rows of C at the least cost. The
// threads of a part divide its columns among themselves.
// Rows are cut between units of `unit` rows.
int choose_row_parts(std::int64_t units, std::int64_t cols, int num_threads,
                     std::int64_t unit = 1) noexcept;

// Cuts C into a grid of num_threads parts, row_parts of them along its rows. A number of row parts
// that does not divide num_threads is replaced by choose_row_parts(). Columns are cut only between
// panels of B.
Share thread_share(std::int64_t rows, std::int64_t cols, int thread_id, int num_threads,
                   int row_parts = 0) noexcept;

// Number of rows in a block of A whose rows take `row_bytes` each: a multiple of mr.
// Of this CPU, where a blocking leaves it open.
int default_a_block_kib();
std::int64_t a_block_rows(const Blocking& blocking, std::int64_t row_bytes, std::int64_t mr);

// The limits of tiles if B has so many bytes.
TileLimits tile_limits(const Blocking& blocking, std::int64_t b_bytes);

// thread_share() for `tiles` tiles of up to `tile_rows` rows: the rows of the share count tiles.
// Few tiles cannot be divided evenly among every number of threads; then the columns are divided.
Share tile_share(std::int64_t tiles, std::int64_t tile_rows, std::int64_t cols, int thread_id,
                 int num_threads) noexcept;

}  // namespace fbg
