// A stage of an output pipeline as a field of an op.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fbg/kernels/output.h"
#include "plan/ops/ops.h"

namespace fbg {

struct StageField {
  explicit StageField(Fields& f) {
    const auto name = f.get<std::string>("name");
    const auto row = std::ranges::find(kStages, name, &StageRow::name);
    require(row != kStages.end(), "conv: no stage is called " + name);
    require(row->operand.kind != OperandKind::row_extents,
            "conv: RowRange does not go with graphs");
    stage = {row->kind, f("type"), {}};
    stage.args.f0 = f("f0");
    stage.args.f1 = f("f1");
    stage.args.f2 = f("f2");
    stage.args.i0 = f("i0");
    stage.specialization.unit_scale = f.get<bool>("unit_scale");
    stage.specialization.centered = f.get<bool>("centered");
    stage.specialization.bounded = f.get<bool>("bounded");
    operand = f.find<Array>("operand");
    stage.binary.operation = operation_named(f.get<std::string>("operation", "none"));
    stage.binary.operand = operand_named(f.get<std::string>("operand_kind", "none"));
    stage.binary.slot = static_cast<std::uint8_t>(f.get<std::int64_t>("slot", 0) & 0xff);
    stage.binary.reversed = f.get("reversed", false);
  }

  // The stage, whose vector of `columns` or table of bytes lives as long as `owner` keeps it; an op
  // without an owner has no such stages.
  Stage kept(std::vector<Array>* owner, std::int64_t columns) const {
    const bool looks_up = stage.kind == StageKind::requantize;
    const bool reads_array = operand_of(stage) == OperandKind::columns;
    require(operand ? owner && (looks_up || reads_array) : !(owner && reads_array),
            std::string("conv: ") + stage_name(stage.kind) + " does not have these parameters");
    if (!operand) return stage;
    Stage made = stage;
    made.specialization.looked_up = looks_up;
    if (looks_up) columns = 256;
    require(operand->shape.size() == 1 && operand->shape[0] == columns,
            "conv: a stage has an array of " +
                std::to_string(operand->shape.empty() ? 0 : operand->shape.back()) +
                " columns, wanted " + std::to_string(columns));
    made.args.data = owner->emplace_back(*operand).data.get();
    return made;
  }

  Stage stage{};
  std::optional<Array> operand;
};

}  // namespace fbg
