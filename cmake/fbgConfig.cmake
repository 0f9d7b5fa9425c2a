# find_package(fbg CONFIG REQUIRED), then target_link_libraries(app PRIVATE fbg::fbg).
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/fbgTargets.cmake)
