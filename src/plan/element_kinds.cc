// Kinds of ops of elements.h.
#include "fbg/plan/elements.h"
#include "plan/kinds.h"

namespace fbg {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr Choice<ElementType> kTypes[] = {
    {"bool", ElementType::boolean},      {"uint8", ElementType::uint8},
    {"int8", ElementType::int8},         {"uint16", ElementType::uint16},
    {"int16", ElementType::int16},       {"uint32", ElementType::uint32},
    {"int32", ElementType::int32},       {"uint64", ElementType::uint64},
    {"int64", ElementType::int64},       {"float16", ElementType::float16},
    {"bfloat16", ElementType::bfloat16}, {"float32", ElementType::float32},
    {"float64", ElementType::float64},
};
constexpr Choice<Reduction> kReductions[] = {
    {"sum", Reduction::sum},
    {"product", Reduction::product},
    {"max", Reduction::max},
    {"min", Reduction::min},
    {"first_max", Reduction::first_max},
    {"first_min", Reduction::first_min},
    {"last_max", Reduction::last_max},
    {"last_min", Reduction::last_min},
};
constexpr Choice<Scatter> kScatters[] = {
    {"replace", Scatter::replace}, {"add", Scatter::add}, {"multiply", Scatter::multiply},
    {"max", Scatter::max},         {"min", Scatter::min},
};

ElementType element_type(Fields& f, const char* name) {
  return f.choose<ElementType>(name, kTypes);
}

Axis axis(Fields& f) {
  const auto [outer, count, inner] = f.get<Extent3>("axis");
  return {outer, count, inner};
}

Buffer function(Graph& graph, Fields& f) {
  TypedFunction made;
  made.function = f.get<std::string>("function");
  made.type = element_type(f, "type");
  made.extents = f.get<Extents>("extents");
  f.for_each("operands", [&](Fields& operand) {
    StridedOperand& x = made.operands.emplace_back();
    x.buffer = operand.get<Buffer>("buffer");
    x.strides = operand.get<Extents>("strides");
  });
  return apply_function(graph, std::move(made));
}

Buffer convert(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const ElementType from = element_type(f, "from");
  return fbg::convert(graph, x, from, element_type(f, "to"));
}

Buffer reduce_axis(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const auto reduction = f.choose<Reduction>("function", kReductions);
  const Axis along = axis(f);
  return fbg::reduce_axis(graph, x, reduction, along, element_type(f, "type"));
}

Buffer accumulate_axis(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  Accumulation a;
  a.multiplies = f.get<bool>("multiplies");
  a.exclusive = f.get<bool>("exclusive");
  a.reverse = f.get<bool>("reverse");
  const Axis along = axis(f);
  return fbg::accumulate_axis(graph, x, a, along, element_type(f, "type"));
}

Buffer top_positions(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const auto k = f.get<std::int64_t>("k");
  const bool greatest = f.get<bool>("greatest");
  const Axis along = axis(f);
  return fbg::top_positions(graph, x, k, greatest, along, element_type(f, "type"));
}

Indexing indexing(Fields& f) {
  Indexing i;
  i.extents = f.get<Extents>("extents");
  i.strides = f.get<Extents>("strides");
  i.index_strides = f.get<Extents>("index_strides");
  f.for_each("axes", [&](Fields& indexed) {
    const auto extent = indexed.get<std::int64_t>("extent");
    i.axes.push_back({extent, indexed.get<std::int64_t>("stride")});
  });
  i.row_bytes = f.get<std::int64_t>("row_bytes");
  i.index_bytes = f.get<std::int32_t>("index_bytes");
  return i;
}

Buffer gather(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x"), indices = f.get<Buffer>("indices");
  return fbg::gather(graph, x, indices, f.list("indexing", indexing));
}

Buffer scatter(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x"), indices = f.get<Buffer>("indices");
  const auto updates = f.get<Buffer>("updates");
  Indexing places = f.list("indexing", indexing);
  const auto how = f.choose<Scatter>("how", kScatters);
  return fbg::scatter(graph, x, indices, updates, std::move(places), how, element_type(f, "type"));
}

constexpr Kind kKinds[] = {
    {"function", function},
    {"convert", convert},
    {"reduce_axis", reduce_axis},
    {"accumulate_axis", accumulate_axis},
    {"top_positions", top_positions},
    {"gather", gather},
    {"scatter", scatter},
};

}  // namespace

std::span<const Kind> element_kinds() { return kKinds; }

}  // namespace fbg
