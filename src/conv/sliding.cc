// sliding: depthwise and groupwise convolutions of bytes, whose kernels read each pixel once.
//
//   for each block of channels
//     for each row of the output, or two that share a window
//       find the rows of the image under the kernel
//       one call of a kernel                                           (kernels/sliding.h)
//
// Where the pipeline only requantizes, kernels write bytes. Otherwise they write sums to a buffer,
// and the output pipeline of the products (a microkernel without a product) does the rest.
#include "conv/sliding.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "conv/padding.h"
#include "fbg/gemm/tile_loop.h"

namespace fbg {
namespace {

constexpr std::int64_t kLanes = 16, kVectorBytes = 64;
constexpr std::int64_t kMaxPixels = 128;  // of an output row at a time
constexpr int kSegments = 3;              // before, in and after a row of the image

using kernels::SlidingSegment;

// Whether kernels can write the results themselves: integers are corrected and requantized.
bool writes_bytes(const KernelKey& key) {
  if (!key.column_terms || key.num_stages == 0) return false;
  for (int s = 0; s < key.num_stages; ++s) {
    const StageCode& code = key.stages[static_cast<std::size_t>(s)];
    const bool last = s == key.num_stages - 1;
    const bool requantizes = code.kind == StageKind::requantize && code.in != ValueType::float32;
    if (last ? !requantizes
             : code.kind != StageKind::correct_zero_points && !is_column_term(key, s))
      return false;
  }
  return true;
}

class SlidingStep final : public ConvStep<Int32> {
 public:
  explicit SlidingStep(const ConvProblem<Int32>& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        tile_(choose_geometry(Accumulator::int32, p.features)),
        key_(with_sums(conv_kernel_key(p, tile_))),
        output_(key_.output()),
        bytes_(writes_bytes(key_)),
        blocks_(p.geometry, tile_.isa, bytes_ ? output_ : ValueType::acc),
        rows_(blocks_.blocks().front().key.rows),
        chunks_(BalancedSplit::split(p.shape.output[2], kMaxPixels)),
        scale_(p.weights.scale()),
        col_offsets_(p.weights.col_offsets()),
        threads_(p.threads) {
    const ConvGeometry& g = geometry_;
    if (!bytes_) {
      const std::int64_t tallest = std::min<std::int64_t>(chunks_.largest, tile_.max_rows);
      pipeline_.emplace(tile_, key_, g.out_channels, 1, std::max<std::int64_t>(tallest, 1));
    }
    const std::string name = "sliding lines " + std::to_string(blocks_.lines()) + " vectors " +
                             std::to_string(blocks_.blocks().front().key.vectors);
    weights_ = static_cast<const AlignedBuffer*>(p.weights.form(name, [&] {
                 auto made = std::make_shared<const AlignedBuffer>(
                     blocks_.weights(g, p.weights.weights().data()));
                 return PackedConv<Int32>::Form{made, static_cast<std::int64_t>(made->size())};
               }))->as<std::uint32_t>();
    for (const SlidingBlock& block : blocks_.blocks()) {
      kernels::SlidingKey key = block.key;
      const kernels::SlidingFunction all = kernels::find_sliding(key);
      key.lines = 1;  // the last row of an odd number stands alone
      kernels_.push_back({kernels::find_sliding(key), all});
    }
    padded_ = blocks_.vectors() * kLanes;
    sums_bytes_ = bytes_ ? 0 : blocks_.lines() * chunks_.largest * 4 * kVectorBytes;
    thread_bytes_ = kVectorBytes + 4 * padded_ * 4 + sums_bytes_ +
                    round_up(kSegments * static_cast<std::int64_t>(sizeof(SlidingSegment)), 64);
  }

  std::string kernel() const override {
    return kernels::sliding_name(blocks_.blocks().front().key);
  }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    const Extent3& out = shape_.output;
    const std::int64_t blocks = std::ssize(blocks_.blocks());
    const std::int64_t windows = ceil_div(out[1], std::int64_t{blocks_.lines()});
    const std::int64_t count = shape_.batch * out[0] * windows * chunks_.count * blocks;
    const std::int64_t first = count * thread_id / num_threads;
    const std::int64_t end = count * (thread_id + 1) / num_threads;
    std::byte* at = workspace + thread_id * thread_bytes_;
    const auto take = [&](std::int64_t bytes) { return std::exchange(at, at + bytes); };
    Thread t{};
    t.padding = take(kVectorBytes);
    t.terms = {reinterpret_cast<float*>(take(padded_ * 4)),
               reinterpret_cast<std::int32_t*>(take(padded_ * 4))};
    t.scale = reinterpret_cast<float*>(take(padded_ * 4));
    t.start = reinterpret_cast<std::int32_t*>(take(padded_ * 4));
    t.sums = take(sums_bytes_);
    t.segments = reinterpret_cast<SlidingSegment*>(at);
    std::array<StageArgs, kMaxStages> stage_args;
    std::ranges::transform(run.stages, stage_args.begin(), &Stage::args);
    t.stages = stage_args.data();
    // A block goes down the image before the next: its weights and the rows that windows have in
    // common stay in the L1.
    std::int64_t image = -1;
    for (std::int64_t i = first; i < end; ++i) {
      std::int64_t rest = i;
      const auto next = [&rest](std::int64_t n) {
        const std::int64_t index = rest % n;
        rest /= n;
        return index;
      };
      Window w{};
      w.y = next(windows) * blocks_.lines();
      w.lines = std::min<std::int64_t>(blocks_.lines(), out[1] - w.y);
      w.x = chunks_[next(chunks_.count)];
      w.z = next(out[0]);
      const std::int64_t block = next(blocks);
      w.image = rest;
      if (w.image != image) begin_image(run, image = w.image, t);
      find_rows(run, w, t);
      run_block(run, w, block, t);
    }
  }

 private:
  struct Window {
    std::int64_t image, z, y, lines;
    Range x;
  };
  struct Thread {
    std::byte* padding;  // as wide as what a kernel reads of a pixel
    ColumnTerms terms;   // [channel]
    float* scale;        // [vector][lane], as kernels read them
    std::int32_t* start;
    std::byte* sums;  // [line][pixel][channel of the block]
    SlidingSegment* segments;
    const StageArgs* stages;
  };
  // The kernels of a block, for one line and for all that share a window.
  struct Kernels {
    kernels::SlidingFunction one, all;
  };

  KernelKey with_sums(KernelKey key) {
    key.load_c = true;
    return key;
  }

  void begin_image(const ConvRun& run, std::int64_t n, Thread& t) const noexcept {
    fill_padding(t.padding, kVectorBytes, run.image_zero_point(n), 1);
    std::fill_n(t.start, padded_, 0);
    if (!key_.column_terms) return;
    fill_column_terms(key_, t.stages, run.image_scale(n), run.image_zero_point(n), scale_,
                      col_offsets_, {0, geometry_.out_channels}, t.terms);
    if (!bytes_) return;
    std::fill_n(t.scale, padded_, 0.0f);
    std::int64_t at = 0;
    for (const SlidingBlock& block : blocks_.blocks())
      for (int v = 0; v < block.key.vectors; ++v)
        for (std::int64_t lane = 0; lane < kLanes; lane += 4, at += 4) {
          const std::int64_t o = sliding_channel(block.key.vectors, v, lane);
          const std::int64_t count = std::clamp<std::int64_t>(block.channels - o, 0, 4);
          for (std::int64_t i = 0; i < count; ++i) {
            t.scale[at + i] = t.terms.scale[block.channel + o + i];
            t.start[at + i] = static_cast<std::int32_t>(
                0u - static_cast<std::uint32_t>(t.terms.offset[block.channel + o + i]));
          }
        }
  }

  // The rows of the image under a window, cut where they leave the image on the left and right.
  void find_rows(const ConvRun& run, const Window& w, const Thread& t) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t x = w.x.begin * g.stride[2] - g.pad_before[2];
    const std::int64_t columns = (w.x.size() - 1) * g.stride[2] + g.kernel[2];
    const std::int64_t left = std::clamp<std::int64_t>(-x, 0, columns);
    const std::int64_t right = std::clamp<std::int64_t>(shape_.input[2] - x, left, columns);
    SlidingSegment* segment = t.segments;
    const auto border = [&](std::int64_t count) {
      if (count == 0) return;
      segment->columns = count;
      segment->stride = 0;
      std::fill_n(segment->rows, rows_, t.padding);
      std::fill_n(segment->moves, rows_, 0);
      ++segment;
    };
    border(left);
    if (right > left) find_inside(run, w, x + left, right - left, t, *segment++);
    border(columns - right);
  }

  void find_inside(const ConvRun& run, const Window& w, std::int64_t x, std::int64_t columns,
                   const Thread& t, SlidingSegment& segment) const noexcept {
    const ConvGeometry& g = geometry_;
    segment.columns = columns;
    segment.stride = run.strides[2];
    const std::int64_t height = blocks_.plane_rows(g);
    int row = 0;
    for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz)
      for (std::int64_t ky = 0; ky < height; ++ky, ++row) {
        const std::int64_t z = w.z * g.stride[0] - g.pad_before[0] + kz * g.dilation[0];
        const std::int64_t y = w.y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1];
        const bool outside = z < 0 || z >= shape_.input[0] || y < 0 || y >= shape_.input[1];
        segment.moves[row] = outside ? 0 : -1;
        segment.rows[row] = outside ? t.padding
                                    : run.x + w.image * run.batch_stride + z * run.strides[0] +
                                          y * run.strides[1] + x * run.strides[2];
      }
  }

  void run_block(const ConvRun& run, const Window& w, std::int64_t index,
                 const Thread& t) const noexcept {
    const SlidingBlock& block = blocks_.blocks()[static_cast<std::size_t>(index)];
    const std::int64_t vectors = block.key.vectors, size = value_size(output_);
    const std::int64_t first = block.channel / kLanes * kLanes;  // of terms: blocks are whole
    const std::int64_t pixel =
        ((w.image * shape_.output[0] + w.z) * shape_.output[1] + w.y) * shape_.output[2] +
        w.x.begin;
    std::byte* const c =
        static_cast<std::byte*>(run.c.data) + pixel * run.c.ld + block.channel * size;
    kernels::SlidingArgs args{};
    args.segments = t.segments;
    args.channel = block.channel;
    args.weights = weights_ + block.lanes * kLanes;
    args.start = t.start + first;
    args.pixels = w.x.size();
    args.mask = ~std::uint64_t{0} >> (64 - block.channels);
    if (bytes_) {
      const StageArgs& last = t.stages[key_.num_stages - 1];
      args.scale = t.scale + first;
      args.c = c;
      args.pixel = run.c.ld;
      args.line = shape_.output[2] * run.c.ld;
      args.low = last.f1;
      args.high = last.f2;
      args.zero_point = last.i0;
      args.zero_points =
          static_cast<std::int32_t>((static_cast<std::uint32_t>(last.i0) & 0xffff) * 0x10001u);
    } else {
      args.c = t.sums;
      args.pixel = vectors * kVectorBytes;
      args.line = w.x.size() * args.pixel;
    }
    const Kernels& kernels = kernels_[static_cast<std::size_t>(index)];
    (w.lines == block.key.lines ? kernels.all : kernels.one)(&args);
    if (bytes_) return;
    for (std::int64_t line = 0; line < w.lines; ++line)
      finish_line(run, block, w, pixel + line * shape_.output[2], t.sums + line * args.line, t);
  }

  // The pipeline on the sums of a line of a block.
  void finish_line(const ConvRun& run, const SlidingBlock& block, const Window& w,
                   std::int64_t pixel, std::byte* sums, const Thread& t) const noexcept {
    const std::int64_t sums_pixel = block.key.vectors * kVectorBytes;
    TileArgs args{};
    args.ldc = run.c.ld;
    args.ldpartial = sums_pixel;
    args.stages = t.stages;
    const BalancedSplit tiles = BalancedSplit::split(w.x.size(), tile_.max_rows);
    for (std::int64_t i = 0; i < tiles.count; ++i) {
      const Range x = tiles[i];
      for (std::int64_t col = 0; col < block.channels; col += kPanelColumns) {
        const std::int64_t columns = std::min<std::int64_t>(kPanelColumns, block.channels - col);
        args.columns = columns;
        args.row = pixel + x.begin;
        args.col = block.channel + col;
        args.c = static_cast<std::byte*>(run.c.data) + args.row * run.c.ld +
                 args.col * value_size(output_);
        args.partial = sums + x.begin * sums_pixel + col * 4;
        if (key_.column_terms) {
          args.b_scale = t.terms.scale + args.col;
          args.col_offsets = t.terms.offset + args.col;
        }
        run_tile(*pipeline_, {col, columns, ceil_div(columns, kLanes), columns % kLanes != 0},
                 x.size(), args);
      }
    }
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const Geometry tile_;
  const KernelKey key_;  // of the pipeline
  const ValueType output_;
  const bool bytes_;  // kernels write results, not sums
  const SlidingBlocks blocks_;
  const std::int64_t rows_;     // of a window
  const BalancedSplit chunks_;  // of an output row
  const float* const scale_;
  const std::int32_t* const col_offsets_;
  const int threads_;
  std::optional<KernelTable> pipeline_;
  std::vector<Kernels> kernels_;  // by block
  const std::uint32_t* weights_;
  std::int64_t padded_;  // channels in whole vectors
  std::int64_t sums_bytes_, thread_bytes_;
};

template <class Acc>
bool applies(const ConvProblem<Acc>& p) {
  if constexpr (Acc::kind != Accumulator::int32) return false;
  const Isa isa = choose_geometry(Acc::kind, p.features).isa;
  return kernels::has_sliding(p.features) && !p.b_has_zero_point() &&
         SlidingBlocks::fit(p.geometry, isa);
}

template <class Acc>
double cost(const ConvProblem<Acc>& p) {
  const Isa isa = choose_geometry(Acc::kind, p.features).isa;
  const SlidingBlocks blocks(p.geometry, isa, ValueType::uint8);
  // Columns at the ends of a row belong to few output pixels.
  const double width = static_cast<double>(p.shape.output[2] * p.geometry.stride[2]);
  const double columns = width > 0 ? (width + p.geometry.kernel[2] - 1) / width : 1;
  return static_cast<double>(p.shape.out_pixels()) * blocks.cost() * columns;
}

template <class Acc>
std::unique_ptr<ConvStep<Acc>> prepare(const ConvProblem<Acc>& p) {
  if constexpr (Acc::kind == Accumulator::int32) return std::make_unique<SlidingStep>(p);
  return nullptr;
}

}  // namespace

template <class Acc>
ConvMethod<Acc> sliding_method() {
  return {"sliding", true, applies<Acc>, cost<Acc>, prepare<Acc>};
}

template ConvMethod<Int32> sliding_method();
template ConvMethod<Int16> sliding_method();
template ConvMethod<Float32> sliding_method();
template ConvMethod<BFloat16> sliding_method();
template ConvMethod<Float32BF16> sliding_method();
template ConvMethod<Float32F16> sliding_method();

}  // namespace fbg
