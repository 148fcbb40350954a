#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The story of the suite that failed because of what its first group had left behind: with a group
# in which everything goes wrong, that group fails with its reasons, and every other one passes.
. "$(dirname "$0")/../sh.sh"

# too much memory is no memory, with the address sanitizer too
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
# the largest product is for GPUs
here='^[a-z_]*/[a-z0-9_]*/(cpu|opencl)(/256)?$'
others='matmul/f32/%s/256 unary_ops/relu/%s memory_transfer/to_device/%s gpu_batch_processing/single_large_op/%s gpu_batch_processing/many_small_ops/%s'

# outcome ID WORD...: what became of it, in any of these words
outcome()
{
    "$query" benchmarks <"$work/run.json" >/dev/null || return 1
    index=0
    while id=$("$query" benchmarks "$index" id <"$work/run.json" 2>/dev/null); do
        [ "$id" = "$1" ] && break
        index=$((index + 1))
    done
    [ "$id" = "$1" ] || return 1
    was=$("$query" benchmarks "$index" outcome <"$work/run.json")
    why=$("$query" benchmarks "$index" reason <"$work/run.json" 2>/dev/null)
    shift
    for word; do
        case "$was $why" in *"$word"*) return 0 ;; esac
    done
    echo "  $id: $was $why" >&2
    return 1
}
devices() { if "$gyre" info | grep -q '^ *opencl:0 '; then echo cpu opencl; else echo cpu; fi; }
run() { "$build/tests/$1" --test --output-format json "$here" >"$work/run.json" 2>"$work/err"; }
others_pass()
{
    for device in $(devices); do
        for form in $others; do
            # shellcheck disable=SC2059 # the form is ours
            outcome "$(printf "$form" "$device")" checked || return 1
        done
    done
}
whole() { run story_bench && others_pass; }
faulty()
{
    run story_faulty_bench
    [ $? = 1 ] && others_pass
}
reasons()
{
    for device in $(devices); do
        outcome "fault/hang/$device" "failed the check says that its answer is wrong: device lost: $device:0, stream: in 'hang'" &&
            outcome "fault/crash/$device" 'failed was killed by signal 6' &&
            outcome "fault/address/$device" 'failed was killed by signal' "in 'wild'" 'failed called exit with status 1' &&
            outcome "fault/memory/$device" 'failed set-up failed: ' || return 1
    done
}

claim every_group_passes whole
claim other_groups_pass_beside_faults faulty
claim faults_are_told_with_their_reasons reasons
finish
