/* SPDX-License-Identifier: Apache-2.0
 *
 * listing: see listing.h.
 */
#include "main/listing.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"

enum { MOST_THREADS = 65536 };

void gyre_listing_write(FILE *stream, const gyre_case_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const gyre_bench_case *c = &list->cases[i];
        const uint32_t threads = c->bench.threads ? c->bench.threads(c) : 1;

        fprintf(stream, "%" PRIu32 " %" PRIu32 " %s %.*s\n", threads ? threads : 1, c->bench.tags,
                c->id, GYRE_CLOCK_NAME_BYTES - 1, c->clock ? c->clock->name : "host");
    }
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

static bool take_line(const char *line, size_t length, gyre_listed *out)
{
    char text[GYRE_CASE_ID_BYTES + GYRE_CLOCK_NAME_BYTES + 32];
    int end = 0, at = 0;

    if (length >= sizeof text || memchr(line, '\0', length))
        return false;
    memcpy(text, line, length);
    text[length] = '\0';
    _Static_assert(GYRE_CASE_ID_BYTES == 192, "the width below is one less");
    if (sscanf(text, "%" SCNu32 " %" SCNu32 " %191s%n %n", &out->threads, &out->tags, out->id, &end,
               &at) != 3 ||
        at == end || strlen(text + at) >= sizeof out->clock || text[at] == '\0')
        return false;
    memcpy(out->clock, text + at, strlen(text + at) + 1);
    return out->threads >= 1 && out->threads <= MOST_THREADS && is_plain(text);
}

/* Whether no id is there twice. */
static gyre_status check_ids(const gyre_listing *listing)
{
    const char **ids, *twin;
    gyre_status status;
    void *block;

    status = gyre_alloc(NULL, listing->count, sizeof ids[0], &block);
    if (status != GYRE_OK)
        return status;
    ids = block;
    for (size_t i = 0; i < listing->count; i++)
        ids[i] = listing->cases[i].id;
    twin = gyre_ids_twin(ids, listing->count);
    if (twin)
        status = gyre_fail(GYRE_CORRUPT, "it lists '%s' twice", twin);
    gyre_free(NULL, block, listing->count, sizeof ids[0]);
    return status;
}

gyre_status gyre_listing_parse(const char *text, size_t length, uint64_t count,
                               gyre_listing *out_listing)
{
    const char *const end = text + length;
    gyre_status status;
    void *block;

    *out_listing = (gyre_listing){0};
    if (count == 0 || count > GYRE_LISTING_MOST)
        return gyre_fail(GYRE_CORRUPT, "it lists %s benchmarks", count ? "too many" : "no");
    status = gyre_alloc(NULL, (size_t)count, sizeof out_listing->cases[0], &block);
    if (status != GYRE_OK)
        return status;
    out_listing->cases = block;
    out_listing->count = (size_t)count;
    for (size_t i = 0; i < count && status == GYRE_OK; i++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        gyre_listed *c = &out_listing->cases[i];

        if (!stop || !take_line(text, (size_t)(stop - text), c)) {
            status = gyre_fail(GYRE_CORRUPT, "its list of benchmarks cannot be understood");
            break;
        }
        out_listing->hash = gyre_hash64(c->id, strlen(c->id) + 1, out_listing->hash);
        text = stop + 1;
    }
    if (status == GYRE_OK && text != end)
        status = gyre_fail(GYRE_CORRUPT, "its list of benchmarks cannot be understood");
    if (status == GYRE_OK)
        status = check_ids(out_listing);
    if (status != GYRE_OK)
        gyre_listing_fini(out_listing);
    return status;
}

void gyre_listing_fini(gyre_listing *listing)
{
    gyre_free(NULL, listing->cases, listing->count, sizeof listing->cases[0]);
    *listing = (gyre_listing){0};
}

const gyre_listed *gyre_listing_find(const gyre_listing *listing, const char *id)
{
    for (size_t i = 0; i < listing->count; i++)
        if (strcmp(listing->cases[i].id, id) == 0)
            return &listing->cases[i];
    return NULL;
}
