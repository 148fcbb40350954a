/* SPDX-License-Identifier: Apache-2.0
 *
 * filter: see filter.h.
 */
#include "bench/filter.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "gyre/bench.h"

static const char tag_prefix[] = "tag:";

/* The tag that "tag:NAME" means; 0 when it is another text, or no tag. */
static uint32_t tag_of(const char *pattern)
{
    const size_t prefix = sizeof tag_prefix - 1;
    const int index = strncmp(pattern, tag_prefix, prefix) == 0
                          ? gyre_text_choice("cpu|gpu|slow", pattern + prefix)
                          : -1;

    return index < 0 ? 0 : 1U << index;
}

static void list_fini(gyre_pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->is_compiled[i])
            regfree(&list->compiled[i]);
    list->count = 0;
}

static gyre_status list_init(gyre_pattern_list *list, const char *const *text, size_t count,
                             bool exact)
{
    list->text = text;
    list->count = 0;
    if (count > GYRE_FILTER_PATTERNS)
        return gyre_fail(GYRE_INVALID, "more than %d filters", GYRE_FILTER_PATTERNS);
    for (; list->count < count; list->count++) {
        const char *pattern = text[list->count];
        regex_t *compiled = &list->compiled[list->count];
        int error;
        char why[96];

        list->is_compiled[list->count] = false;
        if (exact || tag_of(pattern))
            continue;
        if (strncmp(pattern, tag_prefix, sizeof tag_prefix - 1) == 0)
            return gyre_fail(GYRE_INVALID, "filter '%.*s': the tags are cpu, gpu and slow",
                             gyre_text_cut(strlen(pattern)), pattern);
        error = regcomp(compiled, pattern, REG_EXTENDED | REG_NOSUB);
        if (error) {
            regerror(error, compiled, why, sizeof why);
            return gyre_fail(GYRE_INVALID, "filter '%.*s': %s", gyre_text_cut(strlen(pattern)),
                             pattern, why);
        }
        list->is_compiled[list->count] = true;
    }
    return GYRE_OK;
}

static bool matches(const gyre_pattern_list *list, const char *id, uint32_t tags)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->is_compiled[i] ? regexec(&list->compiled[i], id, 0, NULL, 0) == 0
                                 : strcmp(list->text[i], id) == 0)
            return true;
        if (!list->is_compiled[i] && (tag_of(list->text[i]) & tags))
            return true;
    }
    return false;
}

gyre_status gyre_filter_init(gyre_filter *filter, const char *const *wanted, size_t wanted_count,
                             bool exact, const char *const *skipped, size_t skipped_count)
{
    gyre_status status = list_init(&filter->wanted, wanted, wanted_count, exact);

    filter->skipped.count = 0;
    if (status == GYRE_OK)
        status = list_init(&filter->skipped, skipped, skipped_count, false);
    if (status != GYRE_OK)
        gyre_filter_fini(filter);
    return status;
}

bool gyre_filter_wants(const gyre_filter *filter, const char *id, uint32_t tags)
{
    return (filter->wanted.count == 0 || matches(&filter->wanted, id, tags)) &&
           !matches(&filter->skipped, id, tags);
}

void gyre_filter_fini(gyre_filter *filter)
{
    list_fini(&filter->wanted);
    list_fini(&filter->skipped);
}
