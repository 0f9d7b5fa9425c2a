// The operands of a microkernel: where the rows of A and the vectors of B are, and how they are
// loaded and multiplied.
#include <bit>
#include <cstdint>

#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {
namespace {

// For vpshufb: the low half of each 32-bit lane in the place of the high half, above zeros. A shift
// does the same, in one of the two units that multiply.
constexpr float order_of(std::uint32_t i) {
  return std::bit_cast<float>(0x01008080u + i % 4 * 0x04040000u);
}
constexpr SimdAssembler::Table kLowHalvesUp = {order_of(0), order_of(1), order_of(2), order_of(3),
                                               order_of(0), order_of(1), order_of(2), order_of(3),
                                               order_of(0), order_of(1), order_of(2), order_of(3),
                                               order_of(0), order_of(1), order_of(2), order_of(3)};

}  // namespace

// The fewest registers that A needs: one for a broadcast; two for its halves, or for a broadcast
// and a product if no instruction multiplies and adds; two broadcasts and two products for pairs of
// k-groups.
int GemmCode::a_registers() const {
  if (pairs_groups()) return 4;
  return splits_ || !fuses() ? 2 : 1;
}

// The register that holds the broadcast of a row. Rows alternate between two if there is room.
SimdAssembler::Vec GemmCode::a(int row) const {
  if (splits_) return vec(first_a_);
  return vec(first_a_ + (first_a_ + a_registers() + reserved() < num_vectors() ? row % 2 : 0));
}

// Bases at row 0 and row 7; lda times 1, 2, 3, 4, 5, 6 by scaled addressing. Or a pointer per row.
Xbyak::Address GemmCode::a_address(int row, int offset) {
  if (reads_pointers()) return ptr[row_end_[row] + row_index_ + offset];
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

// Vector v of the tile lies in panel v * lanes / 32.
Xbyak::Address GemmCode::b_address(int v, int offset) {
  const int column = v * lanes();
  return panel_address(column / panel_columns_, column % panel_columns_ * b_column_bytes_ + offset);
}

// Bytes from the place that b_ has reached in the first panel, in one of the panels of a tile.
Xbyak::Address GemmCode::panel_address(int panel, const Xbyak::RegExp& disp) {
  switch (panel) {
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
  if (splits_) {
    vmovups(b(v, 1), from);
    vpslld(b(v, 0), b(v, 1), 16);
    bit_and(b(v, 1), b(v, 1), constant(0xffff0000u));
  } else if (dot_ == Dot::fma_f16) {
    vcvtph2ps(b(v), from);
  } else if (halves() && v + 1 == vectors_) {  // the tile may begin in the middle of a panel
    vmovups(Xbyak::Ymm(b(v).getIdx()), from);
  } else {
    vmovups(b(v), from);
  }
}

// Every second element of B: bytes as int16, bfloat16 as float.
void GemmCode::load_half(const Vec& to, const Address& from, int odd) {
  if (dot_ == Dot::fma_bf16) {
    vmovups(to, from);
    if (odd)
      bit_and(to, to, constant(0xffff0000u));
    else
      shuffle_bytes(to, to, kLowHalvesUp);
  } else if (odd) {
    vmovups(to, from);
    vpsraw(to, to, 8);
  } else if (is_zmm() || rows_ == 1) {
    // 1 * even + 0 * odd, in one instruction where shifts take two.
    load_constant(to, 0x00010001u);
    vpmaddubsw(to, to, from);
  } else {  // CPUs without AVX-512 have more units for shifts than for products
    vmovups(to, from);
    vpsllw(to, to, 8);
    vpsraw(to, to, 8);
  }
}

void GemmCode::broadcast_a(int row, int offset) {
  switch (dot_) {
    case Dot::fma:
    case Dot::fma_f16:
    case Dot::fma_bf16:
      vbroadcastss(a(row), a_address(row, offset));
      if (splits_) vbroadcastss(vec(first_a_ + 1), a_address(row, offset + a_group_bytes_ / 2));
      break;
    case Dot::fma_half:
      vpbroadcastw(a(row), a_address(row, offset));
      break;
    case Dot::vnni:
    case Dot::widen_int8:
    case Dot::pair_sums:
    case Dot::maddubs:
    case Dot::nibbles:
    case Dot::wide_nibbles:
    case Dot::dot_bf16:
      vpbroadcastd(a(row), a_address(row, offset));
      break;
  }
}

void GemmCode::dot_product(const Vec& sum, int row, int v) {
  switch (dot_) {
    case Dot::fma:
    case Dot::fma_f16:
    case Dot::fma_bf16:
      vfmadd231ps(sum, a(row), b(v));
      if (splits_) vfmadd231ps(sum, vec(first_a_ + 1), b(v, 1));
      break;
    case Dot::vnni:
    case Dot::nibbles:
      vpdpbusd(sum, a(row), b(v), is_zmm() ? Xbyak::EvexEncoding : Xbyak::VexEncoding);
      break;
    case Dot::fma_half:
      vfmadd231ph(sum, a(row), b(v));
      break;
    case Dot::dot_bf16:
      vdpbf16ps(sum, a(row), b(v));
      break;
    case Dot::pair_sums:
      break;  // see multiply_groups()
    case Dot::widen_int8:
    case Dot::wide_nibbles:
    case Dot::maddubs:
      break;  // takes two instructions: multiply() and add_product()
  }
}

// Multiplies one k-group or two by vectors of B in memory. Their int16 sums, which fit because B is
// narrow, become int32 sums.
void GemmCode::multiply_groups(int u, int groups) {
  const auto broadcast = [&](int group) { return vec(first_a_ + group); };
  for (int i = 0; i < rows_; ++i) {
    for (int g = 0; g < groups; ++g)
      vpbroadcastd(broadcast(g), a_address(i, (u + g) * a_group_bytes_));
    for (int v = 0; v < vectors_; ++v) {
      // The last products of a row take the place of its broadcasts.
      const int to = v + 1 < vectors_ ? 2 : 0;
      const Vec sum = broadcast(to);
      for (int g = 0; g < groups; ++g)
        vpmaddubsw(broadcast(to + g), broadcast(g), b_address(v, (u + g) * b_group_bytes_));
      if (groups > 1) vpaddw(sum, sum, broadcast(to + 1));
      vpmaddwd(sum, sum, vec(num_vectors() - 1));
      vpaddd(acc(i, v), acc(i, v), sum);
    }
  }
}

void GemmCode::multiply(const Vec& product, int row, int v) {
  if (dot_ == Dot::maddubs)
    vpmaddubsw(product, a(row), b(v));
  else
    vpmaddwd(product, a(row), b(v));
}

void GemmCode::add_product(const Vec& sum, const Vec& product) {
  if (dot_ == Dot::maddubs)
    vpaddw(sum, sum, product);
  else
    vpaddd(sum, sum, product);
}

}  // namespace fbg::kernels
