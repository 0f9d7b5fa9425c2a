# Cross-compiles the C++ library and its tests for AArch64 and runs the tests in an emulator, with the Debian
# packages g++-aarch64-linux-gnu, qemu-user-static and googletest:
#
#   cmake -S . -B build-aarch64 --toolchain cmake/aarch64-toolchain.cmake -DFBG_BUILD_TESTS=ON
#   cmake --build build-aarch64 && ctest --test-dir build-aarch64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
# Every test runs on each of these CPUs, on which the kernels of this instruction set must run.
set(FBG_TEST_CPUS max=neon_bf16 neoverse-n1=neon_dot cortex-a53=neon CACHE STRING "Emulated CPUs")
set(FBG_GTEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest's sources, where no library is installed for the target")
