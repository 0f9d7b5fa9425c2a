// Microkernels of products: every member of a key at random, and blocks of K at random.
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/subject.h"

namespace fbg::test {
namespace {

TileRunner& runner_of(const Family& family) {
  static std::map<std::tuple<GemmType, Isa, bool>, TileRunner> runners;
  return runners.try_emplace({family.gemm_type, family.isa, family.narrow}, family).first->second;
}

// Mostly shallow, often on both sides of what loops unroll or a matrix unit multiplies at a time.
std::int64_t draw_depth(Choices& choices) {
  static constexpr std::int64_t kEdges[] = {1, 15, 16, 17, 31, 32, 33, 64, 87, 88, 91, 92, 130};
  const std::uint8_t which = choices.byte() % 8;
  if (which < 5) return choices.within(0, 9);
  return which < 7 ? choices.one_of(kEdges) : choices.within(0, 80);
}

bool is_bounded(const KernelKey& key) {
  return key.num_stages > 0 &&
         key.stages[static_cast<std::size_t>(key.num_stages - 1)].specialization.bounded;
}

bool reads_floats(GemmType a) { return !is_integer(a) && !is_int4(a) && a != GemmType::bfloat16; }

class GemmSubject final : public Subject {
 public:
  GemmSubject(TileRunner& runner, KernelKey key, std::vector<Stage> stages)
      : runner_(runner), key_(key), stages_(std::move(stages)) {}

  std::string run(Choices& choices, unsigned seed) override {
    const int lanes = runner_.geometry.lanes, vectors = key_.vectors;
    TileCase tile{key_, {}, vectors * lanes};
    if (key_.masked) tile.columns -= choices.within(1, lanes - 1);
    for (std::int64_t i = choices.within(0, 3); i > 0; --i)
      tile.blocks.push_back({draw_depth(choices), 4 * choices.within(0, 6)});
    const std::int64_t starts = (kPanelColumns - vectors * lanes) / lanes;
    if (starts > 0) tile.first_column = lanes * choices.within(0, starts);
    tile.row = choices.within(0, 3);
    tile.col = tile.first_column + kPanelColumns * choices.within(0, 1);
    tile.side = choices.flag() ? Guard::before : Guard::after;
    tile.spill_groups = static_cast<int>(choices.within(1, 9));
    tile.seed = seed;
    tile.specials = choices.flag();
    tile.magnitude = static_cast<int>(choices.within(-12, 6));
    // Sums of subnormal numbers.
    const bool single = reads_floats(runner_.gemm_type);
    if (single && choices.byte() % 16 == 0) tile.magnitude = -130;
    // Dot products of bfloat16 make none of them, but stages do of the least others.
    if (runner_.gemm_type == GemmType::bfloat16 && choices.byte() % 16 == 0) tile.magnitude = -126;
    if (choices.byte() % 16 == 0) {
      tile.odd_floats = true;
      tile.blocks.clear();
    }
    // Results beyond the integers to which they are rounded.
    if (choices.byte() % 16 == 0 && !is_bounded(key_)) tile.magnitude = 45;
    vary_parameters(choices, stages_);
    return runner_.compare(tile, stages_);
  }

 private:
  TileRunner& runner_;
  const KernelKey key_;
  std::vector<Stage> stages_;
};

}  // namespace

std::unique_ptr<Subject> draw_gemm(Isa isa, Choices& choices) {
  static std::map<Isa, std::vector<Family>> families;
  auto [found, is_new] = families.try_emplace(isa);
  if (is_new) found->second = families_of(isa);
  if (found->second.empty()) return nullptr;
  TileRunner& runner = runner_of(choices.element_of(found->second));
  const Geometry& geometry = runner.geometry;
  const int rows = static_cast<int>(choices.within(1, geometry.max_rows));
  const int vectors = static_cast<int>(choices.within(1, geometry.widest(rows)));
  const bool masked = choices.flag(), goes_on = runner.loads_c && choices.byte() % 4 == 0;
  const std::vector<Stage> stages = draw_stages(choices, runner.start, 5);
  KernelKey key = runner.make_key(rows, vectors, masked, goes_on, stages, choices.flag());
  if (choices.byte() % 4 == 0 && runner.has_indirect()) key.a = ARows::pointers;
  if (choices.flag()) key.caching = Caching::b_resident;
  if (choices.byte() % 4 == 0) key.caching = Caching::streams_c;
  if (choices.flag() && key.corrections == Corrections::a) key.corrections = Corrections::folded;
  try {
    find_kernel(key);
  } catch (const std::runtime_error&) {  // the tile does not fit the registers
    return nullptr;
  }
  return std::make_unique<GemmSubject>(runner, key, stages);
}

}  // namespace fbg::test
