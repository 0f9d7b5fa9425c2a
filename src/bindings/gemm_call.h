// Code shared by every way to call a product: stages with the arrays they refer to, the packer
// that reads an operand, checks of `out`, memory to work in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.h"
#include "fbg/core/float_environment.h"
#include "fbg/gemm/gemm.h"
#include "gemm/packers.h"

namespace fbg::bindings {

// A stage and the array that its pointer refers to.
struct PyStage {
  Stage stage;
  py::object owner;
  std::int64_t rows = -1, cols = -1;  // that C must have for the array; -1: any

  bool has_array() const { return !owner.is_none(); }
  bool writes() const { return writes_extents(stage.kind); }
  py::array array() const { return py::reinterpret_borrow<py::array>(owner); }
};

// The stage of a row of the table: its constants, its array, and the type of its results where that
// is asked for. Throws where it does not have such ones.
PyStage make_stage(const StageRow& row, std::span<const double> constants = {},
                   const std::optional<py::array>& operand = {},
                   ValueType type = ValueType::float32);

// The stage of floats that graphs call by that name.
PyStage function_stage(std::string_view function);

// A packer of Python, what it refers to, and its parameters.
struct AOperand {
  PackerKind packer;
  py::array array;
  std::optional<float> scale = 1.0f;  // none where only the zero point is known
  std::int32_t zero_point = 0;
  // Of quantized rows: whether each has parameters of its own, its range, where that is known, and
  // the factors of columns: contiguous (K,).
  bool per_row = true;
  std::optional<py::array> row_range = {};
  std::optional<py::array> channel_scale = {};

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

// Throws where a stage reads the scale of an operand that has only a zero point.
void require_scale(const AOperand& a, const std::vector<PyStage>& stages, const char* function);

// The stages of a product whose result is m x n; throws where an array has another shape.
std::vector<Stage> native_stages(const std::vector<PyStage>& stages, std::int64_t m, std::int64_t n,
                                 const char* function);

py::dtype dtype_of(ValueType type);
// The type of elements that has that name.
ValueType type_named(const std::string& name);

// Throws where a stage writes to an array that `a` or another stage reads.
void require_apart(const std::vector<PyStage>& stages, const AOperand& a, const char* function);

// The steps done once before the threads of a run start.
inline void begin_run(std::span<const Stage> stages, std::int64_t rows) noexcept {
  for (const Stage& stage : stages)
    if (writes_extents(stage.kind))
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

// This thread's own memory, which grows on demand.
std::byte* thread_workspace(std::size_t bytes);

// Threads for a product of m x n x k when the caller names no number: below a million
// multiply-adds, waking a team costs more than it brings.
int default_threads(std::int64_t m, std::int64_t n, std::int64_t k);

// What a caller wants who says whether subnormal numbers are flushed.
inline Subnormals subnormals_of(bool flush) { return flush ? Subnormals::flush : Subnormals::keep; }

// A 2-D array in place; strides count bytes.
struct Matrix {
  void* data;
  std::int64_t rows, cols, row_stride, col_stride;
};

// The packer of an operand for such weights, and the family that multiplies its result; throws
// where the kernels of `weights` serve no such operand.
struct PackedAs {
  PackerKind packer;
  GemmType family;
};
PackedAs packed_as(const AOperand& a, GemmType weights, const char* function);

// The name in errors of an operand of such weights: one of three texts.
const char* name_by_weights(const PackedMatrix& weights, const char* int4, const char* int8,
                            const char* floats);

// The matrix that such a packer reads; throws unless the array is one.
Matrix source(PackerKind packer, const py::array& a, const char* name);

// c = pipeline(x * b) by num_threads threads, where x is the input of that packer of `a`.
void run_product(const GemmDriver& gemm, PackerKind packer, const AOperand& a, const Matrix& x,
                 const PackedMatrix& b, std::span<const Stage> stages, OutputView c,
                 std::byte* workspace, int num_threads) noexcept;

}  // namespace fbg::bindings
