/* SPDX-License-Identifier: Apache-2.0
 *
 * reply: a table of one-shot answers. See gyre/reply.h.
 *
 * A slot's word is a generation and a state, and every step of its life is one change of it:
 *
 *     free g --take--> waiting g --sleep--> asleep g
 *     waiting g, asleep g --send--> answering g --the answer is written--> answered g
 *     waiting g, asleep g --give--> free g + 1        answered g --wait--> free g + 1
 *
 * Taking and answering are compare-and-swaps, since somebody else may want the slot, or give it up;
 * the other steps belong to one thread. A ticket is the generation and, in place of the state, the
 * index of its slot, so an answer that comes too late finds another generation; the lower part of
 * the generation says which channel it is. A caller that sleeps says so in the word that the answer
 * swaps, so answering needs no look anywhere else.
 *
 * The two swaps are most of what a ticket costs, and each waits for the stores before it. So the
 * usual way through take, send and wait calls nothing and saves no registers; what is unusual is
 * apart. And whatever was written as a word is read as a word: one that is read in wider pieces, or
 * was written in narrower ones, waits until it has left the store buffer.
 *
 * Threads   any; a ticket's take, wait and give by one at a time. Edges: [reply-claim],
 *           [reply-answer]; tests/models/reply.pml is this protocol for spin.
 * Owns      nothing: the slots are part of the channel's block.
 */
#include <sched.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"
#include "base/wait.h"
#include "flow/channel.h"
#include "gyre/clock.h"

enum state { FREE = 0, WAITING = 1, ASLEEP = 2, ANSWERING = 3, ANSWERED = 4 };
enum { INDEX_BITS = 12, SERIAL_BITS = 20, USE_SHIFT = INDEX_BITS + SERIAL_BITS };
enum { INDEX_MASK = (1 << INDEX_BITS) - 1 };

/* An answer of this size is none: `status` says why nobody will answer. */
#define REFUSED UINT32_MAX

struct gyre_reply_slot {
    alignas(64) _Atomic uint64_t word;
    uint64_t head; /* of the answer: its size above its status */
    unsigned char bytes[GYRE_ANSWER_BYTES];
};

_Static_assert(sizeof(gyre_reply_slot) == 64, "a slot is a line");
_Static_assert(offsetof(gyre_answer, bytes) == 8, "an answer can hold what is aligned to 8");
_Static_assert(GYRE_CALLS_MOST == 1 << INDEX_BITS, "a ticket has room for every index");

/* The half of the word that has the state, for the futex. */
static const uint32_t *low_half(const gyre_reply_slot *slot)
{
    return (const uint32_t *)(const void *)slot; /* both architectures are little-endian */
}

static enum state state_of(uint64_t word)
{
    return (enum state)(word & INDEX_MASK);
}

/* Of a ticket or a word: what stands above the index, or the state. */
static uint64_t generation_of(uint64_t ticket)
{
    return ticket & ~(uint64_t)INDEX_MASK;
}

static uint64_t word_of(uint64_t generation, enum state state)
{
    return generation + state;
}

/* The generation after this one: of the same channel. */
static uint64_t next_of(uint64_t generation)
{
    return generation + (UINT64_C(1) << USE_SHIFT);
}

/* The slot that a ticket names, of whichever channel it is, or NULL. */
static gyre_reply_slot *any_slot_of(const gyre_reply_table *table, gyre_reply reply)
{
    const uint64_t index = reply & INDEX_MASK;

    return index < table->count ? &table->slots[index] : NULL;
}

/* The slot of a ticket that this table may have given out, or NULL. */
static gyre_reply_slot *slot_of(const gyre_reply_table *table, gyre_reply reply)
{
    return (uint32_t)reply >> INDEX_BITS == table->serial ? any_slot_of(table, reply) : NULL;
}

size_t gyre_reply_table_bytes(uint32_t count)
{
    return count * sizeof(gyre_reply_slot);
}

void gyre_reply_table_init(gyre_reply_table *table, void *bytes, uint32_t count)
{
    static _Atomic uint32_t channels;
    /* relaxed: only that it is another one; never 0, so that no ticket is */
    const uint32_t serial = atomic_fetch_add_explicit(&channels, 1, memory_order_relaxed);

    table->slots = bytes;
    table->count = count;
    table->serial = serial % ((UINT32_C(1) << SERIAL_BITS) - 1) + 1;
    for (uint32_t i = 0; i < count; i++)
        table->slots[i].word = word_of((uint64_t)table->serial << INDEX_BITS, FREE);
}

static gyre_status say_closed(const gyre_channel *channel)
{
    return gyre_fail(GYRE_CLOSED, "channel '%s' is closed", channel->name);
}

/* Ends a ticket that nobody was told of, but for the closing of the channel. */
static void give_up(gyre_channel *channel, gyre_reply *reply)
{
    gyre_answer unused;

    if (gyre_reply_give(channel, *reply) == GYRE_AGAIN)
        (void)!gyre_reply_wait(channel, *reply, 0, &unused);
    *reply = 0;
}

static uint64_t head_of(gyre_status status, uint32_t size)
{
    return (uint64_t)size << 32 | (uint32_t)status;
}

/* The place, when it is free: its ticket, or 0. */
GYRE_INLINE gyre_reply claim(const gyre_reply_table *table, uint32_t index)
{
    gyre_reply_slot *const slot = &table->slots[index];
    /* relaxed: the swap checks it */
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

    /* acquire [reply-claim]: pairs with the releases in end_ticket and gyre_reply_give. Who had
     * the slot before has read its answer. seq_cst [reply-closed]: before the look at `closed`;
     * pairs with gyre_channel_close, which sets that and then looks for open replies. */
    if (state_of(word) == FREE &&
        atomic_compare_exchange_strong_explicit(&slot->word, &word, word + WAITING,
                                                memory_order_seq_cst, memory_order_relaxed))
        return word | index; /* FREE is 0 */
    return 0;
}

/* Any place that is free: its ticket, or 0. */
static gyre_reply claim_any(const gyre_reply_table *table, uint32_t *hint)
{
    uint32_t index = *hint < table->count ? *hint : 0;

    for (uint32_t i = 0; i < table->count; i++, index = index + 1 < table->count ? index + 1 : 0) {
        const gyre_reply reply = claim(table, index);

        if (reply) {
            *hint = index;
            return reply;
        }
    }
    return 0;
}

/* The place of the last time is not free, or the channel is closed. */
GYRE_APART static gyre_status take_otherwise(gyre_channel *channel, gyre_reply *out_reply,
                                             uint32_t *hint)
{
    if (!*out_reply)
        *out_reply = claim_any(&channel->replies, hint);
    if (!atomic_load(&channel->closed))
        return *out_reply ? GYRE_OK : GYRE_AGAIN;
    if (*out_reply)
        give_up(channel, out_reply);
    return say_closed(channel);
}

gyre_status gyre_reply_take(gyre_channel *channel, gyre_reply *out_reply)
{
    /* Where this thread's last one was: still in its cache. Found without a call, which would need
     * a frame. */
    static _Thread_local uint32_t hint __attribute__((tls_model("initial-exec")));
    const gyre_reply_table *const table = &channel->replies;
    const gyre_reply reply = hint < table->count ? claim(table, hint) : 0;

    *out_reply = reply;
    if (reply && !atomic_load(&channel->closed))
        return GYRE_OK;
    return take_otherwise(channel, out_reply, &hint);
}

/* Writes the answer into a slot that is ours, and shows it. */
GYRE_INLINE void write_answer(gyre_reply_slot *slot, uint64_t generation, uint64_t head,
                              const void *bytes)
{
    slot->head = head;
    if (head >> 32 != REFUSED)
        gyre_copy(slot->bytes, bytes, head >> 32);
    /* release [reply-answer]: pairs with the acquire in is_answered */
    atomic_store_explicit(&slot->word, word_of(generation, ANSWERED), memory_order_release);
}

/* Makes the slot ours to write, if it stands at this word.
 * acquire [reply-claim]: the slot is ours before it is written. (Its taker's writes came to us with
 * the ticket.) */
GYRE_INLINE bool begin_answer(gyre_reply_slot *slot, uint64_t *word)
{
    return atomic_compare_exchange_strong_explicit(&slot->word, word,
                                                   word_of(generation_of(*word), ANSWERING),
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Answers, if somebody waits or sleeps. *out_late: the one who did has gone. */
static bool answer(gyre_reply_slot *slot, uint64_t generation, uint64_t head, const void *bytes,
                   bool *out_late)
{
    /* relaxed: the swap checks it */
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

    do {
        *out_late = generation_of(word) != generation;
        if (word != word_of(generation, WAITING) && word != word_of(generation, ASLEEP))
            return false;
    } while (!begin_answer(slot, &word));
    write_answer(slot, generation, head, bytes);
    if (state_of(word) == ASLEEP)
        gyre_futex_wake(low_half(slot), 1);
    return true;
}

void gyre_reply_table_prefetch(const gyre_reply_table *table, gyre_reply reply)
{
    const gyre_reply_slot *const slot = slot_of(table, reply);

    if (slot)
        gyre_prefetch_line(slot);
}

/* Nobody waits, or sleeps already, or something is wrong with the call. */
GYRE_APART static gyre_status send_otherwise(gyre_channel *channel, gyre_reply reply,
                                             gyre_status status, const void *bytes, size_t size)
{
    gyre_reply_slot *const slot = slot_of(&channel->replies, reply);
    bool late;

    if (!slot)
        return gyre_fail(GYRE_INVALID, "reply: %#llx is no ticket of channel '%s'",
                         (unsigned long long)reply, gyre_channel_name(channel));
    if (size > GYRE_ANSWER_BYTES || (size > 0 && !bytes))
        return gyre_fail(GYRE_INVALID,
                         "reply: an answer of %zu bytes; at most %d, larger ones as "
                         "gyre_bytes",
                         size, GYRE_ANSWER_BYTES);
    if (answer(slot, generation_of(reply), head_of(status, (uint32_t)size), bytes, &late))
        return GYRE_OK;
    /* relaxed: a count */
    atomic_fetch_add_explicit(&channel->replies.late, late, memory_order_relaxed);
    return gyre_fail(GYRE_CANCELLED, "reply: %s",
                     late ? "nobody waits for this answer any more" : "it was answered already");
}

gyre_status gyre_reply_send(gyre_channel *channel, gyre_reply reply, gyre_status status,
                            const void *bytes, size_t size)
{
    gyre_reply_slot *const slot = any_slot_of(&channel->replies, reply);
    const uint64_t generation = generation_of(reply);
    uint64_t word = word_of(generation, WAITING);

    if (!slot || size > GYRE_ANSWER_BYTES || (size > 0 && !bytes) || !begin_answer(slot, &word))
        return send_otherwise(channel, reply, status, bytes, size);
    write_answer(slot, generation, head_of(status, (uint32_t)size), bytes);
    return GYRE_OK;
}

void gyre_reply_table_refuse(gyre_reply_table *table, gyre_reply reply, gyre_status status)
{
    gyre_reply_slot *const slot = slot_of(table, reply);
    bool late;

    if (slot)
        (void)answer(slot, generation_of(reply), head_of(status, REFUSED), NULL, &late);
}

void gyre_reply_table_refuse_all(gyre_reply_table *table, gyre_status status)
{
    for (uint32_t i = 0; i < table->count; i++) {
        /* seq_cst [reply-closed]: after `closed`; pairs with claim */
        const uint64_t word = atomic_load(&table->slots[i].word);

        gyre_reply_table_refuse(table, generation_of(word) | i, status);
    }
}

/* A caller waiting for its slot. */
typedef struct waiting {
    gyre_reply_slot *slot;
    uint64_t generation;
} waiting;

static bool is_answered(void *arg)
{
    const waiting *const w = arg;

    /* acquire [reply-answer]: pairs with the release in write_answer. The answer is written. */
    return atomic_load_explicit(&w->slot->word, memory_order_acquire) ==
           word_of(w->generation, ANSWERED);
}

/* Sleeps until the answer is there. */
static gyre_status sleep_for(const waiting *w, uint64_t deadline_ns)
{
    const gyre_status status = gyre_process_check();
    uint64_t word = word_of(w->generation, WAITING);

    if (status != GYRE_OK)
        return status;
    /* relaxed, both: only the answer that swaps it away reads it, and is_answered has the order */
    (void)atomic_compare_exchange_strong_explicit(&w->slot->word, &word,
                                                  word_of(w->generation, ASLEEP),
                                                  memory_order_relaxed, memory_order_relaxed);
    for (;;) {
        const uint64_t now = atomic_load_explicit(&w->slot->word, memory_order_relaxed);

        if (state_of(now) == ANSWERED)
            return GYRE_OK;
        if (deadline_ns != GYRE_NEVER && gyre_clock_now_ns() >= deadline_ns)
            return GYRE_TIMEOUT;
        if (state_of(now) == ANSWERING)
            sched_yield(); /* it is being written */
        else
            gyre_futex_sleep(low_half(w->slot), (uint32_t)now, deadline_ns);
    }
}

/* Frees a slot whose answer was read, or given up. */
GYRE_INLINE void end_ticket(const waiting *w)
{
    /* release [reply-claim]: pairs with the acquire in claim */
    atomic_store_explicit(&w->slot->word, word_of(next_of(w->generation), FREE),
                          memory_order_release);
}

/* Says why nobody will answer, and frees the slot. */
GYRE_APART static gyre_status collect_refusal(waiting w, gyre_answer *out_answer)
{
    const gyre_status why = (gyre_status)(uint32_t)w.slot->head;

    *out_answer = (gyre_answer){.size = 0};
    end_ticket(&w);
    return gyre_fail(why, "reply: %s",
                     why == GYRE_CLOSED ? "the channel was closed before it came"
                                        : "the item was dropped, nobody received it");
}

/* Reads the answer and frees the slot. */
GYRE_INLINE gyre_status collect(const waiting *w, gyre_answer *out_answer)
{
    const uint64_t head = w->slot->head;
    const uint32_t size = (uint32_t)(head >> 32);

    if (size == REFUSED)
        return collect_refusal(*w, out_answer);
    out_answer->status = (gyre_status)(uint32_t)head;
    out_answer->size = size;
    gyre_copy(out_answer->bytes, w->slot->bytes, size);
    end_ticket(w);
    return GYRE_OK;
}

/* Whether the ticket is open, and by whom its slot is found. */
static gyre_status find(const gyre_channel *channel, gyre_reply reply, waiting *out)
{
    out->slot = slot_of(&channel->replies, reply);
    out->generation = generation_of(reply);
    if (out->slot) {
        /* relaxed: nobody but its holder changes the generation */
        const uint64_t word = atomic_load_explicit(&out->slot->word, memory_order_relaxed);

        if (generation_of(word) == out->generation && state_of(word) != FREE)
            return GYRE_OK;
    }
    return gyre_fail(GYRE_INVALID, "reply: %#llx is no open ticket of channel '%s'",
                     (unsigned long long)reply, gyre_channel_name(channel));
}

/* The answer is not there yet, or there is no open ticket. */
GYRE_APART static gyre_status wait_longer(const gyre_channel *channel, gyre_reply reply,
                                          uint64_t deadline_ns, gyre_answer *out_answer)
{
    static _Thread_local gyre_spin spin;
    waiting w;
    gyre_status status = find(channel, reply, &w);

    out_answer->status = GYRE_OK;
    out_answer->size = 0;
    if (status != GYRE_OK)
        return status;
    if (deadline_ns > 0 && gyre_may_spin())
        for (int i = 0; i < GYRE_FIRST_LOOKS && !is_answered(&w); i++)
            gyre_relax();
    if (!is_answered(&w) && !gyre_spin_until(&spin, is_answered, &w, deadline_ns)) {
        status = sleep_for(&w, deadline_ns);
        if (status == GYRE_OK)
            (void)is_answered(&w); /* acquires what was answered */
    }
    return status == GYRE_OK ? collect(&w, out_answer) : status;
}

gyre_status gyre_reply_wait(gyre_channel *channel, gyre_reply reply, uint64_t deadline_ns,
                            gyre_answer *out_answer)
{
    waiting w = {any_slot_of(&channel->replies, reply), generation_of(reply)};

    if (w.slot && is_answered(&w))
        return collect(&w, out_answer);
    return wait_longer(channel, reply, deadline_ns, out_answer);
}

gyre_status gyre_reply_give(gyre_channel *channel, gyre_reply reply)
{
    waiting w;
    const gyre_status status = find(channel, reply, &w);
    uint64_t word;

    if (status != GYRE_OK)
        return status;
    /* relaxed: the swap checks it */
    word = atomic_load_explicit(&w.slot->word, memory_order_relaxed);
    while (state_of(word) != ANSWERED) {
        if (state_of(word) == ANSWERING) {
            sched_yield();
            word = atomic_load_explicit(&w.slot->word, memory_order_relaxed);
            continue;
        }
        /* release [reply-claim]: pairs with the acquire in claim */
        if (atomic_compare_exchange_weak_explicit(&w.slot->word, &word,
                                                  word_of(next_of(w.generation), FREE),
                                                  memory_order_release, memory_order_relaxed))
            return GYRE_OK;
    }
    return GYRE_AGAIN;
}

gyre_status gyre_call_begin(gyre_channel *channel, uint32_t priority, const void *item, size_t size,
                            uint64_t deadline_ns, gyre_reply *out_reply)
{
    gyre_status status = gyre_reply_take(channel, out_reply);

    if (status != GYRE_OK)
        return status;
    if (gyre_channel_is_all(channel) && !gyre_all_is_heard(channel)) {
        give_up(channel, out_reply);
        return gyre_fail(GYRE_CANCELLED, "channel '%s': nobody subscribes, so nobody would answer",
                         channel->name);
    }
    status = gyre_channel_send_asking(channel, priority, item, size, *out_reply,
                                      deadline_ns ? deadline_ns : 1);
    if (status != GYRE_OK)
        give_up(channel, out_reply);
    return status;
}

gyre_status gyre_call(gyre_channel *channel, uint32_t priority, const void *item, size_t size,
                      uint64_t deadline_ns, gyre_answer *out_answer)
{
    gyre_reply reply;
    gyre_status status = gyre_call_begin(channel, priority, item, size, deadline_ns, &reply);

    out_answer->status = GYRE_OK;
    out_answer->size = 0;
    if (status != GYRE_OK)
        return status;
    status = gyre_reply_wait(channel, reply, deadline_ns, out_answer);
    if (status != GYRE_TIMEOUT && status != GYRE_UNAVAILABLE)
        return status;
    if (gyre_reply_give(channel, reply) == GYRE_AGAIN)
        return gyre_reply_wait(channel, reply, 0, out_answer); /* it came at the last moment */
    return status;
}
