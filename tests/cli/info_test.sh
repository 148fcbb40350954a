#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre info against what the system itself says.
. "$(dirname "$0")/../sh.sh"

[ -x "$query" ] || { skip info 'jansson is not here, so JSON cannot be read back'; finish; }
"$gyre" info --json >"$work/json" || exit 1
at() { "$query" "$@" <"$work/json"; }

text() { exits 0 "$gyre" info && says out '^cpu$' && says out '^  model name' && says out '^  total  '; }
cpus() { [ "$(at cpu cpus)" = "$(getconf _NPROCESSORS_ONLN)" ] && [ "$(at cpu allowed_cpus)" = "$(nproc)" ]; }
memory() { [ "$(at memory total_bytes)" = "$(awk '/^MemTotal:/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)" ]; }
kernel() { [ "$(at machine kernel)" = "$(uname -r)" ] && [ "$(at machine architecture)" = "$(uname -m)" ]; }
clock() { at clock source && at clock cost_ns && [ -n "$(at clock reason)" ]; }
system_clock()
{
    GYRE_CLOCK=system "$gyre" info --json >"$work/json3" &&
        [ "$("$query" clock source <"$work/json3")" = clock_gettime ] &&
        "$query" clock ticks_per_ns <"$work/json3" | grep -Eqx '0(\.0)?'
}
drivers()
{
    driver=$(at driver_files cuda_driver) || return 1
    if [ -n "$driver" ]; then [ -r "$driver" ]; else [ ! -e /usr/lib/x86_64-linux-gnu/libcuda.so.1 ]; fi
    [ "$(at driver_files opencl_vendors)" = "$(find /etc/OpenCL/vendors -name '*.icd' 2>/dev/null | wc -l)" ]
}
# Every backend has a row: what its driver is, or why it is not there; the devices are those of the rows.
backends()
{
    exits 0 "$gyre" info && says out '^drivers$' && says out '^devices$' && says out '^driver files$' || return 1
    i=0 sum=0
    for backend in cpu cuda opencl null; do
        [ "$(at drivers "$i" backend)" = "$backend" ] && says out "^  $backend  *[a-z0-9]" || return 1
        case $(at drivers "$i" status) in
            ok) sum=$((sum + $(at drivers "$i" devices))) ;;
            *) [ "$(at drivers "$i" devices)" = 0 ] && [ -n "$(at drivers "$i" text)" ] && says out "^  $backend  *[a-z ]*: ." || return 1 ;;
        esac
        i=$((i + 1))
    done
    [ "$(at devices)" = "$sum" ]
}
# The table and the JSON tell the same of every device; one without trouble has limits.
listed()
{
    exits 0 "$gyre" info || return 1
    count=$(at devices) i=0
    while [ "$i" -lt "$count" ]; do
        name=$(at devices "$i" name) && says out "^  $name " && [ "$name" = "$(at devices "$i" backend):${name##*:}" ] || return 1
        if [ "$(at devices "$i" trouble)" = null ]; then
            [ "$(at devices "$i" limits block_threads)" -ge 1 ] && [ "$(at devices "$i" limits grid)" = 3 ] && [ -n "$(at devices "$i" title)" ] || return 1
        else
            says out 'cannot be used: ' || return 1
        fi
        i=$((i + 1))
    done
}
left_out()
{
    GYRE_BACKENDS=cpu exits 0 "$gyre" info && says out '^  cuda  *unavailable: left out by GYRE_BACKENDS$' &&
        says out '^  null  *unavailable: left out by GYRE_BACKENDS$' && ! grep -q '^  null:0' "$work/out" &&
        GYRE_BACKENDS=cpu,cdua exits 0 "$gyre" info && says err "GYRE_BACKENDS: there is no backend 'cdua'"
}
sizes()
{
    [ "$(at build program_bytes)" = "$(wc -c <"$gyre")" ] &&
        [ "$(at build library_bytes)" = "$(wc -c <"$build/lib/libgyre.so.0")" ]
}
layout()
{
    exits 0 "$gyre" info --layout && says out '^gyre_trace_event: 32 bytes' &&
        "$gyre" info --layout --json >"$work/json2" &&
        [ "$("$query" gyre_trace_event size <"$work/json2")" = 32 ] &&
        [ "$("$query" gyre_trace_event fields value offset <"$work/json2")" = 16 ]
}
shared_layout()
{
    exits 0 "$gyre" info --layout && says out '^gyre_control_block: 128 bytes, aligned to 128$' &&
        says out '^ *24  host.input_tail  *u64  host ' && says out '^ *96  device.input_head  *u64  device ' &&
        says out '^gyre_telemetry: 64 bytes, aligned to 64$' && says out '^gyre_message: 64 bytes' && says out '^gyre_ring_slot: 64 bytes' &&
        "$gyre" info --layout --json >"$work/json4" &&
        [ "$("$query" gyre_telemetry align <"$work/json4")" = 64 ] &&
        [ "$("$query" gyre_control_block fields host.active offset <"$work/json4")" = 0 ] &&
        [ "$("$query" gyre_control_block fields device.processed writer <"$work/json4")" = device ] &&
        [ "$("$query" gyre_control_block fields device.processed type <"$work/json4")" = u64 ]
}
affinity() { taskset -c 0 "$gyre" info --json | "$query" cpu allowed_cpus | grep -qx 1; }

claim text_has_its_sections text
if command -v getconf >/dev/null; then
    claim cpu_counts_are_the_systems cpus
else
    skip cpu_counts_are_the_systems 'getconf is not installed'
fi
claim memory_is_the_kernels memory
claim machine_is_unames kernel
claim clock_says_why clock
claim clock_can_be_the_systems system_clock
claim driver_files_are_there_or_not drivers
claim every_backend_has_its_driver_or_a_reason backends
claim every_device_is_listed listed
claim backends_can_be_left_out left_out
claim sizes_are_the_files_sizes sizes
claim layout_is_printed_both_ways layout
claim layout_says_who_writes_what_devices_share shared_layout
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
    claim allowed_cpus_follow_the_affinity affinity
else
    skip allowed_cpus_follow_the_affinity 'CPU 0 cannot be chosen here'
fi
finish
