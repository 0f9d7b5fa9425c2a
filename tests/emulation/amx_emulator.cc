// Executes the instructions of AMX on processors that lack them, for tests: preloaded into a
// process (LD_PRELOAD), it makes the library believe that there is AMX and handles the SIGILL that
// each tile instruction then raises. On processors with AMX, too: without permission, Linux raises
// it there.
//
// The library must not change signal masks so that SIGILL is blocked, and Python must run without
// faulthandler, which handles SIGILL itself. What the processor would refuse ends the process with
// a message.
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "emulation/tiles.h"
#include "fbg/core/isa.h"

namespace fbg::emulation {
namespace {

// The tiles of this thread, and of the child after a fork. They are allocated with the thread: a
// handler of signals must not allocate.
[[gnu::tls_model("initial-exec")]] thread_local Tiles t_tiles;

[[noreturn]] void refuse(const char* what, const char* detail = "") {
  const auto say = [](const char* text) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
  };
  say("amx_emulator: ");
  say(what);
  say(detail);
  say("\n");
  _exit(99);
}

// General registers, in the order of their numbers in encodings.
constexpr int kGregs[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// An instruction with a three-byte VEX prefix, as far as those of AMX differ.
struct Decoded {
  std::uint8_t opcode;
  int prefix;    // 0: none, 1: 66, 2: F3, 3: F2
  int mod, reg;  // of ModRM
  int rm;        // with its extension bit
  int vvvv;
  std::int64_t address = 0, stride = 0;
  int bytes;
};

// Whether there is a tile instruction at `code`; if so, how it reads.
bool decode(const std::uint8_t* code, const greg_t* registers, Decoded& d) {
  if (code[0] != 0xC4 || (code[1] & 0x1F) != 2) return false;  // map 0F38
  const bool inverted_r = code[1] & 0x80, inverted_x = code[1] & 0x40, inverted_b = code[1] & 0x20;
  if ((code[2] & 0x84) != 0) return false;  // W, L
  d.prefix = code[2] & 3;
  d.vvvv = ~(code[2] >> 3) & 15;
  d.opcode = code[3];
  if (d.opcode != 0x49 && d.opcode != 0x4B && d.opcode != 0x5C && d.opcode != 0x5E) return false;
  const std::uint8_t modrm = code[4];
  d.mod = modrm >> 6;
  d.reg = (modrm >> 3 & 7) | (inverted_r ? 0 : 8);
  d.rm = (modrm & 7) | (inverted_b ? 0 : 8);
  d.bytes = 5;
  if (d.mod == 3) return true;
  const auto value = [&](int number) { return registers[kGregs[number]]; };
  const std::uint8_t* rest = code + 5;
  bool no_base = false;
  if ((modrm & 7) == 4) {
    const std::uint8_t sib = *rest++;
    const int base = (sib & 7) | (inverted_b ? 0 : 8),
              index = (sib >> 3 & 7) | (inverted_x ? 0 : 8);
    no_base = (sib & 7) == 5 && d.mod == 0;
    if (!no_base) d.address = value(base);
    if (index != 4) d.stride = value(index) << (sib >> 6);
  } else if ((modrm & 7) == 5 && d.mod == 0) {
    refuse("an address relative to the instruction pointer is not supported");
  } else {
    d.address = value(d.rm);
  }
  if (d.mod == 1) {
    d.address += static_cast<std::int8_t>(*rest++);
  } else if (d.mod == 2 || no_base) {
    std::int32_t displacement;
    std::memcpy(&displacement, rest, 4);
    d.address += displacement;
    rest += 4;
  }
  d.bytes = static_cast<int>(rest - code);
  return true;
}

// Executes one instruction; returns what is wrong with it, if anything.
const char* execute(const Decoded& d) {
  Tiles& tiles = t_tiles;
  auto* const memory = reinterpret_cast<std::byte*>(d.address);
  if (d.reg > 7 || (d.mod == 3 && d.rm > 7)) return "there are only 8 tiles";
  switch (d.opcode << 8 | d.prefix) {
    case 0x4900:  // ldtilecfg, tilerelease
      if (d.mod == 3) {
        tiles.release();
        return nullptr;
      }
      return tiles.configure(memory + d.stride);
    case 0x4901:
      tiles.store_config(memory + d.stride);
      return nullptr;
    case 0x4903:
      return tiles.zero(d.reg);
    case 0x4B01:  // tileloaddt1, tileloadd
    case 0x4B03:
      return tiles.load(d.reg, memory, d.stride);
    case 0x4B02:
      return tiles.store(d.reg, memory, d.stride);
    case 0x5C02:
      return tiles.multiply(Product::bf16, d.reg, d.rm, d.vvvv);
    case 0x5E00:
      return tiles.multiply(Product::u8_u8, d.reg, d.rm, d.vvvv);
    case 0x5E01:
      return tiles.multiply(Product::u8_s8, d.reg, d.rm, d.vvvv);
    case 0x5E02:
      return tiles.multiply(Product::s8_u8, d.reg, d.rm, d.vvvv);
    case 0x5E03:
      return tiles.multiply(Product::s8_s8, d.reg, d.rm, d.vvvv);
    default:
      return "an instruction of AMX that the emulator does not know";
  }
}

// A processor with AMX needs no permission to configure tiles, only to use them: there, ldtilecfg
// and tilerelease are no illegal instructions, and the configuration is found in the state that the
// kernel saved. Where that state begins in it; 0 without AMX.
unsigned native_config() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 24 & 1)) return 0;
  __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (a >> 17 & 1) && __get_cpuid_count(0xD, 17, &a, &b, &c, &d) ? b : 0;
}
const unsigned kNativeConfig = native_config();

void follow_native_config(const void* saved) {
  constexpr std::size_t kPresent = 512;  // a bit for each component of the state
  alignas(64) static thread_local std::byte last[kConfigBytes];
  alignas(64) std::byte config[kConfigBytes] = {};
  const auto* const state = static_cast<const std::byte*>(saved);
  std::uint64_t present;
  std::memcpy(&present, state + kPresent, sizeof present);
  if (present >> 17 & 1) std::memcpy(config, state + kNativeConfig, kConfigBytes);
  if (std::memcmp(config, last, kConfigBytes) == 0) return;
  std::memcpy(last, config, kConfigBytes);
  if (const char* error = t_tiles.configure(config)) refuse(error);
}

void handle(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (kNativeConfig) follow_native_config(static_cast<ucontext_t*>(context)->uc_mcontext.fpregs);
  auto* code = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  int executed = 0;
  Decoded d{};
  for (; decode(code, registers, d); ++executed, code += d.bytes, d = {})
    if (const char* error = execute(d)) refuse(error);
  if (executed == 0) {  // not ours: let the kernel end the process
    signal(SIGILL, SIG_DFL);
    return;
  }
  registers[REG_RIP] = reinterpret_cast<greg_t>(code);
}

[[gnu::constructor]] void install() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGILL, &action, nullptr) != 0) refuse("sigaction failed");
}

}  // namespace
}  // namespace fbg::emulation

// What src/core/isa.cc asks for.
extern "C" [[gnu::visibility("default")]] fbg::Features fbg_emulated_features() {
  return fbg::feature::amx;
}
