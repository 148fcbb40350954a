/* SPDX-License-Identifier: Apache-2.0
 *
 * message: see message.h.
 */
#include "main/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { HEADER_BYTES = 64, FIRST_ROOM = 4096, MOST_TEXT = 256 * 1024 * 1024 };

/* Header and text in one call, so that nobody else's bytes get between them if they can be helped.
 */
static gyre_status send_bytes(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t sent = writev(fd, parts, count);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return gyre_fail_native(GYRE_IO, errno, "nobody listens any more: %s", strerror(errno));
        for (; count > 0 && (size_t)sent >= parts->iov_len; parts++, count--)
            sent -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + sent;
            parts->iov_len -= (size_t)sent;
        }
    }
    return GYRE_OK;
}

gyre_status gyre_message_send(int fd, gyre_message_kind kind, uint64_t number, const char *text,
                              size_t length)
{
    char header[HEADER_BYTES];
    const int used =
        snprintf(header, sizeof header, "%c %" PRIu64 " %zu\n", (char)kind, number, length);
    struct iovec parts[2] = {{.iov_base = header, .iov_len = (size_t)used}, {.iov_len = length}};

    memcpy(&parts[1].iov_base, &text, sizeof text); /* writev does not write to it */
    return send_bytes(fd, parts, 2);
}

gyre_status gyre_message_feed(gyre_message_reader *reader, const char *bytes, size_t length)
{
    size_t need;

    if (reader->taken > 0) { /* what was read is behind us */
        memmove(reader->bytes, reader->bytes + reader->taken, reader->used - reader->taken);
        reader->used -= reader->taken;
        reader->taken = 0;
    }
    if (!gyre_size_add(reader->used, length, &need))
        return gyre_fail(GYRE_NO_MEMORY, "a message without end");
    if (need > reader->room) {
        const size_t room = need > 2 * reader->room ? need + FIRST_ROOM : 2 * reader->room;
        void *block;
        const gyre_status status = gyre_alloc(NULL, 1, room, &block);

        if (status != GYRE_OK)
            return status;
        if (reader->used > 0)
            memcpy(block, reader->bytes, reader->used);
        gyre_free(NULL, reader->bytes, 1, reader->room);
        reader->bytes = block;
        reader->room = room;
    }
    memcpy(reader->bytes + reader->used, bytes, length);
    reader->used += length;
    return GYRE_OK;
}

/* Digits up to `end_of`, a number that fits. */
static bool take_number(const char **cursor, const char *end, char end_of, uint64_t *out_number)
{
    const char *begin = *cursor;

    *out_number = 0;
    for (; *cursor < end && **cursor >= '0' && **cursor <= '9'; ++*cursor)
        if (__builtin_mul_overflow(*out_number, 10, out_number) ||
            __builtin_add_overflow(*out_number, (uint64_t)(**cursor - '0'), out_number))
            return false;
    return *cursor > begin && *cursor < end && *(*cursor)++ == end_of;
}

static bool read_header(const char *line, const char *end, gyre_message *message)
{
    const char *cursor = line + 2;
    uint64_t length;

    if (end - line < 2 || !strchr("bpreslt", line[0]) || line[0] == '\0' || line[1] != ' ')
        return false;
    message->kind = (gyre_message_kind)line[0];
    if (!take_number(&cursor, end, ' ', &message->number) ||
        !take_number(&cursor, end, '\n', &length) || length > MOST_TEXT)
        return false;
    message->text = cursor;
    message->length = (size_t)length;
    return true;
}

gyre_status gyre_message_next(gyre_message_reader *reader, gyre_message *out_message)
{
    const char *line, *end;
    size_t left;

    *out_message = (gyre_message){.text = ""};
    left = reader->used - reader->taken;
    if (left == 0)
        return GYRE_AGAIN;
    line = reader->bytes + reader->taken;
    end = memchr(line, '\n', left < HEADER_BYTES ? left : HEADER_BYTES);
    if (!end && left < HEADER_BYTES)
        return GYRE_AGAIN;
    if (!end || !read_header(line, end + 1, out_message))
        return gyre_fail(GYRE_CORRUPT, "what the process says cannot be understood");
    if (left - (size_t)(end + 1 - line) < out_message->length) {
        *out_message = (gyre_message){.text = ""};
        return GYRE_AGAIN;
    }
    reader->taken = (size_t)(out_message->text + out_message->length - reader->bytes);
    return GYRE_OK;
}

void gyre_message_reader_fini(gyre_message_reader *reader)
{
    gyre_free(NULL, reader->bytes, 1, reader->room);
    *reader = (gyre_message_reader){0};
}
