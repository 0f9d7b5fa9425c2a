// The control register of each architecture: MXCSR on x86-64, FPCR on AArch64.
#include "fbg/core/float_environment.h"

#include <cfenv>

namespace fbg {
namespace {

// The innermost scope of this thread. One inside of another that does the same changes nothing. The
// model of thread-local storage saves a call of the dynamic linker for each access.
[[gnu::tls_model("initial-exec")]] thread_local std::optional<Subnormals> t_scope;

#if defined(__x86_64__)

// All exceptions are masked, and rounding is to nearest even. FTZ (15) flushes results, DAZ (6)
// operands.
constexpr std::uint64_t kKeep = 0x1f80, kFlush = kKeep | 1u << 15 | 1u << 6;
constexpr std::uint64_t kFlags = 0x3f;  // of exceptions that were raised

std::uint64_t read_control() noexcept { return __builtin_ia32_stmxcsr(); }
void write_control(std::uint64_t value) noexcept {
  __builtin_ia32_ldmxcsr(static_cast<unsigned>(value));
}

#elif defined(__aarch64__)

// FZ (24) flushes operands and results of 32 and 64 bits. What else could be set is 0, as in the
// default environment: FZ16 (19) flushes those of 16 bits, RMode (23-22) rounds, FIZ (0) and AH (1)
// of newer CPUs take operands for zeros and change the signs of NaNs, bits 8-15 trap exceptions.
constexpr std::uint64_t kKeep = 0, kFlush = 1u << 24, kFlags = 0;

std::uint64_t read_control() noexcept {
  std::uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_control(std::uint64_t value) noexcept {
  __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory");
}

#else

// Only the rounding mode can be set portably; other architectures keep subnormals by default.
constexpr std::uint64_t kKeep = FE_TONEAREST, kFlush = kKeep, kFlags = 0;

std::uint64_t read_control() noexcept { return static_cast<std::uint64_t>(std::fegetround()); }
void write_control(std::uint64_t value) noexcept { std::fesetround(static_cast<int>(value)); }

#endif

}  // namespace

FloatEnvironment::FloatEnvironment(Subnormals subnormals) noexcept : outer_(t_scope) {
  if (outer_ == subnormals) return;
  t_scope = subnormals;
  const std::uint64_t before = read_control();
  const std::uint64_t wanted = subnormals == Subnormals::flush ? kFlush : kKeep;
  if ((before & ~kFlags) == wanted) return;  // writing takes much longer than reading
  restored_ = before;
  write_control(wanted);
}

FloatEnvironment::~FloatEnvironment() {
  t_scope = outer_;
  if (restored_) write_control(*restored_);
}

Subnormals FloatEnvironment::subnormals() noexcept { return t_scope.value_or(Subnormals::keep); }

}  // namespace fbg
