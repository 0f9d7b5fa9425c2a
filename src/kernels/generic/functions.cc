// Functions of elements on single floats: the scalar implementation of stages.
#include "kernels/functions.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace fbg {
namespace {

// A value of 32 bits, for kernels/functions.h.
struct Scalar {
  float f;
  Scalar(float x) : f(x) {}
  static Scalar of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
  std::uint32_t bits() const { return std::bit_cast<std::uint32_t>(f); }
};
Scalar mask(bool holds) { return Scalar::of_bits(holds ? ~0u : 0u); }
std::int32_t integer(Scalar x) { return std::bit_cast<std::int32_t>(x.f); }

Scalar operator+(Scalar a, Scalar b) { return a.f + b.f; }
Scalar operator-(Scalar a, Scalar b) { return a.f - b.f; }
Scalar operator*(Scalar a, Scalar b) { return a.f * b.f; }
Scalar operator/(Scalar a, Scalar b) { return a.f / b.f; }
Scalar operator&(Scalar a, Scalar b) { return Scalar::of_bits(a.bits() & b.bits()); }
Scalar operator|(Scalar a, Scalar b) { return Scalar::of_bits(a.bits() | b.bits()); }
Scalar fma(Scalar a, Scalar b, Scalar c) { return std::fma(a.f, b.f, c.f); }
Scalar least(Scalar a, Scalar b) { return a.f < b.f ? a : b; }
Scalar greatest(Scalar a, Scalar b) { return a.f > b.f ? a : b; }
Scalar less(Scalar a, Scalar b) { return mask(a.f < b.f); }
Scalar less_equal(Scalar a, Scalar b) { return mask(a.f <= b.f); }
Scalar equal(Scalar a, Scalar b) { return mask(a.f == b.f); }
Scalar greater_int(Scalar a, Scalar b) { return mask(integer(a) > integer(b)); }
Scalar equal_int(Scalar a, Scalar b) { return mask(a.bits() == b.bits()); }
Scalar select(Scalar where, Scalar then, Scalar otherwise) {
  return where.bits() ? then : otherwise;
}
Scalar shift_left(Scalar a, int n) { return Scalar::of_bits(a.bits() << n); }
Scalar shift_right(Scalar a, int n) { return Scalar::of_bits(a.bits() >> n); }
Scalar add_int(Scalar a, Scalar b) { return Scalar::of_bits(a.bits() + b.bits()); }
Scalar subtract_int(Scalar a, Scalar b) { return Scalar::of_bits(a.bits() - b.bits()); }
Scalar multiply_int(Scalar a, Scalar b) { return Scalar::of_bits(a.bits() * b.bits()); }
Scalar to_float(Scalar a) { return static_cast<float>(integer(a)); }
Scalar to_int(Scalar a) {  // of numbers that fit
  const bool fits = a.f >= -0x1p31f && a.f < 0x1p31f;
  return std::bit_cast<float>(fits ? static_cast<std::int32_t>(a.f) : 0);
}
Scalar square_root(Scalar a) { return std::sqrt(a.f); }
Scalar round_to(Scalar a, int mode) {
  return mode == 0   ? std::nearbyint(a.f)
         : mode == 1 ? std::floor(a.f)
         : mode == 2 ? std::ceil(a.f)
                     : std::trunc(a.f);
}

constexpr const auto& kFunctions = functions::kFunctions<Scalar>;
static_assert(functions::lists_operations(kFunctions));

}  // namespace

float apply_function(Operation operation, float x, float y) noexcept {
  return kFunctions[static_cast<std::size_t>(operation)].apply(x, y).f;
}

const char* operation_name(Operation operation) noexcept {
  return kFunctions[static_cast<std::size_t>(operation)].name;
}

}  // namespace fbg
