#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre doctor: the shape of its report, and that it notices what is done to it.
. "$(dirname "$0")/../sh.sh"

[ -x "$query" ] || { skip doctor 'jansson is not here, so JSON cannot be read back'; finish; }
"$gyre" doctor --json >"$work/json" || exit 1
at() { "$query" "$@" <"$work/json"; }
finds() # ID FILE: prints the finding's weight
{
    i=0
    while id=$("$query" findings "$i" id <"$2"); do
        [ "$id" = "$1" ] && { "$query" findings "$i" weight <"$2"; return 0; }
        i=$((i + 1))
    done
    return 1
}

text() { exits 0 "$gyre" doctor && says out '^verdict: ' && says out '^clock: '; }
verdict() { at verdict | grep -Eqx 'quiet|noisy|unusable'; }
whole()
{
    count=$(at findings) i=0
    while [ "$i" -lt "$count" ]; do
        for key in id weight evidence advice; do
            [ -n "$(at findings "$i" "$key")" ] || return 1
        done
        i=$((i + 1))
    done
}
placement()
{
    if [ "$(nproc)" -gt 1 ]; then at measured placement | grep -Eqx 'near|far'; else [ "$(at measured placement)" = unknown ]; fi
}
measured() { [ "$(at measured spin_ns)" -ge 400000000 ] && at measured steal_share && at measured gap_count; }
one_cpu()
{
    taskset -c 0 "$gyre" doctor --json >"$work/one" && [ "$(finds cpus "$work/one")" = noisy ]
}
# a busy program beside it is seen; a look lasts less than half a second, so one of three is enough
load()
{
    for _ in 1 2 3 4; do
        timeout 60 sh -c 'while :; do :; done' & echo $! >>"$work/pids"
    done
    seen=1
    for _ in 1 2 3; do
        sleep 0.5
        "$gyre" doctor --json >"$work/busy"
        if finds load "$work/busy" | grep -Eqx 'noisy|unusable'; then seen=0 && break; fi
    done
    # shellcheck disable=SC2046 # one pid a word
    kill $(cat "$work/pids")
    [ "$seen" = 0 ] || cat "$work/busy"
    return "$seen"
}
# a build that is not for measuring says so
build_kind()
{
    case $("$gyre" info | sed -n 's/^  build  *//p') in
    *Release*'sanitizers none'* | *RelWithDebInfo*'sanitizers none'* | *MinSizeRel*'sanitizers none'*) ! finds build "$work/json" ;;
    *) [ "$(finds build "$work/json")" = unusable ] && [ "$(at verdict)" = unusable ] ;;
    esac
}

# a null device that is told to be hot and broken, in place of a GPU
hot_device()
{
    GYRE_NULL_FAULTS='temperature=88 power=299 throttle=2 memory=60 ecc=1' exits 0 "$gyre" doctor --device null --json &&
        [ "$(finds gpu_heat "$work/out")" = noisy ] && [ "$(finds gpu_power "$work/out")" = noisy ] &&
        [ "$(finds gpu_faults "$work/out")" = unusable ] && [ "$(finds gpu_memory "$work/out")" = note ] &&
        [ "$("$query" verdict <"$work/out")" = unusable ] &&
        [ "$("$query" measured devices 0 temperature_c <"$work/out")" = 88 ]
}
cool_device()
{
    exits 0 "$gyre" doctor --device null:0 && says out '^null:0 (.*): 40 C of 90, 50 W of 300, 1000 MHz of 1000' &&
        ! grep -q gpu_ "$work/out"
}
wrong_device() { exits 2 "$gyre" doctor --device nix && says err "there is no device 'nix'; there is .*null:0"; }
no_null() { ! grep -q null: "$work/json"; }

claim text_ends_with_a_verdict text
claim hot_device_is_found hot_device
claim cool_device_is_a_line_and_no_finding cool_device
claim null_devices_are_no_gpus no_null
claim unknown_device_is_exit_2_with_the_names wrong_device
claim verdict_is_one_of_three verdict
claim every_finding_has_evidence_and_advice whole
claim figures_are_measured measured
claim placement_is_near_or_far placement
claim wrong_build_is_unusable build_kind
claim busy_neighbours_are_found load
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
    claim single_cpu_is_found one_cpu
else
    skip single_cpu_is_found 'CPU 0 cannot be chosen here'
fi
finish
