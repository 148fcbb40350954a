#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The suite of idle actors: every case once, and one of each kind measured quickly.
. "$(dirname "$0")/../sh.sh"

# a seat takes a thread of PoCL for good; what is compiled is kept for other tests
export POCL_MAX_PTHREAD_COUNT=6 POCL_CACHE_DIR="$kernels/pocl" GYRE_CACHE="$kernels"
fast='--sample-size 10 --warm-up-time 1ms --measurement-time 20ms --isolate none --no-save'

checked() # FILTER: all of them run, or say why not
{
    exits 0 "$gyre" bench --test "$1" || { grep -A 2 'FAILED' "$work/out"; return 1; }
    says out '[1-9][0-9]* checked, 0 failed'
}
# shellcheck disable=SC2086 # options
wakes() { exits 0 "$gyre" bench $fast --exact actor_idle/wake/leave/cpu/10 && says out ' returns [1-9]'; }
cost() { sed -n "\\|^actor_idle/cost/$1/cpu|,/cpu_ms_per_s/ s/.* cpu_ms_per_s //p" "$work/out"; } # POLICY
# shellcheck disable=SC2086
costs() # in one run: who spins never sleeps, and who backs off does most of the time
{
    exits 0 "$gyre" bench $fast --exact actor_idle/cost/spin/cpu actor_idle/cost/back_off/cpu || return 1
    echo "$(cost spin) $(cost back_off)" | awk '{ print } NF != 2 || $2 <= 0 || $1 < 2 * $2 { exit 1 }'
}
cost_apart() { costs || costs || costs; } # others may have had the processors meanwhile

claim cases_on_the_cpu_are_right checked '^actor_idle.*/cpu'
claim cases_on_opencl_are_right_or_skipped checked '^actor_idle.*/(spin/cpu|opencl)'
claim one_that_left_comes_back_for_each_call wakes
claim one_that_spins_uses_more_cpu_than_one_that_backs_off cost_apart
finish
