// Narrow weights, by which kernels without VNNI sum products of bytes in int16. vpmaddubsw gives an
// int16 lane a0 b0 + a1 b1 of one column per k-group. As 0 <= a <= 255, the sum over two k-groups
// cannot leave int16, whatever A holds, while
//
//   255 * max(sum of its positive b, sum of its negative |b|) <= 32767,   that is   max(...) <= 128
//
// This is asked of every two neighbouring k-groups, so that kernels may begin with any of them, and
// may multiply one alone. Most weights with a scale for each column are wide in their first panel.
#include <algorithm>
#include <array>
#include <cstdint>

#include "fbg/gemm/pack_b.h"
#include "kernels/microkernel.h"

namespace fbg {
namespace {

constexpr int kLanes = kPanelColumns * 2;  // int16 lanes of a panel: pairs of k
constexpr int kLaneLimit = 32767 / 255;    // 128

bool is_narrow_panel(const std::int8_t* group, std::int64_t groups) {
  std::array<std::int16_t, kLanes> up{}, down{};  // of the k-group before
  for (std::int64_t g = 0; g < groups; ++g, group += 2 * kLanes) {
    std::int16_t most = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int16_t a = group[2 * lane], b = group[2 * lane + 1];
      const auto positive =
          static_cast<std::int16_t>(std::max<std::int16_t>(a, 0) + std::max<std::int16_t>(b, 0));
      const auto negative = static_cast<std::int16_t>(positive - a - b);
      most = std::max({most, static_cast<std::int16_t>(up[lane] + positive),
                       static_cast<std::int16_t>(down[lane] + negative)});
      up[lane] = positive;
      down[lane] = negative;
    }
    if (most > kLaneLimit) return false;
  }
  return true;
}

}  // namespace

PackedMatrix::PackedMatrix(std::shared_ptr<const std::byte> data) : data_(std::move(data)) {
  const Features features = active_features() | feature::narrow_weights;
  narrow_ = family() == GemmType::int32 && choose_geometry(GemmType::int32, features).narrow;
  const auto* panel = reinterpret_cast<const std::int8_t*>(panels());
  for (std::int64_t p = 0; narrow_ && p < num_panels(); ++p, panel += panel_bytes())
    narrow_ = is_narrow_panel(panel, groups());
}

}  // namespace fbg
