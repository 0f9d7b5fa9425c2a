// Lanewise kernels: sums by plain loops, from which the portable kernel then starts.
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "kernels/lanewise.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

using kernels::LanewiseKey;

class LanewiseRunner final : public TileRunner {
 public:
  using TileRunner::TileRunner;

  std::string compare_lanes(const LanewiseKey& key, const TileCase& tile,
                            const std::vector<Stage>& stages, std::int64_t sources,
                            std::int64_t channels, std::int64_t gap) {
    start_case(tile);
    depth_ = key.depth;
    const std::int64_t lanes = key.tile.vectors * geometry.lanes, rows = key.tile.rows;
    const std::int64_t width = key.spreads ? channels : lanes;  // of a pixel
    const std::int64_t lda = (width + gap) * 4;
    const std::int64_t tap = key.spreads ? lanes * 4 : (lanes + gap) * 4;
    std::vector<BlockPair> pairs;
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(rows * lanes));
    for (std::int64_t s = 0; s < sources; ++s) {
      const auto at = static_cast<std::size_t>(s);
      const std::int64_t shorter = key.shortens ? s % 2 : 0;
      const std::int64_t taps = key.taps - shorter;
      const std::int64_t last =
          (rows - 1) * key.step + (taps - 1) * key.dilation - key.right;  // pixel of the window
      const std::int64_t pixels = std::max<std::int64_t>(last - key.left + 1, 0);
      const std::int64_t u_bytes = pixels > 0 ? (pixels - 1) * lda + width * 4 : 0;
      const std::int64_t w_bytes =
          key.spreads ? channels * taps * lanes * 4 : (taps - 1) * tap + lanes * 4;
      std::byte* const u = a_[at].place(u_bytes, tile.side);
      std::byte* const w = b_[at].place(w_bytes, tile.side);
      fill_lanes(u, u_bytes, false);
      if (s == 0 && tile.specials && takes_specials(key.tile) && random_() % 4 == 0)
        place_special(u, u_bytes);
      fill_lanes(w, w_bytes, true);
      pairs.push_back({u, lda, w, tap, key.spreads ? channels : shorter});
      for (std::int64_t channel = 0; channel < (key.spreads ? channels : 1); ++channel)
        for (std::int64_t row = 0; row < rows; ++row)
          for (std::int64_t kx = 0; kx < taps; ++kx) {
            const std::int64_t x = row * key.step + kx * key.dilation;
            if (x < key.left || x > last) continue;
            const std::byte* const pixel = u + (x - key.left) * lda + channel * 4 * key.spreads;
            const std::byte* const weights = w + (key.spreads ? channel * taps + kx : kx) * tap;
            for (std::int64_t lane = 0; lane < lanes; ++lane)
              add(sums[static_cast<std::size_t>(row * lanes + lane)],
                  word(pixel + (key.spreads ? 0 : lane * 4)), word(weights + lane * 4));
          }
    }
    TileArgs args;
    args.set_blocks(pairs);
    place_parameters(tile, stages, lanes, args);
    TileArgs reference = args;
    reference.set_blocks({});
    reference.partial = sums.data();
    reference.ldpartial = lanes * 4;
    KernelKey generic = key.tile;
    generic.sums = Sums::last;
    if (!expect(tile, args, reference, generic)) return {};
    run(kernels::find_lanewise(key), std::array<TileRunner*, 1>{this});
    const std::string problem = difference();
    return problem.empty() ? problem : problem + "; " + kernels::lanewise_name(key);
  }

 private:
  static std::uint32_t word(const std::byte* at) {
    std::uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  void fill_lanes(std::byte* to, std::int64_t bytes, bool weights) {
    if (!integer)
      return weights ? fill_right<float>(to, bytes) : fill_floats(to, bytes, magnitude_);
    if (depth_ == 4) return fill_bytes(to, bytes);
    fill_with<std::uint16_t>(to, bytes, [&] {
      const auto byte = static_cast<std::uint8_t>(random_());
      return weights ? static_cast<std::uint16_t>(byte - static_cast<std::uint8_t>(random_()))
                     : std::uint16_t{byte};
    });
  }

  // sum += u . w
  void add(std::uint32_t& sum, std::uint32_t u, std::uint32_t w) const {
    if (!integer) {
      sum = std::bit_cast<std::uint32_t>(
          std::fma(std::bit_cast<float>(u), std::bit_cast<float>(w), std::bit_cast<float>(sum)));
      return;
    }
    for (int i = 0; i < depth_; ++i) {
      const int bits = 32 / depth_, shift = bits * i;
      const std::int32_t x = depth_ == 4 ? static_cast<std::uint8_t>(u >> shift)
                                         : static_cast<std::int16_t>(u >> shift);
      const std::int32_t y = depth_ == 4 ? static_cast<std::int8_t>(w >> shift)
                                         : static_cast<std::int16_t>(w >> shift);
      sum += static_cast<std::uint32_t>(x * y);
    }
  }

  int depth_ = 1;
};

class LanewiseSubject final : public Subject {
 public:
  LanewiseSubject(LanewiseRunner& runner, const LanewiseKey& key, std::vector<Stage> stages)
      : runner_(runner), key_(key), stages_(std::move(stages)) {}

  std::string run(Choices& choices, unsigned seed) override {
    const int lanes = runner_.geometry.lanes;
    TileCase tile{key_.tile, {}, key_.tile.vectors * lanes};
    if (key_.tile.masked) tile.columns -= choices.within(1, lanes - 1);
    tile.row = choices.within(0, 3);
    tile.col = choices.within(0, 40);
    tile.side = choices.flag() ? Guard::before : Guard::after;
    tile.seed = seed;
    tile.specials = choices.flag();
    tile.magnitude = static_cast<int>(choices.within(-8, 4));
    vary_parameters(choices, stages_);
    const std::int64_t sources = choices.within(0, 3), channels = choices.within(1, 9);
    return runner_.compare_lanes(key_, tile, stages_, sources, channels, choices.within(0, 9));
  }

 private:
  LanewiseRunner& runner_;
  const LanewiseKey key_;
  std::vector<Stage> stages_;
};

}  // namespace

std::unique_ptr<Subject> draw_lanewise(Isa isa, Choices& choices) {
  static std::map<std::pair<GemmType, Isa>, LanewiseRunner> runners;
  const GemmType gemm_type = choices.flag() ? GemmType::int32 : GemmType::float32;
  const Geometry geometry = choose_geometry(gemm_type, isa_features(isa));
  if (geometry.isa != isa || !kernels::has_lanewise(isa)) return nullptr;
  LanewiseRunner& runner =
      runners.try_emplace({gemm_type, isa}, Family{gemm_type, isa}).first->second;
  LanewiseKey key;
  key.taps = static_cast<std::uint8_t>(choices.within(1, 7));
  key.step = static_cast<std::uint8_t>(choices.within(1, 4));
  key.dilation = static_cast<std::uint8_t>(choices.within(1, 3));
  key.depth = static_cast<std::uint8_t>(kernels::lanewise_depth(gemm_type, isa_features(isa)));
  if (key.depth == 4 && choices.flag()) key.depth = 2;
  key.spreads = !runner.integer && choices.byte() % 3 == 0;
  key.shortens = !key.spreads && key.taps > 1 && choices.flag();
  const int vectors = key.spreads ? 1 : static_cast<int>(choices.within(1, 2));
  const int most = kernels::lanewise_max_rows(key.depth, isa, key.taps, vectors);
  if (most < 1) return nullptr;
  const int rows = static_cast<int>(choices.within(1, most));
  if (choices.byte() % 4 == 0) {
    const std::int64_t reach = (key.taps - 1) * key.dilation;
    key.left = static_cast<std::uint8_t>(choices.within(0, reach));
    key.right = static_cast<std::uint8_t>(choices.within(0, reach));
    // Mostly some pixel between the borders, whose sums the stages then see.
    if (key.left + key.right > (rows - 1) * key.step + reach && choices.byte() % 8 != 0)
      key.left = key.right = 0;
  }
  const std::vector<Stage> stages = draw_stages(choices, runner.start, 4);
  const bool masked = choices.flag();
  key.tile = runner.make_key(rows, vectors, masked, false, stages, choices.flag());
  if (choices.flag() && key.tile.corrections == Corrections::a)
    key.tile.corrections = Corrections::folded;
  try {
    kernels::find_lanewise(key);
  } catch (const std::runtime_error&) {  // the tile does not fit the registers
    return nullptr;
  }
  return std::make_unique<LanewiseSubject>(runner, key, stages);
}

}  // namespace fbg::test
