/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_seat: see bare_seat.h.
 */
#include "suites/bare_seat.h"

#include <string.h>

#include "gyre/kernel.h"

/* The assembler reads them, from the root of the tree. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".hidden " #name "\n"                                                                  \
            ".globl " #name "\n" #name ":\n"                                                       \
            ".incbin \"" file "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n")

EMBED(gyre_bare_echo_cuda, "lab/suites/bare_echo.cu");
EMBED(gyre_bare_echo_opencl, "lab/suites/bare_echo.cl");

/* The least that a thread can do with two lines. */
static void echo(const gyre_block *block, const void *parameters)
{
    const gyre_bare_echo *p = parameters;
    const gyre_bare_line *const request = p->requests;
    gyre_bare_line *const reply = p->reply;

    (void)block;
    for (uint32_t number = 1;;) {
        const uint32_t stamp = gyre_bare_stamp(request);
        gyre_bare_body body;

        if (stamp == GYRE_BARE_QUIT)
            return;
        if (stamp != number || !gyre_bare_take(request, number, &body))
            continue;
        gyre_bare_put(reply, &body);
        number++;
    }
}

/* And the words of a payload, which was written before the request. */
static void answer_payload(const gyre_block *block, const void *parameters)
{
    const gyre_bare_block *p = parameters;
    const gyre_bare_line *const request = p->requests;
    const uint32_t *const words = p->payload;

    (void)block;
    for (uint32_t number = 1;;) {
        const uint32_t stamp = gyre_bare_stamp(request);
        gyre_bare_body body;
        uint32_t sum = 0;

        if (stamp == GYRE_BARE_QUIT)
            return;
        if (stamp != number || !gyre_bare_take(request, number, &body))
            continue;
        if (p->words && !gyre_bare_is_published(p->reply, number))
            continue;
        for (uint32_t i = 0; i < p->words; i++)
            sum += words[i];
        if (p->words)
            body.quarter[0][0] = sum;
        gyre_bare_put(p->reply, &body);
        number++;
    }
}

/* What stands in the next slot of a ring; false when it says that all is over. */
static bool take_next(const gyre_bare_rate *p, uint32_t ring, uint32_t *number,
                      gyre_bare_progress *told)
{
    const size_t slot = (size_t)ring * (p->mask + 1) + (*number & p->mask);
    const gyre_bare_line *const request = (const gyre_bare_line *)p->requests + slot;
    const uint32_t stamp = gyre_bare_stamp(request);
    gyre_bare_body body;

    if (stamp == GYRE_BARE_QUIT)
        return false;
    if (stamp != *number + 1 || !gyre_bare_take(request, stamp, &body))
        return true;
    ++*number;
    if (p->answers) {
        gyre_bare_put((gyre_bare_line *)p->replies + slot, &body);
        return true;
    }
    told->count++;
    told->sum += body.quarter[0][0];
    told->mix ^= body.quarter[3][0];
    /* release [bare-told]: pairs with the acquire in actor_floor.c; the sums are there */
    __atomic_store_n(&told->first, *number, __ATOMIC_RELEASE);
    return true;
}

static void rate(const gyre_block *block, const void *parameters)
{
    const gyre_bare_rate *p = parameters;
    uint32_t number[GYRE_BARE_RINGS] = {0};

    (void)block;
    for (uint32_t ring = 0;
         take_next(p, ring, &number[ring], (gyre_bare_progress *)p->told + ring);)
        ring = ring + 1 == p->rings ? 0 : ring + 1;
}

static const gyre_entry functions[] = {
    {"bare_echo", echo}, {"bare_block", answer_payload}, {"bare_rate", rate}, {NULL, NULL}};

/* A thread runs where the one that starts it may. */
static gyre_status open_device(gyre_bare_seat *seat, const char *backend)
{
    const gyre_context_options options = {.struct_size = sizeof options, .workers = 1};
    const gyre_partner *const found = &seat->cpus;
    gyre_status status = GYRE_OK;

    if (strcmp(backend, "cpu") == 0)
        status = gyre_thread_pin_self(&found->cpus[found->cpu_count - 1], 1);
    if (status == GYRE_OK)
        status = gyre_bench_device_open_on(&seat->device, backend, &options);
    if (status != GYRE_OK || seat->device.device->kind != GYRE_DEVICE_CPU)
        return status;
    if (found->cpu_count < 2)
        return gyre_bench_refuse(GYRE_UNSUPPORTED, "two threads spin, and there is one CPU");
    return gyre_thread_pin_self(found->cpus, 1);
}

gyre_status gyre_bare_seat_open(gyre_bare_seat *seat, const char *backend, size_t bytes)
{
    gyre_status status;

    memset(seat, 0, sizeof *seat);
    status = gyre_partner_find_cpus(&seat->cpus);
    if (status == GYRE_OK)
        status = open_device(seat, backend);
    if (status == GYRE_OK && strcmp(backend, "cpu") != 0 &&
        !gyre_device_has(seat->device.device, GYRE_FEATURE_MAPPED))
        status = gyre_bench_refuse(GYRE_UNSUPPORTED, "kernels of %s do not reach the host's memory",
                                   seat->device.device->name);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(&seat->device, GYRE_CONTEXT_PINNED, bytes, &seat->memory);
    if (status != GYRE_OK) {
        gyre_bare_seat_close(seat); /* accepts a half-built one */
        return status;
    }
    seat->bytes = bytes;
    memset(seat->memory, 0, bytes);
    return GYRE_OK;
}

gyre_status gyre_bare_seat_launch(gyre_bare_seat *seat, const char *entry, const char *signature,
                                  const gyre_launch *launch)
{
    const gyre_program program = {.struct_size = sizeof program,
                                  .name = "lab/suites/bare_echo",
                                  .functions = functions,
                                  .cuda = gyre_bare_echo_cuda,
                                  .opencl = gyre_bare_echo_opencl};
    const gyre_status status =
        gyre_kernel_create(seat->device.context, &program, entry, signature, NULL, &seat->kernel);

    return status == GYRE_OK ? gyre_stream_launch(seat->device.stream, seat->kernel, launch)
                             : status;
}

void gyre_bare_seat_close(gyre_bare_seat *seat)
{
    if (seat->device.stream)
        (void)!gyre_stream_sync(seat->device.stream);
    gyre_kernel_release(seat->kernel);
    gyre_bench_device_give(&seat->device, GYRE_CONTEXT_PINNED, seat->memory, seat->bytes);
    if (seat->device.context)
        gyre_bench_device_close(&seat->device);
    gyre_partner_stop(&seat->cpus);
    memset(seat, 0, sizeof *seat);
}
