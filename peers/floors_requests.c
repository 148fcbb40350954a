/* SPDX-License-Identifier: Apache-2.0
 *
 * floors_requests: the least that can be done for a message: a struct that holds all of it is
 * copied, believed when there are bytes enough, and read where it lies.
 *
 * Threads   as peers.h says.
 * Owns      a copy for each way.
 */
#include <stdlib.h>

#include "peers/requests.h"
#include "peers/tables.h"

typedef struct copied {
    _Alignas(4096) unsigned char apart[PEERS_APART];
    peers_request copy;
    size_t size; /* of a request, as a number of the run */
    _Alignas(4096) peers_requests requests;
} copied;

static inline peers_requests *copied_requests(void *state)
{
    return &((copied *)state)->requests;
}

static inline bool copied_build(void *state, const peers_request *request)
{
    copied *const c = state;

    memcpy(&c->copy, request, c->size);
    return true;
}

static inline const void *copied_bytes(void *state, size_t *out_size)
{
    *out_size = sizeof(peers_request);
    return &((copied *)state)->copy;
}

static inline const void *copied_open(const void *bytes, size_t size)
{
    return size >= sizeof(peers_request) ? bytes : NULL;
}

static inline uint32_t copied_read(const void *opened, size_t index)
{
    const peers_request *const request = opened;
    uint32_t bits;

    memcpy(&bits, &request->a[index], sizeof bits);
    return bits;
}

static inline bool copied_is(const void *opened, const peers_request *request)
{
    return peers_request_is(opened, request);
}

#define WAY copied
#include "peers/requests.h"

/* The same with a copy for each vector: they need not lie together. */
static inline bool apart_build(void *state, const peers_request *request)
{
    peers_request *const copy = &((copied *)state)->copy;

    memcpy(copy, request, offsetof(peers_request, a));
    memcpy(copy->a, request->a, request->a_count * sizeof request->a[0]);
    memcpy(copy->b, request->b, request->b_count * sizeof request->b[0]);
    return true;
}

#define apart_requests copied_requests
#define apart_bytes copied_bytes
#define apart_open copied_open
#define apart_read copied_read
#define apart_is copied_is
#define WAY apart
#include "peers/requests.h"

static void *copied_create(void)
{
    copied *c = aligned_alloc(4096, sizeof *c);

    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    peers_requests_init(&c->requests);
    c->size = sizeof c->copy;
    return c;
}

#define COPIED(work, name, aside, run)                                                             \
    {                                                                                              \
        work, name, "-", "-", "1", true, aside, copied_create, run, copied_show, NULL, free        \
    }

static const peers_way ways[] = {
    COPIED("message_build_8k", "memcpy of the same", NULL, copied_build_all),
    COPIED("message_build_8k", "a memcpy for each vector",
           "what any message takes whose vectors lie in two places", apart_build_all),
    COPIED("message_build_8k_crc", "memcpy of the same", NULL, copied_build_all),
    COPIED("message_open_validated_8k", "nothing but the size", NULL, copied_open_all),
    COPIED("message_field_read", "an array in a struct", NULL, copied_read_all),
};

const peers_library peers_floors_requests = {"bare", "", PEERS_FLOOR, ways,
                                             sizeof ways / sizeof ways[0]};
