// The loops of Gemm (see gemm.h for their order and why).
#pragma once

#include <algorithm>
#include <cstring>

#include "fbg/core/phase.h"
#include "fbg/gemm/gemm.h"

namespace fbg {

// Kernel key of a pipeline: its typed stages and the corrections that operands ask for.
KernelKey make_kernel_key(const Geometry& geometry, Accumulator accumulator,
                          std::span<const Stage> stages, bool a_has_scale, bool b_has_scale,
                          bool b_has_zero_point);

// Bytes of the largest tile of 32-bit values.
inline std::int64_t tile_bytes(const Geometry& geometry) noexcept {
  std::int64_t vectors = 0;
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    vectors = std::max<std::int64_t>(vectors, rows * geometry.max_vectors[rows - 1]);
  return round_up(vectors * geometry.lanes * static_cast<std::int64_t>(sizeof(Value)), 64);
}

// Bytes of a row of A beyond which K is cut: then a block still has several tiles of rows, and a
// panel of B, as deep, stays in the L2 meanwhile.
inline constexpr std::int64_t kDepthBytes = 4096;
// Bytes of C from which on it is written past the caches: it would not be there when it is read
// next, and a line of it need not be read before it is written.
inline constexpr std::int64_t kStreamBytes = 8 << 20;
// Columns whose sums wait for the next block of k: their scratch is at most half of A's block.
inline constexpr std::int64_t kCutColumns = 256;

template <PackAModel A, class Acc, class P>
Gemm<A, Acc, P>::Gemm(const PackedB<Acc>& b, const P& pipeline, std::int64_t max_m,
                      Features features, const Blocking& blocking)
    : blocking_(blocking),
      geometry_(choose_geometry(Acc::kind, features, blocking.tile())),
      n_(b.cols()),
      k_(b.rows()),
      ld_(packed_ld(b.rows())),
      a_group_bytes_(geometry_.format.a_group()) {
  const KernelKey whole =
      make_kernel_key(geometry_, Acc::kind, kernel_stages(pipeline), A::kHasScale,
                      b.scale() != nullptr, b.zero_point() != nullptr);
  if (is_integer(Acc::kind)) {
    const std::int64_t limit = kernel_stages(pipeline).empty() ? kMaxDepthRaw : kMaxDepthCorrected;
    if (k_ > limit)
      throw std::invalid_argument("gemm: K = " + std::to_string(k_) + " exceeds " +
                                  std::to_string(limit) +
                                  ", the most that int32 sums hold exactly");
  }
  output_ = whole.output();
  if constexpr (kHasFunctor<P>) output_ = pipeline.functor_output();
  row_offsets_ = whole.correct_b;

  const std::int64_t mr = geometry_.max_rows;
  const BalancedSplit depths = BalancedSplit::split(b.groups(), kDepthBytes / a_group_bytes_);
  // Int16 sums move to int32 by themselves, and their scratch is the tile's.
  cuts_ = depths.count > 1 && max_m > mr && Acc::kind != Accumulator::int16;
  kc_ = cuts_ ? depths.largest : std::max<std::int64_t>(b.groups(), 1);
  mc_ =
      std::min(a_block_rows(blocking, kc_ * a_group_bytes_, mr), std::max<std::int64_t>(max_m, 1));
  tallest_ = std::clamp<std::int64_t>(max_m, 1, mr);
  nc_ = cuts_ ? kCutColumns : round_up(std::max<std::int64_t>(n_, 1), kPanelColumns);

  // Whole K; its first, inner and last blocks.
  for (const bool first : {true, false})
    for (const bool last : {true, false}) {
      if (!(first && last) && !cuts_) continue;
      KernelKey key = whole;
      key.load_c = !first;
      if (!last) {
        key.num_stages = 0;
        key.stages = {};
        key.correct_a = key.correct_b = false;
      }
      kernels_[first * 2 + last] = KernelTable(geometry_, key, n_, 1, max_m);
    }
  // A shifted operand's raw sums are read again.
  const bool read_again = a_shift<A>() != 0 && output_ == ValueType::acc;
  streams_ = value_size(output_) == 4 && !read_again && !kHasFunctor<P> &&
             max_m >= kStreamBytes / 4 / std::max<std::int64_t>(n_, 1);
  if (streams_) {
    KernelKey key = whole;
    key.load_c = cuts_;
    key.streams = true;
    streaming_ = KernelTable(geometry_, key, n_, std::max<std::int64_t>(mr - 1, 1), max_m);
  }
  thread_workspace_ = static_cast<std::size_t>(lay_out(nullptr).bytes);
}

template <PackAModel A, class Acc, class P>
std::size_t Gemm<A, Acc, P>::nbytes() const noexcept {
  std::size_t bytes = sizeof *this + streaming_.nbytes();
  for (const KernelTable& table : kernels_) bytes += table.nbytes();
  return bytes;
}

template <PackAModel A, class Acc, class P>
std::string Gemm<A, Acc, P>::kernel_name() const {
  const std::int64_t lanes = geometry_.lanes;
  const std::int64_t nr = lanes * geometry_.max_vectors[static_cast<std::size_t>(tallest_ - 1)];
  const std::int64_t columns = std::clamp<std::int64_t>(n_, 1, nr);
  const KernelTable& last = kernels_[cuts_ ? 1 : 3];
  return fbg::kernel_name(last.key(tallest_, ceil_div(columns, lanes), columns % lanes != 0));
}

template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::lay_out(std::byte* base) const noexcept -> Workspace {
  Workspace w{};
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
  place(w.tail, mc_ * a_group_bytes_);
  if (cuts_) place(w.partial, mc_ * nc_ * static_cast<std::int64_t>(sizeof(Value)));
  if (Acc::kind == Accumulator::int16) place(w.partial, tile_bytes(geometry_));
  if (kHasFunctor<P>) place(w.tile, tile_bytes(geometry_));
  return w;
}

// Rows of A as kernels read them: in place where that is possible, else in the workspace.
template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::pack(const A& a, Range rows, const Workspace& w,
                           const PackedB<Acc>& b) const noexcept -> AOperand {
  const PhaseTimer timer(Phase::pack);
  using T = typename Acc::A;
  ABlock block = w.block;
  a.prepare(rows, block);
  const T* const data = a.in_place();
  const std::int64_t ld = a.in_place_ld();
  if (!data) a.pack(rows, block);
  // Row offsets become the terms that kernels multiply by zero points of B: K * zA_i - sum of row
  // i.
  if (block.row_offsets)
    for (std::int64_t i = 0; i < rows.size(); ++i)
      block.row_offsets[i] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(k_) * static_cast<std::uint32_t>(block.zero_point[i]) -
          static_cast<std::uint32_t>(block.row_offsets[i]));

  if (geometry_.format.wide_a) {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      widen_rows(data ? data + rows.begin * ld : static_cast<const T*>(block.packed),
                 data ? ld : block.ld, rows.size(), k_, w.wide, 2 * ld_);
    return {{BlockPair{w.wide, 2 * ld_, nullptr, b.panel_bytes(), b.groups()}}, 1};
  }
  if (!data) return {{BlockPair{block.packed, block.ld, nullptr, b.panel_bytes(), b.groups()}}, 1};

  const std::int64_t whole = k_ / Acc::format.kr, rest = k_ % Acc::format.kr;
  const BlockPair in_place{data + rows.begin * ld, ld * static_cast<std::int64_t>(sizeof(T)),
                           nullptr, b.panel_bytes(), whole};
  if (!rest) return {{in_place}, 1};
  // The last group would read past the row: copied, padded with zeros.
  T* const tail = reinterpret_cast<T*>(w.tail);
  std::fill_n(tail, rows.size() * Acc::format.kr, T{});
  for (std::int64_t r = 0; r < rows.size(); ++r)
    std::copy_n(data + (rows.begin + r) * ld + whole * Acc::format.kr, rest,
                tail + r * Acc::format.kr);
  return {{in_place, {tail, a_group_bytes_, nullptr, b.panel_bytes(), 1}}, 2};
}

// The part of A and B that lies in a range of k-groups.
template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::cut(const AOperand& a, Range groups, bool first, bool last) const noexcept
    -> DepthBlock {
  DepthBlock block{groups, {}, first, last, false};
  std::int64_t begin = 0;  // of the pair
  for (int p = 0; p < a.num_pairs; ++p) {
    const BlockPair& pair = a.pairs[p];
    const std::int64_t from = std::max(groups.begin, begin);
    const std::int64_t to = std::min(groups.end, begin + pair.groups);
    if (from < to) {
      BlockPair& part = block.a.pairs[block.a.num_pairs++];
      part = pair;
      part.a = static_cast<const std::byte*>(pair.a) + (from - begin) * a_group_bytes_;
      part.groups = to - from;
    }
    begin += pair.groups;
  }
  return block;
}

template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::run(const A& a, const PackedB<Acc>& b, const P& pipeline, OutputView c,
                          std::byte* workspace, int thread_id, int num_threads) const noexcept {
  const FloatEnvironment environment;
  const Share share = thread_share(a.rows(), n_, thread_id, num_threads, blocking_.row_parts);
  if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

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
    const std::int64_t groups = std::max<std::int64_t>(b.groups(), 1);
    const BalancedSplit depths = BalancedSplit::split(groups, single ? groups : kc_);
    const std::int64_t nc = depths.count > 1 ? nc_ : share.cols.size();
    for (std::int64_t col = share.cols.begin; col < share.cols.end; col += nc) {
      const Range cols{col, std::min(col + nc, share.cols.end)};
      for (std::int64_t d = 0; d < depths.count; ++d) {
        const bool last = d + 1 == depths.count;
        DepthBlock depth = cut(operand, depths[d], d == 0, last);
        depth.streams = streams && last && depth.first != cuts_;
        run_block(rows, cols, depth,
                  last ? panel(b, cols.end, 0) : panel(b, cols.begin, depth.groups.end), args, w, b,
                  pipeline, c);
      }
    }
    if constexpr (a_shift<A>() != 0)
      if (output_ == ValueType::acc) unshift(rows, share.cols, b, c);
  }
  if (streams) fence_streams();
}

// Raw sums of an operand that was shifted: sum (a + s) b - s sum b, modulo 2^32 as everywhere.
template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::unshift(Range rows, Range cols, const PackedB<Acc>& b,
                              OutputView c) const noexcept {
  constexpr auto shift = static_cast<std::uint32_t>(a_shift<A>());
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    auto* row = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(c.data) + i * c.ld);
    for (std::int64_t j = cols.begin; j < cols.end; ++j)
      row[j] -= shift * static_cast<std::uint32_t>(b.col_offsets()[j]);
  }
}

// Adds the products of a tile's outliers to `sums` (rows x ld), which it clears first.
inline void multiply_outliers(const Outliers& outliers, Range cols,
                              std::span<const BlockPair> pairs, std::int64_t rows, std::int64_t ld,
                              Value* sums) noexcept {
  std::memset(sums, 0, static_cast<std::size_t>(rows * ld) * sizeof(Value));
  const std::int64_t tail =
      pairs.front().groups * Int16::format.kr;  // where a second pair takes over
  std::int64_t j = cols.begin;
  for (std::int64_t p = outliers.indptr[j]; p < outliers.indptr[cols.end]; ++p) {
    while (p >= outliers.indptr[j + 1]) ++j;
    const std::int64_t k = outliers.rows[p];
    const BlockPair& pair = k < tail ? pairs.front() : pairs.back();
    const auto* a = static_cast<const std::uint8_t*>(pair.a) + (k < tail ? k : k - tail);
    const std::int32_t value = outliers.values[p];
    Value* sum = sums + (j - cols.begin);
    for (std::int64_t i = 0; i < rows; ++i, sum += ld, a += pair.lda) sum->i += value * *a;
  }
}

// Columns `cols` of C, or their sums so far, from one block of k. next_panel: where B goes on then.
template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::run_block(Range rows, Range cols, const DepthBlock& depth,
                                const std::byte* next_panel, TileArgs args, const Workspace& w,
                                const PackedB<Acc>& b, const P& pipeline,
                                OutputView c) const noexcept {
  constexpr std::int64_t kValue = sizeof(Value);
  const BalancedSplit tiles = BalancedSplit::split(rows.size(), geometry_.max_rows);
  const KernelTable& kernels = depth.streams && tiles.largest == geometry_.max_rows
                                   ? streaming_
                                   : kernels_[depth.first * 2 + depth.last];
  const std::int64_t nr = geometry_.lanes * geometry_.max_vectors[tiles.largest - 1];
  const std::int64_t depth_bytes = depth.groups.size() * PackedB<Acc>::kGroupBytes;
  const bool to_partial = !depth.last, to_functor = depth.last && kHasFunctor<P>;

  std::array<BlockPair, 2> pairs = depth.a.pairs;
  args.set_blocks({pairs.data(), static_cast<std::size_t>(depth.a.num_pairs)});
  args.ldpartial = nc_ * kValue;
  args.ldc = to_partial ? args.ldpartial : to_functor ? nr * kValue : c.ld;
  for (std::int64_t col = cols.begin; col < cols.end; col += nr) {
    args.col = col;
    args.columns = std::min(nr, cols.end - col);
    const std::int64_t vectors = ceil_div(args.columns, geometry_.lanes);
    const bool masked = args.columns % geometry_.lanes != 0;
    if (b.scale()) args.b_scale = b.scale() + col;
    if (b.zero_point()) args.b_zero_point = b.zero_point() + col;
    if (b.col_offsets()) args.col_offsets = b.col_offsets() + col;
    const std::byte* const from = panel(b, col, depth.groups.begin);
    for (int p = 0; p < depth.a.num_pairs; ++p) {
      pairs[p].a = depth.a.pairs[p].a;
      pairs[p].b = p ? from + pairs[0].groups * PackedB<Acc>::kGroupBytes : from;
    }
    [[maybe_unused]] bool has_sums = false;
    if constexpr (Acc::kind == Accumulator::int16) {
      const std::int32_t* spill = b.spill_groups();
      args.spill_groups = *std::min_element(spill + col / kPanelColumns,
                                            spill + ceil_div(col + args.columns, kPanelColumns));
      args.ldpartial = vectors * geometry_.lanes * kValue;
      const Outliers outliers = b.outliers();
      has_sums =
          outliers.indptr[col] != outliers.indptr[col + args.columns] ||
          (geometry_.spills && (args.num_pairs > 1 || depth.groups.size() > args.spill_groups));
    }

    // Each row tile fetches its part of the next panel into the L2, so that weights in DRAM are
    // near in time. A single tile has what its kernel fetches a little ahead, which is enough.
    const std::byte* const next =
        col + nr < cols.end ? panel(b, col + nr, depth.groups.begin) : next_panel;
    const std::int64_t fetched_per_tile = ceil_div(depth.groups.size(), 2) * 64;
    std::int64_t fetched = tiles.count > 1 ? 0 : depth_bytes;

    args.row = rows.begin;
    args.a_scale = w.block.scale;
    args.a_zero_point = w.block.zero_point;
    args.row_terms = w.block.row_offsets;
    const bool whole = depth.first && depth.last;
    Value* partial = cuts_ && !whole ? w.partial + (col - cols.begin) : nullptr;
    std::byte* c_tile =
        static_cast<std::byte*>(c.data) + args.row * c.ld + col * value_size(output_);
    // Tall tiles, then those one row shorter.
    for (const bool tall : {true, false}) {
      const std::int64_t count = tall ? tiles.num_largest : tiles.count - tiles.num_largest;
      if (count == 0) continue;
      const std::int64_t height = tiles.largest - !tall;
      const TileFunction kernel = kernels.find(height, vectors, masked);
      args.key = &kernels.key(height, vectors, masked);
      for (std::int64_t t = 0; t < count; ++t) {
        args.prefetch = fetched < depth_bytes ? next + fetched : from;
        args.partial = partial;
        args.c = to_partial ? partial : to_functor ? w.tile : static_cast<void*>(c_tile);
        if constexpr (Acc::kind == Accumulator::int16) {
          args.partial = has_sums ? w.partial : nullptr;
          if (has_sums)
            multiply_outliers(b.outliers(), {col, col + args.columns}, args.blocks(), height,
                              vectors * geometry_.lanes, w.partial);
        }
        kernel(&args);
        if constexpr (kHasFunctor<P>)
          if (depth.last)
            pipeline.finish({w.tile, nr, height, args.columns, args.row, col}, c_tile, c.ld);

        for (BlockPair& pair : pairs)
          pair.a = static_cast<const std::byte*>(pair.a) + height * pair.lda;
        args.row += height;
        args.a_scale += height;
        args.a_zero_point += height;
        if (args.row_terms) args.row_terms += height;
        if (partial) partial += height * nc_;
        c_tile += height * c.ld;
        fetched += fetched_per_tile;
      }
    }
  }
}

}  // namespace fbg
