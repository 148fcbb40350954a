/* SPDX-License-Identifier: Apache-2.0
 *
 * adopt: an actor in a program that has CUDA already: in its context, on its memory. The driver is
 * opened by hand, so that this compiles without a toolkit; a program with cuda.h calls the same
 * functions. Without a GPU of NVIDIA it says so, and that is all.
 *
 *     cc -O2 adopt.c $(pkg-config --cflags --libs gyre) -ldl -o adopt && ./adopt
 */
#include <gyre/behaviour.h>

typedef struct nothing {
    gyre_abi_u32 unused;
} nothing;

typedef struct done {
    gyre_abi_u32 count;
} done;

/* Doubles the numbers that the message refers to. */
GYRE_BEHAVIOUR(twice, nothing, GYRE_WIDTH_BLOCK)
{
    const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
    GYRE_GLOBAL gyre_abi_u32 *const numbers = GYRE_PAYLOAD(gyre_abi_u32);

    for (gyre_abi_u32 i = self->lane; i < count; i += self->lanes)
        numbers[i] *= 2;
    GYRE_ANSWER(done)->count = count;
}

#ifdef GYRE_HOST

#include <dlfcn.h>

#include "example.h"

enum { COUNT = 1000, BYTES = COUNT * 4 };

/* What cuda.h declares; a CUdeviceptr is as large as a pointer. */
typedef struct cuda {
    int (*init)(unsigned flags);
    int (*context_create)(void **context, unsigned flags, int device);
    int (*context_destroy)(void *context);
    int (*allocate)(void **address, size_t bytes);
    int (*release)(void *address);
    int (*to_device)(void *to, const void *from, size_t bytes);
    int (*from_device)(void *to, const void *from, size_t bytes);
} cuda;

static int find(cuda *cu)
{
    static const char *const names[] = {"cuInit",         "cuCtxCreate_v2", "cuCtxDestroy_v2",
                                        "cuMemAlloc_v2",  "cuMemFree_v2",   "cuMemcpyHtoD_v2",
                                        "cuMemcpyDtoH_v2"};
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    void *addresses[sizeof names / sizeof names[0]];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        addresses[i] = library ? dlsym(library, names[i]) : NULL;
        if (!addresses[i])
            return 0;
    }
    memcpy(cu, addresses, sizeof *cu);
    return cu->init(0) == 0;
}

/* The numbers are in memory of cuMemAlloc. The actor stays where it is while they are copied:
 * copies do not wait for it. */
static gyre_status call(const cuda *cu, gyre_port *port, void *numbers, uint32_t *out_wrong)
{
    uint32_t ours[COUNT];
    gyre_brief message, answer;
    gyre_status status;

    for (uint32_t i = 0; i < COUNT; i++)
        ours[i] = i;
    *out_wrong = COUNT;
    memset(&message, 0, sizeof message);
    message.flags = GYRE_BRIEF_REFERS;
    message.body.reference.address = numbers;
    message.body.reference.size = BYTES;
    if (cu->to_device(numbers, ours, BYTES) != 0)
        return GYRE_OK;
    status = gyre_port_call(port, &message, &answer, example_soon());
    if (status != GYRE_OK || cu->from_device(ours, numbers, BYTES) != 0)
        return status;
    for (uint32_t i = 0; i < COUNT; i++)
        *out_wrong -= ours[i] == 2 * i;
    printf("%u numbers doubled in our own memory, %u of them wrong\n", answer.body.words[0],
           *out_wrong);
    return GYRE_OK;
}

/* In a context that is somebody's: ours here. */
static int run(const cuda *cu, void *theirs, void *numbers)
{
    gyre_context_options options;
    uint32_t wrong = COUNT;
    gyre_status status;
    example it;

    memset(&it, 0, sizeof it);
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.adopt = theirs;
    status = gyre_context_create(gyre_device_find("cuda"), &options, &it.context);
    if (status == GYRE_OK)
        status = example_launch(&it, &twice);
    if (status == GYRE_OK)
        status = call(cu, it.port, numbers, &wrong);
    example_tell("adopt", status);
    example_end(&it); /* the driver's context stays */
    return status != GYRE_OK || wrong > 0;
}

int main(void)
{
    void *context = NULL, *numbers = NULL;
    int failed = 1;
    cuda cu;

    if (!find(&cu) || cu.context_create(&context, 0, 0) != 0) {
        printf("there is no GPU of NVIDIA here\n");
        return 0;
    }
    if (cu.allocate(&numbers, BYTES) == 0) {
        failed = run(&cu, context, numbers);
        cu.release(numbers); /* after the actor has gone: this would wait for it */
    }
    cu.context_destroy(context);
    return failed;
}

#endif
