/* SPDX-License-Identifier: Apache-2.0
 *
 * Boards of processes that end in every way, and what forked children do to them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor/board_file.h"
#include "child.h"
#include "gyre/clock.h"
#include "gyre/context.h"
#include "gyre/device.h"

static gyre_context *context;
static gyre_actor *actor;

static void handle(gyre_self *self, void *state, const gyre_brief *brief)
{
    (void)self, (void)state, (void)brief;
}

static bool launch(void)
{
    static const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                             .name = "nothing",
                                             .width = GYRE_WIDTH_BLOCK,
                                             .handler = handle};

    return gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK &&
           gyre_actor_create(context, &behaviour, NULL, &actor) == GYRE_OK &&
           gyre_actor_launch(actor, NULL) == GYRE_OK;
}

typedef struct search {
    pid_t pid;
    gyre_board_owner owner;
    size_t count;
} search;

static bool is_of(void *user, const gyre_board_row *row)
{
    search *const s = user;

    if (row->pid == (uint32_t)s->pid) {
        s->count++;
        s->owner = (gyre_board_owner){row->uid, row->pid, row->started};
    }
    return true;
}

static search look(pid_t pid)
{
    search s = {.pid = pid};

    CHECK(gyre_board_visit(is_of, &s) == GYRE_OK);
    return s;
}

/* Until the process has an actor on its board, for ten seconds. */
static bool is_shown(pid_t pid, search *out_search)
{
    for (int i = 0; i < 1000; i++) {
        *out_search = look(pid);
        if (out_search->count > 0)
            return true;
        usleep(10000);
    }
    return false;
}

static bool file_is_there(const gyre_board_owner *owner)
{
    char path[sizeof GYRE_BOARD_FOLDER + GYRE_BOARD_NAME], name[GYRE_BOARD_NAME];

    gyre_board_name(owner, name);
    snprintf(path, sizeof path, "%s/%s", GYRE_BOARD_FOLDER, name);
    return access(path, F_OK) == 0;
}

/* A process with an actor, which ends by `how` when it is told to. */
typedef struct process {
    pid_t pid;
    int word; /* closed: it is to end */
} process;

static process start(void (*how)(void))
{
    process p = {.pid = -1, .word = -1};
    int ends[2];

    if (pipe(ends) != 0)
        return p;
    fflush(stdout);
    p.pid = fork();
    if (p.pid == 0) {
        char byte;

        alarm(60);
        close(ends[1]);
        if (!launch() || read(ends[0], &byte, 1) != 0)
            _exit(1);
        how();
        _exit(2);
    }
    close(ends[0]);
    p.word = ends[1];
    return p;
}

static int end(process *p)
{
    int status = -1;

    close(p->word);
    return waitpid(p->pid, &status, 0) == p->pid ? status : -1;
}

static void exit_with_the_actor(void)
{
    exit(0);
}

static void kill_itself(void)
{
    raise(SIGKILL);
}

static void fork_and_exit(void)
{
    gyre_board_owner self;
    search s;

    REQUIRE(is_shown(getpid(), &s) && gyre_board_self(&self));
    CHECK(s.count == 1);
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        int status;

        if (child == 0) {
            if (i == 0)
                exit(0);
            gyre_actor_destroy(actor); /* as far as a child can: the threads are not there */
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(file_is_there(&self) && look(getpid()).count == 1);
    }
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    CHECK(!file_is_there(&self));
    _exit(test_failed() ? 1 : 0);
}

static bool has_folder(void)
{
    return access(GYRE_BOARD_FOLDER, W_OK) == 0;
}

static void exit_removes_the_board(void)
{
    process p;
    search s;
    int status;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    p = start(exit_with_the_actor);
    REQUIRE(p.pid > 0);
    CHECK(is_shown(p.pid, &s) && file_is_there(&s.owner));
    status = end(&p);
    CHECK(WIFEXITED(status));
    CHECK(!file_is_there(&s.owner));
}

static void killed_process_is_not_shown_and_its_board_removed(void)
{
    process p;
    search s;
    siginfo_t info;
    int status;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    p = start(kill_itself);
    REQUIRE(p.pid > 0);
    CHECK(is_shown(p.pid, &s) && file_is_there(&s.owner));
    close(p.word);
    /* it has ended, and its number is still taken */
    CHECK(waitid(P_PID, (id_t)p.pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(look(p.pid).count == 0 && !file_is_there(&s.owner));
    CHECK(waitpid(p.pid, &status, 0) == p.pid && WIFSIGNALED(status));
    CHECK(look(p.pid).count == 0);
}

static void next_board_removes_what_a_killed_process_left(void)
{
    process first, second;
    search s, t;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    first = start(kill_itself);
    REQUIRE(first.pid > 0);
    CHECK(is_shown(first.pid, &s));
    (void)end(&first);
    second = start(exit_with_the_actor);
    REQUIRE(second.pid > 0);
    CHECK(is_shown(second.pid, &t));
    for (int i = 0; i < 1000 && file_is_there(&s.owner); i++)
        usleep(10000);
    CHECK(!file_is_there(&s.owner));
    (void)end(&second);
}

static void forked_child_leaves_the_board_alone(void)
{
    process p;
    int status;

    if (!has_folder())
        SKIP("there is no " GYRE_BOARD_FOLDER);
    p = start(fork_and_exit);
    REQUIRE(p.pid > 0);
    status = end(&p);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const test_case cases[] = {
    TEST(exit_removes_the_board),
    TEST(killed_process_is_not_shown_and_its_board_removed),
    TEST(next_board_removes_what_a_killed_process_left),
    TEST(forked_child_leaves_the_board_alone),
};
TEST_MAIN(cases)
