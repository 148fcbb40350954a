/* SPDX-License-Identifier: Apache-2.0
 *
 * reply: one answer to one item sent through a channel.
 *
 * A caller takes a ticket from the channel's table, sends an item that carries it, and waits; the
 * receiver answers with the ticket. The answer is written into the table, never to the caller: one
 * that has given up may be gone, stack and all, and the late answer is told so. Tickets are never
 * used twice (they carry a generation), and nothing is allocated.
 *
 * Threads   any; a ticket is waited for by one thread. Nothing is for signal handlers. Edges:
 *           [reply-claim], [reply-answer]; tests/models/reply.pml is this protocol for spin.
 * Owns      nothing: the table is the channel's.
 * Not here  the channel (gyre/channel.h).
 */
#ifndef GYRE_REPLY_H
#define GYRE_REPLY_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/channel.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* Names one call of one channel; 0 is none. */
typedef uint64_t gyre_reply;

enum { GYRE_ANSWER_BYTES = 40 };

/* What is answered: a status and up to 40 bytes, which may hold a gyre_bytes and then own it. */
typedef struct gyre_answer {
    gyre_status status;
    uint32_t size;
    alignas(8) unsigned char bytes[GYRE_ANSWER_BYTES];
} gyre_answer;

/* Sends an item and waits for its answer. GYRE_OK: *out_answer is what was answered, whatever its
 * status says. Otherwise it is empty: GYRE_TIMEOUT when the deadline passed first (a late answer
 * gets GYRE_CANCELLED), GYRE_CLOSED when the channel was closed before the answer came,
 * GYRE_CANCELLED when the item was dropped from a full queue or nobody subscribes, GYRE_AGAIN when
 * all of the channel's `calls` are open, and what gyre_channel_send returns. Whether the item was
 * handed over does not show in these: one that refers to something is sent by gyre_call_begin.
 * Under GYRE_DELIVER_ALL the first answer counts, and a call that every subscriber missed waits
 * for its deadline. Blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_call(gyre_channel *channel, uint32_t priority,
                                             const void *item, size_t size, uint64_t deadline_ns,
                                             gyre_answer *out_answer);

/* The first half of gyre_call: afterwards wait for the reply, or give it up. *out_reply is 0 on
 * failure. Blocks as gyre_channel_send. */
GYRE_API GYRE_MUST_USE gyre_status gyre_call_begin(gyre_channel *channel, uint32_t priority,
                                                   const void *item, size_t size,
                                                   uint64_t deadline_ns, gyre_reply *out_reply);

/* A ticket by itself, to be sent inside an item or by any other way. GYRE_AGAIN when all are open,
 * GYRE_CLOSED. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_reply_take(gyre_channel *channel, gyre_reply *out_reply);

/* Answers. The first answer counts. GYRE_CANCELLED: nobody waits any more, or it was answered
 * already; what the bytes refer to stays the caller's. GYRE_INVALID: more than GYRE_ANSWER_BYTES,
 * or no ticket of this channel. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_reply_send(gyre_channel *channel, gyre_reply reply,
                                                   gyre_status status, const void *bytes,
                                                   size_t size);

/* Waits for the answer. GYRE_OK: here it is, and the ticket is used up. GYRE_CLOSED,
 * GYRE_CANCELLED: as for gyre_call, and it is used up too. GYRE_TIMEOUT: not yet, and the ticket
 * still stands. GYRE_INVALID: no open ticket. Blocks; with a deadline of 0 it never does. */
GYRE_API GYRE_MUST_USE gyre_status gyre_reply_wait(gyre_channel *channel, gyre_reply reply,
                                                   uint64_t deadline_ns, gyre_answer *out_answer);

/* Gives a ticket up: GYRE_OK, and whoever answers it gets GYRE_CANCELLED. Or the answer was there
 * already: GYRE_AGAIN, and gyre_reply_wait returns it at once, so that nothing it refers to is
 * lost. GYRE_INVALID: no open ticket. Blocks no longer than an answer is being written. */
GYRE_API GYRE_MUST_USE gyre_status gyre_reply_give(gyre_channel *channel, gyre_reply reply);

GYRE_END_DECLS

#endif
