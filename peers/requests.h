/* SPDX-License-Identifier: Apache-2.0
 *
 * requests: what is done with a message, for every way to make one in the same words.
 *
 * The message is the seed's: add two vectors of 1000 floats, with an id of 128 bits, a priority and
 * perhaps a correlation. Included by C and by C++: once for its types, and once for each way, for
 * which define before
 *
 *     WAY    the prefix of its functions, among them
 *                peers_requests *WAY_requests(void *state)
 *                bool WAY_build(void *state, const peers_request *request)
 *                const void *WAY_bytes(void *state, size_t *out_size)    what was built last
 *                const void *WAY_open(const void *bytes, size_t size)    NULL: not valid
 *                uint32_t WAY_read(const void *opened, size_t index)     the bits of a[index]
 *                bool WAY_is(const void *opened, const peers_request *request)
 *
 * and get WAY_build_all, WAY_open_all, WAY_read_all and WAY_show. A build takes the fields and both
 * vectors from elsewhere, into the same buffer each time; the last one is compared, untimed. An
 * open takes bytes that nothing is known of; half a message has to be refused. A read takes an
 * opened message and an index, each as if it were the first time: it finds the vector, compares the
 * index with its length, and loads the element; the sum of all is compared.
 *
 * Threads   as peers.h says.
 * Owns      nothing.
 */
#include <string.h>

#include "peers/gyre_step.h"
#include "peers/peers.h"

#ifndef GYRE_PEERS_REQUESTS_H
#define GYRE_PEERS_REQUESTS_H

enum { PEERS_ELEMENTS = 1000 };

/* Buffers begin so many bytes into a page, and requests at a page's beginning: a load that is a
 * little behind a store, by the last 12 bits of their addresses, waits for it, and where two blocks
 * of memory happen to lie is not what is measured. */
enum { PEERS_APART = 2048 };

typedef struct peers_request {
    uint64_t id[2];
    uint64_t correlation; /* not 0: there is one */
    uint8_t priority;
    size_t a_count, b_count; /* PEERS_ELEMENTS, which nobody who builds is to know beforehand */
    __attribute__((aligned(64))) float a[PEERS_ELEMENTS];
    __attribute__((aligned(64))) float b[PEERS_ELEMENTS];
} peers_request;

/* What each state has. */
typedef struct peers_requests {
    peers_request request;
    uint64_t given, back; /* shared; hand-overs and returns */
    uint64_t different;   /* that role 1 found */
} peers_requests;

/* Another one for each number. */
static inline void peers_request_number(peers_request *request, uint64_t number)
{
    request->id[0] = number;
    request->id[1] = ~number;
    request->correlation = number + 1;
    request->priority = (uint8_t)number;
}

static inline bool peers_are_elements(const float *one, const float *other)
{
    size_t same = 0;

    for (size_t i = 0; i < PEERS_ELEMENTS; i++)
        same += one[i] == other[i];
    return same == PEERS_ELEMENTS;
}

static inline bool peers_request_is(const peers_request *one, const peers_request *other)
{
    return one->id[0] == other->id[0] && one->id[1] == other->id[1] &&
           one->correlation == other->correlation && one->priority == other->priority &&
           one->a_count == other->a_count && one->b_count == other->b_count &&
           peers_are_elements(one->a, other->a) && peers_are_elements(one->b, other->b);
}

static inline void peers_requests_init(peers_requests *requests)
{
    memset(requests, 0, sizeof *requests);
    peers_request_number(&requests->request, 0);
    requests->request.a_count = requests->request.b_count = PEERS_ELEMENTS;
    for (size_t i = 0; i < PEERS_ELEMENTS; i++) {
        requests->request.a[i] = (float)(i + 1);
        requests->request.b[i] = (float)(2 * i);
    }
}

/* The bits of the first `count` elements of a, which is read again and again, together. */
static inline uint32_t peers_request_sum(const peers_request *request, uint64_t count)
{
    uint32_t all = 0, rest = 0, bits;

    for (size_t i = 0; i < PEERS_ELEMENTS; i++) {
        memcpy(&bits, &request->a[i], sizeof bits);
        all += bits;
        rest += i < count % PEERS_ELEMENTS ? bits : 0;
    }
    return (uint32_t)(count / PEERS_ELEMENTS) * all + rest;
}

#define REQUESTS_JOIN_(a, b) a##_##b
#define REQUESTS_JOIN(a, b) REQUESTS_JOIN_(a, b)
#define REQUESTS_NAMED(part) REQUESTS_JOIN(WAY, part)
#define REQUESTS_PART static __attribute__((unused))

#endif

#ifdef WAY

REQUESTS_PART bool REQUESTS_NAMED(is_built)(void *state, const peers_request *request)
{
    size_t size;
    const void *const bytes = REQUESTS_NAMED(bytes)(state, &size);
    const void *const opened = REQUESTS_NAMED(open)(bytes, size);

    return opened && REQUESTS_NAMED(is)(opened, request);
}

REQUESTS_PART uint64_t REQUESTS_NAMED(build_all)(void *state, peers_turn *turn)
{
    peers_request *const request = &REQUESTS_NAMED(requests)(state)->request;
    const uint64_t count = turn->count, start_ns = peers_now_ns();
    uint64_t right = 0;

    for (uint64_t i = 0; i < count; i++) {
        peers_request_number(request, i);
        peers_keep(request);
        right += REQUESTS_NAMED(build)(state, request);
        peers_keep(state);
    }
    turn->elapsed_ns = peers_now_ns() - start_ns;
    return REQUESTS_NAMED(is_built)(state, request) ? right : 0;
}

REQUESTS_PART uint64_t REQUESTS_NAMED(open_all)(void *state, peers_turn *turn)
{
    const peers_request *const request = &REQUESTS_NAMED(requests)(state)->request;
    size_t size;
    const void *bytes = REQUESTS_NAMED(bytes)(state, &size), *opened = NULL;
    const uint64_t count = turn->count;
    uint64_t right = 0, start_ns;

    if (REQUESTS_NAMED(open)(bytes, size / 2))
        return 0;
    start_ns = peers_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        __asm__ volatile("" : "+r"(bytes), "+r"(size) : : "memory");
        opened = REQUESTS_NAMED(open)(bytes, size);
        __asm__ volatile("" : "+r"(opened));
        right += opened != NULL;
    }
    turn->elapsed_ns = peers_now_ns() - start_ns;
    return opened && REQUESTS_NAMED(is)(opened, request) ? right : 0;
}

REQUESTS_PART uint64_t REQUESTS_NAMED(read_all)(void *state, peers_turn *turn)
{
    const peers_request *const request = &REQUESTS_NAMED(requests)(state)->request;
    size_t size, index = 0;
    const void *const bytes = REQUESTS_NAMED(bytes)(state, &size);
    const void *opened = REQUESTS_NAMED(open)(bytes, size);
    const uint64_t count = turn->count;
    uint64_t start_ns;
    uint32_t sum = 0;

    if (!opened)
        return 0;
    start_ns = peers_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        __asm__ volatile("" : "+r"(index) : "r"(opened) : "memory");
        sum += REQUESTS_NAMED(read)(opened, index);
        index = index + 1 == PEERS_ELEMENTS ? 0 : index + 1;
    }
    turn->elapsed_ns = peers_now_ns() - start_ns;
    return sum == peers_request_sum(request, count) ? count : 0;
}

/* Role 0 builds, role 1 opens and compares everything. */
REQUESTS_PART uint64_t REQUESTS_NAMED(show)(void *state, peers_turn *turn)
{
    peers_requests *const r = REQUESTS_NAMED(requests)(state);
    const uint64_t first = gyre_load_relaxed(&r->back); /* relaxed: nobody writes it yet */

    if (turn->role == 0)
        r->different = 0;
    for (uint64_t i = first + 1; i <= first + turn->count; i++) {
        if (turn->role == 0) {
            peers_request_number(&r->request, i);
            if (!REQUESTS_NAMED(build)(state, &r->request))
                return 0;
            peers_step(&r->given, i);
            if (!peers_reached(&r->back, i))
                return 0;
        } else {
            if (!peers_reached(&r->given, i))
                return 0;
            r->different += !REQUESTS_NAMED(is_built)(state, &r->request);
            peers_step(&r->back, i);
        }
    }
    return turn->count - r->different;
}

#undef WAY
#endif
