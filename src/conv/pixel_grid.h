// Where the pixels of a phase of a convolution are among all pixels of its output.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fbg/conv/geometry.h"
#include "fbg/gemm/pipeline.h"
#include "kernels/microkernel.h"

namespace fbg {

// Pixel (n, z, y, x) is row first + n * image + z * step[0] + y * step[1] + x * step[2] of C.
struct PixelGrid {
  std::int64_t first = 0, image = 0;
  Extent3 step{};

  // All pixels of an output, one after the other.
  static PixelGrid dense(const Extent3& output) {
    return {0, volume(output), {output[1] * output[2], output[2], 1}};
  }
  std::int64_t row(std::int64_t n, std::int64_t z, std::int64_t y, std::int64_t x) const {
    return first + n * image + z * step[0] + y * step[1] + x * step[2];
  }
  // Whether all pixels of such an output are one after the other.
  bool is_dense(const Extent3& output) const {
    const PixelGrid all = dense(output);
    return first == 0 && image == all.image && step == all.step;
  }
};

// Tells kernels where a tile is in C, and in the operands of stages that have a distance between
// rows (residuals, extents of rows). The rows of a tile are pixels of one line, which are
// grid.step[2] rows of C apart.
class TilePlace {
 public:
  TilePlace() = default;
  TilePlace(std::span<const Stage> stages, const OutputView& c, std::int64_t step)
      : c_(c), step_(step), count_(stages.size()) {
    std::ranges::transform(stages, stages_.begin(), &Stage::args);
    spaced_ = stages_;
    for (std::size_t s = 0; s < count_; ++s) spaced_[s].ld *= step;
  }

  // `row` of C is the first of the tile.
  void set(TileArgs& args, std::int64_t row, std::int64_t col, ValueType output) noexcept {
    args.c = static_cast<std::byte*>(c_.data) + row * c_.ld + col * value_size(output);
    args.ldc = c_.ld * step_;
    args.col = col;
    args.row = step_ == 1 ? row : 0;
    args.stages = step_ == 1 ? stages_.data() : spaced_.data();
    if (step_ == 1) return;
    for (std::size_t s = 0; s < count_; ++s)
      if (stages_[s].ld != 0)
        spaced_[s].data = static_cast<const std::byte*>(stages_[s].data) + row * stages_[s].ld;
  }
  const StageArgs* stages() const noexcept { return stages_.data(); }
  std::int64_t step() const noexcept { return step_; }

 private:
  OutputView c_{};
  std::int64_t step_ = 1;
  std::size_t count_ = 0;
  std::array<StageArgs, kMaxStages> stages_{}, spaced_{};
};

}  // namespace fbg
