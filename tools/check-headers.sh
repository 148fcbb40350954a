#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when a public header, or the one that devices share, does not compile alone in C11 and in C++17.
# Usage: check-headers.sh [ROOT]
cd "${1:-$(dirname "$0")/..}" || exit 2
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wundef -Wcast-qual -Werror'
bad=0
for header in include/gyre/*.h src/flow/ring_abi.h; do
    name=${header#*/}
    # twice: the guard has to hold
    unit=$(printf '#include "%s"\n#include "%s"\nextern int gyre_header_is_alone;\n' "$name" "$name")
    # shellcheck disable=SC2086 # words
    printf '%s\n' "$unit" | ${CC:-cc} -std=c11 $warnings -Iinclude -Isrc -fsyntax-only -x c - || bad=1
    # shellcheck disable=SC2086
    printf '%s\n' "$unit" | ${CXX:-c++} -std=c++17 $warnings -Iinclude -Isrc -fsyntax-only -x c++ - || bad=1
    grep -qE '^[^*]*_Atomic' "$header" && { echo "$header: _Atomic in a public header"; bad=1; }
done
exit $bad
