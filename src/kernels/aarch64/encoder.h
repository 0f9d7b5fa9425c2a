// Encodes the AArch64 instructions that the generators of this folder use, and no others: a
// function for each form of an instruction, named after its mnemonic, with its word where all
// fields are zero. tests/kernels/aarch64_forms.cc lists the same forms and compares them with an
// assembler. The encodings: Arm Architecture Reference Manual (DDI 0487), C4 and C7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/aarch64/registers.h"

namespace fbg::kernels::aarch64 {

class Encoder {
 public:
  enum Condition : std::uint32_t { EQ = 0, NE = 1, HS = 2, GE = 10, LT = 11, GT = 12 };
  enum Prefetch : std::uint32_t { PLDL1KEEP = 0, PLDL2KEEP = 2 };

  // d = n op m: register d in bits 0 to 4, n in 5 to 9, m in 16 to 20.
  void add(XReg d, XReg n, XReg m, int left_shift = 0) {
    three(0x8b000000 | field("add", "shift", left_shift, 0, 63) << 10, d, n, m);
  }
  void cmp(XReg n, XReg m) { three(0xeb00001f, {0}, n, m); }
  // d = n * m + a
  void madd(XReg d, XReg n, XReg m, XReg a) { three(0x9b000000 | a.index << 10, d, n, m); }
  // d = n op immediate, which is 12 bits, shifted to the left by 0 or 12.
  void add(XReg d, XReg n, int immediate, int shift = 0) {
    const std::uint32_t shifted = field("add", "shift", shift, 0, 12, 12) << 22;
    arithmetic("add", 0x91000000 | shifted, d, n, immediate);
  }
  void adds(XReg d, XReg n, int immediate) { arithmetic("adds", 0xb1000000, d, n, immediate); }
  void sub(XReg d, XReg n, XReg m) { three(0xcb000000, d, n, m); }
  void lsl(XReg d, XReg n, int shift) {
    const std::uint32_t bits = field("lsl", "shift", shift, 0, 63);
    two(0xd3400000 | ((64 - bits) & 63) << 16 | (63 - bits) << 10, d, n);
  }
  void lsr(XReg d, XReg n, int shift) {
    two(0xd340fc00 | field("lsr", "shift", shift, 0, 63) << 16, d, n);
  }
  void sub(XReg d, XReg n, int immediate) { arithmetic("sub", 0xd1000000, d, n, immediate); }
  void subs(XReg d, XReg n, int immediate) { arithmetic("subs", 0xf1000000, d, n, immediate); }
  void movz(XReg d, int immediate) {
    dd(0xd2800000 | field("movz", "immediate", immediate, 0, 0xffff) << 5 | d.index);
  }
  void cmp(XReg n, int immediate) { arithmetic("cmp", 0xf100001f, {0}, n, immediate); }

  void b(Label& to) { refer("b", 0x14000000, Distance::words26, to); }
  void b(Condition condition, Label& to) {
    refer("b", 0x54000000 | condition, Distance::words19, to);
  }
  void cbz(XReg t, Label& to) { refer("cbz", 0xb4000000 | t.index, Distance::words19, to); }
  void cbnz(WReg t, Label& to) { refer("cbnz", 0x35000000 | t.index, Distance::words19, to); }
  void adr(XReg d, Label& to) { refer("adr", 0x10000000 | d.index, Distance::bytes21, to); }
  void ret() { dd(0xd65f03c0); }

  // Loads and stores: register t in bits 0 to 4, base in 5 to 9. Offsets are multiples of the size,
  // 12 bits of these; those that change the base are 9 bits, of any bytes.
  void ldr(XReg t, At from) { scaled("ldr", 0xf9400000 | t.index, from, 8); }
  void ldrsw(XReg t, At from) { scaled("ldrsw", 0xb9800000 | t.index, from, 4); }
  template <int log_bytes>
  void ldr(Scalar<log_bytes> t, At from) {
    scaled("ldr", 0x3d400000 | size_bits(log_bytes) | t.index, from, 1 << log_bytes);
  }
  template <int log_bytes>
  void str(Scalar<log_bytes> t, At to) {
    scaled("str", 0x3d000000 | size_bits(log_bytes) | t.index, to, 1 << log_bytes);
  }
  template <int log_bytes>
  void ldr(Scalar<log_bytes> t, Post from) {
    const std::uint32_t offset = field("ldr", "offset", from.offset, -256, 255) & 0x1ff;
    dd(0x3c400400 | size_bits(log_bytes) | offset << 12 | from.base.index << 5 | t.index);
  }
  void ldr(QReg t, Label& from) { refer("ldr", 0x9c000000 | t.index, Distance::words19, from); }
  void prfm(Prefetch operation, At from) { scaled("prfm", 0xf9800000 | operation, from, 8); }
  void ldxr(XReg t, Base from) { two(0xc85f7c00, t, from); }
  void stxr(WReg status, XReg t, Base to) { three(0xc8007c00, t, to, status); }
  void stp(DReg t, DReg t2, At to) { pair("stp", 0x6d000000, t, t2, to.base, to.offset); }
  void stp(DReg t, DReg t2, Pre to) { pair("stp", 0x6d800000, t, t2, to.base, to.offset); }
  void ldp(DReg t, DReg t2, At from) { pair("ldp", 0x6d400000, t, t2, from.base, from.offset); }
  void ldp(DReg t, DReg t2, Post from) { pair("ldp", 0x6cc00000, t, t2, from.base, from.offset); }
  // One lane, after which the base grows by its size; four whole registers.
  template <class View>
  void ld1(Element<View> t, Post from) {
    one_lane("ld1", 0x0ddf0000, t, from, View::kBytes);
  }
  template <class View>
  void st1(Element<View> t, Post to) {
    one_lane("st1", 0x0d9f0000, t, to, View::kBytes);
  }
  void ld1(FourB16 t, Base from) { two(0x4c402000, t, from); }

  // Copies, constants and permutations.
  void fmov(DReg d, XReg n) { two(0x9e670000, d, n); }
  void fmov(XReg d, DReg n) { two(0x9e660000, d, n); }
  void mov(B16 d, B16 n) { three(0x4ea01c00, d, n, n); }
  void mov(SReg d, Element<S4> n) { two(0x5e040400 | lane("mov", n) << 19, d, n); }
  void ins(Element<S4> d, Element<S4> n) {
    two(0x6e040400 | lane("ins", d) << 19 | lane("ins", n) << 13, d, n);
  }
  void dup(S4 d, Element<S4> n) { two(0x4e040400 | lane("dup", n) << 19, d, n); }
  void dup(S4 d, WReg n) { two(0x4e040c00, d, n); }
  void movi(B16 d, int value) {
    const std::uint32_t bits = field("movi", "immediate", value, 0, 255);
    dd(0x4f00e400 | bits >> 5 << 16 | (bits & 31) << 5 | d.index);
  }
  void movi(D2 d, int value) { dd(0x6f00e400 | field("movi", "immediate", value, 0, 0) | d.index); }
  void zip1(S4 d, S4 n, S4 m) { three(0x4e803800, d, n, m); }
  void zip2(S4 d, S4 n, S4 m) { three(0x4e807800, d, n, m); }
  void zip1(D2 d, D2 n, D2 m) { three(0x4ec03800, d, n, m); }
  void zip2(D2 d, D2 n, D2 m) { three(0x4ec07800, d, n, m); }
  void uzp1(H8 d, H8 n, H8 m) { three(0x4e401800, d, n, m); }
  void uzp2(H8 d, H8 n, H8 m) { three(0x4e405800, d, n, m); }
  void tbl(B16 d, FourB16 n, B16 m) { three(0x4e006000, d, n, m); }

  // Integers and bits.
  void add(S4 d, S4 n, S4 m) { three(0x4ea08400, d, n, m); }
  void sub(S4 d, S4 n, S4 m) { three(0x6ea08400, d, n, m); }
  void addp(S4 d, S4 n, S4 m) { three(0x4ea0bc00, d, n, m); }
  void mul(S4 d, S4 n, S4 m) { three(0x4ea09c00, d, n, m); }
  void mla(S4 d, S4 n, S4 m) { three(0x4ea09400, d, n, m); }
  void mla(S4 d, S4 n, Element<S4> m) { by_word("mla", 0x6f800000, d, n, m); }
  void mls(S4 d, S4 n, Element<S4> m) { by_word("mls", 0x6f804000, d, n, m); }
  void smax(S4 d, S4 n, S4 m) { three(0x4ea06400, d, n, m); }
  void cmgt(S4 d, S4 n, S4 m) { three(0x4ea03400, d, n, m); }
  void cmeq(S4 d, S4 n, S4 m) { three(0x6ea08c00, d, n, m); }
  void and_(B16 d, B16 n, B16 m) { three(0x4e201c00, d, n, m); }
  void bic(B16 d, B16 n, B16 m) { three(0x4e601c00, d, n, m); }
  void bif(B16 d, B16 n, B16 m) { three(0x6ee01c00, d, n, m); }
  void bit(B16 d, B16 n, B16 m) { three(0x6ea01c00, d, n, m); }
  void bsl(B16 d, B16 n, B16 m) { three(0x6e601c00, d, n, m); }
  void eor(B16 d, B16 n, B16 m) { three(0x6e201c00, d, n, m); }
  void orr(B16 d, B16 n, B16 m) { three(0x4ea01c00, d, n, m); }
  void shl(B16 d, B16 n, int shift) {
    two(0x4f085400 | field("shl", "shift", shift, 0, 7) << 16, d, n);
  }
  void shl(S4 d, S4 n, int shift) {
    two(0x4f205400 | field("shl", "shift", shift, 0, 31) << 16, d, n);
  }
  void ushl(S4 d, S4 n, S4 m) { three(0x6ea04400, d, n, m); }
  void ushr(S4 d, S4 n, int shift) {
    two(0x6f000400 | (64 - field("ushr", "shift", shift, 1, 32)) << 16, d, n);
  }

  // From narrow lanes to wide ones and back.
  void shll(S4 d, H4 n, int shift) {
    field("shll", "shift", shift, 16, 16);
    two(0x2e613800, d, n);
  }
  void ushll(H8 d, B8 n, int shift) {
    two(0x2f08a400 | field("ushll", "shift", shift, 0, 7) << 16, d, n);
  }
  void ushll(S4 d, H4 n, int shift) {
    two(0x2f10a400 | field("ushll", "shift", shift, 0, 15) << 16, d, n);
  }
  void sxtl(H8 d, B8 n) { two(0x0f08a400, d, n); }
  void sxtl(S4 d, H4 n) { two(0x0f10a400, d, n); }
  void sxtl2(H8 d, B16 n) { two(0x4f08a400, d, n); }
  void xtn(B8 d, H8 n) { two(0x0e212800, d, n); }
  void xtn(H4 d, S4 n) { two(0x0e612800, d, n); }
  void fcvtl(S4 d, H4 n) { two(0x0e217800, d, n); }
  void fcvtn(H4 d, S4 n) { two(0x0e216800, d, n); }

  // Floats.
  void fadd(S4 d, S4 n, S4 m) { three(0x4e20d400, d, n, m); }
  void fsub(S4 d, S4 n, S4 m) { three(0x4ea0d400, d, n, m); }
  void fmul(S4 d, S4 n, S4 m) { three(0x6e20dc00, d, n, m); }
  void fmul(S4 d, S4 n, Element<S4> m) { by_word("fmul", 0x4f809000, d, n, m); }
  void fmla(S4 d, S4 n, S4 m) { three(0x4e20cc00, d, n, m); }
  void fmla(S4 d, S4 n, Element<S4> m) { by_word("fmla", 0x4f801000, d, n, m); }
  void fmls(S4 d, S4 n, Element<S4> m) { by_word("fmls", 0x4f805000, d, n, m); }
  void fdiv(S4 d, S4 n, S4 m) { three(0x6e20fc00, d, n, m); }
  void fsqrt(S4 d, S4 n) { two(0x6ea1f800, d, n); }
  void frintn(S4 d, S4 n) { two(0x4e218800, d, n); }
  void frintm(S4 d, S4 n) { two(0x4e219800, d, n); }
  void frintp(S4 d, S4 n) { two(0x4ea18800, d, n); }
  void frintz(S4 d, S4 n) { two(0x4ea19800, d, n); }
  void fabs(S4 d, S4 n) { two(0x4ea0f800, d, n); }
  void fmax(S4 d, S4 n, S4 m) { three(0x4e20f400, d, n, m); }
  void fmin(S4 d, S4 n, S4 m) { three(0x4ea0f400, d, n, m); }
  void fmaxnm(S4 d, S4 n, S4 m) { three(0x4e20c400, d, n, m); }
  void fminnm(S4 d, S4 n, S4 m) { three(0x4ea0c400, d, n, m); }
  void fmax(SReg d, SReg n, SReg m) { three(0x1e204800, d, n, m); }
  void fmin(SReg d, SReg n, SReg m) { three(0x1e205800, d, n, m); }
  void fmaxv(SReg d, S4 n) { two(0x6e30f800, d, n); }
  void fminv(SReg d, S4 n) { two(0x6eb0f800, d, n); }
  void fcmeq(S4 d, S4 n, S4 m) { three(0x4e20e400, d, n, m); }
  void fcmgt(S4 d, S4 n, S4 m) { three(0x6ea0e400, d, n, m); }
  void fcmge(S4 d, S4 n, S4 m) { three(0x6e20e400, d, n, m); }
  void fcmlt(S4 d, S4 n, int bound) {
    two(0x4ea0e800 | field("fcmlt", "bound", bound, 0, 0), d, n);
  }
  void scvtf(SReg d, XReg n) { two(0x9e220000, d, n); }
  void scvtf(S4 d, S4 n) { two(0x4e21d800, d, n); }
  // Of numbers with so many bits behind the point.
  void scvtf(S4 d, S4 n, int bits) {
    two(0x4f00e400 | (64 - field("scvtf", "bits", bits, 1, 32)) << 16, d, n);
  }
  void fcvtzs(S4 d, S4 n) { two(0x4ea1b800, d, n); }
  void fcvtns(S4 d, S4 n) { two(0x4e21a800, d, n); }

  // Sums of several products: sdot, usdot and sudot of four bytes, bfdot of two bfloat16, usmmla
  // and bfmmla of matrices of two rows.
  void smlal(S4 d, H4 n, H4 m) { three(0x0e608000, d, n, m); }
  void smlal2(S4 d, H8 n, H8 m) { three(0x4e608000, d, n, m); }
  void smlal(S4 d, H4 n, Element<H8> m) { by_half("smlal", 0x0f402000, d, n, m); }
  void smlal2(S4 d, H8 n, Element<H8> m) { by_half("smlal2", 0x4f402000, d, n, m); }
  void sdot(S4 d, B16 n, B16 m) { three(0x4e809400, d, n, m); }
  void usdot(S4 d, B16 n, B16 m) { three(0x4e809c00, d, n, m); }
  void sdot(S4 d, B16 n, Element<B4> m) { by_word("sdot", 0x4f80e000, d, n, m); }
  void sudot(S4 d, B16 n, Element<B4> m) { by_word("sudot", 0x4f00f000, d, n, m); }
  void bfdot(S4 d, H8 n, Element<H2> m) { by_word("bfdot", 0x4f40f000, d, n, m); }
  void usmmla(S4 d, B16 n, B16 m) { three(0x4e80ac00, d, n, m); }
  void bfmmla(S4 d, H8 n, H8 m) { three(0x6e40ec00, d, n, m); }

  // A word as it is; nothing to do up to a multiple of so many bytes; a label here.
  void dd(std::uint32_t word) { words_.push_back(word); }
  void align(std::size_t bytes);
  void L(Label& label);
  // What was encoded, when it is complete: throws std::logic_error if a label that was used is not
  // bound. It does not depend on where it is.
  std::vector<std::uint8_t> code() const;

 private:
  void two(std::uint32_t op, Register d, Register n) { dd(op | n.index << 5 | d.index); }
  void three(std::uint32_t op, Register d, Register n, Register m) {
    two(op | m.index << 16, d, n);
  }
  void arithmetic(const char* name, std::uint32_t op, Register d, Register n, int immediate);
  // The size of a scalar in bits 30 and 31, 16 bytes in bit 23.
  static constexpr std::uint32_t size_bits(unsigned log_bytes) {
    return (log_bytes & 3) << 30 | (log_bytes >> 2) << 23;
  }
  void scaled(const char* name, std::uint32_t op, At at, int bytes);
  void pair(const char* name, std::uint32_t op, DReg t, DReg t2, Base base, std::int64_t offset);

  template <class View>
  static std::uint32_t lane(const char* name, Element<View> element) {
    return field(name, "lane", element.lane, 0, View::kElements - 1);
  }
  template <class View>
  void one_lane(const char* name, std::uint32_t op, Element<View> t, Post at, int bytes) {
    one_lane(name, op, t, lane(name, t), at, bytes);
  }
  void one_lane(const char* name, std::uint32_t op, Register t, std::uint32_t lane, Post at,
                int bytes);
  // By an element of 32 bits, whose number is in bits 21 and 11, or of 16 bits, in bits 20, 21 and
  // 11, which leaves four bits for its register.
  template <class View>
  void by_word(const char* name, std::uint32_t op, Register d, Register n, Element<View> m) {
    const std::uint32_t i = lane(name, m);
    three(op | (i & 1) << 21 | i >> 1 << 11, d, n, m);
  }
  void by_half(const char* name, std::uint32_t op, Register d, Register n, Element<H8> m);
  void refer(const char* name, std::uint32_t op, Distance distance, Label& label);
  void reach(const Label::Use& use, std::size_t target);

  std::vector<std::uint32_t> words_;
  std::size_t waiting_ = 0;  // uses of labels that are not bound
};

}  // namespace fbg::kernels::aarch64
