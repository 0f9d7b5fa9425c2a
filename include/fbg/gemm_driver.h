// The loops of Gemm (see gemm.h for their order and why).
#pragma once

#include <algorithm>
#include <cstring>

#include "fbg/gemm.h"

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

// Bytes of packed A that a thread keeps at a time: half of an L2, so that B panels fit beside it.
inline constexpr std::int64_t kPackedBytes = 256 << 10;

template <PackAModel A, class Acc, class P>
Gemm<A, Acc, P>::Gemm(const PackedB<Acc>& b, const P& pipeline, std::int64_t max_m,
                      Features features)
    : geometry_(choose_geometry(Acc::kind, features)),
      kernels_(geometry_,
               make_kernel_key(geometry_, Acc::kind, kernel_stages(pipeline), A::kHasScale,
                               b.scale() != nullptr, b.zero_point() != nullptr),
               b.cols(), max_m),
      output_(kernels_.key(1, 1, false).output()),
      n_(b.cols()),
      k_(b.rows()),
      ld_(packed_ld(b.rows())),
      row_offsets_(kernels_.key(1, 1, false).correct_b) {
  if (is_integer(Acc::kind)) {
    const std::int64_t limit = kernel_stages(pipeline).empty() ? kMaxDepthRaw : kMaxDepthCorrected;
    if (k_ > limit)
      throw std::invalid_argument("gemm: K = " + std::to_string(k_) + " exceeds " +
                                  std::to_string(limit) +
                                  ", the most that int32 sums hold exactly");
  }
  if constexpr (kHasFunctor<P>) output_ = pipeline.functor_output();
  const std::int64_t mr = geometry_.max_rows;
  mc_ = std::clamp<std::int64_t>(kPackedBytes / ld_ / mr * mr, mr, 1024 / mr * mr);
  mc_ = std::min(mc_, std::max<std::int64_t>(max_m, 1));
  thread_workspace_ = static_cast<std::size_t>(lay_out(nullptr).bytes);
}

template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::lay_out(std::byte* base) const noexcept -> Workspace {
  Workspace w{};
  const auto place = [&](auto*& part, std::int64_t bytes) {
    part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(base + w.bytes);
    w.bytes += round_up(bytes, 64);
  };
  place(w.block.scale, mc_ * 4);
  place(w.block.zero_point, mc_ * 4);
  if (row_offsets_) place(w.block.row_offsets, mc_ * 4);
  std::byte* packed = nullptr;
  place(packed, mc_ * ld_);
  w.block.packed = packed;
  w.block.ld = ld_;
  if (geometry_.wide_a) place(w.wide, mc_ * 2 * ld_);
  place(w.tail, mc_ * Acc::kr * static_cast<std::int64_t>(sizeof(typename Acc::A)));
  if (kHasFunctor<P>) place(w.tile, tile_bytes(geometry_));
  if (Acc::kind == Accumulator::int16) place(w.sums, tile_bytes(geometry_));
  return w;
}

template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::run(const A& a, const PackedB<Acc>& b, const P& pipeline, OutputView c,
                          std::byte* workspace, int thread_id, int num_threads) const noexcept {
  using T = typename Acc::A;
  const FloatEnvironment environment;
  const Share share = thread_share(a.rows(), n_, thread_id, num_threads);
  if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

  const Workspace w = lay_out(workspace + static_cast<std::size_t>(thread_id) * thread_workspace_);
  std::array<StageArgs, kMaxStages> stage_args;
  std::ranges::transform(kernel_stages(pipeline), stage_args.begin(), &Stage::args);

  TileArgs args;
  args.ldc = c.ld;
  args.stages = stage_args.data();
  const std::int64_t whole = k_ / Acc::kr, rest = k_ % Acc::kr;

  // Blocks of equal size rather than mc, mc, ..., leftover.
  const RowTiles blocks = RowTiles::split(share.rows.size(), mc_);
  std::int64_t begin = share.rows.begin;
  for (std::int64_t i = 0; i < blocks.count; ++i) {
    const Range rows{begin, begin + blocks.height - (i >= blocks.tall)};
    begin = rows.end;
    ABlock block = w.block;
    a.prepare(rows, block);

    BlockPair pairs[2];
    int num_pairs = 1;
    const T* const data = a.in_place();
    const std::int64_t ld = a.in_place_ld();
    if (!data) a.pack(rows, block);
    if (geometry_.wide_a) {
      if constexpr (std::is_same_v<T, std::uint8_t>)
        widen_rows(data ? data + rows.begin * ld : static_cast<const T*>(block.packed),
                   data ? ld : block.ld, rows.size(), k_, w.wide, 2 * ld_);
      pairs[0] = {w.wide, 2 * ld_, nullptr, b.panel_bytes(), b.groups()};
    } else if (data) {
      pairs[0] = {data + rows.begin * ld, ld * static_cast<std::int64_t>(sizeof(T)), nullptr,
                  b.panel_bytes(), whole};
      if (rest) {  // the last group would read past the row: copied, padded with zeros
        T* tail = reinterpret_cast<T*>(w.tail);
        std::fill_n(tail, rows.size() * Acc::kr, T{});
        for (std::int64_t r = 0; r < rows.size(); ++r)
          std::copy_n(data + (rows.begin + r) * ld + whole * Acc::kr, rest, tail + r * Acc::kr);
        pairs[num_pairs++] = {tail, Acc::kr * static_cast<std::int64_t>(sizeof(T)), nullptr,
                              b.panel_bytes(), 1};
      }
    } else {
      pairs[0] = {block.packed, block.ld, nullptr, b.panel_bytes(), b.groups()};
    }
    if (block.row_offsets) row_terms(rows.size(), block);
    args.row = rows.begin;
    run_block(rows, share.cols, pairs, num_pairs, args, w, b, pipeline, c);
    if constexpr (a_shift<A>() != 0)
      if (output_ == ValueType::acc) unshift(rows, share.cols, b, c);
  }
}

// Row offsets become the terms that kernels multiply by zero points of B, in place.
template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::row_terms(std::int64_t rows, const ABlock& block) const noexcept {
  const auto k = static_cast<std::uint32_t>(k_);
  for (std::int64_t i = 0; i < rows; ++i)
    block.row_offsets[i] =
        static_cast<std::int32_t>(k * static_cast<std::uint32_t>(block.zero_point[i]) -
                                  static_cast<std::uint32_t>(block.row_offsets[i]));
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

// Where a tile's int16 sums go, holding the products of its outliers already; null where there are
// none and nothing is going to be spilled.
inline std::int32_t* start_sums(const PackedB<Int16>& b, Range cols,
                                std::span<const BlockPair> pairs, std::int64_t rows,
                                std::int64_t ld, bool spills, std::int32_t* sums) noexcept {
  const Outliers outliers = b.outliers();
  const auto* const indptr = outliers.indptr.data();
  if (!spills && indptr[cols.begin] == indptr[cols.end]) return nullptr;
  std::fill_n(sums, rows * ld, 0);
  const std::int64_t tail = pairs.front().groups * Int16::kr;  // where a second pair takes over
  for (std::int64_t j = cols.begin; j < cols.end; ++j)
    for (std::int64_t p = indptr[j]; p < indptr[j + 1]; ++p) {
      const std::int64_t k = outliers.rows[p];
      const BlockPair& pair = k < tail ? pairs.front() : pairs.back();
      const auto* a = static_cast<const std::uint8_t*>(pair.a) + (k < tail ? k : k - tail);
      const std::int32_t value = outliers.values[p];
      std::int32_t* sum = sums + (j - cols.begin);
      for (std::int64_t i = 0; i < rows; ++i) sum[i * ld] += value * a[i * pair.lda];
    }
  return sums;
}

template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::run_block(Range rows, Range cols, const BlockPair* block_pairs, int num_pairs,
                                TileArgs args, const Workspace& w, const PackedB<Acc>& b,
                                const P& pipeline, OutputView c) const noexcept {
  constexpr std::int64_t kColumnBytes = PackedB<Acc>::kGroupBytes / kPanelColumns;
  const RowTiles tiles = RowTiles::split(rows.size(), geometry_.max_rows);
  const std::int64_t lanes = geometry_.lanes;
  const std::int64_t nr = lanes * geometry_.max_vectors[tiles.height - 1];
  const std::int64_t out_size = value_size(output_);

  BlockPair pairs[2];
  args.pairs = pairs;
  args.num_pairs = num_pairs;
  for (std::int64_t col = cols.begin; col < cols.end; col += nr) {
    args.col = col;
    args.columns = std::min(nr, cols.end - col);
    const std::int64_t vectors = ceil_div(args.columns, lanes);
    const bool masked = args.columns % lanes != 0;
    if (b.scale()) args.b_scale = b.scale() + col;
    if (b.zero_point()) args.b_zero_point = b.zero_point() + col;
    if (b.col_offsets()) args.col_offsets = b.col_offsets() + col;
    if constexpr (Acc::kind == Accumulator::int16) {
      const std::int32_t* depth = b.spill_groups();
      args.spill_groups = *std::min_element(depth + col / kPanelColumns,
                                            depth + ceil_div(col + args.columns, kPanelColumns));
    }
    const std::byte* panel =
        b.panels() + col / kPanelColumns * b.panel_bytes() + col % kPanelColumns * kColumnBytes;

    // Each row tile fetches its part of the next panel, so that weights in DRAM are near in time. A
    // single tile streams through B, which the hardware's own prefetcher does better.
    const std::byte* const next_panel = panel + ceil_div(nr, kPanelColumns) * b.panel_bytes();
    const std::int64_t fetched_per_tile = ceil_div(b.groups(), 2) * 64;
    std::int64_t row = 0;
    for (std::int64_t t = 0; t < tiles.count; ++t) {
      const std::int64_t height = tiles.height - (t >= tiles.tall);
      const std::byte* group = panel;
      for (int p = 0; p < num_pairs; ++p) {
        pairs[p] = block_pairs[p];
        pairs[p].a = static_cast<const std::byte*>(pairs[p].a) + row * pairs[p].lda;
        pairs[p].b = group;
        group += pairs[p].groups * PackedB<Acc>::kGroupBytes;
      }
      const std::int64_t fetched = t * fetched_per_tile;
      args.prefetch = tiles.count > 1 && fetched < b.panel_bytes() ? next_panel + fetched : panel;
      args.row = rows.begin + row;
      args.a_scale = w.block.scale + row;
      args.a_zero_point = w.block.zero_point + row;
      args.row_terms = w.block.row_offsets ? w.block.row_offsets + row : nullptr;
      std::byte* const c_tile = static_cast<std::byte*>(c.data) + args.row * c.ld + col * out_size;
      args.c = c_tile;
      if constexpr (Acc::kind == Accumulator::int16) {
        const bool spills =
            geometry_.spills && (num_pairs > 1 || pairs[0].groups > args.spill_groups);
        args.sums = start_sums(b, {col, col + args.columns}, {pairs, pairs + num_pairs}, height,
                               vectors * lanes, spills, w.sums);
      }
      if constexpr (kHasFunctor<P>) {
        args.c = w.tile;
        args.ldc = nr * static_cast<std::int64_t>(sizeof(Value));
      }
      args.key = &kernels_.key(height, vectors, masked);
      kernels_.find(height, vectors, masked)(&args);
      if constexpr (kHasFunctor<P>)
        pipeline.finish({w.tile, nr, height, args.columns, args.row, col}, c_tile, c.ld);
      row += height;
    }
  }
}

}  // namespace fbg
