#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The runner of the peers, with Gyre alone and with peers that do what peers should not; and the table in the
# README, which is that of the committed run. How fast anybody is, is not claimed here.
. "$(dirname "$0")/../sh.sh"

alone=$build/tests/peers_alone odd=$build/tests/peers_odd
json=$work/run/peers.json

cpus() { nproc; }
helps() { exits 0 "$alone" --help && says out '^usage: peers' && says out '--quick' && says out '--table FILE'; }
refuses() # PATTERN WORDS...
{
    pattern=$1
    shift
    exits 2 "$alone" --json "$work/none/peers.json" "$@" && says err "$pattern" && [ ! -e "$work/none" ]
}
lists()
{
    exits 0 "$odd" --list && says out '^spsc_cycle_8: from before' && says out '^  tokio 9 right$' &&
        says out '^  Gyre 0 ours, in another way; aside: another$' && says out '^a library is not here: somebody | forgot it$' &&
        exits 0 "$odd" --list --work 'send|mpmc' && ! grep -q '^spsc' "$work/out"
}
by_row() { exits 0 "$alone" --list --work vs_crossbeam && says out '^round_trip_spin: ' && ! grep -q '^send' "$work/out"; }
measures()
{
    cd "$work" && json=run/peers.json && exits 0 "$odd" --quick --work 'spsc' --seed 7 --json "$json" -v && says out '^spsc_cycle_8 .* ns' &&
        says out '^spsc_cycle_8: tokio wrong: wrong: 799 of 800 arrived as they should$' &&
        says out '^spsc_cycle_8: tokio other: wrong: 4999 of 5000 .*, from thread to thread$' &&
        says out '^spsc_cycle_8: tokio nothing: could not be created$' &&
        says out '^a library is not here: ' && says out '^  tokio  *right ' && says out "^kept in $json$" &&
        says err '^peers: spsc_cycle_8: 6 ways, '
}
keeps()
{
    [ "$("$query" schema <"$json")" = gyre.peers/1 ] && [ "$("$query" seed <"$json")" = 0000000000000007 ] &&
        [ "$("$query" mode <"$json")" = quick ] && [ "$("$query" interrupted <"$json")" = false ] &&
        [ "$("$query" rows 0 work <"$json")" = spsc_cycle_8 ] &&
        [ "$("$query" rows 0 best_peer <"$json")" = 'tokio 9 right' ] || return 1
    for member in gyre_ns best_peer_ns ratio limit floor_ns class loss samples verdict limit_text; do
        "$query" rows 0 "$member" <"$json" || return 1
    done
    [ "$("$query" peers <"$json")" = 6 ] && [ "$("$query" peers 0 kind <"$json")" = gyre ] &&
        [ "$("$query" peers 2 times_ns <"$json")" -ge 6 ] && [ "$("$query" peers 2 capacity <"$json")" = 1 ] &&
        "$query" peers 3 problem <"$json" | grep -q '^wrong' && [ "$("$query" peers 3 samples <"$json")" = 0 ] &&
        "$query" absent 0 reason <"$json" | grep -q forgot && "$query" machine cpus <"$json" &&
        [ "$("$query" command 0 <"$json")" = peers_odd ] && ! grep -q -e "$root" -e "$work" "$json"
}
repeats() # the same seed draws the same order
{
    exits 0 "$odd" --test --work spsc --seed 7 && exits 0 "$odd" --quick --work mpmc_cycle_8 --seed 0x7 && return 1
    exits 2 "$odd" --seed soon && says err "'--seed' takes a whole number"
}
gyre_wrong() { exits 1 "$odd" --quick --work mpmc_cycle_8 --json "$json.2" && says out 'undecided: Gyre: wrong: '; }
collapses()
{
    exits 0 "$odd" --quick --work stream_1p1c_64 --json "$json.3" &&
        says out '^stream_1p1c_64: tokio collapse: collapsed: 17 of 125000 after 2 s'
}
loses()
{
    exits 0 "$odd" --quick --work send_small --json "$json.4" && says out '^send_small .* 75.0 %' &&
        says out '^send_small: tokio missing: wrong: what was left is not what was sent' &&
        [ "$("$query" rows 0 loss <"$json.4")" = 0.75 ]
}
without_peers() { exits 0 "$alone" --quick --work bytes --json "$json.5" && says out 'undecided: there is no peer to compare with'; }
sleeps_apart() { exits 0 "$alone" --test --work round_trip_park && says err '^peers: round_trip_park: 2 ways, 1 rounds'; }
tests() # every way of Gyre and every floor, once; nothing is kept
{
    (cd "$work" && exits 0 "$alone" --test --work cycle) && [ ! -e "$work/gyre-out" ] &&
        says out '^18 ways tried once: 18 right, 0 wrong, 0 with another problem$' &&
        exits 1 "$odd" --test -v --work spsc && says out '^spsc_cycle_8: tokio right: right$' &&
        says out '^6 ways tried once: 3 right, 3 wrong, 0 with another problem$'
}
stops() # TERM, because a background job of sh ignores INT
{
    "$alone" --json "$json.6" >"$work/out" 2>"$work/err" &
    pid=$!
    sleep 1
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] && says out '; interrupted$' && [ "$("$query" interrupted <"$json.6")" = true ]
}
one_cpu()
{
    exits 0 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$alone" --test --work 'round_trip|spsc_cycle_8' &&
        says out '^round_trip_park: Gyre gyre_call: needs two CPUs, and there is one$' &&
        says err '^peers: spsc_cycle_8: 2 ways, 1 rounds' && ! grep -q 'round_trip' "$work/err"
}
unwritable() { : >"$work/file" && exits 3 "$odd" --quick --work spsc --json "$work/file/peers.json" && says err '^peers: '; }

tabulates()
{
    exits 0 "$alone" --table "$json" && says out "^Medians of one run, .*$json" && says out '^| work | Gyre | best lossless peer |' &&
        says out '^| .spsc_cycle_8. | .* | tokio 9 right | ' && [ "$(wc -l <"$work/out")" = 5 ]
}
table_refuses()
{
    printf '{"schema": "gyre.peers/1", "rows": [{"work": 7}]}' >"$work/bad.json" &&
        exits 3 "$alone" --table "$work/bad.json" && says err 'rows.0..work is no text' &&
        printf '{"schema": "gyre.run/1"}' >"$work/bad.json" && exits 3 "$alone" --table "$work/bad.json" &&
        says err 'is not a run of the peers' && exits 3 "$alone" --table "$work/none.json" && says err 'there is no file'
}

# the newest by name: files are called peers-MACHINE.json
committed() { (cd "$root" && find docs/measured -name 'peers-*.json' | sort | tail -n 1); }
readme_is_of_the_run()
{
    cd "$root" && exits 0 "$alone" --table "$(committed)" &&
        sed -n '/^<!-- peers: begin -->$/,/^<!-- peers: end -->$/p' "$root/README.md" | sed '1d;$d' >"$work/readme" &&
        [ -s "$work/readme" ] && diff "$work/readme" "$work/out"
}

claim help_names_the_options helps
claim unknown_words_are_refused refuses "'--wrk'" --wrk x
claim a_broken_expression_is_refused refuses 'no extended regular expression' --work '('
claim a_work_that_is_not_there_is_refused refuses "no work matches 'nothing'" --work nothing
claim list_measures_nothing lists
claim a_row_names_its_work by_row
claim what_is_wrong_is_a_line_and_not_compared measures
claim_json the_run_is_kept keeps
claim a_seed_is_a_number repeats
claim gyre_answering_wrong_fails_the_run gyre_wrong
claim_json what_is_lost_is_printed loses
claim gyre_without_peers_is_undecided without_peers
claim every_way_can_be_tried_once tests
claim_json an_interrupted_run_keeps_what_it_has stops
claim an_unwritable_file_is_exit_3 unwritable
claim a_kept_run_becomes_markdown tabulates
claim a_damaged_run_is_refused table_refuses
if command -v taskset >/dev/null; then
    claim two_threads_are_skipped_on_one_cpu one_cpu
else
    skip two_threads_are_skipped_on_one_cpu 'there is no taskset'
fi
if [ "$(cpus)" -ge 2 ]; then
    claim a_collapse_is_given_up collapses
    claim what_must_sleep_is_measured_apart sleeps_apart
else
    skip a_collapse_is_given_up 'there is one CPU'
    skip what_must_sleep_is_measured_apart 'there is one CPU'
fi
if [ -n "$(committed)" ]; then
    claim the_table_in_the_readme_is_that_of_the_committed_run readme_is_of_the_run
else
    skip the_table_in_the_readme_is_that_of_the_committed_run 'no docs/measured/peers-*.json is committed'
fi
finish
