#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre_bench_keep at -O3: the compiler must compute what is kept, and load again what may have changed. Each
# claim is made twice: without the barrier the work is gone, so that the claim can fail; with it, it is there.
. "$(dirname "$0")/sh.sh"

[ -z "${SANITIZED:-}" ] || { skip keep 'it compiles its own code, which no sanitizer watches'; finish; }

cat >"$work/keep.c" <<'END'
#include <gyre/bench.h>
#ifdef BARE
#define KEEP(p) (void)(p)
#else
#define KEEP(p) gyre_bench_keep(p)
#endif
/* a value that nobody uses: without the barrier there is nothing to compute */
void unused(unsigned x, unsigned long n);
void unused(unsigned x, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        unsigned product = x * 2654435761u;

        KEEP(&product);
    }
}
/* the same sum again and again: without the barrier one load outside the loop is enough */
unsigned again(const unsigned *x, unsigned long n);
unsigned again(const unsigned *x, unsigned long n)
{
    unsigned sum = 0;

    for (unsigned long i = 0; i < n; i++) {
        KEEP(x);
        sum ^= *x * 2654435761u;
    }
    return sum;
}
/* stores that the next one overwrites: without the barrier only the last is made */
void overwritten(unsigned *x, unsigned long n);
void overwritten(unsigned *x, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        *x = (unsigned)i * 2654435761u;
        KEEP(x);
    }
}
END

# A driver that calls each function with n = 1000 and does nothing else; callgrind counts what they execute.
cat >"$work/drive.c" <<'END'
#include <stdlib.h>
void unused(unsigned x, unsigned long n);
unsigned again(const unsigned *x, unsigned long n);
void overwritten(unsigned *x, unsigned long n);
int main(int argc, char **argv)
{
    static unsigned x = 3;
    const unsigned long n = strtoul(argv[2], NULL, 10);

    (void)argc;
    switch (argv[1][0]) {
    case 'u': unused(x, n); break;
    case 'a': x = again(&x, n); break;
    case 'o': overwritten(&x, n); break;
    }
    return 0;
}
END

build_with() # COMPILER NAME FLAGS...
{
    cc=$1 name=$2
    shift 2
    "$cc" -O3 -std=c11 -I "$root/include" "$@" -c "$work/keep.c" -o "$work/keep.o" &&
        "$cc" -O1 -std=c11 -c "$work/drive.c" -o "$work/drive.o" && "$cc" "$work/keep.o" "$work/drive.o" -o "$work/$name"
}

executed() # PROGRAM FUNCTION N: instructions of the whole program
{
    valgrind --tool=callgrind --callgrind-out-file="$work/out.callgrind" "$1" "$2" "$3" 2>/dev/null >/dev/null &&
        sed -n 's/^totals: //p' "$work/out.callgrind"
}

# instructions that a further iteration costs, over 10000 of them
per_iteration() # PROGRAM FUNCTION
{
    few=$(executed "$1" "$2" 1000) && many=$(executed "$1" "$2" 11000) && echo $(((many - few) / 10000))
}

kept() # COMPILER FUNCTION
{
    build_with "$1" bare -DBARE && build_with "$1" barred || return 1
    without=$(per_iteration "$work/bare" "$2") && with=$(per_iteration "$work/barred" "$2") || return 1
    echo "an iteration costs $without instructions without the barrier and $with with it"
    # a multiplication and a load or store at least, besides the loop's own; and none of them without
    [ "$without" -le 2 ] && [ "$with" -ge 4 ]
}

if ! command -v valgrind >/dev/null; then
    echo 'skip: valgrind, which counts the instructions, is not installed'
    exit 77
fi
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
        claim "${compiler}_computes_what_is_kept" kept "$compiler" unused
        claim "${compiler}_loads_again_after_the_barrier" kept "$compiler" again
        claim "${compiler}_makes_every_store" kept "$compiler" overwritten
    else
        skip "${compiler}_computes_what_is_kept" "$compiler is not installed"
    fi
done
finish
