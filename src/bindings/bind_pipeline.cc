// The stages of output pipelines, one factory for each.
#include "bindings/bindings.h"
#include "bindings/gemm_call.h"

namespace fbg::bindings {
namespace {

// Add of a matrix of T, quantized or not.
template <class T, class... Quant>
PyStage add_stage(const py::array& residual, Quant... quant) {
  const MatrixView<const T> view = matrix<T>(residual, "Add: residual");
  if (view.col_stride != 1) throw py::value_error("Add: residual must have contiguous rows");
  return {Add(view.data, view.row_stride, quant...).stage(), residual, view.rows, view.cols};
}

}  // namespace

void bind_pipeline(py::module_& m) {
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const PipelineTypeError& e) {
      py::set_error(PyExc_TypeError, e.what());
    }
  });
  // What a kernel is compiled for.
  bound_class<PyStage>(m, "Stage").def_property_readonly("key", [](const PyStage& s) {
    const Promise& promise = s.stage.promise;
    return std::tuple(static_cast<int>(s.stage.kind), static_cast<int>(s.stage.wanted),
                      std::tuple(promise.unit_scale, promise.centered, promise.bounded));
  });
  m.def("stage_correct_zero_points", [] {
    return PyStage{CorrectZeroPoints{}.stage(), py::none()};
  });
  m.def("stage_dequantize", [] { return PyStage{Dequantize{}.stage(), py::none()}; });
  m.def("stage_relu", [] { return PyStage{Relu{}.stage(), py::none()}; });
  m.def("stage_gelu", [] { return PyStage{Gelu{}.stage(), py::none()}; });
  m.def("stage_gelu_tanh", [] { return PyStage{GeluTanh{}.stage(), py::none()}; });
  m.def("stage_tanh", [] { return PyStage{Tanh{}.stage(), py::none()}; });
  m.def("stage_sigmoid", [] { return PyStage{Sigmoid{}.stage(), py::none()}; });
  m.def("stage_clip", [](float lo, float hi) { return PyStage{Clip(lo, hi).stage(), py::none()}; });
  m.def("stage_scale", [](float factor) { return PyStage{Scale(factor).stage(), py::none()}; });
  m.def("stage_cast", [](bool bfloat) {
    return PyStage{Cast{bfloat ? ValueType::bfloat16 : ValueType::float16}.stage(), py::none()};
  });
  m.def("stage_bias", [](const py::array& values) {
    return has_dtype<float>(values) ? bias_stage<float>(values) : bias_stage<std::int32_t>(values);
  });
  m.def("stage_add", [](const py::array& residual) {
    if (has_dtype<float>(residual)) return add_stage<float>(residual);
    return add_stage<float16>(residual);
  });
  m.def("stage_add_bfloat16", &add_stage<bfloat16>);  // an array of their bits
  m.def("stage_add_quantized", [](const py::array& residual, float scale, std::int32_t zero_point) {
    if (has_dtype<std::int8_t>(residual))
      return add_stage<std::int8_t>(residual, scale, zero_point);
    return add_stage<std::uint8_t>(residual, scale, zero_point);
  });
  m.def("stage_requantize", [](float scale, std::int32_t zero_point, bool is_signed) {
    return PyStage{
        Requantize{scale, zero_point, is_signed ? ValueType::int8 : ValueType::uint8}.stage(),
        py::none()};
  });
  // Requantize whose scale and zero point are part of the kernel, as far as they are 1 and 0.
  // bounded: what is rounded is known to be a number within int32.
  m.def("stage_requantize_constant",
        [](float scale, std::int32_t zero_point, bool is_signed, bool bounded) {
          const ValueType type = is_signed ? ValueType::int8 : ValueType::uint8;
          const Promise promise{scale == 1, zero_point == 0, bounded};
          return PyStage{Requantize{scale, zero_point, type, promise}.stage(), py::none()};
        });
  m.def("stage_row_range", [](py::array& out) {
    require_extents(out, "RowRange: out");
    if (!out.writeable()) throw py::value_error("RowRange: out is read-only");
    auto* const extents = static_cast<RowExtent*>(out.mutable_data());
    return PyStage{RowRange(extents).stage(), out, out.shape(0), -1};
  });
}

}  // namespace fbg::bindings
