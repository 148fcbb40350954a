#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre history: what bench keeps, what is listed, shown, plotted and exported, and what can be wrong with the file.
. "$(dirname "$0")/../sh.sh"

out=$work/results
fast='--sample-size 10 --warm-up-time 1ms --measurement-time 5ms --brief'
export GYRE_COMMIT=0123456789abcdef

# shellcheck disable=SC2086 # options
bench() { "$gyre" bench $fast --out "$out" "$@"; }
history() { "$gyre" history "$@" --out "$out"; }
fresh() { rm -rf "$out"; }
runs() # how many there are
{
    history export --json >"$work/export" 2>/dev/null && "$query" runs <"$work/export"
}

kept()
{
    fresh && exits 0 bench clock/now_ns status/name && exits 0 bench clock/now_ns &&
        exits 0 history && says out '^ *run  started' && [ "$(sed -n 2p "$work/out" | awk '{print $1}')" = 2 ] &&
        [ "$(sed -n 3p "$work/out" | awk '{print $1, $4, $6, $7}')" = '1 0123456789ab 2 0' ] &&
        exits 0 history list --limit 1 && [ "$(wc -l <"$work/out")" = 2 ] && says out '^ *2 '
}
not_kept()
{
    fresh && exits 0 bench --no-save clock/now_ns && [ ! -e "$out" ] && exits 0 bench --test clock/now_ns && [ ! -e "$out" ] &&
        exits 3 history && says err "there is no history in '$out'" && [ ! -e "$out" ]
}
strangers()
{
    fresh && exits 1 "$build/tests/stranger_bench" --quick --out "$out" crash/here fine/first &&
        exits 0 history list && [ "$(sed -n 2p "$work/out" | awk '{print $6, $7}')" = '1 1' ] &&
        exits 0 history show && says out '^crash/here  *failed: .' && says out '^fine/first  *time:' &&
        exits 1 "$build/tests/stranger_bench" --quick --out "$out" crash/here && exits 0 history show latest &&
        says out '^run 2 of ' && says out '^crash/here  *failed: .'
}
shown()
{
    fresh && exits 0 bench clock/now_ns && exits 0 history show 1 && says out '^run 1 of 20.* UTC, ' &&
        says out '^  commit    0123456789abcdef$' && says out '^  machine   [0-9a-f]\{8\}$' &&
        says out '^clock/now_ns  *time:   \[.* .* .*\]$' && exits 0 history show && exits 3 history show 9 &&
        says err "there is no run 9; 'gyre history list' shows them" && exits 2 history show nine
}
from_git()
{
    command -v git >/dev/null || return 0
    mkdir "$work/repo" && cd "$work/repo" && git -c init.defaultBranch=topic init -q . && echo 1 >a && git add a &&
        git -c user.name=n -c user.email=e commit -q -m m && id=$(git rev-parse HEAD) && unset GYRE_COMMIT &&
        exits 0 bench clock/now_ns && [ "$("$query" commit id <"$out/latest.json")" = "$id" ] &&
        exits 0 history show --json && [ "$("$query" runs 0 commit <"$work/out")" = "$id" ] &&
        [ "$("$query" runs 0 branch <"$work/out")" = topic ] && [ "$("$query" runs 0 dirty <"$work/out")" = false ] &&
        echo 2 >a && exits 0 bench clock/now_ns && exits 0 history show --json && [ "$("$query" runs 0 dirty <"$work/out")" = true ]
}
several() { fresh; for name in a b c d; do bench -s "$name" clock/now_ns status/name >/dev/null 2>&1 || return 1; done; }
# What was measured between two runs is the machine's affair. Here it is one run, kept on four days.
same_again()
{
    fresh && bench --save-baseline a clock/now_ns status/name >/dev/null 2>&1 && cp "$out/latest.json" "$work/day.json" &&
        rm "$out/history.db" || return 1
    for day in 1 2 3 4; do
        sed "s/\"started\": *\"[^T\"]*/\"started\": \"2026-01-0$day/" "$work/day.json" >"$work/day-$day.json" &&
            exits 0 history add "$work/day-$day.json" && says out "kept as run $day" || return 1
    done
}
plotted()
{
    same_again && exits 0 history plot clock/now_ns && says out '^clock/now_ns$' && says out '^  4 runs, 2026-01-01 to 2026-01-04$' &&
        says out ' | *o' && says out 'run 1' && says out 'drift since run 1: too few runs to tell (4 of 8)' &&
        [ "$(awk 'length > 80' "$work/out")" = '' ] &&
        exits 0 history plot '^(clock|status)/n' && says out '^clock/now_ns$' && says out '^status/name$' &&
        exits 0 history plot nonsense && says err "no benchmark that was measured matches 'nonsense'" && [ ! -s "$work/out" ] &&
        exits 2 history plot && says err 'say which benchmark' && exits 2 history plot '(' --json && says err "filter '('" && [ ! -s "$work/out" ]
}
exported()
{
    several && exits 0 history export && [ "$("$query" schema <"$work/out")" = gyre.history/1 ] &&
        [ "$("$query" results <"$work/out")" = 8 ] && exits 0 history export status --json && [ "$("$query" results <"$work/out")" = 4 ] &&
        exits 0 history export --limit 1 && [ "$("$query" runs <"$work/out")" = 1 ] && [ "$("$query" results <"$work/out")" = 2 ] &&
        [ "$("$query" results 0 run <"$work/out")" = 4 ] && exits 0 history export --csv clock && [ "$(wc -l <"$work/out")" = 5 ] &&
        says out '^run,started,commit,dirty,machine,' && says out '^4,20..*,clock/now_ns,base,measured,' &&
        exits 2 history export --csv --json && says err 'exclude each other'
}
as_json()
{
    same_again && exits 0 history --json && [ "$("$query" runs 3 number <"$work/out")" = 4 ] &&
        exits 0 history plot now_ns --json && [ "$("$query" series 0 id <"$work/out")" = clock/now_ns ] &&
        [ "$("$query" series 0 results <"$work/out")" = 4 ] && [ "$("$query" series 0 changes <"$work/out")" = 0 ] &&
        [ "$("$query" series 0 drift <"$work/out")" = null ] && exits 0 history show 2 --json && [ "$("$query" results <"$work/out")" = 2 ] &&
        exits 0 history plot nonsense --json && [ "$("$query" series <"$work/out")" = 0 ]
}
filtered()
{
    several && exits 0 history --machine 00000000 && says err 'there is none of machine 00000000; --machine all' &&
        [ ! -s "$work/out" ] && exits 0 history --machine all && [ "$(wc -l <"$work/out")" = 5 ] &&
        exits 0 history --since 2999-01-01 && [ ! -s "$work/out" ] && exits 0 history --since 2020-02-29 && [ "$(wc -l <"$work/out")" = 5 ] &&
        exits 0 history --since 2020-02-29T00:00:00Z && exits 2 history --since yesterday && says err 'a day like' &&
        exits 2 history --since 2021-02-29 && exits 2 history --machine short && exits 2 history --limit 0
}
subverbs()
{
    exits 2 history plto x && says err "did you mean 'plot'?" && exits 2 history xylophone && says err 'it takes \[list|show|plot|export|add\]' &&
        exits 2 history list what && exits 2 history show 1 2 && exits 0 history --help && says out 'usage: gyre history' &&
        exits 0 "$gyre" help --man && says out 'gyre history' && exits 0 "$gyre" help --completion && says out ' --out list show plot export add'
}
added()
{
    several && cp "$out/latest.json" "$work/one.json" && exits 0 history add && says out 'it is there already, as run 4' &&
        rm "$out/history.db" && exits 0 history add && says out 'kept as run 1' && exits 0 history add "$work/one.json" &&
        says out 'as run 1' && [ "$(runs)" = 1 ] && exits 3 history add nosuch && says err 'neither a file nor a baseline'
}
in_report()
{
    several && grep -q '"history": {' "$out/report/index.html" && grep -q '"machine": "[0-9a-f]*"' "$out/report/index.html" &&
        exits 0 "$gyre" report --out "$out" && grep -q '"series": \[' "$out/report/index.html" &&
        rm "$out/history.db" && exits 0 "$gyre" report --out "$out" && grep -q '"history": null' "$out/report/index.html" &&
        exits 0 bench --output-format html clock/now_ns && says out '"history": null'
}

# A run whose history cannot be written is kept all the same, and says what to do.
survives() # PATTERN
{
    rm -f "$out/latest.json" "$out/report/index.html"
    exits 3 bench clock/now_ns && says out '^clock/now_ns' && says err "not in the history: .*$1" &&
        says err "the run is in $out/latest.json; 'gyre history add'" && [ -s "$out/latest.json" ] &&
        [ -s "$out/report/index.html" ] && [ -s "$out/baselines/base.json" ]
}
damaged()
{
    several && cp "$out/history.db" "$work/good.db" && head -c 6000 "$work/good.db" >"$out/history.db" &&
        cp "$out/history.db" "$work/bad.db" && survives 'damaged' && says err 'move it away, and the next run begins' &&
        cmp -s "$work/bad.db" "$out/history.db" && exits 3 history && says err 'damaged' &&
        exits 0 "$gyre" report --out "$out" && says err 'gyre report: without trends: ' &&
        mv "$out/history.db" "$work/moved.db" && exits 0 history add && exits 0 bench clock/now_ns && [ "$(runs)" = 2 ]
}
nonsense()
{
    fresh && mkdir -p "$out" && echo 'this is not a database at all' >"$out/history.db" && cp "$out/history.db" "$work/bad.db" &&
        survives 'is no database' && cmp -s "$work/bad.db" "$out/history.db" && exits 3 history list
}
directory() { fresh && mkdir -p "$out/history.db" && survives 'is no plain file' && exits 3 history plot x; }
foreign()
{
    fresh && mkdir -p "$out" && sqlite3 "$out/history.db" 'CREATE TABLE bookmarks (url TEXT)' && cp "$out/history.db" "$work/bad.db" &&
        survives 'belongs to another program' && cmp -s "$work/bad.db" "$out/history.db"
}
newer()
{
    several && sqlite3 "$out/history.db" 'PRAGMA user_version = 2' && survives 'newer Gyre' && exits 3 history && says err 'newer Gyre'
}
# Somebody holds the lock for longer than bench waits; when it is free again, everything goes on.
locked()
{
    several && mkfifo "$work/hold" || return 1
    sqlite3 "$out/history.db" <"$work/hold" >"$work/held" 2>&1 &
    holder=$!
    exec 3>"$work/hold"
    printf 'BEGIN EXCLUSIVE;\nSELECT 1;\n' >&3
    while [ ! -s "$work/held" ] && kill -0 "$holder"; do sleep 0.05; done
    result=0
    survives 'in use by another program, for longer than 10 s' || result=1
    exec 3>&-
    wait "$holder" || result=1
    [ "$result" = 0 ] && [ "$(runs)" = 4 ] && exits 0 history add && says out 'kept as run 5' &&
        exits 0 bench clock/now_ns && [ "$(runs)" = 6 ]
}
hostile()
{
    several && sqlite3 "$out/history.db" "UPDATE run SET commit_id = char(27) || '[2J', machine = machine, cpu = char(27) || ']0;x' || char(7);
        UPDATE result SET reason = char(27) || '[31m', low_ns = 'x', id = id || char(27) || '[5m'" || return 1
    for words in list 'show 1' 'plot .' 'export --csv' export; do
        # shellcheck disable=SC2086 # words
        exits 0 history $words && [ -s "$work/out" ] || return 1
        if grep -q "$(printf '\033')" "$work/out" "$work/err"; then echo "$words" && return 1; fi
    done
}
# Runs that end at the same moment are all there.
at_once()
{
    fresh
    pids=''
    for name in one two three four five six; do
        bench --save-baseline "$name" status/name >/dev/null 2>&1 &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || return 1; done
    [ "$(runs)" = 6 ]
}

claim every_kept_run_is_listed kept
claim nothing_is_kept_when_nothing_is_saved not_kept
claim programs_of_others_keep_theirs_failures_too strangers
claim run_is_shown_by_number shown
claim_json commit_comes_from_git from_git
claim benchmark_is_plotted plotted
claim_json history_is_exported exported
claim_json list_show_and_plot_can_be_json as_json
claim runs_are_chosen_by_machine_and_date filtered
claim unknown_words_are_wrong_usage_with_a_guess subverbs
claim_json run_file_can_be_added_once added
claim report_has_the_trends in_report
claim_json damaged_history_is_told_and_loses_no_run damaged
claim file_of_nonsense_is_left_alone nonsense
claim directory_in_its_place_is_told directory
claim_json runs_at_once_are_all_kept at_once
if command -v sqlite3 >/dev/null; then
    claim foreign_database_is_left_alone foreign
    claim newer_history_is_left_alone newer
    claim_json locked_history_is_told_and_loses_no_run locked
    claim nothing_in_it_drives_a_terminal hostile
else
    skip other_programs_files "the sqlite3 command is not here; history_test.c makes these claims of the library"
fi
finish
