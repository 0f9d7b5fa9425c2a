// Graph: a network as a list of ops and the buffers between them. A graph shares its weights and
// knows no sizes of runs; a Plan (plan.h) prepares it for a capacity and runs it.
//
// A buffer is a matrix. Its rows are the tokens or the sequences of a run, and its columns are the
// features of a row. Tokens of all sequences are end to end without padding. Ops are data: a kind,
// which is a name, and fields. To add one, see src/plan/ops/ops.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fbg/conv/packed_conv.h"
#include "fbg/core/types.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/kernels/stage.h"

namespace fbg {

class Op;  // a described operation: src/plan/ops/ops.h

// Dense elements of a type that `dtype` names as NumPy does.
struct Array {
  std::shared_ptr<const std::byte> data;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t nbytes = 0;
};

// A field of an op: a number, a text, weights, a list of any of these; nothing where an optional
// field is left out.
struct FieldValue {
  using List = std::vector<FieldValue>;
  using Any = std::variant<std::monostate, std::int64_t, double, std::string,
                           std::vector<std::int64_t>, List, Array, PackedMatrix, PackedConv>;
  FieldValue() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, FieldValue> && std::constructible_from<Any, T>)
      FieldValue(T&& value)
      : is(std::forward<T>(value)) {}  // NOLINT: data become fields

  Any is;
};

// What a row of a buffer stands for. A buffer of kind `tensor` is a single row: the dense elements
// of a tensor of any shape, in whatever order of axes the builder of the graph has chosen. It
// counts bytes, or floats where the plan may hold them as bfloat16; an op brings all that it has to
// know of it: extents, strides and types. Images are channels-last.
enum class RowKind : std::uint8_t { token, sequence, tensor };

// Number of a buffer of a graph: buffer i is written by op i.
using Buffer = std::int32_t;

struct BufferShape {
  RowKind rows = RowKind::token;
  std::int64_t cols = 0;
  ValueType type = ValueType::float32;  // of an element: float32, bfloat16, uint8 or int8
  friend bool operator==(const BufferShape&, const BufferShape&) = default;
};

// Products with the same GEMM type and sizes. Blockings are measured and chosen by kind.
struct ProductKind {
  GemmType gemm_type;
  std::int64_t k, n;
  friend bool operator==(const ProductKind&, const ProductKind&) = default;
};

class Graph {
 public:
  // Appends an op of a kind (src/plan/kinds.cc) and returns its output. `given` are its first
  // fields, in their order; `named` are others. Throws std::invalid_argument where there is no such
  // kind or field, or where the op does not fit.
  using Named = std::vector<std::pair<std::string, FieldValue>>;
  Buffer append(const std::string& kind, FieldValue::List given, Named named = {});

  // What a run hands back, in order of these calls: a dense matrix in the caller's memory
  // (RunArgs::outputs).
  void output(Buffer x);

  // Plans may hold floats between ops as bfloat16 wherever that changes results by no more than
  // its rounding, and not only where it changes none.
  void allow_bfloat16() { allows_bfloat16_ = true; }

  BufferShape shape(Buffer x) const;
  std::int32_t num_ops() const { return static_cast<std::int32_t>(ops_.size()); }
  std::span<const Buffer> inputs() const { return inputs_; }
  std::span<const Buffer> outputs() const { return outputs_; }
  // Kinds of the linear layers that compute a row per token, in order of their first layer.
  std::vector<ProductKind> products() const;

  // Exclusive bounds of the indices that a run may bring; kUnread where no op reads them.
  static constexpr std::int64_t kUnread = 0;
  struct Limits {
    std::int64_t word = kUnread, position_id = kUnread, type = kUnread, sequence_position = kUnread;
  };
  const Limits& limits() const { return limits_; }

 private:
  friend class Plan;
  friend class Tuner;
  friend Buffer append_op(Graph& graph, std::shared_ptr<Op> op);

  std::vector<std::shared_ptr<const Op>> ops_;  // op i writes buffer i
  std::vector<BufferShape> shapes_;
  std::vector<Buffer> inputs_, outputs_;
  bool allows_bfloat16_ = false;
  Limits limits_;
};

}  // namespace fbg
