// The loop that all sliding kernels share (kernels/sliding.h): columns, segments, output pixels.
//
// The sums of the output pixels take turns in the registers. The body of the loop is the code for
// as many columns as it takes until every output pixel uses the registers that it began with; the
// columns before the first result of a row come before the loop.
#pragma once

#include <vector>

#include "kernels/x64/generators.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {

class SlidingLoop : public SimdAssembler {
 public:
  explicit SlidingLoop(const SlidingKey& key)
      : SimdAssembler(key.lanes(), isa_features(key.tile.isa)), key_(key), places_(key.places()) {}
  virtual ~SlidingLoop() = default;

  void generate() {
    for (const Reg64& r : saved_) push(r);
    load_arguments();
    key_.mode == SlidingMode::builds ? pass() : slide();
    for (int i = 5; i >= 0; --i) pop(saved_[i]);
    vzeroupper();
    ret();
    L(next_segment_);
    add(segment_, static_cast<int>(sizeof(SlidingSegment)));
    begin_segment();
    ret();
    emit_data();
    emit_tables();
  }

 protected:
  using Address = Xbyak::Address;
  using Reg64 = Xbyak::Reg64;

  virtual void load_constants() = 0;  // and the mask, once for a row
  virtual void start(int place) = 0;
  // Adds column x, counted from the first of the row, to the sums of all output pixels under it.
  virtual void add_column(int x) = 0;
  virtual void finish(int place) = 0;
  virtual void emit_tables() {}  // after the code
  virtual void read_ahead() {}   // reads the next column before this one is finished
  virtual void next_column() { next_pixel(); }

  // Registers by role (System V: rdi holds the arguments).
  const Reg64 args_ = rdi, segment_ = rsi, columns_ = rcx, offset_ = rdx, weights_ = r8;
  const Reg64 start_ = r9, scale_ = r10, c_ = r11, pixel_ = r12, pixels_ = r13, line_ = r14;
  const Reg64 row_ = rax, move_ = rbx;

  // Sums have the first registers; then come those of each kind of kernel.
  Vec sum(int place, int line, int v) const {
    return vec((place * key_.lines() + line) * key_.vectors() + v);
  }
  int num_sums() const { return key_.sums(); }
  // emit(sum, line, v) for an output pixel of every line.
  template <class F>
  void for_each_sum(int place, F emit) {
    for (int line = 0; line < key_.lines(); ++line)
      for (int v = 0; v < key_.vectors(); ++v) emit(sum(place, line, v), line, v);
  }
  // The place of the output pixel that tap kx of column x belongs to; -1: none.
  int place_of(int x, int kx) const {
    return kx <= x && (x - kx) % key_.step == 0 ? (x - kx) / key_.step % places_ : -1;
  }
  Address arg(std::size_t offset) { return ptr[args_ + static_cast<int>(offset)]; }
  Address row_pointer(int r) {
    return ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, rows)) + r * 8];
  }
  // row_ + move_ = the block's channels in row r of the column
  void find_row(int r) {
    mov(row_, row_pointer(r));
    mov(move_, ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, moves)) + r * 8]);
    and_(move_, offset_);
  }

  // Keeps the pointers to rows [first, first + count) in registers. The rows of a segment must be
  // all padding, or none of them (key.inside).
  void keep_rows(int first, int count) {
    first_kept_ = first;
    kept_rows_ = count;
  }
  static constexpr int kRowRegisters = 4;  // for such pointers
  // Return one of these registers; without kept rows, the last two are free.
  Reg64 free_register(int i) const {
    const Reg64 registers[kRowRegisters] = {row_, move_, rbp, r15};
    return registers[i];
  }
  // The block's channels in row r of the column.
  Xbyak::RegExp pixel(int r) {
    if (kept_rows_ > 0) return free_register(r - first_kept_) + offset_;
    if (key_.inside) {
      mov(row_, row_pointer(r));
      return row_ + offset_;
    }
    find_row(r);
    return row_ + move_;
  }

  // The output pixel in line 0, 1 or 2.
  Xbyak::RegExp result(int line) const {
    return line == 0 ? Xbyak::RegExp(c_) : line == 1 ? c_ + line_ : c_ + line_ * 2;
  }

  // Sums of bytes times their scales.
  void scale_sums(int place) {
    for_each_sum(place, [&](const Vec& s, int, int) { vcvtdq2ps(s, s); });
    for_each_sum(place, [&](const Vec& s, int, int v) {
      vmulps(s, s, ptr[scale_ + 2 * v * vector_bytes()]);
    });
  }
  // A NaN stays, because it is the second operand. Converted, it becomes the least int32.
  void bound_sums(int place, const Vec& high) {
    for_each_sum(place, [&](const Vec& s, int, int) { vminps(s, high, s); });
  }
  void round_sums(int place) {
    for_each_sum(place, [&](const Vec& s, int, int) { vcvtps2dq(s, s); });
  }

  void pack_bytes(const Vec& to, const Vec& other) {
    if (key_.tile.output() == ValueType::int8)
      vpacksswb(to, to, other);
    else
      vpackuswb(to, to, other);
  }

  // Moves along the image, to the next segment where one ends.
  void next_pixel() {
    Xbyak::Label same;
    add(offset_, ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, stride))]);
    dec(columns_);
    jnz(same);
    call(next_segment_);
    L(same);
  }

  const SlidingKey key_;
  const int places_;  // of output pixels whose sums are in registers

 private:
  // Columns without sums.
  void pass() {
    Xbyak::Label loop, end;
    L(loop);
    add_column(0);
    dec(pixels_);
    jz(end, T_NEAR);
    next_column();
    jmp(loop, T_NEAR);
    L(end);
  }

  void slide() {
    for (int place = 0; place < places_; ++place) start(place);
    const int before = key_.taps - 1, period = places_ * key_.step;
    Xbyak::Label loop, end;
    std::vector<Xbyak::Label> done(static_cast<std::size_t>(places_));
    read_ahead();
    for (int x = 0; x < before; ++x) {
      add_column(x);
      advance();
    }
    L(loop);
    for (int x = before; x < before + period; ++x) {
      add_column(x);
      const bool finishes = (x - before) % key_.step == 0;
      const int place = (x - before) / key_.step % places_;
      if (finishes) {
        dec(pixels_);
        jz(done[static_cast<std::size_t>(place)], T_NEAR);
      }
      advance();
      if (!finishes) continue;
      finish(place);
      add(c_, pixel_);
      start(place);
    }
    jmp(loop, T_NEAR);
    for (int place = 0; place < places_; ++place) {
      L(done[static_cast<std::size_t>(place)]);
      finish(place);
      if (place < places_ - 1) jmp(end, T_NEAR);
    }
    L(end);
  }

  void load_arguments() {
    mov(segment_, arg(offsetof(SlidingArgs, segments)));
    mov(weights_, arg(offsetof(SlidingArgs, weights)));
    mov(start_, arg(offsetof(SlidingArgs, start)));
    mov(scale_, arg(offsetof(SlidingArgs, scale)));
    mov(c_, arg(offsetof(SlidingArgs, c)));
    mov(pixel_, arg(offsetof(SlidingArgs, pixel)));
    mov(pixels_, arg(offsetof(SlidingArgs, pixels)));
    mov(line_, arg(offsetof(SlidingArgs, line)));
    load_constants();
    begin_segment();
  }

  void begin_segment() {
    mov(columns_, ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, columns))]);
    mov(offset_, arg(offsetof(SlidingArgs, channel)));
    if (key_.inside)
      and_(offset_, ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, moves))]);
    for (int i = 0; i < kept_rows_; ++i) mov(free_register(i), row_pointer(first_kept_ + i));
  }

  void advance() {
    next_column();
    read_ahead();
  }

  const Reg64 saved_[6] = {rbx, rbp, r12, r13, r14, r15};
  int first_kept_ = 0, kept_rows_ = 0;
  Xbyak::Label next_segment_;
};

}  // namespace fbg::kernels
