# Compiles for a glibc older than this machine's, as manylinux wheels must, with Zig's Clang: it has
# the headers and the symbols of every version of glibc, and compiles for any CPU. The C++ library is
# the static libstdc++ of an installed GCC (of its cross compiler where the CPU is not this machine's),
# so that the archives in the wheel link with programs that GCC compiles.
#
#   FBG_ZIG=path/to/zig FBG_MACHINE=aarch64 cmake -S . -B build-wheel --toolchain packaging/manylinux/toolchain.cmake
#
# scripts/wheels.py does that for all versions of Python.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(FBG_GLIBC 2.28)
if(NOT DEFINED ENV{FBG_ZIG})
  message(FATAL_ERROR "fbg: FBG_ZIG must name the zig of the Python package ziglang")
endif()
if(NOT "$ENV{FBG_MACHINE}" MATCHES "^(x86_64|aarch64)$")
  message(FATAL_ERROR "fbg: FBG_MACHINE must be x86_64 or aarch64, got '$ENV{FBG_MACHINE}'")
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{FBG_MACHINE})
set(target $ENV{FBG_MACHINE}-linux-gnu)
set(FBG_GNU ${target}-)  # before the name of one of GNU's tools
if(CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(FBG_GNU "")
endif()
set(FBG_GXX ${FBG_GNU}g++)

# A compiler is one command for CMake.
foreach(language cc c++)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/zig-${language} @ONLY
       CONTENT "#!/bin/sh\nexec '$ENV{FBG_ZIG}' ${language} -target ${target}.${FBG_GLIBC} \"$@\"\n")
  file(CHMOD ${CMAKE_BINARY_DIR}/zig-${language} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/zig-cc)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig-c++)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)

# Headers of Xbyak and Highway apart from the rest of /usr/include, which belongs to another glibc.
foreach(library xbyak hwy)
  if(EXISTS /usr/include/${library})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
    file(CREATE_LINK /usr/include/${library} ${CMAKE_BINARY_DIR}/include/${library} SYMBOLIC)
  endif()
endforeach()
list(PREPEND CMAKE_INCLUDE_PATH ${CMAKE_BINARY_DIR}/include)

set(FBG_JOIN_OBJECTS ${CMAKE_COMMAND} -DGNU=${FBG_GNU} -P ${here}/join_objects.cmake)

execute_process(COMMAND ${FBG_GXX} -print-file-name=libstdc++.a OUTPUT_VARIABLE libstdcxx
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FBG_GXX} -E -x c++ /dev/null -v OUTPUT_QUIET ERROR_VARIABLE searched
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n /[^\n]*/c\\+\\+/[^\n]*" directories "${searched}")
set(includes "")
foreach(directory IN LISTS directories)
  string(STRIP "${directory}" directory)
  string(APPEND includes " -I${directory}")
endforeach()
execute_process(COMMAND ${CMAKE_C_COMPILER} -O2 -fPIC -c ${here}/compat.c -o ${CMAKE_BINARY_DIR}/compat.o
                COMMAND_ERROR_IS_FATAL ANY)
# What wheels contain of these compilers; cmake/Sbom.cmake lists it.
execute_process(COMMAND ${FBG_GXX} -dumpfullversion OUTPUT_VARIABLE gcc
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND $ENV{FBG_ZIG} cc -dumpversion OUTPUT_VARIABLE clang
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND $ENV{FBG_ZIG} version OUTPUT_VARIABLE zig
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(FBG_STATIC_LIBRARIES libstdc++=${gcc} libunwind=${clang} zig-compiler-rt=${zig})

# Clang 17 and GCC 14 began to add the constraints of a function to its name. Without them, programs that
# GCC 12 or 13 compiles find the functions in the archives. Instances of templates that became the same code are merged;
# loops are not unrolled, as GCC does not unroll them either. Functions that no exception passes
# have no unwind tables, which only debuggers would read.
set(CMAKE_CXX_FLAGS_INIT "-g0 -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fno-addrsig -fno-unroll-loops -Xclang -fmerge-functions -fclang-abi-compat=16 -nostdinc++ -I${here}/include${includes}")
set(CMAKE_CXX_STANDARD_LIBRARIES
    "-nostdlib++ ${CMAKE_BINARY_DIR}/compat.o ${libstdcxx} -lunwind")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--gc-sections -Wl,--version-script=${here}/module.map")
