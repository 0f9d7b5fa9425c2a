// expression: an output pipeline without a product. Microkernels that multiply nothing run its
// stages tile by tile: all steps of an element happen in registers, and operands are read once.
#include <algorithm>
#include <array>
#include <utility>

#include "gemm/tile_loop.h"
#include "plan/ops/tensor_step.h"

namespace fbg {
namespace {

bool reads_tensor(const Stage& stage) {
  return reads_matrix(stage) || operand_of(stage) == OperandKind::columns;
}

class ExpressionOp final : public Op {
 public:
  ExpressionOp(Expression expression, ValueType type)
      : Op(describe(expression), expression.operands), e_(std::move(expression)), output_(type) {
    // A tile is written after all of its elements have been read.
    const auto first = std::ranges::find_if(e_.stages, reads_tensor);
    in_place = reads_matrix(*first) && value_size(first->wanted) == value_size(output_);
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const Geometry tile = choose_geometry(GemmType::float32, context.features);
    const KernelKey key = make_kernel_key(tile, GemmType::float32, e_.stages, false, false, false);
    const BalancedSplit tiles = BalancedSplit::split(e_.rows, tile.max_rows);
    const KernelTable kernels(tile, key, e_.columns, std::max<std::int64_t>(tiles.largest - 1, 1),
                              tiles.largest);
    const std::int64_t width = tile_columns(tile, tiles.largest);
    const std::int64_t groups = ceil_div(e_.columns, width);
    return make_unit_step(tiles.count * groups, 0,
                          [this, tile, tiles, kernels, width, groups](
                              const Frame& frame, std::byte*, int, Range units) {
                            run(frame, {tile, tiles, kernels, width, groups}, units);
                          });
  }

 private:
  struct Tiles {
    const Geometry& tile;
    const BalancedSplit& rows;
    const KernelTable& kernels;
    std::int64_t width, groups;  // columns of a group, and groups of a row
  };

  void run(const Frame& frame, const Tiles& tiles, Range units) const {
    std::array<StageArgs, kMaxStages> stages;
    std::size_t operand = 0;
    for (std::size_t s = 0; s < e_.stages.size(); ++s) {
      stages[s] = e_.stages[s].args;
      if (reads_tensor(e_.stages[s])) stages[s].data = frame[inputs[operand++]].data;
    }
    const BlockPair nothing{};
    TileArgs args;
    args.set_blocks({&nothing, 1});
    args.stages = stages.data();
    args.prefetch = stages.data();  // a valid address
    const std::int64_t size = value_size(output_), ld = e_.columns * size;
    args.ldc = ld;
    std::int64_t row_tile = units.begin / tiles.groups, group = units.begin % tiles.groups;
    for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
      const Range rows = tiles.rows[row_tile];
      const std::int64_t col = group * tiles.width;
      const std::int64_t columns = std::min(tiles.width, e_.columns - col);
      const ColumnGroup place{col, columns, ceil_div(columns, tiles.tile.lanes),
                              columns % tiles.tile.lanes != 0};
      args.row = rows.begin;
      args.col = col;
      args.columns = columns;
      args.c = frame[output].data + rows.begin * ld + col * size;
      run_tile(tiles.kernels, place, rows.size(), args);
      if (++group < tiles.groups) continue;
      group = 0;
      ++row_tile;
    }
  }

  static std::string describe(const Expression& expression) {
    std::string name = "expression";
    for (const Stage& stage : expression.stages)
      name += std::string(" ") + (stage.kind == StageKind::binary
                                      ? operation_name(stage.binary.operation)
                                      : stage_name(stage.kind));
    return name;
  }

  const Expression e_;
  const ValueType output_;
};

}  // namespace

Buffer expression(Graph& graph, Expression e) {
  const std::int64_t extents[] = {e.rows, e.columns, 4};
  checked_product(extents, "expression");
  const TypedPipeline typed = type_pipeline(e.stages, ValueType::float32);
  std::size_t operand = 0;
  for (Stage& stage : e.stages) {
    if (!reads_tensor(stage)) continue;
    require(operand < e.operands.size(), "expression: a stage has no operand");
    const std::int64_t row = e.columns * value_size(stage.wanted);
    const bool matrix = reads_matrix(stage);
    require_bytes(graph, e.operands[operand++], matrix ? e.rows * row : row,
                  "expression: an operand");
    if (matrix) stage.args.ld = row;
  }
  require(operand > 0 && operand == e.operands.size(),
          "expression: each operand must have a stage that reads it");
  const BufferShape shape = tensor_shape(e.rows * e.columns * value_size(typed.output));
  return append_op(graph, std::make_shared<ExpressionOp>(std::move(e), typed.output), shape);
}

}  // namespace fbg
