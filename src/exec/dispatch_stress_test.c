/* SPDX-License-Identifier: Apache-2.0
 *
 * Several clients of one dispatcher at once, each with buffers of its own, two to a stream.
 */
#include "exec/dispatch_fake.h"
#include "gyre/thread.h"

enum { CLIENTS = 4, ROUNDS = 300, WORDS = 64 };

typedef struct client {
    const fixture *f;
    uint32_t index;
    _Atomic uint32_t sent, released;
    gyre_thread *thread;
} client;

static gyre_command on(const client *c, gyre_command command)
{
    command.stream = c->index % 2;
    return command;
}

/* Sends the words, changes them on the device without waiting, and reads them back. */
static void round_trip(client *c, uint64_t buffer, void *address, uint32_t round)
{
    uint32_t words[WORDS];
    gyre_dispatch_answer answer;
    gyre_bytes bytes;

    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = round * 31 + i * c->index;
    CHECK(gyre_bytes_take(gyre_dispatch_memory(c->f->dispatch), sizeof words, &bytes) == GYRE_OK);
    memcpy(gyre_bytes_writable(&bytes), words, sizeof words);
    CHECK(send(c->f, on(c, to_device(buffer, 0, bytes))));
    CHECK(send(c->f, on(c, launch(c->f, address, WORDS, 3, c->index))));
    if (round % 3 == 0)
        CHECK(call(c->f, on(c, launch(c->f, address, WORDS, 1, 0)), NULL) == GYRE_OK);
    if (round % 7 == 0)
        CHECK(call(c->f, on(c, synchronize(0)), NULL) == GYRE_OK);
    CHECK(call(c->f, on(c, from_device(buffer, 0, sizeof words)), &answer) == GYRE_OK);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = words[i] * 3 + c->index;
    CHECK(answer.bytes.size == sizeof words && memcmp(answer.bytes.data, words, sizeof words) == 0);
    gyre_bytes_release(&answer.bytes);
}

/* A call that is given up at once, or not: its bytes are released once all the same. */
static void give_up(client *c, uint64_t buffer)
{
    gyre_command command;
    gyre_bytes bytes;
    gyre_status status;

    CHECK(gyre_bytes_wrap("give up", 8, count_release, &c->released, &bytes) == GYRE_OK);
    atomic_fetch_add(&c->sent, 1);
    command = on(c, to_device(buffer, 0, bytes));
    status = gyre_dispatch_call(c->f->channel, 0, &command, gyre_clock_after_ns(2000), NULL);
    CHECK(status == GYRE_OK || status == GYRE_TIMEOUT);
}

static void run_client(void *arg)
{
    client *const c = arg;
    uint64_t kernel;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t buffer;
        void *address;

        if (!make(c->f, WORDS * sizeof(uint32_t), &buffer, &address)) {
            CHECK(!"a buffer");
            return;
        }
        round_trip(c, buffer, address, round);
        if (round % 5 == 0)
            give_up(c, buffer);
        if (round % 50 == 0)
            CHECK(open_kernel(c->f, "affine", "pointer u32 u32", &kernel));
        CHECK(call(c->f, on(c, from_device(1, 0, 1)), NULL) == GYRE_NOT_FOUND);
        CHECK(gyre_dispatch_deallocate(c->f->dispatch, buffer) == GYRE_OK);
    }
}

static void stress(const char *device)
{
    const gyre_dispatch_options options = {
        .struct_size = sizeof options, .streams = 2, .pending_most = 4};
    static client clients[CLIENTS];
    fixture f;

    if (!gyre_device_find(device))
        SKIP("GYRE_BACKENDS leaves it out");
    REQUIRE(begin(&f, device, NULL, &options));
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){.f = &f, .index = i};
        CHECK(gyre_thread_start(run_client, &clients[i], NULL, &clients[i].thread) == GYRE_OK);
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        gyre_thread_stop(clients[i].thread);
    for (uint32_t i = 0; i < 2; i++)
        CHECK(call(&f, synchronize(i), NULL) == GYRE_OK);
    CHECK(figures(&f).pending == 0 && figures(&f).unheard == 0 && figures(&f).buffers == 0);
    CHECK(figures(&f).failures == (uint64_t)CLIENTS * ROUNDS);
    end(&f);
    for (uint32_t i = 0; i < CLIENTS; i++)
        CHECK(atomic_load(&clients[i].released) == atomic_load(&clients[i].sent));
}

static void clients_do_not_disturb_each_other_on_the_null_device(void)
{
    stress("null");
}

static void clients_do_not_disturb_each_other_on_the_cpu(void)
{
    stress("cpu");
}

static const test_case cases[] = {
    TEST(clients_do_not_disturb_each_other_on_the_null_device),
    TEST(clients_do_not_disturb_each_other_on_the_cpu),
};
TEST_MAIN(cases)
