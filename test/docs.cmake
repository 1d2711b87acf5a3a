# The documentation: references are what the program prints now, pages do what they say, pictures are there and small.
set(docs ${PROJECT_SOURCE_DIR}/docs)
foreach(pair "cli|help;--markdown" "model|help;model;--markdown" "schemes|schemes;--markdown")
  string(REGEX REPLACE "[|].*" "" name "${pair}")
  string(REGEX REPLACE ".*[|]" "" arguments "${pair}")
  add_test(NAME docs_reference_${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:carom_cli> "-DARGUMENTS=${arguments}"
           -DPAGE=${docs}/reference-${name}.md -P ${CMAKE_CURRENT_SOURCE_DIR}/check_reference.cmake)
endforeach()

add_test(NAME docs_equations COMMAND sh -c "command -v python3 >/dev/null || exit 77; exec python3 -B '${CMAKE_CURRENT_SOURCE_DIR}/equations.py' '${PROJECT_SOURCE_DIR}'")
set_tests_properties(docs_equations PROPERTIES SKIP_RETURN_CODE 77)

# Sanitizers see nothing new there.
if(NOT CAROM_SANITIZE)
  set_tests_properties(check_install PROPERTIES FIXTURES_SETUP installed)
  file(GLOB pages CONFIGURE_DEPENDS ${docs}/*.md)
  list(REMOVE_ITEM pages ${docs}/python.md) # its blocks belong together: python/tests/test_docs.py runs them
  foreach(page ${PROJECT_SOURCE_DIR}/README.md ${pages})
    get_filename_component(name ${page} NAME_WE)
    if(page STREQUAL ${docs}/README.md)
      set(name contents)
    endif()
    file(STRINGS ${page} fences REGEX "^ *```")
    if(fences)
      add_test(NAME docs_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/docs.sh ${CMAKE_BINARY_DIR}/test/install/prefix ${CMAKE_BINARY_DIR}/test/docs ${page})
      set_tests_properties(docs_${name} PROPERTIES FIXTURES_REQUIRED installed)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    if(fences MATCHES "``` *[a-z]+ .*long")
      add_test(NAME docs_${name}_long COMMAND ${CMAKE_COMMAND} -E env LONG=1 ${CMAKE_CURRENT_SOURCE_DIR}/docs.sh ${CMAKE_BINARY_DIR}/test/install/prefix
               ${CMAKE_BINARY_DIR}/test/docs-long ${page})
      set_tests_properties(docs_${name}_long PROPERTIES FIXTURES_REQUIRED installed LABELS long)
    endif()
  endforeach()
endif()
if(NOT CAROM_SANITIZE)
  add_test(NAME check_troubleshooting COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/troubleshooting.sh ${PROJECT_SOURCE_DIR})
  add_test(NAME docs_gallery COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/gallery.sh ${CMAKE_BINARY_DIR})
endif()
