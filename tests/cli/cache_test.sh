#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre cache: what is listed, verified and cleared, and what can be wrong with the folder.
. "$(dirname "$0")/../sh.sh"

folder=$work/some/kernels
export GYRE_CACHE="$folder"
keep() { "$build/tests/cache_sample" "$@"; }
cache() { "$gyre" cache "$@"; }
fresh() { rm -rf "$folder"; }
two() { fresh && first=$(keep saxpy 1000) && touch -d '2026-01-02 03:04:05 UTC' "$folder/$first" && second=$(keep matmul 50000 'cuda sm_90' 'NVRTC 13.0'); }

listed()
{
    two && exits 0 cache && says out '^program  *device  *compiler  *size  used (UTC)$' &&
        [ "$(sed -n 2p "$work/out" | awk '{ print $1, $2, $3, $4, $5 }')" = 'matmul cuda sm_90 NVRTC 13.0' ] &&
        says out '^saxpy  *fake gen_1  *fakecc 1.0  *1.2.* KiB  2026-01-02 03:04$' &&
        says out "^2 kernels, 50.* KiB of 256 MiB, in $folder\$" && [ "$(awk 'length > 80' "$work/out" | grep -v ', in ')" = '' ] &&
        cp "$work/out" "$work/first" && exits 0 cache list && cmp -s "$work/first" "$work/out"
}
empty()
{
    fresh && exits 0 cache && says out "^0 kernels, 0 B of 256 MiB, in $folder\$" && [ ! -e "$folder" ] &&
        exits 0 cache verify && says out '^all of them are sound$' && exits 0 cache clear && says out '^0 kernels removed'
}
cleared()
{
    two && echo mine >"$folder/README" && exits 0 cache clear && says out "^2 kernels removed, 50.* KiB, from $folder\$" &&
        [ "$(ls "$folder")" = README ] && exits 0 cache && says out '^0 kernels,'
}
verified()
{
    two && exits 0 cache verify && says out '^2 kernels, ' && says out '^all of them are sound$'
}
damaged()
{
    two && printf x | dd of="$folder/$second" bs=1 seek=40000 conv=notrunc 2>/dev/null && exits 0 cache && ! grep -q 'not used' "$work/out" &&
        exits 1 cache verify && says out "^$second: its image is damaged\$" && says out '^1 not sound' && [ -e "$folder/$second" ] &&
        exits 0 cache verify --fix && says out '^1 not sound, 1 removed$' && [ ! -e "$folder/$second" ] && [ -e "$folder/$first" ] &&
        exits 0 cache verify
}
cut_short()
{
    two && truncate -s 100 "$folder/$first" && exits 0 cache && says out "^  $first is not used: it is cut short\$" && says out '^2 kernels' &&
        keep saxpy 1000 && exits 0 cache verify
}
as_json()
{
    two && exits 0 cache --json && [ "$("$query" schema <"$work/out")" = gyre.cache/1 ] && [ "$("$query" folder <"$work/out")" = "$folder" ] &&
        [ "$("$query" entries <"$work/out")" = 2 ] && [ "$("$query" entries 1 program <"$work/out")" = saxpy ] &&
        [ "$("$query" entries 1 used <"$work/out")" = 2026-01-02T03:04:05Z ] && [ "$("$query" entries 1 size_bytes <"$work/out")" = 1256 ] &&
        [ "$("$query" total_bytes <"$work/out")" = 51512 ] && truncate -s 100 "$folder/$first" && exits 1 cache verify --json &&
        [ "$("$query" unsound <"$work/out")" = 1 ] && [ "$("$query" removed <"$work/out")" = 0 ] &&
        [ "$("$query" entries 0 why <"$work/out")" = 'it is cut short' ] && exits 0 cache verify --fix --json &&
        [ "$("$query" removed <"$work/out")" = 1 ] && exits 0 cache clear --json && [ "$("$query" removed <"$work/out")" = 1 ] &&
        [ "$("$query" removed_bytes <"$work/out")" = 50256 ] && fresh && exits 0 cache --json && [ "$("$query" entries <"$work/out")" = 0 ]
}
homeless() { exits 3 env -u GYRE_CACHE -u HOME -u XDG_CACHE_HOME "$gyre" cache list && says err '^gyre cache: the kernel cache has no folder: neither HOME nor XDG_CACHE_HOME'; }
off() { GYRE_CACHE=off exits 3 cache && says err '^gyre cache: the kernel cache is off'; }
no_folder() { fresh && echo x >"$folder" && exits 3 cache && says err 'cannot be opened: Not a directory' && exits 3 cache clear && exits 3 cache verify; }
usage()
{
    exits 2 cache lits && says err "did you mean 'list'?" && exits 2 cache xylophone && says err 'it takes \[list|clear|verify\]' &&
        exits 2 cache list --fix && says err '^gyre cache: --fix is for verify' && exits 2 cache list clear &&
        exits 0 cache --help && says out 'usage: gyre cache' && exits 0 "$gyre" help --completion && says out ' list clear verify'
}
hostile()
{
    esc=$(printf '\033')
    fresh && keep "${esc}[2J${esc}]0;x" 10 "${esc}[31m" "${esc}c" && for words in list verify '--json' 'verify --json'; do
        # shellcheck disable=SC2086 # words
        exits 0 cache $words && [ -s "$work/out" ] || return 1
        if grep -q "$esc" "$work/out"; then echo "$words" && return 1; fi
    done
}
limited() { fresh && GYRE_CACHE_MIB=1 && export GYRE_CACHE_MIB && keep a 600000 && keep b 600000 && exits 0 cache && says out '^1 kernel, 58.* KiB of 1 MiB' && says out '^b '; }

mkdir "$work/some"
claim kernels_are_listed_the_last_used_first listed
claim missing_folder_is_an_empty_cache empty
claim clear_removes_kernels_and_nothing_else cleared
claim sound_cache_is_verified verified
claim damage_is_found_and_removed damaged
claim cut_entry_is_listed_with_its_reason cut_short
claim_json everything_can_be_json as_json
claim cache_that_is_off_is_told off
claim without_a_home_there_is_no_folder homeless
claim file_in_its_place_is_told no_folder
claim unknown_words_are_wrong_usage_with_a_guess usage
claim nothing_in_it_drives_a_terminal hostile
claim limit_keeps_the_newest limited
finish
