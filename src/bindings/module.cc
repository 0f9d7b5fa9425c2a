// The extension module fbg._fbg. Bindings validate, release the GIL and call; Python adds the rest.
#include "bindings/bindings.h"

PYBIND11_MODULE(_fbg, m) {
  m.doc() = "Native part of fbg; use the fbg package.";
  fbg::bindings::bind_isa(m);
  fbg::bindings::bind_pack(m);
  fbg::bindings::bind_pipeline(m);
  fbg::bindings::bind_gemm(m);
  fbg::bindings::bind_prepare(m);
  fbg::bindings::bind_conv(m);
  fbg::bindings::bind_graph(m);
  fbg::bindings::bind_plan(m);
}
