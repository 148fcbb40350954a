#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre bench: listing, choosing, measuring, keeping, and the ways it can go wrong.
. "$(dirname "$0")/../sh.sh"

fast='--sample-size 10 --warm-up-time 1ms --measurement-time 10ms'

list() { exits 0 "$gyre" bench --list && says out '^clock/now_ns: benchmark$' && says out '^trace/on: '; }
filtered() { exits 0 "$gyre" bench --list '^clock/' && says out clock/now_ns && ! grep -q trace "$work/out"; }
exact() { exits 0 "$gyre" bench --list --exact clock/now_ns && says out '^1 benchmark$' && exits 0 "$gyre" bench --list --format terse --exact clock/now_ns && [ "$(wc -l <"$work/out")" = 1 ]; }
listed_json() { exits 0 "$gyre" bench --list --json && [ "$("$query" 0 suite <"$work/out")" = base ]; }
wrong_suite() { exits 2 "$gyre" bench --suite nosuch && says err "there is no suite 'nosuch'; there are: base"; }
none() { exits 2 "$gyre" bench nothing_like_this && says err 'no benchmark of .* matches; --list shows them'; }
bad_filter() { exits 2 "$gyre" bench 'a(b' && says err "filter 'a(b'"; }
bad_values()
{
    exits 2 "$gyre" bench --sample-size 3 && says err "'--sample-size' takes a number from 10" &&
        exits 2 "$gyre" bench --measurement-time never && says err 'takes a time from 1us to 24 hours' &&
        exits 2 "$gyre" bench --confidence-level 95 && says err 'from 0.5 to 0.9999'
}
# shellcheck disable=SC2086 # options
measure()
{
    exits 0 "$gyre" bench $fast --out "$work/o1" clock/now_ns status/name &&
        says out '^clock/now_ns  *time:   \[.* .* .*\]$' &&
        says out 'clock:  from one reading until the next one; seen by the caller' &&
        says out '^2 measured, 0 failed, 0 skipped of 2' && says out "^kept in $work/o1/latest.json\$"
}
# shellcheck disable=SC2086
file()
{
    exits 0 "$gyre" bench $fast --out "$work/o2" clock/now_ns &&
        [ "$("$query" schema <"$work/o2/latest.json")" = gyre.run/1 ] &&
        [ "$("$query" benchmarks 0 id <"$work/o2/latest.json")" = clock/now_ns ] &&
        [ "$("$query" benchmarks 0 sample times_ns <"$work/o2/latest.json")" = 10 ] &&
        [ "$("$query" command 1 <"$work/o2/latest.json")" = bench ]
}
# shellcheck disable=SC2086
json()
{
    exits 0 "$gyre" bench $fast --no-save --json clock && [ "$("$query" benchmarks 2 outcome <"$work/out")" = measured ]
}
checks() # a second of what goes on for a minute, of which a test takes a tenth
{
    cd "$work" || return 1
    exits 0 env GYRE_CACHE="$kernels" "$gyre" bench --test --axis seconds=1 || { grep -A 2 'FAILED' "$work/out"; return 1; }
    says out ' checked, 0 failed' && [ ! -e gyre-out ]
}
# shellcheck disable=SC2086
unwritable()
{
    exits 3 "$gyre" bench $fast --out /proc/gyre-out clock/now_ns &&
        says err "cannot make the folder '/proc/gyre-out'" && says err 'choose another with --out' &&
        [ ! -s "$work/out" ] # refused before anything was measured
}
# shellcheck disable=SC2086
read_only()
{
    mkdir -p "$work/ro/sub" && chmod 0555 "$work/ro/sub" && chmod 0755 "$work" "$work/ro" || return 1
    exits 3 su nobody -s /bin/sh -c "'$gyre' bench $fast --out '$work/ro/sub' clock/now_ns" &&
        says err "cannot write in the folder '$work/ro/sub': Permission denied; choose another"
}
only='--noplot --discard-baseline'
# a small file system in $work/small, with a kept run in it
# shellcheck disable=SC2086
small_disk()
{
    mkdir -p "$work/small" && mount -t tmpfs -o size=128k tmpfs "$work/small" &&
        exits 0 "$gyre" bench $fast $only --out "$work/small" clock/now_ns && cp "$work/small/latest.json" "$work/before"
}
# filled after the folder was found writable: the figures are printed, the old file stays
# shellcheck disable=SC2086
disk_fills()
{
    small_disk && dd if=/dev/zero of="$work/small/filler" bs=1k count=80 2>/dev/null &&
        exits 3 "$gyre" bench $fast $only --sample-size 5000 --out "$work/small" clock/now_ns && says out '^clock/now_ns' &&
        says err "cannot write '$work/small/latest.json': No space left on device; free some space, or choose" &&
        cmp -s "$work/before" "$work/small/latest.json" && [ "$(cd "$work/small" && echo *)" = 'filler history.db latest.json' ]
}
# full from the start: refused before anything is measured
# shellcheck disable=SC2086
disk_is_full()
{
    small_disk && dd if=/dev/zero of="$work/small/filler" bs=1k 2>/dev/null
    exits 3 "$gyre" bench $fast --out "$work/small" clock/now_ns && [ ! -s "$work/out" ] &&
        says err "cannot write in the folder '$work/small': No space left on device; choose another" &&
        cmp -s "$work/before" "$work/small/latest.json"
}
unmounting() # COMMAND
{
    result=0
    "$1" || result=1
    umount "$work/small"
    return "$result"
}
# shellcheck disable=SC2086
environment_chooses_the_folder()
{
    exits 0 env GYRE_OUT="$work/o3" "$gyre" bench $fast clock/now_ns && [ -s "$work/o3/latest.json" ]
}
# Starts a long run and waits until it measures. A shell starts its background jobs with SIGINT ignored,
# which the run would respect.
start_long() # FOLDER WARM-UP
{
    : >"$work/out" # what an earlier claim left is not what is waited for
    env --default-signal=INT "$gyre" bench --measurement-time 20s --warm-up-time "$2" --out "$1" clock/now_ns trace/off \
        >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 grep -q '2 benchmarks' "$work/out"
    sleep 0.2
}
ends_with() # STATUS
{
    status=0
    wait "$pid" || status=$?
    [ "$status" = "$1" ] || { echo "exit status $status, not $1"; return 1; }
}
interrupt() # SIGNAL
{
    start_long "$work/o-$1" 10ms
    kill -"$1" "$pid"
    ends_with 130 && says out 'interrupted' && [ ! -e "$work/o-$1/latest.json" ] # nothing was measured
}
keeps()
{
    : >"$work/out"
    env --default-signal=INT "$gyre" bench --sample-size 10 --warm-up-time 1ms --measurement-time 2s \
        --out "$work/o5" clock/now_ns trace >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 200 grep -q '^clock/now_ns' "$work/out"
    kill -INT "$pid"
    ends_with 130 && [ "$("$query" interrupted <"$work/o5/latest.json")" = true ] &&
        [ "$("$query" benchmarks 0 outcome <"$work/o5/latest.json")" = measured ]
}
ignored() # nohup's way: what the caller ignores stays ignored
{
    # shellcheck disable=SC2086
    (trap '' INT && exec "$gyre" bench $fast --measurement-time 1s --no-save clock/now_ns) >"$work/out" 2>"$work/err" &
    pid=$!
    sleep 0.3
    kill -INT "$pid"
    ends_with 0
}
on_terminal()
{
    # shellcheck disable=SC2086
    TERM=xterm script -qec "'$gyre' bench $fast --no-save clock/now_ns" /dev/null </dev/null >"$work/out" &&
        says out '1/1, [0-9]* s left  Benchmarking clock/now_ns: '
}

claim list_prints_ids list
claim filter_is_a_regular_expression filtered
claim exact_is_one_id exact
claim_json list_can_be_json listed_json
claim unknown_suite_is_told_which_there_are wrong_suite
claim filter_that_matches_nothing_says_so none
claim malformed_filter_is_wrong_usage bad_filter
claim malformed_values_are_wrong_usage bad_values
claim figures_have_an_interval_and_a_meaning measure
claim_json run_file_has_every_sample file
claim_json json_is_json json
claim test_runs_everything_once_and_keeps_nothing checks
claim unwritable_folder_is_refused_before_measuring unwritable
claim setting_chooses_the_folder environment_chooses_the_folder
if [ "$(id -u)" = 0 ] && su nobody -s /bin/sh -c "test -x '$gyre'" 2>/dev/null; then
    claim read_only_folder_is_one_sentence read_only
else
    skip read_only_folder_is_one_sentence 'needs root, and a build folder that others may read'
fi
if [ "$(id -u)" = 0 ] && mkdir -p "$work/m" && mount -t tmpfs tmpfs "$work/m" 2>/dev/null; then
    umount "$work/m"
    claim disk_that_fills_loses_nothing unmounting disk_fills
    claim full_disk_is_refused_before_measuring unmounting disk_is_full
else
    skip full_disk 'a small file system cannot be mounted here'
fi
claim ctrl_c_ends_a_run_cleanly interrupt INT
claim sigterm_ends_a_run_cleanly interrupt TERM
claim_json ctrl_c_keeps_what_was_measured keeps
claim ignored_signal_stays_ignored ignored
if command -v script >/dev/null; then
    claim progress_is_shown_on_a_terminal on_terminal
else
    skip progress_is_shown_on_a_terminal 'script(1) is not installed'
fi
finish
