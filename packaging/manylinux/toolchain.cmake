# Compiles for a glibc older than this machine's, as manylinux wheels must, with Zig's clang: it has
# the headers and the symbols of every version of glibc. The C++ library is the static libstdc++ of
# the installed GCC, so that the archives in the wheel link with programs that GCC compiles.
#
#   FBG_ZIG=path/to/zig cmake -S . -B build-wheel --toolchain packaging/manylinux/toolchain.cmake
#
# scripts/wheels.py does that for all versions of Python.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(here ${CMAKE_CURRENT_LIST_DIR})
set(FBG_GLIBC 2.28)

# A compiler is one command for CMake.
if(NOT DEFINED ENV{FBG_ZIG})
  message(FATAL_ERROR "fbg: FBG_ZIG must name the zig of the Python package ziglang")
endif()
foreach(language cc c++)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/zig-${language} @ONLY
       CONTENT "#!/bin/sh\nexec '$ENV{FBG_ZIG}' ${language} -target x86_64-linux-gnu.${FBG_GLIBC} \"$@\"\n")
  file(CHMOD ${CMAKE_BINARY_DIR}/zig-${language} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/zig-cc)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig-c++)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)

execute_process(COMMAND g++ -print-file-name=libstdc++.a OUTPUT_VARIABLE libstdcxx
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND g++ -dumpversion OUTPUT_VARIABLE version
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND g++ -dumpmachine OUTPUT_VARIABLE machine
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_C_COMPILER} -O2 -fPIC -c ${here}/compat.c -o ${CMAKE_BINARY_DIR}/compat.o
                COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_CXX_FLAGS_INIT
    "-g0 -nostdinc++ -I${here}/include -I/usr/include/c++/${version} -I/usr/include/${machine}/c++/${version}")
set(CMAKE_CXX_STANDARD_LIBRARIES
    "-nostdlib++ ${CMAKE_BINARY_DIR}/compat.o ${libstdcxx} -lunwind")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--gc-sections -Wl,--version-script=${here}/module.map")
