/* SPDX-License-Identifier: Apache-2.0
 *
 * message: what a worker process tells the one that started it, through a pipe.
 *
 * A message is a line "KIND NUMBER LENGTH" and LENGTH bytes. The reader trusts nothing: the other
 * side runs somebody's benchmark.
 *
 * Threads   one at each end.
 * Owns      the reader's buffer, until gyre_message_reader_fini.
 */
#ifndef GYRE_MAIN_MESSAGE_H
#define GYRE_MAIN_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef enum gyre_message_kind {
    GYRE_MESSAGE_BEGIN = 'b',    /* the case of that number is begun */
    GYRE_MESSAGE_PROGRESS = 'p', /* nanoseconds left; the text is the phase */
    GYRE_MESSAGE_RESULT = 'r',   /* of the case of that number; the text is JSON */
    GYRE_MESSAGE_END = 'e',      /* everything was done */
    GYRE_MESSAGE_SORRY = 's',    /* it cannot go on; the text says why */
    GYRE_MESSAGE_LIST = 'l',     /* so many cases; the text lists them (main/listing.h) */
    GYRE_MESSAGE_TRACE = 't',    /* of the case that is begun: so many events are lost; the text is
                                  * JSON (bench/spans.h) */
} gyre_message_kind;

typedef struct gyre_message {
    gyre_message_kind kind;
    uint64_t number;
    const char *text; /* not terminated; the reader's, until it is fed again */
    size_t length;
} gyre_message;

/* Writes a message whole. GYRE_IO when nobody reads any more. May block. */
GYRE_MUST_USE gyre_status gyre_message_send(int fd, gyre_message_kind kind, uint64_t number,
                                            const char *text, size_t length);

/* Zero is a reader of nothing yet. */
typedef struct gyre_message_reader {
    char *bytes;
    size_t room, used, taken;
} gyre_message_reader;

/* Adds what was read from the pipe. GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_message_feed(gyre_message_reader *reader, const char *bytes,
                                            size_t length);

/* The next message. GYRE_AGAIN when it is not whole yet, GYRE_CORRUPT when it is none; then all
 * that follows is lost. */
GYRE_MUST_USE gyre_status gyre_message_next(gyre_message_reader *reader, gyre_message *out_message);
void gyre_message_reader_fini(gyre_message_reader *reader);

#endif
