// The definition of make_executable() below replaces that of the library: a linker takes no member
// of an archive whose symbols are defined already.
#include "kernels/checked_code.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <new>
#include <stdexcept>

#include "fbg/core/isa.h"
#include "helpers/operand_filler.h"
#include "kernels/code.h"
#include "kernels/debug.h"
#include "xbyak/xbyak.h"

namespace fbg::test {
namespace {

constexpr const char* kNames[] = {"rbx",
                                  "rbp",
                                  "r12",
                                  "r13",
                                  "r14",
                                  "r15",
                                  "the direction flag",
                                  "the stack above the return address",
                                  "the control bits of MXCSR",
                                  "the x87 control word",
                                  "the upper halves of vector registers"};
enum Violation : int { kFirstRegister = 0, kDirection = 6, kStack, kMxcsr, kX87, kUpper };

// What general registers and masks hold; no address that a program has.
constexpr std::uint64_t kPattern = 0x7fb5a5c37fb5a5c3;

// What each vector register holds: any bits, so that none can stand in for another, nor two cancel
// out. A quarter of the lanes are NaN, which no sum or comparison swallows.
struct alignas(64) Garbage {
  std::uint32_t words[32][16];
  Garbage() {
    QuickRandom random;
    random.seed(1);
    for (auto& vector : words)
      for (std::uint32_t& word : vector) word = random() | (random() % 4 ? 0 : 0x7fc00000);
  }
};
const Garbage g_garbage;
std::uint32_t g_violations = 0;
std::uint64_t g_calls = 0;
std::deque<MadeCode> g_made;
CodeChange g_change;

std::uint8_t g_buffer[80 << 10];

// A trampoline, and behind it the kernel that it calls: position-independent code.
class Trampoline : public Xbyak::CodeGenerator {
 public:
  Trampoline(const std::vector<std::uint8_t>& kernel, std::uint64_t* calls)
      : Xbyak::CodeGenerator(sizeof g_buffer, g_buffer) {
    wide_ = cpu_features() & feature::avx512;
    save();
    fill();
    for (std::uint64_t* const count : {&g_calls, calls}) {
      mov(rax, reinterpret_cast<std::uint64_t>(count));
      inc(qword[rax]);
    }
    mov(rax, kPattern);
    call(kernel_);
    mov(ptr[rsp + kResultAt], rax);
    check();
    restore();
    spoil();
    ret();
    align(64);
    L(kernel_);
    for (const std::uint8_t x : kernel) db(x);
  }

 private:
  static constexpr int kCanaries = 8, kMxcsrAt = kCanaries * 8, kX87At = kMxcsrAt + 4,
                       kResultAt = kMxcsrAt + 8, kFrame = kResultAt + 16, kDirtyBytes = 12 << 10;

  static std::uint64_t value(int i) {
    return kPattern + 0x11111111u * static_cast<std::uint64_t>(i + 10);
  }

  void save() {
    for (const Xbyak::Reg64& r : preserved_) push(r);
    sub(rsp, kFrame);
    for (int i = 0; i < kCanaries; ++i) {
      mov(rax, value(-i));
      mov(ptr[rsp + i * 8], rax);
    }
    stmxcsr(ptr[rsp + kMxcsrAt]);
    fnstcw(ptr[rsp + kX87At]);
  }

  // rdi holds the arguments.
  void fill() {
    mov(rax, reinterpret_cast<std::uint64_t>(&g_garbage));
    for (int i = 0; i < (wide_ ? 32 : 16); ++i)
      wide_ ? vmovups(Xbyak::Zmm(i), ptr[rax + i * 64]) : vmovups(Xbyak::Ymm(i), ptr[rax + i * 64]);
    // Masks are empty in one call of four.
    mov(rcx, reinterpret_cast<std::uint64_t>(&g_calls));
    mov(rcx, ptr[rcx]);
    xor_(edx, edx);
    mov(rax, kPattern);
    test(cl, 3);
    cmovz(rax, rdx);
    for (int i = 1; i < 8 && wide_; ++i) {
      kmovq(Xbyak::Opmask(i), rax);
      rol(rax, 5);
    }
    // Below the return address: numbers of either sign, in turn, so that code that relies on what
    // an earlier call left there is noticed.
    mov(rcx, reinterpret_cast<std::uint64_t>(&g_calls));
    mov(rdx, ptr[rcx]);
    mov(rax, kPattern);
    mov(rcx, ~kPattern);
    test(dl, 1);
    cmovz(rax, rcx);
    mov(rdx, rdi);
    lea(rdi, ptr[rsp - kDirtyBytes]);
    mov(ecx, kDirtyBytes / 8);
    rep();
    stosq();
    mov(rdi, rdx);
    int number = 10;
    for (const Xbyak::Reg64& r : {rcx, rdx, rsi, r8, r9, r10, r11}) mov(r, value(number++));
    for (int i = 0; i < 6; ++i) mov(preserved_[i], value(i));
  }

  void check() {
    pushfq();
    pop(rcx);
    xor_(eax, eax);
    const auto note_unless_equal = [&](int violation) {
      Xbyak::Label equal;
      je(equal);
      or_(eax, 1 << violation);
      L(equal);
    };
    test(ecx, 1 << 10);
    note_unless_equal(kDirection);
    for (int i = 0; i < 6; ++i) {
      mov(rcx, value(i));
      cmp(preserved_[i], rcx);
      note_unless_equal(kFirstRegister + i);
    }
    for (int i = 0; i < kCanaries; ++i) {
      mov(rcx, value(-i));
      cmp(rcx, ptr[rsp + i * 8]);
      note_unless_equal(kStack);
    }
    stmxcsr(ptr[rsp - 8]);
    mov(ecx, ptr[rsp - 8]);
    xor_(ecx, ptr[rsp + kMxcsrAt]);
    test(ecx, 0xffc0);  // the bits below tell of exceptions that occurred
    note_unless_equal(kMxcsr);
    fnstcw(ptr[rsp - 8]);
    mov(cx, ptr[rsp - 8]);
    cmp(cx, ptr[rsp + kX87At]);
    note_unless_equal(kX87);
    for (int i = 1; i < 16; ++i)
      wide_ ? vporq(zmm0, zmm0, Xbyak::Zmm(i)) : vpor(ymm0, ymm0, Xbyak::Ymm(i));
    vextracti128(xmm1, ymm0, 1);
    if (wide_) {
      vextracti64x4(ymm2, zmm0, 1);
      vpor(ymm1, ymm1, ymm2);
    }
    vptest(ymm1, ymm1);
    note_unless_equal(kUpper);
    vzeroupper();
    mov(rcx, reinterpret_cast<std::uint64_t>(&g_violations));
    or_(ptr[rcx], eax);
  }

  void restore() {
    cld();
    ldmxcsr(ptr[rsp + kMxcsrAt]);
    fldcw(ptr[rsp + kX87At]);
    mov(rax, ptr[rsp + kResultAt]);
    add(rsp, kFrame);
    for (int i = 5; i >= 0; --i) pop(preserved_[i]);
  }

  // What a kernel that has called this one may not rely on. rax may hold a result.
  void spoil() {
    int number = 20;
    for (const Xbyak::Reg64& r : {rcx, rdx, rsi, rdi, r8, r9, r10, r11}) mov(r, value(number++));
    for (int i = 1; i < 8 && wide_; ++i) kmovq(Xbyak::Opmask(i), rcx);
  }

  const Xbyak::Reg64 preserved_[6] = {rbx, rbp, r12, r13, r14, r15};
  bool wide_ = false;
  Xbyak::Label kernel_;
};

// Pages that hold bytes, executable.
const void* executable(const void* bytes, std::size_t size) {
  void* const pages =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  std::memcpy(pages, bytes, size);
  if (mprotect(pages, size, PROT_READ | PROT_EXEC) != 0)
    throw std::runtime_error("kernel tester: no executable memory");
  return pages;
}

}  // namespace

std::string take_violations() {
  std::string names;
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (g_violations >> i & 1) names += (names.empty() ? "" : ", ") + std::string(kNames[i]);
  g_violations = 0;
  return names;
}

std::uint64_t kernel_calls() { return g_calls; }

const std::deque<MadeCode>& made_code() { return g_made; }

void change_code(const CodeChange& change) { g_change = change; }

}  // namespace fbg::test

namespace fbg::kernels {

const void* make_executable(const void* code, std::size_t size, const std::string& name) {
  using namespace test;
  dump_code(name, code, size);
  const auto* const first = static_cast<const std::uint8_t*>(code);
  std::vector<std::uint8_t> bytes(first, first + size);
  if (name == g_change.name && g_change.offset + g_change.bytes.size() <= size)
    std::ranges::copy(g_change.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(g_change.offset));
  MadeCode& made = g_made.emplace_back(MadeCode{name, {first, first + size}});
  const Trampoline trampoline(bytes, &made.calls);
  return executable(trampoline.getCode(), trampoline.getSize());
}

}  // namespace fbg::kernels
