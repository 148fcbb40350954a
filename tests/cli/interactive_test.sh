#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The suites `interactive` and the crews of `gpu_batch`, on a small grid: every way does the same as the reference.
. "$(dirname "$0")/../sh.sh"

GYRE_CACHE=$kernels POCL_CACHE_DIR=$kernels/pocl POCL_MAX_PTHREAD_COUNT=6
export GYRE_CACHE POCL_CACHE_DIR POCL_MAX_PTHREAD_COUNT
cd "$work" || exit 1

fast='--quiet --sample-size 10 --warm-up-time 1ms --measurement-time 20ms --no-save --json'
# outcome of a case in the JSON of the last run
all() { grep -c "\"outcome\": \"$1\"" "$work/out"; }

# shellcheck disable=SC2086 # options
measured() # PATTERN COUNT: that many cases, none of which failed
{
    exits 0 "$gyre" bench $fast --axis grid=8 "$1" && [ "$(all measured)" = "$2" ] && [ "$(all failed)" = 0 ]
}
no_actors() # NAME: there is no such device, or it has none
{
    "$gyre" bench --test --axis grid=8 "^interactive/query_persistent/$1/" 2>/dev/null | grep -q '^0 [a-z]*, 0 failed, 1 skipped'
}
ways() { measured "^interactive/.*/$1/" 13; }
crews() { measured "^gpu_batch_processing/crew.*/$1/" 4; }
# shellcheck disable=SC2086
facts()
{
    exits 0 "$gyre" bench $fast --axis grid=8 '^interactive/mixed_.*/cpu/' &&
        [ "$(grep -c '"operations_per_frame":' "$work/out")" = 4 ] && [ "$(grep -c '"answers_steps_behind": 0' "$work/out")" = 4 ]
}
bad_grid() { exits 1 "$gyre" bench --test --axis grid=12 '^interactive/step_graph/cpu/' && says out 'a side of 8, 16, ... 256'; }
# every benchmark that the table names
# shellcheck disable=SC2086
targets()
{
    exits 0 "$gyre" bench ${fast% --json} --targets interactive clock/now_ns && says out '^targets: 0 met, 0 missed, .*8 not measured' || return 1
    exits 0 "$gyre" bench --list || return 1
    sed -n 's/.*"id": "\([^"]*\)".*/\1/p; s/.*"to": "\([^"]*\)".*/\1/p' "$root/lab/suites/interactive_targets.c" >"$work/named"
    [ "$(wc -l <"$work/named")" = 16 ] && while read -r id; do says out "^$id: benchmark\$" || return 1; done <"$work/named"
}

claim every_way_agrees_with_the_reference_on_the_cpu ways cpu
claim crews_do_what_launches_do_on_the_cpu crews cpu
if no_actors opencl; then
    skip every_way_agrees_with_the_reference_on_opencl 'there is no device of OpenCL that has actors'
else
    claim every_way_agrees_with_the_reference_on_opencl ways opencl
    claim crews_do_what_launches_do_on_opencl crews opencl
fi
if no_actors cuda; then
    skip every_way_agrees_with_the_reference_on_cuda 'there is no device of CUDA that has actors'
else
    claim every_way_agrees_with_the_reference_on_cuda ways cuda
    claim crews_do_what_launches_do_on_cuda crews cuda
fi
claim frames_and_freshness_are_told facts
claim a_grid_that_is_none_is_refused bad_grid
claim targets_name_benchmarks_that_there_are targets
finish
