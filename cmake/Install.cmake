# The C++ library for other projects: headers, one archive per layer, and what find_package(fbg) reads.
#
#   cmake --install build --component cpp --prefix <prefix>
#
# The Python package is made of this component and of `python`, the extension module.
include(CMakePackageConfigHelpers)

set(FBG_LAYERS core simd kernels gemm conv tables plan)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fbg)

# All of it under one name, fbg::fbg, the same in this build and where it is installed.
add_library(fbg INTERFACE)
add_library(fbg::fbg ALIAS fbg)
target_link_libraries(fbg INTERFACE fbg_plan fbg_tables)
foreach(layer IN LISTS FBG_LAYERS)
  set_target_properties(fbg_${layer} PROPERTIES EXPORT_NAME ${layer})
endforeach()

list(TRANSFORM FBG_LAYERS PREPEND fbg_ OUTPUT_VARIABLE layer_targets)
install(TARGETS fbg ${layer_targets} EXPORT fbgTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
if(FBG_JOIN_OBJECTS)  # by the toolchain: the command that makes one object of several
  install(CODE "
    foreach(layer ${layer_targets})
      set(archive lib\${layer}.a)
      set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
      set(in_folder WORKING_DIRECTORY \${folder} COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND ${FBG_JOIN_OBJECTS} -o \${archive}.o -Wl,--whole-archive \${archive}
                      \${in_folder})
      file(REMOVE \${folder}/\${archive})
      execute_process(COMMAND ${CMAKE_AR} qcD \${archive} \${archive}.o \${in_folder})
      file(REMOVE \${folder}/\${archive}.o)
    endforeach()" COMPONENT cpp)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fbg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT cpp)
install(EXPORT fbgTargets NAMESPACE fbg:: DESTINATION ${package_dir} COMPONENT cpp)

write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/fbgConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/fbgConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/fbgConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT cpp)
