// What the cells of recurrent layers compute after the products of a step, for a range of columns
// of one row:
//
//   RNN   h = f(x + hR)
//   GRU   z, r = f(x + hR);  n = g(x + (r h)R), or g(x + r (hR + bias));  h = (1 - z) n + z h
//   LSTM  i, f = f(x + hR + p c);  c = f c + i g(x + hR);  o = f(x + hR + p c);  h = o h(c)
//
// Gates are clipped before their functions, as onnxruntime does it; the cell is not. It is all put
// together from the functions of src/simd/elementwise.h, on rows that stay in the L1.
#pragma once

#include <cstdint>
#include <vector>

#include "fbg/plan/tensor.h"
#include "simd/elementwise.h"

namespace fbg {

class CellFunctions {
 public:
  CellFunctions(const Recurrence& recurrence, Features features);

  // Where a row has its parts, each from column 0 on.
  struct Row {
    std::int64_t direction;
    const float* inputs;
    float* products;  // one for each gate, like the inputs; they are overwritten
    float *hidden, *cell;
    float* reset;  // receives r h where the reset gate comes before the product
    float* temporary;
    float* output;
  };

  // Those after the product number `product` of a step.
  void run(std::size_t product, const Row& row, Range columns) const noexcept;

  // Floats from one gate to the next, and in all gates.
  static std::int64_t gates(RecurrentCell cell);

 private:
  struct Function {
    simd::ElementwiseFunction run;
    float c0, c1;
  };
  struct Part;

  void run_rnn(const Part& part) const noexcept;
  void run_gru_gates(const Part& part) const noexcept;
  void run_gru(const Part& part) const noexcept;
  void run_lstm(const Part& part) const noexcept;
  void activate(const Part& part, std::size_t function, float* x) const noexcept;
  void apply(const Part& part, std::size_t function, const float* x, float* y) const noexcept;
  void add_peephole(const Part& part, std::int64_t gate, std::int64_t peephole) const noexcept;

  const Recurrence& r_;
  const Function add_, multiply_, clip_, complement_;
  std::vector<Function> functions_;
};

}  // namespace fbg
