// The loops of Gemm (see gemm.h for their order and why).
#pragma once

#include <algorithm>
#include <cstdlib>

#include "fbg/gemm/detail/operands.h"
#include "fbg/gemm/gemm.h"
#include "fbg/gemm/tile_loop.h"

namespace fbg {

// Bytes of the largest tile of 32-bit values.
inline std::int64_t tile_bytes(const Geometry& geometry) noexcept {
  std::int64_t vectors = 0;
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    vectors = std::max<std::int64_t>(vectors, rows * geometry.max_vectors[rows - 1]);
  return round_up(vectors * geometry.lanes * static_cast<std::int64_t>(sizeof(Value)), 64);
}

// K is cut where a row of A has more bytes than this, so that a block still has several tiles of
// rows, and a panel of B of the same depth stays in the L2 meanwhile.
inline constexpr std::int64_t kDepthBytes = 4096;
// A C of this many bytes or more is written past the caches. It would no longer be in them when it
// is read, and this way its lines need not be read before they are written.
inline constexpr std::int64_t kStreamBytes = 8 << 20;
// Where K is cut, the columns whose sums are kept for the next block of k. Their scratch takes at
// most half as much as the block of A.
inline constexpr std::int64_t kCutColumns = 256;

// Products of up to this many rows are one tile high for vector kernels of AVX-512.
inline constexpr std::int64_t kFewRows = 12;

// The depth of a product as choose_geometry() wants it: 0, which rules a matrix unit out, where it
// would only wait. A product of so few rows that reads more weights than an L2 holds is bound by
// memory, and vector kernels fetch weights ahead better than loads of tiles do. Only int32 sums,
// which are exact, may depend on the number of rows in this way.
template <class Acc>
std::int64_t geometry_groups(const PackedB<Acc>& b, std::int64_t max_m) noexcept {
  constexpr std::int64_t kManyWeights = 2 << 20;  // bytes
  const bool waits =
      Acc::kind == Accumulator::int32 && max_m <= kFewRows && b.rows() * b.cols() > kManyWeights;
  return waits ? 0 : b.groups();
}

template <PackAModel A, class Acc, class P>
Gemm<A, Acc, P>::Gemm(const PackedB<Acc>& b, const P& pipeline, std::int64_t max_m,
                      Features features, const Blocking& blocking)
    : features_(features),
      blocking_(blocking),
      geometry_(choose_geometry(Acc::kind, features,
                                blocking.tile(b.num_panels() * b.panel_bytes()),
                                geometry_groups(b, max_m))),
      n_(b.cols()),
      k_(b.rows()),
      ld_(packed_ld(b.rows())),
      a_group_bytes_(geometry_.format.a_group()),
      has_scale_(b.scale() != nullptr),
      has_zero_point_(b.header().has_zero_point != 0) {
  const KernelKey whole = make_kernel_key(geometry_, Acc::kind, kernel_stages(pipeline),
                                          A::kHasScale, has_scale_, has_zero_point_);
  if (is_integer(Acc::kind)) {
    const std::int64_t limit = kernel_stages(pipeline).empty() ? kMaxDepthRaw : kMaxDepthCorrected;
    if (k_ > limit)
      throw std::invalid_argument("gemm: K = " + std::to_string(k_) + " exceeds " +
                                  std::to_string(limit) +
                                  ", the most that int32 sums hold exactly");
  }
  output_ = whole.output();
  if constexpr (kHasFunctor<P>) output_ = pipeline.functor_output();
  result_ = output_;
  row_offsets_ = whole.correct_b && is_integer(Acc::kind);
  group_sums_ = whole.correct_b && is_int4(Acc::kind);

  const std::int64_t mr = geometry_.max_rows;
  const BalancedSplit depths = split_depth(b.groups(), kDepthBytes / a_group_bytes_);
  // Int16 sums move to int32 by themselves, and their scratch is the tile's.
  cuts_ = depths.count > 1 && max_m > mr && Acc::kind != Accumulator::int16;
  kc_ = cuts_ ? depths.largest * depth_unit() : all_groups(b);
  mc_ =
      std::min(a_block_rows(blocking, kc_ * a_group_bytes_, mr), std::max<std::int64_t>(max_m, 1));
  tallest_ = std::clamp<std::int64_t>(max_m, 1, mr);
  nc_ = cuts_ ? kCutColumns : round_up(std::max<std::int64_t>(n_, 1), kPanelColumns);

  // Pairs gain where several tiles share them. Short tiles then have the width of tall ones.
  pairs_ = geometry_.pair_vectors > 0 && mr >= 2 && max_m > mr;
  if (pairs_) {
    pair_geometry_ = geometry_;
    pair_geometry_.max_rows = static_cast<int>(mr / 2 * 2);
    pair_geometry_.max_vectors.fill(geometry_.pair_vectors);
  }
  // Whole K; its first, inner and last blocks.
  for (const bool first : {true, false})
    for (const bool last : {true, false}) {
      if (!(first && last) && !cuts_) continue;
      KernelKey key = whole;
      key.load_c = !first;
      if (!last) {
        key.num_stages = 0;
        key.stages = {};
        key.correct_a = false;
        key.correct_b = group_sums_;
      }
      kernels_[first * 2 + last] = KernelTable(geometry_, key, n_, 1, max_m);
      if (!pairs_) continue;
      key.pairs = true;
      pair_kernels_[first * 2 + last] = KernelTable(pair_geometry_, key, n_, 1, max_m);
    }
  // A shifted operand's raw sums are read again.
  const bool read_again = a_shift<A>() != 0 && output_ == ValueType::acc;
  streams_ = value_size(output_) == 4 && !read_again && !kHasFunctor<P> && !kGates<P> &&
             max_m >= kStreamBytes / 4 / std::max<std::int64_t>(n_, 1);
  if (streams_) {
    KernelKey key = whole;
    key.load_c = cuts_;
    key.streams = true;
    streaming_ = KernelTable(geometry_, key, n_, std::max<std::int64_t>(mr - 1, 1), max_m);
  }
  if constexpr (kGates<P>) check_gated(pipeline);
  thread_workspace_ = static_cast<std::size_t>(lay_out(nullptr).bytes);
}

// Checks what a gated pipeline needs, and takes its type and its workspace.
template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::check_gated(const P& pipeline) {
  if (n_ % (2 * kPanelColumns) != 0)
    throw std::invalid_argument("gemm: N of a gated product must be a multiple of " +
                                std::to_string(2 * kPanelColumns) + ", got " + std::to_string(n_));
  if (output_ != ValueType::float32)
    throw PipelineTypeError("gemm: stages before a gate must end in float32");
  result_ = pipeline.output();
  for (std::int64_t rows = 1; rows <= mc_; ++rows)
    gated_bytes_ = std::max(gated_bytes_, rows * gated_ld(gated_columns(rows)));
}

template <PackAModel A, class Acc, class P>
std::size_t Gemm<A, Acc, P>::nbytes() const noexcept {
  std::size_t bytes = sizeof *this + streaming_.nbytes();
  for (const auto* tables : {&kernels_, &pair_kernels_})
    for (const KernelTable& table : *tables) bytes += table.nbytes();
  return bytes;
}

template <PackAModel A, class Acc, class P>
std::string Gemm<A, Acc, P>::kernel_name() const {
  const std::int64_t lanes = geometry_.lanes;
  const Geometry& geometry = pairs_ ? pair_geometry_ : geometry_;
  const std::int64_t tallest = std::min<std::int64_t>(tallest_, geometry.max_rows);
  const std::int64_t columns = std::clamp<std::int64_t>(n_, 1, tile_columns(geometry, tallest));
  const KernelTable& last = (pairs_ ? pair_kernels_ : kernels_)[cuts_ ? 1 : 3];
  return fbg::kernel_name(last.find(tallest, ceil_div(columns, lanes), columns % lanes != 0).key);
}

template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::lay_out(std::byte* base) const noexcept -> Workspace {
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
  if (pairs_) {
    place(w.a_pairs, round_up(mc_, 2) * ld_);
    place(w.b_pairs, geometry_.pair_vectors * geometry_.lanes * paired_bytes(kc_));
  }
  place(w.tail, mc_ * a_group_bytes_);
  if (group_sums_) place(w.group_sums, ceil_div(k_, Acc::format.kr) * mc_ * 4);
  if (cuts_) place(w.partial, mc_ * nc_ * static_cast<std::int64_t>(sizeof(Value)));
  if (Acc::kind == Accumulator::int16) place(w.partial, tile_bytes(geometry_));
  if (kHasFunctor<P>) place(w.tile, tile_bytes(geometry_));
  if (kGates<P>) place(w.gated, gated_bytes_);
  if (kChains) place(w.chain, TileChain::bytes(kMaxPlaces));
  return w;
}

template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::run(const A& a, const PackedB<Acc>& b, const P& pipeline, OutputView c,
                          std::byte* workspace, int thread_id, int num_threads) const noexcept {
  if (!serves(b)) std::abort();
  const FloatEnvironment environment;
  const Share share =
      thread_share(a.rows(), kGates<P> ? n_ / 2 : n_, thread_id, num_threads, blocking_.row_parts);
  if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

  const KernelScope scope(geometry_, share.rows.size());
  const Workspace w = lay_out(workspace + static_cast<std::size_t>(thread_id) * thread_workspace_);
  std::array<StageArgs, kMaxStages> stage_args;
  std::ranges::transform(kernel_stages(pipeline), stage_args.begin(), &Stage::args);
  TileArgs args;
  args.stages = stage_args.data();
  constexpr std::int64_t kLine = 64;
  const bool streams = streams_ && c.ld % kLine == 0 &&
                       reinterpret_cast<std::uintptr_t>(c.data) % kLine == 0 &&
                       a.rows() * n_ * 4 >= kStreamBytes;

  // Blocks of equal size rather than mc, mc, ..., leftover.
  const BalancedSplit blocks = BalancedSplit::split(share.rows.size(), mc_);
  for (std::int64_t i = 0; i < blocks.count; ++i) {
    const Range rows{share.rows.begin + blocks[i].begin, share.rows.begin + blocks[i].end};
    const AOperand operand = pack(a, rows, w, b);
    // A single tile of rows reads B once in any case: for it, K and N stay whole.
    const bool single = rows.size() <= geometry_.max_rows;
    const BalancedSplit depths = split_depth(b.groups(), single ? all_groups(b) : kc_);
    // The columns `cols` of A * B, to c; `after` is the part of B that is read next.
    const auto multiply = [&](Range cols, const std::byte* after, OutputView to) {
      for (std::int64_t d = 0; d < depths.count; ++d) {
        const bool last = d + 1 == depths.count;
        DepthBlock depth = cut(operand, depth_range(depths[d], b.groups()), d == 0, last);
        depth.streams = streams && last && depth.first != cuts_;
        const std::byte* const next = last ? after : panel(b, cols.begin, depth.groups.end);
        if (kChains && TileChain::gains(geometry_, rows.size()))
          run_block<kChains>(rows, cols, depth, next, args, w, b, pipeline, to);
        else
          run_block<false>(rows, cols, depth, next, args, w, b, pipeline, to);
      }
    };
    const std::int64_t nc = depths.count > 1 ? nc_ : share.cols.size();
    if constexpr (kGates<P>)
      run_gated(rows, share.cols, std::min(nc, gated_columns(rows.size())), w, b, pipeline, c,
                multiply);
    else
      for (std::int64_t col = share.cols.begin; col < share.cols.end; col += nc) {
        const Range cols{col, std::min(col + nc, share.cols.end)};
        multiply(cols, panel(b, cols.end, 0), c);
      }
    if constexpr (a_shift<A>() != 0)
      if (output_ == ValueType::acc) unshift(rows, share.cols, b, c);
  }
  if (streams) fence_streams();
}

// Computes the columns `cols` of a gated C, nc of them at a time: those of a, those of b, which lie
// half of N further, and f(a, b), while both are in the caches.
template <PackAModel A, class Acc, class P>
template <class Multiply>
void Gemm<A, Acc, P>::run_gated(Range rows, Range cols, std::int64_t nc, const Workspace& w,
                                const PackedB<Acc>& b, const P& pipeline, OutputView c,
                                Multiply multiply) const noexcept {
  constexpr std::int64_t kValue = sizeof(Value);
  const std::int64_t half = n_ / 2, ld = gated_ld(nc), size = value_size(result_);
  for (std::int64_t col = cols.begin; col < cols.end; col += nc) {
    const Range a_cols{col, std::min(col + nc, cols.end)};
    const Range b_cols{half + a_cols.begin, half + a_cols.end};
    // Tiles are addressed by their row and column of A * B: a view whose element (rows.begin,
    // first) is at `at`.
    const auto view = [&](std::byte* at, std::int64_t first) {
      return OutputView{at - rows.begin * ld - first * kValue, ld};
    };
    const std::byte* a_row = w.gated;
    const std::byte* b_row = w.gated + nc * kValue;
    multiply(a_cols, panel(b, b_cols.begin, 0), view(w.gated, a_cols.begin));
    multiply(b_cols, panel(b, a_cols.end, 0), view(w.gated + nc * kValue, b_cols.begin));
    for (std::int64_t i = rows.begin; i < rows.end; ++i, a_row += ld, b_row += ld)
      for (std::int64_t j = 0; j < a_cols.size(); j += kMaxGatedColumns)
        pipeline.gate(reinterpret_cast<const float*>(a_row) + j,
                      reinterpret_cast<const float*>(b_row) + j,
                      std::min<std::int64_t>(a_cols.size() - j, kMaxGatedColumns),
                      static_cast<std::byte*>(c.data) + i * c.ld + (col + j) * size);
  }
}

// Computes the columns `cols` of C, or their sums so far, from one block of k. `next_panel` is the
// part of B that will be read next. kChained: tall tiles are chained; others are run at once,
// without what that costs.
template <PackAModel A, class Acc, class P>
template <bool kChained>
void Gemm<A, Acc, P>::run_block(Range rows, Range cols, const DepthBlock& depth,
                                const std::byte* next_panel, TileArgs args, const Workspace& w,
                                const PackedB<Acc>& b, const P& pipeline,
                                OutputView c) const noexcept {
  constexpr std::int64_t kValue = sizeof(Value);
  const bool in_pairs = depth.a.in_pairs;
  const Geometry& geometry = in_pairs ? pair_geometry_ : geometry_;
  // In rows, or in pairs of rows, which tiles do not divide.
  const BalancedSplit tiles =
      BalancedSplit::split((rows.size() + in_pairs) >> in_pairs, geometry.max_rows >> in_pairs);
  const std::int64_t tallest = tiles.largest << in_pairs;
  const KernelTable& kernels = in_pairs ? pair_kernels_[depth.first * 2 + depth.last]
                               : depth.streams && tallest == geometry.max_rows
                                   ? streaming_
                                   : kernels_[depth.first * 2 + depth.last];
  const std::int64_t nr = tile_columns(geometry, tallest);
  const std::int64_t depth_bytes = depth.groups.size() * b.group_bytes();
  const bool to_partial = !depth.last, to_functor = depth.last && kHasFunctor<P>;
  // Each row tile fetches its part of the next panel into the L2, so that weights in DRAM are near
  // in time. A single tile has what its kernel fetches a little ahead, which is enough.
  const std::int64_t fetched_per_tile = Acc::format.fetched_bytes(depth.groups.size());

  AOperand operand = depth.a;
  const std::span<BlockPair> blocks = operand.blocks();
  [[maybe_unused]] TileChain chain(w.chain, kMaxPlaces);
  args.set_blocks(blocks);
  args.ldpartial = nc_ * kValue;
  args.ld_group_sums = mc_ * kValue;
  args.ldc = to_partial ? args.ldpartial : to_functor ? nr * kValue : c.ld;
  for_each_column_group(geometry, tallest, cols, [&](const ColumnGroup& group) {
    const std::int64_t col = group.col;
    args.col = col;
    args.columns = group.columns;
    if (b.scale()) args.b_scale = b.scale() + col;
    if (b.zero_point()) args.b_zero_point = b.zero_point() + col;
    if constexpr (is_int4(Acc::kind)) {
      args.weighted_offsets = b.weighted_offsets() + col;
    } else if (b.col_offsets()) {
      args.col_offsets = b.col_offsets() + col;
      args.b_sums = depth.first ? args.col_offsets : nullptr;
    }
    const std::byte* const from = panel(b, col, depth.groups.begin);
    const std::byte* from_pair = from;
    for (std::size_t p = 0; p < blocks.size(); ++p) {
      blocks[p].a = depth.a.pairs[p].a;
      blocks[p].b = from_pair;
      from_pair += blocks[p].groups * b.group_bytes();
    }
    if (in_pairs && !blocks.empty()) {
      pair_columns(from, Acc::format.b_group(), group.vectors * geometry.lanes, depth.groups.size(),
                   w.b_pairs);
      blocks[0].b = w.b_pairs;
    }
    [[maybe_unused]] bool has_sums = false;
    if constexpr (Acc::kind == Accumulator::int16) {
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
        col + nr < cols.end ? panel(b, col + nr, depth.groups.begin) : next_panel;
    std::int64_t fetched = tiles.count > 1 ? 0 : depth_bytes;
    args.row = rows.begin;
    args.a_scale = w.block.scale;
    args.a_zero_point = w.block.zero_point;
    args.row_terms = w.block.row_offsets;
    if (group_sums_) args.group_sums = w.group_sums + depth.groups.begin * mc_;
    const bool whole = depth.first && depth.last;
    Value* partial = cuts_ && !whole ? w.partial + (col - cols.begin) : nullptr;
    std::byte* c_tile =
        static_cast<std::byte*>(c.data) + args.row * c.ld + col * value_size(output_);
    for_each_row_tile(tiles, blocks, [&](std::int64_t units) {
      const std::int64_t height = std::min(units << in_pairs, rows.end - args.row);
      args.prefetch = fetched < depth_bytes ? next + fetched : from;
      args.partial = partial;
      args.c = to_partial ? partial : to_functor ? w.tile : static_cast<void*>(c_tile);
      if constexpr (Acc::kind == Accumulator::int16) {
        args.partial = has_sums ? w.partial : nullptr;
        if (has_sums)
          multiply_outliers(b.outliers(), {col, col + group.columns}, blocks, height,
                            group.vectors * geometry_.lanes, w.partial);
      }
      if (kChained && TileChain::gains(geometry_, height))
        chain.add(kernels.find(height, group.vectors, group.masked), args);
      else
        run_tile(kernels, group, height, args);
      if constexpr (kHasFunctor<P>)
        if (depth.last)
          pipeline.finish({w.tile, nr, height, group.columns, args.row, col}, c_tile, c.ld);

      args.row += height;
      args.a_scale += height;
      args.a_zero_point += height;
      if (args.row_terms) args.row_terms += height;
      if (args.group_sums) args.group_sums += height;
      if (partial) partial += height * nc_;
      c_tile += height * c.ld;
      fetched += fetched_per_tile;
    });
  });
  if constexpr (kChained) chain.run();
}

}  // namespace fbg
