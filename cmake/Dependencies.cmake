# The architecture whose assembler the build has (a directory of src/kernels), or "generic", and the
# two header-only libraries of the kernels: Xbyak (only src/kernels/x64) and Highway (only src/simd).
# AArch64 has an encoder of our own.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(FBG_ARCHITECTURE x64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(FBG_ARCHITECTURE aarch64)
else()
  set(FBG_ARCHITECTURE generic)
endif()
set(dependencies HIGHWAY)
if(FBG_ARCHITECTURE STREQUAL x64)
  list(APPEND dependencies XBYAK)
endif()

if(FBG_FETCH_DEPS)
  include(FetchContent)
  FetchContent_Declare(xbyak GIT_REPOSITORY https://github.com/herumi/xbyak.git GIT_TAG v6.68
                       SOURCE_SUBDIR no-build)
  FetchContent_Declare(highway GIT_REPOSITORY https://github.com/google/highway.git GIT_TAG 1.0.3
                       SOURCE_SUBDIR no-build)
  FetchContent_MakeAvailable(xbyak highway)
  set(FBG_XBYAK_INCLUDE_DIR ${xbyak_SOURCE_DIR})
  set(FBG_HIGHWAY_INCLUDE_DIR ${highway_SOURCE_DIR})
else()
  find_path(FBG_XBYAK_INCLUDE_DIR xbyak/xbyak.h)
  find_path(FBG_HIGHWAY_INCLUDE_DIR hwy/highway.h)
endif()
foreach(dep IN LISTS dependencies)
  if(NOT FBG_${dep}_INCLUDE_DIR)
    message(FATAL_ERROR "fbg: ${dep} headers not found. Install libxbyak-dev and libhwy-dev, "
                        "or configure with -DFBG_FETCH_DEPS=ON.")
  endif()
endforeach()
