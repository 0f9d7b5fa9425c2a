// Where generated code lies: on pages that are never writable and executable at once, and an error
// that says so where the system refuses them. The linker sends every mmap and mprotect of the
// library through this file (--wrap).
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "kernels/cache.h"
#include "kernels/code.h"
#include "kernels/microkernel.h"
#include "kernels/peak.h"
#include "kernels/table.h"

namespace {

int g_executable_requests = 0, g_writable_and_executable_requests = 0;
bool g_refuse_executable = false;

void record(int protection) {
  g_executable_requests += (protection & PROT_EXEC) != 0;
  g_writable_and_executable_requests += (protection & PROT_EXEC) && (protection & PROT_WRITE);
}

}  // namespace

extern "C" {
void* __real_mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_mprotect(void* address, size_t bytes, int protection);

void* __wrap_mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  record(protection);
  return __real_mmap(address, bytes, protection, flags, fd, offset);
}
int __wrap_mprotect(void* address, size_t bytes, int protection) {
  record(protection);
  if (g_refuse_executable && (protection & PROT_EXEC)) {
    errno = EACCES;
    return -1;
  }
  return __real_mprotect(address, bytes, protection);
}
}

namespace fbg {
namespace {

std::vector<std::string> mappings(const std::string& permissions) {
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(" " + permissions) != std::string::npos) found.push_back(line);
  return found;
}

KernelKey small_key(const kernels::GemmFamily& family) {
  KernelKey key{};
  key.gemm_type = family.gemm_type;
  key.isa = family.isa;
  key.narrow = family.narrow();
  key.rows = 3;
  key.vectors = 1;
  return key;
}

TEST(GeneratedCode, PagesAreNeverWritableAndExecutable) {
  g_executable_requests = g_writable_and_executable_requests = 0;
  const std::size_t before = kernels::generated_kernels().size();
  for (const kernels::GemmFamily& family : kernels::generated_families())
    if (isa_supported(family.isa)) find_kernel(small_key(family));
  for (const std::string& name : kernels::peak_names()) kernels::measure_peak(name, 0);
  // A kernel may bring others, which it calls.
  EXPECT_EQ(g_executable_requests, static_cast<int>(kernels::generated_kernels().size() - before));
  EXPECT_EQ(g_writable_and_executable_requests, 0);
  EXPECT_EQ(mappings("rwx"), std::vector<std::string>());
}

TEST(GeneratedCode, IsCopiedAsItIs) {
  const std::vector<std::uint8_t> code(5000, 0xc3);
  const void* const pages = kernels::make_executable(code.data(), code.size(), "nothing");
  EXPECT_EQ(std::memcmp(pages, code.data(), code.size()), 0);
}

TEST(GeneratedCode, RefusalOfExecutableMemoryIsReportedAndNotRemembered) {
  const std::vector<std::uint8_t> code(64, 0xc3);
  const auto generate = [&] {
    return kernels::generate(kernels::KernelKind::gemm, "refused", Isa::generic, "refused",
                             [&] { return code; });
  };
  g_refuse_executable = true;
  try {
    generate();
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("denies executable memory (Permission denied)"), std::string::npos)
        << message;
    EXPECT_NE(message.find("FBG_MAX_ISA=generic"), std::string::npos) << message;
  }
  g_refuse_executable = false;
  EXPECT_NE(generate(), nullptr);
}

TEST(PeakLoops, AreGeneratedOnceHoweverOftenTheyAreMeasured) {
  for (const std::string& name : kernels::peak_names())
    EXPECT_GT(kernels::measure_peak(name, 0), 0);
  const bool reads = !kernels::peak_names().empty();
  if (reads) {
    EXPECT_GT(kernels::measure_read(1 << 14, 0), 0);
  }
  const std::size_t pages = mappings("r-x").size(), count = kernels::generated_kernels().size();
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (const std::string& name : kernels::peak_names()) kernels::measure_peak(name, 0);
    if (reads) kernels::measure_read(1 << 14, 0);
  }
  EXPECT_EQ(mappings("r-x").size(), pages);
  EXPECT_EQ(kernels::generated_kernels().size(), count);
}

TEST(PeakLoops, UnknownNamesAndTooFewBytesAreErrors) {
  EXPECT_THROW(kernels::measure_peak("int8_nothing", 0), std::invalid_argument);
  EXPECT_THROW(kernels::measure_read(4095, 0), std::invalid_argument);
}

// A key is opaque to the cache: equal bytes of another kind are another kernel.
TEST(KernelCache, KindsHaveKeysOfTheirOwn) {
  using kernels::KernelKind;
  const std::vector<std::uint8_t> code(16, 0xc3);
  int generated = 0;
  const auto generate = [&](KernelKind kind, const char* name) {
    return kernels::generate(kind, "a key", Isa::avx2, name, [&] {
      ++generated;
      return code;
    });
  };
  EXPECT_EQ(kernels::find(KernelKind::gemm, "a key"), nullptr);
  const void* const gemm = generate(KernelKind::gemm, "first");
  EXPECT_EQ(kernels::find(KernelKind::gemm, "a key"), gemm);
  EXPECT_EQ(kernels::find(KernelKind::peak, "a key"), nullptr);
  const void* const peak = generate(KernelKind::peak, "second");
  EXPECT_NE(peak, gemm);
  EXPECT_EQ(generate(KernelKind::gemm, "first"), gemm);
  EXPECT_EQ(generate(KernelKind::peak, "second"), peak);
  EXPECT_EQ(generated, 2);

  std::vector<kernels::KernelInfo> listed;
  for (const kernels::KernelInfo& info : kernels::generated_kernels())
    if (info.key == "a key") listed.push_back(info);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].kind, KernelKind::gemm);
  EXPECT_EQ(listed[0].name, "first");
  EXPECT_EQ(listed[0].hits, 2);  // found once, and ready once when it was to be generated
  EXPECT_EQ(listed[1].kind, KernelKind::peak);
  EXPECT_EQ(listed[1].code, peak);
  EXPECT_EQ(listed[1].bytes, code.size());
  EXPECT_EQ(listed[1].isa, Isa::avx2);
}

TEST(KernelCache, AGeneratorWithoutCodeLeavesNoKernel) {
  const auto nothing = [] { return std::vector<std::uint8_t>(); };
  EXPECT_EQ(kernels::generate(kernels::KernelKind::gemm, "no key", Isa::avx2, "none", nothing),
            nullptr);
  EXPECT_EQ(kernels::find(kernels::KernelKind::gemm, "no key"), nullptr);
}

TEST(KernelTable, EveryGemmTypeHasAPortableFamily) {
  for (std::size_t a = 0; a < kWeightFormats.size(); ++a) {
    const auto gemm_type = static_cast<GemmType>(a);
    const kernels::GemmFamily* const family = kernels::find_family(gemm_type, Isa::generic);
    ASSERT_NE(family, nullptr) << a;
    EXPECT_NE(family->compiled, nullptr);
    EXPECT_EQ(choose_geometry(gemm_type, 0).isa, Isa::generic);
  }
}

TEST(KernelTable, RowsOfAFamilyNeedWhatTheirIsaHas) {
  for (const kernels::GemmFamily& family : kernels::generated_families()) {
    const Features given = isa_features(family.isa) | feature::narrow_weights;
    EXPECT_EQ(family.needs & ~given, 0u) << isa_name(family.isa);
    EXPECT_NE(family.generate, nullptr);
    EXPECT_EQ(kernels::find_family(family.gemm_type, family.isa, family.narrow()), &family)
        << "listed twice";
  }
}

TEST(KernelTable, AnIsaWithoutAFamilyIsAnError) {
  KernelKey key{};
  key.gemm_type = GemmType::float32;
  key.isa = Isa::avx512_bf16;
  EXPECT_THROW(find_kernel(key), std::invalid_argument);
  EXPECT_THROW(kernel_name(key), std::invalid_argument);
}

}  // namespace
}  // namespace fbg
