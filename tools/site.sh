#!/usr/bin/env bash
# site.sh BUILD: the documentation as a site in BUILD/site/html, with search; a link that leads nowhere is an error.
# Needs mkdocs with the material theme (Debian: mkdocs-material).  With chromium and ffmpeg the gallery moves, which takes some minutes the first time; FILMS=0: it does not.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$build/site
command -v mkdocs >/dev/null || { echo "tools/site.sh: no mkdocs (Debian: apt-get install mkdocs-material)" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work/docs"
cp -r "$source/docs/." "$work/docs"
mv "$work/docs/README.md" "$work/docs/index.md"

# Files that pages link to beside docs/.
for file in $(grep -rhoE '\]\(\.\./[^)#]+' "$work/docs" | sed 's/^](\.\.\///' | sort -u); do
    mkdir -p "$work/docs/$(dirname "$file")"
    cp "$source/$file" "$work/docs/$file"
done
sed -i -E 's/\]\(\.\.\//](/g; s/\]\(README\.md/](index.md/g; s/^```([a-z]+) .*/```\1/' "$work"/docs/*.md # marks behind languages are for the tests

# The first page opens with motion: a mechanism on its own page, which plays when it is opened and needs no other file.
"$build/carom" run "$source/models/slider-crank.yaml" --quiet --force --out "$work/opening.h5"
"$build/carom" view "$work/opening.h5" --rows 2000 -o "$work/docs/slider-crank.html" >/dev/null
{
    printf -- '---\nhide: [navigation, toc]\n---\n\n# carom\n\n'
    awk '/^carom simulates/, /^$/' "$source/README.md"
    echo '<iframe class="opening" src="slider-crank.html" title="An impacting slider-crank: mechanism, contact forces, plots"></iframe>'
    printf '\n`carom run slider-crank.yaml` · `carom view slider-crank.h5` · [first five minutes](first-five-minutes.md) · [gallery](gallery.md)\n\n'
    awk '/^- / { on = 1 } on && /^$/ { exit } on' "$source/README.md"
    echo
    sed '1s/^# .*/## All pages/' "$work/docs/index.md"
} >"$work/index.md"
mv "$work/index.md" "$work/docs/index.md"

# The part of the navigation that follows the files.
cp "$source/tools/mkdocs.yml" "$work/mkdocs.yml"
pages() { # TITLE FILE ...; "": of the last group of the file
    [[ -z $1 ]] || echo "  - $1:"
    shift
    for page in "$@"; do
        [[ -e $work/docs/$page ]] && ! grep -q ": $page\$" "$work/mkdocs.yml" && echo "      - \"$(sed -n 's/^# //p' "$work/docs/$page" | head -1 | tr -d '`"')\": $page"
    done
}
cd "$work/docs"
pages "" architecture.md add-a*.md >>"$work/mkdocs.yml"
pages "Theory" METHODS.md notation.md methods-*.md solvers.md >>"$work/mkdocs.yml"
pages "Papers and studies" studies.md study-*.md >>"$work/mkdocs.yml"
for page in *.md; do
    grep -q ": $page\$" "$work/mkdocs.yml" || { echo "tools/site.sh: docs/$page has no place in tools/mkdocs.yml" >&2; exit 1; }
done

# Equations, which the pages write as text.
python3 "$source/tools/equations.py" METHODS.md methods-*.md solvers.md
cat >site.css <<'END'
.equation { display: flex; justify-content: space-between; gap: 1rem; margin: 0.5em 0 0.5em 1.5em; overflow-x: auto; }
.equation > span:first-child { display: flex; flex-wrap: wrap; gap: 0.2em 2em; align-items: baseline; }
.equation .tag { color: var(--md-default-fg-color--light); white-space: nowrap; }
math { font-size: 1.05em; }
.opening { width: 100%; height: min(62vh, 34rem); border: 0; }
END

# The gallery moves, where chromium and ffmpeg are.  Films are kept in BUILD/films until their models change.
if [[ ${FILMS:-} != 0 ]] && command -v "${CHROMIUM:-chromium}" >/dev/null && command -v ffmpeg >/dev/null; then
    mkdir -p "$build/films"
    for picture in images/gallery-*.png; do
        name=$(basename "$picture" .png)
        model=$source/models/${name#gallery-}.yaml film=$build/films/$name.mp4
        if [[ ! $film -nt $model ]]; then
            "$build/carom" run "$model" --quiet --force --out "$work/film.h5" || continue
            speed=$("$build/carom" info "$work/film.h5" | awk '$1 == "end" && !n++ { print $2/6 }') # six seconds; awk reads to the end, for a closed pipe is a failure
            "$build/carom" film "$work/film.h5" --size 480x300 --fps 10 ${speed:+--speed "$speed"} -o "$film" >/dev/null || continue
        fi
        cp "$film" images/
        sed -i "s|!\[${name#gallery-}\](images/$name.png)|<video src=\"images/$name.mp4\" poster=\"images/$name.png\" autoplay loop muted playsinline width=\"480\"></video>|" gallery.md
        rm -f "$work/film.h5"
    done
fi
cd "$work" && mkdocs build --quiet --site-dir html
echo "$work/html/index.html"
