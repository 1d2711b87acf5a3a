# new_scheme.cmake: docs/add-a-scheme.md and docs/add-an-implicit-scheme.md, applied.
#
# Included: the code block of each page becomes a file, and the conformance suites are built once more for it alone.  Faults planted in it must be caught by the
# test that is named with each.
# As a script (cmake -DSOURCE=... -DWORK=... -P): a copy of the sources gets both files and lines, is built, and runs the suites.
include(${CMAKE_CURRENT_LIST_DIR}/page_block.cmake)

function(page_read source name file)
  page_file(${source}/docs/${name}.md page)
  page_block("${page}" "`src/scheme/${file}.c`" code)
  page_block("${page}" "`src/scheme/schemes.def`" line)
  set(code "${code}" PARENT_SCOPE)
  set(line "${line}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  copy_sources(${SOURCE} ${WORK})
  page_read(${SOURCE} add-a-scheme symplectic_euler)
  file(WRITE ${WORK}/src/scheme/symplectic_euler.c "${code}")
  file(APPEND ${WORK}/src/scheme/schemes.def "${line}")
  page_read(${SOURCE} add-an-implicit-scheme implicit_euler)
  file(WRITE ${WORK}/src/scheme/implicit_euler.c "${code}")
  file(APPEND ${WORK}/src/scheme/schemes.def "${line}")
  set(suites conformance_order conformance_points conformance_scheme conformance_friction conformance_run test_every_scheme test_bodies test_joints test_heap)
  string(REPLACE ";" " " targets "${suites}")
  must("cmake -S ${WORK} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Release ${OPTIONS}")
  must("cmake --build ${WORK}/build --target carom carom_cli check_layers check_equations ${targets}")
  must("${WORK}/build/carom schemes symplectic-euler")
  must("${WORK}/build/carom schemes implicit-euler")
  string(REPLACE ";" "|" names "${suites}")
  execute_process(COMMAND ctest --test-dir ${WORK}/build -R "^(${names}|check_layers|check_equations)$" --output-on-failure RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "the suites fail with the schemes of docs/add-a-scheme.md and docs/add-an-implicit-scheme.md")
  endif()
  file(REMOVE_RECURSE ${WORK})
  return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/add-a-scheme.md ${PROJECT_SOURCE_DIR}/docs/add-an-implicit-scheme.md)

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

function(new_scheme_suite suite name scheme)
  add_executable(${name}_${suite} conformance_${suite}.c ${CMAKE_BINARY_DIR}/test/${name}.c)
  target_compile_definitions(${name}_${suite} PRIVATE CAROM_INSIDE NEW_SCHEME=carom_scheme_${scheme})
  target_link_libraries(${name}_${suite} PRIVATE test_systems ${CMOCKA} m)
  target_include_directories(${name}_${suite} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${name}_${suite} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name}_${suite} COMMAND ${name}_${suite})
endfunction()

page_read(${PROJECT_SOURCE_DIR} add-an-implicit-scheme implicit_euler)
new_scheme_file(implicit_scheme "${code}")
set(implicit "${code}")
page_read(${PROJECT_SOURCE_DIR} add-a-scheme symplectic_euler)
new_scheme_file(new_scheme "${code}")
foreach(suite order points scheme friction run)
  new_scheme_suite(${suite} new_scheme symplectic_euler)
  new_scheme_suite(${suite} implicit_scheme implicit_euler)
endforeach()

# Public headers suffice for both.
add_library(scheme_pages OBJECT ${CMAKE_BINARY_DIR}/test/new_scheme.c ${CMAKE_BINARY_DIR}/test/implicit_scheme.c)
target_include_directories(scheme_pages PRIVATE ${PROJECT_SOURCE_DIR}/include)

# name, right, wrong, test that fails; of the scheme in `code`, its name in `scheme`
function(new_scheme_fault name right wrong test)
  string(FIND "${code}" "${right}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${scheme}: the fault '${name}' has no place: '${right}'")
  endif()
  string(REPLACE "${right}" "${wrong}" text "${code}")
  new_scheme_file(fault_${name} "${text}")
  new_scheme_suite(points fault_${name} ${scheme})
  set_tests_properties(fault_${name}_points PROPERTIES PASS_REGULAR_EXPRESSION "FAILED  . ${test}")
endfunction()

set(scheme symplectic_euler)
set(where evaluations_are_where_the_table_says)
new_scheme_fault(force_time "w->a, w->g, s->t, s->q, s->v" "w->a, w->g, s->t + s->h, s->q, s->v" ${where})
new_scheme_fault(force_point "    CAROM_TRY(carom_free_motion(s, &w->F, w->a, w->g, s->t, s->q, s->v))"
  "    carom_move(s, w->v_1, s->q, s->h, s->v);\n    CAROM_TRY(carom_free_motion(s, &w->F, w->a, w->g, s->t + s->h, w->v_1, s->v))" ${where})
new_scheme_fault(gap_time "    // I = {" "    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, s->q));\n    // I = {" ${where})
new_scheme_fault(directions "    CAROM_TRY(carom_directions(s, &w->L, s->t, s->q))"
  "    carom_move(s, w->u_1, s->q, s->h, s->v);\n        CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->u_1))" ${where})
new_scheme_fault(old_velocity "s->q, s->q, s->h, w->v_1" "s->q, s->q, s->h, s->v" oscillations_are_stable_up_to_the_declared_step)
set(scheme implicit_euler)
set(code "${implicit}")
new_scheme_fault(implicit_force_time "w->f, NULL, t_1, w->q_1, v_1" "w->f, NULL, s->t, w->q_1, v_1" ${where})
new_scheme_fault(implicit_directions "carom_directions(s, &N->L, t_1, w->q_1)" "carom_directions(s, &N->L, s->t, s->q)" ${where})
new_scheme_fault(implicit_gaps "carom_gaps(s, w->g, s->t + half, w->q_1)" "carom_gaps(s, w->g, s->t, s->q)" ${where})

add_test(NAME test_new_scheme_long COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_BINARY_DIR}/test/new_scheme
  "-DOPTIONS=-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}" -P ${CMAKE_CURRENT_SOURCE_DIR}/new_scheme.cmake)
set_tests_properties(test_new_scheme_long PROPERTIES LABELS long)

add_test(NAME test_new_command_long COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_BINARY_DIR}/test/new_command
  "-DOPTIONS=-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}" -P ${CMAKE_CURRENT_SOURCE_DIR}/new_command.cmake)
set_tests_properties(test_new_command_long PROPERTIES LABELS long)

# Pages that change sources by diffs: they fit (every run), and do what they say (long).
foreach(part joint shape column)
  set(arguments -DSOURCE=${PROJECT_SOURCE_DIR} -DPAGE=add-a-${part})
  add_test(NAME new_${part}_fits COMMAND ${CMAKE_COMMAND} ${arguments} -DWORK=${CMAKE_BINARY_DIR}/test/new_${part}_fits -DDRY=1 -P ${CMAKE_CURRENT_SOURCE_DIR}/new_part.cmake)
  add_test(NAME test_new_${part}_long COMMAND ${CMAKE_COMMAND} ${arguments} -DWORK=${CMAKE_BINARY_DIR}/test/new_${part}
    "-DOPTIONS=-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}" -P ${CMAKE_CURRENT_SOURCE_DIR}/new_part.cmake)
  set_tests_properties(test_new_${part}_long PROPERTIES LABELS long)
endforeach()
