/* SPDX-License-Identifier: Apache-2.0
 *
 * reply: the table of answers that a channel owns. See gyre/reply.h and reply.c.
 */
#ifndef GYRE_FLOW_REPLY_H
#define GYRE_FLOW_REPLY_H

#include <stdatomic.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/reply.h"
#include "gyre/status.h"

enum {
    GYRE_CALLS_MOST = 4096,
    GYRE_FIRST_LOOKS = 64, /* at what a thread waits for, before it reads a clock: about 1 us */
};

typedef struct gyre_reply_slot gyre_reply_slot;

typedef struct gyre_reply_table {
    gyre_reply_slot *slots; /* borrowed: part of the channel's block */
    uint32_t count;
    uint32_t serial; /* of the channel: part of every ticket */
    _Atomic uint64_t late;
} gyre_reply_table;

/* The bytes that a table of that many slots needs, and the table over zeroed bytes aligned to 64.
 */
size_t gyre_reply_table_bytes(uint32_t count);
void gyre_reply_table_init(gyre_reply_table *table, void *bytes, uint32_t count);

/* Lets the processor fetch the reply's line, where there is a reply. */
void gyre_reply_table_prefetch(const gyre_reply_table *table, gyre_reply reply);

/* Says that nobody will answer: whoever waits for it gets the status. For no reply (0), and for one
 * that is answered or given up, does nothing. */
void gyre_reply_table_refuse(gyre_reply_table *table, gyre_reply reply, gyre_status status);

/* The same for every open reply. */
void gyre_reply_table_refuse_all(gyre_reply_table *table, gyre_status status);

#endif
