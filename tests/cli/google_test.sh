#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What Google Benchmark's own compare.py makes of the google format.
. "$(dirname "$0")/../sh.sh"

sample=$build/tests/format_sample
compare=/usr/share/benchmark/compare.py # where libbenchmark-tools puts it
python=
for candidate in python3 /usr/bin/python3; do # a user's own may come first and lack scipy
    [ -z "$python" ] && "$candidate" -c 'import scipy.stats' 2>/dev/null && python=$candidate
done

compare() { exits 0 "$python" "$compare" --no-color "$@"; }

# the two runs differ by a tenth in every sample
slower_run_is_slower()
{
    compare benchmarks "$work/old.json" "$work/new.json" &&
        says out '^channel/send/64 .* +0\.1000 ' &&
        says out '^channel/send/64_median .* +0\.1000 ' &&
        says out '^queue/push_mean .* +0\.1000 '
}

u_test_has_its_samples()
{
    compare benchmarks "$work/old.json" "$work/new.json" &&
        says out '^channel/send/64_pvalue  *0\.0[0-4].*U Test, Repetitions: 16 vs 16$' &&
        ! grep -q WARNING "$work/out"
}

same_run_does_not_differ()
{
    compare benchmarks "$work/old.json" "$work/old.json" &&
        says out '^channel/send/64_pvalue  *1\.0000 .*U Test, Repetitions: 16 vs 16$'
}

one_benchmark_is_compared_with_another()
{
    compare filters "$work/old.json" channel/send/64 queue/push && says out '^\[channel/send/64 vs. queue/push\]'
}

# shellcheck disable=SC2086 # options
real_runs_are_compared()
{
    fast='--sample-size 10 --warm-up-time 1ms --measurement-time 5ms --no-save --output-format google'
    "$gyre" bench $fast clock >"$work/one.json" && "$gyre" bench $fast clock >"$work/two.json" &&
        compare benchmarks "$work/one.json" "$work/two.json" && says out '^clock/now_ns_pvalue .*Repetitions: 10 vs 10$' &&
        says out '^clock/peer_clock_gettime_median '
}

if [ ! -e "$compare" ]; then
    skip compare 'compare.py is not here (Debian: libbenchmark-tools)'
elif [ -z "$python" ]; then
    skip compare 'no Python here has scipy, which compare.py needs (Debian: python3-scipy)'
else
    "$sample" google >"$work/old.json" && "$sample" google 1.1 >"$work/new.json" || exit 1
    claim slower_run_is_slower slower_run_is_slower
    claim u_test_has_its_samples u_test_has_its_samples
    claim same_run_does_not_differ same_run_does_not_differ
    claim one_benchmark_is_compared_with_another one_benchmark_is_compared_with_another
    claim real_runs_are_compared real_runs_are_compared
fi
finish
