/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_operand: what instructions of a module work on. See ptx_parser.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ptx_parser.h"

bool ptx_has(const opcode *o, const char *part)
{
    for (uint32_t i = 1; i < o->count; i++)
        if (strcmp(o->parts[i], part) == 0)
            return true;
    return false;
}

ptx_instruction *ptx_add_instruction(parser *p, uint16_t operation)
{
    ptx_module *const m = p->module;
    ptx_instruction *i;

    if (m->code_count == p->code_room) {
        p->code_room = p->code_room ? p->code_room * 2 : 1024;
        m->code = ptx_grown(p, m->code, p->code_room, sizeof *m->code);
    }
    i = &m->code[m->code_count++];
    *i = (ptx_instruction){.operation = operation,
                           .guard = -1,
                           .to = {-1, -1, -1, -1},
                           .from = {-1, -1, -1, -1},
                           .line = p->line};
    return i;
}

static int32_t special(parser *p, const char *text)
{
    static const struct {
        const char *text;
        ptx_origin origin;
    } known[] = {
        {"%laneid", PTX_LANEID},
        {"%warpid", PTX_WARPID},
        {"%smid", PTX_SMID},
        {"%lanemask_eq", PTX_LANEMASK_EQ},
        {"%lanemask_lt", PTX_LANEMASK_LT},
        {"%lanemask_le", PTX_LANEMASK_LE},
        {"%lanemask_gt", PTX_LANEMASK_GT},
        {"%lanemask_ge", PTX_LANEMASK_GE},
        {"%clock", PTX_CLOCK},
        {"%clock64", PTX_CLOCK64},
        {"%globaltimer", PTX_GLOBALTIMER},
        {"%globaltimer_lo", PTX_GLOBALTIMER_LO},
        {"%globaltimer_hi", PTX_GLOBALTIMER_HI},
    };
    static const struct {
        const char *text;
        ptx_origin origin;
    } threes[] = {
        {"%tid.", PTX_TID}, {"%ntid.", PTX_NTID}, {"%ctaid.", PTX_CTAID}, {"%nctaid.", PTX_NCTAID}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i].text) == 0)
            return ptx_constant(p, known[i].origin, 0);
    for (size_t i = 0; i < sizeof threes / sizeof threes[0]; i++) {
        const size_t length = strlen(threes[i].text);

        if (strncmp(text, threes[i].text, length) == 0 && text[length] >= 'x' &&
            text[length] <= 'z' && !text[length + 1])
            return ptx_constant(p, (uint8_t)(threes[i].origin + text[length] - 'x'), 0);
    }
    return -1;
}

/* A register, a constant, or the address of a variable; *out_bytes is 0 for a predicate. */
int32_t ptx_operand(parser *p, uint32_t *out_bytes)
{
    const name *n;
    char text[PTX_WORD];
    uint32_t index;
    int32_t found;

    ptx_skip(p);
    *out_bytes = 8;
    if (*p->at == '-' || isdigit((unsigned char)*p->at))
        return ptx_constant(p, PTX_CONSTANT, ptx_number(p));
    ptx_word(p, text);
    if (strcmp(text, "_") == 0)
        return -1;
    if (strcmp(text, "WARP_SZ") == 0)
        return ptx_constant(p, PTX_CONSTANT, PTX_LANES);
    n = ptx_find(p, text, &index);
    if (n && !n->is_memory) {
        *out_bytes = n->bytes;
        return (int32_t)(n->first + index * (n->bytes == 16 ? 2 : 1));
    }
    if (n && n->is_dynamic)
        return ptx_constant(p, PTX_DYNAMIC_SHARED, 0);
    if (n)
        return ptx_constant(p, PTX_CONSTANT, n->at);
    found = special(p, text);
    if (found < 0)
        ptx_refuse(p, "nobody knows '%s'", text);
    return found;
}

/* A negative constant in an instruction of 32 or 16 bits is cut to that. */
int32_t ptx_narrowed(parser *p, int32_t reg, uint32_t bytes)
{
    const ptx_register r = p->module->registers[reg];

    if (r.origin != PTX_CONSTANT || bytes >= 8 || bytes == 0)
        return reg;
    return ptx_constant(p, PTX_CONSTANT, r.value & ((UINT64_C(1) << bytes * 8) - 1));
}

int32_t ptx_plain(parser *p)
{
    uint32_t bytes;

    return ptx_operand(p, &bytes);
}

int32_t ptx_predicate(parser *p)
{
    uint32_t bytes;
    const int32_t reg = ptx_operand(p, &bytes);

    if (bytes != 0)
        ptx_refuse(p, "a predicate expected");
    return reg;
}

/* One, or several in braces; how many. */
uint32_t ptx_vector(parser *p, int32_t out[4])
{
    uint32_t count = 0;

    if (!ptx_taken(p, '{')) {
        out[0] = ptx_plain(p);
        return 1;
    }
    do {
        if (count == 4)
            ptx_refuse(p, "a vector of more than four");
        out[count++] = ptx_plain(p);
    } while (ptx_taken(p, ','));
    ptx_expect(p, '}');
    return count;
}

uint32_t ptx_type_bytes(parser *p, const opcode *o)
{
    char type[PTX_WORD + 1];

    snprintf(type, sizeof type, ".%s", o->parts[o->count - 1]);
    return ptx_bytes_of(p, type);
}

/* [register or variable + number] */
void ptx_address(parser *p, ptx_instruction *i)
{
    const name *n = NULL;
    char text[PTX_WORD];
    uint32_t index;

    ptx_expect(p, '[');
    ptx_skip(p);
    if (isdigit((unsigned char)*p->at)) {
        i->from[3] = ptx_constant(p, PTX_CONSTANT, ptx_number(p));
    } else {
        ptx_word(p, text);
        n = ptx_find(p, text, &index);
        if (!n)
            ptx_refuse(p, "nobody knows '%s'", text);
        if (!n->is_memory)
            i->from[3] = (int32_t)(n->first + index);
        else if (n->is_dynamic)
            i->from[3] = ptx_constant(p, PTX_DYNAMIC_SHARED, 0);
        else
            i->from[3] = ptx_constant(p, PTX_CONSTANT, n->at);
        if (n->is_memory && i->space == PTX_ENTRY)
            i->space = (uint8_t)n->space; /* of a function's, or the kernel's */
    }
    if (ptx_taken(p, '+'))
        i->offset = (int64_t)ptx_number(p);
    ptx_expect(p, ']');
}

ptx_space ptx_space_of(const opcode *o)
{
    return ptx_has(o, "global") || ptx_has(o, "const")         ? PTX_GLOBAL
           : ptx_has(o, "shared") || ptx_has(o, "shared::cta") ? PTX_SHARED
           : ptx_has(o, "local")                               ? PTX_LOCAL
           : ptx_has(o, "param")                               ? PTX_ENTRY
                                                               : PTX_GENERIC;
}

ptx_instruction *ptx_add_access(parser *p, const opcode *o, uint16_t operation)
{
    ptx_instruction *const i = ptx_add_instruction(p, operation);

    i->space = (uint8_t)ptx_space_of(o);
    i->size = (uint8_t)ptx_type_bytes(p, o);
    i->releases = ptx_has(o, "release") || ptx_has(o, "acq_rel");
    i->acquires = ptx_has(o, "acquire") || ptx_has(o, "acq_rel");
    i->is_signed = o->parts[o->count - 1][0] == 's';
    i->count = ptx_has(o, "v4") ? 4 : ptx_has(o, "v2") ? 2 : 1;
    return i;
}
