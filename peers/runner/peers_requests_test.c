/* SPDX-License-Identifier: Apache-2.0 */
#include "peers/requests.h"
#include "peers/tables.h"
#include "test.h"

const peers_library *const peers_libraries[] = {NULL};
const peers_absent peers_absents[] = {{NULL, NULL}};

enum { SOME = 2500 };

static enum {
    NO_FAULT,
    BUILDS_NOTHING,
    FORGETS_A_FIELD,
    FORGETS_AN_ELEMENT,
    TAKES_HALF,
    TAKES_NOTHING,
    OPENS_SOMETHING_ELSE,
    READS_THE_NEXT,
    READS_THE_FIRST,
} fault;

typedef struct copied {
    peers_requests requests;
    peers_request copy, other;
} copied;

static peers_requests *faulty_requests(void *state)
{
    return &((copied *)state)->requests;
}

static bool faulty_build(void *state, const peers_request *request)
{
    copied *const c = state;

    if (fault == BUILDS_NOTHING)
        return false;
    c->copy = *request;
    if (fault == FORGETS_A_FIELD)
        c->copy.priority = 0;
    if (fault == FORGETS_AN_ELEMENT)
        c->copy.b[PEERS_ELEMENTS - 1] = 0;
    return true;
}

static const void *faulty_bytes(void *state, size_t *out_size)
{
    *out_size = sizeof(peers_request);
    return &((copied *)state)->copy;
}

static const void *faulty_open(const void *bytes, size_t size)
{
    if (fault == TAKES_NOTHING || (fault != TAKES_HALF && size < sizeof(peers_request)))
        return NULL;
    return (const peers_request *)bytes + (fault == OPENS_SOMETHING_ELSE);
}

static uint32_t faulty_read(const void *opened, size_t index)
{
    const peers_request *const request = opened;
    const size_t last = PEERS_ELEMENTS - 1;
    uint32_t bits;

    if (fault == READS_THE_NEXT && index < last)
        index++;
    if (fault == READS_THE_FIRST)
        index = 0;
    memcpy(&bits, &request->a[index], sizeof bits);
    return bits;
}

static bool faulty_is(const void *opened, const peers_request *request)
{
    return peers_request_is(opened, request);
}

#define WAY faulty
#include "peers/requests.h"

/* Whether the run calls all of its turns right. */
static bool is_right(uint64_t (*run)(void *state, peers_turn *turn))
{
    static copied c;
    peers_turn turn = {.role = 0, .roles = 1, .count = SOME};

    memset(&c, 0, sizeof c);
    peers_requests_init(&c.requests);
    if (run != faulty_build_all)
        (void)faulty_build(&c, &c.requests.request);
    return run(&c, &turn) == SOME;
}

static void what_is_right_is_called_so(void)
{
    fault = NO_FAULT;
    CHECK(is_right(faulty_build_all));
    CHECK(is_right(faulty_open_all));
    CHECK(is_right(faulty_read_all));
}

static void a_message_that_lacks_something_is_noticed(void)
{
    for (fault = BUILDS_NOTHING; fault <= FORGETS_AN_ELEMENT; fault++)
        CHECK(!is_right(faulty_build_all));
}

static void an_open_that_errs_is_noticed(void)
{
    for (fault = TAKES_HALF; fault <= OPENS_SOMETHING_ELSE; fault++)
        CHECK(!is_right(faulty_open_all));
}

static void a_read_of_another_element_is_noticed(void)
{
    for (fault = READS_THE_NEXT; fault <= READS_THE_FIRST; fault++)
        CHECK(!is_right(faulty_read_all));
}

static const test_case cases[] = {
    TEST(what_is_right_is_called_so),
    TEST(a_message_that_lacks_something_is_noticed),
    TEST(an_open_that_errs_is_noticed),
    TEST(a_read_of_another_element_is_noticed),
};
TEST_MAIN(cases)
