// expression: an output pipeline without a product. Microkernels that multiply nothing run its
// stages tile by tile: all steps of an element happen in registers, and operands are read once. A
// matrix whose rows are at the same place is a vector over columns.
#include <algorithm>
#include <array>
#include <utility>

#include "gemm/tile_loop.h"
#include "plan/ops/stage_field.h"
#include "plan/ops/tensor_step.h"

namespace fbg {
namespace {

// What a stage of an expression reads: elements that follow each other along the columns. strides:
// of the other extents, 0 where the operand is broadcast.
struct ExpressionOperand {
  explicit ExpressionOperand(Fields& f) : buffer(f("buffer")), strides(f.get<Extents>("strides")) {}
  Buffer buffer;
  Extents strides;
};

// An output pipeline without a product, over a dense tensor: matrices of the two innermost extents.
// Each stage that reads a matrix reads the next one of the operands. Values start as 0.
class ExpressionOp final : public Op {
 public:
  explicit ExpressionOp(Fields& f) : Op("expression", f) {
    const std::int64_t elements = checked_product(extents_, "expression");
    require(!extents_.empty(), "expression: a tensor must have extents");
    for (const StageField& own : f.get<std::vector<StageField>>("stages"))
      stages_.push_back(own.kept(nullptr, 0));
    // Results of 32 bits are floats; otherwise they are the bits of int32.
    const bool gives_floats = f("gives_floats", true);
    output_ = type_pipeline(stages_, ValueType::float32).output;
    place_operands();
    const std::int64_t bytes = checked_product({elements, value_size(output_)}, "expression");
    const bool floats = output_ == ValueType::float32 && gives_floats;
    shape = floats ? tensor_of_floats(elements) : tensor_shape(bytes);
    for (const Stage& stage : stages_)
      name += std::string(" ") + (stage.kind == StageKind::binary
                                      ? operation_name(stage.binary.operation)
                                      : stage_name(stage.kind));
    columns_ = extents_.back();
    rows_ = extents_.size() > 1 ? extents_[extents_.size() - 2] : 1;
    // A tile is written after all of its elements have been read.
    const auto first =
        std::ranges::find_if(stages_, [](const Stage& s) { return reads_matrix(s); });
    in_place = value_size(first->wanted) == value_size(output_);
    std::int64_t dense = columns_;
    for (std::size_t a = extents_.size() - 1; a-- > 0; dense *= extents_[a])
      for (const ExpressionOperand& operand : operands_)
        if (operand.buffer == inputs[0]) in_place = in_place && operand.strides[a] == dense;
    matrices_ = dense / (rows_ * columns_);
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const Geometry tile = choose_geometry(GemmType::float32, context.features);
    const std::vector<Stage> stages = stages_for(context);
    const KernelKey key = make_kernel_key(tile, GemmType::float32, stages, false, false, false);
    const BalancedSplit tiles = BalancedSplit::split(rows_, tile.max_rows);
    const KernelTable kernels(tile, key, columns_, std::max<std::int64_t>(tiles.largest - 1, 1),
                              tiles.largest);
    const std::int64_t width = tile_columns(tile, tiles.largest);
    const std::int64_t groups = ceil_div(columns_, width);
    const ValueType type =
        context.type(output) == ValueType::bfloat16 ? ValueType::bfloat16 : output_;
    return make_unit_step(matrices_ * tiles.count * groups, 0,
                          [this, stages, type, tile, tiles, kernels, width, groups](
                              const Frame& frame, std::byte*, int, Range units) {
                            run(frame, {stages, type, tile, tiles, kernels, width, groups}, units);
                          });
  }
  Halves reads_bfloat16(std::size_t, Features) const override { return Halves::widened; }
  bool can_write_bfloat16() const override {
    return output_ == ValueType::float32 && stages_.size() < static_cast<std::size_t>(kMaxStages);
  }

 private:
  struct Tiles {
    const std::vector<Stage>& stages;
    ValueType type;  // of results
    const Geometry& tile;
    const BalancedSplit& rows;
    const KernelTable& kernels;
    std::int64_t width, groups;  // columns of a group, and groups of a row
  };

  // The stages with the types of buffers as the plan has them.
  std::vector<Stage> stages_for(const PrepareContext& context) const {
    std::vector<Stage> stages = stages_;
    std::size_t operand = 0;
    for (Stage& stage : stages)
      if (reads_matrix(stage) && context.type(inputs[operand++]) == ValueType::bfloat16)
        narrow_matrix(stage);
    if (context.type(output) == ValueType::bfloat16)
      stages.push_back(Cast{ValueType::bfloat16}.stage());
    return stages;
  }

  // The first elements of a matrix of the tensor, as the arguments of the stages.
  void place(const Frame& frame, std::int64_t matrix, std::span<const Stage> typed,
             std::span<StageArgs> stages) const {
    std::size_t operand = 0;
    for (std::size_t s = 0; s < typed.size(); ++s) {
      if (!reads_matrix(typed[s])) continue;
      const std::vector<std::int64_t>& strides = operands_[operand].strides;
      std::int64_t at = 0, rest = matrix;
      for (std::size_t a = std::max<std::size_t>(extents_.size(), 2) - 2; a-- > 0;) {
        at += rest % extents_[a] * strides[a];
        rest /= extents_[a];
      }
      stages[s].data = frame[inputs[operand++]].data + at * value_size(typed[s].wanted);
    }
  }

  void run(const Frame& frame, const Tiles& tiles, Range units) const {
    std::array<StageArgs, kMaxStages> stages;
    for (std::size_t s = 0; s < tiles.stages.size(); ++s) stages[s] = tiles.stages[s].args;
    const BlockPair nothing{};
    TileArgs args;
    args.set_blocks({&nothing, 1});
    args.stages = stages.data();
    args.prefetch = stages.data();  // a valid address
    const std::int64_t size = value_size(tiles.type), ld = columns_ * size;
    args.ldc = ld;
    const ColumnGroup whole = group_of(tiles, 0), last = group_of(tiles, tiles.groups - 1);
    std::int64_t tile = units.begin / tiles.groups, at = units.begin % tiles.groups;
    std::int64_t matrix = tile / tiles.rows.count;
    tile %= tiles.rows.count;
    place(frame, matrix, tiles.stages, stages);
    for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
      const Range rows = tiles.rows[tile];
      const ColumnGroup& group = at + 1 < tiles.groups ? whole : last;
      args.row = rows.begin;
      args.col = at * tiles.width;
      args.columns = group.columns;
      args.c = frame[output].data + (matrix * rows_ + rows.begin) * ld + args.col * size;
      run_tile(tiles.kernels, group, rows.size(), args);
      if (++at < tiles.groups) continue;
      at = 0;
      if (++tile < tiles.rows.count) continue;
      tile = 0;
      if (++matrix < matrices_) place(frame, matrix, tiles.stages, stages);
    }
  }

  ColumnGroup group_of(const Tiles& tiles, std::int64_t group) const {
    const std::int64_t col = group * tiles.width, columns = std::min(tiles.width, columns_ - col);
    return {col, columns, ceil_div(columns, tiles.tile.lanes), columns % tiles.tile.lanes != 0};
  }

  // Stages read the operands one after the other, each its strides.
  void place_operands() {
    for (Stage& stage : stages_) {
      require(operand_of(stage) != OperandKind::columns, "expression: a stage reads columns");
      if (!reads_matrix(stage)) continue;
      require(inputs.size() < operands_.size(), "expression: a stage has no operand");
      const ExpressionOperand& read = operands_[inputs.size()];
      require(read.strides.size() + 1 == extents_.size(),
              "expression: an operand must have a stride for each extent but the last");
      std::int64_t last = extents_.back();
      for (std::size_t a = 0; a + 1 < extents_.size(); ++a) {
        require(read.strides[a] >= 0, "expression: strides must not be negative");
        last += (extents_[a] - 1) * read.strides[a];
      }
      const std::int64_t size = value_size(stage.wanted);
      require(last * size <= tensor_bytes(fields().graph(), read.buffer),
              "expression: strides reach beyond their operand");
      stage.args.ld = read.strides.empty() ? 0 : read.strides.back() * size;
      inputs.push_back(read.buffer);
    }
    require(!inputs.empty() && inputs.size() == operands_.size(),
            "expression: each operand must have a stage that reads it");
  }

  const Extents extents_ = field("extents");
  const std::vector<ExpressionOperand> operands_ = field("operands");
  std::vector<Stage> stages_;
  ValueType output_ = ValueType::float32;
  std::int64_t rows_ = 1, columns_ = 1, matrices_ = 1;
};

}  // namespace

Buffer kinds::expression(Graph& graph, Fields& f) { return append_as<ExpressionOp>(graph, f); }

}  // namespace fbg
