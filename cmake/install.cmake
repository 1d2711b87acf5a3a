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

# The Python package goes where the system's Python looks under /usr and /usr/local; for other prefixes PYTHONPATH must name the
# folder.  It finds libcarom.so by its place beside it.
set(CAROM_PYTHON_DIR "" CACHE STRING "where the Python package goes, under the prefix; empty: as the system's python3 would have it")
set(python_dir ${CAROM_PYTHON_DIR})
if(NOT python_dir)
  find_program(CAROM_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(CAROM_PYTHON3 python3)
  mark_as_advanced(CAROM_PYTHON3)
  set(python_dir lib/python3/dist-packages)
  if(CAROM_PYTHON3)
    execute_process(COMMAND ${CAROM_PYTHON3} -c "import sys
kind = 'dist' if any(p.endswith('dist-packages') for p in sys.path) else 'site'
print('lib/python%d.%d/%s-packages' % (*sys.version_info[:2], kind))" OUTPUT_VARIABLE said RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(python_dir ${said})
    endif()
  endif()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/carom DESTINATION ${python_dir} FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/notebooks DESTINATION ${CMAKE_INSTALL_DOCDIR}/python FILES_MATCHING PATTERN "*.ipynb")
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 FILES_MATCHING PATTERN "*.5")

# find_package(carom): target carom::carom
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
install(EXPORT caromTargets NAMESPACE carom:: DESTINATION ${config_dir})
file(WRITE ${CMAKE_BINARY_DIR}/caromConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/caromTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/caromConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/caromConfig.cmake ${CMAKE_BINARY_DIR}/caromConfigVersion.cmake DESTINATION ${config_dir})

# pkg-config; --static adds what the archive needs
set(library_flags "")
foreach(library ${CAROM_HDF5} ${CAROM_SUNDIALS} ${CAROM_KLU} ${CAROM_OPTIONAL})
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
