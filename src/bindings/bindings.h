// One function per bind_<noun>.cc, called by module.cc in this order, and how a class is bound.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace fbg::bindings {

void bind_isa(pybind11::module_& m);          // ISA, CPU, threads, version
void bind_pack(pybind11::module_& m);         // PackedB
void bind_weights(pybind11::module_& m);      // weights of linear layers before they are packed
void bind_pipeline(pybind11::module_& m);     // output stages
void bind_gemm(pybind11::module_& m);         // packers of A, gemm, linear, kernels
void bind_prepare(pybind11::module_& m);      // prepared calls
void bind_conv(pybind11::module_& m);         // PackedConv, prepared convolutions
void bind_graph(pybind11::module_& m);        // graphs
void bind_plan(pybind11::module_& m);         // plans of graphs
void bind_tensor_call(pybind11::module_& m);  // a run of tensors as one call
void bind_search(pybind11::module_& m);       // scores of embeddings, and the best ones
void bind_tables(pybind11::module_& m);       // embedding tables
void bind_tuner(pybind11::module_& m);        // the tuner of blockings

// Throws ValueError with the message unless the condition holds.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw pybind11::value_error(message);
}

// The same, with a function that makes the message: for checks of each call, which mostly hold.
template <class Message>
requires std::is_invocable_r_v<std::string, Message>
void require(bool condition, Message message) {
  if (!condition) throw pybind11::value_error(message());
}

// "1 input", "2 inputs"
inline std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// Binds a class. Use it instead of pybind11::class_: that gives a method which is called on an
// instance whose __init__ never ran, such as one made by T.__new__(T), memory that holds no T. Here
// it is a TypeError.
template <class T, class... Base>
pybind11::class_<T, Base...> bound_class(pybind11::module_& m, const char* name) {
  const pybind11::class_<T, Base...> type(m, name);
  // pybind11 calls this where it finds no T in an instance, and nowhere else.
  pybind11::detail::get_type_info(typeid(T))->operator_new = [](std::size_t) -> void* {
    const auto class_name = pybind11::type::of<T>().attr("__name__").template cast<std::string>();
    throw pybind11::type_error(class_name + ": this instance was not initialized");
  };
  return type;
}

}  // namespace fbg::bindings
