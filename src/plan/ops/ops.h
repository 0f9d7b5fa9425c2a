// The interface of ops of a graph to the plan. An Op is described once and knows its operands; its
// prepare() makes a Step, which is all that a run sees.
//
// To add an op, write src/plan/ops/<op>.cc: a class that derives from Op, whose members are
// declared with the fields that they come from and whose constructor checks them and says what the
// output is; the Step that it makes (or a function of one row, row_step.h); and the function of
// kinds.h that appends it, with a row in the table of kinds (src/plan/kinds.cc). Nothing else knows
// the ops: CMake takes every file of this folder, and storage, lifetimes, threads and profiles
// follow from what an Op and its Step answer here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/core/types.h"
#include "fbg/plan/plan.h"
#include "plan/fields.h"
#include "plan/kinds.h"

namespace fbg {

// The target of ops. All that an op chooses by ISA follows from `features`: the limit that
// is active meanwhile may be another.
struct PrepareContext {
  const Capacity& capacity;
  Features features;
  // The element type of each buffer: as in the graph, or bfloat16 where the plan has chosen to
  // hold floats so (plan.cc); or uint8 where all who read it quantize its rows, and the op that
  // writes them does it (quantized_rows.h), on which no bit of a result depends.
  std::span<const ValueType> types;
  // Of each buffer whose rows are quantized: the factors of its columns, or null.
  std::span<const float* const> factors = {};

  ValueType type(Buffer b) const { return types[static_cast<std::size_t>(b)]; }
};

// A buffer during a run.
struct BufferView {
  std::byte* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_bytes = 0;  // between rows

  template <class T>
  MatrixView<T> as() const {
    return {reinterpret_cast<T*>(data), rows, cols,
            row_bytes / static_cast<std::int64_t>(sizeof(T)), 1};
  }
  BufferView part(Range r) const { return {data + r.begin * row_bytes, r.size(), cols, row_bytes}; }
};

// A run in progress, as steps see it.
struct Frame {
  const RunArgs& args;
  std::span<const BufferView> buffers;  // with the rows of this run
  std::atomic<Buffer>& failed;          // what Plan::run returns
  int phase = 0;                        // of the step, if it has several

  const BufferView& operator[](Buffer b) const { return buffers[static_cast<std::size_t>(b)]; }
  MatrixView<float> floats(Buffer b) const { return (*this)[b].as<float>(); }
  // The op that writes `b` met indices that it cannot use. The run goes on.
  void fail(Buffer b) const noexcept {
    Buffer none = Plan::kNone;
    failed.compare_exchange_strong(none, b);
  }
};

// The rows that go to an expert: those with a weight other than 0 in its column of (rows, experts).
struct Routes {
  Buffer weights = -1;
  std::int64_t expert = 0;

  float weight(const Frame& frame, std::int64_t row) const;
  std::int64_t count(const Frame& frame, std::int64_t rows) const;  // of the first rows
  friend bool operator==(const Routes&, const Routes&) = default;
};

class Step {
 public:
  virtual ~Step() = default;
  // Name of the microkernel that does most of the work, if one does.
  // Of a run of so many tokens.
  virtual std::string kernel(std::int64_t, int) const { return {}; }
  // How it cuts a product, by number of rows, where that is not left to the cost model.
  virtual std::string blocking() const { return {}; }
  // Its memory, beyond weights and kernels, which it shares with others.
  virtual std::size_t nbytes() const noexcept { return sizeof *this; }
  // Scratch of all threads together, needed only while the step runs.
  virtual std::size_t scratch_bytes() const noexcept { return 0; }
  // The number of phases in which so many threads compute the step, each after the one before.
  virtual int phases([[maybe_unused]] int num_threads) const noexcept { return 1; }
  // Computes the share of one thread of the phase in `frame`. Which thread computes a share, and
  // when, is open: shares of a phase must not wait for each other, and a share that needs memory of
  // its own has that of its number. `scratch` is aligned to 64 and common to all threads.
  virtual void run(const Frame& frame, std::byte* scratch, int thread_id,
                   int num_threads) const noexcept = 0;
};

// How an op takes floats that the plan holds as bfloat16.
enum class Halves : std::uint8_t {
  no,
  rounded,  // it would round them itself, and gives the same bits
  widened,  // it computes with the rounded numbers
  moved,    // it moves them, where its output is bfloat16 as well
  kept,     // the same of an op that does not round: its output is bfloat16 only where they are
};

class Op {
 public:
  Op(std::string op_name, std::vector<Buffer> op_inputs)
      : name(std::move(op_name)), inputs(std::move(op_inputs)) {}
  // An op whose members come from fields.
  Op(std::string op_name, Fields& f) : name(std::move(op_name)), fields_(&f) {}
  virtual ~Op() = default;

  // Everything that needs time, memory or a decision; the Step refers to this Op. Null where a run
  // has nothing to do.
  virtual std::unique_ptr<Step> prepare(const PrepareContext& context) const = 0;
  // How the op reads inputs[i].
  virtual Halves reads_bfloat16([[maybe_unused]] std::size_t i,
                                [[maybe_unused]] Features features) const {
    return Halves::no;
  }
  // Whether it can round its results.
  virtual bool can_write_bfloat16() const { return false; }
  // Where all that it does with inputs[i] is to quantize its rows, each by itself: the factors by
  // which it multiplies columns before, or null.
  virtual std::optional<const float*> quantized_factors([[maybe_unused]] std::size_t i) const {
    return {};
  }
  // Whether it can quantize the rows of its results.
  virtual bool can_write_quantized() const { return false; }
  // The content of the output, if known before any run: no step writes it.
  virtual const std::byte* constant() const { return nullptr; }

  std::string name;
  std::vector<Buffer> inputs;
  BufferShape shape;      // of the output
  Buffer output = -1;     // set by Graph
  bool in_place = false;  // the output may take the place of inputs[0], if nobody reads that later
  std::optional<Routes> routed = {};  // where only the rows that go to an expert are computed
  Graph::Limits limits = {};          // of the indices that it reads

 protected:
  // While an op is made: the next field, as the type of the member that it initializes.
  Fields& fields() const { return *fields_; }
  Fields::Next field(const char* field_name) const { return fields()(field_name); }
  template <class D>
  Fields::NextOr<D> field(const char* field_name, D otherwise) const {
    return fields()(field_name, otherwise);
  }
  // The same of a buffer, which becomes the next of the inputs.
  Buffer input(const char* field_name) {
    return inputs.emplace_back(fields().get<Buffer>(field_name));
  }
  std::optional<Buffer> find_input(const char* field_name) {
    const auto found = fields().find<Buffer>(field_name);
    if (found) inputs.push_back(*found);
    return found;
  }
  BufferShape shape_of(Buffer b) const { return fields().graph().shape(b); }

 private:
  Fields* fields_ = nullptr;  // valid while the op is made
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

// Bytes between rows of a buffer in the arena.
inline std::int64_t arena_row_bytes(std::int64_t cols, ValueType type) {
  return row_distance(cols * value_size(type));
}

Buffer append_op(Graph& graph, std::shared_ptr<Op> op);

// Appends an op that consists of all of the fields.
template <class T>
Buffer append_as(Graph& graph, Fields& f) {
  auto op = std::make_shared<T>(f);
  f.require_all_read();
  return append_op(graph, std::move(op));
}

// Throws std::invalid_argument with the message unless the condition holds.
void require(bool condition, const std::string& message);
// `v` must be a row of n floats.
void require_vector(const SharedMatrix& v, std::int64_t n, const char* what);
// `op` reads floats.
void require_floats(const char* op, const BufferShape& x);
// "(rows, cols)"
std::string shape_text(const SharedMatrix& m);
// Indices must be less than `limit`, too; 0: that of an op that reads none.
void lower_limit(std::int64_t& bound, std::int64_t limit);

// The rows, of `rows`, that a thread computes where rows are independent.
inline Range thread_rows(std::int64_t rows, int thread_id, int num_threads) {
  return {rows * thread_id / num_threads, rows * (thread_id + 1) / num_threads};
}

// Rows of a buffer in the largest run that a capacity allows.
inline std::int64_t max_rows(const Capacity& capacity, const BufferShape& shape) {
  if (shape.rows == RowKind::tensor) return 1;
  return shape.rows == RowKind::token ? capacity.tokens : capacity.sequences;
}

}  // namespace fbg
