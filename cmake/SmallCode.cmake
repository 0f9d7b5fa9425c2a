# fbg_small_code(TARGET SOURCE...): sources of a target that run seldom: once for a kernel, or to take what Python
# passes. Optimized for size, they take half the room and half the time to compile. They make an object library
# TARGET_small, which has options of its own and thereby can have precompiled headers.
# fbg_small_wheel(TARGET SOURCE...): those whose loops over data are all in kernels, generated or written vector by
# vector, in builds by Clang, which makes the wheels.
function(fbg_small_code target)
  add_library(${target}_small OBJECT ${ARGN})
  target_compile_options(${target}_small PRIVATE $<$<CONFIG:Release>:-Os>)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_small>)
endfunction()

function(fbg_small_wheel target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
                              COMPILE_OPTIONS "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:Clang>>:-Os>")
endfunction()
