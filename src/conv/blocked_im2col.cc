// patches: a convolution of bytes by blocked im2col: as one product, whose A is gathered for a
// block of tiles at a time.
//
// A row of A is the patch of an output pixel: the pixels under each row of the kernel are
// contiguous in a channels-last image, so that it is made of a few runs of bytes, one after the
// other, and of zeros up to whole blocks of a matrix unit:
//
//   [ row 0 of the kernel: kx, channel | row 1 | ... | zeros ]
//
// This is for images of few channels. Their runs are short, and implicit_gemm.cc, which reads them
// where they lie, would have to pad each of them; here only the end of a patch is padded. Tiles do
// not end where a line of the output does. All columns of C use the patches of a block while they
// are in the L1.
#include <algorithm>
#include <cstring>

#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/tile_product.h"
#include "conv/tiles.h"
#include "core/policy.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kManyGroups = 1 << 20;

// The tile of a matrix unit, if padding patches to whole blocks of it pays.
Geometry plain_tile(const ConvProblem& p) {
  const Geometry unit = choose_geometry(p.family(), p.features, {}, kManyGroups);
  const std::int64_t groups = ceil_div(p.geometry.depth(), p.format().kr);
  const double padded = tile_cost(unit, unit.max_rows, round_up(groups, unit.block_groups));
  if (padded <= static_cast<double>(groups * unit.max_rows)) return unit;
  return choose_geometry(p.family(), p.features);
}

// Whether the pixels are the patches, of `depth` bytes with their zeros, if the image has no gaps.
bool pixels_are_patches(const ConvGeometry& g, std::int64_t depth) {
  const Extent3 one{1, 1, 1}, none{0, 0, 0};
  return g.kernel == one && g.stride == one && g.pad_before == none && g.pad_after == none &&
         depth == g.in_channels;
}

class Patches final : public SourceOfA {
 public:
  explicit Patches(const ConvProblem& p)
      : geometry_(p.geometry), shape_(p.shape), lanes_(simd::kernels(p.features).lanes) {
    const ConvGeometry& g = geometry_;
    tile = conv_tile(p, plain_tile(p), 0, volume(p.shape.output));
    key = product_key(p, tile);
    split_rows(volume(p.shape.output));
    pack_weights(p, g.depth(), tile.block_groups * p.format().kr);
    const std::int64_t groups = weights.front()->groups();
    runs = {{0, 0, 0, groups}};
    parts = {{0, 1}};
    depth_ = groups * p.format().kr;
    kernel_rows_ = g.kernel[0] * g.kernel[1];
    run_ = g.kernel[2] * g.in_channels;
    steps_ = run_ <= simd::kMaxRun ? round_up(run_, simd::kRunStep) : run_;
    patch_ = round_up(std::max(g.depth() - run_ + steps_, depth_), 4);
    // Patches a multiple of 4 KiB apart would fall into the same sets of the L1.
    if (patch_ % 4096 == 0) patch_ += 64;
    block_tiles =
        std::max<std::int64_t>(policy::patches::kBlockBytes / (patch_ * tile.max_rows), 1);
    padding_bytes = round_up(run_, 64);
    const std::int64_t line = std::max<std::int64_t>(p.shape.output[2], 1);
    border_bytes_ = round_up((line - 1) * g.stride[2] * g.in_channels + steps_, 64);
    Scratchpad counter(nullptr);
    lay_out(counter, nullptr);
    scratch_bytes = counter.bytes();
  }

  void find_rows(const ConvRun& run, std::int64_t n, Range indices, const std::byte* padding,
                 std::byte* scratch, TileRows* rows, Segment* found) const noexcept override {
    const std::int64_t first = tiles[indices.begin].begin;
    Segment a{run.x + n * run.batch_stride + first * geometry_.in_channels, geometry_.in_channels};
    if (!is_in_place(run, n)) {
      Scratchpad memory(scratch);
      const Scratch t = lay_out(memory, padding);
      gather(run, n, {first, tiles[indices.end - 1].end}, t);
      a = {t.patches, patch_};
    }
    for (std::int64_t i = indices.begin; i < indices.end; ++i) {
      const Range pixels = tiles[i];
      *rows++ = {n * volume(shape_.output) + pixels.begin, pixels.size()};
      *found++ = {a.data + (pixels.begin - first) * a.lda, a.lda};
    }
  }

 private:
  struct Scratch {
    const std::byte* padding;  // a run of it
    std::byte* borders;        // [row] of a line, with its padding
    const std::byte** lines;   // [row] of the image; null: outside
    simd::PatchRow* rows;      // [row] to copy runs from
    std::byte* patches;
  };

  Scratch lay_out(Scratchpad& memory, const std::byte* padding) const {
    return {padding, memory.take<std::byte>(kernel_rows_ * border_bytes_),
            memory.take<const std::byte*>(kernel_rows_), memory.take<simd::PatchRow>(kernel_rows_),
            memory.take<std::byte>(block_tiles * tile.max_rows * patch_)};
  }

  // Whether the pixels of image n are the patches, one after the other. A matrix unit takes twice
  // the time to load rows that are not whole cache lines.
  bool is_in_place(const ConvRun& run, std::int64_t n) const noexcept {
    constexpr std::uintptr_t kLine = 64;
    const Extent3& size = shape_.input;
    const auto image = reinterpret_cast<std::uintptr_t>(run.x + n * run.batch_stride);
    return pixels_are_patches(geometry_, depth_) && run.strides[2] == geometry_.in_channels &&
           run.strides[1] == size[2] * run.strides[2] &&
           run.strides[0] == size[1] * run.strides[1] &&
           (tile.block_groups == 1 || image % kLine == 0);
  }

  // The patches of output pixels of image n, line by line.
  void gather(const ConvRun& run, std::int64_t n, Range pixels, const Scratch& t) const noexcept {
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
  void gather_line(const ConvRun& run, std::int64_t n, std::int64_t line, Range xs,
                   const Scratch& t, std::byte* to) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t width = shape_.input[2], stride = g.stride[2];
    const auto start = [&](std::int64_t x) { return x * stride - g.pad_before[2]; };
    Range inside{xs.begin, xs.begin};
    if (run.strides[2] == g.in_channels && width >= g.kernel[2]) {
      inside.begin = std::clamp(ceil_div(g.pad_before[2], stride), xs.begin, xs.end);
      const std::int64_t last = (width - g.kernel[2] + g.pad_before[2]) / stride;
      inside.end = std::clamp(last + 1, inside.begin, xs.end);
    }
    for_each_line(run.x + n * run.batch_stride, run.strides, g, shape_.input,
                  line / shape_.output[1], line % shape_.output[1],
                  [&](std::int64_t row, const std::byte* from) {
                    t.lines[row] = from;
                    while (from && inside.size() > 0 &&
                           from + start(inside.end - 1) * g.in_channels + steps_ > run.end)
                      --inside.end;
                  });
    const auto copy = [&](Range part, bool border) {
      if (part.size() == 0) return;
      const std::int64_t count = (part.size() - 1) * stride + g.kernel[2];
      for (std::int64_t row = 0; row < kernel_rows_; ++row) {
        const std::byte* from = t.lines[row];
        if (from && border) {
          std::byte* const padded = t.borders + row * border_bytes_;
          copy_padded(from, run.strides[2], width, start(part.begin), count, g.in_channels,
                      t.padding, padded);
          from = padded;
        } else if (from) {
          from += start(part.begin) * g.in_channels;
        }
        t.rows[row] =
            from ? simd::PatchRow{from, stride * g.in_channels} : simd::PatchRow{t.padding, 0};
      }
      copy_patches(t, part.size(), to + (part.begin - xs.begin) * patch_);
    };
    copy({xs.begin, inside.begin}, true);
    copy(inside, false);
    copy({inside.end, xs.end}, true);
  }

  void copy_patches(const Scratch& t, std::int64_t count, std::byte* to) const noexcept {
    if (run_ <= simd::kMaxRun)
      return lanes_.copy_patches(t.rows, static_cast<std::size_t>(kernel_rows_),
                                 static_cast<std::size_t>(run_), static_cast<std::size_t>(count),
                                 to, patch_);
    for (std::int64_t i = 0; i < count; ++i, to += patch_)
      for (std::int64_t row = 0; row < kernel_rows_; ++row)
        std::memcpy(to + row * run_, t.rows[row].data + i * t.rows[row].step,
                    static_cast<std::size_t>(run_));
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const simd::LaneKernels& lanes_;
  // Bytes of a patch with its zeros, of a run, of the whole steps that it is copied by, and from
  // one patch to the next.
  std::int64_t depth_, run_, steps_, patch_;
  std::int64_t kernel_rows_, border_bytes_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  return !g.transposed && g.groups == 1 && g.dilation[2] == 1 && !p.b_has_zero_point() &&
         !choose_geometry(p.family(), p.features).format.wide_a;
}

// Gathering a run takes a few instructions and its bytes twice.
double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = plain_tile(p);
  const std::int64_t kr = p.format().kr;
  const std::int64_t groups = round_up(ceil_div(g.depth(), kr), tile.block_groups);
  const BalancedSplit tiles = BalancedSplit::split(volume(p.shape.output), tile.max_rows);
  const bool in_place = pixels_are_patches(g, groups * kr);
  const double products = static_cast<double>(p.shape.batch * tiles.count) *
                          tile_cost(tile, tiles.largest, groups) * (in_place ? 1.0 : 1.1) *
                          relative_cost(p, tile, volume(p.shape.output));
  const double vectors = static_cast<double>(ceil_div(g.out_channels, tile.lanes));
  const double rows = static_cast<double>(p.shape.out_pixels());
  const double count = static_cast<double>(g.kernel[0] * g.kernel[1]);
  const bool overlapped = in_place && tile.block_groups > 1;  // with the products of the next tile
  const double finish = overlapped ? (p.stages.empty() ? 2 : 5) : p.stages.empty() ? 3 : 10;
  const double gather = in_place ? 0 : count * 4 + static_cast<double>(g.depth()) / 8;
  return vectors * products + rows * (vectors * finish + gather);
}

}  // namespace

ConvMethod blocked_im2col_method() {
  return {
      .name = "patches",
      .exact = true,
      .applies = applies,
      .cost = cost,
      .prepare =
          [](const ConvProblem& p) { return make_tile_product(p, std::make_unique<Patches>(p)); },
      .serves = only<Accumulator::int32>};
}

}  // namespace fbg
