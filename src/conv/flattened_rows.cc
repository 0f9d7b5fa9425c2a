// flattened_rows: implicit GEMM over flattened padded rows, for convolutions of bytes or bfloat16
// on a matrix unit. Tiles go on from one line of the output to the next.
//
// As in implicit_gemm.cc, A is read in place, one run of k for each row of the kernel. But the
// lines of the image are copied first, one below the other, with the padding between them. Output
// pixels of all lines, and a few positions between the lines, are then rows of one matrix:
//
//   position p = y * pitch + x     sums[p] = sum over ky of  copy[p * stride, line ky ...] * w[ky]
//
// The unit multiplies whole blocks of k, and the pixels that follow a run in its last block are
// multiplied by weights of zero. A tile has as many rows as the unit multiplies, wherever lines
// end. The kernel leaves out the rows that are no pixels (TileArgs::picked), because their x is
// beyond the width of the output.
//
// K may be divided into parts (line_layout.h). All pipelined tiles are then multiplied by one part
// of the weights before the next part adds to their sums.
//
// With a stride along the height, lines with the same remainder modulo the stride are together: the
// lines that one row of the kernel reads follow each other. The padding after a line is the padding
// before the next one. Images without padding that have this layout in memory are read in place.
#include <algorithm>
#include <vector>

#include "conv/cost.h"
#include "conv/line_layout.h"
#include "conv/padding.h"
#include "conv/tile_product.h"
#include "gemm/tile_loop.h"

namespace fbg {
namespace {

// The lines of an image, and the tiles of a matrix unit that they are divided into.
struct LinePlan {
  explicit LinePlan(const ConvProblem& p)
      : layout(p.geometry, p.shape, p.format().a_bytes),
        unit(choose_geometry(p.family(), p.features, {}, layout.padded / p.format().kr)),
        tiles(BalancedSplit::split(layout.positions, unit.max_rows)),
        most_tiles(layout.most_tiles(tiles)) {}

  TileKernels kernels(const ConvProblem& p) const {
    KernelKey key = conv_kernel_key(p, unit);
    key.row_mask = true;
    return {unit, key};
  }

  LineLayout layout;
  Geometry unit;
  BalancedSplit tiles;
  std::int64_t most_tiles;  // of a block
};

class FlattenedRows final : public SourceOfA {
 public:
  explicit FlattenedRows(const ConvProblem& p) : FlattenedRows(p, LinePlan(p)) {}

  void find_rows(const ConvRun& run, std::int64_t n, Range indices, const std::byte*,
                 std::byte* copies, TileRows* rows, Segment* found) const noexcept override {
    const ConvGeometry& g = geometry;
    const std::byte* from = run.x + n * run.batch_stride;
    std::int64_t first_line = 0;
    if (!is_in_place(run, from)) {
      first_line = tiles[indices.begin].begin / layout_.line_positions;
      const std::int64_t last = (tiles[indices.end - 1].end - 1) / layout_.line_positions;
      copy_lines(run, n, {first_line, last + 1}, copies);
      from = copies;
    }
    for (std::int64_t i = indices.begin; i < indices.end; ++i) {
      const Range positions = tiles[i];
      const std::int64_t y = positions.begin / layout_.line_positions,
                         x = positions.begin % layout_.line_positions, width = shape.output[2];
      const std::vector<std::uint8_t>& picked = picked_[static_cast<std::size_t>(x)];
      const auto count = std::ranges::lower_bound(picked, positions.size()) - picked.begin();
      *rows++ = {n * volume(shape.output) + y * width + std::min(x, width), positions.size(),
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
  FlattenedRows(const ConvProblem& p, const LinePlan& plan)
      : SourceOfA(p, plan.kernels(p), plan.layout.positions, plan.layout.run, kBlockGroups),
        layout_(plan.layout),
        pixel_(plan.layout.pixel) {
    const std::int64_t columns =
        std::min(tile_columns(tile, tiles.largest), round_up(geometry.group_outputs(), tile.lanes));
    depth = plan_depth(geometry, tile.format, layout_.run, kBlockGroups,
                       layout_.depth_parts(tiles, columns));
    segments = geometry.kernel[1];
    block_tiles = plan.most_tiles;
    remainder_bytes_ = layout_.remainder_bytes(block_tiles * tiles.largest);
    scratch_bytes = layout_.copied_bytes(block_tiles * tiles.largest);
    list_picked_rows();
  }

  // picked_[x] lists the rows of the tallest tile that are pixels if its first row is position x of
  // a line. The list of a shorter tile is the beginning of it.
  void list_picked_rows() {
    picked_.resize(static_cast<std::size_t>(layout_.line_positions));
    for (std::int64_t x = 0; x < layout_.line_positions; ++x)
      for (std::int64_t row = 0; row < tile.max_rows; ++row)
        if ((x + row) % layout_.line_positions < shape.output[2])
          picked_[static_cast<std::size_t>(x)].push_back(static_cast<std::uint8_t>(row));
  }

  // Copies the lines of image n that output lines `output` read.
  void copy_lines(const ConvRun& run, std::int64_t n, Range output,
                  std::byte* copies) const noexcept {
    const ConvGeometry& g = geometry;
    const Padding padding = run.padding(n, tile.format.a_bytes);
    const std::int64_t line_bytes = layout_.line_bytes();
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
        if (y < 0 || y >= shape.input[1])
          padding.fill(to, line_bytes);
        else
          copy_padded(run.x + n * run.batch_stride + y * run.strides[1], run.strides[2],
                      shape.input[2], -g.pad_before[2], line_bytes / pixel_, pixel_, padding, to);
      }
    }
  }

  // Loading a tile takes twice as long if its rows are not whole cache lines.
  bool is_in_place(const ConvRun& run, const std::byte* image) const {
    return layout_.reads_in_place() && run.strides[2] == pixel_ &&
           run.strides[1] == layout_.pitch * pixel_ &&
           reinterpret_cast<std::uintptr_t>(image) % kCacheLine == 0;
  }

  const LineLayout layout_;
  const std::int64_t pixel_;                       // bytes
  std::vector<std::vector<std::uint8_t>> picked_;  // by position in a line
  std::int64_t remainder_bytes_;  // of the copied lines of a remainder modulo the stride
};

bool applies(const ConvProblem& p) {
  if (!covers_lines(p.geometry, p.shape)) return false;
  const LinePlan plan(p);
  const LineLayout& l = plan.layout;
  // The patches of such a kernel are pixels: blocked_im2col.cc makes no copies.
  if (l.padded != l.run && volume(p.geometry.kernel) == 1) return false;
  // What follows a run may not be a number, which a weight of zero does not turn into zero.
  if (l.padded != l.run && !p.is_integer()) return false;
  return plan.unit.block_groups == kBlockGroups && plan.tiles.largest - 1 > plan.unit.vector_rows &&
         plan.most_tiles > 0;
}

double cost(const ConvProblem& p) {
  using namespace policy::flattened_rows;
  const ConvGeometry& g = p.geometry;
  const LinePlan plan(p);
  const LineLayout& l = plan.layout;
  const BalancedSplit& tiles = plan.tiles;
  const double vectors =
      static_cast<double>(g.groups * ceil_div(g.group_outputs(), plan.unit.lanes));
  const std::int64_t groups = l.padded / p.format().kr;
  const double per_tile =
      tile_cost(plan.unit, tiles.largest, groups, g.depth() / l.run) +
      static_cast<double>(tiles.largest) * (p.stages.empty() ? kFinish : kWithStages);
  const auto lines = static_cast<double>(ceil_div(tiles.count, plan.most_tiles) * g.stride[1] *
                                         l.lines(plan.most_tiles * tiles.largest));
  const double copies =
      l.reads_in_place() ? 0 : lines * (kLine + kCopied * static_cast<double>(l.pitch * l.pixel));
  const bool several_rows = g.kernel[1] > 1 && g.stride[1] == 1 && g.stride[2] == 1;
  const double faster = several_rows ? kSeveralRows : 1.0;
  return static_cast<double>(p.shape.batch) *
         (static_cast<double>(tiles.count) * vectors * per_tile + copies) * faster;
}

}  // namespace

ConvMethod flattened_rows_method() {
  return {.name = "flattened_rows",
          .exact = true,
          .applies = applies,
          .cost = cost,
          .prepare = prepare_tile_product<FlattenedRows>,
          .serves = either<GemmType::int32, GemmType::bfloat16>};
}

}  // namespace fbg
