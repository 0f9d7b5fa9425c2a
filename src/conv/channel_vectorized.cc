// channel_vectorized: direct convolution with channels as vectors, for depthwise and groupwise
// convolutions. Each output channel has a lane of its own, and U is the image as the lanes read it.
//
//   for each block of output rows x columns x channels       small enough that U stays in the L1
//     build U                                                 a line for each source (.h)
//     for each output row of the block
//       for each tile of pixels x vectors of channels         kernels/lanewise.h
//
// If U is the image itself, nothing is built, and only tiles that touch a border are copied.
#include "conv/channel_vectorized.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "conv/algorithm.h"
#include "conv/padding.h"
#include "core/memory.h"
#include "core/policy.h"
#include "kernels/lanewise.h"

namespace fbg {
namespace {

constexpr std::int64_t kWord = 4;  // bytes of a lane

using Kind = LaneLayout::Kind;

// The families whose weights become lanes: 16-bit floats are widened.
constexpr bool has_lanes(GemmType a) {
  return a == GemmType::int32 || a == GemmType::float32 || a == GemmType::float32_f16 ||
         a == GemmType::float32_bf16;
}
constexpr GemmType lane_gemm_type(GemmType a) {
  return is_integer(a) ? GemmType::int32 : GemmType::float32;
}

Geometry lane_geometry(const ConvProblem& p) {
  return choose_geometry(lane_gemm_type(p.family()), p.features);
}

// Whether the pipeline subtracts zero points of weights. They are then packed without them, as
// integers of 9 bits.
bool drops_zero_points(const ConvProblem& p) {
  return conv_kernel_key(p, lane_geometry(p), lane_gemm_type(p.family())).corrections ==
         Corrections::both;
}

int lane_depth(const ConvProblem& p) {
  return drops_zero_points(p) ? 2 : kernels::lanewise_depth(lane_gemm_type(p.family()), p.features);
}

// Whether columns of the image take the place of its rows: kernels of floats load a pixel once for
// several taps of a row, and lanes of bytes hold several rows.
bool is_turned(const ConvProblem& p) {
  constexpr std::int64_t kFewPixels = 8;
  const ConvGeometry& g = p.geometry;
  if (!g.is_depthwise() || g.group_outputs() > 1 || p.shape.output[1] < kFewPixels) return false;
  return p.is_integer() ? g.kernel[1] == 1 && g.kernel[2] > 1 : g.kernel[2] == 1 && g.kernel[1] > 1;
}
ConvGeometry geometry_of(const ConvProblem& p) {
  ConvGeometry g = p.geometry;
  if (is_turned(p))
    for (Extent3* e : {&g.kernel, &g.stride, &g.dilation, &g.pad_before, &g.pad_after})
      std::swap((*e)[1], (*e)[2]);
  return g;
}
ConvShape shape_of(const ConvProblem& p) {
  ConvShape shape = p.shape;
  if (is_turned(p))
    for (Extent3* e : {&shape.input, &shape.output}) std::swap((*e)[1], (*e)[2]);
  return shape;
}
LaneLayout layout_of(const ConvProblem& p) { return LaneLayout::of(geometry_of(p), lane_depth(p)); }

KernelKey pipeline_key(const ConvProblem& p) {
  KernelKey key = conv_kernel_key(p, lane_geometry(p), lane_gemm_type(p.family()));
  if (key.corrections == Corrections::both) key.corrections = Corrections::folded;
  return key;
}

// How the taps of a kernel row become sources of kernels, which unroll their pixels: several in one
// where they read pixels that are near each other.
struct TapSources {
  BalancedSplit taps;
  std::int64_t gap;  // pixels between those that a tile may read
  std::int64_t step, dilation;

  static TapSources of(const ConvGeometry& g) {
    constexpr std::int64_t kMaxStep = 8, kMaxDilation = 64;
    const std::int64_t stride = g.stride[2], dilation = g.dilation[2];
    const std::int64_t gap = std::gcd(stride, dilation);
    const bool near = stride / gap <= kMaxStep && dilation / gap <= kMaxDilation;
    const BalancedSplit taps =
        BalancedSplit::split(g.kernel[2], near ? kernels::kLanewiseMaxTaps : 1);
    if (taps.largest == 1) return {taps, stride, 1, 1};
    return {taps, gap, stride / gap, dilation / gap};
  }
};

// Lanes of weights: [output row of a window][plane of the kernel][source][kx][channels, padded].
// zero_point: what is subtracted from those of a channel; null: nothing.
AlignedBuffer make_weights(const PackedConv& weights, const ConvGeometry& g, const LaneLayout& u,
                           std::int64_t padded, const std::int32_t* zero_point) {
  const std::int64_t taps = g.kernel[2], planes = g.kernel[0];
  const int bits = 32 / u.depth;
  std::vector<std::uint32_t> words;
  if (is_integer(weights.family()))
    words.assign(weights.weights<std::int8_t>(), weights.weights<std::int8_t>() + weights.size());
  else
    for (const float w : weights.floats()) words.push_back(std::bit_cast<std::uint32_t>(w));
  AlignedBuffer buffer(
      static_cast<std::size_t>(u.share * planes * u.sources * taps * padded * kWord), Fill::zero);
  auto* const lanes = buffer.as<std::uint32_t>();
  std::size_t at = 0;
  for (std::int64_t variant = 0; variant < u.share; ++variant)
    for (std::int64_t kz = 0; kz < planes; ++kz)
      for (std::int64_t r = 0; r < u.sources; ++r)
        for (std::int64_t kx = 0; kx < taps; ++kx, at += static_cast<std::size_t>(padded))
          for (std::int64_t o = 0; o < g.out_channels; ++o) {
            std::uint32_t lane = 0;
            for (int s = 0; s < u.depth; ++s) {
              const std::int64_t ky = u.row(r, s) - variant * g.stride[1], c = u.channel(r, s);
              if (s >= u.rows * u.channels || ky < 0 || ky >= g.kernel[1] || c >= g.group_inputs())
                continue;
              const std::int64_t tap = ((o * planes + kz) * g.kernel[1] + ky) * taps + kx;
              const std::uint32_t w = words[static_cast<std::size_t>(tap * g.group_inputs() + c)] -
                                      static_cast<std::uint32_t>(zero_point ? zero_point[o] : 0);
              lane |= (w & ~std::uint32_t{0} >> (32 - bits)) << bits * s;
            }
            lanes[at + static_cast<std::size_t>(o)] = lane;
          }
  return buffer;
}

class ChannelVectorizedStep final : public ConvStep {
 public:
  explicit ChannelVectorizedStep(const ConvProblem& p)
      : geometry_(geometry_of(p)),
        shape_(shape_of(p)),
        turned_(is_turned(p)),
        u_(layout_of(p)),
        taps_(TapSources::of(geometry_)),
        tile_(lane_geometry(p)),
        key_(pipeline_key(p)),
        lines_(geometry_, shape_, u_, tile_.lanes, p.features, p.is_integer()),
        element_(p.is_integer() ? 1 : p.format().a_bytes),
        pixel_(geometry_.in_channels * element_),
        reach_(geometry_.dilation[2] * (geometry_.kernel[2] - 1) + 1),
        threads_(p.threads) {
    const ConvGeometry& g = geometry_;
    const std::int64_t lanes = tile_.lanes, padded = round_up(g.out_channels, lanes);
    padded_ = padded;
    const bool drops = drops_zero_points(p);
    const std::string name = "channel vectorized depth " + std::to_string(u_.depth) + " lanes " +
                             std::to_string(lanes) + (drops ? " without zero points" : "");
    const auto* const zero_point = drops ? p.weights.zero_point() : nullptr;
    weights_ =
        p.weights.form_of(name, [&] { return make_weights(p.weights, g, u_, padded, zero_point); })
            .as<std::uint32_t>();
    scale_ = p.weights.scale();
    col_offsets_ = p.weights.col_offsets();
    if (drops) {
      offsets_ = offsets_without_zero_points(p.weights);
      col_offsets_ = offsets_.data();
    }

    const std::int64_t columns = shape_.output[2];
    const int taps = static_cast<int>(taps_.taps.largest);
    vectors_ = columns <= 8 && padded > lanes ? 2 : 1;
    tiles_ = BalancedSplit::split(columns,
                                  kernels::lanewise_max_rows(u_.depth, tile_.isa, taps, vectors_));
    block_lanes_ = std::min(padded, 4 * lanes);
    choose_block();
    make_kernels();
  }

  std::string kernel() const override { return name_; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& given, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    ConvRun run = given;
    if (turned_)
      for (Extent3* e : {&run.strides, &run.grid.step}) std::swap((*e)[1], (*e)[2]);
    const Extent3& out = shape_.output;
    const std::int64_t row_blocks = ceil_div(out[1], block_rows_);
    const std::int64_t column_blocks = ceil_div(tiles_.count, block_tiles_);
    const std::int64_t lane_blocks = ceil_div(padded_, block_lanes_);
    const std::int64_t count = shape_.batch * out[0] * row_blocks * column_blocks * lane_blocks;
    std::byte* at = workspace + thread_id * thread_bytes_;
    Thread t{};
    t.padding = std::exchange(at, at + padding_bytes_);
    t.terms.scale = reinterpret_cast<float*>(std::exchange(at, at + terms_bytes_));
    t.terms.offset = reinterpret_cast<std::int32_t*>(std::exchange(at, at + terms_bytes_));
    t.sources = reinterpret_cast<BlockPair*>(std::exchange(at, at + pairs_bytes_));
    t.pairs = reinterpret_cast<BlockPair*>(std::exchange(at, at + pairs_bytes_));
    t.u = at;
    t.place = TilePlace(run.stages, run.c, run.grid.step[2]);
    t.args.pairs = t.pairs;
    t.args.num_pairs = geometry_.kernel[0] * u_.sources * taps_.taps.count;
    std::int64_t image = -1;
    for (std::int64_t i = count * thread_id / num_threads;
         i < count * (thread_id + 1) / num_threads; ++i) {
      // Within an image row, channels are the outer loop, so that neighbouring blocks read the same
      // lines.
      std::int64_t rest = i;
      const auto next = [&rest](std::int64_t n) {
        const std::int64_t index = rest % n;
        rest /= n;
        return index;
      };
      LaneBlock b{};
      const std::int64_t tile_block = next(column_blocks), lane_block = next(lane_blocks),
                         row_block = next(row_blocks);
      b.z = next(out[0]);
      b.image = rest;
      b.tiles = {tile_block * block_tiles_,
                 std::min((tile_block + 1) * block_tiles_, tiles_.count)};
      b.x = {tiles_[b.tiles.begin].begin, tiles_[b.tiles.end - 1].end};
      b.y = {row_block * block_rows_, std::min((row_block + 1) * block_rows_, out[1])};
      b.lanes = {lane_block * block_lanes_, std::min((lane_block + 1) * block_lanes_, padded_)};
      if (b.image != image) {
        image = b.image;
        run.padding(image, element_).fill(t.padding, padding_bytes_);
        if (key_.folds())
          fold_requantization(key_, t.place.stages(), run.image_scale(image),
                              run.image_zero_point(image), scale_, col_offsets_,
                              {0, geometry_.out_channels}, padded_, t.terms);
      }
      run_block(run, b, t);
    }
  }

 private:
  struct Thread {
    std::byte* padding;
    BlockPair *sources, *pairs;  // of the block, and of a tile
    std::byte* u;                // lines of the block: [line][pixel][lane]
    FoldedRequantization terms;  // [channel, padded]
    TilePlace place;
    TileArgs args;
  };

  void choose_block() {
    const ConvGeometry& g = geometry_;
    std::int64_t lane_bytes = u_.kind == Kind::in_place ? pixel_ : block_lanes_ * kWord;
    const auto bytes = [&](std::int64_t rows, std::int64_t tiles) {
      return g.kernel[0] * lines_.lines_of(rows) *
             lines_.pixels_of(tiles * std::max<std::int64_t>(tiles_.largest, 1)) * lane_bytes;
    };
    block_rows_ = std::max<std::int64_t>(u_.kind == Kind::rows ? u_.share : 1, 1);
    block_tiles_ = 1;
    while (u_.kind != Kind::in_place && block_lanes_ > tile_.lanes * vectors_ &&
           bytes(block_rows_, 1) > policy::channel_vectorized::kBlockBytes) {
      block_lanes_ = round_up(block_lanes_ / 2, std::int64_t{tile_.lanes} * vectors_);
      lane_bytes = block_lanes_ * kWord;
    }
    if (u_.kind == Kind::in_place) {
      block_rows_ = 1;
    } else {
      // Blocks grow in width first, since lines of neighbouring tiles overlap, and then in height,
      // which saves lines.
      while (block_tiles_ < tiles_.count &&
             bytes(block_rows_, block_tiles_ + 1) <= policy::channel_vectorized::kBlockBytes)
        ++block_tiles_;
      if (u_.kind == Kind::channels)
        while (block_rows_ < shape_.output[1] && block_rows_ < 8 &&
               bytes(block_rows_ + 1, block_tiles_) <= 2 * policy::channel_vectorized::kBlockBytes)
          ++block_rows_;
    }
    padding_bytes_ = round_up(pixel_ * (u_.kind == Kind::in_place ? reach_ : 1) + 64, 64);
    pairs_bytes_ = round_up(
        g.kernel[0] * u_.sources * taps_.taps.count * static_cast<std::int64_t>(sizeof(BlockPair)),
        64);
    terms_bytes_ = key_.folds() ? padded_ * kWord : 0;
    thread_bytes_ = padding_bytes_ + 2 * terms_bytes_ + 2 * pairs_bytes_ +
                    round_up(bytes(block_rows_, block_tiles_), 64) + 64;
  }

  void make_kernels() {
    kernels::LanewiseKey key;
    key.tile = key_;
    output_ = key.tile.output();
    key.depth = static_cast<std::uint8_t>(u_.depth);
    key.taps = static_cast<std::uint8_t>(taps_.taps.largest);
    key.step = static_cast<std::uint8_t>(taps_.step);
    key.dilation = static_cast<std::uint8_t>(taps_.dilation);
    key.shortens = taps_.taps.count * taps_.taps.largest > geometry_.kernel[2];
    const std::int64_t rest = geometry_.out_channels % tile_.lanes;
    for (const bool tall : {true, false})
      for (int vectors = 1; vectors <= vectors_; ++vectors)
        for (const bool masked : {false, true}) {
          const std::int64_t rows = tiles_.largest - !tall;
          if (rows < 1 || (masked && rest == 0)) continue;
          key.tile.rows = static_cast<std::uint8_t>(rows);
          key.tile.vectors = static_cast<std::uint8_t>(vectors);
          key.tile.masked = masked;
          Kernel& kernel = kernels_[tall][vectors - 1][masked];
          kernel = {key, kernels::find_lanewise(key)};
          if (name_.empty()) name_ = kernels::lanewise_name(key);
        }
  }

  void run_block(const ConvRun& run, const LaneBlock& b, Thread& t) const noexcept {
    const std::int64_t planes = geometry_.kernel[0], lines = lines_.lines_of(b.y.size());
    const std::int64_t pixels = lines_.pixels_of(b.x.size());
    const std::int64_t line_bytes =
        u_.kind == Kind::in_place ? pixels * pixel_ : pixels * b.lanes.size() * kWord;
    if (u_.kind != Kind::in_place)
      for (std::int64_t kz = 0; kz < planes; ++kz)
        for (std::int64_t line = 0; line < lines; ++line)
          lines_.build(run, b, kz, line, pixels, t.padding,
                       reinterpret_cast<std::uint32_t*>(t.u + (kz * lines + line) * line_bytes));

    for (std::int64_t y = b.y.begin; y < b.y.end; ++y) {
      const std::int64_t row = y - b.y.begin;
      const std::int64_t variant = u_.kind == Kind::rows ? row % u_.share : 0;
      for (std::int64_t kz = 0; kz < planes; ++kz)
        for (std::int64_t r = 0; r < u_.sources; ++r) {
          BlockPair& pair = t.sources[kz * u_.sources + r];
          pair.lda = b.lanes.size() * kWord;
          pair.b_panel_stride = padded_ * kWord;
          if (u_.kind == Kind::in_place) {
            pair.a = lines_.find(run, b, kz, y, r, pixels, t.padding, &pair.lda,
                                 t.u + (kz * u_.sources + r) * line_bytes);
          } else {
            const std::int64_t line =
                u_.kind == Kind::rows
                    ? row / u_.share * u_.sources + r
                    : (row * geometry_.stride[1] + r / u_.quads * geometry_.dilation[1]) *
                              u_.quads +
                          r % u_.quads;
            pair.a = t.u + (kz * lines + line) * line_bytes;
          }
          pair.b =
              weights_ + ((variant * planes + kz) * u_.sources + r) * geometry_.kernel[2] * padded_;
        }
      run_row(run, b, y, t);
    }
  }

  // Computes all tiles of one output row of a block. Sources point to the first pixel and lane of
  // the block, and to the weights of channel 0.
  void run_row(const ConvRun& run, const LaneBlock& b, std::int64_t y, Thread& t) const noexcept {
    TileArgs& args = t.args;
    const std::int64_t end = std::min(b.lanes.end, geometry_.out_channels);
    for (std::int64_t o = b.lanes.begin; o < end; o += vectors_ * tile_.lanes) {
      args.columns = std::min<std::int64_t>(vectors_ * tile_.lanes, end - o);
      if (key_.folds()) {
        args.b_scale = t.terms.scale + o;
        args.col_offsets = t.terms.offset + o;
      }
      const std::int64_t vectors = ceil_div(args.columns, tile_.lanes);
      const bool masked = args.columns % tile_.lanes != 0;
      // Lines of a block begin at its first lane, those of an image at channel 0.
      const std::int64_t lane = (u_.kind == Kind::in_place ? o : o - b.lanes.begin) * kWord;
      for (std::int64_t i = b.tiles.begin; i < b.tiles.end; ++i) {
        const Range x = tiles_[i];
        const std::int64_t first = (x.begin - b.x.begin) * geometry_.stride[2];
        set_pairs(t, first, lane, o * kWord);
        t.place.set(args, run.grid.row(b.image, b.z, y, x.begin), o, output_);
        const Kernel& kernel = kernels_[x.size() == tiles_.largest][vectors - 1][masked];
        args.key = &kernel.key.tile;
        kernel.run(&args);
      }
    }
  }

  // The sources of a tile, whose first pixel and whose lanes are so many pixels and bytes beyond
  // those of the block.
  void set_pairs(Thread& t, std::int64_t first, std::int64_t lane,
                 std::int64_t channel) const noexcept {
    BlockPair* pair = t.pairs;
    for (std::int64_t s = 0; s < geometry_.kernel[0] * u_.sources; ++s)
      for (std::int64_t i = 0; i < taps_.taps.count; ++i, ++pair) {
        const BlockPair& source = t.sources[s];
        const Range taps = taps_.taps[i];
        const std::int64_t pixel = first + taps.begin * geometry_.dilation[2];
        pair->a = static_cast<const std::byte*>(source.a) + pixel * source.lda + lane;
        pair->lda = source.lda * taps_.gap;
        pair->b =
            static_cast<const std::byte*>(source.b) + taps.begin * source.b_panel_stride + channel;
        pair->b_panel_stride = source.b_panel_stride;
        pair->groups = taps.size() < taps_.taps.largest;
      }
  }

  struct Kernel {
    kernels::LanewiseKey key;
    TileFunction run = nullptr;
  };

  const ConvGeometry geometry_;  // turned, as shape_
  const ConvShape shape_;
  const bool turned_;
  const LaneLayout u_;
  const TapSources taps_;
  const Geometry tile_;
  const KernelKey key_;
  const LaneLines lines_;
  const std::int64_t element_, pixel_, reach_;
  const int threads_;
  std::int64_t padded_;  // output channels in whole vectors
  const std::uint32_t* weights_;
  const float* scale_;
  const std::int32_t* col_offsets_;    // of the weights as they are packed
  std::vector<std::int32_t> offsets_;  // if those are without their zero points
  int vectors_;                        // of a tile
  BalancedSplit tiles_;
  std::int64_t block_rows_, block_tiles_, block_lanes_;
  std::int64_t padding_bytes_, terms_bytes_, pairs_bytes_, thread_bytes_;
  ValueType output_;
  Kernel kernels_[2][2][2];  // [tall][vectors - 1][masked]
  std::string name_;
};

bool applies(const ConvProblem& p) {
  return has_lanes(p.family()) && !p.geometry.transposed && p.geometry.groups > 1 &&
         kernels::has_lanewise(lane_geometry(p).isa);
}

// The multiply-adds of a vector of channels, and the cycles that build U.
double cost(const ConvProblem& p) {
  const ConvGeometry g = geometry_of(p);
  const Geometry tile = lane_geometry(p);
  const LaneLayout u = layout_of(p);
  const double pixels = static_cast<double>(p.shape.out_pixels());
  const double vectors = static_cast<double>(ceil_div(g.out_channels, tile.lanes));
  const double sources = static_cast<double>(g.kernel[0] * u.sources);
  const bool has_dot = (p.features & (feature::avx512_vnni | feature::avx_vnni)) != 0;
  const double sums =
      sources * static_cast<double>(g.kernel[2]) * (u.depth == 2 && !has_dot ? 2 : 1);
  // Lanes are filled by vectors, or one by one if no such function fits. U exceeds the L1 if groups
  // have many channels.
  using namespace policy::channel_vectorized;
  const bool by_rows = u.kind == Kind::rows;
  const bool by_vectors = by_rows ? g.is_depthwise() : u.depth == 4 && g.group_inputs() % 4 == 0;
  double build = 0;
  if (u.kind != Kind::in_place && p.is_integer() && !by_vectors)
    build = sources * (by_rows ? kLane / 4 : kLane) * static_cast<double>(tile.lanes);
  else if (by_rows)
    build = sources * kRowSource / static_cast<double>(u.share);
  else if (u.kind == Kind::channels && g.group_inputs() > 1)
    build = sources * kChannelSource / static_cast<double>(g.kernel[1]) +
            sources * sources * kSourcePair;
  build *= static_cast<double>(g.stride[2] * (u.kind == Kind::channels ? g.stride[1] : 1));
  const double copies = p.is_integer() ? 1 : g.group_inputs() == 1 ? kFloatsInPlace : kFloats;
  return pixels * vectors * (sums + build + kRest) * copies;
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) {
  return std::make_unique<ChannelVectorizedStep>(p);
}

}  // namespace

ConvMethod channel_vectorized_method() {
  return {"channel_vectorized", true, applies, cost, prepare, true, false};
}

}  // namespace fbg
