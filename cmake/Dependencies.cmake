# The two header-only libraries of the kernels: Xbyak (only src/kernels/x64) and Highway (only src/simd).
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
foreach(dep XBYAK HIGHWAY)
  if(NOT FBG_${dep}_INCLUDE_DIR)
    message(FATAL_ERROR "fbg: ${dep} headers not found. Install libxbyak-dev and libhwy-dev, "
                        "or configure with -DFBG_FETCH_DEPS=ON.")
  endif()
endforeach()
