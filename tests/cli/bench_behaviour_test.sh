#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gyre bench --behaviour: a behaviour of the user's own, measured on what devices there are, and all that can be wrong with it.
. "$(dirname "$0")/../sh.sh"

export TMPDIR="$work/tmp" GYRE_OUT="$work/results" GYRE_CACHE="$kernels" POCL_CACHE_DIR="$kernels/pocl" POCL_MAX_PTHREAD_COUNT=6
mkdir "$TMPDIR"
cd "$work" || exit 1
clean() { [ -z "$(ls "$TMPDIR")" ] || { echo "left over: $(ls "$TMPDIR")"; return 1; }; }
bench() { "$gyre" bench --behaviour "$@"; }
on_cpu() { "$gyre" bench --axis device=cpu --behaviour "$@"; }

cat >picky.c <<'END' # takes one message only
#include <gyre/behaviour.h>

typedef struct picky_state {
    gyre_abi_u32 count;
} picky_state;

typedef struct picky_words {
    gyre_abi_u8 bytes[4];
} picky_words;

GYRE_BEHAVIOUR(picky, picky_state, GYRE_WIDTH_QUAD)
{
    if (brief->type != 7 || GYRE_REQUEST(picky_words)->bytes[0] != 0xab || GYRE_REQUEST(picky_words)->bytes[3] != 0x01)
        gyre_self_fail(self, 1234);
    GYRE_ANSWER(picky_words)->bytes[0] = 1;
}
END
sed 's/QUAD/WARP/; s/gyre_self_fail(self, 1234)/(void)0/; /GYRE_ANSWER/d' picky.c >silent.c
sed 's/gyre_self_fail(self, 1234)/missing = 1/' picky.c >broken.c
sed 's/gyre_self_fail(self, 1234)/while (gyre_atomic_load(\&state->count) == 0) gyre_self_barrier(self)/' picky.c >hung.c
{ cat picky.c && printf '#ifndef GYRE_HOST\nint missing = wrong;\n#endif\n'; } >host_only.c
sed 's/GYRE_BEHAVIOUR(picky/#if 0\n&/; $s/$/\n#endif/' picky.c >left_out.c

cat >shared.c <<'END' # adds up the payload by way of shared memory
#include <gyre/behaviour.h>

typedef struct shared_state {
    gyre_abi_u32 unused;
} shared_state;

typedef struct shared_answer {
    gyre_abi_u32 sum;
} shared_answer;

GYRE_BEHAVIOUR(shared, shared_state, GYRE_WIDTH_BLOCK)
{
    GYRE_LOCAL gyre_abi_u32 *const mine = (GYRE_LOCAL gyre_abi_u32 *)self->shared;

    mine[self->lane] = 0;
    for (gyre_abi_u32 i = self->lane; i < GYRE_PAYLOAD_BYTES / 4; i += self->lanes)
        mine[self->lane] += GYRE_PAYLOAD(gyre_abi_u32)[i];
    if (self->lanes == 1 && mine[0] != 120)
        gyre_self_fail(self, mine[0]);
    GYRE_ANSWER(shared_answer)->sum = mine[0];
}
END
sed 's/gyre_abi_u8 bytes\[4\]/gyre_abi_u64 front[2];\n    &/; s/brief->type != 7 ||/GYRE_PAYLOAD_BYTES != 64 ||/' picky.c >behind.c # the body is behind address and size
sed 's/gyre_self_fail(self, 1234)/helper()/; s/^GYRE_BEHAVIOUR/extern int helper(void);\n&/' picky.c >extern.c
sed 's/gyre_self_fail(self, 1234)/gyre_self_print(self, "type", brief->type), gyre_self_print_f32(self, "half", 0.5f)/
    s/GYRE_ANSWER.*/GYRE_ANSWER(picky_words)->bytes[0] = gyre_self_now(self) != 0;/' picky.c >talking.c
mkdir own && echo '#define CODE 1234' >own/code.h && sed 's/1234/CODE/; s/^typedef struct picky_state/#include "code.h"\n&/' picky.c >own/own.c
{ cat picky.c && printf '#ifdef GYRE_HOST\nextern int helper(void);\nint main(void) { return helper(); }\n#endif\n'; } >program.c

with_memory()
{
    exits 0 on_cpu shared.c --payload 64 --shared 1024 --test && says out '^6 checked, 0 failed' &&
        exits 0 on_cpu shared.c --payload 64 --shared 1024 --list && says out '^behaviour.shared/call/payload64-shared1024/cpu: benchmark$' &&
        exits 2 on_cpu shared.c --payload 64 && says err 'uses self->shared, of which there is none; --shared BYTES' &&
        exits 2 on_cpu shared.c --payload 3 && says err 'bytes, from 4 to' && exits 2 "$gyre" bench --shared 64 && says err '^gyre bench: --shared goes with --behaviour' &&
        exits 2 on_cpu shared.c --payload 64 --shared 64 --body "$(printf %050d 0)" && says err "up to 24 bytes behind a payload's address and size"
}
with_both()
{
    exits 0 on_cpu behind.c --payload 64 --body ab000001 --test && says out '^6 checked, 0 failed' &&
        exits 0 on_cpu behind.c --payload 64 --body ab000001 --list && says out '^behaviour.picky/call/payload64-bodyab000001/cpu: benchmark$' &&
        exits 1 on_cpu behind.c --payload 64 --body ab000002 --test call/ && says out 'error 1234' &&
        exits 0 on_cpu behind.c --payload 64 --body "ab000001$(printf %040d 7)" --test && says out '^6 checked, 0 failed'
}
another_message()
{
    exits 0 on_cpu picky.c --type 7 --body ab000001 --quick --out "$work/other" call/ && exits 0 on_cpu picky.c --type 7 --body ab000101 --quick --out "$work/other" call/ &&
        ! grep -q 'change:\|regressed' out && exits 0 on_cpu picky.c --type 7 --body ab000101 --quick --out "$work/other" call/ && grep -q 'change:' out
}
lacking()
{
    exits 1 on_cpu extern.c --test && says err "undefined reference to .helper'" && says err "'extern.c' does not compile with" && [ ! -s out ] && clean &&
        exits 0 on_cpu program.c --type 7 --body ab000001 --test call/ && says out '^1 checked, 0 failed'
}
talks() { GYRE_LOG=device:info exits 0 on_cpu talking.c --type 9 --test && says out '^6 checked, 0 failed' && says err 'type 9$' && says err 'half 0.5$' && clean; }
listed() { CC=false exits 0 bench picky.c --list && says out '^behaviour.picky/call/cpu: benchmark$' && says out '^behaviour.picky/send_echo/opencl: benchmark$' && says out '^18 benchmarks$'; }
measured()
{
    exits 0 on_cpu picky.c --type 7 --body ABff0001 --quick --json && clean &&
        [ "$("$query" benchmarks 0 id <out)" = behaviour.picky/call/type7-bodyabff0001/cpu ] && [ "$("$query" benchmarks <out)" = 6 ] &&
        grep -q '"latency": {' out && exits 0 "$gyre" history list --out "$GYRE_OUT" && [ -s "$GYRE_OUT/latest.json" ]
}
checked() { exits 0 on_cpu "$root/examples/actors/echo.c" --test && says out '^6 checked, 0 failed' && clean; }
without_answers() { exits 0 on_cpu silent.c --quick --no-save call/ && says out 'note: *without_answer [0-9]'; }
seats() { exits 0 on_cpu picky.c --seats 2 --type 7 --body ab000001 --quick --no-save call/ && says out 'note: *seats 2'; }
failing()
{
    exits 1 on_cpu picky.c --test && says out 'failed behaviour.picky/call/cpu: .*error 1234' && says out 'failed behaviour.picky/call_many/cpu: .*code 1234' &&
        says out 'failed behaviour.picky/send/cpu: .*256 messages failed, the last with code 1234' && says out '^3 checked, 3 failed' && clean &&
        exits 1 on_cpu picky.c --quick --no-save call/ && says out 'failed behaviour.picky/call/cpu: .*error 1234'
}
hanging() { exits 1 on_cpu hung.c --test call/ && says out 'failed behaviour.picky/call/cpu: .*its behaviour does not return'; }
on_opencl()
{
    exits 0 "$gyre" bench --axis device=opencl --behaviour picky.c --type 7 --body ab000001 --test && says out '^6 checked, 0 failed' &&
        exits 1 "$gyre" bench --axis device=opencl --behaviour host_only.c --test call/ && says out "FAILED: .*'picky' does not compile for opencl:0: .*host_only.c:" && clean
}
headers_on_opencl()
{
    exits 0 "$gyre" bench --axis 'device=[cpu,opencl]' --behaviour own/own.c --type 7 --body ab000001 --test call/ && says out '^2 checked, 0 failed' &&
        mkdir -p away && mv own/code.h away/code.h && CC="${CC:-cc} -Iaway" exits 1 "$gyre" bench --axis device=opencl --behaviour own/own.c --test call/ &&
        says out "FAILED: .*'picky' includes 'code.h', which compilers of devices cannot find: .*; those beside the file are there by themselves"
}
not_compiling() { exits 1 on_cpu broken.c --test && says err '^broken.c:14:.*error: ' && says err "'broken.c' does not compile with '" && clean; }
not_there() { exits 1 on_cpu left_out.c --test && says out 'FAILED: .*left out by the preprocessor'; }
wrong_files()
{
    exits 3 on_cpu nowhere.c && says err "cannot open 'nowhere.c'" && : >empty.c && exits 2 on_cpu empty.c && says err 'there is no GYRE_BEHAVIOUR' &&
        cat picky.c picky.c >twice.c && exits 2 on_cpu twice.c && says err "two behaviours, 'picky' in line 11 and 'picky' in line 27" &&
        CC=no-such-compiler exits 3 on_cpu picky.c && says err "there is no program 'no-such-compiler'; correct CC" &&
        CC='' PATH=$work/nowhere exits 3 "$gyre" bench --behaviour picky.c --test && says err "there is no program 'cc'; set CC to a C compiler" &&
        TMPDIR=$work/nowhere exits 3 on_cpu picky.c && says err 'cannot make a folder in'
}
odd_names() # of files and folders
{
    mkdir 'a "b\c' && cp picky.c 'a "b\c/q"\n.c' && exits 0 on_cpu 'a "b\c/q"\n.c' --type 7 --body ab000001 --test call/ && says out '^1 checked, 0 failed' &&
        for name in picky picky.cu picky.behaviour.h; do
            [ -e "$name" ] || cp picky.c "$name" && exits 0 on_cpu "$name" --type 7 --body ab000001 --test call/ && says out '^1 checked, 0 failed' || return 1
        done
    clean
}
cannot_run_there() { exits 3 unshare -rm sh -c "mkdir m && mount -t tmpfs -o noexec t m && TMPDIR=\$PWD/m '$gyre' bench --behaviour picky.c --test" && says err "mounted noexec; set TMPDIR"; }
usage()
{
    exits 2 on_cpu picky.c --behaviour shared.c && says err '^gyre bench: --behaviour takes one file' &&
        exits 2 "$gyre" bench --behaviour picky.c --axis device=opencl:0 && says err "axis 'device' has no value 'opencl:0'; it has cpu, cuda, opencl$" || return 1
    exits 2 "$gyre" bench --type 3 && says err '^gyre bench: --type goes with --behaviour' && exits 2 on_cpu picky.c --body 0g && says err 'hexadecimal' &&
        exits 2 on_cpu picky.c --body 123 && says err 'two digits a byte' && exits 2 on_cpu picky.c --body "$(printf %082d 0)" && says err '82 digits were given' &&
        exits 2 on_cpu picky.c --threads 33 && says err 'a multiple of 32' && exits 2 on_cpu picky.c --type 70000 && exits 2 on_cpu picky.c --seats 0 &&
        exits 2 "$build/tests/stranger_bench" --behaviour picky.c && says err "an option of 'gyre bench'" &&
        GYRE_BEHAVIOUR=x exits 0 on_cpu picky.c --list
}
interrupted()
{
    printf '#!/bin/sh\necho $$ >%s/pid\nsleep 100\n' "$work" >slow-cc && chmod +x slow-cc
    for signal in INT TERM; do
        rm -f pid && CC=$work/slow-cc
        export CC
        # its own process, whose interrupts are not ignored as a shell's background jobs' are
        python3 -c 'import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.exit(subprocess.Popen(sys.argv[2:], stderr=open(sys.argv[1], "w"), preexec_fn=lambda: open("bench_pid", "w").write(str(__import__("os").getpid()))).wait())' \
            err "$gyre" bench --behaviour picky.c &
        waits_for 100 test -s pid && kill -s "$signal" "$(cat bench_pid)" && wait $!
        status=$?
        echo "status $status after $signal"
        [ "$status" = 130 ] && gone "$(cat pid)" && says err 'interrupted while compiling' && clean || return 1
    done
}
claim list_compiles_nothing listed
claim payload_and_shared_memory_are_given with_memory
claim a_body_is_behind_the_payload with_both
claim another_message_is_another_benchmark another_message
claim what_a_behaviour_lacks_is_named lacking
claim a_behaviour_prints_and_asks_for_the_time talks
claim a_whole_program_is_checked checked
claim_json a_behaviour_is_measured_and_kept measured
claim silence_is_counted without_answers
claim seats_are_taken seats
claim a_failure_fails_the_benchmark_with_its_code failing
claim a_hang_fails_the_benchmark hanging
claim what_the_compiler_says_is_shown not_compiling
claim a_behaviour_that_is_left_out_is_missed not_there
claim wrong_files_are_refused wrong_files
claim wrong_usage_is_refused usage
claim names_of_files_may_be_odd odd_names
if unshare -rm mount -t tmpfs -o noexec t "$work/tmp" 2>/dev/null; then
    claim a_folder_where_nothing_runs_is_named cannot_run_there
else
    skip a_folder_where_nothing_runs_is_named 'a mount cannot be made here'
fi
if command -v python3 >/dev/null; then
    claim an_interrupt_leaves_nothing interrupted
else
    skip an_interrupt_leaves_nothing 'there is no python3'
fi
if "$gyre" info 2>/dev/null | grep -q 'opencl:0'; then
    claim opencl_runs_it_or_says_why_not on_opencl
    claim headers_beside_the_file_are_found_by_opencl headers_on_opencl
else
    skip opencl_runs_it_or_says_why_not 'there is no device of OpenCL'
fi
finish
