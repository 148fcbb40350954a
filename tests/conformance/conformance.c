/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance: what the programs share; see conformance.h. Nothing here fails a test: it returns.
 */
#include "conformance.h"

#include <time.h>

#include "backends/opencl/opencl.h"
#include "gyre/memory.h"
#include "gyre/thread.h"

conformance_place on;

bool ok(gyre_status status)
{
    if (status != GYRE_OK)
        fprintf(stderr, "%s: %s: %s\n", on.device ? on.device->name : "no device",
                gyre_status_name(status),
                status == GYRE_AGAIN || status == GYRE_TIMEOUT ? "" : gyre_error_last()->text);
    return status == GYRE_OK;
}

/* Before devices are looked for. */
static void make_coarse(void)
{
    gyre_cl_found *found;
    uint32_t count;
    char text[192];

    (void)gyre_cl_probe(&count, text, sizeof text); /* without a driver there is none */
    for (uint32_t i = 0; (found = gyre_cl_found_at(i)); i++)
        found->fine = found->atomics = found->host_reach = false;
}

const gyre_device *conformance_device(const char *name, int *out_code)
{
    const gyre_device *device;
    const gyre_driver *driver;

    if (strcmp(name, "opencl_coarse") == 0) {
        make_coarse();
        name = "opencl";
    }
    device = gyre_device_find(name);
    *out_code = 77;
    if (device && device->trouble[0] == '\0' &&
        !(device->features & (GYRE_FEATURE_SOURCE | GYRE_FEATURE_FUNCTIONS))) {
        printf("skip  %s: no compiler for the kernels of tests\n", device->name);
        return NULL;
    }
    if (device && device->trouble[0] == '\0')
        return device;
    if (device) {
        printf("skip  %s: %s\n", device->name, device->trouble);
        return NULL;
    }
    for (size_t i = 0; (driver = gyre_driver_at(i)); i++)
        if (strcmp(driver->backend, name) == 0) {
            printf("skip  %s: %s\n", name, driver->text);
            return NULL;
        }
    fprintf(stderr, "%s\n", gyre_error_last()->text);
    *out_code = 1;
    return NULL;
}

gyre_status conformance_begin(const gyre_device *device)
{
    /* workers: a kernel that is held up must leave some to the others */
    const gyre_context_options options = {.struct_size = sizeof options, .workers = 4};

    on = (conformance_place){.device = device};
    return gyre_context_create(device, &options, &on.context);
}

const char *conformance_end(void)
{
    gyre_context_statistics statistics = {.struct_size = sizeof statistics};
    const char *left = NULL;

    if (gyre_context_check(on.context) == GYRE_OK) {
        if (gyre_context_describe(on.context, &statistics) != GYRE_OK)
            left = "statistics that cannot be read";
        else if (statistics.streams > 0)
            left = "streams";
        else if (statistics.device_bytes > 0)
            left = "device memory";
        else if (statistics.pinned_bytes > 0)
            left = "pinned memory";
    }
    for (size_t i = 0; i < KERNELS; i++)
        gyre_kernel_release(on.kernels[i]);
    gyre_context_destroy(on.context);
    on.context = NULL;
    return left;
}

gyre_kernel *kernel_in(gyre_context *context, kernel_id id)
{
    const gyre_kernel_options options = {.struct_size = sizeof options,
                                         .many = id == KERNEL_EACH ? "each_many" : NULL};
    gyre_kernel *kernel;

    if (ok(gyre_kernel_create(context, &conformance_program, conformance_entries[id],
                              conformance_signatures[id], &options, &kernel)))
        return kernel;
    fprintf(stderr, "%s\n", gyre_kernel_build_log());
    return NULL;
}

gyre_kernel *kernel_of(kernel_id id)
{
    if (!on.kernels[id])
        on.kernels[id] = kernel_in(on.context, id);
    return on.kernels[id];
}

gyre_stream *stream_new(void)
{
    gyre_stream *stream;

    return ok(gyre_stream_create(on.context, NULL, &stream)) ? stream : NULL;
}

void *take_in(gyre_context *context, gyre_context_memory_kind kind, size_t size)
{
    const gyre_memory *const memory = gyre_context_memory(context, kind);
    void *block;

    return memory && ok(memory->take(memory, size, 64, &block)) ? block : NULL;
}

void give_in(gyre_context *context, gyre_context_memory_kind kind, void *block, size_t size)
{
    const gyre_memory *const memory = gyre_context_memory(context, kind);

    if (block)
        memory->give(memory, block, size, 64);
}

void *take(gyre_context_memory_kind kind, size_t size)
{
    return take_in(on.context, kind, size);
}

void give(gyre_context_memory_kind kind, void *block, size_t size)
{
    give_in(on.context, kind, block, size);
}

void *host_take(size_t size)
{
    return calloc(1, size);
}

void host_give(void *block)
{
    free(block);
}

bool put(gyre_stream *stream, void *to, const void *from, size_t size)
{
    return ok(gyre_stream_copy(stream, to, from, size)) && ok(gyre_stream_sync(stream));
}

gyre_launch launch_of(uint32_t grid, uint32_t block, const void *parameters, size_t size)
{
    return (gyre_launch){
        .grid = {grid}, .block = {block}, .parameters = parameters, .parameters_size = size};
}

gyre_status step(gyre_stream *stream, step_parameters parameters)
{
    const gyre_launch launch =
        launch_of((parameters.n + 63) / 64, 64, &parameters, sizeof parameters);

    return gyre_stream_launch(stream, kernel_of(KERNEL_STEP), &launch);
}

void fill_random(uint64_t *state, void *to, size_t size)
{
    unsigned char *const bytes = to;
    size_t i = 0;

    for (; i + 8 <= size; i += 8) {
        const uint64_t word = chance_next(state);

        memcpy(bytes + i, &word, 8);
    }
    for (; i < size; i++)
        bytes[i] = (unsigned char)chance_next(state);
}

uint64_t ticket(gyre_stream *stream)
{
    return gyre_stream_ticket(stream).value;
}

uint64_t completed(gyre_stream *stream)
{
    /* acquire: what these tickets wrote is seen */
    return __atomic_load_n(gyre_stream_ticket(stream).completed, __ATOMIC_ACQUIRE);
}

uint64_t submitted(gyre_stream *stream)
{
    gyre_stream_statistics statistics = {.struct_size = sizeof statistics};

    return gyre_stream_describe(stream, &statistics) == GYRE_OK ? statistics.submitted : UINT64_MAX;
}

bool gates_exist(void)
{
    /* the null device computes in the call that submits: that would wait for itself */
    return gyre_device_has(on.device, GYRE_FEATURE_MAPPED) && on.device->kind != GYRE_DEVICE_NULL;
}

bool gate_init(gate *it, gyre_context *context)
{
    /* C functions see all memory, and one that is left behind may look at its flag for ever */
    static uint32_t flags[128], used;

    it->context = gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS) ? NULL : context;
    if (it->context)
        it->flag = take_in(context, GYRE_CONTEXT_PINNED, 64);
    else
        it->flag = used < COUNT(flags) ? &flags[used++] : NULL;
    if (it->flag)
        __atomic_store_n(it->flag, 0, __ATOMIC_RELEASE);
    return it->flag != NULL;
}

uint64_t gate_limit(void)
{
    if (gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS))
        return 20000 * MS;
    return UINT64_C(1) << (on.device->kind == GYRE_DEVICE_GPU ? 24 : 34);
}

gyre_status gate_submit(gate *it, gyre_stream *stream, gyre_kernel *kernel)
{
    const gate_parameters parameters = {.flag = it->flag, .limit = gate_limit()};
    const gyre_launch launch = launch_of(1, 1, &parameters, sizeof parameters);

    return gyre_stream_launch(stream, kernel, &launch);
}

void gate_open(gate *it)
{
    /* release [gate]: pairs with the acquire in the kernel */
    __atomic_store_n(it->flag, 1, __ATOMIC_RELEASE);
}

void gate_close(gate *it)
{
    __atomic_store_n(it->flag, 0, __ATOMIC_RELEASE);
}

void gate_fini(gate *it)
{
    if (it->context)
        give_in(it->context, GYRE_CONTEXT_PINNED, it->flag, 64);
    it->flag = NULL;
}

typedef struct member {
    void (*body)(size_t number);
    size_t number;
} member;

static void member_body(void *arg)
{
    const member *const it = arg;

    it->body(it->number);
}

bool together(size_t count, void (*body)(size_t number))
{
    enum { MOST = 16 };
    gyre_thread *threads[MOST] = {NULL};
    member members[MOST];
    bool all = count <= MOST;

    for (size_t i = 0; all && i < count; i++) {
        members[i] = (member){body, i};
        all = ok(gyre_thread_start(member_body, &members[i], NULL, &threads[i]));
    }
    for (size_t i = 0; i < count && i < MOST; i++)
        gyre_thread_stop(threads[i]);
    return all;
}

bool under_sanitizer(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "libsanitizer-collection") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}
