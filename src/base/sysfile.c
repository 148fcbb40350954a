/* SPDX-License-Identifier: Apache-2.0
 *
 * sysfile: see sysfile.h.
 */
#include "base/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads to the end of the file or of the buffer; the bytes read, or -1. */
static ssize_t read_whole(int fd, char *buffer, size_t size)
{
    size_t length = 0;

    while (length < size) {
        const ssize_t got = read(fd, buffer + length, size - length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

/* The file, cut at the buffer's end and terminated; false, and "", when it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length;

    text[0] = '\0';
    if (fd < 0)
        return false;
    length = read_whole(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length >= 0;
}

bool gyre_sysfile_read(gyre_sysfile *file, const char *format, ...)
{
    char path[PATH_MAX];
    const int root_length = snprintf(path, sizeof path, "%s", file->root);
    va_list args;
    int path_length;

    file->text[0] = '\0';
    if (root_length < 0 || (size_t)root_length >= sizeof path)
        return false;
    va_start(args, format);
    path_length = vsnprintf(path + root_length, sizeof path - (size_t)root_length, format, args);
    va_end(args);
    if (path_length < 0 || (size_t)path_length >= sizeof path - (size_t)root_length)
        return false;
    return read_text(path, file->text, GYRE_SYSFILE_BYTES);
}

bool gyre_sysfile_line(const char *path, char *line, size_t size)
{
    const bool read = read_text(path, line, size);

    line[strcspn(line, "\n")] = '\0';
    return read;
}

bool gyre_sysfile_exists(const gyre_sysfile *file, const char *path)
{
    char whole[PATH_MAX];
    const int length = snprintf(whole, sizeof whole, "%s%s", file->root, path);

    return length > 0 && (size_t)length < sizeof whole && access(whole, F_OK) == 0;
}
