// patches: a convolution of bytes as one product, whose A is gathered for a block of tiles at a
// time.
//
// A row of A is the patch of an output pixel: the pixels under each row of the kernel are
// contiguous in a channels-last image, so that it is made of a few runs of bytes, one after the
// other, and of zeros up to whole blocks of a matrix unit:
//
//   [ row 0 of the kernel: kx, channel | row 1 | ... | zeros ]
//
// This is for images of few channels. Their runs are short, and `taps`, which reads them where they
// lie, would have to pad each of them; here only the end of a patch is padded. Tiles do not end
// where a line of the output does. All columns of C use the patches of a block while they are in
// the L1.
#include <algorithm>
#include <cstring>
#include <utility>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/thread_memory.h"
#include "conv/tiles.h"
#include "core/policy.h"
#include "fbg/gemm/tile_loop.h"
#include "gemm/tile_share.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kManyGroups = 1 << 20;

// The geometry of a matrix unit, if padding patches to whole blocks of it pays.
Geometry patch_geometry(const ConvProblem& p) {
  const Geometry unit = choose_geometry(p.family(), p.features, {}, kManyGroups);
  const std::int64_t groups = ceil_div(p.geometry.depth(), p.format().kr);
  const double padded = tile_cost(unit, unit.max_rows, round_up(groups, unit.block_groups));
  if (padded <= static_cast<double>(groups * unit.max_rows)) return unit;
  return choose_geometry(p.family(), p.features);
}

// Whether the pixels are the patches, if the image has no gaps.
bool pixels_are_patches(const ConvGeometry& g, std::int64_t k_groups, std::int64_t kr = 4) {
  const Extent3 one{1, 1, 1}, none{0, 0, 0};
  return g.kernel == one && g.stride == one && g.pad_before == none && g.pad_after == none &&
         k_groups * kr == g.in_channels;
}

class PatchesStep final : public ConvStep {
 public:
  explicit PatchesStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        tile_(conv_tile(p, patch_geometry(p), 0, volume(p.shape.output))),
        key_(product_key(p, tile_)),
        output_(key_.output()),
        terms_(p.geometry, key_),
        tiles_(BalancedSplit::split(volume(p.shape.output), tile_.max_rows)),
        kernels_(tile_, key_, p.geometry.out_channels,
                 std::max<std::int64_t>(tiles_.largest - 1, 1), tiles_.largest),
        panels_(p.weights.panels(0, p.geometry.depth(), tile_.block_groups * p.format().kr)),
        lanes_(simd::kernels(p.features).lanes),
        threads_(p.threads) {
    const ConvGeometry& g = geometry_;
    rows_ = g.kernel[0] * g.kernel[1];
    run_ = g.kernel[2] * g.in_channels;
    steps_ = run_ <= simd::kMaxRun ? round_up(run_, simd::kRunStep) : run_;
    patch_ = round_up(std::max(g.depth() - run_ + steps_, panels_.groups() * p.format().kr), 4);
    // Patches a multiple of 4 KiB apart would fall into the same sets of the L1.
    if (patch_ % 4096 == 0) patch_ += 64;
    block_tiles_ =
        std::max<std::int64_t>(policy::patches::kBlockBytes / (patch_ * tile_.max_rows), 1);
    pad_bytes_ = round_up(run_, 64);
    const std::int64_t line = std::max<std::int64_t>(p.shape.output[2], 1);
    border_bytes_ = round_up((line - 1) * g.stride[2] * g.in_channels + steps_, 64);
    MemoryCutter counter(nullptr);
    cut(counter);
    thread_bytes_ = counter.bytes();
  }

  std::string kernel() const override { return tallest_kernel_name(key_, tile_, tiles_); }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const std::int64_t count = shape_.batch * tiles_.count, columns = geometry_.out_channels;
    const Share share = tile_share(count, tiles_.largest, columns, thread_id, num_threads);
    if (share.rows.size() <= 0 || share.cols.size() <= 0) return;

    const KernelScope scope(tile_, tiles_.largest);
    MemoryCutter memory(workspace + thread_id * thread_bytes_);
    Thread t = cut(memory);
    t.place = TilePlace(run.stages, run.c, 1);
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
    std::byte* padding;       // a run of padding
    std::byte* borders;       // [row] of a line, with its padding
    const std::byte** lines;  // [row] of the image; null: outside
    simd::PatchRow* rows;     // [row] to copy runs from
    ColumnTerms terms;
    std::byte* patches;
    TilePlace place;
  };

  Thread cut(MemoryCutter& memory) const {
    Thread t{};
    t.padding = memory.take<std::byte>(pad_bytes_);
    t.borders = memory.take<std::byte>(rows_ * border_bytes_);
    t.lines = memory.take<const std::byte*>(rows_);
    t.rows = memory.take<simd::PatchRow>(rows_);
    t.terms = terms_.take(memory);
    t.patches = memory.take<std::byte>(block_tiles_ * tile_.max_rows * patch_);
    return t;
  }

  void begin_image(const ConvRun& run, std::int64_t n, Thread& t) const noexcept {
    fill_padding(t.padding, pad_bytes_, run.image_zero_point(n), 1);
    const PackedMatrix* const weights[] = {&panels_};
    terms_.fill(run, n, t.place.stages(), weights, t.terms);
  }

  // Tiles `tiles` of image n: their patches, then their products by groups of columns.
  void run_block(const ConvRun& run, std::int64_t n, Range tiles, Range cols,
                 Thread& t) const noexcept {
    const std::int64_t first = tiles_[tiles.begin].begin;
    const bool in_place = is_in_place(run, n);
    if (!in_place) gather(run, n, {first, tiles_[tiles.end - 1].end}, t);
    const std::int64_t kGroupBytes = panels_.group_bytes();
    BlockPair pair{};
    pair.lda = in_place ? geometry_.in_channels : patch_;
    pair.b_panel_stride = panels_.panel_bytes();
    pair.groups = panels_.groups();
    TileArgs args{};
    args.pairs = &pair;
    args.num_pairs = 1;
    for_each_column_group(tile_, tiles_.largest, cols, [&](const ColumnGroup& columns) {
      const std::int64_t col = columns.col;
      pair.b = panels_.panels() + col / kPanelColumns * panels_.panel_bytes() +
               col % kPanelColumns * (kGroupBytes / kPanelColumns);
      args.prefetch = static_cast<const std::byte*>(pair.b);
      args.columns = columns.columns;
      args.b_sums = panels_.col_offsets() + col;
      terms_.set(args, t.terms, 0, col);
      for (std::int64_t i = tiles.begin; i < tiles.end; ++i) {
        const Range pixels = tiles_[i];
        pair.a = in_place ? run.x + n * run.batch_stride + pixels.begin * pair.lda
                          : t.patches + (pixels.begin - first) * patch_;
        t.place.set(args, n * volume(shape_.output) + pixels.begin, col, output_);
        run_tile(kernels_, columns, pixels.size(), args);
      }
    });
  }

  // Whether the pixels of image n are the patches, one after the other. A matrix unit takes twice
  // the time to load rows that are not whole cache lines.
  bool is_in_place(const ConvRun& run, std::int64_t n) const noexcept {
    constexpr std::uintptr_t kLine = 64;
    const Extent3& size = shape_.input;
    const auto image = reinterpret_cast<std::uintptr_t>(run.x + n * run.batch_stride);
    return pixels_are_patches(geometry_, panels_.groups()) &&
           run.strides[2] == geometry_.in_channels && run.strides[1] == size[2] * run.strides[2] &&
           run.strides[0] == size[1] * run.strides[1] &&
           (tile_.block_groups == 1 || image % kLine == 0);
  }

  // The patches of output pixels of image n, line by line.
  void gather(const ConvRun& run, std::int64_t n, Range pixels, const Thread& t) const noexcept {
    const std::int64_t width = shape_.output[2];
    std::byte* to = t.patches;
    for (std::int64_t pixel = pixels.begin; pixel < pixels.end;) {
      const std::int64_t x = pixel % width, count = std::min(width - x, pixels.end - pixel);
      gather_line(run, n, pixel / width, {x, x + count}, t, to);
      pixel += count;
      to += count * patch_;
    }
  }

  // Output pixels `xs` of a line. Those whose patches lie inside the lines of the image, and may be
  // read by whole steps, are copied from there, the others from copies with padding.
  void gather_line(const ConvRun& run, std::int64_t n, std::int64_t line, Range xs, const Thread& t,
                   std::byte* to) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t width = shape_.input[2], stride = g.stride[2];
    const auto start = [&](std::int64_t x) { return x * stride - g.pad_before[2]; };
    Range inside{xs.begin, xs.begin};
    if (run.strides[2] == g.in_channels && width >= g.kernel[2]) {
      inside.begin = std::clamp(ceil_div(g.pad_before[2], stride), xs.begin, xs.end);
      const std::int64_t last = (width - g.kernel[2] + g.pad_before[2]) / stride;
      inside.end = std::clamp(last + 1, inside.begin, xs.end);
    }
    const std::byte* const image = run.x + n * run.batch_stride;
    std::int64_t row = 0;
    for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz) {
      const std::int64_t z =
          line / shape_.output[1] * g.stride[0] - g.pad_before[0] + kz * g.dilation[0];
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky, ++row) {
        const std::int64_t y =
            line % shape_.output[1] * g.stride[1] - g.pad_before[1] + ky * g.dilation[1];
        const bool outside = z < 0 || z >= shape_.input[0] || y < 0 || y >= shape_.input[1];
        t.lines[row] = outside ? nullptr : image + z * run.strides[0] + y * run.strides[1];
        while (!outside && inside.size() > 0 &&
               t.lines[row] + start(inside.end - 1) * g.in_channels + steps_ > run.end)
          --inside.end;
      }
    }
    const auto border = [&](Range part) {
      if (part.size() == 0) return;
      const std::int64_t count = (part.size() - 1) * stride + g.kernel[2];
      for (row = 0; row < rows_; ++row) {
        std::byte* const copy = t.borders + row * border_bytes_;
        t.rows[row] = {t.padding, 0};
        if (!t.lines[row]) continue;
        copy_padded(t.lines[row], run.strides[2], width, start(part.begin), count, g.in_channels,
                    t.padding, copy);
        t.rows[row] = {copy, stride * g.in_channels};
      }
      copy_patches(t, part.size(), to + (part.begin - xs.begin) * patch_);
    };
    border({xs.begin, inside.begin});
    for (row = 0; row < rows_; ++row)
      t.rows[row] = t.lines[row]
                        ? simd::PatchRow{t.lines[row] + start(inside.begin) * g.in_channels,
                                         stride * g.in_channels}
                        : simd::PatchRow{t.padding, 0};
    copy_patches(t, inside.size(), to + (inside.begin - xs.begin) * patch_);
    border({inside.end, xs.end});
  }

  void copy_patches(const Thread& t, std::int64_t count, std::byte* to) const noexcept {
    if (run_ <= simd::kMaxRun)
      return lanes_.copy_patches(t.rows, static_cast<std::size_t>(rows_),
                                 static_cast<std::size_t>(run_), static_cast<std::size_t>(count),
                                 to, patch_);
    for (std::int64_t i = 0; i < count; ++i, to += patch_)
      for (std::int64_t row = 0; row < rows_; ++row)
        std::memcpy(to + row * run_, t.rows[row].data + i * t.rows[row].step,
                    static_cast<std::size_t>(run_));
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const Geometry tile_;
  const KernelKey key_;
  const ValueType output_;
  const GroupTerms terms_;
  const BalancedSplit tiles_;  // of the output pixels of an image
  const KernelTable kernels_;
  const PackedMatrix& panels_;
  const simd::LaneKernels& lanes_;
  const int threads_;
  // Rows of the kernel; bytes of a run, of the whole steps that it is copied by, and from one patch
  // to the next.
  std::int64_t rows_, run_, steps_, patch_;
  std::int64_t block_tiles_;
  std::int64_t pad_bytes_, border_bytes_, thread_bytes_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  return !g.transposed && g.groups == 1 && g.dilation[2] == 1 && !p.b_has_zero_point() &&
         !choose_geometry(p.family(), p.features).format.wide_a;
}

// Gathering a run takes a few instructions and its bytes twice.
double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = patch_geometry(p);
  const std::int64_t groups = round_up(ceil_div(g.depth(), p.format().kr), tile.block_groups);
  const BalancedSplit tiles = BalancedSplit::split(volume(p.shape.output), tile.max_rows);
  const bool in_place = pixels_are_patches(g, groups);
  const double products = static_cast<double>(p.shape.batch * tiles.count) *
                          tile_cost(tile, tiles.largest, groups) * (in_place ? 1.0 : 1.1) *
                          relative_cost(p, tile, volume(p.shape.output));
  const double vectors = static_cast<double>(ceil_div(g.out_channels, tile.lanes));
  const double rows = static_cast<double>(p.shape.out_pixels());
  const double runs = static_cast<double>(g.kernel[0] * g.kernel[1]);
  const bool overlapped = in_place && tile.block_groups > 1;  // with the products of the next tile
  const double finish = overlapped ? (p.stages.empty() ? 2 : 5) : p.stages.empty() ? 3 : 10;
  const double gather = in_place ? 0 : runs * 4 + static_cast<double>(g.depth()) / 8;
  return vectors * products + rows * (vectors * finish + gather);
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) { return std::make_unique<PatchesStep>(p); }

}  // namespace

ConvMethod patches_method() {
  return {"patches", true, applies, cost, prepare, false, true, only<Accumulator::int32>};
}

}  // namespace fbg
