/* SPDX-License-Identifier: Apache-2.0
 *
 * thread: starts threads with all signals blocked, a name and a place. See gyre/thread.h.
 *
 * The child thread names itself before it runs the body; CPUs and the signal mask are set through
 * attributes and by the starter, so the body never runs in the wrong place or takes a signal.
 *
 * Threads   any.
 * Owns      one handle per thread.
 */
#include "gyre/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"

enum { MOST_CPUS = 1 << 16, NAME_BYTES = 16 }; /* the kernel keeps 15 and a zero */

struct gyre_thread {
    gyre_allocator allocator; /* copied; all NULL for malloc */
    pthread_t native;
    void (*body)(void *arg);
    void *arg;
    char name[NAME_BYTES];
};

/* A CPU set that holds `cpus`, for CPU_FREE; NULL with the detail written when it cannot be made.
 */
static cpu_set_t *make_set(const uint32_t *cpus, size_t count, size_t *out_bytes)
{
    uint32_t most = 0;
    cpu_set_t *set;

    if (!cpus || count == 0) {
        (void)!gyre_fail(GYRE_INVALID, "thread: the list of CPUs is empty");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (cpus[i] >= MOST_CPUS) {
            (void)!gyre_fail(GYRE_INVALID, "thread: there is no CPU %u", cpus[i]);
            return NULL;
        }
        most = cpus[i] > most ? cpus[i] : most;
    }
    set = CPU_ALLOC(most + 1);
    if (!set) {
        (void)!gyre_fail(GYRE_NO_MEMORY, "thread: no memory for a set of CPUs");
        return NULL;
    }
    *out_bytes = CPU_ALLOC_SIZE(most + 1);
    CPU_ZERO_S(*out_bytes, set);
    for (size_t i = 0; i < count; i++)
        CPU_SET_S(cpus[i], *out_bytes, set);
    return set;
}

gyre_status gyre_thread_pin_self(const uint32_t *cpus, size_t cpu_count)
{
    const gyre_status status = gyre_process_check();
    size_t bytes;
    cpu_set_t *set;
    int error;

    if (status != GYRE_OK)
        return status;
    set = make_set(cpus, cpu_count, &bytes);
    if (!set)
        return gyre_error_last()->status;
    error = pthread_setaffinity_np(pthread_self(), bytes, set);
    CPU_FREE(set);
    if (error)
        return gyre_fail_native(GYRE_INVALID, error,
                                "thread: none of %zu CPUs can be used here: %s", cpu_count,
                                strerror(error));
    return GYRE_OK;
}

static void *enter(void *handle)
{
    gyre_thread *thread = handle;

    (void)pthread_setname_np(pthread_self(), thread->name);
    thread->body(thread->arg);
    return NULL;
}

/* Stack size and CPUs go into the attributes, so that they hold from the first instruction. */
static gyre_status prepare(pthread_attr_t *attributes, const gyre_thread_options *options)
{
    if (options->stack_bytes > 0) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        const size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
        size_t bytes = options->stack_bytes > least ? options->stack_bytes : least;

        if (!gyre_size_add(bytes, page - 1, &bytes) ||
            pthread_attr_setstacksize(attributes, bytes & ~(page - 1)) != 0)
            return gyre_fail(GYRE_INVALID, "thread: a stack of %zu bytes is not possible",
                             options->stack_bytes);
    }
    if (options->cpu_count > 0) {
        size_t bytes;
        cpu_set_t *set = make_set(options->cpus, options->cpu_count, &bytes);
        int error;

        if (!set)
            return gyre_error_last()->status;
        error = pthread_attr_setaffinity_np(attributes, bytes, set);
        CPU_FREE(set);
        if (error)
            return gyre_fail_native(GYRE_INVALID, error, "thread: CPU set: %s", strerror(error));
    }
    return GYRE_OK;
}

static gyre_status launch(gyre_thread *thread, const pthread_attr_t *attributes,
                          const gyre_thread_options *options)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread->native, attributes, enter, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == EINVAL && options->cpu_count > 0)
        return gyre_fail_native(GYRE_INVALID, error,
                                "thread '%s': none of %zu CPUs can be used here", thread->name,
                                options->cpu_count);
    if (error)
        return gyre_fail_native(GYRE_NO_MEMORY, error, "thread '%s': %s", thread->name,
                                strerror(error));
    return GYRE_OK;
}

gyre_status gyre_thread_start(void (*body)(void *arg), void *arg,
                              const gyre_thread_options *options, gyre_thread **out_thread)
{
    gyre_thread_options with;
    gyre_thread *thread = NULL;
    pthread_attr_t attributes;
    gyre_status status;
    void *block;

    *out_thread = NULL;
    status = GYRE_OPTIONS_READ(with, options);
    if (status == GYRE_OK)
        status = gyre_process_use();
    if (status == GYRE_OK)
        status = gyre_allocator_check(with.allocator);
    if (status == GYRE_OK)
        status = gyre_alloc(with.allocator, 1, sizeof *thread, &block);
    if (status != GYRE_OK)
        return status;
    thread = block;
    if (with.allocator)
        thread->allocator = *with.allocator;
    thread->body = body;
    thread->arg = arg;
    snprintf(thread->name, sizeof thread->name, "%s", with.name ? with.name : "gyre");
    pthread_attr_init(&attributes);
    status = prepare(&attributes, &with);
    if (status == GYRE_OK)
        status = launch(thread, &attributes, &with);
    pthread_attr_destroy(&attributes);
    if (status != GYRE_OK) {
        gyre_free(with.allocator, thread, 1, sizeof *thread);
        return status;
    }
    *out_thread = thread;
    return GYRE_OK;
}

void gyre_thread_stop(gyre_thread *thread)
{
    gyre_allocator allocator;

    if (!thread)
        return;
    if (gyre_process_check() == GYRE_OK)
        pthread_join(thread->native, NULL);
    allocator = thread->allocator;
    gyre_free(gyre_allocator_kept(&allocator), thread, 1, sizeof *thread);
}
