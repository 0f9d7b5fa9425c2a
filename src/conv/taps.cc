// taps: a dense convolution as a product whose A is read where it lies.
//
// In a channels-last image the pixels under one row of the kernel are contiguous: (kx, channel) is
// one run of k. A tile of C is a run of output pixels of one output row, so that row i of A begins
// i * stride pixels further on, and the microkernel adds up one block pair per kernel row:
//
//   C[ox .. ox + mr) = sum over (kz, ky) of  x[oz * s + kz, oy * s + ky, ox * s ...] * w[kz, ky]
//
// With dilation along the width, or in groups, a run is the channels of one tap. Rows that lie
// outside the image are one buffer of padding, read with lda = 0. Segments that cross its left or
// right border (or whose last k-group would read beyond the tensor) are copied once per tile, with
// the padding, and serve all columns of C. Nothing else is copied.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/thread_memory.h"
#include "conv/tiles.h"
#include "core/policy.h"
#include "fbg/gemm/tile_loop.h"
#include "gemm/tile_share.h"

namespace fbg {
namespace {

// One run of k: `groups` k-groups from B's group `first` on, against the pixels of one kernel row.
struct TapRun {
  std::int64_t row;     // of the kernel: kz * kernel height + ky
  std::int64_t offset;  // bytes from the first pixel of the segment
  std::int64_t first, groups;
};

// Where the segment of a kernel row for a tile lies.
struct Segment {
  const std::byte* data;
  std::int64_t lda;
};

// What all groups of columns need to know of a tile.
struct TileRows {
  std::int64_t first, height;  // rows of C
};

// Elements of k in a run, and how many runs there are.
struct Runs {
  std::int64_t size, count;
};
Runs split_runs(const ConvGeometry& g) {
  const bool whole_rows = g.groups == 1 && g.dilation[2] == 1;
  const std::int64_t size = whole_rows ? g.kernel[2] * g.in_channels : g.group_inputs();
  return {size, g.depth() / size};
}

// A matrix unit multiplies whole blocks of each run, so for integers runs must be long enough.
// Floats use it where the other algorithms do, which see one run of the whole depth.
std::int64_t groups_at_a_time(const ConvProblem& p) {
  const std::int64_t depth = p.is_integer() ? split_runs(p.geometry).size : p.geometry.depth();
  return ceil_div(depth, p.format().kr);
}

Geometry taps_geometry(const ConvProblem& p) {
  return choose_geometry(p.family(), p.features, {}, groups_at_a_time(p));
}

class TapsStep final : public ConvStep {
 public:
  explicit TapsStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        tile_(conv_tile(p, taps_geometry(p), groups_at_a_time(p), p.shape.output[2])),
        key_(product_key(p, tile_)),
        output_(key_.output()),
        terms_(p.geometry, key_),
        tiles_(BalancedSplit::split(p.shape.output[2], tile_.max_rows)),
        kernels_(tile_, key_, p.geometry.group_outputs(), 1, p.shape.output[2]) {
    const ConvGeometry& g = geometry_;
    const bool whole_rows = g.groups == 1 && g.dilation[2] == 1;
    const std::int64_t run = split_runs(g).size;
    for (std::int64_t i = 0; i < g.groups; ++i) weights_.push_back(&p.weights.panels(i, run));
    element_ = tile_.format.a_bytes;
    pixel_ = g.in_channels * element_;
    const std::int64_t kr = p.format().kr, groups = ceil_div(run, kr);
    std::int64_t first = 0;
    for (std::int64_t row = 0; row < g.kernel[0] * g.kernel[1]; ++row)
      for (std::int64_t kx = 0; kx < (whole_rows ? 1 : g.kernel[2]); ++kx, first += groups)
        runs_.push_back({row, kx * g.dilation[2] * pixel_, first, groups});
    slack_ = groups * p.format().kr * element_ - run * element_;
    reach_ = g.dilation[2] * (g.kernel[2] - 1) + 1;
    segment_bytes_ = round_up(
        (std::max<std::int64_t>(tiles_.largest - 1, 0) * g.stride[2] + reach_) * pixel_ + slack_,
        64);
    const std::int64_t rows = g.kernel[0] * g.kernel[1];
    block_tiles_ = std::clamp<std::int64_t>(policy::taps::kBlockBytes / (segment_bytes_ * rows), 1,
                                            policy::taps::kBlockTiles);
    pad_bytes_ = round_up(reach_ * pixel_ + slack_, 64);
    MemoryCutter counter(nullptr);
    cut(counter);
    thread_bytes_ = counter.bytes();
    threads_ = p.threads;
  }

  std::string kernel() const override { return tallest_kernel_name(key_, tile_, tiles_); }
  bool widens() const noexcept override { return tile_.format.wide_a; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const Extent3& out = shape_.output;
    const std::int64_t lines = shape_.batch * out[0] * out[1], count = lines * tiles_.count;
    const Share share =
        tile_share(count, tiles_.largest, geometry_.group_outputs(), thread_id, num_threads);
    if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

    const KernelScope scope(tile_, tiles_.largest);
    MemoryCutter memory(workspace + thread_id * thread_bytes_);
    Thread t = cut(memory);
    t.place = TilePlace(run.stages, run.c, run.grid.step[2]);
    std::uninitialized_default_construct_n(t.args, kChainedTiles);

    for_each_block(
        share.rows, out[0] * out[1] * tiles_.count, block_tiles_,
        [&](std::int64_t n) { begin_image(run, n, t); },
        [&](std::int64_t, Range tiles) { run_block(run, tiles, share.cols, t); });
  }

 private:
  // What a thread works with.
  struct Thread {
    std::byte* padding;  // pixels of padding: what lies outside the image
    ColumnTerms terms;   // [group][column of the group, padded]
    TileArgs* args;      // [tile of a chain]
    BlockPair* pairs;    // [tile of a chain][run]
    TileRows* tiles;     // [tile of the block]
    Segment* segments;   // [tile of the block][kernel row]
    std::byte* copies;
    TilePlace place;
  };

  std::int64_t kernel_rows() const { return geometry_.kernel[0] * geometry_.kernel[1]; }

  Thread cut(MemoryCutter& memory) const {
    Thread t{};
    t.padding = memory.take<std::byte>(pad_bytes_);
    t.terms = terms_.take(memory);
    t.args = memory.take<TileArgs>(kChainedTiles);
    t.pairs = memory.take<BlockPair>(kChainedTiles * std::ssize(runs_));
    t.tiles = memory.take<TileRows>(block_tiles_);
    t.segments = memory.take<Segment>(block_tiles_ * kernel_rows());
    t.copies = memory.take<std::byte>(block_tiles_ * kernel_rows() * segment_bytes_);
    return t;
  }

  void begin_image(const ConvRun& run, std::int64_t n, Thread& t) const noexcept {
    fill_padding(t.padding, pad_bytes_ / element_, run.image_zero_point(n), element_);
    terms_.fill(run, n, t.place.stages(), weights_, t.terms);
  }

  struct Tile {
    std::int64_t image, z, y, x, height;  // first output pixel; pixels
  };
  Tile tile(std::int64_t index) const {
    const Extent3& out = shape_.output;
    const std::int64_t line = index / tiles_.count;
    const Range x = tiles_[index % tiles_.count];
    return {line / (out[0] * out[1]), line / out[1] % out[0], line % out[1], x.begin, x.size()};
  }

  // Finds or copies the segment of every kernel row for a tile.
  void find_segments(const ConvRun& run, const Tile& at, Segment* segments, std::byte* copies,
                     const Thread& t) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t x = at.x * g.stride[2] - g.pad_before[2];
    const std::int64_t width = (at.height - 1) * g.stride[2] + reach_;
    const std::int64_t lda = g.stride[2] * pixel_;
    for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz) {
      const std::int64_t z = at.z * g.stride[0] - g.pad_before[0] + kz * g.dilation[0];
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky, ++segments, copies += segment_bytes_) {
        const std::int64_t y = at.y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1];
        if (z < 0 || z >= shape_.input[0] || y < 0 || y >= shape_.input[1]) {
          *segments = {t.padding, 0};
          continue;
        }
        const std::byte* const line =
            run.x + at.image * run.batch_stride + z * run.strides[0] + y * run.strides[1];
        const std::byte* const data = line + x * run.strides[2];
        const bool inside = x >= 0 && x + width <= shape_.input[2] &&
                            data + width * pixel_ + slack_ <= run.end && run.strides[2] == pixel_;
        if (inside) {
          *segments = {data, lda};
          continue;
        }
        copy_padded(line, run.strides[2], shape_.input[2], x, width, pixel_, t.padding, copies);
        std::memset(copies + width * pixel_, 0, static_cast<std::size_t>(slack_));
        *segments = {copies, lda};
      }
    }
  }

  void run_block(const ConvRun& run, Range tiles, Range cols, Thread& t) const noexcept {
    const std::int64_t rows = kernel_rows();
    for (std::int64_t i = 0; i < tiles.size(); ++i) {
      const Tile at = tile(tiles.begin + i);
      t.tiles[i] = {run.grid.row(at.image, at.z, at.y, at.x), at.height};
      find_segments(run, at, t.segments + i * rows, t.copies + i * rows * segment_bytes_, t);
    }
    for (std::int64_t group = 0; group < geometry_.groups; ++group)
      for_each_column_group(tile_, tiles_.largest, cols, [&](const ColumnGroup& columns) {
        run_columns(run, tiles.size(), group, columns, t);
      });
  }

  // All tiles of a block against one group of columns, whose panels stay near.
  void run_columns(const ConvRun& run, std::int64_t tiles, std::int64_t group,
                   const ColumnGroup& columns, Thread& t) const noexcept {
    const std::int64_t col = columns.col;
    const PackedMatrix& b = *weights_[static_cast<std::size_t>(group)];
    const std::int64_t kGroupBytes = b.group_bytes();
    const std::byte* const panel = b.panels() + col / kPanelColumns * b.panel_bytes() +
                                   col % kPanelColumns * (kGroupBytes / kPanelColumns);
    const std::int64_t channel = group * geometry_.group_outputs() + col;
    const std::int64_t a_offset = group * geometry_.group_inputs() * element_;
    for (std::int64_t i = 0; i < kChainedTiles; ++i) {
      TileArgs& args = t.args[i];
      BlockPair* const pairs = t.pairs + i * std::ssize(runs_);
      args.set_blocks({pairs, runs_.size()});
      args.columns = columns.columns;
      if (b.col_offsets()) args.b_sums = b.col_offsets() + col;
      args.prefetch = tile_.block_groups > 1 ? nullptr : panel;
      terms_.set(args, t.terms, group, col);
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        pairs[r].b = panel + runs_[r].first * kGroupBytes;
        pairs[r].b_panel_stride = b.panel_bytes();
        pairs[r].groups = runs_[r].groups;
      }
    }
    // Tiles of one height follow each other. Where pixels of C are apart, a place tells the stages
    // of one tile at a time where their operands are.
    const std::int64_t longest = run.grid.step[2] == 1 ? kChainedTiles : 1;
    for (const std::int64_t height : {tiles_.largest, tiles_.largest - 1}) {
      std::int64_t count = 0;
      const auto run_chain = [&] {
        run_tiles(tile_, kernels_, columns, height,
                  {t.args, static_cast<std::size_t>(std::exchange(count, 0))});
      };
      for (std::int64_t i = 0; i < tiles; ++i) {
        if (t.tiles[i].height != height) continue;
        const Segment* const segments = t.segments + i * kernel_rows();
        BlockPair* const pairs = t.pairs + count * std::ssize(runs_);
        for (std::size_t r = 0; r < runs_.size(); ++r) {
          const Segment& segment = segments[runs_[r].row];
          pairs[r].a = segment.data + runs_[r].offset + a_offset;
          pairs[r].lda = segment.lda;
        }
        // Pixels of the next tile, which may lie in the L3.
        if (tile_.block_groups == 1 && kernel_rows() == 1 && i + 1 < tiles)
          t.args[count].prefetch = t.segments[i + 1].data;
        t.place.set(t.args[count], t.tiles[i].first, channel, output_);
        if (++count == longest) run_chain();
      }
      run_chain();
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const Geometry tile_;
  const KernelKey key_;
  const ValueType output_;
  const GroupTerms terms_;
  const BalancedSplit tiles_;  // of an output row
  const KernelTable kernels_;
  std::vector<const PackedMatrix*> weights_;  // by group
  std::vector<TapRun> runs_;
  std::int64_t element_, pixel_;  // bytes of an element and of a pixel of x
  std::int64_t reach_;            // pixels of a row under the kernel
  std::int64_t slack_;            // bytes that the last k-group of a run reads beyond it
  std::int64_t segment_bytes_, block_tiles_;
  std::int64_t pad_bytes_, thread_bytes_;
  int threads_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  // The sums of int16 kernels need the outliers of each pair; zero points of weights the sums of A.
  if (p.family() == Accumulator::int16 || g.transposed || p.b_has_zero_point()) return false;
  const Geometry tile = taps_geometry(p);
  if (p.is_integer())
    return !tile.format.wide_a || (g.in_channels % 4 == 0 && g.group_inputs() % 4 == 0);
  // What a k-group reads beyond its run meets weights of 0, which is harmless for integers only.
  // And blocks of a matrix unit must be those of an undivided depth, for the sums to have the same
  // bits.
  return split_runs(g).size % (tile.block_groups * p.format().kr) == 0;
}

double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = taps_geometry(p);
  const BalancedSplit tiles = BalancedSplit::split(p.shape.output[2], tile.max_rows);
  constexpr std::int64_t kEnds = 2;
  constexpr double kSegment = 300, kCopied = 0.05;  // a segment, a byte of it
  if (tiles.count == 0) return 0;
  const Runs runs = split_runs(g);
  const std::int64_t groups = ceil_div(runs.size, p.format().kr);
  const double vectors = static_cast<double>(ceil_div(g.group_outputs(), tile.lanes));
  const double lines = static_cast<double>(p.shape.batch * p.shape.output[0] * p.shape.output[1]);
  const double height = static_cast<double>(tiles.largest);
  // Requantizing a vector takes about ten instructions; a tile of few vectors waits for its sums.
  const double finish = p.is_integer() && !p.stages.empty() ? 10 : 3;
  const double products = tile_cost(tile, tiles.largest, groups, runs.count) *
                          relative_cost(p, tile, p.shape.output[2]);
  const double per_tile = products + height * finish + 60 + 12 * static_cast<double>(runs.count);
  // Segments that cross a border are copied: those of the first and the last tile of a line.
  const std::int64_t border =
      g.pad_before[2] + g.pad_after[2] > 0 ? std::min(tiles.count, kEnds) : 0;
  const double segment =
      (height * static_cast<double>(g.stride[2]) + static_cast<double>(g.kernel[2])) *
      static_cast<double>(g.in_channels) * p.format().a_bytes;
  const double copies =
      static_cast<double>(border * g.kernel[0] * g.kernel[1]) * (kSegment + segment * kCopied);
  return lines * (static_cast<double>(tiles.count * g.groups) * vectors * per_tile + copies);
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) { return std::make_unique<TapsStep>(p); }

}  // namespace

ConvMethod taps_method() { return {"taps", true, applies, cost, prepare, true}; }

}  // namespace fbg
