#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, version, suggestions, manual page, completion, and output that cannot be written.
. "$(dirname "$0")/../sh.sh"

version()
{
    want=$(sed -n 's/^#define GYRE_VERSION_[A-Z]* //p' "$root/include/gyre/library.h" | paste -sd.)
    exits 0 "$gyre" --version && says out "^gyre $want\$"
}
overview() { exits 0 "$gyre" --help && says out '^  bench  ' && says out '^  doctor  '; }
no_verb() { exits 2 "$gyre" && says err '^usage: gyre VERB'; }
help_twice()
{
    for verb in bench behaviour cache info doctor top env help; do
        exits 0 "$gyre" help "$verb" && cp "$work/out" "$work/first" &&
            exits 0 "$gyre" "$verb" --help && cmp -s "$work/out" "$work/first" &&
            says out "^usage: gyre $verb" && says out '  -h, --help' || return 1
    done
}
wrong_verb() { exits 2 "$gyre" bnech && says err "there is no verb 'bnech'; did you mean 'bench'?"; }
wrong_flag()
{
    exits 2 "$gyre" info --jsno && says err "there is no option '--jsno'; did you mean '--json'?" &&
        says err "'gyre info --help'"
}
wrong_bare() { exits 2 "$gyre" --verison && says err "there is no option '--verison'; did you mean '--version'?"; }
escapes()
{
    esc=$(printf '\033')
    for words in "info ${esc}[31m" "help ${esc}[31m" "info --color=${esc}c" "bench --sample-size ${esc}c" \
        "bench --no-save (${esc}" "${esc}[2J" "--${esc}"; do
        # shellcheck disable=SC2086 # two words
        exits 2 "$gyre" $words && ! grep -q "$esc" "$work/err" || return 1
    done
}
wrong_help() { exits 2 "$gyre" help bnech && says err "did you mean 'bench'"; }
man_page()
{
    mandoc -T lint -W error "$build/share/gyre.1" && mandoc -T utf8 "$build/share/gyre.1" |
        sed "s/.$(printf '\b')//g" >"$work/out" && says out 'GYRE_LOG' && says out '--sample-size' && says out '^EXIT STATUS'
}
offered() # WORDS... : what bash would offer for the last one
{
    # shellcheck disable=SC2016 # expanded by the inner shell
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gyre; echo "${COMPREPLY[*]}"' \
        "$build/share/gyre.bash" "$@"
}
completion()
{
    [ "$(offered gyre doc)" = doctor ] && [ "$(offered gyre bench --sample)" = --sample-size ] &&
        [ "$(offered gyre info --color a)" = 'auto always' ] && [ "$(offered gyre help be)" = 'bench behaviour' ]
}
generated_from_tables()
{
    exits 0 "$gyre" help --man && cmp "$work/out" "$build/share/gyre.1" &&
        exits 0 "$gyre" help --completion && cmp "$work/out" "$build/share/gyre.bash"
}
full_disk()
{
    got=0
    "$gyre" env >/dev/full 2>"$work/err" || got=$?
    [ "$got" = 3 ] && says err 'cannot write the output: No space left on device; free some space'
}
plain() { "$gyre" doctor --help >"$work/out" && "$gyre" env >>"$work/out" && ! grep -q "$(printf '\033')" "$work/out"; }
coloured()
{
    "$gyre" env --color always >"$work/out" && grep -q "$(printf '\033')" "$work/out" &&
        env GYRE_COLOR=always NO_COLOR=1 "$gyre" env >"$work/out" && grep -q "$(printf '\033')" "$work/out"
}
no_color()
{
    NO_COLOR=1 TERM=xterm script -qec "'$gyre' env" /dev/null </dev/null >"$work/out" &&
        ! grep -q "$(printf '\033')\[1m" "$work/out" &&
        TERM=xterm script -qec "'$gyre' env" /dev/null </dev/null >"$work/out" &&
        grep -q "$(printf '\033')\[1m" "$work/out"
}

claim version_is_the_headers version
claim help_lists_the_verbs overview
claim no_verb_is_wrong_usage no_verb
claim help_of_a_verb_is_the_same_both_ways help_twice
claim misspelt_verb_gets_a_suggestion_and_exit_2 wrong_verb
claim misspelt_option_gets_a_suggestion_and_exit_2 wrong_flag
claim help_of_a_misspelt_verb_too wrong_help
claim misspelt_option_before_a_verb_too wrong_bare
claim errors_cannot_drive_a_terminal escapes
if command -v mandoc >/dev/null; then
    claim manual_page_is_well_formed man_page
else
    skip manual_page_is_well_formed 'mandoc is not installed'
fi
if command -v bash >/dev/null; then
    claim completion_offers_verbs_options_and_choices completion
else
    skip completion_offers_verbs_options_and_choices 'bash is not installed'
fi
claim manual_and_completion_come_from_the_program generated_from_tables
if [ -c /dev/full ]; then
    claim full_disk_is_one_sentence_and_exit_3 full_disk
else
    skip full_disk_is_one_sentence_and_exit_3 'there is no /dev/full here'
fi
claim output_is_plain_when_not_on_a_terminal plain
claim colour_can_be_asked_for coloured
if command -v script >/dev/null; then
    claim no_color_is_honoured_on_a_terminal no_color
else
    skip no_color_is_honoured_on_a_terminal 'script(1) is not installed'
fi
finish
