# What `make install PREFIX=` puts where.  Nothing installed holds the prefix, so the tree can be moved.
include(CMakePackageConfigHelpers)

install(TARGETS carom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS carom EXPORT caromTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS carom_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/carom FILES_MATCHING PATTERN "*.yaml")
# README, docs/ and examples/ lie to each other as in the sources, so that their links hold.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(carom): target carom::carom
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
install(EXPORT caromTargets NAMESPACE carom:: DESTINATION ${config_dir})
file(WRITE ${CMAKE_BINARY_DIR}/caromConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/caromTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/caromConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/caromConfig.cmake ${CMAKE_BINARY_DIR}/caromConfigVersion.cmake DESTINATION ${config_dir})

# pkg-config; --static adds what the archive needs
set(library_flags "")
foreach(library ${CAROM_HDF5} ${CAROM_SUNDIALS} ${CAROM_KLU})
  if(library MATCHES "^/")
    get_filename_component(folder ${library} DIRECTORY)
    get_filename_component(name ${library} NAME_WE)
    string(REGEX REPLACE "^lib" "" name ${name})
    string(APPEND library_flags " -L${folder} -l${name}")
  else()
    string(APPEND library_flags " -l${library}")
  endif()
endforeach()
string(REGEX REPLACE "[^/]+" ".." up_to_prefix ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/cmake/carom.pc.in ${CMAKE_BINARY_DIR}/carom.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/carom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
