// The loops of GemmDriver (see gemm.h for their order and why), and what they are prepared from.
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

// GCC does not inline lambdas of this length, so that what they capture is in memory, which would
// cost 15 ns for a tile.
#define FBG_INLINE_LAMBDA __attribute__((always_inline))

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
std::int64_t geometry_groups(GemmType gemm_type, std::int64_t k, std::int64_t n,
                             std::int64_t max_m) noexcept {
  const bool waits = gemm_type == GemmType::int32 && max_m <= policy::gemm::kFewRows &&
                     k * n > policy::gemm::kManyWeights;
  return waits ? 0 : ceil_div(k, packed_format(gemm_type).kr);
}

// Bytes between rows of a gated C of so many columns.
std::int64_t gated_ld(std::int64_t columns) {
  return 2 * columns * static_cast<std::int64_t>(sizeof(float)) + 64;
}

}  // namespace

std::int64_t GemmDriver::gated_columns(std::int64_t rows) const noexcept {
  const std::int64_t columns =
      policy::gemm::kGatedBytes / (rows * 2 * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t whole = columns / kPanelColumns * kPanelColumns;
  return std::clamp<std::int64_t>(whole, kPanelColumns,
                                  std::max<std::int64_t>(n_ / 2, kPanelColumns));
}

std::int64_t GemmDriver::depth_unit() const noexcept {
  if (gemm_type_ == GemmType::float16) return kHalfDepth;
  return geometry_.interleaved_vectors > 0 ? 2 : geometry_.block_groups;
}

BalancedSplit GemmDriver::split_depth(std::int64_t max_groups) const noexcept {
  const std::int64_t unit = depth_unit();
  return BalancedSplit::split(std::max<std::int64_t>(ceil_div(groups_, unit), 1),
                              max_groups / unit);
}

Range GemmDriver::depth_range(Range units) const noexcept {
  const std::int64_t unit = depth_unit();
  return {units.begin * unit, std::min(units.end * unit, groups_)};
}

std::int64_t GemmDriver::all_groups() const noexcept {
  return round_up(std::max<std::int64_t>(groups_, 1), depth_unit());
}

GemmDriver::GemmDriver(const ProductTypes& types, const PackedMatrix& b,
                       const PipelineView& pipeline, std::int64_t max_m, Features features,
                       const Blocking& blocking)
    : gemm_type_(types.gemm_type),
      format_(packed_format(gemm_type_)),
      features_(features & ~feature::narrow_weights),
      blocking_(blocking),
      n_(b.cols()),
      k_(b.rows()),
      whole_groups_(k_ / format_.kr),
      groups_(ceil_div(k_, format_.kr)),
      group_bytes_(format_.b_group(b.header().has_zero_point)),
      panel_bytes_(groups_ * group_bytes_),
      column_bytes_(format_.b_column_group()),
      has_scale_(b.scale() != nullptr),
      has_zero_point_(b.header().has_zero_point != 0),
      a_shift_(types.a_shift),
      geometry_(choose_geometry(gemm_type_, features,
                                tile_limits(blocking, ceil_div(n_, kPanelColumns) * panel_bytes_),
                                geometry_groups(gemm_type_, k_, n_, max_m))),
      ld_(row_distance(groups_ * format_.a_group())),
      a_group_bytes_(geometry_.format.a_group()),
      functors_(pipeline.finish != nullptr),
      gates_(pipeline.gate != nullptr),
      pipelines_tiles_(!functors_ && !is_int16()) {
  const KernelKey whole = make_kernel_key(geometry_, gemm_type_, pipeline.stages, types.a_has_scale,
                                          has_scale_, has_zero_point_);
  if (is_integer(gemm_type_)) {
    const std::int64_t limit = pipeline.stages.empty() ? kMaxDepthRaw : kMaxDepthCorrected;
    if (k_ > limit)
      throw std::invalid_argument("gemm: K = " + std::to_string(k_) + " exceeds " +
                                  std::to_string(limit) +
                                  ", the most that int32 sums hold exactly");
  }
  output_ = functors_ ? pipeline.output : whole.output();
  result_ = gates_ ? pipeline.output : output_;
  row_offsets_ = whole.corrections == Corrections::both;
  group_sums_ = whole.group_offsets;

  const std::int64_t mr = geometry_.max_rows;
  const BalancedSplit depths = split_depth(policy::gemm::kDepthBytes / a_group_bytes_);
  // Kernels add int16 sums to int32 sums themselves, in the scratch of the tile.
  cuts_ = depths.count > 1 && max_m > mr && !is_int16();
  kc_ = cuts_ ? depths.largest * depth_unit() : all_groups();
  depths_ = split_depth(kc_);
  uncut_ = split_depth(all_groups());
  mc_ =
      std::min(a_block_rows(blocking, kc_ * a_group_bytes_, mr), std::max<std::int64_t>(max_m, 1));
  max_m_ = std::max<std::int64_t>(max_m, 1);
  nc_ = cuts_ ? policy::gemm::kCutColumns : round_up(std::max<std::int64_t>(n_, 1), kPanelColumns);

  // Interleaving gains where several tiles share the result. Short tiles then have the width of
  // tall ones.
  interleaves_ = geometry_.interleaved_vectors > 0 && mr >= 2 && max_m > mr;
  if (interleaves_) {
    interleaved_geometry_ = geometry_;
    interleaved_geometry_.max_rows = static_cast<int>(mr / 2 * 2);
    interleaved_geometry_.max_vectors.fill(geometry_.interleaved_vectors);
  }
  make_kernels(whole, max_m);
  if (gates_) prepare_gate();
  thread_workspace_ = static_cast<std::size_t>(lay_out(nullptr).bytes);
}

void GemmDriver::make_kernels(const KernelKey& whole, std::int64_t max_m) {
  for (const Sums sums : {Sums::whole, Sums::first, Sums::inner, Sums::last}) {
    if (sums != Sums::whole && !cuts_) continue;
    KernelKey key = part_key(whole, sums);
    const auto part = static_cast<std::size_t>(sums);
    kernels_[part] = KernelTable(geometry_, key, n_, 1, max_m);
    if (!interleaves_) continue;
    key.a = ARows::interleaved;
    interleaved_kernels_[part] = KernelTable(interleaved_geometry_, key, n_, 1, max_m);
  }
  // A shifted operand's raw sums are read again.
  const bool read_again = a_shift_ != 0 && output_ == ValueType::acc;
  streams_ = value_size(output_) == 4 && !read_again && !functors_ && !gates_ &&
             max_m >= policy::gemm::kStreamBytes / 4 / std::max<std::int64_t>(n_, 1);
  if (streams_) {
    KernelKey key = whole;
    key.sums = last_sums();
    key.caching = Caching::streams_c;
    streaming_ =
        KernelTable(geometry_, key, n_, std::max<std::int64_t>(geometry_.max_rows - 1, 1), max_m);
  }
}

// Checks the needs of a gated pipeline, and takes its workspace.
void GemmDriver::prepare_gate() {
  if (n_ % (2 * kPanelColumns) != 0)
    throw std::invalid_argument("gemm: N of a gated product must be a multiple of " +
                                std::to_string(2 * kPanelColumns) + ", got " + std::to_string(n_));
  if (output_ != ValueType::float32)
    throw PipelineTypeError("gemm: stages before a gate must end in float32");
  for (std::int64_t rows = 1; rows <= mc_; ++rows)
    gated_bytes_ = std::max(gated_bytes_, rows * gated_ld(gated_columns(rows)));
}

std::size_t GemmDriver::nbytes() const noexcept {
  std::size_t bytes = sizeof *this + streaming_.nbytes();
  for (const auto* tables : {&kernels_, &interleaved_kernels_})
    for (const KernelTable& table : *tables) bytes += table.nbytes();
  return bytes;
}

// Divides the rows as run() and run_block() do.
std::string GemmDriver::kernel_name(std::int64_t rows, int num_threads) const {
  rows = std::clamp<std::int64_t>(rows, 1, max_m_);
  const Share share =
      thread_share(rows, gates_ ? n_ / 2 : n_, 0, std::max(num_threads, 1), blocking_.row_parts);
  const std::int64_t own = std::max<std::int64_t>(share.rows.size(), 1);
  const std::int64_t block = BalancedSplit::split(own, mc_).largest;
  const bool interleaved = interleaves_ && block > geometry_.max_rows;
  const Geometry& geometry = interleaved ? interleaved_geometry_ : geometry_;
  const std::int64_t units =
      BalancedSplit::split((block + interleaved) >> interleaved, geometry.max_rows >> interleaved)
          .largest;
  const std::int64_t tallest = std::min(units << interleaved, block);
  const std::int64_t lanes = geometry_.lanes;
  const std::int64_t columns =
      std::clamp<std::int64_t>(share.cols.size(), 1, tile_columns(geometry, tallest));
  const Sums sums = block <= geometry_.max_rows ? Sums::whole : last_sums();
  const KernelTable& kernels =
      (interleaved ? interleaved_kernels_ : kernels_)[static_cast<std::size_t>(sums)];
  return fbg::kernel_name(
      kernels.find(tallest, ceil_div(columns, lanes), columns % lanes != 0).key);
}

auto GemmDriver::lay_out(std::byte* base) const noexcept -> Workspace {
  Workspace w{};
  w.block.features = features_;
  const auto place = [&](auto*& part, std::int64_t bytes) {
    part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(
        reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(w.bytes));
    w.bytes += round_up(bytes, 64);
  };
  place(w.block.scale, mc_ * 4);
  place(w.block.zero_point, mc_ * 4);
  if (row_offsets_) place(w.block.row_offsets, mc_ * 4);
  std::byte* packed = nullptr;
  place(packed, mc_ * ld_);
  w.block.packed = packed;
  w.block.ld = ld_;
  if (geometry_.format.wide_a) place(w.wide, mc_ * 2 * ld_);
  if (interleaves_) {
    place(w.interleaved_a, round_up(mc_, 2) * ld_);
    place(w.interleaved_b,
          geometry_.interleaved_vectors * geometry_.lanes * interleaved_bytes(kc_));
  }
  place(w.tail, mc_ * a_group_bytes_);
  if (group_sums_) place(w.group_sums, groups_ * mc_ * 4);
  if (cuts_) place(w.partial, mc_ * nc_ * static_cast<std::int64_t>(sizeof(Value)));
  if (is_int16()) place(w.partial, tile_bytes(geometry_));
  if (functors_) place(w.tile, tile_bytes(geometry_));
  if (gates_) place(w.gated, gated_bytes_);
  if (pipelines_tiles_) place(w.pipelined, PipelinedTiles::bytes(kMaxPlaces));
  return w;
}

void GemmDriver::run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                     OutputView c, std::byte* workspace, int thread_id,
                     int num_threads) const noexcept {
  run(a, b, pipeline, c, workspace + static_cast<std::size_t>(thread_id) * thread_workspace_,
      thread_share(a.rows, gates_ ? n_ / 2 : n_, thread_id, num_threads, blocking_.row_parts));
}

void GemmDriver::run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                     OutputView c, std::byte* workspace, const Share& share) const noexcept {
  if (!serves(b)) std::abort();
  const FloatEnvironment environment;
  if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

  const KernelScope scope(geometry_, share.rows.size());
  const Workspace w = lay_out(workspace);
  const Run run{w, b, pipeline};
  std::array<StageArgs, kMaxStages> stage_args;
  std::ranges::transform(pipeline.stages, stage_args.begin(), &Stage::args);
  TileArgs args;
  args.stages = stage_args.data();
  const bool streams = streams_ && c.ld % static_cast<std::int64_t>(kCacheLine) == 0 &&
                       reinterpret_cast<std::uintptr_t>(c.data) % kCacheLine == 0 &&
                       a.rows * n_ * 4 >= policy::gemm::kStreamBytes;

  // Blocks of equal size rather than mc, mc, ..., leftover.
  const BalancedSplit blocks = BalancedSplit::split(share.rows.size(), mc_);
  for (std::int64_t i = 0; i < blocks.count; ++i) {
    const Range rows{share.rows.begin + blocks[i].begin, share.rows.begin + blocks[i].end};
    const AOperand operand = pack(a, rows, run);
    // A single tile of rows reads B once in any case: for it, K and N stay whole.
    const bool single = rows.size() <= geometry_.max_rows;
    const BalancedSplit& depths = single ? uncut_ : depths_;
    // The columns `cols` of A * B, to c; `after` is the part of B that is read next.
    const auto multiply = [&](Range cols, const std::byte* after, OutputView to) {
      for (std::int64_t d = 0; d < depths.count; ++d) {
        const bool last = d + 1 == depths.count;
        DepthBlock depth = cut(operand, depth_range(depths[d]), sums_of(d == 0, last));
        depth.streams = streams && depth.sums == last_sums();
        const std::byte* const next = last ? after : panel(b, cols.begin, depth.groups.end);
        if (is_int16())
          run_block<false, true>(rows, cols, depth, next, args, run, to);
        else if (pipelines_tiles_ && PipelinedTiles::gains(geometry_, rows.size()))
          run_block<true, false>(rows, cols, depth, next, args, run, to);
        else
          run_block<false, false>(rows, cols, depth, next, args, run, to);
      }
    };
    const std::int64_t nc = depths.count > 1 ? nc_ : share.cols.size();
    if (gates_)
      run_gated(rows, share.cols, std::min(nc, gated_columns(rows.size())), run, c, multiply);
    else
      for (std::int64_t col = share.cols.begin; col < share.cols.end; col += nc) {
        const Range cols{col, std::min(col + nc, share.cols.end)};
        multiply(cols, panel(b, cols.end, 0), c);
      }
    if (a_shift_ != 0 && output_ == ValueType::acc) unshift(rows, share.cols, b, c);
  }
  if (streams) fence_streams();
}

// Computes the columns `cols` of a gated C, nc of them at a time: those of a, those of b, which are
// half of N further, and f(a, b), while both are in the caches.
template <class Multiply>
void GemmDriver::run_gated(Range rows, Range cols, std::int64_t nc, const Run& run, OutputView c,
                           Multiply multiply) const noexcept {
  constexpr std::int64_t kValue = sizeof(Value);
  const std::int64_t half = n_ / 2, ld = gated_ld(nc), size = value_size(result_);
  std::byte* const gated = run.w.gated;
  for (std::int64_t col = cols.begin; col < cols.end; col += nc) {
    const Range a_cols{col, std::min(col + nc, cols.end)};
    const Range b_cols{half + a_cols.begin, half + a_cols.end};
    // Tiles are addressed by their row and column of A * B: a view whose element (rows.begin,
    // first) is at `at`.
    const auto view = [&](std::byte* at, std::int64_t first) {
      return OutputView{at - rows.begin * ld - first * kValue, ld};
    };
    const std::byte* a_row = gated;
    const std::byte* b_row = gated + nc * kValue;
    multiply(a_cols, panel(run.b, b_cols.begin, 0), view(gated, a_cols.begin));
    multiply(b_cols, panel(run.b, a_cols.end, 0), view(gated + nc * kValue, b_cols.begin));
    for (std::int64_t i = rows.begin; i < rows.end; ++i, a_row += ld, b_row += ld)
      for (std::int64_t j = 0; j < a_cols.size(); j += kMaxGatedColumns)
        run.pipeline.gate(run.pipeline.pipeline, reinterpret_cast<const float*>(a_row) + j,
                          reinterpret_cast<const float*>(b_row) + j,
                          std::min<std::int64_t>(a_cols.size() - j, kMaxGatedColumns),
                          static_cast<std::byte*>(c.data) + i * c.ld + (col + j) * size);
  }
}

// Computes the columns `cols` of C, or their sums so far, from one block of k. `next_panel` is the
// part of B that will be read next. kPipelined: tall tiles may be pipelined. kInt16: there may be
// outliers and spilled sums. Products without these do not pay for them.
template <bool kPipelined, bool kInt16>
void GemmDriver::run_block(Range rows, Range cols, const DepthBlock& depth,
                           const std::byte* next_panel, TileArgs args, const Run& run,
                           OutputView c) const noexcept {
  constexpr std::int64_t kValue = sizeof(Value);
  const Workspace& w = run.w;
  const PackedMatrix& b = run.b;
  const float* const b_scale = b.scale();
  const std::int32_t* const b_zero_point = b.zero_point();
  const std::int32_t* const col_offsets = b.col_offsets();
  const std::byte* const b_panels = panel(b, 0, depth.groups.begin);
  const bool interleaved = depth.a.interleaved;
  const Geometry& geometry = interleaved ? interleaved_geometry_ : geometry_;
  // In rows, or in pairs of interleaved rows, which tiles do not divide.
  const BalancedSplit tiles = BalancedSplit::split((rows.size() + interleaved) >> interleaved,
                                                   geometry.max_rows >> interleaved);
  const std::int64_t tallest = tiles.largest << interleaved;
  const auto part = static_cast<std::size_t>(depth.sums);
  const KernelTable& kernels = interleaved ? interleaved_kernels_[part]
                               : depth.streams && tallest == geometry.max_rows ? streaming_
                                                                               : kernels_[part];
  const std::int64_t nr = tile_columns(geometry, tallest);
  const std::int64_t depth_bytes = depth.groups.size() * group_bytes_;
  const bool to_partial = !completes(depth.sums), to_functor = !to_partial && functors_;
  // Each row tile prefetches its part of the next panel into the L2, so that weights arrive from
  // DRAM in time. For a single tile, the prefetch of its kernel is enough.
  const std::int64_t fetched_per_tile = format_.fetched_bytes(depth.groups.size());
  const bool unit = PipelinedTiles::gains(geometry, tallest);

  AOperand operand = depth.a;
  const std::span<BlockPair> blocks = operand.blocks();
  [[maybe_unused]] PipelinedTiles pipelined(w.pipelined, kMaxPlaces);
  args.set_blocks(blocks);
  args.ldpartial = nc_ * kValue;
  args.int4.ld_group_sums = mc_ * kValue;
  args.ldc = to_partial ? args.ldpartial : to_functor ? nr * kValue : c.ld;
  const std::int64_t c_value = value_size(output_);
  for_each_column_group(geometry, tallest, cols, [&](const ColumnGroup& group) FBG_INLINE_LAMBDA {
    const std::int64_t col = group.col;
    args.col = col;
    args.columns = group.columns;
    if (b_scale) args.b_scale = b_scale + col;
    if (b_zero_point) args.b_zero_point = b_zero_point + col;
    if (is_int4(gemm_type_)) {
      args.int4.weighted_offsets = b.weighted_offsets() + col;
    } else if (col_offsets) {
      args.col_offsets = col_offsets + col;
      args.b_sums = goes_on(depth.sums) ? nullptr : args.col_offsets;
    }
    const std::byte* const from = b_panels + column_offset(col);
    const std::byte* from_pair = from;
    for (std::size_t p = 0; p < blocks.size(); ++p) {
      blocks[p].a = depth.a.pairs[p].a;
      blocks[p].b = from_pair;
      from_pair += blocks[p].groups * group_bytes_;
    }
    if (interleaved && !blocks.empty()) {
      interleave_columns(from, format_.b_group(), group.vectors * geometry.lanes,
                         depth.groups.size(), w.interleaved_b);
      blocks[0].b = w.interleaved_b;
    }
    [[maybe_unused]] bool has_sums = false;
    if constexpr (kInt16) {
      const std::int32_t* spill = b.spill_groups();
      args.spill_groups = *std::min_element(spill + col / kPanelColumns,
                                            spill + ceil_div(col + group.columns, kPanelColumns));
      args.ldpartial = group.vectors * geometry_.lanes * kValue;
      const Outliers outliers = b.outliers();
      has_sums =
          outliers.indptr[col] != outliers.indptr[col + group.columns] ||
          (geometry_.spills && (blocks.size() > 1 || depth.groups.size() > args.spill_groups));
    }

    const std::byte* const next =
        col + nr < cols.end ? b_panels + column_offset(col + nr) : next_panel;
    std::int64_t fetched = tiles.count > 1 ? 0 : depth_bytes;
    const std::byte* const fetched_again = unit ? nullptr : from;  // vector kernels always fetch
    args.row = rows.begin;
    args.a_scale = w.block.scale;
    args.a_zero_point = w.block.zero_point;
    args.row_terms = w.block.row_offsets;
    if (group_sums_) args.int4.group_sums = w.group_sums + depth.groups.begin * mc_;
    Value* partial = depth.sums != Sums::whole ? w.partial + (col - cols.begin) : nullptr;
    std::byte* c_tile = static_cast<std::byte*>(c.data) + args.row * c.ld + col * c_value;
    for_each_row_tile(tiles, blocks, [&](std::int64_t units) FBG_INLINE_LAMBDA {
      const std::int64_t height = std::min(units << interleaved, rows.end - args.row);
      args.prefetch = fetched < depth_bytes ? next + fetched : fetched_again;
      args.partial = partial;
      args.c = to_partial ? partial : to_functor ? w.tile : static_cast<void*>(c_tile);
      if constexpr (kInt16) {
        args.partial = has_sums ? w.partial : nullptr;
        if (has_sums)
          multiply_outliers(b.outliers(), {col, col + group.columns}, blocks, height,
                            group.vectors * geometry_.lanes, w.partial);
      }
      if (kPipelined && PipelinedTiles::gains(geometry_, height))
        pipelined.add(kernels.find(height, group.vectors, group.masked), args);
      else
        run_tile(kernels, group, height, args);
      if (to_functor)
        run.pipeline.finish(run.pipeline.pipeline,
                            {w.tile, nr, height, group.columns, args.row, col}, c_tile, c.ld);

      args.row += height;
      args.a_scale += height;
      args.a_zero_point += height;
      if (args.row_terms) args.row_terms += height;
      if (args.int4.group_sums) args.int4.group_sums += height;
      if (partial) partial += height * nc_;
      c_tile += height * c.ld;
      fetched += fetched_per_tile;
    });
  });
  if constexpr (kPipelined) pipelined.run();
}

}  // namespace fbg
