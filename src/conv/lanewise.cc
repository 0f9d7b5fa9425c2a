// lanewise: depthwise and groupwise convolutions, each output channel in a lane of its own.
//
//   for each block of output rows x columns x channels       small enough that U stays in the L1
//     build U                                                 one line per source (lanewise.h)
//     for each output row of the block
//       for each tile of pixels x vectors of channels         kernels/lanewise.h
//
// Where U is the image itself nothing is built, and only tiles that touch a border are copied.
#include "conv/lanewise.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "conv/algorithm.h"
#include "conv/padding.h"
#include "core/float16.h"
#include "kernels/lanewise.h"
#include "simd/lanes.h"

namespace fbg {
namespace {

constexpr std::int64_t kWord = 4;               // bytes of a lane
constexpr std::int64_t kBlockBytes = 40 << 10;  // of U
constexpr std::int64_t kMaxTaps = 7;            // of a kernel row
constexpr int kMaxShare = 4;

using Kind = LanewiseLayout::Kind;

// The families whose weights become lanes: 16-bit floats are widened.
constexpr bool has_lanes(Accumulator a) {
  return a == Accumulator::int32 || a == Accumulator::float32 || a == Accumulator::float32_f16 ||
         a == Accumulator::float32_bf16;
}
constexpr Accumulator lane_accumulator(Accumulator a) {
  return is_integer(a) ? Accumulator::int32 : Accumulator::float32;
}

template <class Acc>
Geometry lane_geometry(Features features) {
  return choose_geometry(lane_accumulator(Acc::kind), features);
}

template <class Acc>
LanewiseLayout layout_of(const ConvProblem<Acc>& p) {
  return LanewiseLayout::of(
      p.geometry, kernels::lanewise_depth(lane_accumulator(Acc::kind), p.features));
}

// Lanes of weights: [output row of a window][plane of the kernel][source][kx][channels, padded].
template <class Acc>
std::vector<std::uint32_t> make_weights(const PackedConv<Acc>& weights, const LanewiseLayout& u,
                                        std::int64_t padded) {
  const ConvGeometry& g = weights.geometry();
  const std::int64_t taps = g.kernel[2], planes = g.kernel[0];
  std::vector<std::uint32_t> lanes(
      static_cast<std::size_t>(u.share * planes * u.sources * taps * padded));
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
              const auto w =
                  weights.weights()[((o * planes + kz) * g.kernel[1] + ky) * taps * g.group_inputs() +
                                    kx * g.group_inputs() + c];
              if constexpr (is_integer(Acc::kind)) {
                const auto value = static_cast<std::uint32_t>(w);
                lane |= u.depth == 4 ? (value & 0xff) << 8 * s : (value & 0xffff) << 16 * s;
              } else {
                lane = std::bit_cast<std::uint32_t>(to_float(w));
              }
            }
            lanes[at + static_cast<std::size_t>(o)] = lane;
          }
  return lanes;
}

template <class Acc>
class LanewiseStep final : public ConvStep<Acc> {
 public:
  explicit LanewiseStep(const ConvProblem<Acc>& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        u_(layout_of(p)),
        tile_(lane_geometry<Acc>(p.features)),
        lanes_(simd::lane_kernels(p.features)),
        element_(is_integer(Acc::kind) ? 1 : sizeof(typename Acc::A)),
        pixel_(p.geometry.in_channels * element_),
        reach_(p.geometry.dilation[2] * (p.geometry.kernel[2] - 1) + 1),
        threads_(p.threads) {
    const ConvGeometry& g = geometry_;
    const std::int64_t lanes = tile_.lanes, padded = round_up(g.out_channels, lanes);
    padded_ = padded;
    const std::string name = "lanewise depth " + std::to_string(u_.depth) + " lanes " +
                             std::to_string(lanes);
    weights_ = static_cast<const std::vector<std::uint32_t>*>(p.weights.form(name, [&] {
      auto made = std::make_shared<const std::vector<std::uint32_t>>(
          make_weights(p.weights, u_, padded));
      return typename PackedConv<Acc>::Form{made, std::ssize(*made) * kWord};
    }))->data();
    scale_ = p.weights.scale();
    col_offsets_ = p.weights.col_offsets();
    prepare_operands(p);

    const std::int64_t columns = p.shape.output[2];
    const int taps = static_cast<int>(g.kernel[2]);
    vectors_ = columns <= 8 && padded > lanes ? 2 : 1;
    tiles_ = BalancedSplit::split(columns, kernels::lanewise_max_rows(tile_.isa, taps, vectors_));
    block_lanes_ = std::min(padded, 4 * lanes);
    choose_block();
    make_kernels(p);
    if (u_.kind == Kind::channels) spread_.resize(static_cast<std::size_t>(padded / lanes));
    for (std::size_t v = 0; v < spread_.size(); ++v)
      spread_[v] = simd::LaneSpread::of(static_cast<std::int64_t>(v) * lanes, lanes, g.out_channels,
                                        g.group_outputs(), g.group_inputs(), element_);
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
    t.sources = reinterpret_cast<BlockPair*>(std::exchange(at, at + pairs_bytes_));
    t.pairs = reinterpret_cast<BlockPair*>(std::exchange(at, at + pairs_bytes_));
    t.u = at;
    std::array<StageArgs, kMaxStages> stage_args;
    std::ranges::transform(run.stages, stage_args.begin(), &Stage::args);
    t.args.stages = stage_args.data();
    t.args.pairs = t.pairs;
    t.args.num_pairs = geometry_.kernel[0] * u_.sources;
    t.args.ldc = run.c.ld;
    t.args.a_scale = t.scale;
    t.args.a_zero_point = t.zero_point;
    std::int64_t image = -1;
    for (std::int64_t i = count * thread_id / num_threads; i < count * (thread_id + 1) / num_threads;
         ++i) {
      // Channels outermost within an image row: neighbouring blocks read the same lines.
      std::int64_t rest = i;
      const auto next = [&rest](std::int64_t n) {
        const std::int64_t index = rest % n;
        rest /= n;
        return index;
      };
      Block b{};
      const std::int64_t tile_block = next(column_blocks), lane_block = next(lane_blocks),
                         row_block = next(row_blocks);
      b.z = next(out[0]);
      b.image = rest;
      b.tiles = {tile_block * block_tiles_, std::min((tile_block + 1) * block_tiles_, tiles_.count)};
      b.x = {tiles_[b.tiles.begin].begin, tiles_[b.tiles.end - 1].end};
      b.y = {row_block * block_rows_, std::min((row_block + 1) * block_rows_, out[1])};
      b.lanes = {lane_block * block_lanes_, std::min((lane_block + 1) * block_lanes_, padded_)};
      if (b.image != image) {
        image = b.image;
        fill_padding(t.padding, padding_bytes_ / element_, run.image_zero_point(image), element_);
        std::fill_n(t.scale, 16, run.scale ? run.scale[image] : 1.0f);
        std::fill_n(t.zero_point, 16, run.image_zero_point(image));
      }
      run_block(run, b, t);
    }
  }

 private:
  // Output rows y, columns x (whole tiles) and channels `lanes` of plane z of an image.
  struct Block {
    std::int64_t image, z;
    Range y, x, tiles, lanes;
  };
  struct Thread {
    std::byte* padding;
    BlockPair *sources, *pairs;  // of the block, and of a tile
    std::byte* u;  // lines of the block: [line][pixel][lane]
    TileArgs args;
    float scale[16];
    std::int32_t zero_point[16];
  };

  // Where a block reads its lines: of `rows` there is one window for each u_.share output rows,
  // of the others one line for each input row and quad.
  std::int64_t lines_of(std::int64_t rows) const {
    const ConvGeometry& g = geometry_;
    if (u_.kind == Kind::rows) return ceil_div(rows, u_.share) * u_.sources;
    return ((rows - 1) * g.stride[1] + g.dilation[1] * (g.kernel[1] - 1) + 1) * u_.quads;
  }
  std::int64_t pixels_of(std::int64_t columns) const {
    return (columns - 1) * geometry_.stride[2] + reach_;
  }

  void choose_block() {
    const ConvGeometry& g = geometry_;
    const std::int64_t lane_bytes = u_.kind == Kind::in_place ? pixel_ : block_lanes_ * kWord;
    const auto bytes = [&](std::int64_t rows, std::int64_t tiles) {
      return g.kernel[0] * lines_of(rows) * pixels_of(tiles * std::max<std::int64_t>(tiles_.largest, 1)) *
             lane_bytes;
    };
    block_rows_ = std::max<std::int64_t>(u_.kind == Kind::rows ? u_.share : 1, 1);
    block_tiles_ = 1;
    if (u_.kind == Kind::in_place) {
      block_rows_ = 1;
    } else {
      // Wider first, since lines of neighbouring tiles overlap; then taller, which saves lines.
      while (block_tiles_ < tiles_.count && bytes(block_rows_, block_tiles_ + 1) <= kBlockBytes)
        ++block_tiles_;
      if (u_.kind == Kind::channels)
        while (block_rows_ < shape_.output[1] && block_rows_ < 8 &&
               bytes(block_rows_ + 1, block_tiles_) <= 2 * kBlockBytes)
          ++block_rows_;
    }
    padding_bytes_ = round_up(pixel_ * (u_.kind == Kind::in_place ? reach_ : 1) + 64, 64);
    pairs_bytes_ = round_up(
        g.kernel[0] * u_.sources * static_cast<std::int64_t>(sizeof(BlockPair)), 64);
    thread_bytes_ = padding_bytes_ + 2 * pairs_bytes_ + round_up(bytes(block_rows_, block_tiles_), 64) + 64;
  }

  // Column operands, readable up to the end of the last vector.
  void prepare_operands(const ConvProblem<Acc>& p) {
    const auto pad = [&](const auto* values, auto& to) {
      if (!values) return;
      to.assign(values, values + p.geometry.out_channels);
      to.resize(static_cast<std::size_t>(padded_));
    };
    pad(scale_, padded_scale_);
    pad(col_offsets_, padded_offsets_);
  }

  void make_kernels(const ConvProblem<Acc>& p) {
    kernels::LanewiseKey key;
    key.tile = make_kernel_key(tile_, lane_accumulator(Acc::kind), p.stages, p.has_scale,
                               p.weights.scale() != nullptr, false);
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

  void run_block(const ConvRun& run, const Block& b, Thread& t) const noexcept {
    const std::int64_t planes = geometry_.kernel[0], lines = lines_of(b.y.size());
    const std::int64_t pixels = pixels_of(b.x.size());
    const std::int64_t line_bytes =
        u_.kind == Kind::in_place ? pixels * pixel_ : pixels * b.lanes.size() * kWord;
    if (u_.kind != Kind::in_place)
      for (std::int64_t kz = 0; kz < planes; ++kz)
        for (std::int64_t line = 0; line < lines; ++line)
          build_line(run, b, kz, line, pixels, t, t.u + (kz * lines + line) * line_bytes);

    for (std::int64_t y = b.y.begin; y < b.y.end; ++y) {
      const std::int64_t row = y - b.y.begin;
      const std::int64_t variant = u_.kind == Kind::rows ? row % u_.share : 0;
      for (std::int64_t kz = 0; kz < planes; ++kz)
        for (std::int64_t r = 0; r < u_.sources; ++r) {
          BlockPair& pair = t.sources[kz * u_.sources + r];
          pair.lda = b.lanes.size() * kWord;
          pair.b_panel_stride = padded_ * kWord;
          if (u_.kind == Kind::in_place) {
            pair.a = find_line(run, b, kz, y, r, pixels, t, &pair.lda,
                               t.u + (kz * u_.sources + r) * line_bytes);
          } else {
            const std::int64_t line =
                u_.kind == Kind::rows
                    ? row / u_.share * u_.sources + r
                    : (row * geometry_.stride[1] + r / u_.quads * geometry_.dilation[1]) *
                              u_.quads + r % u_.quads;
            pair.a = t.u + (kz * lines + line) * line_bytes;
          }
          pair.b = weights_ + ((variant * planes + kz) * u_.sources + r) * geometry_.kernel[2] *
                                  padded_;
        }
      run_row(run, b, y, t);
    }
  }

  // All tiles of one output row of a block. Sources hold the first pixel and lane of the block, and
  // weights of channel 0.
  void run_row(const ConvRun& run, const Block& b, std::int64_t y, Thread& t) const noexcept {
    TileArgs& args = t.args;
    const std::int64_t line =
        ((b.image * shape_.output[0] + b.z) * shape_.output[1] + y) * shape_.output[2];
    const std::int64_t end = std::min(b.lanes.end, geometry_.out_channels);
    for (std::int64_t o = b.lanes.begin; o < end; o += vectors_ * tile_.lanes) {
      args.columns = std::min<std::int64_t>(vectors_ * tile_.lanes, end - o);
      args.col = o;
      if (scale_) args.b_scale = padded_scale_.data() + o;
      if (col_offsets_) args.col_offsets = padded_offsets_.data() + o;
      const std::int64_t vectors = ceil_div(args.columns, tile_.lanes);
      const bool masked = args.columns % tile_.lanes != 0;
      // Lines of a block begin at its own first lane, the image at channel 0.
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
        args.row = line + x.begin;
        args.c = static_cast<std::byte*>(run.c.data) + args.row * run.c.ld + o * value_size(output_);
        const Kernel& kernel = kernels_[x.size() == tiles_.largest][vectors - 1][masked];
        args.key = &kernel.key.tile;
        kernel.run(&args);
      }
    }
  }

  // The row of the image that a line holds, and whether it is one.
  struct ImageRow {
    const std::byte* data;
    bool inside;
  };
  ImageRow image_row(const ConvRun& run, const Block& b, std::int64_t kz, std::int64_t y) const {
    const std::int64_t z =
        b.z * geometry_.stride[0] - geometry_.pad_before[0] + kz * geometry_.dilation[0];
    const bool inside = z >= 0 && z < shape_.input[0] && y >= 0 && y < shape_.input[1];
    if (!inside) return {nullptr, false};
    return {run.x + b.image * run.batch_stride + z * run.strides[0] + y * run.strides[1], true};
  }

  // A line of the image for one kernel row: where it lies, or copied with its padding.
  const std::byte* find_line(const ConvRun& run, const Block& b, std::int64_t kz, std::int64_t y,
                             std::int64_t ky, std::int64_t pixels, const Thread& t,
                             std::int64_t* lda, std::byte* copy) const noexcept {
    const ConvGeometry& g = geometry_;
    const ImageRow row = image_row(run, b, kz,
                                   y * g.stride[1] - g.pad_before[1] + ky * g.dilation[1]);
    *lda = pixel_;
    const std::int64_t x = b.x.begin * g.stride[2] - g.pad_before[2];
    // Whole vectors are read: of the last channels more than there are.
    const std::int64_t slack = (padded_ - g.out_channels) * kWord;
    if (row.inside && x >= 0 && x + pixels <= shape_.input[2] &&
        row.data + (x + pixels - 1) * run.strides[2] + pixel_ + slack <= run.end) {
      *lda = run.strides[2];
      return row.data + x * run.strides[2];
    }
    if (!row.inside) {
      *lda = 0;
      return t.padding;
    }
    copy_padded(row.data, run.strides[2], shape_.input[2], x, pixels, pixel_, t.padding, copy);
    return copy;
  }

  void build_line(const ConvRun& run, const Block& b, std::int64_t kz, std::int64_t line,
                  std::int64_t pixels, const Thread& t, std::byte* to) const noexcept {
    const ConvGeometry& g = geometry_;
    const std::int64_t lanes = b.lanes.size();
    auto* const words = reinterpret_cast<std::uint32_t*>(to);
    // Rows of the image that the elements of a lane come from.
    std::int64_t y = b.y.begin * g.stride[1] - g.pad_before[1];
    std::int64_t quad = 0, step = 1;
    int rows = 1;
    if (u_.kind == Kind::rows) {
      y += line / u_.sources * u_.share * g.stride[1] +
           line % u_.sources * u_.rows * g.dilation[1];
      rows = u_.rows;
      step = g.dilation[1];
    } else {
      y += line / u_.quads;
      quad = line % u_.quads;
    }
    const std::byte* from[4];
    std::int64_t strides[4];
    for (int i = 0; i < rows; ++i) {
      const ImageRow row = image_row(run, b, kz, y + i * step);
      from[i] = row.inside ? row.data : t.padding;
      strides[i] = row.inside ? run.strides[2] : 0;
    }
    // Pixels outside the image on the left and on the right, and those inside.
    const std::int64_t x = b.x.begin * g.stride[2] - g.pad_before[2];
    const std::int64_t first = std::clamp<std::int64_t>(-x, 0, pixels);
    const std::int64_t last = std::clamp<std::int64_t>(shape_.input[2] - x, first, pixels);
    const std::uint32_t padding = padding_word(run.image_zero_point(b.image));
    std::fill_n(words, first * lanes, padding);
    std::fill_n(words + last * lanes, (pixels - last) * lanes, padding);
    if (last <= first) return;
    for (int i = 0; i < rows; ++i) from[i] += (x + first) * strides[i];
    fill_lanes(run, b.lanes, from, strides, rows, quad, last - first, words + first * lanes);
  }

  std::uint32_t padding_word(std::int32_t zero_point) const noexcept {
    if (!is_integer(Acc::kind)) return 0;
    const auto z = static_cast<std::uint32_t>(zero_point);
    return u_.depth == 4 ? z * 0x01010101u : z * 0x00010001u;
  }

  // Lanes of `pixels` pixels inside the image.
  void fill_lanes(const ConvRun& run, Range lanes, const std::byte* const* from,
                  const std::int64_t* strides, int rows, std::int64_t quad, std::int64_t pixels,
                  std::uint32_t* to) const noexcept {
    const ConvGeometry& g = geometry_;
    const bool depthwise = g.is_depthwise() && g.group_outputs() == 1;
    const std::int64_t real = std::min(lanes.end, g.out_channels) - lanes.begin;
    if (u_.kind == Kind::rows && depthwise) {
      const std::uint8_t* bytes[4];
      for (int i = 0; i < rows; ++i)
        bytes[i] = reinterpret_cast<const std::uint8_t*>(from[i]) + lanes.begin;
      const auto interleave = u_.depth == 4 ? lanes_.interleave_bytes : lanes_.interleave_words;
      interleave(bytes, strides, static_cast<std::size_t>(pixels), static_cast<std::size_t>(real),
                 static_cast<std::size_t>(lanes.size()), to);
      return;
    }
    const std::int64_t size = element_ == 1 ? u_.depth : 1;  // elements of a lane
    if (u_.kind == Kind::channels) {
      const auto* const vectors = spread_.data() + lanes.begin / tile_.lanes;
      const std::int64_t count = lanes.size() / tile_.lanes;
      const bool fast = std::all_of(vectors, vectors + count,
                                    [](const simd::LaneSpread& s) { return s.fits; });
      if (fast && (element_ == 4 || (u_.depth == 4 && g.group_inputs() % 4 == 0))) {
        // Of padding, which lies elsewhere, there is enough.
        const std::int64_t offset = quad * size * element_;
        const auto spread = element_ == 1 ? lanes_.spread_bytes : lanes_.spread_floats;
        spread(from[0] + offset, strides[0], static_cast<std::size_t>(pixels),
               strides[0] ? run.end : nullptr, vectors, static_cast<std::size_t>(count), to);
        return;
      }
    }
    for (std::int64_t x = 0; x < pixels; ++x, to += lanes.size())
      for (std::int64_t o = lanes.begin; o < lanes.begin + real; ++o) {
        const std::int64_t channel = o / g.group_outputs() * g.group_inputs();
        std::uint32_t lane = 0;
        for (int s = 0; s < u_.rows * u_.channels; ++s) {
          const std::int64_t c =
              u_.kind == Kind::rows ? s % u_.channels : quad * u_.depth + s;
          if (c >= g.group_inputs()) continue;
          const int row = u_.kind == Kind::rows ? s / u_.channels : 0;
          const std::byte* const value = from[row] + x * strides[row] + (channel + c) * element_;
          if (element_ == 4) {
            std::memcpy(&lane, value, 4);
          } else {
            lane |= static_cast<std::uint32_t>(*value) << (u_.depth == 4 ? 8 : 16) * s;
          }
        }
        to[o - lanes.begin] = lane;
      }
  }

  struct Kernel {
    kernels::LanewiseKey key;
    TileFunction run = nullptr;
  };

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const LanewiseLayout u_;
  const Geometry tile_;
  const simd::LaneKernels& lanes_;
  const std::int64_t element_, pixel_, reach_;
  const int threads_;
  std::int64_t padded_;  // output channels in whole vectors
  const std::uint32_t* weights_;
  const float* scale_;
  const std::int32_t* col_offsets_;
  std::vector<float> padded_scale_;
  std::vector<std::int32_t> padded_offsets_;
  int vectors_;  // of a tile
  BalancedSplit tiles_;
  std::int64_t block_rows_, block_tiles_, block_lanes_;
  std::int64_t padding_bytes_, pairs_bytes_, thread_bytes_;
  ValueType output_;
  Kernel kernels_[2][2][2];  // [tall][vectors - 1][masked]
  std::vector<simd::LaneSpread> spread_;
  std::string name_;
};

template <class Acc>
bool applies(const ConvProblem<Acc>& p) {
  const ConvGeometry& g = p.geometry;
  if (!has_lanes(Acc::kind) || g.transposed || g.groups == 1 || p.b_has_zero_point()) return false;
  return kernels::has_lanewise(lane_geometry<Acc>(p.features).isa) && g.kernel[2] <= kMaxTaps &&
         g.stride[2] <= 8 && g.dilation[2] <= 64;
}

// Cycles for the multiply-adds of a vector of channels, plus those that build U.
template <class Acc>
double cost(const ConvProblem<Acc>& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = lane_geometry<Acc>(p.features);
  const LanewiseLayout u = layout_of(p);
  const double pixels = static_cast<double>(p.shape.out_pixels());
  const double vectors = static_cast<double>(ceil_div(g.out_channels, tile.lanes));
  const double sources = static_cast<double>(g.kernel[0] * u.sources);
  const double sums = sources * static_cast<double>(g.kernel[2]) * (is_integer(Acc::kind) && u.depth == 2 ? 2 : 1);
  double build = 0;
  if (u.kind == Kind::rows) build = sources * 5.0 / static_cast<double>(u.share);
  if (u.kind == Kind::channels) build = sources * 2.0 / static_cast<double>(g.kernel[1]);
  build *= static_cast<double>(g.stride[2] * (u.kind == Kind::channels ? g.stride[1] : 1));
  return pixels * vectors * (sums + build + 4);
}

template <class Acc>
std::unique_ptr<ConvStep<Acc>> prepare(const ConvProblem<Acc>& p) {
  if constexpr (has_lanes(Acc::kind)) return std::make_unique<LanewiseStep<Acc>>(p);
  return nullptr;
}

}  // namespace

LanewiseLayout LanewiseLayout::of(const ConvGeometry& g, int depth) {
  LanewiseLayout u{Kind::channels, depth, 1, depth, 0, 1, 1};
  const std::int64_t inputs = g.group_inputs();
  if (depth == 1 && inputs == 1 && g.group_outputs() == 1) {
    u.kind = Kind::in_place;
    u.sources = g.kernel[1];
    return u;
  }
  const int channels = inputs == 1 ? 1 : inputs == 2 ? 2 : 4;
  if (channels >= depth) {
    u.quads = ceil_div(inputs, static_cast<std::int64_t>(depth));
    u.sources = g.kernel[1] * u.quads;
    return u;
  }
  u.kind = Kind::rows;
  u.channels = channels;
  u.rows = depth / channels;
  u.sources = ceil_div(g.kernel[1], static_cast<std::int64_t>(u.rows));
  if (g.dilation[1] == 1)
    u.share = std::min<std::int64_t>((u.sources * u.rows - g.kernel[1]) / g.stride[1] + 1, kMaxShare);
  return u;
}

template <class Acc>
ConvMethod<Acc> lanewise_method() {
  return {"lanewise", true, applies<Acc>, cost<Acc>, prepare<Acc>};
}

template ConvMethod<Int32> lanewise_method();
template ConvMethod<Int16> lanewise_method();
template ConvMethod<Float32> lanewise_method();
template ConvMethod<BFloat16> lanewise_method();
template ConvMethod<Float32BF16> lanewise_method();
template ConvMethod<Float32F16> lanewise_method();

}  // namespace fbg
