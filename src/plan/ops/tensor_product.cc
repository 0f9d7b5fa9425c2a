// Products of two tensors that both vary, and attention: for each matrix of a stack, the right-hand
// operand is packed into panels once, and blocks of rows of the left-hand one multiply them where
// they are stored.
//
//   multiply   C = A B
//   attend     S = Q K^T, P = softmax(scale S + bias), C = P V: scores never leave the cache
//
// Threads take equal ranges of blocks. The float operations of a row depend only on the depth, and,
// for attention, on the number of keys. Where attention may round, and the ISA has the dot product
// of bfloat16, Q, K, V and the probabilities are rounded, these before they are divided by their
// sum.
#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/policy.h"
#include "gemm/panel_product.h"
#include "plan/ops/attention_panels.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

using policy::attention::kLongSequence;

// A stack of matrices in a tensor of float32. Element (i, j) of the matrix at a place of the stack
// is at  place * strides + i * row_stride + j * column_stride.
struct StackedMatrices {
  explicit StackedMatrices(Fields& f)
      : buffer(f("buffer")),
        strides(f.get<Extents>("strides")),
        row_stride(f("row_stride")),
        column_stride(f("column_stride")) {}
  Buffer buffer;
  Extents strides;  // along the extents of the stack; 0 repeats a matrix
  std::int64_t row_stride, column_stride;
};

std::int64_t offset_of(const StackedMatrices& m, const std::vector<std::int64_t>& stack,
                       std::int64_t index) {
  std::int64_t at = 0;
  for (std::size_t a = stack.size(); a-- > 0; index /= stack[a])
    at += index % stack[a] * m.strides[a];
  return at;
}

std::int64_t volume_of(const std::vector<std::int64_t>& stack) {
  std::int64_t count = 1;
  for (const std::int64_t extent : stack) count *= extent;
  return count;
}

// A multiple of 16 floats, so that the next part is aligned.
std::int64_t aligned(std::int64_t floats) { return round_up(floats, 16); }

MatrixView<const float> view_of(const Frame& frame, const StackedMatrices& m, std::int64_t at,
                                std::int64_t rows, std::int64_t cols) {
  const auto* data = reinterpret_cast<const float*>(frame[m.buffer].data) + at;
  return {data, rows, cols, m.row_stride, m.column_stride};
}

// All elements of the matrices must be within `elements`.
void check_matrices(const StackedMatrices& m, const std::vector<std::int64_t>& stack,
                    std::int64_t rows, std::int64_t cols, std::int64_t elements, const char* what) {
  require(m.strides.size() == stack.size(),
          std::string(what) + " must have a stride for each extent of the stack");
  std::int64_t last = 0;
  const auto reach = [&](std::int64_t extent, std::int64_t stride) {
    require(stride >= 0, std::string(what) + " must not have negative strides");
    std::int64_t way = 0;
    require(!__builtin_mul_overflow(extent - 1, stride, &way) &&
                !__builtin_add_overflow(last, way, &last) && last < elements,
            std::string(what) + " reaches beyond its tensor");
  };
  reach(rows, m.row_stride);
  reach(cols, m.column_stride);
  for (std::size_t a = 0; a < stack.size(); ++a) reach(stack[a], m.strides[a]);
}

void check_operand(const Graph& graph, const StackedMatrices& m,
                   const std::vector<std::int64_t>& stack, std::int64_t rows, std::int64_t cols,
                   const char* what) {
  check_matrices(m, stack, rows, cols, tensor_bytes(graph, m.buffer) / 4, what);
}

// Bytes of the output, whose matrices must fill it.
std::int64_t output_bytes(const StackedMatrices& m, const std::vector<std::int64_t>& stack,
                          std::int64_t rows, std::int64_t cols, const char* what) {
  std::vector<std::int64_t> extents = stack;
  extents.insert(extents.end(), {rows, cols});
  const std::int64_t elements = checked_product(extents, what);
  std::vector<std::int64_t> strides = m.strides;
  strides.insert(strides.end(), {m.row_stride, m.column_stride});
  check_matrices(m, stack, rows, cols, elements, what);
  for (std::int64_t dense = 1; dense < elements;) {
    std::int64_t next = 0;
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      if (extents[axis] > 1 && strides[axis] == dense) next += dense * extents[axis];
    require(next > dense && elements % next == 0,
            std::string(what) + " has elements that no matrix writes");
    dense = next;
  }
  extents.push_back(4);
  return checked_product(extents, what);
}

// C = A B for each matrix of a stack. Rows of A and C have unit stride, and so have rows or columns
// of B. The matrices of C fill the output; its buffer is not read.
struct StackedProduct {
  explicit StackedProduct(Fields& f) : stack(f.get<Extents>("stack")) {
    const auto sizes = f.get<Extent3>("sizes");
    rows = sizes[0];
    depth = sizes[1];
    columns = sizes[2];
  }
  Extents stack;
  std::int64_t rows, depth, columns;
};

class MultiplyOp final : public Op {
 public:
  explicit MultiplyOp(Fields& f) : Op("matmul", f) {
    inputs = {a_.buffer, b_.buffer};
    shape = tensor_shape(output_bytes(c_, p_.stack, p_.rows, p_.columns, "matmul: the output"));
    require(p_.depth >= 1, "matmul: the depth must be at least 1, got " + std::to_string(p_.depth));
    check_operand(f.graph(), a_, p_.stack, p_.rows, p_.depth, "matmul: a");
    check_operand(f.graph(), b_, p_.stack, p_.depth, p_.columns, "matmul: b");
    require(a_.column_stride == 1 && c_.column_stride == 1,
            "matmul: a and the output must have a column stride of 1");
    require(b_.column_stride == 1 || b_.row_stride == 1,
            "matmul: b must have a row or column stride of 1");
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const Geometry geometry = choose_geometry(GemmType::float32, context.features);
    const std::int64_t height = round_up(policy::attention::kProductRows, geometry.max_rows);
    const BalancedSplit blocks = BalancedSplit::split(p_.rows, height);
    const std::int64_t panels = aligned(round_up(p_.columns, kPanelColumns) * p_.depth);
    const KernelTable kernels = panel_kernels(GemmType::float32, geometry, p_.columns);
    const auto bytes = static_cast<std::size_t>(panels * context.capacity.threads) * sizeof(float);
    return make_unit_step(
        volume_of(p_.stack) * blocks.count, bytes,
        [this, blocks, panels, kernels](const Frame& frame, std::byte* scratch, int thread_id,
                                        Range units) {
          float* const memory = reinterpret_cast<float*>(scratch) + thread_id * panels;
          std::int64_t packed = -1;  // the element at which the matrix in the panels begins
          for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
            const std::int64_t matrix = unit / blocks.count;
            const Range rows = blocks[unit % blocks.count];
            const std::int64_t at = offset_of(b_, p_.stack, matrix);
            if (at != packed) pack(frame, at, memory);
            packed = at;
            const std::int64_t from = offset_of(a_, p_.stack, matrix) + rows.begin * a_.row_stride;
            float* const to = reinterpret_cast<float*>(frame[output].data) +
                              offset_of(c_, p_.stack, matrix) + rows.begin * c_.row_stride;
            multiply_panels(kernels, view_of(frame, a_, from, rows.size(), p_.depth), memory,
                            p_.depth, {to, rows.size(), p_.columns, c_.row_stride, 1});
          }
        });
  }

 private:
  void pack(const Frame& frame, std::int64_t at, float* panels) const {
    const MatrixView<const float> b = view_of(frame, b_, at, p_.depth, p_.columns);
    if (b_.column_stride == 1)
      pack_values(b, panels);
    else
      pack_keys({b.data, p_.columns, p_.depth, b_.column_stride, 1}, panels);
  }

  const StackedProduct p_{fields()};
  const StackedMatrices a_ = field("a"), b_ = field("b"), c_ = field("c");
};

// softmax(scale * Q K^T + bias) V for each matrix of a stack: Q (queries, depth), K (keys, depth),
// V (keys, columns), bias (queries, keys). Rows of all have unit stride.
struct StackedAttention {
  explicit StackedAttention(Fields& f)
      : stack(f.get<Extents>("stack")),
        sizes(f.get<std::array<std::int64_t, 4>>("sizes")),
        q(f.get<StackedMatrices>("q")),
        k(f.get<StackedMatrices>("k")),
        v(f.get<StackedMatrices>("v")),
        output(f.get<StackedMatrices>("output")),
        bias(f.find<StackedMatrices>("bias")),
        scale(f("scale", 1.0f)),
        allow_bfloat16(f("allow_bfloat16", false)) {}
  Extents stack;
  std::array<std::int64_t, 4> sizes;
  std::int64_t queries = sizes[0], keys = sizes[1], depth = sizes[2], columns = sizes[3];
  StackedMatrices q, k, v, output;
  std::optional<StackedMatrices> bias;
  float scale;
  bool allow_bfloat16;  // products may round their operands
};

class AttendOp final : public Op {
 public:
  explicit AttendOp(Fields& f) : Op("attention", f) {
    inputs = {a_.q.buffer, a_.k.buffer, a_.v.buffer};
    const Graph& graph = f.graph();
    shape = tensor_shape(
        output_bytes(a_.output, a_.stack, a_.queries, a_.columns, "attention: the output"));
    require(a_.depth >= 1 && a_.keys >= 1, "attention: must have keys of at least one element");
    check_operand(graph, a_.q, a_.stack, a_.queries, a_.depth, "attention: q");
    check_operand(graph, a_.k, a_.stack, a_.keys, a_.depth, "attention: k");
    check_operand(graph, a_.v, a_.stack, a_.keys, a_.columns, "attention: v");
    bool dense = a_.output.column_stride == 1;
    for (const StackedMatrices* m : {&a_.q, &a_.k, &a_.v}) dense = dense && m->column_stride == 1;
    if (a_.bias) {
      inputs.push_back(a_.bias->buffer);
      check_operand(graph, *a_.bias, a_.stack, a_.queries, a_.keys, "attention: bias");
      dense = dense && a_.bias->column_stride == 1;
    }
    require(dense, "attention: q, k, v, bias and the output must have a column stride of 1");
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    // Of fewer keys, rounding costs more than it gains.
    const bool rounds = a_.allow_bfloat16 && a_.keys >= kLongSequence;
    if (rounds && (isa_features(Isa::avx512_bf16) & ~context.features) == 0)
      return std::make_unique<AttendStep>(*this, context, GemmType::bfloat16);
    return std::make_unique<AttendStep>(*this, context, GemmType::float32);
  }

 private:
  class AttendStep final : public Step {
   public:
    AttendStep(const AttendOp& op, const PrepareContext& context, GemmType type)
        : op_(op),
          a_(op.a_),
          kernels_(simd::kernels(context.features).rows),
          panels_(kernels_, type, false),
          geometry_(
              choose_geometry(type, context.features, {}, panels_.pairs() ? words(a_.depth) : 0)),
          scores_(panel_kernels(type, geometry_, round_up(a_.keys, kKeyPadding))),
          context_(panel_kernels(type, geometry_, a_.columns)) {
      score_stride_ = row_stride(a_.keys);
      depth_ = panels_.depth(geometry_, a_.keys);
      blocks_ = BalancedSplit::split(a_.queries, query_rows(geometry_.max_rows, a_.keys));
      values_ = aligned(round_up(a_.keys, kPanelColumns) * words(a_.depth));
      score_ = values_ + aligned(round_up(a_.columns, kPanelColumns) * depth_);
      rounded_ = score_ + aligned(blocks_.largest * score_stride_);
      probabilities_ = rounded_;
      if (panels_.pairs())
        probabilities_ +=
            aligned(std::max<std::int64_t>(blocks_.largest, kPanelColumns) * words(a_.depth));
      thread_floats_ =
          probabilities_ + (panels_.pairs() ? aligned(blocks_.largest * row_stride(depth_)) : 0);
      scratch_bytes_ =
          static_cast<std::size_t>(thread_floats_ * context.capacity.threads) * sizeof(float);
    }

    std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

    void run(const Frame& frame, std::byte* scratch, int thread_id,
             int num_threads) const noexcept override {
      float* const memory = reinterpret_cast<float*>(scratch) + thread_id * thread_floats_;
      const Range units = thread_rows(volume_of(a_.stack) * blocks_.count, thread_id, num_threads);
      std::int64_t keys = -1, values = -1;  // the elements at which those in the panels begin
      for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
        const std::int64_t matrix = unit / blocks_.count;
        const std::int64_t k = offset_of(a_.k, a_.stack, matrix);
        const std::int64_t v = offset_of(a_.v, a_.stack, matrix);
        if (k != keys)
          panels_.keys(view_of(frame, a_.k, k, a_.keys, a_.depth), memory, memory + rounded_);
        if (v != values)
          panels_.values(view_of(frame, a_.v, v, a_.keys, a_.columns), depth_, memory + values_);
        keys = k;
        values = v;
        run_block(frame, matrix, blocks_[unit % blocks_.count], memory);
      }
    }

   private:
    std::int64_t words(std::int64_t k) const { return panels_.words(k); }

    void run_block(const Frame& frame, std::int64_t matrix, Range rows,
                   float* memory) const noexcept {
      const std::int64_t count = rows.size();
      const std::int64_t from = offset_of(a_.q, a_.stack, matrix) + rows.begin * a_.q.row_stride;
      float* const scores = memory + score_;
      const auto queries =
          panels_.rows(view_of(frame, a_.q, from, count, a_.depth), memory + rounded_);
      multiply_panels(scores_, queries, memory, words(a_.depth),
                      {scores, count, round_up(a_.keys, kKeyPadding), score_stride_, 1});
      float* const to = reinterpret_cast<float*>(frame[op_.output].data) +
                        offset_of(a_.output, a_.stack, matrix) + rows.begin * a_.output.row_stride;
      const MatrixView<float> context{to, count, a_.columns, a_.output.row_stride, 1};
      prefetch_rows(context);
      float* const probabilities = panels_.pairs() ? memory + probabilities_ : scores;
      const std::int64_t stride = panels_.pairs() ? row_stride(depth_) : score_stride_;
      const auto n = static_cast<std::size_t>(a_.keys);
      for (std::int64_t i = 0; i < count; ++i) {
        float* const row = scores + i * score_stride_;
        if (a_.bias) {
          const std::int64_t at =
              offset_of(*a_.bias, a_.stack, matrix) + (rows.begin + i) * a_.bias->row_stride;
          kernels_.multiply(row, a_.scale, n);
          kernels_.add(row, view_of(frame, *a_.bias, at, 1, a_.keys).data, n, row);
        }
        softmax(row, n, a_.bias ? 1.0f : a_.scale, probabilities + i * stride);
      }
      multiply_panels(context_, {probabilities, count, depth_, stride, 1}, memory + values_, depth_,
                      context);
      if (panels_.pairs())
        for (std::int64_t i = 0; i < count; ++i)
          kernels_.multiply(&context(i, 0), scores[i * score_stride_],
                            static_cast<std::size_t>(a_.columns));
    }

    // Probabilities where the scores were; or, rounded and not yet divided by their sum, elsewhere,
    // whose reciprocal is left where the first score was; what follows them in a row is zeros.
    void softmax(float* scores, std::size_t n, float factor, float* probabilities) const noexcept {
      if (panels_.pairs()) {
        auto* const p = reinterpret_cast<std::uint16_t*>(probabilities);
        scores[0] = 1.0f / kernels_.exp_bfloat16(scores, n, factor, p).sum;
        std::fill(p + n, p + 2 * depth_, 0);
      } else {
        kernels_.softmax(scores, n, factor);
      }
    }

    const AttendOp& op_;
    const StackedAttention& a_;
    const simd::RowKernels& kernels_;
    const AttentionPanels panels_;
    const Geometry geometry_;
    const KernelTable scores_, context_;
    BalancedSplit blocks_;
    // Where a thread has what, in words of its scratch; the panels of K come first.
    std::int64_t score_stride_, depth_, values_, score_, rounded_, probabilities_, thread_floats_;
    std::size_t scratch_bytes_;
  };

  const StackedAttention a_{fields()};
};

}  // namespace

Buffer kinds::multiply(Graph& graph, Fields& f) { return append_as<MultiplyOp>(graph, f); }
Buffer kinds::attend(Graph& graph, Fields& f) { return append_as<AttendOp>(graph, f); }

}  // namespace fbg
