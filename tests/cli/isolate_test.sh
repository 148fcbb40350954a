#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A stranger's suite in which benchmarks crash, hang, lie, leave and shout: each is named, and the rest is
# measured as if they had not been there.
. "$(dirname "$0")/../sh.sh"

# a copy, so that its processes are told from those of other tests
cp "$build/tests/stranger_bench" "$work/stranger_bench" || exit 1
stranger=$work/stranger_bench
fast='--sample-size 10 --warm-up-time 1ms --measurement-time 5ms --brief'

# a crash is a crash, also where a sanitizer would make an exit of it
export ASAN_OPTIONS=handle_segv=0:handle_abort=0

# shellcheck disable=SC2086 # options
run() { "$stranger" $fast --no-save "$@"; }

crash()
{
    exits 1 run '^crash' '^last' && says out '^crash/before  *time:' && says out '^crash/after  *time:' &&
        says out '^last/one  *time:' && says out '^crash/here  *FAILED: was killed by signal 11' &&
        says out '| about to do something?\[31m silly' && says out '^3 measured, 1 failed, 0 skipped of 4'
}
hang()
{
    exits 1 run --timeout 3s hang last && says out '^hang/here  *FAILED: gave no sign of life for 3.0000 s' &&
        says out '^last/one  *time:' && nobody_left "$stranger"
}
wrong() { exits 1 run wrong last && says out '^wrong/answer  *FAILED: the check says' && says out '^last/one  *time:'; }
leaves()
{
    exits 1 run exit last && says out '^exit/three  *FAILED: called exit with status 3 while warming up' &&
        says out '^exit/zero  *FAILED: called exit with status 0' && says out '^last/one  *time:'
}
ends_badly() { exits 1 run late last && says out '^late/abort  *FAILED: was killed by signal 6 .* after it had been measured'; }
shouts()
{
    exits 0 run --isolate bench print/megabytes last && says out '^print/megabytes' && says out '^last/one' &&
        says err 'and more, which is not shown' && [ "$(wc -c <"$work/err")" -lt 20000 ]
}
says_little() { exits 0 run --json print/little && says err 'hello from the benchmark' && ! grep -q hello "$work/out"; }
no_time() { exits 1 run zero last && says out '^zero/ns  *FAILED: run returns at once' && says out '^last/one  *time:'; }
absent() { exits 0 run absent last && says out '^absent/device  *skipped: no flux capacitor here'; }

child_of_a_hang()
{
    STRANGER_CHILD=$work/child && export STRANGER_CHILD
    exits 1 run --timeout 3s child && gone "$(cat "$work/child")"
}
daemon_left()
{
    STRANGER_CHILD=$work/child && export STRANGER_CHILD
    exits 0 run daemon last && says out '^daemon/left  *time:' && gone "$(cat "$work/child")"
}
started_with_a_child() # leaves `pid`, `child`
{
    rm -f "$work/child"
    # shellcheck disable=SC2086
    STRANGER_CHILD=$work/child env --default-signal=INT "$stranger" $fast --no-save '^child' >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 [ -s "$work/child" ]
    child=$(cat "$work/child") && alive "$child"
}
killed_parent()
{
    started_with_a_child && kill -KILL "$pid" && gone "$child" && nobody_left "$stranger"
}
# asked once, it is ended after two seconds; asked twice, at once
deaf_to_ctrl_c()
{
    started_with_a_child && kill -INT "$pid" || return 1
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] && gone "$child" && says out 'did not stop when asked to'
}
twice()
{
    started_with_a_child && kill -INT "$pid" && sleep 0.3 && kill -INT "$pid" || return 1
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] && gone "$child" && says out 'interrupted' && says out 'did not stop when asked to'
}

declared() { exits 1 run declared last && says out '^declared/crash  *FAILED: was killed by signal 11' && says out '^last/one  *time:'; }
in_light_order() { exits 1 run --order light declared last && says out '^last/one  *time:'; }
left_its_group() { exits 1 run --timeout 3s '^group' last && says out '^group/left  *FAILED: gave no' && says out '^last/one'; }
returned_twice() { exits 0 run twice last && says out '^twice/returned  *time:' && says out '^last/one  *time:'; }
each_one() { exits 0 run --latency each && says out '^each/one  *time:' && says out 'p50:'; }
each_counted() { exits 0 run --memory each && says out 'memory: peak .*; 1 allocations of together 10 B'; }
# shellcheck disable=SC2086
deaf()
{
    rm -f "$work/child"
    STRANGER_CHILD=$work/child "$stranger" $fast --no-save '^mask' >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 [ -s "$work/child" ]
    kill -KILL "$pid" && gone "$(cat "$work/child")"
}
# shellcheck disable=SC2086
keeps_after() # SIGNAL...: what was measured before a hang is kept, whatever ends the run
{
    rm -rf "$work/kept"
    : >"$work/out"
    env --default-signal=INT "$stranger" $fast --out "$work/kept" fine/first hang >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 grep -q '^fine/first' "$work/out"
    for signal; do kill -"$signal" "$pid" && sleep 0.3; done
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] && [ "$("$query" benchmarks 0 outcome <"$work/kept/latest.json")" = measured ]
}
# shellcheck disable=SC2086
reader_goes()
{
    # long enough that the reader has gone before the end
    { "$stranger" $fast --measurement-time 500ms --out "$work/piped" fine last 2>"$work/err"; echo "$?" >"$work/status"; } | head -n 1 >/dev/null
    [ "$(cat "$work/status")" = 3 ] && [ "$(grep -c 'cannot write the output' "$work/err")" = 1 ] &&
        [ "$("$query" benchmarks 3 id <"$work/piped/latest.json")" = last/one ]
}
no_streams()
{
    "$stranger" --test fine last --out "$work/closed" <&- >&- 2>"$work/err" && [ ! -s "$work/err" ]
}
children_ignored() { exits 0 sh -c "trap '' CHLD; exec '$stranger' --test --timeout 20s fine last" && says out '^4 checked.* in 1*[0-9]\.'; }
stale_order()
{
    exits 0 setsid sh -c "GYRE_WORKER='3 1 0 0 0 0 0' '$stranger' --list; echo survived \$?" && says out 'survived 2'
}
elsewhere()
{
    mkdir -p "$work/folder/sub" && cd "$work/folder" && STRANGER_FOLDER=sub && export STRANGER_FOLDER &&
        exits 0 run fine/first && says out '^fine/first  *time:'
}
told_by_others()
{
    : >"$work/out"
    # shellcheck disable=SC2086
    "$stranger" --warm-up-time 3s --measurement-time 10ms --no-save fine/first fine/second >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 pgrep -x -P "$pid" stranger_bench && worker=$(pgrep -x -P "$pid" stranger_bench) || return 1
    sleep 1
    kill -TERM "$worker"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 1 ] && says out 'fine/first  *FAILED: its process was told to stop by somebody else' &&
        says out '^2 measured, 1 failed, 0 skipped of 3'
}

in_this_process()
{
    exits 1 run --isolate none fine exit/three last && says out '^fine/first  *time:' &&
        says out '^exit/three  *FAILED: called exit' && says out '^3 measured, 1 failed, 0 skipped of 5'
}
# shellcheck disable=SC2086
exit_loses_nothing()
{
    exits 1 "$stranger" $fast --isolate none --out "$work/o1" fine exit/three &&
        [ "$("$query" benchmarks 2 outcome <"$work/o1/latest.json")" = measured ] &&
        [ "$("$query" benchmarks 3 reason <"$work/o1/latest.json")" = 'called exit' ]
}
stdout_is_for_json() { exits 0 run --isolate none --json print/little && "$query" schema <"$work/out" >/dev/null; }
same_results()
{
    for isolate in group bench none; do
        exits 0 run --isolate "$isolate" fine team && says out '^4 measured' || return 1
    done
}
threads() { exits 0 run team && says out '^team/two  *time:'; }
guard()
{
    exits 0 run guarded && says out 'warning: the guard says warning: it coughs' &&
        exits 0 run --skip-when warning guarded && says out '^guarded/one  *skipped: the guard says warning: it coughs'
}
slow() { exits 0 run --quick fine/first tag:slow && says out '^slow/one' && exits 0 "$stranger" --quick --list && says out fine/first && ! grep -q slow/one "$work/out"; }
memory()
{
    exits 0 run --memory heap fine/first && says out 'memory: peak .*; 2 allocations of together 200 B an iteration' &&
        says out 'memory: peak .*; 0 allocations'
}
instructions()
{
    exits 0 run --instructions heap && says out 'instr:  [1-9][0-9]*\.[0-9] (\(perf\|callgrind\))'
}
in_order()
{
    exits 0 run --test --order random --seed 7 fine crash/before last team heap && cp "$work/out" "$work/first" &&
        exits 0 run --test --order random --seed 7 fine crash/before last team heap &&
        [ "$(grep ok "$work/out")" = "$(grep ok "$work/first")" ] &&
        exits 0 run --test --order random --seed 8 fine crash/before last team heap &&
        [ "$(grep ok "$work/out")" != "$(grep ok "$work/first")" ]
}
pinned()
{
    exits 0 run --pin 0 cpus && says out 'note:   cpus 1$' && exits 2 run --pin 1023 fine/first && says err 'CPU 1023 is not there' && exits 2 run --pin fast fine/first && says err "'--pin' takes numbers of CPUs"
}
cooled() # a pause is never shorter than asked for
{
    exits 0 run --json --cooldown 2s fine/first last && case $("$query" duration_s <"$work/out") in [01].*) return 1 ;; esac
}
not_for_people() { exits 2 env GYRE_WORKER=x "$stranger" --test && says err 'GYRE_WORKER is set by Gyre'; }

claim crash_is_named_and_the_rest_is_measured crash
claim hang_is_ended_and_named hang
claim wrong_answer_is_named wrong
claim exit_is_named leaves
claim bad_end_after_the_work_is_named ends_badly
claim megabytes_of_output_do_no_harm shouts
claim_json a_little_output_goes_to_stderr says_little
claim no_time_at_all_is_refused no_time
claim absent_device_is_skipped absent
claim child_of_a_hanging_benchmark_goes_too child_of_a_hang
claim daemon_of_a_benchmark_goes_too daemon_left
claim killed_parent_takes_its_children_along killed_parent
claim ctrl_c_ends_what_does_not_listen deaf_to_ctrl_c
claim second_ctrl_c_ends_it_at_once twice
claim declaration_that_crashes_is_named declared
claim light_order_asks_no_suite_code in_light_order
claim worker_that_leaves_its_group_is_ended left_its_group
claim child_that_returns_from_run_is_no_second_worker returned_twice
claim each_iteration_is_prepared_alone each_one
claim worker_deaf_to_signals_goes_with_its_parent deaf
claim_json second_ctrl_c_keeps_what_was_measured keeps_after INT INT
claim_json hangup_keeps_what_was_measured keeps_after HUP
claim_json reader_that_goes_away_loses_nothing reader_goes
claim closed_streams_do_no_harm no_streams
claim ignored_children_are_waited_for children_ignored
claim stale_order_harms_nobody stale_order
claim main_that_goes_elsewhere_is_started_where_it_was elsewhere
claim worker_stopped_by_others_is_named told_by_others
claim exit_in_this_process_is_named in_this_process
claim_json exit_in_this_process_loses_nothing exit_loses_nothing
claim_json stdout_stays_json_in_this_process stdout_is_for_json
claim isolation_does_not_change_what_is_measured same_results
claim threads_run_together threads
claim guard_warns_or_skips guard
claim slow_ones_are_left_out_when_quick slow
if [ -z "${SANITIZED:-}" ]; then
    claim allocations_are_counted memory
    claim preparing_is_not_counted each_counted
    if command -v valgrind >/dev/null || [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)" -lt 2 ]; then
        claim instructions_are_counted instructions
    else
        skip instructions_are_counted 'there are neither hardware counters nor valgrind'
    fi
else
    skip allocations_are_counted "the $SANITIZED sanitizer serves allocations"
    skip instructions_are_counted 'valgrind cannot run what a sanitizer has built'
fi
claim random_order_follows_the_seed in_order
claim pinned_to_cpus pinned
claim_json groups_can_be_cooled_between cooled
claim worker_order_is_not_for_people not_for_people
finish
