// Recurrent layers. The products with x have been computed for all steps together; what is left is,
// step by step,
//
//   product  of the state h with the recurrent weights, packed once
//   cell     its functions (recurrent_cell.h), which make the next h
//
// Directions, and rows of a batch, do not depend on each other, so that each thread computes some
// of them from the first step to the last. Where there are fewer than threads and the product is
// large, several threads share its columns, and each product and each cell is a phase. States that
// are quantized, are so together with all rows of their direction.
//
// Each step reads all weights again. Where they exceed the L2, that takes most of the time. So
// every other step reads them from the last to the first, and begins with those that the L2 still
// holds; and all threads share the columns of one direction after the other, of which each holds
// more.
#include <algorithm>
#include <array>
#include <utility>

#include "core/policy.h"
#include "gemm/packers.h"
#include "plan/ops/recurrent_cell.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kAlignment = 64, kFloat = sizeof(float);

const char* name_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? "lstm" : cell == RecurrentCell::gru ? "gru" : "rnn";
}

bool quantizes(const Recurrence& r) { return reads_bytes(r.weights[0].family()); }

class RecurrentOp final : public Op {
 public:
  explicit RecurrentOp(Fields& f);

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override;

 private:
  class RecurrentStep;
  const Recurrence r_{fields()};
};

class RecurrentOp::RecurrentStep final : public Step {
 public:
  RecurrentStep(const RecurrentOp& op, const PrepareContext& context)
      : op_(op),
        r_(op.r_),
        kernels_(simd::kernels(context.features)),
        cell_(r_, context.features),
        width_(CellFunctions::gates(r_.cell) * r_.hidden) {
    const PackerKind packer = quantizes(r_) ? PackerKind::offset_uint8 : PackerKind::floats;
    std::int64_t workspace = 0;
    for (const PackedConv& w : r_.weights) {
      for (std::int64_t d = 0; d < r_.directions; ++d)
        panels_.push_back(&w.panels(d, w.geometry().depth()));
      // One product serves all directions; if it is that of narrow weights, all are narrow.
      const PackedMatrix& any = **std::min_element(
          panels_.end() - r_.directions, panels_.end(),
          [](const auto* a, const auto* b) { return a->is_narrow() < b->is_narrow(); });
      gemms_.emplace_back(product_types(packer, w.family()), any, pipeline(), r_.batch,
                          any.with_weights(context.features));
      weight_bytes_ += any.nbytes();
      workspace = std::max(workspace, static_cast<std::int64_t>(gemms_.back().workspace_bytes(1)));
    }
    const std::int64_t threads = context.capacity.threads, rows = r_.directions * r_.batch;
    workspaces_ = reserve(threads, round_up(workspace, kAlignment));
    products_ = reserve(rows, width_ * kFloat);
    resets_ = reserve(gemms_.size() == 2 ? rows : 0, r_.hidden * kFloat);
    temporaries_ = reserve(threads, round_up(r_.hidden * kFloat, kAlignment));
    if (!quantizes(r_)) return;
    dense_ = reserve(threads, round_up(r_.batch * r_.hidden * kFloat, kAlignment));
    quantized_ = reserve(threads, round_up(r_.batch * r_.hidden, kAlignment));
  }

  std::string kernel(std::int64_t, int) const override { return gemms_.front().kernel_name(); }
  std::size_t scratch_bytes() const noexcept override {
    return static_cast<std::size_t>(scratch_bytes_);
  }

  int phases(int num_threads) const noexcept override {
    if (!is_shared(num_threads)) return 1;
    const std::int64_t units = exceeds_caches(num_threads) ? all_units(row_blocks(num_threads)) : 1;
    return static_cast<int>(units * unit_phases());
  }

  void run(const Frame& frame, std::byte* scratch, int thread_id,
           int num_threads) const noexcept override {
    const int blocks = row_blocks(num_threads), units = all_units(blocks);
    const Run run{frame, scratch, thread_id};
    const auto rows = [&](std::int64_t unit) {
      return thread_rows(r_.batch, static_cast<int>(unit % blocks), blocks);
    };
    if (!is_shared(num_threads)) {
      const Range own = thread_rows(units, thread_id, num_threads);
      for (std::int64_t unit = own.begin; unit < own.end; ++unit)
        for (std::int64_t phase = 0; phase < unit_phases(); ++phase)
          run_phase(run, phase, unit / blocks, rows(unit), {});
      return;
    }
    const int teams = exceeds_caches(num_threads) ? 1 : units;
    const int team = thread_id * teams / num_threads;
    const auto first = static_cast<int>(ceil_div(team * num_threads, teams));
    const auto last = static_cast<int>(ceil_div((team + 1) * num_threads, teams));
    const auto unit = team + frame.phase / unit_phases() * teams;
    run_phase(run, frame.phase % unit_phases(), unit / blocks, rows(unit),
              {thread_id - first, last - first});
  }

 private:
  // A part of the scratch memory: as many pieces of so many bytes.
  struct Place {
    std::int64_t offset = 0, bytes = 0;
    template <class T>
    T* of(std::byte* scratch, std::int64_t index) const {
      return reinterpret_cast<T*>(scratch + offset + index * bytes);
    }
  };
  struct Run {
    const Frame& frame;
    std::byte* scratch;
    int thread_id;
  };
  // The threads that compute the same rows: this one is number `member` of them.
  struct Team {
    int member = 0, members = 1;
  };

  static PipelineView stages(bool dequantizes) {
    static const std::array<Stage, 1> kDequantize{Dequantize{}.stage()};
    return pipeline_view(RuntimePipeline(kDequantize.data(), dequantizes ? 1 : 0));
  }
  PipelineView pipeline() const { return stages(quantizes(r_)); }

  Place reserve(std::int64_t count, std::int64_t bytes) {
    const Place place{scratch_bytes_, bytes};
    scratch_bytes_ += round_up(count * bytes, kAlignment);
    return place;
  }

  // Into how many blocks the rows of a batch are cut, and the units that do not depend on each
  // other: those of each direction.
  int row_blocks(int num_threads) const {
    const bool whole = quantizes(r_) || exceeds_caches(num_threads);
    return static_cast<int>(whole ? 1 : std::min(r_.batch, ceil_div(num_threads, r_.directions)));
  }
  int all_units(int blocks) const { return static_cast<int>(r_.directions) * blocks; }

  // Whether threads share the columns of a product: because the weights exceed their caches, or
  // because there are more threads than units, and the product is large enough for several.
  bool is_shared(int num_threads) const {
    const int blocks = row_blocks(num_threads);
    const auto rows = static_cast<double>(ceil_div(r_.batch, blocks));
    return exceeds_caches(num_threads) ||
           (all_units(blocks) < num_threads &&
            rows * static_cast<double>(r_.hidden * width_) > policy::gemm::kSerialWork);
  }

  // Whether reading the weights takes longer than multiplying by them.
  bool is_bound_by_memory(const PackedMatrix& weights) const {
    return r_.batch * weights.rows() * kPanelColumns <=
           policy::recurrent::kRowsPerByte * weights.panel_bytes();
  }
  // Whether that is so, and the weights of all directions exceed the L2s of several threads.
  bool exceeds_caches(int num_threads) const {
    return num_threads > 1 && is_bound_by_memory(*panels_[0]) &&
           r_.directions * weight_bytes_ > num_threads * cpu_info().l2_bytes;
  }

  // A product and what follows it, for each of the products.
  int step_phases() const { return 2 * static_cast<int>(gemms_.size()); }
  // The first states, and the steps of a unit.
  std::int64_t unit_phases() const { return 1 + r_.steps * step_phases(); }

  // For some rows: the first states, or a part of a step.
  void run_phase(const Run& run, std::int64_t phase, std::int64_t direction, Range rows,
                 const Team& team) const noexcept {
    const Range columns = thread_rows(r_.hidden, team.member, team.members);
    const std::int32_t* const lengths =
        r_.lengths ? reinterpret_cast<const std::int32_t*>(run.frame[*r_.lengths].data) : nullptr;
    if (phase == 0) {
      for (std::int64_t row = rows.begin; lengths && row < rows.end; ++row)
        if (lengths[row] < 0 || lengths[row] > r_.steps) run.frame.fail(op_.output);
      for (std::int64_t row = rows.begin; row < rows.end; ++row)
        for (std::int64_t s = 0; s < states(); ++s) start(run, direction, row, s, columns);
      return;
    }
    const std::int64_t step = (phase - 1) / step_phases(), part = (phase - 1) % step_phases();
    const auto p = static_cast<std::size_t>(part / 2);
    if (part % 2 == 0) return multiply(run, p, direction, rows, step, team);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const std::int64_t length =
          lengths ? std::clamp<std::int64_t>(lengths[row], 0, r_.steps) : r_.steps;
      finish(run, p, direction, row, step, length, columns);
    }
  }

  std::int64_t states() const { return r_.cell == RecurrentCell::lstm ? 2 : 1; }

  // A row of the output; the states follow the steps.
  float* output(const Run& run, std::int64_t step, std::int64_t row, std::int64_t direction) const {
    return reinterpret_cast<float*>(run.frame[op_.output].data) +
           ((step * r_.batch + row) * r_.directions + direction) * r_.hidden;
  }

  void start(const Run& run, std::int64_t direction, std::int64_t row, std::int64_t state,
             Range columns) const noexcept {
    float* const to = output(run, r_.steps + state, row, direction) + columns.begin;
    const std::optional<Buffer>& from = state == 0 ? r_.hidden_state : r_.cell_state;
    if (!from) {
      std::fill_n(to, columns.size(), 0.0f);
      return;
    }
    const auto* const values = reinterpret_cast<const float*>(run.frame[*from].data);
    std::copy_n(values + (direction * r_.batch + row) * r_.hidden + columns.begin, columns.size(),
                to);
  }

  // The product number p of a step.
  void multiply(const Run& run, std::size_t p, std::int64_t direction, Range rows,
                std::int64_t step, const Team& team) const noexcept {
    const GemmDriver& gemm = gemms_[p];
    const PackedMatrix& weights =
        *panels_[p * static_cast<std::size_t>(r_.directions) + static_cast<std::size_t>(direction)];
    const std::int64_t row = direction * r_.batch + rows.begin;
    const std::int64_t column = p == 0 ? 0 : 2 * r_.hidden;
    const OutputView c{products_.of<float>(run.scratch, row) + column, width_ * kFloat};
    std::byte* const workspace = workspaces_.of<std::byte>(run.scratch, run.thread_id);
    MatrixView<const float> h{output(run, r_.steps, rows.begin, direction), rows.size(), r_.hidden,
                              r_.directions * r_.hidden, 1};
    if (p > 0)
      h = {resets_.of<const float>(run.scratch, row), rows.size(), r_.hidden, r_.hidden, 1};
    if (!quantizes(r_)) {
      multiply_columns(gemm, row_source(PackA(h)), weights, c, workspace, step, team);
      return;
    }
    float* const dense = dense_.of<float>(run.scratch, run.thread_id);
    auto* const q = quantized_.of<std::uint8_t>(run.scratch, run.thread_id);
    for (std::int64_t i = 0; i < h.rows; ++i)
      std::copy_n(h.data + i * h.row_stride, r_.hidden, dense + i * r_.hidden);
    const auto count = static_cast<std::size_t>(h.rows * r_.hidden);
    const simd::RowQuant quant = kernels_.rows.choose_row_quant(dense, nullptr, count);
    kernels_.bytes.quantize_uint8(dense, quant.scale, static_cast<float>(quant.zero_point), count,
                                  q);
    const PackAWithRowOffset<std::uint8_t> a({q, h.rows, r_.hidden, r_.hidden, 1}, quant.scale,
                                             quant.zero_point);
    multiply_columns(gemm, row_source(a), weights, c, workspace, step, team);
  }

  // The columns of a thread; those of large weights piece by piece, forwards or backwards.
  void multiply_columns(const GemmDriver& gemm, const RowSource& a, const PackedMatrix& weights,
                        OutputView c, std::byte* workspace, std::int64_t step,
                        const Team& team) const noexcept {
    const std::int64_t l2 = cpu_info().l2_bytes, panel = weights.panel_bytes();
    const Range panels = thread_rows(weights.num_panels(), team.member, team.members);
    const bool cuts = is_bound_by_memory(weights) && panels.size() * panel > l2 / 2;
    const std::int64_t most = cuts ? l2 / policy::recurrent::kPieces / panel : panels.size();
    const auto pieces = BalancedSplit::split(panels.size(), std::max<std::int64_t>(most, 1));
    for (std::int64_t i = 0; i < pieces.count; ++i) {
      const Range piece = pieces[step % 2 == 0 ? i : pieces.count - 1 - i];
      const std::int64_t end = (panels.begin + piece.end) * kPanelColumns;
      gemm.run_part(a, weights, pipeline(), c, workspace, {0, a.rows},
                    {(panels.begin + piece.begin) * kPanelColumns, std::min(end, weights.cols())});
    }
  }

  // What follows the product number p. Steps beyond the end of a sequence give zeros.
  void finish(const Run& run, std::size_t p, std::int64_t direction, std::int64_t row,
              std::int64_t step, std::int64_t length, Range columns) const noexcept {
    const bool reversed = direction == 1 || r_.reversed;
    const std::int64_t at = reversed && step < length ? length - 1 - step : step;
    float* const y = output(run, at, row, direction);
    if (step >= length) {
      std::fill_n(y + columns.begin, columns.size(), 0.0f);
      return;
    }
    const std::int64_t index = direction * r_.batch + row;
    CellFunctions::Row parts{};
    parts.direction = direction;
    parts.inputs = reinterpret_cast<const float*>(run.frame[r_.inputs].data) + at * r_.step_stride +
                   row * r_.batch_stride + direction * width_;
    parts.products = products_.of<float>(run.scratch, index);
    parts.hidden = output(run, r_.steps, row, direction);
    parts.cell = states() == 2 ? output(run, r_.steps + 1, row, direction) : nullptr;
    parts.reset = resets_.of<float>(run.scratch, index);
    parts.temporary = temporaries_.of<float>(run.scratch, run.thread_id);
    parts.output = y;
    cell_.run(p, parts, columns);
  }

  const RecurrentOp& op_;
  const Recurrence& r_;
  const simd::Kernels& kernels_;
  const CellFunctions cell_;
  const std::int64_t width_;  // of all gates of a direction
  std::vector<const PackedMatrix*> panels_;
  std::vector<GemmDriver> gemms_;
  std::int64_t weight_bytes_ = 0;  // of a direction
  std::int64_t scratch_bytes_ = 0;
  Place workspaces_, products_, resets_, temporaries_, dense_, quantized_;
};

std::unique_ptr<Step> RecurrentOp::prepare(const PrepareContext& context) const {
  return std::make_unique<RecurrentStep>(*this, context);
}

void check_weights(const Recurrence& r, std::int64_t gates) {
  const bool two = r.weights.size() == 2 && r.cell == RecurrentCell::gru;
  require(two || r.weights.size() == 1, "recur: weights must be one matrix, or two of a GRU");
  for (std::size_t p = 0; p < r.weights.size(); ++p) {
    const PackedConv& w = r.weights[p];
    const std::int64_t own = !two ? gates : p == 0 ? 2 : 1;
    const ConvGeometry& g = w.geometry();
    require(w.family() == r.weights[0].family() &&
                (w.family() == GemmType::float32 || w.family() == GemmType::float32_bf16 ||
                 w.family() == GemmType::int32),
            "recur: weights must be float32, bfloat16 or int8");
    require(g.groups == r.directions && g.depth() == r.hidden &&
                g.out_channels == r.directions * own * r.hidden,
            "recur: weights must have a group of " + std::to_string(own) + " gates of " +
                std::to_string(r.hidden) + " columns for each direction");
    require(!is_integer(w.family()) || w.scale(), "recur: int8 weights must have a scale");
  }
}

RecurrentOp::RecurrentOp(Fields& f) : Op("recur", f) {
  const Recurrence& r = r_;
  name = name_of(r.cell);
  inputs = {r.inputs};
  for (const auto& each : {r.lengths, r.hidden_state, r.cell_state})
    if (each) inputs.push_back(*each);
  const std::int64_t gates = CellFunctions::gates(r.cell);
  const std::int64_t states = r.cell == RecurrentCell::lstm ? 2 : 1;
  const std::array<std::int64_t, 5> input{r.steps, r.batch, r.directions, gates * r.hidden, 4};
  require_bytes(f.graph(), r.inputs, checked_product(input, "recur: inputs"), "recur: inputs");
  require(r.directions <= 2, "recur: there must be one or two directions");
  const std::int64_t row = r.directions * gates * r.hidden;
  require((r.step_stride == r.batch * row && r.batch_stride == row) ||
              (r.batch_stride == r.steps * row && r.step_stride == row),
          "recur: inputs must be dense");
  check_weights(r, gates);
  if (r.lengths) require_bytes(f.graph(), *r.lengths, r.batch * 4, "recur: lengths");
  for (const auto& state : {r.hidden_state, r.cell_state})
    if (state)
      require_bytes(f.graph(), *state, r.directions * r.batch * r.hidden * 4,
                    "recur: a first state");
  if (r.bias.data) require_vector(r.bias, r.directions * r.hidden, "recur: bias");
  if (r.peepholes.data)
    require_vector(r.peepholes, r.directions * 3 * r.hidden, "recur: peepholes");
  const std::int64_t functions = r.cell == RecurrentCell::rnn ? 1 : states + 1;
  require(static_cast<std::int64_t>(r.functions.size()) == r.directions * functions,
          "recur: each direction must have " + std::to_string(functions) + " functions");
  for (const ElementFunction& each : r.functions)
    require(simd::elementwise_function(each.name, {}) != nullptr,
            "recur: no function is called " + each.name);
  require(r.clip >= 0, "recur: clip must not be negative");
  shape = tensor_shape(
      checked_product({r.steps + states, r.batch, r.directions, r.hidden, 4}, "recur"));
}

}  // namespace

Buffer kinds::recur(Graph& graph, Fields& f) { return append_as<RecurrentOp>(graph, f); }

}  // namespace fbg
