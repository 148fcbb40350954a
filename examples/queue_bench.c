/* SPDX-License-Identifier: Apache-2.0
 *
 * A queue of one's own under three benchmarks: one thread passing a message through it, several
 * threads doing so at once, and one that takes out what was put in before. Axes of numbers and of
 * words, set-up and teardown, batches that are prepared, threads, rates, tags, and what a benchmark
 * can tell about its work.
 */
#include <gyre/bench.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum { FIRST_SLOTS = 64, MOST_THREADS = 8, MOST_BYTES = 4096 };

/* The code to be measured: messages of one size in a ring that grows, behind a lock. */
typedef struct queue {
    unsigned char *ring;
    size_t message_bytes, slots, head, tail; /* slots: a power of two */
    bool spins;                              /* on `flag`; else it sleeps on `mutex` */
    atomic_flag flag;
    mtx_t mutex;
    uint64_t waits; /* times that the lock was found taken */
} queue;

static void lock(queue *q)
{
    bool taken;

    if (q->spins) {
        taken = atomic_flag_test_and_set(&q->flag);
        while (taken && atomic_flag_test_and_set(&q->flag))
            thrd_yield();
    } else {
        taken = mtx_trylock(&q->mutex) != thrd_success;
        if (taken)
            mtx_lock(&q->mutex);
    }
    q->waits += taken;
}

static void unlock(queue *q)
{
    if (q->spins)
        atomic_flag_clear(&q->flag);
    else
        mtx_unlock(&q->mutex);
}

static unsigned char *slot(const queue *q, size_t index)
{
    return q->ring + (index & (q->slots - 1)) * q->message_bytes;
}

static bool grow(queue *q)
{
    queue larger = {.message_bytes = q->message_bytes, .slots = 2 * q->slots};

    larger.ring = malloc(larger.slots * larger.message_bytes);
    if (!larger.ring)
        return false;
    for (size_t i = q->head; i != q->tail; i++)
        memcpy(slot(&larger, i), slot(q, i), q->message_bytes);
    free(q->ring);
    q->ring = larger.ring;
    q->slots = larger.slots;
    return true;
}

static bool push(queue *q, const void *message)
{
    bool fits;

    lock(q);
    fits = q->tail - q->head < q->slots || grow(q);
    if (fits)
        memcpy(slot(q, q->tail++), message, q->message_bytes);
    unlock(q);
    return fits;
}

static bool pop(queue *q, void *out_message)
{
    bool found;

    lock(q);
    found = q->head != q->tail;
    if (found)
        memcpy(out_message, slot(q, q->head++), q->message_bytes);
    unlock(q);
    return found;
}

/* What a thread has of its own; the message keeps it away from the next thread's. */
typedef struct share {
    uint64_t pushed;     /* messages: they carry 1, 2, 3, ... */
    uint64_t popped_sum; /* of what they carried */
    unsigned char message[MOST_BYTES];
} share;

/* What a case works on. */
typedef struct fixture {
    queue q;
    uint32_t threads;
    share by_thread[MOST_THREADS];
} fixture;

static bool push_next(fixture *f, share *own)
{
    own->pushed++;
    memcpy(own->message, &own->pushed, sizeof own->pushed);
    return push(&f->q, own->message);
}

static bool pop_next(fixture *f, share *own)
{
    uint64_t number;

    if (!pop(&f->q, own->message))
        return false;
    memcpy(&number, own->message, sizeof number);
    own->popped_sum += number;
    return true;
}

static void fixture_destroy(void *arg)
{
    fixture *f = arg;

    mtx_destroy(&f->q.mutex);
    free(f->q.ring);
    free(f);
}

static gyre_status make(const gyre_bench_case *c, size_t message_bytes, uint32_t threads,
                        void **out_fixture)
{
    fixture *f = calloc(1, sizeof *f);

    if (!f)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    f->threads = threads;
    f->q.spins = gyre_bench_axis(c, "lock") == 1; /* the second word */
    f->q.message_bytes = message_bytes;
    f->q.slots = FIRST_SLOTS;
    f->q.ring = malloc(f->q.slots * f->q.message_bytes);
    atomic_flag_clear(&f->q.flag);
    if (mtx_init(&f->q.mutex, mtx_plain) != thrd_success || !f->q.ring) {
        free(f->q.ring);
        free(f);
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a queue");
    }
    *out_fixture = f;
    return GYRE_OK;
}

static uint64_t message_bytes(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "bytes");
}

static uint64_t one(const gyre_bench_case *c)
{
    (void)c;
    return 1;
}

static uint32_t threads(const gyre_bench_case *c)
{
    return (uint32_t)gyre_bench_axis(c, "threads");
}

static uint64_t one_by_each(const gyre_bench_case *c)
{
    return threads(c);
}

static gyre_status make_for_one(const gyre_bench_case *c, void **out_fixture)
{
    if (message_bytes(c) < sizeof(uint64_t) || message_bytes(c) > MOST_BYTES)
        return gyre_bench_refuse(GYRE_INVALID, "messages have 8 to %d bytes", MOST_BYTES);
    return make(c, (size_t)message_bytes(c), 1, out_fixture);
}

static gyre_status make_for_several(const gyre_bench_case *c, void **out_fixture)
{
    if (threads(c) == 0 || threads(c) > MOST_THREADS)
        return gyre_bench_refuse(GYRE_INVALID, "1 to %d threads", MOST_THREADS);
    return make(c, sizeof(uint64_t), threads(c), out_fixture);
}

/* Each thread pops after it has pushed, so there is always something to pop. */
static void pass(void *arg, uint64_t iterations)
{
    fixture *f = arg;
    share *own = &f->by_thread[gyre_bench_thread()];

    for (uint64_t i = 0; i < iterations; i++)
        if (!push_next(f, own) || !pop_next(f, own))
            return; /* the check will miss the rest */
}

/* Before each batch, and not timed. */
static void fill(void *arg, uint64_t iterations)
{
    fixture *f = arg;

    for (uint64_t i = 0; i < iterations; i++)
        if (!push_next(f, f->by_thread))
            return;
}

static void drain(void *arg, uint64_t iterations)
{
    fixture *f = arg;

    for (uint64_t i = 0; i < iterations; i++)
        if (!pop_next(f, f->by_thread))
            return;
}

/* Every number was popped once, whoever pushed it. */
static bool all_came_through(const void *arg, uint64_t iterations)
{
    const fixture *f = arg;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < f->threads; i++)
        sum += f->by_thread[i].popped_sum;
    return f->q.head == f->q.tail && sum == f->threads * (iterations * (iterations + 1) / 2);
}

static void tell(const void *arg, uint64_t iterations, gyre_bench_facts *facts)
{
    const fixture *f = arg;

    gyre_bench_count(facts, "waits", (double)f->q.waits / (double)iterations);
    gyre_bench_count(facts, "slots", (double)f->q.slots);
    gyre_bench_note(facts, "lock_by", f->q.spins ? "atomic_flag" : "mtx_t");
}

static const gyre_bench benches[] = {
    {
        .name = "queue/pass",
        .axes = {GYRE_AXIS_WORDS("lock", "mutex", "spin"), GYRE_AXIS("bytes", 8, 1024)},
        .t0 = "before a message is pushed",
        .t1 = "after it was popped",
        .observer = "the same thread, which adds up what it popped",
        .setup = make_for_one,
        .run = pass,
        .check = all_came_through,
        .teardown = fixture_destroy,
        .bytes = message_bytes,
        .items = one,
    },
    {
        .name = "queue/shared",
        .axes = {GYRE_AXIS_WORDS("lock", "mutex", "spin"), GYRE_AXIS("threads", 1, 2)},
        .t0 = "the common start of the threads",
        .t1 = "the return of the last of them, over the iterations of one",
        .observer = "the threads, whose sums of what they popped are added up",
        .setup = make_for_several,
        .run = pass,
        .check = all_came_through,
        .teardown = fixture_destroy,
        .items = one_by_each,
        .threads = threads,
        .tell = tell,
    },
    {
        .name = "drain/pop",
        .axes = {GYRE_AXIS_WORDS("lock", "mutex", "spin"), GYRE_AXIS("bytes", 8, 1024)},
        .t0 = "before a pop from a queue that was filled",
        .t1 = "after it",
        .observer = "the same thread, which adds up what it popped",
        .setup = make_for_one,
        .run = drain,
        .check = all_came_through,
        .teardown = fixture_destroy,
        .bytes = message_bytes,
        .items = one,
        .prepare = fill,
        .batch = GYRE_BATCH_LARGE, /* a queue that lasts for a tenth of a sample is large */
        .tags = GYRE_TAG_CPU | GYRE_TAG_SLOW, /* filling takes its time, too */
    },
};
static const gyre_suite suite = GYRE_SUITE("queue", benches);

int main(int argc, char **argv)
{
    return gyre_bench_main(argc, argv, (const gyre_suite *[]){&suite, NULL});
}
