// One function per bind_<noun>.cc; module.cc calls them in this order.
#pragma once

#include <pybind11/pybind11.h>

namespace fbg::bindings {

void bind_isa(pybind11::module_& m);       // ISA, CPU, threads, version
void bind_pack(pybind11::module_& m);      // PackedB
void bind_pipeline(pybind11::module_& m);  // output stages
void bind_gemm(pybind11::module_& m);      // packers of A, gemm, linear, kernels
void bind_prepare(pybind11::module_& m);   // prepared calls
void bind_plan(pybind11::module_& m);      // plans of whole models

}  // namespace fbg::bindings
