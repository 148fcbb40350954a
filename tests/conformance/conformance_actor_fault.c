/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: a behaviour that does not return or writes where it must not, and a host that is killed,
 * are found and told, touch nothing else, and leave the device to others.
 */
#include "conformance_suspect.h"

#include "base/fail.h"
#include "exec/context.h"
#include "gyre/board.h"

static bool is_cuda(void)
{
    return strcmp(on.device->backend, "cuda") == 0;
}

static bool is_threads(void)
{
    return gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS);
}

/* Crimes: what a child does. Its failures are its exit status. */

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

/* Nobody asks the device anything while it is off it. */
static void is_parked_when_its_device_is_lost(void)
{
    const gyre_brief request = {.type = 1};
    gyre_port *port;
    gyre_actor *const actor = suspect_new(0, NULL, &port);
    gyre_brief answer;

    REQUIRE(answers(port) && ok(gyre_actor_park(actor, soon())));
    CHECK(gyre_fail(GYRE_DEVICE_LOST, "lost for a test") == GYRE_DEVICE_LOST);
    (void)!gyre_context_lose(on.context, GYRE_LOSS_HUNG);
    CHECK(gyre_port_call(port, &request, &answer, GYRE_NEVER) == GYRE_DEVICE_LOST);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_FAILED && gyre_actor_fault(actor));
    CHECK(gyre_actor_resume(actor) == GYRE_INVALID);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
}

/* And who brings it back finds that out as well. */
static void comes_back_to_a_lost_device(void)
{
    gyre_port *port;
    gyre_actor *const actor = suspect_new(0, NULL, &port);

    REQUIRE(answers(port) && ok(gyre_actor_park(actor, soon())));
    CHECK(gyre_fail(GYRE_DEVICE_LOST, "lost for a test") == GYRE_DEVICE_LOST);
    (void)!gyre_context_lose(on.context, GYRE_LOSS_HUNG);
    CHECK(gyre_actor_resume(actor) == GYRE_DEVICE_LOST);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_FAILED && gyre_actor_fault(actor));
    gyre_port_close(port);
    gyre_actor_destroy(actor);
}

static const test_case crimes[] = {
    TEST(is_parked_when_its_device_is_lost),
    TEST(comes_back_to_a_lost_device),
    TEST(spins),
    TEST(spins_at_the_end),
    TEST(spins_while_it_is_to_end),
    TEST(spins_beside_others),
    TEST(writes_out_of_bounds),
    TEST(is_killed),
};

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

static void one_that_is_parked_fails_with_its_device(void)
{
    NEED_CRIMES();
    if (is_threads())
        SKIP("seats that are threads need no device");
    CHECK(child_wait(child_start(device_name, "is_parked_when_its_device_is_lost", NULL)) == 0);
    CHECK(child_wait(child_start(device_name, "comes_back_to_a_lost_device", NULL)) == 0);
    others_go_on();
}

static const test_case cases[] = {
    TEST(one_that_is_parked_fails_with_its_device),
    TEST(a_behaviour_that_does_not_return_is_found),
    TEST(it_is_found_by_who_waits_for_its_end),
    TEST(it_is_found_in_one_seat_of_a_crew),
    TEST(one_that_hangs_can_be_destroyed),
    TEST(a_write_out_of_bounds_ends_its_own_process_only),
    TEST(an_actor_whose_process_is_killed_is_gone),
};

int main(int argc, char **argv)
{
    return suspect_main(cases, COUNT(cases), crimes, COUNT(crimes), argc, argv);
}
