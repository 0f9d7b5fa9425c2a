// The look-up kernel, in reading order: bags, blocks of columns, the rows of a bag, a row.
//
//   for each bag
//     for each block of columns                   the sums of a block are in registers
//       for each row of the bag                   its index is checked in the first block
//         sums = sums + row                       decoded vector by vector
//       out = sums
//
// The blocks of a row have equally many vectors but for the last one, and share a loop. What is
// left of the last vector is read without touching a byte beyond it.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "kernels/lookup.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {
namespace {

using Xbyak::Address;
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Vec = SimdAssembler::Vec;

constexpr int kLineBytes = 64;

class LookupGenerator : public SimdAssembler {
 public:
  explicit LookupGenerator(const LookupKey& key)
      : SimdAssembler(isa_features(key.isa) & feature::avx512 ? 16 : 8),
        key_(key),
        bits_(row_bits(key.format)),
        scaled_(row_parameters(key.format) > 0),
        biased_(is_integer(key.format)),
        float8_(key.format == RowFormat::float8_e4m3fn),
        nibbles_(bits_ < 8),
        by_table_(nibbles_ && 1 << bits_ <= lanes()),
        is_max_(key.mode == BagMode::max),
        tail_(key.columns % lanes()) {
    const int vectors = (key.columns + lanes() - 1) / lanes();
    const int blocks = (vectors + most_sums() - 1) / most_sums();
    block_ = (vectors + blocks - 1) / blocks;
    full_blocks_ = (vectors - 1) / block_;
    last_ = vectors - full_blocks_ * block_;
  }

  void generate() {
    for (const Reg64& r : saved_) push(r);
    sub(rsp, kStackBytes);
    load_arguments();
    Label bag, bad, done;
    L(bag);
    if (full_blocks_ > 0) {
      Label block;
      mov(blocks_left(), full_blocks_);
      L(block);
      add_block(block_, false, bad);
      add(rows_, block_values() / 8 * bits_);
      add(out_, block_values() * out_bytes());
      dec(blocks_left());
      jnz(block, T_NEAR);
    }
    add_block(last_, true, bad);
    if (full_blocks_ > 0) {
      sub(rows_, full_blocks_ * (block_values() / 8 * bits_));
      sub(out_, full_blocks_ * block_values() * out_bytes());
    }
    add(out_, arg(offsetof(LookupArgs, out_stride)));
    add(offsets(), index_bytes());
    dec(bags());
    jnz(bag, T_NEAR);
    mov(rax, -1);
    L(done);
    vzeroupper();
    add(rsp, kStackBytes);
    for (int i = 5; i >= 0; --i) pop(saved_[i]);
    ret();
    L(bad);
    mov(rax, at_);
    jmp(done);
    emit_tables();
  }

 private:
  // Registers by role (System V: rdi holds the arguments): those that a row needs. `row_` is its
  // distance from the first one, then where it is; `ends_` points at the scale and bias of the
  // first row. What only bags and blocks need is on the stack.
  const Reg64 saved_[6] = {rbx, rbp, r12, r13, r14, r15};
  const Reg64 args_ = rdi, rows_ = rsi, count_ = rdx, num_rows_ = rcx, indices_ = r8;
  const Reg64 padding_ = r9, weights_ = r10, out_ = r11, stride_ = rbx, ends_ = rbp, at_ = r12;
  const Reg64 end_ = r13, ahead_ = r14, last_fetching_ = r15, row_ = rax;
  static constexpr int kStackBytes = 24;
  Address offsets() { return qword[rsp]; }
  Address bags() { return qword[rsp + 8]; }
  Address blocks_left() { return qword[rsp + 16]; }

  // Vectors besides the sums, which are the first ones.
  Vec value() const { return vec(num_vectors() - 1); }
  Vec scale() const { return vec(num_vectors() - 2); }  // or the weight, in rows of floats
  Vec bias() const { return vec(num_vectors() - 3); }   // or the mask, in rows of floats; scratch
  Vec shifts() const { return vec(num_vectors() - 4); }
  Vec one() const { return vec(num_vectors() - 4); }    // added to a code of float8
  Vec field() const { return vec(num_vectors() - 5); }  // mask of a value's bits, or all as floats
  int most_sums() const { return num_vectors() - (nibbles_ ? 5 : float8_ ? 4 : 3); }

  int block_values() const { return block_ * lanes(); }
  int out_bytes() const { return static_cast<int>(value_size(key_.output)); }
  int index_bytes() const { return key_.index == IndexType::int64 ? 8 : 4; }
  Address arg(std::size_t offset) { return ptr[args_ + static_cast<int>(offset)]; }

  void load_index(const Reg64& to, const Address& wide, const Address& narrow) {
    key_.index == IndexType::int64 ? mov(to, wide) : movsxd(to, narrow);
  }
  void load_index(const Reg64& to, const Reg64& base, int offset) {
    load_index(to, ptr[base + offset], dword[base + offset]);
  }
  void load_index_at(const Reg64& to, const Reg64& position) {
    load_index(to, ptr[indices_ + position * 8], dword[indices_ + position * 4]);
  }

  void load_arguments() {
    mov(rows_, arg(offsetof(LookupArgs, rows)));
    mov(num_rows_, arg(offsetof(LookupArgs, num_rows)));
    mov(indices_, arg(offsetof(LookupArgs, indices)));
    mov(out_, arg(offsetof(LookupArgs, out)));
    mov(stride_, arg(offsetof(LookupArgs, stride)));
    mov(padding_, arg(offsetof(LookupArgs, padding)));
    mov(last_fetching_, arg(offsetof(LookupArgs, last)));
    sub(last_fetching_, key_.prefetch);
    mov(rax, arg(offsetof(LookupArgs, offsets)));
    mov(offsets(), rax);
    mov(rax, arg(offsetof(LookupArgs, bags)));
    mov(bags(), rax);
    if (key_.weighted) mov(weights_, arg(offsetof(LookupArgs, weights)));
    if (scaled_) lea(ends_, ptr[rows_ + static_cast<int>(key_.layout().value_bytes())]);
    if (nibbles_) {
      vmovups(shifts(), ptr[rip + shift_table_]);
      by_table_ ? vmovups(field(), ptr[rip + value_table_])
                : load_constant(field(), (1u << bits_) - 1);
    }
    if (float8_) load_constant(one(), 0x00800080u);
    if (tail_ && is_zmm()) {
      mov(eax, (1 << tail_) - 1);
      kmovw(k1, eax);
    }
    load_mask();
  }

  // With AVX2, only floats have a masked load.
  bool masks_loads() const { return tail_ && !is_zmm() && key_.format == RowFormat::float32; }
  void load_mask() {
    if (masks_loads()) vmovups(bias(), ptr[rip + lane_table_]);
  }

  void add_block(int vectors, bool is_last, Label& bad) {
    const int tail = is_last ? tail_ : 0;
    Label next, skip, finish;
    mov(rax, offsets());
    load_index(at_, rax, 0);
    load_index(end_, rax, index_bytes());
    for (int v = 0; v < vectors; ++v)
      is_max_ ? load_constant(vec(v), -std::numeric_limits<float>::infinity()) : zero(vec(v));
    xor_(count_, count_);
    cmp(at_, end_);
    jge(finish, T_NEAR);
    align(16);
    L(next);
    load_index_at(row_, at_);
    cmp(row_, num_rows_);
    jae(bad, T_NEAR);
    cmp(row_, padding_);
    je(skip, T_NEAR);
    imul(row_, stride_);
    if (key_.prefetch) fetch_ahead(is_last);
    if (key_.mode != BagMode::sum) inc(count_);
    load_parameters();
    add(row_, rows_);  // operands with an index take a micro-operation more
    for (int v = 0; v < vectors; ++v) add_vector(v, v + 1 == vectors ? tail : 0);
    L(skip);
    inc(at_);
    cmp(at_, end_);
    jl(next, T_NEAR);
    L(finish);
    finish_sums(vectors);
    sort_lanes(vectors);
    for (int v = 0; v < vectors; ++v) store_sums(v, v + 1 == vectors ? tail : 0);
    if (key_.output == ValueType::bfloat16) load_mask();  // which was overwritten
  }

  // The part of a later row that this block will read. Its index may be wrong: a prefetch of any
  // address is harmless.
  void fetch_ahead(bool is_last) {
    const RowLayout layout = key_.layout();
    const int bytes =
        is_last ? static_cast<int>(layout.row_bytes()) - full_blocks_ * (block_values() / 8 * bits_)
                : block_values() / 8 * bits_;
    const int distance = key_.prefetch * index_bytes();
    Label none;
    cmp(at_, last_fetching_);
    jg(none, T_NEAR);
    load_index(ahead_, ptr[indices_ + at_ * 8 + distance], dword[indices_ + at_ * 4 + distance]);
    imul(ahead_, stride_);
    const auto fetch = [&](const Address& a) { key_.far ? prefetcht1(a) : prefetcht0(a); };
    int offset = 0;
    for (; offset < bytes; offset += kLineBytes) fetch(ptr[rows_ + ahead_ + offset]);
    // A row that does not begin with a line may end in another one.
    if (bytes - 1 - (offset - kLineBytes) >= kLineBytes / 2) fetch(ptr[rows_ + ahead_ + bytes - 1]);
    if (!is_last && scaled_) fetch(ptr[ends_ + ahead_]);
    L(none);
  }

  void load_parameters() {
    if (scaled_) load_scale(scale(), 0);
    if (biased_) load_scale(bias(), key_.layout().scale_bytes());
    if (!key_.weighted) return;
    const Vec weight = scaled_ ? value() : scale();
    vbroadcastss(weight, ptr[weights_ + at_ * 4]);
    if (scaled_) vmulps(scale(), scale(), weight);
    if (biased_) vmulps(bias(), bias(), weight);
  }

  void load_scale(const Vec& to, int offset) {
    const Address from = ptr[ends_ + row_ + offset];
    if (key_.scale == RowScale::float32) return vbroadcastss(to, from);
    is_zmm() ? vpbroadcastw(Ymm(to.getIdx()), from) : vpbroadcastw(Xmm(to.getIdx()), from);
    widen_halves(to);
  }

  Xmm half_of(const Vec& v) const {  // as wide as the 16-bit values of a vector
    return is_zmm() ? Xmm(Ymm(v.getIdx())) : Xmm(v.getIdx());
  }
  void widen_halves(const Vec& v) { vcvtph2ps(v, half_of(v)); }

  void add_vector(int v, int tail) {
    const Vec sum = vec(v), x = value();
    const Address from = ptr[row_ + v * lanes() / 8 * bits_];
    if (key_.format == RowFormat::float32 && !tail && !is_max_)
      return key_.weighted ? vfmadd231ps(sum, scale(), from) : vaddps(sum, sum, from);
    load_values(x, from, tail);
    if (biased_ && !by_table_) vcvtdq2ps(x, x);
    if (scaled_ && !is_max_) {
      if (biased_) vaddps(sum, sum, bias());
      return vfmadd231ps(sum, x, scale());
    }
    if (scaled_) biased_ ? vfmadd213ps(x, scale(), bias()) : vmulps(x, x, scale());
    if (is_max_)
      vmaxps(sum, x, sum);  // the second source if either is a NaN
    else if (key_.weighted)
      vfmadd231ps(sum, x, scale());
    else
      vaddps(sum, sum, x);
  }

  // One vector of values: floats, or integers as int32 or by table. `tail` values of it; 0: all.
  void load_values(const Vec& x, const Address& from, int tail) {
    const bool masked = tail && is_zmm();  // what the mask leaves out is not read
    const Vec to = masked ? Vec(x | k1 | T_z) : x;
    switch (key_.format) {
      case RowFormat::float32:
        return masked || !tail ? vmovups(to, from) : vmaskmovps(x, bias(), from);
      case RowFormat::float16:
        if (!tail || masked) return vcvtph2ps(to, from);
        load_bytes(x, from, 2 * tail);
        return widen_halves(x);
      case RowFormat::bfloat16:
        if (!tail || masked) {
          vpmovzxwd(to, from);
        } else {
          load_bytes(x, from, 2 * tail);
          vpmovzxwd(x, Xmm(x.getIdx()));
        }
        return vpslld(x, x, 16);
      case RowFormat::int8:
        if (!tail || masked) return vpmovzxbd(to, from);
        load_bytes(x, from, tail);
        return vpmovzxbd(x, Xmm(x.getIdx()));
      case RowFormat::int4:
      case RowFormat::int2:
        return load_nibbles(x, from, tail);
      case RowFormat::float8_e4m3fn:
        return load_float8(x, from, tail);
    }
  }

  // By way of float16, as core/float8.h has it.
  void load_float8(const Vec& x, const Address& from, int tail) {
    const Xmm wide = half_of(x), next = half_of(bias());
    if (!tail || is_zmm()) {
      vpmovsxbw(tail ? Xmm(wide | k1 | T_z) : wide, from);
    } else {
      load_bytes(x, from, tail);
      vpmovsxbw(wide, wide);
    }
    vpsllw(wide, wide, 7);
    vpaddw(next, wide, half_of(one()));
    if (is_zmm()) {
      constexpr int kExclusiveOrOfAnd = 0x78;
      vpternlogd(wide, next, constant(0x40004000u), kExclusiveOrOfAnd);
    } else {
      vpand(next, next, constant(0x40004000u));
      vpxor(wide, wide, next);
    }
    widen_halves(x);
    vmulps(x, x, constant(256.0f));
  }

  // Every lane has the bytes of its value and shifts them. The value is an index in the table of
  // all there are, whatever is above its bits, or masked.
  void load_nibbles(const Vec& x, const Address& from, int tail) {
    const Xmm bytes(x.getIdx());
    const int size = lanes() / 8 * bits_, used = tail ? (tail * bits_ + 7) / 8 : size;
    if (used < size) load_bytes(x, from, used);
    if (size == 8)
      used < size ? vpbroadcastq(x, bytes) : vpbroadcastq(x, from);
    else if (size == 4)
      used < size ? vpbroadcastd(x, bytes) : vpbroadcastd(x, from);
    else
      used < size ? vpbroadcastw(x, bytes) : vpbroadcastw(x, from);
    halves_alternate() ? vpsrlvq(x, x, shifts()) : vpsrlvd(x, x, shifts());
    by_table_ ? permute(x, x, field()) : bit_and(x, x, field());
  }

  // Where the bytes of 16 values are shifted as 64 bits, lanes hold values 0, 8, 1, 9, ….
  bool halves_alternate() const { return nibbles_ && lanes() * bits_ == 64; }
  void sort_lanes(int vectors) {
    if (!halves_alternate()) return;
    vmovups(value(), ptr[rip + order_table_]);
    for (int v = 0; v < vectors; ++v) permute(vec(v), value(), vec(v));
  }

  // Means, and maxima of nothing.
  void finish_sums(int vectors) {
    if (key_.mode == BagMode::sum) return;
    Label done, some;
    test(count_, count_);
    if (is_max_) {
      jnz(done, T_NEAR);
      for (int v = 0; v < vectors; ++v) zero(vec(v));
    } else {
      jz(done, T_NEAR);
      const Xmm low(value().getIdx());
      vxorps(low, low, low);
      vcvtsi2ss(low, low, count_);
      vbroadcastss(value(), low);
      for (int v = 0; v < vectors; ++v) vdivps(vec(v), vec(v), value());
    }
    L(done);
  }

  void store_sums(int v, int tail) {
    const Address to = ptr[out_ + v * lanes() * out_bytes()];
    if (key_.output != ValueType::float32) return store_halves(to, vec(v), tail);
    if (!tail) return vmovups(to, vec(v));
    if (is_zmm()) return vmovups(to | k1, vec(v));
    vmovups(value(), ptr[rip + lane_table_]);
    vmaskmovps(to, value(), vec(v));
  }

  // Sums as 16-bit floats.
  void store_halves(const Address& to, const Vec& sum, int tail) {
    const Xmm half = half_of(sum);
    if (key_.output == ValueType::float16) {
      vcvtps2ph(half, sum, 0);  // 0: half to even
    } else {
      to_bfloat16(sum, value(), scale(), bias());
      if (!is_zmm()) {
        vextracti128(Xmm(value().getIdx()), Ymm(sum.getIdx()), 1);
        vpackusdw(half, half, Xmm(value().getIdx()));
      }
    }
    if (is_zmm()) return vmovdqu16(tail ? to | k1 : to, half);
    tail ? store_bytes(to, half, 2 * tail) : vmovups(to, half);
  }

  void emit_tables() {
    emit_data();
    align(64);
    if (nibbles_) {
      L(shift_table_);
      const int step = halves_alternate() ? 2 : 1;  // lanes that a shift has
      for (int i = 0; i < lanes(); ++i)
        dd(i % step ? 0 : static_cast<std::uint32_t>(i / step * bits_ % 32));
      L(value_table_);
      for (int i = 0; i < lanes(); ++i)
        dd(std::bit_cast<std::uint32_t>(static_cast<float>(i % (1 << bits_))));
      L(order_table_);
      for (int i = 0; i < lanes(); ++i) dd(static_cast<std::uint32_t>(i % 8 * 2 + i / 8));
    }
    if (tail_ && !is_zmm()) {
      L(lane_table_);
      for (int i = 0; i < lanes(); ++i) dd(i < tail_ ? 0xffffffffu : 0);
    }
  }

  const LookupKey key_;
  const int bits_;
  const bool scaled_, biased_, float8_, nibbles_, by_table_, is_max_;
  const int tail_;                  // values in the last vector; 0: all
  int block_, full_blocks_, last_;  // vectors of a block, blocks before the last, its vectors
  Label shift_table_, value_table_, order_table_, lane_table_;
};

}  // namespace

bool has_lookup(Isa isa) noexcept { return isa == Isa::avx2 || isa == Isa::avx512; }

std::vector<std::uint8_t> generate_lookup(const LookupKey& key) {
  if (key.columns < 1 || (key.weighted && key.mode == BagMode::max)) return {};
  LookupGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
