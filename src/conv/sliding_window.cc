// sliding_window: depthwise and groupwise convolutions by kernels that slide along a row of the
// image and read each pixel once.
//
//   for each row of the output, or several that share a window     (or blocks first: goes_down)
//     find the rows of the image under the kernel
//     for each block of channels        one call of a kernel (one for each row: lanes in memory)
//
// Kernels write results themselves if the pipeline only requantizes, or adds a bias to floats and
// bounds them. Otherwise they write sums, and the pipeline of products does the rest.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "conv/padding.h"
#include "conv/sliding_blocks.h"
#include "conv/sliding_windows.h"
#include "gemm/tile_loop.h"

namespace fbg {
namespace {

constexpr std::int64_t kPaddingBytes = 256;  // the widest block of a pixel
constexpr int kFloatSums = 1 << 23;          // exceeds what float_bits can hold

using kernels::SlidingKey;
using kernels::SlidingMode;
using kernels::SlidingSegment;

// Floats of 16 bits are widened when they are packed.
constexpr bool has_kernels(GemmType a) {
  return a == GemmType::int32 || a == GemmType::float32 || a == GemmType::float32_f16 ||
         a == GemmType::float32_bf16;
}
constexpr GemmType sum_of(GemmType a) {
  return is_integer(a) ? GemmType::int32 : GemmType::float32;
}

// Weights are packed without their zero points, so that they are integers of 9 bits: too wide for
// the bytes of VNNI of 512 bits, but not for pairs of int16.
Features features_of(const ConvProblem& p) {
  return p.b_has_zero_point() ? p.features & ~feature::avx512_vnni : p.features;
}

// Whether kernels of floats read and write bfloat16, for which they have an instruction.
bool converts_bfloat16(const ConvProblem& p) {
  return !p.is_integer() && (isa_features(Isa::avx512_bf16) & ~p.features) == 0;
}

KernelKey pipeline_key(const ConvProblem& p, const Geometry& tile) {
  KernelKey key = part_key(conv_kernel_key(p, tile, sum_of(p.family())), Sums::last);
  if (key.corrections == Corrections::both) key.corrections = Corrections::folded;
  return key;
}

class SlidingWindowStep final : public ConvStep {
 public:
  explicit SlidingWindowStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        integer_(p.is_integer()),
        halves_(p.halves && converts_bfloat16(p) && p.geometry.group_inputs() == 1),
        element_(halves_ ? 2 : p.format().a_bytes),
        tile_(choose_geometry(sum_of(p.family()), features_of(p))),
        key_(pipeline_key(p, tile_)),
        output_(key_.output()),
        writes_(sliding_writes(key_, converts_bfloat16(p))),
        blocks_(p.geometry, own_kind()),
        windows_(p.geometry, p.shape, blocks_, features_of(p)),
        scale_(p.weights.scale()),
        zero_point_(key_.folds() ? p.weights.zero_point() : nullptr),
        col_offsets_(p.weights.col_offsets()),
        threads_(p.threads),
        width_(width_of_tiles()),
        may_be_floats_(integer_ && writes_ && output_ == ValueType::uint8) {
    const ConvGeometry& g = geometry_;
    if (zero_point_) {
      offsets_ = offsets_without_zero_points(p.weights);
      col_offsets_ = offsets_.data();
    }
    if (!writes_) {
      const std::int64_t tallest =
          std::clamp<std::int64_t>(windows_.parts().largest, 1, tile_.max_rows);
      whole_.emplace(tile_, key_, width_, 1, tallest);
      if (const std::int64_t rest = g.out_channels % width_)
        rest_.emplace(tile_, key_, rest, 1, tallest);
      for (const SlidingBlock& block : blocks_.blocks())
        for_each_tile_of(block, [&](const ColumnGroup& group) {
          table_of(group).require(tallest, group.vectors, group.masked);
        });
    }
    const SlidingKey& wide = blocks_.blocks().front().key;
    const std::string name = std::string("sliding ") + (is_paired() ? "pairs " : "lanes ") +
                             std::to_string(wide.lines()) + "x" + std::to_string(wide.vectors()) +
                             "x" + std::to_string(wide.lanes()) +
                             (zero_point_ ? " without zero points" : "");
    weights_ = p.weights.form_of(name, [&] { return make_weights(p.weights); }).data();
    for (const SlidingBlock& block : blocks_.blocks()) {
      SlidingKey key = block.key;
      for (const bool float_bits : {false, true})
        for (const bool inside : {false, true}) {
          key.float_bits = float_bits;
          key.inside = inside;
          if (integer_ ? may_be_floats_ || !float_bits : !float_bits && !inside)
            kernels_[float_bits][inside].push_back(find_kernels(key));
        }
    }
    lanes_ = wide.lanes();
    padded_ = integer_ ? blocks_.vectors() * lanes_ : 0;
    sums_bytes_ = writes_ ? 0 : blocks_.form().lines * windows_.parts().largest * kPaddingBytes;
    ready_bytes_ = round_up(std::ssize(blocks_.blocks()) * 8, 64);
    thread_bytes_ =
        kPaddingBytes + 5 * padded_ * 4 + sums_bytes_ + windows_.lanes_bytes() +
        windows_.repeated_bytes() + ready_bytes_ +
        round_up(SlidingWindows::kMaxSegments * static_cast<std::int64_t>(sizeof(SlidingSegment)),
                 64);
  }

  std::string kernel() const override {
    return kernels::sliding_name(blocks_.blocks().front().key);
  }
  bool reads_halves() const noexcept override { return halves_; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const Extent3& out = shape_.output;
    const std::int64_t blocks = std::ssize(blocks_.blocks());
    const std::int64_t lines = blocks_.form().lines, windows = ceil_div(out[1], lines);
    const BalancedSplit& parts = windows_.parts();
    const std::int64_t count = shape_.batch * out[0] * windows * parts.count * blocks;
    const std::int64_t first = count * thread_id / num_threads;
    const std::int64_t end = count * (thread_id + 1) / num_threads;
    if (first >= end) return;
    std::byte* at = workspace + thread_id * thread_bytes_;
    const auto take = [&](std::int64_t bytes) { return std::exchange(at, at + bytes); };
    Thread t{};
    t.padding = take(kPaddingBytes);
    t.terms = {reinterpret_cast<float*>(take(padded_ * 4)),
               reinterpret_cast<std::int32_t*>(take(padded_ * 4))};
    t.scale = reinterpret_cast<float*>(take(2 * padded_ * 4));
    t.start = reinterpret_cast<std::int32_t*>(take(padded_ * 4));
    t.sums = take(sums_bytes_);
    t.lanes = take(windows_.lanes_bytes());
    t.repeated = take(windows_.repeated_bytes());
    t.ready = reinterpret_cast<std::int64_t*>(take(ready_bytes_));
    std::fill_n(t.ready, blocks, -1);
    t.segments = reinterpret_cast<SlidingSegment*>(at);
    std::array<StageArgs, kMaxStages> stage_args;
    std::ranges::transform(run.stages, stage_args.begin(), &Stage::args);
    t.stages = stage_args.data();
    // The loops whose iterations are divided among the threads, the innermost first.
    Loop channels{blocks}, rows{windows}, columns{parts.count}, planes{out[0]},
        images{shape_.batch};
    std::array<Loop*, 5> loops{&rows, &columns, &planes, &channels, &images};
    if (blocks_.form().shared > 0) loops = {&planes, &rows, &columns, &channels, &images};
    if (!windows_.goes_down()) std::rotate(loops.begin(), loops.begin() + 3, loops.begin() + 4);
    std::int64_t rest = first;
    for (Loop* loop : loops) {
      loop->at = rest % loop->count;
      rest /= loop->count;
    }
    std::int64_t image = -1;
    SlidingWindow w{};
    for (std::int64_t i = first; i < end; ++i) {
      if (i == first || windows_.goes_down() || channels.at == 0) {
        const std::int64_t y = rows.at * lines;
        w = {images.at, planes.at, y, std::min(lines, out[1] - y), columns.at, parts[columns.at]};
        if (w.image != image) begin_image(run, image = w.image, t);
        t.inside = windows_.find_rows(run, w, t.padding, t.repeated, t.segments) && integer_;
      }
      run_block(run, w, channels.at, t);
      for (Loop* loop : loops) {
        if (++loop->at < loop->count) break;
        loop->at = 0;
      }
    }
  }

 private:
  struct Loop {
    std::int64_t count, at = 0;
  };
  struct Thread {
    std::byte* padding;          // as wide as what a kernel reads of a pixel
    FoldedRequantization terms;  // [channel]
    float* scale;                // [vector], as kernels read them
    std::int32_t* start;
    bool float_bits;  // of the kernels for the image
    bool inside;      // of those for the window
    std::byte* sums;  // [line][pixel][channel of the block]
    std::byte *lanes, *repeated;
    std::int64_t* ready;  // [block]: the number of the window whose lanes are in memory
    SlidingSegment* segments;
    const StageArgs* stages;
    kernels::SlidingArgs args;  // what all blocks have in common
  };
  // The kernels of a block: one for all lines whose sums are in registers, one for the lines of the
  // last window, and, if lanes are in memory, those that build the lanes of each source.
  struct Kernels {
    kernels::SlidingFunction all, last;
    std::array<kernels::SlidingFunction, kernels::kMaxSlidingSources> builders;
  };

  SlidingKey own_kind() const {
    SlidingKey kind = sliding_kind(part_key(key_, writes_ ? Sums::whole : Sums::first));
    kind.halves = halves_;
    return kind;
  }

  bool is_paired() const {
    return blocks_.blocks().front().key.source == kernels::SlidingSource::pairs;
  }

  // The columns of sums in a tile of the pipeline. Blocks of bytes may be narrower than a panel.
  std::int64_t width_of_tiles() const {
    const SlidingKey& wide = blocks_.blocks().front().key;
    if (!integer_ || is_paired()) return tile_.lanes;
    return std::min<std::int64_t>(kPanelColumns, wide.vectors() * wide.lanes());
  }

  // Calls f(group) for the tiles of the pipeline in a block.
  template <class F>
  void for_each_tile_of(const SlidingBlock& block, F f) const {
    const std::int64_t lanes = tile_.lanes;
    for (std::int64_t col = block.skip; col < block.channels; col += width_) {
      const std::int64_t columns = std::min(width_, block.channels - col);
      f(ColumnGroup{col, columns, ceil_div(columns, lanes), columns % lanes != 0});
    }
  }
  const KernelTable& table_of(const ColumnGroup& group) const {
    return group.columns == width_ ? whole_.value() : rest_.value();
  }

  AlignedBuffer make_weights(const PackedConv& weights) const {
    if (integer_) return blocks_.weights(geometry_, weights.weights<std::int8_t>(), zero_point_);
    return blocks_.weights(geometry_, weights.floats().data());
  }

  Kernels find_kernels(SlidingKey key) const {
    const bool inside = std::exchange(key.inside, key.inside && key.mode != SlidingMode::loads);
    Kernels found{};
    found.all = found.last = kernels::find_sliding(key);
    if (const std::int64_t rest = shape_.output[1] % key.lines()) {
      key.tile.rows = static_cast<std::uint8_t>(rest);
      found.last = kernels::find_sliding(key);
    }
    if (key.mode != SlidingMode::loads) return found;
    key.mode = SlidingMode::builds;
    key.inside = inside;
    key.tile = part_key(key.tile, Sums::first);
    key.float_bits = false;
    for (; key.built < key.sources(); ++key.built)
      found.builders[key.built] = kernels::find_sliding(key);
    return found;
  }

  // Whether kernels may use the sums of an image as the bits of floats (SlidingArgs::scale).
  bool fits_float_bits(const Thread& t) const noexcept {
    if (!may_be_floats_) return false;
    const StageArgs& last = t.stages[key_.num_stages - 1];
    if (last.f1 != 0 || last.f2 != 255 || last.i0 != 0) return false;
    const std::int64_t most = kFloatSums - geometry_.depth() * 255 * (zero_point_ ? 256 : 128);
    if (most <= 0) return false;
    const auto bound = static_cast<std::int32_t>(most);
    std::int32_t fits = 1;  // without branches, so that compilers use vectors
    for (std::int64_t o = 0; o < geometry_.out_channels; ++o) {
      const float scale = t.terms.scale[o];
      const std::int32_t offset = t.terms.offset[o];
      fits &= (scale >= 0) & (scale < 256) & (offset < bound) & (offset > -bound);  // no NaN
    }
    return fits != 0;
  }

  void begin_image(const ConvRun& run, std::int64_t n, Thread& t) const noexcept {
    run.padding(n, 1).fill(t.padding, kPaddingBytes);
    t.args = {};
    t.args.segments = t.segments;
    t.args.start = t.start;
    t.args.scale = t.scale;
    if (writes_) set_sliding_stages(key_, t.stages, t.args);
    if (!integer_) return;
    std::fill_n(t.start, padded_, 0);
    if (!key_.folds()) return;
    fold_requantization(key_, t.stages, run.image_scale(n), run.image_zero_point(n), scale_,
                        col_offsets_, {0, geometry_.out_channels}, padded_, t.terms);
    if (!writes_) return;
    t.float_bits = fits_float_bits(t);
    std::int64_t at = 0;
    for (const SlidingBlock& block : blocks_.blocks())
      for (int v = 0; v < block.key.vectors(); ++v)
        for (std::int64_t lane = 0; lane < lanes_; lane += 4, at += 4) {
          const std::int64_t o = block.channel + sliding_channel(block.key, v, lane);
          std::copy_n(t.terms.scale + o, 4, t.scale + at + at / lanes_ * lanes_);
          std::copy_n(t.terms.offset + o, 4, t.start + at);
        }
    const std::uint32_t zero = t.float_bits ? std::bit_cast<std::uint32_t>(float{kFloatSums}) : 0;
    for (std::int64_t i = 0; i < padded_; ++i)
      t.start[i] = static_cast<std::int32_t>(zero - static_cast<std::uint32_t>(t.start[i]));
    for (float* scale = t.scale; scale < t.scale + 2 * padded_; scale += 2 * lanes_)
      for (std::int64_t i = 0; i < lanes_; ++i) scale[lanes_ + i] = -float{kFloatSums} * scale[i];
  }

  void run_block(const ConvRun& run, const SlidingWindow& w, std::int64_t index,
                 const Thread& t) const noexcept {
    const SlidingBlock& block = blocks_.blocks()[static_cast<std::size_t>(index)];
    const std::int64_t lanes = lanes_, first = block.vectors * lanes;
    const std::int64_t pixel =
        ((w.image * shape_.output[0] + w.z) * shape_.output[1] + w.y) * shape_.output[2] +
        w.x.begin;
    kernels::SlidingArgs args = t.args;
    args.channel = block.channel * element_;
    args.weights = weights_ + block.weights * lanes * 4;
    args.start = static_cast<const float*>(args.start) + first;
    args.scale += 2 * first;
    args.pixels = w.x.size();
    args.mask = ~std::uint64_t{0} >> (64 - block.channels);
    args.last = block.channels - (block.key.vectors() - 1) * lanes;
    if (writes_) {
      args.c = static_cast<std::byte*>(run.c.data) + pixel * run.c.ld +
               block.channel * value_size(output_);
      args.pixel = run.c.ld;
      args.line = shape_.output[2] * run.c.ld;
    } else {
      args.c = t.sums;
      args.pixel = block.key.vectors() * lanes * 4;
      args.line = w.x.size() * args.pixel;
    }
    const Kernels& kernels = kernels_[t.float_bits][t.inside][static_cast<std::size_t>(index)];
    if (block.key.mode == SlidingMode::loads)
      run_lines(w, index, kernels, args, t);
    else
      (w.lines == block.key.lines() ? kernels.all : kernels.last)(&args);
    if (writes_) return;
    for (std::int64_t line = 0; line < w.lines; ++line)
      finish_line(run, block, w, pixel + line * shape_.output[2], t.sums + line * args.line, t);
  }

  // Computes the lines of a window one after the other, with lanes in memory.
  void run_lines(const SlidingWindow& w, std::int64_t index, const Kernels& kernels,
                 kernels::SlidingArgs args, const Thread& t) const noexcept {
    const SlidingKey& key = blocks_.blocks()[static_cast<std::size_t>(index)].key;
    windows_.find_lanes(w, index, t.lanes, args);
    kernels::SlidingArgs lanes = args;
    lanes.pixels = windows_.columns(w.x.size());
    std::int64_t& ready = t.ready[windows_.goes_down() ? 0 : index];
    const std::int64_t number = windows_.number(w, index);
    const bool follows = std::exchange(ready, number) == number - 1 && w.z > 0;
    for (std::int64_t s = follows ? blocks_.form().shared : 0; s < key.sources(); ++s)
      kernels.builders[static_cast<std::size_t>(s)](&lanes);
    for (std::int64_t line = 0; line < w.lines; ++line) {
      kernels.all(&args);
      args.c += args.line;
      args.weights = static_cast<const std::byte*>(args.weights) + key.products() * lanes_ * 4;
    }
  }

  // Runs the pipeline on the sums of a line of a block.
  void finish_line(const ConvRun& run, const SlidingBlock& block, const SlidingWindow& w,
                   std::int64_t pixel, std::byte* sums, const Thread& t) const noexcept {
    const std::int64_t lanes = tile_.lanes, sums_pixel = block.key.vectors() * lanes * 4;
    TileArgs args{};
    args.ldc = run.c.ld;
    args.ldpartial = sums_pixel;
    args.stages = t.stages;
    const BalancedSplit tiles = BalancedSplit::split(w.x.size(), tile_.max_rows);
    for (std::int64_t i = 0; i < tiles.count; ++i) {
      const Range x = tiles[i];
      for_each_tile_of(block, [&](const ColumnGroup& group) {
        const std::int64_t col = group.col;
        args.columns = group.columns;
        args.row = pixel + x.begin;
        args.col = block.channel + col;
        args.c = static_cast<std::byte*>(run.c.data) + args.row * run.c.ld +
                 args.col * value_size(output_);
        args.partial = sums + x.begin * sums_pixel + col * 4;
        if (key_.folds()) {
          args.b_scale = t.terms.scale + args.col;
          args.col_offsets = t.terms.offset + args.col;
        }
        run_tile(table_of(group), group, x.size(), args);
      });
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const bool integer_;
  const bool halves_;           // x is bfloat16
  const std::int64_t element_;  // bytes of x
  const Geometry tile_;
  const KernelKey key_;  // of the pipeline
  const ValueType output_;
  const bool writes_;  // kernels write results, not sums
  const SlidingBlocks blocks_;
  const SlidingWindows windows_;
  const float* const scale_;
  const std::int32_t* const zero_point_;  // of the weights; null: none that the pipeline subtracts
  const std::int32_t* col_offsets_;       // of the weights as they are packed
  std::vector<std::int32_t> offsets_;     // if those are without their zero points
  const int threads_;
  // The kernels of the pipeline for `width_` columns of sums, and for the remaining channels.
  const std::int64_t width_;
  std::optional<KernelTable> whole_, rest_;
  const bool may_be_floats_;            // results are of the type that kernels of float_bits write
  std::vector<Kernels> kernels_[2][2];  // [float_bits][inside][block]
  const std::byte* weights_;
  std::int64_t lanes_, padded_;  // of a vector; channels in whole vectors
  std::int64_t sums_bytes_, ready_bytes_, thread_bytes_;
};

// The kind of kernels for a problem, as far as it does not depend on the stages.
SlidingKey any_kind(const ConvProblem& p) {
  KernelKey tile{};
  tile.gemm_type = sum_of(p.family());
  tile.isa = choose_geometry(tile.gemm_type, features_of(p)).isa;
  return sliding_kind(tile);
}

bool applies(const ConvProblem& p) {
  return has_kernels(p.family()) && kernels::has_sliding(p.features) &&
         SlidingBlocks::fit(p.geometry, any_kind(p));
}

double cost(const ConvProblem& p) {
  const SlidingBlocks blocks(p.geometry, any_kind(p));
  // Columns at the ends of a row belong to few output pixels: they need lanes, but few products,
  // which take most of the time in kernels of pairs.
  const bool paired = blocks.blocks().front().key.source == kernels::SlidingSource::pairs;
  const double width = static_cast<double>(p.shape.output[2] * p.geometry.stride[2]);
  const double reach = static_cast<double>(p.geometry.kernel[2] - 1) * (paired ? 0.5 : 1);
  return static_cast<double>(p.shape.out_pixels()) * blocks.cost() *
         (width > 0 ? (width + reach) / width : 1);
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) {
  return std::make_unique<SlidingWindowStep>(p);
}

}  // namespace

ConvMethod sliding_window_method() {
  return {"sliding_window", true, applies, cost, prepare, false, false};
}

}  // namespace fbg
