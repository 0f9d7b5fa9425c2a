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

namespace fbg {

void SourceOfA::pack_weights(const ConvProblem& p, std::int64_t run, std::int64_t unit) {
  for (std::int64_t group = 0; group < p.geometry.groups; ++group)
    weights.push_back(&p.weights.panels(group, run, unit));
}

namespace {

class TileProduct final : public ConvStep {
 public:
  TileProduct(const ConvProblem& p, std::unique_ptr<const SourceOfA> a)
      : a_(std::move(a)),
        batch_(p.shape.batch),
        inputs_(p.geometry.group_inputs()),
        outputs_(p.geometry.group_outputs()),
        padded_(round_up(outputs_, kPanelColumns)),
        terms_(a_->key.folds() ? p.geometry.groups * padded_ : 0),
        runs_(std::ssize(a_->runs)),
        last_part_(a_->parts.size() - 1),
        chains_(a_->tile.block_groups > 1),
        chain_(chains_ ? kChainedTiles : 1),
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
    const Share share =
        tile_share(batch_ * per_image, a_->tiles.largest, outputs_, thread_id, num_threads);
    if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

    const KernelScope scope(a_->tile, a_->tiles.largest);
    Scratchpad memory(workspace + thread_id * thread_bytes_);
    Thread t = lay_out(memory);
    t.place = TilePlace(run.stages, run.c, run.grid.step[2]);
    // A place tells the stages of one tile at a time where their operands are, if rows are apart.
    t.chain = run.grid.step[2] == 1 ? chain_ : 1;
    std::uninitialized_default_construct_n(t.args, chain_);
    std::int64_t image = -1;
    for (std::int64_t i = share.rows.begin; i < share.rows.end;) {
      const std::int64_t n = i / per_image, first = n * per_image;
      if (n != image) begin_image(run, image = n, t);
      const std::int64_t end = std::min({i + a_->block_tiles, share.rows.end, first + per_image});
      const Range tiles{i - first, end - first};
      a_->find_rows(run, n, tiles, t.padding, t.scratch, t.rows, t.segments);
      for (std::size_t group = 0; group < a_->weights.size(); ++group)
        for_each_column_group(
            a_->tile, a_->tiles.largest, share.cols, [&](const ColumnGroup& columns) {
              run_columns(tiles.size(), static_cast<std::int64_t>(group), columns, t);
            });
      i = end;
    }
  }

 private:
  // What a thread works with.
  struct Thread {
    std::byte* padding;  // what lies outside the image
    ColumnTerms terms;   // [group][column of the group, padded]; none if kernels compute them
    TileArgs* args;      // [tile of a chain]
    BlockPair* pairs;    // [tile of a chain][run]
    TileRows* rows;      // [tile of the block]
    Segment* segments;   // [tile of the block][row of the kernel]
    std::byte* sums;     // [tile of a chain], where K has parts
    std::byte* scratch;  // of the source
    TilePlace place;
    std::int64_t chain;  // tiles of a chain at most
    std::array<const TileRows*, kChainedTiles> chained;
    const std::int32_t* b_sums;  // of the column group
  };

  Thread lay_out(Scratchpad& memory) const {
    Thread t{};
    t.padding = memory.take<std::byte>(a_->padding_bytes);
    t.terms = {memory.take<float>(terms_), memory.take<std::int32_t>(terms_)};
    t.args = memory.take<TileArgs>(chain_);
    t.pairs = memory.take<BlockPair>(chain_ * runs_);
    t.rows = memory.take<TileRows>(a_->block_tiles);
    t.segments = memory.take<Segment>(a_->block_tiles * a_->segments);
    t.sums = memory.take<std::byte>(last_part_ > 0 ? chain_ * sum_bytes() : 0);
    t.scratch = memory.take<std::byte>(a_->scratch_bytes);
    return t;
  }
  std::int64_t sum_bytes() const { return a_->tile.max_rows * sum_ld_; }

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
    const std::int64_t element = a_->tile.format.a_bytes;
    fill_padding(t.padding, a_->padding_bytes / element, run.image_zero_point(n), element);
    for (std::int64_t at = 0, col = 0; at < terms_; at += padded_, col += outputs_) {
      const PackedMatrix& b = *a_->weights[static_cast<std::size_t>(col / outputs_)];
      fill_column_terms(a_->key, t.place.stages(), run.image_scale(n), run.image_zero_point(n),
                        b.scale(), b.col_offsets(), {col, col + outputs_}, padded_,
                        {t.terms.scale + at, t.terms.offset + at});
    }
  }

  // All tiles of a block against one group of columns, whose panels stay near.
  void run_columns(std::int64_t tiles, std::int64_t group, const ColumnGroup& columns,
                   Thread& t) const noexcept {
    begin_columns(std::min(t.chain, tiles), group, columns, t);
    const std::int64_t a_offset = group * inputs_ * a_->tile.format.a_bytes;
    const std::int64_t channel = group * outputs_ + columns.col;
    // Tiles of one height follow each other.
    for (const std::int64_t height : {a_->tiles.largest, a_->tiles.largest - 1}) {
      std::int64_t count = 0;
      const auto run_all = [&] { run_chain(std::exchange(count, 0), height, channel, columns, t); };
      for (std::int64_t i = 0; i < tiles; ++i) {
        if (t.rows[i].height != height) continue;
        const Segment* const segments = t.segments + i * a_->segments;
        BlockPair* pair = t.pairs + count * runs_;
        for (const DepthRun& run : a_->runs) {
          const Segment& segment = segments[run.row];
          pair->a = segment.data + run.offset + a_offset;
          pair++->lda = segment.lda;
        }
        if (a_->fetches_rows && i + 1 < tiles) t.args[count].prefetch = segments[1].data;
        if (!chains_) {
          t.place.set(*t.args, t.rows[i].first, channel, output_);
          run_tile(kernels_of(last_part_), columns, height, *t.args);
          continue;
        }
        t.chained[count] = &t.rows[i];
        if (++count == t.chain) run_all();
      }
      run_all();
    }
  }

  // What all tiles share, for those of a chain.
  void begin_columns(std::int64_t count, std::int64_t group, const ColumnGroup& columns,
                     Thread& t) const noexcept {
    const std::int64_t col = columns.col;
    const PackedMatrix& b = *a_->weights[static_cast<std::size_t>(group)];
    t.b_sums = b.col_offsets() ? b.col_offsets() + col : nullptr;
    const std::byte* const panel = b.panels() + col / kPanelColumns * panel_bytes_ +
                                   col % kPanelColumns * (group_bytes_ / kPanelColumns);
    BlockPair* pair = t.pairs;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const DepthRun& run : a_->runs)
        *pair++ = {nullptr, 0, panel + run.first * group_bytes_, panel_bytes_, run.groups};
      TileArgs& args = t.args[i];
      args.columns = columns.columns;
      args.set_blocks({t.pairs, static_cast<std::size_t>(runs_)});  // without a chain
      args.b_sums = t.b_sums;
      args.prefetch = a_->tile.block_groups > 1 ? nullptr : panel;
      if (terms_ == 0) continue;
      args.b_scale = t.terms.scale + group * padded_ + col;
      args.col_offsets = t.terms.offset + group * padded_ + col;
    }
  }

  // The tiles of a chain, which have one height: all of them by one part of K after the other.
  void run_chain(std::int64_t count, std::int64_t height, std::int64_t channel,
                 const ColumnGroup& columns, Thread& t) const noexcept {
    for (std::size_t part = 0; part <= last_part_; ++part) {
      const Range runs = a_->parts[part];
      for (std::int64_t i = 0; i < count; ++i) {
        TileArgs& args = t.args[i];
        const TileRows& rows = *t.chained[static_cast<std::size_t>(i)];
        args.set_blocks({t.pairs + i * runs_ + runs.begin, static_cast<std::size_t>(runs.size())});
        args.b_sums = part == 0 ? t.b_sums : nullptr;
        if (last_part_ > 0) {
          args.c = args.partial = t.sums + i * sum_bytes();
          args.ldc = args.ldpartial = sum_ld_;
        }
        if (part < last_part_) continue;
        args.picked = rows.picked.data();
        args.num_picked = std::ssize(rows.picked);
        t.place.set(args, rows.first, channel, output_);
      }
      run_tiles(a_->tile, kernels_of(part), columns, height,
                {t.args, static_cast<std::size_t>(count)});
    }
  }

  const std::unique_ptr<const SourceOfA> a_;
  const std::int64_t batch_, inputs_, outputs_;  // of a group: channels
  const std::int64_t padded_, terms_;  // columns of a group in whole panels; column terms in all
  const std::int64_t runs_;
  const std::size_t last_part_;
  const bool chains_;  // tiles of a matrix unit, whose K may have parts and whose rows be masked
  const std::int64_t chain_, panel_bytes_, group_bytes_, sum_ld_;
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
