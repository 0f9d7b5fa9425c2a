// Embedding: a row per token, the sum of rows of up to three tables.
#include <algorithm>
#include <utility>

#include "fbg/tables/embedding_bag.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

class EmbeddingOp final : public Op {
 public:
  EmbeddingOp(SharedRows word, SharedMatrix position, SharedMatrix type)
      : Op("embedding", {}),
        word_(std::move(word)),
        position_(std::move(position)),
        type_(std::move(type)) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    if (word_.layout.format == RowFormat::float32) {
      return make_row_step(
          output, context, [this](const auto& k, const Frame& frame, std::int64_t row, float* y) {
            const auto* const words = reinterpret_cast<const float*>(word_.data.get());
            add(k, frame, row, words + frame.args.ids[row] * columns(), y);
          });
    }
    const EmbeddingBag bag(word_.layout, {.index = IndexType::int32, .features = context.features});
    return make_row_step(
        output, context,
        [this, bag](const auto& k, const Frame& frame, std::int64_t row, float* y) {
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

  const SharedRows word_;
  const SharedMatrix position_, type_;
};

}  // namespace

Buffer Graph::embedding(SharedRows word, SharedMatrix position, SharedMatrix type) {
  const std::int64_t columns = word.layout.columns;
  const auto fits = [&](const SharedMatrix& table) {
    return !table.data || (table.rows > 0 && table.cols == columns);
  };
  require(word.data && word.rows > 0 && columns > 0 && fits(position) && fits(type),
          "embedding: tables must have the same number of columns and at least one row, got " +
              shape_text({nullptr, word.rows, columns}) + ", " + shape_text(position) + ", " +
              shape_text(type));
  lower_limit(limits_.word, word.rows);
  if (position.data) lower_limit(limits_.position_id, position.rows);
  lower_limit(limits_.type, type.data ? type.rows : 1);
  return append(
      std::make_shared<EmbeddingOp>(std::move(word), std::move(position), std::move(type)),
      {RowKind::token, columns});
}

}  // namespace fbg
