// Look-ups in the table of kernel families: the best row, its tiles, the name and code of a kernel.
#include "kernels/table.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/policy.h"
#include "kernels/cache.h"

namespace fbg {
namespace kernels {
namespace {

// The first row that `accepts`, of those that are generated and then of the portable ones.
template <class Accepts>
const GemmFamily* first_family(Accepts accepts) noexcept {
  for (const auto families : {generated_families(), generic_families()}) {
    const auto found = std::ranges::find_if(families, accepts);
    if (found != families.end()) return &*found;
  }
  return nullptr;
}

const GemmFamily& family_of(const KernelKey& key) {
  if (const GemmFamily* family = find_family(key.gemm_type, key.isa, key.narrow)) return *family;
  throw std::invalid_argument(std::string("kernel: no family for ") +
                              weight_format(key.gemm_type).operands + " on " + isa_name(key.isa));
}

}  // namespace

const GemmFamily* find_family(GemmType gemm_type, Isa isa, bool narrow) noexcept {
  return first_family([&](const GemmFamily& f) {
    return f.gemm_type == gemm_type && f.isa == isa && f.narrow() == narrow;
  });
}

}  // namespace kernels

Geometry choose_geometry(GemmType gemm_type, Features features, const TileLimits& limits,
                         std::int64_t groups) noexcept {
  const kernels::GemmFamily& family = *kernels::first_family([&](const kernels::GemmFamily& f) {
    return f.gemm_type == gemm_type && (f.needs & ~features) == 0 && f.unit.min_groups <= groups;
  });
  const auto [b_registers, spare, max_rows, a_registers, one_panel_rows, interleaved_vectors] =
      family.tile;
  Geometry g{family.isa,
             family.vectors.lanes,
             max_rows,
             family.format,
             family.summing == kernels::Summing::spilled,
             {},
             family.unit.block_groups,
             family.unit.vector_rows,
             interleaved_vectors,
             family.narrow()};
  const bool unit = g.block_groups > 1;
  // Tiles of a matrix unit are tall, or those of vector kernels.
  if (limits.rows > 0 && (!unit || limits.rows <= family.unit.vector_rows))
    g.max_rows = std::min(limits.rows, max_rows);
  const int panel_vectors = family.format.panel_columns / g.lanes;
  // Short tiles take more columns: enough independent accumulators to hide the latency.
  for (int rows = 1; rows <= g.max_rows; ++rows) {
    int vectors = 2;
    for (const int wide : {4, 8}) {
      const bool fits =
          rows * (wide + a_registers) + wide * b_registers + spare <= family.vectors.registers;
      const bool wanted = limits.panels <= 0 || wide <= limits.panels * panel_vectors;
      if (fits && wanted) vectors = wide;
    }
    if (unit && rows > family.unit.vector_rows) vectors = rows <= 16 && limits.panels != 1 ? 4 : 2;
    // One stream of B is read faster than two or four, unless it comes from the L2. Where a short
    // tile has two accumulators for each sum, one panel hides the latency as well in any case.
    const bool two_accumulators = family.summing == kernels::Summing::two_accumulators;
    const int one_panel = limits.b_is_far    ? one_panel_rows
                          : two_accumulators ? policy::gemm::kTwoAccumulatorRows
                                             : 0;
    if (rows <= one_panel && limits.panels <= 0) vectors = std::min(vectors, panel_vectors);
    g.max_vectors[static_cast<std::size_t>(rows - 1)] = vectors;
  }
  return g;
}

TileFunction find_kernel(const KernelKey& key) {
  const kernels::GemmFamily& family = kernels::family_of(key);
  if (family.compiled) return family.compiled;
  return kernels::find_or_generate<TileFunction>(
      kernels::KernelKind::gemm, key, key.isa, [&] { return kernel_name(key); },
      [&] { return family.generate(family, key); });
}

KernelKey part_key(KernelKey whole, Sums sums) {
  whole.sums = sums;
  if (completes(sums)) return whole;
  KernelKey raw{whole.gemm_type, whole.group_offsets, whole.narrow,
                whole.isa,       whole.rows,          whole.vectors};
  raw.masked = whole.masked;
  raw.a = whole.a;
  raw.sums = sums;
  return raw;
}

namespace {

// What a stage computes: its name, or its operation and operand.
std::string stage_text(const StageCode& stage) {
  const Binary& binary = stage.binary;
  if (stage.kind == StageKind::save) return "Save" + std::to_string(binary.slot);
  if (stage.kind != StageKind::binary) return stage_name(stage.kind);
  std::string text = binary.reversed ? "reversed_" : "";
  text.append(operation_name(binary.operation));
  if (binary.operand == OperandKind::none) return text;
  text.append("_").append(operand_name(binary.operand));
  return binary.operand == OperandKind::slot ? text + std::to_string(binary.slot) : text;
}

}  // namespace

std::string kernel_name(const KernelKey& key) {
  const int lanes = kernels::family_of(key).vectors.lanes;
  std::string name = std::string("gemm_") + weight_format(key.gemm_type).operands + "_";
  name += std::to_string(key.rows) + "x" + std::to_string(key.vectors * lanes) + "_" +
          isa_name(key.isa);
  static constexpr const char* kRows[] = {"", "_pointers", "_interleaved"};
  static constexpr const char* kSums[] = {"", "_first", "_inner", "_last"};
  static constexpr const char* kCorrections[] = {"", "_za", "_za_zb", "_folded"};
  static constexpr const char* kCaching[] = {"", "_kept", "_stream"};
  if (key.group_offsets) name += "_offsets";
  if (key.narrow) name += "_narrow";
  if (key.masked) name += "_masked";
  name += kRows[static_cast<int>(key.a)];
  if (key.row_mask) name += "_picked";
  name += kSums[static_cast<int>(key.sums)];
  name += kCorrections[static_cast<int>(key.corrections)];
  name += kCaching[static_cast<int>(key.caching)];
  for (const StageCode& stage : key.pipeline()) {
    name += '_';
    name += stage_text(stage);
    if (stage_row(stage.kind).as_wanted) name += std::string("_") + value_type_name(stage.out);
    if (stage.specialization.unit_scale) name += "_unit";
    if (stage.specialization.centered) name += "_centered";
    if (stage.specialization.bounded) name += "_bounded";
    if (stage.specialization.looked_up) name += "_table";
    if (stage.operand != ValueType::float32)
      name += std::string("_") + value_type_name(stage.operand);
  }
  return name;
}

}  // namespace fbg
