// Mixtures of experts (Shazeer et al., 2017, arXiv:1701.06538): every row goes to the few of many
// layers that a router weighs most.
//
//   logits ── route ──► weights (tokens, experts), 0 for experts that a row does not go to
//   for each expert:  x ── take_routed ──► its rows, one after the other ── linear … ── add_routed
//
// A layer of an expert multiplies only the rows that came to it (the routes of `linear`); what
// follows them in its buffers means nothing. No product depends on its other rows, so neither does
// a result on what else is in a run.
#include <algorithm>
#include <cmath>
#include <string>

#include "plan/ops/routes.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

// The softmax of each row, with 0 for all columns but the `count` largest.
class RouteOp final : public Op {
 public:
  explicit RouteOp(Fields& f) : Op("route", f) {
    shape = shape_of(logits_);
    require_floats("route", shape);
    require(count_ > 0 && count_ <= shape.cols,
            "route: count must be from 1 to the columns of logits");
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(*this, context,
                         [this](const simd::RowKernels&, const Frame& frame, std::int64_t row,
                                float* y) { weigh(row_of(frame[logits_], row), y); });
  }

 private:
  void weigh(const float* x, float* y) const {
    const std::int64_t experts = shape.cols;
    const float largest = *std::max_element(x, x + experts);
    float sum = 0;
    for (std::int64_t i = 0; i < experts; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (std::int64_t i = 0; i < experts; ++i) {
      std::int64_t before = 0;  // of equal logits, the first come first
      for (std::int64_t j = 0; j < experts; ++j) before += x[j] > x[i] || (x[j] == x[i] && j < i);
      y[i] = before < count_ ? y[i] / sum : 0.0f;
    }
  }

  const Buffer logits_ = input("logits");
  const std::int64_t count_ = field("count");
};

// The rows of x that go to an expert, one after the other; what follows them means nothing.
class TakeRoutedOp final : public Op {
 public:
  explicit TakeRoutedOp(Fields& f) : Op("take_routed", f) {
    shape = shape_of(x_);
    require_floats("take_routed", shape);
    require_routes(shape, shape_of(routes_.weights), routes_);
  }

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return std::make_unique<TakeStep>(*this);
  }

 private:
  class TakeStep final : public Step {
   public:
    explicit TakeStep(const TakeRoutedOp& op) : op_(op) {}
    void run(const Frame& frame, std::byte*, int thread_id,
             int num_threads) const noexcept override {
      const BufferView &x = frame[op_.x_], &y = frame[op_.output];
      const Range rows = thread_rows(x.rows, thread_id, num_threads);
      std::int64_t to = op_.routes_.count(frame, rows.begin);
      for (std::int64_t row = rows.begin; row < rows.end; ++row)
        if (op_.routes_.weight(frame, row) != 0)
          std::copy_n(row_of(x, row), x.cols, row_of(y, to++));
    }

   private:
    const TakeRoutedOp& op_;
  };

  const Buffer x_ = input("x");
  const Routes routes_{input("routes"), field("expert")};
};

// The sum and, for each row that goes to an expert, its weight times the next one of `rows`; and
// the bias, which may be empty.
class AddRoutedOp final : public Op {
 public:
  explicit AddRoutedOp(Fields& f) : Op("add_routed", f) {
    in_place = true;
    shape = shape_of(sum_);
    require_floats("add_routed", shape);
    require(shape_of(rows_) == shape, "add_routed: rows must have the shape of the sum");
    require_routes(shape, shape_of(routes_.weights), routes_);
    if (bias_.data) require_vector(bias_, shape.cols, "add_routed: bias");
  }

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return std::make_unique<AddStep>(*this);
  }

 private:
  class AddStep final : public Step {
   public:
    explicit AddStep(const AddRoutedOp& op) : op_(op) {}
    void run(const Frame& frame, std::byte*, int thread_id,
             int num_threads) const noexcept override {
      const BufferView &sum = frame[op_.sum_], &y = frame[op_.output];
      const Range rows = thread_rows(y.rows, thread_id, num_threads);
      std::int64_t from = op_.routes_.count(frame, rows.begin);
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const float* const x = row_of(sum, row);
        float* const to = row_of(y, row);
        if (to != x) std::copy_n(x, y.cols, to);
        if (const float* bias = op_.bias_.data.get())
          for (std::int64_t i = 0; i < y.cols; ++i) to[i] += bias[i];
        const float weight = op_.routes_.weight(frame, row);
        if (weight == 0) continue;
        const float* const added = row_of(frame[op_.rows_], from++);
        for (std::int64_t i = 0; i < y.cols; ++i) to[i] += weight * added[i];
      }
    }

   private:
    const AddRoutedOp& op_;
  };

  const Buffer sum_ = input("sum"), rows_ = input("rows");
  const Routes routes_{input("routes"), field("expert")};
  const SharedMatrix bias_ = fields().vector("bias");
};

}  // namespace

void require_routes(const BufferShape& x, const BufferShape& weights, const Routes& routes) {
  require_floats("routes", weights);
  require(weights.rows == x.rows, "routes must have a row for each of x");
  require(routes.expert >= 0 && routes.expert < weights.cols,
          "expert must be a column of the routes");
}

Buffer kinds::route(Graph& graph, Fields& f) { return append_as<RouteOp>(graph, f); }
Buffer kinds::take_routed(Graph& graph, Fields& f) { return append_as<TakeRoutedOp>(graph, f); }
Buffer kinds::add_routed(Graph& graph, Fields& f) { return append_as<AddRoutedOp>(graph, f); }

}  // namespace fbg
