# Installs the header, libkkc, find_package(kkc) and pkg-config kkc. Modules install themselves beside libkkc.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kkc)

install(TARGETS kkc EXPORT kkcTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/include/kkc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT kkcTargets NAMESPACE kkc:: DESTINATION ${package_folder} COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kkcConfig.cmake.in ${PROJECT_BINARY_DIR}/kkcConfig.cmake
  INSTALL_DESTINATION ${package_folder})
# While the version is 0.x, each minor version may be incompatible.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kkcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kkcConfig.cmake ${PROJECT_BINARY_DIR}/kkcConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)

configure_file(${PROJECT_SOURCE_DIR}/cmake/kkc.pc.in ${PROJECT_BINARY_DIR}/kkc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kkc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
