/* SPDX-License-Identifier: Apache-2.0
 *
 * commit: which version of the code a run measured, as far as that can be found out.
 *
 * GYRE_COMMIT says it; else git is asked about the repository around the current folder, once,
 * before anything is measured. Without git, without a repository, without a commit, and where git
 * does not answer in time, it is not known, which is no failure.
 *
 * Threads   one.
 * Owns      the git that it starts, which it also ends.
 * Not here  what is measured: a program may have been built from something else.
 */
#ifndef GYRE_RECORD_COMMIT_H
#define GYRE_RECORD_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/arena.h"
#include "gyre/common.h"

/* Texts are NULL when not known. */
typedef struct gyre_commit {
    const char *id;
    const char *branch;
    bool dirty; /* files that git tracks differed from the commit */
} gyre_commit;

/* Of GYRE_COMMIT, else of the current folder; texts go to the arena. May take as long as git does,
 * 5 s at most. */
gyre_commit gyre_commit_find(gyre_arena *arena);

/* What git says about `folder` within `limit_ns`. */
gyre_commit gyre_commit_ask(const char *folder, uint64_t limit_ns, gyre_arena *arena);

/* What `git status --porcelain=v2 --branch` printed. */
gyre_commit gyre_commit_parse(const char *text, gyre_arena *arena);

#endif
