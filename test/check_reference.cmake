# A reference page is what the program prints.  Run with -DPROGRAM= -DARGUMENTS= -DPAGE=.
set(ENV{ASAN_OPTIONS} detect_leaks=0)
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE printed)
file(READ ${PAGE} page)
if(status OR NOT printed STREQUAL page)
  message(FATAL_ERROR "${PAGE} is not what `carom ${ARGUMENTS}` prints (status ${status}); run `make docs`")
endif()
