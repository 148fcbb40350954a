/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_message: the request as a message of Gyre's. Priority and correlation are in the header that
 * every message has; the id of 128 bits, which that has not, is a field.
 *
 * Threads   as peers.h says.
 * Owns      a buffer for each way.
 */
#include <stdlib.h>

#include "gyre/message.h"
#include "peers/requests.h"
#include "peers/tables.h"

#define ADD_REQUEST_FIELDS(F, M)                                                                   \
    F(M, ARRAY, u64, key, 1, 2)                                                                    \
    F(M, LIST, f32, a, 1, )                                                                        \
    F(M, LIST, f32, b, 1, )
GYRE_MESSAGE(add_request, 1, 1, ADD_REQUEST_FIELDS);

enum { ROOM = 2 * GYRE_MESSAGE_ROOM(PEERS_ELEMENTS * 4) + add_request_ROOM };

typedef struct flat {
    _Alignas(4096) unsigned char apart[PEERS_APART];
    unsigned char bytes[ROOM];
    size_t size;
    _Alignas(4096) peers_requests requests;
} flat;

static inline peers_requests *plain_requests(void *state)
{
    return &((flat *)state)->requests;
}

static inline bool build(void *state, const peers_request *request, uint8_t flags)
{
    flat *const f = state;
    add_request_builder b;

    if (add_request_begin(&b, f->bytes, sizeof f->bytes) != GYRE_OK)
        return false;
    b.header.priority = request->priority;
    b.header.correlation = request->correlation;
    b.header.flags = flags;
    add_request_set_key(&b, request->id);
    add_request_copy_a(&b, request->a, request->a_count);
    add_request_copy_b(&b, request->b, request->b_count);
    return add_request_commit(&b, &f->size) == GYRE_OK;
}

static inline bool plain_build(void *state, const peers_request *request)
{
    return build(state, request, 0);
}

static inline const void *plain_bytes(void *state, size_t *out_size)
{
    flat *const f = state;

    *out_size = f->size;
    return f->bytes;
}

static inline const void *plain_open(const void *bytes, size_t size)
{
    const add_request *m;

    return add_request_open(bytes, size, &m) == GYRE_OK ? m : NULL;
}

static inline uint32_t plain_read(const void *opened, size_t index)
{
    const add_request *const m = opened;
    uint32_t bits;

    if (index >= add_request_a_count(m))
        return 0;
    memcpy(&bits, &add_request_a(m)[index], sizeof bits);
    return bits;
}

static inline bool plain_is(const void *opened, const peers_request *request)
{
    const add_request *const m = opened;
    const gyre_message *const header = add_request_message(m);

    return header->priority == request->priority && header->correlation == request->correlation &&
           memcmp(add_request_key(m), request->id, sizeof request->id) == 0 &&
           add_request_a_count(m) == request->a_count &&
           add_request_b_count(m) == request->b_count &&
           peers_are_elements(add_request_a(m), request->a) &&
           peers_are_elements(add_request_b(m), request->b);
}

#define WAY plain
#include "peers/requests.h"

/* The same with a checksum, which is verified when it is opened. */
static inline bool crc_build(void *state, const peers_request *request)
{
    return build(state, request, GYRE_MESSAGE_CRC);
}

#define crc_requests plain_requests
#define crc_bytes plain_bytes
#define crc_open plain_open
#define crc_read plain_read
#define crc_is plain_is
#define WAY crc
#include "peers/requests.h"

static void *flat_create(void)
{
    flat *f = aligned_alloc(4096, sizeof *f);

    if (!f)
        return NULL;
    memset(f, 0, sizeof *f);
    peers_requests_init(&f->requests);
    return f;
}

static const peers_way ways[] = {
    {"message_build_8k", "gyre_message", "-", "-", "1", true, NULL, flat_create, plain_build_all,
     plain_show, NULL, free},
    {"message_build_8k_crc", "gyre_message, CRC-32C", "-", "-", "1", true, NULL, flat_create,
     crc_build_all, crc_show, NULL, free},
    {"message_open_validated_8k", "open", "-", "-", "1", true, NULL, flat_create, plain_open_all,
     plain_show, NULL, free},
    {"message_open_validated_8k", "open, CRC-32C", "-", "-", "1", true, "with a checksum",
     flat_create, crc_open_all, crc_show, NULL, free},
    {"message_field_read", "gyre_message", "-", "-", "1", true, NULL, flat_create, plain_read_all,
     plain_show, NULL, free},
};

const peers_library peers_gyre_message = {"Gyre", PEERS_GYRE_VERSION, PEERS_GYRE, ways,
                                          sizeof ways / sizeof ways[0]};
