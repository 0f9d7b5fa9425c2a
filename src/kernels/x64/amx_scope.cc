// The state of a thread that AMX kernels need: tile registers with the shapes that amx_generator.cc
// assumes.
#include <algorithm>
#include <cstdint>

#include "kernels/microkernel.h"

namespace fbg {
namespace {

// The operand of ldtilecfg.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

constexpr int kTiles = 8, kTileRows = 16;
constexpr int kFirstB = 6;  // tiles 0 to 3: sums; 4 and 5: A; 6 and 7: B

}  // namespace

KernelScope::KernelScope(const Geometry& geometry, std::int64_t rows) noexcept
    : configured_(geometry.block_groups > 1 && rows > geometry.vector_rows) {
  if (!configured_) return;
  TileConfig config;
  for (int tile = 0; tile < kTiles; ++tile) {
    config.row_bytes[tile] = 64;
    config.rows[tile] = static_cast<std::uint8_t>(
        tile < kFirstB ? std::min<std::int64_t>(rows, kTileRows) : kTileRows);
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(config));
}

KernelScope::~KernelScope() {
  if (configured_) __asm__ volatile("tilerelease");
}

}  // namespace fbg
