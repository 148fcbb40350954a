#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu-check: what it says where there is nothing for it to do. What it does is for machines with a GPU.
. "$(dirname "$0")/../sh.sh"

check=$work/copied/gpu-check
mkdir "$work/copied" && cp "$root/tools/gpu-check" "$root/tools/gpu-targets.json" "$gyre" "$work/copied/" || exit 1

usage()
{
    exits 2 "$check" && says err '^usage: gpu-check' && exits 2 "$check" --nonsense && exits 2 "$check" a b &&
        exits 2 "$check" --collect && exits 2 "$check" --only "$work" && exits 2 "$check" --only nonsense "$work" && exits 0 "$check" --help && says out '^usage: gpu-check'
}
uncollected() { exits 3 "$root/tools/gpu-check" "$work/results" && says err 'was not collected' && [ ! -e "$work/results" ]; }
without() { exits 3 "$check" "$work/results" && says err 'there is no GPU here: .' && [ ! -e "$work/results" ]; }
unbuilt()
{
    mkdir -p "$work/empty/tools" && cp "$root/tools/gpu-check" "$work/empty/tools/" &&
        exits 3 "$work/empty/tools/gpu-check" --collect "$work/there" && says err "'make gpu-check' builds it" && [ ! -e "$work/there" ]
}
targets() { "$query" targets <"$root/tools/gpu-targets.json" | grep -qx '[1-9][0-9]*' && exits 0 "$gyre" bench --list --targets "$root/tools/gpu-targets.json"; }

claim wrong_usage_is_told usage
claim copy_that_was_not_collected_says_so uncollected
if "$gyre" info --json | grep -q '"name": "cuda:0"'; then
    skip without_a_gpu_it_says_so 'there is a GPU here'
else
    claim without_a_gpu_it_says_so without
fi
claim nothing_is_collected_that_was_not_built unbuilt
claim_json targets_can_be_read targets
finish
