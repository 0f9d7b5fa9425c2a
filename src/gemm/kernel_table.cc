// The kernel table between driver and generators: one place says which ISA each accumulator family
// prefers and what tiles it uses there; a generator that does not apply answers null.
#include <algorithm>
#include <stdexcept>

#include "fbg/gemm/gemm.h"
#include "gemm/reference.h"
#include "kernels/cache.h"

namespace fbg {
namespace {

struct FamilyEntry {
  Accumulator accumulator;
  Isa isa;
  Features needs;
  int lanes, registers;  // of the vector file
  int b_registers;       // per vector of B: 2 where pairs are split into even and odd
  int spare;             // A broadcasts and temporaries
  int max_rows;
  bool wide_a = false, spills = false;
};

// Best first. Tile sizes follow from the register file: rows * vectors accumulators, the vectors of
// B and the spare registers must fit.
constexpr FamilyEntry kFamilies[] = {
    {Accumulator::int32, Isa::avx512_vnni, feature::avx512 | feature::avx512_vnni, 16, 32, 1, 2,
     12},
    {Accumulator::int32, Isa::avx2_vnni, feature::avx2 | feature::avx_vnni, 8, 16, 1, 2, 6},
    {Accumulator::int32, Isa::avx512, feature::avx512, 16, 32, 1, 2, 12, true},
    {Accumulator::int32, Isa::avx2, feature::avx2, 8, 16, 1, 2, 6, true},
    {Accumulator::int32, Isa::generic, 0, 8, 32, 1, 2, 4},
    // With VNNI int32 sums are no slower: only what was packed elsewhere runs here.
    {Accumulator::int16, Isa::avx512_vnni, feature::avx512 | feature::avx512_vnni, 16, 32, 1, 2,
     12},
    {Accumulator::int16, Isa::avx2_vnni, feature::avx2 | feature::avx_vnni, 8, 16, 1, 2, 6},
    {Accumulator::int16, Isa::avx512, feature::avx512, 16, 32, 1, 2, 12, false, true},
    {Accumulator::int16, Isa::avx2, feature::avx2, 8, 16, 1, 2, 6, false, true},
    {Accumulator::int16, Isa::generic, 0, 8, 32, 1, 2, 4},
    {Accumulator::float32, Isa::avx512, feature::avx512, 16, 32, 1, 2, 12},
    {Accumulator::float32, Isa::avx2, feature::avx2, 8, 16, 1, 2, 6},
    {Accumulator::float32, Isa::generic, 0, 8, 32, 1, 2, 4},
    {Accumulator::float32_f16, Isa::avx512, feature::avx512, 16, 32, 1, 2, 12},
    {Accumulator::float32_f16, Isa::avx2, feature::avx2, 8, 16, 1, 2, 6},
    {Accumulator::float32_f16, Isa::generic, 0, 8, 32, 1, 2, 4},
    {Accumulator::float32_bf16, Isa::avx512, feature::avx512, 16, 32, 2, 2, 12},
    {Accumulator::float32_bf16, Isa::avx2, feature::avx2, 8, 16, 2, 2, 4},
    {Accumulator::float32_bf16, Isa::generic, 0, 8, 32, 1, 2, 4},
    {Accumulator::bfloat16, Isa::avx512_bf16, feature::avx512 | feature::avx512_bf16, 16, 32, 1, 2,
     12},
    {Accumulator::bfloat16, Isa::avx512, feature::avx512, 16, 32, 2, 2, 12},
    {Accumulator::bfloat16, Isa::avx2, feature::avx2, 8, 16, 2, 2, 4},
    {Accumulator::bfloat16, Isa::generic, 0, 8, 32, 1, 2, 4},
};

}  // namespace

Geometry choose_geometry(Accumulator accumulator, Features features,
                         const Blocking& blocking) noexcept {
  const FamilyEntry* family =
      std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const FamilyEntry& f) {
        return f.accumulator == accumulator && (f.needs & ~features) == 0;
      });
  Geometry g{family->isa, family->lanes, family->max_rows, family->wide_a, family->spills, {}};
  if (blocking.rows > 0) g.max_rows = std::min(blocking.rows, family->max_rows);
  const int panel_vectors = kPanelColumns / family->lanes;
  // Short tiles take more columns: enough independent accumulators to hide the latency.
  for (int rows = 1; rows <= g.max_rows; ++rows) {
    int vectors = 2;
    for (int wide : {4, 8}) {
      const bool fits =
          rows * wide + wide * family->b_registers + family->spare <= family->registers;
      const bool wanted = blocking.panels <= 0 || wide <= blocking.panels * panel_vectors;
      if (fits && wanted) vectors = wide;
    }
    // With VNNI, where kernels split a sum into two chains, one panel at a time does that as well,
    // and one stream is read faster than four.
    const bool splits = family->needs & (feature::avx512_vnni | feature::avx_vnni);
    if (splits && rows <= 4 && blocking.panels <= 0) vectors = std::min(vectors, panel_vectors);
    g.max_vectors[rows - 1] = vectors;
  }
  return g;
}

TileFunction find_kernel(const KernelKey& key) {
  if (key.isa == Isa::generic) return reference_kernel(key.accumulator);
  if (const TileFunction kernel = kernels::find(key)) return kernel;
  const std::string name = kernel_name(key);
  if (const TileFunction kernel = kernels::generate(key, name)) return kernel;
  throw std::runtime_error("no generator for kernel " + name);
}

std::string kernel_name(const KernelKey& key) {
  static constexpr const char* kOperands[] = {"int32_u8_s8",   "fp32_f32_f32", "fp32_bf16_bf16",
                                              "fp32_f32_bf16", "fp32_f32_f16", "int16_u8_s8"};
  const int lanes = isa_features(key.isa) & feature::avx512 ? 16 : 8;
  std::string name = std::string("gemm_") + kOperands[static_cast<int>(key.accumulator)] + "_";
  name += std::to_string(key.rows) + "x" + std::to_string(key.vectors * lanes) + "_" +
          isa_name(key.isa);
  if (key.masked) name += "_masked";
  if (key.load_c) name += "_loadc";
  if (key.correct_a) name += "_za";
  if (key.correct_b) name += "_zb";
  if (key.streams) name += "_stream";
  for (int s = 0; s < key.num_stages; ++s) {
    const StageCode& stage = key.stages[s];
    name += std::string("_") + stage_name(stage.kind);
    if (stage.kind == StageKind::requantize || stage.kind == StageKind::cast)
      name += std::string("_") + value_type_name(stage.out);
    if (stage.kind == StageKind::add && stage.operand != ValueType::float32)
      name += std::string("_") + value_type_name(stage.operand);
  }
  return name;
}

KernelKey make_kernel_key(const Geometry& geometry, Accumulator accumulator,
                          std::span<const Stage> stages, bool a_has_scale, bool b_has_scale,
                          bool b_has_zero_point) {
  const bool integer = is_integer(accumulator);
  KernelKey key{};
  key.accumulator = accumulator;
  key.isa = geometry.isa;
  key.rows = key.vectors = 1;
  const TypedPipeline typed = type_pipeline(stages, integer ? ValueType::acc : ValueType::float32);
  for (int s = 0; s < typed.count; ++s) {
    const StageCode& code = typed.codes[s];
    const bool scales = code.kind == StageKind::dequantize ||
                        (code.kind == StageKind::requantize && code.in != ValueType::float32);
    const bool corrects =
        code.in == ValueType::acc && (scales || code.kind == StageKind::correct_zero_points);
    if ((scales || corrects) && !(a_has_scale && b_has_scale))
      throw PipelineTypeError(std::string("gemm: ") + stage_name(code.kind) +
                              " needs the scales of A and B, but " +
                              (a_has_scale ? "B was packed without a scale" : "PackA has none"));
    if (corrects) {
      key.correct_a = true;
      key.correct_b = b_has_zero_point;
    }
    key.stages[s] = code;
  }
  key.num_stages = static_cast<std::uint8_t>(typed.count);
  return key;
}

KernelTable::KernelTable(const Geometry& geometry, KernelKey key, std::int64_t n,
                         std::int64_t min_rows, std::int64_t max_m)
    : kernels_(static_cast<std::size_t>(geometry.max_rows) * 16, Entry{key, nullptr}) {
  const int tallest = static_cast<int>(std::clamp<std::int64_t>(max_m, 1, geometry.max_rows));
  for (int rows = static_cast<int>(min_rows); rows <= tallest; ++rows) {
    // A tile one row shorter than its neighbours keeps their width.
    const int own = geometry.max_vectors[rows - 1];
    const int neighbour = geometry.max_vectors[std::min(rows, geometry.max_rows - 1)];
    for (const int vectors : {own, neighbour}) {
      const std::int64_t nr = vectors * geometry.lanes;
      const std::int64_t unit = std::min<std::int64_t>(nr, kPanelColumns);
      const auto add = [&](std::int64_t columns) {
        const auto count = ceil_div(columns, geometry.lanes);
        const bool masked = columns % geometry.lanes != 0;
        Entry& entry = kernels_[index(rows, count, masked)];
        entry.key.rows = static_cast<std::uint8_t>(rows);
        entry.key.vectors = static_cast<std::uint8_t>(count);
        entry.key.masked = masked;
        entry.run = find_kernel(entry.key);
      };
      // A thread's columns start at a panel: it may end after any number of panels, or where N
      // does.
      for (std::int64_t columns = 0; columns < nr; columns += unit) {
        if (columns + unit <= n) add(columns + unit);
        if (n % unit != 0 && columns + n % unit <= n) add(columns + n % unit);
      }
    }
  }
}

}  // namespace fbg
