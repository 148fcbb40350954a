/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch_fake: what the tests of the dispatcher share: a device with a channel and a dispatcher,
 * kernels that are C functions, and commands in one line.
 */
#ifndef GYRE_EXEC_DISPATCH_FAKE_H
#define GYRE_EXEC_DISPATCH_FAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "gyre/clock.h"
#include "gyre/dispatch.h"
#include "test.h"

enum { MILLISECOND = 1000000 };

/* Only something that is broken takes so long. */
#define PATIENCE_NS UINT64_C(20000000000)

typedef struct affine_parameters {
    uint32_t *to;
    uint32_t times, plus;
} affine_parameters;

/* to[block] = to[block] * times + plus: whoever runs two of them the other way round is seen. */
static inline void affine(const gyre_block *block, const void *parameters)
{
    const affine_parameters *const p = parameters;

    p->to[block->index[0]] = p->to[block->index[0]] * p->times + p->plus;
}

/* The same with parameters that do not fit a command. */
typedef struct wide_parameters {
    affine_parameters affine;
    uint64_t rest[32];
} wide_parameters;

static inline void wide(const gyre_block *block, const void *parameters)
{
    const wide_parameters *const p = parameters;

    affine(block, &p->affine);
    p->affine.to[block->index[0]] += (uint32_t)p->rest[31];
}

/* Ends when it may. */
static _Atomic bool fake_held;

static inline void hold(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
    while (atomic_load(&fake_held))
        nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL);
}

static const gyre_entry fake_entries[] = {
    {"affine", affine}, {"wide", wide}, {"hold", hold}, {NULL, NULL}};
static const gyre_program fake_program = {
    .struct_size = sizeof fake_program,
    .name = "fake",
    .functions = fake_entries,
    .cuda =
        "struct rest { unsigned long long words[32]; };\n"
        "extern \"C\" __global__ void affine(unsigned *to, unsigned times, unsigned plus)\n"
        "{ to[blockIdx.x] = to[blockIdx.x] * times + plus; }\n"
        "extern \"C\" __global__ void wide(unsigned *to, unsigned times, unsigned plus, rest r)\n"
        "{ to[blockIdx.x] = to[blockIdx.x] * times + plus + (unsigned)r.words[31]; }\n",
    .opencl = "typedef struct rest { ulong words[32]; } rest;\n"
              "__kernel void affine(__global uint *to, uint times, uint plus)\n"
              "{ to[get_group_id(0)] = to[get_group_id(0)] * times + plus; }\n"
              "__kernel void wide(__global uint *to, uint times, uint plus, rest r)\n"
              "{ to[get_group_id(0)] = to[get_group_id(0)] * times + plus + (uint)r.words[31]; }\n",
};

typedef struct fixture {
    gyre_context *context;
    gyre_channel *channel;
    gyre_dispatch *dispatch;
    uint64_t affine, wide; /* kernels */
} fixture;

static inline uint64_t soon(void)
{
    return gyre_clock_after_ns(PATIENCE_NS);
}

static inline bool open_kernel(const fixture *f, const char *entry, const char *signature,
                               uint64_t *out_id)
{
    const gyre_kernel_options options = {.struct_size = sizeof options, .no_cache = true};
    gyre_kernel *kernel = NULL;
    bool done = gyre_kernel_create(f->context, &fake_program, entry, signature, &options,
                                   &kernel) == GYRE_OK &&
                gyre_dispatch_kernel(f->dispatch, kernel, out_id) == GYRE_OK;

    gyre_kernel_release(kernel); /* the dispatcher holds it */
    return done;
}

static inline void end(fixture *f)
{
    gyre_dispatch_stop(f->dispatch);
    gyre_channel_destroy(f->channel);
    gyre_context_destroy(f->context);
    *f = (fixture){0};
}

/* Both options may be NULL. False, with what there is ended, when something fails. */
static inline bool begin(fixture *f, const char *device, const gyre_context_options *context,
                         const gyre_dispatch_options *dispatch)
{
    const gyre_channel_options channel = gyre_command_channel();

    *f = (fixture){0};
    if (gyre_context_create(gyre_device_find(device), context, &f->context) == GYRE_OK &&
        gyre_channel_create(&channel, &f->channel) == GYRE_OK &&
        gyre_dispatch_start(f->context, f->channel, dispatch, &f->dispatch) == GYRE_OK &&
        open_kernel(f, "affine", "pointer u32 u32", &f->affine) &&
        open_kernel(f, "wide", "pointer u32 u32 bytes256", &f->wide))
        return true;
    fprintf(stderr, "%s: %s\n", device, gyre_error_last()->text);
    end(f);
    return false;
}

/* A buffer and its address. */
static inline bool make(const fixture *f, size_t size, uint64_t *out_id, void **out_address)
{
    return gyre_dispatch_allocate(f->dispatch, size, GYRE_BUFFER_ZEROED, out_id) == GYRE_OK &&
           gyre_dispatch_address(f->dispatch, *out_id, out_address) == GYRE_OK;
}

static inline gyre_command to_device(uint64_t buffer, uint64_t offset, gyre_bytes data)
{
    return (gyre_command){.kind = GYRE_COMMAND_TO_DEVICE, .as.to_device = {buffer, offset, data}};
}

static inline gyre_command from_device(uint64_t buffer, uint64_t offset, uint64_t size)
{
    return (gyre_command){.kind = GYRE_COMMAND_FROM_DEVICE,
                          .as.from_device = {buffer, offset, size}};
}

static inline gyre_command synchronize(uint32_t stream)
{
    return (gyre_command){.kind = GYRE_COMMAND_SYNCHRONIZE, .stream = stream};
}

/* `count` blocks of affine. */
static inline gyre_command launch(const fixture *f, void *to, uint32_t count, uint32_t times,
                                  uint32_t plus)
{
    const affine_parameters parameters = {to, times, plus};
    gyre_command command;

    CHECK(gyre_command_launch(f->affine, (uint32_t[3]){count, 1, 1}, (uint32_t[3]){1, 1, 1},
                              &parameters, sizeof parameters, &command) == GYRE_OK);
    return command;
}

static inline gyre_status call(const fixture *f, gyre_command command, gyre_dispatch_answer *out)
{
    return gyre_dispatch_call(f->channel, GYRE_PRIORITY_NORMAL, &command, soon(), out);
}

/* Without a reply. */
static inline bool send(const fixture *f, gyre_command command)
{
    return gyre_channel_send(f->channel, GYRE_PRIORITY_NORMAL, &command,
                             gyre_command_size(&command), soon()) == GYRE_OK;
}

static inline gyre_status ask(const fixture *f, gyre_command command, gyre_reply *out_reply)
{
    return gyre_call_begin(f->channel, GYRE_PRIORITY_NORMAL, &command, gyre_command_size(&command),
                           soon(), out_reply);
}

/* The answer to it, without what it holds. */
static inline gyre_status hear(const fixture *f, gyre_reply reply)
{
    gyre_dispatch_answer heard = {.status = 0};
    gyre_answer answer;
    gyre_status status = gyre_reply_wait(f->channel, reply, soon(), &answer);

    if (status == GYRE_OK)
        status = gyre_dispatch_read(&answer, &heard);
    gyre_bytes_release(&heard.bytes);
    return status;
}

/* Whether these numbers are what the buffer holds. */
static inline bool holds(const fixture *f, uint64_t buffer, const uint32_t *numbers, size_t count)
{
    gyre_dispatch_answer answer;
    bool equal = call(f, from_device(buffer, 0, count * sizeof *numbers), &answer) == GYRE_OK;

    equal = equal && answer.bytes.size == count * sizeof *numbers &&
            memcmp(answer.bytes.data, numbers, answer.bytes.size) == 0;
    gyre_bytes_release(&answer.bytes);
    return equal;
}

static inline gyre_dispatch_statistics figures(const fixture *f)
{
    gyre_dispatch_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_dispatch_describe(f->dispatch, &s) == GYRE_OK);
    return s;
}

/* Counts how often it was released. */
static inline void count_release(void *user, const void *data, size_t size)
{
    (void)data, (void)size;
    atomic_fetch_add((_Atomic uint32_t *)user, 1);
}

static inline void nap_ms(long ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MILLISECOND},
                    NULL);
}

/* Waits until the number is there, for as long as anybody is patient. */
static inline bool comes_to(_Atomic uint32_t *number, uint32_t value)
{
    const uint64_t end_ns = soon();

    while (atomic_load(number) != value && gyre_clock_now_ns() < end_ns)
        nap_ms(1);
    return atomic_load(number) == value;
}

#endif
