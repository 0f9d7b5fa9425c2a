// NumPy arrays as fbg matrices: shapes, dtypes and strides checked, errors that name the argument.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>

#include "fbg/core/types.h"

namespace fbg::bindings {

namespace py = pybind11;

// The error for what is no NumPy array where only such are taken, as fbg.arrays.no_array in Python.
inline py::type_error no_array(py::handle object, const std::string& name) {
  const auto type = py::type::of(object).attr("__name__").cast<std::string>();
  const char* hint = py::hasattr(object, "__array__") ? "; pass np.asarray of it" : "";
  return py::type_error(name + " must be a NumPy array, got " + type + hint);
}

inline std::string shape_text(const py::array& a) {
  return py::str(a.attr("shape")).cast<std::string>();
}

// Arrays of bfloat16 come as their bits: NumPy has no such type.
template <class T>
py::dtype dtype_of() {
  if constexpr (std::is_same_v<T, float16>)
    return py::dtype("float16");
  else if constexpr (std::is_same_v<T, bfloat16>)
    return py::dtype::of<std::uint16_t>();
  else
    return py::dtype::of<T>();
}

// The types of the elements of packed weights.
inline py::dtype dtype_of(GemmType family) {
  const int bytes = packed_format(family).b_bytes;
  if (bytes != 2) return bytes == 4 ? dtype_of<float>() : dtype_of<std::int8_t>();
  const bool halves = family == GemmType::float32_f16 || family == GemmType::float16;
  return halves ? dtype_of<float16>() : dtype_of<bfloat16>();
}

template <class T>
bool has_dtype(const py::array& a) {
  if constexpr (std::is_class_v<T>)
    return a.dtype().equal(dtype_of<T>());
  else
    return py::isinstance<py::array_t<T>>(a);
}

// Whether addresses and strides are multiples of the size of elements: NumPy's view, which leaves
// out the strides that nobody uses.
inline bool is_aligned(const py::array& a) {
  return (a.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
}

// Checks take as long as small products do. So shapes and strides are read where NumPy keeps them:
// a.shape(axis) and a.size() of pybind11 are calls that check and count anew each time.
inline bool is_empty(const py::array& a) {
  return std::find(a.shape(), a.shape() + a.ndim(), 0) != a.shape() + a.ndim();
}

// The distance in bytes of neighbours along an axis. There are none along an axis of one element,
// nor in an array without elements: the stride that NumPy keeps there may be any number, and the
// answer is `otherwise`, as it is for an axis that the array does not have.
inline std::int64_t stride_of(const py::array& a, py::ssize_t axis, std::int64_t otherwise) {
  return axis < a.ndim() && a.shape()[axis] > 1 && !is_empty(a) ? a.strides()[axis] : otherwise;
}

// A 2-D array of T in place, with any strides.
template <class T>
MatrixView<const T> matrix(const py::array& a, const char* name) {
  if (!has_dtype<T>(a))
    throw py::type_error(std::string(name) + " must be " +
                         py::str(dtype_of<T>()).cast<std::string>() + ", got " +
                         py::str(a.dtype()).cast<std::string>());
  if (a.ndim() != 2)
    throw py::value_error(std::string(name) + " must be 2-D, got shape " + shape_text(a));
  if (!is_aligned(a)) throw py::value_error(std::string(name) + " must be aligned to its elements");
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t row = stride_of(a, 0, a.shape()[1] * size), col = stride_of(a, 1, size);
  return {static_cast<const T*>(a.data()), a.shape()[0], a.shape()[1], row / size, col / size};
}

// First byte and one past the last that an array can touch.
struct ByteRange {
  const char *begin, *end;
  std::int64_t size() const { return end - begin; }
  bool overlaps(const ByteRange& other) const { return begin < other.end && other.begin < end; }
};
inline ByteRange byte_range(const py::array& a) {
  const auto* first = static_cast<const char*>(a.data());
  ByteRange r{first, first};
  if (is_empty(a)) return r;
  r.end += a.itemsize();
  for (py::ssize_t d = 0; d < a.ndim(); ++d) {
    const std::int64_t reach = (a.shape()[d] - 1) * a.strides()[d];
    (reach < 0 ? r.begin : r.end) += reach;
  }
  return r;
}

// Whether two arrays may touch the same byte: their ranges overlap, and they are not blocks of
// columns side by side in rows with equal distances.
inline bool may_overlap(const py::array& a, const py::array& b) {
  const ByteRange x = byte_range(a), y = byte_range(b);
  if (!x.overlaps(y) || is_empty(a) || is_empty(b)) return false;
  if (a.ndim() != 2 || b.ndim() != 2 || a.strides(0) != b.strides(0) || a.strides(0) == 0)
    return true;
  const std::int64_t distance = std::abs(a.strides(0));
  const std::int64_t x_width = x.size() - (a.shape(0) - 1) * distance;
  const std::int64_t y_width = y.size() - (b.shape(0) - 1) * distance;
  const std::int64_t between = ((y.begin - x.begin) % distance + distance) % distance;
  return between < x_width || between + y_width > distance;
}

}  // namespace fbg::bindings
