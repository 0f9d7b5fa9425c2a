// Operands of a microkernel: how rows of A and vectors of B are loaded, widened and multiplied.
#include "kernels/aarch64/gemm_code.h"

namespace fbg::kernels {

// What a step multiplies of one row, and the row pointer moves past it.
void GemmCode::load_a(int row, int bytes) {
  const Vec to = left(row);
  const auto from = post_ptr(row_pointer(row), bytes);
  if (bytes == 16)
    ldr(to.q, from);
  else if (bytes == 8)
    ldr(to.d, from);
  else
    ldr(to.s, from);
  if (dot_ == Dot::widen_bf16) shll(to.s4, to.h4, 16);
  if (widens_bytes()) ushll(to.h8, to.b8, 0);
  if (shifts_a()) eor(to.b16, to.b16, sign().b16);
}

// The step of two rows becomes its first halves and its second halves. An odd row is its own
// partner.
void GemmCode::interleave_rows() {
  for (int pair = 0; pair < padded_rows() / 2; ++pair) {
    const Vec even = left(2 * pair), odd = left_pair(pair, 1);
    zip1(left_pair(pair, 0).d2, even.d2, odd.d2);
    zip2(odd.d2, even.d2, odd.d2);
  }
}

void GemmCode::load_b(int v, int group) {
  const int offset = group_offset(group, v);
  switch (dot_) {
    case Dot::fma_f16:
      ldr(right(v).d, at(b_, offset));
      fcvtl(right(v).s4, right(v).h4);
      break;
    case Dot::fma_bf16:
    case Dot::widen_bf16:  // the halves of pairs: even k, odd k
      ldr(right(v, 1).q, at(b_, offset));
      shl(right(v, 0).s4, right(v, 1).s4, 16);
      ushr(right(v, 1).s4, right(v, 1).s4, 16);
      shl(right(v, 1).s4, right(v, 1).s4, 16);
      break;
    default:
      ldr(right(v).q, at(b_, offset));
  }
}

// Four columns of four k, in the second register of B, become two registers of int16, {k = 0 of
// four columns, k = 1 of them} and {k = 2, k = 3}.
void GemmCode::widen_b() {
  const Vec k01 = vec(first_b_), k23 = vec(first_b_ + 1);
  const Vec low = vec(first_b_ + 2), high = vec(first_b_ + 3);
  sxtl(low.h8, k23.b8);
  sxtl2(high.h8, k23.b16);
  uzp2(k23.h8, low.h8, high.h8);  // odd k
  uzp1(low.h8, low.h8, high.h8);  // even k
  uzp1(k01.h8, low.h8, k23.h8);
  uzp2(k23.h8, low.h8, k23.h8);
}

void GemmCode::dot_product(int row, int v, int group) {
  const Vec sum = acc(row, v), a = left(row);
  switch (dot_) {
    case Dot::fma:
    case Dot::fma_f16:
      fmla(sum.s4, right(v).s4, a.s4[group]);
      break;
    case Dot::fma_bf16:
    case Dot::widen_bf16:
      fmla(sum.s4, right(v, 0).s4, a.s4[2 * group]);
      fmla(sum.s4, right(v, 1).s4, a.s4[2 * group + 1]);
      break;
    case Dot::bfdot:
      bfdot(sum.s4, right(v).h8, a.h2[group]);
      break;
    case Dot::widen_int8:
    case Dot::widen_int4: {
      const Vec k01 = vec(first_b_), k23 = vec(first_b_ + 1);
      smlal(sum.s4, k01.h4, a.h8[4 * group]);
      smlal2(sum.s4, k01.h8, a.h8[4 * group + 1]);
      smlal(sum.s4, k23.h4, a.h8[4 * group + 2]);
      smlal2(sum.s4, k23.h8, a.h8[4 * group + 3]);
      break;
    }
    case Dot::sdot:
    case Dot::sdot_int4:
      sdot(sum.s4, (nibbles() ? widened() : right(v)).b16, a.b4[group]);
      break;
    case Dot::sudot:
    case Dot::sudot_int4:
      sudot(sum.s4, (nibbles() ? widened() : right(v)).b16, a.b4[group]);
      break;
  }
}

}  // namespace fbg::kernels
