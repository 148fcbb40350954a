/* SPDX-License-Identifier: Apache-2.0
 *
 * null_faults: see null_faults.h. Every word becomes one rule, or one for each of its ranges.
 */
#include "backends/null/null_faults.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

#define BLANKS " \t\r\n"

enum { NUMBER_MOST = 1000000000 };

typedef struct word_row {
    const char *name;
    char form; /* '@', '=' or none */
    gyre_null_word word;
} word_row;

static const word_row rows[] = {
    {"hang", '@', GYRE_NULL_HANG},
    {"fault", '@', GYRE_NULL_FAULT},
    {"refuse", '@', GYRE_NULL_REFUSE},
    {"memory", '@', GYRE_NULL_TAKE},
    {"build", '@', GYRE_NULL_BUILD},
    {"slow", '=', GYRE_NULL_SLOW},
    {"temperature", '=', GYRE_NULL_TEMPERATURE},
    {"power", '=', GYRE_NULL_POWER},
    {"memory", '=', GYRE_NULL_MEMORY},
    {"throttle", '=', GYRE_NULL_THROTTLE},
    {"xid", '=', GYRE_NULL_XID},
    {"ecc", '=', GYRE_NULL_ECC},
    {"open", '\0', GYRE_NULL_OPEN},
    {"silent", '\0', GYRE_NULL_SILENT},
    {"sticky", '\0', GYRE_NULL_STICKY},
    {"limit", '\0', GYRE_NULL_LIMIT},
};

static const word_row *find_row(const char *name, size_t length, int form)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].form == form && strlen(rows[i].name) == length &&
            memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

static uint32_t value_most(gyre_null_word word)
{
    switch (word) {
    case GYRE_NULL_MEMORY:
        return 100;
    case GYRE_NULL_POWER: /* as milliwatts it fits an int32_t */
        return 1000000;
    default:
        return NUMBER_MOST;
    }
}

static bool read_number(const char **at, uint32_t low, uint32_t high, uint32_t *out_number)
{
    uint64_t number = 0;
    const char *digit = *at;

    for (; *digit >= '0' && *digit <= '9' && number <= high; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    if (digit == *at || number < low || number > high)
        return false;
    *at = digit;
    *out_number = (uint32_t)number;
    return true;
}

static bool add(gyre_null_faults *faults, const gyre_null_rule *rule)
{
    if (faults->count == GYRE_NULL_RULES)
        return false;
    faults->rules[faults->count++] = *rule;
    return true;
}

/* N, N.. or N..M */
static bool read_range(const char **at, gyre_null_rule *rule)
{
    if (!read_number(at, 1, NUMBER_MOST, &rule->first))
        return false;
    rule->last = rule->first;
    if (strncmp(*at, "..", 2) != 0)
        return true;
    *at += 2;
    rule->last = UINT32_MAX;
    return **at < '0' || **at > '9' || read_number(at, rule->first, NUMBER_MOST, &rule->last);
}

static bool read_word(const char **at, gyre_null_faults *faults)
{
    const size_t length = strcspn(*at, "@=" BLANKS);
    const int after = (unsigned char)(*at)[length],
              form = after == '@' || after == '=' ? after : '\0';
    const word_row *const row = find_row(*at, length, form);
    const uint32_t before = faults->count;
    gyre_null_rule rule = {.last = UINT32_MAX};
    uint32_t number = 0;

    if (!row)
        return false;
    rule.word = row->word;
    *at += length + (form != '\0');
    if (form == '\0')
        return add(faults, &rule);
    if (form == '=') {
        if (!read_number(at, 0, value_most(row->word), &number))
            return false;
        rule.value = number;
        return add(faults, &rule);
    }
    rule.value = -1;
    do {
        if (!read_range(at, &rule) || !add(faults, &rule))
            return false;
    } while (**at == ',' && (*at)++);
    if (row->word == GYRE_NULL_HANG && **at == '+') {
        (*at)++;
        if (!read_number(at, 0, NUMBER_MOST, &number))
            return false;
        for (uint32_t i = before; i < faults->count; i++)
            faults->rules[i].value = number;
    }
    return true;
}

gyre_status gyre_null_faults_parse(const char *text, gyre_null_faults *out_faults)
{
    gyre_null_faults faults = {.count = 0};
    const char *at = text ? text : "";

    memset(out_faults, 0, sizeof *out_faults);
    while (*(at += strspn(at, BLANKS)) != '\0') {
        const char *const word = at;

        if (!read_word(&at, &faults) || strcspn(at, BLANKS) != 0) {
            const int shown = gyre_text_cut(strcspn(word, BLANKS));

            if (faults.count == GYRE_NULL_RULES)
                return gyre_fail(GYRE_INVALID, "null: more than %d faults, the last in '%.*s'",
                                 GYRE_NULL_RULES, shown, word);
            return gyre_fail(GYRE_INVALID,
                             "null: '%.*s' is no fault; docs/backends.md has the list", shown,
                             word);
        }
    }
    *out_faults = faults;
    return GYRE_OK;
}

const gyre_null_rule *gyre_null_faults_find(const gyre_null_faults *faults, gyre_null_word word,
                                            uint32_t number)
{
    for (uint32_t i = faults->count; i-- > 0;) {
        const gyre_null_rule *const rule = &faults->rules[i];

        if (rule->word == word && number >= rule->first && number <= rule->last)
            return rule;
    }
    return NULL;
}
