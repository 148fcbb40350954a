/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel: code for a device, from C functions, images or source.
 *
 * A kernel is one entry of a program (gyre/program.h) on one context. Source is compiled by the
 * driver and the result kept on disk (gyre/cache.h), so the second process does not compile. A
 * kernel is loaded when it is created, not when it is first launched.
 *
 * Arguments travel as one block of bytes that is laid out like a C struct: each argument at the
 * next multiple of its size. The signature declares them; it is compared with what the driver knows
 * when the kernel is created, and each launch's size with the signature.
 *
 * Threads   any.
 * Owns      a kernel is counted: gyre_kernel_retain, gyre_kernel_release. What a program points to
 *           is read during the create only, but for its functions.
 * Not here  launching (gyre/stream.h), recorded launches (gyre/graph.h).
 */
#ifndef GYRE_KERNEL_H
#define GYRE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/program.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_kernel gyre_kernel;

/* Zero means default, everywhere. */
typedef struct gyre_kernel_options {
    size_t struct_size; /* sizeof(gyre_kernel_options): lets the struct grow */
    bool no_cache;      /* compile, and keep nothing on disk */
    /* An entry of the same program that does many launches of this one at once, for graphs that
     * merge (gyre/graph.h): its arguments are a pointer to blocks of this kernel's parameters, each
     * as large as their C struct, and a u32, their number. Its grid is that of one launch in x and
     * y; z is the launch. NULL: its launches are not merged. */
    const char *many;
} gyre_kernel_options;

/* The entry `entry` of a program, loaded. `signature` names the arguments' types in order,
 * separated by blanks: pointer, i8, u8, i16, u16, i32, u32, f32, i64, u64, f64, and bytesN for a
 * struct of N bytes (a multiple of 8, placed at one); `shared` at the end for an OpenCL kernel that
 * gets its shared memory as a __local pointer, which takes no bytes. "" is a kernel without any.
 * GYRE_INVALID for a malformed signature, or one that is not the kernel's as far as the driver
 * tells; GYRE_NOT_FOUND when the program has no such entry; GYRE_UNSUPPORTED when it has no code
 * for this backend; GYRE_BUILD when the source did not compile: see gyre_kernel_build_log;
 * GYRE_CORRUPT for an image that the driver does not take; GYRE_UNAVAILABLE when there is no
 * compiler; GYRE_NO_MEMORY, GYRE_DEVICE_LOST. May block for seconds in the compiler. */
GYRE_API GYRE_MUST_USE gyre_status gyre_kernel_create(gyre_context *context,
                                                      const gyre_program *program,
                                                      const char *entry, const char *signature,
                                                      const gyre_kernel_options *options,
                                                      gyre_kernel **out_kernel);

/* What the compiler said in this thread's last gyre_kernel_create that had to compile: warnings
 * too; "" when it said nothing. Borrowed until this thread's next create. */
GYRE_API const char *gyre_kernel_build_log(void);

typedef struct gyre_kernel_facts {
    size_t struct_size;          /* set by the caller: sizeof(gyre_kernel_facts) */
    const char *name;            /* the entry; borrowed from the kernel */
    size_t parameters_bytes;     /* what a launch must give */
    uint32_t argument_count;     /* */
    uint32_t block_threads_most; /* that this kernel can have; 0: unknown, like those below */
    uint32_t registers;          /* of a thread */
    uint32_t shared_bytes;       /* of a block, beside what the launch asks for */
    uint32_t local_bytes;        /* of a thread, in device memory: spills and arrays */
    bool from_cache;             /* nothing was compiled */
    uint64_t build_ns;           /* what compiling took; 0 when nothing was */
    size_t image_bytes;          /* */
} gyre_kernel_facts;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_kernel_describe(const gyre_kernel *kernel,
                                                        gyre_kernel_facts *out_facts);

/* How many blocks of so many threads and so much shared memory are resident on the whole device at
 * once: as large as a cooperative grid may be. GYRE_UNSUPPORTED without GYRE_FEATURE_RESIDENCY,
 * GYRE_INVALID for more than a block can have. */
GYRE_API GYRE_MUST_USE gyre_status gyre_kernel_residency(const gyre_kernel *kernel,
                                                         uint32_t block_threads,
                                                         uint32_t shared_bytes,
                                                         uint32_t *out_blocks);

/* One more holder, and one less; the last unloads it. A stream is a holder of the kernels of its
 * last submissions, as many as may be under way, until it has others or is destroyed. NULL is a
 * no-op. Thread-safe; release may block in the driver. */
GYRE_API gyre_kernel *gyre_kernel_retain(gyre_kernel *kernel);
GYRE_API void gyre_kernel_release(gyre_kernel *kernel);

GYRE_END_DECLS

#endif
