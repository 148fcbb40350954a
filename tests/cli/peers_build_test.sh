#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A peer that cannot be built is a line that says why, and the others are built nonetheless: here without a C++
# compiler, without crates or without cargo, and with a C compiler that does not know Concurrency Kit or jemalloc.
. "$(dirname "$0")/../sh.sh"

[ -z "${SANITIZED:-}" ] || {
    echo "skipped: these libraries want a sanitizer's run time"
    exit 77
}
PEERS_LIB=$build/lib PEERS_OUT=$work/built PEERS_REGISTRY=$work/no_crates CXX=no-such-compiler
CARGO_HOME=$work/cargo
export PEERS_LIB PEERS_OUT PEERS_REGISTRY CXX CARGO_HOME
real=${CC:-cc}
cat >"$work/cc" <<END
#!/bin/sh
case \$* in
*jemalloc.c*) echo "peers/jemalloc.c:1:1: error: nobody has it" >&2; exit 1 ;;
*ck.c*) echo "peers/ck.c:1:10: fatal error: ck_ring.h: No \\"such\\" file in /usr/include/somewhere" >&2; exit 1 ;;
esac
exec $real "\$@"
END
chmod +x "$work/cc"
CC=$work/cc
export CC

builds()
{
    exits 0 sh "$root/peers/build" && says err '^peers: Boost is left out: there is no no-such-compiler$' &&
        says err '^peers: oneTBB is left out: there is no no-such-compiler$' &&
        says err '^peers: Concurrency Kit is left out: ck_ring.h: No  such  file in somewhere$' &&
        says err '^peers: jemalloc is left out: nobody has it$' &&
        says err '^peers: FlatBuffers is left out: there is no ' &&
        [ -x "$work/built/peers" ]
}
lists()
{
    exits 0 "$work/built/peers" --list && says out '^  Gyre .* gyre_spsc$' && says out '^  bare ring$' &&
        says out '^Boost is not here: there is no no-such-compiler$' &&
        says out '^Concurrency Kit is not here: ck_ring.h' && says out '^tokio is not here: ' &&
        says out '^rkyv is not here: ' && says out '^  glibc .* malloc, free$'
}
works() { exits 0 "$work/built/peers" --test --work 'spsc_cycle_8|bytes|message_field' && says out '^Boost is not here'; }
malloc_stays() # with whatever allocators are installed in the same program
{
    exits 0 "$work/built/peers" --test --work 'pool_cycle' -v && says out '^pool_cycle_1k: glibc malloc, free: right$'
}
again() { exits 0 sh "$root/peers/build" && says err '^peers: Boost is left out' && exits 0 "$work/built/peers" --list; }
no_libraries()
{
    PEERS_LIB=$work/nowhere && export PEERS_LIB &&
        exits 3 sh "$root/peers/build" && says err 'has no libgyre.a and libgyrelab.a: run make first'
}
no_cargo() # a PATH with everything but Rust
{
    mkdir "$work/bin" && for tool in sh dirname find grep sed cut awk mkdir rm printf cat cmp cp mv tail basename dpkg-query \
        pkg-config as ld "$real"; do
        ! path=$(command -v "$tool") || ln -sf "$path" "$work/bin/"
    done
    PATH=$work/bin && exits 0 sh "$root/peers/build" && says err '^peers: tokio is left out: there is no cargo, or no rustc$' &&
        says err '^peers: Rust std is left out: '
}

claim what_cannot_be_built_is_left_out_with_its_reason builds
claim the_program_says_what_is_not_there lists
claim what_could_be_built_works works
claim other_allocators_do_not_become_the_programs malloc_stays
claim the_reasons_are_said_again_the_next_time again
claim without_gyres_libraries_there_is_one_sentence no_libraries
claim without_cargo_the_rust_peers_are_left_out no_cargo
finish
