// Fields of instructions: ranges of numbers, lanes, and distances to labels.
#include "kernels/aarch64/encoder.h"

#include <stdexcept>
#include <string>

namespace fbg::kernels::aarch64 {

std::uint32_t field(const char* instruction, const char* operand, std::int64_t value,
                    std::int64_t least, std::int64_t most, std::int64_t step) {
  if (value < least || value > most || value % step != 0) {
    std::string wanted = std::to_string(least);
    if (most > least) wanted = "from " + wanted + " to " + std::to_string(most);
    if (step > 1) wanted = "a multiple of " + std::to_string(step) + " " + wanted;
    throw std::logic_error(std::string(instruction) + ": the " + operand + " must be " + wanted +
                           ", got " + std::to_string(value));
  }
  return static_cast<std::uint32_t>(value / step);
}

void Encoder::arithmetic(const char* name, std::uint32_t op, Register d, Register n,
                         int immediate) {
  two(op | field(name, "immediate", immediate, 0, 4095) << 10, d, n);
}

void Encoder::scaled(const char* name, std::uint32_t op, At at, int bytes) {
  dd(op | field(name, "offset", at.offset, 0, 4095 * bytes, bytes) << 10 | at.base.index << 5);
}

void Encoder::pair(const char* name, std::uint32_t op, DReg t, DReg t2, Base base,
                   std::int64_t offset) {
  const std::uint32_t scaled = field(name, "offset", offset, -512, 504, 8) & 0x7f;
  two(op | scaled << 15 | t2.index << 10, t, base);
}

// The number of the lane as 4 bits of its bytes: Q (bit 30), S (bit 12), size (bits 10 and 11).
void Encoder::one_lane(const char* name, std::uint32_t op, Register t, std::uint32_t lane, Post at,
                       int bytes) {
  field(name, "offset", at.offset, bytes, bytes);
  const auto size = static_cast<unsigned>(bytes);
  const std::uint32_t first_byte = lane * size;
  two(op | size / 2 << 14 | (first_byte >> 3) << 30 | (first_byte & 7) << 10, t, at.base);
}

void Encoder::by_half(const char* name, std::uint32_t op, Register d, Register n, Element<H8> m) {
  field(name, "register of the element", m.index, 0, 15);
  const std::uint32_t i = lane(name, m);
  three(op | (i & 3) << 20 | i >> 2 << 11, d, n, m);
}

void Encoder::align(std::size_t bytes) {
  constexpr std::uint32_t nop = 0xd503201f;
  while (words_.size() * sizeof(nop) % bytes != 0) dd(nop);
}

void Encoder::L(Label& label) {
  if (label.position_ != Label::kUnbound) throw std::logic_error("L: the label is bound already");
  label.position_ = words_.size();
  for (const Label::Use& use : label.uses_) reach(use, label.position_);
  waiting_ -= label.uses_.size();
}

void Encoder::refer(const char* name, std::uint32_t op, Distance distance, Label& label) {
  const Label::Use use{name, words_.size(), distance};
  dd(op);
  if (label.position_ != Label::kUnbound) return reach(use, label.position_);
  label.uses_.push_back(use);
  ++waiting_;
}

void Encoder::reach(const Label::Use& use, std::size_t target) {
  const auto words = static_cast<std::int64_t>(target) - static_cast<std::int64_t>(use.position);
  const auto bits = [&](int count, std::int64_t value, int unit) {
    const std::int64_t end = std::int64_t{unit} << (count - 1);
    return field(use.instruction, "distance of the label", value, -end, end - unit, unit) &
           ((1u << count) - 1);
  };
  std::uint32_t& word = words_[use.position];
  switch (use.distance) {
    case Distance::words26:
      word |= bits(26, 4 * words, 4);
      break;
    case Distance::words19:
      word |= bits(19, 4 * words, 4) << 5;
      break;
    case Distance::bytes21: {  // the lowest two bits are apart, in bits 29 and 30
      const std::uint32_t bytes = bits(21, 4 * words, 1);
      word |= bytes >> 2 << 5 | (bytes & 3) << 29;
      break;
    }
  }
}

std::vector<std::uint8_t> Encoder::code() const {
  if (waiting_ > 0)
    throw std::logic_error("code: every label that is used must be bound, got " +
                           std::to_string(waiting_) + " uses of labels that are not");
  std::vector<std::uint8_t> bytes;
  bytes.reserve(words_.size() * sizeof(words_[0]));
  for (const std::uint32_t word : words_)
    for (const int bit : {0, 8, 16, 24}) bytes.push_back(static_cast<std::uint8_t>(word >> bit));
  return bytes;
}

}  // namespace fbg::kernels::aarch64
