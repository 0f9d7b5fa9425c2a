// The table of forms, and how operands of each type are drawn and written.
#include "kernels/aarch64_forms.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/aarch64/encoder.h"

namespace fbg::test {
namespace {

using namespace kernels::aarch64;

// The numbers of an operand, and what stands before them in text.
struct Range {
  std::int64_t least, most, step = 1;
  const char* prefix = "#";
};

// Draws the operands of one instruction, in order.
class Draws {
 public:
  Draws(Random& random, std::string mnemonic, const std::vector<Range>& ranges, Wrong* wrong)
      : mnemonic_(std::move(mnemonic)), random_(random), ranges_(ranges), wrong_(wrong) {}

  std::string text() const { return mnemonic_ + (operands_.empty() ? "" : " " + operands_); }
  // The distance of a label, in instructions.
  std::int64_t distance() const { return distance_; }

  template <class T>
  T operand() {
    return draw(std::type_identity<T>());
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_()) % end; }

  // The ends are frequent.
  std::int64_t number(const Range& range) {
    if (wrong_ && wrong_->number == numbers_++) {
      wrong_->happened = wrong_->way != Wrong::between_steps || range.step > 1;
      if (wrong_->way == Wrong::below) return wrong_->value = range.least - range.step;
      if (wrong_->way == Wrong::above) return wrong_->value = range.most + range.step;
      if (range.step > 1) return wrong_->value = range.least + 1;
    }
    const auto count = static_cast<std::uint32_t>((range.most - range.least) / range.step + 1);
    const std::uint32_t which = below(8);
    const std::uint32_t steps = which == 0 ? 0 : which == 1 ? count - 1 : below(count);
    return range.least + steps * range.step;
  }
  int next_number() { return static_cast<int>(number(next_range())); }
  const Range& next_range() { return ranges_.at(used_++); }

  void write(const std::string& operand) {
    if (!operands_.empty()) operands_ += ", ";
    operands_ += operand;
  }
  template <class T>
  T written(const T& operand, const std::string& text) {
    write(text);
    return operand;
  }

  static std::string named(char kind, std::uint32_t index) {
    return std::string(1, kind).append(std::to_string(index));
  }
  XReg draw(std::type_identity<XReg>) {
    const XReg x(static_cast<int>(below(31)));
    return written(x, named('x', x.index));
  }
  WReg draw(std::type_identity<WReg>) {
    const WReg w(static_cast<int>(below(31)));
    return written(w, named('w', w.index));
  }
  template <int log_bytes>
  Scalar<log_bytes> draw(std::type_identity<Scalar<log_bytes>>) {
    const std::uint32_t index = below(32);
    return written(Scalar<log_bytes>{{index}}, named("bhsdq"[log_bytes], index));
  }
  template <int log_bytes, int count>
  static std::string lanes(std::uint32_t index, std::type_identity<Lanes<log_bytes, count>>) {
    return named('v', index) + "." + std::to_string(count) + "bhsd"[log_bytes];
  }
  template <int log_bytes, int count>
  Lanes<log_bytes, count> draw(std::type_identity<Lanes<log_bytes, count>> type) {
    const std::uint32_t index = below(32);
    return written(Lanes<log_bytes, count>{{index}}, lanes(index, type));
  }
  template <int log_bytes, int count>
  Element<Lanes<log_bytes, count>> draw(std::type_identity<Element<Lanes<log_bytes, count>>>) {
    using View = Lanes<log_bytes, count>;
    const bool products_of_halves = mnemonic_.starts_with("smlal");
    const View view{{below(products_of_halves ? 16 : 32)}};
    const int lane = static_cast<int>(number({0, View::kElements - 1}));
    const bool list = mnemonic_ == "ld1" || mnemonic_ == "st1";
    std::string name = list ? "{" : "";
    name += named('v', view.index) + ".";
    if (count * View::kBytes == 4) name += std::to_string(count);
    name += "bhsd"[log_bytes];
    if (list) name += "}";
    return written(view[lane], name + "[" + std::to_string(lane) + "]");
  }
  FourB16 draw(std::type_identity<FourB16>) {
    const std::uint32_t first = below(32), last = (first + 3) % 32;
    std::string list;
    for (std::uint32_t i = first; i < first + 4; ++i)
      list += (i > first ? ", " : "{") + lanes(i % 32, std::type_identity<B16>());
    return written(B16{{first}} - B16{{last}}, list + "}");
  }

  std::pair<Base, std::string> base() {
    const std::uint32_t index = below(32);
    if (index == 31) return {sp, "sp"};
    return {XReg(static_cast<int>(index)), named('x', index)};
  }
  Base draw(std::type_identity<Base>) {
    const auto [at, name] = base();
    return written(at, "[" + name + "]");
  }
  template <class Address>
  Address address(const char* before, const char* behind) {
    const auto [at, name] = base();
    const int offset = next_number();
    return written(Address{at, offset}, "[" + name + before + std::to_string(offset) + behind);
  }
  At draw(std::type_identity<At>) { return address<At>(", #", "]"); }
  Pre draw(std::type_identity<Pre>) { return address<Pre>(", #", "]!"); }
  Post draw(std::type_identity<Post>) { return address<Post>("], #", ""); }

  int draw(std::type_identity<int>) {
    const char* const prefix = next_range().prefix;
    --used_;
    const int value = next_number();
    return written(value, prefix + std::to_string(value));
  }
  Encoder::Condition draw(std::type_identity<Encoder::Condition>) {
    constexpr std::pair<Encoder::Condition, const char*> conditions[] = {
        {Encoder::EQ, ".eq"}, {Encoder::NE, ".ne"}, {Encoder::HS, ".hs"},
        {Encoder::GE, ".ge"}, {Encoder::LT, ".lt"}, {Encoder::GT, ".gt"}};
    const auto& [condition, name] = conditions[below(std::size(conditions))];
    mnemonic_ += name;
    return condition;
  }
  Encoder::Prefetch draw(std::type_identity<Encoder::Prefetch>) {
    return below(2) ? written(Encoder::PLDL1KEEP, "pldl1keep")
                    : written(Encoder::PLDL2KEEP, "pldl2keep");
  }
  // Draw the distance of a label in instructions. Short distances are as frequent as long ones, and
  // none takes longer than a moment to fill.
  Label& draw(std::type_identity<Label&>) {
    Range range = next_range();
    const std::int64_t most = std::int64_t{1} << below(19);
    if (!wrong_ || wrong_->number != numbers_)
      range = {std::max(range.least, -most), std::min(range.most, most)};
    distance_ = number(range);
    if (wrong_) wrong_->value *= 4;
    write(". + " + std::to_string(4 * distance_));
    return label_;
  }

  std::string mnemonic_, operands_;
  Random& random_;
  const std::vector<Range>& ranges_;
  Wrong* const wrong_;
  std::size_t used_ = 0;
  int numbers_ = 0;
  std::int64_t distance_ = 0;
  Label label_;
};

// ranges: those of its numbers, in order, but for lanes.
template <class... Operands>
Form form(const char* mnemonic, std::type_identity_t<void (Encoder::*)(Operands...)> encode,
          std::vector<Range> ranges = {}) {
  return {mnemonic, [=](Random& random, Wrong* wrong) -> Instruction {
            Draws draws(random, mnemonic, ranges, wrong);
            const std::tuple<Operands...> operands{draws.operand<Operands>()...};
            Encoder encoder;
            const auto write = [&] {
              std::apply([&](auto&&... each) { (encoder.*encode)(each...); }, operands);
            };
            const std::int64_t words = draws.distance();
            const auto fill = [&](std::int64_t count) {
              for (std::int64_t i = 0; i < count; ++i) encoder.dd(0);
            };
            if constexpr ((std::is_same_v<Operands, Label&> || ...)) {
              Label& label = std::get<Label&>(operands);
              if (words <= 0) encoder.L(label);
              fill(-words);
              write();
              fill(words - 1);
              if (words > 0) encoder.L(label);
            } else {
              write();
            }
            const std::vector<std::uint8_t> code = encoder.code();
            const auto start = static_cast<std::size_t>(words < 0 ? -4 * words : 0);
            std::uint32_t word = 0;
            for (std::size_t i = 0; i < 4; ++i)
              word |= std::uint32_t{code.at(start + i)} << (8 * i);
            return {draws.text(), word};
          }};
}

}  // namespace

std::vector<Form> aarch64_forms() {
  using E = Encoder;
  constexpr Range immediate{0, 4095}, near_by{-(1 << 18), (1 << 18) - 1}, moves{-256, 255};
  constexpr Range of8{0, 8 * 4095, 8}, pairs{-512, 504, 8};
  return {
      form<XReg, XReg, XReg, int>("add", &E::add, {{0, 63, 1, "lsl #"}}),
      form<XReg, XReg>("cmp", &E::cmp),
      form<XReg, XReg, XReg, XReg>("madd", &E::madd),
      form<XReg, XReg, int, int>("add", &E::add, {immediate, {0, 12, 12, "lsl #"}}),
      form<XReg, XReg, int>("adds", &E::adds, {immediate}),
      form<XReg, XReg, XReg>("sub", &E::sub),
      form<XReg, XReg, int>("lsl", &E::lsl, {{0, 63}}),
      form<XReg, XReg, int>("lsr", &E::lsr, {{0, 63}}),
      form<XReg, XReg, int>("sub", &E::sub, {immediate}),
      form<XReg, XReg, int>("subs", &E::subs, {immediate}),
      form<XReg, int>("cmp", &E::cmp, {immediate}),
      form<XReg, int>("movz", &E::movz, {{0, 0xffff}}),

      form<Label&>("b", &E::b, {{-(1 << 25), (1 << 25) - 1}}),
      form<E::Condition, Label&>("b", &E::b, {near_by}),
      form<XReg, Label&>("cbz", &E::cbz, {near_by}),
      form<WReg, Label&>("cbnz", &E::cbnz, {near_by}),
      form<XReg, Label&>("adr", &E::adr, {near_by}),
      form<>("ret", &E::ret),

      form<XReg, At>("ldr", &E::ldr, {of8}),
      form<XReg, At>("ldrsw", &E::ldrsw, {{0, 4 * 4095, 4}}),
      form<BReg, At>("ldr", &E::ldr, {immediate}),
      form<HReg, At>("ldr", &E::ldr, {{0, 2 * 4095, 2}}),
      form<SReg, At>("ldr", &E::ldr, {{0, 4 * 4095, 4}}),
      form<DReg, At>("ldr", &E::ldr, {of8}),
      form<QReg, At>("ldr", &E::ldr, {{0, 16 * 4095, 16}}),
      form<BReg, At>("str", &E::str, {immediate}),
      form<HReg, At>("str", &E::str, {{0, 2 * 4095, 2}}),
      form<SReg, At>("str", &E::str, {{0, 4 * 4095, 4}}),
      form<DReg, At>("str", &E::str, {of8}),
      form<QReg, At>("str", &E::str, {{0, 16 * 4095, 16}}),
      form<BReg, Post>("ldr", &E::ldr, {moves}),
      form<HReg, Post>("ldr", &E::ldr, {moves}),
      form<SReg, Post>("ldr", &E::ldr, {moves}),
      form<DReg, Post>("ldr", &E::ldr, {moves}),
      form<QReg, Post>("ldr", &E::ldr, {moves}),
      form<QReg, Label&>("ldr", &E::ldr, {near_by}),
      form<E::Prefetch, At>("prfm", &E::prfm, {of8}),
      form<XReg, Base>("ldxr", &E::ldxr),
      form<WReg, XReg, Base>("stxr", &E::stxr),
      form<DReg, DReg, At>("stp", &E::stp, {pairs}),
      form<DReg, DReg, Pre>("stp", &E::stp, {pairs}),
      form<DReg, DReg, At>("ldp", &E::ldp, {pairs}),
      form<DReg, DReg, Post>("ldp", &E::ldp, {pairs}),
      form<Element<B16>, Post>("ld1", &E::ld1, {{1, 1}}),
      form<Element<H8>, Post>("ld1", &E::ld1, {{2, 2}}),
      form<Element<S4>, Post>("ld1", &E::ld1, {{4, 4}}),
      form<Element<B16>, Post>("st1", &E::st1, {{1, 1}}),
      form<Element<H8>, Post>("st1", &E::st1, {{2, 2}}),
      form<Element<S4>, Post>("st1", &E::st1, {{4, 4}}),
      form<FourB16, Base>("ld1", &E::ld1),

      form<DReg, XReg>("fmov", &E::fmov),
      form<XReg, DReg>("fmov", &E::fmov),
      form<B16, B16>("mov", &E::mov),
      form<SReg, Element<S4>>("mov", &E::mov),
      form<Element<S4>, Element<S4>>("ins", &E::ins),
      form<S4, Element<S4>>("dup", &E::dup),
      form<S4, WReg>("dup", &E::dup),
      form<B16, int>("movi", &E::movi, {{0, 255}}),
      form<D2, int>("movi", &E::movi, {{0, 0}}),
      form<S4, S4, S4>("zip1", &E::zip1),
      form<S4, S4, S4>("zip2", &E::zip2),
      form<D2, D2, D2>("zip1", &E::zip1),
      form<D2, D2, D2>("zip2", &E::zip2),
      form<H8, H8, H8>("uzp1", &E::uzp1),
      form<H8, H8, H8>("uzp2", &E::uzp2),
      form<B16, FourB16, B16>("tbl", &E::tbl),

      form<S4, S4, S4>("add", &E::add),
      form<S4, S4, S4>("sub", &E::sub),
      form<S4, S4, S4>("addp", &E::addp),
      form<S4, S4, S4>("mul", &E::mul),
      form<S4, S4, S4>("mla", &E::mla),
      form<S4, S4, Element<S4>>("mla", &E::mla),
      form<S4, S4, Element<S4>>("mls", &E::mls),
      form<S4, S4, S4>("smax", &E::smax),
      form<S4, S4, S4>("cmgt", &E::cmgt),
      form<S4, S4, S4>("cmeq", &E::cmeq),
      form<B16, B16, B16>("and", &E::and_),
      form<B16, B16, B16>("bic", &E::bic),
      form<B16, B16, B16>("bif", &E::bif),
      form<B16, B16, B16>("bsl", &E::bsl),
      form<B16, B16, B16>("bit", &E::bit),
      form<B16, B16, B16>("eor", &E::eor),
      form<B16, B16, B16>("orr", &E::orr),
      form<B16, B16, int>("shl", &E::shl, {{0, 7}}),
      form<S4, S4, int>("shl", &E::shl, {{0, 31}}),
      form<S4, S4, S4>("ushl", &E::ushl),
      form<S4, S4, int>("ushr", &E::ushr, {{1, 32}}),

      form<S4, H4, int>("shll", &E::shll, {{16, 16}}),
      form<H8, B8, int>("ushll", &E::ushll, {{0, 7}}),
      form<S4, H4, int>("ushll", &E::ushll, {{0, 15}}),
      form<H8, B8>("sxtl", &E::sxtl),
      form<S4, H4>("sxtl", &E::sxtl),
      form<H8, B16>("sxtl2", &E::sxtl2),
      form<B8, H8>("xtn", &E::xtn),
      form<H4, S4>("xtn", &E::xtn),
      form<S4, H4>("fcvtl", &E::fcvtl),
      form<H4, S4>("fcvtn", &E::fcvtn),

      form<S4, S4, S4>("fadd", &E::fadd),
      form<S4, S4, S4>("fsub", &E::fsub),
      form<S4, S4, S4>("fmul", &E::fmul),
      form<S4, S4, Element<S4>>("fmul", &E::fmul),
      form<S4, S4, S4>("fmla", &E::fmla),
      form<S4, S4, Element<S4>>("fmla", &E::fmla),
      form<S4, S4, Element<S4>>("fmls", &E::fmls),
      form<S4, S4, S4>("fdiv", &E::fdiv),
      form<S4, S4>("fsqrt", &E::fsqrt),
      form<S4, S4>("frintn", &E::frintn),
      form<S4, S4>("frintm", &E::frintm),
      form<S4, S4>("frintp", &E::frintp),
      form<S4, S4>("frintz", &E::frintz),
      form<S4, S4>("fabs", &E::fabs),
      form<S4, S4, S4>("fmax", &E::fmax),
      form<S4, S4, S4>("fmin", &E::fmin),
      form<S4, S4, S4>("fmaxnm", &E::fmaxnm),
      form<S4, S4, S4>("fminnm", &E::fminnm),
      form<SReg, SReg, SReg>("fmax", &E::fmax),
      form<SReg, SReg, SReg>("fmin", &E::fmin),
      form<SReg, S4>("fmaxv", &E::fmaxv),
      form<SReg, S4>("fminv", &E::fminv),
      form<S4, S4, S4>("fcmeq", &E::fcmeq),
      form<S4, S4, S4>("fcmge", &E::fcmge),
      form<S4, S4, S4>("fcmgt", &E::fcmgt),
      form<S4, S4, int>("fcmlt", &E::fcmlt, {{0, 0}}),
      form<SReg, XReg>("scvtf", &E::scvtf),
      form<S4, S4>("scvtf", &E::scvtf),
      form<S4, S4, int>("scvtf", &E::scvtf, {{1, 32}}),
      form<S4, S4>("fcvtns", &E::fcvtns),
      form<S4, S4>("fcvtzs", &E::fcvtzs),

      form<S4, H4, H4>("smlal", &E::smlal),
      form<S4, H8, H8>("smlal2", &E::smlal2),
      form<S4, H4, Element<H8>>("smlal", &E::smlal),
      form<S4, H8, Element<H8>>("smlal2", &E::smlal2),
      form<S4, B16, B16>("sdot", &E::sdot),
      form<S4, B16, B16>("usdot", &E::usdot),
      form<S4, B16, Element<B4>>("sdot", &E::sdot),
      form<S4, B16, Element<B4>>("sudot", &E::sudot),
      form<S4, H8, Element<H2>>("bfdot", &E::bfdot),
      form<S4, B16, B16>("usmmla", &E::usmmla),
      form<S4, H8, H8>("bfmmla", &E::bfmmla),
  };
}

}  // namespace fbg::test
