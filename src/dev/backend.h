/* SPDX-License-Identifier: Apache-2.0
 *
 * backend: the seam between devices and everything above them: one const table per backend.
 *
 * A backend is mechanism only. Deadlines, strikes, tickets, caching, argument checks, limits and
 * merging exist once, above (dev/, exec/); a backend may rely on every launch being within its
 * device's limits, every size being positive and every handle being one that it made. No slot is
 * NULL: one that a backend does not need is a gyre_no_* of dev/backend_no.h, and features say so.
 *
 * Failures are statuses with a detail (base/fail.h) that carries the driver's code and name. A
 * backend never aborts, prints or retries. GYRE_DEVICE_LOST means that the driver will refuse this
 * gyre_dev from now on; above, it is latched.
 *
 * Memory is addresses: a block of device memory has one, of which any offset can be given to copies
 * and kernels (an OpenCL device without shared virtual memory is in trouble, see gyre_device).
 *
 * Threads   calls for one gyre_dev_stream are made by one thread at a time, except poll; everything
 *           else may be called by any thread at any time.
 * Owns      nothing: the tables are static.
 * Not here  the list of backends (backends/backends.c), which nothing includes.
 */
#ifndef GYRE_DEV_BACKEND_H
#define GYRE_DEV_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/device.h"
#include "gyre/program.h"
#include "gyre/status.h"

/* What each backend makes of these is its own affair. */
typedef struct gyre_dev gyre_dev;               /* an opened device */
typedef struct gyre_dev_stream gyre_dev_stream; /* of one */
typedef struct gyre_dev_event gyre_dev_event;
typedef struct gyre_dev_module gyre_dev_module; /* loaded code */
typedef struct gyre_dev_kernel gyre_dev_kernel; /* an entry of a module, which owns it */
typedef struct gyre_dev_graph gyre_dev_graph;

typedef struct gyre_dev_options {
    void *adopt;        /* the driver's context to use; NULL: open a new one */
    uint32_t workers;   /* threads of the CPU; never 0 there */
    const char *faults; /* "" or what shall go wrong; only with GYRE_FEATURE_FAULTS */
} gyre_dev_options;

typedef enum gyre_dev_memory {
    GYRE_DEV_MEMORY_DEVICE = 0,
    GYRE_DEV_MEMORY_PINNED = 1,
} gyre_dev_memory;

/* Device memory that the host writes where it lies. */
typedef struct gyre_dev_window {
    void *host;     /* to be written, by 16 bytes that are aligned, and never read */
    void *device;   /* the same, for kernels */
    size_t size;    /* in whole pages */
    const char *by; /* what made it possible; static */
    int fd;         /* owned, and kept for the mapping; -1: none */
} gyre_dev_window;

/* One argument of a kernel, in its order. */
typedef struct gyre_dev_argument {
    uint32_t offset; /* in the parameters */
    uint32_t size;   /* 0: shared memory, as a pointer, for backends that pass it so */
    bool pointer;    /* an address of device memory */
} gyre_dev_argument;

/* Source to compile. Lists end with NULL, or an include without a name. */
typedef struct gyre_dev_source {
    const char *name;
    const char *text;
    const char *const *defines; /* "NAME" or "NAME=VALUE" */
    const char *const *options; /* words for the compiler */
    const gyre_include *includes;
} gyre_dev_source;

/* Code to load: exactly one of the two. */
typedef struct gyre_dev_code {
    const void *image; /* what compile made, or an image from elsewhere */
    size_t image_bytes;
    const gyre_entry *functions; /* up to one without a name; outlives the module */
    const char *const *entries;  /* up to NULL: kernels that will be opened; NULL: unknown */
} gyre_dev_code;

/* Which kernel, and how it is called. */
typedef struct gyre_dev_kernel_request {
    const char *entry;
    const gyre_dev_argument *arguments; /* outlive the kernel */
    uint32_t argument_count;
    uint32_t parameters_bytes; /* up to the end of the last argument */
} gyre_dev_kernel_request;

typedef struct gyre_dev_kernel_facts {
    uint32_t block_threads_most; /* 0: unknown, like all */
    uint32_t registers;
    uint32_t shared_bytes;
    uint32_t local_bytes;
} gyre_dev_kernel_facts;

typedef struct gyre_dev_launch {
    gyre_dev_kernel *kernel;
    uint32_t grid[3], block[3]; /* no zeros */
    uint32_t shared_bytes;
    bool cooperative;
    const void *parameters; /* parameters_bytes of the request, aligned to 16; copied by launch */
} gyre_dev_launch;

/* Rows of `width` bytes in slices of `height` rows: never 0, and pitches are set. One row in one
 * slice is a plain copy. */
typedef struct gyre_dev_copy {
    void *to;
    const void *from;
    size_t width, height, depth;
    size_t to_pitch, to_slice;
    size_t from_pitch, from_slice;
    gyre_dev *from_dev; /* whose memory `from` is, when another than the stream's; else NULL */
} gyre_dev_copy;

typedef struct gyre_dev_fill {
    void *to;
    unsigned char pattern[8];
    size_t pattern_size; /* 1, 2, 4 or 8 */
    size_t count;
} gyre_dev_fill;

enum { GYRE_DEV_WORDS_MOST = 4 }; /* in one submission */

typedef enum gyre_dev_word_kind {
    GYRE_DEV_WORD_WRITE = 0,
    GYRE_DEV_WORD_WAIT = 1, /* until it is that */
} gyre_dev_word_kind;

/* A word of pinned memory, aligned to its size. */
typedef struct gyre_dev_word {
    gyre_dev_word_kind kind;
    uint32_t value;
    uint32_t *at;
} gyre_dev_word;

typedef enum gyre_dev_node_kind {
    GYRE_DEV_NODE_LAUNCH = 0,
    GYRE_DEV_NODE_COPY = 1,
    GYRE_DEV_NODE_FILL = 2,
} gyre_dev_node_kind;

/* A node waits for earlier ones only, so the order of the array is one in which they can run. */
typedef struct gyre_dev_node {
    gyre_dev_node_kind kind;
    union {
        gyre_dev_launch launch;
        gyre_dev_copy copy;
        gyre_dev_fill fill;
    } as;
    const uint32_t *after; /* indices of nodes */
    uint32_t after_count;
} gyre_dev_node;

typedef struct gyre_backend {
    const char *name; /* "cpu"; of letters */

    /* Looking. `probe` opens the driver, once: how many devices there are, and the driver's version
     * in `text`. GYRE_UNAVAILABLE, with what is missing, when there is no driver. `describe` fills
     * in a zeroed row but for struct_size, name, backend and index; a device that cannot be used
     * still gets a row, with its trouble. `compiler` names what compile would use, for the cache's
     * key; GYRE_UNAVAILABLE when there is none. `look` gets a state that is all -1, and opens no
     * context. */
    gyre_status (*probe)(uint32_t *out_count, char *text, size_t text_size);
    gyre_status (*describe)(uint32_t index, gyre_device *out_device);
    gyre_status (*compiler)(uint32_t index, char *text, size_t text_size);
    gyre_status (*look)(uint32_t index, gyre_device_state *out_state);

    /* A device in use. `abandon`: it does not answer; from now on every close and give of what is
     * its own frees what the host holds and asks nothing of a driver that might wait: everything on
     * the device stays where it is. Nothing else is called for it any more. `native`: what the
     * driver calls the device's context, or the stream where there is one. `room`: device memory
     * that is free. */
    gyre_status (*open)(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev);
    void (*abandon)(gyre_dev *dev);
    void (*close)(gyre_dev *dev);
    void *(*native)(gyre_dev *dev, gyre_dev_stream *stream);
    gyre_status (*room)(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total);

    /* Memory, aligned as asked up to 4096. */
    gyre_status (*take)(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                        void **out_block);
    void (*give)(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size);

    /* A window of zeros; GYRE_UNSUPPORTED, with what was tried. Writes are late until a fence. */
    gyre_status (*window_open)(gyre_dev *dev, size_t size, gyre_dev_window *out_window);
    void (*window_close)(gyre_dev *dev, const gyre_dev_window *window);

    /* Code. `compile` returns an image from gyre_alloc(NULL, size, 1), and hands whatever the
     * compiler said to gyre_build_log_set (dev/build_log.h), whether or not it failed. GYRE_BUILD
     * when the source is wrong. `module_open` gives GYRE_CORRUPT for an image that the driver does
     * not take. `kernel_open` loads for good, so that no first launch does; it compares the
     * arguments with what the driver knows: GYRE_INVALID. `residency`: blocks on one unit. */
    gyre_status (*compile)(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                           size_t *out_size);
    gyre_status (*module_open)(gyre_dev *dev, const gyre_dev_code *code,
                               gyre_dev_module **out_module);
    void (*module_close)(gyre_dev_module *module);
    gyre_status (*kernel_open)(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                               gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel);
    gyre_status (*residency)(gyre_dev_kernel *kernel, uint32_t block_threads, uint32_t shared_bytes,
                             uint32_t *out_blocks);

    /* Streams: in order. `adopt` is the driver's own, or NULL. `poll`: GYRE_OK when drained,
     * GYRE_AGAIN when busy, else the fault; any thread. After GYRE_OK everything that was submitted
     * can be seen. `stream_close` comes when the stream is drained or its device abandoned. There
     * is room for GYRE_PENDING_MOST submissions with two timed events each: above, nothing can be
     * done about a call that waits for more behind a launch that hangs. One may give up:
     * GYRE_TIMEOUT. */
    gyre_status (*stream_open)(gyre_dev *dev, void *adopt, int32_t priority,
                               gyre_dev_stream **out_stream);
    void (*stream_close)(gyre_dev_stream *stream);
    gyre_status (*poll)(gyre_dev_stream *stream);
    gyre_status (*launch)(gyre_dev_stream *stream, const gyre_dev_launch *launch);
    gyre_status (*copy)(gyre_dev_stream *stream, const gyre_dev_copy *copy);
    gyre_status (*fill)(gyre_dev_stream *stream, const gyre_dev_fill *fill);

    /* Words, one after another, all or none of them. Whoever sees a word that was written sees what
     * the stream did before; what comes behind a wait sees what was done before the word became
     * what is waited for. GYRE_UNSUPPORTED for kinds that a backend has not. */
    gyre_status (*words)(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count);

    /* Events. `event_poll` as poll, for the last record; `event_between` after both are reached. */
    gyre_status (*event_open)(gyre_dev *dev, bool timed, gyre_dev_event **out_event);
    void (*event_close)(gyre_dev_event *event);
    gyre_status (*event_record)(gyre_dev_event *event, gyre_dev_stream *stream);
    gyre_status (*event_poll)(gyre_dev_event *event);
    gyre_status (*event_wait)(gyre_dev_stream *stream, gyre_dev_event *event);
    gyre_status (*event_between)(gyre_dev_event *from, gyre_dev_event *to, double *out_ns);

    /* Graphs. GYRE_UNSUPPORTED from graph_open: the nodes are submitted one by one instead. The
     * nodes are copied; their kernels stay. */
    gyre_status (*graph_open)(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                              gyre_dev_graph **out_graph);
    void (*graph_close)(gyre_dev_graph *graph);
    gyre_status (*graph_update)(gyre_dev_graph *graph, uint32_t node,
                                const gyre_dev_launch *launch);
    gyre_status (*graph_submit)(gyre_dev_stream *stream, gyre_dev_graph *graph);
} gyre_backend;

/* All of them, up to a NULL; the first is the CPU. Defined in backends/backends.c. */
extern const gyre_backend *const gyre_backends[];

/* The backend of a device. Never NULL. */
const gyre_backend *gyre_backend_of(const gyre_device *device);

#endif
