#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The self-test of the judge, as small as it can be: what it needs, keeps and leaves behind. What it finds is
# not claimed here, because that is the machine's.
. "$(dirname "$0")/../sh.sh"

[ -z "${SANITIZED:-}" ] || { skip selftest 'it lets the judge judge, which cli_gate_test does under a sanitizer too'; finish; }

workloads=$build/libexec/gyre
XDG_STATE_HOME=$work/state && export XDG_STATE_HOME

helps()
{
    exits 0 "$gyre" selftest --help && says out '^usage: gyre selftest' && says out '--full' && says out '--trials' &&
        exits 0 "$gyre" help && says out '^  selftest '
}
refuses() # PATTERN WORDS...
{
    pattern=$1
    shift
    exits 2 "$gyre" selftest --out "$work/none" "$@" && says err "$pattern" && [ ! -e "$work/none" ]
}
no_workloads()
{
    mkdir -p "$work/alone/bin" && cp "$gyre" "$work/alone/bin/gyre" &&
        exits 3 "$work/alone/bin/gyre" selftest --out "$work/none" &&
        says err "'workload' is not at .*libexec/gyre/workload (No such file.*'make' or 'make install'" &&
        mkdir -p "$work/alone/libexec/gyre" && cp "$workloads/workload" "$work/alone/libexec/gyre/" &&
        exits 3 "$work/alone/bin/gyre" selftest --out "$work/none" && says err "'workload_relinked' is not" &&
        [ ! -e "$work/none" ]
}
broken_workload() # a program that is something else
{
    mkdir -p "$work/broken/bin" "$work/broken/libexec/gyre" && cp "$gyre" "$work/broken/bin/gyre" || return 1
    for name in workload workload_relinked; do
        printf '#!/bin/sh\nexit 7\n' >"$work/broken/libexec/gyre/$name" && chmod +x "$work/broken/libexec/gyre/$name"
    done
    exits 3 "$work/broken/bin/gyre" selftest --trials 1 --out "$work/none" && says err '^gyre selftest: ' &&
        [ ! -e "$work/none/selftest.json" ]
}
out_unwritable() { : >"$work/file" && exits 3 "$gyre" selftest --out "$work/file/sub" && says err '^gyre selftest: '; }

answers() # every workload is right, with extra work and without
{
    for program in workload workload_relinked; do
        for parts in 0 1 500 10000; do
            exits 0 "$workloads/$program" "$parts" --test --no-save && says out '^judge/alu  *ok' &&
                says out '^judge/memory  *ok' || return 1
        done
    done
}
wants_parts()
{
    for words in '' many 10001 -1 '1x' --list; do
        # shellcheck disable=SC2086 # no word for none
        exits 2 "$workloads/workload" $words && says err 'usage: .*workload PARTS' || return 1
    done
}
moved() # the code of one is not where that of the other is
{
    for program in workload workload_relinked; do
        nm "$workloads/$program" | sed -n 's/^\([0-9a-f]*\) t chain_run$/\1/p' >"$work/$program.at" &&
            [ -s "$work/$program.at" ] || return 1
    done
    ! cmp -s "$work/workload.at" "$work/workload_relinked.at" && nm "$workloads/workload_relinked" | grep -q ' T unrelated$'
}

value() { "$query" "$@" <"$work/json"; }
is() # VALUE PATH...
{
    expected=$1
    shift
    found=$(value "$@")
    [ "$found" = "$expected" ] || { echo "$*: '$found', not '$expected'"; return 1; }
}
run_tiny() # whether targets are met is not the question: 0 and 1 are both fine
{
    status=0
    (cd "$work" && GYRE_OUT=kept "$gyre" selftest --trials 1 --seed 7 --json >"$work/json" 2>"$work/err") || status=$?
    [ "$status" -le 1 ] || { echo "status $status"; cat "$work/err"; return 1; }
}
tiny()
{
    run_tiny && is gyre.selftest/1 schema && is custom mode && is false full && is 0000000000000007 seed &&
        is 10 rows && is 10 trials && is 15 targets && is selftest command 1 && value machine cpus &&
        is judge/memory rows 9 workload && is relinked rows 9 kind && is 1 rows 9 trials && value trials 9 launches &&
        is "$([ "$status" = 0 ] && echo true || echo false)" passed
}
each_row_once()
{
    for i in 0 1 2 3 4 5 6 7 8 9; do value trials "$i" row; done | sort -n | tr -d '\n' | grep -qx 0123456789
}
kept() { cmp "$work/json" "$work/kept/selftest.json" && [ ! -e "$XDG_STATE_HOME" ] && [ "$(ls -A "$work/kept")" = selftest.json ]; }
proved()
{
    is true proved && is met targets 6 attained && is met targets 13 attained &&
        value rows 1 proof change | grep -q '^0\.0\(099\|100\)' &&
        value rows 8 proof change | grep -q '^0\.0\(499\|500\)'
}
not_proved() # where nobody can count
{
    is false proved && is 'not measured' targets 6 attained && value rows 1 proof reason
}

there='d.e/bin/../libexec/gyre/workload'
# at a place whose name has everything in it that has to be quoted
ctrl_c()
{
    place="$work/a b'c\"d\\e" && mkdir -p "$place/bin" "$place/libexec/gyre" && cp "$gyre" "$place/bin/" &&
        cp "$workloads"/workload* "$place/libexec/gyre/" || return 1
    env --default-signal=INT "$place/bin/gyre" selftest --trials 50 --out "$work/stopped" >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 300 running "$there" || { kill "$pid"; cat "$work/err"; return 1; }
    sleep 0.5
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] || { echo "status $status"; cat "$work/err"; return 1; }
    says out 'interrupted after [0-9]* of 500 trials; nothing is kept' && [ -z "$(ls -A "$work/stopped")" ] &&
        nobody_left "$there"
}

claim help_is_there helps
claim choice_of_lengths_is_one refuses 'choose one of --quick, --full and --trials' --quick --full
claim trials_are_a_number refuses "option '--trials' takes a number from 1 to 10000, not '0'" --trials 0
claim seed_is_a_number refuses "option '--seed' takes a number" --seed x
claim missing_workloads_are_named no_workloads
claim broken_workload_is_an_error broken_workload
claim unwritable_folder_is_found_first out_unwritable
claim workloads_are_right answers
claim workload_wants_its_extra_work wants_parts
claim relinked_code_is_elsewhere moved
claim_json tiny_run_is_a_record tiny
claim_json every_row_has_its_trial each_row_once
claim record_is_kept_and_nothing_else kept
if [ -n "${SANITIZED:-}" ]; then
    skip added_work_is_counted 'callgrind cannot run what is sanitized'
elif command -v valgrind >/dev/null; then
    claim_json added_work_is_counted proved
else
    claim_json uncounted_work_is_not_proved not_proved
fi
claim interrupt_leaves_nothing ctrl_c
finish
