# arguments.awk: calls of every function of the public headers with each of its pointers missing, as C text for test_arguments.c.
#
#     awk -f arguments.awk test_arguments.c include/carom/*.h
#
# The first file tells by lines `#define VALUE_type ...` which types have values of their own; others get zeroed memory.
FNR == NR { if ($1 == "#define" && $2 ~ /^VALUE_/) known[substr($2, 7)] = 1; next }
FNR == 1 { text = ""; depth = 0 }
{
    line = $0
    sub(/\/\/.*/, "", line)
    if (line ~ /^[ \t]*#/ || directive) { directive = line ~ /\\$/; next }
    n = split(line, c, "")
    for (i = 1; i <= n; i++) {
        if (c[i] == "{") {
            if (text ~ /extern "C" *$/) text = ""
            else { depth++; text = text c[i] }
        } else if (c[i] == "}") {
            if (depth == 0) continue
            depth--
            text = text c[i]
            if (depth == 0 && text !~ /^ *typedef/ && text ~ /\) *\{/) text = "" # an inline function
        } else if (c[i] == ";" && depth == 0) { prototype(text); text = "" }
        else text = text c[i]
    }
    text = text " "
}
END {
    printf "\nstatic const function functions[] = {\n%s    {NULL, NULL, 0, NULL, NULL},\n};\n", table
}

function prototype(t,    head, name, args, n, k, at, deep, ch, list, i) {
    gsub(/__attribute__\(\(.*\)\)/, "", t)
    gsub(/[ \t]+/, " ", t)
    sub(/^ /, "", t)
    if (t ~ /^(typedef|extern|struct|enum|static)/ || !match(t, /carom_[a-z0-9_]+\(/)) return
    head = substr(t, 1, RSTART - 1)
    name = substr(t, RSTART, RLENGTH - 1)
    args = substr(t, RSTART + RLENGTH)
    sub(/\)[^)]*$/, "", args)
    if (args ~ /\.\.\./) return # a format: the compiler checks its arguments
    n = 1
    deep = 0
    list[1] = ""
    for (i = 1; i <= length(args); i++) {
        ch = substr(args, i, 1)
        if (ch == "(") deep++
        if (ch == ")") deep--
        if (ch == "," && deep == 0) list[++n] = ""
        else list[n] = list[n] ch
    }
    call(head, name, n, list)
}

function call(head, name, n, list,    i, a, type, base, value, code, words, p, names, sizes, size) {
    sizes = 0 # of entries with sizes: those of the structs that follow
    if (name ~ /_sized$/ || name == "carom_run_sim_view")
        for (i = 1; i <= n; i++)
            if (match(list[i], /carom_[a-z_]+ \*(x|def|given|run|watch)$/)) {
                size[++sizes] = substr(list[i], RSTART)
                sub(/ .*/, "", size[sizes])
            }
    p = 0
    code = ""
    words = ""
    names = ""
    for (i = 1; i <= n; i++) {
        a = list[i]
        sub(/^ /, "", a)
        if (a == "void" || a == "") continue
        if (a ~ /\(\*/) value = "NULL" # a function of the caller's
        else {
            type = a
            while (sub(/\[[^]]*\]$/, "*", type)) { }
            match(a, /[a-zA-Z0-9_]+(\[[^]]*\])*$/)
            word = substr(a, RSTART)
            sub(/\[.*/, "", word)
            stars = type
            gsub(/[^*]/, "", stars)
            base = type
            gsub(/\*/, " ", base)
            gsub(/(^| )(const|struct)( |$)/, " ", base)
            gsub(/(^| )(const|struct)( |$)/, " ", base)
            sub(/ [a-zA-Z0-9_]+ *$/, "", base)
            gsub(/^ +| +$/, "", base)
            gsub(/ +/, "_", base)
            if (base == "carom_write_text") stars = "*"
            if (stars == "" && i in size) value = "sizeof(" size[i] ")"
            else if (stars == "") value = base ~ /^carom_/ ? "(" base "){0}" : "1"
            else {
                p++
                names = names (p > 1 ? " " : "") word
                value = stars != "*" ? "spare(" p ")" : (base in known) ? "VALUE_" base : "spare(" p ")"
                value = "missing == " p " ? NULL : (void *)(" value ")"
                if (base == "carom_write_text") value = "missing == " p " ? NULL : VALUE_carom_write_text"
            }
        }
        words = words (words == "" ? "" : ", ") value
    }
    if (p == 0) return
    file = FILENAME
    sub(/.*\//, "", file)
    sub(/ $/, "", head)
    printf "static int call_%s(int missing) {\n    (void)missing;\n", name
    if (head == "carom_status") printf "    return (int)%s(%s);\n}\n", name, words
    else printf "    (void)0, %s%s(%s);\n    return -1;\n}\n", head == "void" ? "" : "(void)", name, words
    table = table "    {\"" file "\", \"" name "\", " p ", \"" names "\", call_" name "},\n"
}
