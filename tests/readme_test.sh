#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the README shows is what the tree has: its programs are the examples, and the commands of its
# first actor build and run that one, installed and from the tree, and print what it says.
. "$(dirname "$0")/sh.sh"

[ -z "${SANITIZED:-}" ] || { skip readme 'users do not build a sanitized one'; finish; }

block() # SECTION NUMBER: that block of code of the README's section
{
    awk -v section="## $1" -v wanted="$2" '
        /^## / { inside = $0 == section }
        inside && /^```/ { open = !open; if (open) count++; next }
        inside && open && count == wanted' "$root/README.md"
}
shows() # SECTION FILE: the section's first block is the file, but for the comment that it begins with
{
    block "$1" 1 >"$work/shown" && [ -s "$work/shown" ] &&
        sed -n '/^#include/,$p' "$root/$2" | diff "$work/shown" -
}
# In the root of a tree whose build folder is this one, with a home of its own.
commands() # NUMBER: of the block
{
    rm -rf "$work/tree" && mkdir -p "$work/tree/build" "$work/home" &&
        ln -s "$root/include" "$root/examples" "$work/tree" && ln -s "$build" "$work/tree/build/release" &&
        block 'A first actor' "$1" >"$work/commands" && grep -q '^cc .* && ./echo$' "$work/commands" &&
        printf '%s\n' 'set -e' "make() { [ \$# = 0 ] || cmake --install '$build' --prefix \"\$HOME/.local\"; }" \
            "cc() { command ${CC:-cc} \"\$@\"; }" | cat - "$work/commands" >"$work/script" &&
        (cd "$work/tree" && exits 0 env HOME="$work/home" sh "$work/script") &&
        block 'A first actor' 4 >"$work/expected" && [ -s "$work/expected" ] &&
        grep '^sent' "$work/out" | diff "$work/expected" -
}

claim first_actor_is_the_example shows 'A first actor' examples/actors/echo.c
claim first_benchmark_is_the_example shows 'A first benchmark' examples/sum_bench.c
if command -v pkg-config >/dev/null; then
    claim first_actor_runs_installed commands 2
else
    skip first_actor_runs_installed 'pkg-config is not installed'
fi
claim first_actor_runs_from_the_tree commands 3
finish
