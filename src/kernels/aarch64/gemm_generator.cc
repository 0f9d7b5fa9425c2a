// A GEMM microkernel from its first to its last instruction, and what surrounds the K loop.
#include "kernels/aarch64/gemm_generator.h"

#include "kernels/aarch64/epilogue.h"
#include "kernels/aarch64/gemm_code.h"

namespace fbg::kernels {

namespace {

// The k-groups that a register holds of a row, once they are widened to what is multiplied.
int groups_of_register(Dot dot) {
  switch (dot) {
    case Dot::fma_bf16:
    case Dot::widen_bf16:
    case Dot::widen_int8:
    case Dot::widen_int4:
      return 2;
    default:
      return 4;
  }
}

}  // namespace

GemmCode::GemmCode(Dot dot, const GemmFamily& family, const KernelKey& key)
    : key_(key),
      rows_(key.rows),
      vectors_(key.vectors),
      dot_(dot),
      a_group_bytes_(static_cast<int>(family.format.a_group())),
      b_column_bytes_(static_cast<int>(family.format.b_column_group())),
      b_group_bytes_(static_cast<int>(family.format.b_group())),
      groups_of_step_(groups_of_register(dot)),
      first_b_(rows_ + padded_rows() * vectors_) {}

int GemmCode::b_registers() const {
  // Weights of 4 bits as they are and widened, or what becomes of a group; constants.
  if (nibbles())
    return std::max(multiplies_matrices() ? 6 : 5, sums_columns() ? 2 + vectors_ : 0) + 1 +
           shifts_a();
  if (widens_bytes() || multiplies_matrices()) return 4;
  return (splits() || sums_columns() ? 2 : 1) * vectors_ + shifts_a();
}

bool GemmCode::fits() const {
  if (goes_on(key_.sums) && key_.gemm_type == GemmType::int16) return false;  // sums take its place
  if (nibbles() && key_.a == ARows::pointers) return false;
  if (vectors_ * kLanes > kPanelColumns || rows_ > kMaxRows) return false;
  return first_b_ + b_registers() <= kVectors && first_b_ + kEpilogueTemps <= kEpilogueTable;
}

void GemmCode::generate() {
  save_registers();
  initialize_accumulators();
  if (multiplies_matrices() && goes_on(key_.sums)) exchange_pairs();
  if (nibbles()) start_nibbles();
  for_each_pair();
  if (nibbles())
    load_float_sums();
  else if (sums_columns())
    remove_shift();
  if (multiplies_matrices()) exchange_pairs();
  if (nibbles() && completes(key_.sums)) finish_nibbles();
  if (key_.gemm_type == GemmType::int16) add_sums();
  emit_epilogue(*this, key_, rows_);
  restore_registers();
  ret();
  emit_data();
}

void GemmCode::initialize_accumulators() {
  if (shifts_a()) movi(sign().b16, 0x80);
  if (sums_columns())
    for (int v = 0; v < vectors_; ++v) zero(column_sum(v));
  if (goes_on(key_.sums)) load_partial_sums();
  for (int i = goes_on(key_.sums) ? rows_ : 0; i < padded_rows(); ++i)
    for (int v = 0; v < vectors_; ++v) zero(acc(i, v));
  if (shifts_a() && !sums_columns()) add_column_sums();
}

// sum a b = sum (a - 128) b + 128 sum b, modulo 2^32.
void GemmCode::add_column_sums() {
  const Vec sum = right(0);
  Label none;
  ldr(scratch_, at(args_, offsetof(TileArgs, b_sums)));
  cbz(scratch_, none);
  for (int v = 0; v < vectors_; ++v) {
    ldr(sum.q, at(scratch_, v * kVectorBytes));
    shl(sum.s4, sum.s4, 7);
    for (int i = 0; i < rows_; ++i) add(acc(i, v).s4, acc(i, v).s4, sum.s4);
  }
  L(none);
}

// Panels are padded, so that no column is partial while B is read: only here and where C is
// written.
void GemmCode::load_partial_sums() {
  const XReg &row = scratch_, &element = scratch2_,
             &ld = prefetch_;  // not in use before the K loop
  ldr(row, at(args_, offsetof(TileArgs, partial)));
  ldr(ld, at(args_, offsetof(TileArgs, ldpartial)));
  if (key_.masked) {
    ldr(rest_, at(args_, offsetof(TileArgs, columns)));
    sub(rest_, rest_, (vectors_ - 1) * kLanes);
  }
  for (int i = 0; i < rows_; ++i) {
    for (int v = 0; v < vectors_; ++v) {
      if (key_.masked && v == vectors_ - 1) {
        add(element, row, v * kVectorBytes);
        load_partial(acc(i, v), element, 4, rest_);
      } else {
        ldr(acc(i, v).q, at(row, v * kVectorBytes));
      }
    }
    if (i + 1 < rows_) add(row, row, ld);
  }
}

// Adds the sums in memory, if there are any: those of outliers of int16 products.
void GemmCode::add_sums() {
  Label none;
  ldr(scratch_, at(args_, offsetof(TileArgs, partial)));
  cbz(scratch_, none);
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) {
      const Vec sum = left(0);
      ldr(sum.q, at(scratch_, (i * vectors_ + v) * kVectorBytes));
      add(acc(i, v).s4, acc(i, v).s4, sum.s4);
    }
  L(none);
}

std::vector<std::uint8_t> generate_gemm(Dot dot, const GemmFamily& family, const KernelKey& key) {
  GemmCode code(dot, family, key);
  const bool has_pairs = family.tile.interleaved_vectors > 0;
  if (key.row_mask || (key.a == ARows::interleaved && !has_pairs) || !code.fits()) return {};
  code.generate();
  return code.code();
}

}  // namespace fbg::kernels
