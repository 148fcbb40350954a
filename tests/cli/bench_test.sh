#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre bench: listing, choosing, measuring, keeping, and the ways it can go wrong.
. "$(dirname "$0")/../sh.sh"

fast='--sample-size 10 --warm-up-time 1ms --measurement-time 10ms'

list() { exits 0 "$gyre" bench --list && says out '^clock/now_ns: benchmark$' && says out '^trace/on: '; }
filtered() { exits 0 "$gyre" bench --list '^clock/' && says out clock/now_ns && ! grep -q trace "$work/out"; }
exact() { exits 0 "$gyre" bench --list --exact clock/now_ns && [ "$(wc -l <"$work/out")" = 1 ]; }
none() { exits 2 "$gyre" bench nothing_like_this && says err 'no benchmark of .* matches; --list shows'; }
bad_filter() { exits 2 "$gyre" bench 'a(b' && says err "filter 'a(b'"; }
bad_values()
{
    exits 2 "$gyre" bench --sample-size 3 && says err "'--sample-size' takes a number from 10" &&
        exits 2 "$gyre" bench --measurement-time never && says err 'takes a time like' &&
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
    exits 0 "$gyre" bench $fast --out "$work/o2" clock/now_ns || return 1
    [ -x "$query" ] || return 0
    [ "$("$query" schema <"$work/o2/latest.json")" = gyre.run/1 ] &&
        [ "$("$query" benchmarks 0 id <"$work/o2/latest.json")" = clock/now_ns ] &&
        [ "$("$query" benchmarks 0 sample times_ns <"$work/o2/latest.json")" = 10 ] &&
        [ "$("$query" command 1 <"$work/o2/latest.json")" = bench ]
}
# shellcheck disable=SC2086
json()
{
    exits 0 "$gyre" bench $fast --no-save --json clock || return 1
    [ ! -x "$query" ] || [ "$("$query" benchmarks 2 outcome <"$work/out")" = measured ]
}
checks() { exits 0 "$gyre" bench --test && says out ' checked, 0 failed' && [ ! -e gyre-out ]; }
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
# a file system with no room: the figures are printed, the old file stays, one sentence, exit 3
# shellcheck disable=SC2086
full_disk()
{
    mkdir -p "$work/small" && mount -t tmpfs -o size=64k tmpfs "$work/small" || return 1
    result=0
    "$gyre" bench $fast --out "$work/small" clock/now_ns >/dev/null 2>&1 &&
        cp "$work/small/latest.json" "$work/before" &&
        dd if=/dev/zero of="$work/small/filler" bs=1k 2>/dev/null
    exits 3 "$gyre" bench $fast --out "$work/small" clock status && says out '^clock/now_ns' &&
        says err "cannot write '$work/small/latest.json': No space left on device" &&
        cmp -s "$work/before" "$work/small/latest.json" &&
        [ "$(find "$work/small" -type f | wc -l)" = 2 ] || result=1
    umount "$work/small"
    return $result
}
# shellcheck disable=SC2086
environment_chooses_the_folder()
{
    exits 0 env GYRE_OUT="$work/o3" "$gyre" bench $fast clock/now_ns && [ -s "$work/o3/latest.json" ]
}
interrupt()
{
    "$gyre" bench --measurement-time 20s --warm-up-time 10ms --out "$work/o4" clock/now_ns trace/off \
        >"$work/out" 2>"$work/err" &
    pid=$!
    sleep 1
    kill -INT "$pid"
    got=0
    wait "$pid" || got=$?
    [ "$got" = 130 ] && says out 'interrupted' && [ -s "$work/o4/latest.json" ] || return 1
    [ ! -x "$query" ] || [ "$("$query" interrupted <"$work/o4/latest.json")" = true ]
}
on_terminal()
{
    # shellcheck disable=SC2086
    TERM=xterm script -qec "'$gyre' bench $fast --no-save clock/now_ns" /dev/null </dev/null >"$work/out" &&
        says out 'Benchmarking clock/now_ns \[1/1\]: '
}

claim list_prints_ids list
claim filter_is_a_regular_expression filtered
claim exact_is_one_id exact
claim filter_that_matches_nothing_says_so none
claim malformed_filter_is_wrong_usage bad_filter
claim malformed_values_are_wrong_usage bad_values
claim figures_have_an_interval_and_a_meaning measure
claim run_file_has_every_sample file
claim json_is_json json
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
    claim full_disk_loses_nothing full_disk
else
    skip full_disk_loses_nothing 'a small file system cannot be mounted here'
fi
claim ctrl_c_keeps_what_was_measured interrupt
if command -v script >/dev/null; then
    claim progress_is_shown_on_a_terminal on_terminal
else
    skip progress_is_shown_on_a_terminal 'script(1) is not installed'
fi
finish
