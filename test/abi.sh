#!/bin/sh
# abi.sh HEADERS LIBRARY [LIST]: the binary interface of the library: its symbols, and size and fields of every public struct and enum.
# With LIST, which is committed, both must agree: an interface does not change by accident.
set -eu
export LC_ALL=C
headers=$1 library=$2 list=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Definitions without comments, one a line: "struct NAME TEXT".
cat "$headers"/carom/*.h | sed -e 's://.*$::' -e '/^#/d' | tr '\n\t' '  ' | awk '{
    n = split($0, c, "");
    for (i = 1; i <= n; ++i) {
        text = text c[i];
        depth += (c[i] == "{") - (c[i] == "}");
        if (c[i] == "}" && depth == 0 && text !~ /typedef/) text = "";   # an inline function; extern "C"
        if (c[i] == "{" && text ~ /extern "C" *\{$/) { text = ""; depth = 0; }
        if (c[i] != ";" || depth > 0) continue;
        gsub(/ +/, " ", text);
        if (text ~ /typedef (struct|enum)[^(]*\{.*\}/) {
            kind = text ~ /typedef struct/ ? "struct" : "enum";
            sub(/^.*typedef (struct|enum) /, "", text);
            name = text;
            sub(/^.*\} */, "", name);
            sub(/;.*$/, "", name);
            print kind, name, text;
        }
        text = "";
    }
}' | sort -u >"$work/definitions"

{
    for h in "$headers"/carom/*.h; do echo "#include <carom/$(basename "$h")>"; done
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    while read -r kind name text; do
        printf '    printf("%s %s %%zu %s%%c", sizeof(%s), 10);\n' "$kind" "$name" "$(printf '%s' "$text" | cksum | cut -d ' ' -f 1)" "$name"
    done <"$work/definitions"
    echo '    return 0; }'
} >"$work/sizes.c"
${CC:-cc} -std=c17 -I"$headers" "$work/sizes.c" -o "$work/sizes"
{
    echo '# The binary interface of libcarom on machines with 64 bits: kind, name, size, checksum of the fields; then the symbols.  test/abi.sh writes it.'
    "$work/sizes"
    nm -D --defined-only "$library" | awk '$2 != "A" { print "symbol", $3 }' | sort
} >"$work/list"

[ -n "$list" ] || { cat "$work/list"; exit 0; }
grep -q '^struct carom_now ' "$work/list" && grep -q '^symbol carom_sim_create' "$work/list" || { echo "abi.sh: it finds neither structs nor symbols"; exit 1; }
diff "$list" "$work/list" && exit 0
echo "The binary interface is not the one in $list (< there, > here).  What only adds is free; what changes or removes needs another minor version (docs/c-library.md)."
echo "If it is meant: sh test/abi.sh include build/libcarom.so >test/abi.txt"
exit 1
