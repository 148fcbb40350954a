/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_device: finds the devices of all platforms, numbered in the order in which the loader
 * names them, and says what they can do.
 *
 * A platform that fails has no devices and does not hide the others. The loader is never closed:
 * drivers start threads that outlive every context.
 *
 * Threads   probe looks once; everything is constant afterwards.
 * Owns      the loader and the list, to the end of the process.
 * Not here  using a device (opencl_memory.c).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backends/opencl/opencl.h"
#include "base/dynlib.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"

enum { PLATFORMS_MOST = 16, DEVICES_MOST = 64, TEXT = 512 };

gyre_cl_api gyre_cl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static gyre_cl_found found[DEVICES_MOST];
static uint32_t found_count;
static gyre_error trouble; /* why there are none */
static char version[TEXT]; /* of the first platform that has devices */

/* A number that the driver tells, or 0. All that are asked for here have 4 or 8 bytes. */
static uint64_t number(cl_device *id, uint32_t what)
{
    union {
        uint32_t narrow;
        uint64_t wide;
    } value = {.wide = 0};
    size_t size = 0;

    if (gyre_cl.clGetDeviceInfo(id, what, sizeof value, &value, &size) != CL_SUCCESS)
        return 0;
    return size == sizeof value.narrow ? value.narrow : value.wide;
}

/* A line without blanks around it; "" when the driver does not tell, or too much. */
static void line(cl_device *id, uint32_t what, char *text, size_t text_size)
{
    size_t length, blanks;

    memset(text, 0, text_size);
    if (gyre_cl.clGetDeviceInfo(id, what, text_size - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    blanks = strspn(text, " ");
    length = strlen(text + blanks);
    memmove(text, text + blanks, length + 1);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
    gyre_text_plain(text);
}

static void platform_line(cl_platform *platform, uint32_t what, char *text, size_t text_size)
{
    memset(text, 0, text_size);
    if (gyre_cl.clGetPlatformInfo(platform, what, text_size - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    gyre_text_plain(text);
}

static void find_device(cl_platform *platform, cl_device *id)
{
    gyre_cl_found *const f = &found[found_count++];
    const uint64_t shared = number(id, CL_DEVICE_SVM_CAPABILITIES);
    int major = 0, minor = 0;
    char text[TEXT];

    line(id, CL_DEVICE_VERSION, text, sizeof text);
    if (sscanf(text, "OpenCL %d.%d", &major, &minor) != 2)
        major = 1;
    f->platform = platform;
    f->id = id;
    f->fine = shared & CL_SVM_FINE_GRAIN_BUFFER;
    f->atomics = f->fine && (shared & CL_SVM_ATOMICS);
    f->host_reach = f->fine && ((number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) ||
                                number(id, CL_DEVICE_HOST_UNIFIED_MEMORY));
    f->profiling = number(id, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & CL_QUEUE_PROFILING;
    f->standard = major >= 3 ? 300 : major == 2 ? 200 : 120;
    f->block_bytes = number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
}

/* The devices of a type; the driver's trouble, if it has some, and otherwise `trouble_so_far`. */
static int32_t find_of_type(cl_platform *platform, uint64_t type, int32_t trouble_so_far)
{
    cl_device *ids[DEVICES_MOST];
    uint32_t count = 0;
    const int32_t code = gyre_cl.clGetDeviceIDs(platform, type, DEVICES_MOST, ids, &count);

    if (code != CL_SUCCESS)
        return code == CL_DEVICE_NOT_FOUND ? trouble_so_far : code;
    for (uint32_t d = 0; d < count && d < DEVICES_MOST && found_count < DEVICES_MOST; d++)
        find_device(platform, ids[d]);
    return trouble_so_far;
}

/* GPUs first: the CPU has a backend of its own. */
static gyre_status find_all(void)
{
    static const uint64_t types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                     CL_DEVICE_TYPE_CPU};
    cl_platform *platforms[PLATFORMS_MOST];
    uint32_t platform_count = 0;
    int32_t code = gyre_cl.clGetPlatformIDs(PLATFORMS_MOST, platforms, &platform_count);
    int32_t last = CL_DEVICE_NOT_FOUND;

    if (code == CL_PLATFORM_NOT_FOUND || (code == CL_SUCCESS && platform_count == 0))
        return gyre_fail_native(GYRE_UNAVAILABLE, code,
                                "libOpenCL.so.1 knows no platform; install a driver that puts a "
                                "file into /etc/OpenCL/vendors");
    if (code != CL_SUCCESS)
        return gyre_fail_native(GYRE_UNAVAILABLE, code, "clGetPlatformIDs: %s (%d)",
                                gyre_cl_name(code), (int)code);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (uint32_t p = 0; p < platform_count && p < PLATFORMS_MOST; p++)
            last = find_of_type(platforms[p], types[t], last);
    if (found_count == 0)
        return gyre_fail_native(GYRE_UNAVAILABLE, last,
                                "no OpenCL platform has a device: %s (%d); look whether this user "
                                "may open /dev/dri or the vendor's device files",
                                gyre_cl_name(last), (int)last);
    platform_line(found[0].platform, CL_PLATFORM_VERSION, version, sizeof version);
    return GYRE_OK;
}

static void look_once(void)
{
#define SYMBOL(result, name, parameters) #name,
    static const char *const symbols[] = {GYRE_CL_FUNCTIONS(SYMBOL) NULL};
#undef SYMBOL
    static const char *const files[] = {"libOpenCL.so.1", NULL};
    void *table[sizeof symbols / sizeof symbols[0]];
    static gyre_dynlib *loader;
    gyre_status status;

    _Static_assert(sizeof gyre_cl == sizeof table - sizeof table[0], "one address a member");
    status = gyre_dynlib_open(files, symbols, table, &loader);
    if (status == GYRE_OK) {
        memcpy(&gyre_cl, table, sizeof gyre_cl);
        status = find_all();
    } else {
        status =
            gyre_fail(GYRE_UNAVAILABLE, "%.150s; install an OpenCL loader (ocl-icd) and a driver",
                      gyre_error_last()->text);
    }
    if (status != GYRE_OK)
        trouble = *gyre_error_last();
}

gyre_status gyre_cl_probe(uint32_t *out_count, char *text, size_t text_size)
{
    pthread_once(&once, look_once);
    *out_count = found_count;
    snprintf(text, text_size, "%s", version);
    if (found_count == 0)
        return gyre_fail_native(GYRE_UNAVAILABLE, trouble.native, "%s", trouble.text);
    return GYRE_OK;
}

gyre_cl_found *gyre_cl_found_at(uint32_t index)
{
    return index < found_count ? &found[index] : NULL;
}

/* Small letters, digits and '-' only: it is part of file names. What does not fit leaves its mark,
 * so that two devices whose names begin alike are not taken for one. */
static void describe_architecture(cl_device *id, gyre_device *d)
{
    char vendor[TEXT], name[TEXT], whole[2 * TEXT];
    char *to = d->architecture;

    line(id, CL_DEVICE_VENDOR, vendor, sizeof vendor);
    line(id, CL_DEVICE_NAME, name, sizeof name);
    snprintf(whole, sizeof whole, "%s %s", vendor, name);
    for (const char *c = whole; *c && to < d->architecture + sizeof d->architecture - 1; c++) {
        if (isalnum((unsigned char)*c))
            *to++ = (char)tolower((unsigned char)*c);
        else if (to > d->architecture && to[-1] != '-')
            *to++ = '-';
    }
    *to = '\0';
    if (strlen(whole) >= sizeof d->architecture)
        snprintf(d->architecture + sizeof d->architecture - 10, 10, "-%08x",
                 (unsigned)(gyre_hash64(whole, strlen(whole), 0) & UINT32_MAX));
}

static void describe_names(const gyre_cl_found *f, gyre_device *d)
{
    char driver[TEXT], platform[TEXT], title[TEXT];

    line(f->id, CL_DEVICE_NAME, title, sizeof title);
    snprintf(d->title, sizeof d->title, "%.*s", (int)sizeof d->title - 1, title);
    line(f->id, CL_DRIVER_VERSION, driver, sizeof driver);
    platform_line(f->platform, CL_PLATFORM_VERSION, platform, sizeof platform);
    snprintf(d->driver, sizeof d->driver, "%.24s, %.36s", driver, platform);
    describe_architecture(f->id, d);
}

static bool has_extension(const char *extensions, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = strstr(extensions, name); at; at = strstr(at + 1, name))
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void describe_features(const gyre_cl_found *f, gyre_device *d)
{
    char extensions[8192];
    uint32_t place[4]; /* domain, bus, device, function */

    line(f->id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    d->features = (number(f->id, CL_DEVICE_COMPILER_AVAILABLE) ? GYRE_FEATURE_SOURCE : 0) |
                  (f->profiling ? GYRE_FEATURE_TIMING : 0) |
                  (f->host_reach ? GYRE_FEATURE_HOST_REACH : 0) |
                  (f->fine ? GYRE_FEATURE_MAPPED : 0) |
                  (has_extension(extensions, "cl_khr_fp16") ? GYRE_FEATURE_F16 : 0) |
                  (number(f->id, CL_DEVICE_DOUBLE_FP_CONFIG) ? GYRE_FEATURE_F64 : 0) |
                  (number(f->id, CL_DEVICE_ERROR_CORRECTION_SUPPORT) ? GYRE_FEATURE_ECC : 0) |
                  (number(f->id, CL_DEVICE_HOST_UNIFIED_MEMORY) ? GYRE_FEATURE_INTEGRATED : 0);
    if (has_extension(extensions, "cl_khr_pci_bus_info") &&
        gyre_cl.clGetDeviceInfo(f->id, CL_DEVICE_PCI_BUS_INFO, sizeof place, place, NULL) ==
            CL_SUCCESS)
        snprintf(d->place, sizeof d->place, "%04x:%02x:%02x.%x", place[0], place[1], place[2],
                 place[3]);
}

static uint32_t narrow(uint64_t value)
{
    return value < INT32_MAX ? (uint32_t)value : INT32_MAX;
}

static void describe_limits(cl_device *id, gyre_device *d)
{
    size_t sizes[16] = {1, 1, 1};

    d->memory_bytes = number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->cache_bytes = number(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    d->units = narrow(number(id, CL_DEVICE_MAX_COMPUTE_UNITS));
    d->clock_mhz = narrow(number(id, CL_DEVICE_MAX_CLOCK_FREQUENCY));
    if (d->kind != GYRE_DEVICE_CPU)
        d->lanes = narrow(number(id, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE));
    if (d->lanes == 0)
        d->lanes = 1;
    d->block_threads_most = narrow(number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    (void)gyre_cl.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
    for (int i = 0; i < 3; i++) {
        d->block_most[i] = narrow(sizes[i]);
        d->grid_most[i] = i == 0 ? INT32_MAX : UINT16_MAX;
    }
    d->shared_bytes_most = narrow(number(id, CL_DEVICE_LOCAL_MEM_SIZE));
    d->parameters_most = narrow(number(id, CL_DEVICE_MAX_PARAMETER_SIZE));
}

static void describe_trouble(cl_device *id, gyre_device *d)
{
    if (!number(id, CL_DEVICE_AVAILABLE))
        snprintf(d->trouble, sizeof d->trouble, "the driver says that it is not available");
    else if (number(id, CL_DEVICE_ADDRESS_BITS) != 64)
        snprintf(d->trouble, sizeof d->trouble, "its addresses have %u bits; 64 are needed",
                 (unsigned)number(id, CL_DEVICE_ADDRESS_BITS));
    else if (!(number(id, CL_DEVICE_SVM_CAPABILITIES) & CL_SVM_COARSE_GRAIN_BUFFER))
        snprintf(d->trouble, sizeof d->trouble,
                 "its driver has no shared virtual memory (OpenCL 2.0); look for a newer one");
}

gyre_status gyre_cl_describe(uint32_t index, gyre_device *out_device)
{
    const gyre_cl_found *const f = gyre_cl_found_at(index);
    uint64_t type;

    if (!f)
        return gyre_fail(GYRE_INVALID, "there is no OpenCL device %u", index);
    type = number(f->id, CL_DEVICE_TYPE);
    out_device->kind = type & CL_DEVICE_TYPE_CPU   ? GYRE_DEVICE_CPU
                       : type & CL_DEVICE_TYPE_GPU ? GYRE_DEVICE_GPU
                                                   : GYRE_DEVICE_ACCELERATOR;
    out_device->numa_node = -1;
    out_device->reach = UINT64_C(1) << index;
    describe_names(f, out_device);
    describe_features(f, out_device);
    describe_limits(f->id, out_device);
    describe_trouble(f->id, out_device);
    return GYRE_OK;
}

gyre_status gyre_cl_compiler(uint32_t index, char *text, size_t text_size)
{
    const gyre_cl_found *const f = gyre_cl_found_at(index);
    char platform[TEXT], driver[TEXT];

    if (text_size > 0)
        text[0] = '\0';
    if (!f)
        return gyre_fail(GYRE_INVALID, "there is no OpenCL device %u", index);
    if (!number(f->id, CL_DEVICE_COMPILER_AVAILABLE))
        return gyre_fail(GYRE_UNAVAILABLE, "OpenCL device %u has no compiler", index);
    line(f->id, CL_DRIVER_VERSION, driver, sizeof driver);
    platform_line(f->platform, CL_PLATFORM_VERSION, platform, sizeof platform);
    snprintf(text, text_size, "%s, %s", driver, platform);
    return GYRE_OK;
}
