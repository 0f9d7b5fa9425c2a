// Registers of the caller, partial vectors, and what lies behind the code.
#include "kernels/aarch64/neon_assembler.h"

namespace fbg::kernels {

using aarch64::sp;

void NeonAssembler::save_registers() {
  stp(vec(8).d, vec(9).d, pre_ptr(sp, -64));
  for (const int i : {10, 12, 14}) stp(vec(i).d, vec(i + 1).d, at(sp, 8 * (i - 8)));
}

void NeonAssembler::restore_registers() {
  for (const int i : {14, 12, 10}) ldp(vec(i).d, vec(i + 1).d, at(sp, 8 * (i - 8)));
  ldp(vec(8).d, vec(9).d, post_ptr(sp, 64));
}

void NeonAssembler::load_partial(const Vec& v, const XReg& from, int size, const XReg& count) {
  Label done;
  const auto load_first = [&] {
    if (size == 4) return ldr(v.s, post_ptr(from, size));
    if (size == 2) return ldr(v.h, post_ptr(from, size));
    ldr(v.b, post_ptr(from, size));
  };
  const auto load_lane = [&](int lane) {
    if (size == 4) return ld1(v.s4[lane], post_ptr(from, size));
    if (size == 2) return ld1(v.h8[lane], post_ptr(from, size));
    ld1(v.b16[lane], post_ptr(from, size));
  };
  load_first();
  cmp(count, 2);
  b(LT, done);
  load_lane(1);
  b(EQ, done);
  load_lane(2);
  L(done);
}

void NeonAssembler::store_partial(const XReg& to, const Vec& v, int size, const XReg& count) {
  Label done;
  const auto store_lane = [&](int lane) {
    if (size == 4) return st1(v.s4[lane], post_ptr(to, size));
    if (size == 2) return st1(v.h8[lane], post_ptr(to, size));
    st1(v.b16[lane], post_ptr(to, size));
  };
  store_lane(0);
  cmp(count, 2);
  b(LT, done);
  store_lane(1);
  b(EQ, done);
  store_lane(2);
  L(done);
}

void NeonAssembler::emit_data() {
  align(16);
  for (auto& [bits, label] : constants_) {
    L(label);
    for (int i = 0; i < kLanes; ++i) dd(bits);
  }
  for (auto& [values, label] : tables_) {
    L(label);
    for (const float value : *values) dd(std::bit_cast<std::uint32_t>(value));
  }
  if (!uses_lane_numbers_) return;
  L(lane_numbers_);
  for (std::uint32_t i = 0; i < kLanes; ++i) dd(i);
}

}  // namespace fbg::kernels
