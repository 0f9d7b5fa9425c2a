// Emits the stages of the pipeline and the stores, vector by vector. Bytes of AVX-512 are stored
// for four vectors at a time.
#include "kernels/x64/epilogue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/x64/stage_emitters.h"

namespace fbg::kernels {
namespace {

constexpr float dword(std::uint32_t i) { return std::bit_cast<float>(i); }

// Dword 4 * k + l of the result is dword 4 * l + k.
constexpr SimdAssembler::Table kOrder{
    dword(0), dword(4), dword(8),  dword(12), dword(1), dword(5), dword(9),  dword(13),
    dword(2), dword(6), dword(10), dword(14), dword(3), dword(7), dword(11), dword(15)};

// Requantized vectors as bytes: packed with saturation, which also applies the lower bound, so that
// four vectors take 6 instructions where each took 4 of its own. A pack works within the four parts
// of a register and leaves dword l of vector k as dword 4 * l + k, which one permutation mends.
class BytePacker {
 public:
  static constexpr int kRegisters = 3, kVectors = 4;

  static bool serves(const SimdAssembler& as, const KernelKey& key, int spare) {
    if (!as.is_zmm() || key.masked || key.num_stages == 0) return false;
    const StageCode& last = key.stages[key.num_stages - 1];
    return gives_bytes(last) && spare + kRegisters <= as.end_of_vectors();
  }

  // Takes kRegisters registers from `first` on; while it stores, also temporary ones of `ctx`.
  BytePacker(SimdAssembler& as, const KernelKey& key, int first, const StageContext& ctx)
      : as_(as),
        ctx_(ctx),
        type_(key.output()),
        specialization_(key.stages[key.num_stages - 1].specialization),
        upper_(first),
        zero_point_(first + 1),
        order_(first + 2) {
    const int stage = (key.num_stages - 1) * static_cast<int>(sizeof(StageArgs));
    const auto field = [&](std::size_t offset) {
      return as.ptr[ctx.operands.stages + stage + static_cast<int>(offset)];
    };
    table_ = field(offsetof(StageArgs, data));
    if (!specialization_.bounded) as.vbroadcastss(as.vec(upper_), field(offsetof(StageArgs, f2)));
    if (!specialization_.centered)
      as.vpbroadcastw(as.vec(zero_point_), field(offsetof(StageArgs, i0)));
    as.keep_table(as.vec(order_), kOrder);
  }

  // Has the upper bound of results before they are rounded.
  int upper() const { return upper_; }

  // Stores `count` vectors from `first` on, of which each row of C has `per_row`, to C at `column`;
  // moves c on from one row to the next, but not beyond the last.
  void store(int first, int count, int per_row, int column, const EpilogueRegisters& to) {
    const auto x = [&](int i) { return as_.vec(first + std::min(i, count - 1)); };
    for (int i = 0; i < count; i += 2) {
      as_.vpackssdw(x(i), x(i), x(i + 1));
      if (!specialization_.centered) as_.vpaddsw(x(i), x(i), as_.vec(zero_point_));
    }
    const SimdAssembler::Vec bytes = x(0), high = count > 2 ? x(2) : x(0);
    if (type_ == ValueType::int8)
      as_.vpacksswb(bytes, bytes, high);
    else
      as_.vpackuswb(bytes, bytes, high);
    const Xbyak::Zmm all(bytes.getIdx());
    as_.vpermd(all, Xbyak::Zmm(order_), all);
    if (specialization_.looked_up) {
      as_.mov(ctx_.scratch2, table_);
      emit_look_up(as_, all, Xbyak::Zmm(ctx_.temps), Xbyak::Zmm(ctx_.temps + 1), ctx_.scratch2);
    }
    for (int i = 0; i < count; i += per_row) {
      if (i > 0) as_.add(to.c, to.ldc);
      store_row(all, i, std::min(per_row, count - i), to.c, column);
    }
  }

 private:
  // Parts [part, part + count) of 16 bytes.
  void store_row(const Xbyak::Zmm& bytes, int part, int count, const Xbyak::Reg64& c, int column) {
    const auto to = [&](int i) { return as_.ptr[c + column + i * 16]; };
    const int index = bytes.getIdx();
    if (count == 4) return as_.vmovups(to(0), bytes);
    if (count >= 2) {
      if (part == 0)
        as_.vmovups(to(0), Xbyak::Ymm(index));
      else
        as_.vextracti64x4(to(0), bytes, part / 2);
      if (count == 2) return;
      return as_.vextracti32x4(to(2), bytes, part + 2);
    }
    if (part == 0)
      as_.vmovups(to(0), Xbyak::Xmm(index));
    else
      as_.vextracti32x4(to(0), bytes, part);
  }

  SimdAssembler& as_;
  const StageContext& ctx_;
  Xbyak::Address table_{0};
  const ValueType type_;
  const Specialization specialization_;
  const int upper_, zero_point_, order_;
};

// Whether the pointer to a row of a matrix survives in `scratch` from one vector to the next: no
// other operand takes its place.
bool keeps_row_pointer(const KernelKey& key) {
  int matrices = 0;
  for (int s = 0; s < key.num_stages; ++s) {
    const OperandKind operand = key.stages[s].binary.operand;
    if (operand == OperandKind::columns || operand == OperandKind::row_extents)
      if (!is_folded(key, s)) return false;
    matrices += operand == OperandKind::matrix;
  }
  return matrices == 1 && !key.masked;
}

// Several matrices: pointers to their rows move along in registers, where these are free.
std::array<int, 3> pointed_stages(const KernelKey& key) {
  std::array<int, 3> stages{-1, -1, -1};
  if (key.reads_scales() || key.reads_zero_points()) return stages;
  std::size_t count = 0;
  for (int s = 0; s < key.num_stages && count < stages.size(); ++s)
    if (key.stages[s].binary.operand == OperandKind::matrix) stages[count++] = s;
  return count > 1 ? stages : std::array<int, 3>{-1, -1, -1};
}

// Slots of values that stages save.
int saved_vectors(const KernelKey& key) {
  int slots = 0;
  for (const StageCode& code : key.pipeline())
    if (code.kind == StageKind::save) slots = std::max(slots, code.binary.slot + 1);
  return slots;
}

// Aligns the stack pointer, whatever the caller's is: a vector that lies across the border of two
// cache lines is not forwarded from its store to its load, so that GELU took three times as long on
// a Zen 4. Makes room for the slots of values.
void align_stack(SimdAssembler& as, int slots) {
  as.mov(as.rax, as.rsp);
  as.and_(as.rsp, -64);
  as.sub(as.rsp, 64 * (1 + slots));
  as.mov(as.ptr[as.rsp], as.rax);
}

void restore_stack(SimdAssembler& as) { as.mov(as.rsp, as.ptr[as.rsp]); }

struct Pointer {
  Xbyak::Reg64 to;
  std::size_t offset;  // in TileArgs
};

// What the stages of a pipeline read in place.
std::vector<Pointer> pointers_of(const KernelKey& key) {
  const StageOperands operands;
  std::vector<Pointer> pointers;
  if (key.num_stages > 0) pointers.push_back({operands.stages, offsetof(TileArgs, stages)});
  if (key.reads_scales()) {
    if (!key.folds()) pointers.push_back({operands.a_scale, offsetof(TileArgs, a_scale)});
    pointers.push_back({operands.b_scale, offsetof(TileArgs, b_scale)});
  }
  if (key.reads_zero_points()) {
    if (!key.folds()) pointers.push_back({operands.a_zero_point, offsetof(TileArgs, a_zero_point)});
    pointers.push_back({operands.col_offsets, offsetof(TileArgs, col_offsets)});
  }
  if (key.corrections == Corrections::both) {
    pointers.push_back({operands.row_terms, offsetof(TileArgs, row_terms)});
    pointers.push_back({operands.b_zero_point, offsetof(TileArgs, b_zero_point)});
  }
  return pointers;
}

}  // namespace

bool epilogue_overwrites(const KernelKey& key, const Xbyak::Reg64& r) {
  using namespace Xbyak::util;
  StageContext ctx{key, rdi, 0, false};
  ctx.pointed = pointed_stages(key);
  for (const int stage : ctx.pointed)
    if (stage >= 0 && *ctx.pointer_of(stage) == r) return true;
  return r == rax || r == rdx || r == rsi ||
         std::ranges::any_of(pointers_of(key), [&](const Pointer& p) { return p.to == r; });
}

namespace {

Xbyak::Address stage_field(SimdAssembler& as, const StageContext& ctx, int stage,
                           std::size_t offset) {
  return as.ptr[ctx.operands.stages + stage * static_cast<int>(sizeof(StageArgs)) +
                static_cast<int>(offset)];
}

void point_to_matrices(SimdAssembler& as, StageContext& ctx) {
  ctx.pointed = pointed_stages(ctx.key);
  for (const int s : ctx.pointed) {
    if (s < 0) continue;
    const Xbyak::Reg64& to = *ctx.pointer_of(s);
    as.mov(to, as.ptr[ctx.args + static_cast<int>(offsetof(TileArgs, row))]);
    as.imul(to, stage_field(as, ctx, s, offsetof(StageArgs, ld)));
    as.add(to, stage_field(as, ctx, s, offsetof(StageArgs, data)));
    as.mov(ctx.scratch, as.ptr[ctx.args + static_cast<int>(offsetof(TileArgs, col))]);
    as.lea(to, as.ptr[to + ctx.scratch * static_cast<int>(value_size(ctx.key.stages[s].operand))]);
  }
}

void point_to_next_row(SimdAssembler& as, const StageContext& ctx) {
  for (const int s : ctx.pointed)
    if (s >= 0) as.add(*ctx.pointer_of(s), stage_field(as, ctx, s, offsetof(StageArgs, ld)));
}

}  // namespace

void emit_epilogue(SimdAssembler& as, const KernelKey& key, const EpilogueRegisters& registers) {
  StageContext ctx{key, registers.args, key.rows * key.vectors, registers.corrected};
  const StageOperands& operands = ctx.operands;
  for (const auto& [to, offset] : pointers_of(key))
    as.mov(to, as.ptr[registers.args + static_cast<int>(offset)]);

  int spare = ctx.temps + 3;
  std::optional<BytePacker> packer;
  if (BytePacker::serves(as, key, spare)) {
    packer.emplace(as, key, spare, ctx);
    ctx.upper = packer->upper();
    spare += BytePacker::kRegisters;
  }
  for (int s = 0; s < key.num_stages; ++s)
    spare = emit_kept_tables(as, key.stages[s], spare, as.end_of_vectors());
  if (key.folds() && key.reads_scales() && key.rows > 1 &&
      spare + 2 * key.vectors <= as.end_of_vectors()) {
    ctx.kept_columns = spare;
    ctx.row_vectors = key.vectors;
    for (int v = 0; v < key.vectors; ++v) {
      const int column = v * as.vector_bytes();
      as.vmovups(as.vec(spare + v), as.ptr[operands.col_offsets + column]);
      as.vmovups(as.vec(spare + key.vectors + v), as.ptr[operands.b_scale + column]);
    }
  }
  const bool aligns_stack = std::ranges::any_of(key.pipeline(), uses_stack);
  ctx.first_spill = saved_vectors(key);
  int spilled = 0;
  for (const StageCode& code : key.pipeline()) spilled = std::max(spilled, spilled_vectors(code));
  if (aligns_stack) align_stack(as, ctx.first_spill + spilled);
  const bool keeps_row = keeps_row_pointer(key);
  point_to_matrices(as, ctx);
  // Vectors that are packed together: of several rows, or a part of one.
  const int vectors = key.vectors;
  const int packed_rows = std::max(BytePacker::kVectors / vectors, 1);
  for (int i = 0; i < key.rows; ++i) {
    if (i > 0) point_to_next_row(as, ctx);
    ctx.row = i;
    for (int v = 0; v < key.vectors; ++v) {
      const SimdAssembler::Vec sum = as.vec(i * key.vectors + v);
      ctx.column_bytes = v * as.vector_bytes();
      ctx.masked = key.masked && v == key.vectors - 1;
      ctx.row_is_loaded = keeps_row && v > 0;
      for (int s = 0; s < key.num_stages; ++s)
        if (!is_folded(key, s)) emit_stage(as, key.stages[s], s, sum, ctx);
      if (!packer) emit_store(as, key.output(), registers.c, v * as.lanes(), sum, ctx);
    }
    if (packer) {
      const bool last_row = i + 1 == key.rows;
      const int rows = i % packed_rows + 1;
      if (rows < packed_rows && !last_row) continue;
      const int first = (i + 1 - rows) * vectors, end = (i + 1) * vectors;
      for (int from = first; from < end; from += BytePacker::kVectors)
        packer->store(from, std::min(BytePacker::kVectors, end - from),
                      std::min(vectors, BytePacker::kVectors), (from - first) * as.lanes(),
                      registers);
      if (!last_row) as.add(registers.c, registers.ldc);
      continue;
    }
    const int last = key.num_stages - 1;
    if (last >= 0 && writes_extents(key.stages[last].kind))
      emit_row_range(as, last, i * key.vectors, key.vectors, ctx);
    if (i + 1 < key.rows) as.add(registers.c, registers.ldc);
  }
  if (aligns_stack) restore_stack(as);
}

}  // namespace fbg::kernels
