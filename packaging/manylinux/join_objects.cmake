# Makes one object of those in libfbg.a, in the working directory: what several sources have from the same header is
# there once, most of all Xbyak, whose copies would make the wheel 15 % larger. It has one section of each kind rather
# than one for each function, whose headers and names would be 8 % of the archive. The module is linked from sections of
# single functions instead, of which it leaves out those that it does not call.
#
#   cmake -DGNU=<before the name of one of GNU's tools> -P join_objects.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${GNU}g++ -nostdlib -r -Wl,--discard-all -Wl,--force-group-allocation -Wl,--script=${CMAKE_CURRENT_LIST_DIR}/archive.ld
    -o fbg.o -Wl,--whole-archive libfbg.a)

# Names of others (the standard library's templates, Xbyak, Highway) are hidden: they would fill the index of the
# archive, and a program that has another version of such a library would get functions of both. So are those of two
# namespaces of fbg that no installed header mentions.
set(hide ${GNU}objcopy --wildcard)
foreach(name _ZN3fbg* _ZNK3fbg* _ZT?N3fbg* _ZGVZ* _ZZ* fbg_* !_ZN*3fbg4simd* !_ZN*3fbg7kernels*)
  list(APPEND hide --keep-global-symbol=${name})
endforeach()
run(${hide} fbg.o)

# What the object refers to in itself is final, and the names that only served for it are removed: together 5 % of the
# archive. What is fbg's own keeps its name, which profilers show, but for the many templates of fbg::simd.
find_program(python python3 REQUIRED)
run(${python} ${CMAKE_CURRENT_LIST_DIR}/resolve_relocations.py fbg.o unused)
file(STRINGS unused names)
set(templates ${names})
list(FILTER templates INCLUDE REGEX "^_ZNK?3fbg4simd")
list(FILTER names EXCLUDE REGEX "^_ZNK?3fbg|[$]")
list(JOIN names "\n" names)
list(JOIN templates "\n" templates)
file(WRITE unused "${names}\n${templates}\n")
run(${GNU}objcopy --strip-symbols=unused fbg.o)

file(REMOVE libfbg.a unused)
run(${GNU}ar qcD libfbg.a fbg.o)
file(REMOVE fbg.o)
