// One function per bind_<noun>.cc; module.cc calls them in this order.
#pragma once

#include <pybind11/pybind11.h>

namespace fbg::bindings {

void bind_isa(pybind11::module_& m);   // ISA, CPU, threads, version
void bind_pack(pybind11::module_& m);  // PackedB and the packers of A
void bind_gemm(pybind11::module_& m);  // pipelines, gemm, prepared calls
void bind_plan(pybind11::module_& m);  // plans of whole models

}  // namespace fbg::bindings
