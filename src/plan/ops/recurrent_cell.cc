// See recurrent_cell.h.
#include "plan/ops/recurrent_cell.h"

#include <algorithm>

namespace fbg {

// The columns of a row that are computed.
struct CellFunctions::Part {
  const Row& row;
  std::int64_t hidden, first;
  std::size_t count;

  const float* input(std::int64_t gate) const { return row.inputs + gate * hidden + first; }
  float* product(std::int64_t gate) const { return row.products + gate * hidden + first; }
  float* state() const { return row.hidden + first; }
  float* cell() const { return row.cell + first; }
  float* temporary() const { return row.temporary + first; }
};

CellFunctions::CellFunctions(const Recurrence& recurrence, Features features)
    : r_(recurrence),
      add_{simd::elementwise_function("add", features), 0, 0},
      multiply_{simd::elementwise_function("multiply", features), 0, 0},
      clip_{simd::elementwise_function("clip", features), -recurrence.clip, recurrence.clip},
      complement_{simd::elementwise_function("affine", features), -1, 1} {
  for (const ElementFunction& each : recurrence.functions)
    functions_.push_back({simd::elementwise_function(each.name, features), each.c0, each.c1});
}

std::int64_t CellFunctions::gates(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}

void CellFunctions::run(std::size_t product, const Row& row, Range columns) const noexcept {
  const Part part{row, r_.hidden, columns.begin, static_cast<std::size_t>(columns.size())};
  const bool last = product + 1 == r_.weights.size();
  if (r_.cell == RecurrentCell::gru && product == 0) run_gru_gates(part);
  if (!last) return;
  if (r_.cell == RecurrentCell::gru) run_gru(part);
  if (r_.cell == RecurrentCell::rnn) run_rnn(part);
  if (r_.cell == RecurrentCell::lstm) run_lstm(part);
  std::copy_n(part.state(), part.count, row.output + part.first);
}

// x = function(clip(x))
void CellFunctions::activate(const Part& part, std::size_t function, float* x) const noexcept {
  if (r_.clip > 0) clip_.run(x, x, clip_.c0, clip_.c1, part.count, x);
  apply(part, function, x, x);
}

// y = function(x)
void CellFunctions::apply(const Part& part, std::size_t function, const float* x,
                          float* y) const noexcept {
  const std::size_t each = functions_.size() / static_cast<std::size_t>(r_.directions);
  const Function& f = functions_[static_cast<std::size_t>(part.row.direction) * each + function];
  f.run(x, x, f.c0, f.c1, part.count, y);
}

void CellFunctions::run_rnn(const Part& part) const noexcept {
  add_.run(part.product(0), part.input(0), 0, 0, part.count, part.product(0));
  activate(part, 0, part.product(0));
  std::copy_n(part.product(0), part.count, part.state());
}

void CellFunctions::run_gru_gates(const Part& part) const noexcept {
  for (const std::int64_t gate : {0, 1}) {
    add_.run(part.product(gate), part.input(gate), 0, 0, part.count, part.product(gate));
    activate(part, 0, part.product(gate));
  }
  if (r_.weights.size() == 2)
    multiply_.run(part.product(1), part.state(), 0, 0, part.count, part.row.reset + part.first);
}

void CellFunctions::run_gru(const Part& part) const noexcept {
  float *const z = part.product(0), *const n = part.product(2), *const h = part.state();
  if (r_.weights.size() == 1) {
    if (r_.bias.data)
      add_.run(n, r_.bias.data.get() + part.row.direction * r_.hidden + part.first, 0, 0,
               part.count, n);
    multiply_.run(n, part.product(1), 0, 0, part.count, n);
  }
  add_.run(n, part.input(2), 0, 0, part.count, n);
  activate(part, 1, n);
  multiply_.run(h, z, 0, 0, part.count, h);
  complement_.run(z, z, complement_.c0, complement_.c1, part.count, z);
  multiply_.run(n, z, 0, 0, part.count, n);
  add_.run(h, n, 0, 0, part.count, h);
}

void CellFunctions::add_peephole(const Part& part, std::int64_t gate,
                                 std::int64_t peephole) const noexcept {
  if (!r_.peepholes.data) return;
  const float* const weights =
      r_.peepholes.data.get() + (part.row.direction * 3 + peephole) * r_.hidden + part.first;
  multiply_.run(part.cell(), weights, 0, 0, part.count, part.temporary());
  add_.run(part.product(gate), part.temporary(), 0, 0, part.count, part.product(gate));
}

void CellFunctions::run_lstm(const Part& part) const noexcept {
  enum { kInput, kOutput, kForget, kCell };
  for (const std::int64_t gate : {kInput, kOutput, kForget, kCell})
    add_.run(part.product(gate), part.input(gate), 0, 0, part.count, part.product(gate));
  float *const i = part.product(kInput), *const o = part.product(kOutput);
  float *const f = part.product(kForget), *const g = part.product(kCell), *const c = part.cell();
  add_peephole(part, kInput, 0);
  activate(part, 0, i);
  if (r_.couples_forget) {
    complement_.run(i, i, complement_.c0, complement_.c1, part.count, f);
  } else {
    add_peephole(part, kForget, 2);
    activate(part, 0, f);
  }
  activate(part, 1, g);
  multiply_.run(c, f, 0, 0, part.count, c);
  multiply_.run(i, g, 0, 0, part.count, i);
  add_.run(c, i, 0, 0, part.count, c);
  add_peephole(part, kOutput, 1);
  activate(part, 0, o);
  apply(part, 2, c, part.temporary());
  multiply_.run(o, part.temporary(), 0, 0, part.count, part.state());
}

}  // namespace fbg
