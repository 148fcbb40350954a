/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx: the code that NVIDIA's compilers make, run by the host's processor, for tests.
 *
 * A machine without a GPU has NVRTC all the same, and so the very instructions that a GPU would
 * get. Here they are taken apart (ptx_parser.h) and done one after another for warps of 32 lanes
 * (ptx_step.c), which are let go in turns (ptx_run.c). Lanes of a warp diverge and meet as on a
 * GPU since Volta: each has a place of its own in the code, and waits where an instruction says for
 * whom. So what is found here is what does not depend on time: wrong slots, lost messages,
 * deadlocks of warps, reads outside of any block of memory, which is looked at for every access.
 * Loads and stores are weaker than the host's (ptx_memory.c). Nothing is found about speed.
 *
 * What it knows is what Gyre's kernels use, and a module with anything else is refused with its
 * line. Recursion, calls by address, textures and half floats are not there.
 *
 * Threads   a module is constant once it is parsed. A run is one thread's.
 * Owns      a module owns its code and its variables.
 * Not here  streams, memory and everything else that a driver has (driver.h).
 */
#ifndef GYRE_TESTS_PTX_H
#define GYRE_TESTS_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_LANES = 32, PTX_CALLS = 8, PTX_PARAMETERS = 32, PTX_BARRIERS = 16 };

typedef enum ptx_space {
    PTX_GENERIC,
    PTX_GLOBAL, /* constants too */
    PTX_SHARED,
    PTX_LOCAL,
    PTX_ENTRY, /* what a kernel was launched with */
    PTX_CALL,  /* what a function is called with, and returns */
} ptx_space;

typedef struct ptx_instruction {
    uint16_t operation;
    uint8_t size;      /* memory: bytes of an element, */
    uint8_t count;     /* how many there are, */
    uint8_t space;     /* ptx_space, */
    uint8_t is_signed; /* and whether it is extended by its sign */
    uint8_t negated;   /* the guard */
    uint8_t kind;      /* what an operation has several of */
    uint8_t releases;  /* memory: what was stored before is seen before, */
    uint8_t acquires;  /* and what is loaded afterwards is no older */
    int32_t guard;     /* a predicate; -1: none */
    int32_t to[4];     /* registers; -1: none */
    int32_t from[4];
    int64_t offset;  /* memory */
    uint32_t target; /* of a branch; of a call, its number */
    uint32_t line;
} ptx_instruction;

/* Registers are numbered through the module, predicates behind the others. Constants and what a
 * lane is (its index, say) are registers that nobody writes. */
typedef enum ptx_origin {
    PTX_PLAIN,
    PTX_CONSTANT,
    PTX_TID, /* three of each */
    PTX_NTID = PTX_TID + 3,
    PTX_CTAID = PTX_NTID + 3,
    PTX_NCTAID = PTX_CTAID + 3,
    PTX_LANEID = PTX_NCTAID + 3,
    PTX_WARPID,
    PTX_SMID,
    PTX_LANEMASK_EQ,
    PTX_LANEMASK_LT,
    PTX_LANEMASK_LE,
    PTX_LANEMASK_GT,
    PTX_LANEMASK_GE,
    PTX_DYNAMIC_SHARED, /* where that begins */
    PTX_CLOCK,          /* from here on they change */
    PTX_CLOCK64,
    PTX_GLOBALTIMER,
    PTX_GLOBALTIMER_LO,
    PTX_GLOBALTIMER_HI,
} ptx_origin;

typedef struct ptx_register {
    uint8_t bytes; /* 0: a predicate */
    uint8_t origin;
    bool is_half;   /* of 16 bytes, with the one before or behind */
    uint64_t value; /* of a constant */
} ptx_register;

/* Some bytes of a lane's memory for calls that go elsewhere. */
typedef struct ptx_copy {
    uint32_t to, from, bytes;
} ptx_copy;

typedef struct ptx_call {
    uint32_t target; /* instruction */
    uint32_t function;
    uint32_t count;
    ptx_copy arguments[PTX_PARAMETERS];
    ptx_copy result; /* no bytes: none */
} ptx_call;

typedef struct ptx_parameter {
    uint32_t at, bytes;
} ptx_parameter;

typedef struct ptx_function {
    char *name;
    bool is_entry;
    bool is_whole;       /* not only declared */
    uint32_t first, end; /* of its code */
    uint32_t threads_most;
    uint32_t parameter_count;
    uint32_t parameter_bytes;
    ptx_parameter parameters[PTX_PARAMETERS];
    ptx_parameter result;
} ptx_function;

typedef struct ptx_module {
    ptx_instruction *code;
    ptx_register *registers;
    ptx_function *functions;
    ptx_call *calls;
    uint32_t code_count, function_count, call_count;
    uint32_t register_count, value_count; /* of these, predicates not */
    uint32_t shared_bytes;                /* that are not asked for at the launch */
    uint32_t local_bytes;                 /* of a lane */
    uint32_t call_bytes;                  /* likewise */
    void **variables;                     /* global ones; driver_memory.c knows them */
    uint32_t variable_count;
} ptx_module;

/* NULL, and `why` names line and cause, when it is no module, or one with something unknown. */
ptx_module *ptx_module_parse(const char *text, char *why, size_t why_size);
void ptx_module_free(ptx_module *module);
const ptx_function *ptx_module_find(const ptx_module *module, const char *text);

typedef struct ptx_launch {
    const ptx_module *module;
    const ptx_function *function;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* more than the module's */
    uint8_t *parameters;
    bool all_at_once;     /* cooperative: every block is there from the beginning */
    const uint32_t *stop; /* shared: anything but 0 ends it */
    uint64_t seed;        /* of the turns that warps have */
} ptx_launch;

/* Runs it to its end. 0, or one of the driver's results for a fault, and `why` says which. */
int ptx_run(const ptx_launch *launch, char *why, size_t why_size);

/* Registers hold addresses as numbers. */
static inline void *ptx_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

/* The block of memory that devices may reach around an address; false: none. driver_memory.c */
bool ptx_reaches(uint64_t address, uint64_t *out_begin, uint64_t *out_end);
void *ptx_variable_take(size_t bytes);
void ptx_variable_give(void *variable);

#endif
