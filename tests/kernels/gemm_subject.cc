// Microkernels of products: every member of a key at random, and blocks of K at random.
#include <deque>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/subject.h"

namespace fbg::test {
namespace {

// Runners of a family: one for each of the tiles that a kernel is given together.
class Runners {
 public:
  explicit Runners(const Family& family) : family_(family) {}
  TileRunner& operator[](std::size_t tile) {
    while (runners_.size() <= tile) runners_.emplace_back(family_);
    return runners_[tile];
  }

 private:
  const Family family_;
  std::deque<TileRunner> runners_;  // which are not moved
};

Runners& runners_of(const Family& family) {
  static std::map<std::tuple<GemmType, Isa, bool>, Runners> runners;
  return runners.try_emplace({family.gemm_type, family.isa, family.narrow}, family).first->second;
}

// Whether a kernel goes on with TileArgs::next, as those of a matrix unit do.
bool takes_chains(const Geometry& geometry, const KernelKey& key) {
  return geometry.block_groups > 1 && key.rows > geometry.vector_rows;
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
  GemmSubject(Runners& runners, KernelKey key, std::vector<Stage> stages)
      : runners_(runners), key_(key), stages_(std::move(stages)) {}

  std::string run(Choices& choices, unsigned seed) override {
    const bool chains = takes_chains(geometry_, key_);
    const std::size_t count = chains ? static_cast<std::size_t>(choices.within(1, 4)) : 1;
    std::vector<TileRunner*> chain;
    std::int64_t columns = 0;
    for (std::size_t i = 0; i < count; ++i) {
      TileCase tile = draw_tile(choices);
      if (i == 0) columns = tile.columns;
      tile.columns = columns;
      tile.seed = seed + static_cast<unsigned>(i);
      if (chains) vary_for_matrix_unit(choices, tile);
      vary_parameters(choices, stages_);
      if (runners_[i].prepare(tile, stages_)) chain.push_back(&runners_[i]);
    }
    if (chain.empty()) return {};
    TileRunner::run(find_kernel(key_), chain);
    for (TileRunner* const runner : chain)
      if (const std::string problem = runner->difference(); !problem.empty()) return problem;
    return {};
  }

 private:
  TileCase draw_tile(Choices& choices) const {
    const int lanes = geometry_.lanes, vectors = key_.vectors;
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
    tile.specials = choices.flag();
    tile.magnitude = static_cast<int>(choices.within(-12, 6));
    // Sums of subnormal numbers.
    const bool single = reads_floats(key_.gemm_type);
    if (single && choices.byte() % 16 == 0) tile.magnitude = -130;
    // Neither integers nor dot products of bfloat16 make any, but stages do of the least others.
    const bool stages_do = is_integer(key_.gemm_type) || key_.gemm_type == GemmType::bfloat16;
    if (stages_do && choices.byte() % 16 == 0) tile.magnitude = -126;
    if (choices.byte() % 16 == 0) {
      tile.odd_floats = true;
      tile.blocks.clear();
    }
    // Results beyond the integers to which they are rounded.
    if (choices.byte() % 16 == 0 && !is_bounded(key_)) tile.magnitude = 45;
    return tile;
  }

  // Half of the tiles have no k-groups beside the blocks of the unit, so that it finishes them
  // while it multiplies the next ones; some have so many that it finishes all rows before the end,
  // but not more than sums of bfloat16 are exact for.
  void vary_for_matrix_unit(Choices& choices, TileCase& tile) const {
    tile.prefetches = choices.flag();
    if (key_.row_mask || choices.flag())
      for (Block& block : tile.blocks) {
        const bool deep = &block == tile.blocks.data() && choices.byte() % 4 == 0;
        block.groups = geometry_.block_groups * choices.within(0, deep ? 16 : 3);
      }
    const std::int64_t quarters = choices.within(0, 4);
    for (std::uint8_t row = 0; key_.row_mask && row < key_.rows; ++row)
      if (choices.byte() % 4 < quarters) tile.picked.push_back(row);
  }

  Runners& runners_;
  const Geometry geometry_ = runners_[0].geometry;
  const KernelKey key_;
  std::vector<Stage> stages_;
};

}  // namespace

std::unique_ptr<Subject> draw_gemm(Isa isa, Choices& choices) {
  static std::map<Isa, std::vector<Family>> families;
  auto [found, is_new] = families.try_emplace(isa);
  if (is_new) found->second = families_of(isa);
  if (found->second.empty()) return nullptr;
  Runners& runners = runners_of(choices.element_of(found->second));
  const TileRunner& runner = runners[0];
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
  if (takes_chains(geometry, key)) key.row_mask = choices.byte() % 4 == 0;
  try {
    find_kernel(key);
  } catch (const std::runtime_error&) {  // the tile does not fit the registers
    return nullptr;
  }
  return std::make_unique<GemmSubject>(runners, key, stages);
}

}  // namespace fbg::test
