/* SPDX-License-Identifier: Apache-2.0
 *
 * print: see print.h.
 */
#include "actor/print.h"

#include <stdio.h>
#include <string.h>

#include "actor/print_single.h"
#include "base/log.h"
#include "base/process.h"

void gyre_self_say(gyre_self *self, const char *text, uint32_t length, uint32_t kind,
                   uint64_t value)
{
    if (self->lane == 0 && self->runtime)
        gyre_prints_put(self->runtime, text, length, kind, value);
}

void gyre_print_read(const gyre_brief *slot, char text[GYRE_PRINT_TEXT + 1],
                     gyre_actor_print *out_print)
{
    const uint64_t value = slot->body.longs[GYRE_PRINT_VALUE];
    const uint32_t bits = (uint32_t)value;
    size_t length = 0;

    for (; length < GYRE_PRINT_TEXT && slot->body.bytes[length]; length++) {
        const unsigned char c = slot->body.bytes[length];

        text[length] = '?';
        if (c >= 0x20 && c < 0x7f)
            text[length] = (char)c;
    }
    text[length] = '\0';
    *out_print = (gyre_actor_print){.text = text, .is_f32 = slot->type == GYRE_PRINT_F32};
    if (out_print->is_f32)
        memcpy(&out_print->f32, &bits, sizeof bits);
    else
        out_print->value = value;
}

void gyre_print_line(const gyre_actor_print *print, char *into, size_t size)
{
    const int begun =
        snprintf(into, size, "actor '%s' seat %u: %s ", print->actor, print->seat, print->text);
    const size_t at = begun < 0 || (size_t)begun >= size ? size : (size_t)begun;

    if (print->is_f32)
        snprintf(into + at, size - at, "%.9g", (double)print->f32);
    else if (print->value >> 63)
        snprintf(into + at, size - at, "%llu (%lld)", (unsigned long long)print->value,
                 (long long)print->value);
    else
        snprintf(into + at, size - at, "%llu", (unsigned long long)print->value);
}

static void deliver(gyre_actor *actor, uint32_t seat, const gyre_brief *slot)
{
    char text[GYRE_PRINT_TEXT + 1], line[160];
    gyre_actor_print print;

    gyre_print_read(slot, text, &print);
    print.actor = actor->name;
    print.seat = seat;
    /* relaxed: a count */
    atomic_fetch_add_explicit(&actor->printed, 1, memory_order_relaxed);
    if (actor->print) {
        actor->print(actor->print_arg, &print);
    } else if (gyre_log_wants(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE)) {
        gyre_print_line(&print, line, sizeof line);
        gyre_log_write(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "%s", line);
    }
}

/* One ring at most: a seat that prints all the time keeps nobody here. */
static void hear_seat(gyre_actor *actor, uint32_t seat)
{
    gyre_annex *const annex = gyre_actor_annex(actor, seat);
    const uint32_t capacity = actor->shape.prints, wide = actor->shape.wide;
    const uint32_t salt = gyre_ring_salt(actor->shape.incarnation);
    uint32_t number = gyre_mailbox_load(&annex->host.read);
    gyre_brief slot;

    for (uint32_t i = 0; i < capacity; i++) {
        if (gyre_slot_read((unsigned char *)annex + gyre_annex_slot_at(number, capacity, wide),
                           wide, gyre_ring_stamp(number, salt), &slot) != GYRE_RING_READY)
            break;
        /* release [print-read]: pairs with the acquire of who prints; the slot may be written */
        gyre_mailbox_release(&annex->host.read, ++number);
        deliver(actor, seat, &slot);
    }
}

static void hear_all(gyre_actor *actor)
{
    if (actor->mailbox && gyre_process_check() == GYRE_OK)
        for (uint32_t i = 0; i < actor->shape.seats; i++)
            hear_seat(actor, i);
}

void gyre_prints_hear(gyre_actor *actor)
{
    pthread_mutex_lock(&actor->hearing);
    hear_all(actor);
    pthread_mutex_unlock(&actor->hearing);
}

void gyre_prints_overhear(gyre_actor *actor)
{
    if (pthread_mutex_trylock(&actor->hearing) != 0)
        return;
    hear_all(actor);
    pthread_mutex_unlock(&actor->hearing);
}

void gyre_prints_begin(gyre_actor *actor, unsigned char *mailbox)
{
    pthread_mutex_lock(&actor->hearing);
    actor->mailbox = mailbox;
    /* relaxed: a count */
    atomic_store_explicit(&actor->printed, 0, memory_order_relaxed);
    pthread_mutex_unlock(&actor->hearing);
}

void gyre_prints_end(gyre_actor *actor)
{
    pthread_mutex_lock(&actor->hearing);
    hear_all(actor);
    actor->mailbox = NULL;
    pthread_mutex_unlock(&actor->hearing);
}
