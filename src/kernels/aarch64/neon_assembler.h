// The assembler of AArch64 with what the generators of this folder share: broadcast constants and
// tables behind the code, and partial vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <map>

#include "kernels/aarch64/encoder.h"

namespace fbg::kernels {

class NeonAssembler : public aarch64::Encoder {
 public:
  using Vec = aarch64::Vec;
  using XReg = aarch64::XReg;
  using WReg = aarch64::WReg;
  using Label = aarch64::Label;
  using Table = float[16];

  static constexpr int kLanes = 4, kVectorBytes = 16, kVectors = 32;

  static Vec vec(int index) { return Vec(index); }

  // The lower halves of v8 to v15, which belong to the caller, on the stack.
  void save_registers();
  void restore_registers();

  void zero(const Vec& v) { movi(v.d2, 0); }
  void copy(const Vec& to, const Vec& from) { mov(to.b16, from.b16); }

  // A 32-bit constant in every lane.
  void load_constant(const Vec& v, std::uint32_t bits) { ldr(v.q, constants_[bits]); }
  void load_constant(const Vec& v, float value) {
    load_constant(v, std::bit_cast<std::uint32_t>(value));
  }
  // 0, 1, 2, 3 in the lanes.
  void load_lane_numbers(const Vec& v) {
    ldr(v.q, lane_numbers_);
    uses_lane_numbers_ = true;
  }
  void table_address(const XReg& to, const Table& values) { adr(to, tables_[&values]); }

  // The first `count` elements of `size` bytes at `from`, 1 to 3; lanes behind them have any value.
  // The pointer moves.
  void load_partial(const Vec& v, const XReg& from, int size, const XReg& count);
  void store_partial(const XReg& to, const Vec& v, int size, const XReg& count);

  // Constants and tables, after the last instruction.
  void emit_data();

 private:
  std::map<std::uint32_t, Label> constants_;
  std::map<const Table*, Label> tables_;
  Label lane_numbers_;
  bool uses_lane_numbers_ = false;
};

}  // namespace fbg::kernels
