// Mixtures of experts (Shazeer et al., 2017, arXiv:1701.06538): every row goes to the few of many
// layers that a router weighs most.
//
//   logits ── route ──► weights (tokens, experts), 0 for experts that a row does not go to
//   for each expert:  x ── take_routed ──► its rows, one after the other ── linear … ── add_routed
//
// A layer of an expert multiplies only the rows that came to it (Epilogue::routes); what follows
// them in its buffers means nothing. No product depends on its other rows, so neither does a result
// on what else is in a run.
#include <algorithm>
#include <cmath>
#include <string>

#include "plan/ops/routes.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

class RouteOp final : public Op {
 public:
  RouteOp(Buffer logits, std::int64_t experts, std::int64_t count)
      : Op("route", {logits}), experts_(experts), count_(count) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(output, context,
                         [this](const simd::RowKernels&, const Frame& frame, std::int64_t row,
                                float* y) { weigh(row_of(frame[inputs[0]], row), y); });
  }

 private:
  void weigh(const float* x, float* y) const {
    const float largest = *std::max_element(x, x + experts_);
    float sum = 0;
    for (std::int64_t i = 0; i < experts_; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (std::int64_t i = 0; i < experts_; ++i) {
      std::int64_t before = 0;  // of equal logits, the first come first
      for (std::int64_t j = 0; j < experts_; ++j) before += x[j] > x[i] || (x[j] == x[i] && j < i);
      y[i] = before < count_ ? y[i] / sum : 0.0f;
    }
  }

  const std::int64_t experts_, count_;
};

class TakeRoutedOp final : public Op {
 public:
  TakeRoutedOp(Buffer x, const Routes& routes)
      : Op("take_routed", {x, routes.weights}), routes_(routes) {}

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return std::make_unique<TakeStep>(*this);
  }

 private:
  class TakeStep final : public Step {
   public:
    explicit TakeStep(const TakeRoutedOp& op) : op_(op) {}
    void run(const Frame& frame, std::byte*, int thread_id,
             int num_threads) const noexcept override {
      const BufferView &x = frame[op_.inputs[0]], &y = frame[op_.output];
      const Range rows = thread_rows(x.rows, thread_id, num_threads);
      std::int64_t to = op_.routes_.count(frame, rows.begin);
      for (std::int64_t row = rows.begin; row < rows.end; ++row)
        if (op_.routes_.weight(frame, row) != 0)
          std::copy_n(row_of(x, row), x.cols, row_of(y, to++));
    }

   private:
    const TakeRoutedOp& op_;
  };

  const Routes routes_;
};

class AddRoutedOp final : public Op {
 public:
  AddRoutedOp(Buffer sum, Buffer rows, const Routes& routes, SharedMatrix bias)
      : Op("add_routed", {sum, rows, routes.weights}), routes_(routes), bias_(std::move(bias)) {
    in_place = true;
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
      const BufferView &sum = frame[op_.inputs[0]], &y = frame[op_.output];
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
        const float* const added = row_of(frame[op_.inputs[1]], from++);
        for (std::int64_t i = 0; i < y.cols; ++i) to[i] += weight * added[i];
      }
    }

   private:
    const AddRoutedOp& op_;
  };

  const Routes routes_;
  const SharedMatrix bias_;
};

}  // namespace

void require_routes(const BufferShape& x, const BufferShape& weights, const Routes& routes) {
  require_floats("routes", weights);
  require(weights.rows == x.rows, "routes must have a row for each of x");
  require(routes.expert >= 0 && routes.expert < weights.cols,
          "expert must be a column of the routes");
}

Buffer Graph::route(Buffer logits, std::int64_t count) {
  const BufferShape s = shape(logits);
  require_floats("route", s);
  require(count > 0 && count <= s.cols, "route: count must be from 1 to the columns of logits");
  return append(std::make_shared<RouteOp>(logits, s.cols, count), s);
}

Buffer Graph::take_routed(Buffer x, const Routes& routes) {
  const BufferShape s = shape(x);
  require_floats("take_routed", s);
  require_routes(s, shape(routes.weights), routes);
  return append(std::make_shared<TakeRoutedOp>(x, routes), s);
}

Buffer Graph::add_routed(Buffer sum, Buffer rows, const Routes& routes, SharedMatrix bias) {
  const BufferShape s = shape(sum);
  require_floats("add_routed", s);
  require(shape(rows) == s, "add_routed: rows must have the shape of the sum");
  require_routes(s, shape(routes.weights), routes);
  if (bias.data) require_vector(bias, s.cols, "add_routed: bias");
  return append(std::make_shared<AddRoutedOp>(sum, rows, routes, std::move(bias)), s);
}

}  // namespace fbg
