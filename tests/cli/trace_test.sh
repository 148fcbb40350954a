#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre bench --trace: what is in the file, and what becomes of it when something goes wrong.
. "$(dirname "$0")/../sh.sh"

stranger=$build/tests/stranger_bench
fast='--sample-size 10 --warm-up-time 1ms --measurement-time 5ms --brief'
export ASAN_OPTIONS=handle_segv=0:handle_abort=0
trace=$work/t.json

at() { "$query" "$@" <"$trace"; }
events() { at traceEvents; }
# count PATTERN...: lines with an event that matches
count() { grep -c "$1" "$trace"; }

whole()
{
    exits 0 "$gyre" bench --test --trace "$trace" '^clock/now_ns' '^queue/enqueue$' && says out "^trace in $trace\$" &&
        [ "$(at otherData schema)" = gyre.trace/1 ] && [ "$(at otherData lost_events)" = 0 ] && [ "$(events)" -ge 14 ] &&
        [ "$(at traceEvents 0 args name)" = clock ] && [ "$(at traceEvents 1 args name)" = queue ] && [ "$(at traceEvents 1 pid)" = 2 ] &&
        [ "$(count '"name": "clock/now_ns", "ph": "X", "pid": 1,')" = 1 ] && [ "$(count '"name": "queue/enqueue", "ph": "X", "pid": 2,')" = 1 ] &&
        for part in setup run check teardown; do [ "$(count "\"name\": \"$part\", \"ph\": \"X\"")" = 2 ] || return 1; done
}
# All processes have one clock: the second group begins after the first has ended.
one_clock()
{
    exits 0 "$gyre" bench --test --trace "$trace" '^clock/now_ns' '^queue/enqueue$' || return 1
    # shellcheck disable=SC2046 # two numbers of each
    set -- $(sed -n 's/.*"name": "\(clock\/now_ns\|queue\/enqueue\)".*"ts": \([0-9]*\)\..*"dur": \([0-9]*\)\..*/\2 \3/p' "$trace")
    [ $# = 4 ] && [ $(($1 + $2)) -le "$3" ] && [ $(($3 - $1)) -lt 60000000 ]
}
# shellcheck disable=SC2086
measured()
{
    exits 0 "$gyre" bench $fast --no-save --trace "$trace" clock/now_ns && says out 'figures may be slower' && says out '^clock/now_ns .*time:' &&
        [ "$(count '"name": "run"')" -ge 10 ] && exits 0 "$gyre" bench $fast --no-save --json --trace "$trace" clock/now_ns &&
        says err 'figures may be slower' && "$query" schema <"$work/out" >/dev/null
}
on_a_device()
{
    exits 0 "$gyre" bench --test --trace "$trace" memory_pressure/recovery/cpu profiler/off/cpu && says out 'skipped: contexts are profiled already' &&
        [ "$(count '"name": "thread_name", .*"args": {"name": "cpu:0 stream"}')" -ge 1 ] &&
        [ "$(count '"name": "fill", "ph": "X", "pid": [12], "tid": 1[0-9]\{9\},')" = 1 ] && events
}
here() { exits 0 "$gyre" bench --test --isolate none --trace "$trace" clock/now_ns && [ "$(count '"name": "clock/now_ns"')" = 1 ] && events; }
# shellcheck disable=SC2086
overwritten()
{
    exits 0 env GYRE_TRACE_EVENTS=16 "$gyre" bench $fast --no-save --trace "$trace" clock/now_ns && says err 'events are not in the trace' &&
        [ "$(at otherData lost_events)" -gt 0 ] && [ "$(count '"name": "clock/now_ns"')" = 1 ]
}
# shellcheck disable=SC2086
crash()
{
    exits 1 "$stranger" $fast --no-save --trace "$trace" '^crash' '^last' && events && [ "$(count '"name": "crash/before"')" = 1 ] &&
        [ "$(count '"name": "crash/here"')" = 0 ] && [ "$(count '"name": "crash/after"')" = 1 ] && [ "$(count '"name": "last/one"')" = 1 ]
}
# shellcheck disable=SC2086
refused()
{
    echo x >"$work/plain" && exits 3 "$gyre" bench --test --trace "$work/plain/t.json" clock/now_ns && says err 'plain' &&
        ! grep -q '^clock/now_ns' "$work/out" && exits 3 "$gyre" bench --test --trace "$work" clock/now_ns &&
        exits 3 "$gyre" bench --test --trace '' clock/now_ns && exits 2 "$gyre" bench --list --trace "$trace" && says err 'not with --list'
}
# shellcheck disable=SC2086
full()
{
    [ -w /dev/full ] || return 0
    exits 3 "$gyre" bench $fast --out "$work/full" --trace /dev/full clock/now_ns && says err "cannot write '/dev/full'" &&
        [ "$("$query" benchmarks 0 outcome <"$work/full/latest.json")" = measured ]
}
replaced()
{
    echo old >"$trace" && exits 0 "$gyre" bench --test --trace "$trace" clock/now_ns && events && ls "$work" >"$work/list" && ! grep -q 't\.json\.' "$work/list"
}
interrupted()
{
    rm -f "$trace" && mkdir -p "$work/i" && : >"$work/out"
    env --default-signal=INT "$gyre" bench --measurement-time 20s --warm-up-time 10ms --no-save --trace "$work/i/t.json" clock/now_ns \
        >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 grep -q '1 benchmark;' "$work/out"
    sleep 0.3
    [ "$(ls "$work/i")" = '' ] || return 1
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] && [ "$(ls "$work/i")" = t.json ] && "$query" traceEvents <"$work/i/t.json"
}

claim_json file_has_a_process_for_each_group_and_spans_for_each_case whole
claim times_of_all_processes_are_on_one_clock one_clock
claim_json measured_runs_say_that_they_may_be_slower measured
claim_json device_spans_have_a_track_of_their_own on_a_device
claim_json without_processes_the_same_is_recorded here
claim_json overwritten_events_are_counted_and_told overwritten
claim_json crashed_case_takes_no_other_events_with_it crash
claim file_that_cannot_be_written_is_refused_before_measuring refused
claim_json full_disk_loses_no_results full
claim_json old_file_is_replaced_whole replaced
claim_json interrupted_run_leaves_a_whole_file interrupted
finish
