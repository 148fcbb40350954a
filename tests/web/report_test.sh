#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The HTML report in a real browser: report_test.py opens it in a headless Chromium and says of each claim
# whether it holds. Times are printed, not judged; REPORT_FIGURES=FILE keeps them.
. "$(dirname "$0")/../sh.sh"

if [ -n "${SANITIZED:-}" ]; then
    page() { echo '{}' | exits 0 "$build/tests/report_page" && says out '^</html>'; }
    claim page_is_written page
    skip report 'no sanitizer watches the browser'
    finish
fi
chromium=''
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && chromium=$name && break
done
[ -n "$chromium" ] || { skip report 'there is no Chromium'; finish; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null ||
    { skip report 'there is no Python 3.8 to drive the browser with'; finish; }
[ -x "$build/tests/report_page" ] || { skip report 'report_page is not built here'; finish; }

drive() { PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/web/report_test.py" "$chromium" "$build/tests/report_page" "$work"; }
holds() { [ ! -s "$work/results/$1" ] || { cat "$work/results/$1"; return 1; }; }

drive >"$work/driver.out" 2>"$work/driver.err"
driven=$?
if [ "$driven" != 0 ] && [ ! -d "$work/results" ]; then # before the first claim
    cat "$work/driver.err"
fi
for result in "$work"/results/*; do
    [ -e "$result" ] && claim "${result##*/}" holds "${result##*/}"
done
claim browser_was_driven_to_the_end [ "$driven" = 0 ]
cat "$work/driver.out"
[ -z "${REPORT_FIGURES:-}" ] || cp "$work/figures.json" "$REPORT_FIGURES"
[ "$driven" = 0 ] || cat "$work/driver.err"
finish
