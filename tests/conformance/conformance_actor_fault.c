/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: what goes wrong with one is found and told, touches nothing else, and leaves the device
 * to others.
 *
 * Each is a crime that a child commits; the parent looks afterwards whether an actor can live on
 * the device.
 */
#include "conformance_crime.h"

#include "actor/actor.h"
#include "actor/port.h"
#include "actor/slot.h"
#include "gyre/board.h"

#include "behaviours/echo.c"  /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/rogue.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { CANARY_BYTES = 65536, CANARIES = 4, ROUNDS = 24, STALL_MS = 300 };

/* Memory that nobody has business in: the pool's own, and the heap's. */
static unsigned char *canaries[CANARIES];

static bool canaries_take(void)
{
    for (size_t i = 0; i < CANARIES; i++) {
        uint64_t chance = i;

        canaries[i] = i % 2 ? take(GYRE_CONTEXT_PINNED, CANARY_BYTES) : host_take(CANARY_BYTES);
        if (!canaries[i])
            return false;
        fill_random(&chance, canaries[i], CANARY_BYTES);
    }
    return true;
}

static bool canaries_live(void)
{
    static unsigned char expected[CANARY_BYTES];
    bool all = true;

    for (size_t i = 0; i < CANARIES; i++) {
        uint64_t chance = i;

        fill_random(&chance, expected, CANARY_BYTES);
        all = all && memcmp(canaries[i], expected, CANARY_BYTES) == 0;
    }
    return all;
}

static bool is_cuda(void)
{
    return strcmp(on.device->backend, "cuda") == 0;
}

static bool is_threads(void)
{
    return gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS);
}

/* A call that is answered, of echo or rogue. */
static bool answers(gyre_port *port)
{
    const gyre_brief request = {.type = 1, .body.words = {41, 7}};
    gyre_brief answer = {.type = 0};

    return port && ok(gyre_port_call(port, &request, &answer, soon())) &&
           answer.body.words[0] == 42 && answer.body.words[1] == 7;
}

/* Crimes: what a child does. Its failures are its exit status. */

static gyre_actor *suspect_new(uint64_t stall_ns, const gyre_actor_launch_options *launch,
                               gyre_port **out_port)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = stall_ns};
    gyre_actor *actor = NULL;

    *out_port = NULL;
    if (canaries_take() && ok(gyre_actor_create(on.context, &rogue, &options, &actor)) &&
        ok(gyre_actor_launch(actor, launch)))
        *out_port = port_new(actor);
    return actor;
}

/* What is true of any that has failed. */
static void check_failed(gyre_actor *actor, gyre_port *port)
{
    const gyre_brief request = {.type = 1};
    gyre_port_answer heard;
    gyre_brief answer;
    size_t sent;

    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_FAILED);
    REQUIRE(gyre_actor_fault(actor));
    CHECK(gyre_actor_fault(actor)->status == GYRE_DEVICE_LOST);
    CHECK(gyre_port_call(port, &request, &answer, soon()) == GYRE_DEVICE_LOST);
    CHECK(strcmp(gyre_error_last()->text, gyre_actor_fault(actor)->text) == 0);
    CHECK(gyre_port_send_many(port, &request, 1, soon(), &sent) == GYRE_DEVICE_LOST && sent == 0);
    CHECK(gyre_port_ask(port, &request, 0, soon()) == GYRE_DEVICE_LOST);
    CHECK(gyre_port_receive(port, &heard, soon()) == GYRE_NOT_FOUND);
    CHECK(gyre_actor_pause(actor, soon()) == GYRE_INVALID);
    CHECK(gyre_actor_resume(actor) == GYRE_INVALID);
    CHECK(gyre_actor_wait(actor, GYRE_ACTOR_FAILED, soon()) == GYRE_OK);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    CHECK(canaries_live());
}

/* Another actor can be had in this context where seats are threads, and only there. */
static void check_others(void)
{
    gyre_actor *other = NULL;
    gyre_port *port;

    if (is_threads()) {
        other = actor_new(&echo, NULL);
        port = port_new(other);
        CHECK(answers(port) && end(other, port));
        return;
    }
    CHECK(gyre_context_check(on.context) == GYRE_DEVICE_LOST);
    CHECK(gyre_actor_create(on.context, &echo, NULL, &other) == GYRE_DEVICE_LOST && !other);
}

static void spins(void)
{
    const gyre_brief spin = {.type = ROGUE_SPIN};
    gyre_port *port;
    gyre_actor *const actor = suspect_new(STALL_MS * MS, NULL, &port);
    gyre_context *fresh = NULL;
    gyre_brief answer;

    REQUIRE(answers(port));
    CHECK(gyre_port_call(port, &spin, &answer, soon()) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "does not return"));
    check_failed(actor, port);
    check_others();
    gyre_port_close(port);
    gyre_actor_destroy(actor); /* waits for nothing */
    if (is_cuda() && gyre_context_create(on.device, NULL, &fresh) == GYRE_OK) {
        gyre_kernel *kernel = NULL;

        printf("      a fresh context works beside what hangs\n");
        CHECK(gyre_kernel_create(fresh, &conformance_program, conformance_entries[KERNEL_STEP],
                                 conformance_signatures[KERNEL_STEP], NULL,
                                 &kernel) == GYRE_UNAVAILABLE);
        CHECK(strstr(gyre_error_last()->text, "rogue"));
        gyre_context_destroy(fresh);
    }
}

static void spins_at_the_end(void)
{
    const gyre_brief spin = {.type = ROGUE_SPIN};
    gyre_port *port;
    gyre_actor *const actor = suspect_new(0, NULL, &port);

    REQUIRE(answers(port));
    CHECK(ok(gyre_port_send(port, &spin, soon())));
    CHECK(gyre_actor_drain(actor, gyre_clock_after_ns(100 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_terminate(actor, gyre_clock_after_ns(100 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_DRAINING);
    gyre_port_close(port);
    gyre_actor_destroy(actor); /* waits for a second, and leaves it */
    CHECK(canaries_live());
    check_others();
}

/* Who waits for the end finds it out as who waits for an answer does, however long he would wait.
 */
static void spins_while_it_is_to_end(void)
{
    const gyre_brief spin = {.type = ROGUE_SPIN};
    gyre_port *port;
    gyre_actor *const actor = suspect_new(STALL_MS * MS, NULL, &port);

    REQUIRE(answers(port));
    CHECK(ok(gyre_port_send(port, &spin, soon())));
    CHECK(gyre_actor_pause(actor, gyre_clock_after_ns(STALL_MS * MS / 10)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_drain(actor, GYRE_NEVER) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "does not return"));
    check_failed(actor, port);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
}

/* The other seat has enough to do, and does it: from the second round on, since one of the first
 * two may have been handled before it hung. */
static void spins_beside_others(void)
{
    const gyre_actor_launch_options crew = {.struct_size = sizeof crew, .seats = 2, .ports = 2};
    const gyre_brief spin = {.type = ROGUE_SPIN};
    const uint64_t until = soon();
    gyre_status status = GYRE_TIMEOUT;
    uint32_t rounds = 0, went = 0;
    gyre_port_answer heard;
    gyre_port *port, *other;
    gyre_actor *const actor = suspect_new(STALL_MS * MS, &crew, &port);

    other = port_new(actor);
    REQUIRE(answers(port) && answers(other));
    CHECK(ok(gyre_port_ask(port, &spin, 1, soon())));
    while (status == GYRE_TIMEOUT && gyre_clock_now_ns() < until) {
        const gyre_brief request = {.type = 1, .body.words = {rounds}};
        gyre_brief answer;

        if (gyre_port_call(other, &request, &answer, gyre_clock_after_ns(100 * MS)) == GYRE_OK) {
            CHECK(answer.body.words[0] == rounds + 1);
            went += rounds > 0;
        }
        rounds++;
        status = gyre_port_receive(port, &heard, gyre_clock_after_ns(5 * MS));
    }
    CHECK(went > 0);
    CHECK(status == GYRE_DEVICE_LOST && strstr(gyre_error_last()->text, "does not return"));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_FAILED && canaries_live());
    gyre_port_close(port);
    gyre_port_close(other);
    gyre_actor_destroy(actor);
}

static void writes_out_of_bounds(void)
{
    gyre_brief store = {.type = ROGUE_STORE, .flags = GYRE_BRIEF_REFERS};
    gyre_port *port;
    gyre_actor *const actor = suspect_new(0, NULL, &port);
    gyre_context *fresh = (gyre_context *)&on;
    gyre_brief answer;

    REQUIRE(answers(port));
    memset(&store.body.reference.address, 0xf0, sizeof store.body.reference.address);
    store.body.reference.size = 4;
    CHECK(gyre_port_call(port, &store, &answer, soon()) == GYRE_DEVICE_LOST);
    CHECK(gyre_actor_fault(actor) && gyre_actor_fault(actor)->native != 0);
    printf("      %s\n", gyre_actor_fault(actor) ? gyre_actor_fault(actor)->text : "no fault");
    check_failed(actor, port);
    check_others();
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    CHECK(gyre_context_create(on.device, NULL, &fresh) == GYRE_DEVICE_LOST && !fresh);
}

/* Says that it is resident, and waits for its end. */
static void is_killed(void)
{
    gyre_port *port;

    (void)suspect_new(0, NULL, &port);
    REQUIRE(answers(port));
    printf("resident\n");
    fflush(stdout);
    for (;;)
        CHECK(answers(port));
}

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
        .struct_size = sizeof launch, .seats = 2, .capacity = 32};
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

static const test_case crimes[] = {
    TEST(spins),
    TEST(spins_at_the_end),
    TEST(spins_while_it_is_to_end),
    TEST(spins_beside_others),
    TEST(writes_out_of_bounds),
    TEST(is_killed),
    TEST(has_a_damaged_mailbox),
};

static const char *device_name; /* as it was given */

/* Whether the device still has room for an actor of ours. */
static void others_go_on(void)
{
    gyre_actor *const actor = actor_new(&echo, NULL);
    gyre_port *const port = port_new(actor);

    CHECK(answers(port) && end(actor, port));
}

static bool can_have_actors(void)
{
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, &echo, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    if (status == GYRE_OK)
        gyre_actor_destroy(actor);
    return status == GYRE_OK;
}

#define NEED_CRIMES()                                                                              \
    do {                                                                                           \
        if (under_sanitizer())                                                                     \
            SKIP("the sanitizer would report what is meant to happen");                            \
        if (!can_have_actors()) {                                                                  \
            NEED_ACTORS();                                                                         \
            REQUIRE(!"an actor");                                                                  \
        }                                                                                          \
    } while (0)

static void a_behaviour_that_does_not_return_is_found(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "spins", NULL)) == 0);
    others_go_on();
}

static void it_is_found_by_who_waits_for_its_end(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "spins_while_it_is_to_end", NULL)) == 0);
    others_go_on();
}

static void it_is_found_in_one_seat_of_a_crew(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "spins_beside_others", NULL)) == 0);
    others_go_on();
}

static void one_that_hangs_can_be_destroyed(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "spins_at_the_end", NULL)) == 0);
    others_go_on();
}

static void a_write_out_of_bounds_ends_its_own_process_only(void)
{
    int status;

    NEED_CRIMES();
    status = child_wait(child_start(device_name, "writes_out_of_bounds", NULL));
    if (is_cuda())
        CHECK(status == 0); /* the driver tells, and the process goes on */
    else if (SANITIZED)
        CHECK(status != -1 && status != 0); /* it tells, and exits */
    else
        CHECK(status != -1 && WIFSIGNALED(status) &&
              (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));
    others_go_on();
}

typedef struct sought {
    uint32_t pid;
    bool found;
} sought;

static bool see(void *user, const gyre_board_row *row)
{
    sought *const it = user;

    it->found = it->found || row->pid == it->pid;
    return true;
}

static bool is_on_a_board(pid_t pid)
{
    sought it = {.pid = (uint32_t)pid};

    CHECK(ok(gyre_board_visit(see, &it)));
    return it.found;
}

/* It may have been launched before its board was written. */
static bool gets_on_a_board(pid_t pid)
{
    const uint64_t until = gyre_clock_after_ns(5000 * MS);

    while (!is_on_a_board(pid)) {
        if (gyre_clock_now_ns() >= until)
            return false;
        sleep_ns(20 * MS);
    }
    return true;
}

static void an_actor_whose_process_is_killed_is_gone(void)
{
    NEED_CRIMES();
    for (int i = 0; i < 3; i++) {
        char line[16] = "";
        int from, status;
        const pid_t pid = child_start(device_name, "is_killed", &from);

        REQUIRE(pid > 0);
        CHECK(read(from, line, sizeof line - 1) > 0 && strncmp(line, "resident", 8) == 0);
        CHECK(gets_on_a_board(pid) || access("/dev/shm", W_OK) != 0);
        others_go_on(); /* beside it, */
        kill(pid, SIGKILL);
        status = child_wait(pid);
        CHECK(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        close(from);
        others_go_on(); /* and after it */
        CHECK(!is_on_a_board(pid));
    }
}

static void a_damaged_mailbox_hurts_nobody_else(void)
{
    NEED_CRIMES();
    CHECK(child_wait(child_start(device_name, "has_a_damaged_mailbox", NULL)) == 0);
    others_go_on();
}

static const test_case cases[] = {
    TEST(a_behaviour_that_does_not_return_is_found),
    TEST(it_is_found_by_who_waits_for_its_end),
    TEST(it_is_found_in_one_seat_of_a_crew),
    TEST(one_that_hangs_can_be_destroyed),
    TEST(a_write_out_of_bounds_ends_its_own_process_only),
    TEST(an_actor_whose_process_is_killed_is_gone),
    TEST(a_damaged_mailbox_hurts_nobody_else),
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[2], "child") == 0)
        return crime_commit(crimes, COUNT(crimes), argv[1], argv[3]);
    device_name = argc > 1 ? argv[1] : "cpu";
    return conformance_main(cases, COUNT(cases), argc, argv);
}
