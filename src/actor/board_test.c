/* SPDX-License-Identifier: Apache-2.0
 *
 * The notice board of this process, as others see it.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actor/actor.h"
#include "actor/board.h"
#include "actor/board_file.h"
#include "base/sysfile.h"
#include "gyre/clock.h"
#include "gyre/device.h"
#include "test.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEADLINE gyre_clock_after_ns(10 * SECOND_NS)

enum { HANG = 7, FAKES = GYRE_BOARD_LINES + 1 };

static gyre_context *context;
static gyre_actor *actor;
static gyre_port *port;
static _Atomic bool let_go;

static void handle(gyre_self *self, void *state, const gyre_brief *brief)
{
    (void)state;
    if (brief->type == HANG)
        while (!atomic_load(&let_go))
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (brief->body.words[0] % 2)
        gyre_self_fail(self, GYRE_ACTOR_OWN + brief->body.words[0]);
}

static const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                         .name = "odd_ones_fail",
                                         .width = GYRE_WIDTH_BLOCK,
                                         .handler = handle};

static bool create(const gyre_actor_options *options)
{
    actor = NULL;
    port = NULL;
    return gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK &&
           gyre_actor_create(context, &behaviour, options, &actor) == GYRE_OK;
}

static bool launch(const char *name)
{
    const gyre_actor_options options = {
        .struct_size = sizeof options, .name = name, .stall_ns = SECOND_NS / 20};

    return create(&options) && gyre_actor_launch(actor, NULL) == GYRE_OK &&
           gyre_port_open(actor, NULL, &port) == GYRE_OK;
}

static void close_all(void)
{
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
}

static bool send(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const gyre_brief message = {.body.words = {i}};

        if (gyre_port_send(port, &message, DEADLINE) != GYRE_OK)
            return false;
    }
    return true;
}

/* The row of this process's actor of that name. */
typedef struct search {
    const char *name;
    gyre_board_row row;
    size_t count; /* of this process */
    bool found;
} search;

static bool is_it(void *user, const gyre_board_row *row)
{
    search *const s = user;

    if (row->pid != (uint32_t)getpid())
        return true;
    s->count++;
    if (strcmp(row->actor, s->name) == 0) {
        s->found = true;
        s->row = *row;
    }
    return true;
}

static search look(const char *name)
{
    search s = {.name = name};

    CHECK(gyre_board_visit(is_it, &s) == GYRE_OK);
    return s;
}

static bool always(const gyre_board_row *row)
{
    return row->struct_size == sizeof *row;
}

static bool is_failed(const gyre_board_row *row)
{
    return row->status == GYRE_ACTOR_FAILED;
}

static bool is_parked(const gyre_board_row *row)
{
    return row->status == GYRE_ACTOR_PARKED;
}

static bool has_six(const gyre_board_row *row)
{
    return row->processed == 6 && row->waiting == 0;
}

/* Looks until that is so of the actor, for ten seconds. */
static search look_until(const char *name, bool (*so)(const gyre_board_row *row))
{
    const uint64_t deadline_ns = DEADLINE;
    search s = look(name);

    while (!(s.found && so(&s.row)) && gyre_clock_now_ns() < deadline_ns) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        s = look(name);
    }
    if (s.found && !so(&s.row))
        s.found = false;
    return s;
}

/* Whether this process can have a board at all. */
static bool has_folder(void)
{
    return access(GYRE_BOARD_FOLDER, W_OK) == 0;
}

static bool file_is_there(void)
{
    char path[sizeof GYRE_BOARD_FOLDER + GYRE_BOARD_NAME], name[GYRE_BOARD_NAME];
    gyre_board_owner owner;

    if (!gyre_board_self(&owner))
        return false;
    gyre_board_name(&owner, name);
    snprintf(path, sizeof path, "%s/%s", GYRE_BOARD_FOLDER, name);
    return access(path, F_OK) == 0;
}

static size_t board_threads(void)
{
    DIR *const tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    size_t count = 0;

    while (tasks && (entry = readdir(tasks))) {
        char path[320], name[32];

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if (gyre_sysfile_line(path, name, sizeof name) && strcmp(name, "gyre-board") == 0)
            count++;
    }
    if (tasks)
        closedir(tasks);
    return count;
}

static void launched_actor_is_on_the_board(void)
{
    search s;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(launch("counter"));
    s = look_until("counter", always);
    REQUIRE(s.found);
    CHECK(s.row.uid == geteuid() && s.row.started > 0 && s.row.age_ns < 60 * SECOND_NS);
    CHECK(strcmp(s.row.program, "board_test") == 0);
    CHECK(strcmp(s.row.behaviour, "odd_ones_fail") == 0 && strcmp(s.row.device, "cpu:0") == 0);
    CHECK(s.row.status == GYRE_ACTOR_ACTIVE && s.row.seats == 1 && s.row.incarnation == 1);
    CHECK(s.row.launched_ns > 0 && s.row.launched_ns <= s.row.told_ns);
    CHECK(s.row.told_ns <= gyre_board_now_ns());
    close_all();
}

static void counts_arrive(void)
{
    search s;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(launch("counter"));
    CHECK(send(6));
    s = look_until("counter", has_six);
    REQUIRE(s.found);
    CHECK(s.row.failed == 3 && s.row.last_error == GYRE_ACTOR_OWN + 5);
    CHECK(s.row.mean_ns > 0 && s.row.min_ns <= s.row.max_ns);
    close_all();
}

static void whoever_holds_the_lock_of_an_actor_is_not_waited_for(void)
{
    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(launch("counter"));
    REQUIRE(gyre_latch_try(&actor->lock)); /* as a drain does, for as long as it takes */
    CHECK(send(6));
    CHECK(look_until("counter", has_six).found);
    CHECK(gyre_latch_give(&actor->lock));
    close_all();
}

static void parked_actor_stays(void)
{
    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(launch("counter"));
    CHECK(gyre_actor_park(actor, DEADLINE) == GYRE_OK);
    CHECK(look_until("counter", is_parked).found);
    gyre_port_close(port);
    port = NULL;
    CHECK(gyre_actor_terminate(actor, DEADLINE) == GYRE_OK); /* from there, without a seat */
    CHECK(look("counter").count == 0);
    close_all();
}

static void last_actor_takes_file_and_thread_with_it(void)
{
    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    CHECK(!file_is_there() && board_threads() == 0);
    REQUIRE(launch("counter"));
    CHECK(look_until("counter", always).found);
    CHECK(file_is_there() && board_threads() == 1);
    CHECK(gyre_actor_terminate(actor, DEADLINE) == GYRE_OK);
    CHECK(!file_is_there() && board_threads() == 0);
    CHECK(look("counter").count == 0);
    close_all();
}

static void second_launch_is_a_row_of_its_own(void)
{
    uint64_t first;
    search s;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(launch("counter"));
    CHECK(send(3));
    first = look_until("counter", always).row.launch;
    gyre_port_close(port);
    port = NULL;
    CHECK(gyre_actor_drain(actor, DEADLINE) == GYRE_OK);
    CHECK(gyre_actor_launch(actor, NULL) == GYRE_OK);
    s = look_until("counter", always);
    CHECK(s.found && s.count == 1 && s.row.launch > first);
    CHECK(s.row.incarnation == 2 && s.row.processed == 0);
    close_all();
}

static void failed_actor_stays_until_it_is_destroyed(void)
{
    const gyre_brief message = {.type = HANG};
    gyre_brief answer;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    atomic_store(&let_go, false);
    REQUIRE(launch("stuck"));
    CHECK(gyre_port_call(port, &message, &answer, DEADLINE) == GYRE_DEVICE_LOST);
    CHECK(look_until("stuck", is_failed).found);
    close_all();
    CHECK(look("stuck").count == 0 && !file_is_there() && board_threads() == 0);
    atomic_store(&let_go, true); /* its thread, which was left, may end */
}

static void launch_and_end_may_come_in_any_number(void)
{
    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    for (int i = 0; i < 50; i++) {
        REQUIRE(launch("brief"));
        CHECK(i % 2 || look_until("brief", always).found);
        close_all();
    }
    CHECK(!file_is_there() && board_threads() == 0);
}

/* Actors that were never made, for a board takes no more of one than its name and its mailbox,
 * which may be none. */
static void actor_without_room_is_left_out(void)
{
    static gyre_actor fakes[FAKES];
    search s;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(create(NULL));
    for (size_t i = 0; i < FAKES; i++) {
        fakes[i].context = context;
        fakes[i].behaviour = &behaviour;
        atomic_store(&fakes[i].status, GYRE_ACTOR_ACTIVE);
        snprintf(fakes[i].name, sizeof fakes[i].name, "fake-%zu", i);
        gyre_board_add(&fakes[i]);
    }
    s = look_until("fake-255", always);
    CHECK(s.found && s.count == GYRE_BOARD_LINES);
    CHECK(!look("fake-256").found);
    gyre_board_remove(&fakes[256]);
    gyre_board_remove(&fakes[0]);
    gyre_board_add(&fakes[256]);
    s = look_until("fake-256", always);
    CHECK(s.found && s.count == GYRE_BOARD_LINES);
    for (size_t i = 1; i < FAKES; i++)
        gyre_board_remove(&fakes[i]);
    CHECK(!file_is_there() && board_threads() == 0);
    close_all();
}

static bool stop_at_once(void *user, const gyre_board_row *row)
{
    (void)row;
    ++*(int *)user;
    return false;
}

static void visit_ends_when_it_is_told_to(void)
{
    int visits = 0;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    REQUIRE(launch("counter"));
    CHECK(look_until("counter", always).found);
    CHECK(gyre_board_visit(stop_at_once, &visits) == GYRE_OK && visits == 1);
    close_all();
}

static const test_case cases[] = {
    TEST(launched_actor_is_on_the_board),
    TEST(counts_arrive),
    TEST(whoever_holds_the_lock_of_an_actor_is_not_waited_for),
    TEST(parked_actor_stays),
    TEST(last_actor_takes_file_and_thread_with_it),
    TEST(second_launch_is_a_row_of_its_own),
    TEST(failed_actor_stays_until_it_is_destroyed),
    TEST(launch_and_end_may_come_in_any_number),
    TEST(actor_without_room_is_left_out),
    TEST(visit_ends_when_it_is_told_to),
};
TEST_MAIN(cases)
