// The loops of GemmDriver, and what they are prepared from.
#include "gemm/driver.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "core/memory.h"
#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "fbg/gemm/gemm.h"
#include "gemm/interleave.h"
#include "gemm/tile_loop.h"

// GCC does not inline functions of this length, so that what they refer to is in memory, which
// would cost 15 ns for a tile.
#define FBG_INLINE __attribute__((always_inline))

namespace fbg {
namespace {

// Bytes of the largest tile of 32-bit values.
std::int64_t tile_bytes(const Geometry& geometry) noexcept {
  std::int64_t vectors = 0;
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    vectors = std::max<std::int64_t>(vectors, rows * geometry.max_vectors[rows - 1]);
  return round_up(vectors * geometry.lanes * static_cast<std::int64_t>(sizeof(Value)), 64);
}

// The number of k-groups for choose_geometry(); 0, which rules a matrix unit out, if that would
// only wait for memory: a product of few rows that reads more weights than an L2 holds is bound by
// memory, and vector kernels prefetch weights better than loads of tiles do. Only int32 sums, which
// are exact, may depend on the number of rows in this way.
std::int64_t geometry_groups(GemmType gemm_type, const PanelLayout& b,
                             std::int64_t max_m) noexcept {
  const bool waits = gemm_type == GemmType::int32 && max_m <= policy::gemm::kFewRows &&
                     b.k * b.n > policy::gemm::kManyWeights;
  return waits ? 0 : b.groups;
}

KernelKey make_key(const Geometry& geometry, const ProductTypes& types,
                   std::span<const Stage> stages, const PanelLayout& b) {
  const KernelKey key = make_kernel_key(geometry, types.gemm_type, stages, types.a_has_scale,
                                        b.has_scale, b.has_zero_point);
  const std::int64_t limit = stages.empty() ? kMaxDepthRaw : kMaxDepthCorrected;
  if (is_integer(types.gemm_type) && b.k > limit)
    throw std::invalid_argument("gemm: K = " + std::to_string(b.k) + " exceeds " +
                                std::to_string(limit) + ", the most that int32 sums hold exactly");
  return key;
}

// Checks what a gate needs of the product before it.
void check_gate(const PanelLayout& b, ValueType output) {
  if (b.n % (2 * kPanelColumns) != 0)
    throw std::invalid_argument("gemm: N of a gated product must be a multiple of " +
                                std::to_string(2 * kPanelColumns) + ", got " + std::to_string(b.n));
  if (output != ValueType::float32)
    throw PipelineTypeError("gemm: stages before a gate must end in float32");
}

}  // namespace

PanelLayout::PanelLayout(const PackedMatrix& b)
    : format(b.format().packed),
      k(b.rows()),
      n(b.cols()),
      groups(b.groups()),
      group_bytes(b.group_bytes()),
      panel_bytes(b.panel_bytes()),
      column_bytes(format.b_column_group()),
      has_scale(b.scale() != nullptr),
      has_zero_point(b.header().has_zero_point != 0) {}

bool PanelLayout::is_of(const PackedMatrix& b) const {
  return b.rows() == k && b.cols() == n && (b.scale() != nullptr) == has_scale &&
         (b.header().has_zero_point != 0) == has_zero_point;
}

Depth::Depth(GemmType gemm_type, const Geometry& geometry, std::int64_t groups, std::int64_t max_m)
    : groups_(groups),
      unit_(gemm_type == GemmType::float16     ? kHalfDepth
            : geometry.interleaved_vectors > 0 ? 2
                                               : geometry.block_groups) {
  const BalancedSplit cut = split(policy::gemm::kDepthBytes / geometry.format.a_group());
  const std::int64_t all = round_up(std::max<std::int64_t>(groups, 1), unit_);
  // Kernels add int16 sums to int32 sums themselves, in the scratch of the tile.
  cuts_ = cut.count > 1 && max_m > geometry.max_rows && gemm_type != GemmType::int16;
  longest_ = cuts_ ? cut.largest * unit_ : all;
  blocks_ = split(longest_);
  whole_ = split(all);
}

BalancedSplit Depth::split(std::int64_t max_groups) const {
  return BalancedSplit::split(std::max<std::int64_t>(ceil_div(groups_, unit_), 1),
                              max_groups / unit_);
}

ProductKernels::ProductKernels(const Geometry& geometry, const KernelKey& whole, const Depth& depth,
                               const PipelineView& pipeline, bool reads_again, std::int64_t n,
                               std::int64_t max_m)
    : output(pipeline.finish ? pipeline.output : whole.output()),
      has_functors(pipeline.finish != nullptr),
      pipelined(!has_functors && whole.gemm_type != GemmType::int16),
      interleaves(geometry.interleaved_vectors > 0 && geometry.max_rows >= 2 &&
                  max_m > geometry.max_rows) {
  // Interleaving gains where several tiles share the result. Short tiles then have the width of
  // tall ones.
  Geometry wide = geometry;
  if (interleaves) {
    wide.max_rows = geometry.max_rows / 2 * 2;
    wide.max_vectors.fill(geometry.interleaved_vectors);
  }
  for (const Sums sums : {Sums::whole, Sums::first, Sums::inner, Sums::last}) {
    if (sums != Sums::whole && !depth.cuts()) continue;
    KernelKey key = part_key(whole, sums);
    const auto part = static_cast<std::size_t>(sums);
    plain_[part] = KernelTable(geometry, key, n, 1, max_m);
    if (!interleaves) continue;
    key.a = ARows::interleaved;
    interleaved_[part] = KernelTable(wide, key, n, 1, max_m);
  }
  // A shifted operand's raw sums are read again.
  streams = value_size(output) == 4 && !(reads_again && output == ValueType::acc) &&
            !has_functors && !pipeline.gate &&
            max_m >= policy::gemm::kStreamBytes / 4 / std::max<std::int64_t>(n, 1);
  if (!streams) return;
  KernelKey key = whole;
  key.sums = depth.last_sums();
  key.caching = Caching::streams_c;
  streaming =
      KernelTable(geometry, key, n, std::max<std::int64_t>(geometry.max_rows - 1, 1), max_m);
}

std::size_t ProductKernels::nbytes() const noexcept {
  std::size_t bytes = streaming.nbytes();
  for (const auto* tables : {&plain_, &interleaved_})
    for (const KernelTable& table : *tables) bytes += table.nbytes();
  return bytes;
}

std::int64_t GatedColumns::columns(std::int64_t rows) const noexcept {
  const std::int64_t columns =
      policy::gemm::kGatedBytes / (rows * 2 * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t whole = columns / kPanelColumns * kPanelColumns;
  return std::clamp<std::int64_t>(whole, kPanelColumns,
                                  std::max<std::int64_t>(n / 2, kPanelColumns));
}

GemmDriver::Parts::Parts(const ProductTypes& types, const PackedMatrix& b,
                         const PipelineView& pipeline, std::int64_t most_rows, Features features,
                         const Blocking& own_blocking)
    : gemm_type(types.gemm_type),
      blocking(own_blocking),
      a_shift(types.a_shift),
      max_m(std::max<std::int64_t>(most_rows, 1)),
      panels(b),
      geometry(choose_geometry(
          gemm_type, features,
          tile_limits(blocking, ceil_div(panels.n, kPanelColumns) * panels.panel_bytes),
          geometry_groups(gemm_type, panels, max_m))),
      key(make_key(geometry, types, pipeline.stages, panels)),
      depth(gemm_type, geometry, panels.groups, max_m),
      tiles(geometry, key, depth, pipeline, a_shift != 0, panels.n, max_m),
      gate{pipeline.gate != nullptr, panels.n},
      nc(depth.cuts() ? policy::gemm::kCutColumns
                      : round_up(std::max<std::int64_t>(panels.n, 1), kPanelColumns)) {
  tiles.result = gate.used ? pipeline.output : tiles.output;
  packing = {packed_format(gemm_type),
             geometry.format,
             features & ~feature::narrow_weights,
             panels.k,
             panels.groups,
             panels.panel_bytes,
             row_distance(panels.groups * packed_format(gemm_type).a_group()),
             std::min(a_block_rows(blocking, depth.longest() * geometry.format.a_group(),
                                   geometry.max_rows),
                      max_m),
             tiles.interleaves ? geometry.max_rows : 0,
             geometry.block_groups,
             key.corrections == Corrections::both,
             key.group_offsets};
  if (gate.used) check_gate(panels, tiles.output);
  for (std::int64_t rows = 1; gate.used && rows <= packing.rows; ++rows)
    gate.bytes = std::max(gate.bytes, rows * GatedColumns::ld(gate.columns(rows)));
  workspace_bytes = static_cast<std::size_t>(lay_out(nullptr).bytes);
}

// Divides the rows as run() and run_block() do.
std::string GemmDriver::Parts::kernel_name(std::int64_t rows, int num_threads) const {
  const Share own = share(std::clamp<std::int64_t>(rows, 1, max_m), 0, std::max(num_threads, 1));
  const std::int64_t count = std::max<std::int64_t>(own.rows.size(), 1);
  const std::int64_t block = BalancedSplit::split(count, packing.rows).largest;
  const bool interleaved = tiles.interleaves && block > geometry.max_rows;
  const KernelTable& kernels =
      tiles.kernels(block <= geometry.max_rows ? Sums::whole : depth.last_sums(), interleaved);
  const std::int64_t units = BalancedSplit::split((block + interleaved) >> interleaved,
                                                  kernels.geometry().max_rows >> interleaved)
                                 .largest;
  const std::int64_t tallest = std::min(units << interleaved, block);
  const std::int64_t lanes = geometry.lanes;
  const std::int64_t columns =
      std::clamp<std::int64_t>(own.cols.size(), 1, tile_columns(kernels.geometry(), tallest));
  return fbg::kernel_name(
      kernels.find(tallest, ceil_div(columns, lanes), columns % lanes != 0).key);
}

auto GemmDriver::Parts::lay_out(std::byte* base) const noexcept -> Workspace {
  constexpr auto kValue = static_cast<std::int64_t>(sizeof(Value));
  WorkspaceLayout layout(base);
  Workspace w{};
  w.a = packing.lay_out(layout);
  const std::int64_t mc = packing.rows;
  if (tiles.interleaves)
    layout.place(w.interleaved_b, geometry.interleaved_vectors * geometry.lanes *
                                      interleaved_bytes(depth.longest()));
  if (depth.cuts()) layout.place(w.partial, mc * nc * kValue);
  if (gemm_type == GemmType::int16) layout.place(w.partial, tile_bytes(geometry));
  if (tiles.has_functors) layout.place(w.tile, tile_bytes(geometry));
  if (gate.used) layout.place(w.gated, gate.bytes);
  if (tiles.pipelined) layout.place(w.pipelined, PipelinedTiles::bytes(RowPlaces::kMost));
  w.bytes = layout.bytes();
  return w;
}

// Moves on to the rows below a tile of that height.
FBG_INLINE inline void advance(TileArgs& args, std::int64_t height) {
  args.row += height;
  args.a_scale += height;
  args.a_zero_point += height;
  if (args.row_terms) args.row_terms += height;
  if (args.int4.group_sums) args.int4.group_sums += height;
}

// The loops of a thread over its share of C.
struct GemmDriver::Parts::Run {
  // A block of k: the k-groups `groups` of A and of B.
  struct Block {
    Range groups;
    RowPlaces a;
    Sums sums;
    bool streams;
  };
  static constexpr std::int64_t kValue = sizeof(Value);

  const Parts& p;
  const PackedMatrix& b;
  const PipelineView& pipeline;
  const Workspace w;
  const float* const b_scale;
  const std::int32_t *const b_zero_point, *const col_offsets;
  TileArgs common;   // what is the same in all tiles
  bool past_caches;  // whether C is written

  void run(const RowSource& a, OutputView c, const Share& share) const noexcept {
    // Blocks of equal size rather than mc, mc, ..., leftover.
    const BalancedSplit blocks = BalancedSplit::split(share.rows.size(), p.packing.rows);
    for (std::int64_t i = 0; i < blocks.count; ++i) {
      const Range rows{share.rows.begin + blocks[i].begin, share.rows.begin + blocks[i].end};
      const RowPlaces places = p.packing.pack(a, rows, w.a);
      const BalancedSplit& depths = p.depth.blocks(rows.size() <= p.geometry.max_rows);
      const std::int64_t columns = depths.count > 1 ? p.nc : share.cols.size();
      if (p.gate.used)
        run_gated(rows, places, depths, share.cols, std::min(columns, p.gate.columns(rows.size())),
                  c);
      else
        for (std::int64_t col = share.cols.begin; col < share.cols.end; col += columns) {
          const Range cols{col, std::min(col + columns, share.cols.end)};
          multiply(rows, places, depths, cols, p.panels.at(b, cols.end, 0), c);
        }
      if (p.a_shift != 0 && p.tiles.output == ValueType::acc) unshift(rows, share.cols, c);
    }
  }

  // Computes the columns `cols` of A * B; `after` is the part of B that is read next.
  void multiply(Range rows, const RowPlaces& places, const BalancedSplit& depths, Range cols,
                const std::byte* after, OutputView c) const noexcept {
    for (std::int64_t d = 0; d < depths.count; ++d) {
      const bool last = d + 1 == depths.count;
      const Sums sums = sums_of(d == 0, last);
      const Range groups = p.depth.groups(depths[d]);
      const Block block{groups, sums == Sums::whole ? places : p.packing.part(places, groups), sums,
                        past_caches && sums == p.depth.last_sums()};
      const std::byte* const next = last ? after : p.panels.at(b, cols.begin, groups.end);
      if (p.gemm_type == GemmType::int16)
        run_block<false, true>(rows, cols, block, next, common, c);
      else if (p.tiles.pipelined && PipelinedTiles::gains(p.geometry, rows.size()))
        run_block<true, false>(rows, cols, block, next, common, c);
      else
        run_block<false, false>(rows, cols, block, next, common, c);
    }
  }

  // Computes the columns `cols` of a gated C, `count` of them at a time: those of a, those of b,
  // which are half of N further, and f(a, b), while both are in the caches.
  void run_gated(Range rows, const RowPlaces& places, const BalancedSplit& depths, Range cols,
                 std::int64_t count, OutputView c) const noexcept {
    const std::int64_t half = p.panels.n / 2, ld = GatedColumns::ld(count);
    const std::int64_t size = value_size(p.tiles.result);
    for (std::int64_t col = cols.begin; col < cols.end; col += count) {
      const Range a_cols{col, std::min(col + count, cols.end)};
      const Range b_cols{half + a_cols.begin, half + a_cols.end};
      // Tiles are addressed by their row and column of A * B: a view whose element (rows.begin,
      // first) is at `at`.
      const auto view = [&](std::byte* at, std::int64_t first) {
        return OutputView{at - rows.begin * ld - first * kValue, ld};
      };
      const std::byte* a_row = w.gated;
      const std::byte* b_row = w.gated + count * kValue;
      multiply(rows, places, depths, a_cols, p.panels.at(b, b_cols.begin, 0),
               view(w.gated, a_cols.begin));
      multiply(rows, places, depths, b_cols, p.panels.at(b, a_cols.end, 0),
               view(w.gated + count * kValue, b_cols.begin));
      for (std::int64_t i = rows.begin; i < rows.end; ++i, a_row += ld, b_row += ld)
        for (std::int64_t j = 0; j < a_cols.size(); j += kMaxGatedColumns)
          pipeline.gate(pipeline.pipeline, reinterpret_cast<const float*>(a_row) + j,
                        reinterpret_cast<const float*>(b_row) + j,
                        std::min<std::int64_t>(a_cols.size() - j, kMaxGatedColumns),
                        static_cast<std::byte*>(c.data) + i * c.ld + (col + j) * size);
    }
  }

  // Subtracts the effect of the shift s of A from raw sums: sum a b = sum (a + s) b - s sum b,
  // modulo 2^32.
  void unshift(Range rows, Range cols, OutputView c) const noexcept {
    const auto shift = static_cast<std::uint32_t>(p.a_shift);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      auto* row = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(c.data) + i * c.ld);
      for (std::int64_t j = cols.begin; j < cols.end; ++j)
        row[j] -= shift * static_cast<std::uint32_t>(b.col_offsets()[j]);
    }
  }

  // Sets what a tile reads of the parameters of its columns.
  FBG_INLINE void set_columns(const ColumnGroup& group, Sums sums, TileArgs& args) const {
    args.col = group.col;
    args.columns = group.columns;
    if (b_scale) args.b_scale = b_scale + group.col;
    if (b_zero_point) args.b_zero_point = b_zero_point + group.col;
    if (p.panels.format.nibbles) {
      args.int4.weighted_offsets = b.weighted_offsets() + group.col;
    } else if (col_offsets) {
      args.col_offsets = col_offsets + group.col;
      args.b_sums = goes_on(sums) ? nullptr : args.col_offsets;
    }
  }

  // Lets the block pairs of a column group begin where its first tile does.
  FBG_INLINE void set_pairs(const ColumnGroup& group, const Block& block, const std::byte* from,
                            std::span<BlockPair> pairs) const {
    const std::byte* next = from;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs[i].a = block.a.pairs[i].a;
      pairs[i].b = next;
      next += pairs[i].groups * p.panels.group_bytes;
    }
    if (!block.a.interleaved || pairs.empty()) return;
    interleave_columns(from, p.panels.format.b_group(), group.vectors * p.geometry.lanes,
                       block.groups.size(), w.interleaved_b);
    pairs[0].b = w.interleaved_b;
  }

  // Sets when int16 sums are spilled. Returns whether there are sums beside those of the kernels.
  FBG_INLINE bool set_spills(const ColumnGroup& group, const Block& block, TileArgs& args) const {
    const std::int32_t* const spill = b.spill_groups();
    const std::int64_t end = group.col + group.columns;
    args.spill_groups =
        *std::min_element(spill + group.col / kPanelColumns, spill + ceil_div(end, kPanelColumns));
    args.ldpartial = group.vectors * p.geometry.lanes * kValue;
    const Outliers outliers = b.outliers();
    return outliers.indptr[group.col] != outliers.indptr[end] ||
           (p.geometry.spills && (args.num_pairs > 1 || block.groups.size() > args.spill_groups));
  }

  // Computes the columns `cols` of C, or their sums so far, from one block of k. `next_panel` is
  // the part of B that will be read next. kPipelined: tall tiles may be pipelined. kInt16: there
  // may be outliers and spilled sums. Products without these do not pay for them.
  template <bool kPipelined, bool kInt16>
  void run_block(Range rows, Range cols, const Block& block, const std::byte* next_panel,
                 TileArgs args, OutputView c) const noexcept {
    const std::byte* const b_panels = p.panels.at(b, 0, block.groups.begin);
    const bool interleaved = block.a.interleaved;
    const KernelTable& plain = p.tiles.kernels(block.sums, interleaved);
    const Geometry& tile = plain.geometry();
    // In rows, or in pairs of interleaved rows, which tiles do not divide.
    const BalancedSplit heights = BalancedSplit::split((rows.size() + interleaved) >> interleaved,
                                                       tile.max_rows >> interleaved);
    const std::int64_t tallest = heights.largest << interleaved;
    const bool streams = block.streams && !interleaved && tallest == tile.max_rows;
    const KernelTable& kernels = streams ? p.tiles.streaming : plain;
    const std::int64_t nr = tile_columns(tile, tallest);
    const std::int64_t depth_bytes = block.groups.size() * p.panels.group_bytes;
    const bool to_partial = !completes(block.sums),
               to_functor = !to_partial && p.tiles.has_functors;
    // Each row tile prefetches its part of the next panel into the L2, so that weights arrive from
    // DRAM in time. For a single tile, the prefetch of its kernel is enough.
    const std::int64_t fetched_per_tile = p.panels.format.fetched_bytes(block.groups.size());
    const bool unit = PipelinedTiles::gains(tile, tallest);

    RowPlaces places = block.a;
    const std::span<BlockPair> pairs = places.blocks();
    [[maybe_unused]] PipelinedTiles pipelined(w.pipelined, RowPlaces::kMost);
    args.set_blocks(pairs);
    args.ldpartial = p.nc * kValue;
    args.int4.ld_group_sums = p.packing.rows * kValue;
    args.ldc = to_partial ? args.ldpartial : to_functor ? nr * kValue : c.ld;
    const std::int64_t c_value = value_size(p.tiles.output);
    for_each_column_group(tile, tallest, cols, [&](const ColumnGroup& group) FBG_INLINE {
      const std::byte* const from = b_panels + p.panels.column(group.col);
      set_columns(group, block.sums, args);
      set_pairs(group, block, from, pairs);
      [[maybe_unused]] bool has_sums = false;
      if constexpr (kInt16) has_sums = set_spills(group, block, args);

      const std::byte* const next =
          group.col + nr < cols.end ? b_panels + p.panels.column(group.col + nr) : next_panel;
      std::int64_t fetched = heights.count > 1 ? 0 : depth_bytes;
      const std::byte* const fetched_again = unit ? nullptr : from;  // vector kernels always fetch
      args.row = rows.begin;
      args.a_scale = w.a.block.scale;
      args.a_zero_point = w.a.block.zero_point;
      args.row_terms = w.a.block.row_offsets;
      if (p.packing.group_sums)
        args.int4.group_sums = w.a.group_sums + block.groups.begin * p.packing.rows;
      Value* partial = block.sums != Sums::whole ? w.partial + (group.col - cols.begin) : nullptr;
      std::byte* c_tile = static_cast<std::byte*>(c.data) + args.row * c.ld + group.col * c_value;
      for_each_row_tile(heights, pairs, [&](std::int64_t units) FBG_INLINE {
        const std::int64_t height = std::min(units << interleaved, rows.end - args.row);
        args.prefetch = fetched < depth_bytes ? next + fetched : fetched_again;
        args.partial = partial;
        args.c = to_partial ? partial : to_functor ? w.tile : static_cast<void*>(c_tile);
        if constexpr (kInt16) {
          args.partial = has_sums ? w.partial : nullptr;
          if (has_sums)
            multiply_outliers(b.outliers(), {group.col, group.col + group.columns}, pairs, height,
                              group.vectors * tile.lanes, w.partial);
        }
        if (kPipelined && PipelinedTiles::gains(tile, height))
          pipelined.add(kernels.find(height, group.vectors, group.masked), args);
        else
          run_tile(kernels, group, height, args);
        if (to_functor)
          pipeline.finish(pipeline.pipeline,
                          {w.tile, nr, height, group.columns, args.row, group.col}, c_tile, c.ld);
        advance(args, height);
        if (partial) partial += height * p.nc;
        c_tile += height * c.ld;
        fetched += fetched_per_tile;
      });
    });
    if constexpr (kPipelined) pipelined.run();
  }
};

void GemmDriver::Parts::run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                            OutputView c, std::byte* workspace, const Share& share) const noexcept {
  if (!serves(b)) std::abort();
  const FloatEnvironment environment;
  if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

  const KernelScope scope(geometry, share.rows.size());
  std::array<StageArgs, kMaxStages> stage_args;
  std::ranges::transform(pipeline.stages, stage_args.begin(), &Stage::args);
  TileArgs args;
  args.stages = stage_args.data();
  const bool streams = tiles.streams && c.ld % static_cast<std::int64_t>(kCacheLine) == 0 &&
                       reinterpret_cast<std::uintptr_t>(c.data) % kCacheLine == 0 &&
                       a.rows * panels.n * 4 >= policy::gemm::kStreamBytes;
  Run{*this,           b,    pipeline, lay_out(workspace), b.scale(), b.zero_point(),
      b.col_offsets(), args, streams}
      .run(a, c, share);
  if (streams) fence_streams();
}

GemmDriver::GemmDriver(const ProductTypes& types, const PackedMatrix& b,
                       const PipelineView& pipeline, std::int64_t max_m, Features features,
                       const Blocking& blocking)
    : parts_(std::make_shared<Parts>(types, b, pipeline, max_m, features, blocking)) {
  const Features narrow = b.with_weights(features);
  if (narrow != features)
    narrow_ = std::make_shared<Parts>(types, b, pipeline, max_m, narrow, blocking);
}

const GemmDriver::Parts& GemmDriver::own() const noexcept { return narrow_ ? *narrow_ : *parts_; }
ValueType GemmDriver::output_type() const noexcept { return parts_->tiles.result; }
Features GemmDriver::features() const noexcept { return parts_->packing.features; }
std::string GemmDriver::kernel_name() const { return kernel_name(own().max_m, 1); }
std::string GemmDriver::kernel_name(std::int64_t rows, int num_threads) const {
  return own().kernel_name(rows, num_threads);
}
std::size_t GemmDriver::nbytes() const noexcept {
  return parts_->nbytes() + (narrow_ ? narrow_->nbytes() : 0);
}
std::size_t GemmDriver::workspace_bytes(int num_threads) const noexcept {
  return static_cast<std::size_t>(num_threads) *
         std::max(parts_->workspace_bytes, own().workspace_bytes);
}
bool GemmDriver::serves(const PackedMatrix& b) const noexcept { return parts_->serves(b); }

void GemmDriver::run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                     OutputView c, std::byte* workspace, int thread_id,
                     int num_threads) const noexcept {
  const Parts& parts = b.is_narrow() ? own() : *parts_;
  parts.run(a, b, pipeline, c,
            workspace + static_cast<std::size_t>(thread_id) * parts.workspace_bytes,
            parts.share(a.rows, thread_id, num_threads));
}

void GemmDriver::run_part(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                          OutputView c, std::byte* workspace, Range rows,
                          Range cols) const noexcept {
  (b.is_narrow() ? own() : *parts_).run(a, b, pipeline, c, workspace, {rows, cols});
}

}  // namespace fbg
