#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The suites of actors: every case once, some of them measured quickly, and their targets.
. "$(dirname "$0")/../sh.sh"

# a seat takes a thread of PoCL for good; what is compiled is kept for other tests
export POCL_MAX_PTHREAD_COUNT=6 POCL_CACHE_DIR="$kernels/pocl" GYRE_CACHE="$kernels"
fast='--sample-size 10 --warm-up-time 1ms --measurement-time 20ms --isolate none'

checked() # FILTER...: all of them run, or say why not
{
    exits 0 "$gyre" bench --test --axis seconds=1 "$@" || { grep -A 2 'FAILED' "$work/out"; return 1; }
    says out '[1-9][0-9]* checked, 0 failed'
}
absent() { exits 0 "$gyre" bench --test --exact actor/inject/cuda && says out 'inject/cuda: cuda: .'; }
# shellcheck disable=SC2086 # options
measured()
{
    exits 0 "$gyre" bench $fast --no-save --latency --json --exact actor/round_trip/cpu/quad/1 actor_floor/bare_echo/cpu \
        actor/pairs/cpu/1 actor/stream/cpu/1 || return 1
    for i in 0 1 2 3; do
        [ "$("$query" benchmarks $i outcome <"$work/out")" = measured ] || { echo "benchmark $i"; return 1; }
    done
}
# shellcheck disable=SC2086
turns() { exits 0 "$gyre" bench $fast --no-save actor/round_trip_telemetry/cpu && says out 'of actor/round_trip_no_telemetry/cpu, in turns'; }
# shellcheck disable=SC2086
lasts()
{
    exits 0 "$gyre" bench $fast --no-save --axis seconds=1 --axis threads=2 actor_sustained/pairs_60s/cpu && says out ' lost 0$' &&
        says out ' p5_of_median ' && says out ' window_ms 16.6667$' && says out ' resident_growth_bytes ' && says out ' bulk 8192$' &&
        says out ' steal_ticks [0-9]*$' && says out ' windows_with_steal [0-9]*$' && says out ' slow_windows [1-9][0-9]*$' &&
        says out ' slow_windows_with_steal [0-9]*$'
}
# every id of the table is one that there is
targets()
{
    # shellcheck disable=SC2086
    exits 0 "$gyre" bench $fast --no-save --targets actors clock/now_ns && says out '^targets: 0 met' &&
        sed -n 's/^  *not measured  \([^ ]*\) .*/\1/p' "$work/out" | sort -u >"$work/ids" &&
        sed -n 's/.* times \([^ ]*\) .*/\1/p' "$work/out" >>"$work/ids" && [ "$(wc -l <"$work/ids")" -gt 8 ] || return 1
    sed -n 's/.*by hand: \([^ ]*\)$/\1/p' "$work/out" >"$work/floors" && [ "$(wc -l <"$work/floors")" = 6 ] || return 1
    cat "$work/floors" >>"$work/ids"
    exits 0 "$gyre" bench --list --format terse || return 1
    while read -r id; do
        grep -q "^$id: benchmark$" "$work/out" || { echo "there is no $id"; return 1; }
    done <"$work/ids"
}
wrong_axes()
{
    exits 1 "$gyre" bench --test --axis seconds=0 actor_sustained/pairs_60s/cpu && says out 'for 1 to 86400 seconds' &&
        exits 1 "$gyre" bench --test --axis threads=5 actor/pairs/cpu && says out '5 threads and 1 actors: at most 4' &&
        exits 1 "$gyre" bench --test --axis threads=3 actor_floor/bare_stream/cpu && says out '1 to 2 threads'
}
# Ctrl-C while an actor is resident: the run ends, and so does every process of it, which are known by their name
several() { [ "$(pgrep -fc "^$work/here ")" -gt 1 ]; }
interrupted()
{
    ln -s "$gyre" "$work/here" || return 1
    env --default-signal=INT "$work/here" bench --measurement-time 20s --warm-up-time 10ms --no-save \
        --exact actor/round_trip/cpu/quad/1 actor/inject/cpu >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 grep -q '2 benchmarks' "$work/out" && waits_for 100 several || return 1
    sleep 0.5
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] || { echo "exit status $status, not 130"; return 1; }
    nobody_left "^$work/here "
}

claim cases_on_the_cpu_are_right checked '^actor.*/cpu' '^actor.*ping_pong'
claim cases_on_opencl_are_right_or_skipped checked '^actor.*/(cpu/1$|opencl)'
if "$gyre" info 2>/dev/null | grep -q '^ *cuda:0'; then
    claim cases_on_cuda_are_right checked '^actor.*/cuda'
else
    claim device_that_is_not_here_is_a_skip_with_its_reason absent
fi
claim_json some_are_measured measured
claim telemetry_takes_turns turns
claim sustained_run_has_windows lasts
claim targets_name_what_there_is targets
claim values_that_make_no_sense_are_refused wrong_axes
claim ctrl_c_ends_it interrupted
finish
