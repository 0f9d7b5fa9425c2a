// The stages of output pipelines, one factory for each.
#include "bindings/bindings.h"
#include "bindings/gemm_call.h"

namespace fbg::bindings {

void bind_pipeline(py::module_& m) {
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const PipelineTypeError& e) {
      py::set_error(PyExc_TypeError, e.what());
    }
  });
  py::class_<PyStage>(m, "Stage");
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
    const auto view = matrix<float>(residual, "Add: residual");
    if (view.rows > 0 && view.cols > 1 && view.col_stride != 1)
      throw py::value_error("Add: residual must have contiguous rows");
    return PyStage{Add{view.data, view.row_stride}.stage(), residual, view.rows, view.cols};
  });
  m.def("stage_requantize", [](float scale, std::int32_t zero_point, bool is_signed) {
    return PyStage{
        Requantize{scale, zero_point, is_signed ? ValueType::int8 : ValueType::uint8}.stage(),
        py::none()};
  });
}

}  // namespace fbg::bindings
