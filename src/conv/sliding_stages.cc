// The stages that sliding kernels run themselves.
#include "conv/sliding.h"

namespace fbg {
namespace {

// Whether kernels can write the results themselves: integers are corrected and requantized.
bool writes_bytes(const KernelKey& key) {
  if (!key.column_terms || key.num_stages == 0) return false;
  for (int s = 0; s < key.num_stages; ++s) {
    const StageCode& code = key.stages[static_cast<std::size_t>(s)];
    const bool last = s == key.num_stages - 1;
    const bool requantizes = code.kind == StageKind::requantize && code.in != ValueType::float32;
    if (last ? !requantizes
             : code.kind != StageKind::correct_zero_points && !is_column_term(key, s))
      return false;
  }
  return true;
}

// The same of floats: a bias, then one ReLU or Clip.
bool writes_floats(const KernelKey& key) {
  int s = 0;
  const auto is = [&](StageKind kind) {
    return s < key.num_stages && key.stages[static_cast<std::size_t>(s)].kind == kind;
  };
  if (is(StageKind::bias)) ++s;
  if (is(StageKind::relu) || is(StageKind::clip)) ++s;
  return s == key.num_stages;
}

}  // namespace

bool sliding_writes(const KernelKey& key) {
  return is_integer(key.accumulator) ? writes_bytes(key) : writes_floats(key);
}

kernels::SlidingKey sliding_kind(const KernelKey& key, bool writes) {
  kernels::SlidingKey kind{};
  kind.isa = key.isa;
  kind.output = writes ? key.output() : ValueType::acc;
  if (is_integer(key.accumulator)) {
    kind.source = kernels::sliding_bytes(isa_features(key.isa));
    return kind;
  }
  kind.source = kernels::SlidingSource::floats;
  kind.output = ValueType::float32;
  for (int s = 0; writes && s < key.num_stages; ++s) {
    const StageKind stage = key.stages[static_cast<std::size_t>(s)].kind;
    kind.bias |= stage == StageKind::bias;
    kind.low |= stage == StageKind::relu || stage == StageKind::clip;
    kind.high |= stage == StageKind::clip;
  }
  return kind;
}

void set_sliding_stages(const KernelKey& key, const StageArgs* stages, kernels::SlidingArgs& args) {
  if (is_integer(key.accumulator)) {
    const StageArgs& last = stages[key.num_stages - 1];
    args.low = last.f1;
    args.high = last.f2;
    args.zero_point = last.i0;
    args.zero_points =
        static_cast<std::int32_t>((static_cast<std::uint32_t>(last.i0) & 0xffff) * 0x10001u);
    return;
  }
  for (int s = 0; s < key.num_stages; ++s) {
    const StageKind kind = key.stages[static_cast<std::size_t>(s)].kind;
    if (kind == StageKind::bias) args.start = stages[s].data;
    if (kind == StageKind::clip) {
      args.low = stages[s].f0;
      args.high = stages[s].f1;
    }
  }
}

}  // namespace fbg
