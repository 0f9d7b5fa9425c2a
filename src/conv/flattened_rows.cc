// lines: a dense convolution of bytes on a matrix unit, by implicit GEMM over flattened padded
// rows: tiles go on from one line of the output to the next.
//
// As in implicit_gemm.cc, A is read where the pixels lie, one run of k for each row of the kernel.
// But the lines of the image are copied first, one below the other with the padding between them.
// Output pixels of all lines, and a few positions between the lines, are then rows of one matrix:
//
//   position p = y * pitch + x     sums[p] = sum over ky of  copy[p * stride, line ky ...] * w[ky]
//
// The unit multiplies whole blocks of k: weights of zero belong to the pixels that follow a run in
// its last block. A tile has as many rows as the unit multiplies, wherever lines end. The kernel
// leaves out the rows that belong to no pixel (TileArgs::picked), because x is beyond the width of
// the output.
//
// K may be cut into parts (line_layout.h). Then all tiles of a chain are multiplied by one part of
// the weights, before the next part adds to their sums.
//
// With a stride along the height, lines with the same remainder modulo the stride are together: the
// lines that one row of the kernel reads follow each other. The padding after a line is the padding
// before the next one. Images without padding that lie in memory in this way are read in place.
#include <algorithm>
#include <vector>

#include "conv/cost.h"
#include "conv/line_layout.h"
#include "conv/padding.h"
#include "conv/tile_product.h"
#include "gemm/tile_loop.h"

namespace fbg {
namespace {

Geometry unit_tile(const ConvProblem& p) {
  const LineLayout layout = lay_out_lines(p.geometry, p.shape);
  return choose_geometry(p.family(), p.features, {}, layout.padded / p.format().kr);
}

class FlattenedRows final : public SourceOfA {
 public:
  explicit FlattenedRows(const ConvProblem& p)
      : geometry_(p.geometry),
        shape_(p.shape),
        layout_(lay_out_lines(p.geometry, p.shape)),
        pixel_(p.geometry.in_channels),
        line_positions_(layout_.pitch / p.geometry.stride[2]) {
    const ConvGeometry& g = geometry_;
    tile = unit_tile(p);
    key = conv_kernel_key(p, tile);
    key.row_mask = true;
    split_rows(layout_.positions);
    pack_weights(p, layout_.run, kBlockBytes);
    segments = g.kernel[1];
    const std::int64_t columns =
        std::min(tile_columns(tile, tiles.largest), round_up(g.group_outputs(), tile.lanes));
    cut_depth(g, layout_, count_depth_parts(g, layout_, tiles, columns), runs, parts);
    const BlockLines block{geometry_, shape_, layout_, tiles};
    line_bytes_ = block.line_bytes();
    block_tiles = std::max<std::int64_t>(block.most_tiles(), 1);
    remainder_bytes_ = block.remainder_bytes(block_tiles);
    scratch_bytes = block.bytes(block_tiles);
    padding_bytes = round_up(pixel_, 64);
    list_picked_rows();
  }

  void find_rows(const ConvRun& run, std::int64_t n, Range indices, const std::byte* padding,
                 std::byte* copies, TileRows* rows, Segment* found) const noexcept override {
    const ConvGeometry& g = geometry_;
    const std::byte* from = run.x + n * run.batch_stride;
    std::int64_t first_line = 0;
    if (!is_in_place(run, from)) {
      first_line = tiles[indices.begin].begin / line_positions_;
      const std::int64_t last = (tiles[indices.end - 1].end - 1) / line_positions_;
      copy_lines(run, n, {first_line, last + 1}, padding, copies);
      from = copies;
    }
    for (std::int64_t i = indices.begin; i < indices.end; ++i) {
      const Range positions = tiles[i];
      const std::int64_t y = positions.begin / line_positions_,
                         x = positions.begin % line_positions_, width = shape_.output[2];
      const std::vector<std::uint8_t>& picked = picked_[static_cast<std::size_t>(x)];
      const auto count = std::ranges::lower_bound(picked, positions.size()) - picked.begin();
      *rows++ = {n * volume(shape_.output) + y * width + std::min(x, width), positions.size(),
                 std::span(picked).first(static_cast<std::size_t>(count))};
      const std::byte* const a =
          from + ((y - first_line) * layout_.pitch + x * g.stride[2]) * pixel_;
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky) {
        const std::int64_t line = ky * g.dilation[1];
        *found++ = {
            a + line % g.stride[1] * remainder_bytes_ + line / g.stride[1] * layout_.pitch * pixel_,
            g.stride[2] * pixel_};
      }
    }
  }

 private:
  // picked_[x] is the list of those rows of the tallest tile that belong to pixels, if its first
  // row is position x of a line; lower tiles have the beginning of the list.
  void list_picked_rows() {
    picked_.resize(static_cast<std::size_t>(line_positions_));
    for (std::int64_t x = 0; x < line_positions_; ++x)
      for (std::int64_t row = 0; row < tile.max_rows; ++row)
        if ((x + row) % line_positions_ < shape_.output[2])
          picked_[static_cast<std::size_t>(x)].push_back(static_cast<std::uint8_t>(row));
  }

  // The lines of image n that output lines `lines` read.
  void copy_lines(const ConvRun& run, std::int64_t n, Range output, const std::byte* padding,
                  std::byte* copies) const noexcept {
    const ConvGeometry& g = geometry_;
    for (std::int64_t remainder = 0; remainder < g.stride[1]; ++remainder) {
      std::int64_t first = -1, last = -1;  // of this remainder, counted from the block's first line
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky) {
        if (ky * g.dilation[1] % g.stride[1] != remainder) continue;
        last = ky * g.dilation[1] / g.stride[1];
        if (first < 0) first = last;
      }
      if (first < 0) continue;  // no row of the kernel reads any of these lines
      for (std::int64_t i = first; i < last + output.size(); ++i) {
        std::byte* const to = copies + remainder * remainder_bytes_ + i * layout_.pitch * pixel_;
        const std::int64_t y = (output.begin + i) * g.stride[1] + remainder - g.pad_before[1];
        if (y < 0 || y >= shape_.input[1])
          fill_padding(to, line_bytes_, run.image_zero_point(n), 1);
        else
          copy_padded(run.x + n * run.batch_stride + y * run.strides[1], run.strides[2],
                      shape_.input[2], -g.pad_before[2], line_bytes_ / pixel_, pixel_, padding, to);
      }
    }
  }

  // A tile is loaded in twice the time where its rows are not whole cache lines.
  bool is_in_place(const ConvRun& run, const std::byte* image) const {
    return reads_in_place(geometry_, layout_, shape_) && run.strides[2] == pixel_ &&
           run.strides[1] == layout_.pitch * pixel_ &&
           reinterpret_cast<std::uintptr_t>(image) % kLineBytes == 0;
  }

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const LineLayout layout_;
  const std::int64_t pixel_;                       // bytes
  const std::int64_t line_positions_;              // from one line of the output to the next
  std::vector<std::vector<std::uint8_t>> picked_;  // by position in a line
  std::int64_t remainder_bytes_, line_bytes_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  if (!covers_lines(g, p.shape) || p.b_has_zero_point()) return false;
  const LineLayout l = lay_out_lines(p.geometry, p.shape);
  if (l.padded != l.run && volume(g.kernel) == 1) return false;  // pixels are patches: no copies
  const Geometry unit = unit_tile(p);
  const BalancedSplit tiles = BalancedSplit::split(l.positions, unit.max_rows);
  return unit.block_groups * p.format().kr == kBlockBytes && tiles.largest - 1 > unit.vector_rows &&
         BlockLines{g, p.shape, l, tiles}.most_tiles() > 0;
}

double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const LineLayout l = lay_out_lines(p.geometry, p.shape);
  const Geometry unit = unit_tile(p);
  const BalancedSplit tiles = BalancedSplit::split(l.positions, unit.max_rows);
  const double vectors = static_cast<double>(g.groups * ceil_div(g.group_outputs(), unit.lanes));
  const std::int64_t groups = l.padded / p.format().kr;
  const double per_tile = tile_cost(unit, tiles.largest, groups, g.depth() / l.run) +
                          static_cast<double>(tiles.largest) * (p.stages.empty() ? 3 : 6);
  constexpr double kLine = 150, kCopied = 0.3;  // a line, a byte of it
  const BlockLines block{g, p.shape, l, tiles};
  const std::int64_t block_tiles = std::max<std::int64_t>(block.most_tiles(), 1);
  const auto lines = static_cast<double>(ceil_div(tiles.count, block_tiles) * g.stride[1] *
                                         block.count(block_tiles));
  const double copies =
      reads_in_place(g, l, p.shape)
          ? 0
          : lines * (kLine + kCopied * static_cast<double>(l.pitch * g.in_channels));
  // Measured for kernels of several rows with stride 1: of equal modelled costs, lines take 0.83 to
  // 0.95 times as long as taps.
  const bool several_rows = g.kernel[1] > 1 && g.stride[1] == 1 && g.stride[2] == 1;
  const double faster = several_rows ? 0.95 : 1.0;
  return static_cast<double>(p.shape.batch) *
         (static_cast<double>(tiles.count) * vectors * per_tile + copies) * faster;
}

}  // namespace

ConvMethod flattened_rows_method() {
  return {.name = "lines",
          .exact = true,
          .applies = applies,
          .cost = cost,
          .prepare =
              [](const ConvProblem& p) {
                return make_tile_product(p, std::make_unique<FlattenedRows>(p));
              },
          .serves = only<Accumulator::int32>};
}

}  // namespace fbg
