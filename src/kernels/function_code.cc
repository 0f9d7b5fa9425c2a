// Records functions as instructions, and allocates registers: the value whose next use is farthest
// gives up its register (Belady).
#include "kernels/function_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "kernels/functions.h"

namespace fbg::kernels {
namespace {

using Op = FunctionOp;
using Place = FunctionOperand::Place;

struct Instruction {
  Op op;
  std::array<int, 3> reads{-1, -1, -1};
  std::uint32_t bits = 0;
};
using Instructions = std::vector<Instruction>;

// A value of the function that is being recorded, by the number of its instruction.
struct Node {
  int number;
  Node(float value) : Node(of_bits(std::bit_cast<std::uint32_t>(value))) {}
  static Node of_bits(std::uint32_t bits) { return made({Op::constant, {-1, -1, -1}, bits}); }
  static Node made(const Instruction& instruction) {
    recorded->push_back(instruction);
    return Node(static_cast<int>(recorded->size()) - 1, 0);
  }
  static thread_local Instructions* recorded;

 private:
  Node(int n, int) : number(n) {}
};
thread_local Instructions* Node::recorded = nullptr;

Node made(Op op, Node a, std::uint32_t bits = 0) {
  return Node::made({op, {a.number, -1, -1}, bits});
}
Node made(Op op, Node a, Node b) { return Node::made({op, {a.number, b.number, -1}}); }
Node made(Op op, Node a, Node b, Node c) {
  return Node::made({op, {a.number, b.number, c.number}});
}

Node operator+(Node a, Node b) { return made(Op::add, a, b); }
Node operator-(Node a, Node b) { return made(Op::subtract, a, b); }
Node operator*(Node a, Node b) { return made(Op::multiply, a, b); }
Node operator/(Node a, Node b) { return made(Op::divide, a, b); }
Node operator&(Node a, Node b) { return made(Op::bit_and, a, b); }
Node operator|(Node a, Node b) { return made(Op::bit_or, a, b); }
Node fma(Node a, Node b, Node c) { return made(Op::fma, a, b, c); }
Node least(Node a, Node b) { return made(Op::least, a, b); }
Node greatest(Node a, Node b) { return made(Op::greatest, a, b); }
Node less(Node a, Node b) { return made(Op::less, a, b); }
Node less_equal(Node a, Node b) { return made(Op::less_equal, a, b); }
Node equal(Node a, Node b) { return made(Op::equal, a, b); }
Node greater_int(Node a, Node b) { return made(Op::greater_int, a, b); }
Node equal_int(Node a, Node b) { return made(Op::equal_int, a, b); }
Node select(Node where, Node then, Node otherwise) {
  return made(Op::select, where, then, otherwise);
}
Node shift_left(Node a, int n) { return made(Op::shift_left, a, static_cast<std::uint32_t>(n)); }
Node shift_right(Node a, int n) { return made(Op::shift_right, a, static_cast<std::uint32_t>(n)); }
Node add_int(Node a, Node b) { return made(Op::add_int, a, b); }
Node subtract_int(Node a, Node b) { return made(Op::subtract_int, a, b); }
Node multiply_int(Node a, Node b) { return made(Op::multiply_int, a, b); }
Node to_float(Node a) { return made(Op::to_float, a, 0u); }
Node to_int(Node a) { return made(Op::to_int, a, 0u); }
Node square_root(Node a) { return made(Op::square_root, a, 0u); }
Node round_to(Node a, int mode) { return made(Op::round, a, static_cast<std::uint32_t>(mode)); }

constexpr bool commutes(Op op) {
  for (const Op each : {Op::add, Op::multiply, Op::fma, Op::equal, Op::equal_int, Op::bit_and,
                        Op::bit_or, Op::add_int, Op::multiply_int})
    if (op == each) return true;
  return false;
}

constexpr bool is_order(Op op) { return op == Op::less || op == Op::less_equal; }

class Allocator {
 public:
  Allocator(Instructions instructions, int result, bool y_in_memory, const FunctionTarget& target)
      : code_(std::move(instructions)),
        result_(result),
        y_in_memory_(y_in_memory),
        memory_(target.memory_operands),
        values_(code_.size()),
        holds_(static_cast<std::size_t>(target.registers), -1) {}

  FunctionCode run() {
    hold(0, 0);
    if (!y_in_memory_) hold(1, 1);
    release(-1);
    for (now_ = 2; now_ <= result_; ++now_)
      if (code_[at(now_)].op != Op::constant && next_use(now_, now_) <= last())
        emit(code_[at(now_)]);
    if (values_[at(result_)].reg != 0) out_.steps.push_back({Op::load, 0, place(result_)});
    return std::move(out_);
  }

 private:
  struct Value {
    int reg = -1, slot = -1;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int last() const { return result_ + 1; }  // where the result is read

  // The first instruction after number n that reads a value; last() + 1 if there is none.
  int next_use(int value, int n) const {
    for (int i = std::max(n, value) + 1; i <= result_; ++i)
      if (std::ranges::count(code_[at(i)].reads, value) > 0) return i;
    return value == result_ ? last() : last() + 1;
  }
  void hold(int value, int reg) {
    values_[at(value)].reg = reg;
    holds_[at(reg)] = value;
  }
  // Frees the registers of values that are not read after instruction n.
  void release(int n) {
    for (int& value : holds_)
      if (value >= 0 && next_use(value, n) > last()) {
        values_[at(value)].reg = -1;
        value = -1;
      }
  }
  FunctionOperand place(int value) const {
    if (value < 0) return {};
    const Value& v = values_[at(value)];
    if (v.reg >= 0) return {Place::in_register, static_cast<std::uint32_t>(v.reg)};
    if (code_[at(value)].op == Op::constant) return {Place::constant, code_[at(value)].bits};
    if (v.slot >= 0) return {Place::in_slot, static_cast<std::uint32_t>(v.slot)};
    return {Place::operand, 0};
  }
  bool is_held(int value) const { return values_[at(value)].reg >= 0; }

  // A register that is free, or whose value is saved if it is in no other place; not that of a
  // value to keep.
  int take(std::initializer_list<int> keep) {
    int chosen = -1, farthest = -1;
    for (int reg = 0; reg < static_cast<int>(holds_.size()); ++reg) {
      const int value = holds_[at(reg)];
      if (std::ranges::count(barred_, reg) > 0) continue;
      if (value < 0) return reg;
      if (std::ranges::count(keep, value) > 0) continue;
      const int use = next_use(value, now_ - 1);
      if (use > farthest) chosen = reg, farthest = use;
    }
    Value& v = values_[at(holds_[at(chosen)])];
    const Op op = code_[at(holds_[at(chosen)])].op;
    if (v.slot < 0 && op != Op::constant && !(op == Op::y && y_in_memory_)) {
      v.slot = out_.slots++;
      out_.steps.push_back({Op::spill,
                            0,
                            {Place::in_register, static_cast<std::uint32_t>(v.reg)},
                            {Place::in_slot, static_cast<std::uint32_t>(v.slot)}});
    }
    v.reg = -1;
    holds_[at(chosen)] = -1;
    return chosen;
  }
  void load(int value, std::initializer_list<int> keep) {
    if (value < 0 || is_held(value)) return;
    const FunctionOperand from = place(value);
    const int reg = take(keep);
    out_.steps.push_back({Op::load, reg, from});
    hold(value, reg);
  }

  void emit(const Instruction& instruction) {
    auto [a, b, c] = instruction.reads;
    const Op op = instruction.op;
    const bool turned = memory_ && is_order(op) && !is_held(a) && is_held(b);
    if (turned) std::swap(a, b);
    const bool factor_in_memory = load_operands(op, a, b, c);
    FunctionStep step{op, 0, place(a), place(b), place(c), instruction.bits};
    if (turned) step.bits = 1;
    if (op == Op::least || op == Op::greatest) {
      const auto bound = std::bit_cast<float>(code_[at(a)].bits);
      step.bits = code_[at(a)].op == Op::constant && bound != 0 && !std::isnan(bound);
    }
    // The sum is written before the factors are read.
    if (op == Op::fma && (factor_in_memory || !memory_) && c != a) barred_[0] = register_of(a);
    if (op == Op::fma && !memory_ && c != b) barred_[1] = register_of(b);
    const std::array<int, 3> in{register_of(c), register_of(a), register_of(b)};
    release(now_);
    step.to = choose(op, in);
    barred_ = {-1, -1};
    out_.steps.push_back(step);
    hold(now_, step.to);
  }

  // A register for the result: that of an operand which is not read again, or register 0.
  int choose(Op op, const std::array<int, 3>& operands) {
    const auto is_free = [&](int reg) {
      return reg >= 0 && std::ranges::count(barred_, reg) == 0 && holds_[at(reg)] < 0;
    };
    if ((op != Op::fma || now_ == result_) && is_free(0)) return 0;
    const auto found = std::ranges::find_if(operands, is_free);
    return found == operands.end() ? take({}) : *found;
  }
  int register_of(int value) const { return value < 0 ? -1 : values_[at(value)].reg; }

  // Puts operands where the instruction can have them; they may change places. Returns whether a
  // factor of fma is in memory, so that the sum must be in the register of the result.
  bool load_operands(Op op, int& a, int& b, int& c) {
    if (!memory_) {
      for (const int value : {a, b, c}) load(value, {a, b, c});
      return false;
    }
    if (b >= 0 && commutes(op) && !is_held(a) && is_held(b)) std::swap(a, b);
    load(a, {a, b, c});
    if (op == Op::select) load(c, {a, b, c});
    if (op != Op::fma || is_held(b)) return false;
    load(c, {a, b, c});
    return true;
  }

  const Instructions code_;
  const int result_;
  const bool y_in_memory_, memory_;
  std::vector<Value> values_;
  std::vector<int> holds_;  // the value in each register
  std::array<int, 2> barred_{-1, -1};
  int now_ = 0;
  FunctionCode out_;
};

}  // namespace

FunctionCode function_code(Operation operation, bool reversed, bool y_in_memory,
                           const FunctionTarget& target) {
  static_assert(functions::lists_operations(functions::kFunctions<Node>));
  Instructions instructions;
  Node::recorded = &instructions;
  const Node x = Node::made({Op::x}), y = Node::made({Op::y});
  const auto apply = functions::kFunctions<Node>[static_cast<std::size_t>(operation)].apply;
  const Node result = reversed ? apply(y, x) : apply(x, y);
  return Allocator(std::move(instructions), result.number, y_in_memory, target).run();
}

int function_cost(Operation operation) {
  constexpr int kDivision = 8;  // a vector of 512 bits in about so many cycles
  const FunctionCode code = function_code(operation, false, true, {32, true});
  int cost = 0;
  for (const FunctionStep& step : code.steps)
    cost += step.op == Op::divide || step.op == Op::square_root ? kDivision : 1;
  return cost;
}

}  // namespace fbg::kernels
