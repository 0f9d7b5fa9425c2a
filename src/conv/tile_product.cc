// See tile_product.h.
#include "conv/tile_product.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "conv/padding.h"
#include "gemm/partition.h"
#include "gemm/tile_loop.h"
#include "simd/kernels.h"

namespace fbg {

DepthPlan plan_depth(const ConvGeometry& g, const PackedFormat& format, std::int64_t run,
                     std::int64_t unit_groups, std::int64_t num_parts) {
  DepthPlan plan;
  const std::int64_t unit = unit_groups * format.kr, run_units = ceil_div(run, unit);
  const std::int64_t columns = std::max<std::int64_t>(g.kernel[2] * g.group_inputs() / run, 1);
  const std::int64_t count = g.depth() / run * run_units;
  const BalancedSplit split = BalancedSplit::split(count, ceil_div(count, num_parts));
  for (std::int64_t part = 0; part < split.count; ++part) {
    const std::int64_t begin = std::ssize(plan.runs);
    for (std::int64_t i = split[part].begin; i < split[part].end;) {
      const std::int64_t r = i / run_units, skipped = i % run_units;
      const std::int64_t units = std::min(run_units - skipped, split[part].end - i);
      const std::int64_t column = r % columns * g.dilation[2] * g.in_channels + skipped * unit;
      const std::int64_t elements = std::min(units * unit, run - skipped * unit);
      plan.runs.push_back({r / columns, column * format.a_bytes, i * unit_groups,
                           units * unit_groups, elements * format.a_bytes});
      i += units;
    }
    plan.parts.push_back({begin, std::ssize(plan.runs)});
  }
  return plan;
}

SourceOfA::SourceOfA(const ConvProblem& p, const TileKernels& kernels, std::int64_t rows,
                     std::int64_t run, std::int64_t unit_groups)
    : geometry(p.geometry),
      shape(p.shape),
      tile(kernels.tile),
      key(kernels.key),
      tiles(BalancedSplit::split(rows, tile.max_rows)),
      depth(plan_depth(geometry, tile.format, run, unit_groups)) {
  for (std::int64_t group = 0; group < geometry.groups; ++group)
    weights.push_back(&p.weights.panels(group, run, unit_groups * tile.format.kr));
}

namespace {

class TileProduct final : public ConvStep {
 public:
  TileProduct(const ConvProblem& p, std::unique_ptr<const SourceOfA> a)
      : a_(std::move(a)),
        outputs_(p.geometry.group_outputs()),
        padded_(round_up(outputs_, kPanelColumns)),
        terms_(a_->key.folds() ? p.geometry.groups * padded_ : 0),
        corrected_rows_(a_->key.corrections == Corrections::both ? a_->tile.max_rows : 0),
        kernels_of_rows_(simd::kernels(p.features).rows),
        runs_(std::ssize(a_->depth.runs)),
        last_part_(a_->depth.parts.size() - 1),
        is_unit_(a_->tile.block_groups > 1),
        panel_bytes_(a_->weights.front()->panel_bytes()),
        group_bytes_(p.format().b_group()),
        sum_ld_(tile_columns(a_->tile, std::max<std::int64_t>(a_->tiles.largest, 1)) *
                static_cast<std::int64_t>(sizeof(Value))),
        output_(a_->key.output()),
        threads_(p.threads) {
    make_kernels();
    Scratchpad counter(nullptr);
    lay_out(counter);
    thread_bytes_ = counter.bytes();
  }

  std::string kernel() const override {
    KernelKey key = part_key(a_->key, sums_of_part(last_part_));
    key.rows = static_cast<std::uint8_t>(std::max<std::int64_t>(a_->tiles.largest, 1));
    key.vectors = static_cast<std::uint8_t>(a_->tile.max_vectors[key.rows - 1]);
    return kernel_name(key);
  }
  bool widens() const noexcept override { return a_->tile.format.wide_a; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const std::int64_t per_image = a_->lines * a_->tiles.count;
    const Share share = tile_share(a_->shape.batch * per_image, a_->tiles.largest, outputs_,
                                   thread_id, num_threads);
    if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

    const KernelScope scope(a_->tile, a_->tiles.largest);
    Scratchpad memory(workspace + thread_id * thread_bytes_);
    Thread t = lay_out(memory);
    t.place = TilePlace(run.stages, run.c, run.grid.step[2]);
    // A place tells the stages of one tile at a time where their operands are, if rows are apart.
    const bool one_by_one = is_unit_ && run.grid.step[2] != 1;
    t.together = one_by_one ? 1 : last_part_ > 0 ? kPipelinedTiles : a_->block_tiles;
    t.waits = last_part_ == 0 && !one_by_one;
    PipelinedTiles pipelined(t.pipelined, runs_);
    std::int64_t image = -1;
    for (std::int64_t i = share.rows.begin; i < share.rows.end;) {
      const std::int64_t n = i / per_image, first = n * per_image;
      if (n != image) begin_image(run, image = n, t);
      const std::int64_t end = std::min({i + a_->block_tiles, share.rows.end, first + per_image});
      const Range tiles{i - first, end - first};
      a_->find_rows(run, n, tiles, t.padding, t.scratch, t.rows, t.segments);
      for (std::int64_t group = 0; group < a_->geometry.groups; ++group) {
        if (corrected_rows_ > 0) sum_rows(run.image_zero_point(n), tiles.size(), group, t);
        // The first block reads weights that are not near, unlike those after it.
        const std::int64_t fetch_end = i == share.rows.begin ? share.cols.end : 0;
        for_each_column_group(a_->tile, a_->tiles.largest, share.cols,
                              [&](const ColumnGroup& columns) {
                                run_columns(tiles.size(), group, columns, fetch_end, t, pipelined);
                              });
        pipelined.run();  // before terms of rows, or the rows of the block, are overwritten
      }
      i = end;
    }
  }

 private:
  // What a thread works with.
  struct Thread {
    std::byte* padding;  // pixels outside the image
    FoldedRequantization
        terms;       // [group][column of the group, padded]; none if kernels compute them
    float* a_scale;  // [row of a tile], if B has zero points, and so below
    std::int32_t* a_zero_point;
    std::int32_t* row_terms;  // [tile of the block][row]
    BlockPair* pairs;         // [run]
    TileRows* rows;           // [tile of the block]
    Segment* segments;        // [tile of the block][row of the kernel]
    std::byte* sums;          // [tile], where K has parts
    std::byte* pipelined;     // of PipelinedTiles
    std::byte* scratch;       // of the source
    TilePlace place;
    std::int64_t together;  // tiles that are multiplied by a part of K before the next part
    bool waits;             // whether tiles of several column groups are pipelined together
  };
  // What the tiles of a column group have in common.
  struct Columns {
    const ColumnGroup& group;
    std::int64_t channel, a_offset;  // the first channel of C, bytes to the first one of A
    const std::int32_t* b_sums;
    const std::byte* panel;
    // What is left of the next panel, which tiles fetch into the L2. Without it they fetch rows of
    // the next tile, or nothing that is not near.
    const std::byte *fetched = nullptr, *fetched_end = nullptr;
    TileArgs args{};
  };

  Thread lay_out(Scratchpad& memory) const {
    Thread t{};
    t.padding = memory.take<std::byte>(a_->padding_bytes);
    t.terms = {memory.take<float>(terms_), memory.take<std::int32_t>(terms_)};
    t.a_scale = memory.take<float>(corrected_rows_);
    t.a_zero_point = memory.take<std::int32_t>(corrected_rows_);
    t.row_terms = memory.take<std::int32_t>(a_->block_tiles * corrected_rows_);
    t.pairs = memory.take<BlockPair>(runs_);
    t.rows = memory.take<TileRows>(a_->block_tiles);
    t.segments = memory.take<Segment>(a_->block_tiles * a_->segments);
    t.sums = memory.take<std::byte>(last_part_ > 0 ? kPipelinedTiles * sum_bytes() : 0);
    t.pipelined = memory.take<std::byte>(is_unit_ ? PipelinedTiles::bytes(runs_) : 0);
    t.scratch = memory.take<std::byte>(a_->scratch_bytes);
    return t;
  }
  std::int64_t sum_bytes() const { return a_->tile.max_rows * sum_ld_; }
  // Bytes from the first channel of a pixel to the first one of a group.
  std::int64_t a_offset(std::int64_t group) const {
    return group * a_->geometry.group_inputs() * a_->tile.format.a_bytes;
  }

  Sums sums_of_part(std::size_t part) const { return sums_of(part == 0, part == last_part_); }
  const KernelTable& kernels_of(std::size_t part) const {
    return kernels_[static_cast<std::size_t>(sums_of_part(part))];
  }

  void make_kernels() {
    const BalancedSplit& tiles = a_->tiles;
    const std::int64_t lowest = std::max<std::int64_t>(tiles.largest - (tiles.count > 1), 1);
    for (std::size_t part = 0; part <= last_part_; ++part) {
      if (part > 1 && part < last_part_) continue;  // as part 1
      const Sums sums = sums_of_part(part);
      kernels_[static_cast<std::size_t>(sums)] =
          KernelTable(a_->tile, part_key(a_->key, sums), outputs_, lowest, tiles.largest);
    }
  }

  void begin_image(const ConvRun& run, std::int64_t n, Thread& t) const noexcept {
    run.padding(n, a_->tile.format.a_bytes).fill(t.padding, a_->padding_bytes);
    std::fill_n(t.a_scale, corrected_rows_, run.image_scale(n));
    std::fill_n(t.a_zero_point, corrected_rows_, run.image_zero_point(n));
    for (std::int64_t at = 0, col = 0; at < terms_; at += padded_, col += outputs_) {
      const PackedMatrix& b = *a_->weights[static_cast<std::size_t>(col / outputs_)];
      fold_requantization(a_->key, t.place.stages(), run.image_scale(n), run.image_zero_point(n),
                          b.scale(), b.col_offsets(), {col, col + outputs_}, padded_,
                          {t.terms.scale + at, t.terms.offset + at});
    }
  }

  // Finds what zero points of B are multiplied by, for all rows of a block: K * zA - (sum of the
  // row of A). Elements of two bytes are bytes and zeros.
  void sum_rows(std::int32_t zero_point, std::int64_t tiles, std::int64_t group,
                const Thread& t) const noexcept {
    const auto all = static_cast<std::int32_t>(a_->geometry.depth()) * zero_point;
    for (std::int64_t i = 0; i < tiles; ++i) {
      const TileRows& rows = t.rows[i];
      const bool picks = a_->key.row_mask;
      const std::int64_t count = picks ? std::ssize(rows.picked) : rows.height;
      for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t row = picks ? rows.picked[static_cast<std::size_t>(j)] : j;
        std::int32_t& term = t.row_terms[i * corrected_rows_ + j] = all;
        for (const DepthRun& run : a_->depth.runs) {
          const Segment& from = t.segments[i * a_->segments + run.row];
          const std::byte* const a = from.data + row * from.lda + run.offset + a_offset(group);
          term -= kernels_of_rows_.sum_row(reinterpret_cast<const std::uint8_t*>(a),
                                           static_cast<std::size_t>(run.bytes));
        }
      }
    }
  }

  // Multiplies all tiles of a block by one group of columns, whose panels stay near, and fetches
  // the panel of the next columns if those are before column `fetch_end`.
  void run_columns(std::int64_t tiles, std::int64_t group, const ColumnGroup& columns,
                   std::int64_t fetch_end, Thread& t, PipelinedTiles& pipelined) const noexcept {
    const std::int64_t col = columns.col, next = col + columns.columns;
    const PackedMatrix& b = *a_->weights[static_cast<std::size_t>(group)];
    const auto panel_of = [&](std::int64_t column) {
      return b.panels() + column / kPanelColumns * panel_bytes_ +
             column % kPanelColumns * (group_bytes_ / kPanelColumns);
    };
    const std::byte* const panel = panel_of(col);
    Columns c{columns, group * outputs_ + col, a_offset(group),
              b.col_offsets() ? b.col_offsets() + col : nullptr, panel};
    if (next < fetch_end) {
      c.fetched = panel_of(next);
      c.fetched_end = c.fetched + panel_bytes_;
    }
    c.args.columns = columns.columns;
    if (terms_ > 0) {
      c.args.b_scale = t.terms.scale + group * padded_ + col;
      c.args.col_offsets = t.terms.offset + group * padded_ + col;
    }
    if (corrected_rows_ > 0) {
      c.args.a_scale = t.a_scale;
      c.args.a_zero_point = t.a_zero_point;
      if (b.scale()) c.args.b_scale = b.scale() + col;
      c.args.b_zero_point = b.zero_point() + col;
      c.args.col_offsets = c.b_sums;
    }
    for (std::int64_t r = 0; const DepthRun& run : a_->depth.runs)
      t.pairs[r++] = {nullptr, 0, panel + run.first * group_bytes_, panel_bytes_, run.groups};
    // Tiles of one height follow each other.
    for (std::int64_t height = a_->tiles.largest;
         height >= std::max<std::int64_t>(a_->tiles.largest - 1, 1); --height)
      for (std::int64_t i = 0; i < tiles; i += t.together)
        run_tiles({i, std::min(i + t.together, tiles)}, tiles, height, c, t, pipelined);
  }

  // Multiplies the tiles of one height among tiles [indices.begin, indices.end) of `count`: all of
  // them by one part of K after the other. Where K is one part, tiles of several column groups are
  // given to a matrix unit together.
  void run_tiles(Range indices, std::int64_t count, std::int64_t height, Columns& c, Thread& t,
                 PipelinedTiles& pipelined) const noexcept {
    const bool pipelines = is_unit_ && PipelinedTiles::gains(a_->tile, height);
    TileArgs& common = c.args;
    for (std::size_t part = 0; part <= last_part_; ++part) {
      const Range runs = a_->depth.parts[part];
      const DepthRun* const depth_runs = a_->depth.runs.data() + runs.begin;
      const KernelTable::Entry& kernel =
          kernels_of(part).find(height, c.group.vectors, c.group.masked);
      common.key = &kernel.key;
      common.set_blocks({t.pairs + runs.begin, static_cast<std::size_t>(runs.size())});
      common.b_sums = part == 0 ? c.b_sums : nullptr;
      std::int64_t groups = 0;
      for (std::int64_t r = 0; r < runs.size(); ++r) groups += depth_runs[r].groups;
      std::byte* sums = t.sums;
      for (std::int64_t i = indices.begin; i < indices.end; ++i) {
        const TileRows& rows = t.rows[i];
        if (rows.height != height) continue;
        const PipelinedTiles::Tile tile = pipelines
                                              ? pipelined.add(kernel, common)
                                              : PipelinedTiles::Tile{common, t.pairs + runs.begin};
        TileArgs& args = tile.args;
        const Segment* const segments = t.segments + i * a_->segments;
        for (std::int64_t r = 0; r < runs.size(); ++r) {
          const Segment& segment = segments[depth_runs[r].row];
          tile.pairs[r].a = segment.data + depth_runs[r].offset + c.a_offset;
          tile.pairs[r].lda = segment.lda;
        }
        args.prefetch = is_unit_ ? nullptr : c.panel;
        if (c.fetched < c.fetched_end) {
          args.prefetch = c.fetched;
          c.fetched += a_->tile.format.fetched_bytes(groups);
        } else if (a_->fetches_rows && i + 1 < count) {
          args.prefetch = segments[1].data;
        }
        args.row_terms = t.row_terms + i * corrected_rows_;
        if (last_part_ > 0) {
          args.c = args.partial = std::exchange(sums, sums + sum_bytes());
          args.ldc = args.ldpartial = sum_ld_;
        }
        if (part == last_part_) {
          args.picked = rows.picked.data();
          args.num_picked = std::ssize(rows.picked);
          t.place.set(args, rows.first, c.channel, output_);
        }
        if (!pipelines) kernel.run(&args);
      }
      if (!t.waits) pipelined.run();
    }
  }

  const std::unique_ptr<const SourceOfA> a_;
  // Output channels of a group, the same in whole panels, and column terms of all groups.
  const std::int64_t outputs_, padded_, terms_;
  const std::int64_t corrected_rows_;  // of a tile, if B has zero points; otherwise 0
  const simd::RowKernels& kernels_of_rows_;
  const std::int64_t runs_;
  const std::size_t last_part_;
  const bool is_unit_;  // tiles of a matrix unit, whose K may have parts and whose rows be masked
  const std::int64_t panel_bytes_, group_bytes_, sum_ld_;
  const ValueType output_;
  const int threads_;
  std::array<KernelTable, 4> kernels_;  // by Sums
  std::int64_t thread_bytes_;
};

}  // namespace

std::unique_ptr<ConvStep> make_tile_product(const ConvProblem& p,
                                            std::unique_ptr<const SourceOfA> a) {
  return std::make_unique<TileProduct>(p, std::move(a));
}

}  // namespace fbg
