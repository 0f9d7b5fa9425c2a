// Prepacked B as Python sees it. fbg.PackedB (python/fbg/matmul/packers.py) checks its arguments
// first.
#include <pybind11/stl.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "core/checksum.h"
#include "core/memory.h"
#include "fbg/gemm/pack_b.h"

namespace fbg::bindings {
namespace {

using HalfBits = py::array_t<std::uint16_t, py::array::c_style>;  // of float16

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

void require_finite(const MatrixView<const float>& w) {
  for (std::int64_t k = 0; k < w.rows; ++k)
    for (std::int64_t j = 0; j < w.cols; ++j)
      if (!std::isfinite(w(k, j)))
        throw py::value_error("PackedB: w must be finite, got " + std::to_string(w(k, j)) +
                              " at (" + std::to_string(k) + ", " + std::to_string(j) + ")");
}

template <class Acc>
py::class_<PackedB<Acc>> bind_packed(py::module_& m, const char* name) {
  using B = PackedB<Acc>;
  return bound_class<B>(m, name)
      .def_property_readonly("shape", [](const B& b) { return py::make_tuple(b.rows(), b.cols()); })
      .def_property_readonly("nbytes", &B::nbytes)
      .def_property_readonly("block",
                             [](const py::object& self) {
                               // Read-only bytes of the block itself, which they keep alive.
                               const auto bytes = self.cast<const B&>().bytes();
                               const auto* data =
                                   reinterpret_cast<const std::uint8_t*>(bytes.data());
                               py::array_t<std::uint8_t> view(std::ssize(bytes), data, self);
                               view.attr("flags").attr("writeable") = false;
                               return view;
                             })
      .def("unpack", [](const B& b) {
        // 16-bit floats leave as their bits: NumPy has no bfloat16, Python gives them a dtype.
        using Element = typename Acc::B;
        using Bits = std::conditional_t<std::is_arithmetic_v<Element>, Element, std::uint16_t>;
        py::array_t<Bits> out({b.rows(), b.cols()});
        auto* data = reinterpret_cast<Element*>(out.mutable_data());
        const GilRelease release;
        b.unpack({data, b.rows(), b.cols(), b.cols(), 1});
        return out;
      });
}

// Quantized weights, whatever sums them.
template <class Acc>
py::class_<PackedB<Acc>> bind_quantized(py::module_& m, const char* name) {
  using B = PackedB<Acc>;
  return bind_packed<Acc>(m, name)
      .def_property_readonly(
          "scale",
          [](const B& b) { return parameters(b.scale(), b.cols(), b.header().per_column); })
      .def_property_readonly(
          "zero_point",
          [](const B& b) { return parameters(b.zero_point(), b.cols(), b.header().per_column); })
      .def_property_readonly("column_offsets", [](const B& b) {
        return py::array_t<std::int32_t>(b.cols(), b.col_offsets());
      });
}

template <class B>
py::array_t<std::uint16_t> of_groups(const B& b,
                                     float16 (B::*parameter)(std::int64_t, std::int64_t) const) {
  py::array_t<std::uint16_t> bits({b.groups(), b.cols()});
  for (std::int64_t g = 0; g < b.groups(); ++g)
    for (std::int64_t j = 0; j < b.cols(); ++j) bits.mutable_at(g, j) = (b.*parameter)(g, j).bits;
  return bits;
}

// Weights of 4 bits. Scales and offsets are the bits of float16, (K / group, N).
template <class Acc>
void bind_int4(py::module_& m, const char* name) {
  using B = PackedB<Acc>;
  bind_packed<Acc>(m, name)
      .def_property_readonly("group", [](const B&) { return Acc::format.kr; })
      .def_property_readonly("scale", [](const B& b) { return of_groups(b, &B::group_scale); })
      .def_property_readonly("symmetric", [](const B& b) { return !b.has_group_offsets(); })
      .def_property_readonly("offset", [](const B& b) -> py::object {
        if (!b.has_group_offsets()) return py::none();
        return of_groups(b, &B::group_offset);
      });
}

// Packs values within [-8, 7] with their scales and offsets, which were checked before.
template <class Acc>
py::object pack_int4(const MatrixView<const std::int8_t>& w,
                     const MatrixView<const float16>& scales,
                     const std::optional<MatrixView<const float16>>& offsets) {
  PackedB<Acc> b;
  {
    const GilRelease release;
    b = PackedB<Acc>::pack(w, scales, offsets);
  }
  return py::cast(std::move(b));
}

template <class T>
py::array_t<T> copy_of(std::span<const T> values) {
  return py::array_t<T>(std::ssize(values), values.data());
}

// A stored block as the class that its header names.
py::object from_bytes(const std::shared_ptr<const std::byte>& data, std::int64_t size,
                      bool verify) {
  const auto read = [&]<class Acc>(Acc) {
    PackedB<Acc> b;
    {
      const GilRelease release;
      b = PackedB<Acc>::from_bytes(data, size, verify);
    }
    return py::cast(std::move(b));
  };
  switch (packed_header(data.get(), size).accumulator) {
    case Accumulator::int32:
      return read(Int32{});
    case Accumulator::int16:
      return read(Int16{});
    case Accumulator::float32:
      return read(Float32{});
    case Accumulator::bfloat16:
      return read(BFloat16{});
    case Accumulator::float32_f16:
      return read(Float32F16{});
    case Accumulator::int4_g32:
      return read(Int4<32>{});
    case Accumulator::int4_g64:
      return read(Int4<64>{});
    case Accumulator::int4_g128:
      return read(Int4<128>{});
    default:
      throw py::value_error("PackedB: no class for the accumulator of this block");
  }
}

}  // namespace

void bind_pack(py::module_& m) {
  using Int8B = PackedB<Int32>;
  using FloatB = PackedB<Float32>;
  using BFloat16B = PackedB<BFloat16>;
  using Float16B = PackedB<Float32F16>;

  bind_quantized<Int32>(m, "PackedBInt8");
  bind_quantized<Int16>(m, "PackedBInt16")
      .def_property_readonly("outliers",
                             [](const PackedB<Int16>& b) {
                               const Outliers o = b.outliers();
                               return py::make_tuple(copy_of(o.indptr), copy_of(o.rows),
                                                     copy_of(o.values));
                             })
      .def_property_readonly("spill_depths", [](const PackedB<Int16>& b) {
        py::array_t<std::int64_t> depths(b.num_panels());
        for (std::int64_t p = 0; p < b.num_panels(); ++p)
          depths.mutable_at(p) = std::int64_t{Int16::format.kr} * b.spill_groups()[p];
        return depths;
      });
  bind_packed<Float32>(m, "PackedBFloat32");
  bind_packed<BFloat16>(m, "PackedBBFloat16");
  bind_packed<Float32F16>(m, "PackedBFloat16");
  bind_int4<Int4<32>>(m, "PackedBInt4G32");
  bind_int4<Int4<64>>(m, "PackedBInt4G64");
  bind_int4<Int4<128>>(m, "PackedBInt4G128");

  m.def(
      "pack_b_quantize",
      [](const py::array& w, bool per_column, bool symmetric) {
        const auto view = matrix<float>(w, "PackedB: w");
        const GilRelease release;
        require_finite(view);
        return Int8B::quantize(view, per_column ? Granularity::column : Granularity::tensor,
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
        return Int8B::pack(view, quant);
      },
      py::arg("w"), py::arg("scale"), py::arg("zero_point"), py::arg("per_column"));
  m.def(
      "pack_b_split",
      [](const Int8B& b, int outlier_bits) {
        const GilRelease release;
        return PackedB<Int16>::split(b, outlier_bits);
      },
      py::arg("b"), py::arg("outlier_bits"));
  m.def(
      "pack_b_float32",
      [](const py::array& w) {
        const auto view = matrix<float>(w, "PackedB: w");
        const GilRelease release;
        return FloatB::pack(view);
      },
      py::arg("w"));
  m.def(
      "pack_b_bfloat16",
      [](const py::array& w) {
        const auto view = matrix<float>(w, "PackedB: w");
        const GilRelease release;
        return BFloat16B::convert(view);
      },
      py::arg("w"));
  m.def(
      "pack_b_float16",
      [](const py::array& w) {
        const auto view = matrix<float>(w, "PackedB: w");
        const GilRelease release;
        return Float16B::convert(view);
      },
      py::arg("w"));
  m.def(
      "pack_b_int4",
      [](const py::array& w, const HalfBits& scales, const std::optional<HalfBits>& offsets,
         int group) {
        require(group == 32 || group == 64 || group == 128, "PackedB: group must be 32, 64 or 128");
        const auto view = matrix<std::int8_t>(w, "PackedB: w");
        const auto of_groups = [&](const HalfBits& bits, const char* name) {
          if (bits.ndim() != 2 || bits.shape(0) != ceil_div(view.rows, group) ||
              bits.shape(1) != view.cols)
            throw py::value_error(std::string("PackedB: ") + name +
                                  " must have shape (ceil(K / group), N)");
          return MatrixView<const float16>{reinterpret_cast<const float16*>(bits.data()),
                                           bits.shape(0), view.cols, view.cols, 1};
        };
        const auto scale = of_groups(scales, "scale");
        std::optional<MatrixView<const float16>> offset;
        if (offsets) offset = of_groups(*offsets, "offset");
        if (group == 32) return pack_int4<Int4<32>>(view, scale, offset);
        if (group == 64) return pack_int4<Int4<64>>(view, scale, offset);
        return pack_int4<Int4<128>>(view, scale, offset);
      },
      py::arg("w"), py::arg("scales"), py::arg("offsets"), py::arg("group"));
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
