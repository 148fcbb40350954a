/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu: what the sources of this backend share: the device, its workers, its streams.
 *
 * A stream is a ring of operations with one submitter and, at any moment, at most one worker that
 * serves it. When nothing is under way, one word hands an operation over and hands it back, and one
 * cache line travels to and fro, as in the barest exchange between two threads. A worker that has
 * done everything stays with the stream for a while. Only when one gets work and nobody is with it
 * does the submitter take the lock, and make it known as ready.
 *
 * Streams are never freed before the device: a closed one is opened again and goes on counting. So
 * a place in a stream, which is what an event is, can be asked about for ever.
 *
 * Threads   [cpu-stamp] submitter to worker, [cpu-done] worker to everybody, [cpu-serve] who serves
 *           a stream, [cpu-watch] who must be told that it moved. `lock` is held for a few
 *           instructions, and never while a kernel runs.
 * Owns      see the structs.
 */
#ifndef GYRE_BACKENDS_CPU_H
#define GYRE_BACKENDS_CPU_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/backend.h"
#include "gyre/common.h"
#include "gyre/park.h"
#include "gyre/status.h"
#include "gyre/thread.h"

enum {
    GYRE_CPU_PACES = 64,  /* functions whose pace is remembered */
    GYRE_CPU_RING = 1024, /* operations of a stream under way: all tickets that exec lets be, each
                           * with two timed events, and more; a power of two */
    GYRE_CPU_SHARED_MOST = 1 << 20, /* bytes */
    GYRE_CPU_PARAMETERS_MOST = 4096,
    GYRE_CPU_INLINE = 80, /* bytes of parameters that travel in the slot; others are allocated */
};

/* What a launch is, without the threads of a block and the parameters. */
typedef struct gyre_cpu_launch {
    gyre_function function;
    uint32_t grid[3];
    uint32_t shared_bytes;
} gyre_cpu_launch;

typedef enum gyre_cpu_kind {
    GYRE_CPU_LAUNCH,       /* parameters in the slot */
    GYRE_CPU_LAUNCH_APART, /* parameters in a block of their own */
    GYRE_CPU_COPY,
    GYRE_CPU_FILL,
    GYRE_CPU_MARK, /* a timed event is recorded */
    GYRE_CPU_WAIT, /* for a place in another stream */
    GYRE_CPU_GRAPH,
    GYRE_CPU_WORDS,
} gyre_cpu_kind;

typedef struct gyre_cpu_plan gyre_cpu_plan;   /* cpu_graph.c */
typedef struct gyre_cpu_stamp gyre_cpu_stamp; /* when an event was reached; cpu_event.c */

/* One operation. A launch with 16 bytes of parameters fills one line. */
typedef struct gyre_cpu_slot {
    /* In the ring: the position plus 1 once it is filled in [cpu-stamp]. In the express slot: the
     * turn, which is twice the number of operations done, plus 1 while it is filled in with the
     * next [cpu-done] [cpu-stamp]. */
    alignas(64) _Atomic uint64_t stamp;
    uint16_t kind;     /* gyre_cpu_kind */
    uint16_t block[3]; /* of a launch */
    union {
        struct {
            gyre_cpu_launch launch;
            union {
                alignas(16) unsigned char parameters[GYRE_CPU_INLINE];
                struct {
                    void *block; /* owned */
                    size_t bytes;
                } apart;
            };
        } run;
        gyre_dev_copy copy;
        gyre_dev_fill fill;
        gyre_cpu_stamp *mark; /* one holder */
        struct {
            gyre_dev_stream *stream;
            uint64_t position;
        } wait;
        gyre_cpu_plan *plan; /* one holder */
        struct {
            gyre_dev_word word[GYRE_DEV_WORDS_MOST];
            uint32_t count;
            uint32_t next; /* the worker's: first that is not done, */
            uint32_t vain; /* and how often it was looked at */
        } words;
    } as;
} gyre_cpu_slot;

_Static_assert(sizeof(gyre_cpu_slot) == 128, "two lines, which processors fetch together");
_Static_assert(offsetof(gyre_cpu_slot, as.run.parameters) == 48, "the first of them in line one");

/* An operation for a stream that has nothing to do goes by the express slot, others by the ring.
 * The submitter writes the turn when everything is done, and the worker otherwise: one word that
 * both write, as in the bare exchange. */
struct gyre_dev_stream {
    gyre_cpu_slot express;

    alignas(64) _Atomic uint64_t tail; /* operations submitted; the submitter's [cpu-serve] */
    gyre_spin room_spin;

    alignas(64) unsigned char gap[64]; /* the rest changes rarely, and both sides read it */
    alignas(64) _Atomic bool served;   /* ready, with a worker, or set aside [cpu-serve] */
    _Atomic uint32_t watched;          /* how many want to know of every operation [cpu-watch] */
    _Atomic uint64_t room_at;          /* what `done` must be for the submitter to go on */
    gyre_park room;                    /* where it sleeps */
    gyre_dev *dev;
    gyre_dev_stream *sibling; /* all of the device */

    /* By the device's lock. */
    gyre_dev_stream *next;        /* in the list of those that are ready, or aside */
    gyre_dev_stream *next_closed; /* which may be ready at the same time */
    gyre_dev_stream *waiting;     /* those set aside until this one has come to their `until` */
    uint64_t until;

    gyre_cpu_slot ring[GYRE_CPU_RING];
};

/* A launch of many blocks, while workers share them. */
typedef struct gyre_cpu_job gyre_cpu_job;
struct gyre_cpu_job {
    alignas(64) _Atomic uint64_t next_block; /* that nobody has claimed */
    alignas(64) uint64_t blocks, chunk;
    const gyre_cpu_launch *launch;
    const uint16_t *threads; /* of a block */
    const void *parameters;
    _Atomic uint32_t helpers; /* at work, beside the one whose job it is [cpu-job] */
    gyre_park over;
    gyre_spin over_spin;
    gyre_cpu_job *next; /* by the device's lock, like the next */
    bool listed;
};

/* How long a block of a function takes, by what its launches have taken. A guess: it is for others
 * who have the same place in the table as well, and decides only who works. */
typedef struct gyre_cpu_pace {
    _Atomic(gyre_function) function; /* whose it is */
    _Atomic uint64_t block_ns;       /* times 16 */
} gyre_cpu_pace;

typedef struct gyre_cpu_worker {
    gyre_cpu_job job; /* of the launch that it runs */
    gyre_dev *dev;
    gyre_thread *thread;
    void *shared; /* GYRE_CPU_SHARED_MOST bytes, aligned to 64 */
    gyre_spin linger_spin, idle_spin;
} gyre_cpu_worker;

typedef enum gyre_cpu_end {
    GYRE_CPU_GOES_ON = 0,
    GYRE_CPU_STOPS = 1,    /* workers leave when there is nothing to do */
    GYRE_CPU_ABANDONS = 2, /* workers start nothing any more */
} gyre_cpu_end;

/* A block that is given back with its device. */
typedef struct gyre_cpu_kept {
    void *block;
    size_t size;
    struct gyre_cpu_kept *next;
} gyre_cpu_kept;

struct gyre_dev {
    /* What workers look at while they spin: one line. */
    alignas(64) _Atomic uint32_t ready_count; /* streams that wait for a worker [cpu-ready] */
    _Atomic uint32_t job_count;               /* launches that want help [cpu-ready] */
    _Atomic uint32_t watching;                /* streams that wait for words, more or less */
    _Atomic uint32_t end;                     /* gyre_cpu_end */

    alignas(64) gyre_park idle; /* where workers sleep */
    _Atomic uint32_t alive;     /* workers that have not come to their end */

    alignas(64) pthread_mutex_t lock; /* for the lists */
    gyre_dev_stream *ready_first, *ready_last;
    gyre_dev_stream *closed; /* to be opened again */
    gyre_dev_stream *streams;
    gyre_cpu_job *jobs;
    gyre_cpu_kept *kept; /* given after it was abandoned */

    gyre_cpu_worker *workers;
    uint32_t worker_count; /* that have room */
    gyre_cpu_pace paces[GYRE_CPU_PACES];
    gyre_dev *next_abandoned;
};

/* Operations done, of a stream's turn. */
static inline uint64_t gyre_cpu_done(uint64_t turn)
{
    return turn / 2;
}

static inline bool gyre_cpu_is_abandoned(const gyre_dev *dev)
{
    /* relaxed: a flag; nothing comes with it */
    return atomic_load_explicit(&dev->end, memory_order_relaxed) == GYRE_CPU_ABANDONS;
}

struct gyre_dev_kernel {
    gyre_function function;
    uint32_t parameters_bytes;
    gyre_dev_kernel *next; /* of the module */
};

/* cpu_facts.c */
gyre_status gyre_cpu_probe(uint32_t *out_count, char *text, size_t text_size);
gyre_status gyre_cpu_describe_device(uint32_t index, gyre_device *out_device);
gyre_status gyre_cpu_look(uint32_t index, gyre_device_state *out_state);
gyre_status gyre_cpu_room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total);

/* cpu_workers.c */

/* Starts `count` workers, or none. */
GYRE_MUST_USE gyre_status gyre_cpu_workers_start(gyre_dev *dev, uint32_t count);

/* Tells them to end, without waiting. */
void gyre_cpu_workers_end(gyre_dev *dev, gyre_cpu_end how);

/* Waits until they have, and frees them. */
void gyre_cpu_workers_stop(gyre_dev *dev);

/* Makes a stream known as ready, which is served from now on. */
void gyre_cpu_ready(gyre_dev_stream *stream);

/* The same under the lock, for who wakes a worker afterwards. */
void gyre_cpu_ready_locked(gyre_dev_stream *stream);

/* Runs all blocks, with the help of other workers. */
void gyre_cpu_run(gyre_cpu_worker *worker, const gyre_cpu_launch *launch, const uint16_t block[3],
                  const void *parameters);

/* cpu_stream.c */
gyre_status gyre_cpu_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                 gyre_dev_stream **out_stream);
void gyre_cpu_stream_close(gyre_dev_stream *stream);
gyre_status gyre_cpu_poll(gyre_dev_stream *stream);
gyre_status gyre_cpu_launch_submit(gyre_dev_stream *stream, const gyre_dev_launch *launch);
gyre_status gyre_cpu_copy_submit(gyre_dev_stream *stream, const gyre_dev_copy *copy);
gyre_status gyre_cpu_fill_submit(gyre_dev_stream *stream, const gyre_dev_fill *fill);
gyre_status gyre_cpu_words_submit(gyre_dev_stream *stream, const gyre_dev_word *words,
                                  uint32_t count);

/* Room for one more operation, to be filled in and committed. Waits for it, but not behind a launch
 * that hangs: GYRE_TIMEOUT. */
GYRE_MUST_USE gyre_status gyre_cpu_begin(gyre_dev_stream *stream, gyre_cpu_slot **out_slot);
void gyre_cpu_commit(gyre_dev_stream *stream, gyre_cpu_slot *slot);

/* Whether everything before `position` is done, and can be seen. */
bool gyre_cpu_reached(const gyre_dev_stream *stream, uint64_t position);

/* cpu_serve.c */

/* Does what the stream has to do, until there is nothing, it must wait, or others are ready. */
void gyre_cpu_serve(gyre_cpu_worker *worker, gyre_dev_stream *stream);

void gyre_cpu_copy(const gyre_dev_copy *copy);
void gyre_cpu_fill(const gyre_dev_fill *fill);

/* The slot of an operation that is not done; NULL when it has not come yet. */
gyre_cpu_slot *gyre_cpu_slot_at(gyre_dev_stream *stream, uint64_t position);

/* Gives up what a slot owns. */
void gyre_cpu_slot_drop(gyre_cpu_slot *slot);

/* cpu_event.c */
gyre_status gyre_cpu_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event);
void gyre_cpu_event_close(gyre_dev_event *event);
gyre_status gyre_cpu_event_record(gyre_dev_event *event, gyre_dev_stream *stream);
gyre_status gyre_cpu_event_poll(gyre_dev_event *event);
gyre_status gyre_cpu_event_wait(gyre_dev_stream *stream, gyre_dev_event *event);
gyre_status gyre_cpu_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns);
void gyre_cpu_stamp_now(gyre_cpu_stamp *stamp);
void gyre_cpu_stamp_release(gyre_cpu_stamp *stamp);

/* cpu_graph.c */
gyre_status gyre_cpu_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                gyre_dev_graph **out_graph);
void gyre_cpu_graph_close(gyre_dev_graph *graph);
gyre_status gyre_cpu_graph_update(gyre_dev_graph *graph, uint32_t node,
                                  const gyre_dev_launch *launch);
gyre_status gyre_cpu_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph);
void gyre_cpu_plan_run(gyre_cpu_worker *worker, const gyre_cpu_plan *plan);
void gyre_cpu_plan_release(gyre_cpu_plan *plan);

#endif
