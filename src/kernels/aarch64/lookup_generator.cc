// The look-up kernel for NEON, in the order of the one of x64 (../x64/lookup_generator.cc): bags,
// blocks of columns, the rows of a bag, a row. A vector has four values; what is left of the last
// one is read and written without touching a byte beyond it.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/aarch64/neon_assembler.h"
#include "kernels/lookup.h"

namespace fbg::kernels {
namespace {

constexpr int kLineBytes = 64;
constexpr int kMostSums = 16;

class LookupGenerator : public NeonAssembler {
 public:
  explicit LookupGenerator(const LookupKey& key)
      : key_(key),
        bits_(row_bits(key.format)),
        scaled_(row_parameters(key.format) > 0),
        biased_(is_integer(key.format)),
        float8_(key.format == RowFormat::float8_e4m3fn),
        is_max_(key.mode == BagMode::max),
        tail_(key.columns % kLanes) {
    const int vectors = (key.columns + kLanes - 1) / kLanes;
    const int blocks = (vectors + kMostSums - 1) / kMostSums;
    block_ = (vectors + blocks - 1) / blocks;
    full_blocks_ = (vectors - 1) / block_;
    last_ = vectors - full_blocks_ * block_;
  }

  void generate() {
    load_arguments();
    Label bag, bad;
    L(bag);
    move(out_, out_of_bag_);
    if (full_blocks_ > 0) {
      Label block;
      ldr(rows_, arg(offsetof(LookupArgs, rows)));
      set(blocks_left_, full_blocks_);
      L(block);
      add_block(block_, false, bad);
      add(rows_, rows_, bytes_of(block_));
      add(out_, out_, block_ * out_bytes());
      subs(blocks_left_, blocks_left_, 1);
      b(NE, block);
    }
    add_block(last_, true, bad);
    ldr(scratch_, arg(offsetof(LookupArgs, out_stride)));
    add(out_of_bag_, out_of_bag_, scratch_);
    add(offsets_, offsets_, 1 << index_shift());
    subs(bags_, bags_, 1);
    b(NE, bag);
    sub(args_, bags_, 1);  // -1
    ret();
    L(bad);
    move(args_, at_);
    ret();
    emit_data();
  }

 private:
  // Registers by role: those of vectors besides the sums are the last ones, since v8 to v15 belong
  // to the caller. `row_` is an index, then where the row is.
  const XReg args_{0}, rows_{1}, num_rows_{2}, indices_{3}, padding_{4}, blocks_left_{5}, out_{6};
  const XReg stride_{7}, ends_{8}, at_{9}, end_{10}, ahead_{11}, row_{12}, count_{13};
  const XReg offsets_{14}, bags_{15}, scratch_{16}, out_of_bag_{17};
  const Vec value_{24}, other_{25}, scale_{26}, bias_{27}, weight_{28};
  const Vec shifts_{29}, field_{30};           // of nibbles
  const Vec one_{29}, high_{30}, factor_{31};  // of float8

  static Vec sum(int v) { return vec(v < 8 ? v : v + 8); }
  int bytes_of(int vectors) const { return vectors * kLanes * bits_ / 8; }
  int out_bytes() const { return kLanes * static_cast<int>(value_size(key_.output)); }
  int index_shift() const { return key_.index == IndexType::int64 ? 3 : 2; }
  aarch64::At arg(std::size_t offset) { return at(args_, static_cast<std::int64_t>(offset)); }

  void move(const XReg& to, const XReg& from) { add(to, from, 0); }
  void set(const XReg& to, int value) {
    movz(to, value & 0xffff);
    add_number(to, to, value & ~0xffff);
  }
  void add_number(const XReg& to, const XReg& from, std::int64_t value) {
    constexpr std::int64_t kMost = 4095;
    add(to, from, static_cast<int>(value & kMost));
    for (std::int64_t left = value >> 12; left > 0; left -= kMost)
      add(to, to, static_cast<int>(std::min(left, kMost)), 12);
  }
  void load_index(const XReg& to, const XReg& base, int place) {
    const aarch64::At from = at(base, std::int64_t{place} << index_shift());
    key_.index == IndexType::int64 ? ldr(to, from) : ldrsw(to, from);
  }

  void load_arguments() {
    ldr(rows_, arg(offsetof(LookupArgs, rows)));
    ldr(num_rows_, arg(offsetof(LookupArgs, num_rows)));
    ldr(indices_, arg(offsetof(LookupArgs, indices)));
    ldr(out_of_bag_, arg(offsetof(LookupArgs, out)));
    ldr(stride_, arg(offsetof(LookupArgs, stride)));
    ldr(padding_, arg(offsetof(LookupArgs, padding)));
    ldr(offsets_, arg(offsetof(LookupArgs, offsets)));
    ldr(bags_, arg(offsetof(LookupArgs, bags)));
    if (scaled_) add_number(ends_, rows_, key_.layout().value_bytes());
    if (bits_ < 8) {  // to the right by i * bits
      load_lane_numbers(shifts_);
      load_constant(field_, static_cast<std::uint32_t>(-bits_));
      mul(shifts_.s4, shifts_.s4, field_.s4);
      load_constant(field_, (1u << bits_) - 1);
    }
    if (float8_) {
      load_constant(one_, 128u);
      load_constant(high_, 0x4000u);
      load_constant(factor_, 256.0f);
    }
  }

  void add_block(int vectors, bool is_last, Label& bad) {
    const int tail = is_last ? tail_ : 0;
    Label next, skip, finish;
    load_index(at_, offsets_, 0);
    load_index(end_, offsets_, 1);
    for (int v = 0; v < vectors; ++v)
      is_max_ ? load_constant(sum(v), -std::numeric_limits<float>::infinity()) : zero(sum(v));
    movz(count_, 0);
    cmp(at_, end_);
    b(GE, finish);
    L(next);
    add(scratch_, indices_, at_, index_shift());
    load_index(row_, scratch_, 0);
    cmp(row_, num_rows_);
    b(HS, bad);
    cmp(row_, padding_);
    b(EQ, skip);
    if (key_.prefetch) fetch_ahead(vectors, is_last);
    if (key_.mode != BagMode::sum) add(count_, count_, 1);
    load_parameters();
    madd(row_, row_, stride_, rows_);
    for (int v = 0; v < vectors; ++v) add_vector(v, v + 1 == vectors ? tail : 0);
    L(skip);
    add(at_, at_, 1);
    cmp(at_, end_);
    b(LT, next);
    L(finish);
    finish_sums(vectors);
    for (int v = 0; v < vectors; ++v) store_sums(v, v + 1 == vectors ? tail : 0);
  }

  // The part of a later row that this block will read. Its index may be wrong: a prefetch of any
  // address is harmless.
  void fetch_ahead(int vectors, bool is_last) {
    const Prefetch level = key_.far ? PLDL2KEEP : PLDL1KEEP;
    const int begin = full_blocks_ * bytes_of(block_);
    const int bytes =
        is_last ? static_cast<int>(key_.layout().row_bytes()) - begin : bytes_of(vectors);
    Label within;
    add_number(ahead_, at_, key_.prefetch);
    ldr(scratch_, arg(offsetof(LookupArgs, last)));
    cmp(ahead_, scratch_);
    b(LT, within);
    move(ahead_, scratch_);
    L(within);
    add(ahead_, indices_, ahead_, index_shift());
    load_index(ahead_, ahead_, 0);
    if (scaled_ && !is_last) {
      madd(scratch_, ahead_, stride_, ends_);
      prfm(level, at(scratch_, 0));
    }
    madd(ahead_, ahead_, stride_, rows_);
    int offset = 0;
    for (; offset < bytes; offset += kLineBytes) prfm(level, at(ahead_, offset));
    // A row that does not begin with a line may end in another one.
    if (bytes - 1 - (offset - kLineBytes) >= kLineBytes / 2)
      prfm(level, at(ahead_, (bytes - 1) / 8 * 8));
  }

  // Of scales and weights, the first lane is used.
  void load_parameters() {
    if (scaled_) {
      madd(scratch_, row_, stride_, ends_);
      load_scale(scale_, 0);
      if (biased_) load_scale(bias_, key_.layout().scale_bytes());
    }
    if (key_.weighted) {
      ldr(scratch_, arg(offsetof(LookupArgs, weights)));
      add(scratch_, scratch_, at_, 2);
      ldr(weight_.s, at(scratch_, 0));
      if (scaled_) fmul(scale_.s4, scale_.s4, weight_.s4);
      if (biased_) fmul(bias_.s4, bias_.s4, weight_.s4);
    }
    if (biased_) dup(bias_.s4, bias_.s4[0]);
  }

  void load_scale(const Vec& to, int offset) {
    if (key_.scale == RowScale::float32) return ldr(to.s, at(scratch_, offset));
    ldr(to.h, at(scratch_, offset));
    fcvtl(to.s4, to.h4);
  }

  void add_vector(int v, int tail) {
    const Vec to = sum(v);
    load_values(v, tail);
    if (biased_) scvtf(value_.s4, value_.s4);
    if (scaled_ && !is_max_) {
      if (biased_) fadd(to.s4, to.s4, bias_.s4);
      return fmla(to.s4, value_.s4, scale_.s4[0]);
    }
    if (!is_max_)
      return key_.weighted ? fmla(to.s4, value_.s4, weight_.s4[0]) : fadd(to.s4, to.s4, value_.s4);
    Vec x = value_;
    if (biased_) {
      copy(other_, bias_);
      fmla(other_.s4, value_.s4, scale_.s4[0]);
      x = other_;
    } else if (scaled_) {
      fmul(x.s4, x.s4, scale_.s4[0]);
    }
    const Vec larger = biased_ ? value_ : other_;  // nowhere if either is a NaN
    fcmgt(larger.s4, x.s4, to.s4);
    bit(to.b16, x.b16, larger.b16);
  }

  // One vector of values: floats, or integers as int32. `tail` values of it; 0: all.
  void load_values(int v, int tail) {
    const Vec& x = value_;
    load_bytes(bytes_of(v), ((tail ? tail : kLanes) * bits_ + 7) / 8);
    switch (key_.format) {
      case RowFormat::float32:
        return;
      case RowFormat::float16:
        return fcvtl(x.s4, x.h4);
      case RowFormat::bfloat16:
        return shll(x.s4, x.h4, 16);
      case RowFormat::int8:
        ushll(x.h8, x.b8, 0);
        return ushll(x.s4, x.h4, 0);
      case RowFormat::int4:
      case RowFormat::int2:  // every lane has the bytes of its value and shifts them
        dup(x.s4, x.s4[0]);
        ushl(x.s4, x.s4, shifts_.s4);
        return and_(x.b16, x.b16, field_.b16);
      case RowFormat::float8_e4m3fn:  // by way of float16, as core/float8.h has it
        sxtl(x.h8, x.b8);
        sxtl(x.s4, x.h4);
        shl(x.s4, x.s4, 7);
        add(other_.s4, x.s4, one_.s4);
        and_(other_.b16, other_.b16, high_.b16);
        eor(x.b16, x.b16, other_.b16);
        xtn(x.h4, x.s4);
        fcvtl(x.s4, x.h4);
        return fmul(x.s4, x.s4, factor_.s4);
    }
  }

  // 1 to 16 bytes of the row, the rest being 0.
  void load_bytes(int offset, int bytes) {
    const Vec& x = value_;
    const aarch64::At from = at(row_, offset);
    if (bytes == 16) return ldr(x.q, from);
    if (bytes == 8) return ldr(x.d, from);
    if (bytes == 4) return ldr(x.s, from);
    if (bytes == 2) return ldr(x.h, from);
    if (bytes == 1) return ldr(x.b, from);
    add(scratch_, row_, offset);  // three elements
    if (bytes == 12) {
      ldr(x.d, post_ptr(scratch_, 8));
      ld1(x.s4[2], post_ptr(scratch_, 4));
    } else if (bytes == 6) {
      ldr(x.s, post_ptr(scratch_, 4));
      ld1(x.h8[2], post_ptr(scratch_, 2));
    } else {
      ldr(x.h, post_ptr(scratch_, 2));
      ld1(x.b16[2], post_ptr(scratch_, 1));
    }
  }

  // Means, and maxima of nothing.
  void finish_sums(int vectors) {
    if (key_.mode == BagMode::sum) return;
    Label done;
    cmp(count_, 0);
    if (is_max_) {
      b(NE, done);
      for (int v = 0; v < vectors; ++v) zero(sum(v));
    } else {
      b(EQ, done);
      scvtf(value_.s, count_);
      dup(value_.s4, value_.s4[0]);
      for (int v = 0; v < vectors; ++v) fdiv(sum(v).s4, sum(v).s4, value_.s4);
    }
    L(done);
  }

  void store_sums(int v, int tail) {
    const Vec x = sum(v);
    const int offset = v * out_bytes();
    const bool halves = key_.output != ValueType::float32;
    if (key_.output == ValueType::float16) fcvtn(x.h4, x.s4);
    if (key_.output == ValueType::bfloat16) to_bfloat16(x);
    const int bytes = (tail ? tail : kLanes) * (halves ? 2 : 4);
    const aarch64::At to = at(out_, offset);
    if (bytes == 16) return str(x.q, to);
    if (bytes == 8) return str(x.d, to);
    if (bytes == 4) return str(x.s, to);
    if (bytes == 2) return str(x.h, to);
    add(scratch_, out_, offset + (halves ? 4 : 8));  // three elements
    halves ? str(x.s, to) : str(x.d, to);
    halves ? st1(x.h8[2], post_ptr(scratch_, 2)) : st1(x.s4[2], post_ptr(scratch_, 4));
  }

  // x + 0x7fff + (x >> 16 & 1), of which the upper halves are the result; a NaN becomes quiet.
  void to_bfloat16(const Vec& x) {
    ushr(value_.s4, x.s4, 16);
    load_constant(other_, 1u);
    and_(value_.b16, value_.b16, other_.b16);
    load_constant(other_, 0x7fffu);
    add(value_.s4, value_.s4, other_.s4);
    add(value_.s4, value_.s4, x.s4);
    load_constant(other_, 0x400000u);
    orr(other_.b16, other_.b16, x.b16);
    fcmeq(x.s4, x.s4, x.s4);
    bif(value_.b16, other_.b16, x.b16);
    ushr(x.s4, value_.s4, 16);
    xtn(x.h4, x.s4);
  }

  const LookupKey key_;
  const int bits_;
  const bool scaled_, biased_, float8_, is_max_;
  const int tail_;                  // values in the last vector; 0: all
  int block_, full_blocks_, last_;  // vectors of a block, blocks before the last, its vectors
};

}  // namespace

bool has_lookup(Isa isa) noexcept { return isa == Isa::neon; }

std::vector<std::uint8_t> generate_lookup(const LookupKey& key) {
  if (key.columns < 1 || (key.weighted && key.mode == BagMode::max)) return {};
  LookupGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
