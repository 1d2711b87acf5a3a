# docs.awk: a page of the documentation becomes a shell script that does what its fenced blocks say.  See docs.sh.
BEGIN {
    split("build study system fragment package interrupt browser", list, " ")
    for (i in list) reasons[list[i]] = 1
    blocks = 0
}

function fault(line, what) {
    printf "fault %s:%d '%s'\n", page, line, what
}

# key=VALUE of the block's marks, or "".
function mark(key, i, part, n, word) {
    n = split(marks, word, " ")
    for (i = 1; i <= n; ++i) {
        if (word[i] == key) return "yes"
        if (index(word[i], key "=") == 1) return substr(word[i], length(key) + 2)
    }
    return ""
}

function begin_file(name) {
    printf "cat >'%s' <<'END-OF-BLOCK'\n", name
}

function end_file() {
    print "END-OF-BLOCK"
}

function put(name, text) {
    begin_file(name)
    printf "%s", text
    end_file()
}

# Lines "$ command", with continuations, and what they print.
function console(text, n, line, i, commands, expected, more) {
    n = split(text, line, "\n")
    commands = expected = ""
    more = 0
    for (i = 1; i <= n; ++i) {
        if (more || line[i] ~ /^\$ /) {
            commands = commands (more ? line[i] : substr(line[i], 3)) "\n"
            more = line[i] ~ /\\$/
        } else if (line[i] != "" || i < n) {
            expected = expected line[i] "\n"
        }
    }
    if (commands == "") fault(at, "a console block without a line that starts with $")
    put(".block.sh", commands)
    put(".expected", expected)
}

function c_body(text, n, line, i, heads, body) {
    n = split(text, line, "\n")
    heads = body = ""
    for (i = 1; i <= n; ++i) {
        if (line[i] ~ /^#include/) heads = heads line[i] "\n"
        else body = body line[i] "\n"
    }
    put(".block.c", heads "int main(void) {\n" given "\n" body "return 0;\n}\n")
}

function done(text, status, skip) {
    status = mark("status") == "" ? 0 : mark("status")
    skip = mark("skip")
    ++blocks
    if (skip != "" && !(skip in reasons)) fault(at, "skip=" skip " is no reason that docs.sh knows")
    if (skip == "study") {
        if (text !~ /^\.\/do study [a-z0-9-]+\n$/) fault(at, "skip=study is for one line: ./do study NAME")
        else printf "study %s:%d %s", page, at, substr(text, 12)
    }
    if (skip != "") return
    if (mark("long") != "") print "if [ -n \"${LONG:-}\" ]; then"
    if (lang == "sh") {
        put(".block.sh", text)
        printf "block %s:%d %s\n", page, at, status
    } else if (lang == "console") {
        console(text)
        printf "block %s:%d %s .expected %s\n", page, at, status, mark("loose")
    } else if (lang == "yaml") {
        yaml(text)
    } else if ((lang == "c" || lang == "xml") && mark("file") != "") {
        put(mark("file"), text)
    } else if (lang == "c") {
        c_body(text)
        print "printf '%s\\n' 'cc -std=c17 .block.c $(pkg-config --cflags --libs carom) -lm -o .block && ./.block' >.block.sh"
        printf "block %s:%d 0\n", page, at
    } else if (lang == "python") {
        put(".block.py", text)
        printf "python %s:%d\n", page, at
    } else if (lang == "") {
        fault(at, "a block without a language: sh, console, yaml, c, python are run; text, json are samples")
    } else if (lang !~ /^(text|json|cmake|html|bibtex|diff)$/) {
        fault(at, "language " lang " is not known to docs.sh")
    }
    if (mark("long") != "") print "fi"
}

# A whole model is checked; file=NAME keeps it; add=NAME is that model and these sections; replace as YAML has no such thing.
function yaml(text, name) {
    name = mark("file") == "" ? ".block.yaml" : mark("file")
    if (mark("add") != "") {
        put(".part.yaml", text)
        printf "cat '%s' .part.yaml >.block.yaml\n", mark("add")
        name = ".block.yaml"
    } else {
        if (text !~ /(^|\n)carom: 1/) fault(at, "a model begins with carom: 1; sections of one are marked add=NAME or skip=fragment")
        put(name, text)
    }
    printf "echo 'carom check %s' >.block.sh\nblock %s:%d %s\n", name, page, at, mark("status") == "" ? 0 : mark("status")
}

/^ *```/ && !inside {
    inside = 1
    at = NR
    info = $0
    indent = match(info, /`/) - 1
    sub(/^ *```/, "", info)
    n = split(info, word, " ")
    lang = word[1]
    marks = substr(info, length(lang) + 2)
    text = ""
    next
}
/^ *```/ && inside {
    inside = 0
    done(text)
    given = ""
    next
}
inside {
    text = text substr($0, indent + 1) "\n"
    next
}
/^<!-- given: .* -->$/ {
    given = substr($0, 13, length($0) - 16)
    next
}
/^    (\.\/do|carom|make|cmake|\$|for .*;) / { fault(NR, "a command outside of a fenced block") }
END {
    if (inside) fault(at, "a block that does not end")
    printf "echo '%s: %d blocks'\n", page, blocks
}
