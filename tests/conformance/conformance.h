/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance: what every backend must do, written once against the public headers.
 *
 * A program is a table of cases, and main is CONFORMANCE_MAIN: the first argument is a device
 * ("null", "cuda:1"), the second a case; without them every case runs on every device that can be
 * used. A device that is not there makes the program exit 77 with the reason. The device
 * "opencl_coarse" is "opencl" playing one that must be told what it shares, as those of GPUs are.
 *
 * All cases of a program share one context on each device, `on.context`, and its kernels, because
 * some drivers compile for a while; each leaves it as it was, and the loop looks whether it did.
 * What hurts a context happens in one of the case's own.
 */
#ifndef GYRE_CONFORMANCE_H
#define GYRE_CONFORMANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "chance.h"
#include "gyre/context.h"
#include "gyre/device.h"
#include "gyre/graph.h"
#include "gyre/kernel.h"
#include "gyre/program.h"
#include "gyre/stream.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define KIB ((size_t)1024)
#define MIB ((size_t)1048576)
#define MS UINT64_C(1000000) /* in nanoseconds */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The entries of the program; kernels.c says what each does. */
typedef enum kernel_id {
    KERNEL_MARK,    /* adds 1 to the cell of each thread of the grid */
    KERNEL_STEP,    /* "advance": x = x * multiply + add, later for a larger spin */
    KERNEL_TYPES,   /* writes its arguments down */
    KERNEL_TURN,    /* turns each block's words around, through shared memory */
    KERNEL_EACH,    /* adds k to n words; has a `many` entry */
    KERNEL_MEET,    /* every block waits for all of them */
    KERNEL_GATE,    /* does not end before its flag is set, or its limit is reached */
    KERNEL_NOTHING, /* has no arguments */
    KERNELS
} kernel_id;

typedef struct mark_parameters {
    uint32_t *cells;
} mark_parameters;

typedef struct step_parameters {
    uint32_t *data;
    uint32_t n, multiply, add, spin;
} step_parameters;

typedef struct types_parameters {
    uint64_t *out; /* TYPES_WORDS */
    int8_t a;
    uint8_t b;
    int16_t c;
    uint16_t d;
    int32_t e;
    uint32_t f;
    float g;
    int64_t h;
    uint64_t i;
    double j;
    struct {
        uint64_t x[3];
    } k;
    uint8_t l;
} types_parameters;

enum { TYPES_WORDS = 14, TYPES_BYTES = 81 };

typedef struct turn_parameters {
    uint32_t *data;
    uint32_t n; /* a multiple of the block */
} turn_parameters;

typedef struct each_parameters {
    uint32_t *data;
    uint32_t n, k, spin;
} each_parameters; /* 20 bytes, and 4 behind them */

typedef struct meet_parameters {
    uint32_t *counter;
    uint32_t *out; /* one for each block: what it saw of the counter in the end */
} meet_parameters;

typedef struct gate_parameters {
    const uint32_t *flag;
    uint64_t limit;
} gate_parameters;

extern const gyre_program conformance_program;
extern const char *const conformance_entries[KERNELS];
extern const char *const conformance_signatures[KERNELS];

/* Where the case runs. */
typedef struct conformance_place {
    const gyre_device *device;
    gyre_context *context;
    gyre_kernel *kernels[KERNELS]; /* of the context, as far as they were wanted */
} conformance_place;

extern conformance_place on;

/* Whether it is GYRE_OK; says what it is otherwise. */
bool ok(gyre_status status);

/* The device that is meant, or NULL, and *out_code is what main shall return. */
const gyre_device *conformance_device(const char *name, int *out_code);

/* Makes `on`, and ends it; `what is left over` is NULL when everything is as it should be. */
gyre_status conformance_begin(const gyre_device *device);
const char *conformance_end(void);

/* A kernel of on.context, which keeps it; or of any other. NULL when there is none. */
gyre_kernel *kernel_of(kernel_id id);
gyre_kernel *kernel_in(gyre_context *context, kernel_id id);

/* One of on.context, with all defaults; NULL when there is none. */
gyre_stream *stream_new(void);

/* Memory of on.context, or another, aligned to 64. NULL when there is none. */
void *take(gyre_context_memory_kind kind, size_t size);
void give(gyre_context_memory_kind kind, void *block, size_t size);
void *take_in(gyre_context *context, gyre_context_memory_kind kind, size_t size);
void give_in(gyre_context *context, gyre_context_memory_kind kind, void *block, size_t size);

/* The host's own: zeros, or NULL. */
void *host_take(size_t size);
void host_give(void *block);

/* A copy that has happened on return. */
bool put(gyre_stream *stream, void *to, const void *from, size_t size);

/* A launch of one dimension. */
gyre_launch launch_of(uint32_t grid, uint32_t block, const void *parameters, size_t size);

/* One step over n words, in blocks of 64. */
gyre_status step(gyre_stream *stream, step_parameters parameters);

void fill_random(uint64_t *state, void *to, size_t size);

/* The number of the last ticket, of the last that is through as far as was looked, and how many
 * there were. */
uint64_t ticket(gyre_stream *stream);
uint64_t completed(gyre_stream *stream);
uint64_t submitted(gyre_stream *stream);

/* Something that holds a stream up until the host says so. */
typedef struct gate {
    gyre_context *context; /* whose pinned memory the flag is; NULL: nobody's */
    uint32_t *flag;        /* NULL: there is none */
} gate;

/* Whether this device can be held up so. */
bool gates_exist(void);
uint64_t gate_limit(void); /* after which it opens by itself: many seconds */
bool gate_init(gate *it, gyre_context *context);
gyre_status gate_submit(gate *it, gyre_stream *stream, gyre_kernel *kernel);
void gate_open(gate *it);
void gate_close(gate *it); /* again, while nothing waits */
void gate_fini(gate *it);  /* open, and nothing waits */

/* Runs bodies on `count` threads at once, each with its number. */
bool together(size_t count, void (*body)(size_t number));

static inline int conformance_cases(const test_case *cases, size_t count, const char *only)
{
    size_t ran = 0, failed = 0, skipped = 0;
    const char *left;
    bool bad;

    for (size_t i = 0; i < count; i++) {
        const int before = test_failed();
        const char *result = "ok";

        if (only && strcmp(only, cases[i].name) != 0)
            continue;
        test_skip_reason = NULL;
        cases[i].run();
        ran++;
        if (test_failed() > before) {
            result = "FAIL";
            failed++;
        } else if (test_skip_reason) {
            result = "skip";
            skipped++;
        }
        printf("%-5s %s %s%s%s\n", result, on.device->name, cases[i].name,
               test_skip_reason ? ": " : "", test_skip_reason ? test_skip_reason : "");
        fflush(stdout);
    }
    left = conformance_end();
    bad = ran == 0 || failed > 0 || left;
    printf("%s %s: %zu run, %zu failed, %zu skipped; left over: %s\n", bad ? "FAIL " : "ok   ",
           on.device->name, ran, failed, skipped, left ? left : "nothing");
    if (bad)
        return 1;
    return skipped == ran ? 77 : 0;
}

static inline int conformance_main(const test_case *cases, size_t count, int argc, char **argv)
{
    const gyre_device *wanted = NULL;
    int code = 77;

    if (argc > 1) {
        wanted = conformance_device(argv[1], &code);
        if (!wanted)
            return code;
    }
    for (size_t i = 0; i < gyre_device_count(); i++) {
        const gyre_device *const device = gyre_device_at(i);
        int result = 1;

        if (wanted ? device != wanted : device->trouble[0] != '\0')
            continue;
        if (ok(conformance_begin(device)))
            result = conformance_cases(cases, count, argc > 2 ? argv[2] : NULL);
        if (code == 77 || result == 1)
            code = result == 77 ? code : result;
    }
    return code;
}

#define CONFORMANCE_MAIN(cases)                                                                    \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return conformance_main(cases, COUNT(cases), argc, argv);                                  \
    }

/* Whether compute-sanitizer has loaded itself into the process: it lets no two kernels run at once,
 * and has threads and files of its own. */
bool under_sanitizer(void);
void sleep_ns(uint64_t ns);

#endif
