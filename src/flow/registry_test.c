/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gyre/clock.h"
#include "gyre/command.h"
#include "gyre/reply.h"
#include "test.h"

enum { THREADS = 8, CHANNELS = 25 };

/* An allocator that refuses its `last`-th block and all after it; 0 for none. */
typedef struct ledger {
    size_t out_bytes;
    int calls, last;
} ledger;

static void *take(void *user, size_t size_bytes, size_t alignment)
{
    ledger *l = user;

    if (++l->calls >= l->last && l->last > 0)
        return NULL;
    l->out_bytes += size_bytes;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
}

static void give(void *user, void *block, size_t size_bytes)
{
    ((ledger *)user)->out_bytes -= size_bytes;
    free(block);
}

static gyre_registry *make(void)
{
    gyre_registry *registry;

    CHECK(gyre_registry_create(NULL, &registry) == GYRE_OK);
    return registry;
}

static gyre_status add(gyre_registry *registry, const char *name, gyre_channel **out_channel)
{
    const gyre_channel_options options = {
        .struct_size = sizeof options, .name = name, .capacity = 4, .item_bytes = 8};

    return gyre_registry_add(registry, &options, out_channel);
}

static bool has(gyre_registry *registry, const char *name)
{
    gyre_channel *channel;

    return gyre_registry_find(registry, name, &channel) == GYRE_OK && channel &&
           strcmp(gyre_channel_name(channel), name) == 0;
}

static void count_one(void *user, gyre_channel *channel)
{
    CHECK(channel != NULL);
    ++*(int *)user;
}

static int count(gyre_registry *registry)
{
    int found = 0;

    gyre_registry_visit(registry, count_one, &found);
    return found;
}

static void what_was_added_is_found(void)
{
    gyre_registry *registry = make();
    gyre_channel *first, *second, *found;

    REQUIRE(registry && add(registry, "first", &first) == GYRE_OK);
    REQUIRE(add(registry, "a.second_one-2", &second) == GYRE_OK);
    CHECK(first && second && first != second);
    CHECK(gyre_registry_find(registry, "first", &found) == GYRE_OK && found == first);
    CHECK(gyre_registry_find(registry, "a.second_one-2", &found) == GYRE_OK && found == second);
    CHECK(add(registry, "third", NULL) == GYRE_OK);
    CHECK(has(registry, "third"));
    gyre_registry_destroy(registry);
}

static void what_is_missing_is_named(void)
{
    gyre_registry *registry = make();
    gyre_channel *found = (gyre_channel *)&found;

    REQUIRE(registry && add(registry, "here", NULL) == GYRE_OK);
    CHECK(gyre_registry_find(registry, "hereabouts", &found) == GYRE_NOT_FOUND);
    CHECK(found == NULL);
    CHECK(strstr(gyre_error_last()->text, "'hereabouts'") != NULL);
    CHECK(gyre_registry_find(registry, "", &found) == GYRE_NOT_FOUND);
    CHECK(gyre_registry_find(registry, "her", &found) == GYRE_NOT_FOUND);
    gyre_registry_destroy(registry);
}

static void names_that_are_none_are_refused(void)
{
    static const char *const bad[] = {NULL,  "",         "a b", "a/b",
                                      "a\n", "\xc3\xa9", "a:b", "this-name-has-thirty-two-letters",
                                      "\x7f"};
    gyre_registry *registry = make();

    REQUIRE(registry != NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gyre_channel *channel = (gyre_channel *)&channel;

        CHECK(add(registry, bad[i], &channel) == GYRE_INVALID);
        CHECK(channel == NULL);
    }
    CHECK(count(registry) == 0);
    CHECK(add(registry, "this-name-has-thirty-1-letters-", NULL) == GYRE_OK);
    CHECK(has(registry, "this-name-has-thirty-1-letters-"));
    gyre_registry_destroy(registry);
}

static void taken_name_is_refused_and_stays(void)
{
    gyre_registry *registry = make();
    gyre_channel *first, *second, *found;

    REQUIRE(registry && add(registry, "one", &first) == GYRE_OK);
    CHECK(add(registry, "one", &second) == GYRE_INVALID);
    CHECK(second == NULL);
    CHECK(strstr(gyre_error_last()->text, "'one'") != NULL);
    CHECK(gyre_registry_find(registry, "one", &found) == GYRE_OK && found == first);
    CHECK(count(registry) == 1);
    gyre_registry_destroy(registry);
}

static void channel_that_cannot_be_is_not_there(void)
{
    gyre_registry *registry = make();
    gyre_channel_options options = {
        .struct_size = sizeof options, .name = "vast", .capacity = UINT32_MAX};
    gyre_channel *channel;

    REQUIRE(registry != NULL);
    CHECK(gyre_registry_add(registry, &options, &channel) == GYRE_INVALID);
    CHECK(channel == NULL && !has(registry, "vast"));
    options.struct_size = 0;
    options.capacity = 1;
    CHECK(gyre_registry_add(registry, &options, &channel) == GYRE_INVALID);
    CHECK(gyre_registry_add(registry, NULL, &channel) == GYRE_INVALID); /* no name */
    CHECK(count(registry) == 0);
    gyre_registry_destroy(registry);
}

/* How many items go in before the channel is full; stops at a limit. */
static uint32_t fill(gyre_channel *channel, uint32_t limit)
{
    uint32_t sent = 0;

    while (sent < limit && gyre_channel_try_send(channel, 0, "item", 4) == GYRE_OK)
        sent++;
    return sent;
}

static void defaults_have_the_seeds_sizes(void)
{
    static const struct {
        const char *name;
        bool all;
        uint32_t capacity;
    } seeds[] = {{"gpu", true, 100},          {"evolution", false, 10000},
                 {"requests.1", false, 1000}, {"requests.2", false, 1000},
                 {"requests.3", false, 1000}, {"requests.4", false, 1000},
                 {"requests.5", false, 1000}};
    gyre_registry *registry = make();

    REQUIRE(registry && gyre_registry_add_defaults(registry) == GYRE_OK);
    CHECK(count(registry) == 8);
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        gyre_subscriber *subscriber = NULL;
        gyre_channel *channel;

        REQUIRE(gyre_registry_find(registry, seeds[i].name, &channel) == GYRE_OK);
        CHECK(gyre_channel_item_bytes(channel) == sizeof(gyre_command));
        CHECK(gyre_subscriber_create(channel, &subscriber) ==
              (seeds[i].all ? GYRE_OK : GYRE_INVALID));
        CHECK(fill(channel, 20000) == seeds[i].capacity);
        gyre_subscriber_destroy(subscriber);
    }
    gyre_registry_destroy(registry);
}

static void requests_may_all_be_calls(void)
{
    gyre_registry *registry = make();
    gyre_channel *channel;
    gyre_reply reply;
    int calls = 0;

    REQUIRE(registry && gyre_registry_add_defaults(registry) == GYRE_OK);
    REQUIRE(gyre_registry_find(registry, "requests.5", &channel) == GYRE_OK);
    while (calls < 2000 && gyre_reply_take(channel, &reply) == GYRE_OK)
        calls++;
    CHECK(calls == 1000);
    gyre_registry_destroy(registry);
}

static void deaf_listener_holds_up_no_event(void)
{
    gyre_channel_statistics statistics = {.struct_size = sizeof statistics};
    gyre_registry *registry = make();
    gyre_subscriber *subscriber;
    gyre_channel *events;

    REQUIRE(registry && gyre_registry_add_defaults(registry) == GYRE_OK);
    REQUIRE(gyre_registry_find(registry, "events", &events) == GYRE_OK);
    REQUIRE(gyre_subscriber_create(events, &subscriber) == GYRE_OK);
    CHECK(fill(events, 1003) == 1003);
    CHECK(gyre_subscriber_describe(subscriber, &statistics) == GYRE_OK);
    CHECK(statistics.dropped == 3 && statistics.queued == 1000);
    gyre_subscriber_destroy(subscriber);
    gyre_registry_destroy(registry);
}

static int releases;

static void count_release(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    releases++;
}

static void commands_in_gpu_release_what_they_refer_to(void)
{
    gyre_command command = {.kind = GYRE_COMMAND_TO_DEVICE};
    gyre_registry *registry = make();
    gyre_subscriber *subscriber;
    gyre_channel *gpu;

    REQUIRE(registry && gyre_registry_add_defaults(registry) == GYRE_OK);
    REQUIRE(gyre_registry_find(registry, "gpu", &gpu) == GYRE_OK);
    REQUIRE(gyre_subscriber_create(gpu, &subscriber) == GYRE_OK);
    REQUIRE(gyre_bytes_wrap("x", 1, count_release, NULL, &command.as.to_device.data) == GYRE_OK);
    releases = 0;
    CHECK(gyre_channel_try_send(gpu, 0, &command, gyre_command_size(&command)) == GYRE_OK);
    CHECK(releases == 0);
    gyre_subscriber_destroy(subscriber);
    gyre_registry_destroy(registry);
    CHECK(releases == 1);
}

static void defaults_come_all_or_not_at_all(void)
{
    gyre_registry *registry = make();

    REQUIRE(registry && add(registry, "requests.3", NULL) == GYRE_OK);
    CHECK(gyre_registry_add_defaults(registry) == GYRE_INVALID);
    CHECK(count(registry) == 1);
    CHECK(!has(registry, "gpu") && has(registry, "requests.3"));
    gyre_registry_destroy(registry);
    registry = make();
    REQUIRE(registry && gyre_registry_add_defaults(registry) == GYRE_OK);
    CHECK(gyre_registry_add_defaults(registry) == GYRE_INVALID);
    CHECK(count(registry) == 8);
    gyre_registry_destroy(registry);
}

/* Refuses the first block, then the second, and so on, until there are enough. */
static void failing_allocator_leaves_nothing(void)
{
    int last = 1;

    for (;; last++) {
        ledger l = {.last = last};
        const gyre_allocator allocator = {take, give, &l};
        const gyre_registry_options options = {sizeof options, &allocator};
        gyre_registry *registry;
        gyre_status status = gyre_registry_create(&options, &registry);

        if (status == GYRE_OK) {
            status = gyre_registry_add_defaults(registry);
            CHECK(count(registry) == (status == GYRE_OK ? 8 : 0));
        } else {
            CHECK(registry == NULL);
        }
        CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
        gyre_registry_destroy(registry);
        CHECK(l.out_bytes == 0);
        if (status == GYRE_OK || last > 1000)
            break;
    }
    CHECK(last > 8 && last < 1000); /* the channels ask the registry's allocator */
}

static void channels_of_a_failing_allocator_leave_room(void)
{
    ledger l = {.last = 0};
    const gyre_allocator allocator = {take, give, &l};
    const gyre_registry_options options = {sizeof options, &allocator};
    gyre_registry *registry;

    REQUIRE(gyre_registry_create(&options, &registry) == GYRE_OK);
    REQUIRE(add(registry, "before", NULL) == GYRE_OK);
    l.last = 1;
    CHECK(add(registry, "never", NULL) == GYRE_NO_MEMORY);
    l.last = 0;
    CHECK(has(registry, "before") && !has(registry, "never"));
    CHECK(add(registry, "after", NULL) == GYRE_OK);
    CHECK(count(registry) == 2);
    gyre_registry_destroy(registry);
    CHECK(l.out_bytes == 0);
}

typedef struct order {
    char last[32];
    int seen;
    bool ascending;
} order;

static void compare_with_last(void *user, gyre_channel *channel)
{
    order *o = user;

    o->ascending = o->ascending && strcmp(o->last, gyre_channel_name(channel)) < 0;
    snprintf(o->last, sizeof o->last, "%s", gyre_channel_name(channel));
    o->seen++;
}

static void visit_is_in_order_of_name(void)
{
    gyre_registry *registry = make();
    order o = {.ascending = true};

    REQUIRE(registry != NULL);
    for (int i = 0; i < 40; i++) {
        char name[32];

        snprintf(name, sizeof name, "%c%d", 'z' - i % 7, 39 - i);
        CHECK(add(registry, name, NULL) == GYRE_OK);
    }
    gyre_registry_visit(registry, compare_with_last, &o);
    CHECK(o.seen == 40 && o.ascending);
    gyre_registry_destroy(registry);
}

static void *receive_for_ever(void *channel)
{
    uint64_t item;

    CHECK(gyre_channel_receive(channel, &item, NULL, GYRE_NEVER) == GYRE_CLOSED);
    return NULL;
}

static void close_frees_whoever_waits(void)
{
    gyre_registry *registry = make();
    gyre_channel *channels[2];
    pthread_t threads[2];

    REQUIRE(registry && add(registry, "left", &channels[0]) == GYRE_OK);
    REQUIRE(add(registry, "right", &channels[1]) == GYRE_OK);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, receive_for_ever, channels[i]) == 0);
    gyre_registry_close(registry);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(gyre_channel_try_send(channels[0], 0, "x", 1) == GYRE_CLOSED);
    CHECK(has(registry, "left")); /* closed, not gone */
    gyre_registry_close(registry);
    gyre_registry_destroy(registry);
}

static void options_are_looked_at(void)
{
    const gyre_allocator half = {take, NULL, NULL};
    const gyre_registry_options none = {0, NULL}, broken = {sizeof broken, &half};
    gyre_registry *registry = (gyre_registry *)&registry;

    CHECK(gyre_registry_create(&none, &registry) == GYRE_INVALID);
    CHECK(registry == NULL);
    CHECK(gyre_registry_create(&broken, &registry) == GYRE_INVALID);
    gyre_registry_destroy(NULL);
}

static void forked_child_may_only_destroy(void)
{
    gyre_registry *registry = make();
    pid_t child;
    int status;

    REQUIRE(registry && add(registry, "one", NULL) == GYRE_OK);
    fflush(stdout); /* or the child may print it again */
    child = fork();
    if (child == 0) {
        gyre_channel *channel;
        gyre_registry *other;
        const bool right = gyre_registry_find(registry, "one", &channel) == GYRE_UNAVAILABLE &&
                           add(registry, "two", &channel) == GYRE_UNAVAILABLE && !channel &&
                           gyre_registry_add_defaults(registry) == GYRE_UNAVAILABLE &&
                           count(registry) == 0 &&
                           gyre_registry_create(NULL, &other) == GYRE_UNAVAILABLE;

        gyre_registry_close(registry);
        gyre_registry_destroy(registry);
        _exit(right ? 0 : 1);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    gyre_registry_destroy(registry);
}

typedef struct adder {
    gyre_registry *registry;
    int index;
    int added;
} adder;

/* All threads want all names: each gets the ones for which it was first. */
static void *add_all(void *arg)
{
    adder *a = arg;

    for (int i = 0; i < CHANNELS; i++) {
        char name[32];
        gyre_channel *channel, *found;

        snprintf(name, sizeof name, "channel-%d", (i + a->index * 3) % CHANNELS);
        if (add(a->registry, name, &channel) == GYRE_OK)
            a->added++;
        CHECK(gyre_registry_find(a->registry, name, &found) == GYRE_OK);
        CHECK(!channel || channel == found);
    }
    return NULL;
}

static void every_name_is_won_by_one_thread(void)
{
    gyre_registry *registry = make();
    pthread_t threads[THREADS];
    adder adders[THREADS];
    int added = 0;

    REQUIRE(registry != NULL);
    for (int i = 0; i < THREADS; i++) {
        adders[i] = (adder){registry, i, 0};
        REQUIRE(pthread_create(&threads[i], NULL, add_all, &adders[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        added += adders[i].added;
    }
    CHECK(added == CHANNELS && count(registry) == CHANNELS);
    gyre_registry_destroy(registry);
}

static const test_case cases[] = {
    TEST(what_was_added_is_found),
    TEST(what_is_missing_is_named),
    TEST(names_that_are_none_are_refused),
    TEST(taken_name_is_refused_and_stays),
    TEST(channel_that_cannot_be_is_not_there),
    TEST(defaults_have_the_seeds_sizes),
    TEST(requests_may_all_be_calls),
    TEST(deaf_listener_holds_up_no_event),
    TEST(commands_in_gpu_release_what_they_refer_to),
    TEST(defaults_come_all_or_not_at_all),
    TEST(failing_allocator_leaves_nothing),
    TEST(channels_of_a_failing_allocator_leave_room),
    TEST(visit_is_in_order_of_name),
    TEST(close_frees_whoever_waits),
    TEST(options_are_looked_at),
    TEST(forked_child_may_only_destroy),
    TEST(every_name_is_won_by_one_thread),
};
TEST_MAIN(cases)
