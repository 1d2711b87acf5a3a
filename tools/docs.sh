#!/usr/bin/env bash
# What is made in docs/: references (the program's own tables), the gallery (models/), and every picture.
#
# usage: tools/docs.sh BUILD [references|gallery|pictures]...     without a part: all; BUILD: where carom is built
#        tools/docs.sh BUILD studies [NAME]...                    tables, data and pictures of the studies' pages (a part of pictures)
#        tools/docs.sh BUILD gallery-text [FOLDER]                the gallery's page on standard output, no pictures; FOLDER: ledgers of runs that are done
# Pictures want gnuplot, chromium (CHROMIUM names another), pngquant and some minutes.
set -euo pipefail
export LC_ALL=C
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
shift
carom=$build/carom work=$build/docs
docs=$source/docs images=$source/docs/images
mkdir -p "$work"

want() {
    command -v "$1" >/dev/null || { echo "tools/docs.sh: no $1 (Debian: apt-get install $1)" >&2; exit 1; }
}

keep() { # FILE.png NAME: into docs/images, with few colours
    pngquant --force --strip --speed 1 "${colours:-64}" "$1" -o "$images/$2.png"
    echo "docs/images/$2.png"
}

# -- references --------------------------------------------------------------------------------------------------

references() {
    "$carom" help --markdown >"$docs/reference-cli.md"
    "$carom" help model --markdown >"$docs/reference-model.md"
    "$carom" schemes --markdown >"$docs/reference-schemes.md"
    "$carom" schemes --support >"$docs/support.md"
    echo "docs/reference-cli.md docs/reference-model.md docs/reference-schemes.md docs/support.md"
}

# -- gallery ---------------------------------------------------------------------------------------------------------

# What the comment at the top of a model says: its first paragraph, what to look at, and what was measured.
words() { # MODEL.yaml
    awk '!/^#/ { exit }
        { sub(/^# ?/, "") }
        /^$/ { part = ""; first = 1; next }
        !first { say = say (say ? " " : "") $0; next }
        /^Source:/ { part = "source" }
        /^Look at:/ { part = "look" }
        /^Measured:/ { part = "measured" }
        { text[part] = text[part] (text[part] ? " " : "") $0 }
        END {
            print say
            if (text["look"]) { print ""; print text["look"] }
            if (text["measured"]) { print ""; print text["measured"] }
        }' "$1"
}

figures() { # NAME LEDGER.json: a row of the table at the end
    awk -v name="$1" 'function number(name) {
            return match($0, "\"" name "\": [-+0-9.e]+") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) : ""
        }
        /"scheme":/ { split($0, part, "\""); scheme = part[4] }
        /"step":/ { step = number("step"); end = number("end") }
        /"steps": [0-9]+,$/ { steps = number("steps") }
        /"impacts":/ { impacts = number("impacts") }
        /"penetration":/ { penetration = number("penetration") }
        /"drift":/ { drift = number("drift") }
        /"energy": [{]/ {
            start = number("start"); last = number("end"); impact = number("impact"); friction = number("friction")
            damping = number("damping"); external = number("external"); balance = number("balance")
        }
        END {
            printf "| %s | `%s` | %d to t = %.4g | %d | %.2g | %.2g | %.4g to %.4g | %.3g | %.3g | %.3g | %.3g | %.1g |\n", name, scheme, steps,
                end, impacts, penetration, drift, start, last, impact, friction, damping, external, balance
        }' "$2"
}

gallery_text() { # [FOLDER]
    cat <<'END'
# Gallery

<!-- Made by `make docs` from the comments at the top of models/*.yaml. -->

All bundled models. `carom examples NAME` writes one to the current directory, `carom run NAME.yaml` runs it, `carom view NAME.h5` shows it. Images are from two thirds of each run. The main figures of all [ledgers](ledger.md) are
[at the end](#ledgers). Known behaviour is checked by `checks:` of the model and by `test/test_mechanisms.c`.
END
    local model name ledgers=${1:-$work}
    for model in "$source"/models/*.yaml; do
        name=$(basename "$model" .yaml)
        (($#)) || "$carom" run "$model" --json --quiet --out "$work/$name.h5" >"$work/$name.json"
        printf '\n## %s\n\n![%s](images/gallery-%s.png)\n\n' "$name" "$name" "$name"
        words "$model"
    done
    cat <<'END'

## Ledgers

| model | scheme | steps | impacts | penetration | drift | energy, start to end | to impacts | to friction | to damping | external work | unaccounted |
|---|---|---|---|---|---|---|---|---|---|---|---|
END
    for model in "$source"/models/*.yaml; do
        name=$(basename "$model" .yaml)
        figures "$name" "$ledgers/$name.json"
    done
}

shot() { # RESULT.h5 TIME WIDTH,HEIGHT: $work/shot.png
    "$carom" view "$1" -o "$work/shot.html" >/dev/null
    rm -f "$work/shot.png"
    local attempt
    for attempt in 1 2 3; do # now and then a browser does not come back
        timeout -k 5 120 "${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars --use-gl=angle --use-angle=swiftshader --window-size="$3" \
            --virtual-time-budget=500 --screenshot="$work/shot.png" "file://$work/shot.html#t=$2" >"$work/shot.log" 2>&1 </dev/null || true
        [[ ! -s $work/shot.png ]] || break
    done
    [[ -s $work/shot.png ]] || { cat "$work/shot.log" >&2; exit 1; }
}

gallery() {
    want pngquant
    want "${CHROMIUM:-chromium}"
    gallery_text >"$docs/gallery.md"
    echo "docs/gallery.md"
    rm -f "$images"/gallery-*.png
    local model name
    for model in "$source"/models/*.yaml; do
        name=$(basename "$model" .yaml)
        shot "$work/$name.h5" "$(awk '/"end":/ { match($0, /"end": [-+0-9.e]+/); print substr($0, RSTART + 7, RLENGTH - 7)*2/3; exit }' "$work/$name.json")" 1100,640
        keep "$work/shot.png" "gallery-$name"
    done
}

# -- pictures of the other pages ------------------------------------------------------------------------------------

# What pages and studies/data/ quote of studies: rows of tables, data, pictures, of one run.
studies() { # [NAME]...
    want gnuplot
    want pngquant
    want python3
    local study picture page
    if (($# == 0)); then for study in "$source"/studies/*.sh; do set -- "$@" "$(basename "$study" .sh)"; done; fi
    for study; do
        rm -rf "${work:?}/$study"
        CAROM=$carom "$source/studies/$study.sh" "$work/$study" >/dev/null
        page=$(sed -n "s/^| \`.\/do study $study\` .*](\([a-z0-9-]*\.md\)) |$/\1/p" "$docs/studies.md")
        "$source/tools/quotes.py" renew "$docs/$page" "$work/$study"
        for picture in "$work/$study"/*.png; do # those that the page shows; the others are for who runs the study
            if grep -q "images/$(basename "$picture"))" "$docs/$page"; then keep "$picture" "$(basename "$picture" .png)"; fi
        done
    done
}

pictures() {
    want "${CHROMIUM:-chromium}"
    studies
    local picture page
    cmake --install "$build" --prefix "$work/prefix" >/dev/null
    for page in results compare dynamics first-five-minutes writing-a-model laws-of-contact cookbook; do # their commands make pictures
        "$source/test/docs.sh" "$work/prefix" "$work/pages" "$docs/$page.md" >"$work/$page.log" || { cat "$work/$page.log" >&2; exit 1; }
        for picture in "$work/pages/$page"/*.png; do
            if grep -q "images/$(basename "$picture"))" "$docs/$page.md"; then keep "$picture" "$(basename "$picture" .png)"; fi
        done
    done
    "$carom" run "$source/models/slider-crank.yaml" --quiet --out "$work/slider-crank.h5"
    shot "$work/slider-crank.h5" 0.1 1280,860
    keep "$work/shot.png" view
}

case ${1:-all} in
all) references && gallery && pictures ;;
gallery-text) shift && gallery_text "$@" ;;
studies) shift && studies "$@" ;;
*) for part in "$@"; do
    case $part in references | gallery | pictures) "$part" ;; *) sed -n '2,8s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;; esac
done ;;
esac
