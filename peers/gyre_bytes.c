/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_bytes: another value for the same bytes, and its end.
 *
 * Threads   as peers.h says.
 * Owns      bytes for each way.
 */
#include <stdlib.h>

#include "gyre/bytes.h"
#include "peers/gyre_step.h"
#include "peers/peers.h"

enum { LARGE = 1 << 20, SMALL = 1 << 10 };

typedef struct shared {
    gyre_bytes bytes;
    gyre_bytes handed;    /* to role 1, when `given` says so */
    uint64_t given, back; /* shared; hand-overs and returns */
    uint64_t different;   /* that role 1 found */
} shared;

static void *shared_create(size_t size)
{
    shared *s = calloc(1, sizeof *s);
    unsigned char *bytes = malloc(size);
    gyre_status status = GYRE_NO_MEMORY;

    if (s && bytes) {
        peers_fill_pattern(bytes, size);
        status = gyre_bytes_copy(NULL, bytes, size, &s->bytes);
    }
    free(bytes);
    if (status == GYRE_OK)
        return s;
    free(s);
    return NULL;
}

static void *shared_1k_create(void)
{
    return shared_create(SMALL);
}

static void *shared_1m_create(void)
{
    return shared_create(LARGE);
}

static void shared_destroy(void *state)
{
    gyre_bytes_release(&((shared *)state)->bytes);
    free(state);
}

static uint64_t clone_drop(void *state, peers_turn *turn)
{
    const shared *s = state;
    const size_t size = s->bytes.size;
    uint64_t right = 0;

    for (uint64_t i = 0; i < turn->count; i++) {
        gyre_bytes clone = gyre_bytes_clone(&s->bytes);

        peers_keep(&clone);
        right += clone.size == size;
        gyre_bytes_release(&clone);
    }
    return right;
}

/* Role 0 clones, role 1 compares every byte and releases. */
static uint64_t clone_over(void *state, peers_turn *turn)
{
    shared *s = state;
    const uint64_t first = gyre_load_relaxed(&s->back); /* relaxed: nobody writes it yet */

    if (turn->role == 0)
        s->different = 0;
    for (uint64_t i = first + 1; i <= first + turn->count; i++) {
        if (turn->role == 0) {
            s->handed = gyre_bytes_clone(&s->bytes);
            peers_step(&s->given, i);
            if (!peers_reached(&s->back, i))
                return 0;
        } else {
            if (!peers_reached(&s->given, i))
                return 0;
            s->different += s->handed.size != s->bytes.size ||
                            !peers_is_pattern(s->handed.data, s->handed.size);
            gyre_bytes_release(&s->handed);
            peers_step(&s->back, i);
        }
    }
    return turn->count - s->different;
}

static const peers_way ways[] = {
    {"bytes_clone_drop_1k", "gyre_bytes", "-", "-", "1", true, NULL, shared_1k_create, clone_drop,
     clone_over, NULL, shared_destroy},
    {"bytes_clone_drop_1m", "gyre_bytes", "-", "-", "1", true, NULL, shared_1m_create, clone_drop,
     clone_over, NULL, shared_destroy},
};

const peers_library peers_gyre_bytes = {"Gyre", PEERS_GYRE_VERSION, PEERS_GYRE, ways,
                                        sizeof ways / sizeof ways[0]};
