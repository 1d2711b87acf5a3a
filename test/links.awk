# links.awk: every link of the pages leads somewhere: the file is there, and so is the heading behind #.
#
# usage: awk -f test/links.awk README.md docs/*.md ...      from the root of the sources; exit status 1: one does not
function folder(file) {
    sub(/[^\/]*$/, "", file)
    return file
}

# docs/../python/x -> python/x
function plain(file) {
    while (match(file, /[^\/]+\/\.\.\//)) file = substr(file, 1, RSTART - 1) substr(file, RSTART + RLENGTH)
    return file
}

# The anchor of a heading: letters in lower case, digits, - and _; blanks become -.
function anchor(text) {
    sub(/^#+ /, "", text)
    text = tolower(text)
    gsub(/[^a-z0-9_ -]/, "", text)
    gsub(/ /, "-", text)
    return text
}

function there(file, line) {
    if (!(file in seen)) {
        seen[file] = (getline line < file) >= 0
        close(file)
    }
    return seen[file]
}

FNR == 1 { fence = 0 }
/^ *```/ { fence = !fence; next }
fence || /^    / { next }
/^#+ / { heading[FILENAME "#" anchor($0)] = 1 }
{
    text = $0
    while (match(text, /\]\([^()]*\)/)) {
        link[++n] = substr(text, RSTART + 2, RLENGTH - 3)
        place[n] = FILENAME ":" FNR
        from[n] = FILENAME
        text = substr(text, RSTART + RLENGTH)
    }
}

END {
    for (i = 1; i <= n; ++i) {
        if (link[i] ~ /^[a-z]+:/) continue
        at = index(link[i], "#")
        file = at ? substr(link[i], 1, at - 1) : link[i]
        target = file == "" ? from[i] : plain(folder(from[i]) file)
        if (!there(target)) {
            print place[i] ": no file " target
            ++faults
        } else if (at && target ~ /\.md$/ && !((target substr(link[i], at)) in heading)) {
            print place[i] ": no heading " substr(link[i], at) " in " target
            ++faults
        }
    }
    print n " links, " faults + 0 " lead nowhere"
    exit faults > 0 || n < 100
}
