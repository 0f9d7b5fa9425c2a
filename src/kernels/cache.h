// Generated code by kind of kernel and key: generated once, and kept for the life of the process.
// Each kind of kernel has its own type of key and its own generator; the cache compares bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fbg/core/isa.h"

namespace fbg::kernels {

// A new kind of kernel is a line here, a key type and a table of families.
enum class KernelKind : std::uint8_t {
  gemm,      // key: KernelKey
  lanewise,  // key: LanewiseKey
  sliding,   // key: SlidingKey
  peak,      // key: the name of the loop
  lookup,    // key: LookupKey
};
inline constexpr std::size_t kNumKernelKinds = 5;
const char* kernel_kind_name(KernelKind kind) noexcept;

// A key type of a kind: equal keys must have equal bytes.
template <class Key>
std::string_view key_bytes(const Key& key) noexcept {
  static_assert(std::has_unique_object_representations_v<Key>);
  return {reinterpret_cast<const char*>(&key), sizeof key};
}

using CodeGenerator = std::function<std::vector<std::uint8_t>()>;

// The code of a kernel that is ready, or null. Thread-safe.
const void* find(KernelKind kind, std::string_view key);

// Generates a kernel under its name and returns its code, or that of another thread which was
// quicker. Thread-safe; a generator may find other kernels, which its code calls. Null when the
// generator returns no code; throws std::runtime_error where executable memory is denied.
const void* generate(KernelKind kind, std::string_view key, Isa isa, const std::string& name,
                     const CodeGenerator& generator);

// Finds the kernel or generates it; `name` is called only if code is generated. Also throws
// std::runtime_error if the generator returns no code.
template <class Function, class Key>
Function find_or_generate(KernelKind kind, const Key& key, Isa isa,
                          const std::function<std::string()>& name,
                          const CodeGenerator& generator) {
  const void* code = find(kind, key_bytes(key));
  if (!code) code = generate(kind, key_bytes(key), isa, name(), generator);
  if (!code) throw std::runtime_error("no generator for kernel " + name());
  return reinterpret_cast<Function>(const_cast<void*>(code));
}

struct KernelInfo {
  KernelKind kind;
  std::string key;
  Isa isa;
  std::string name;
  const void* code;
  std::size_t bytes;
  std::int64_t hits = 0;  // later look-ups: preparations that found it ready, not tiles it ran
};
// Every kernel generated so far, of all kinds, in order of generation.
std::vector<KernelInfo> generated_kernels();

}  // namespace fbg::kernels
