/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools against a list of what is out: random steps of one thread over several pools, after which
 * blocks are apart, hold what was written to them, and statistics are those of the list.
 *
 * A failure prints its seed; see tests/chance.h.
 */
#include "chance.h"
#include "mem/pool_fake.h"

enum { POOLS = 3, LINES = 3, MOST = 400, RUNS = 24, STEPS = 2500 };

typedef struct held {
    unsigned char *block;
    size_t size, alignment;
    uint64_t id;
    bool waits;
    size_t line; /* of its ticket, and the value there */
    uint64_t value;
} held;

typedef struct member {
    fake_source source;
    gyre_pool *pool;
    gyre_pool_options options;
    held blocks[MOST]; /* out, or waiting for a ticket that is not through */
    size_t count;
    uint64_t takes, misses, refusals;
    uint64_t waited_bytes; /* that may or may not have been collected since they were through */
} member;

typedef struct model {
    member members[POOLS];
    uint64_t completed[LINES];
    uint64_t seed, random, next_id;
    bool failed;
} model;

#define EXPECT(m, cond) ((cond) ? (void)0 : complain((m), __LINE__, #cond))

static void complain(model *m, int line, const char *what)
{
    if (!m->failed)
        fprintf(stderr, "seed %llu\n", (unsigned long long)m->seed);
    m->failed = true;
    test_fail(__FILE__, line, what);
}

static size_t below(model *m, size_t n)
{
    return (size_t)chance_below(&m->random, n);
}

static void create(model *m, member *p)
{
    static const size_t limits[] = {0, 0, 3200, 100000, MIB, 20 * MIB};
    static const size_t keeps[] = {0, 0, 1, 128, 1000, 65536, SIZE_MAX};

    fake_source_init(&p->source, FAKE_HEAP);
    p->options = (gyre_pool_options){.limit_bytes = limits[below(m, COUNT(limits))],
                                     .thread_bytes = keeps[below(m, COUNT(keeps))],
                                     .prefault = (uint32_t)below(m, 2),
                                     .track = track};
    p->pool = fake_pool(&p->source, p->options);
    if (!p->pool)
        abort();
    p->count = 0;
    p->takes = p->misses = p->refusals = p->waited_bytes = 0;
}

static void check_statistics(model *m, member *p)
{
    uint64_t out = 0, out_bytes = 0, waiting = 0;
    const gyre_pool_statistics s = fake_statistics(p->pool);

    for (size_t i = 0; i < p->count; i++) {
        const size_t bytes = fake_class_bytes(p->blocks[i].size, p->blocks[i].alignment);

        out += !p->blocks[i].waits;
        out_bytes += p->blocks[i].waits ? 0 : bytes;
        waiting += p->blocks[i].waits ? bytes : 0;
    }
    EXPECT(m, s.takes == p->takes && s.misses == p->misses && s.refusals == p->refusals);
    EXPECT(m, s.blocks_out == out && s.bytes_out == out_bytes);
    EXPECT(m, s.bytes_waiting >= waiting && s.bytes_waiting <= waiting + p->waited_bytes);
    EXPECT(m, s.bytes_drawn == p->source.out_bytes && s.peak_bytes == p->source.peak_bytes);
    EXPECT(m, p->options.limit_bytes == 0 || s.bytes_drawn <= p->options.limit_bytes);
}

/* Removes a block from the list, whose content must be as it was left. */
static held forget(model *m, member *p, size_t index)
{
    const held h = p->blocks[index];

    EXPECT(m, fake_is_marked(h.block, h.size, h.id));
    p->blocks[index] = p->blocks[--p->count];
    return h;
}

static size_t any_size(model *m)
{
    return 1 + below(m, (size_t)1 << below(m, below(m, 8) ? 14 : 22));
}

/* That nobody has any of its bytes, but a waiting block on `line`, which is this one now. */
static void check_new(model *m, member *p, const held *h, size_t line)
{
    const uintptr_t start = (uintptr_t)h->block, end = start + h->size;

    EXPECT(m, start % (h->alignment > 64 ? h->alignment : 64) == 0);
    EXPECT(m, fake_owns(&p->source, h->block, h->size));
    for (size_t i = 0; i < p->count; i++) {
        const held *other = &p->blocks[i];
        const uintptr_t there = (uintptr_t)other->block;

        if (other->waits && other->line == line && there == start) {
            EXPECT(m, fake_class_bytes(other->size, other->alignment) ==
                          fake_class_bytes(h->size, h->alignment));
            (void)forget(m, p, i--);
        } else {
            EXPECT(m, end <= there || there + other->size <= start);
        }
    }
}

static void take(model *m, member *p)
{
    held h = {.size = any_size(m), .alignment = 64, .id = m->next_id++};
    const size_t how = below(m, 8);
    size_t line = LINES;
    const uint64_t drawn = p->source.takes;
    void *block = &block;
    gyre_status status;

    if (p->count == MOST)
        return;
    if (how == 0) {
        status = gyre_pool_take_zeroed(p->pool, h.size, &block);
    } else if (how == 1) {
        h.alignment = (size_t)1 << below(m, 13);
        line = below(m, LINES);
        status = gyre_pool_take_ordered(p->pool, h.size, h.alignment, &m->completed[line], &block);
    } else if (how < 4) {
        h.alignment = (size_t)1 << below(m, 13);
        status = gyre_pool_take_aligned(p->pool, h.size, h.alignment, &block);
    } else {
        status = gyre_pool_take(p->pool, h.size, &block);
    }
    EXPECT(m, (status == GYRE_OK) == (block != NULL));
    if (status != GYRE_OK) {
        EXPECT(m, status == GYRE_AGAIN && p->options.limit_bytes > 0);
        p->refusals++;
        return;
    }
    h.block = block;
    check_new(m, p, &h, line);
    if (m->failed)
        return;
    p->takes++;
    p->misses += p->source.takes > drawn;
    if (how == 0)
        EXPECT(m, h.block[0] == 0 && memcmp(h.block, h.block + 1, h.size - 1) == 0);
    fake_mark(h.block, h.size, h.id);
    p->blocks[p->count++] = h;
}

static void give(model *m, member *p)
{
    const size_t i = p->count ? below(m, p->count) : 0;
    held h;

    if (p->count == 0 || p->blocks[i].waits)
        return;
    h = forget(m, p, i);
    if (below(m, 6) == 0) {
        h.line = below(m, LINES);
        h.value = m->completed[h.line] + below(m, 4);
        EXPECT(m, gyre_pool_give_after(p->pool, h.block, h.size, h.alignment,
                                       (gyre_ticket){&m->completed[h.line], h.value}) == GYRE_OK);
        h.waits = h.value > m->completed[h.line];
        if (h.waits)
            p->blocks[p->count++] = h;
        else
            p->waited_bytes += fake_class_bytes(h.size, h.alignment);
    } else if (h.alignment == 64) {
        gyre_pool_give(p->pool, h.block, h.size);
    } else {
        gyre_pool_give_aligned(p->pool, h.block, h.size, h.alignment);
    }
}

/* Moves a timeline on: blocks that waited for that are the pools'. */
static void reach(model *m, size_t line, uint64_t value)
{
    for (size_t k = 0; k < POOLS; k++)
        for (size_t i = 0; i < m->members[k].count;) {
            member *p = &m->members[k];
            const held h = p->blocks[i];

            if (h.waits && h.line == line && h.value <= value) {
                p->waited_bytes += fake_class_bytes(h.size, h.alignment);
                (void)forget(m, p, i);
            } else {
                i++;
            }
        }
    __atomic_store_n(&m->completed[line], value, __ATOMIC_RELEASE);
}

static void trim(model *m, member *p)
{
    const size_t before = p->source.out_bytes, went = gyre_pool_trim(p->pool);

    EXPECT(m, went == before - p->source.out_bytes);
    p->waited_bytes = 0; /* all that was through is seen by now */
}

/* Gives everything that is out; what waits goes with the pool. */
static void end(model *m, member *p)
{
    while (p->count > 0) {
        const held h = forget(m, p, p->count - 1);

        if (!h.waits)
            gyre_pool_give_aligned(p->pool, h.block, h.size, h.alignment);
    }
    EXPECT(m, fake_statistics(p->pool).blocks_out == 0);
    gyre_pool_destroy(p->pool);
    EXPECT(m, p->source.count == 0);
    fake_source_fini(&p->source);
}

static void step(model *m)
{
    member *p = &m->members[below(m, POOLS)];
    const size_t what = below(m, 1000);

    if (what < 480)
        take(m, p);
    else if (what < 900)
        give(m, p);
    else if (what < 940)
        check_statistics(m, p);
    else if (what < 985)
        reach(m, what % LINES, m->completed[what % LINES] + 1 + below(m, 2));
    else if (what < 999)
        trim(m, p);
    else {
        end(m, p);
        create(m, p);
    }
}

static void pools_do_as_the_list_does(void)
{
    static model m;

    for (int run = 0; run < RUNS && test_failed() == 0; run++) {
        m.seed = m.random = chance_seed();
        m.failed = false;
        memset(m.completed, 0, sizeof m.completed);
        for (size_t i = 0; i < POOLS; i++)
            create(&m, &m.members[i]);
        for (int i = 0; i < STEPS && !m.failed; i++)
            step(&m);
        if (m.failed)
            return;
        for (size_t i = 0; i < LINES; i++)
            reach(&m, i, UINT64_MAX);
        for (size_t i = 0; i < POOLS; i++) {
            check_statistics(&m, &m.members[i]);
            end(&m, &m.members[i]);
        }
    }
}
ALSO_TRACKED(pools_do_as_the_list_does)

static const test_case cases[] = {
    TEST(pools_do_as_the_list_does),
    TEST(pools_do_as_the_list_does_when_tracked),
};
TEST_MAIN(cases)
