// Sliding kernels by key, and what they cost.
#include "kernels/sliding.h"

#include <algorithm>

#include "core/policy.h"
#include "kernels/cache.h"

namespace fbg::kernels {
namespace {

using namespace policy::sliding_window;

constexpr int kMaxMultiplies = 4400;  // in the unrolled code of a kernel of groups

// How many multiplications the code of a kernel of bytes has: those of each column, for every
// output pixel that it belongs to.
int multiplies(const SlidingKey& key) {
  int taps = 0;
  for (int x = 0; x < key.taps - 1 + key.places() * key.step; ++x)
    for (int kx = 0; kx < key.taps; ++kx) taps += kx <= x && (x - kx) % key.step == 0;
  return taps * key.sources() * key.vectors() * key.lines();
}

// Loading weights and rows can take longer than the multiply-adds of floats. In groups, channels
// must also be spread, and a kernel with few sums waits for their latency: four cycles, in each of
// which two multiply-adds could begin.
double float_cost(const SlidingKey& key) {
  const double products = key.products(), rows = key.rows * key.step;
  if (key.inputs > 1) {
    const double spreads = rows * key.inputs * key.vectors() / key.spread();
    const double chain = kChain * key.sources() * key.step;
    return kLongCode * std::max(products + spreads / key.lines(), chain / key.lines()) +
           rows / key.lines() + kFloatVector * key.vectors();
  }
  const double loads = (products + rows * key.vectors()) / key.lines();
  return std::max(products, loads) + rows / key.lines() + kFloatVector * key.vectors();
}

// Three vector instructions run in a cycle. A product takes two, unless one instruction multiplies
// and adds; the lanes of a pair of rows take two, and a result takes about six.
double pair_cost(const SlidingKey& key) {
  const bool dots = isa_features(key.tile.isa) & feature::avx_vnni;
  int used = 0;
  for (int line = 0; line < key.lines(); ++line)
    for (int pair = 0; pair < key.sources(); ++pair) used += key.uses(line, pair);
  const double products = used * key.taps * (dots ? 1 : 2);
  const double lanes = 2.0 * key.sources() * key.step;
  return key.vectors() * kInstruction * ((products + lanes) / key.lines() + kPairFinish) +
         static_cast<double>(key.rows * key.step) / key.lines();
}

}  // namespace

bool has_sliding(Features features) noexcept { return features & feature::avx2; }

SlidingSource sliding_bytes(Features features) noexcept {
  return features & feature::avx512_vnni ? SlidingSource::rows : SlidingSource::pairs;
}

bool fits_sliding(const SlidingKey& key) noexcept {
  const int sums = key.sums();
  if (key.is_float()) {
    const int registers = key.lanes() == 16 ? 32 : 15;  // AVX2 needs one for the mask
    if (key.inputs > 1) {
      const int columns = key.taps - 1 + key.places() * key.step;
      return sums + key.vectors() + 2 + key.orders() <= registers && key.rows <= kMaxSlidingRows &&
             key.vectors() % key.spread() == 0 &&
             columns * key.products() * key.lines() <= kMaxMultiplies;
    }
    return sums + key.rows * key.vectors() + 1 <= registers && key.rows <= kMaxSlidingRows;
  }
  if (key.source == SlidingSource::pairs)
    return sums + key.vectors() + 1 <= 2 * key.lanes() && key.rows <= kMaxSlidingRows;
  if (key.source == SlidingSource::quads && multiplies(key) > kMaxMultiplies) return false;
  return sums + key.temporaries() <= 32 && key.rows <= kMaxSlidingRows;
}

double sliding_cost(const SlidingKey& key) noexcept {
  if (key.is_float()) return float_cost(key);
  if (key.source == SlidingSource::pairs) return pair_cost(key);
  if (key.source == SlidingSource::quads)
    return key.products() + key.rows * 4 * key.step + kQuadFinish;
  const double build = kBuild[key.vectors()], loads = kLoad * key.vectors();
  if (key.mode == SlidingMode::builds) return (build + 2 * loads) * key.step;
  const double column = key.sources() * (key.mode == SlidingMode::loads ? loads : build);
  const double kept = static_cast<double>(key.kept_weights()) / key.lines();
  return key.products() + kLoad * (key.products() - kept) + column * key.step / key.lines() +
         kFinish[key.vectors()];
}

std::string sliding_name(const SlidingKey& key) {
  const auto number = [](int n) { return std::to_string(n); };
  std::string name = kernel_name(key.tile);
  name.replace(0, 4, "sliding");
  name += "_rows" + number(key.rows) + "_taps" + number(key.taps);
  if (key.source == SlidingSource::quads) name += "_quads" + number(key.quads);
  if (key.source == SlidingSource::pairs) name += "_pairs";
  if (key.inputs > 1) name += "_inputs" + number(key.inputs);
  if (key.planes > 1) name += "_planes" + number(key.planes);
  if (key.height > 1) name += "_height" + number(key.height);
  if (key.step > 1) name += "_step" + number(key.step);
  if (key.line_step > 1) name += "_linestep" + number(key.line_step);
  if (key.inside) name += "_inside";
  if (key.mode == SlidingMode::builds) name += "_builds" + number(key.built);
  if (key.mode == SlidingMode::loads) name += "_loads";
  if (key.float_bits) name += "_floatbits";
  if (key.halves) name += "_halves";
  return name;
}

SlidingFunction find_sliding(const SlidingKey& key) {
  return find_or_generate<SlidingFunction>(
      KernelKind::sliding, key, key.tile.isa, [&] { return sliding_name(key); },
      [&] { return fits_sliding(key) ? generate_sliding(key) : std::vector<std::uint8_t>{}; });
}

}  // namespace fbg::kernels
