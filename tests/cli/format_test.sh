#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre bench: what it prints and exports, and what it can be asked to measure besides time.
. "$(dirname "$0")/../sh.sh"

fast='--sample-size 10 --warm-up-time 1ms --measurement-time 5ms'

# shellcheck disable=SC2086 # options
bench() { "$gyre" bench $fast --no-save "$@"; }

criterion()
{
    exits 0 bench clock/now_ns && says out '^clock/now_ns  *time:   \[.* .* .*\]$' &&
        exits 0 bench -v clock/now_ns && says out 'mean   \[' && says out 'med. abs. dev. \[' && says out 'samples, linear' &&
        exits 0 bench --quiet clock/now_ns && [ "$(grep -vc '^clock/now_ns\|warning:' "$work/out")" = 0 ]
}
bencher() { exits 0 bench --output-format bencher clock/now_ns && says out '^test clock/now_ns \.\.\. bench: .* ns/iter (+/- '; }
json() { exits 0 bench --output-format json clock/now_ns && [ "$("$query" benchmarks 0 sample mode <"$work/out")" = linear ]; }
csv() { exits 0 bench --output-format csv clock/now_ns && says out '^id,' && says out '^clock/now_ns,base,measured,'; }
google()
{
    exits 0 bench --output-format google clock/now_ns && [ "$("$query" benchmarks 0 name <"$work/out")" = clock/now_ns ] &&
        [ "$("$query" benchmarks 0 run_type <"$work/out")" = iteration ]
}
html() { exits 0 bench --output-format html clock/now_ns && says out '^<!DOCTYPE html>' && says out '^</html>'; }
unknown() { exits 2 bench --output-format yaml clock/now_ns && says err 'takes criterion|bencher|json|csv|google|html'; }
both() { exits 2 bench --json --output-format csv clock/now_ns && says err 'exclude each other'; }
exported()
{
    exits 0 bench --export-criterion "$work/criterion" clock/now_ns &&
        [ -s "$work/criterion/clock/now_ns/new/estimates.json" ] && [ -s "$work/criterion/clock/now_ns/base/sample.json" ] &&
        exits 3 bench --export-criterion /proc/x clock/now_ns && [ ! -s "$work/out" ]
}
sampling()
{
    exits 0 bench --json --sampling flat clock/now_ns && [ "$("$query" benchmarks 0 sample mode <"$work/out")" = flat ] &&
        exits 0 bench --json --precision 25% clock/now_ns && [ "$("$query" options precision <"$work/out")" = 0.25 ] &&
        exits 2 bench --precision 90% clock/now_ns && says err 'a share from 0.01% to 50%'
}
latency()
{
    exits 0 bench --json --latency clock/now_ns && [ "$("$query" benchmarks 0 latency arrivals <"$work/out")" = closed ] &&
        [ "$("$query" benchmarks 0 latency quantiles 3 p <"$work/out")" = 0.999 ] &&
        exits 0 bench --json --rate 2000 clock/now_ns && [ "$("$query" benchmarks 0 latency arrivals <"$work/out")" = open ] &&
        exits 2 bench --rate never clock/now_ns && says err 'calls a second'
}
profile()
{
    exits 0 bench --profile-time 50ms clock/now_ns && says out '^clock/now_ns  *ok' && ! grep -q time: "$work/out" &&
        exits 2 bench --profile-time 50ms --memory clock/now_ns && says err 'count in processes of their own'
}
axes()
{
    exits 2 bench --axis nosuch=5 clock && says err "no benchmark has an axis 'nosuch'" &&
        exits 2 bench --axis 5 clock && says err 'is no choice of values'
}
skipped() { exits 0 "$gyre" bench --list --skip '^clock' --skip trace && ! grep -q '^clock\|^trace' "$work/out" && says out '^status/'; }
seeds()
{
    exits 0 bench --targets seeds clock/now_ns && says out 'seed 1, Performance Targets' && says out 'not measured  .* not chosen$' &&
        says out '^targets: [0-9]* met, '
}
own_targets()
{
    cat >"$work/targets.json" <<'END'
{"schema": "gyre.targets/1", "targets": [
 {"id": "clock/now_ns", "quantity": "median_ns", "at_most": 1000000, "source": "us"},
 {"id": "clock/now_ns", "quantity": "median_ns", "at_most": 0.001, "source": "us"}]}
END
    exits 0 bench --targets "$work/targets.json" clock/now_ns && says out '  *met ' && says out 'missed' &&
        exits 3 bench --targets "$work/nosuch.json" clock/now_ns && says err "nosuch.json.*; tables that are built in: 'seeds', 'actors', 'interactive'$" && [ ! -s "$work/out" ] &&
        echo '{' >"$work/bad.json" && exits 3 bench --targets "$work/bad.json" clock/now_ns && says err 'bad.json'
}
stranger_has_no_seeds()
{
    exits 2 "$build/tests/stranger_bench" --no-save --targets seeds fine && says err '--targets takes a file here'
}
help_says_defaults()
{
    exits 0 "$gyre" bench --help && says out 'default 100' && says out 'default 1s' && says out 'default 3s' &&
        exits 0 "$build/tests/stranger_bench" --help && says out '--save-baseline NAME'
}
colour()
{
    exits 0 "$build/tests/stranger_bench" --test --color always fine/first && says out "$(printf '\033')\\[32mok" &&
        exits 2 "$build/tests/stranger_bench" --color pink && says err 'auto|always|never'
}

claim criterions_shape_brief_usual_and_verbose criterion
claim bencher_has_libtests_lines bencher
claim_json json_is_the_run_file json
claim csv_has_a_row_for_each csv
claim_json google_has_repetitions google
claim html_is_one_page html
claim unknown_format_is_wrong_usage unknown
claim two_formats_exclude_each_other both
claim criterions_folders_are_exported exported
claim_json sampling_is_as_asked sampling
claim_json latency_is_closed_or_open latency
claim profile_time_runs_without_analysis profile
claim unknown_axis_is_said axes
claim skipped_ones_are_left_out skipped
claim seeds_targets_are_listed seeds
claim own_targets_are_met_or_missed own_targets
claim seeds_are_gyres_own stranger_has_no_seeds
claim help_says_the_defaults help_says_defaults
claim strangers_program_has_colour colour
finish
