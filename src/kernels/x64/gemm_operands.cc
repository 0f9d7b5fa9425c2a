// Operands of a microkernel: where rows of A and vectors of B lie, how they are loaded and
// multiplied.
#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {

// The least that A needs: a broadcast, or two halves, or a broadcast and a product where no
// instruction fuses the addition.
int GemmCode::a_registers() const { return splits_ || !fuses() ? 2 : 1; }

// Which register holds the broadcast of a row: two in turn where there is room.
SimdAssembler::Vec GemmCode::a(int row) const {
  if (splits_) return vec(first_a_);
  return vec(first_a_ + (first_a_ + a_registers() < num_vectors() ? row % 2 : 0));
}

// Bases at row 0 and row 7; lda times 1, 2, 3, 4, 5, 6 by scaled addressing. Or a pointer per row.
Xbyak::Address GemmCode::a_address(int row, int offset) {
  if (key_.indirect) return ptr[row_end_[row] + row_index_ + offset];
  const Reg64& base = a_[row / kBaseRows];
  switch (row % kBaseRows) {
    case 0:
      return ptr[base + offset];
    case 1:
      return ptr[base + lda_ + offset];
    case 2:
      return ptr[base + lda_ * 2 + offset];
    case 3:
      return ptr[base + lda3_ + offset];
    case 4:
      return ptr[base + lda_ * 4 + offset];
    case 5:
      return ptr[base + lda5_ + offset];
    default:
      return ptr[base + lda3_ * 2 + offset];
  }
}

// Vector v of the tile lies in panel v * lanes / 32; the panels of a tile are one stride apart.
Xbyak::Address GemmCode::b_address(int v, int offset) {
  const int column = v * lanes(), disp = column % panel_columns_ * b_column_bytes_ + offset;
  switch (column / panel_columns_) {
    case 0:
      return ptr[b_ + disp];
    case 1:
      return ptr[b_ + panel_ + disp];
    case 2:
      return ptr[b_ + panel_ * 2 + disp];
    default:
      return ptr[b_ + panel3_ + disp];
  }
}

void GemmCode::load_b(int v, int offset) {
  const Address from = b_address(v, offset);
  const Vec even = b(v, 0), odd = b(v, 1);
  switch (dot_) {
    case Dot::widen_bf16:
    case Dot::fma_bf16:
      vmovups(odd, from);
      split_bf16(even, odd);
      break;
    case Dot::fma_f16:
      vcvtph2ps(b(v), from);
      break;
    default:
      vmovups(b(v), from);
  }
}

// Every second byte as int16.
void GemmCode::load_widened(const Vec& to, const Address& from, int odd) {
  if (odd) {
    vmovups(to, from);
    vpsraw(to, to, 8);
  } else {  // 1 * even + 0 * odd, in one instruction where shifts take two
    load_constant(to, 0x00010001u);
    vpmaddubsw(to, to, from);
  }
}

// Pairs of bfloat16 in `odd` become two vectors of float: the low halves and the high halves.
void GemmCode::split_bf16(const Vec& even, const Vec& odd) {
  vpslld(even, odd, 16);
  bit_and(odd, odd, constant(0xffff0000u));
}

void GemmCode::broadcast_a(int row, int offset) {
  const Vec even = vec(first_a_), odd = vec(first_a_ + 1);
  switch (dot_) {
    case Dot::fma:
    case Dot::fma_f16:
      vbroadcastss(a(row), a_address(row, offset));
      break;
    case Dot::vnni:
    case Dot::widen_int8:
    case Dot::maddubs:
    case Dot::dot_bf16:
      vpbroadcastd(a(row), a_address(row, offset));
      break;
    case Dot::widen_bf16:
      vpbroadcastd(odd, a_address(row, offset));
      split_bf16(even, odd);
      break;
    case Dot::fma_bf16:
      vbroadcastss(even, a_address(row, offset));
      vbroadcastss(odd, a_address(row, offset + 4));
      break;
  }
}

void GemmCode::dot_product(const Vec& sum, int row, int v) {
  const Vec even = vec(first_a_), odd = vec(first_a_ + 1);
  switch (dot_) {
    case Dot::fma:
    case Dot::fma_f16:
      vfmadd231ps(sum, a(row), b(v));
      break;
    case Dot::vnni:
      vpdpbusd(sum, a(row), b(v), is_zmm() ? Xbyak::EvexEncoding : Xbyak::VexEncoding);
      break;
    case Dot::dot_bf16:
      vdpbf16ps(sum, a(row), b(v));
      break;
    case Dot::widen_int8:
      vpmaddwd(product(), a(row), b(v));
      vpaddd(sum, sum, product());
      break;
    case Dot::maddubs:
      vpmaddubsw(product(), a(row), b(v));
      vpaddw(sum, sum, product());
      break;
    case Dot::widen_bf16:
    case Dot::fma_bf16:
      vfmadd231ps(sum, even, b(v, 0));
      vfmadd231ps(sum, odd, b(v, 1));
      break;
  }
}

}  // namespace fbg::kernels
