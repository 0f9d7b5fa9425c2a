// The microkernel, in reading order: registers by role, prologue, K loop, output pipeline.
//
//   for each block pair
//     for each k-group            A: rows x 4 bytes, broadcast      B: vectors of one k-group
//       acc[row][v] += dot(A[row], B[v])
//   for each row, vector          stages, store
//
// `dot_product` and the two loads are all that differs between families and instruction sets:
//
//   vnni        vpdpbusd: four u8 x s8 products into an int32 lane, no saturation in between
//   widen_int8  vpmaddwd on int16, even and odd k apart, A widened when it was packed: exact, as
//               2 * 255 * 128 fits easily where vpmaddubsw would saturate
//   maddubs     vpmaddubsw into int16 sums, which B was packed to have room for and which are
//               spilled to int32 in time
//   fma         vfmadd231ps; fma_f16: on weights that vcvtph2ps widens
//   dot_bf16    vdpbf16ps
//   widen_bf16  vfmadd231ps on bfloat16 widened to float, even and odd k apart; fma_bf16: the same
//               with A in float
#include "kernels/x64/gemm_generator.h"

#include <cstddef>

#include "kernels/x64/simd_assembler.h"
#include "kernels/x64/stage_emitters.h"

namespace fbg::kernels {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;
using Vec = SimdAssembler::Vec;

enum class Dot { vnni, widen_int8, maddubs, fma, fma_f16, dot_bf16, widen_bf16, fma_bf16 };

Dot choose_dot(Accumulator accumulator, Features f) {
  switch (accumulator) {
    case Accumulator::int32:
      return f & (feature::avx512_vnni | feature::avx_vnni) ? Dot::vnni : Dot::widen_int8;
    case Accumulator::int16:
      return f & (feature::avx512_vnni | feature::avx_vnni) ? Dot::vnni : Dot::maddubs;
    case Accumulator::bfloat16:
      return f & feature::avx512_bf16 ? Dot::dot_bf16 : Dot::widen_bf16;
    case Accumulator::float32_bf16:
      return Dot::fma_bf16;
    case Accumulator::float32_f16:
      return Dot::fma_f16;
    default:
      return Dot::fma;
  }
}

class GemmGenerator : public SimdAssembler {
 public:
  explicit GemmGenerator(const KernelKey& key)
      : SimdAssembler(key.isa),
        key_(key),
        rows_(key.rows),
        vectors_(key.vectors),
        dot_(choose_dot(key.accumulator, isa_features(key.isa))),
        splits_(dot_ == Dot::widen_bf16 || dot_ == Dot::fma_bf16),
        a_group_bytes_(dot_ == Dot::fma_bf16 || dot_ == Dot::widen_int8 ? 8 : 4),
        b_column_bytes_(dot_ == Dot::fma_f16 ? 2 : 4),
        chains_(choose_chains()),
        first_b_(rows_ * vectors_ * chains_),
        first_a_(first_b_ + vectors_ * (splits_ ? 2 : 1)) {}

  bool fits() const {
    if (key_.load_c && key_.accumulator == Accumulator::int16) return false;  // sums take its place
    return rows_ <= kMaxRows && first_a_ + a_registers() <= num_vectors() &&
           rows_ * vectors_ + 3 + (key_.masked && !is_zmm()) <= num_vectors();
  }

  void generate() {
    save_registers();
    initialize_accumulators();
    for_each_pair([this] {
      if (dot_ == Dot::maddubs)
        spilling_k_loop();
      else
        k_loop();
    });
    add_chains();
    if (key_.accumulator == Accumulator::int16) add_sums();
    run_pipeline();
    restore_registers();
    vzeroupper();
    ret();
    emit_data();
  }

 private:
  static constexpr int kUnroll = 4;
  static constexpr int kBaseRows = 7;  // rows reached from one base register
  static constexpr int kMaxRows = 14;

  // Registers by role (System V: rdi holds the arguments).
  const Reg64 args_ = rdi;
  const Reg64 a_[2] = {rsi, r11};
  const Reg64 b_ = rdx, groups_ = rcx;
  const Reg64 lda_ = r8, lda3_ = r9, lda5_ = r10;
  const Reg64 panel_ = rbx, panel3_ = rbp;  // bytes to the next panel, and three times that
  const Reg64 pair_ = r12, pairs_left_ = r13;
  const Reg64 c_ = r14, ldc_ = r15;
  const Reg64 scratch_ = rax;
  const Reg64 prefetch_ = rax;                  // in the K loop, where nothing else needs scratch
  const Reg64 sums_ = r14, groups_left_ = r15;  // where sums are spilled: C is not needed meanwhile

  // Few sums make chains that wait for vpdpbusd's latency. Integers may be added in any order, so
  // even and odd k-groups have chains of their own, where registers allow.
  int choose_chains() const {
    const int sums = rows_ * vectors_;
    return dot_ == Dot::vnni && sums <= 8 && 2 * sums + vectors_ + 1 <= num_vectors() ? 2 : 1;
  }

  Vec acc(int row, int v, int chain = 0) const { return vec((chain * rows_ + row) * vectors_ + v); }
  Vec b(int v, int half = 0) const { return vec(first_b_ + v * (splits_ ? 2 : 1) + half); }
  // The least that A needs: a broadcast, or two halves; and a product that has no fused addition.
  int a_registers() const { return splits_ || !fuses() ? 2 : 1; }
  bool fuses() const { return dot_ != Dot::widen_int8 && dot_ != Dot::maddubs; }
  int b_group_bytes() const { return kPanelColumns * b_column_bytes_; }

  Address arg(std::size_t offset) { return ptr[args_ + static_cast<int>(offset)]; }

  void save_registers() {
    for (const Reg64& r : {rbx, rbp, r12, r13, r14, r15}) push(r);
  }
  void restore_registers() {
    for (const Reg64& r : {r15, r14, r13, r12, rbp, rbx}) pop(r);
  }

  void load_c_registers() {
    mov(c_, arg(offsetof(TileArgs, c)));
    mov(ldc_, arg(offsetof(TileArgs, ldc)));
  }

  void initialize_accumulators() {
    load_c_registers();
    if (!key_.streams) fetch_c();
    for (int s = 0; s < key_.num_stages; ++s)
      if (key_.stages[s].kind == StageKind::add) fetch_operand(s);
    for (int chain = key_.load_c; chain < chains_; ++chain)
      for (int i = 0; i < rows_; ++i)
        for (int v = 0; v < vectors_; ++v) zero(acc(i, v, chain));
    if (key_.load_c) load_partial_sums();
  }

  // No column is partial while B is read (panels are padded): only here and where C is written a
  // mask is needed, and in between its register may hold a row of A.
  void load_partial_sums() {
    if (key_.masked) prepare_mask();
    mov(scratch_, arg(offsetof(TileArgs, partial)));
    for (int i = 0; i < rows_; ++i) {
      for (int v = 0; v < vectors_; ++v)
        load(acc(i, v), ptr[scratch_ + v * vector_bytes()], is_partial(v));
      if (i + 1 < rows_) add(scratch_, arg(offsetof(TileArgs, ldpartial)));
    }
  }

  // Brings the lines of C near, one more where rows are not aligned, to be written when the sums
  // are done: a store that misses would hold up the next tile.
  void fetch_c() {
    const int row_bytes = vectors_ * lanes() * static_cast<int>(value_size(key_.output()));
    mov(scratch_, c_);
    for (int i = 0; i < rows_; ++i) {
      for (int offset = 0; offset <= row_bytes; offset += 64) prefetchw(ptr[scratch_ + offset]);
      if (i + 1 < rows_) add(scratch_, ldc_);
    }
  }

  // The same for the matrix that a stage adds.
  void fetch_operand(int stage) {
    const Reg64 &row = rbx, &ld = rdx, &stages = rcx;  // not in use before the K loop
    const int size = static_cast<int>(value_size(key_.stages[stage].operand));
    const auto field = [&](std::size_t offset) {
      return ptr[stages + static_cast<int>(stage * sizeof(StageArgs) + offset)];
    };
    mov(stages, arg(offsetof(TileArgs, stages)));
    mov(ld, field(offsetof(StageArgs, ld)));
    mov(row, arg(offsetof(TileArgs, row)));
    imul(row, ld);
    add(row, field(offsetof(StageArgs, data)));
    mov(scratch_, arg(offsetof(TileArgs, col)));
    lea(row, ptr[row + scratch_ * size]);
    for (int i = 0; i < rows_; ++i) {
      for (int offset = 0; offset <= vectors_ * lanes() * size; offset += 64)
        prefetcht0(ptr[row + offset]);
      if (i + 1 < rows_) add(row, ld);
    }
  }

  void add_chains() {
    if (chains_ == 1) return;
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) vpaddd(acc(i, v), acc(i, v), acc(i, v, 1));
  }

  bool is_partial(int v) const { return key_.masked && v == vectors_ - 1; }

  void prepare_mask() {
    mov(groups_, arg(offsetof(TileArgs, columns)));
    sub(groups_, (vectors_ - 1) * lanes());
    set_mask(groups_, scratch_, num_vectors() - 1);
  }

  template <class F>
  void for_each_pair(F body) {
    Xbyak::Label next, done;
    mov(pair_, arg(offsetof(TileArgs, pairs)));
    mov(pairs_left_, arg(offsetof(TileArgs, num_pairs)));
    mov(prefetch_, arg(offsetof(TileArgs, prefetch)));
    L(next);
    test(pairs_left_, pairs_left_);
    jz(done, T_NEAR);
    const auto field = [&](std::size_t offset) { return ptr[pair_ + static_cast<int>(offset)]; };
    mov(a_[0], field(offsetof(BlockPair, a)));
    mov(lda_, field(offsetof(BlockPair, lda)));
    mov(b_, field(offsetof(BlockPair, b)));
    mov(panel_, field(offsetof(BlockPair, b_panel_stride)));
    mov(groups_, field(offsetof(BlockPair, groups)));
    lea(lda3_, ptr[lda_ + lda_ * 2]);
    lea(lda5_, ptr[lda_ + lda_ * 4]);
    if (rows_ > kBaseRows) {
      lea(a_[1], ptr[a_[0] + lda5_]);
      lea(a_[1], ptr[a_[1] + lda_ * 2]);
    }
    lea(panel3_, ptr[panel_ + panel_ * 2]);
    body();
    add(pair_, static_cast<int>(sizeof(BlockPair)));
    dec(pairs_left_);
    jmp(next, T_NEAR);
    L(done);
  }

  void k_loop() {
    Xbyak::Label unrolled, single, done;
    cmp(groups_, kUnroll);
    jl(single, T_NEAR);
    L(unrolled);
    for (int u = 0; u < kUnroll; ++u) k_group(u);
    advance(kUnroll);
    sub(groups_, kUnroll);
    cmp(groups_, kUnroll);
    jge(unrolled, T_NEAR);
    L(single);
    test(groups_, groups_);
    jz(done, T_NEAR);
    Xbyak::Label rest;
    L(rest);
    k_group(0);
    advance(1);
    dec(groups_);
    jnz(rest, T_NEAR);
    L(done);
  }

  // Pieces of at most spill_groups k-groups; what an earlier piece left is spilled before the next.
  void spilling_k_loop() {
    Xbyak::Label piece, fits, first, done;
    mov(sums_, arg(offsetof(TileArgs, partial)));
    mov(groups_left_, groups_);
    L(piece);
    test(groups_left_, groups_left_);
    jz(done, T_NEAR);
    // The very first piece finds nothing to spill: the whole of the first pair is still to come.
    cmp(pair_, arg(offsetof(TileArgs, pairs)));
    jne(fits, T_NEAR);
    cmp(groups_left_, ptr[pair_ + static_cast<int>(offsetof(BlockPair, groups))]);
    je(first, T_NEAR);
    L(fits);
    spill();
    L(first);
    mov(groups_, groups_left_);
    cmp(groups_, arg(offsetof(TileArgs, spill_groups)));
    cmovg(groups_, arg(offsetof(TileArgs, spill_groups)));
    sub(groups_left_, groups_);
    k_loop();
    jmp(piece, T_NEAR);
    L(done);
  }

  Address sum_address(int row, int v) { return ptr[sums_ + (row * vectors_ + v) * vector_bytes()]; }

  // sums += accumulators, which start again: pairs of int16 lanes belong to one column.
  void spill() {
    load_ones();
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) {
        widen_sum(acc(i, v));
        vpaddd(acc(i, v), acc(i, v), sum_address(i, v));
        vmovups(sum_address(i, v), acc(i, v));
        zero(acc(i, v));
      }
  }

  void load_ones() { load_constant(vec(first_b_), 0x00010001u); }
  void widen_sum(const Vec& sum) { vpmaddwd(sum, sum, vec(first_b_)); }

  // What the accumulators hold becomes int32 and takes up the sums in memory.
  void add_sums() {
    if (dot_ == Dot::maddubs) {
      load_ones();
      for (int i = 0; i < rows_; ++i)
        for (int v = 0; v < vectors_; ++v) widen_sum(acc(i, v));
    }
    Xbyak::Label none;
    mov(sums_, arg(offsetof(TileArgs, partial)));
    test(sums_, sums_);
    jz(none, T_NEAR);
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) vpaddd(acc(i, v), acc(i, v), sum_address(i, v));
    L(none);
  }

  void advance(int groups) {
    add(a_[0], groups * a_group_bytes_);
    if (rows_ > kBaseRows) add(a_[1], groups * a_group_bytes_);
    add(b_, groups * b_group_bytes());
    if (groups > 1) add(prefetch_, groups / 2 * 64);
  }

  void k_group(int u) {
    fetch_b(u * b_group_bytes());
    // Not where rows are so few that no other tile shares their panel.
    if (u % 2 == 0 && chains_ == 1) prefetcht1(ptr[prefetch_ + u / 2 * 64]);
    if (dot_ == Dot::widen_int8) {  // even k, then odd k: half of the registers for B
      for (const int odd : {0, 1}) {
        for (int v = 0; v < vectors_; ++v)
          load_widened(b(v), b_address(v, u * b_group_bytes()), odd);
        multiply_rows(u * a_group_bytes_ + 4 * odd);
      }
      return;
    }
    for (int v = 0; v < vectors_; ++v) load_b(v, u * b_group_bytes());
    multiply_rows(u * a_group_bytes_, u % chains_);
  }

  void multiply_rows(int a_offset, int chain = 0) {
    for (int i = 0; i < rows_; ++i) {
      broadcast_a(i, a_offset);
      for (int v = 0; v < vectors_; ++v) dot_product(acc(i, v, chain), i, v);
    }
  }

  // Brings the lines of B that are due later into the L1, of this panel or of the one that follows
  // it in memory: so far ahead that DRAM is in time, and no further, lest they displace each other.
  // Four panels at a time come as fast without.
  void fetch_b(int offset) {
    const int columns = vectors_ * lanes();
    if (columns > 2 * kPanelColumns) return;
    const int ahead = columns > kPanelColumns ? 8 << 10 : 12 << 10;
    for (int v = 0; v < vectors_; ++v)
      if (v * lanes() * b_column_bytes_ % 64 == 0) prefetcht0(b_address(v, offset + ahead));
  }

  // Every second byte as int16.
  void load_widened(const Vec& to, const Address& from, int odd) {
    if (odd) {
      vmovups(to, from);
      vpsraw(to, to, 8);
    } else {  // 1 * even + 0 * odd, in one instruction where shifts take two
      load_constant(to, 0x00010001u);
      vpmaddubsw(to, to, from);
    }
  }

  // Vector v of the tile lies in panel v * lanes / 32; the tile's panels are one stride apart.
  Address b_address(int v, int offset) {
    const int column = v * lanes(), disp = column % kPanelColumns * b_column_bytes_ + offset;
    switch (column / kPanelColumns) {
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

  // Bases at row 0 and row 7; lda times 1, 2, 3, 4, 5, 6 by scaled addressing.
  Address a_address(int row, int offset) {
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

  void load_b(int v, int offset) {
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

  // Pairs of bfloat16 in `odd` become two vectors of float: the low halves and the high halves.
  void split_bf16(const Vec& even, const Vec& odd) {
    vpslld(even, odd, 16);
    bit_and(odd, odd, constant(0xffff0000u));
  }

  // Which register holds the broadcast of a row: two in turn where there is room.
  Vec a(int row) const {
    if (splits_) return vec(first_a_);
    return vec(first_a_ + (first_a_ + a_registers() < num_vectors() ? row % 2 : 0));
  }
  Vec product() const { return vec(num_vectors() - 1); }

  void broadcast_a(int row, int offset) {
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

  void dot_product(const Vec& sum, int row, int v) {
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

  // Whatever the K loop kept in registers, but for C, is free by now.
  StageOperands load_operands() {
    const StageOperands operands{rbx, r8, r9, r10, r11, r12, r13};
    mov(operands.stages, arg(offsetof(TileArgs, stages)));
    mov(operands.a_scale, arg(offsetof(TileArgs, a_scale)));
    mov(operands.a_zero_point, arg(offsetof(TileArgs, a_zero_point)));
    mov(operands.row_terms, arg(offsetof(TileArgs, row_terms)));
    mov(operands.b_scale, arg(offsetof(TileArgs, b_scale)));
    mov(operands.b_zero_point, arg(offsetof(TileArgs, b_zero_point)));
    mov(operands.col_offsets, arg(offsetof(TileArgs, col_offsets)));
    return operands;
  }

  void run_pipeline() {
    if (key_.accumulator == Accumulator::int16) load_c_registers();
    if (key_.masked) prepare_mask();
    const int first_free = rows_ * vectors_;
    StageContext ctx{args_,
                     load_operands(),
                     scratch_,
                     rsi,
                     rdx,
                     {first_free, first_free + 1, first_free + 2},
                     0,
                     0,
                     false,
                     key_.streams,
                     key_.correct_a,
                     key_.correct_b};
    int spare = first_free + static_cast<int>(ctx.temps.size());
    for (int s = 0; s < key_.num_stages; ++s)
      spare = emit_kept_tables(*this, key_.stages[s], spare, num_vectors());
    for (int i = 0; i < rows_; ++i) {
      ctx.row = i;
      for (int v = 0; v < vectors_; ++v) {
        ctx.column_bytes = v * vector_bytes();
        ctx.masked = is_partial(v);
        for (int s = 0; s < key_.num_stages; ++s)
          emit_stage(*this, key_.stages[s], s, acc(i, v), ctx);
        emit_store(*this, key_.output(), c_, v * lanes(), acc(i, v), ctx);
      }
      const int last = key_.num_stages - 1;
      if (last >= 0 && key_.stages[last].kind == StageKind::row_range)
        emit_row_range(*this, last, i * vectors_, vectors_, ctx);
      if (i + 1 < rows_) add(c_, ldc_);
    }
  }

  const KernelKey key_;
  const int rows_, vectors_;
  const Dot dot_;
  const bool splits_;  // a k-group is computed in two halves
  const int a_group_bytes_, b_column_bytes_;
  const int chains_;  // of sums over k, added up at the end
  const int first_b_, first_a_;
};

}  // namespace

std::vector<std::uint8_t> generate_gemm(const KernelKey& key) {
  GemmGenerator generator(key);
  if (!generator.fits()) return {};
  generator.generate();
  generator.ready();
  return {generator.getCode(), generator.getCode() + generator.getSize()};
}

}  // namespace fbg::kernels
