// For architectures without an assembler of their own: nothing is generated, and the portable
// kernels do all work.
#include "kernels/lanewise.h"
#include "kernels/lookup.h"
#include "kernels/peak_loops.h"
#include "kernels/sliding.h"
#include "kernels/table.h"

namespace fbg {

void fence_streams() noexcept {}  // portable kernels do not stream
KernelScope::KernelScope(const Geometry&, std::int64_t) noexcept : configured_(false) {}
KernelScope::~KernelScope() = default;

namespace kernels {

std::span<const GemmFamily> generated_families() noexcept { return {}; }
bool looks_up_bytes(Features) noexcept { return false; }
bool has_lanewise(Isa) noexcept { return false; }
int lanewise_max_rows(int, Isa, int, int) noexcept { return 1; }
std::vector<std::uint8_t> generate_lanewise(const LanewiseKey&) { return {}; }
std::vector<std::uint8_t> generate_sliding(const SlidingKey&) { return {}; }
bool has_lookup(Isa) noexcept { return false; }
std::vector<std::uint8_t> generate_lookup(const LookupKey&) { return {}; }
std::span<const PeakLoop> peak_loops() noexcept { return {}; }
const ReadLoop* read_loop() noexcept { return nullptr; }

}  // namespace kernels
}  // namespace fbg
