// What an operation of a graph is to the plan: an Op is described once and knows its operands; its
// prepare() makes a Step, which is all that a run sees. One file per family implements them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fbg/core/types.h"
#include "fbg/plan/plan.h"

namespace fbg {

// Which buffers of a plan hold bfloat16: those that all who read them would round, so that no bit
// of a result depends on it. None by default.
struct Formats {
  std::vector<bool> bfloat16;
  bool is_bfloat16(Buffer b) const {
    return static_cast<std::size_t>(b) < bfloat16.size() && bfloat16[static_cast<std::size_t>(b)];
  }
};

// A run in progress, as steps see it.
struct Frame {
  const RunArgs& args;
  std::span<const MatrixView<float>> buffers;  // with the rows of this run

  const MatrixView<float>& operator[](Buffer b) const {
    return buffers[static_cast<std::size_t>(b)];
  }
  // The same buffer where it holds bfloat16; rows are as many bytes apart.
  MatrixView<bfloat16> as_bfloat16(Buffer b) const {
    const MatrixView<float>& view = (*this)[b];
    return {reinterpret_cast<bfloat16*>(view.data), view.rows, view.cols, 2 * view.row_stride, 1};
  }
};

class Step {
 public:
  virtual ~Step() = default;
  // Name of the microkernel that does most of the work, if one does.
  virtual std::string kernel() const { return {}; }
  // How it cuts a product, by number of rows, where that is not left to the cost model.
  virtual std::string blocking() const { return {}; }
  // What it takes in memory, beyond weights and kernels, which it shares with others.
  virtual std::size_t nbytes() const noexcept { return sizeof *this; }
  // Scratch of all threads together, needed only while the step runs.
  virtual std::size_t scratch_bytes() const noexcept { return 0; }
  // Computes the share of one thread. `scratch` is aligned to 64 and common to all threads.
  virtual void run(const Frame& frame, std::byte* scratch, int thread_id,
                   int num_threads) const noexcept = 0;
};

class Op {
 public:
  Op(std::string op_name, std::vector<Buffer> op_inputs)
      : name(std::move(op_name)), inputs(std::move(op_inputs)) {}
  virtual ~Op() = default;

  // Everything that needs time, memory or a decision; the Step refers to this Op.
  virtual std::unique_ptr<Step> prepare(const Capacity& capacity, const Formats& formats) const = 0;
  // Whether all that it does with inputs[0] is to round it to bfloat16, and it can read it so.
  virtual bool rounds_input() const { return false; }
  virtual bool can_write_bfloat16() const { return false; }

  const std::string name;
  const std::vector<Buffer> inputs;
  Buffer output = -1;     // set by Graph
  bool in_place = false;  // the output may take the place of inputs[0], if nobody reads that later
};

// An op that multiplies by weights.
class ProductOp : public Op {
 public:
  using Op::Op;
  virtual ProductKind kind() const = 0;
  virtual std::int64_t weight_bytes() const = 0;
  // The same with its own copy of the weights.
  virtual std::shared_ptr<ProductOp> clone() const = 0;
};

// Floats between rows of a buffer in the arena. Rows a multiple of 4 KiB apart would share cache
// sets.
inline std::int64_t arena_row_stride(std::int64_t cols) {
  const std::int64_t stride = round_up(cols, 16);
  return stride % 1024 == 0 ? stride + 16 : stride;
}

// Appends an op that Graph has no method for.
Buffer append_op(Graph& graph, std::shared_ptr<Op> op, BufferShape shape);

// The rows, of `rows`, that a thread computes where rows are independent.
inline Range thread_rows(std::int64_t rows, int thread_id, int num_threads) {
  return {rows * thread_id / num_threads, rows * (thread_id + 1) / num_threads};
}

// Rows of a buffer that a capacity allows.
inline std::int64_t max_rows(const Capacity& capacity, RowKind kind) {
  return kind == RowKind::token ? capacity.tokens : capacity.sequences;
}

std::shared_ptr<Op> make_embedding(SharedMatrix word, SharedMatrix position, SharedMatrix type);
std::shared_ptr<Op> make_layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps);
std::shared_ptr<Op> make_tanh(Buffer x);
std::shared_ptr<Op> make_normalize(Buffer x);
std::shared_ptr<Op> make_pool(Buffer x, Pooling pooling);
std::shared_ptr<Op> make_rotate(Buffer qkv, std::int64_t num_heads, SharedMatrix cos_sin);
std::shared_ptr<Op> make_geglu(Buffer x);
std::shared_ptr<Op> make_attention(Buffer qkv, std::int64_t num_heads, std::int64_t head_size,
                                   AttentionOptions options);
template <class Acc>
std::shared_ptr<ProductOp> make_linear(Buffer x, RowKind rows, PackedB<Acc> w, Epilogue epilogue);

}  // namespace fbg
