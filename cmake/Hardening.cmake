# What notices a write beyond an array of the stack or of a known size, and ends the process: canaries
# in the frames of functions that have arrays, and functions of the C library that know sizes. Builds
# with sanitizers do without, because those watch the same functions themselves.
if(NOT FBG_SANITIZE)
  target_compile_options(fbg_options INTERFACE -fstack-protector-strong)
  # Level 3 also knows sizes that are computed at run time; compilers before GCC 12 have 2. Neither does
  # anything without optimization, of which the C library then warns. Some compilers preset a level.
  set(FBG_FORTIFY 3)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    set(FBG_FORTIFY 2)
  endif()
  target_compile_options(fbg_options INTERFACE
                         $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${FBG_FORTIFY}>)
endif()
