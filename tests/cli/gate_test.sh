#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A policy held against measurements: hand-made ones, and some that are really measured.
. "$(dirname "$0")/../sh.sh"

# a copy, so that its processes are told from those of other tests
cp "$build/tests/rival_bench" "$work/rival_bench" || exit 1
rival=$work/rival_bench
export HOME="$work/home" XDG_STATE_HOME="$work/state"
cd "$work" || exit 1

sample() { "$build/tests/ab_sample" "$@" >"$work/ab.json"; }
gate() { "$gyre" gate --out "$work/results" "$@"; }
judge() { gate --read "$work/ab.json" "$@"; } # [OPTION...]: of the last sample
policy() { printf '{"schema": "gyre.gate/1", %s}\n' "$1" >"$work/policy.json"; }

passes()
{
    sample 'g/same 8 0 0.002' 'g/faster 8 -0.2 0.002' && exits 0 judge && says out '^gate passed' &&
        says out '2 gated, 0 failed, 0 warned of, 0 undecided, 0 noted; default policy'
}
fails()
{
    sample 'g/a 8 0.12 0.002' 'g/same 8 0 0.002' && exits 1 judge && says out '^gate failed' &&
        says out '^  fail  *g/a: time +12.00 % \[+11.* +12.*\], fails above 10 %; unconfirmed: no programs were given to repeat it$'
}
warns() { sample 'g/a 8 0.07 0.002' && exits 0 judge && says out '^gate passed' && says out '^  warn  *g/a: time +7.00 % .* warns above 5 %$'; }
notes() { sample 'g/a 8 0.03 0.002' && exits 0 judge && says out '^  note  *g/a: time +3.00 % .* slower, but within the policy$'; }
undecided()
{
    sample 'g/a 48 0.1 0.9' && exits 0 judge && says out '^gate undecided' && says out '^  undecided g/a: .* is open after 48 launches; MDE' &&
        exits 4 judge --strict && sample 'g/a 48 0.1 0.9' 'g/b 8 0.3 0.002' && exits 1 judge --strict
}
undecided_fails()
{
    sample 'g/a 48 0.1 0.9' && policy '"on_undecided": "fail"' && exits 1 judge --policy policy.json &&
        policy '"on_undecided": "ignore"' && exits 0 judge --strict --policy policy.json
}
missing()
{
    sample 'g/a 8 0 0.002' 'g/gone -' 'g/added +' && exits 0 judge && says out '^  warn  *g/gone: the new version does not have it' &&
        says out '^  note  *g/added: only the new version has it' &&
        policy '"on_missing": "fail"' && exits 1 judge --policy policy.json && says out '^  fail  *g/gone'
}
crashed()
{
    sample 'g/a !new, launch 3: was killed by signal 11' && exits 1 judge && says out '^  fail  *g/a: failed: new, launch 3: was killed by signal 11$' &&
        sample 'g/a !old, launch 3: was killed by signal 11' && exits 0 judge && says out '^  warn  *g/a: failed: old'
}
rules()
{
    sample 'queue/a 8 0.07 0.002' 'stack/a 8 0.5 0.002' 'noise 48 0.1 0.9' 'noise rss 100 500' &&
        policy '"rules": [{"pattern": "^queue/", "time": {"warn": 0.01, "fail": 0.02}}, {"pattern": "^stack/", "time": {"fail": 1}},
                          {"pattern": "noise", "ignore": true}]' &&
        exits 1 judge -p policy.json && says out '^  fail  *queue/a: .* fails above 2 %' && says out '^  warn  *stack/a: .* warns above 5 %' &&
        ! grep -q 'noise' "$work/out" && says out 'policy policy.json$' &&
        policy '"rules": [{"pattern": "noise", "time": {"warn": 90, "fail": 100}, "memory": {}}]' &&
        exits 1 judge -p policy.json && says out '^  fail  *noise: peak memory +400.00 % (100 to 500), fails above 20 %'
}
default_policy()
{
    sample 'g/a 8 0.07 0.002' && policy '"rules": [{"pattern": "g/a", "time": {"fail": 0.05}}]' && mkdir -p here && cp policy.json here/gyre-gate.json &&
        (cd here && exits 1 judge) && says out 'policy gyre-gate.json$' && exits 0 judge
}
no_policy() { sample 'g/a 8 0 0.002' && exits 3 judge --policy nosuch.json && says err "there is no file 'nosuch.json'"; }
broken_policy()
{
    sample 'g/a 8 0 0.002'
    while IFS='|' read -r text words; do
        policy "$text" && exits 3 judge -p policy.json && says err "'policy.json': $words; correct it" || return 1
    done <<END
"rule": []|rule is not known here
"rules": [{"pattern": "g", "tiem": {}}]|rules\[0\].tiem is not known here
"rules": [{"pattern": "g", "time": {"warn": 0.2, "fail": 0.1}}]|rules\[0\].time.warn is above fail
"rules": [{"pattern": "(g"}]|rules\[0\].pattern has an error: .*
"rules": [{"pattern": "g{3}"}]|rules\[0\].pattern has something that has no place in a pattern for ids
END
    printf '{' >policy.json && exits 3 judge -p policy.json && says err "'policy.json': line 1: .*correct it" &&
        printf '{"schema": "gyre.gate/2"}' >policy.json && exits 3 judge -p policy.json && says err 'newer Gyre'
}
unknown_pattern()
{
    sample 'queue/push 8 0 0.002' && policy '"rules": [{"pattern": "^queue/psuh$"}]' && exits 2 judge -p policy.json &&
        says err "pattern '^queue/psuh\$' matches no benchmark; the nearest is 'queue/push'"
}
broken_file()
{
    sample 'g/a 8 0 0.002' && head -c 2000 ab.json >cut.json && exits 3 gate --read cut.json && says err "'cut.json': line .* it is damaged" &&
        sed 's/"ABBAAB"/"ABBAAA"/' ab.json >bent.json && exits 3 gate --read bent.json && says err 'order has something other than AB and BA' &&
        sed 's,gyre.ab/1,gyre.ab/2,' ab.json >newer.json && exits 3 gate --read newer.json && says err 'newer Gyre' &&
        echo '{"schema": "gyre.run/1"}' >run.json && exits 3 gate --read run.json && says err 'not a measurement of two versions' &&
        exits 3 gate --read nosuch.json && says err "there is no file 'nosuch.json'"
}
selftest() # FOLDER FULL PASSED: a record that is about the machine of the samples
{
    mkdir -p "$1" && printf '{"schema": "gyre.selftest/1", "full": %s, "passed": %s, "proved": true, "machine": {"cpu": "cpu", "cpus": 8, "hypervisor": "KVM"}}\n' \
        "$2" "$3" >"$1/selftest.json"
}
advisory()
{
    sample 'g/a 8 0.5 0.002' && exits 1 judge --github && says out '^gate failed (advisory)' && says out '^advisory: no full self-test' &&
        says out '^::notice title=gyre gate%3A advisory::no full' && says out '^::error .* (advisory)$' &&
        selftest state/gyre true true && exits 1 judge --github && says out '^gate failed: ' && ! grep -q advisory out &&
        selftest results true false && exits 1 judge && says out '^advisory: the self-test of this machine failed' &&
        rm -r state && selftest results false true && exits 1 judge && says out '^advisory: only a quick self-test' && rm -r results
}
github()
{
    sample 'g/a !new: 50 % gone, or: worse' && exits 1 judge --github &&
        says out '^::error title=gyre gate%3A g/a::failed: new: 50 %25 gone, or: worse (advisory)$' &&
        sample 'g/a,b:c 8 0.07 0.002' && exits 0 judge --github && says out '^::warning title=gyre gate%3A g/a%2Cb%3Ac::time +7.00 %25 '
}
markdown()
{
    sample 'g/a_b 8 0.5 0.002' && exits 1 judge --markdown && says out '^### Gate failed' && says out '^- \*\*fail\*\* g/a\\_b: time +50' &&
        says out '^| g/a\\_b |' && says out '^</details>'
}
json()
{
    sample 'g/a 8 0.5 0.002' 'g/b 48 0.1 0.9' && exits 1 judge --json && [ "$("$query" schema <out)" = gyre.gate-result/1 ] &&
        [ "$("$query" outcome <out)" = failed ] && [ "$("$query" counts fail <out)" = 1 ] && [ "$("$query" counts undecided <out)" = 1 ] &&
        [ "$("$query" findings 0 id <out)" = g/a ] && [ "$("$query" findings 0 about <out)" = time ] && [ "$("$query" advisory <out)" = true ]
}
usage()
{
    exits 2 gate && says err 'say which two' && exits 2 gate --json --github a b && says err '--json stands alone' &&
        exits 2 gate --read x a && says err '--read takes OLD and NEW' && exits 2 gate --read x --advisory a b &&
        echo '{}' >runs.json && exits 2 gate runs.json runs.json && says err 'runs.json. is a file of results' && exits 2 gate --fail a b && says err '--fail is for --advisory' && exits 2 gate --advisory a && says err 'which two runs'
}

measured()
{
    exits 1 gate "$rival plain" "$rival slow" '^rival/count$' && says out '^  fail  *rival/count: time +.* confirmed by a repeat$' &&
        says err '1 fails; measuring it again' && [ "$("$query" again <results/ab.json)" = false ] && [ "$("$query" again <results/ab-repeat.json)" = true ] &&
        rm -r results && exits 1 gate --save kept.json "$rival plain" "$rival slow" '^rival/count$' && says out 'confirmed by a repeat$' && [ -s kept.json ] &&
        exits 0 gate --save kept.json "$rival slow" "$rival plain" '^rival/count$' && says out '^gate passed' && [ -s kept.json ] &&
        exits 0 judge --read kept.json && says out '^gate passed'
}
# The times of a file say ten times slower, the programs that it names do not.
unconfirmed()
{
    exits 0 gate "$rival plain" "$rival plain" '^rival/count$' && sed '/"new_ns"/s/\([[ ]\)\([0-9]\)/\19\2/g' results/ab.json >bent.json &&
        exits 0 gate --read bent.json "$rival plain" "$rival plain" && says out '^  warn  *rival/count: .* not confirmed by a repeat$' &&
        says out '^gate passed' && exits 1 gate --read bent.json && says out 'unconfirmed: no programs were given to repeat it$' &&
        sed 's/"hash": "................"/"hash": "0000000000000000"/' bent.json >other.json &&
        exits 1 gate --read other.json "$rival plain" "$rival plain" &&
        says out 'unconfirmed: the old version.s program has changed since$'
}
nothing_wanted() { exits 2 gate "$rival plain" "$rival plain" nosuch && says err 'no benchmark matches'; }

nothing_gated()
{
    sample 'g/a 8 0 0.002' && policy '"rules": [{"pattern": "g", "ignore": true}]' && exits 2 judge --policy policy.json && says err 'no benchmark is gated'
}
full_disk()
{
    exits 1 gate --save /dev/full "$rival plain" "$rival slow" '^rival/count$' && says err '[Nn]o space' && says out '^  fail  *rival/count' &&
        exits 3 gate --save /dev/full "$rival slow" "$rival plain" '^rival/count$' && says out '^gate passed'
}

fast='--quick --sample-size 10'
# shellcheck disable=SC2086
kept_runs()
{
    exits 0 "$gyre" bench $fast --out results -s a clock/now_ns &&
        sed '/"times_ns"/s/\([[ ]\)\([0-9]\)/\19\2/g' results/baselines/a.json >slower.json &&
        exits 0 gate --advisory a slower.json && says out '^gate failed (advisory)' && says out '^advisory: the two were measured one after the other' &&
        says out '^  fail  *clock/now_ns: time +' && exits 1 gate --advisory --fail a slower.json && exits 0 gate --advisory --fail a a &&
        exits 3 gate --advisory a nosuch
}

claim within_the_policy_passes passes
claim slower_than_the_margin_fails fails
claim slower_than_the_warning_margin_warns warns
claim slower_within_the_policy_is_named notes
claim undecided_is_4_when_strict undecided
claim policy_says_what_undecided_is undecided_fails
claim missing_benchmark_is_named missing
claim crash_of_the_new_version_fails crashed
claim first_matching_rule_decides rules
claim policy_of_the_folder_is_the_default default_policy
claim named_policy_must_be_there no_policy
claim broken_policy_is_refused broken_policy
claim pattern_without_benchmark_is_refused unknown_pattern
claim broken_measurement_is_refused broken_file
claim untested_machine_is_advisory advisory
claim annotations_are_escaped github
claim summary_can_be_markdown markdown
claim_json result_can_be_json json
claim wrong_words_are_wrong_usage usage
claim_json measured_failure_is_confirmed measured
claim failure_by_chance_is_a_warning unconfirmed
claim gate_that_gates_nothing_is_usage nothing_gated
claim full_disk_hides_no_finding full_disk
claim filter_that_wants_nothing_is_wrong_usage nothing_wanted
claim kept_runs_are_advice kept_runs
finish
