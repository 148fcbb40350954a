#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre behaviour: the one text of every behaviour of the tree, which nvcc takes, and what is wrong with a file.
. "$(dirname "$0")/../sh.sh"

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
behaviours() { (cd "$root" && find examples/actors lab/suites/behaviours tests/conformance/behaviours -name '*.c' -exec grep -lE '^GYRE_BEHAVIOUR\(' {} +); }
words() { printf '#include <gyre/behaviour.h>\ntypedef struct none { gyre_abi_u32 x; } none;\n%b' "$1"; } # the file's rest

printed()
{
    for file in $(behaviours); do
        exits 0 "$gyre" behaviour "$root/$file" && says out "^#line 1 \"$root/$file\"\$" && says out '^#line 1 "actor/loop_cuda.h"$' &&
            says out 'GYRE_BEHAVIOUR_CUDA 1$' && cp "$work/out" "$work/default" && exits 0 "$gyre" behaviour --cuda "$root/$file" &&
            cmp -s "$work/default" "$work/out" && exits 0 "$gyre" behaviour "$root/$file" --opencl && says out '^#line 1 "actor/loop_opencl.h"$' &&
            not grep -qE '^[ \t]*#[ \t]*include[ \t]+["<](actor/loop|flow/|gyre/actor_abi)' "$work/out" || return 1
    done
}
compiled_by_nvcc() # to the machine's own code where it is an example; of the others NVRTC makes that in behaviours_tree_test
{
    for file in $(behaviours); do
        case $file in examples/*) how='-cubin -arch=sm_90' ;; *) how='-ptx -arch=compute_90' ;; esac
        # shellcheck disable=SC2086 # words
        exits 0 "$gyre" behaviour "$root/$file" && cp "$work/out" "$work/behaviour.cu" &&
            exits 0 "$nvcc" $how -fmad=false -Werror all-warnings -o "$work/behaviour" "$work/behaviour.cu" &&
            grep -aq gyre_actor_v2 "$work/behaviour" && grep -aq gyre_actor_about_v2 "$work/behaviour" || return 1
    done
}
to_ptx() { exits 0 "$gyre" behaviour "$1" && cp "$work/out" "$work/behaviour.cu" && exits 0 "$nvcc" -ptx -arch=compute_90 -fmad=false -o "$work/ptx" "$work/behaviour.cu"; }
stale() { grep -qE 'ld\.global[a-zA-Z0-9_.:]*\.nc' "$work/ptx"; } # through the cache for what never changes
payloads_in_ptx() # of a block, a warp and four lanes: nothing of a payload is kept, and slots come and go in order
{
    for name in ledger blend soak; do
        to_ptx "$root/tests/conformance/behaviours/$name.c" || return 1
        not stale || { echo "$name keeps what it read"; return 1; }
        for word in ld.acquire.sys.b32 st.release.sys.b32 ld.acquire.sys.b128 st.release.sys.b128; do
            grep -qF "$word " "$work/ptx" || { echo "$name: no $word"; return 1; }
        done
    done
    words 'GYRE_BEHAVIOUR(old, none, GYRE_WIDTH_BLOCK)\n{\n    state->x = __ldg(GYRE_PAYLOAD(gyre_abi_u32));\n}\n' >"$work/old.c" &&
        to_ptx "$work/old.c" && stale
}
nvcc_names_the_line()
{
    words 'GYRE_BEHAVIOUR(bad, none, GYRE_WIDTH_BLOCK)\n{\n    missing_thing = 2;\n}\n' >"$work/bad.c" &&
        exits 0 "$gyre" behaviour "$work/bad.c" && cp "$work/out" "$work/bad.cu" &&
        exits 1 "$nvcc" -cubin -arch=sm_90 -o "$work/bad.cubin" "$work/bad.cu" && says err "bad.c(5): error: "
}
wrong_files()
{
    exits 3 "$gyre" behaviour "$work/nowhere.c" && says err "^gyre behaviour: cannot open .*: No such file" &&
        exits 2 "$gyre" behaviour && says err 'name one C file' && exits 2 "$gyre" behaviour --cuda --opencl a.c && says err 'exclude each other' &&
        words '' >"$work/none.c" && exits 2 "$gyre" behaviour "$work/none.c" && says err 'there is no GYRE_BEHAVIOUR(name, state, width) in' &&
        words 'GYRE_BEHAVIOUR(a, none, 4) {}\nGYRE_BEHAVIOUR(b, none, 4) {}\n' >"$work/two.c" &&
        exits 2 "$gyre" behaviour "$work/two.c" && says err "two behaviours, 'a' in line 3 and 'b' in line 4"
}
own_headers() # in their places, wherever the command is called from
{
    mkdir -p "$work/own/sub" && printf '#include "sub/more.h"\n#define TAPS MORE\n' >"$work/own/taps.h" && printf '#define MORE 3\n' >"$work/own/sub/more.h" &&
        words '#include "taps.h"\n#ifdef GYRE_HOST\n#include "mine.h"\n#endif\nGYRE_BEHAVIOUR(own, none, 4) {}\n' >"$work/own/own.c" && : >"$work/own/mine.h" &&
        for language in --cuda --opencl; do
            exits 0 "$gyre" behaviour "$language" "$work/own/own.c" && says out '^#line 1 "taps.h"$' && says out '^#define MORE 3$' &&
                says out '^#include "mine.h"$' && ! grep -q '^#include "\(taps\|sub/more\)' "$work/out" || return 1
        done
    rm "$work/own/sub/more.h" && exits 2 "$gyre" behaviour "$work/own/own.c" && [ ! -s "$work/out" ] &&
        says err '^gyre behaviour: .*/own/taps.h. includes "sub/more.h", which is not beside it; put it there, or between #ifdef GYRE_HOST'
}
width() # WIDTH: what the compilers of C and C++ say to it
{
    words "GYRE_BEHAVIOUR(odd, none, $1)\n{\n}\n" >"$work/odd.c" && (cd "$work" && cc -std=c11 -I"$root/include" -c -o odd.o odd.c) &&
        (cd "$work" && c++ -x c++ -std=c++17 -I"$root/include" -c -o odd.o odd.c)
}
other_widths()
{
    width GYRE_WIDTH_WARP && width 4 && not width 7 2>"$work/err" && says err odd_has_width_quad_warp_or_block &&
        (cd "$work" && not c++ -x c++ -std=c++17 -I"$root/include" -c -o odd.o odd.c) 2>"$work/err" && says err odd_has_width_quad_warp_or_block
}

refused() # STATEMENT NAME: by compilers of C and C++, that name it
{
    words "typedef struct wide { gyre_abi_u64 x[6]; } wide;\nGYRE_BEHAVIOUR(odd, none, 4)\n{\n    $1;\n}\n" >"$work/odd.c" &&
        for compiler in 'cc -std=c11' 'c++ -x c++ -std=c++17'; do
            # shellcheck disable=SC2086 # words
            (cd "$work" && not $compiler -I"$root/include" -c -o odd.o odd.c) 2>"$work/err" && says err "$2" || return 1
        done
}
limits()
{
    refused 'GYRE_ANSWER(wide)->x[0] = GYRE_REQUEST(none)->x' gyre_message_carries_40_bytes_at_most && refused '(void)GYRE_REQUEST(wide)' gyre_message_carries_40_bytes_at_most &&
        refused 'gyre_self_print(self, "12345678901234567890123456789012", 1)' gyre_text_has_31_characters_at_most &&
        words 'GYRE_BEHAVIOUR(odd, none, 4)\n{\n    gyre_self_print(self, "1234567890123456789012345678901", GYRE_REQUEST(none)->x);\n}\n' >"$work/odd.c" &&
        (cd "$work" && cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$root/include" -c -o odd.o odd.c &&
            c++ -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$root/include" -c -o odd.o odd.c)
}

claim every_behaviour_is_printed_as_one_text printed
claim headers_of_its_own_are_in_their_places own_headers
claim there_is_no_other_width other_widths
claim what_does_not_fit_is_refused_by_name limits
claim files_without_one_behaviour_are_refused wrong_files
if [ -n "${SANITIZED:-}" ]; then
    skip nvcc_compiles_the_text_of_every_behaviour 'no sanitizer watches nvcc, and every text was printed above'
elif [ -x "$nvcc" ]; then
    claim nvcc_compiles_the_text_of_every_behaviour compiled_by_nvcc
    claim payloads_are_read_anew_and_slots_in_order payloads_in_ptx
    claim what_nvcc_says_names_the_file_and_its_line nvcc_names_the_line
else
    skip nvcc_compiles_the_text_of_every_behaviour 'there is no nvcc'
    skip payloads_are_read_anew_and_slots_in_order 'there is no nvcc'
fi
finish
