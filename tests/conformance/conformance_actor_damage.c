/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: what somebody else has written into a mailbox makes neither the host nor a seat touch
 * anything beyond it, nor anybody wait for ever.
 */
#include "conformance_suspect.h"

#include "actor/actor.h"
#include "actor/port.h"
#include "actor/slot.h"

enum { ROUNDS = 24, SOME = 16, CAPACITY = 32, PRINTS = 16, LATE_MS = 400 };

/* What somebody else may have written into a mailbox. */
typedef enum damage {
    DAMAGE_SLOTS,   /* requests that are no messages */
    DAMAGE_FORGED,  /* requests that are, with anything in them */
    DAMAGE_BELLS,   /* likewise bells */
    DAMAGE_ORDERS,  /* the host's line, and gates */
    DAMAGE_COUNTS,  /* heads and bells that were answered */
    DAMAGE_CONTROL, /* the seat's line */
    DAMAGES
} damage;

static gyre_brief forge(uint64_t *chance)
{
    gyre_brief brief;

    fill_random(chance, &brief, sizeof brief);
    brief.type &= 0xff; /* not what rogue really does */
    brief.flags = (uint8_t)(brief.flags & ~GYRE_BRIEF_REFERS);
    return brief;
}

static void write_slot(const gyre_mailbox_shape *shape, unsigned char *slot, uint32_t sequence,
                       const gyre_brief *brief)
{
    gyre_slot_write(slot, shape->wide,
                    gyre_ring_stamp(sequence, gyre_ring_salt(shape->incarnation)),
                    gyre_slot_head(brief, brief->flags, brief->correlation), brief);
}

static void scribble(uint64_t *chance, uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gyre_mailbox_store(&words[i], (uint32_t)chance_next(chance) >> chance_next(chance) % 32);
}

static void do_damage(gyre_actor *actor, damage what, uint64_t *chance)
{
    const gyre_mailbox_shape *const shape = &actor->shape;
    gyre_seat *const seat = gyre_actor_seat(actor, 0);
    unsigned char *const requests = actor->mailbox + gyre_mailbox_requests_at(shape, 0);
    const uint32_t slot = gyre_mailbox_slot_bytes(shape);
    gyre_brief brief;
    uint32_t tail, rung;

    gyre_port_sent(actor->port[0], 0, &tail, &rung);
    switch (what) {
    case DAMAGE_SLOTS:
        scribble(chance, (uint32_t *)(void *)requests, gyre_mailbox_ring_bytes(shape) / 4);
        break;
    case DAMAGE_FORGED:
        for (uint32_t i = 2 * shape->capacity; i-- > 0;) { /* the next one last: all are read */
            brief = forge(chance);
            write_slot(shape, requests + (size_t)((tail + i) & (shape->capacity - 1)) * slot,
                       tail + i, &brief);
        }
        break;
    case DAMAGE_BELLS:
        brief = forge(chance);
        for (uint32_t i = 0; i < shape->replicas; i++)
            write_slot(shape, actor->mailbox + gyre_mailbox_bell_at(shape, 0, i), 2 * (rung + 1),
                       &brief);
        break;
    case DAMAGE_ORDERS:
        scribble(chance, seat->gates, GYRE_MAILBOX_PORTS);
        scribble(chance, seat->bell_gates, GYRE_MAILBOX_PORTS);
        scribble(chance, (uint32_t *)(void *)&seat->control.host, sizeof(gyre_control_host) / 4);
        break;
    case DAMAGE_COUNTS:
        scribble(chance, seat->heads, GYRE_MAILBOX_PORTS);
        scribble(chance, seat->rung, GYRE_MAILBOX_PORTS);
        break;
    default:
        scribble(chance, (uint32_t *)(void *)&seat->control.device,
                 sizeof(gyre_control_device) / 4);
        break;
    }
}

/* Whether what lies between the rings is as it was: zeros. */
static bool gaps_are_clean(const gyre_actor *actor)
{
    const gyre_mailbox_shape *const shape = &actor->shape;
    const uint32_t slot = gyre_mailbox_slot_bytes(shape);
    bool clean = true;

    for (uint32_t row = 0; row <= shape->replicas; row++) {
        size_t i = (size_t)shape->ports * slot + (row == 0 ? sizeof(gyre_seat) : 0);

        for (; i < GYRE_MAILBOX_ROW; i++)
            clean = clean && actor->mailbox[(size_t)row * GYRE_MAILBOX_ROW + i] == 0;
    }
    return clean;
}

/* What lies behind the rings of seat 0, and in seat 1 behind the lines in which it tells how it is:
 * nothing is printed and nothing sent to seat 1, so both stay as they are. */
typedef struct beyond {
    unsigned char *at[2], *was[2];
    size_t size[2];
} beyond;

static bool beyond_take(beyond *b, const gyre_actor *actor)
{
    const size_t from = gyre_mailbox_annex_at(&actor->shape), seat_bytes = actor->shape.seat_bytes;

    b->at[0] = actor->mailbox + from;
    b->size[0] = seat_bytes - from;
    b->at[1] = actor->mailbox + seat_bytes + sizeof(gyre_seat);
    b->size[1] = seat_bytes - sizeof(gyre_seat);
    for (int i = 0; i < 2; i++) {
        b->was[i] = host_take(b->size[i]);
        if (!b->was[i])
            return false;
        memcpy(b->was[i], b->at[i], b->size[i]);
    }
    return true;
}

static bool beyond_is_as_it_was(const beyond *b)
{
    return memcmp(b->was[0], b->at[0], b->size[0]) == 0 &&
           memcmp(b->was[1], b->at[1], b->size[1]) == 0;
}

static void beyond_give(beyond *b)
{
    host_give(b->was[0]);
    host_give(b->was[1]);
}

/* Everything that a port can do, of which anything may come but no wait beyond its deadline. */
static void use_damaged(gyre_port *port)
{
    gyre_brief requests[8], answers_[8];
    gyre_port_answer heard[8];
    const uint64_t limit = gyre_clock_after_ns(15000 * MS);
    size_t count;

    for (uint32_t i = 0; i < 8; i++)
        requests[i] = (gyre_brief){.type = 1, .body.words = {i}};
    (void)!gyre_port_call(port, requests, answers_, gyre_clock_after_ns(10 * MS));
    (void)!gyre_port_send_many(port, requests, 8, gyre_clock_after_ns(10 * MS), &count);
    (void)!gyre_port_call_many(port, requests, answers_, 8, gyre_clock_after_ns(10 * MS));
    for (uint32_t i = 0; i < 8; i++)
        (void)!gyre_port_ask(port, &requests[i], i, gyre_clock_after_ns(5 * MS));
    (void)!gyre_port_receive_many(port, heard, 8, gyre_clock_after_ns(10 * MS), &count);
    (void)!gyre_port_flush(port, gyre_clock_after_ns(10 * MS));
    (void)!gyre_port_call(port, requests, answers_, gyre_clock_after_ns(10 * MS));
    CHECK(gyre_clock_now_ns() < limit);
}

/* Of two seats the first is damaged, and the port knows of no other meanwhile. */
static void survive(const gyre_behaviour *behaviour, damage what, uint64_t *chance)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = 60000 * MS};
    const gyre_actor_launch_options launch = {
        .struct_size = sizeof launch, .seats = 2, .capacity = CAPACITY};
    gyre_actor *actor;
    beyond rest;
    gyre_port *port;
    gyre_status status;

    REQUIRE(ok(gyre_actor_create(on.context, behaviour, &options, &actor)) &&
            ok(gyre_actor_launch(actor, &launch)));
    port = port_new(actor);
    CHECK(answers(port) && answers(port) && gaps_are_clean(actor));
    REQUIRE(port && port->wires == 2 && beyond_take(&rest, actor));
    port->wires = 1;
    do_damage(actor, what, chance);
    use_damaged(port);
    CHECK(gaps_are_clean(actor) && canaries_live() && beyond_is_as_it_was(&rest));
    port->wires = 2;
    beyond_give(&rest);
    status = gyre_actor_terminate(actor, soon());
    if (status != GYRE_OK) /* it ended by itself, before it was told */
        CHECK(status == GYRE_CLOSED && gyre_actor_state(actor) == GYRE_ACTOR_FAILED);
    gyre_port_close(port);
    /* and lives again as if nothing had been */
    REQUIRE(ok(gyre_actor_launch(actor, &launch)));
    port = port_new(actor);
    CHECK(answers(port) && end(actor, port));
}

/* Waits for ever, several times over, and then for its end. */
static gyre_status use_patiently(gyre_actor *actor, gyre_port *port, uint32_t *out_wrong)
{
    gyre_brief requests[SOME], heard[SOME];
    gyre_status status;

    *out_wrong = 0;
    for (uint32_t i = 0; i < SOME; i++)
        requests[i] = (gyre_brief){.type = 1, .body.words = {i, 7}};
    status = gyre_port_call_many(port, requests, heard, SOME, GYRE_NEVER);
    for (uint32_t i = 0; status == GYRE_OK && i < SOME; i++)
        *out_wrong += heard[i].body.words[0] != i + 1 || heard[i].body.words[1] != 7;
    if (status == GYRE_OK)
        status = gyre_port_send(port, requests, GYRE_NEVER);
    if (status == GYRE_OK)
        status = gyre_port_flush(port, GYRE_NEVER);
    return status == GYRE_OK ? gyre_actor_drain(actor, GYRE_NEVER) : status;
}

/* It has failed, and said why; but it was there to be told to end, so the device is not lost. */
static void check_found(gyre_actor *actor, gyre_status status)
{
    CHECK(status == GYRE_DEVICE_LOST || status == GYRE_CLOSED);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_FAILED && gyre_actor_fault(actor));
    CHECK(strcmp(gyre_error_last()->text, gyre_actor_fault(actor)->text) == 0);
    CHECK(gyre_context_check(on.context) == GYRE_OK && canaries_live());
}

static void damage_and_wait(const gyre_behaviour *behaviour, damage what, uint64_t *chance)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = STALL_MS * MS};
    const gyre_actor_launch_options launch = {.struct_size = sizeof launch, .capacity = CAPACITY};
    gyre_status status;
    gyre_actor *actor;
    gyre_port *port;
    uint32_t wrong;

    REQUIRE(ok(gyre_actor_create(on.context, behaviour, &options, &actor)) &&
            ok(gyre_actor_launch(actor, &launch)));
    port = port_new(actor);
    REQUIRE(answers(port) && answers(port));
    do_damage(actor, what, chance);
    status = use_patiently(actor, port, &wrong);
    if (status != GYRE_OK)
        check_found(actor, status);
    if (what == DAMAGE_SLOTS) /* nothing lay there */
        CHECK(status == GYRE_OK && wrong == 0);
    if (what == DAMAGE_FORGED)
        CHECK(status == GYRE_DEVICE_LOST && strstr(gyre_error_last()->text, "is damaged"));
    gyre_port_close(port);
    gyre_actor_destroy(actor);
}

static void is_damaged_while_somebody_waits(void)
{
    uint64_t chance = 32;

    REQUIRE(canaries_take());
    for (int i = 0; i < 2; i++)
        for (int what = 0; what < DAMAGES; what++) {
            const int before = test_failed();

            damage_and_wait(i ? &echo : &rogue, (damage)what, &chance);
            if (test_failed() > before) {
                fprintf(stderr, "damage %d, %s\n", what, i ? "echo" : "rogue");
                return;
            }
        }
}

/* What was sent is not handled, though the seat's counts have gone past it. */
static void is_damaged_before_it_drains(void)
{
    const gyre_brief message = {.type = 1};
    const gyre_actor_launch_options launch = {.struct_size = sizeof launch, .capacity = CAPACITY};
    gyre_port *port;
    gyre_actor *const actor = suspect_new(STALL_MS * MS, &launch, &port);
    const uint64_t until = soon();
    uint64_t chance = 33;

    REQUIRE(answers(port));
    do_damage(actor, DAMAGE_FORGED, &chance);
    while (gyre_mailbox_load(gyre_actor_seat(actor, 0)->heads) < CAPACITY)
        REQUIRE(gyre_clock_now_ns() < until);
    CHECK(ok(gyre_port_send(port, &message, soon())));
    check_found(actor, gyre_actor_drain(actor, soon()));
    CHECK(strstr(gyre_actor_fault(actor)->text, "is damaged"));
    gyre_port_close(port);
    /* and lives again as if nothing had been */
    REQUIRE(ok(gyre_actor_launch(actor, &launch)));
    port = port_new(actor);
    CHECK(answers(port) && end(actor, port));
}

static void has_a_damaged_mailbox(void)
{
    const uint64_t enough_ns = gyre_clock_after_ns(4000 * MS); /* for a slow device */
    uint64_t chance = 31;

    REQUIRE(canaries_take());
    for (int i = 0; i < ROUNDS && (i < 4 || gyre_clock_now_ns() < enough_ns); i++)
        for (int what = 0; what < DAMAGES; what++) {
            const int before = test_failed();

            survive(i % 2 ? &echo : &rogue, (damage)what, &chance);
            if (test_failed() > before) {
                fprintf(stderr, "damage %d of round %d\n", what, i);
                return;
            }
        }
    CHECK(gyre_context_check(on.context) == GYRE_OK);
}

static void print_some(gyre_actor *actor, gyre_port *port)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    const gyre_brief print = {.type = ROGUE_PRINT};
    gyre_brief answer;

    for (int i = 0; i < 2 * PRINTS; i++)
        CHECK(ok(gyre_port_call(port, &print, &answer, soon())));
    CHECK(ok(gyre_actor_describe(actor, &statistics))); /* reads them */
}

/* Where a seat prints, and how much the host has read of that: also before it comes back, since a
 * GPU looks there only then. Of two seats the first is damaged, and the other has nothing to do. */
static void has_a_damaged_annex(void)
{
    const gyre_actor_launch_options launch = {
        .struct_size = sizeof launch, .seats = 2, .prints = PRINTS};
    const uint64_t enough_ns = gyre_clock_after_ns(2000 * MS);
    uint64_t chance = 34;
    gyre_actor *actor = actor_new(&rogue, &launch);
    gyre_port *port = port_new(actor);
    beyond rest;

    REQUIRE(canaries_take() && answers(port) && answers(port) && beyond_take(&rest, actor));
    port->wires = 1;
    for (int i = 0; i < ROUNDS && (i < 4 || gyre_clock_now_ns() < enough_ns); i++) {
        gyre_annex *const annex = gyre_actor_annex(actor, 0);

        scribble(&chance, (uint32_t *)(void *)&annex->host, sizeof annex->host / 4);
        scribble(&chance, (uint32_t *)(void *)&annex->seat, sizeof annex->seat / 4);
        if (i % 3) /* there seems to be room */
            gyre_mailbox_store(&annex->host.read, gyre_mailbox_load(&annex->seat.claimed));
        if (i % 2) {
            CHECK(ok(gyre_actor_park(actor, soon())));
            CHECK(ok(gyre_actor_resume(actor)));
        }
        print_some(actor, port);
        CHECK(memcmp(rest.was[1], rest.at[1], rest.size[1]) == 0 && canaries_live());
    }
    port->wires = 2;
    beyond_give(&rest);
    CHECK(end(actor, port));
}

static const test_case crimes[] = {
    TEST(has_a_damaged_mailbox),
    TEST(is_damaged_while_somebody_waits),
    TEST(is_damaged_before_it_drains),
    TEST(has_a_damaged_annex),
};

static void a_damaged_mailbox_hurts_nobody_else(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "has_a_damaged_mailbox", NULL)) == 0);
    others_go_on();
}

static void damage_is_found_by_who_waits(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "is_damaged_while_somebody_waits", NULL)) == 0);
    others_go_on();
}

static void messages_that_damage_lost_are_not_called_handled(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "is_damaged_before_it_drains", NULL)) == 0);
    others_go_on();
}

static void prints_stay_where_they_belong(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "has_a_damaged_annex", NULL)) == 0);
    others_go_on();
}

/* Of a sender that has not had a CPU since it wrote a message. */
static void a_count_that_comes_late_is_no_damage(void)
{
    const gyre_actor_launch_options launch = {.struct_size = sizeof launch, .capacity = CAPACITY};
    gyre_actor *const actor = actor_new(&rogue, &launch);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = 1};
    const uint64_t until = soon();
    uint32_t tail, rung;

    NEED_ACTORS();
    REQUIRE(answers(port));
    gyre_port_sent(port, 0, &tail, &rung);
    write_slot(&actor->shape,
               actor->mailbox + gyre_mailbox_requests_at(&actor->shape, 0) +
                   (size_t)(tail % CAPACITY) * gyre_mailbox_slot_bytes(&actor->shape),
               tail, &message);
    while (gyre_mailbox_load(gyre_actor_seat(actor, 0)->heads) == tail)
        REQUIRE(gyre_clock_now_ns() < until);
    CHECK(gyre_actor_drain(actor, gyre_clock_after_ns(LATE_MS * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_DRAINING);
    atomic_store_explicit(&port->wire[0].tail, tail + 1, memory_order_release);
    CHECK(ok(gyre_actor_drain(actor, soon())) && end(actor, port));
}

static const test_case cases[] = {
    TEST(a_damaged_mailbox_hurts_nobody_else),
    TEST(damage_is_found_by_who_waits),
    TEST(messages_that_damage_lost_are_not_called_handled),
    TEST(prints_stay_where_they_belong),
    TEST(a_count_that_comes_late_is_no_damage),
};

int main(int argc, char **argv)
{
    return suspect_main(cases, COUNT(cases), crimes, COUNT(crimes), argc, argv);
}
