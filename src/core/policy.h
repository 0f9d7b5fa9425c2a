// Policy, as opposed to mechanism: into how large pieces work is cut so that they fit the caches,
// how many rows or columns share what was loaded, and how far ahead memory is fetched. All of it
// was measured, and none of it changes a bit of a result but the costs of convolutions, by which an
// algorithm is chosen.
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

// Costs of the parts of convolutions, for the models by which an algorithm is chosen
// (src/conv/cost.h). The unit is the time of one multiply-add of vectors, about 0.15 ns: the two
// ports of a core do two of them in a cycle. They are constants, and not measured by each process,
// because the choice decides about the rounding of floats: a result must not depend on what else
// the machine was doing. Where no other measurement is named, here and below, they were fitted to
// the times of whole convolutions (`bench/convolutions.py --algorithms` shows how well they predict
// the fastest algorithm).
namespace costs {

// Reading a byte again and again, by the cache that it comes from: measure_read() of
// kernels/peak.h. Up to about 2.5 times the size of the L2, prefetching hides most of the latency
// of the L3.
inline constexpr double kL2 = 0.08, kNearL3 = 0.1, kL3 = 0.25;
// The driver of products: 2 to 7 % of the time of convolutions.
inline constexpr double kDriver = 1.04;
// What follows a vector of sums: the stages of floats, or about ten instructions that requantize.
inline constexpr double kFloatFinish = 3, kByteFinish = 10;
// Instructions of a product on an A that was widened, and of one by narrow weights.
inline constexpr double kWidened = 2, kNarrow = 1.25;
// Integer products in tiles of 6 x 64 instead of 12 x 32: 3.00 instead of 2.83 multiply-adds per ns
// on each port.
inline constexpr double kWideTiles = 0.96;
// A matrix unit: a run, a block of k-groups, a tile of 16 rows in it, a row; and the k-groups that
// vector kernels add to sums in memory, for two tiles and for one.
inline constexpr double kUnitRun = 25, kUnitBlock = 11, kUnitTile = 27, kUnitRow = 2.5,
                        kTwoRests = 400, kOneRest = 160;
// im2col: a tap and a byte of a row that is gathered; floats displace others from the L1. What
// follows a vector of byte products, where the pipeline divides the scales of each row.
inline constexpr double kGatheredTap = 12, kGatheredByte = 0.125, kGatheredFloatByte = 0.25,
                        kRowScalesFinish = 24;
// block_diagonal: all runs consist of whole blocks, which implicit GEMM computes faster than a run
// with a remainder (32 groups of 16 channels at 14x14 take 55 us instead of 65).
inline constexpr double kWholeBlocks = 0.55;

}  // namespace costs

namespace implicit_gemm {

inline constexpr std::int64_t kBlockBytes = 512 * kKiB;  // segments copied for a block of tiles
inline constexpr std::int64_t kBlockTiles = 32;
// Costs: a tile, a tap of it; a segment that crosses a border, a byte of it.
inline constexpr double kTile = 60, kTap = 12, kSegment = 300, kCopied = 0.05;

}  // namespace implicit_gemm

namespace flattened_rows {

inline constexpr std::int64_t kBlockBytes = 512 * kKiB;  // lines copied for a block of tiles
inline constexpr std::int64_t kBlockTiles = 128;
// K is cut into parts of so many bytes where there are at least so many tiles.
inline constexpr std::int64_t kFewTiles = 8, kPartBytes = 56 * kKiB;
// Costs: a line that is copied, a byte of it; a row of a tile, without stages and with.
inline constexpr double kLine = 150, kCopied = 0.3, kFinish = 3, kWithStages = 6;
// For kernels of several rows with stride 1: at the same modelled cost, it takes 0.83 to 0.95 times
// as long as implicit GEMM.
inline constexpr double kSeveralRows = 0.95;

}  // namespace flattened_rows

namespace blocked_im2col {

inline constexpr std::int64_t kBlockBytes = 8 * kKiB;  // a block's patches, beside B in the L1
// Of a matrix unit: patches for enough tiles to pipeline, and rows of C in as many pages as the TLB
// holds for stores.
inline constexpr std::int64_t kUnitBlockBytes = 32 * kKiB, kUnitOutputBytes = 128 * kKiB;
// The driver of products reads whole pixels in place as well, and fills its tiles better. Here the
// rows of C are written one tile after the other, which takes 0.64 to 0.9 of the time where there
// are many long ones (64->256 at 56x56, 128->512 at 28x28), and 1.0 to 1.4 elsewhere.
inline constexpr std::int64_t kManyTiles = 16;
inline constexpr double kLongRows = 0.9, kOther = 1.1;
// Costs: products of patches; a run of a patch of bytes, a byte of it; a patch of bfloat16, a run,
// a byte. Several such runs begin in the middle of cache lines that the run before them has just
// written.
inline constexpr double kGathered = 1.1, kByteRun = 4, kByte = 0.125, kPatch = 60, kRun = 18,
                        kHalfByte = 0.24;
// What follows a vector of sums while a matrix unit multiplies the next tile, without stages and
// with.
inline constexpr double kFinishBeside = 2, kStagesBeside = 5;

}  // namespace blocked_im2col

namespace row_blocked {

inline constexpr std::int64_t kBlockStrips = 8;  // at least, of a block: the same weights serve all
// Costs besides the multiply-adds: a source, a strip, a pixel.
inline constexpr double kSource = 6, kStrip = 60, kPixel = 3;

}  // namespace row_blocked

namespace col2im {

inline constexpr std::int64_t kMostOutputs = 8;  // channels: more fill the lanes of other kernels

inline constexpr std::int64_t kSums = 4096;   // of a block, beside its products in the L1
inline constexpr std::int64_t kPixels = 112;  // of a product: whole tiles of the microkernels
// Costs: four sums of a place, a run of them, a product, what follows a vector, a line.
inline constexpr double kAdd = 1.5, kRun = 1, kProduct = 30, kFinish = 4, kLine = 200;

}  // namespace col2im

namespace channel_vectorized {

inline constexpr std::int64_t kBlockBytes = 40 * kKiB;  // interleaved rows of the image
// Costs: a lane that is filled by itself (20 times what lanes cost otherwise, with AVX2 without
// VNNI); reading pixels and the pipeline; building a source of rows and of channels, and a pair.
inline constexpr double kLane = 10, kRest = 11, kRowSource = 5, kChannelSource = 2,
                        kSourcePair = 0.4;
// Floats are four times as many bytes. Tiles read in place are copied where they cross a border.
inline constexpr double kFloats = 3, kFloatsInPlace = 1.7;

}  // namespace channel_vectorized

namespace sliding_window {

inline constexpr std::int64_t kLanesBytes = 24 * kKiB;  // beside the image in the L1
inline constexpr std::int64_t kRepeatedBytes = 32 * kKiB;
inline constexpr std::int64_t kLeastPixels = 16, kMaxPixels = 128;  // one step of an output row
// Costs, by the number of vectors of bytes: interleaving the rows of a column, and what follows the
// sums. Loading a vector: with weights from memory, 0.73 instead of 0.53 cycles.
inline constexpr double kBuild[5] = {0, 6, 7, 0, 9}, kFinish[5] = {0, 7, 7.5, 0, 14}, kLoad = 0.5;
// What follows the sums of quads and of pairs, and an instruction for pairs: three run in a cycle.
inline constexpr double kQuadFinish = 21, kPairFinish = 6, kInstruction = 0.7;
// Floats: a chain of multiply-adds, a vector, and code too long for the cache of decoded
// instructions.
inline constexpr double kChain = 8, kFloatVector = 3, kLongCode = 1.2;

}  // namespace sliding_window

namespace winograd {

inline constexpr std::int64_t kChannels = 64;             // of a transform
inline constexpr std::int64_t kScratchBytes = 16 * kKiB;  // of a transform: a part of the L1
// The least number of rows of a block that is not the whole image, in tiles of the microkernel.
inline constexpr std::int64_t kFewTiles = 2;
inline constexpr std::int64_t kMaxShared = 16 * kMiB;  // bytes of a block that threads share
// Costs: a tile, whatever its channels (3 channels at 9x9 take 4.2 us, 3.2 by implicit GEMM); a
// point of a vector of channels, and for each point along an axis; a product of a tile and a point;
// what a larger error must be worth, for each n.
inline constexpr double kTilePoint = 30, kPoint = 20, kTerm = 1.5, kProduct = 4, kError = 0.015;
// Weights of this size do not stay in the L3 beside those of the other layers of a network: a byte.
inline constexpr double kManyBytes = 8 << 20, kFar = 0.55;

}  // namespace winograd

namespace strassen {

inline constexpr std::int64_t kBlockRows = 48;  // rows of A: whole tiles of the microkernel
// Costs: a row of a product, a vector of a sum; what the larger error must be worth.
inline constexpr double kProduct = 3, kSum = 5, kError = 1.1;

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
