#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Baselines, gyre compare and gyre report: keeping, comparing, and what can be wrong with a kept file.
. "$(dirname "$0")/../sh.sh"

out=$work/results
fast='--sample-size 10 --warm-up-time 1ms --measurement-time 5ms --brief'

# shellcheck disable=SC2086 # options
bench() { "$gyre" bench $fast --out "$out" "$@"; }

first_and_second()
{
    exits 0 bench clock/now_ns && ! grep -q change: "$work/out" && [ -s "$out/baselines/base.json" ] &&
        exits 0 bench clock/now_ns && says out 'change: \[.*\] (p = ' && says out "1 compared with 'base'" &&
        says out 'advisory: the two were measured at different times'
}
merges()
{
    exits 0 bench -s both clock/now_ns && exits 0 bench -s both status/name &&
        [ "$("$query" benchmarks 0 id <"$out/baselines/both.json")" = clock/now_ns ] &&
        [ "$("$query" benchmarks 1 id <"$out/baselines/both.json")" = status/name ]
}
strict()
{
    exits 0 bench -s old clock/now_ns && cp "$out/baselines/old.json" "$work/before" &&
        exits 0 bench -b old clock/now_ns && says out 'change:' && cmp -s "$work/before" "$out/baselines/old.json" &&
        exits 3 bench -b old clock/now_ns status/name && says err "baseline 'old' has no 'status/name'; --baseline-lenient" &&
        exits 0 bench --baseline-lenient old clock/now_ns status/name && says out 'change:' &&
        exits 3 bench -b nosuch clock/now_ns && says err "there is no baseline 'nosuch'"
}
strict_skips()
{
    exits 0 "$build/tests/stranger_bench" --quick --out "$work/skip" -s with fine/first absent &&
        exits 0 "$build/tests/stranger_bench" --quick --out "$work/skip" -b with fine/first absent && says out 'change:'
}
named_latest() { exits 2 bench -s latest clock/now_ns && says err "'latest' means the last run"; }
loaded_filter()
{
    exits 0 bench -s c clock && exits 0 bench --load-baseline c --baseline c clock/now_ns &&
        ! grep -q floor_counter "$work/out" && exits 2 bench --load-baseline c --baseline c nonsense
}
fails_now()
{
    exits 0 bench -s a clock/now_ns && sed 's/"outcome": "measured"/"outcome": "failed", "reason": "oh"/' "$out/baselines/a.json" >"$work/failed.json" &&
        exits 1 "$gyre" compare --out "$out" --fail a "$work/failed.json" && says out 'failed now clock/now_ns: oh' &&
        exits 0 "$gyre" compare --out "$out" a "$work/failed.json"
}
discard()
{
    exits 0 bench --discard-baseline -n --out "$work/none" clock/now_ns && [ ! -e "$work/none/baselines/base.json" ] &&
        [ ! -e "$work/none/report" ] && [ -s "$work/none/latest.json" ]
}
load()
{
    exits 0 bench -s a clock/now_ns && exits 0 bench -s b clock/now_ns &&
        exits 0 bench --load-baseline b --baseline a && says out '^clock/now_ns' && says out 'change:' &&
        exits 2 bench --load-baseline b && says err '--load-baseline needs --baseline'
}
words()
{
    exits 2 bench -s a -b b clock/now_ns && says err 'give one of them' &&
        exits 2 bench -s ../evil clock/now_ns && says err 'evil' && [ ! -e "$work/evil.json" ] &&
        exits 2 bench -s a --no-save clock/now_ns && says err 'exclude each other'
}
refused() # FILE PATTERN: not compared with, not overwritten, and said before anything is measured
{
    mkdir -p "$out/baselines" && cp "$1" "$out/baselines/bad.json" &&
        exits 3 bench -b bad clock/now_ns && says err "$2" && says err 'bad.json' && [ ! -s "$work/out" ] &&
        exits 3 bench -s bad clock/now_ns && says err "$2" && cmp -s "$1" "$out/baselines/bad.json" &&
        exits 3 "$gyre" compare --out "$out" bad bad && says err "$2" &&
        exits 3 "$gyre" report --out "$out" bad && says err "$2"
}
truncated()
{
    exits 0 bench -s good clock/now_ns && head -c 1000 "$out/baselines/good.json" >"$work/bad" && refused "$work/bad" 'damaged'
}
corrupted()
{
    exits 0 bench -s good clock/now_ns && sed 's/"times_ns": \[/"times_ns": ["x", /' "$out/baselines/good.json" >"$work/bad" &&
        refused "$work/bad" 'times_ns'
}
newer()
{
    exits 0 bench -s good clock/now_ns && sed 's,gyre.run/1,gyre.run/2,' "$out/baselines/good.json" >"$work/bad" &&
        refused "$work/bad" 'newer Gyre'
}
another() { echo '{"schema": "something/1"}' >"$work/bad" && refused "$work/bad" 'not a run file'; }

# Two runs that write one baseline at the same time: both are in it, whole.
at_once()
{
    rm -f "$out/baselines/race.json"
    for round in 1 2 3 4 5; do
        bench -s race clock/now_ns >"$work/one" 2>&1 &
        one=$!
        bench -s race status/name >"$work/two" 2>&1 &
        two=$!
        if ! wait "$one" || ! wait "$two"; then echo "round $round failed" && cat "$work/one" "$work/two" && return 1; fi
        [ "$("$query" benchmarks <"$out/baselines/race.json")" = 2 ] || return 1
        rm "$out/baselines/race.json"
    done
}
disk_is_full()
{
    mkdir -p "$work/small" && mount -t tmpfs -o size=96k tmpfs "$work/small" || return 1
    result=0
    fills || result=1
    umount "$work/small"
    return "$result"
}
# shellcheck disable=SC2086
fills()
{
    exits 0 "$gyre" bench $fast -n --out "$work/small" clock/now_ns && cp "$work/small/baselines/base.json" "$work/before" &&
        dd if=/dev/zero of="$work/small/filler" bs=1k count=60 2>/dev/null &&
        exits 3 "$gyre" bench $fast -n --sample-size 3000 --out "$work/small" clock/now_ns &&
        says out '^clock/now_ns' && says err 'No space left on device' &&
        cmp -s "$work/before" "$work/small/baselines/base.json"
}

compared()
{
    exits 0 bench -s a clock && exits 0 bench -s b clock/now_ns status/name &&
        exits 0 "$gyre" compare --out "$out" a b && says out '^clock/now_ns  *[0-9.]* .s  *[0-9.]* .s  *[-+]' &&
        says out '^1 compared' && says out 'only in a: clock/floor_counter' && says out 'only in b: status/name' &&
        says out '^advisory' && exits 0 "$gyre" compare a "$out/baselines/b.json" --out "$out" &&
        exits 0 "$gyre" compare --out "$out" a latest
}
as_json()
{
    exits 0 bench -s a clock/now_ns && exits 0 "$gyre" compare --out "$out" --json a a &&
        [ "$("$query" schema <"$work/out")" = gyre.compare/1 ] &&
        [ "$("$query" benchmarks 0 change verdict <"$work/out")" = none ]
}
# ten times the time in every sample of the candidate
fails_when_asked()
{
    exits 0 bench -s a clock/now_ns && sed '/"times_ns"/s/\([0-9]\)\([],]\)/\10\2/g' "$out/baselines/a.json" >"$work/slower.json" &&
        exits 0 "$gyre" compare --out "$out" a "$work/slower.json" && says out 'regressed$' && says out '[1-9] regressed' &&
        exits 1 "$gyre" compare --out "$out" --fail a "$work/slower.json" &&
        exits 0 "$gyre" compare --out "$out" --fail "$work/slower.json" a && says out 'improved$'
}
usage()
{
    exits 2 "$gyre" compare a && says err 'say which two runs' &&
        exits 3 "$gyre" compare --out "$out" nosuch nosuch && says err "'nosuch' is neither a file nor a baseline"
}
report()
{
    exits 0 bench -s a clock/now_ns && [ -s "$out/report/index.html" ] && rm "$out/report/index.html" &&
        exits 0 "$gyre" report --out "$out" && says out "^report in $out/report/index.html" &&
        grep -q '</html>' "$out/report/index.html" && exits 0 "$gyre" report --out "$out" a -b a -o - && says out '^</html>' &&
        exits 0 "$gyre" report --out "$out" a && says out "^report in $out/report/a.html" &&
        exits 0 "$gyre" report --out "$out" -o /dev/null && [ -c /dev/null ] &&
        exits 3 "$gyre" report --out "$out" nosuch && exits 3 "$gyre" report --out "$out" a -o /proc/x.html
}

claim second_run_is_compared_with_the_first first_and_second
claim_json saving_some_benchmarks_keeps_the_others merges
claim baseline_is_strict_or_lenient strict
claim strict_asks_only_of_what_was_measured strict_skips
claim baseline_cannot_be_called_latest named_latest
claim loaded_baseline_is_filtered loaded_filter
claim benchmark_that_fails_now_fails_the_comparison fails_now
claim discard_replaces_nothing discard
claim loaded_baseline_stands_for_a_run load
claim contradicting_words_are_wrong_usage words
claim truncated_baseline_is_refused_and_kept truncated
claim corrupted_baseline_names_the_member corrupted
claim newer_baseline_is_refused_and_kept newer
claim other_file_is_refused_and_kept another
claim_json two_runs_at_once_are_both_kept at_once
if [ "$(id -u)" = 0 ] && mkdir -p "$work/m" && mount -t tmpfs tmpfs "$work/m" 2>/dev/null; then
    umount "$work/m"
    claim full_disk_keeps_the_old_baseline disk_is_full
else
    skip full_disk_keeps_the_old_baseline 'a small file system cannot be mounted here'
fi
claim compare_shows_both_sides compared
claim_json compare_can_be_json as_json
claim compare_fails_only_when_asked fails_when_asked
claim compare_says_what_it_needs usage
claim report_of_a_kept_run report
finish
