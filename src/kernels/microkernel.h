// The contract between driver and microkernels: one argument block, one key, one function type.
//
// A microkernel computes one tile: C[0..rows) x [0..columns) = pipeline(sum over blocks of A * B).
// It is geometry (rows, vectors) plus code. The same contract serves the JIT kernels, the portable
// reference and, through the list of block pairs, K tails, k-blocking and convolution by taps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "fbg/kernels/output.h"

namespace fbg {

// One contribution to the accumulators: `groups` k-groups of A rows against B panels.
//
// What `a` and `lda` mean depends on where the kernel finds the rows of A (ARows).
struct BlockPair {
  const void* a;                // row 0, or the array of pointers to rows
  std::int64_t lda;             // bytes between rows, or added to every pointer
  const void* b;                // first column of the tile in its panel
  std::int64_t b_panel_stride;  // bytes between panels
  std::int64_t groups;          // k / kr
};

struct KernelKey;

// What kernels of 4-bit weights (Int4) read in addition. They take `TileArgs::col` modulo the
// columns of a panel for the place of the tile in its panel.
struct Int4Args {
  // What the zero points of A are multiplied by: for each column, the sum of scale * q over all k.
  const float* weighted_offsets = nullptr;
  // What the offsets of groups, if there are any, are multiplied by: the sums of A over each group
  // of k. The sums of the rows of the tile follow each other.
  const float* group_sums = nullptr;
  std::int64_t ld_group_sums = 0;  // bytes from one group to the next
};

inline constexpr std::uint32_t kTileArgsVersion = 1;

struct TileArgs {
  std::uint32_t version = kTileArgsVersion;
  std::uint32_t reserved = 0;
  const BlockPair* pairs = nullptr;  // any number of them: see blocks()
  std::int64_t num_pairs = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;  // bytes
  // The raw sums that the tile starts from if its sums go on (KernelKey::sums); it may be c itself.
  // For int16 it has rows of whole vectors, which are added at the end unless this is null. A
  // kernel whose sums are int16 adds them to these rows after every spill_groups k-groups, so that
  // it needs them if there are more k-groups, and if there are several pairs.
  void* partial = nullptr;
  std::int64_t ldpartial = 0;  // bytes
  std::int64_t spill_groups = 0;
  std::int64_t columns = 0;       // valid columns of the tile; only the last vector may be partial
  std::int64_t row = 0, col = 0;  // of the tile's first element in C, for stage operands
  // For each row of the tile; null if the pipeline does not need them.
  const float* a_scale = nullptr;
  const std::int32_t* a_zero_point = nullptr;
  const std::int32_t* row_terms = nullptr;  // K * zA_i - row offset
  // For each column of the tile, readable up to the end of the panel.
  const float* b_scale = nullptr;
  const std::int32_t* b_zero_point = nullptr;
  const std::int32_t* col_offsets = nullptr;
  Int4Args int4;
  // The sums of the columns of B over all k of the tile, readable up to the end of the panel.
  // Kernels that multiply A - 128 by B add 128 times these to their sums. Null if nothing is to be
  // added: a tile may go on from sums to which this was added before.
  const std::int32_t* b_sums = nullptr;
  const StageArgs* stages = nullptr;
  // Where to prefetch PackedFormat::fetched_bytes() into the L2 while the tile is computed. Any
  // address is valid. Kernels of matrix units prefetch nothing if it is null.
  const void* prefetch = nullptr;
  const KernelKey* key = nullptr;  // read by the reference kernel only
  // The next tile of the same kernel, with as many columns if that is masked, or null: a kernel of
  // a matrix unit goes on with it, and finishes a tile while it multiplies the next one. Other
  // kernels do not read this.
  const TileArgs* next = nullptr;
  // With a row mask, the rows of the tile that have results, in increasing order. They go to
  // consecutive rows of C, which `row` and the arguments for each row count.
  const std::uint8_t* picked = nullptr;
  std::int64_t num_picked = 0;

  std::span<const BlockPair> blocks() const noexcept {
    return {pairs, static_cast<std::size_t>(num_pairs)};
  }
  void set_blocks(std::span<const BlockPair> blocks) noexcept {
    pairs = blocks.data();
    num_pairs = std::ssize(blocks);
  }
};

using TileFunction = void (*)(const TileArgs*);

// Where a kernel finds row i of A.
enum class ARows : std::uint8_t {
  strided,  // a + i * lda
  // a[i] + lda, where `a` is an array of pointers, one for each row of the tile: a convolution
  // reads pixels, or a row of padding, wherever they are. Tall tiles may not fit the registers.
  pointers,
  // Two rows at a time, lda bytes between pairs of rows: see src/gemm/interleave.h. `b` has the
  // columns of the tile alone, in the same way and in whole vectors.
  interleaved,
};

// Which part of K a kernel sums up. The pipeline runs on complete sums; others are stored as they
// are, in the type of the accumulator.
enum class Sums : std::uint8_t { whole, first, inner, last };
constexpr Sums sums_of(bool first, bool last) {
  return first ? (last ? Sums::whole : Sums::first) : (last ? Sums::last : Sums::inner);
}
// Whether they go on from TileArgs::partial instead of zero, and whether they are complete.
constexpr bool goes_on(Sums sums) { return sums == Sums::inner || sums == Sums::last; }
constexpr bool completes(Sums sums) { return sums == Sums::whole || sums == Sums::last; }

// Zero points that the integers of a pipeline are corrected for.
enum class Corrections : std::uint8_t {
  none,
  a,     // those of A: column offsets are needed
  both,  // and those of B: row offsets are needed as well
  // the corrections of A, where all rows have the same scale and zero point: b_scale and
  // col_offsets are not those of B but hold all that a column needs, see fold_requantization().
  folded,
};

// What a kernel does about caches.
enum class Caching : std::uint8_t {
  fetches_b,   // prefetches lines of B
  b_resident,  // does not: panels of B are read again and again, and are in the caches already
  streams_c,   // as fetches_b; whole aligned vectors of 32-bit results are written past the caches
};

// What a microkernel is generated for. K, strides, the number of valid columns and the parameters
// of stages are arguments.
struct KernelKey {
  GemmType gemm_type;
  bool group_offsets = false;  // of int4: groups have offsets
  bool narrow = false;         // of int32: the weights are narrow (feature::narrow_weights)
  Isa isa;
  std::uint8_t rows;     // mr
  std::uint8_t vectors;  // nr in vectors of the ISA
  bool masked = false;   // the last vector is partial
  ARows a = ARows::strided;
  // Only some rows of the tile have results. There are such kernels for matrix units and in
  // portable C++, for whole blocks of k-groups.
  bool row_mask = false;
  Sums sums = Sums::whole;
  Corrections corrections = Corrections::none;
  Caching caching = Caching::fetches_b;
  std::uint8_t num_stages = 0;
  std::array<StageCode, kMaxStages> stages{};
  friend bool operator==(const KernelKey&, const KernelKey&) = default;

  std::span<const StageCode> pipeline() const { return {stages.data(), num_stages}; }
  bool folds() const { return corrections == Corrections::folded; }
  // What the pipeline reads of the operands, and whether it reads TileArgs::row.
  bool reads_zero_points() const { return std::ranges::any_of(pipeline(), corrects_sums); }
  bool reads_scales() const { return std::ranges::any_of(pipeline(), scales_sums); }
  bool reads_rows_of_stages() const {
    return std::ranges::any_of(pipeline(), [](const StageCode& code) {
      return reads_matrix(code) || writes_extents(code.kind);
    });
  }
  ValueType output() const {
    if (num_stages) return stages[num_stages - 1].out;
    return is_integer(gemm_type) ? ValueType::acc : ValueType::float32;
  }
};

// gemm_<acc>_<a>_<b>_<mr>x<nr>_<isa>[_offsets][_narrow][_masked][_pointers | _interleaved][_picked]
// [_first | _inner | _last][_za | _za_zb | _folded][_kept | _stream]
// [_<stage>[_unit][_centered][_bounded]...]: the one name of a kernel, in the order of its key. The
// types around a stage follow from the accumulator and the stages before it, so that no two keys
// share a name.
std::string kernel_name(const KernelKey& key);

// The key of a kernel that sums up only a part of K. Unless it completes the sums, it has no
// pipeline and no row mask.
KernelKey part_key(KernelKey whole, Sums sums);

// Tile geometry of a GEMM type on an ISA.
struct Geometry {
  Isa isa;
  int lanes;                        // 32-bit lanes of a vector
  int max_rows;                     // mr of the tallest tile
  PackedFormat format;              // of the operands as the kernels read them
  bool spills;                      // sums are int16 and spilled
  std::array<int, 32> max_vectors;  // by tile height (index rows - 1)
  int block_groups = 1;             // where K is cut, at a multiple of so many k-groups
  int vector_rows = 0;              // tiles of up to this many rows need no KernelScope
  int interleaved_vectors = 0;      // of tiles whose operands are interleaved; 0: no such kernels
  bool narrow = false;              // kernels are exact for narrow weights only

  // The vectors of the widest tile of that height. Where rows are split into tiles, those that are
  // one row shorter than the others keep their width.
  int widest(int rows) const {
    const int own = max_vectors[static_cast<std::size_t>(rows - 1)];
    const bool has_taller = rows < max_rows && 2 * (rows + 1) > max_rows;
    return has_taller ? std::max(own, max_vectors[static_cast<std::size_t>(rows)]) : own;
  }
};

// Upper limits that a driver may set for its tiles; 0 leaves the choice to the table. If the ISA
// has no kernel for a limit, the nearest one that it has is taken.
struct TileLimits {
  int rows = 0;           // of the tallest tile
  int panels = 0;         // of B that the widest tile spans
  bool b_is_far = false;  // B is larger than the L2: one stream of it is read faster than several
};

// The best geometry within a set of features. There always is one: the generic family needs no
// feature. `groups` is the number of k-groups that a product sums up. A matrix unit, whose geometry
// needs a KernelScope, is chosen only if there are enough k-groups for it to gain; 0 excludes it.
Geometry choose_geometry(GemmType gemm_type, Features features, const TileLimits& limits = {},
                         std::int64_t groups = 0) noexcept;

// Sets this thread up for the kernels of a geometry, whose calls it must surround; `rows` is the
// height of the tallest tile. For tiles that a matrix unit computes, it configures the registers of
// the unit and releases them in the end, which costs a few hundred cycles; for others, such as the
// short tiles that geometries of a matrix unit leave to vector kernels, it does nothing. Scopes
// are not nested, and a thread does not sleep inside one: a tile register that is in use slows down
// switches between threads and keeps the core from saving power.
class KernelScope {
 public:
  KernelScope(const Geometry& geometry, std::int64_t rows) noexcept;
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const bool configured_;
};

// Finds or generates the microkernel; thread-safe. Throws std::invalid_argument for an ISA that the
// GEMM type has no family for, std::runtime_error where executable memory is denied or the tile
// does not fit the register file.
TileFunction find_kernel(const KernelKey& key);

// Requantization where all rows of A share a scale and a zero point: what is the same for all
// elements of a column is computed once for the column.
//
//   int32    x_ij - offset_j             offset_j = zA * colsum_j - the int32 biases of j
//   float32  float(x_ij) * scale_j       scale_j = sA * sB_j of Dequantize,
//                                                  (sA * sB_j) / scale of Requantize
//
// The operations and their order are those of the stages, so that results have the same bits.
struct FoldedRequantization {
  float* scale;
  std::int32_t* offset;
};
// Whether the offsets contain stage s, so that the kernel does not compute it.
bool is_folded(const KernelKey& key, int s) noexcept;
// `stages`, b_scale and col_offsets are what kernels read that do not fold. Columns of `cols` count
// from column 0 of C for the stages, and from 0 for the other arrays. The results are 0 from there
// up to `padded` columns: kernels compute all lanes of a vector, and a lane that holds a denormal
// number makes every operation on the vector take a hundred times as long.
void fold_requantization(const KernelKey& key, const StageArgs* stages, float a_scale,
                         std::int32_t a_zero_point, const float* b_scale,
                         const std::int32_t* col_offsets, Range cols, std::int64_t padded,
                         const FoldedRequantization& folded) noexcept;

// A store fence: other threads see what kernels have streamed before anything that this thread
// writes later.
void fence_streams() noexcept;

}  // namespace fbg
