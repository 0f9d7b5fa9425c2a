// elementwise: a program of functions, run over short blocks that stay in the L1, so that a chain
// of operations reads its operands once and writes its result once, whatever its length.
//
//   block: consecutive elements of the innermost extent, or several whole lines of it;
//   load: operands to float registers, a block each; dense floats are read where they lie;
//   steps: register by register;
//   store: the last register to the output.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "core/float16.h"
#include "core/policy.h"
#include "plan/ops/row_step.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::size_t kMostRegisters = 96;

// Elements of a block: as many as let all registers stay in the L1.
std::int64_t block_of(std::size_t registers) {
  return std::max(
      policy::tensors::kExpression,
      policy::tensors::kRegisters / static_cast<std::int64_t>(std::bit_ceil(registers)));
}

// A step of a program that computes an element of the output from the elements of the operands.
// Register i holds operand i, and register `operands + j` what step j computes from registers a and
// b. Values are float32.
struct ElementwiseStep {
  explicit ElementwiseStep(Fields& f)
      : function(f.get<std::string>("function")), a(f("a")), b(f("b")), c0(f("c0")), c1(f("c1")) {}
  std::string function;  // a name that elementwise_function() of src/simd/elementwise.h knows
  int a, b;
  float c0, c1;
};

// strides: of the elements of an operand along the extents of the program; the last is 0 or 1.
// column: of rows of tokens or sequences, where the operand begins.
struct ElementwiseOperand {
  explicit ElementwiseOperand(Fields& f)
      : buffer(f("buffer")),
        type(f("type")),
        strides(f.get<Extents>("strides")),
        column(f("column", 0)) {}
  Buffer buffer;
  ValueType type;
  Extents strides;
  std::int64_t column;
};

// One pass over all operands. Results of 8 bits are saturated; they have been rounded by a step.
// Those of int32 are the bits that the last step gives.
struct ElementwiseProgram {
  explicit ElementwiseProgram(Fields& f)
      : extents(f.get<Extents>("extents")),
        operands(f.get<std::vector<ElementwiseOperand>>("operands")),
        steps(f.get<std::vector<ElementwiseStep>>("steps")),
        output(f("output", ValueType::float32)) {}
  Extents extents;  // of the output, which is dense; of rows, their columns
  std::vector<ElementwiseOperand> operands;
  std::vector<ElementwiseStep> steps;
  ValueType output;
};

class Program {
 public:
  Program(ElementwiseProgram program, Buffer output, Features features)
      : program_(std::move(program)),
        output_(output),
        type_(program_.output),
        conversions_(simd::kernels(features).conversions),
        rows_(simd::kernels(features).rows) {
    const std::size_t rank = program_.extents.size();
    block_ = block_of(program_.operands.size() + program_.steps.size());
    inner_ = program_.extents.back();
    next_ = rank > 1 ? program_.extents[rank - 2] : 1;
    lines_ = std::clamp<std::int64_t>(block_ / inner_, 1, next_);
    pieces_ = ceil_div(inner_, block_);
    blocks_ = lines_ > 1 ? ceil_div(next_, lines_) : next_ * pieces_;
    choose_functions(features);
  }

  // Of a thread.
  std::size_t scratch_bytes() const {
    const std::size_t registers = program_.operands.size() + program_.steps.size();
    return registers * static_cast<std::size_t>(block_) * sizeof(float);
  }

  // Elements along the two innermost extents, and the blocks that they make up.
  std::int64_t plane() const { return next_ * inner_; }
  std::int64_t blocks() const { return blocks_; }

  void operator()(const Frame& frame, std::byte* scratch, int thread_id, Range units) const {
    std::byte* const memory = scratch + static_cast<std::size_t>(thread_id) * scratch_bytes();
    for (std::int64_t unit = units.begin; unit < units.end; ++unit)
      run_block(frame, memory, unit / blocks_, unit % blocks_);
  }

 private:
  // An operand that is one number within a line stays one where all functions that read it take it.
  void choose_functions(Features features) {
    const std::size_t operands = program_.operands.size();
    is_number_.assign(operands + program_.steps.size(), false);
    for (std::size_t r = 0; r < operands; ++r)
      is_number_[r] =
          !program_.steps.empty() && lines_ == 1 && program_.operands[r].strides.back() == 0;
    std::vector<const simd::NamedFunction*> named;
    for (const ElementwiseStep& step : program_.steps) {
      named.push_back(simd::named_function(step.function, features));
      is_number_[static_cast<std::size_t>(step.a)] = false;
      if (!named.back()->with_number) is_number_[static_cast<std::size_t>(step.b)] = false;
    }
    for (std::size_t s = 0; s < named.size(); ++s) {
      const bool number = is_number_[static_cast<std::size_t>(program_.steps[s].b)];
      functions_.push_back(number ? named[s]->with_number : named[s]->function);
    }
  }

  // The position of a block: `lines` lines from number `line` on, and `count` elements of each from
  // `first` on.
  struct Block {
    std::int64_t line, lines, first, count;
  };

  void run_block(const Frame& frame, std::byte* memory, std::int64_t outer,
                 std::int64_t block) const {
    Block at{outer * next_, 1, 0, inner_};
    if (lines_ > 1) {
      at.line += block * lines_;
      at.lines = std::min(lines_, (outer + 1) * next_ - at.line);
    } else {
      at.line += block / pieces_;
      at.first = block % pieces_ * block_;
      at.count = std::min(block_, inner_ - at.first);
    }
    const float* values[kMostRegisters];
    float* own[kMostRegisters];
    std::size_t r = 0;
    for (; r < program_.operands.size() + program_.steps.size(); ++r)
      own[r] = reinterpret_cast<float*>(memory) + static_cast<std::int64_t>(r) * block_;
    for (r = 0; r < program_.operands.size(); ++r)
      values[r] = is_number_[r] ? load(frame, program_.operands[r], at.line, 0, 1, own[r])
                                : load_block(frame, program_.operands[r], at, own[r]);

    std::byte* const to = frame[output_].data + (at.line * inner_ + at.first) * value_size(type_);
    const auto n = static_cast<std::size_t>(at.lines * at.count);
    for (std::size_t s = 0; s < program_.steps.size(); ++s, ++r) {
      const ElementwiseStep& step = program_.steps[s];
      const bool last = s + 1 == program_.steps.size();
      float* const y = last && value_size(type_) == 4 ? reinterpret_cast<float*>(to) : own[r];
      functions_[s](values[step.a], values[step.b], step.c0, step.c1, n, y);
      values[r] = y;
    }
    store(values[r - 1], n, to);
  }

  // The lines of an operand, one after the other.
  const float* load_block(const Frame& frame, const ElementwiseOperand& operand, const Block& at,
                          float* y) const {
    const std::size_t rank = operand.strides.size();
    const std::int64_t step = at.lines > 1 ? operand.strides[rank - 2] : 0;
    const bool dense = operand.strides.back() == 1;
    if (at.lines == 1 || (dense && step == inner_) || (!dense && step == 0))
      return load(frame, operand, at.line, at.first, at.lines * at.count, y);
    for (std::int64_t i = 0; i < at.lines; ++i) {
      float* const to = y + i * at.count;
      if (i > 0 && step == 0) {
        std::copy_n(y, at.count, to);
        continue;
      }
      const float* const values = load(frame, operand, at.line + i, 0, at.count, to);
      if (values != to) std::copy_n(values, at.count, to);
    }
    return y;
  }

  const float* load(const Frame& frame, const ElementwiseOperand& operand, std::int64_t line,
                    std::int64_t first, std::int64_t count, float* y) const {
    std::int64_t at = 0;
    for (std::size_t a = operand.strides.size() - 1; a-- > 0;) {
      at += line % program_.extents[a] * operand.strides[a];
      line /= program_.extents[a];
    }
    const bool dense = operand.strides.back() != 0;
    if (dense) at += first;
    const auto n = static_cast<std::size_t>(dense ? count : 1);
    const std::byte* const x = frame[operand.buffer].data + at * value_size(operand.type);
    const float* values = y;
    switch (operand.type) {
      case ValueType::uint8:
        conversions_.load_uint8(reinterpret_cast<const std::uint8_t*>(x), n, y);
        break;
      case ValueType::int8:
        conversions_.load_int8(reinterpret_cast<const std::int8_t*>(x), n, y);
        break;
      case ValueType::int32:
        conversions_.load_int32(reinterpret_cast<const std::int32_t*>(x), n, y);
        break;
      case ValueType::float16:
        rows_.half_to_float(reinterpret_cast<const std::uint16_t*>(x), n, y);
        break;
      case ValueType::bfloat16:
        rows_.bfloat16_to_float(reinterpret_cast<const std::uint16_t*>(x), n, y);
        break;
      default:
        values = reinterpret_cast<const float*>(x);
    }
    if (dense || count == 1) return values;
    std::fill_n(y, count, values[0]);
    return y;
  }

  void store(const float* x, std::size_t n, std::byte* to) const {
    switch (type_) {
      case ValueType::uint8:
        return conversions_.store_uint8(x, n, reinterpret_cast<std::uint8_t*>(to));
      case ValueType::int8:
        return conversions_.store_int8(x, n, reinterpret_cast<std::int8_t*>(to));
      case ValueType::bfloat16:
        return rows_.float_to_bfloat16(x, n, reinterpret_cast<std::uint16_t*>(to));
      case ValueType::float16:
        return rows_.float_to_half(x, 1.0f, n, reinterpret_cast<std::uint16_t*>(to));
      default:
        if (reinterpret_cast<const std::byte*>(x) != to) std::memcpy(to, x, n * sizeof(float));
    }
  }

  const ElementwiseProgram program_;  // with the types of buffers as the plan has them
  const Buffer output_;
  const ValueType type_;
  const simd::ConversionKernels& conversions_;
  const simd::RowKernels& rows_;
  std::vector<simd::ElementwiseFunction> functions_;
  std::vector<bool> is_number_;  // by register
  // Elements of a block; the innermost extent and the next one; lines of the innermost in a block,
  // or pieces that make up a line; blocks of next_ lines.
  std::int64_t block_, inner_, next_, lines_, pieces_, blocks_;
};

std::vector<Buffer> buffers_of(const ElementwiseProgram& program) {
  std::vector<Buffer> buffers;
  for (const ElementwiseOperand& operand : program.operands) buffers.push_back(operand.buffer);
  return buffers;
}

std::string describe(const ElementwiseProgram& program) {
  std::string name = "elementwise";
  for (const ElementwiseStep& step : program.steps) name += " " + step.function;
  return name;
}

class ElementwiseOp final : public Op {
 public:
  explicit ElementwiseOp(ElementwiseProgram program)
      : Op(describe(program), buffers_of(program)), program_(std::move(program)) {
    // Operand 0 is read block by block, just before the block of the output is written. Another
    // operand in the same buffer may be read later.
    std::int64_t stride = 1;
    bool same = value_size(program_.operands[0].type) == value_size(program_.output);
    for (std::size_t a = program_.extents.size(); a-- > 0; stride *= program_.extents[a])
      same = same && program_.operands[0].strides[a] == stride;
    same = same && std::ranges::count(inputs, inputs[0]) == 1;
    in_place = same;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    ElementwiseProgram held = program_;
    if (context.type(output) == ValueType::bfloat16) held.output = ValueType::bfloat16;
    for (ElementwiseOperand& operand : held.operands)
      if (context.type(operand.buffer) == ValueType::bfloat16) operand.type = ValueType::bfloat16;
    Program program(std::move(held), output, context.features);
    const std::int64_t elements = checked_product(program_.extents, "elementwise");
    const std::int64_t units = elements / program.plane() * program.blocks();
    const auto threads = static_cast<std::size_t>(context.capacity.threads);
    const std::size_t scratch = threads * program.scratch_bytes();
    return make_unit_step(units, scratch, std::move(program));
  }
  Halves reads_bfloat16(std::size_t, Features) const override { return Halves::widened; }
  bool can_write_bfloat16() const override { return program_.output == ValueType::float32; }

 private:
  const ElementwiseProgram program_;
};

// The operand of a program that a gate of bytes (simd/bytes.h) multiplies, if it is one: a dense
// stack of matrices of bytes that become bytes of the same type. The other operand has a factor for
// each column of a matrix.
std::optional<int> gated_operand(const ElementwiseProgram& p) {
  const std::size_t rank = p.extents.size();
  if (p.operands.size() != 2 || p.steps.size() != 3 || rank > 3) return {};
  const int gated = p.operands[0].type == p.output ? 0 : 1;
  const ElementwiseOperand& x = p.operands[static_cast<std::size_t>(gated)];
  const ElementwiseOperand& factors = p.operands[static_cast<std::size_t>(1 - gated)];
  const ElementwiseStep &first = p.steps[0], &second = p.steps[1], &third = p.steps[2];
  std::int64_t dense = 1;
  for (std::size_t a = rank; a-- > 0; dense *= p.extents[a])
    if (x.strides[a] != dense) return {};
  const bool by_column =
      factors.strides[rank - 1] == 1 && (rank < 2 || factors.strides[rank - 2] == 0);
  const bool by_matrix = rank < 3 || factors.strides[0] == p.extents[2];
  const bool found =
      x.type == p.output && (x.type == ValueType::uint8 || x.type == ValueType::int8) &&
      factors.type == ValueType::float32 && by_column && by_matrix &&
      first.function == "dequantize" && first.a == gated && second.function == "multiply" &&
      std::min(second.a, second.b) == 1 - gated && std::max(second.a, second.b) == 2 &&
      third.function == "quantize" && third.a == 3;
  return found ? std::optional(gated) : std::nullopt;
}

class GateOp final : public Op {
 public:
  GateOp(const ElementwiseProgram& program, Buffer x, Buffer factors)
      : Op("gate", {x, factors}),
        type_(program.output),
        cols_(program.extents.back()),
        gate_{program.steps[0].c0, program.steps[0].c1, program.steps[2].c0, program.steps[2].c1} {
    const std::size_t rank = program.extents.size();
    if (rank > 1) rows_ = program.extents[rank - 2];
    if (rank > 2) matrices_ = program.extents[0];
    in_place = inputs[0] != inputs[1];
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::ByteKernels& kernels = simd::kernels(context.features).bytes;
    return make_unit_step(matrices_ * rows_, 0,
                          [this, &kernels](const Frame& frame, std::byte*, int, Range units) {
                            while (units.size() > 0) {
                              const std::int64_t matrix = units.begin / rows_;
                              const std::int64_t end = std::min(units.end, (matrix + 1) * rows_);
                              run(kernels, frame, matrix, {units.begin, end});
                              units.begin = end;
                            }
                          });
  }

 private:
  void run(const simd::ByteKernels& kernels, const Frame& frame, std::int64_t matrix,
           Range rows) const {
    const std::byte* const x = frame[inputs[0]].data + rows.begin * cols_;
    const float* const factors =
        reinterpret_cast<const float*>(frame[inputs[1]].data) + matrix * cols_;
    std::byte* const y = frame[output].data + rows.begin * cols_;
    const auto n = static_cast<std::size_t>(rows.size()), cols = static_cast<std::size_t>(cols_);
    if (type_ == ValueType::uint8)
      kernels.gate_uint8(reinterpret_cast<const std::uint8_t*>(x), factors, gate_, n, cols,
                         reinterpret_cast<std::uint8_t*>(y));
    else
      kernels.gate_int8(reinterpret_cast<const std::int8_t*>(x), factors, gate_, n, cols,
                        reinterpret_cast<std::int8_t*>(y));
  }

  const ValueType type_;
  std::int64_t matrices_ = 1, rows_ = 1;
  const std::int64_t cols_;
  const simd::Gate gate_;
};

// Whether a program quantizes a dense tensor of floats and does nothing else, by a scale and a zero
// point that are known, or that are the other two operands.
bool only_quantizes(const ElementwiseProgram& p) {
  const bool bytes = p.output == ValueType::uint8 || p.output == ValueType::int8;
  if (!bytes || p.extents.size() != 1 || p.operands[0].strides[0] != 1) return false;
  for (const ElementwiseOperand& operand : p.operands)
    if (operand.type != ValueType::float32) return false;
  if (p.operands.size() == 1) return p.steps.size() == 1 && p.steps[0].function == "quantize";
  if (p.operands.size() != 3 || p.steps.size() != 2) return false;
  const ElementwiseStep &first = p.steps[0], &second = p.steps[1];
  return p.operands[1].strides[0] == 0 && p.operands[2].strides[0] == 0 &&
         first.function == "quantize_by" && first.a == 0 && first.b == 1 &&
         second.function == "add" && second.a == 3 && second.b == 2;
}

class QuantizeOp final : public Op {
 public:
  explicit QuantizeOp(const ElementwiseProgram& program)
      : Op("quantize", buffers_of(program)),
        type_(program.output),
        elements_(program.extents[0]),
        scale_(program.steps[0].c0),
        zero_point_(program.steps[0].c1) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::ByteKernels& kernels = simd::kernels(context.features).bytes;
    return make_unit_step(
        ceil_div(elements_, kPiece), 0,
        [this, &kernels](const Frame& frame, std::byte*, int, Range units) {
          const std::int64_t first = units.begin * kPiece;
          const auto n = static_cast<std::size_t>(std::min(units.end * kPiece, elements_) - first);
          const float* const x = reinterpret_cast<const float*>(frame[inputs[0]].data) + first;
          std::byte* const y = frame[output].data + first;
          const float scale = number(frame, 1, scale_), point = number(frame, 2, zero_point_);
          if (type_ == ValueType::uint8)
            kernels.quantize_uint8(x, scale, point, n, reinterpret_cast<std::uint8_t*>(y));
          else
            kernels.quantize_int8(x, scale, point, n, reinterpret_cast<std::int8_t*>(y));
        });
  }

 private:
  // The number that an operand brings, or the one that is known.
  float number(const Frame& frame, std::size_t operand, float known) const {
    if (operand >= inputs.size()) return known;
    float value;
    std::memcpy(&value, frame[inputs[operand]].data, sizeof value);
    return value;
  }

  static constexpr std::int64_t kPiece = policy::tensors::kFloats;
  const ValueType type_;
  const std::int64_t elements_;
  const float scale_, zero_point_;
};

// The function of truth values of a program that does nothing else with dense bytes, or null.
simd::ElementwiseFunction logic_of(const ElementwiseProgram& p, Features features) {
  if (p.operands.size() != 2 || p.steps.size() != 1 || p.extents.size() != 1) return nullptr;
  if (p.output != ValueType::uint8 || p.steps[0].a == p.steps[0].b) return nullptr;
  for (const ElementwiseOperand& x : p.operands)
    if (x.type != ValueType::uint8 || x.strides[0] != 1) return nullptr;
  return simd::elementwise_function(p.steps[0].function + "_bytes", features);
}

class LogicOp final : public Op {
 public:
  explicit LogicOp(const ElementwiseProgram& program)
      : Op(program.steps[0].function, buffers_of(program)), program_(program) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::ElementwiseFunction function = logic_of(program_, context.features);
    return make_unit_step(
        ceil_div(program_.extents[0], kPiece), 0,
        [this, function](const Frame& frame, std::byte*, int, Range units) {
          const std::int64_t first = units.begin * kPiece;
          const std::int64_t end = std::min(units.end * kPiece, program_.extents[0]);
          const auto at = [&](Buffer b) { return reinterpret_cast<float*>(frame[b].data + first); };
          function(at(inputs[0]), at(inputs[1]), 0, 0, static_cast<std::size_t>(end - first),
                   at(output));
        });
  }

 private:
  static constexpr std::int64_t kPiece = policy::tensors::kBytes;
  const ElementwiseProgram program_;
};

// A program over rows of tokens or sequences: the steps of a row, one after the other, in the row
// of the output. A step reads operands, or the step before it.
class RowProgramOp final : public Op {
 public:
  explicit RowProgramOp(ElementwiseProgram program)
      : Op("", buffers_of(program)), p_(std::move(program)) {
    for (const ElementwiseStep& step : p_.steps) name += (name.empty() ? "" : " ") + step.function;
    in_place = p_.steps.size() == 1;
  }

  // Sets the shape of the output.
  void check(const Graph& graph) {
    shape = graph.shape(p_.operands[0].buffer);
    shape.cols = p_.extents[0];
    bool floats = p_.output == ValueType::float32 && p_.extents.size() == 1 && !p_.steps.empty();
    for (const ElementwiseOperand& x : p_.operands) {
      const BufferShape own = graph.shape(x.buffer);
      floats = floats && x.type == ValueType::float32 && own.type == ValueType::float32 &&
               x.strides == Extents{1};
      require(own.rows == shape.rows && x.column >= 0 && x.column <= own.cols - shape.cols,
              "elementwise: operands must have the same rows, of as many columns");
      in_place = in_place && own.cols == shape.cols;
    }
    require(floats, "elementwise: rows must be dense floats");
    const auto operands = static_cast<int>(p_.operands.size());
    for (int s = 0; s < static_cast<int>(p_.steps.size()); ++s)
      for (const int read :
           {p_.steps[static_cast<std::size_t>(s)].a, p_.steps[static_cast<std::size_t>(s)].b})
        require(read < operands || read == operands + s - 1,
                "elementwise: a step of rows reads operands or the step before it");
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    std::vector<simd::ElementwiseFunction> functions;
    for (const ElementwiseStep& step : p_.steps)
      functions.push_back(simd::elementwise_function(step.function, context.features));
    return make_row_step(
        *this, context,
        [this, functions](const simd::RowKernels&, const Frame& frame, std::int64_t row, float* y) {
          const auto value = [&](int of) -> const float* {
            const auto at = static_cast<std::size_t>(of);
            return at < inputs.size() ? row_of(frame[inputs[at]], row) + p_.operands[at].column : y;
          };
          for (std::size_t s = 0; s < functions.size(); ++s) {
            const ElementwiseStep& step = p_.steps[s];
            functions[s](value(step.a), value(step.b), step.c0, step.c1,
                         static_cast<std::size_t>(shape.cols), y);
          }
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const ElementwiseProgram p_;
};

// y = table[x] for every byte.
class LookUpOp final : public Op {
 public:
  explicit LookUpOp(Fields& f) : Op("look_up", f) {
    in_place = true;
    const auto table = f.get<Array>("table");
    require(table.nbytes == 256, "look_up: table must have 256 bytes");
    std::copy_n(reinterpret_cast<const std::uint8_t*>(table.data.get()), 256, table_.begin());
    shape = tensor_shape(tensor_bytes(f.graph(), x_));
    require_bytes(f.graph(), x_, shape.cols, "look_up: x");
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const auto kernel = simd::kernels(context.features).bytes.look_up;
    return make_unit_step(
        ceil_div(shape.cols, kPiece), 0,
        [this, kernel](const Frame& frame, std::byte*, int, Range units) {
          const std::int64_t first = units.begin * kPiece;
          const auto n = static_cast<std::size_t>(std::min(units.end * kPiece, shape.cols) - first);
          kernel(reinterpret_cast<const std::uint8_t*>(frame[x_].data) + first, table_.data(), n,
                 reinterpret_cast<std::uint8_t*>(frame[output].data) + first);
        });
  }

 private:
  static constexpr std::int64_t kPiece = policy::tensors::kBytes;
  const Buffer x_ = input("x");
  alignas(64) std::array<std::uint8_t, 256> table_{};
};

void check_operand(const Graph& graph, const ElementwiseOperand& operand,
                   const ElementwiseProgram& program) {
  require(operand.strides.size() == program.extents.size(),
          "elementwise: an operand must have a stride for each extent");
  std::int64_t last = 0;
  for (std::size_t a = 0; a < program.extents.size(); ++a) {
    require(operand.strides[a] >= 0, "elementwise: strides must not be negative");
    last += (program.extents[a] - 1) * operand.strides[a];
  }
  require(operand.strides.back() <= 1, "elementwise: the last stride must be 0 or 1");
  require(graph.shape(operand.buffer).rows == RowKind::tensor && operand.column == 0,
          "elementwise: operands must be tensors, or rows");
  require((last + 1) * value_size(operand.type) <= tensor_bytes(graph, operand.buffer),
          "elementwise: strides reach beyond their operand");
}

}  // namespace

Buffer kinds::elementwise(Graph& graph, Fields& f) {
  ElementwiseProgram program(f);
  f.require_all_read();
  const std::int64_t elements = checked_product(program.extents, "elementwise");
  require(!program.operands.empty() && !program.extents.empty(),
          "elementwise: a program must have operands and extents");
  const std::size_t registers = program.operands.size() + program.steps.size();
  require(registers <= kMostRegisters,
          "elementwise: a program may have 96 registers, got " + std::to_string(registers));
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const ElementwiseStep& step = program.steps[s];
    const auto known = static_cast<int>(program.operands.size() + s);
    require(step.a >= 0 && step.a < known && step.b >= 0 && step.b < known,
            "elementwise: a step reads a register that is not written yet");
    require(simd::elementwise_function(step.function, {}) != nullptr,
            "elementwise: there is no function '" + step.function + "'");
  }
  if (graph.shape(program.operands[0].buffer).rows != RowKind::tensor) {
    auto op = std::make_shared<RowProgramOp>(std::move(program));
    op->check(graph);
    return append_op(graph, std::move(op));
  }
  for (const ElementwiseOperand& operand : program.operands) check_operand(graph, operand, program);
  require(value_size(program.output) == 4 || program.output == ValueType::bfloat16 ||
              program.output == ValueType::float16 || program.output == ValueType::uint8 ||
              program.output == ValueType::int8,
          std::string("elementwise: the output cannot be ") + value_type_name(program.output));
  const std::int64_t bytes = checked_product({elements, value_size(program.output)}, "elementwise");
  const BufferShape shape =
      program.output == ValueType::float32 ? tensor_of_floats(elements) : tensor_shape(bytes);
  const auto append = [&](std::shared_ptr<Op> op) {
    op->shape = shape;
    return append_op(graph, std::move(op));
  };
  if (only_quantizes(program)) return append(std::make_shared<QuantizeOp>(program));
  if (logic_of(program, {})) return append(std::make_shared<LogicOp>(program));
  if (const std::optional<int> gated = gated_operand(program)) {
    const auto buffer = [&](int operand) {
      return program.operands[static_cast<std::size_t>(operand)].buffer;
    };
    return append(std::make_shared<GateOp>(program, buffer(*gated), buffer(1 - *gated)));
  }
  return append(std::make_shared<ElementwiseOp>(std::move(program)));
}

Buffer kinds::look_up(Graph& graph, Fields& f) { return append_as<LookUpOp>(graph, f); }

}  // namespace fbg
