/* SPDX-License-Identifier: Apache-2.0
 *
 * port: how a thread talks to an actor.
 *
 * A message is a gyre_brief: a type, a priority and 40 bytes, or a reference to memory that host
 * and device reach; 32 bytes, if it has a deadline. It is sent, or called with: then an answer
 * comes. A port has rings of its own to every seat of its actor, so nothing is shared with other
 * threads and no lock is taken. Messages of one port to one seat arrive in the order in which they
 * were sent. A call that finds nothing of its port under way rings the bell, which is the fastest
 * way.
 *
 * A port stays valid when its actor ends: calls then return GYRE_CLOSED, or GYRE_DEVICE_LOST with
 * the reason. One that is away (GYRE_ACTOR_LEAVE) is brought back by whoever sends or waits, which
 * may take as long as its handshake_ns, whatever the deadline; GYRE_NO_MEMORY when others have
 * taken its place: a message that was sent is handled when it is back, one that was not is not. In
 * a forked child everything returns GYRE_UNAVAILABLE; closing a port is all that is left to do.
 *
 * Calls are made by the million, and look at no pointer: none may be NULL, a port, a message or
 * what is filled in, unless it is said below. Arrays may be where their count is 0.
 *
 * Threads   one at a time for a port; different ports never wait for each other.
 * Owns      its books. The rings are the actor's.
 * Not here  life (gyre/actor.h), what travels (gyre/actor_abi.h).
 */
#ifndef GYRE_PORT_H
#define GYRE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/actor.h"
#include "gyre/actor_abi.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "gyre/stream.h"

GYRE_BEGIN_DECLS

typedef struct gyre_port gyre_port;

/* What a send does when there is no room. Values are frozen. */
typedef enum gyre_port_full {
    GYRE_PORT_BLOCK = 0,       /* waits for room, up to its deadline */
    GYRE_PORT_REJECT = 1,      /* returns GYRE_AGAIN */
    GYRE_PORT_DROP_OLDEST = 2, /* is refused: the device may be reading the oldest */
} gyre_port_full;

/* Zero means default, everywhere. */
typedef struct gyre_port_options {
    size_t struct_size; /* sizeof(gyre_port_options): lets the struct grow */
    gyre_port_full full;
} gyre_port_options;

/* A port of an actor that is launched. NULL options mean all defaults. GYRE_AGAIN when all ports of
 * the launch are open; GYRE_INVALID when it is not launched, or has ended or failed since;
 * GYRE_UNSUPPORTED for GYRE_PORT_DROP_OLDEST; GYRE_NO_MEMORY; GYRE_UNAVAILABLE. Waits while
 * somebody changes the actor's life, up to 10 s. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_open(gyre_actor *actor,
                                                  const gyre_port_options *options,
                                                  gyre_port **out_port);

/* Sends a message that is not answered. Its flags may be GYRE_BRIEF_REFERS, with or without
 * GYRE_BRIEF_READS, and GYRE_BRIEF_DEADLINE; what it refers to must stay until it is handled.
 * GYRE_TIMEOUT when there was no room by the deadline (gyre/clock.h; GYRE_NEVER for none),
 * GYRE_AGAIN with GYRE_PORT_REJECT; GYRE_CLOSED, GYRE_DEVICE_LOST. May block for room only. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_send(gyre_port *port, const gyre_brief *message,
                                                  uint64_t deadline_ns);

/* The same for many. *out_count is how many were sent, always the first; with another status than
 * GYRE_OK the rest was not. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_send_many(gyre_port *port, const gyre_brief *messages,
                                                       size_t count, uint64_t deadline_ns,
                                                       size_t *out_count);

/* Sends a message and waits for its answer. GYRE_TIMEOUT when it had not come by the deadline: the
 * message may still be handled, and the answer is dropped when it comes. GYRE_INVALID when the
 * behaviour called it a failure, with the code as `native` of the detail and as the first word of
 * out_answer; GYRE_TIMEOUT as well when the message was late itself. Otherwise as ask. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_call(gyre_port *port, const gyre_brief *message,
                                                  gyre_brief *out_answer, uint64_t deadline_ns);

/* The same for many at once, answers in the order of the messages. A failure of one is flagged in
 * its answer (GYRE_BRIEF_FAILED) and none of the call. With another status than GYRE_OK the first
 * answers, as many as came, are there, and all others are flagged GYRE_BRIEF_MISSING: their
 * messages may have been sent, and be handled yet. GYRE_AGAIN, and nothing was sent, when as many
 * answers to questions are due of a seat as ask allows: receive some. It waits for other room, also
 * with GYRE_PORT_REJECT. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_call_many(gyre_port *port, const gyre_brief *messages,
                                                       gyre_brief *out_answers, size_t count,
                                                       uint64_t deadline_ns);

/* Sends a message whose answer is received later, with the cookie. GYRE_AGAIN when as many answers
 * are due as the port has room for, whatever the deadline: receive some. That is `capacity` of the
 * launch, of the seat that is to get it. Answers that came and are not received hold up nothing
 * else; but one that has not come may: what is to be answered waits for room while another has been
 * under way for `capacity` of them. GYRE_NO_MEMORY for the first of a port. Otherwise as send. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_ask(gyre_port *port, const gyre_brief *message,
                                                 uint64_t cookie, uint64_t deadline_ns);

/* A stream, of the actor's context, wakes the actor: the message is handled after everything that
 * was submitted to the stream before, without the host. Sends return at once, and the message has
 * its place among those of the port from now on. What the port sends later is handled later by
 * GYRE_WIDTH_BLOCK, and on one lane; so nothing of the port is handled before the stream comes.
 * With GYRE_BRIEF_REFERS the behaviour sees what the stream wrote. Pause, park and drain wait for
 * the stream as for the message. GYRE_UNSUPPORTED where streams write no words (gyre/stream.h), and
 * where the actor cannot wait so long (GYRE_FEATURE_TIME_LIMIT); what gyre_stream_words returns
 * otherwise, and then nothing was sent; and as send. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_send_after(gyre_port *port, gyre_stream *stream,
                                                        const gyre_brief *message,
                                                        uint64_t deadline_ns);

/* The same with an answer, as ask. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_ask_after(gyre_port *port, gyre_stream *stream,
                                                       const gyre_brief *message, uint64_t cookie,
                                                       uint64_t deadline_ns);

/* The actor signals a stream: asks, and what is submitted to the stream from now on waits, on the
 * device, until it is answered. With GYRE_BRIEF_REFERS that sees what the behaviour wrote. The
 * answer is received as usual, and need not be for the stream to go on. When the actor ends or
 * fails, streams go on without their answers; that it hangs is found out by who waits for it on a
 * port, not by who waits for the stream. Of each seat a port has up to 16 such streams; one more
 * waits for room, and so does one for an actor that is not active. GYRE_UNSUPPORTED where streams
 * wait for no words. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_ask_before(gyre_port *port, gyre_stream *stream,
                                                        const gyre_brief *message, uint64_t cookie,
                                                        uint64_t deadline_ns);

/* Both: a step of the stream that the actor does. Handled after everything before, answered before
 * everything later. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_ask_between(gyre_port *port, gyre_stream *stream,
                                                         const gyre_brief *message, uint64_t cookie,
                                                         uint64_t deadline_ns);

typedef struct gyre_port_answer {
    uint64_t cookie;
    gyre_brief brief;
} gyre_port_answer;

/* An answer to something asked: the next that is there, of each seat in the order of asking. One
 * that says that the message failed, or was late, is an answer like others: GYRE_OK, and it is
 * flagged GYRE_BRIEF_FAILED, with the code as its first word. GYRE_TIMEOUT; GYRE_NOT_FOUND when no
 * answer is due. GYRE_CLOSED, GYRE_DEVICE_LOST when the actor has ended or failed and what came
 * before is received: the others are still due, but do not come. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_receive(gyre_port *port, gyre_port_answer *out_answer,
                                                     uint64_t deadline_ns);

/* Up to `count` of those that are there, and at least one, for which it waits. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_receive_many(gyre_port *port,
                                                          gyre_port_answer *out_answers,
                                                          size_t count, uint64_t deadline_ns,
                                                          size_t *out_count);

/* Waits until one of several ports has an answer to receive, and says which. Fair to all.
 * GYRE_TIMEOUT; GYRE_NOT_FOUND when no answer of any is due, as of no port at all. GYRE_CLOSED,
 * GYRE_DEVICE_LOST when the actor of one has ended or failed while answers of it are due and none
 * of all is there; *out_index is that port, which is to be left out then. Otherwise it is 0. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_wait_any(gyre_port *const *ports, size_t count,
                                                      uint64_t deadline_ns, size_t *out_index);

/* A file descriptor for poll and epoll, owned by the port: readable while there is an answer to
 * receive, or answers are due of an actor that has ended, for which receive returns the reason. Do
 * not read it. When it is readable, receive with a deadline of 0 until GYRE_TIMEOUT or
 * GYRE_NOT_FOUND; a receive that leaves no answer there makes it unreadable again. A device cannot
 * write to it: a thread of the process looks for answers while some are due, without pause at
 * first, and then with pauses that grow to 50 us. GYRE_IO when the system has none left,
 * GYRE_NO_MEMORY, GYRE_UNAVAILABLE in a forked child. Closed with the port. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_descriptor(gyre_port *port, int *out_descriptor);

/* Answers that are due: asked for and not received. Those of an actor that has ended stay due until
 * the port is closed. Never blocks. */
GYRE_API size_t gyre_port_due(const gyre_port *port);

/* Waits until everything that was sent by this port is handled. GYRE_TIMEOUT; GYRE_CLOSED,
 * GYRE_DEVICE_LOST when the actor has ended or failed before it had. */
GYRE_API GYRE_MUST_USE gyre_status gyre_port_flush(gyre_port *port, uint64_t deadline_ns);

/* Closes it; NULL is a no-op. Messages on their way are still handled, answers dropped. */
GYRE_API void gyre_port_close(gyre_port *port);

GYRE_END_DECLS

#endif
