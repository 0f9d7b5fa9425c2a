// Embedding: a row per token, the sum of rows of up to three tables.
#include <algorithm>
#include <utility>

#include "plan/ops/row_step.h"

namespace fbg {
namespace {

class EmbeddingOp final : public Op {
 public:
  EmbeddingOp(SharedMatrix word, SharedMatrix position, SharedMatrix type)
      : Op("embedding", {}),
        word_(std::move(word)),
        position_(std::move(position)),
        type_(std::move(type)) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context, [this](const auto& k, const Frame& frame, std::int64_t row, float* y) {
          const RunArgs& args = frame.args;
          const float* const word = word_.row(args.ids[row]);
          const float* const position =
              position_.data ? position_.row(args.position_ids[row]) : nullptr;
          const float* const type = type_.data ? type_.row(args.types[row]) : nullptr;
          const auto n = static_cast<std::size_t>(word_.cols);
          if (position || type)
            k.add_rows(word, position ? position : type, position ? type : nullptr, n, y);
          else
            std::copy_n(word, n, y);
        });
  }

 private:
  const SharedMatrix word_, position_, type_;
};

}  // namespace

Buffer Graph::embedding(SharedMatrix word, SharedMatrix position, SharedMatrix type) {
  const auto fits = [&](const SharedMatrix& table) {
    return table.data && table.rows > 0 && table.cols == word.cols && table.cols > 0;
  };
  require(fits(word) && (!position.data || fits(position)) && (!type.data || fits(type)),
          "embedding: tables must have the same number of columns and at least one row, got " +
              shape_text(word) + ", " + shape_text(position) + ", " + shape_text(type));
  lower_limit(limits_.word, word.rows);
  if (position.data) lower_limit(limits_.position_id, position.rows);
  lower_limit(limits_.type, type.data ? type.rows : 1);
  const BufferShape shape{RowKind::token, word.cols};
  return append(
      std::make_shared<EmbeddingOp>(std::move(word), std::move(position), std::move(type)), shape);
}

}  // namespace fbg
