// CPU features by cpuid/xgetbv, the ISA limit, and cache sizes.
#include "fbg/core/isa.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "core/cpus.h"
#include "core/files.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/x64_features.h"
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

// Features that something else executes in the place of this CPU: null, but for tests that preload
// tests/emulation/amx_emulator.cc.
extern "C" [[gnu::weak, gnu::visibility("default")]] fbg::Features fbg_emulated_features();

namespace fbg {
namespace {

struct IsaEntry {
  Isa isa;
  const char* name;
  Features features;
};

// In order of capability: active_isa() answers the last whose features are all there. A set
// therefore stands behind those of its architecture whose features a CPU with it may also have.
constexpr Features kAvx512 = feature::avx2 | feature::avx512;
constexpr IsaEntry kIsaTable[] = {
    {Isa::generic, "generic", 0},
    {Isa::avx2, "avx2", feature::avx2},
    {Isa::avx2_vnni, "avx2_vnni", feature::avx2 | feature::avx_vnni},
    {Isa::avx512, "avx512", kAvx512},
    {Isa::avx512_vnni, "avx512_vnni", kAvx512 | feature::avx512_vnni},
    {Isa::avx512_bf16, "avx512_bf16", kAvx512 | feature::avx512_vnni | feature::avx512_bf16},
    {Isa::avx512_fp16, "avx512_fp16",
     kAvx512 | feature::avx512_vnni | feature::avx512_bf16 | feature::avx512_fp16},
    {Isa::avx512_amx, "avx512_amx",
     kAvx512 | feature::avx512_vnni | feature::avx512_bf16 | feature::amx},
    {Isa::neon, "neon", feature::neon},
    {Isa::neon_dot, "neon_dot", feature::neon | feature::neon_dot},
    {Isa::neon_i8mm, "neon_i8mm", feature::neon | feature::neon_dot | feature::neon_i8mm},
    {Isa::neon_bf16, "neon_bf16",
     feature::neon | feature::neon_dot | feature::neon_i8mm | feature::neon_bf16},
};

static_assert(std::ranges::equal(kIsaTable, kAllIsas, {}, &IsaEntry::isa), "in the same order");
static_assert(std::ranges::is_sorted(kAllIsas), "the table is indexed by the enumeration");

const IsaEntry& entry(Isa isa) noexcept { return kIsaTable[static_cast<int>(isa)]; }

#if defined(__x86_64__)
// Linux saves the state of AMX tiles only for processes that have asked for it. It refuses if a
// thread has an alternate signal stack that is too small for that state.
bool tiles_permitted() noexcept {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

CpuidRegisters read_cpuid(std::uint32_t leaf, std::uint32_t subleaf) noexcept {
  CpuidRegisters r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return {};
  return r;
}

std::uint64_t read_xcr0() noexcept {
  std::uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

Features detect() noexcept {
  const bool emulates = fbg_emulated_features != nullptr;
  const Features f =
      x64_features({read_cpuid, read_xcr0, [&] { return !emulates && tiles_permitted(); }});
  return emulates && (f & feature::avx512) ? f | fbg_emulated_features() : f;
}

std::string detect_name() {
  unsigned regs[12];
  for (unsigned i = 0; i < 3; ++i) {
    if (!__get_cpuid(0x80000002u + i, &regs[4 * i], &regs[4 * i + 1], &regs[4 * i + 2],
                     &regs[4 * i + 3]))
      return "x86-64";
  }
  char text[49] = {};
  std::memcpy(text, regs, 48);
  return text;
}
#elif defined(__aarch64__)
// Linux reports only features whose state it saves and which every core of the machine has.
Features detect() noexcept {
  const unsigned long hwcap = getauxval(AT_HWCAP), hwcap2 = getauxval(AT_HWCAP2);
  if (!(hwcap & HWCAP_ASIMD)) return 0;
  Features f = feature::neon;
  if (hwcap & HWCAP_ASIMDDP) f |= feature::neon_dot;
  if (hwcap2 & HWCAP2_I8MM) f |= feature::neon_i8mm;
  if (hwcap2 & HWCAP2_BF16) f |= feature::neon_bf16;
  return f;
}

// The identification registers as Linux prints them: "0x41" and "0xd0c" is a Neoverse N1.
std::string detect_name() {
  const std::string text = read_file("/proc/cpuinfo");
  std::string implementer, part;
  for (std::string_view rest = text; !rest.empty() && part.empty();) {
    const std::string line(take_line(rest));
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("CPU implementer")) implementer = line.substr(colon + 2);
    if (line.starts_with("CPU part")) part = line.substr(colon + 2);
  }
  std::string name = "AArch64";
  if (!part.empty()) name.append(" ").append(implementer).append(" ").append(part);
  return name;
}
#else
Features detect() noexcept { return 0; }
std::string detect_name() { return "unknown CPU"; }
#endif

// The limit, process-wide.
std::atomic<int> g_limit{-2};  // -2: FBG_MAX_ISA not read yet, -1: none, otherwise the Isa

int limit_value() {
  int value = g_limit.load(std::memory_order_acquire);
  if (value != -2) return value;
  const char* text = std::getenv("FBG_MAX_ISA");
  int wanted = -1;
  if (text && *text) {
    const auto isa = isa_from_name(text);
    // The Python layer checks the variable at import and raises; the C++ core must not guess.
    wanted = isa && isa_supported(*isa) ? static_cast<int>(*isa) : static_cast<int>(Isa::generic);
  }
  g_limit.compare_exchange_strong(value, wanted);
  return g_limit.load(std::memory_order_acquire);
}

}  // namespace

Features isa_features(Isa isa) noexcept { return entry(isa).features; }
const char* isa_name(Isa isa) noexcept { return entry(isa).name; }

std::optional<Isa> isa_from_name(std::string_view name) noexcept {
  for (const IsaEntry& e : kIsaTable)
    if (name == e.name) return e.isa;
  return std::nullopt;
}

Features cpu_features() noexcept {
  static const Features features = detect();
  return features;
}

bool isa_supported(Isa isa) noexcept { return (isa_features(isa) & ~cpu_features()) == 0; }

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (Isa isa : kAllIsas)
    if (isa_supported(isa)) isas.push_back(isa);
  return isas;
}

Features active_features() noexcept {
  const int limit = limit_value();
  return limit < 0 ? cpu_features() : cpu_features() & isa_features(static_cast<Isa>(limit));
}

Isa best_isa(Features features) noexcept {
  Isa best = Isa::generic;
  for (const IsaEntry& e : kIsaTable)
    if ((e.features & ~features) == 0) best = e.isa;
  return best;
}

Isa active_isa() noexcept { return best_isa(active_features()); }

void set_isa_limit(std::optional<Isa> isa) {
  if (isa && !isa_supported(*isa))
    throw std::invalid_argument(std::string("isa: this CPU does not support ") + isa_name(*isa));
  g_limit.store(isa ? static_cast<int>(*isa) : -1, std::memory_order_release);
}

std::optional<Isa> isa_limit() noexcept {
  const int limit = limit_value();
  if (limit < 0) return std::nullopt;
  return static_cast<Isa>(limit);
}

const CpuInfo& cpu_info() {
  static const CpuInfo info = [] {
    const std::string cpu = "/sys/devices/system/cpu/cpu0";
    return CpuInfo{detect_name(), cache_bytes(cpu, 1, 32 << 10), cache_bytes(cpu, 2, 512 << 10),
                   cache_bytes(cpu, 3, 8 << 20)};
  }();
  return info;
}

}  // namespace fbg
