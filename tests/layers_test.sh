#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The layer check passes on this tree and notices what it is for.
. "$(dirname "$0")/sh.sh"

clean() { sh "$root/tools/check-layers.sh" "$root"; }
planted() # FILE INCLUDE MESSAGE: the tree with one wrong include is refused
{
    rm -rf "$work/tree" && mkdir "$work/tree" &&
        cp -R "$root/include" "$root/src" "$root/lab" "$root/apps" "$root/peers" "$root/layers.txt" "$work/tree" &&
        chmod -R u+w "$work/tree" && printf '#include %s\n' "$2" >>"$work/tree/$1" || return 1
    exits 1 sh "$root/tools/check-layers.sh" "$work/tree" && says out "$3"
}

claim tree_obeys_its_layers clean
claim base_may_not_include_the_lab planted src/base/fail.c '"bench/case.h"' 'base may not include'
claim stat_may_not_include_a_public_header_above_it planted src/stat/order.c '"gyre/bench.h"' 'stat may not'
claim public_header_may_not_include_a_private_one planted include/gyre/log.h '"base/log.h"' 'public, but'
claim suites_see_public_headers_only planted lab/suites/base.c '"base/fail.h"' 'suites may not'
claim ways_of_peers_see_public_headers_only planted peers/gyre_queues.c '"base/fail.h"' 'peers may not'
claim ways_of_peers_do_not_see_their_runner planted peers/boost.cpp '"peers/runner/run.h"' 'peers may not'
claim unknown_header_is_refused planted include/gyre/log.h '"gyre/nowhere.h"' 'not in layers.txt'
finish
