# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where: the command, two libraries, headers, pkg-config and CMake packages.
include(CMakePackageConfigHelpers)

set(libraries gyre_shared gyre_static)
set(modules gyre)
add_library(gyre::gyre ALIAS gyre_shared)
add_library(gyre::gyre_static ALIAS gyre_static)
set_target_properties(gyre_shared PROPERTIES EXPORT_NAME gyre)
set_target_properties(gyre_static PROPERTIES EXPORT_NAME gyre_static)
if(GYRE_LAB)
  list(APPEND libraries gyrelab_shared gyrelab_static)
  list(APPEND modules gyrelab)
  add_library(gyre::lab ALIAS gyrelab_shared)
  add_library(gyre::lab_static ALIAS gyrelab_static)
  set_target_properties(gyrelab_shared PROPERTIES EXPORT_NAME lab)
  set_target_properties(gyrelab_static PROPERTIES EXPORT_NAME lab_static)
endif()

if(NOT GYRE_INSTALL)
  return()
endif()
if(GYRE_LAB)
  install(TARGETS gyre RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS gyre_workload gyre_workload_relinked
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/gyre)
endif()
install(TARGETS ${libraries} EXPORT gyre-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/gyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gyre-targets NAMESPACE gyre:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/gyre-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/gyre-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/gyre-config-version.cmake
  COMPATIBILITY SameMinorVersion) # until 1.0 a minor version may change the interface
install(FILES ${PROJECT_BINARY_DIR}/cmake/gyre-config.cmake
              ${PROJECT_BINARY_DIR}/cmake/gyre-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)

# from the .pc file to the prefix, so that an installed tree can be moved
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
foreach(module ${modules})
  configure_file(cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/cmake/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${module}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(GYRE_LAB AND NOT CMAKE_CROSSCOMPILING)
  install(FILES ${PROJECT_BINARY_DIR}/share/gyre.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/share/gyre.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gyre)
endif()
