#!/usr/bin/env bash
# The book stays short, and its links lead somewhere.
#
# usage: test/words.sh SOURCE [list]      list: the words of every guide
# Guides (pages that are read from the start to the end) have at most 27 000 words together, a page of a study 400, README.md 910.  What is longer belongs
# to a reference-*.md or methods-*.md page, where it is looked up.
set -uo pipefail
export LC_ALL=C
cd "$1" || exit 1
failures=0
guides="first-five-minutes writing-a-model concepts ledger coming-from model-file bodies-and-joints shapes laws-of-contact cookbook flexible choosing-a-scheme compare
        results view play sweep large-systems compile dynamics python c-library fmi solve"

complain() {
    echo "$1"
    failures=$((failures + 1))
}

words() {
    wc -w <"$1"
}

sum=0
for page in $guides; do
    [[ -z ${2:-} ]] || echo "$page $(words "docs/$page.md")"
    sum=$((sum + $(words "docs/$page.md")))
done
echo "guides: $sum words"
((sum <= 27000)) || complain "more than 27000 words of guides"
for page in docs/study-*.md; do
    (($(words "$page") <= 400)) || complain "$page has $(words "$page") words, more than 400"
done
(($(words README.md) <= 910)) || complain "README.md has $(words README.md) words, more than 910"
awk -f test/links.awk README.md docs/*.md src/README.md test/README.md || complain "mend the links"
# Every page is in the table of contents, and in the navigation of the site (some by pattern: tools/site.sh).
for page in docs/*.md; do
    name=$(basename "$page")
    [[ $name =~ ^(README|METHODS|notation|solvers|studies|architecture|(methods|study|add-an?)-.*)\.md$ ]] || grep -q ": $name\$" tools/mkdocs.yml || complain "$page has no place in tools/mkdocs.yml"
    [[ $name == README.md || $name == study-* ]] || grep -qF "($name" docs/README.md || complain "$page is not listed in docs/README.md"
    [[ $name != study-* ]] || grep -qF "($name" docs/studies.md docs/README.md || complain "$page is listed in no table"
done
# Every suite is in the table of tests.
for suite in test/test_*.c test/conformance_*.c test/check_*.c; do
    grep -qF "\`$(basename "$suite" .c)\`" test/README.md || complain "$suite is not listed in test/README.md"
done
for header in test/*.h; do
    grep -qF "\`$(basename "$header")\`" test/README.md || complain "$header is not listed in test/README.md"
done
exit $((failures > 0))
