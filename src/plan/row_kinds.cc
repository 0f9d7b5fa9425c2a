// Kinds of ops whose rows are tokens or sequences.
#include "plan/kinds.h"

namespace fbg {
namespace {

constexpr Choice<RowKind> kRows[] = {{"token", RowKind::token}, {"sequence", RowKind::sequence}};

constexpr Choice<ValueType> kInputs[] = {{"float32", ValueType::float32},
                                         {"bfloat16", ValueType::bfloat16},
                                         {"uint8", ValueType::uint8},
                                         {"int8", ValueType::int8}};

constexpr Choice<Activation> kActivations[] = {{"none", Activation::none},
                                               {"gelu", Activation::gelu},
                                               {"gelu_tanh", Activation::gelu_tanh},
                                               {"relu", Activation::relu},
                                               {"silu", Activation::silu}};

constexpr Choice<Gate> kGates[] = {{"gelu", Gate::gelu},
                                   {"gelu_tanh", Gate::gelu_tanh},
                                   {"silu", Gate::silu},
                                   {"relu", Gate::relu}};

constexpr Choice<Pooling> kPoolings[] = {{"cls", Pooling::first},
                                         {"lasttoken", Pooling::last},
                                         {"mean", Pooling::mean},
                                         {"mean_sqrt_len_tokens", Pooling::mean_sqrt_length},
                                         {"weightedmean", Pooling::weighted_mean},
                                         {"max", Pooling::max}};

Buffer buffer(Fields& fields, const char* name) { return fields.get<Buffer>(name); }

// The list of q_heads, kv_heads, head_dim and, if they are there, causal and window.
AttentionShape attention_shape(Fields& fields) {
  return fields.list("shape", [](Fields& f) {
    AttentionShape shape;
    shape.q_heads = f.get<std::int64_t>("q_heads");
    shape.kv_heads = f.get<std::int64_t>("kv_heads");
    shape.head_dim = f.get<std::int64_t>("head_dim");
    shape.causal = f.get("causal", false);
    shape.window = f.find<std::int64_t>("window");
    return shape;
  });
}

Buffer input(Graph& graph, Fields& f) {
  const auto cols = f.get<std::int64_t>("cols");
  const auto rows = f.choose<RowKind>("rows", kRows, RowKind::token);
  return graph.input({rows, cols, f.choose<ValueType>("dtype", kInputs, ValueType::float32)});
}

Buffer embedding(Graph& graph, Fields& f) {
  SharedRows word = f.rows("word");
  SharedMatrix position = f.table("position");
  return graph.embedding(std::move(word), std::move(position), f.table("type"));
}

Buffer layer_norm(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  SharedMatrix gamma = f.vector("gamma"), beta = f.vector("beta");
  return graph.layer_norm(x, std::move(gamma), std::move(beta), f.get<float>("eps"));
}

Buffer rms_norm(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  SharedMatrix gamma = f.vector("gamma");
  return graph.rms_norm(x, std::move(gamma), f.get<float>("eps"));
}

Buffer norm_heads(Graph& graph, Fields& f) {
  const Buffer qkv = buffer(f, "qkv");
  const AttentionShape shape = attention_shape(f);
  SharedMatrix q_gamma = f.vector("q_gamma"), k_gamma = f.vector("k_gamma");
  return graph.norm_heads(qkv, shape, std::move(q_gamma), std::move(k_gamma), f.get<float>("eps"));
}

Buffer add(Graph& graph, Fields& f) {
  const Buffer a = buffer(f, "a");
  return graph.add(a, buffer(f, "b"));
}

std::optional<Routes> find_routes(Fields& f) {
  const auto weights = f.find<Buffer>("routes");
  const auto expert = f.get<std::int64_t>("expert", 0);
  return weights ? std::optional(Routes{*weights, expert}) : std::nullopt;
}

Routes routes(Fields& f) {
  const Buffer weights = buffer(f, "routes");
  return {weights, f.get<std::int64_t>("expert")};
}

Buffer route(Graph& graph, Fields& f) {
  const Buffer logits = buffer(f, "logits");
  return graph.route(logits, f.get<std::int64_t>("count"));
}

Buffer take_routed(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  return graph.take_routed(x, routes(f));
}

Buffer add_routed(Graph& graph, Fields& f) {
  const Buffer sum = buffer(f, "sum"), rows = buffer(f, "rows");
  const Routes to = routes(f);
  return graph.add_routed(sum, rows, to, f.vector("bias"));
}

Buffer linear(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  auto w = f.get<PackedMatrix>("w");
  Epilogue epilogue;
  epilogue.bias = f.vector("bias");
  epilogue.activation = f.choose<Activation>("activation", kActivations, Activation::none);
  epilogue.residual = f.find<Buffer>("residual");
  epilogue.channel_scale = f.vector("channel_scale");
  epilogue.gate = f.find_choice<Gate>("gate", kGates);
  epilogue.routes = find_routes(f);
  return graph.linear(x, std::move(w), std::move(epilogue));
}

Buffer rotate(Graph& graph, Fields& f) {
  const Buffer qkv = buffer(f, "qkv");
  const AttentionShape shape = attention_shape(f);
  return graph.rotate(qkv, shape, f.table("cos_sin"));
}

Buffer attention(Graph& graph, Fields& f) {
  const Buffer qkv = buffer(f, "qkv");
  const AttentionShape shape = attention_shape(f);
  AttentionOptions options;
  options.allow_bfloat16 = f.get("allow_bfloat16", false);
  options.distance_bias = f.table("distance_bias");
  options.scale = f.find<float>("scale");
  options.softcap = f.find<float>("softcap");
  options.relative.keys = f.table("relative_keys");
  options.relative.queries = f.table("relative_queries");
  options.relative.rows = f.indices("relative_rows");
  return graph.attention(qkv, shape, std::move(options));
}

Buffer gated(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  return graph.gated(x, f.choose<Gate>("gate", kGates));
}

Buffer unfold(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  return graph.unfold(x, f.get<std::int64_t>("width"));
}

Buffer pool(Graph& graph, Fields& f) {
  const Buffer x = buffer(f, "x");
  const auto pooling = f.choose<Pooling>("pooling", kPoolings);
  return graph.pool(x, pooling, f.get<std::int64_t>("skipped", 0));
}

Buffer tanh(Graph& graph, Fields& f) { return graph.tanh(buffer(f, "x")); }

Buffer normalize(Graph& graph, Fields& f) { return graph.normalize(buffer(f, "x")); }

constexpr Kind kKinds[] = {
    {"input", input},
    {"embedding", embedding},
    {"layer_norm", layer_norm},
    {"rms_norm", rms_norm},
    {"norm_heads", norm_heads},
    {"add", add},
    {"linear", linear},
    {"rotate", rotate},
    {"attention", attention},
    {"gated", gated},
    {"unfold", unfold},
    {"pool", pool},
    {"tanh", tanh},
    {"normalize", normalize},
    {"route", route},
    {"take_routed", take_routed},
    {"add_routed", add_routed},
};

}  // namespace

std::span<const Kind> row_kinds() { return kKinds; }

}  // namespace fbg
