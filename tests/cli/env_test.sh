#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre env, and malformed settings as the command meets them.
. "$(dirname "$0")/../sh.sh"

defaults()
{
    exits 0 "$gyre" env && says out '^GYRE_LOG=warn  (default)$' && says out '^GYRE_OUT=gyre-out'
}
from_environment()
{
    exits 0 env GYRE_OUT=elsewhere "$gyre" env && says out '^GYRE_OUT=elsewhere  (environment)$'
}
from_command_line()
{
    exits 0 "$gyre" env --color never && says out '^GYRE_COLOR=never  (command line)$'
}
malformed()
{
    exits 3 env GYRE_LOG=banana "$gyre" info &&
        says err "^gyre: GYRE_LOG: 'banana' is no log level; use off, error, warn" &&
        says err "'gyre env' lists the settings"
}
malformed_is_shown()
{
    exits 3 env GYRE_SPIN=soon "$gyre" env && says out 'refused: .soon. is not understood' &&
        says out '^GYRE_SPIN=50us'
}
help_works_with_malformed() { exits 0 env GYRE_LOG=banana "$gyre" help && says out '^verbs:'; }
several() { exits 3 env GYRE_LOG=banana GYRE_SPIN=50 "$gyre" info && says err 'GYRE_LOG: .*; and 1 more'; }
misspelt() { exits 0 env GYRE_LGO=info "$gyre" env && says out 'GYRE_LGO is no setting; did you mean GYRE_LOG?' &&
    exits 0 env GYRE_COLR=x "$gyre" env && says out 'did you mean GYRE_COLOR?'; }
one_place_reads_the_environment()
{
    [ "$(cd "$root" && grep -rl 'getenv *(' src lab apps include | sort)" = src/base/settings.c ]
}
json()
{
    exits 0 env GYRE_OUT='a"b' GYRE_LGO=1 "$gyre" env --json || return 1
    for i in $(seq 0 99); do
        [ "$("$query" settings "$i" name <"$work/out")" = GYRE_OUT ] && break
    done
    [ "$("$query" settings "$i" value <"$work/out")" = 'a"b' ] &&
        [ "$("$query" settings "$i" origin <"$work/out")" = environment ] &&
        [ "$("$query" unknown 0 <"$work/out")" = GYRE_LGO ]
}

claim defaults_are_shown defaults
claim variable_goes_before_the_default from_environment
claim option_goes_before_the_variable from_command_line
claim malformed_setting_is_one_sentence_and_exit_3 malformed
claim several_malformed_settings_are_counted several
claim env_shows_a_malformed_setting_in_its_place malformed_is_shown
claim help_works_with_a_malformed_setting help_works_with_malformed
claim misspelt_variable_gets_a_suggestion misspelt
claim one_file_reads_the_environment one_place_reads_the_environment
claim_json json_is_json json
finish
