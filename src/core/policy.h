// Policy, as opposed to mechanism: into how large pieces work is cut so that they fit the caches,
// how many rows or columns share what was loaded, and how far ahead memory is fetched. All of it
// was measured, and none of it changes a bit of a result.
//
// What a tuner may choose instead is a Blocking (fbg/gemm/blocking.h). Heights and widths of tiles
// follow from the registers of an instruction set: src/kernels/x64/families.cc and the one of
// aarch64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fbg::policy {

inline constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

namespace gemm {

// A block of A where the cost model chooses: half of the L2, so that B panels fit beside it, but
// within these bounds. B is read once for each block.
inline constexpr int kLeastABlockKib = 256, kMostABlockKib = 1024;
inline constexpr std::int64_t kMaxABlockRows = 1024;
// K is cut where a row of A has more bytes than this, so that a block still has several tiles of
// rows, and a panel of B of the same depth stays in the L2 meanwhile.
inline constexpr std::int64_t kDepthBytes = 4 * kKiB;
// Where K is cut, the columns whose sums are kept for the next block of k. Their scratch takes at
// most half as much as the block of A.
inline constexpr std::int64_t kCutColumns = 256;
// Columns of a gated C that are computed together: as many as so many bytes hold of both parts of
// A * B, which an L2 of 1 MiB keeps beside a block of A.
inline constexpr std::int64_t kGatedBytes = 256 * kKiB;
// Rows of each thread from which on a product quantizes its rows for those who read them, and from
// which on each thread computes the rows that it quantizes. With fewer, reading all of B for them
// costs more than it saves.
inline constexpr std::int64_t kQuantizedRows = 16, kWholeRows = 64;
// A C of this many bytes or more is written past the caches. It would no longer be in them when it
// is read, and this way its lines need not be read before they are written.
inline constexpr std::int64_t kStreamBytes = 8 * kMiB;
// Products of up to this many rows are one tile high for vector kernels of AVX-512. With weights of
// more bytes than an L2 holds, they are bound by memory.
inline constexpr std::int64_t kFewRows = 12, kManyWeights = 2 * kMiB;
// Costs of a thread besides tiles, in multiply-adds per k: quantizing an element of A costs as
// much as so many columns, and streaming a column of B as much as so many rows.
inline constexpr std::int64_t kPackColumns = 40, kStreamRows = 25;
// Tiles of up to so many rows span one panel of B, though more would fit. One stream of a B that is
// larger than the L2 is read faster than several; and where each sum has two accumulators, one
// panel hides the latency as well.
inline constexpr int kOnePanelRows = 6, kTwoAccumulatorRows = 4;
// Tiles that a matrix unit is given at a time.
inline constexpr std::int64_t kPipelinedTiles = 16;
// Inputs of 32 outputs that are converted at a time, so that they stay in the L1.
inline constexpr std::int64_t kPackedInputs = 256;
// Products of up to so many multiply-adds are the work of one thread.
inline constexpr double kSerialWork = 1 << 20;

}  // namespace gemm

// Bytes ahead of the K loop at which weights are fetched, into the L1 and into the L2. Prefetchers
// of CPUs stop where a page ends.
namespace prefetch {

inline constexpr int kNear = 4 << 10, kFar = 64 << 10;
inline constexpr int kNearNibbles = 8 << 10, kFarNibbles = 32 << 10;  // for 4-bit weights
inline constexpr int kPage = 4 << 10;
inline constexpr int kFewNibbleRows = 4;  // a product of so many is bound by memory

}  // namespace prefetch

namespace implicit_gemm {

inline constexpr std::int64_t kBlockBytes = 512 * kKiB;  // segments copied for a block of tiles
inline constexpr std::int64_t kBlockTiles = 32;

}  // namespace implicit_gemm

namespace flattened_rows {

inline constexpr std::int64_t kBlockBytes = 512 * kKiB;  // lines copied for a block of tiles
inline constexpr std::int64_t kBlockTiles = 128;
// K is cut into parts of so many bytes where there are at least so many tiles.
inline constexpr std::int64_t kFewTiles = 8, kPartBytes = 56 * kKiB;

}  // namespace flattened_rows

namespace blocked_im2col {

inline constexpr std::int64_t kBlockBytes = 8 * kKiB;  // a block's patches, beside B in the L1
// Of a matrix unit: patches for enough tiles to pipeline, and rows of C in as many pages as the TLB
// holds for stores.
inline constexpr std::int64_t kUnitBlockBytes = 32 * kKiB, kUnitOutputBytes = 128 * kKiB;

}  // namespace blocked_im2col

namespace row_blocked {

inline constexpr std::int64_t kBlockStrips = 8;  // at least, of a block: the same weights serve all

}  // namespace row_blocked

namespace col2im {

inline constexpr std::int64_t kMostOutputs = 8;  // channels: more fill the lanes of other kernels

inline constexpr std::int64_t kSums = 4096;   // of a block, beside its products in the L1
inline constexpr std::int64_t kPixels = 112;  // of a product: whole tiles of the microkernels

}  // namespace col2im

namespace channel_vectorized {

inline constexpr std::int64_t kBlockBytes = 40 * kKiB;  // interleaved rows of the image

}  // namespace channel_vectorized

namespace sliding_window {

inline constexpr std::int64_t kLanesBytes = 24 * kKiB;  // beside the image in the L1
inline constexpr std::int64_t kRepeatedBytes = 32 * kKiB;
inline constexpr std::int64_t kLeastPixels = 16, kMaxPixels = 128;  // one step of an output row

}  // namespace sliding_window

namespace winograd {

inline constexpr std::int64_t kChannels = 64;             // of a transform
inline constexpr std::int64_t kScratchBytes = 16 * kKiB;  // of a transform: a part of the L1
// The least number of rows of a block that is not the whole image, in tiles of the microkernel.
inline constexpr std::int64_t kFewTiles = 2;
inline constexpr std::int64_t kMaxShared = 16 * kMiB;  // bytes of a block that threads share

}  // namespace winograd

namespace strassen {

inline constexpr std::int64_t kBlockRows = 48;  // rows of A: whole tiles of the microkernel

}  // namespace strassen

namespace attention {

inline constexpr std::int64_t kScoreBytes = 24 * kKiB;  // stay in the L1 beside a panel of K or V
inline constexpr std::int64_t kProductRows = 96;        // of A, of a block of stacked products
inline constexpr std::int64_t kLongSequence = 64;       // tokens of a sequence that is long
inline constexpr std::int64_t kKeys = 2048;             // at a time, which stay in the L2 with V
inline constexpr std::int64_t kTilesOfKeys = 8;         // of queries, which read them one by one

}  // namespace attention

// Elements that a thread works on at a time, so that what one loop leaves is in the L1 for the
// next.
namespace tensors {

inline constexpr std::int64_t kExpression = 256;  // of each register of a long elementwise program
inline constexpr std::int64_t kRegisters = 8192;  // of all registers of a short one
inline constexpr std::int64_t kFloats = 1024;
inline constexpr std::int64_t kBytes = 4096;
inline constexpr std::int64_t kTransposedRows = 16;  // of a cache line each
inline constexpr std::int64_t kChannels = 64;        // of a window

}  // namespace tensors

namespace recurrent {

// Products of up to so many rows for each byte of a weight are bound by reading the weights.
inline constexpr std::int64_t kRowsPerByte = 2;
// Pieces that the L2 holds of weights that exceed it, and that are read in alternating order.
inline constexpr std::int64_t kPieces = 8;

}  // namespace recurrent

namespace tables {

inline constexpr std::int64_t kThreadBytes = 64 * kKiB;  // of rows that are worth a thread
inline constexpr std::int64_t kThreadRows = 64;          // of floats that are quantized
inline constexpr int kFartherAhead = 4;                  // times as many rows, from memory

}  // namespace tables

namespace search {

inline constexpr std::int64_t kBlockScores = 1 << 15;  // of a thread: they stay in its L2
inline constexpr std::int64_t kLeastRows = 16;         // of a block
// Of a block: more than caches keep. A single query then takes the time of reading its rows, and
// one row after the other is read at 29 GB/s, four side by side at 14 (Zen 4, float32).
inline constexpr std::size_t kStreamedBytes = 16 << 20;

}  // namespace search

}  // namespace fbg::policy
