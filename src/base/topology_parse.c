/* SPDX-License-Identifier: Apache-2.0
 *
 * topology_parse: the few formats in which the kernel writes about the machine. See topology.h.
 *
 * Threads   pure functions.
 * Owns      nothing.
 * Not here  reading files (sysfile.c), which file says what (topology.c, cgroup.c).
 */
#include "base/topology.h"

#include <string.h>

void gyre_cpu_set_add(gyre_cpu_set *set, uint32_t cpu)
{
    set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

uint32_t gyre_cpu_set_count(const gyre_cpu_set *set)
{
    uint32_t count = 0;

    for (size_t i = 0; i < GYRE_CPU_LIMIT / 64; i++)
        count += (uint32_t)__builtin_popcountll(set->word[i]);
    return count;
}

uint32_t gyre_cpu_set_next(const gyre_cpu_set *set, uint32_t from)
{
    while (from < GYRE_CPU_LIMIT) {
        const uint64_t rest = set->word[from / 64] >> from % 64;

        if (rest)
            return from + (uint32_t)__builtin_ctzll(rest);
        from = (from / 64 + 1) * 64;
    }
    return GYRE_CPU_LIMIT;
}

/* Digits at the cursor, which moves behind them. Not strtoull: that takes signs and spaces. */
static bool take_number(const char **cursor, uint64_t *out_value)
{
    const char *at = *cursor;
    uint64_t value = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    if (at == *cursor)
        return false;
    *cursor = at;
    *out_value = value;
    return true;
}

static bool at_end(const char *cursor)
{
    return cursor[strspn(cursor, " \t\n")] == '\0';
}

static bool take_cpu_list(const char *cursor, gyre_cpu_set *set)
{
    uint64_t lowest = 0; /* what the next item may begin with */

    if (at_end(cursor))
        return true;
    for (;;) {
        uint64_t first, last;

        if (!take_number(&cursor, &first))
            return false;
        last = first;
        if (*cursor == '-') {
            cursor++;
            if (!take_number(&cursor, &last))
                return false;
        }
        if (first < lowest || last < first || last >= GYRE_CPU_LIMIT)
            return false;
        for (uint64_t cpu = first; cpu <= last; cpu++)
            gyre_cpu_set_add(set, (uint32_t)cpu);
        lowest = last + 1;
        if (*cursor != ',')
            return at_end(cursor);
        cursor++;
    }
}

bool gyre_parse_cpu_list(const char *text, gyre_cpu_set *out_set)
{
    memset(out_set, 0, sizeof *out_set);
    if (take_cpu_list(text, out_set))
        return true;
    memset(out_set, 0, sizeof *out_set);
    return false;
}

bool gyre_parse_u64(const char *text, uint64_t *out_value)
{
    uint64_t value;

    *out_value = 0;
    if (!take_number(&text, &value) || !at_end(text))
        return false;
    *out_value = value;
    return true;
}

bool gyre_parse_i32(const char *text, int32_t *out_value)
{
    const bool negative = *text == '-';
    uint64_t value;

    *out_value = 0;
    if (!gyre_parse_u64(text + negative, &value) || value > INT32_MAX)
        return false;
    *out_value = negative ? -(int32_t)value : (int32_t)value;
    return true;
}

bool gyre_parse_size(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMGT";
    uint64_t value;
    const char *unit;

    *out_bytes = 0;
    if (!take_number(&text, &value))
        return false;
    unit = *text ? strchr(units, *text) : NULL;
    if (unit) {
        const uint64_t scale = UINT64_C(1024) << 10 * (unit - units);

        if (__builtin_mul_overflow(value, scale, &value))
            return false;
        text++;
    }
    if (!at_end(text))
        return false;
    *out_bytes = value;
    return true;
}

/* "Node 0 MemTotal: ..." in a node's file, "MemTotal: ..." in the machine's. */
static const char *skip_node(const char *line)
{
    uint64_t node;

    if (strncmp(line, "Node ", 5) != 0)
        return line;
    line += 5;
    if (!take_number(&line, &node))
        return line;
    return line + strspn(line, " ");
}

bool gyre_parse_meminfo(const char *text, const char *key, uint64_t *out_bytes)
{
    const size_t key_length = strlen(key);

    *out_bytes = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        uint64_t value;
        const char *at;

        line += *line == '\n';
        at = skip_node(line);
        if (strncmp(at, key, key_length) != 0 || at[key_length] != ':')
            continue;
        at += key_length + 1;
        at += strspn(at, " \t");
        if (!take_number(&at, &value))
            return false;
        if (strncmp(at, " kB", 3) == 0 && __builtin_mul_overflow(value, 1024, &value))
            return false;
        *out_bytes = value;
        return true;
    }
    return false;
}

gyre_thp_mode gyre_parse_thp(const char *text)
{
    if (strstr(text, "[always]"))
        return GYRE_THP_ALWAYS;
    if (strstr(text, "[madvise]"))
        return GYRE_THP_MADVISE;
    return strstr(text, "[never]") ? GYRE_THP_NEVER : GYRE_THP_UNKNOWN;
}
