// Kinds of ops of tensors.
#include "fbg/plan/tensor.h"
#include "plan/kinds.h"

namespace fbg {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr Choice<WindowFunction> kFunctions[] = {{"max", WindowFunction::max},
                                                 {"min", WindowFunction::min},
                                                 {"sum", WindowFunction::sum},
                                                 {"mean", WindowFunction::mean}};

constexpr Choice<ConvSource> kSources[] = {{"native", ConvSource::native},
                                           {"int8", ConvSource::int8},
                                           {"quantize", ConvSource::quantize},
                                           {"round", ConvSource::round}};

std::int64_t integer(Fields& fields, const char* name) { return fields.get<std::int64_t>(name); }

Buffer input(Graph& graph, Fields& f) { return tensor_input(graph, integer(f, "bytes")); }

Buffer constant(Graph& graph, Fields& f) {
  const auto values = f.get<Array>("values");
  return tensor_constant(graph, values.data, values.nbytes);
}

Buffer arrange(Graph& graph, Fields& f) {
  auto inputs = f.get<std::vector<Buffer>>("inputs");
  Arrangement a;
  a.elements = integer(f, "elements");
  a.element_bytes = f.get<std::int32_t>("element_bytes");
  f.for_each("parts", [&](Fields& part) {
    ArrangePart p;
    p.input = static_cast<std::size_t>(integer(part, "input"));
    p.to = integer(part, "to");
    p.from = integer(part, "from");
    part.for_each("axes", [&](Fields& axis) {
      ArrangeAxis& made = p.axes.emplace_back();
      made.extent = integer(axis, "extent");
      made.to_stride = integer(axis, "to_stride");
      made.from_stride = integer(axis, "from_stride");
      made.table = axis.get<Extents>("table");
    });
    a.parts.push_back(std::move(p));
  });
  const auto fill = f.get<Array>("fill", {});
  a.fill.assign(fill.data.get(), fill.data.get() + fill.nbytes);
  return fbg::arrange(graph, std::move(inputs), std::move(a));
}

Buffer elementwise(Graph& graph, Fields& f) {
  ElementwiseProgram program;
  program.extents = f.get<Extents>("extents");
  f.for_each("operands", [&](Fields& operand) {
    ElementwiseOperand& made = program.operands.emplace_back();
    made.buffer = operand.get<Buffer>("buffer");
    made.type = operand.type("type");
    made.strides = operand.get<Extents>("strides");
  });
  f.for_each("steps", [&](Fields& step) {
    ElementwiseStep& made = program.steps.emplace_back();
    made.function = step.get<std::string>("function");
    made.a = step.get<std::int32_t>("a");
    made.b = step.get<std::int32_t>("b");
    made.c0 = step.get<float>("c0");
    made.c1 = step.get<float>("c1");
  });
  program.output = f.type("output", ValueType::float32);
  return fbg::elementwise(graph, std::move(program));
}

Buffer look_up(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const auto table = f.get<Array>("table");
  std::array<std::uint8_t, 256> values{};
  require(table.nbytes == 256, "look_up: table must have 256 bytes");
  std::copy_n(reinterpret_cast<const std::uint8_t*>(table.data.get()), 256, values.begin());
  return fbg::look_up(graph, x, values);
}

Buffer window(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const auto function = f.choose<WindowFunction>("function", kFunctions);
  const std::int64_t batch = integer(f, "batch"), channels = integer(f, "channels");
  Window w = f.list("sizes", [](Fields& sizes) {
    Window made;
    made.input = sizes.get<Extent3>("input");
    made.output = sizes.get<Extent3>("output");
    made.kernel = sizes.get<Extent3>("kernel");
    made.stride = sizes.get<Extent3>("stride");
    made.dilation = sizes.get<Extent3>("dilation");
    made.pad_before = sizes.get<Extent3>("pad_before");
    made.pad_after = sizes.get<Extent3>("pad_after");
    return made;
  });
  w.batch = batch;
  w.channels = channels;
  w.count_padding = f.get("count_padding", false);
  w.type = f.type("type", ValueType::float32);
  w.factor = f.get("factor", 1.0f);
  w.zero_point = f.get<std::int32_t>("zero_point", 0);
  w.output_zero_point = f.get<std::int32_t>("output_zero_point", 0);
  w.float_output = f.get("float_output", false);
  return fbg::window(graph, x, function, w);
}

Buffer reduce_rows(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const auto function = f.choose<WindowFunction>("function", kFunctions);
  const std::int64_t rows = integer(f, "rows");
  return fbg::reduce_rows(graph, x, function, rows, integer(f, "cols"));
}

Buffer resample(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  Resampling r;
  r.outer = integer(f, "outer");
  r.input = integer(f, "input");
  r.output = integer(f, "output");
  r.inner = integer(f, "inner");
  r.sources = f.indices("sources");
  const SharedMatrix weights = f.vector("weights");
  r.weights.assign(weights.data.get(), weights.data.get() + weights.cols);
  require(r.output >= 1, "resample: the output must not be empty");
  r.taps = weights.cols / r.output;
  return fbg::resample(graph, x, std::move(r));
}

template <auto function>
Buffer of_rows(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const std::int64_t rows = integer(f, "rows");
  return function(graph, x, rows, integer(f, "cols"));
}

Buffer layer_norm_rows(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const std::int64_t rows = integer(f, "rows");
  SharedMatrix gamma = f.vector("gamma"), beta = f.vector("beta");
  return fbg::layer_norm_rows(graph, x, rows, std::move(gamma), std::move(beta),
                              f.get<float>("eps"));
}

Buffer rms_norm_rows(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const std::int64_t rows = integer(f, "rows");
  SharedMatrix gamma = f.vector("gamma");
  return fbg::rms_norm_rows(graph, x, rows, std::move(gamma), f.get<float>("eps"));
}

Buffer group_norm(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  GroupNorm n;
  n.batch = integer(f, "batch");
  n.pixels = integer(f, "pixels");
  n.groups = integer(f, "groups");
  n.gamma = f.vector("gamma");
  n.beta = f.vector("beta");
  n.eps = f.get<float>("eps");
  n.has_planes = f.get("has_planes", false);
  return fbg::group_norm(graph, x, std::move(n));
}

constexpr Choice<Interpolation> kInterpolations[] = {{"nearest", Interpolation::nearest},
                                                     {"linear", Interpolation::linear},
                                                     {"cubic", Interpolation::cubic}};
constexpr Choice<Beyond> kBeyond[] = {
    {"zeros", Beyond::zeros}, {"border", Beyond::border}, {"reflection", Beyond::reflection}};

Buffer grid_sample(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x"), grid = f.get<Buffer>("grid");
  GridSampling g;
  g.batch = integer(f, "batch");
  g.channels = integer(f, "channels");
  g.axes = integer(f, "axes");
  g.input = f.get<Extent3>("input");
  g.points = integer(f, "points");
  g.interpolation = f.choose<Interpolation>("interpolation", kInterpolations);
  g.beyond = f.choose<Beyond>("beyond", kBeyond);
  g.align_corners = f.get<bool>("align_corners");
  return fbg::grid_sample(graph, x, grid, g);
}

StackedMatrices matrices(Fields& f) {
  StackedMatrices m;
  m.buffer = f.get<Buffer>("buffer");
  m.strides = f.get<Extents>("strides");
  m.row_stride = integer(f, "row_stride");
  m.column_stride = integer(f, "column_stride");
  return m;
}

Buffer multiply(Graph& graph, Fields& f) {
  auto stack = f.get<Extents>("stack");
  const auto [rows, depth, columns] = f.get<Extent3>("sizes");
  StackedProduct p{std::move(stack), rows, depth, columns, {}, {}, {}};
  p.a = f.list("a", matrices);
  p.b = f.list("b", matrices);
  p.c = f.list("c", matrices);
  return fbg::multiply(graph, std::move(p));
}

Buffer attend(Graph& graph, Fields& f) {
  auto stack = f.get<Extents>("stack");
  const auto [queries, keys, depth, columns] = f.get<std::array<std::int64_t, 4>>("sizes");
  StackedAttention a{std::move(stack), queries, keys, depth, columns, {}, {}, {}, {}};
  a.q = f.list("q", matrices);
  a.k = f.list("k", matrices);
  a.v = f.list("v", matrices);
  a.output = f.list("output", matrices);
  a.bias = f.find_list("bias", matrices);
  a.scale = f.get("scale", 1.0f);
  a.allow_bfloat16 = f.get("allow_bfloat16", false);
  return fbg::attend(graph, std::move(a));
}

// A stage, and the vector or table of bytes that it reads, which `owner` keeps if it is given.
Stage stage(Fields& f, std::vector<Array>* owner, std::int64_t columns) {
  const auto name = f.get<std::string>("name");
  const auto row = std::ranges::find(kStages, name, &StageRow::name);
  require(row != kStages.end(), "conv: no stage is called " + name);
  require(row->operand.kind != OperandKind::row_extents, "conv: RowRange does not go with graphs");
  Stage made{row->kind, f.type("type"), {}};
  made.args.f0 = f.get<float>("f0");
  made.args.f1 = f.get<float>("f1");
  made.args.f2 = f.get<float>("f2");
  made.args.i0 = f.get<std::int32_t>("i0");
  made.specialization.unit_scale = f.get<bool>("unit_scale");
  made.specialization.centered = f.get<bool>("centered");
  made.specialization.bounded = f.get<bool>("bounded");
  const auto operand = f.find<Array>("operand");
  made.binary.operation = operation_named(f.get<std::string>("operation", "none"));
  made.binary.operand = operand_named(f.get<std::string>("operand_kind", "none"));
  made.binary.slot = static_cast<std::uint8_t>(f.get<std::int64_t>("slot", 0) & 0xff);
  made.binary.reversed = f.get("reversed", false);
  const bool looks_up = made.kind == StageKind::requantize;
  const bool reads_array = operand_of(made) == OperandKind::columns;
  require(operand ? owner && (looks_up || reads_array) : !(owner && reads_array),
          "conv: " + name + " does not have these parameters");
  if (!operand) return made;
  made.specialization.looked_up = looks_up;
  if (looks_up) columns = 256;
  require(operand->shape.size() == 1 && operand->shape[0] == columns,
          "conv: a stage has an array of " +
              std::to_string(operand->shape.empty() ? 0 : operand->shape.back()) +
              " columns, wanted " + std::to_string(columns));
  made.args.data = owner->emplace_back(*operand).data.get();
  return made;
}

Buffer expression(Graph& graph, Fields& f) {
  Expression e;
  e.extents = f.get<Extents>("extents");
  f.for_each("operands", [&](Fields& operand) {
    ExpressionOperand& made = e.operands.emplace_back();
    made.buffer = operand.get<Buffer>("buffer");
    made.strides = operand.get<Extents>("strides");
  });
  f.for_each("stages", [&](Fields& s) { e.stages.push_back(stage(s, nullptr, 0)); });
  e.gives_floats = f.get("gives_floats", true);
  return fbg::expression(graph, std::move(e));
}

Buffer convolve(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  auto weights = f.get<PackedConv>("weights");
  const auto batch = integer(f, "batch");
  const auto spatial = f.get<Extent3>("spatial");
  const ConvGeometry& geometry = weights.geometry();
  ConvEpilogue epilogue;
  const auto arrays = std::make_shared<std::vector<Array>>();
  f.for_each("stages", [&](Fields& s) {
    epilogue.stages.push_back(stage(s, arrays.get(), geometry.out_channels));
  });
  epilogue.owner = arrays;
  ConvOptions options;
  options.source = f.choose<ConvSource>("source", kSources, ConvSource::native);
  options.has_scale = f.get("has_scale", false);
  const float scale = f.get("scale", 1.0f);
  const auto zero_point = f.get<std::int32_t>("zero_point", 0);
  const auto algorithm = f.get<std::string>("algorithm", {}),
             measured = f.get<std::string>("measured", {});
  options.algorithm = algorithm;
  options.measured = measured;
  options.exact = f.get("exact", false);
  epilogue.residual = f.find<Buffer>("residual");
  const auto channels = f.get<std::int64_t>("channels", 0), first = f.get<std::int64_t>("first", 0);
  const auto before = f.find<Buffer>("before");
  if (channels > 0) epilogue.place = ConvPlace{channels, first, before};
  const ConvQuantization computed{f.find<Buffer>("computed_scale"),
                                  f.find<Buffer>("computed_zero_point")};
  const ConvShape shape = ConvShape::of(geometry, batch, spatial);
  return fbg::convolve(graph, x, std::move(weights), shape, options, std::move(epilogue), scale,
                       zero_point, computed);
}

constexpr Choice<RecurrentCell> kCells[] = {
    {"rnn", RecurrentCell::rnn}, {"gru", RecurrentCell::gru}, {"lstm", RecurrentCell::lstm}};

Buffer recur(Graph& graph, Fields& f) {
  Recurrence r;
  r.cell = f.choose<RecurrentCell>("cell", kCells);
  const auto [steps, batch, directions, hidden] = f.get<std::array<std::int64_t, 4>>("sizes");
  r.steps = steps;
  r.batch = batch;
  r.directions = directions;
  r.hidden = hidden;
  r.inputs = f.get<Buffer>("inputs");
  r.step_stride = integer(f, "step_stride");
  r.batch_stride = integer(f, "batch_stride");
  f.for_each("functions", [&](Fields& function) {
    ElementFunction& made = r.functions.emplace_back();
    made.name = function.get<std::string>("name");
    made.c0 = function.get<float>("c0");
    made.c1 = function.get<float>("c1");
  });
  r.weights.push_back(f.get<PackedConv>("weights"));
  if (const auto last = f.find<PackedConv>("last_weights")) r.weights.push_back(*last);
  r.reversed = f.get("reversed", false);
  r.lengths = f.find<Buffer>("lengths");
  r.hidden_state = f.find<Buffer>("hidden_state");
  r.cell_state = f.find<Buffer>("cell_state");
  r.bias = f.vector("bias");
  r.peepholes = f.vector("peepholes");
  r.clip = f.get("clip", 0.0f);
  r.couples_forget = f.get("couples_forget", false);
  return fbg::recur(graph, std::move(r));
}

constexpr Kind kKinds[] = {
    {"tensor_input", input},
    {"constant", constant},
    {"arrange", arrange},
    {"elementwise", elementwise},
    {"look_up", look_up},
    {"window", window},
    {"reduce_rows", reduce_rows},
    {"resample", resample},
    {"grid_sample", grid_sample},
    {"softmax_rows", of_rows<fbg::softmax_rows>},
    {"log_softmax_rows", of_rows<fbg::log_softmax_rows>},
    {"layer_norm_rows", layer_norm_rows},
    {"rms_norm_rows", rms_norm_rows},
    {"group_norm", group_norm},
    {"multiply", multiply},
    {"attend", attend},
    {"convolve", convolve},
    {"recur", recur},
    {"expression", expression},
};

}  // namespace

std::span<const Kind> tensor_kinds() { return kKinds; }

}  // namespace fbg
