#!/bin/sh
# page_browser.sh CAROM WORK: the page in a real browser.  Skipped (77) where node, the packages of page/ or chromium are missing.
page=$(cd "$(dirname "$0")/../page" && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
command -v node >/dev/null || skip "no node (Debian: apt-get install nodejs npm)"
[ -d "$page/node_modules/playwright-core" ] || skip "page/node_modules is missing; run: make page"
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    [ -n "$name" ] && browser=$(command -v "$name") && break
done
[ -n "$browser" ] || skip "no chromium (Debian: apt-get install chromium); CHROMIUM names one elsewhere"
node "$page/build.mjs" --check || exit 1
node "$page/test/browser.mjs" "$1" "$browser" "$2" || exit 1
exec node "$page/test/play.mjs" "$1" "$browser" "$2/play"
