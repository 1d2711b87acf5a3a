#!/usr/bin/env bash
# site.sh BUILD: the documentation as a site in BUILD/site/html, with search; a link that leads nowhere is an error.
# Needs mkdocs with the material theme (Debian: mkdocs-material).  FILMS=1: the gallery moves (chromium, ffmpeg, some minutes).
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

# The part of the navigation that follows the files.
cp "$source/tools/mkdocs.yml" "$work/mkdocs.yml"
pages() { # TITLE FILE ...
    echo "  - $1:"
    shift
    for page in "$@"; do
        [[ -e $work/docs/$page ]] && ! grep -q ": $page\$" "$work/mkdocs.yml" && echo "      - \"$(sed -n 's/^# //p' "$work/docs/$page" | head -1 | tr -d '`"')\": $page"
    done
}
cd "$work/docs"
pages "Papers and studies" studies.md study-*.md >>"$work/mkdocs.yml"
pages "How it works" METHODS.md notation.md methods-*.md solvers.md architecture.md add-a-*.md >>"$work/mkdocs.yml"
for page in *.md; do
    grep -q ": $page\$" "$work/mkdocs.yml" || { echo "tools/site.sh: docs/$page has no place in tools/mkdocs.yml" >&2; exit 1; }
done

if [[ ${FILMS:-} == 1 ]]; then
    for picture in images/gallery-*.png; do
        name=$(basename "$picture" .png)
        model=${name#gallery-}
        "$build/carom" run "$source/models/$model.yaml" --quiet --force --out "$work/$model.h5" && "$build/carom" film "$work/$model.h5" --size 640x400 --fps 20 -o "images/$name.mp4" || continue
        sed -i "s|!\[$model\](images/$name.png)|<video src=\"images/$name.mp4\" poster=\"images/$name.png\" autoplay loop muted playsinline width=\"640\"></video>|" gallery.md
        rm -f "$work/$model.h5"
    done
fi
cd "$work" && mkdocs build --quiet --site-dir html
echo "$work/html/index.html"
