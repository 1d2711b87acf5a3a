# Checks of the project itself: layers, circles, equation tags, what the core links, what an installation holds.
# Sanitizers see nothing there.
if(CAROM_SANITIZE)
  return()
endif()
foreach(name check_layers check_circles check_equations check_messages check_limits)
  add_executable(${name} ${name}.c)
  target_compile_definitions(${name} PRIVATE CAROM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name} COMMAND ${name} ${CMAKE_BINARY_DIR}/${name}.txt)
endforeach()

add_executable(core_alone core_alone.c)
target_link_libraries(core_alone PRIVATE carom_core)
set_target_properties(core_alone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
add_test(NAME check_core COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DREADELF=${CMAKE_READELF} -DCORE=$<TARGET_FILE:carom_core>
         -DPROGRAM=$<TARGET_FILE:core_alone> -P ${CMAKE_CURRENT_SOURCE_DIR}/check_core.cmake)

add_test(NAME check_install COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
         -DWORK=${CMAKE_BINARY_DIR}/test/install -DCC=${CMAKE_C_COMPILER} -DFLAGS=-std=c17 -DREADELF=${CMAKE_READELF}
         -P ${CMAKE_CURRENT_SOURCE_DIR}/check_install.cmake)
add_test(NAME check_core_only COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/core_only -DCC=${CMAKE_C_COMPILER}
         -P ${CMAKE_CURRENT_SOURCE_DIR}/check_core_only.cmake)
set_tests_properties(check_core_only PROPERTIES LABELS long) # minutes of compiling
