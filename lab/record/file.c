/* SPDX-License-Identifier: Apache-2.0
 *
 * file: see file.h.
 */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

enum { NAMES_TRIED = 100, PROBE_BYTES = 4096 };

static gyre_status io_failure(const char *what, const char *path, int error)
{
    return gyre_fail_native(GYRE_IO, error, "cannot %s '%.*s': %s", what,
                            gyre_text_cut(strlen(path)), path, strerror(error));
}

/* mkdir for every part of the path. */
static gyre_status make_folders(const char *folder)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s", folder);

    if (length <= 0 || (size_t)length >= sizeof path)
        return gyre_fail(GYRE_IO, "'%.64s' is no name for a folder", folder);
    for (char *slash = path + 1;; slash++) {
        const char end = *slash;

        if (end != '/' && end != '\0')
            continue;
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return io_failure("make the folder", path, errno);
        *slash = end;
        if (end == '\0')
            return GYRE_OK;
    }
}

/* Opens a new file beside `path`, as the user's umask has it; its name goes to `temporary`. */
static gyre_status open_beside(const char *path, char *temporary, size_t size, int *out_fd)
{
    *out_fd = -1;
    for (int i = 0; i < NAMES_TRIED; i++) {
        const int length = snprintf(temporary, size, "%s.%d.%d", path, (int)getpid(), i);

        if (length < 0 || (size_t)length >= size)
            return gyre_fail(GYRE_IO, "the path '%.64s...' is too long", path);
        *out_fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*out_fd >= 0)
            return GYRE_OK;
        if (errno != EEXIST)
            break;
    }
    return io_failure("write in the folder of", path, errno);
}

/* Whether a little fits on the disk: a run file is at least that long. */
static bool takes_bytes(int fd)
{
    static const char block[PROBE_BYTES];

    return write(fd, block, sizeof block) == (ssize_t)sizeof block && fsync(fd) == 0;
}

gyre_status gyre_folder_open(const char *folder)
{
    char probe[PATH_MAX], temporary[PATH_MAX];
    gyre_status status = make_folders(folder);
    int fd;

    if (status != GYRE_OK)
        return status;
    snprintf(probe, sizeof probe, "%s/probe", folder);
    status = open_beside(probe, temporary, sizeof temporary, &fd);
    if (status != GYRE_OK && gyre_error_last()->native != 0)
        return io_failure("write in the folder", folder, gyre_error_last()->native);
    if (status != GYRE_OK)
        return status; /* the path is too long */
    errno = ENOSPC;    /* what a short write means */
    if (!takes_bytes(fd))
        status = io_failure("write in the folder", folder, errno);
    close(fd);
    unlink(temporary);
    return status;
}

/* The rename is safe on disk once the folder is. */
static void sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int fd;

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    fd = open(folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* Into something that is no plain file. */
static gyre_status write_through(const char *path, void (*write)(FILE *stream, const void *arg),
                                 const void *arg)
{
    FILE *stream = fopen(path, "we");
    bool failed;

    if (!stream)
        return io_failure("write", path, errno);
    write(stream, arg);
    failed = ferror(stream) != 0;
    failed = fclose(stream) != 0 || failed;
    return failed ? io_failure("write", path, errno ? errno : EIO) : GYRE_OK;
}

gyre_status gyre_file_replace(const char *path, void (*write)(FILE *stream, const void *arg),
                              const void *arg)
{
    char temporary[PATH_MAX], target[PATH_MAX];
    struct stat there;
    gyre_status status;
    FILE *stream;
    bool failed;
    int fd, error;

    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return write_through(path, write, arg);
    if (realpath(path, target)) /* where the link leads */
        path = target;
    status = open_beside(path, temporary, sizeof temporary, &fd);
    if (status != GYRE_OK)
        return status;
    stream = fdopen(fd, "w");
    if (!stream) {
        status = io_failure("write", path, errno);
        close(fd);
        goto fail;
    }
    write(stream, arg);
    errno = 0;
    failed = fflush(stream) != 0 || ferror(stream) || fsync(fd) != 0;
    error = errno;
    if (fclose(stream) != 0 && !failed) {
        failed = true;
        error = errno;
    }
    if (failed) {
        status = io_failure("write", path, error ? error : EIO);
        goto fail;
    }
    if (rename(temporary, path) != 0) {
        status = io_failure("replace", path, errno);
        goto fail;
    }
    sync_folder_of(path);
    return GYRE_OK;
fail:
    unlink(temporary);
    return status;
}
