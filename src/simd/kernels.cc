// The kernels of each target that the compiler makes, and the only place that chooses among them.
#include "simd/kernels.h"

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// Defined by bytes.cc, elementwise.cc and so on.
extern const ByteKernels kByteKernels;
extern const ConversionKernels kConversionKernels;
extern const ElementwiseKernels kElementwiseKernels;
extern const LaneKernels kLaneKernels;
extern const RowKernels kRowKernels;
extern const SearchKernels kSearchKernels;
extern const WeightKernels kWeightKernels;
extern const WindowKernels kWindowKernels;
extern const WinogradKernels kWinogradKernels;

constexpr Kernels kKernels = {
    .target = HWY_TARGET == HWY_AVX3   ? "avx512"
              : HWY_TARGET == HWY_AVX2 ? "avx2"
              : HWY_TARGET == HWY_NEON ? "neon"
                                       : "generic",
    .fused = HWY_NATIVE_FMA != 0,
    .bytes = kByteKernels,
    .conversions = kConversionKernels,
    .elementwise = kElementwiseKernels,
    .lanes = kLaneKernels,
    .rows = kRowKernels,
    .search = kSearchKernels,
    .weights = kWeightKernels,
    .windows = kWindowKernels,
    .winograd = kWinogradKernels,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fbg::simd {

const Kernels& kernels([[maybe_unused]] Features features) noexcept {
#if HWY_TARGETS & HWY_AVX3
  if (features & feature::avx512) return N_AVX3::kKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
  if (features & feature::avx2) return N_AVX2::kKernels;
#endif
  return HWY_STATIC_DISPATCH(kKernels);
}

}  // namespace fbg::simd
#endif  // HWY_ONCE
