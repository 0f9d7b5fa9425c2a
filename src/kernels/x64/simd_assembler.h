// An assembler that hides the differences between AVX2 and AVX-512: vector registers by number,
// loads and stores with or without a column mask, broadcast constants. The generators ask for the
// ISA only if they use an instruction that one of the two lacks.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <new>
#include <vector>

#include "fbg/core/isa.h"
#include "xbyak/xbyak.h"

namespace fbg::kernels {

class SimdAssembler : public Xbyak::CodeGenerator {
 public:
  using Vec = Xbyak::Xmm;  // of the kind that the ISA uses; Xbyak encodes by kind

  // lanes: 32-bit lanes of a vector, 8 or 16; features: what instructions may be chosen by.
  explicit SimdAssembler(int lanes, Features features = 0)
      : Xbyak::CodeGenerator(kMaxCodeBytes, nullptr, &plain_memory()),
        zmm_(lanes == 16),
        converts_bfloat16_((features & feature::avx512_bf16) != 0) {}

  bool is_zmm() const { return zmm_; }
  bool converts_bfloat16() const { return converts_bfloat16_; }
  int lanes() const { return zmm_ ? 16 : 8; }
  int vector_bytes() const { return lanes() * 4; }
  int num_vectors() const { return num_vectors(lanes()); }
  static constexpr int num_vectors(int lanes) { return lanes == 16 ? 32 : 16; }

  // What was generated, when it is complete. It does not run where it is: see kernels/code.h.
  std::vector<std::uint8_t> code() {
    ready();
    return {getCode(), getCode() + getSize()};
  }

  Vec vec(int index) const { return zmm_ ? Vec(Xbyak::Zmm(index)) : Vec(Xbyak::Ymm(index)); }

  void zero(const Vec& v) {
    if (zmm_)
      vpxord(v, v, v);
    else
      vpxor(v, v, v);
  }

  void bit_and(const Vec& to, const Vec& a, const Xbyak::Operand& b) {
    if (zmm_)
      vpandd(to, a, b);
    else
      vpand(to, a, b);
  }
  void bit_or(const Vec& to, const Vec& a, const Xbyak::Operand& b) {
    if (zmm_)
      vpord(to, a, b);
    else
      vpor(to, a, b);
  }
  // to = NaN(x) ? other : to
  void blend_nan(const Vec& to, const Vec& x, const Vec& other, const Vec& scratch) {
    constexpr int kUnordered = 3;
    if (zmm_) {
      vcmpps(k2, x, x, kUnordered);
      vmovdqa32(to | k2, other);
    } else {
      vcmpps(scratch, x, x, kUnordered);
      vblendvps(to, to, other, scratch);
    }
  }

  // bfloat16, half to even, with a NaN made quiet (core/float16.h), in the lower half of x; with
  // AVX2 in 32-bit lanes whose low half they are. A zmm needs t0 alone.
  void to_bfloat16(const Vec& x, const Vec& t0, const Vec& t1, const Vec& t2) {
    constexpr int kUnordered = 3, kDenormal = 0x20;
    const Xbyak::Ymm half(x.getIdx());
    Xbyak::Label by_hand, done;
    if (converts_bfloat16_) {  // the instruction takes denormals for zeros
      vfpclassps(k2, x, kDenormal);
      kortestw(k2, k2);
      jnz(by_hand, T_NEAR);
      vcvtneps2bf16(half, x);
      jmp(done, T_NEAR);
    }
    L(by_hand);
    // bits + 0x7fff + (bits >> 16 & 1)
    vpsrld(t0, x, 16);
    bit_and(t0, t0, constant(1u));
    vpaddd(t0, t0, constant(0x7fffu));
    vpaddd(t0, t0, x);
    if (zmm_) {
      vcmpps(k2, x, x, kUnordered);
      vpord(t0 | k2, x, constant(0x400000u));
    } else {
      bit_or(t1, x, constant(0x400000u));
      blend_nan(t0, x, t1, t2);
    }
    vpsrld(x, t0, 16);
    if (zmm_) vpmovdw(half, x);
    L(done);
  }

  // To an integer: 0 to the nearest, half to even; 1 down; 2 up; 3 toward zero.
  void round(const Vec& to, const Vec& from, std::uint8_t mode) {
    zmm_ ? vrndscaleps(to, from, mode) : vroundps(to, from, mode);
  }
  // to = a <predicate> b, as lanes of ones or zeros
  void compare(const Vec& to, const Vec& a, const Xbyak::Operand& b, int predicate) {
    if (!zmm_) return vcmpps(to, a, b, static_cast<std::uint8_t>(predicate));
    vcmpps(k2, a, b, static_cast<std::uint8_t>(predicate));
    vpmovm2d(to, k2);
  }
  // to = a > b or a == b, of integers
  void compare_integers(const Vec& to, const Vec& a, const Xbyak::Operand& b, bool equal) {
    if (!zmm_) return equal ? vpcmpeqd(to, a, b) : vpcmpgtd(to, a, b);
    equal ? vpcmpeqd(k2, a, b) : vpcmpgtd(k2, a, b);
    vpmovm2d(to, k2);
  }
  // to = mask ? then : otherwise; to may be any of them.
  void select(const Vec& to, const Vec& mask, const Xbyak::Operand& then, const Vec& otherwise) {
    if (!zmm_) return vblendvps(to, otherwise, then, mask);
    // The table of truth has the bits of `to`, of the second and of the third operand as a number.
    constexpr int kToIsMask = 0xac, kToIsThen = 0xe2, kToIsOther = 0xb8;
    if (to == otherwise) return vpternlogd(to, mask, then, kToIsOther);
    if (to == then) return vpternlogd(to, mask, otherwise, kToIsThen);
    if (to != mask) vmovaps(to, mask);
    vpternlogd(to, otherwise, then, kToIsMask);
  }
  // to = a b + c. If b is in memory, c is in a register, and `to` is not that of a, unless it is c.
  void multiply_add(const Vec& to, const Vec& a, const Xbyak::Operand& b, const Xbyak::Operand& c) {
    if (to == c) return vfmadd231ps(to, a, b);
    if (b.isMEM()) {
      vmovaps(to, static_cast<const Vec&>(c));
      return vfmadd231ps(to, a, b);
    }
    if (to == b) return vfmadd213ps(to, a, c);
    if (to != a) vmovaps(to, a);
    vfmadd213ps(to, static_cast<const Vec&>(b), c);
  }

  // The column mask of a partial last vector: k1, or a vector register of all-ones lanes.
  void set_mask(const Xbyak::Reg64& columns_of_last, const Xbyak::Reg64& scratch, int mask_vec) {
    mask_vec_ = mask_vec;
    if (zmm_) {
      mov(scratch.cvt32(), -1);
      bzhi(scratch.cvt32(), scratch.cvt32(), columns_of_last.cvt32());
      kmovw(k1, scratch.cvt32());
    } else {  // load 8 lanes from a run of 8 ones and 8 zeros, starting at 8 - columns
      lea(scratch, ptr[rip + mask_table_]);
      neg(columns_of_last);
      vmovdqu(vec(mask_vec), ptr[scratch + columns_of_last * 4 + 32]);
      uses_mask_table_ = true;
    }
  }

  // Vector registers from this one on are not free: the last one may hold the mask.
  int end_of_vectors() const { return mask_vec_ >= 0 && !zmm_ ? mask_vec_ : num_vectors(); }

  void load(const Vec& v, const Xbyak::Address& from, bool masked) {
    if (!masked)
      vmovups(v, from);
    else if (zmm_)
      vmovups(v | k1 | T_z, from);
    else
      vmaskmovps(v, vec(mask_vec_), from);
  }

  void store(const Xbyak::Address& to, const Vec& v, bool masked) {
    if (!masked)
      vmovups(to, v);
    else if (zmm_)
      vmovups(to | k1, v);
    else
      vmaskmovps(to, vec(mask_vec_), v);
  }

  // x = valid columns of x, `other` in the rest
  void keep_valid(const Vec& x, const Vec& other) {
    if (zmm_)
      vblendmps(x | k1, other, x);
    else
      vblendvps(x, other, x, vec(mask_vec_));
  }

  // x = valid columns of x, 0 in the rest; for AVX2 only
  void keep_valid_bits(const Vec& x) { vandps(x, x, vec(mask_vec_)); }

  // Jumps if any lane of v is a NaN.
  void jump_if_nan(const Vec& v, const Vec& scratch, const Xbyak::Reg64& scratch_reg,
                   const Xbyak::Label& to) {
    constexpr int kUnordered = 3;
    if (zmm_) {
      vcmpps(k2, v, v, kUnordered);
      kortestw(k2, k2);
    } else {
      vcmpps(scratch, v, v, kUnordered);
      vmovmskps(scratch_reg.cvt32(), scratch);
      test(scratch_reg.cvt32(), scratch_reg.cvt32());
    }
    jnz(to, T_NEAR);
  }

  // The least (or greatest) lane of v as the lowest one.
  void reduce(const Vec& v, const Vec& scratch, bool least) {
    const int i = v.getIdx(), s = scratch.getIdx();
    const auto fold = [&](const Vec& a, const Vec& b) {
      least ? vminps(a, a, b) : vmaxps(a, a, b);
    };
    if (zmm_) {
      vextractf64x4(Xbyak::Ymm(s), Xbyak::Zmm(i), 1);
      fold(Xbyak::Ymm(i), Xbyak::Ymm(s));
      vextractf32x4(Xbyak::Xmm(s), Xbyak::Ymm(i), 1);
    } else {
      vextractf128(Xbyak::Xmm(s), Xbyak::Ymm(i), 1);
    }
    fold(Xbyak::Xmm(i), Xbyak::Xmm(s));
    vmovhlps(Xbyak::Xmm(s), Xbyak::Xmm(i), Xbyak::Xmm(i));
    fold(Xbyak::Xmm(i), Xbyak::Xmm(s));
    vmovshdup(Xbyak::Xmm(s), Xbyak::Xmm(i));
    fold(Xbyak::Xmm(i), Xbyak::Xmm(s));
  }

  // A 32-bit constant in every lane, as an operand: an embedded broadcast or a whole vector.
  Xbyak::Address constant(std::uint32_t bits) {
    Xbyak::Label& label = constants_[bits];
    return zmm_ ? ptr_b[rip + label] : ptr[rip + label];
  }
  Xbyak::Address constant(float value) { return constant(std::bit_cast<std::uint32_t>(value)); }

  void load_constant(const Vec& v, std::uint32_t bits) {
    vbroadcastss(v, ptr[rip + constants_[bits]]);
  }
  void load_constant(const Vec& v, float value) {
    load_constant(v, std::bit_cast<std::uint32_t>(value));
  }

  using Table = float[16];

  // From here on look_up has the table in a register; of AVX-512.
  void keep_table(const Vec& v, const Table& values) {
    vmovups(v, ptr[rip + tables_[&values]]);
    kept_tables_[&values] = v.getIdx();
  }

  // to = values[index % 16] in each lane. Of AVX2: bit 3 of the index must be in the sign too, and
  // scratch is overwritten.
  void look_up(const Vec& to, const Vec& index, const Table& values, const Vec& scratch) {
    if (const auto kept = kept_tables_.find(&values); kept != kept_tables_.end()) {
      vpermps(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(index.getIdx()), vec(kept->second));
      return;
    }
    Xbyak::Label& label = tables_[&values];
    const auto permute = [&](const Vec& result, int offset) {
      const int r = result.getIdx(), i = index.getIdx();
      if (zmm_)
        vpermps(Xbyak::Zmm(r), Xbyak::Zmm(i), ptr[rip + label + offset]);
      else
        vpermps(Xbyak::Ymm(r), Xbyak::Ymm(i), ptr[rip + label + offset]);
    };
    permute(to, 0);
    if (zmm_) return;
    permute(scratch, vector_bytes());
    vblendvps(to, to, scratch, index);
  }

  // Bytes of `from` in the order that a table names, as vpshufb.
  void shuffle_bytes(const Vec& to, const Vec& from, const Table& order) {
    vpshufb(to, from, ptr[rip + tables_[&order]]);
  }

  // to = from[order], in lanes.
  void permute(const Vec& to, const Vec& order, const Vec& from) {
    if (zmm_)
      vpermps(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(order.getIdx()), from);
    else
      vpermps(Xbyak::Ymm(to.getIdx()), Xbyak::Ymm(order.getIdx()), from);
  }

  // 1 to 15 bytes, the rest being 0.
  void load_bytes(const Vec& x, const Xbyak::Address& from, int bytes) {
    const Xbyak::Xmm to(x.getIdx());
    const Xbyak::RegExp at = from.getRegExp();
    int done = 0;
    if (bytes >= 8) {
      vmovq(to, from);
      done = 8;
    } else if (bytes >= 4) {
      vmovd(to, from);
      done = 4;
    } else {
      zero(x);
    }
    if (bytes - done >= 4) {
      vpinsrd(to, to, ptr[at + done], static_cast<std::uint8_t>(done / 4));
      done += 4;
    }
    if (bytes - done >= 2) {
      vpinsrw(to, to, ptr[at + done], static_cast<std::uint8_t>(done / 2));
      done += 2;
    }
    if (bytes - done >= 1) vpinsrb(to, to, ptr[at + done], static_cast<std::uint8_t>(done));
  }

  // The first 2 to 14 bytes, an even number.
  void store_bytes(const Xbyak::Address& to, const Xbyak::Xmm& x, int bytes) {
    const Xbyak::RegExp at = to.getRegExp();
    int done = 0;
    if (bytes >= 8) {
      vmovq(to, x);
      done = 8;
    }
    if (bytes - done >= 4) {
      vpextrd(ptr[at + done], x, static_cast<std::uint8_t>(done / 4));
      done += 4;
    }
    if (bytes > done) vpextrw(ptr[at + done], x, static_cast<std::uint8_t>(done / 2));
  }

  // Constants and tables, after the last instruction.
  void emit_data() {
    align(64);
    for (auto& [bits, label] : constants_) {
      L(label);
      for (int i = 0; i < (zmm_ ? 1 : 8); ++i) dd(bits);
    }
    for (auto& [values, label] : tables_) {
      align(64);
      L(label);
      for (const float value : *values) dd(std::bit_cast<std::uint32_t>(value));
    }
    if (uses_mask_table_) {
      L(mask_table_);
      for (int i = 0; i < 16; ++i) dd(i < 8 ? 0xffffffffu : 0);
    }
  }

 private:
  static constexpr std::size_t kMaxCodeBytes = 512 << 10;
  static constexpr std::align_val_t kBufferAlignment{4096};

  // Xbyak would make its memory writable and executable at once. Code is written to memory that
  // stays as it is and is copied to pages that are executable. Where there is no memory, that is a
  // std::bad_alloc like any other.
  static Xbyak::Allocator& plain_memory() {
    struct PlainMemory final : Xbyak::Allocator {
      std::uint8_t* alloc(std::size_t bytes) override {
        return static_cast<std::uint8_t*>(::operator new(bytes, kBufferAlignment));
      }
      void free(std::uint8_t* memory) override { ::operator delete(memory, kBufferAlignment); }
      bool useProtect() const override { return false; }
    };
    static PlainMemory& memory = *new PlainMemory;  // leaked: a thread may outlive static objects
    return memory;
  }

  bool zmm_, converts_bfloat16_;
  bool uses_mask_table_ = false;
  int mask_vec_ = -1;
  Xbyak::Label mask_table_;
  std::map<std::uint32_t, Xbyak::Label> constants_;
  std::map<const Table*, Xbyak::Label> tables_;
  std::map<const Table*, int> kept_tables_;
};

}  // namespace fbg::kernels
