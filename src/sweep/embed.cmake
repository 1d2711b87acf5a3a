# embed.cmake: C text as C arrays, PREFIX + name of the file (NAME_h of NAME.h) + SUFFIX, which HEADER declares.
# cmake -DOUT=file.c -DIN="a.inc;b.inc" -DHEADER=x.h -DPREFIX=p_ -DSUFFIX=_s -P embed.cmake
set(code "// Generated.\n#include \"${HEADER}\"\n\n")
foreach(file IN LISTS IN)
  get_filename_component(name ${file} NAME_WE)
  if(file MATCHES "[.]h$")
    set(name ${name}_h)
  endif()
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
  string(APPEND code "const char ${PREFIX}${name}${SUFFIX}[] = {\n${bytes}0};\n\n")
endforeach()
file(WRITE ${OUT} "${code}")
