/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_instruction: the instructions of a module, one function for each of their forms. See
 * ptx_parser.h.
 */
#include <stdio.h>
#include <string.h>

#include "ptx_ops.h"
#include "ptx_parser.h"

static void parse_load(parser *p, const opcode *o)
{
    int32_t to[4] = {-1, -1, -1, -1};
    const uint32_t count = ptx_vector(p, to);
    ptx_instruction *i;

    ptx_expect(p, ',');
    i = ptx_add_access(p, o, PTX_OP_load);
    memcpy(i->to, to, sizeof to);
    if (count != i->count)
        ptx_refuse(p, "%u registers for %u values", count, i->count);
    for (uint32_t n = 0; n < count; n++)
        if (to[n] >= 0)
            i->kind = p->module->registers[to[n]].bytes;
    ptx_address(p, i);
}

static void parse_store(parser *p, const opcode *o)
{
    ptx_instruction *const i = ptx_add_access(p, o, PTX_OP_store);
    const uint32_t at = p->module->code_count - 1;
    int32_t from[4] = {-1, -1, -1, -1};
    uint32_t count;

    ptx_address(p, i);
    ptx_expect(p, ',');
    count = ptx_vector(p, from);
    if (count != p->module->code[at].count)
        ptx_refuse(p, "%u registers for %u values", count, p->module->code[at].count);
    /* where a load has its registers: its sources are the address */
    memcpy(p->module->code[at].to, from, sizeof from);
}

static void parse_atomic(parser *p, const opcode *o, bool returns)
{
    static const char *const kinds[] = {"add", "min",  "max", "and", "or",
                                        "xor", "exch", "cas", "inc", "dec"};
    int32_t to = -1;
    ptx_instruction *i;
    uint8_t kind = 0;
    uint32_t at;

    while (kind < 10 && !ptx_has(o, kinds[kind]))
        kind++;
    if (kind == 10)
        ptx_refuse(p, "no atomic operation '%s'", o->text);
    if (returns) {
        to = ptx_plain(p);
        ptx_expect(p, ',');
    }
    i = ptx_add_access(p, o, PTX_OP_atomic);
    at = p->module->code_count - 1;
    i->kind = kind;
    i->to[0] = to;
    if (o->parts[o->count - 1][0] == 'f' || i->size > 8 || i->size < 4)
        ptx_refuse(p, "no atomic operation '%s'", o->text);
    ptx_address(p, i);
    for (uint32_t n = 0; n < (kind == PTX_ATOM_CAS ? 2u : 1u); n++) {
        int32_t from;

        ptx_expect(p, ',');
        from = ptx_narrowed(p, ptx_plain(p), p->module->code[at].size);
        p->module->code[at].from[n] = from;
    }
}

/* mov, of one register or between several and one. */
static void parse_move(parser *p, const opcode *o)
{
    const uint32_t bytes = ptx_type_bytes(p, o);
    int32_t to[4] = {-1, -1, -1, -1}, from[4] = {-1, -1, -1, -1};
    const uint32_t to_count = ptx_vector(p, to);
    ptx_instruction *i;
    uint32_t from_count;
    bool changes;

    ptx_expect(p, ',');
    from_count = ptx_vector(p, from);
    changes = from[0] >= 0 && p->module->registers[from[0]].origin >= PTX_CLOCK;
    if (to_count == 1 && from_count == 1)
        from[0] = ptx_narrowed(p, from[0], bytes);
    i = ptx_add_instruction(p, changes          ? PTX_OP_read_special
                               : to_count > 1   ? (bytes == 16 ? PTX_OP_unpack_wide : PTX_OP_unpack)
                               : from_count > 1 ? (bytes == 16 ? PTX_OP_pack_wide : PTX_OP_pack)
                               : bytes == 16    ? PTX_OP_move_wide
                                                : PTX_OP_move);
    memcpy(i->to, to, sizeof to);
    memcpy(i->from, from, sizeof from);
    i->count = (uint8_t)(to_count > 1 ? to_count : from_count);
    i->size = (uint8_t)bytes;
    if (i->count > 1 && bytes / i->count == 0)
        ptx_refuse(p, "'%s' of %u", o->text, i->count);
}

static void parse_select(parser *p, const opcode *o)
{
    const uint32_t bytes = ptx_type_bytes(p, o);
    const int32_t to = ptx_plain(p);
    int32_t from[3];
    ptx_instruction *i;

    for (int n = 0; n < 2; n++) {
        ptx_expect(p, ',');
        from[n] = ptx_narrowed(p, ptx_plain(p), bytes);
    }
    ptx_expect(p, ',');
    from[2] = ptx_predicate(p);
    i = ptx_add_instruction(p, PTX_OP_select);
    i->to[0] = to;
    memcpy(i->from, from, sizeof from);
}

static void parse_branch(parser *p)
{
    if (p->use_count == PTX_LABELS)
        ptx_refuse(p, "too many branches");
    ptx_word(p, p->uses[p->use_count].text);
    (void)ptx_add_instruction(p, PTX_OP_branch);
    p->uses[p->use_count++].at = p->module->code_count - 1;
}

ptx_function *ptx_function_of(parser *p, const char *text)
{
    ptx_module *const m = p->module;

    for (uint32_t i = 0; i < m->function_count; i++)
        if (strcmp(m->functions[i].name, text) == 0)
            return &m->functions[i];
    m->functions = ptx_grown(p, m->functions, m->function_count + 1, sizeof *m->functions);
    m->functions[m->function_count] = (ptx_function){.name = strdup(text)};
    if (!m->functions[m->function_count].name)
        ptx_refuse(p, "no memory");
    return &m->functions[m->function_count++];
}

static const name *call_memory(parser *p)
{
    char text[PTX_WORD];
    uint32_t index;
    const name *n;

    ptx_word(p, text);
    n = ptx_find(p, text, &index);
    if (!n || !n->is_memory || n->space != PTX_CALL)
        ptx_refuse(p, "'%s' is no parameter", text);
    return n;
}

/* call (result), function, (arguments); the function is there already */
static void parse_call(parser *p)
{
    ptx_module *const m = p->module;
    const ptx_function *function;
    ptx_call call = {0};
    ptx_instruction *i;
    char text[PTX_WORD];

    if (ptx_taken(p, '(')) {
        const name *const n = call_memory(p);

        call.result = (ptx_copy){.to = (uint32_t)n->at, .bytes = n->bytes};
        ptx_expect(p, ')');
        ptx_expect(p, ',');
    }
    ptx_word(p, text);
    function = ptx_function_of(p, text);
    if (!function->is_whole)
        ptx_refuse(p, "'%.80s' is called before it is defined", text);
    call.function = (uint32_t)(function - m->functions);
    call.target = function->first;
    call.result.from = function->result.at;
    if (ptx_taken(p, ',')) {
        ptx_expect(p, '(');
        for (bool more = !ptx_taken(p, ')'); more; more = ptx_taken(p, ',')) {
            const name *const n = call_memory(p);

            if (call.count == function->parameter_count)
                ptx_refuse(p, "too many arguments for '%.80s'", text);
            call.arguments[call.count] =
                (ptx_copy){function->parameters[call.count].at, (uint32_t)n->at, n->bytes};
            call.count++;
        }
        if (call.count > 0)
            ptx_expect(p, ')');
    }
    m->calls = ptx_grown(p, m->calls, m->call_count + 1, sizeof *m->calls);
    m->calls[m->call_count] = call;
    i = ptx_add_instruction(p, PTX_OP_call);
    i->target = m->call_count;
    i = ptx_add_instruction(p, PTX_OP_result);
    i->target = m->call_count++;
}

/* shfl.sync.idx.b32 to|whether, from, lane, clamp, members */
static void parse_shuffle(parser *p, const opcode *o)
{
    const int32_t to = ptx_plain(p);
    int32_t whether = -1, from[4];
    ptx_instruction *i;

    if (ptx_taken(p, '|'))
        whether = ptx_predicate(p);
    for (int n = 0; n < 4; n++) {
        ptx_expect(p, ',');
        from[n] = ptx_narrowed(p, ptx_plain(p), 4);
    }
    i = ptx_add_instruction(p, PTX_OP_shuffle);
    i->kind = ptx_has(o, "idx")    ? PTX_SHUFFLE_IDX
              : ptx_has(o, "bfly") ? PTX_SHUFFLE_BFLY
              : ptx_has(o, "up")   ? PTX_SHUFFLE_UP
                                   : PTX_SHUFFLE_DOWN;
    i->to[0] = to;
    i->to[1] = whether;
    memcpy(i->from, from, sizeof from);
}

/* Everything else that has members: they are the last operand, and become from[3]. */
static void parse_vote(parser *p, const opcode *o)
{
    const int32_t to = ptx_plain(p);
    ptx_instruction *i;
    int32_t from, members;
    bool negated;

    ptx_expect(p, ',');
    negated = ptx_taken(p, '!');
    from = ptx_predicate(p);
    ptx_expect(p, ',');
    members = ptx_narrowed(p, ptx_plain(p), 4);
    i = ptx_add_instruction(p, PTX_OP_vote);
    i->kind = ptx_has(o, "all")   ? PTX_VOTE_ALL
              : ptx_has(o, "any") ? PTX_VOTE_ANY
              : ptx_has(o, "uni") ? PTX_VOTE_UNI
                                  : PTX_VOTE_BALLOT;
    i->is_signed = negated;
    i->to[0] = to;
    i->from[0] = from;
    i->from[3] = members;
}

static void parse_reduce(parser *p, const opcode *o, uint16_t operation)
{
    const int32_t to = ptx_plain(p);
    int32_t from, members;
    ptx_instruction *i;

    ptx_expect(p, ',');
    from = ptx_plain(p);
    ptx_expect(p, ',');
    members = ptx_narrowed(p, ptx_plain(p), 4);
    i = ptx_add_instruction(p, operation);
    i->kind = ptx_has(o, "add")   ? PTX_ATOM_ADD
              : ptx_has(o, "min") ? PTX_ATOM_MIN
              : ptx_has(o, "max") ? PTX_ATOM_MAX
              : ptx_has(o, "and") ? PTX_ATOM_AND
              : ptx_has(o, "or")  ? PTX_ATOM_OR
                                  : PTX_ATOM_XOR;
    i->is_signed = o->parts[o->count - 1][0] == 's';
    i->to[0] = to;
    i->from[0] = from;
    i->from[3] = members;
}

/* bar.sync which[, threads]; bar.arrive which, threads; bar.red.or.pred p, which[, threads], p */
static void parse_barrier(parser *p, const opcode *o)
{
    const bool reduces = ptx_has(o, "red");
    int32_t to = -1, which, threads = -1, from = -1;
    bool negated = false;
    ptx_instruction *i;

    if (reduces) {
        to = ptx_plain(p);
        ptx_expect(p, ',');
    }
    which = ptx_plain(p);
    while (ptx_taken(p, ',')) {
        uint32_t bytes;
        int32_t reg;

        negated = ptx_taken(p, '!');
        reg = ptx_operand(p, &bytes);
        if (bytes == 0)
            from = reg;
        else
            threads = reg;
    }
    i = ptx_add_instruction(p, reduces                ? PTX_OP_barrier_reduce
                               : ptx_has(o, "arrive") ? PTX_OP_barrier_arrive
                                                      : PTX_OP_barrier);
    i->kind = ptx_has(o, "and") ? PTX_VOTE_ALL : ptx_has(o, "or") ? PTX_VOTE_ANY : PTX_VOTE_BALLOT;
    i->is_signed = negated;
    i->to[0] = to;
    i->from[0] = from;
    i->from[1] = which;
    i->from[2] = threads;
}

/* Opcodes as ptx_ops.h writes them: what does not change a result is left out. */
static void normal_name(const opcode *o, char *out, size_t size)
{
    static const char *const ignored[] = {"ftz", "full", "approx", "sat"};
    const bool rounds = strcmp(o->parts[0], "cvt") != 0 && strcmp(o->parts[0], "fma") != 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < o->count; i++) {
        bool leave_out = i > 0 && rounds && strcmp(o->parts[i], "rn") == 0;

        for (size_t n = 0; n < sizeof ignored / sizeof ignored[0]; n++)
            leave_out = leave_out || (i > 0 && strcmp(o->parts[i], ignored[n]) == 0);
        if (!leave_out)
            snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? "_" : "", o->parts[i]);
    }
}

static int known_operation(const char *text)
{
    static const char *const names[] = {
#define ROW(id, type, expression) #id,
        PTX_ROWS(ROW)
#undef ROW
#define ROW(id, expression) #id,
            PTX_COMPARE_ROWS(ROW) PTX_PREDICATE_ROWS(ROW)
#undef ROW
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], text) == 0)
            return (int)i;
    return -1;
}

/* What ptx_ops.h has a row for: one result, up to four operands. */
static void parse_row(parser *p, const opcode *o)
{
    char text[PTX_WORD];
    ptx_instruction *i;
    int32_t to, from[4] = {-1, -1, -1, -1};
    uint32_t count = 0, bytes = ptx_type_bytes(p, o);
    int operation;

    normal_name(o, text, sizeof text);
    operation = known_operation(text);
    if (operation < 0)
        ptx_refuse(p, "no instruction '%s'", o->text);
    to = ptx_plain(p);
    while (ptx_taken(p, ',')) {
        const bool shift =
            count == 1 && (strcmp(o->parts[0], "shl") == 0 || strcmp(o->parts[0], "shr") == 0);

        if (count == 4)
            ptx_refuse(p, "too many operands");
        from[count] = ptx_plain(p);
        if (from[count] < 0)
            ptx_refuse(p, "'_' is no operand");
        if (!ptx_has(o, "wide") || count < 2)
            from[count] = ptx_narrowed(p, from[count], shift ? 4 : bytes);
        count++;
    }
    i = ptx_add_instruction(p, (uint16_t)operation);
    i->to[0] = to;
    memcpy(i->from, from, sizeof from);
    if (count == 0)
        ptx_refuse(p, "no operands");
}

static void parse_convert_address(parser *p, const opcode *o)
{
    const bool away = ptx_has(o, "to");
    const int32_t to = ptx_plain(p);
    ptx_instruction *i;
    int32_t from;

    ptx_expect(p, ',');
    from = ptx_plain(p);
    i = ptx_add_instruction(p, away ? PTX_OP_from_generic : PTX_OP_to_generic);
    i->to[0] = to;
    i->from[0] = from;
    i->space = (uint8_t)ptx_space_of(o);
}

static void parse_nap(parser *p)
{
    const int32_t from = ptx_plain(p);

    ptx_add_instruction(p, PTX_OP_nap)->from[0] = from;
}

static void parse_warp_barrier(parser *p)
{
    const int32_t members = ptx_narrowed(p, ptx_plain(p), 4);

    ptx_add_instruction(p, PTX_OP_warp_barrier)->from[3] = members;
}

static void parse_operation(parser *p, const opcode *o)
{
    const char *const first = o->parts[0];

    if (strcmp(first, "ld") == 0 || strcmp(first, "ldu") == 0)
        parse_load(p, o);
    else if (strcmp(first, "st") == 0)
        parse_store(p, o);
    else if (strcmp(first, "atom") == 0 || strcmp(first, "red") == 0)
        parse_atomic(p, o, first[0] == 'a');
    else if (strcmp(first, "mov") == 0 && !ptx_has(o, "pred"))
        parse_move(p, o);
    else if (strcmp(first, "selp") == 0)
        parse_select(p, o);
    else if (strcmp(first, "bra") == 0)
        parse_branch(p);
    else if (strcmp(first, "call") == 0)
        parse_call(p);
    else if (strcmp(first, "ret") == 0)
        ptx_add_instruction(p, PTX_OP_ret);
    else if (strcmp(first, "exit") == 0)
        ptx_add_instruction(p, PTX_OP_exit);
    else if (strcmp(first, "trap") == 0)
        ptx_add_instruction(p, PTX_OP_trap);
    else if (strcmp(first, "fence") == 0 || strcmp(first, "membar") == 0)
        ptx_add_instruction(p, PTX_OP_fence);
    else if (strcmp(first, "nanosleep") == 0)
        parse_nap(p);
    else if (strcmp(first, "cvta") == 0)
        parse_convert_address(p, o);
    else if (strcmp(first, "shfl") == 0)
        parse_shuffle(p, o);
    else if (strcmp(first, "vote") == 0)
        parse_vote(p, o);
    else if (strcmp(first, "redux") == 0)
        parse_reduce(p, o, PTX_OP_reduce);
    else if (strcmp(first, "match") == 0 && ptx_has(o, "any"))
        parse_reduce(p, o, PTX_OP_match);
    else if (strcmp(first, "activemask") == 0) {
        const int32_t to = ptx_plain(p);

        ptx_add_instruction(p, PTX_OP_active)->to[0] = to;
    } else if (strcmp(first, "bar") == 0 && ptx_has(o, "warp"))
        parse_warp_barrier(p);
    else if (strcmp(first, "bar") == 0 || strcmp(first, "barrier") == 0)
        parse_barrier(p, o);
    else
        parse_row(p, o);
}

void ptx_parse_instruction(parser *p)
{
    const uint32_t before = p->module->code_count;
    bool negated = false;
    int32_t guard = -1;
    opcode o = {.count = 0};
    char text[PTX_WORD];
    char *rest;

    if (ptx_taken(p, '@')) {
        negated = ptx_taken(p, '!');
        guard = ptx_predicate(p);
    }
    ptx_skip(p);
    ptx_word(p, o.text);
    if (p->at[0] == ':' && p->at[1] == ':') /* .shared::cta */
        while (ptx_is_word(*p->at) || *p->at == ':')
            p->at++;
    snprintf(text, sizeof text, "%s", o.text);
    for (char *part = strtok_r(text, ".", &rest); part && o.count < PTX_PARTS;
         part = strtok_r(NULL, ".", &rest))
        o.parts[o.count++] = part;
    if (o.count == 0)
        ptx_refuse(p, "no instruction");
    parse_operation(p, &o);
    ptx_expect(p, ';');
    if (guard >= 0 && p->module->code[before].operation == PTX_OP_call)
        ptx_refuse(p, "a call under a condition");
    for (uint32_t i = before; i < p->module->code_count; i++) {
        p->module->code[i].guard = guard;
        p->module->code[i].negated = negated;
    }
}
