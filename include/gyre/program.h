/* SPDX-License-Identifier: Apache-2.0
 *
 * program: a piece of code for devices, in as many languages as there are devices for.
 *
 * The entries have the same names and the same arguments in each language. A backend takes what it
 * can run: the CPU and the null device C functions; CUDA an image, else source; OpenCL its source.
 *
 * Threads   plain data.
 * Owns      nothing.
 * Not here  loading (gyre/kernel.h), what the compiler made (gyre/cache.h).
 */
#ifndef GYRE_PROGRAM_H
#define GYRE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"

GYRE_BEGIN_DECLS

/* Which block of which grid a C function shall compute; it loops over the block's threads itself.
 */
typedef struct gyre_block {
    uint32_t index[3];     /* of this block, below grid[] */
    uint32_t grid[3];      /* blocks */
    uint32_t threads[3];   /* of each block */
    uint32_t shared_bytes; /* at */
    void *shared;          /* aligned to 64, any content; NULL when 0 bytes were asked for */
} gyre_block;

/* Computes one block. Blocks of one launch run in any order, several at once on other threads. */
typedef void (*gyre_function)(const gyre_block *block, const void *parameters);

typedef struct gyre_entry {
    const char *name;
    gyre_function function;
} gyre_entry;

/* A text that the source may #include by its name. */
typedef struct gyre_include {
    const char *name;
    const char *text;
} gyre_include;

/* What is missing is NULL. */
typedef struct gyre_program {
    size_t struct_size;            /* sizeof(gyre_program): lets the struct grow */
    const char *name;              /* for messages: what a build log calls the file */
    const gyre_entry *functions;   /* up to one without a name; outlives the kernels */
    const void *cuda_image;        /* a cubin, fatbin or PTX, and */
    size_t cuda_image_bytes;       /* its size */
    const char *cuda;              /* CUDA C; entries are extern "C" */
    const char *opencl;            /* OpenCL C */
    const char *const *defines;    /* "NAME" or "NAME=VALUE", up to a NULL; for both sources */
    const gyre_include *includes;  /* up to one without a name; for both sources */
    const char *const *options;    /* more words for CUDA's compiler, up to a NULL */
    const char *const *cl_options; /* likewise for OpenCL's */
} gyre_program;

GYRE_END_DECLS

#endif
