/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda: what the files of this backend share. The slots are those of dev/backend.h.
 *
 * A call makes the device's context current only when it is not, and takes it off again: whoever
 * uses CUDA beside us on the same thread finds its own context where it left it.
 *
 * After a fault that the driver keeps (gyre_cuda_sticky) every call of that context fails, and so
 * would those of a new one, so the device is dead to this process: `open` says GYRE_DEVICE_LOST. A
 * kernel that hangs does less: a new context works beside it, but destroying any context of the
 * process then waits for it. So from the first gyre_dev that was abandoned while it hung, contexts
 * are left where they are when they are closed.
 *
 * Threads   as dev/backend.h says.
 * Owns      the driver's libraries, to the end of the process.
 */
#ifndef GYRE_BACKENDS_CUDA_H
#define GYRE_BACKENDS_CUDA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cuda/cuda_api.h"
#include "dev/backend.h"
#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_CUDA_DEVICES_MOST = 64 }; /* as many as gyre_device.reach has bits */

typedef struct gyre_cuda_odd gyre_cuda_odd; /* cuda_memory.c */

struct gyre_dev {
    const gyre_cu_api *cu;
    uint32_t index;
    int device; /* CUdevice */
    gyre_cu_context *context;
    bool adopted;
    uint32_t quiet;   /* shared: 1: it was abandoned */
    uint32_t faulted; /* shared: 1: the driver reported something that it keeps */
    int architecture; /* 90 */
    int shared_most;  /* bytes of a block */
    int priority_least, priority_greatest;
    gyre_cu_context *peer; /* shared: the last one whose memory was made reachable */
    pthread_mutex_t mutex;
    gyre_cuda_odd *odd; /* under it */
    char shut[192];     /* likewise: why there is no window to its memory, once that is known */
};

struct gyre_dev_stream {
    gyre_dev *dev;
    gyre_cu_stream *stream;
    bool adopted;
};

struct gyre_dev_kernel {
    gyre_dev *dev;
    gyre_cu_function *function;
    const gyre_dev_argument *arguments;
    uint32_t argument_count;
    gyre_dev_kernel *next; /* of the module */
};

/* The driver's functions. The first call opens it, and its answer stays: GYRE_UNAVAILABLE with the
 * reason when there is none. */
GYRE_MUST_USE gyre_status gyre_cuda_driver(const gyre_cu_api **out_api);

/* GYRE_OK when there is one, and how many devices and which version, as 13000, it has. */
GYRE_MUST_USE gyre_status gyre_cuda_driver_describe(uint32_t *out_count, int *out_version);

/* For tests: forgets the driver, the devices' deaths and everything else, and opens the first of
 * `files` next time; NULL: the usual ones. Nothing of the old one may be in use. */
void gyre_cuda_driver_forget(const char *const *files);

/* The same for the library that tells how devices are. */
void gyre_cuda_nvml_forget(const char *const *files);

/* `return gyre_cuda_fail(dev, result, "cuMemAlloc of %zu bytes", size);` The sentence gets the
 * result's name behind it. Remembers what is sticky. `dev` may be NULL. */
#define gyre_cuda_fail(dev, result, ...)                                                           \
    gyre_cuda_fail_at((dev), (result), __FILE__, __LINE__, __VA_ARGS__)
GYRE_MUST_USE gyre_status gyre_cuda_fail_at(gyre_dev *dev, int result, const char *file,
                                            int32_t line, const char *format, ...)
    GYRE_PRINTF(5, 6);

/* What a caller can do about a result; GYRE_OK and GYRE_AGAIN too. Pure. */
gyre_status gyre_cuda_status(int result);

/* Whether the driver answers everything with this result from now on. Pure. */
bool gyre_cuda_sticky(int result);

/* Remembers a sticky result where no status can be returned. */
void gyre_cuda_note(gyre_dev *dev, int result);

/* Whether device `index` is dead to this process. */
bool gyre_cuda_dead(uint32_t index);

/* Whether the driver is not to be asked to free what is this device's. */
bool gyre_cuda_quiet(const gyre_dev *dev);

/* Whether a context of this process was abandoned while it hung: destroying any would wait. */
bool gyre_cuda_hung(void);

/* Makes the device's context current; `out_pushed` is for gyre_cuda_leave, which is called after
 * success only. */
GYRE_MUST_USE gyre_status gyre_cuda_enter(gyre_dev *dev, bool *out_pushed);
void gyre_cuda_leave(gyre_dev *dev, bool pushed);

/* The attribute of a device, or 0. */
int gyre_cuda_attribute(const gyre_cu_api *cu, int device, int attribute);

/* Maps whole pages of device memory by GDRCopy's module; NULL, and why not, where that cannot be.
 * The descriptor is closed after the mapping has ended, and before the memory is freed. */
void *gyre_cuda_gdrdrv_map(void *block, size_t size, int *out_fd, char *why, size_t why_size);

/* For tests: the device file of that module, and what answers in place of ioctl; NULL: the usual
 * ones. */
void gyre_cuda_gdrdrv_is(const char *path,
                         int (*stand_in)(int fd, unsigned long request, void *arg));

/* Frees what is known of blocks that nobody gave back. */
void gyre_cuda_forget_odd(gyre_dev *dev);

/* NVRTC, opened by the first call. "NVRTC 13.0", or GYRE_UNAVAILABLE. */
GYRE_MUST_USE gyre_status gyre_cuda_nvrtc_name(char *text, size_t text_size);

/* The compile slot for architecture 90 or whatever, without a driver. */
GYRE_MUST_USE gyre_status gyre_cuda_nvrtc_compile(int architecture, const gyre_dev_source *source,
                                                  void **out_image, size_t *out_size);

/* GYRE_CORRUPT for an image that says itself that it is longer than it is: the driver would read
 * on. Pure. */
GYRE_MUST_USE gyre_status gyre_cuda_image_check(const void *image, size_t size);

/* The parameters of a copy as one box of the driver's; false when one is not enough. */
bool gyre_cuda_box(const gyre_dev_copy *copy, gyre_cu_box *out_box);

/* A pattern as the driver fills it. Two values: they alternate. */
typedef struct gyre_cuda_pattern {
    uint32_t bytes; /* 1, 2 or 4 */
    uint32_t value[2];
    bool two;
    size_t count; /* of `bytes`; with two values, of each */
} gyre_cuda_pattern;
gyre_cuda_pattern gyre_cuda_pattern_of(const gyre_dev_fill *fill);

/* Where each argument is: at most GYRE_ARGUMENTS_MOST pointers. */
void gyre_cuda_parameters(const gyre_dev_launch *launch, const void **out_pointers);

/* The slots. */
gyre_status gyre_cuda_probe(uint32_t *out_count, char *text, size_t text_size);
gyre_status gyre_cuda_describe(uint32_t index, gyre_device *out_device);
gyre_status gyre_cuda_compiler(uint32_t index, char *text, size_t text_size);
gyre_status gyre_cuda_look(uint32_t index, gyre_device_state *out_state);
gyre_status gyre_cuda_open(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev);
void gyre_cuda_abandon(gyre_dev *dev);
void gyre_cuda_close(gyre_dev *dev);
void *gyre_cuda_native(gyre_dev *dev, gyre_dev_stream *stream);
gyre_status gyre_cuda_room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total);
gyre_status gyre_cuda_take(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                           void **out_block);
void gyre_cuda_give(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size);
gyre_status gyre_cuda_window_open(gyre_dev *dev, size_t size, gyre_dev_window *out_window);
void gyre_cuda_window_close(gyre_dev *dev, const gyre_dev_window *window);
gyre_status gyre_cuda_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                              size_t *out_size);
gyre_status gyre_cuda_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                  gyre_dev_module **out_module);
void gyre_cuda_module_close(gyre_dev_module *module);
gyre_status gyre_cuda_kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                  gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel);
gyre_status gyre_cuda_residency(gyre_dev_kernel *kernel, uint32_t block_threads,
                                uint32_t shared_bytes, uint32_t *out_blocks);
gyre_status gyre_cuda_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                  gyre_dev_stream **out_stream);
void gyre_cuda_stream_close(gyre_dev_stream *stream);
gyre_status gyre_cuda_poll(gyre_dev_stream *stream);
gyre_status gyre_cuda_launch(gyre_dev_stream *stream, const gyre_dev_launch *launch);
gyre_status gyre_cuda_copy(gyre_dev_stream *stream, const gyre_dev_copy *copy);
gyre_status gyre_cuda_fill(gyre_dev_stream *stream, const gyre_dev_fill *fill);
gyre_status gyre_cuda_words(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count);
gyre_status gyre_cuda_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event);
void gyre_cuda_event_close(gyre_dev_event *event);
gyre_status gyre_cuda_event_record(gyre_dev_event *event, gyre_dev_stream *stream);
gyre_status gyre_cuda_event_poll(gyre_dev_event *event);
gyre_status gyre_cuda_event_wait(gyre_dev_stream *stream, gyre_dev_event *event);
gyre_status gyre_cuda_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns);
gyre_status gyre_cuda_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                 gyre_dev_graph **out_graph);
void gyre_cuda_graph_close(gyre_dev_graph *graph);
gyre_status gyre_cuda_graph_update(gyre_dev_graph *graph, uint32_t node,
                                   const gyre_dev_launch *launch);
gyre_status gyre_cuda_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph);

#endif
