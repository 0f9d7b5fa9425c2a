// What every way to call a product has in common: stages with the arrays they refer to, the packer
// that reads an operand, checks of `out`, memory to work in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/arrays.h"
#include "fbg/gemm.h"

namespace fbg::bindings {

// A stage and the array that its pointer refers to.
struct PyStage {
  Stage stage;
  py::object owner;
  std::int64_t rows = -1, cols = -1;  // of that array; -1: any
};

template <class T>
PyStage bias_stage(const py::array& values) {
  auto a = py::array_t<T, py::array::c_style>::ensure(values);
  if (!a || a.ndim() != 1) throw py::value_error("Bias: values must be 1-D (N,)");
  return {BasicBias<T>{a.data()}.stage(), a, -1, a.size()};
}

// The stages of a product whose result is m x n; throws where an array has another shape.
std::vector<Stage> native_stages(const std::vector<PyStage>& stages, std::int64_t m, std::int64_t n,
                                 const char* function);

py::dtype dtype_of(ValueType type);

// Throws unless `out` can take an m x n result of that type without touching `a` or, other than
// element for element, the array of a stage: elements are read by a stage just before they are
// written.
void require_output(const py::object& out, const py::dtype& dtype, std::int64_t m, std::int64_t n,
                    const py::array& a, const std::vector<PyStage>& stages, const char* function);

// Row stride and address of a 2-D array that is written.
inline OutputView output_view(py::array& c) {
  return {c.mutable_data(), c.shape(0) > 1 ? c.strides(0) : c.shape(1) * c.itemsize()};
}

// This thread's own memory, which grows with what is asked of it.
std::byte* thread_workspace(std::size_t bytes);

// Threads for a product of m x n x k when the caller names no number: below a million
// multiply-adds, waking a team costs more than it brings.
int default_threads(std::int64_t m, std::int64_t n, std::int64_t k);

// A packer of Python: its kind ("plain", "bfloat16", "row_offset", "quant_row", "quant_tensor"),
// what it refers to, and its parameters.
struct AOperand {
  std::string kind;
  py::array array;
  float scale;
  std::int32_t zero_point;
};

// The packer A of that operand, referring to `x`. Arrays of bfloat16 come as their bits.
template <class A>
struct Packer;
template <class T>
struct Packer<PackA<T>> {
  using Source = T;
  static PackA<T> make(const AOperand&, MatrixView<const T> x) { return PackA<T>(x); }
};
template <>
struct Packer<PackAToBFloat16> {
  using Source = float;
  static PackAToBFloat16 make(const AOperand&, MatrixView<const float> x) {
    return PackAToBFloat16(x);
  }
};
template <class T>
struct Packer<PackAWithRowOffset<T>> {
  using Source = T;
  static PackAWithRowOffset<T> make(const AOperand& a, MatrixView<const T> x) {
    return {x, a.scale, a.zero_point};
  }
};
template <>
struct Packer<PackAWithQuantRowOffset> {
  using Source = float;
  static PackAWithQuantRowOffset make(const AOperand& a, MatrixView<const float> x) {
    return PackAWithQuantRowOffset(x, a.kind == "quant_row");
  }
};

// The matrix that packer A reads; throws unless the array is one.
template <class A>
MatrixView<const typename Packer<A>::Source> source(const py::array& a, const char* name) {
  return matrix<typename Packer<A>::Source>(a, name);
}

// use(type of the packer, weights as its kernels take them): which kernels serve which operands.
template <class Acc, class Use>
auto with_packer(const AOperand& a, const PackedB<Acc>& b, const char* function, Use use) {
  if constexpr (is_integer(Acc::kind)) {
    if (a.kind == "plain") return use(std::type_identity<PackA<std::uint8_t>>(), b);
    if (a.kind != "row_offset") return use(std::type_identity<PackAWithQuantRowOffset>(), b);
    if (has_dtype<std::int8_t>(a.array))
      return use(std::type_identity<PackAWithRowOffset<std::int8_t>>(), b);
    return use(std::type_identity<PackAWithRowOffset<std::uint8_t>>(), b);
  } else {
    if (a.kind != "plain")
      throw py::type_error(std::string(function) +
                           ": float weights take PackA of float32, not this packer");
    return use(std::type_identity<PackA<float>>(), b);
  }
}
// bfloat16 weights: float rows are multiplied in float, rows packed as bfloat16 by its dot product.
template <class Use>
auto with_packer(const AOperand& a, const PackedB<BFloat16>& b, const char* function, Use use) {
  if (a.kind != "bfloat16") return with_packer(a, PackedB<Float32BF16>::share(b), function, use);
  if (has_dtype<float>(a.array)) return use(std::type_identity<PackAToBFloat16>(), b);
  return use(std::type_identity<PackA<bfloat16>>(), b);
}

}  // namespace fbg::bindings
