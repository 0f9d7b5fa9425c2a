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

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/fields.h"
#include "simd/elementwise.h"

namespace fbg {

enum class RecurrentCell : std::uint8_t { rnn, gru, lstm };
inline std::span<const Choice<RecurrentCell>> choices(RecurrentCell) {
  static constexpr Choice<RecurrentCell> kCells[] = {
      {"rnn", RecurrentCell::rnn}, {"gru", RecurrentCell::gru}, {"lstm", RecurrentCell::lstm}};
  return kCells;
}

// A function of elements by its name in src/simd/elementwise.h, with its constants.
struct ElementFunction {
  explicit ElementFunction(Fields& f)
      : name(f.get<std::string>("name")), c0(f("c0")), c1(f("c1")) {}
  std::string name;
  float c0, c1;
};

// RNN, GRU and LSTM as ONNX defines them. What x contributes to all steps has been computed:
// `inputs`, (steps, batch, directions, gates, hidden) floats whose two outer axes have any strides,
// gates being z, r, h of a GRU and i, o, f, c of an LSTM. The output holds what each step gives,
// then the last states: (steps + 1, batch, directions, hidden), or steps + 2 where cells have a
// state of their own.
struct Recurrence {
  explicit Recurrence(Fields& f)
      : cell(f("cell")),
        sizes(f.get<std::array<std::int64_t, 4>>("sizes")),
        inputs(f("inputs")),
        step_stride(f("step_stride")),
        batch_stride(f("batch_stride")),
        functions(f.get<std::vector<ElementFunction>>("functions")),
        weights{f.get<PackedConv>("weights")} {
    if (const auto last = f.find<PackedConv>("last_weights")) weights.push_back(*last);
    reversed = f("reversed", false);
    lengths = f.find<Buffer>("lengths");
    hidden_state = f.find<Buffer>("hidden_state");
    cell_state = f.find<Buffer>("cell_state");
    bias = f.vector("bias");
    peepholes = f.vector("peepholes");
    clip = f("clip", 0.0f);
    couples_forget = f("couples_forget", false);
  }
  RecurrentCell cell;
  std::array<std::int64_t, 4> sizes;
  std::int64_t steps = sizes[0], batch = sizes[1], directions = sizes[2], hidden = sizes[3];
  Buffer inputs;
  std::int64_t step_stride, batch_stride;
  std::vector<ElementFunction> functions;  // of each direction: f (and g (and h))
  // As convolutions of kernel size 1 with a group for each direction. A GRU that applies the reset
  // gate before the product has two: of the gates z and r, and of h. int8 weights multiply states
  // that are quantized in each step, all rows of a direction alike.
  std::vector<PackedConv> weights;
  bool reversed;  // the only direction; of two, it is always the second
  // The sequence of row b has lengths[b] steps, int32 between 0 and `steps`; all that follows is 0.
  std::optional<Buffer> lengths;
  std::optional<Buffer> hidden_state, cell_state;  // (directions, batch, hidden), or zeros
  SharedMatrix bias;       // (directions * hidden): of h, within the reset gate's product
  SharedMatrix peepholes;  // (directions * 3 * hidden): i, o, f
  float clip;              // a bound of gates before their functions; 0: none
  bool couples_forget;     // f = 1 - i
};

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
