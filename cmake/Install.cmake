# The C++ library for other projects: headers, one archive, and what find_package(fbg) reads.
#
#   cmake --install build --component cpp --prefix <prefix>
#
# The Python package is made of this component and of `python`, the extension module.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fbg)

# All layers in one archive, under the same name in this build and where it is installed.
add_library(fbg STATIC)
add_library(fbg::fbg ALIAS fbg)
foreach(layer IN ITEMS core simd kernels gemm conv tables plan)
  foreach(target IN ITEMS fbg_${layer} fbg_${layer}_small)
    if(TARGET ${target})
      target_sources(fbg PRIVATE $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
endforeach()
set_target_properties(fbg PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(fbg PUBLIC cxx_std_20)
target_include_directories(fbg PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(fbg PUBLIC Threads::Threads)
target_link_options(fbg PUBLIC ${FBG_SANITIZE_OPTIONS})

install(TARGETS fbg EXPORT fbgTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
if(FBG_JOIN_OBJECTS)  # by the toolchain: the command that makes one object of those in the archive
  install(CODE "
    execute_process(COMMAND ${FBG_JOIN_OBJECTS} COMMAND_ERROR_IS_FATAL ANY
                    WORKING_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")"
          COMPONENT cpp)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fbg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT cpp)
install(EXPORT fbgTargets NAMESPACE fbg:: DESTINATION ${package_dir} COMPONENT cpp)

write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/fbgConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/fbgConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/fbgConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT cpp)
