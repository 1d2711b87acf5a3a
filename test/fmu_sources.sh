#!/bin/sh
# The sources inside FMUs make a library that lacks nothing: their objects, as they were compiled for the program, are
# linked alone, with libc and libm.  (test_fmu long compiles them anew and runs what comes out.)
#   fmu_sources.sh BUILD_FOLDER SOURCE_FOLDER C_COMPILER
set -eu
build=$1 sources=$2 cc=$3
out=$build/test/fmu_sources
mkdir -p "$out"
objects=
for file in $(sed -n 's/^    {"\(src\/.*\.c\)", .*/\1/p' "$build/src/cli/fmu_parts.c"); do
    name=${file#src/}
    for object in "$build/src/CMakeFiles/carom_core.dir/$name.o" "$build/src/CMakeFiles/carom_files.dir/$name.o" \
        "$build/src/fmu/CMakeFiles/carom_fmu.dir/${name#fmu/}.o" ''; do
        [ -f "$object" ] && [ "$file" != src/derive/shapes/cloud.c ] && break
    done
    if [ -z "$object" ]; then # compiled otherwise, or not at all, in the program
        object=$out/$(basename "$file").o
        "$cc" -std=c17 -O0 -fPIC -DCAROM_INSIDE -I"$sources/src" -I"$sources/include" -c "$sources/$file" -o "$object"
    fi
    objects="$objects $object"
done
[ -n "$objects" ] || { echo "no source of FMUs is listed in $build/src/cli/fmu_parts.c"; exit 1; }
cat >"$out/native.c" <<"END"
const void *const *carom_fmu_native(const char *folder, void **code);
const void *const *carom_fmu_native(const char *folder, void **code) { return (void)folder, (void)code, (void *)0; }
void carom_fmu_native_close(void *code);
void carom_fmu_native_close(void *code) { (void)code; }
END
"$cc" -shared -fPIC -Wl,--no-undefined $objects "$out/native.c" -o "$out/all.so" -lm
echo "$(echo "$objects" | wc -w) objects, nothing missing"
