# new_scheme.cmake: docs/add-a-scheme.md, applied.
#
# Included: the code block of the page becomes a file, and the conformance suites are built once more for it alone.  Faults planted in it must be caught by the
# test that is named with each.
# As a script (cmake -DSOURCE=... -DWORK=... -P): a copy of the sources gets the file and the line, is built, and runs the suites.
function(page_block text before result) # the first fenced block after a text
  string(FIND "${text}" "${before}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "docs/add-a-scheme.md: '${before}' is not there")
  endif()
  string(SUBSTRING "${text}" ${at} -1 text)
  string(REGEX MATCH "\n```[a-z][^\n]*\n" opening "${text}")
  string(LENGTH "${opening}" length)
  string(FIND "${text}" "${opening}" at)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "\n```" at)
  math(EXPR at "${at} + 1")
  string(SUBSTRING "${text}" 0 ${at} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(page_read source)
  file(READ ${source}/docs/add-a-scheme.md page)
  string(REPLACE ";" "<semicolon>" page "${page}") # a list else
  page_block("${page}" "`src/scheme/symplectic_euler.c`" code)
  page_block("${page}" "`src/scheme/schemes.def`" line)
  string(REPLACE "<semicolon>" ";" code "${code}")
  set(code "${code}" PARENT_SCOPE)
  set(line "${line}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  page_read(${SOURCE})
  file(REMOVE_RECURSE ${WORK})
  file(MAKE_DIRECTORY ${WORK})
  foreach(part CMakeLists.txt Makefile LICENSE THIRD-PARTY.md cmake include src test docs models bench tools README.md studies examples python page)
    if(EXISTS ${SOURCE}/${part})
      file(COPY ${SOURCE}/${part} DESTINATION ${WORK})
    endif()
  endforeach()
  file(WRITE ${WORK}/src/scheme/symplectic_euler.c "${code}")
  file(APPEND ${WORK}/src/scheme/schemes.def "${line}")
  set(suites conformance_order conformance_points conformance_scheme conformance_friction conformance_run test_every_scheme test_bodies test_joints test_heap)
  foreach(command
      "cmake -S ${WORK} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Release ${OPTIONS}"
      "cmake --build ${WORK}/build --target carom check_layers check_equations ${suites}"
      "sh -c \"${WORK}/build/carom schemes symplectic-euler\"")
    separate_arguments(command UNIX_COMMAND "${command}")
    execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(status)
      message(FATAL_ERROR "${command}: ${output}")
    endif()
  endforeach()
  string(REPLACE ";" "|" names "${suites}")
  execute_process(COMMAND ctest --test-dir ${WORK}/build -R "^(${names}|check_layers|check_equations)$" --output-on-failure RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "the suites fail with the scheme of docs/add-a-scheme.md")
  endif()
  file(REMOVE_RECURSE ${WORK})
  return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/add-a-scheme.md)
page_read(${PROJECT_SOURCE_DIR})

function(new_scheme_file name text)
  set(file ${CMAKE_BINARY_DIR}/test/${name}.c)
  set(old "")
  if(EXISTS ${file})
    file(READ ${file} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${file} "${text}")
  endif()
endfunction()

function(new_scheme_suite suite name)
  add_executable(${name}_${suite} conformance_${suite}.c ${CMAKE_BINARY_DIR}/test/${name}.c)
  target_compile_definitions(${name}_${suite} PRIVATE NEW_SCHEME=carom_scheme_symplectic_euler)
  target_link_libraries(${name}_${suite} PRIVATE test_systems ${CMOCKA} m)
  target_include_directories(${name}_${suite} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${name}_${suite} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name}_${suite} COMMAND ${name}_${suite})
endfunction()

new_scheme_file(new_scheme "${code}")
foreach(suite order points scheme friction run)
  new_scheme_suite(${suite} new_scheme)
endforeach()

# name, right, wrong, test that fails
function(new_scheme_fault name right wrong test)
  string(FIND "${code}" "${right}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "docs/add-a-scheme.md: the fault '${name}' has no place: '${right}'")
  endif()
  string(REPLACE "${right}" "${wrong}" text "${code}")
  new_scheme_file(fault_${name} "${text}")
  new_scheme_suite(points fault_${name})
  set_tests_properties(fault_${name}_points PROPERTIES PASS_REGULAR_EXPRESSION "FAILED  . ${test}")
endfunction()

set(where evaluations_are_where_the_table_says)
new_scheme_fault(force_time "w->a, w->g, s->t, s->q, s->v" "w->a, w->g, s->t + s->h, s->q, s->v" ${where})
new_scheme_fault(force_point "    CAROM_TRY(carom_free_motion(s, &w->F, w->a, w->g, s->t, s->q, s->v))"
  "    carom_move(s, w->v_1, s->q, s->h, s->v);\n    CAROM_TRY(carom_free_motion(s, &w->F, w->a, w->g, s->t + s->h, w->v_1, s->v))" ${where})
new_scheme_fault(gap_time "    // I = {" "    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, s->q));\n    // I = {" ${where})
new_scheme_fault(directions "    CAROM_TRY(carom_directions(s, &w->L, s->t, s->q))"
  "    carom_move(s, w->u_1, s->q, s->h, s->v);\n        CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->u_1))" ${where})
new_scheme_fault(old_velocity "s->q, s->q, s->h, w->v_1" "s->q, s->q, s->h, s->v" oscillations_are_stable_up_to_the_declared_step)

add_test(NAME test_new_scheme_long COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_BINARY_DIR}/test/new_scheme
  "-DOPTIONS=-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}" -P ${CMAKE_CURRENT_SOURCE_DIR}/new_scheme.cmake)
set_tests_properties(test_new_scheme_long PROPERTIES LABELS long)
