#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two versions of a program side by side, and everything that can go wrong on one side of it.
. "$(dirname "$0")/../sh.sh"

# a copy, so that its processes are told from those of other tests
cp "$build/tests/rival_bench" "$work/rival_bench" || exit 1
rival=$work/rival_bench
export ASAN_OPTIONS=handle_segv=0:handle_abort=0

ab() { "$gyre" ab --out "$work/results" "$@"; }

a_verdict() { says out "^$1 .* \(faster\|slower\|equivalent\|undecided\)  *[0-9]"; }
slower() { exits 0 ab "$rival plain" "$rival slow" count && says out '^rival/count .* slower'; }
faster() { exits 0 ab "$rival slow" "$rival plain" count && says out '^rival/count .* faster'; }
the_same()
{
    exits 0 ab --time-limit 3s "$rival plain" "$rival plain" && a_verdict rival/count && a_verdict rival/steady &&
        a_verdict rival/team && says out 'lock step'
}
evidence()
{
    exits 0 ab --json --seed 7 "$rival plain" "$rival slow" '^rival/count$' && "$query" schema <"$work/out" | grep -q gyre.ab/1 &&
        [ "$("$query" seed <"$work/out")" = 0000000000000007 ] &&
        [ "$("$query" benchmarks 0 id <"$work/out")" = rival/count ] &&
        [ "$("$query" benchmarks 0 judgement verdict <"$work/out")" = slower ] &&
        cmp "$work/out" "$work/results/ab.json"
}
replay()
{
    exits 0 ab "$rival plain" "$rival slow" count && exits 0 ab --replay "$work/results/ab.json" &&
        says err 'the same to the last bit' && says out '^rival/count .* slower'
}
tampered()
{
    exits 0 ab "$rival plain" "$rival slow" count &&
        sed 's/"launches": *8\b/"launches": 9/; s/"change": [-+.e0-9]*/"change": 0.25/' "$work/results/ab.json" >"$work/bent.json" &&
        ! cmp -s "$work/results/ab.json" "$work/bent.json" && exits 1 ab --replay "$work/bent.json" &&
        says err 'not what its samples say'
}
crash()
{
    RIVAL_COUNT=$work/count && export RIVAL_COUNT && rm -f "$RIVAL_COUNT"
    exits 1 ab "$rival plain" "$rival crash" count steady && says out 'rival/count.*new, launch 5: was killed by signal 11' &&
        says out 'the fifth time is one too many' && a_verdict rival/steady
}
wrong() { exits 1 ab "$rival wrong" "$rival plain" count steady && says out 'rival/count.*old, launch 1: the check says' && a_verdict rival/steady; }
hang()
{
    exits 1 ab --timeout 2s "$rival plain" "$rival hang" count && says out 'new, launch 1: gave no sign of life for 2' &&
        nobody_left "$rival"
}
leave() { exits 1 ab "$rival plain" "$rival leave" count && says out 'new, launch 1: called exit with status 0'; }
shout() { exits 0 ab "$rival plain" "$rival shout" count && a_verdict rival/count; }
deaf() { exits 1 ab "$rival plain" "$rival deaf" count && says out 'ignored the baton'; }
absent() { exits 0 ab "$rival plain" "$rival absent" count && says out 'no flux capacitor here'; }
lists()
{
    exits 0 ab "$rival plain" "$rival other" && a_verdict rival/steady && says out 'rival/count' && says out 'rival/fresh' &&
        says out 'only'
}
nothing_in_common() { exits 2 ab "$rival plain" "$rival elsewhere" && says err 'no benchmark that is wanted is on both sides'; }
no_match() { exits 2 ab "$rival plain" "$rival plain" nonsense && says err 'no benchmark matches the filter'; }
mixed() { exits 2 ab "$rival plain" "$rival stranger" && says err 'the new one is not: .*status 7' && says err 'commands'; }
commands()
{
    exits 0 ab 'sleep 0.01' 'sleep 0.1' && says out '^command .* slower' && says out 'one execution is one sample, without lock step'
}
failing_command() { exits 1 ab true 'sh -c "echo no luck >&2; exit 9"' && says out 'new, launch 1: called exit with status 9' && says out 'no luck'; }
lab_as_command() { exits 0 ab --commands --time-limit 1s "$rival plain --list" "$rival plain --list" && says out '^command '; }
no_program() { exits 2 ab true "$work/nothing" && says err "there is no program"; }
hang_when_asked() { exits 3 ab --timeout 1s 'sleep 60' true && says err 'the old command: asked for its benchmarks, it gave no sign of life'; }
twice_listed() { exits 3 ab "$rival twice" "$rival plain" && says err "the old command: it lists 'rival/count' twice"; }
other_clock() { exits 1 ab "$rival plain" "$rival clocked" && says out "old is timed by the clock 'host', new by 'a clock'"; }
talks() { exits 1 ab "$rival plain" "$rival talk" count && says out 'new, launch 1: the process talks without end'; }
shrinks() { exits 0 ab "$rival plain" "$rival shrink" count && a_verdict rival/count; }
rebuilt()
{
    cp "$rival" "$work/other_bench" && cp "$rival" "$work/newer" && echo >>"$work/newer" || return 1
    (sleep 0.5 && mv "$work/newer" "$work/other_bench") &
    exits 3 ab --margin 0.01% "$rival plain" "$work/other_bench plain" steady && says err 'the new program was changed while it was measured'
}
no_folder() { : >"$work/plain_file" && exits 3 ab --save "$work/plain_file/x.json" true true && says err plain_file; }
filtered_commands() { exits 2 ab true true nonsense && says err 'these commands list none' && exits 2 ab --skip x true true; }
random_order() { exits 0 ab --time-limit 1s "$rival plain --order random" "$rival plain --order random" && a_verdict rival/steady; }
open_quote() { exits 2 ab true "sh -c 'exit" && says err 'a quote does not end'; }
one_operand() { exits 2 ab true && says err 'say which two'; }
bad_margin() { exits 2 ab --margin 0 true true && says err 'share from' && exits 2 ab --margin 1 true true && says err 'like 2%'; }
no_counts() { exits 2 ab --memory true true && says err 'built with libgyrelab'; }
counts() { exits 0 ab --memory "$rival plain" "$rival slow" count && says out 'peak memory'; }
full_disk() { exits 3 ab --save /dev/full "$rival plain" "$rival slow" count && says out '^rival/count' && says err '[Nn]o space'; }
broken_file()
{
    echo '{"schema": "gyre.ab/1"}' >"$work/broken.json" && exits 3 ab --replay "$work/broken.json" && says err broken.json &&
        exits 3 ab --replay "$work/nothing.json" && exits 2 ab --replay x true true
}
interrupt()
{
    "$gyre" ab --out "$work/results" "$rival plain" "$rival plain" >"$work/out" 2>"$work/err" &
    pid=$!
    waits_for 100 pgrep -P "$pid" -f "$rival" >/dev/null
    kill -TERM "$pid" # a shell lets its background jobs ignore SIGINT
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] || { echo "exit status $status" && cat "$work/err" && return 1; }
    nobody_left "$rival"
}
three_run() { [ "$(pgrep -c -f "$rival (plain|hang)")" -ge 3 ]; }
killed()
{
    "$gyre" ab --out "$work/results" "$rival plain" "$rival hang" count >/dev/null 2>&1 &
    pid=$!
    waits_for 100 three_run
    kill -KILL "$pid"
    wait "$pid"
    nobody_left "$rival"
}

claim twice_the_work_is_slower slower
claim half_the_work_is_faster faster
claim the_same_program_gets_verdicts the_same
claim_json evidence_is_kept_and_printed evidence
claim replay_is_the_same_to_the_bit replay
claim tampered_judgements_are_seen tampered
claim crash_in_one_launch_is_named crash
claim wrong_answer_on_one_side_fails wrong
claim hang_on_one_side_is_ended hang
claim exit_in_the_middle_is_named leave
claim megabytes_of_output_do_no_harm shout
claim ignored_baton_is_seen deaf
claim missing_device_skips absent
claim what_only_one_side_has_is_listed lists
claim nothing_in_common_is_usage nothing_in_common
claim filter_without_match_is_usage no_match
claim one_of_two_built_with_the_lab_is_refused mixed
claim any_two_commands_are_compared commands
claim failing_command_fails failing_command
claim lab_program_can_be_a_command lab_as_command
claim missing_program_is_usage no_program
claim open_quote_is_usage open_quote
claim hang_when_asked_is_told hang_when_asked
claim list_with_a_double_is_refused twice_listed
claim two_clocks_are_not_compared other_clock
claim endless_talk_is_ended talks
claim baton_cannot_be_shrunk shrinks
claim program_built_anew_meanwhile_is_seen rebuilt
claim file_that_cannot_be_written_is_found_first no_folder
claim commands_take_no_filter filtered_commands
claim random_order_of_a_program_does_no_harm random_order
claim one_operand_is_usage one_operand
claim margin_of_nothing_is_usage bad_margin
claim commands_have_no_counts no_counts
claim memory_is_counted_on_both_sides counts
claim full_disk_is_told full_disk
claim broken_files_are_refused broken_file
claim interrupt_leaves_nobody interrupt
claim killed_judge_leaves_nobody killed
finish
