/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_track: the books of a pool that is tracked: who took each block, and who wrote to it when it
 * was not his. See mem/pool.h.
 *
 * Every take and give comes here, since no thread keeps blocks of such a pool. A block that is
 * given is filled with a pattern and held back for a while, behind up to HELD others; when it goes
 * on to the depot the pattern must still be there. With AddressSanitizer in the program whatever is
 * not out is poisoned, and so is a block beyond the size that was asked for; but neither is done to
 * a block that waits for a ticket, because somebody is using it.
 *
 * Threads   any; the mutex guards the table and the ring, and is not held while a depot is called.
 * Owns      the records, and the blocks that are held back.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "mem/pool.h"

enum {
    HELD = 256,             /* blocks that are held back, */
    HELD_BYTES = 16 << 20,  /* and how many bytes of them */
    FILLED_BYTES = 1 << 16, /* of a block, from its start, with the pattern */
    LEAKS_LOGGED = 16,
    TAKEN_BYTE = 0xcb,
    GIVEN_BYTE = 0xdb,
    PLACE_SIZE = 160,
};

typedef struct record {
    void *block; /* NULL: none */
    size_t size;
    size_t alignment;
    const void *taken;
    const void *given;
} record;

struct gyre_track {
    pthread_mutex_t mutex;
    record *table; /* of what is out, by address; a power of two, at most half full */
    size_t room;
    size_t count; /* with those that are about to be entered */
    record held[HELD];
    size_t held_first, held_count, held_bytes;
};

/* Defined when the program has it, however this was compiled. */
extern void poison(const volatile void *bytes, size_t size) __asm__("__asan_poison_memory_region")
    __attribute__((weak));
extern void unpoison(const volatile void *bytes,
                     size_t size) __asm__("__asan_unpoison_memory_region") __attribute__((weak));

bool gyre_track_is_sanitized(void)
{
    return poison != NULL;
}

static bool host_reaches(const gyre_pool *pool)
{
    return pool->options.source->reach & GYRE_MEMORY_HOST;
}

void gyre_track_forbid(const gyre_pool *pool, const void *bytes, size_t size)
{
    if (pool->track && host_reaches(pool) && poison)
        poison(bytes, size);
}

void gyre_track_allow(const gyre_pool *pool, const void *bytes, size_t size)
{
    if (pool->track && host_reaches(pool) && unpoison)
        unpoison(bytes, size);
}

/* "function+0x12 (program+0x3456)", as far as the linker knows; addr2line has the line. */
static const char *name_place(const void *place, char text[PLACE_SIZE])
{
    Dl_info info;
    const char *file;

    if (!dladdr(place, &info) || !info.dli_fname) {
        snprintf(text, PLACE_SIZE, "%p", place);
        return text;
    }
    file = strrchr(info.dli_fname, '/');
    file = file ? file + 1 : info.dli_fname;
    if (info.dli_sname)
        snprintf(text, PLACE_SIZE, "%.60s+0x%tx (%.60s+0x%tx)", info.dli_sname,
                 (const char *)place - (const char *)info.dli_saddr, file,
                 (const char *)place - (const char *)info.dli_fbase);
    else
        snprintf(text, PLACE_SIZE, "%.60s+0x%tx", file,
                 (const char *)place - (const char *)info.dli_fbase);
    return text;
}

/* Whatever happens next would happen to memory that is not the caller's. */
static _Noreturn void give_up(const gyre_pool *pool, const void *block, const char *what)
{
    gyre_log_write(GYRE_LOG_ERROR, GYRE_TOPIC_MEM, "%s: block %p %s", pool->name, block, what);
    abort();
}

static size_t place_in(const gyre_track *track, const void *block)
{
    return gyre_hash64(&block, sizeof block, 0) & (track->room - 1);
}

static record *find(const gyre_track *track, const void *block)
{
    if (track->room == 0)
        return NULL;
    for (size_t i = place_in(track, block);; i = (i + 1) & (track->room - 1)) {
        if (track->table[i].block == block)
            return &track->table[i];
        if (!track->table[i].block)
            return NULL;
    }
}

static void enter(gyre_track *track, const record *r)
{
    size_t i = place_in(track, r->block);

    while (track->table[i].block)
        i = (i + 1) & (track->room - 1);
    track->table[i] = *r;
}

/* What stands behind it in the same run is entered again, so that it is still found. */
static void strike(gyre_track *track, record *r)
{
    size_t i = (size_t)(r - track->table);

    r->block = NULL;
    for (i = (i + 1) & (track->room - 1); track->table[i].block; i = (i + 1) & (track->room - 1)) {
        const record moved = track->table[i];

        track->table[i].block = NULL;
        enter(track, &moved);
    }
}

/* Room for one more, which is counted from here on. */
static gyre_status reserve(gyre_pool *pool)
{
    gyre_track *const track = pool->track;
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&track->mutex);
    if ((track->count + 1) * 2 > track->room) {
        const gyre_track old = {.table = track->table, .room = track->room};
        const size_t room = old.room > 0 ? old.room * 2 : 64;
        void *table;

        status = gyre_alloc(pool->options.allocator, room, sizeof *track->table, &table);
        if (status == GYRE_OK) {
            track->table = table;
            track->room = room;
            for (size_t i = 0; i < old.room; i++)
                if (old.table[i].block)
                    enter(track, &old.table[i]);
            gyre_free(pool->options.allocator, old.table, old.room, sizeof *old.table);
        }
    }
    track->count += status == GYRE_OK;
    pthread_mutex_unlock(&track->mutex);
    return status;
}

static void cancel(gyre_track *track)
{
    pthread_mutex_lock(&track->mutex);
    track->count--;
    pthread_mutex_unlock(&track->mutex);
}

gyre_status gyre_track_create(gyre_pool *pool)
{
    void *memory;
    gyre_status status = gyre_alloc(pool->options.allocator, 1, sizeof *pool->track, &memory);

    if (status != GYRE_OK)
        return status;
    pool->track = memory;
    pthread_mutex_init(&pool->track->mutex, NULL);
    return GYRE_OK;
}

static size_t filled_bytes(size_t size)
{
    return size < FILLED_BYTES ? size : FILLED_BYTES;
}

/* To the depot, if nobody wrote to it. */
static void let_go(gyre_pool *pool, const record *r)
{
    const uint32_t stack = gyre_pool_stack_of_(r->size, r->alignment);
    char what[512], taken[PLACE_SIZE], given[PLACE_SIZE];

    if (host_reaches(pool)) {
        const unsigned char *const bytes = r->block;

        gyre_track_allow(pool, bytes, r->size);
        for (size_t i = 0; i < filled_bytes(r->size); i++)
            if (bytes[i] != GIVEN_BYTE) {
                snprintf(what, sizeof what,
                         "of %zu bytes was written to, at byte %zu, after it was given at %s; it "
                         "was taken at %s",
                         r->size, i, name_place(r->given, given), name_place(r->taken, taken));
                give_up(pool, r->block, what);
            }
        gyre_track_forbid(pool, bytes, r->size);
    }
    gyre_depot_give(pool, &pool->depots[stack], r->block);
}

/* The one that was held longest, while there are more than `most` or too many bytes. */
static bool pop_held(gyre_track *track, size_t most, record *out_record)
{
    const bool pop =
        track->held_count > 0 && (track->held_count > most || track->held_bytes > HELD_BYTES);

    if (pop) {
        *out_record = track->held[track->held_first];
        track->held_first = (track->held_first + 1) % HELD;
        track->held_count--;
        track->held_bytes -= out_record->size;
    }
    return pop;
}

static void release_held(gyre_pool *pool, size_t most)
{
    record r;

    for (;;) {
        bool popped;

        pthread_mutex_lock(&pool->track->mutex);
        popped = pop_held(pool->track, most, &r);
        pthread_mutex_unlock(&pool->track->mutex);
        if (!popped)
            return;
        let_go(pool, &r);
    }
}

void gyre_track_release(gyre_pool *pool)
{
    release_held(pool, 0);
}

uint64_t gyre_track_held(gyre_pool *pool, const gyre_depot *depot)
{
    gyre_track *const track = pool->track;
    uint64_t count = 0;

    if (!track)
        return 0;
    pthread_mutex_lock(&track->mutex);
    for (size_t i = 0; i < track->held_count; i++) {
        const record *const r = &track->held[(track->held_first + i) % HELD];

        count += depot == &pool->depots[gyre_pool_stack_of_(r->size, r->alignment)];
    }
    pthread_mutex_unlock(&track->mutex);
    return count;
}

static gyre_status take_block(gyre_pool *pool, const record *r, const uint64_t *timeline,
                              void **out_block)
{
    const uint32_t stack = gyre_pool_stack_of_(r->size, r->alignment);
    gyre_status status;

    if (stack == GYRE_POOL_NONE_)
        return gyre_beyond_take(pool, r->size, r->alignment, out_block);
    if (timeline && gyre_depot_take_waiting(&pool->depots[stack], timeline, out_block))
        return GYRE_OK;
    status = gyre_depot_take(pool, &pool->depots[stack], out_block);
    if (status != GYRE_OK) {
        gyre_track_release(pool);
        status = gyre_depot_take(pool, &pool->depots[stack], out_block);
    }
    return status;
}

gyre_status gyre_track_take(gyre_pool *pool, size_t size, size_t alignment,
                            const uint64_t *timeline, const void *place, void **out_block)
{
    record r = {.size = size, .alignment = alignment, .taken = place};
    gyre_status status = reserve(pool);

    if (status != GYRE_OK)
        return status;
    status = take_block(pool, &r, timeline, out_block);
    if (status != GYRE_OK) {
        cancel(pool->track);
        return status;
    }
    r.block = *out_block;
    gyre_track_allow(pool, r.block, size);
    if (host_reaches(pool) && !timeline) /* on which it may be in use still */
        memset(r.block, TAKEN_BYTE, filled_bytes(size));
    pthread_mutex_lock(&pool->track->mutex);
    enter(pool->track, &r);
    pthread_mutex_unlock(&pool->track->mutex);
    return GYRE_OK;
}

/* The place where a block that is held back was given, or NULL. */
static const void *given_before(const gyre_track *track, const void *block)
{
    for (size_t i = 0; i < track->held_count; i++) {
        const record *const r = &track->held[(track->held_first + i) % HELD];

        if (r->block == block)
            return r->given;
    }
    return NULL;
}

/* `r` is as it was taken, or, when it is not out, as far as it is known. */
static _Noreturn void refuse(const gyre_pool *pool, const record *r, size_t size, size_t alignment,
                             const void *block, const void *place)
{
    char what[512], before[PLACE_SIZE], given[PLACE_SIZE];

    name_place(place, given);
    if (r->block)
        snprintf(what, sizeof what,
                 "was taken as %zu bytes aligned to %zu at %s, and given as %zu aligned to %zu at "
                 "%s",
                 r->size, r->alignment, name_place(r->taken, before), size, alignment, given);
    else if (r->given)
        snprintf(what, sizeof what, "was given twice: at %s, and then at %s",
                 name_place(r->given, before), given);
    else
        snprintf(what, sizeof what,
                 "was given at %s, but is not out: never taken from this pool, or given before",
                 given);
    give_up(pool, block, what);
}

/* Less than every block has is as good as none. */
static bool same_alignment(size_t a, size_t b)
{
    return a == b || (a <= GYRE_POOL_ALIGNMENT && b <= GYRE_POOL_ALIGNMENT);
}

/* Strikes the block off the books; does not return when it is not there as it is given. */
static record strike_off(gyre_pool *pool, const void *block, size_t size, size_t alignment,
                         const void *place)
{
    gyre_track *const track = pool->track;
    record *found, r = {0};
    bool right = false;

    pthread_mutex_lock(&track->mutex);
    found = find(track, block);
    if (found) {
        r = *found;
        right = r.size == size && same_alignment(r.alignment, alignment);
    } else {
        r.given = given_before(track, block);
    }
    if (right) {
        strike(track, found);
        track->count--;
    }
    pthread_mutex_unlock(&track->mutex);
    if (!right)
        refuse(pool, &r, size, alignment, block, place);
    r.given = place;
    return r;
}

void gyre_track_give(gyre_pool *pool, void *block, size_t size, size_t alignment, const void *place)
{
    const record r = strike_off(pool, block, size, alignment, place);
    gyre_track *const track = pool->track;

    if (gyre_pool_stack_of_(size, alignment) == GYRE_POOL_NONE_) {
        gyre_beyond_give(pool, block);
        return;
    }
    if (host_reaches(pool)) {
        memset(block, GIVEN_BYTE, filled_bytes(size));
        gyre_track_forbid(pool, block, size);
    }
    for (bool in = false; !in;) {
        release_held(pool, HELD - 1);
        pthread_mutex_lock(&track->mutex);
        in = track->held_count < HELD;
        if (in) {
            track->held[(track->held_first + track->held_count++) % HELD] = r;
            track->held_bytes += size;
        }
        pthread_mutex_unlock(&track->mutex);
    }
}

gyre_status gyre_track_give_after(gyre_pool *pool, void *block, size_t size, size_t alignment,
                                  gyre_ticket ticket, const void *place)
{
    const uint32_t stack = gyre_pool_stack_of_(size, alignment);
    gyre_status status = reserve(pool); /* for its return, if it has to */
    record r;

    if (status != GYRE_OK)
        return status;
    r = strike_off(pool, block, size, alignment, place);
    if (stack == GYRE_POOL_NONE_)
        gyre_beyond_give_after(pool, block, ticket);
    else
        status = gyre_depot_give_after(pool, &pool->depots[stack], block, ticket);
    pthread_mutex_lock(&pool->track->mutex);
    if (status != GYRE_OK)
        enter(pool->track, &r);
    else
        pool->track->count--;
    pthread_mutex_unlock(&pool->track->mutex);
    return status;
}

static void log_leaks(const gyre_pool *pool)
{
    const gyre_track *const track = pool->track;
    char taken[PLACE_SIZE];
    size_t logged = 0;

    if (track->count > 0)
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_MEM, "%s: %zu blocks were not given back", pool->name,
                 track->count);
    for (size_t i = 0; i < track->room && logged < LEAKS_LOGGED; i++) {
        const record *const r = &track->table[i];

        if (r->block) {
            gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_MEM, "%s: %zu bytes at %p were taken at %s",
                     pool->name, r->size, r->block, name_place(r->taken, taken));
            logged++;
        }
    }
    if (logged < track->count)
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_MEM, "%s: and %zu more", pool->name,
                 track->count - logged);
}

void gyre_track_destroy(gyre_pool *pool)
{
    gyre_track *const track = pool->track;

    if (!track)
        return;
    gyre_track_release(pool);
    log_leaks(pool);
    if (track->table)
        gyre_free(pool->options.allocator, track->table, track->room, sizeof *track->table);
    pthread_mutex_destroy(&track->mutex);
    /* pool->track stays: it still says that what goes back to the source was poisoned */
    gyre_free(pool->options.allocator, track, 1, sizeof *track);
}
