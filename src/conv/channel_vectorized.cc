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

LaneLayout layout_of(const ConvProblem& p) {
  return LaneLayout::of(p.geometry,
                        kernels::lanewise_depth(lane_gemm_type(p.family()), p.features));
}

// Lanes of weights: [output row of a window][plane of the kernel][source][kx][channels, padded].
AlignedBuffer make_weights(const PackedConv& weights, const LaneLayout& u, std::int64_t padded) {
  const ConvGeometry& g = weights.geometry();
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
              const std::uint32_t w = words[static_cast<std::size_t>(tap * g.group_inputs() + c)];
              lane |= (w & ~std::uint32_t{0} >> (32 - bits)) << bits * s;
            }
            lanes[at + static_cast<std::size_t>(o)] = lane;
          }
  return buffer;
}

class ChannelVectorizedStep final : public ConvStep {
 public:
  explicit ChannelVectorizedStep(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        u_(layout_of(p)),
        tile_(lane_geometry(p)),
        key_(conv_kernel_key(p, tile_, lane_gemm_type(p.family()))),
        lines_(p.geometry, p.shape, u_, tile_.lanes, p.features, p.is_integer()),
        element_(p.is_integer() ? 1 : p.format().a_bytes),
        pixel_(p.geometry.in_channels * element_),
        reach_(p.geometry.dilation[2] * (p.geometry.kernel[2] - 1) + 1),
        threads_(p.threads) {
    const ConvGeometry& g = geometry_;
    const std::int64_t lanes = tile_.lanes, padded = round_up(g.out_channels, lanes);
    padded_ = padded;
    const std::string name =
        "channel vectorized depth " + std::to_string(u_.depth) + " lanes " + std::to_string(lanes);
    weights_ = p.weights.form_of(name, [&] { return make_weights(p.weights, u_, padded); })
                   .as<std::uint32_t>();
    scale_ = p.weights.scale();
    col_offsets_ = p.weights.col_offsets();

    const std::int64_t columns = p.shape.output[2];
    const int taps = static_cast<int>(g.kernel[2]);
    vectors_ = columns <= 8 && padded > lanes ? 2 : 1;
    tiles_ = BalancedSplit::split(
        columns, kernels::lanewise_max_rows(key_.gemm_type, tile_.isa, taps, vectors_));
    block_lanes_ = std::min(padded, 4 * lanes);
    choose_block();
    make_kernels();
  }

  std::string kernel() const override { return name_; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
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
    t.args.num_pairs = geometry_.kernel[0] * u_.sources;
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
    const std::int64_t lane_bytes = u_.kind == Kind::in_place ? pixel_ : block_lanes_ * kWord;
    const auto bytes = [&](std::int64_t rows, std::int64_t tiles) {
      return g.kernel[0] * lines_.lines_of(rows) *
             lines_.pixels_of(tiles * std::max<std::int64_t>(tiles_.largest, 1)) * lane_bytes;
    };
    block_rows_ = std::max<std::int64_t>(u_.kind == Kind::rows ? u_.share : 1, 1);
    block_tiles_ = 1;
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
    pairs_bytes_ =
        round_up(g.kernel[0] * u_.sources * static_cast<std::int64_t>(sizeof(BlockPair)), 64);
    terms_bytes_ = key_.folds() ? padded_ * kWord : 0;
    thread_bytes_ = padding_bytes_ + 2 * terms_bytes_ + 2 * pairs_bytes_ +
                    round_up(bytes(block_rows_, block_tiles_), 64) + 64;
  }

  void make_kernels() {
    kernels::LanewiseKey key;
    key.tile = key_;
    output_ = key.tile.output();
    key.taps = static_cast<std::uint8_t>(geometry_.kernel[2]);
    key.step = static_cast<std::uint8_t>(geometry_.stride[2]);
    key.dilation = static_cast<std::uint8_t>(geometry_.dilation[2]);
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
        for (std::int64_t p = 0; p < args.num_pairs; ++p) {
          const BlockPair& source = t.sources[p];
          t.pairs[p] = source;
          t.pairs[p].a = static_cast<const std::byte*>(source.a) + first * source.lda + lane;
          t.pairs[p].b = static_cast<const std::byte*>(source.b) + o * kWord;
        }
        t.place.set(args, run.grid.row(b.image, b.z, y, x.begin), o, output_);
        const Kernel& kernel = kernels_[x.size() == tiles_.largest][vectors - 1][masked];
        args.key = &kernel.key.tile;
        kernel.run(&args);
      }
    }
  }

  struct Kernel {
    kernels::LanewiseKey key;
    TileFunction run = nullptr;
  };

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const LaneLayout u_;
  const Geometry tile_;
  const KernelKey key_;
  const LaneLines lines_;
  const std::int64_t element_, pixel_, reach_;
  const int threads_;
  std::int64_t padded_;  // output channels in whole vectors
  const std::uint32_t* weights_;
  const float* scale_;
  const std::int32_t* col_offsets_;
  int vectors_;  // of a tile
  BalancedSplit tiles_;
  std::int64_t block_rows_, block_tiles_, block_lanes_;
  std::int64_t padding_bytes_, terms_bytes_, pairs_bytes_, thread_bytes_;
  ValueType output_;
  Kernel kernels_[2][2][2];  // [tall][vectors - 1][masked]
  std::string name_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  if (!has_lanes(p.family()) || g.transposed || g.groups == 1 || p.b_has_zero_point()) return false;
  return kernels::has_lanewise(lane_geometry(p).isa) && g.kernel[2] <= kernels::kLanewiseMaxTaps &&
         g.stride[2] <= 8 && g.dilation[2] <= 64;
}

// The multiply-adds of a vector of channels, and the cycles that build U.
double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = lane_geometry(p);
  const LaneLayout u = layout_of(p);
  const double pixels = static_cast<double>(p.shape.out_pixels());
  const double vectors = static_cast<double>(ceil_div(g.out_channels, tile.lanes));
  const double sources = static_cast<double>(g.kernel[0] * u.sources);
  const double sums =
      sources * static_cast<double>(g.kernel[2]) * (p.is_integer() && u.depth == 2 ? 2 : 1);
  // Lanes are filled by vectors, or one by one if no such function fits. U exceeds the L1 if groups
  // have many channels.
  constexpr double kLane = 10;
  const bool by_rows = u.kind == Kind::rows;
  const bool by_vectors = by_rows ? g.is_depthwise() : u.depth == 4 && g.group_inputs() % 4 == 0;
  double build = 0;
  if (u.kind != Kind::in_place && p.is_integer() && !by_vectors)
    build = sources * (by_rows ? kLane / 4 : kLane) * static_cast<double>(tile.lanes);
  else if (by_rows)
    build = sources * 5.0 / static_cast<double>(u.share);
  else if (u.kind == Kind::channels)
    build = sources * 2.0 / static_cast<double>(g.kernel[1]) + sources * sources * 0.4;
  build *= static_cast<double>(g.stride[2] * (u.kind == Kind::channels ? g.stride[1] : 1));
  // The cost of reading pixels, and of the pipeline.
  constexpr double kRest = 11;
  // Floats are four times as many bytes. Tiles read in place are copied where they cross a border.
  const double copies = p.is_integer() ? 1 : u.kind == Kind::in_place ? 1.7 : 3;
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
