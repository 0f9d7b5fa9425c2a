// A GEMM microkernel from its first to its last instruction, and what happens before the K loop.
#include <algorithm>

#include "kernels/x64/epilogue.h"
#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {

GemmCode::GemmCode(Dot dot, const GemmFamily& family, const KernelKey& key)
    : SimdAssembler(family.vectors.lanes, isa_features(key.isa)),
      sums_(key.a == ARows::pointers ? rax : r14),
      key_(key),
      rows_(key.rows),
      vectors_(key.vectors),
      dot_(dot),
      products_((key.vectors + product_vectors() - 1) / product_vectors()),
      splits_(dot == Dot::fma_bf16 && is_zmm()),
      a_group_bytes_(static_cast<int>(family.format.a_group())),
      b_column_bytes_(static_cast<int>(family.format.b_column_group())),
      b_group_bytes_(static_cast<int>(family.format.b_group())),
      panel_columns_(family.format.panel_columns),
      accumulators_(family.summing == Summing::two_accumulators ? choose_accumulators() : 1),
      first_b_(rows_ * products_ * accumulators_),
      first_a_(first_b_ + products_ * (splits_          ? 2
                                       : pairs_groups() ? 0
                                                        : 1)) {}

// Where a tile has few sums, each multiply-add waits for the one before it. Integers may be added
// in any order, so that even and odd k-groups have accumulators of their own where registers allow.
int GemmCode::choose_accumulators() const {
  if (halves()) return 2;  // of any tile, as floats are not added in any order
  const int sums = rows_ * vectors_;
  // Widening 4-bit weights takes the place of some of them.
  const int few = dot_ == Dot::nibbles ? 7 : 8;
  return sums <= few && 2 * sums + vectors_ + 1 + reserved() <= num_vectors() ? 2 : 1;
}

bool GemmCode::fits() const {
  if (goes_on(key_.sums) && key_.gemm_type == GemmType::int16) return false;  // sums take its place
  if (keeps_sums() && reads_pointers()) return false;
  if (reads_pointers() && rows_ > (spans_panels() ? 10 : 12)) return false;  // row_end_
  return rows_ <= kMaxRows && first_a_ + a_registers() + reserved() <= num_vectors() &&
         rows_ * vectors_ + 3 + (key_.masked && !is_zmm()) <= num_vectors();
}

void GemmCode::generate() {
  save_registers();
  initialize_accumulators();
  if (keeps_sums()) start_sums();
  if (nibbles()) start_nibbles();
  if (pairs_groups()) load_ones(vec(num_vectors() - 1));
  if (reads_pointers())
    for_each_indirect_pair();
  else
    for_each_pair();
  if (keeps_sums())
    load_sums();
  else
    add_accumulators();
  if (nibbles() && completes(key_.sums)) finish_nibbles();
  if (key_.gemm_type == GemmType::int16) add_sums();
  run_pipeline();
  restore_registers();
  vzeroupper();
  ret();
  emit_data();
}

void GemmCode::save_registers() {
  for (const Reg64& r : {rbx, rbp, r12, r13, r14, r15}) push(r);
}

void GemmCode::restore_registers() {
  for (const Reg64& r : {r15, r14, r13, r12, rbp, rbx}) pop(r);
}

void GemmCode::load_c_registers() {
  mov(c_, arg(offsetof(TileArgs, c)));
  mov(ldc_, arg(offsetof(TileArgs, ldc)));
}

void GemmCode::initialize_accumulators() {
  load_c_registers();
  fetch_epilogue();
  const int accumulators = halves() ? 1 : accumulators_;
  for (int accumulator = goes_on(key_.sums); accumulator < accumulators; ++accumulator)
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) zero(acc(i, v, accumulator));
  if (goes_on(key_.sums)) load_partial_sums();
  if (starts_corrected()) subtract_column_offsets();
}

// Integers may be added in any order: one subtraction for a column, and copies of registers, take
// the place of one for each sum. Stages before the correction only add biases.
bool GemmCode::starts_corrected() const {
  return key_.folds() && !goes_on(key_.sums) && key_.gemm_type == GemmType::int32;
}

void GemmCode::subtract_column_offsets() {
  mov(scratch_, arg(offsetof(TileArgs, col_offsets)));
  for (int v = 0; v < vectors_; ++v)
    vpsubd(acc(0, v), acc(0, v), ptr[scratch_ + v * vector_bytes()]);
  for (int i = 1; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) vmovups(acc(i, v), acc(0, v));
}

// Panels are padded, so that no column is partial while B is read. A mask is needed only here and
// where C is written; in between its register may hold a row of A.
void GemmCode::load_partial_sums() {
  if (key_.masked) prepare_mask();
  mov(scratch_, arg(offsetof(TileArgs, partial)));
  for (int i = 0; i < rows_; ++i) {
    for (int v = 0; v < vectors_; ++v)
      load(acc(i, v), ptr[scratch_ + v * vector_bytes()], is_partial(v));
    if (i + 1 < rows_) add(scratch_, arg(offsetof(TileArgs, ldpartial)));
  }
}

// Brings what the epilogue reads and writes into the L1 meanwhile: a load or store that misses it
// would delay the next tile. Where the product is deep enough, the K loop does so.
void GemmCode::fetch_epilogue() {
  if (streams() && added_stages() == 0) return;
  Xbyak::Label shallow, done;
  if (fetches_in_k_loop()) {
    mov(scratch_, arg(offsetof(TileArgs, pairs)));
    jump_if_shallow(qword[scratch_ + static_cast<int>(offsetof(BlockPair, groups))], shallow);
    if (added_stages() > 0) find_operand(first_added_stage());
    jmp(done, T_NEAR);
    L(shallow);
  }
  if (!streams()) {
    mov(scratch_, c_);
    fetch_rows(scratch_, ldc_, value_size(key_.output()), /*writes=*/true);
  }
  for (int s = 0; s < key_.num_stages; ++s)
    if (reads_matrix(key_.stages[s])) {
      find_operand(s);
      fetch_rows(operand_, operand_ld_, value_size(key_.stages[s].operand), /*writes=*/false);
    }
  L(done);
}

// The rows of a tile of C, or of an operand of its size, from `row` on, which moves on.
void GemmCode::fetch_rows(const Reg64& row, const Reg64& ld, std::int64_t size, bool writes) {
  for (int i = 0; i < rows_; ++i) {
    fetch_row(row, size, writes);
    if (i + 1 < rows_) add(row, ld);
  }
}

// One line more than a row has bytes, as rows may not be aligned.
void GemmCode::fetch_row(const Reg64& row, std::int64_t size, bool writes) {
  for (int offset = 0; offset <= vectors_ * lanes() * size; offset += 64)
    if (writes)
      prefetchw(ptr[row + offset]);
    else
      prefetcht0(ptr[row + offset]);
}

// Row 0 of the tile in the matrix that a stage adds.
void GemmCode::find_operand(int stage) {
  const Reg64& stages = rcx;  // not in use before the K loop
  const int size = static_cast<int>(value_size(key_.stages[stage].operand));
  const auto field = [&](std::size_t offset) {
    return ptr[stages + static_cast<int>(stage * sizeof(StageArgs) + offset)];
  };
  mov(stages, arg(offsetof(TileArgs, stages)));
  mov(operand_ld_, field(offsetof(StageArgs, ld)));
  mov(operand_, arg(offsetof(TileArgs, row)));
  imul(operand_, operand_ld_);
  add(operand_, field(offsetof(StageArgs, data)));
  mov(scratch_, arg(offsetof(TileArgs, col)));
  lea(operand_, ptr[operand_ + scratch_ * size]);
}

int GemmCode::added_stages() const {
  return static_cast<int>(std::ranges::count_if(
      key_.pipeline(), [](const StageCode& code) { return reads_matrix(code); }));
}

int GemmCode::first_added_stage() const {
  int s = 0;
  while (!reads_matrix(key_.stages[s])) ++s;
  return s;
}

void GemmCode::prepare_mask() {
  mov(groups_, arg(offsetof(TileArgs, columns)));
  sub(groups_, (vectors_ - 1) * lanes());
  set_mask(groups_, scratch_, num_vectors() - 1);
}

// All registers of the K loop except those of C are free by now.
void GemmCode::run_pipeline() {
  if (key_.gemm_type == GemmType::int16 || reads_pointers() || keeps_sums() || fetches_in_k_loop())
    load_c_registers();
  if (key_.masked) prepare_mask();
  emit_epilogue(*this, key_, {args_, c_, ldc_, starts_corrected()});
}

std::vector<std::uint8_t> generate_gemm(Dot dot, const GemmFamily& family, const KernelKey& key) {
  GemmCode code(dot, family, key);
  if (key.row_mask || key.a == ARows::interleaved || !code.fits()) return {};
  code.generate();
  return code.code();
}

}  // namespace fbg::kernels
