#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre top: one sample as text and as JSON, and the live screen in a pseudo terminal (top_pty.py), all on a null device
# that is told how to be; and the actors of a program (actor_sample) that it is to find.
. "$(dirname "$0")/../sh.sh"

top() { exits 0 "$gyre" top --device null:0 "$@"; }
at() { "$query" "$@" <"$work/out"; }

text()
{
    top --once && says out '^null:0 .* healthy$' && says out '^  memory .* GiB$' && says out '^  power .* of 300 W$' &&
        says out '^  heat .* limit 90 C$' && says out '^  busy .*its memory -$'
}
no_terminal() { top && says out '^null:0 ' && ! grep -q "$(printf '\033')" "$work/out"; }
colour() { top --color always && says out "$(printf '\033')\[32mhealthy"; }
usual() # the CPU is there without being asked for, a null device is not
{
    exits 0 "$gyre" top --once && says out '^cpu:0 ' && ! grep -q '^null' "$work/out"
}
levels()
{
    GYRE_NULL_FAULTS='temperature=85' top && says out ' warning$' && says out '^  warning: temperature is 85 C, warned from 85 C$' &&
        GYRE_NULL_FAULTS='temperature=90 xid=79' top && says out ' critical$' && says out '^  critical: the driver reported 1 fault, Xid 79' &&
        says out '^  critical: temperature is 90 C, critical from 90 C$'
}
several()
{
    exits 0 "$gyre" top -d null:1 --device null:0 -d null:1 && [ "$(grep -c '^null:' "$work/out")" = 2 ] &&
        [ "$(head -n 1 "$work/out" | cut -c 1-6)" = null:1 ]
}
json()
{
    GYRE_NULL_FAULTS='temperature=87 power=299 throttle=2 memory=95 ecc=1' top --once --json &&
        [ "$(at schema)" = gyre.top/1 ] && [ "$(at devices)" = 1 ] && [ "$(at devices 0 name)" = null:0 ] &&
        [ "$(at devices 0 level)" = critical ] && [ "$(at devices 0 temperature_c)" = 87 ] &&
        [ "$(at devices 0 power_mw)" = 299000 ] && [ "$(at devices 0 throttle 0)" = thermal ] &&
        [ "$(at devices 0 reasons)" = 5 ] && [ "$(at devices 0 reasons 0 level)" = critical ] &&
        [ "$(at devices 0 reasons 0 about)" = ecc ] && [ "$(at devices 0 reasons 0 early)" = false ]
}
unknown() { top --json && [ "$(at devices 0 memory_busy_percent)" = null ] && [ "$(at devices 0 memory_trend)" = null ]; }
members() # every one of them is in the document
{
    grep -o '"[a-z_]*":' "$work/out" | tr -d '":' | sort -u >"$work/members" || return 1
    while read -r member; do
        grep -q "\`$member\`" "$root/docs/formats/top.md" || { echo "$member is not documented"; return 1; }
    done <"$work/members"
}
documented() { top --json && members; }
wrong_device() { exits 2 "$gyre" top --device nix:7 && says err "there is no device 'nix:7'; there is .*null:0"; }
wrong_interval()
{
    for interval in 0 1ms 2h -1 x 1e99; do
        exits 2 "$gyre" top --interval="$interval" && says err '\--interval takes a duration from 100ms to 60m' || return 1
    done
}
escapes()
{
    esc=$(printf '\033')
    exits 2 "$gyre" top --device "${esc}[2J" && ! grep -q "$esc" "$work/err"
}
full_disk()
{
    got=0
    "$gyre" top --device null:0 >/dev/full 2>"$work/err" || got=$?
    [ "$got" = 3 ]
}
live() { PYTHONDONTWRITEBYTECODE=1 timeout 120 python3 "$root/tests/cli/top_pty.py" "$gyre" "$@"; }

# Starts a program with an actor of that name; its number is in $pid, and 9 is its input.
resident() # NAME [COMMAND...]
{
    name=$1
    shift
    mkfifo "$work/$name.in" && : >"$work/$name.out" || return 1
    "$@" "$build/tests/actor_sample" "$name" <"$work/$name.in" >"$work/$name.out" 2>&1 &
    pid=$!
    exec 9>"$work/$name.in"
    waits_for 100 grep -q resident "$work/$name.out"
}
leave() { exec 9>&- && wait "$pid"; } # its exit status
its() { grep "^ *$pid  " "$work/out"; }
row() { exits 0 "$gyre" top --once && its; }
row_on() { exits 0 "$gyre" top --once --device "$1" && its; } # DEVICE
boards() { find /dev/shm -maxdepth 1 -name "gyre.*.$pid.*" | grep -c .; }
index() # of its actor in the JSON
{
    number=0
    while [ "$number" -lt "$(at actors)" ]; do
        [ "$(at actors "$number" pid)" != "$pid" ] || { echo "$number" && return; }
        number=$((number + 1))
    done
    return 1
}
actor_text()
{
    resident text && waits_for 50 row && says out '^actors$' && says out '^ *pid  program  *actor  *behaviour  *device' &&
        row | grep -Eq '  actor_sample  +text  +tally  +cpu:0  +active  +1  +[0-9]+  +[0-9.]+  +[0-9]+  +0  +[0-9.]+ [num]?s$' && leave
}
actor_json()
{
    resident json && echo fail >&9 && waits_for 50 row && exits 0 "$gyre" top --json && i=$(index) &&
        [ "$(at actors "$i" program)" = actor_sample ] && [ "$(at actors "$i" actor)" = json ] &&
        [ "$(at actors "$i" behaviour)" = tally ] && [ "$(at actors "$i" device)" = cpu:0 ] &&
        [ "$(at actors "$i" status)" = active ] && [ "$(at actors "$i" silent)" = false ] &&
        [ "$(at actors "$i" seats)" = 1 ] && [ "$(at actors "$i" processed)" -gt 0 ] &&
        [ "$(at actors "$i" failed)" = 1 ] && [ "$(at actors "$i" last_error)" = 1000 ] &&
        at actors "$i" per_second | awk '$1 <= 0 { exit 1 }' && at actors "$i" mean_ns | awk '$1 <= 0 { exit 1 }' && leave
}
actor_documented()
{
    resident words && waits_for 50 row && exits 0 "$gyre" top --json && members && leave
}
actor_elsewhere() # is not shown with the devices asked for, and is with its own
{
    resident elsewhere && waits_for 50 row_on cpu:0 && not row_on null:0 && leave
}
actor_ends() { resident ends && waits_for 50 row && echo end >&9 && waits_for 50 grep -q ended "$work/ends.out" && not row && leave; }
actor_exits() { resident exits && waits_for 50 row && leave && not row && [ "$(boards)" = 0 ]; }
actor_killed() { resident killed && waits_for 50 row && kill -9 "$pid" && not leave && not row && [ "$(boards)" = 0 ]; }
actor_stopped()
{
    resident stopped && waits_for 50 row && kill -STOP "$pid" && sleep 2.5 || return 1
    got=$(row | grep -c '  silent  .*  -  ')
    kill -CONT "$pid" && [ "$got" = 1 ] && waits_for 50 active && leave
}
active() { row | grep -q '  active  '; }
actor_hidden() # which would be seen as soon as another that came after it
{
    resident hidden env GYRE_BOARD=off || return 1
    hidden=$pid
    mkfifo "$work/shown.in" && : >"$work/shown.out" || return 1
    "$build/tests/actor_sample" shown <"$work/shown.in" >"$work/shown.out" 2>&1 &
    pid=$!
    exec 8>"$work/shown.in"
    waits_for 50 row
    got=$?
    exec 8>&- && wait "$pid" && pid=$hidden && [ "$got" = 0 ] && not its && [ "$(boards)" = 0 ] && leave
}
garbage() # whatever lies there
{
    resident garbage && waits_for 50 row || return 1
    at=/dev/shm/gyre.$(id -u).$pid
    head -c 67712 /dev/urandom >"$at.1" && mkfifo "$at.2" && mkdir "$at.3" && ln -s /dev/zero "$at.4" &&
        head -c 100 "$(echo "$at".??*)" >"$at.5" && : >"$at.6" && printf 'GYRB' >"$at.7" && row
    got=$?
    rm -rf "$at".[1-7]
    [ "$got" = 0 ] && leave
}

claim sample_is_printed_as_text text
claim without_a_terminal_it_prints_once no_terminal
claim colour_can_be_asked_for colour
no_actors='there is no cpu:0'
if "$gyre" top -d cpu:0 >"$work/cpu" 2>&1; then
    no_actors=
    [ -w /dev/shm ] || no_actors='there is no /dev/shm'
    claim cpu_is_shown_and_null_devices_are_not usual
else
    skip cpu_is_shown_and_null_devices_are_not 'there is no cpu:0'
fi
claim levels_come_with_their_reasons levels
claim devices_are_shown_once_in_the_order_asked_for several
claim_json json_has_state_level_and_reasons json
claim_json what_nobody_tells_is_null unknown
claim every_member_is_documented documented
claim unknown_device_is_exit_2_with_the_names wrong_device
claim impossible_interval_is_exit_2 wrong_interval
claim errors_cannot_drive_a_terminal escapes
if [ -c /dev/full ]; then
    claim full_disk_is_exit_3 full_disk
else
    skip full_disk_is_exit_3 'there is no /dev/full here'
fi
if [ -z "$no_actors" ]; then
    claim actor_of_another_process_is_shown actor_text
    claim_json actor_is_in_the_json_with_its_rate actor_json
    claim every_member_of_an_actor_is_documented actor_documented
    claim actor_belongs_to_its_device actor_elsewhere
    claim actor_that_has_ended_is_not_shown actor_ends
    claim exit_takes_the_board_away actor_exits
    claim killed_process_is_not_shown_and_its_board_removed actor_killed
    claim stopped_process_is_silent actor_stopped
    claim board_can_be_turned_off actor_hidden
    claim garbage_among_the_boards_does_no_harm garbage
else
    skip actors "$no_actors"
fi
if python3 -c 'import sys, pty; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    claim q_quits_and_leaves_the_terminal_as_it_was live q
    claim control_c_does_too live control_c
    claim sigterm_does_too live sigterm
    claim sighup_does_too live sighup
    claim h_helps_and_goes_back live help
    claim space_pauses_and_goes_on live pause
    claim every_size_is_kept_to live sizes
    claim stopped_process_gives_the_terminal_back live stop
    claim no_color_is_honoured live no_color
    claim terminal_is_coloured live color
    claim once_leaves_the_terminal_alone live once
    if [ -z "$no_actors" ]; then
        claim actor_comes_and_goes live actors "$build/tests/actor_sample"
    else
        skip actor_comes_and_goes "$no_actors"
    fi
else
    skip live_screen 'there is no Python 3.9 with pseudo terminals'
fi
finish
