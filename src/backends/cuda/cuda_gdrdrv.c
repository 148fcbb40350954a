/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_gdrdrv: device memory mapped into the host by GDRCopy's kernel module, version 2.
 *
 * The module pins what lies at an address of the device, for the descriptor by which it was asked,
 * and the number that it gives is the page of the descriptor from which to map. When the descriptor
 * is closed nothing is pinned any more. Its calls are known here by their numbers: no library of
 * GDRCopy's is needed.
 *
 * Threads   any.
 * Owns      nothing: the descriptor is the caller's, with the mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/cuda/cuda.h"

enum { INTERFACE = 2 }; /* the major version */

typedef struct version {
    uint32_t module; /* major << 16 | minor */
    uint32_t least;  /* the interface that whoever calls must know, likewise */
} version;

typedef struct pin {
    uint64_t address, size;
    uint64_t token; /* not for memory of the same process */
    uint32_t space; /* likewise */
    uint32_t unused;
    uint64_t handle; /* out */
} pin;
_Static_assert(sizeof(pin) == 40, "as the module has it");

#define ASK_VERSION _IOWR(0xDA, 255, void *) /* the size of a pointer is part of its number */
#define ASK_PIN _IOWR(0xDA, 1, pin)

static int ask(int fd, unsigned long request, void *arg)
{
    return ioctl(fd, request, arg);
}

static const char *file = "/dev/gdrdrv";
static int (*module)(int fd, unsigned long request, void *arg) = ask;

void gyre_cuda_gdrdrv_is(const char *path, int (*stand_in)(int, unsigned long, void *))
{
    file = path ? path : "/dev/gdrdrv";
    module = stand_in ? stand_in : ask;
}

static void *map(int fd, void *block, size_t size, char *why, size_t why_size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    version found = {0};
    pin pinned = {.address = (uint64_t)(uintptr_t)block, .size = size};
    void *host;

    if (module(fd, ASK_VERSION, &found) != 0) {
        snprintf(why, why_size, "does not tell its version (%s)", strerror(errno));
        return NULL;
    }
    if (found.module >> 16 != INTERFACE || found.least >> 16 != INTERFACE) {
        snprintf(why, why_size, "of version %u.%u, and %d is known", found.module >> 16,
                 found.module & 0xffff, INTERFACE);
        return NULL;
    }
    if (module(fd, ASK_PIN, &pinned) != 0) {
        snprintf(why, why_size, "pins nothing (%s)", strerror(errno));
        return NULL;
    }
    host = pinned.handle > INT64_MAX / page ? MAP_FAILED
                                            : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                                   fd, (off_t)(pinned.handle * page));
    if (host == MAP_FAILED) {
        snprintf(why, why_size, "mmap refused (%s)", strerror(errno));
        return NULL;
    }
    return host;
}

void *gyre_cuda_gdrdrv_map(void *block, size_t size, int *out_fd, char *why, size_t why_size)
{
    void *host;

    *out_fd = open(file, O_RDWR | O_CLOEXEC);
    if (*out_fd < 0) {
        if (errno == ENOENT)
            snprintf(why, why_size, "not there");
        else
            snprintf(why, why_size, "cannot be opened (%s)", strerror(errno));
        return NULL;
    }
    host = map(*out_fd, block, size, why, why_size);
    if (!host) {
        close(*out_fd);
        *out_fd = -1;
    }
    return host;
}
