/* SPDX-License-Identifier: Apache-2.0
 *
 * A channel against plain lists: random steps of one thread, after each of which status, contents,
 * order, drops and accounts must be those of the lists.
 *
 * The seed is printed; `channel_model_test CASE SEED` repeats what it did.
 */
#include "flow/channel_fake.h"

enum { BANDS = 4, PLACES = 3, MOST = 100, BULK = 12, RUNS = 1000, STEPS = 120 };

static fake_ledger ledger;
static uint64_t seed;

typedef struct list {
    uint32_t ids[MOST];
    uint32_t count;
} list;

/* What lies before one receiver: of a channel to ONE there is one. */
typedef struct place {
    gyre_subscriber *subscriber; /* ALL; NULL: nobody is here */
    list bands[BANDS];
    uint64_t accepted, delivered, dropped;
} place;

typedef struct model {
    gyre_channel_options options;
    gyre_channel *channel;
    place places[PLACES];
    bool closed;
    uint64_t attempts, accepted, rejected, delivered, dropped, peak;
    uint64_t went_in[BANDS]; /* accepted, and not dropped as the newest */
    uint32_t next_id;
    fake_random random;
    uint32_t step;
    bool failed;
} model;

#define EXPECT(m, cond) ((cond) ? (void)0 : complain((m), __LINE__, #cond))

static void complain(model *m, int line, const char *what)
{
    if (!m->failed)
        fprintf(stderr,
                "seed %llu, step %u: delivery %d, policy %d, capacity %u, item_bytes %u, banded "
                "%d, closed %d\n",
                (unsigned long long)seed, m->step, m->options.delivery, m->options.when_full,
                m->options.capacity, m->options.item_bytes, m->options.banded, m->closed);
    m->failed = true;
    test_fail(__FILE__, line, what);
}

static bool to_all(const model *m)
{
    return m->options.delivery == GYRE_DELIVER_ALL;
}

static uint32_t place_count(const place *p)
{
    return p->bands[0].count + p->bands[1].count + p->bands[2].count + p->bands[3].count;
}

static uint32_t pop(list *l)
{
    const uint32_t id = l->ids[0];

    l->count--;
    memmove(l->ids, l->ids + 1, l->count * sizeof l->ids[0]);
    return id;
}

/* Whether somebody is at this place: always, for a channel to ONE. */
static bool taken(const model *m, const place *p)
{
    return to_all(m) ? p->subscriber != NULL : p == m->places;
}

static bool place_is_full(const model *m, const place *p, uint32_t band)
{
    return (to_all(m) ? p->bands[band].count : place_count(p)) == m->options.capacity;
}

static uint64_t model_queued(const model *m)
{
    uint64_t most = 0;

    for (size_t i = 0; i < PLACES; i++)
        if (taken(m, &m->places[i]) && place_count(&m->places[i]) > most)
            most = place_count(&m->places[i]);
    return most;
}

/* ONE: of the lowest band that has something; ALL: of the band that is full. */
static void drop_oldest(const model *m, place *p, uint32_t band)
{
    if (!to_all(m))
        for (band = 0; p->bands[band].count == 0;)
            band++;
    (void)pop(&p->bands[band]);
    p->dropped++;
}

/* GYRE_OK: accepted; GYRE_AGAIN: full. */
static gyre_status model_send(model *m, uint32_t id, uint32_t band)
{
    bool full = false;

    m->attempts++;
    for (size_t i = 0; i < PLACES; i++)
        full |= taken(m, &m->places[i]) && place_is_full(m, &m->places[i], band);
    if (m->closed || (full && m->options.when_full <= GYRE_FULL_REJECT)) {
        m->rejected++;
        return m->closed ? GYRE_CLOSED : GYRE_AGAIN;
    }
    m->accepted++;
    if (full && m->options.when_full == GYRE_FULL_DROP_NEWEST) {
        m->dropped++; /* which no subscriber counts */
        return GYRE_OK;
    }
    m->went_in[band]++;
    for (size_t i = 0; i < PLACES; i++) {
        place *p = &m->places[i];

        if (!taken(m, p))
            continue;
        p->accepted++;
        if (place_is_full(m, p, band)) {
            drop_oldest(m, p, band);
            m->dropped++;
        }
        p->bands[band].ids[p->bands[band].count++] = id;
    }
    if (model_queued(m) > m->peak)
        m->peak = model_queued(m);
    return GYRE_OK;
}

/* The number of the next item of this place and its band; false when there is none. */
static bool model_receive(model *m, place *p, uint32_t *out_id, uint32_t *out_band)
{
    for (uint32_t band = BANDS; band-- > 0;)
        if (p->bands[band].count > 0) {
            *out_id = pop(&p->bands[band]);
            *out_band = band;
            p->delivered++;
            m->delivered++;
            return true;
        }
    return false;
}

static uint32_t some_size(model *m)
{
    return FAKE_LEAST + fake_below(&m->random, m->options.item_bytes - FAKE_LEAST + 1);
}

/* What the call that may wait says when it cannot: a deadline of 0 is the past. */
static gyre_status in_vain(const model *m, gyre_status status, bool waits, bool sends)
{
    if (status != GYRE_AGAIN || !waits || (sends && m->options.when_full != GYRE_FULL_BLOCK))
        return status;
    return GYRE_TIMEOUT;
}

static void step_send(model *m)
{
    const uint32_t priority = fake_below(&m->random, 256), size = some_size(m);
    const uint32_t band = m->options.banded ? priority >> 6 : 0, id = m->next_id++;
    const bool waits = fake_below(&m->random, 2);
    unsigned char item[64];
    gyre_status expected, status;

    fake_item(&ledger, id, size, item);
    expected = in_vain(m, model_send(m, id, band), waits, true);
    status = waits ? gyre_channel_send(m->channel, priority, item, size, 0)
                   : gyre_channel_try_send(m->channel, priority, item, size);
    EXPECT(m, status == expected);
    if (status != GYRE_OK)
        (void)fake_release(&ledger, item, size);
}

static void step_send_bulk(model *m)
{
    const uint32_t priority = fake_below(&m->random, 256), size = some_size(m);
    const uint32_t count = fake_below(&m->random, BULK + 1);
    const bool waits = fake_below(&m->random, 2);
    unsigned char items[BULK * 64];
    const gyre_batch batch = {items, size, count, priority};
    gyre_status expected = GYRE_OK, status;
    size_t accepted = 0, sent = 99;

    for (uint32_t i = 0; i < count; i++)
        fake_item(&ledger, m->next_id + i, size, items + size * (size_t)i);
    for (uint32_t i = 0; i < count; i++) {
        const gyre_status each =
            model_send(m, m->next_id + i, m->options.banded ? priority >> 6 : 0);

        accepted += each == GYRE_OK;
        expected = each != GYRE_OK ? each : expected;
    }
    expected = in_vain(m, expected, waits, true);
    m->next_id += count;
    status = waits ? gyre_channel_send_bulk(m->channel, &batch, 1, &sent)
                   : gyre_channel_try_send_bulk(m->channel, &batch, &sent);
    EXPECT(m, (status == expected || (count == 0 && m->closed)) && sent == accepted);
    for (size_t i = sent; i < count; i++)
        (void)fake_release(&ledger, items + size * i, size);
}

static gyre_status receive_from(const model *m, const place *p, void *item, gyre_received *received,
                                bool waits)
{
    if (to_all(m))
        return waits ? gyre_subscriber_receive(p->subscriber, item, received, 0)
                     : gyre_subscriber_try_receive(p->subscriber, item, received);
    return waits ? gyre_channel_receive(m->channel, item, received, 0)
                 : gyre_channel_try_receive(m->channel, item, received);
}

static gyre_status receive_bulk_from(const model *m, const place *p, void *items,
                                     gyre_received *received, size_t room, size_t *count)
{
    if (to_all(m))
        return room % 2
                   ? gyre_subscriber_receive_bulk(p->subscriber, items, received, room, 0, count)
                   : gyre_subscriber_try_receive_bulk(p->subscriber, items, received, room, count);
    return room % 2 ? gyre_channel_receive_bulk(m->channel, items, received, room, 0, count)
                    : gyre_channel_try_receive_bulk(m->channel, items, received, room, count);
}

static gyre_status nothing_there(const model *m, bool waits)
{
    return m->closed ? GYRE_CLOSED : waits ? GYRE_TIMEOUT : GYRE_AGAIN;
}

static void step_receive(model *m, place *p)
{
    const bool waits = fake_below(&m->random, 2);
    gyre_received received = {9, 9, 9};
    unsigned char item[64];
    const gyre_status status = receive_from(m, p, item, &received, waits);
    uint32_t id = 0, band = 0;

    if (!model_receive(m, p, &id, &band)) {
        EXPECT(m, status == nothing_there(m, waits));
        return;
    }
    EXPECT(m, status == GYRE_OK);
    if (status == GYRE_OK) {
        EXPECT(m, received.band == band && received.reply == 0);
        EXPECT(m, fake_release(&ledger, item, received.size) == id);
    }
}

static void step_receive_bulk(model *m, place *p)
{
    const uint32_t room = 1 + fake_below(&m->random, BULK), there = place_count(p);
    gyre_received received[BULK];
    unsigned char items[BULK * 64];
    size_t count = 99;
    const gyre_status status = receive_bulk_from(m, p, items, received, room, &count);

    if (there == 0) {
        EXPECT(m, status == nothing_there(m, room % 2) && count == 0);
        return;
    }
    EXPECT(m, status == GYRE_OK && count == (there < room ? there : room));
    for (size_t i = 0; status == GYRE_OK && i < count; i++) {
        uint32_t id = 0, band = 0;

        EXPECT(m, model_receive(m, p, &id, &band));
        EXPECT(m, received[i].band == band && received[i].reply == 0);
        EXPECT(m, fake_release(&ledger, items + i * m->options.item_bytes, received[i].size) == id);
    }
}

static void step_subscribe(model *m, place *p)
{
    gyre_subscriber *subscriber = (gyre_subscriber *)&subscriber;
    const gyre_status status = gyre_subscriber_create(m->channel, &subscriber);
    uint32_t others = 0;

    for (size_t i = 0; i < PLACES; i++)
        others += m->places[i].subscriber != NULL;
    if (m->closed || others == m->options.subscribers) {
        EXPECT(m, (m->closed && status == GYRE_CLOSED) ||
                      (others == m->options.subscribers && status == GYRE_AGAIN));
        EXPECT(m, subscriber == NULL);
        return;
    }
    EXPECT(m, status == GYRE_OK);
    *p = (place){.subscriber = subscriber};
}

static void step_unsubscribe(place *p)
{
    gyre_subscriber_destroy(p->subscriber);
    *p = (place){.subscriber = NULL};
}

/* Calls that are wrong, and must change nothing. */
static void step_mistake(model *m)
{
    unsigned char item[64] = {0};
    const gyre_batch batch = {item, m->options.item_bytes + 1, 3, 0};
    gyre_subscriber *subscriber = NULL;
    size_t count = 99;

    EXPECT(m, gyre_channel_try_send(m->channel, 0, item, 0) == GYRE_INVALID);
    EXPECT(m, gyre_channel_try_send_bulk(m->channel, &batch, &count) == GYRE_INVALID && count == 0);
    if (to_all(m))
        EXPECT(m, gyre_channel_try_receive(m->channel, item, NULL) == GYRE_INVALID);
    else
        EXPECT(m, gyre_channel_receive_bulk(m->channel, item, NULL, 0, 0, &count) == GYRE_INVALID &&
                      gyre_subscriber_create(m->channel, &subscriber) == GYRE_INVALID);
}

/* A subscriber for ALL that is there; step_subscribe otherwise. */
static void step(model *m, bool sending)
{
    place *p = &m->places[to_all(m) ? fake_below(&m->random, PLACES) : 0];
    const uint32_t kind = fake_below(&m->random, 100);

    if (kind == 0)
        step_mistake(m);
    else if (kind == 1 && fake_below(&m->random, 2)) {
        gyre_channel_close(m->channel);
        m->closed = true;
    } else if (kind < (sending ? 65 : 30)) {
        if (fake_below(&m->random, 3))
            step_send(m);
        else
            step_send_bulk(m);
    } else if (to_all(m) && !p->subscriber)
        step_subscribe(m, p);
    else if (to_all(m) && kind > 97)
        step_unsubscribe(p);
    else if (fake_below(&m->random, 3))
        step_receive(m, p);
    else
        step_receive_bulk(m, p);
}

/* What the channel holds: what is queued; ALL: its last items of each band. */
static uint64_t model_kept(const model *m)
{
    const uint32_t most = fake_kept(m->options.when_full, m->options.capacity);
    uint64_t kept = 0;

    for (uint32_t band = 0; band < BANDS; band++)
        kept += m->went_in[band] < most ? m->went_in[band] : most;
    return to_all(m) ? kept : model_queued(m);
}

static void compare_places(model *m)
{
    for (size_t i = 0; i < PLACES; i++) {
        const place *p = &m->places[i];
        gyre_channel_statistics s;

        if (!taken(m, p))
            continue;
        for (uint32_t band = 0; band < BANDS; band++) /* the channel holds what is to come, once */
            for (uint32_t k = 0; k < p->bands[band].count; k++)
                EXPECT(m, ledger.holders[p->bands[band].ids[k]] == 1);
        if (!to_all(m))
            continue;
        s = fake_describe_subscriber(p->subscriber);
        EXPECT(m, s.accepted == p->accepted && s.delivered == p->delivered);
        EXPECT(m, s.dropped == p->dropped && s.queued == place_count(p));
        EXPECT(m, p->accepted == p->delivered + p->dropped + place_count(p));
    }
}

static void compare(model *m)
{
    const gyre_channel_statistics s = fake_describe(m->channel);

    EXPECT(m, s.attempts == m->attempts && s.accepted == m->accepted && s.rejected == m->rejected);
    EXPECT(m, s.delivered == m->delivered);
    EXPECT(m, s.dropped == m->dropped);
    EXPECT(m, s.queued == model_queued(m));
    EXPECT(m, s.peak == (m->options.metrics ? m->peak : 0));
    EXPECT(m, s.late_answers == 0);
    EXPECT(m, fake_alive(&ledger) == (int64_t)model_kept(m));
    compare_places(m);
}

static void run(uint64_t run_seed, gyre_delivery delivery, gyre_when_full when_full)
{
    static const uint32_t capacities[] = {1, 2, 3, 5, 7, 8, 13, MOST};
    static const uint32_t largest[] = {FAKE_LEAST, 8, 24, 40, 64};
    static model m;
    bool sending = true;

    m = (model){.random = {run_seed}};
    m.options = (gyre_channel_options){
        .delivery = delivery,
        .when_full = when_full,
        .capacity = capacities[fake_below(&m.random, COUNT(capacities))],
        .item_bytes = largest[fake_below(&m.random, COUNT(largest))],
        .banded = fake_below(&m.random, 2),
        .metrics = fake_below(&m.random, 2),
        .subscribers = 1 + fake_below(&m.random, PLACES),
        .calls = 1,
    };
    m.channel = fake_channel(m.options, &ledger);
    if (!m.channel)
        return;
    for (m.step = 0; m.step < STEPS && !m.failed; m.step++) {
        if (fake_below(&m.random, 20) == 0)
            sending = !sending;
        step(&m, sending);
        compare(&m);
    }
    for (size_t i = 0; i < PLACES; i++)
        step_unsubscribe(&m.places[i]);
    gyre_channel_destroy(m.channel);
    EXPECT(&m, fake_alive(&ledger) == 0);
}

static void run_all(gyre_delivery delivery, gyre_when_full when_full)
{
    const int before = test_failed();

    for (uint64_t i = 0; i < RUNS && test_failed() == before; i++, seed++)
        run(seed, delivery, when_full);
}

#define MODEL_CASE(name, delivery, when_full)                                                      \
    static void name(void)                                                                         \
    {                                                                                              \
        run_all(delivery, when_full);                                                              \
    }
MODEL_CASE(blocking_queue_is_a_list, GYRE_DELIVER_ONE, GYRE_FULL_BLOCK)
MODEL_CASE(rejecting_queue_is_a_list, GYRE_DELIVER_ONE, GYRE_FULL_REJECT)
MODEL_CASE(queue_that_drops_its_oldest_is_a_list, GYRE_DELIVER_ONE, GYRE_FULL_DROP_OLDEST)
MODEL_CASE(queue_that_drops_the_newest_is_a_list, GYRE_DELIVER_ONE, GYRE_FULL_DROP_NEWEST)
MODEL_CASE(blocking_broadcast_is_a_list_for_each, GYRE_DELIVER_ALL, GYRE_FULL_BLOCK)
MODEL_CASE(rejecting_broadcast_is_a_list_for_each, GYRE_DELIVER_ALL, GYRE_FULL_REJECT)
MODEL_CASE(broadcast_that_drops_its_oldest_is_a_list_for_each, GYRE_DELIVER_ALL,
           GYRE_FULL_DROP_OLDEST)
MODEL_CASE(broadcast_that_drops_the_newest_is_a_list_for_each, GYRE_DELIVER_ALL,
           GYRE_FULL_DROP_NEWEST)

static const test_case cases[] = {
    TEST(blocking_queue_is_a_list),
    TEST(rejecting_queue_is_a_list),
    TEST(queue_that_drops_its_oldest_is_a_list),
    TEST(queue_that_drops_the_newest_is_a_list),
    TEST(blocking_broadcast_is_a_list_for_each),
    TEST(rejecting_broadcast_is_a_list_for_each),
    TEST(broadcast_that_drops_its_oldest_is_a_list_for_each),
    TEST(broadcast_that_drops_the_newest_is_a_list_for_each),
};

int main(int argc, char **argv)
{
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : gyre_clock_now_ns() % 1000000000u;
    printf("seed %llu\n", (unsigned long long)seed);
    return test_run(cases, COUNT(cases), argc > 1 ? argv[1] : NULL);
}
