# fbg_precompile(TARGET HEADER...): headers that most sources of a target include are parsed once, by GCC. Clang, which
# makes the wheels, does without: it wants the same options for all sources, and shows where an #include is missing.
# fbg_precompile(TARGET REUSE_FROM OTHER) takes those of another target with the same options.
function(fbg_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    if(ARGV1 STREQUAL "REUSE_FROM")
      target_precompile_headers(${target} REUSE_FROM ${ARGV2})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()
