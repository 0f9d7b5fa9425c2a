// Which targets Highway compiles the sources of this folder for; included before Highway itself.
#pragma once

// Three targets on x86-64, whatever the compiler's own flags: one lane at a time ("generic"), AVX2
// and AVX-512. Elsewhere only the compiler's target. 128-bit emulation is not used: GCC before
// 12.3 miscompiles it.
#define HWY_BROKEN_EMU128 1
#define HWY_IS_DEBUG_BUILD 0    // debug assertions would call into libhwy.so
#define HWY_DISABLE_PCLMUL_AES  // not among the features that choose a table
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SCALAR
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#else
#define HWY_COMPILE_ONLY_STATIC
#endif
