/* SPDX-License-Identifier: Apache-2.0
 *
 * message: a request of two arrays of a thousand numbers, built, opened and read in place.
 *
 * Serializing moves all 8000 bytes into a buffer that is there already; `reserve` builds the same
 * message and makes one element of each array in place, as who computes them there does. Reading
 * moves nothing: opening validates, and access without it trusts an earlier one.
 *
 * Threads   one.
 * Owns      a fixture per case.
 */
#include "gyre/message.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "suites/suites.h"

enum { COUNT = 1000, ROOM = 16384 };

/* clang-format off */
#define VECTOR_ADD_FIELDS(F, M) \
    F(M, LIST, f32, a, 1, )     \
    F(M, LIST, f32, b, 1, )
/* clang-format on */
GYRE_MESSAGE(vector_add, 1, 1, VECTOR_ADD_FIELDS);

typedef struct request {
    alignas(4096) unsigned char bytes[ROOM];
    unsigned char apart[2048]; /* or loads seem to depend on stores a page away, of either copy */
    float a[COUNT], b[COUNT];
    size_t size; /* of the message in `bytes` */
    uint64_t right;
    uint64_t sum;
    uint64_t done;
} request;

/* Writes the message number `id` and returns its size, 0 when that failed. */
GYRE_INLINE size_t serialize(request *r, uint64_t id, uint8_t flags, bool elements)
{
    vector_add_builder b;
    size_t size;

    if (vector_add_begin(&b, r->bytes, sizeof r->bytes) != GYRE_OK)
        return 0;
    b.header.id = id;
    b.header.priority = GYRE_MESSAGE_NORMAL;
    b.header.flags = flags;
    if (elements) {
        vector_add_copy_a(&b, r->a, COUNT);
        vector_add_copy_b(&b, r->b, COUNT);
    } else {
        float *to = vector_add_add_a(&b, COUNT);

        if (to)
            to[id % COUNT] = -1;
        to = vector_add_add_b(&b, COUNT);
        if (to)
            to[id % COUNT] = -2;
    }
    return vector_add_commit(&b, &size) == GYRE_OK ? size : 0;
}

static gyre_status request_setup(uint8_t flags, void **out_fixture)
{
    request *const r = aligned_alloc(alignof(request), sizeof(request));

    *out_fixture = r;
    if (!r)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(r, 0, sizeof *r);
    for (int i = 0; i < COUNT; i++) {
        r->a[i] = (float)i;
        r->b[i] = (float)(2 * i + 1);
    }
    r->size = serialize(r, 7, flags, true);
    if (r->size > 0)
        return GYRE_OK;
    free(r);
    *out_fixture = NULL;
    return gyre_bench_refuse(GYRE_INTERNAL, "the message could not be built");
}

static gyre_status setup_plain(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return request_setup(0, out_fixture);
}

static gyre_status setup_crc(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return request_setup(GYRE_MESSAGE_CRC, out_fixture);
}

GYRE_INLINE void serialize_each(request *r, uint8_t flags, bool elements, uint64_t iterations)
{
    const uint64_t first = r->done;
    const size_t size = r->size;
    uint64_t right = 0; /* here, or every iteration waits for the last one's store */

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(r->a);
        right += serialize(r, first + i, flags, elements) == size;
        gyre_bench_keep(r->bytes);
    }
    r->right += right;
    r->done += iterations;
}

static void serialize_1k(void *fixture, uint64_t iterations)
{
    serialize_each(fixture, 0, true, iterations);
}

static void serialize_1k_crc(void *fixture, uint64_t iterations)
{
    serialize_each(fixture, GYRE_MESSAGE_CRC, true, iterations);
}

static void reserve_1k(void *fixture, uint64_t iterations)
{
    serialize_each(fixture, 0, false, iterations);
}

static bool same(const float *x, const float *y)
{
    int i = 0;

    while (i < COUNT && x[i] == y[i])
        i++;
    return i == COUNT;
}

/* The last one is valid and holds every element. */
static bool last_is_the_request(const void *fixture, uint64_t iterations)
{
    const request *const r = fixture;
    const vector_add *m;

    return r->right == iterations && r->done == iterations &&
           vector_add_open(r->bytes, r->size, &m) == GYRE_OK &&
           vector_add_message(m)->id == iterations - 1 &&
           vector_add_message(m)->priority == GYRE_MESSAGE_NORMAL &&
           vector_add_message(m)->correlation == 0 && vector_add_a_count(m) == COUNT &&
           vector_add_b_count(m) == COUNT && same(vector_add_a(m), r->a) &&
           same(vector_add_b(m), r->b);
}

/* The last one is valid, and the elements that were made in it are where they belong. */
static bool last_is_reserved(const void *fixture, uint64_t iterations)
{
    const request *const r = fixture;
    const uint64_t id = iterations - 1;
    const vector_add *m;

    return r->right == iterations && r->done == iterations &&
           vector_add_open(r->bytes, r->size, &m) == GYRE_OK && vector_add_message(m)->id == id &&
           vector_add_a_count(m) == COUNT && vector_add_b_count(m) == COUNT &&
           vector_add_a(m)[id % COUNT] == -1 && vector_add_b(m)[id % COUNT] == -2;
}

static bool last_is_sealed(const void *fixture, uint64_t iterations)
{
    const request *const r = fixture;
    const gyre_message *message;

    return last_is_the_request(fixture, iterations) &&
           gyre_message_peek(r->bytes, r->size, &message) == GYRE_OK &&
           (message->flags & GYRE_MESSAGE_CRC) != 0;
}

/* What every valid one adds to the sum: where the lists are, and how long. */
static uint64_t worth(const request *r, const vector_add *m)
{
    return (uint64_t)((const unsigned char *)vector_add_b(m) - r->bytes) + vector_add_a_count(m);
}

static void open_each(void *fixture, uint64_t iterations)
{
    request *const r = fixture;
    const size_t size = r->size;
    const vector_add *m;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(r->bytes);
        if (vector_add_open(r->bytes, size, &m) != GYRE_OK)
            break; /* the check will miss it */
        gyre_bench_keep(m);
        sum += worth(r, m);
    }
    r->sum += sum;
}

/* All were opened, and one that is cut short, or of which a bit is wrong, is not. */
static bool only_valid_ones_open(const void *fixture, uint64_t iterations)
{
    const request *const r = fixture;
    const vector_add *m;
    gyre_message *header;
    request *copy;
    bool right;

    if (vector_add_open(r->bytes, r->size, &m) != GYRE_OK || r->sum != iterations * worth(r, m) ||
        !same(vector_add_b(m), r->b) || vector_add_open(r->bytes, r->size - 1, &m) == GYRE_OK)
        return false;
    copy = aligned_alloc(alignof(request), sizeof(request));
    if (!copy)
        return false;
    memcpy(copy, r, sizeof *copy);
    header = (gyre_message *)copy->bytes;
    if ((header->flags & GYRE_MESSAGE_CRC) != 0)
        copy->bytes[copy->size / 2] ^= 1;
    else
        header->part.size += 16;
    right = vector_add_open(copy->bytes, copy->size, &m) != GYRE_OK;
    free(copy);
    return right;
}

static void access_each(void *fixture, uint64_t iterations)
{
    request *const r = fixture;
    const vector_add *const m = vector_add_trust(r->bytes);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(r->bytes);
        sum += vector_add_a_count(m) + vector_add_message(m)->priority;
    }
    r->sum += sum;
}

static bool accessed(const void *fixture, uint64_t iterations)
{
    return ((const request *)fixture)->sum == iterations * (COUNT + GYRE_MESSAGE_NORMAL);
}

/* To where serializing puts them. */
static void copy_each(void *fixture, uint64_t iterations)
{
    request *const r = fixture;
    const vector_add *const m = vector_add_trust(r->bytes);
    unsigned char *const a = r->bytes + ((const unsigned char *)vector_add_a(m) - r->bytes);
    unsigned char *const b = r->bytes + ((const unsigned char *)vector_add_b(m) - r->bytes);

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(r->a);
        r->a[0] = (float)(r->done + i); /* so that each is another */
        memcpy(a, r->a, sizeof r->a);
        memcpy(b, r->b, sizeof r->b);
        gyre_bench_keep(r->bytes);
    }
    r->done += iterations;
}

static bool last_was_copied(const void *fixture, uint64_t iterations)
{
    const request *const r = fixture;
    const vector_add *const m = vector_add_trust(r->bytes);

    return r->done == iterations && vector_add_a(m)[0] == (float)(iterations - 1) &&
           same(vector_add_a(m), r->a) && same(vector_add_b(m), r->b);
}

static uint64_t element_bytes(const gyre_bench_case *c)
{
    (void)c;
    return 2 * sizeof(float) * COUNT;
}

static void tell_size(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_bench_count(facts, "message_bytes", (double)((const request *)fixture)->size);
}

#define BUILT(moves)                                                                               \
    .t0 = "before the message is begun", .t1 = "after its commit",                                 \
    .observer = "the same thread, which opens the last and compares " moves, .teardown = free,     \
    .tell = tell_size

static const gyre_bench benches[] = {
    {
        .name = "serialization/serialize_1k",
        BUILT("every element"),
        .setup = setup_plain,
        .run = serialize_1k,
        .check = last_is_the_request,
        .bytes = element_bytes,
    },
    {
        .name = "serialization/serialize_1k_crc",
        BUILT("every element and the checksum"),
        .setup = setup_crc,
        .run = serialize_1k_crc,
        .check = last_is_sealed,
        .bytes = element_bytes,
    },
    {
        .name = "serialization/reserve_1k",
        BUILT("the elements that were made in place"),
        .setup = setup_plain,
        .run = reserve_1k,
        .check = last_is_reserved,
    },
    {
        .name = "serialization/deserialize_1k",
        .t0 = "before the message is opened",
        .t1 = "after it was validated, and the place of a list was read",
        .observer = "the same thread, which compares places and counts; a broken one is refused",
        .setup = setup_plain,
        .run = open_each,
        .check = only_valid_ones_open,
        .teardown = free,
        .tell = tell_size,
    },
    {
        .name = "serialization/deserialize_1k_crc",
        .t0 = "before the message is opened",
        .t1 = "after its checksum was computed, and the place of a list was read",
        .observer = "the same thread, which compares places and counts; a broken one is refused",
        .setup = setup_crc,
        .run = open_each,
        .check = only_valid_ones_open,
        .teardown = free,
        .bytes = element_bytes,
        .tell = tell_size,
    },
    {
        .name = "serialization/zero_copy_access",
        .t0 = "before a count and the priority are read",
        .t1 = "after both were added",
        .observer = "the same thread, which compares the sum",
        .setup = setup_plain,
        .run = access_each,
        .check = accessed,
        .teardown = free,
    },
    {
        .name = "serialization/floor_copy_8kb",
        .t0 = "before a memcpy of both arrays",
        .t1 = "after it",
        .observer =
            "the same thread, which changes a number each time and compares all of the last",
        .setup = setup_plain,
        .run = copy_each,
        .check = last_was_copied,
        .teardown = free,
        .bytes = element_bytes,
    },
};

const gyre_suite gyre_suite_message = GYRE_SUITE("message", benches);
