/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_names: registers and variables of a module, and what they are called. See ptx_parser.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_parser.h"

static uint32_t new_registers(parser *p, uint32_t count, uint8_t bytes, uint8_t origin,
                              uint64_t value)
{
    ptx_module *const m = p->module;
    const uint32_t first = m->register_count;

    if (first + count > p->register_room) {
        p->register_room = (first + count) * 2;
        m->registers = ptx_grown(p, m->registers, p->register_room, sizeof *m->registers);
    }
    for (uint32_t i = 0; i < count; i++)
        m->registers[first + i] = (ptx_register){.bytes = bytes, .origin = origin, .value = value};
    m->register_count += count;
    return first;
}

int32_t ptx_constant(parser *p, uint8_t origin, uint64_t value)
{
    const ptx_module *const m = p->module;

    for (uint32_t i = 0; i < m->register_count; i++)
        if (m->registers[i].origin == origin && origin != PTX_PLAIN &&
            m->registers[i].value == value)
            return (int32_t)i;
    return (int32_t)new_registers(p, 1, 8, origin, value);
}

static name *add_name(parser *p, const char *text)
{
    name *const n = &p->names[p->name_count];

    if (p->name_count == PTX_NAMES)
        ptx_refuse(p, "more than %d names", PTX_NAMES);
    p->name_count++;
    memset(n, 0, sizeof *n);
    snprintf(n->text, sizeof n->text, "%s", text);
    return n;
}

/* The innermost that fits; a range fits its prefix with a number. */
const name *ptx_find(const parser *p, const char *text, uint32_t *out_index)
{
    size_t digits = strlen(text);
    char prefix[PTX_WORD];

    while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
        digits--;
    memcpy(prefix, text, digits);
    prefix[digits] = '\0';
    for (uint32_t i = p->name_count; i-- > 0;) {
        const name *const n = &p->names[i];

        *out_index = 0;
        if (!n->is_range && strcmp(n->text, text) == 0)
            return n;
        *out_index = (uint32_t)strtoul(text + digits, NULL, 10);
        if (n->is_range && text[digits] && strcmp(n->text, prefix) == 0 && *out_index < n->count)
            return n;
    }
    return NULL;
}

uint8_t ptx_bytes_of(parser *p, const char *type)
{
    static const struct {
        const char *text;
        uint8_t bytes;
    } types[] = {{".pred", 0}, {".b8", 1},  {".u8", 1},  {".s8", 1},   {".b16", 2}, {".u16", 2},
                 {".s16", 2},  {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4}, {".b64", 8},
                 {".u64", 8},  {".s64", 8}, {".f64", 8}, {".b128", 16}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].text, type) == 0)
            return types[i].bytes;
    ptx_refuse(p, "no type '%s'", type);
}

uint32_t ptx_aligned(uint32_t at, uint32_t to)
{
    return to ? (at + to - 1) / to * to : at;
}

/* .reg .b32 %r<7>, or with single names */
void ptx_parse_registers(parser *p)
{
    char type[PTX_WORD], text[PTX_WORD];
    uint8_t bytes;

    ptx_word(p, type);
    bytes = ptx_bytes_of(p, type);
    do {
        uint32_t count = 1;
        bool is_range;
        name *n;

        ptx_word(p, text);
        is_range = ptx_taken(p, '<');
        if (is_range) {
            count = (uint32_t)ptx_number(p);
            ptx_expect(p, '>');
        }
        n = add_name(p, text);
        n->is_range = is_range;
        n->count = count;
        n->first =
            new_registers(p, bytes == 16 ? 2 * count : count, bytes > 8 ? 8 : bytes, PTX_PLAIN, 0);
        n->bytes = bytes;
        for (uint32_t i = 0; bytes == 16 && i < 2 * count; i++)
            p->module->registers[n->first + i].is_half = true;
    } while (ptx_taken(p, ','));
    ptx_expect(p, ';');
}

/* What stands between .param, .shared, .local or .global and the name: its alignment and type. */
static void parse_shape(parser *p, uint32_t *out_align, uint8_t *out_bytes, char *text)
{
    *out_align = 0;
    for (;;) {
        ptx_word(p, text);
        if (strcmp(text, ".align") == 0)
            *out_align = (uint32_t)ptx_number(p);
        else if (strcmp(text, ".ptr") == 0) { /* what it points to does not matter here */
            ptx_skip(p);
            while (ptx_is_next(p, ".global") || ptx_is_next(p, ".shared") ||
                   ptx_is_next(p, ".const"))
                ;
            if (ptx_is_next(p, ".align"))
                (void)ptx_number(p);
        } else if (text[0] == '.')
            *out_bytes = ptx_bytes_of(p, text);
        else
            return;
    }
}

/* A variable: its name, how large it is and how it is aligned. */
name *ptx_parse_variable(parser *p, uint32_t *out_align)
{
    char text[PTX_WORD];
    uint32_t align;
    uint8_t bytes = 0;
    name *n;

    parse_shape(p, &align, &bytes, text);
    n = add_name(p, text);
    n->is_memory = true;
    n->bytes = bytes;
    if (ptx_taken(p, '[')) {
        ptx_skip(p);
        n->is_dynamic = *p->at == ']';
        n->bytes *= n->is_dynamic ? 0 : (uint32_t)ptx_number(p);
        ptx_expect(p, ']');
    }
    *out_align = align ? align : bytes;
    return n;
}

static void parse_values(parser *p, uint8_t *to, uint32_t room, uint32_t element)
{
    const bool several = ptx_taken(p, '{');
    uint32_t at = 0;

    do {
        const uint64_t value = ptx_number(p);

        if (at + element > room)
            ptx_refuse(p, "more values than there is room for");
        memcpy(to + at, &value, element);
        at += element;
    } while (several && ptx_taken(p, ','));
    if (several)
        ptx_expect(p, '}');
}

/* A variable of the module or a function, of any space but parameters. */
void ptx_parse_memory(parser *p, ptx_space space)
{
    ptx_module *const m = p->module;
    uint32_t align;
    name *const n = ptx_parse_variable(p, &align);

    n->space = space;
    if (n->is_dynamic && space != PTX_SHARED)
        ptx_refuse(p, "'%s' has no size", n->text);
    if (space == PTX_SHARED) {
        n->at = ptx_aligned(m->shared_bytes, align);
        m->shared_bytes = n->is_dynamic ? m->shared_bytes : (uint32_t)n->at + n->bytes;
    } else if (space == PTX_LOCAL) {
        n->at = ptx_aligned(m->local_bytes, align);
        m->local_bytes = (uint32_t)n->at + n->bytes;
    } else {
        uint8_t *const block = ptx_variable_take(n->bytes);

        if (!block)
            ptx_refuse(p, "no memory for '%s'", n->text);
        m->variables = ptx_grown(p, m->variables, m->variable_count + 1, sizeof *m->variables);
        m->variables[m->variable_count++] = block;
        n->at = (uint64_t)(uintptr_t)block;
        if (ptx_taken(p, '='))
            parse_values(p, block, n->bytes, align && align <= 8 ? align : 1);
    }
    ptx_expect(p, ';');
}
