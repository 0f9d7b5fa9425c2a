// The assembler of AArch64 with what the generators of this folder share: broadcast constants and
// tables behind the code, partial vectors, and instructions that xbyak_aarch64 does not know.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "xbyak_aarch64.h"

namespace fbg::kernels {

namespace neon_assembler_detail {

// Code is written to memory of its own and copied to pages that are executable: see
// kernels/code.h. A base class, because it must exist before the assembler.
struct CodeBuffer {
  static constexpr std::size_t kBytes = 128 << 10;
  std::unique_ptr<std::uint32_t[]> words{new std::uint32_t[kBytes / 4]};
};

}  // namespace neon_assembler_detail

class NeonAssembler : private neon_assembler_detail::CodeBuffer,
                      public Xbyak_aarch64::CodeGenerator {
 public:
  using Vec = Xbyak_aarch64::VReg;
  using XReg = Xbyak_aarch64::XReg;
  using WReg = Xbyak_aarch64::WReg;
  using Label = Xbyak_aarch64::Label;
  using Table = float[16];

  static constexpr int kLanes = 4, kVectorBytes = 16, kVectors = 32;

  NeonAssembler() : CodeGenerator(kBytes, words.get()) {}

  static Vec vec(int index) { return Vec(static_cast<std::uint32_t>(index)); }
  // The same register as a scalar of 8 to 128 bits.
  static Xbyak_aarch64::BReg byte(const Vec& v) { return Xbyak_aarch64::BReg(v.getIdx()); }
  static Xbyak_aarch64::HReg half(const Vec& v) { return Xbyak_aarch64::HReg(v.getIdx()); }
  static Xbyak_aarch64::SReg single(const Vec& v) { return Xbyak_aarch64::SReg(v.getIdx()); }
  static Xbyak_aarch64::DReg dword(const Vec& v) { return Xbyak_aarch64::DReg(v.getIdx()); }
  static Xbyak_aarch64::QReg quad(const Vec& v) { return Xbyak_aarch64::QReg(v.getIdx()); }

  // An address at a multiple of the size of what is there.
  static Xbyak_aarch64::AdrUimm at(const XReg& base, std::size_t offset) {
    return Xbyak_aarch64::ptr(base, static_cast<std::uint32_t>(offset));
  }
  static Xbyak_aarch64::AdrNoOfs at(const XReg& base) { return Xbyak_aarch64::ptr(base); }

  void zero(const Vec& v) { movi(v.d2, 0); }
  void copy(const Vec& to, const Vec& from) { mov(to.b16, from.b16); }

  // A 32-bit constant in every lane.
  void load_constant(const Vec& v, std::uint32_t bits) { ldr(quad(v), constants_[bits]); }
  void load_constant(const Vec& v, float value) {
    load_constant(v, std::bit_cast<std::uint32_t>(value));
  }
  // 0, 1, 2, 3 in the lanes.
  void load_lane_numbers(const Vec& v) {
    ldr(quad(v), lane_numbers_);
    uses_lane_numbers_ = true;
  }
  void table_address(const XReg& to, const Table& values) { adr(to, tables_[&values]); }

  // The first `count` elements of `size` bytes at `from`, 1 to 3; lanes behind them have any value.
  // The pointer moves.
  void load_partial(const Vec& v, const XReg& from, int size, const XReg& count);
  void store_partial(const XReg& to, const Vec& v, int size, const XReg& count);

  // sum += B . A, four products of bytes for each lane, or two of bfloat16: lane `group` of A by
  // all lanes of B.
  void sdot_lane(const Vec& sum, const Vec& b, const Vec& a, int group) {
    dd(by_element(0x4f80e000, sum, b, a, group));
  }
  void sudot_lane(const Vec& sum, const Vec& b, const Vec& a, int group) {
    dd(by_element(0x4f00f000, sum, b, a, group));
  }
  void bfdot_lane(const Vec& sum, const Vec& b, const Vec& a, int group) {
    dd(by_element(0x4f40f000, sum, b, a, group));
  }
  // sum[2 i + j] += the eight products of half i of A (unsigned bytes) and half j of B (signed), or
  // four products of bfloat16.
  void usmmla(const Vec& sum, const Vec& a, const Vec& b) { dd(three(0x4e80ac00, sum, a, b)); }
  void bfmmla(const Vec& sum, const Vec& a, const Vec& b) { dd(three(0x6e40ec00, sum, a, b)); }
  // sum += the products of bytes of the same lane.
  void sdot_lanes(const Vec& sum, const Vec& a, const Vec& b) { dd(three(0x4e809400, sum, a, b)); }

  // Constants and tables, after the last instruction.
  void emit_data();
  // What was generated, when it is complete. ready() would make the buffer executable instead.
  std::vector<std::uint8_t> code() {
    if (hasUndefinedLabel()) throw Xbyak_aarch64::Error(Xbyak_aarch64::ERR_LABEL_IS_NOT_FOUND);
    return {getCode(), getCode() + getSize()};
  }

 private:
  static std::uint32_t three(std::uint32_t op, const Vec& d, const Vec& n, const Vec& m) {
    return op | m.getIdx() << 16 | n.getIdx() << 5 | d.getIdx();
  }
  static std::uint32_t by_element(std::uint32_t op, const Vec& d, const Vec& n, const Vec& m,
                                  int lane) {
    const auto i = static_cast<std::uint32_t>(lane);
    return three(op, d, n, m) | (i & 1) << 21 | (i >> 1) << 11;
  }

  std::map<std::uint32_t, Label> constants_;
  std::map<const Table*, Label> tables_;
  Label lane_numbers_;
  bool uses_lane_numbers_ = false;
};

}  // namespace fbg::kernels
