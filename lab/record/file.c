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

static gyre_status io_failure(const char *what, const char *path, int error)
{
    return gyre_fail_native(GYRE_IO, error, "cannot %s '%s': %s", what, path, strerror(error));
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

/* Opens a new file beside `path`; its name goes to `temporary`. */
static gyre_status open_beside(const char *path, char *temporary, size_t size, int *out_fd)
{
    const int length = snprintf(temporary, size, "%s.XXXXXX", path);

    *out_fd = -1;
    if (length < 0 || (size_t)length >= size)
        return gyre_fail(GYRE_IO, "the path '%.64s...' is too long", path);
    *out_fd = mkostemp(temporary, O_CLOEXEC);
    if (*out_fd < 0)
        return io_failure("write in the folder of", path, errno);
    /* mkostemp makes it private; results are as readable as other files of the user */
    (void)fchmod(*out_fd, 0644);
    return GYRE_OK;
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
    if (status != GYRE_OK)
        return io_failure("write in the folder", folder, gyre_error_last()->native);
    close(fd);
    unlink(temporary);
    return GYRE_OK;
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

gyre_status gyre_file_replace(const char *path, void (*write)(FILE *stream, const void *arg),
                              const void *arg)
{
    char temporary[PATH_MAX];
    gyre_status status;
    FILE *stream;
    bool failed;
    int fd, error;

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
    if (fclose(stream) != 0 || failed) {
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
