#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the libraries and the command export, need and weigh.
. "$(dirname "$0")/sh.sh"

lib=$build/lib

# Names that headers mark with GYRE_API. A declaration ends at its semicolon.
declared() # FIND ARGUMENTS...
{
    find "$@" -exec cat {} + | tr '\n' ' ' | tr ';{}' '\n' | grep GYRE_API | sed 's/.*GYRE_API//' |
        grep -o 'gyre_[a-z0-9_]* *(\|extern [a-z0-9_* ]*gyre_[a-z0-9_]*' |
        sed 's/ *($//; s/.*[ *]//' | sort -u
}
exported() # LIBRARY NODE
{
    nm -D --defined-only --with-symbol-versions "$lib/$1" | sed -n "s/.* [TDBR] \(gyre_[^@]*\)@@*$2\$/\1/p" | sort -u
}
same() # LIBRARY NODE FIND ARGUMENTS...
{
    library=$1 node=$2
    shift 2
    declared "$@" >"$work/declared" && exported "$library" "$node" >"$work/exported" &&
        [ -s "$work/exported" ] && diff "$work/declared" "$work/exported"
}
public() { same libgyre.so GYRE_0 "$root/include/gyre" -name '*.h' ! -name bench.h ! -name common.h; }
private() { same libgyre.so GYRE_PRIVATE "$root/src" -name '*.h'; }
# exported privately because the lab uses it, and for no other reason
used() # by libgyrelab.so
{
    nm -D --undefined-only --with-symbol-versions "$lib/libgyrelab.so" |
        sed -n 's/.* U \(gyre_[^@]*\)@GYRE_PRIVATE$/\1/p' | sort -u >"$work/used" &&
        exported libgyre.so GYRE_PRIVATE | diff - "$work/used"
}
lab() { same libgyrelab.so GYRE_0 "$root/include/gyre/bench.h"; }
nothing_else()
{
    for library in libgyre libgyrelab; do
        nm -D --defined-only "$lib/$library.so" | grep -v ' gyre_' | grep -v ' GYRE_' && return 1
    done
    return 0
}
# the functions that behaviours call, for those that it loads
of_the_command()
{
    nm -D --defined-only "$gyre" | sed -n 's/.* T \(gyre_\)/\1/p' | sort >"$work/exported" &&
        printf 'gyre_self_now\ngyre_self_say\n' | diff - "$work/exported"
}
soname()
{
    major=$(sed -n 's/^#define GYRE_VERSION_MAJOR //p' "$root/include/gyre/library.h")
    for library in libgyre libgyrelab; do
        readelf -d "$lib/$library.so" | grep -q "soname: \[$library.so.$major\]" || return 1
    done
}
needs() # FILE ALLOWED...
{
    file=$1
    shift
    readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >"$work/needed"
    for allowed in "$@"; do grep -v "^$allowed" "$work/needed" >"$work/rest"; mv "$work/rest" "$work/needed"; done
    [ ! -s "$work/needed" ] || { echo "needs:"; cat "$work/needed"; return 1; }
}
small() { strip -o "$work/stripped" "$lib/libgyre.so" && [ "$(wc -c <"$work/stripped")" -lt 1000000 ]; }
no_paths()
{
    for file in "$gyre" "$lib/libgyre.so" "$lib/libgyrelab.so"; do
        strip -o "$work/stripped" "$file" && ! grep -qaF "$root" "$work/stripped" || return 1
    done
}

claim public_names_are_those_of_the_headers public
claim private_names_are_those_of_src private
claim private_names_are_those_the_lab_uses used
claim lab_exports_its_header lab
claim nothing_else_is_exported nothing_else
claim the_command_exports_what_behaviours_call of_the_command
claim soname_is_the_major_version soname
if [ -n "${SANITIZED:-}" ]; then
    for name in libgyre_needs_libc_and_libm command_needs_libc_and_libm libgyre_is_under_a_megabyte \
        binaries_name_no_folder_of_this_machine; do
        skip $name 'sanitizers add their own'
    done
else
    claim libgyre_needs_libc_and_libm needs "$lib/libgyre.so" libc.so libm.so ld-linux
    claim command_needs_libc_and_libm needs "$gyre" libc.so libm.so ld-linux
    claim libgyre_is_under_a_megabyte small
    claim binaries_name_no_folder_of_this_machine no_paths
fi
finish
