/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_file: see cache_file.h.
 *
 * The head has a sum of its own, so that a listing can trust it without reading the image. A file
 * is opened without following links and without waiting, for anything may have its name.
 *
 * Threads   any; the counter of temporary names is shared.
 * Owns      nothing.
 */
#include "dev/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/text.h"

/* Where the fields of the head lie; numbers are little-endian. */
enum {
    AT_VERSION = 8,
    AT_HEAD_SUM = 12, /* of the head with 0 here */
    AT_IMAGE_BYTES = 16,
    AT_IMAGE_SUM = 24,
    AT_KEY = 32,
    AT_PROGRAM = 64,
    AT_DEVICE = 128,
    AT_COMPILER = 176,
    AT_END = 240,
    VERSION = 1,
    PIECE_BYTES = 64 * 1024,
    TRIES = 16,
};
_Static_assert(AT_DEVICE - AT_PROGRAM == sizeof((gyre_cache_head *)0)->program, "program");
_Static_assert(AT_COMPILER - AT_DEVICE == sizeof((gyre_cache_head *)0)->device, "device");
_Static_assert(AT_END - AT_COMPILER == sizeof((gyre_cache_head *)0)->compiler, "compiler");

static const unsigned char magic[8] = {'G', 'Y', 'R', 'E', 'K', 'R', 'N', 'L'};

static void put(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint32_t head_sum(const unsigned char *head)
{
    static const unsigned char zero[4];
    uint32_t sum = gyre_crc32c(head, AT_HEAD_SUM, 0);

    sum = gyre_crc32c(zero, sizeof zero, sum);
    return gyre_crc32c(head + AT_HEAD_SUM + sizeof zero,
                       GYRE_CACHE_HEAD_BYTES - AT_HEAD_SUM - sizeof zero, sum);
}

/* Cut to the field, whose last byte stays 0. */
static void put_text(unsigned char *at, size_t size, const char *text)
{
    memcpy(at, text, strnlen(text, size - 1));
}

void gyre_cache_head_write(const gyre_cache_key *key, const void *image, size_t size,
                           unsigned char head[GYRE_CACHE_HEAD_BYTES])
{
    memset(head, 0, GYRE_CACHE_HEAD_BYTES);
    memcpy(head, magic, sizeof magic);
    put(head + AT_VERSION, VERSION, 4);
    put(head + AT_IMAGE_BYTES, size, 8);
    put(head + AT_IMAGE_SUM, gyre_crc32c(image, size, 0), 4);
    memcpy(head + AT_KEY, key->text, GYRE_CACHE_KEY_BYTES);
    put_text(head + AT_PROGRAM, AT_DEVICE - AT_PROGRAM, key->program);
    put_text(head + AT_DEVICE, AT_COMPILER - AT_DEVICE, key->device);
    put_text(head + AT_COMPILER, AT_END - AT_COMPILER, key->compiler);
    put(head + AT_HEAD_SUM, head_sum(head), 4);
}

static void get_text(char *text, size_t size, const unsigned char *at)
{
    memcpy(text, at, size - 1); /* the rest is zero already */
    gyre_text_plain(text);
}

bool gyre_cache_is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == GYRE_CACHE_KEY_BYTES &&
           name[GYRE_CACHE_KEY_BYTES] == '\0';
}

bool gyre_cache_is_temporary(const char *name)
{
    const size_t length = strlen(name);

    return length > GYRE_CACHE_KEY_BYTES + 5 && name[0] == '.' &&
           strspn(name + 1, "0123456789abcdef") == GYRE_CACHE_KEY_BYTES &&
           name[GYRE_CACHE_KEY_BYTES + 1] == '.' && strcmp(name + length - 4, ".tmp") == 0;
}

const char *gyre_cache_head_read(const unsigned char *bytes, size_t size, gyre_cache_head *out_head)
{
    uint64_t image_bytes;

    memset(out_head, 0, sizeof *out_head);
    if (size < GYRE_CACHE_HEAD_BYTES)
        return "it is cut short";
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return "it is no kernel of Gyre's";
    if (get(bytes + AT_VERSION, 4) != VERSION)
        return "another version of Gyre wrote it";
    if (get(bytes + AT_HEAD_SUM, 4) != head_sum(bytes))
        return "its head is damaged";
    image_bytes = get(bytes + AT_IMAGE_BYTES, 8);
    if (image_bytes == 0 || image_bytes > GYRE_CACHE_IMAGE_MOST)
        return "its size cannot be true";
    memcpy(out_head->key, bytes + AT_KEY, GYRE_CACHE_KEY_BYTES);
    if (!gyre_cache_is_entry(out_head->key)) {
        memset(out_head, 0, sizeof *out_head);
        return "its key is none";
    }
    get_text(out_head->program, sizeof out_head->program, bytes + AT_PROGRAM);
    get_text(out_head->device, sizeof out_head->device, bytes + AT_DEVICE);
    get_text(out_head->compiler, sizeof out_head->compiler, bytes + AT_COMPILER);
    out_head->image_bytes = image_bytes;
    out_head->image_sum = (uint32_t)get(bytes + AT_IMAGE_SUM, 4);
    return NULL;
}

/* As many bytes as there are, up to `size`; fewer at the end of the file or when the disk fails. */
static size_t read_all(int fd, void *into, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got = read(fd, (unsigned char *)into + done, size - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static bool write_all(int fd, const void *from, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t put_bytes = write(fd, (const unsigned char *)from + done, size - done);

        if (put_bytes < 0 && errno == EINTR)
            continue;
        if (put_bytes == 0)
            errno = EIO;
        if (put_bytes <= 0)
            return false;
        done += (size_t)put_bytes;
    }
    return true;
}

static const char *check_sum(int fd, const gyre_cache_head *head)
{
    unsigned char piece[PIECE_BYTES];
    uint64_t left = head->image_bytes;
    uint32_t sum = 0;

    while (left > 0) {
        const size_t want = left < sizeof piece ? (size_t)left : sizeof piece;

        if (read_all(fd, piece, want) < want)
            return "it is cut short";
        sum = gyre_crc32c(piece, want, sum);
        left -= want;
    }
    return sum == head->image_sum ? NULL : "its image is damaged";
}

static const char *read_image(int fd, gyre_cache_file *file)
{
    const size_t size = (size_t)file->head.image_bytes;
    const char *why = NULL;

    if (gyre_alloc(NULL, size, 1, &file->image) != GYRE_OK)
        return "there is no memory to read it";
    if (read_all(fd, file->image, size) < size)
        why = "it is cut short";
    else if (gyre_crc32c(file->image, size, 0) != file->head.image_sum)
        why = "its image is damaged";
    if (why) {
        gyre_free(NULL, file->image, size, 1);
        file->image = NULL;
        return why;
    }
    /* the time of the last use decides what goes first; a file of somebody else's keeps its own */
    (void)futimens(fd, NULL);
    return NULL;
}

static const char *read_file(int fd, const char *name, gyre_cache_depth depth,
                             gyre_cache_file *file)
{
    unsigned char head[GYRE_CACHE_HEAD_BYTES];
    struct stat about;
    const char *why;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return "it is no plain file";
    file->size_bytes = (uint64_t)about.st_size;
    why = gyre_cache_head_read(head, read_all(fd, head, sizeof head), &file->head);
    if (why)
        return why;
    if (strcmp(file->head.key, name) != 0)
        return "its name is another's";
    if (file->size_bytes < GYRE_CACHE_HEAD_BYTES + file->head.image_bytes)
        return "it is cut short";
    if (file->size_bytes > GYRE_CACHE_HEAD_BYTES + file->head.image_bytes)
        return "there is more in it than there should be";
    if (depth == GYRE_CACHE_READ_SUM)
        return check_sum(fd, &file->head);
    return depth == GYRE_CACHE_READ_IMAGE ? read_image(fd, file) : NULL;
}

void gyre_cache_file_read(int folder, const char *name, gyre_cache_depth depth,
                          gyre_cache_file *out_file)
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    memset(out_file, 0, sizeof *out_file);
    if (fd < 0) {
        out_file->there = errno != ENOENT;
        out_file->why = errno == ENOENT  ? "it is not there"
                        : errno == ELOOP ? "it is a link"
                                         : "it cannot be read";
        return;
    }
    out_file->there = true;
    out_file->why = read_file(fd, name, depth, out_file);
    close(fd);
}

/* Opens a file that nobody else has. The process's number is in its name for people only: two
 * containers may share the folder. */
static int open_temporary(int folder, const char *key, char *name, size_t size)
{
    static _Atomic uint32_t serial;

    for (int i = 0; i < TRIES; i++) {
        /* relaxed: only distinct numbers are wanted */
        const uint32_t number = atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);
        int fd;

        snprintf(name, size, ".%s.%ld-%u.tmp", key, (long)getpid(), number);
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

const char *gyre_cache_file_write(int folder, const gyre_cache_key *key, const void *image,
                                  size_t size)
{
    unsigned char head[GYRE_CACHE_HEAD_BYTES];
    char name[GYRE_CACHE_KEY_BYTES + 48];
    const char *failed = NULL;
    int fd, problem = 0;

    gyre_cache_head_write(key, image, size, head);
    fd = open_temporary(folder, key->text, name, sizeof name);
    if (fd < 0)
        return "create";
    if (!write_all(fd, head, sizeof head) || !write_all(fd, image, size))
        failed = "write";
    else if (fsync(fd) != 0)
        failed = "fsync";
    if (failed)
        problem = errno;
    if (close(fd) != 0 && !failed) {
        failed = "close";
        problem = errno;
    }
    if (!failed && renameat(folder, name, folder, key->text) != 0 &&
        (errno != EISDIR || gyre_cache_file_remove(folder, key->text) != 0 ||
         renameat(folder, name, folder, key->text) != 0)) {
        failed = "rename";
        problem = errno;
    }
    if (failed)
        (void)unlinkat(folder, name, 0);
    errno = problem;
    return failed;
}

int gyre_cache_file_remove(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0)
        return 0;
    if (errno == EISDIR && unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return 0;
    return errno;
}
