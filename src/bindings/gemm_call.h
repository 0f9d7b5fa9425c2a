// What every way to call a product has in common: stages with the arrays they refer to, the packer
// that reads an operand, checks of `out`, memory to work in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/arrays.h"
#include "fbg/gemm/gemm.h"

namespace fbg::bindings {

// A stage and the array that its pointer refers to.
struct PyStage {
  Stage stage;
  py::object owner;
  std::int64_t rows = -1, cols = -1;  // that C must have for the array; -1: any

  bool has_array() const { return !owner.is_none(); }
  bool writes() const { return stage.kind == StageKind::row_range; }
  py::array array() const { return py::reinterpret_borrow<py::array>(owner); }
};

template <class T>
PyStage bias_stage(const py::array& values) {
  auto a = py::array_t<T, py::array::c_style>::ensure(values);
  if (!a || a.ndim() != 1) throw py::value_error("Bias: values must be 1-D (N,)");
  return {BasicBias<T>{a.data()}.stage(), a, -1, a.size()};
}

// A packer of Python: its kind ("plain", "bfloat16", "row_offset", "quant_row", "quant_tensor"),
// what it refers to, and its parameters.
struct AOperand {
  std::string kind;
  py::array array;
  float scale;
  std::int32_t zero_point;
  std::optional<py::array> row_range;      // of quant_row, where it is known
  std::optional<py::array> channel_scale;  // of quant_row and quant_tensor: contiguous (K,)

  const RowExtent* extents() const {
    return row_range ? static_cast<const RowExtent*>(row_range->data()) : nullptr;
  }
  const float* factors() const {
    return channel_scale ? static_cast<const float*>(channel_scale->data()) : nullptr;
  }
};

// Throws unless the array is one of RowExtents.
inline void require_extents(const py::array& a, const char* name) {
  const auto view = matrix<float>(a, name);
  if (view.cols != 2 || view.col_stride != 1 || view.row_stride != 2)
    throw py::value_error(std::string(name) + " must be C-contiguous (M, 2), got shape " +
                          shape_text(a));
  if (view.rows > 0 && reinterpret_cast<std::uintptr_t>(a.data()) % alignof(RowExtent) != 0)
    throw py::value_error(std::string(name) + " must be aligned to 8 bytes");
}

// Throws unless a channel scale has a float for each of the k columns of A; the packer checked its
// own array, whose shape can be assigned to.
inline void require_channel_scale(const AOperand& a, std::int64_t k, const char* function) {
  if (!a.channel_scale) return;
  const py::array& factors = *a.channel_scale;
  constexpr auto size = static_cast<std::int64_t>(sizeof(float));
  if (!has_dtype<float>(factors) || factors.ndim() != 1 || factors.shape(0) != k ||
      stride_of(factors, 0, size) != size)
    throw py::value_error(std::string(function) + ": the channel_scale of a has shape " +
                          shape_text(factors) + ", a has K = " + std::to_string(k));
}

// The stages of a product whose result is m x n; throws where an array has another shape.
std::vector<Stage> native_stages(const std::vector<PyStage>& stages, std::int64_t m, std::int64_t n,
                                 const char* function);

py::dtype dtype_of(ValueType type);

// Throws where a stage writes to an array that `a` or another stage reads.
void require_apart(const std::vector<PyStage>& stages, const AOperand& a, const char* function);

// What is done once before the threads of a run start.
inline void begin_run(std::span<const Stage> stages, std::int64_t rows) noexcept {
  for (const Stage& stage : stages)
    if (stage.kind == StageKind::row_range)
      RowRange(static_cast<RowExtent*>(const_cast<void*>(stage.args.data))).reset(rows);
}

// An array for a result. From 16 KiB on its rows start where cache lines do, if their length
// allows: NumPy aligns to 16 bytes, and every store of a tile would touch a line that belongs to
// the next.
py::array new_output(const py::dtype& dtype, std::int64_t m, std::int64_t n);

// Throws unless `out` can take an m x n result of that type without touching `a` or, other than
// element for element, the array of a stage: elements are read by a stage just before they are
// written.
void require_output(const py::object& out, const py::dtype& dtype, std::int64_t m, std::int64_t n,
                    const AOperand& a, const std::vector<PyStage>& stages, const char* function);

// Row stride and address of a 2-D array that is written.
inline OutputView output_view(py::array& c) {
  return {c.mutable_data(), stride_of(c, 0, c.shape()[1] * c.itemsize())};
}

// This thread's own memory, which grows with what is asked of it.
std::byte* thread_workspace(std::size_t bytes);

// Threads for a product of m x n x k when the caller names no number: below a million
// multiply-adds, waking a team costs more than it brings.
int default_threads(std::int64_t m, std::int64_t n, std::int64_t k);

// Makes the packer A of that operand, which refers to `x`, for a product that was prepared for
// `features`. Arrays of bfloat16 come as their bits.
template <class A>
struct Packer;
template <class T>
struct Packer<PackA<T>> {
  using Source = T;
  static PackA<T> make(const AOperand&, MatrixView<const T> x, Features) { return PackA<T>(x); }
};
template <>
struct Packer<PackAToBFloat16> {
  using Source = float;
  static PackAToBFloat16 make(const AOperand&, MatrixView<const float> x, Features) {
    return PackAToBFloat16(x);
  }
};
template <class T>
struct Packer<PackAWithRowOffset<T>> {
  using Source = T;
  static PackAWithRowOffset<T> make(const AOperand& a, MatrixView<const T> x, Features) {
    return {x, a.scale, a.zero_point};
  }
};
template <>
struct Packer<PackAWithQuantRowOffset> {
  using Source = float;
  static PackAWithQuantRowOffset make(const AOperand& a, MatrixView<const float> x,
                                      Features features) {
    if (a.row_range) return {x, a.extents()};
    return PackAWithQuantRowOffset(x, a.kind == "quant_row", a.factors(), features);
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
  if constexpr (reads_bytes(Acc::kind)) {
    if (a.kind == "bfloat16")
      throw py::type_error(std::string(function) +
                           ": int8 and int4 weights do not take PackA of bfloat16");
    if constexpr (is_int4(Acc::kind)) {
      if (a.kind == "plain")
        throw py::type_error(std::string(function) +
                             ": int4 weights take a packer with scales, not PackA");
    } else if (a.kind == "plain")
      return use(std::type_identity<PackA<std::uint8_t>>(), b);
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
