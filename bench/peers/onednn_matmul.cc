// One matrix product of oneDNN for bench/onednn_peer.py, which compiles and loads this file:
// weights are brought once into the layout that the primitive asks for; A and C are row-major
// arrays of the caller.
#include <omp.h>

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace {

using dnnl::memory;

struct Product {
  memory::desc a_desc, c_desc;
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::matmul primitive;
  std::unordered_map<int, memory> arguments;
  int threads;
};

// The types of A, B and C.
struct Types {
  memory::data_type a, b, c;
};

Types types_of(int kind) {
  using type = memory::data_type;
  if (kind == 0) return {type::f32, type::f32, type::f32};
  if (kind == 1) return {type::bf16, type::bf16, type::bf16};
  return {type::u8, type::s8, type::s32};
}

Product* make(int kind, memory::dim m, memory::dim n, memory::dim k, void* b, int threads) {
  omp_set_num_threads(threads);
  const Types types = types_of(kind);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory::desc a_desc({m, k}, types.a, memory::format_tag::ab);
  const memory::desc c_desc({m, n}, types.c, memory::format_tag::ab);
  const memory::desc any({k, n}, types.b, memory::format_tag::any);
  const dnnl::matmul::primitive_desc chosen(engine, a_desc, any, c_desc);
  dnnl::stream stream(engine);
  memory given({{k, n}, types.b, memory::format_tag::ab}, engine, b);
  memory weights(chosen.weights_desc(), engine);
  dnnl::reorder(given, weights).execute(stream, given, weights);
  stream.wait();
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, memory(a_desc, engine, nullptr)},
                                            {DNNL_ARG_WEIGHTS, weights},
                                            {DNNL_ARG_DST, memory(c_desc, engine, nullptr)}};
  return new Product{a_desc, c_desc, engine, stream, dnnl::matmul(chosen), arguments, threads};
}

}  // namespace

// kind: 0 float32, 1 bfloat16, 2 uint8 times int8. Null where oneDNN has no such product.
extern "C" void* create(int kind, std::int64_t m, std::int64_t n, std::int64_t k, void* b,
                        int threads) {
  try {
    return make(kind, m, n, k, b, threads);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

extern "C" void run(void* product, void* a, void* c) {
  Product& self = *static_cast<Product*>(product);
  omp_set_num_threads(self.threads);
  dnnl_memory_set_data_handle(self.arguments.at(DNNL_ARG_SRC).get(), a);
  dnnl_memory_set_data_handle(self.arguments.at(DNNL_ARG_DST).get(), c);
  self.primitive.execute(self.stream, self.arguments);
  self.stream.wait();
}

extern "C" void destroy(void* product) { delete static_cast<Product*>(product); }
