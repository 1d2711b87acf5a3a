#!/bin/sh
# Public headers: each compiles alone, and all do together, as C17 and as C++11; their comments name only what they
# declare; no header has more functions, no struct more members than headers.txt says.  The counts may only shrink: who
# adds a function to the interface takes another out, or says why in the commit that raises a number.  carom.h counts
# with all that it includes.  Entries with sizes (_sized, _view), which programs reach through macros of the names that
# are counted, are counted apart.
#   headers.sh INCLUDE_FOLDER LIST C_COMPILER [CXX_COMPILER]
set -u
include=$1 list=$2 cc=$3 cxx=${4:-}
bad=0
fail() { echo "$*"; bad=1; }

for header in "$include"/carom/*.h; do
    name=${header##*/}
    echo "#include <carom/$name>" |
        "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" -x c - ||
        fail "$name does not compile alone"
    [ -z "$cxx" ] || echo "#include <carom/$name>" |
        "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" -x c++ - ||
        fail "$name does not compile alone as C++"
done

together=$(cd "$include" && printf '#include <%s>\n' carom/*.h)
echo "$together" | "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" -x c - ||
    fail "all headers together do not compile"
[ -z "$cxx" ] || echo "$together" |
    "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" -x c++ - ||
    fail "all headers together do not compile as C++"

list() { sed 's,//.*,,' "$@" | grep -v '^typedef' | grep -E '^[a-z][A-Za-z0-9_ *]*[ *]carom_[a-z0-9_]+\('; }
entries() { list "$@" | grep -E '_(sized|view)\('; }
functions() { # of header $1
    case $1 in
    */carom.h) set -- $("$cc" -M -I"$include" -x c "$1" | tr ' ' '\n' | grep '/carom/.*\.h$') ;;
    esac
    list "$@" | grep -cvE '_(sized|view)\('
}
members() { # of struct $2 in header $1: declarators, by commas and semicolons at the top of its braces
    sed 's,//.*,,' "$1" | awk -v name="$2" '
        $0 ~ "^typedef struct " name " \\{" { on = 1; next }
        on && $0 ~ "^} " name ";" {
            while (gsub(/\([^()]*\)/, "", all) || gsub(/\{[^{}]*\}/, "", all)) {}
            print gsub(/[;,]/, "", all); exit
        }
        on { all = all " " $0 }'
}
while read -r kind where name most; do
    case $kind in
    functions) now=$(functions "$include/carom/$where") most=$name ;;
    members) now=$(members "$include/carom/$where" "$name") ;;
    *) continue ;;
    esac
    [ "${now:-none}" -le "$most" ] 2>/dev/null || fail "$kind of $where ${name}: ${now:-none}, at most $most"
done <"$list"
for header in "$include"/carom/*.h; do
    grep -q "^functions ${header##*/} " "$list" || [ "$(functions "$header")" = 0 ] || fail "${header##*/} is not in headers.txt"
done
# A contract that names a function or struct which no public header declares leads its reader nowhere.
words() { grep -oE 'carom_[a-z0-9][a-z0-9_]*' | sort -u; }
private=$(sed -n 's,^[^/]*//,,p' "$include"/carom/*.h | words | grep -vxF "$(sed 's,//.*,,' "$include"/carom/*.h | words)")
[ -z "$private" ] || fail "comments name what no public header declares: $private"
all=$(list "$include"/carom/*.h | wc -l) apart=$(entries "$include"/carom/*.h | wc -l)
echo "$((all - apart)) public functions, $(functions "$include/carom/carom.h") of them for users of carom.h; $apart entries with sizes"
exit $bad
