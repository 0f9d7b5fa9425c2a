// Conversions of elements between any two types.
#include <algorithm>
#include <limits>

#include "core/policy.h"
#include "plan/ops/element_types.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kPiece = policy::tensors::kFloats;

// Converts n elements.
using Kernel = void (*)(const std::byte* x, std::size_t n, std::byte* y);

template <class T>
auto number_of(T x) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return to_float(x);
  else
    return x;
}

template <class To, class From>
To integer_of(From x) {
  if constexpr (std::is_integral_v<From>) {
    return static_cast<To>(x);
  } else {
    using Wide = std::conditional_t<(sizeof(To) < 4), std::int32_t, To>;
    constexpr auto lowest = std::numeric_limits<Wide>::lowest();
    constexpr auto highest = std::numeric_limits<Wide>::max();
    if (std::isnan(x)) return static_cast<To>(lowest);
    // The limits as floats: the greater one may be rounded up, and is then out of range.
    if (x < static_cast<From>(lowest)) return static_cast<To>(lowest);
    if (x >= static_cast<From>(highest)) return static_cast<To>(highest);
    return static_cast<To>(static_cast<Wide>(x));
  }
}

template <class To, class From>
To converted(From given) {
  const auto x = number_of(given);
  if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)
    return from_float<To>(static_cast<float>(x));
  else if constexpr (std::is_integral_v<To>)
    return integer_of<To>(x);
  else
    return static_cast<To>(x);
}

template <class From, class To>
void convert_row(const std::byte* x, std::size_t n, std::byte* y) {
  const From* const from = reinterpret_cast<const From*>(x);
  To* const to = reinterpret_cast<To*>(y);
  for (std::size_t i = 0; i < n; ++i) to[i] = converted<To>(from[i]);
}

// Like with_number, of all types.
template <class Use>
Kernel with_element(ElementType type, Use use) {
  if (type == ElementType::boolean) return use.template operator()<bool>();
  if (type == ElementType::float16) return use.template operator()<float16>();
  if (type == ElementType::bfloat16) return use.template operator()<bfloat16>();
  return with_number(type, "convert", use);
}

class ConvertOp final : public Op {
 public:
  ConvertOp(Buffer x, std::int64_t elements, ElementType from, ElementType to)
      : Op("convert", {x}),
        elements_(elements),
        from_(element_bytes(from)),
        to_(element_bytes(to)),
        to_int64_(from == ElementType::float32 && to == ElementType::int64),
        kernel_(with_element(from, [&]<class From>() {
          return with_element(to, []<class To>() -> Kernel { return convert_row<From, To>; });
        })) {
    shape = tensor_shape(checked_product({elements, to_}, "convert"));
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const auto store_int64 = simd::kernels(context.features).conversions.store_int64;
    return make_unit_step(
        ceil_div(elements_, kPiece), 0,
        [this, store_int64](const Frame& frame, std::byte*, int, Range units) {
          const std::int64_t first = units.begin * kPiece;
          const std::int64_t end = std::min(units.end * kPiece, elements_);
          const std::byte* const x = frame[inputs[0]].data + first * from_;
          if (to_int64_)
            return store_int64(reinterpret_cast<const float*>(x),
                               static_cast<std::size_t>(end - first),
                               reinterpret_cast<std::int64_t*>(frame[output].data) + first);
          kernel_(x, static_cast<std::size_t>(end - first), frame[output].data + first * to_);
        });
  }

 private:
  const std::int64_t elements_;
  const int from_, to_;
  const bool to_int64_;  // of floats, in vectors
  const Kernel kernel_;
};

}  // namespace

Buffer convert(Graph& graph, Buffer x, ElementType from, ElementType to) {
  const std::int64_t elements = tensor_bytes(graph, x) / element_bytes(from);
  require_bytes(graph, x, elements * element_bytes(from), "convert: x");
  return append_op(graph, std::make_shared<ConvertOp>(x, elements, from, to));
}

Buffer kinds::convert(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const auto from = f.get<ElementType>("from"), to = f.get<ElementType>("to");
  f.require_all_read();
  return fbg::convert(graph, x, from, to);
}

}  // namespace fbg
