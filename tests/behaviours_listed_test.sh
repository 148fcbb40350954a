#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every behaviour file of the tree is in cmake/behaviours.cmake, from which all compilers have theirs.
. "$(dirname "$0")/sh.sh"

listed() # ROOT: what is there and what is listed are the same; fuzzers' inputs are not for compilers
{
    (cd "$1" && find apps examples lab peers src tests -path tests/corpus -prune -o -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) \
        -exec grep -lE '^[[:space:]]*GYRE_BEHAVIOUR\(' {} + | LC_ALL=C sort) >"$work/there"
    LC_ALL=C sort "$build/behaviours.txt" | diff "$work/there" - >"$work/differ" && return
    cat "$work/differ"
    return 1
}
forgotten() # FILE: a tree that has one more is refused
{
    rm -rf "$work/tree" && mkdir "$work/tree" &&
        (cd "$root" && cp -R apps examples lab peers src tests "$work/tree") && chmod -R u+w "$work/tree" &&
        cp "$root/examples/actors/echo.c" "$work/tree/$1" || return 1
    ! listed "$work/tree" && grep -q "^< $1\$" "$work/differ"
}

claim every_behaviour_is_listed listed "$root"
claim a_forgotten_example_is_found forgotten examples/actors/forgotten.c
claim a_forgotten_file_of_the_lab_is_found forgotten lab/suites/behaviours/forgotten.c
finish
