#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public function is called beside a resident actor by a conformance test, or a list says why
# it need not be.
. "$(dirname "$0")/sh.sh"

programs=$root/tests/conformance
list=$programs/resident_not.txt

# Names that public headers mark with GYRE_API. A declaration ends at its semicolon.
find "$root/include/gyre" -name '*.h' ! -name bench.h ! -name common.h -exec cat {} + |
    tr '\n' ' ' | tr ';{}' '\n' | grep GYRE_API | sed 's/.*GYRE_API//' |
    grep -o 'gyre_[a-z0-9_]* *(\|extern [a-z0-9_* ]*gyre_[a-z0-9_]*' |
    sed 's/ *($//; s/.*[ *]//' | sort -u >"$work/declared"
# Names inside WENT(...), RAN(...) and CALLED(...), after which the actor has to answer.
cat "$programs/conformance_actor_resident.c" "$programs/conformance_actor_beside.c" |
    tr '\n' ' ' | tr ';' '\n' | grep -oE '(WENT|RAN|CALLED)\(.*' |
    grep -o 'gyre_[a-z0-9_]*(' | tr -d '(' | sort -u >"$work/called"
sed -n 's/^\(gyre_[a-z0-9_]*\*\{0,1\}\)  *[^ ].*/\1/p' "$list" | sed 's/\*$/.*/' >"$work/excused"

there_are_some() { [ "$(wc -l <"$work/declared")" -gt 200 ] && [ -s "$work/called" ] && [ -s "$work/excused" ]; }
complete()
{
    comm -23 "$work/declared" "$work/called" | grep -vxf "$work/excused" >"$work/missing"
    [ ! -s "$work/missing" ] || { echo "neither called nor excused:"; cat "$work/missing"; return 1; }
}
# an excuse for nothing, or for something that is called after all
needed()
{
    while read -r pattern; do
        comm -23 "$work/declared" "$work/called" | grep -qx "$pattern" || { echo "$pattern"; return 1; }
    done <"$work/excused"
}
reasons() { ! grep -v '^#' "$list" | grep -vx 'gyre_[a-z0-9_]*\*\{0,1\}  *[^ ].*'; }

claim there_is_something_to_compare there_are_some
claim every_public_function_is_called_or_excused complete
claim every_excuse_is_needed needed
claim every_excuse_has_a_reason reasons
finish
