# fbg_small_code(TARGET SOURCE...): sources that run once for a kernel. Optimized for size, they take half the room and
# half the time to compile. fbg_small_wheel(TARGET SOURCE...): those that run once for a call, a plan or a set of weights,
# in builds by Clang, which makes the wheels.
function(fbg_small_code target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
                              COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
endfunction()

function(fbg_small_wheel target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
                              COMPILE_OPTIONS "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:Clang>>:-Os>")
endfunction()
