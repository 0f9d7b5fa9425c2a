// The split that makes int16 sums exact: B = panels + outliers.
//
// vpmaddubsw multiplies unsigned bytes of A by signed bytes of B and adds neighbours, so an int16
// lane receives a0 b0 + a1 b1 of one column per k-group. As 0 <= a <= 255, the lane cannot leave
// int16, whatever A holds and in whatever order it is summed, while
//
//   255 * max(sum of its positive b, sum of its negative |b|) <= 32767,   that is   max(...) <= 128
//
// over the k-groups between two spills to int32. Large values shorten that depth, so the largest
// leave the panel for a sparse matrix. Each panel chooses, by counting instructions, the largest
// value that stays and with it the depth.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "fbg/gemm/pack_b.h"
#include "gemm/driver.h"
#include "gemm/packed_block.h"

namespace fbg {
namespace {

constexpr int kLanes = kPanelColumns * 2;                 // int16 lanes of a panel: pairs of k
constexpr int kGroup = kPanelColumns * Int16::format.kr;  // bytes of a k-group of a panel
constexpr int kLaneLimit = 32767 / 255;                   // 128

// Instructions per row of A and 32 columns, in vectors of 8 columns. A dense k-group: multiply and
// add. A spill: widen, add to and store in the tile's sums, clear. An outlier: load, multiply, add
// to memory, and its share of finding it. The exact int32 kernel: two multiplies and two adds, and
// its share of widening B.
constexpr std::int64_t kDenseCost = 4 * 2, kSpillCost = 4 * 4, kOutlierCost = 6,
                       kInt32Cost = 4 * 4 + 1;

// Which values a threshold keeps in the panel.
struct Kept {
  int lowest, highest;
  bool operator()(int value) const { return lowest <= value && value <= highest; }
};

constexpr Kept kept_in_bits(int bits) { return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1}; }

// Clears values not to keep, and the larger of two neighbours that no lane could hold together:
// afterwards a depth of one k-group is always safe.
void remove_outliers(std::span<std::int8_t> panel, Kept kept) {
  for (std::size_t i = 0; i < panel.size(); i += 2) {
    std::int8_t& first = panel[i];
    std::int8_t& second = panel[i + 1];
    if (!kept(first)) first = 0;
    if (!kept(second)) second = 0;
    if ((first > 0) != (second > 0) || std::abs(first + second) <= kLaneLimit) continue;
    (std::abs(first) >= std::abs(second) ? first : second) = 0;
  }
}

// Whether no lane leaves int16 when it is spilled after every `depth` k-groups.
bool is_safe(std::span<const std::int8_t> panel, std::int64_t depth) {
  // Sums are compared every 32 k-groups: 32 * 2 * 128 fits.
  std::array<std::int16_t, kLanes> up{}, down{};
  const auto groups = static_cast<std::int64_t>(panel.size()) / kGroup;
  const auto within_limit = [&] {
    std::int16_t most = 0;
    for (int lane = 0; lane < kLanes; ++lane) most = std::max({most, up[lane], down[lane]});
    return most <= kLaneLimit;
  };
  for (std::int64_t g = 0; g < groups; ++g) {
    if (g % depth == 0) {
      if (!within_limit()) return false;
      up = down = {};
    } else if (g % 32 == 0 && !within_limit()) {
      return false;
    }
    const std::int8_t* group = panel.data() + g * kGroup;
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int16_t a = group[2 * lane], b = group[2 * lane + 1];
      up[lane] = static_cast<std::int16_t>(up[lane] + std::max<std::int16_t>(a, 0) +
                                           std::max<std::int16_t>(b, 0));
      down[lane] = static_cast<std::int16_t>(down[lane] - std::min<std::int16_t>(a, 0) -
                                             std::min<std::int16_t>(b, 0));
    }
  }
  return within_limit();
}

// The greatest safe depth of 1, 2, 3, 4, 5 ... 8, 10, 12, 14, 16, 20 ..., up to the first that is
// not. A tile takes the least depth of its panels, which is safe for all of them because each has
// passed every step of this ladder below its own.
std::int64_t safe_depth(std::span<const std::int8_t> panel) {
  const auto groups = static_cast<std::int64_t>(panel.size()) / kGroup;
  std::int64_t safe = 1;
  while (safe < groups) {
    const auto step = std::max<std::int64_t>(
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(safe))) / 4, 1);
    const std::int64_t next = std::min(safe + step, groups);
    if (!is_safe(panel, next)) break;
    safe = next;
  }
  return safe;
}

struct PanelSplit {
  std::vector<std::int8_t> dense;
  std::int64_t depth = 1, outliers = 0, cost = std::numeric_limits<std::int64_t>::max();
};

PanelSplit split_panel(std::span<const std::int8_t> panel, Kept kept) {
  PanelSplit s;
  s.dense.assign(panel.begin(), panel.end());
  remove_outliers(s.dense, kept);
  for (std::size_t i = 0; i < panel.size(); ++i) s.outliers += s.dense[i] != panel[i];
  s.depth = safe_depth(s.dense);
  const auto groups = static_cast<std::int64_t>(panel.size()) / kGroup;
  s.cost = groups * kDenseCost + ceil_div(groups, s.depth) * kSpillCost + s.outliers * kOutlierCost;
  return s;
}

PanelSplit best_split(std::span<const std::int8_t> panel) {
  constexpr int kThresholds[] = {127, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1};
  std::array<std::int64_t, 129> above{};  // how many |values| exceed an index
  for (const std::int8_t value : panel) ++above[std::abs(int{value})];
  for (int i = 127; i >= 0; --i) above[i] += above[i + 1];
  const auto groups = static_cast<std::int64_t>(panel.size()) / kGroup;
  PanelSplit best;
  for (const int threshold : kThresholds) {
    // Not even without spills could so many outliers pay.
    if (groups * kDenseCost + above[threshold + 1] * kOutlierCost >= best.cost) break;
    PanelSplit split = split_panel(panel, {threshold == 127 ? -128 : -threshold, threshold});
    if (split.cost < best.cost) best = std::move(split);
  }
  return best;
}

}  // namespace

std::optional<PackedMatrix> PackedMatrix::split(const PackedMatrix& b, int outlier_bits) {
  if (b.rows() > std::numeric_limits<std::int32_t>::max())
    throw std::length_error("PackedB: K does not fit in the rows of outliers");
  const auto panel_bytes = static_cast<std::size_t>(b.panel_bytes());
  std::vector<PanelSplit> splits;
  std::int64_t cost = 0, num_outliers = 0;
  for (std::int64_t p = 0; p < b.num_panels(); ++p) {
    const std::span panel(reinterpret_cast<const std::int8_t*>(b.panels()) + p * b.panel_bytes(),
                          panel_bytes);
    splits.push_back(outlier_bits ? split_panel(panel, kept_in_bits(outlier_bits))
                                  : best_split(panel));
    cost += splits.back().cost;
    num_outliers += splits.back().outliers;
  }
  if (!outlier_bits && cost > b.num_panels() * b.groups() * kInt32Cost) return std::nullopt;

  PackedBlock block(lay_out({GemmType::int16, b.rows(), b.cols(), b.scale() != nullptr,
                             b.zero_point() != nullptr, num_outliers}));
  const PackedHeader& h = block.header;
  block.header.per_column = b.header().per_column;
  // Parameters and column offsets, which count outliers too, are stored there as they are here.
  std::memcpy(block.at<std::byte>(h.panels_offset), b.panels(),
              static_cast<std::size_t>(h.spill_offset - h.panels_offset));
  const auto at = OutlierLayout::of(h.outliers_offset, h.n, h.num_outliers);
  auto* indptr = block.at<std::int64_t>(at.indptr);
  auto* rows = block.at<std::int32_t>(at.rows);
  auto* values = block.at<std::int8_t>(at.values);
  std::int64_t count = 0;
  for (std::int64_t p = 0; p < b.num_panels(); ++p) {
    const std::vector<std::int8_t>& dense = splits[p].dense;
    auto* panel = block.at<std::int8_t>(h.panels_offset + p * b.panel_bytes());
    for (std::int64_t j = p * kPanelColumns; j < std::min((p + 1) * kPanelColumns, b.cols()); ++j) {
      for (std::int64_t k = 0; k < b.rows(); ++k) {
        const auto i = static_cast<std::size_t>(k / 4 * kGroup + j % kPanelColumns * 4 + k % 4);
        if (dense[i] == panel[i]) continue;
        rows[count] = static_cast<std::int32_t>(k);
        values[count++] = panel[i];
      }
      indptr[j + 1] = count;
    }
    std::copy(dense.begin(), dense.end(), panel);
    block.at<std::int32_t>(h.spill_offset)[p] = static_cast<std::int32_t>(
        std::min<std::int64_t>(splits[p].depth, std::numeric_limits<std::int32_t>::max()));
  }
  return PackedMatrix(block.finish());
}

void multiply_outliers(const Outliers& outliers, Range cols, std::span<const BlockPair> pairs,
                       std::int64_t rows, std::int64_t ld, Value* sums) noexcept {
  std::memset(sums, 0, static_cast<std::size_t>(rows * ld) * sizeof(Value));
  std::int64_t j = cols.begin;
  for (std::int64_t p = outliers.indptr[j]; p < outliers.indptr[cols.end]; ++p) {
    while (p >= outliers.indptr[j + 1]) ++j;
    std::int64_t k = outliers.rows[p];  // then counted from the beginning of its pair
    const BlockPair* pair = pairs.data();
    for (; k >= pair->groups * Int16::format.kr; ++pair) k -= pair->groups * Int16::format.kr;
    const auto* a = static_cast<const std::uint8_t*>(pair->a) + k;
    const std::int32_t value = outliers.values[p];
    Value* sum = sums + (j - cols.begin);
    for (std::int64_t i = 0; i < rows; ++i, sum += ld, a += pair->lda) sum->i += value * *a;
  }
}

}  // namespace fbg
