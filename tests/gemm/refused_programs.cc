// Programs that do not compile, one for each value of REFUSED: tests/CMakeLists.txt looks for the
// sentence that says why. Without REFUSED, what is left compiles, with the defaults of Python.
#include <vector>

#include "fbg/gemm/gemm.h"

using namespace fbg;

int main() {
  const std::vector<float> weights(6, 0.5f), bias(3);
  const auto w = PackedB<Int32>::quantize({weights.data(), 2, 3, 3, 1});  // columns, symmetric
#if REFUSED == 1  // a stage behind one that ends the pipeline
  const Pipeline pipeline(Dequantize{}, Requantize{0.5f}, Relu{});
#elif REFUSED == 2  // a functor that may throw
  const Pipeline pipeline(Dequantize{}, [](float x) { return x * x; });
#elif REFUSED == 3  // a functor of integer sums
  const Pipeline pipeline([](float x) noexcept { return x * x; }, Dequantize{});
#elif REFUSED == 4  // a bias of float32 for integer sums
  const Pipeline pipeline(Bias{bias.data()});
#else
  const Pipeline pipeline(
      Dequantize{}, Bias{bias.data()}, [](float x) noexcept { return x * x; }, Requantize{0.5f});
#endif
#if REFUSED == 5  // no scales of A
  const Gemm<PackA<std::uint8_t>, Int32, decltype(pipeline)> gemm(w, pipeline, 1);
#elif REFUSED == 6  // floats for a product of integers
  const Gemm<PackA<float>, Int32, decltype(pipeline)> gemm(w, pipeline, 1);
#else
  const Gemm<PackAWithQuantRowOffset, Int32, decltype(pipeline)> gemm(w, pipeline, 1);
#endif
  return w.cols() == 3 ? 0 : 1;
}
