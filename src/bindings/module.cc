// The extension module fbg._fbg. Bindings validate, release the GIL and call; Python adds the rest.
#include <exception>
#include <system_error>

#include "bindings/bindings.h"

namespace {

// Failures of the operating system are an OSError, as in Python.
void translate_system_error(std::exception_ptr error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::system_error& e) {
    pybind11::set_error(PyExc_OSError, e.what());
  }
}

}  // namespace

PYBIND11_MODULE(_fbg, m) {
  m.doc() = "Native part of fbg; use the fbg package.";
  pybind11::register_local_exception_translator(&translate_system_error);
  fbg::bindings::bind_isa(m);
  fbg::bindings::bind_pack(m);
  fbg::bindings::bind_weights(m);
  fbg::bindings::bind_pipeline(m);
  fbg::bindings::bind_gemm(m);
  fbg::bindings::bind_prepare(m);
  fbg::bindings::bind_conv(m);
  fbg::bindings::bind_graph(m);
  fbg::bindings::bind_plan(m);
  fbg::bindings::bind_tensor_call(m);
  fbg::bindings::bind_search(m);
  fbg::bindings::bind_tables(m);
  fbg::bindings::bind_tuner(m);
}
