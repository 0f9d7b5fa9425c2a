// Embedding: a row per token, the sum of rows of up to three tables.
#include <algorithm>

#include "fbg/tables/embedding_bag.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

// x = word[ids] + position[position_ids] + type[types]. An empty `position` or `type` adds nothing;
// types must then be 0.
class EmbeddingOp final : public Op {
 public:
  explicit EmbeddingOp(Fields& f) : Op("embedding", f) {
    const auto fits = [&](const SharedMatrix& table) {
      return !table.data || (table.rows > 0 && table.cols == columns());
    };
    require(word_.data && word_.rows > 0 && columns() > 0 && fits(position_) && fits(type_),
            "embedding: tables must have the same number of columns and at least one row, got " +
                shape_text({nullptr, word_.rows, columns()}) + ", " + shape_text(position_) + ", " +
                shape_text(type_));
    limits.word = word_.rows;
    if (position_.data) limits.position_id = position_.rows;
    limits.type = type_.data ? type_.rows : 1;
    shape = {RowKind::token, columns()};
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    if (word_.layout.format == RowFormat::float32) {
      return make_row_step(
          *this, context, [this](const auto& k, const Frame& frame, std::int64_t row, float* y) {
            const auto* const words = reinterpret_cast<const float*>(word_.data.get());
            add(k, frame, row, words + frame.args.ids[row] * columns(), y);
          });
    }
    const EmbeddingBag bag(word_.layout, {.index = IndexType::int32, .features = context.features});
    return make_row_step(
        *this, context, [this, bag](const auto& k, const Frame& frame, std::int64_t row, float* y) {
          // A bag of one token; those behind it are fetched ahead.
          const Bags bags{.indices = frame.args.ids + row,
                          .num_indices = frame[output].rows - row,
                          .num_bags = 1,
                          .length = 1};
          bag.run({word_.data.get(), word_.rows, word_.layout.row_bytes()}, bags, y, columns(),
                  {0, 1});
          add(k, frame, row, y, y);
        });
  }

 private:
  std::int64_t columns() const { return word_.layout.columns; }

  // y = word + the rows of the position and the type of a token.
  void add(const simd::RowKernels& k, const Frame& frame, std::int64_t row, const float* word,
           float* y) const {
    const RunArgs& args = frame.args;
    const float* const position = position_.data ? position_.row(args.position_ids[row]) : nullptr;
    const float* const type = type_.data ? type_.row(args.types[row]) : nullptr;
    const auto n = static_cast<std::size_t>(columns());
    if (position || type)
      k.add_rows(word, position ? position : type, position ? type : nullptr, n, y);
    else if (word != y)
      std::copy_n(word, n, y);
  }

  const SharedRows word_ = fields().rows("word");
  const SharedMatrix position_ = fields().table("position"), type_ = fields().table("token_type");
};

}  // namespace

Buffer kinds::embed(Graph& graph, Fields& f) { return append_as<EmbeddingOp>(graph, f); }

}  // namespace fbg
