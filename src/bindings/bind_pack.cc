// Prepacked B as Python sees it. fbg.PackedB (python/fbg/matmul/packed_b.py) checks its arguments
// first.
#include <pybind11/stl.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "core/checksum.h"
#include "core/memory.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/pack_b.h"
#include "gemm/pack_codes.h"

namespace fbg::bindings {
namespace {

using HalfBits = py::array_t<std::uint16_t, py::array::c_style>;  // bits of float16

template <class T>
std::span<const T> span_of(const std::optional<py::array_t<T, py::array::c_style>>& a) {
  return a ? std::span<const T>(a->data(), static_cast<std::size_t>(a->size()))
           : std::span<const T>{};
}

// Parameters per column as an array of their own: (N,) or, for one per tensor, ().
template <class T>
py::object parameters(const T* values, std::int64_t n, bool per_column) {
  if (!values) return py::none();
  if (per_column) return py::array_t<T>(n, values);
  py::array_t<T> one{std::vector<py::ssize_t>{}};
  *one.mutable_data() = values[0];
  return one;
}

// The family of 4-bit weights in groups of that size; none where there is no such family.
std::optional<GemmType> int4_family(int group) {
  for (std::size_t i = 0; i < kWeightFormats.size(); ++i)
    if (kWeightFormats[i].packed.nibbles && kWeightFormats[i].packed.kr == group)
      return static_cast<GemmType>(i);
  return std::nullopt;
}

void require_finite(const MatrixView<const float>& w) {
  for (std::int64_t k = 0; k < w.rows; ++k)
    for (std::int64_t j = 0; j < w.cols; ++j)
      if (!std::isfinite(w(k, j)))
        throw py::value_error("PackedB: w must be finite, got " + std::to_string(w(k, j)) +
                              " at (" + std::to_string(k) + ", " + std::to_string(j) + ")");
}

// A copy of the packed values. bfloat16 is returned as bits, and Python gives them a dtype.
py::array unpack(const PackedMatrix& b) {
  py::array out(dtype_of(b.family()), {b.rows(), b.cols()});
  void* const data = out.mutable_data();
  const GilRelease release;
  b.unpack(data, b.cols(), 1);
  return out;
}

// Read-only bytes of the block itself, which they keep alive.
py::array block(const py::object& self) {
  const auto bytes = self.cast<const PackedMatrix&>().bytes();
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  py::array_t<std::uint8_t> view(std::ssize(bytes), data, self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

// Scales or offsets of the groups of int4 weights: float16, (K / group, N).
py::array of_groups(const PackedMatrix& b,
                    float16 (PackedMatrix::*parameter)(std::int64_t, std::int64_t) const) {
  py::array values(dtype_of<float16>(), {b.groups(), b.cols()});
  auto* out = static_cast<float16*>(values.mutable_data());
  for (std::int64_t g = 0; g < b.groups(); ++g)
    for (std::int64_t j = 0; j < b.cols(); ++j) *out++ = (b.*parameter)(g, j);
  return values;
}

template <class T>
py::array_t<T> copy_of(std::span<const T> values) {
  return py::array_t<T>(std::ssize(values), values.data());
}

PackedMatrix from_bytes(const std::shared_ptr<const std::byte>& data, std::int64_t size,
                        bool verify) {
  if (packed_header(data.get(), size).gemm_type == GemmType::float32_bf16)
    throw py::value_error("PackedB: no class for the accumulator of this block");
  const GilRelease release;
  return PackedMatrix::from_bytes(data, size, verify);
}

const char* accumulator_name(const PackedMatrix& b) {
  if (b.family() == GemmType::float16) return "float16";
  if (!is_integer(b.family())) return "float32";
  return b.family() == GemmType::int16 ? "int16" : "int32";
}

// Attributes that a type of weights does not have are None.
void bind_matrix(py::module_& m) {
  using B = PackedMatrix;
  bound_class<B>(m, "PackedB")
      .def_property_readonly("shape", [](const B& b) { return py::make_tuple(b.rows(), b.cols()); })
      .def_property_readonly("nbytes", &B::nbytes)
      .def_property_readonly("block", &block)
      .def("unpack", &unpack)
      .def_property_readonly(
          "dtype", [](const B& b) { return weights_name(b.family(), b.has_group_offsets()); })
      .def_property_readonly("accum", &accumulator_name)
      .def_property_readonly("is_narrow", &B::is_narrow)
      .def_property_readonly("group",
                             [](const B& b) -> std::optional<int> {
                               if (!is_int4(b.family())) return std::nullopt;
                               return b.format().packed.kr;
                             })
      .def_property_readonly("scale",
                             [](const B& b) -> py::object {
                               if (is_int4(b.family())) return of_groups(b, &B::group_scale);
                               return parameters(b.scale(), b.cols(), b.header().per_column);
                             })
      .def_property_readonly("offset",
                             [](const B& b) -> py::object {
                               if (!b.has_group_offsets()) return py::none();
                               return of_groups(b, &B::group_offset);
                             })
      .def_property_readonly(
          "zero_point",
          [](const B& b) { return parameters(b.zero_point(), b.cols(), b.header().per_column); })
      .def_property_readonly("column_offsets",
                             [](const B& b) -> py::object {
                               if (!is_integer(b.family())) return py::none();
                               return py::array_t<std::int32_t>(b.cols(), b.col_offsets());
                             })
      .def_property_readonly("outliers",
                             [](const B& b) -> py::object {
                               if (!b.spill_groups()) return py::none();
                               const Outliers o = b.outliers();
                               return py::make_tuple(copy_of(o.indptr), copy_of(o.rows),
                                                     copy_of(o.values));
                             })
      .def_property_readonly("spill_depths", [](const B& b) -> py::object {
        if (!b.spill_groups()) return py::none();
        py::array_t<std::int64_t> depths(b.num_panels());
        for (std::int64_t p = 0; p < b.num_panels(); ++p)
          depths.mutable_at(p) = std::int64_t{b.format().packed.kr} * b.spill_groups()[p];
        return depths;
      });
}

MatrixView<const float16> group_view(const HalfBits& bits, std::int64_t groups, std::int64_t n,
                                     const char* name) {
  if (bits.ndim() != 2 || bits.shape(0) != groups || bits.shape(1) != n)
    throw py::value_error(std::string("PackedB: ") + name +
                          " must have shape (ceil(K / group), N)");
  return {reinterpret_cast<const float16*>(bits.data()), groups, n, n, 1};
}

// Codes as a checkpoint has them: (N, K) int8, or int32 words of inputs or of outputs.
CodeMatrix code_matrix(const py::array& a, std::int64_t inputs, bool of_outputs) {
  constexpr std::int64_t kCodes = 8, kBytes = 4;
  const bool bytes = has_dtype<std::int8_t>(a);
  MatrixView<const std::byte> view;
  const auto set = [&](const auto& m, std::int64_t size) {
    view = {reinterpret_cast<const std::byte*>(m.data), m.rows, m.cols, m.row_stride * size,
            m.col_stride * size};
  };
  if (bytes)
    set(matrix<std::int8_t>(a, "pack_codes: a part"), 1);
  else
    set(matrix<std::int32_t>(a, "pack_codes: a part"), kBytes);
  require(view.cols == (bytes || of_outputs ? inputs : ceil_div(inputs, kCodes)),
          "pack_codes: a part has another K");
  return {bytes        ? CodeForm::bytes
          : of_outputs ? CodeForm::words_of_outputs
                       : CodeForm::words_of_inputs,
          view.data, bytes || !of_outputs ? view.rows : view.rows * kCodes, view.row_stride,
          view.col_stride};
}

PackedMatrix pack_codes(const std::vector<py::array>& parts, std::int64_t inputs, bool of_outputs,
                        const std::string& dtype,
                        const std::optional<py::array_t<float, py::array::c_style>>& scale,
                        const std::optional<py::array_t<std::int32_t, py::array::c_style>>& points,
                        const std::optional<HalfBits>& scales,
                        const std::optional<HalfBits>& offsets, int num_threads) {
  const std::optional<NamedWeights> named = named_weights(dtype);
  require(named && reads_bytes(named->family), "pack_codes: no such integers: " + dtype);
  std::vector<CodeMatrix> codes;
  std::int64_t n = 0;
  for (const py::array& part : parts) {
    codes.push_back(code_matrix(part, inputs, of_outputs));
    n += codes.back().outputs;
  }
  const WeightQuant quant{span_of(scale), span_of(points)};
  MatrixView<const float16> scale_view;
  std::optional<MatrixView<const float16>> offset_view;
  const auto kr = std::int64_t{packed_format(named->family).kr};
  const auto halves = [&](const std::optional<HalfBits>& bits, const char* name) {
    return group_view(bits.value(), ceil_div(inputs, kr), n, name);
  };
  if (is_int4(named->family)) {
    scale_view = halves(scales, "scale");
    if (named->has_offsets) offset_view = halves(offsets, "offset");
  }
  for (const std::size_t size : {quant.scale.size(), quant.zero_point.size()})
    require(size == 0 || static_cast<std::int64_t>(size) == n, "pack_codes: N values are wanted");
  const GilRelease release;
  CodePacker packer(named->family, std::move(codes), inputs, quant, scale_view, offset_view);
  run_shares(num_threads, [&](int thread_id, int count) { packer.run(thread_id, count); });
  return packer.finish();
}

}  // namespace

void bind_pack(py::module_& m) {
  bind_matrix(m);
  m.def(
      "pack_b_quantize",
      [](const py::array& w, bool per_column, bool symmetric) {
        const auto view = matrix<float>(w, "PackedB: w");
        const GilRelease release;
        require_finite(view);
        return PackedMatrix::quantize(view, per_column ? Granularity::column : Granularity::tensor,
                                      symmetric);
      },
      py::arg("w"), py::arg("per_column"), py::arg("symmetric"));
  m.def(
      "pack_b_int8",
      [](const py::array& w, std::optional<py::array_t<float, py::array::c_style>> scale,
         std::optional<py::array_t<std::int32_t, py::array::c_style>> zero_point, bool per_column) {
        const auto view = matrix<std::int8_t>(w, "PackedB: w");
        const WeightQuant quant{span_of(scale), span_of(zero_point),
                                per_column ? Granularity::column : Granularity::tensor};
        for (const std::size_t size : {quant.scale.size(), quant.zero_point.size()})
          if (size > 1 && size != static_cast<std::size_t>(view.cols))
            throw py::value_error("PackedB: scale and zero_point must have 1 or N values");
        const GilRelease release;
        return PackedMatrix::pack(GemmType::int32, ElementView::of(view), quant);
      },
      py::arg("w"), py::arg("scale"), py::arg("zero_point"), py::arg("per_column"));
  m.def(
      "pack_b_split",
      [](const PackedMatrix& b, int outlier_bits) {
        require(b.family() == GemmType::int32, "PackedB: int16 sums need int8 weights");
        const GilRelease release;
        return PackedMatrix::split(b, outlier_bits);
      },
      py::arg("b"), py::arg("outlier_bits"));
  m.def(
      "pack_b_convert",
      [](const py::array& w, const std::string& dtype) {
        const std::optional<NamedWeights> named = named_weights(dtype);
        require(named && !reads_bytes(named->family), "PackedB: no such floats: " + dtype);
        const auto view = matrix<float>(w, "PackedB: w");
        const GilRelease release;
        return PackedMatrix::convert(named->family, view);
      },
      py::arg("w"), py::arg("dtype"));
  m.def(
      "pack_b_int4",
      [](const py::array& w, const HalfBits& scales, const std::optional<HalfBits>& offsets,
         int group) {
        const std::optional<GemmType> family = int4_family(group);
        require(family.has_value(), "PackedB: no weights have such groups");
        const auto view = matrix<std::int8_t>(w, "PackedB: w");
        const auto of_groups = [&](const HalfBits& bits, const char* name) {
          return group_view(bits, ceil_div(view.rows, group), view.cols, name);
        };
        const auto scale = of_groups(scales, "scale");
        std::optional<MatrixView<const float16>> offset;
        if (offsets) offset = of_groups(*offsets, "offset");
        const GilRelease release;
        return PackedMatrix::pack_groups(*family, view, scale, offset);
      },
      py::arg("w"), py::arg("scales"), py::arg("offsets"), py::arg("group"));
  m.def("pack_codes", &pack_codes, py::arg("parts"), py::arg("inputs"), py::arg("of_outputs"),
        py::arg("dtype"), py::arg("scale"), py::arg("points"), py::arg("scales"),
        py::arg("offsets"), py::arg("num_threads"));
  m.def(
      "packed_b_from_bytes",
      [](const py::array& block) {
        if (!has_dtype<std::uint8_t>(block) || block.ndim() != 1 ||
            !(block.flags() & py::array::c_style))
          throw py::type_error("PackedB: block must be a contiguous array of uint8");
        const auto copy = std::make_shared<AlignedBuffer>(static_cast<std::size_t>(block.size()));
        if (block.size()) std::memcpy(copy->data(), block.data(), copy->size());
        return from_bytes({copy, copy->data()}, block.size(), true);
      },
      py::arg("block"));
  m.def(
      "map_packed_b",
      [](int fd, std::int64_t offset, std::int64_t size, bool verify) {
        return from_bytes(map_file(fd, offset, size), size, verify);
      },
      py::arg("fd"), py::arg("offset"), py::arg("size"), py::arg("verify"));
  m.def(
      "map_bytes",
      [](int fd, std::int64_t offset, std::int64_t size) {
        using Bytes = std::shared_ptr<const std::byte>;
        auto owner = std::make_unique<Bytes>(map_file(fd, offset, size));
        const auto* data = reinterpret_cast<const std::uint8_t*>(owner->get());
        const py::capsule keep(owner.release(), [](void* p) { delete static_cast<Bytes*>(p); });
        py::array_t<std::uint8_t> view(size, data, keep);
        view.attr("flags").attr("writeable") = false;
        return view;
      },
      py::arg("fd"), py::arg("offset"), py::arg("size"));
  m.def("pack_b_count", &pack_b_count);

  bound_class<Checksum>(m, "Checksum")
      .def(py::init<>())
      .def(
          "add",
          [](Checksum& sum, const py::buffer& bytes) {
            // Not request(), which loses the view where there is no memory for its strides.
            Py_buffer view;
            if (PyObject_GetBuffer(bytes.ptr(), &view, PyBUF_SIMPLE) != 0) {
              PyErr_Clear();
              throw py::type_error("Checksum: a piece is contiguous bytes");
            }
            const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> release(&view, PyBuffer_Release);
            if (view.itemsize != 1) throw py::type_error("Checksum: a piece is contiguous bytes");
            sum.add(static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len));
          },
          py::arg("bytes"))
      .def_property_readonly("value", &Checksum::value);
}

}  // namespace fbg::bindings
