// Functions of elements of any type, line by line of the innermost extent; an operand that is not
// dense along it is copied to scratch first.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/policy.h"
#include "plan/ops/element_types.h"

namespace fbg {
namespace {

constexpr std::int64_t kPiece = policy::tensors::kFloats;  // of a line
constexpr std::size_t kPieceBytes = kPiece * 8;
constexpr std::size_t kMostOperands = 3;

// Computes n elements of y from those of operands x.
using Kernel = void (*)(const std::byte* const* x, std::size_t n, std::byte* y);

template <class T, auto kFunction>
void unary(const std::byte* const* x, std::size_t n, std::byte* y) {
  const T* const a = reinterpret_cast<const T*>(x[0]);
  T* const to = reinterpret_cast<T*>(y);
  for (std::size_t i = 0; i < n; ++i) to[i] = kFunction(a[i]);
}
template <class T, auto kFunction>
void binary(const std::byte* const* x, std::size_t n, std::byte* y) {
  const T *const a = reinterpret_cast<const T*>(x[0]), *const b = reinterpret_cast<const T*>(x[1]);
  using Y = decltype(kFunction(T{}, T{}));
  auto* const to =
      reinterpret_cast<std::conditional_t<std::is_same_v<Y, bool>, std::uint8_t, Y>*>(y);
  for (std::size_t i = 0; i < n; ++i) to[i] = kFunction(a[i], b[i]);
}
// Only moves elements: T is an unsigned integer of their size.
template <class T>
void select(const std::byte* const* x, std::size_t n, std::byte* y) {
  const auto* const a = reinterpret_cast<const std::uint8_t*>(x[0]);
  const T *const b = reinterpret_cast<const T*>(x[1]), *const c = reinterpret_cast<const T*>(x[2]);
  T* const to = reinterpret_cast<T*>(y);
  for (std::size_t i = 0; i < n; ++i) to[i] = a[i] != 0 ? b[i] : c[i];
}

template <class T>
T negated(T a) {
  if constexpr (std::is_floating_point_v<T>) return -a;
  return wrapped(T{0}, a, [](auto u, auto v) { return u - v; });
}
template <class T>
T absolute(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::abs(a);
  return a < T{0} ? negated(a) : a;
}
template <class T>
T sign(T a) {
  return is_nan(a) ? a : static_cast<T>((a > T{0}) - (a < T{0}));
}
template <class T>
T difference(T a, T b) {
  return wrapped(a, b, [](auto u, auto v) { return u - v; });
}
// Truncated. A quotient by the integer 0 is 0, and so is its remainder.
template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == T{-1}) return negated(a);
    return static_cast<T>(a / b);
  }
}
// The remainder of the truncated quotient, which has the sign of a.
template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == T{-1}) return 0;
    return static_cast<T>(a % b);
  }
}
// The remainder of the quotient rounded down, which has the sign of b.
template <class T>
T modulo(T a, T b) {
  const T r = remainder(a, b);
  if (r == T{0}) {
    if constexpr (std::is_floating_point_v<T>) return std::copysign(r, b);
    return r;
  }
  return (r < T{0}) != (b < T{0}) ? static_cast<T>(r + b) : r;
}
template <class T>
T power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if (b < T{0}) {  // truncated
      const bool odd = (static_cast<std::uint64_t>(b) & 1) != 0;
      return a == T{1} ? a : absolute(a) == T{1} ? (odd ? a : T{1}) : T{0};
    }
    auto n = static_cast<std::uint64_t>(b);
    T result = 1;
    for (T factor = a; n != 0; n >>= 1, factor = product_of(factor, factor))
      if (n & 1) result = product_of(result, factor);
    return result;
  }
}

template <class T>
bool is_less(T a, T b) {
  return a < b;
}
template <class T>
bool is_less_equal(T a, T b) {
  return a <= b;
}
template <class T>
bool is_greater(T a, T b) {
  return a > b;
}
template <class T>
bool is_greater_equal(T a, T b) {
  return a >= b;
}
template <class T>
bool is_equal(T a, T b) {
  return a == b;
}

struct Named {
  std::string_view name;
  std::size_t operands;
  bool gives_boolean;
  Kernel kernel;
};

template <class T>
constexpr auto kArithmetic = std::to_array<Named>({
    {"negate", 1, false, unary<T, negated<T>>},
    {"absolute", 1, false, unary<T, absolute<T>>},
    {"sign", 1, false, unary<T, sign<T>>},
    {"add", 2, false, binary<T, sum_of<T>>},
    {"subtract", 2, false, binary<T, difference<T>>},
    {"multiply", 2, false, binary<T, product_of<T>>},
    {"divide", 2, false, binary<T, quotient<T>>},
    {"remainder", 2, false, binary<T, remainder<T>>},
    {"modulo", 2, false, binary<T, modulo<T>>},
    {"power", 2, false, binary<T, power<T>>},
    {"maximum", 2, false, binary<T, max_of<T>>},
    {"minimum", 2, false, binary<T, min_of<T>>},
    {"less", 2, true, binary<T, is_less<T>>},
    {"less_equal", 2, true, binary<T, is_less_equal<T>>},
    {"greater", 2, true, binary<T, is_greater<T>>},
    {"greater_equal", 2, true, binary<T, is_greater_equal<T>>},
    {"equal", 2, true, binary<T, is_equal<T>>},
});
// By all bits or more, all of them move out, and the sign moves in.
template <class T>
T shifted_left(T a, T b) {
  const auto n = static_cast<std::uint64_t>(b);
  return n < 8 * sizeof(T) ? static_cast<T>(static_cast<std::uint64_t>(a) << n) : T{0};
}
template <class T>
T shifted_right(T a, T b) {
  const auto n = static_cast<std::uint64_t>(b);
  if (n < 8 * sizeof(T)) return static_cast<T>(a >> n);
  return a < T{0} ? static_cast<T>(~T{0}) : T{0};
}

// Of integers.
template <class T>
T inverted(T a) {
  return static_cast<T>(~a);
}
template <class T>
T bits_of_both(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T bits_of_either(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T bits_of_one(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
constexpr auto kBits = std::to_array<Named>({
    {"bitwise_not", 1, false, unary<T, inverted<T>>},
    {"bitwise_and", 2, false, binary<T, bits_of_both<T>>},
    {"bitwise_or", 2, false, binary<T, bits_of_either<T>>},
    {"bitwise_xor", 2, false, binary<T, bits_of_one<T>>},
    {"shift_left", 2, false, binary<T, shifted_left<T>>},
    {"shift_right", 2, false, binary<T, shifted_right<T>>},
});

Named select_of(int bytes) {
  const Kernel kernel = bytes == 1   ? select<std::uint8_t>
                        : bytes == 2 ? select<std::uint16_t>
                        : bytes == 4 ? select<std::uint32_t>
                                     : select<std::uint64_t>;
  return {"select", 3, false, kernel};
}

Named function_named(std::string_view name, ElementType type) {
  if (name == "select") return select_of(element_bytes(type));
  return with_wide_number(computed_in(type), "function", [&]<class T>() -> Named {
    for (const Named& function : kArithmetic<T>)
      if (function.name == name) return function;
    if constexpr (std::is_integral_v<T>)
      for (const Named& function : kBits<T>)
        if (function.name == name) return function;
    throw std::invalid_argument("function: there is no function '" + std::string(name) + "'");
  });
}

// Elements of a line as a dense row.
void take_line(const std::byte* from, std::int64_t stride, int bytes, std::int64_t n,
               std::byte* to) {
  const auto copy = [&]<class T>(T) {
    const T* const x = reinterpret_cast<const T*>(from);
    T* const y = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
  };
  if (bytes == 1) return copy(std::uint8_t{});
  if (bytes == 2) return copy(std::uint16_t{});
  if (bytes == 4) return copy(std::uint32_t{});
  copy(std::uint64_t{});
}

// strides: between elements of an operand along the extents of a function; 0 repeats one.
struct StridedOperand {
  explicit StridedOperand(Fields& f) : buffer(f("buffer")), strides(f.get<Extents>("strides")) {}
  Buffer buffer;
  Extents strides;
};

// y = f(a) or f(a, b), where a and b have the type, y has it or is boolean; "select" is
// a ? b : c, where a is boolean. There are no functions of float16 and bfloat16 but "select".
class FunctionOp final : public Op {
 public:
  explicit FunctionOp(Fields& f) : Op("function", f), named_(function_named(function_, type_)) {
    name = function_;
    require(!extents_.empty(), "function: there must be extents");
    require(operands_.size() == named_.operands,
            "function: " + name + " takes " + std::to_string(named_.operands) + " operands");
    const std::int64_t elements = checked_product(extents_, "function");
    for (const StridedOperand& x : operands_) {
      require(x.strides.size() == extents_.size(), "function: wanted a stride for each extent");
      std::int64_t last = 0;
      for (std::size_t a = 0; a < extents_.size(); ++a) {
        require(x.strides[a] >= 0, "function: strides must not be negative");
        last += (extents_[a] - 1) * x.strides[a];
      }
      const bool fits =
          (last + 1) * operand_bytes(inputs.size()) <= tensor_bytes(fields().graph(), x.buffer);
      require(shape_of(x.buffer).rows == RowKind::tensor && fits,
              "function: strides reach beyond their operand");
      inputs.push_back(x.buffer);
    }
    shape = tensor_shape(checked_product({elements, result_bytes()}, "function"));
  }

  // Appends the op, with conversions where the function is not compiled for its type.
  static Buffer append(Graph& graph, std::shared_ptr<FunctionOp> op) {
    const ElementType type = op->type_, wide = computed_in(type);
    if (wide == type || op->function_ == "select") return append_op(graph, std::move(op));
    for (Buffer& x : op->inputs) x = convert(graph, x, type, wide);
    const std::int64_t elements = op->shape.cols / op->result_bytes();
    op->type_ = wide;
    op->shape = tensor_shape(elements * op->result_bytes());
    const bool gives_boolean = op->named_.gives_boolean;
    const Buffer y = append_op(graph, std::move(op));
    return gives_boolean ? y : convert(graph, y, wide, type);
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const std::int64_t inner = extents_.back();
    const std::int64_t pieces = ceil_div(inner, kPiece);
    const std::int64_t lines = checked_product(extents_, "function") / inner;
    const auto threads = static_cast<std::size_t>(context.capacity.threads);
    return make_unit_step(
        lines * pieces, threads * kMostOperands * kPieceBytes,
        [this, inner, pieces](const Frame& frame, std::byte* scratch, int thread_id, Range units) {
          std::byte* const own =
              scratch + static_cast<std::size_t>(thread_id) * kMostOperands * kPieceBytes;
          for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
            const std::int64_t first = unit % pieces * kPiece;
            piece(frame, own, unit / pieces, first, std::min(kPiece, inner - first));
          }
        });
  }

 private:
  void piece(const Frame& frame, std::byte* scratch, std::int64_t line, std::int64_t first,
             std::int64_t n) const {
    const std::byte* x[kMostOperands] = {};
    const std::size_t rank = extents_.size();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<std::int64_t>& strides = operands_[i].strides;
      std::int64_t at = first * strides.back();
      for (std::size_t a = rank - 1, rest = static_cast<std::size_t>(line); a-- > 0;) {
        const auto extent = static_cast<std::size_t>(extents_[a]);
        at += static_cast<std::int64_t>(rest % extent) * strides[a];
        rest /= extent;
      }
      const int bytes = operand_bytes(i);
      x[i] = frame[inputs[i]].data + at * bytes;
      if (strides.back() == 1) continue;
      std::byte* const row = scratch + i * kPieceBytes;
      take_line(x[i], strides.back(), bytes, n, row);
      x[i] = row;
    }
    named_.kernel(x, static_cast<std::size_t>(n),
                  frame[output].data + (line * extents_.back() + first) * result_bytes());
  }

  int operand_bytes(std::size_t i) const {
    return function_ == "select" && i == 0 ? 1 : element_bytes(type_);
  }
  int result_bytes() const { return named_.gives_boolean ? 1 : element_bytes(type_); }

  const std::string function_ = field("function");
  ElementType type_ = field("type");
  const Extents extents_ = field("extents");  // of the output, which is dense
  const std::vector<StridedOperand> operands_ = field("operands");
  const Named named_;
};

}  // namespace

Buffer kinds::function(Graph& graph, Fields& f) {
  auto op = std::make_shared<FunctionOp>(f);
  f.require_all_read();
  return FunctionOp::append(graph, std::move(op));
}

}  // namespace fbg
