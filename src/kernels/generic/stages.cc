// The scalar implementation of every stage: the reference of the emitters, and the output pipeline
// of the portable kernels.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/float16.h"
#include "core/gelu_coefficients.h"
#include "fbg/kernels/output.h"
#include "kernels/functions.h"

namespace fbg {

float Gelu::apply(float x) {
  const float magnitude = std::fabs(x);
  const float t = kGeluClamp < magnitude ? kGeluClamp : magnitude;
  const float rounded = std::fma(t, kGeluScale, kGeluRounder);
  const float u = std::fma(t, kGeluScale, -(rounded - kGeluRounder));
  const std::uint32_t i = std::bit_cast<std::uint32_t>(rounded) % kGeluPieces;
  float g = kGeluTable[std::size(kGeluTable) - 1][i];
  for (std::size_t j = std::size(kGeluTable) - 1; j-- > 0;) g = std::fma(g, u, kGeluTable[j][i]);
  return (0.0f > x ? 0.0f : x) - g;
}

float Tanh::apply(float x) { return apply_function(Operation::tanh, x, 0); }
float Sigmoid::apply(float x) { return apply_function(Operation::sigmoid, x, 0); }
float GeluTanh::apply(float x) { return apply_function(Operation::gelu_tanh, x, 0); }

void RowRange::reset(std::int64_t count) const noexcept {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::fill_n(rows, count, RowExtent{infinity, -infinity});
}

void RowRange::widen(RowExtent& row, float lo, float hi) noexcept {
  const std::atomic_ref<RowExtent> shared(row);
  RowExtent old = shared.load(std::memory_order_relaxed), wide;
  const bool nan = std::isnan(lo) || std::isnan(hi);
  do {  // comparisons with a NaN that is there already leave it
    wide = {lo + 0.0f < old.lo ? lo + 0.0f : old.lo, hi + 0.0f > old.hi ? hi + 0.0f : old.hi};
    if (nan) wide.lo = wide.hi = std::numeric_limits<float>::quiet_NaN();
    if (std::memcmp(&wide, &old, sizeof(wide)) == 0) return;
  } while (!shared.compare_exchange_weak(old, wide, std::memory_order_relaxed));
}

namespace {

// The number that an element of a matrix stands for.
float element(ValueType type, const StageArgs& args, const Element& e) {
  const auto* row = static_cast<const std::byte*>(args.data) + e.row * args.ld;
  const auto at = [&]<class T>(std::type_identity<T>) {
    return reinterpret_cast<const T*>(row)[e.col];
  };
  switch (type) {
    case ValueType::uint8:
      return Add::real(at(std::type_identity<std::uint8_t>()), args.f0, args.f1);
    case ValueType::int8:
      return Add::real(at(std::type_identity<std::int8_t>()), args.f0, args.f1);
    case ValueType::float16:
      return to_float(at(std::type_identity<float16>()));
    case ValueType::bfloat16:
      return to_float(at(std::type_identity<bfloat16>()));
    default:
      return at(std::type_identity<float>());
  }
}

// The scalar forms. Each gets the value, the parameters and the place of an element of C.
struct Stages {
  const StageCode& code;
  const StageArgs& args;
  const Element& e;

  template <float (*function)(float)>
  Value of_float(Value x) const {
    return {.f = function(x.f)};
  }
  std::int32_t corrected(Value x) const {
    return code.in == ValueType::acc ? CorrectZeroPoints::apply(x.i, e) : x.i;
  }
  Value correct(Value x) const { return {.i = corrected(x)}; }
  Value dequantize(Value x) const { return {.f = Dequantize::apply(corrected(x), e)}; }
  float operand() const {
    switch (code.binary.operand) {
      case OperandKind::columns:
        return static_cast<const float*>(args.data)[e.col];
      case OperandKind::matrix:
        return element(code.operand, args, e);
      case OperandKind::slot:
        return e.slots[code.binary.slot].f;
      default:
        return args.f0;
    }
  }
  Value binary(Value x) const {
    if (code.in != ValueType::float32) {
      const auto* const values = static_cast<const std::uint32_t*>(args.data);
      return {.i = static_cast<std::int32_t>(static_cast<std::uint32_t>(x.i) + values[e.col])};
    }
    const float y = operand();
    return {.f = code.binary.reversed ? apply_function(code.binary.operation, y, x.f)
                                      : apply_function(code.binary.operation, x.f, y)};
  }
  Value save(Value x) const { return e.slots[code.binary.slot] = x; }
  Value relu(Value x) const {
    if (code.in == ValueType::float32) return {.f = 0.0f > x.f ? 0.0f : x.f};
    return {.i = std::max(x.i, 0)};
  }
  Value clip(Value x) const { return {.f = Clip::apply(x.f, args.f0, args.f1)}; }
  Value cast(Value x) const {
    return {.i = code.out == ValueType::float16 ? from_float<float16>(x.f).bits
                                                : from_float<bfloat16>(x.f).bits};
  }
  Value requantize(Value x) const {
    if (code.in == ValueType::float32) return looked_up(Requantize::apply(x.f / args.f0, args));
    const float scale = e.folded ? e.b_scale : (e.a_scale * e.b_scale) / args.f0;
    return looked_up(Requantize::apply(static_cast<float>(corrected(x)) * scale, args));
  }
  Value looked_up(std::int32_t q) const {
    if (!code.specialization.looked_up) return {.i = q};
    const std::uint8_t byte = static_cast<const std::uint8_t*>(args.data)[q & 0xff];
    return {.i = code.out == ValueType::int8 ? static_cast<std::int8_t>(byte) : byte};
  }
  Value row_range(Value x) const {
    const auto* rows = static_cast<const std::byte*>(args.data) + e.row * args.ld;
    RowRange::widen(*reinterpret_cast<RowExtent*>(const_cast<std::byte*>(rows)), x.f, x.f);
    return x;
  }
};

// The same for elements of C that follow each other, of which e is the first.
using ApplyStage = void (*)(const StageCode& code, const StageArgs& args, Value* x,
                            std::int64_t count, Element e) noexcept;
template <Value (Stages::*form)(Value) const>
void apply(const StageCode& code, const StageArgs& args, Value* x, std::int64_t count,
           Element e) noexcept {
  for (const std::int64_t end = e.col + count; e.col < end; ++e.col, ++x)
    *x = (Stages{code, args, e}.*form)(*x);
}

struct ScalarRow {
  StageKind kind;
  ApplyStage run;
};
constexpr ScalarRow kScalars[] = {
    {StageKind::correct_zero_points, apply<&Stages::correct>},
    {StageKind::dequantize, apply<&Stages::dequantize>},
    {StageKind::bias, apply<&Stages::binary>},
    {StageKind::relu, apply<&Stages::relu>},
    {StageKind::gelu, apply<&Stages::of_float<Gelu::apply>>},
    {StageKind::gelu_tanh, apply<&Stages::binary>},
    {StageKind::tanh, apply<&Stages::binary>},
    {StageKind::sigmoid, apply<&Stages::binary>},
    {StageKind::clip, apply<&Stages::clip>},
    {StageKind::scale, apply<&Stages::binary>},
    {StageKind::add, apply<&Stages::binary>},
    {StageKind::cast, apply<&Stages::cast>},
    {StageKind::requantize, apply<&Stages::requantize>},
    {StageKind::row_range, apply<&Stages::row_range>},
    {StageKind::binary, apply<&Stages::binary>},
    {StageKind::save, apply<&Stages::save>},
};
static_assert(lists_stages(kScalars));

}  // namespace

Value apply_stage(const StageCode& code, const StageArgs& args, Value x,
                  const Element& e) noexcept {
  kScalars[static_cast<std::size_t>(code.kind)].run(code, args, &x, 1, e);
  return x;
}

void apply_stage(const StageCode& code, const StageArgs& args, Value* x, std::int64_t count,
                 std::int64_t row, std::int64_t col) noexcept {
  Element e{};
  e.row = row;
  e.col = col;
  kScalars[static_cast<std::size_t>(code.kind)].run(code, args, x, count, e);
}

void store_values(const Value* x, std::int64_t count, ValueType type, void* to) noexcept {
  const auto store = [&]<class T>(T* out, auto member) {
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(x[j].*member);
  };
  switch (type) {
    case ValueType::acc:
    case ValueType::int32:
      return store(static_cast<std::int32_t*>(to), &Value::i);
    case ValueType::float32:
      return store(static_cast<float*>(to), &Value::f);
    case ValueType::float16:
    case ValueType::bfloat16:
      return store(static_cast<std::uint16_t*>(to), &Value::i);
    case ValueType::uint8:
      return store(static_cast<std::uint8_t*>(to), &Value::i);
    case ValueType::int8:
      return store(static_cast<std::int8_t*>(to), &Value::i);
  }
}

}  // namespace fbg
