// lines: a dense convolution of bytes on a matrix unit, whose tiles go on from one line of the
// output to the next.
//
// As in `taps`, A is read where the pixels lie, one run of k for each row of the kernel. But the
// lines of the image are copied first, one below the other with the padding between them. Output
// pixels of all lines, and a few positions between the lines, are then rows of one matrix:
//
//   position p = y * pitch + x     sums[p] = sum over ky of  copy[p * stride, line ky ...] * w[ky]
//
// The unit multiplies whole blocks of k: weights of zero belong to the pixels that follow a run in
// its last block. A tile has as many rows as the unit multiplies, wherever lines end. The kernel
// leaves out the rows that belong to no pixel (TileArgs::picked), because x is beyond the width of
// the output.
//
// K may be cut into parts (line_layout.h). Then all tiles of a chain are multiplied by one part of
// the weights, before the next part adds to their sums.
//
// With a stride along the height, lines with the same remainder modulo the stride are together: the
// lines that one row of the kernel reads follow each other. The padding after a line is the padding
// before the next one. Images without padding that lie in memory in this way are read in place.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "conv/line_layout.h"
#include "conv/padding.h"
#include "conv/thread_memory.h"
#include "fbg/gemm/tile_loop.h"
#include "gemm/tile_share.h"

namespace fbg {
namespace {

Geometry unit_geometry(const ConvProblem& p) {
  const LineLayout layout = lay_out_lines(p.geometry, p.shape);
  return choose_geometry(p.family(), p.features, {}, layout.padded / p.format().kr);
}

class LinesStep final : public ConvStep {
 public:
  explicit LinesStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        layout_(lay_out_lines(p.geometry, p.shape)),
        tile_(unit_geometry(p)),
        key_(picking_key(p, tile_)),
        output_(key_.output()),
        terms_(p.geometry, key_),
        tiles_(BalancedSplit::split(layout_.positions, tile_.max_rows)),
        pixel_(p.geometry.in_channels),
        line_positions_(layout_.pitch / p.geometry.stride[2]),
        threads_(p.threads) {
    const ConvGeometry& g = geometry_;
    for (std::int64_t i = 0; i < g.groups; ++i)
      weights_.push_back(&p.weights.panels(i, layout_.run, kBlockBytes));
    const std::int64_t columns =
        std::min(tile_columns(tile_, tiles_.largest), round_up(g.group_outputs(), tile_.lanes));
    cut_depth(g, layout_, count_depth_parts(g, layout_, tiles_, columns), runs_, parts_);
    make_kernels();
    list_picked_rows();
    const BlockLines lines{geometry_, shape_, layout_, tiles_};
    line_bytes_ = lines.line_bytes();
    block_tiles_ = std::max<std::int64_t>(lines.most_tiles(), 1);
    remainder_bytes_ = lines.remainder_bytes(block_tiles_);
    lines_bytes_ = lines.bytes(block_tiles_);
    pad_bytes_ = round_up(pixel_, 64);
    MemoryCutter counter(nullptr);
    cut(counter);
    thread_bytes_ = counter.bytes();
  }

  std::string kernel() const override {
    KernelKey last = key_;
    last.load_c = parts_.size() > 1;
    return tallest_kernel_name(last, tile_, tiles_);
  }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const std::int64_t count = shape_.batch * tiles_.count, columns = geometry_.group_outputs();
    const Share share = tile_share(count, tiles_.largest, columns, thread_id, num_threads);
    if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

    const KernelScope scope(tile_, tiles_.largest);
    MemoryCutter memory(workspace + thread_id * thread_bytes_);
    Thread t = cut(memory);
    t.place = TilePlace(run.stages, run.c, 1);
    std::uninitialized_default_construct_n(t.args, kChainedTiles);

    for_each_block(
        share.rows, tiles_.count, block_tiles_, [&](std::int64_t n) { begin_image(run, n, t); },
        [&](std::int64_t n, Range tiles) {
          const std::int64_t first = n * tiles_.count;
          run_block(run, n, {tiles.begin - first, tiles.end - first}, share.cols, t);
        });
  }

 private:
  // What a thread works with.
  struct Thread {
    std::byte* padding;  // a pixel of padding
    ColumnTerms terms;   // [group][column of the group, padded]
    TileArgs* args;      // [tile of a chain]
    BlockPair* pairs;    // [tile of a chain][run]
    std::byte* sums;     // [tile of a chain], where K is cut
    std::byte* lines;    // [remainder modulo the stride][line]
    TilePlace place;
  };

  Thread cut(MemoryCutter& memory) const {
    Thread t{};
    t.padding = memory.take<std::byte>(pad_bytes_);
    t.terms = terms_.take(memory);
    t.args = memory.take<TileArgs>(kChainedTiles);
    t.pairs = memory.take<BlockPair>(kChainedTiles * std::ssize(runs_));
    t.sums = memory.take<std::byte>(parts_.size() > 1 ? kChainedTiles * sum_bytes_ : 0);
    t.lines = memory.take<std::byte>(lines_bytes_);
    return t;
  }

  // Sums of a part of k.
  static KernelKey raw_key(const Geometry& tile) {
    return make_kernel_key(tile, Accumulator::int32, {}, false, false, false);
  }

  static KernelKey picking_key(const ConvProblem& p, const Geometry& tile) {
    KernelKey key = conv_kernel_key(p, tile);
    key.picks_rows = true;
    return key;
  }

  // Those of the first part of k, of the parts between it and the last, and of the last.
  void make_kernels() {
    const std::int64_t lowest = tiles_.largest - (tiles_.count > 1);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (part > 1 && part + 1 < parts_.size()) continue;
      KernelKey key = key_;
      if (part + 1 < parts_.size()) key = raw_key(tile_);
      key.load_c = part > 0;
      kernels_[kernel_index(part)] =
          KernelTable(tile_, key, geometry_.group_outputs(), lowest, tiles_.largest);
    }
    sum_ld_ = tile_columns(tile_, tiles_.largest) * static_cast<std::int64_t>(sizeof(Value));
    sum_bytes_ = tile_.max_rows * sum_ld_;
  }
  std::size_t kernel_index(std::size_t part) const {
    return part + 1 == parts_.size() ? 2 : part > 0;
  }

  // picked_[x] is the list of those rows of the tallest tile that belong to pixels, if its first
  // row is position x of a line; lower tiles have the beginning of the list.
  void list_picked_rows() {
    picked_.resize(static_cast<std::size_t>(line_positions_));
    for (std::int64_t x = 0; x < line_positions_; ++x)
      for (std::int64_t row = 0; row < tile_.max_rows; ++row)
        if ((x + row) % line_positions_ < shape_.output[2])
          picked_[static_cast<std::size_t>(x)].push_back(static_cast<std::uint8_t>(row));
  }

  void begin_image(const ConvRun& run, std::int64_t n, Thread& t) const noexcept {
    fill_padding(t.padding, pad_bytes_, run.image_zero_point(n), 1);
    terms_.fill(run, n, t.place.stages(), weights_, t.terms);
  }

  // The lines of image n that output lines `lines` read.
  void copy_lines(const ConvRun& run, std::int64_t n, Range lines, const Thread& t) const noexcept {
    const ConvGeometry& g = geometry_;
    for (std::int64_t remainder = 0; remainder < g.stride[1]; ++remainder) {
      std::int64_t first = -1, last = -1;  // of this remainder, counted from the block's first line
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky) {
        if (ky * g.dilation[1] % g.stride[1] != remainder) continue;
        last = ky * g.dilation[1] / g.stride[1];
        if (first < 0) first = last;
      }
      if (first < 0) continue;  // no row of the kernel reads any of these lines
      for (std::int64_t i = first; i < last + lines.size(); ++i) {
        std::byte* const to = t.lines + remainder * remainder_bytes_ + i * layout_.pitch * pixel_;
        const std::int64_t y = (lines.begin + i) * g.stride[1] + remainder - g.pad_before[1];
        if (y < 0 || y >= shape_.input[1])
          fill_padding(to, line_bytes_, run.image_zero_point(n), 1);
        else
          copy_padded(run.x + n * run.batch_stride + y * run.strides[1], run.strides[2],
                      shape_.input[2], -g.pad_before[2], line_bytes_ / pixel_, pixel_, t.padding,
                      to);
      }
    }
  }

  void run_block(const ConvRun& run, std::int64_t n, Range tiles, Range cols,
                 Thread& t) const noexcept {
    Range lines{tiles_[tiles.begin].begin / line_positions_,
                (tiles_[tiles.end - 1].end - 1) / line_positions_ + 1};
    const std::byte* from = run.x + n * run.batch_stride;
    if (is_in_place(run, from)) {
      lines.begin = 0;
    } else {
      copy_lines(run, n, lines, t);
      from = t.lines;
    }
    for (std::int64_t group = 0; group < geometry_.groups; ++group)
      for_each_column_group(tile_, tiles_.largest, cols, [&](const ColumnGroup& columns) {
        run_columns(n, tiles, from, lines.begin, group, columns, t);
      });
  }

  // A tile is loaded in twice the time where its rows are not whole cache lines.
  bool is_in_place(const ConvRun& run, const std::byte* image) const {
    return reads_in_place(geometry_, layout_, shape_) && run.strides[2] == pixel_ &&
           run.strides[1] == layout_.pitch * pixel_ &&
           reinterpret_cast<std::uintptr_t>(image) % kLineBytes == 0;
  }

  // All tiles of a block against one group of columns, whose panels stay near. The first of the
  // lines that are at `lines` belongs to line `first_line` of the output.
  void run_columns(std::int64_t n, Range tiles, const std::byte* lines, std::int64_t first_line,
                   std::int64_t group, const ColumnGroup& columns, Thread& t) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t col = columns.col;
    const PackedMatrix& b = *weights_[static_cast<std::size_t>(group)];
    const std::int64_t kGroupBytes = b.group_bytes();
    const std::byte* const panel = b.panels() + col / kPanelColumns * b.panel_bytes() +
                                   col % kPanelColumns * (kGroupBytes / kPanelColumns);
    const std::int64_t channel = group * g.group_outputs() + col;
    for (std::int64_t i = 0; i < kChainedTiles; ++i) {
      TileArgs& args = t.args[i];
      BlockPair* const pairs = t.pairs + i * std::ssize(runs_);
      args.columns = columns.columns;
      args.prefetch = nullptr;
      terms_.set(args, t.terms, group, col);
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        pairs[r].lda = g.stride[2] * pixel_;
        pairs[r].b = panel + runs_[r].first * kGroupBytes;
        pairs[r].b_panel_stride = b.panel_bytes();
        pairs[r].groups = runs_[r].groups;
      }
    }
    // Tiles of one height follow each other.
    for (std::int64_t i = tiles.begin; i < tiles.end;) {
      const std::int64_t begin = i, height = tiles_[i].size();
      while (i < tiles.end && i - begin < kChainedTiles && tiles_[i].size() == height) ++i;
      const std::byte* const from = lines + group * g.group_inputs();
      run_chain(n, {begin, i}, from, first_line, channel, columns, t);
    }
  }

  // Tiles of one height, whose arguments have what all tiles share.
  void run_chain(std::int64_t n, Range tiles, const std::byte* lines, std::int64_t first_line,
                 std::int64_t channel, const ColumnGroup& columns, Thread& t) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t height = tiles_[tiles.begin].size(), width = shape_.output[2];
    for (std::int64_t i = 0; i < tiles.size(); ++i) {
      const std::int64_t first = tiles_[tiles.begin + i].begin;
      const std::byte* const a = lines +
                                 (first / line_positions_ - first_line) * layout_.pitch * pixel_ +
                                 first % line_positions_ * g.stride[2] * pixel_;
      BlockPair* pair = t.pairs + i * std::ssize(runs_);
      for (const LineRun& run : runs_) {
        const std::int64_t line = run.row * g.dilation[1];
        pair++->a = a + line % g.stride[1] * remainder_bytes_ +
                    line / g.stride[1] * layout_.pitch * pixel_ +
                    run.column * g.dilation[2] * pixel_ + run.offset;
      }
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const Range runs = parts_[part];
      for (std::int64_t i = 0; i < tiles.size(); ++i) {
        TileArgs& args = t.args[i];
        args.set_blocks(
            {t.pairs + i * std::ssize(runs_) + runs.begin, static_cast<std::size_t>(runs.size())});
        args.partial = t.sums + i * sum_bytes_;
        args.ldpartial = sum_ld_;
        args.c = args.partial;
        args.ldc = args.ldpartial;
        if (part + 1 < parts_.size()) continue;
        const Range positions = tiles_[tiles.begin + i];
        const std::int64_t y = positions.begin / line_positions_,
                           x = positions.begin % line_positions_;
        const std::vector<std::uint8_t>& picked = picked_[static_cast<std::size_t>(x)];
        args.picked = picked.data();
        args.num_picked = std::ranges::lower_bound(picked, height) - picked.begin();
        t.place.set(args, n * volume(shape_.output) + y * width + std::min(x, width), channel,
                    output_);
      }
      run_tiles(tile_, kernels_[kernel_index(part)], columns, height,
                {t.args, static_cast<std::size_t>(tiles.size())});
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const LineLayout layout_;
  const Geometry tile_;
  const KernelKey key_;
  const ValueType output_;
  const GroupTerms terms_;
  const BalancedSplit tiles_;          // of the positions of an image
  const std::int64_t pixel_;           // bytes
  const std::int64_t line_positions_;  // from one line of the output to the next
  const int threads_;
  std::vector<const PackedMatrix*> weights_;  // by group
  std::vector<LineRun> runs_;
  std::vector<Range> parts_;  // of k: runs
  std::array<KernelTable, 3> kernels_;
  std::int64_t sum_ld_, sum_bytes_;                // of the sums of a tile
  std::vector<std::vector<std::uint8_t>> picked_;  // by position in a line
  std::int64_t block_tiles_, remainder_bytes_;
  std::int64_t line_bytes_, lines_bytes_, pad_bytes_, thread_bytes_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  if (!covers_lines(g, p.shape) || p.b_has_zero_point()) return false;
  const LineLayout l = lay_out_lines(p.geometry, p.shape);
  if (l.padded != l.run && volume(g.kernel) == 1) return false;  // pixels are patches: no copies
  const Geometry unit = unit_geometry(p);
  const BalancedSplit tiles = BalancedSplit::split(l.positions, unit.max_rows);
  return unit.block_groups * p.format().kr == kBlockBytes && tiles.largest - 1 > unit.vector_rows &&
         BlockLines{g, p.shape, l, tiles}.most_tiles() > 0;
}

double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const LineLayout l = lay_out_lines(p.geometry, p.shape);
  const Geometry unit = unit_geometry(p);
  const BalancedSplit tiles = BalancedSplit::split(l.positions, unit.max_rows);
  const double vectors = static_cast<double>(g.groups * ceil_div(g.group_outputs(), unit.lanes));
  const std::int64_t groups = l.padded / p.format().kr;
  const double per_tile = tile_cost(unit, tiles.largest, groups, g.depth() / l.run) +
                          static_cast<double>(tiles.largest) * (p.stages.empty() ? 3 : 6);
  constexpr double kLine = 150, kCopied = 0.3;  // a line, a byte of it
  const BlockLines block{g, p.shape, l, tiles};
  const std::int64_t block_tiles = std::max<std::int64_t>(block.most_tiles(), 1);
  const auto lines = static_cast<double>(ceil_div(tiles.count, block_tiles) * g.stride[1] *
                                         block.count(block_tiles));
  const double copies =
      reads_in_place(g, l, p.shape)
          ? 0
          : lines * (kLine + kCopied * static_cast<double>(l.pitch * g.in_channels));
  // Measured for kernels of several rows with stride 1: of equal modelled costs, lines take 0.83 to
  // 0.95 times as long as taps.
  const bool several_rows = g.kernel[1] > 1 && g.stride[1] == 1 && g.stride[2] == 1;
  const double faster = several_rows ? 0.95 : 1.0;
  return static_cast<double>(p.shape.batch) *
         (static_cast<double>(tiles.count) * vectors * per_tile + copies) * faster;
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) { return std::make_unique<LinesStep>(p); }

}  // namespace

ConvMethod lines_method() {
  return {"lines", true, applies, cost, prepare, false, true, only<Accumulator::int32>};
}

}  // namespace fbg
