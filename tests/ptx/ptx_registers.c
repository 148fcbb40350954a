/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_registers: fewer registers. A module of PTX has a new one for each value, thousands of which
 * a warp would have 32 of: far more than the processor's caches. Here those that are never needed
 * at the same time get one place. Where each is needed is found by going back through the code
 * until nothing changes (a value that some lanes do not get is needed before, too), and is then one
 * stretch, from its first instruction to its last.
 *
 * Left as they are: constants and what a lane is, halves of pairs, and whatever a function uses
 * that is called, since its caller's values wait meanwhile.
 *
 * Threads   any; nothing is shared.
 * Owns      nothing beyond a call.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx_ops.h"
#include "ptx_parser.h"

typedef struct stretch {
    uint32_t reg, begin, end; /* instructions, both of which count */
} stretch;

typedef struct folding {
    ptx_module *module;
    uint64_t *needed; /* a set for each instruction: before it */
    size_t words;     /* of a set */
    bool *stays;
    stretch *stretches; /* one for each register */
    uint32_t *place;    /* by the old number */
    uint32_t *until;    /* by the new: the instruction from which on it is free */
} folding;

/* What an instruction reads and writes. */
typedef struct operands {
    int32_t reads[10], writes[6];
    uint32_t read_count, write_count;
} operands;

static void operands_of(const ptx_instruction *i, operands *out)
{
    const bool to_is_read = i->operation == PTX_OP_store;

    out->read_count = out->write_count = 0;
    if (i->guard >= 0)
        out->reads[out->read_count++] = i->guard;
    for (int n = 0; n < 4; n++) {
        if (i->from[n] >= 0)
            out->reads[out->read_count++] = i->from[n];
        if (i->to[n] >= 0 && to_is_read)
            out->reads[out->read_count++] = i->to[n];
        if (i->to[n] < 0 || to_is_read)
            continue;
        out->writes[out->write_count++] = i->to[n];
        if (i->guard >= 0) /* some lanes keep what was there */
            out->reads[out->read_count++] = i->to[n];
    }
}

static uint64_t *needed_before(const folding *f, uint32_t at)
{
    return f->needed + at * f->words;
}

/* What is needed before an instruction follows from what is needed behind it. Whether it is more
 * than was known. */
static bool look_at(const folding *f, uint32_t at)
{
    const ptx_instruction *const i = &f->module->code[at];
    const bool always = i->guard < 0;
    const bool ends =
        i->operation == PTX_OP_ret || i->operation == PTX_OP_exit || i->operation == PTX_OP_trap;
    const bool goes_on = !(always && (ends || i->operation == PTX_OP_branch));
    uint64_t *const before = needed_before(f, at);
    bool more = false;
    operands o;

    operands_of(i, &o);
    for (size_t w = 0; w < f->words; w++) {
        uint64_t set = goes_on ? needed_before(f, at + 1)[w] : 0;

        if (i->operation == PTX_OP_branch)
            set |= needed_before(f, i->target)[w];
        for (uint32_t n = 0; always && n < o.write_count; n++)
            if ((uint32_t)o.writes[n] / 64 == w)
                set &= ~(UINT64_C(1) << o.writes[n] % 64);
        for (uint32_t n = 0; n < o.read_count; n++)
            if ((uint32_t)o.reads[n] / 64 == w)
                set |= UINT64_C(1) << o.reads[n] % 64;
        more |= (set & ~before[w]) != 0;
        before[w] |= set;
    }
    return more;
}

static void stretch_to(folding *f, uint32_t reg, uint32_t at)
{
    stretch *const s = &f->stretches[reg];

    if (at < s->begin)
        s->begin = at;
    if (at > s->end)
        s->end = at;
}

static void find_stretches(folding *f)
{
    const ptx_module *const m = f->module;

    for (bool more = true; more;) {
        more = false;
        for (uint32_t at = m->code_count; at-- > 0;)
            more |= look_at(f, at);
    }
    for (uint32_t reg = 0; reg < m->register_count; reg++)
        f->stretches[reg] = (stretch){reg, UINT32_MAX, 0};
    for (uint32_t at = 0; at < m->code_count; at++) {
        operands o;

        for (size_t w = 0; w < f->words; w++)
            for (uint64_t left = needed_before(f, at)[w]; left; left &= left - 1)
                stretch_to(f, (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(left), at);
        operands_of(&m->code[at], &o);
        for (uint32_t n = 0; n < o.write_count; n++)
            stretch_to(f, (uint32_t)o.writes[n], at);
    }
}

static void find_what_stays(folding *f)
{
    const ptx_module *const m = f->module;

    for (uint32_t reg = 0; reg < m->register_count; reg++)
        f->stays[reg] = m->registers[reg].origin != PTX_PLAIN || m->registers[reg].is_half;
    for (uint32_t n = 0; n < m->function_count; n++)
        for (uint32_t at = m->functions[n].first;
             !m->functions[n].is_entry && m->functions[n].is_whole && at < m->functions[n].end;
             at++) {
            operands o;

            operands_of(&m->code[at], &o);
            for (uint32_t k = 0; k < o.read_count; k++)
                f->stays[o.reads[k]] = true;
            for (uint32_t k = 0; k < o.write_count; k++)
                f->stays[o.writes[k]] = true;
        }
}

static int by_begin(const void *a, const void *b)
{
    const uint32_t x = ((const stretch *)a)->begin, y = ((const stretch *)b)->begin;

    return x < y ? -1 : x > y;
}

/* Gives places to predicates, or to all others; `first` is the first that is free. Returns how many
 * there are then, and `made` gets what each is. */
static uint32_t give_places(const folding *f, bool predicates, uint32_t first, ptx_register *made)
{
    const ptx_module *const m = f->module;
    uint32_t count = first;

    for (uint32_t reg = 0; reg < m->register_count; reg++)
        if (f->stays[reg] && (m->registers[reg].bytes == 0) == predicates) {
            made[count] = m->registers[reg];
            f->place[reg] = count++;
        }
    first = count;
    for (uint32_t n = 0; n < m->register_count; n++) {
        const stretch *const s = &f->stretches[n]; /* in their order */
        uint32_t at = first;

        if (s->begin == UINT32_MAX || f->stays[s->reg] ||
            (m->registers[s->reg].bytes == 0) != predicates)
            continue;
        while (at < count && f->until[at] > s->begin)
            at++;
        if (at == count)
            made[count++] = (ptx_register){.bytes = predicates ? 0 : 8, .origin = PTX_PLAIN};
        f->until[at] = s->end + 1;
        f->place[s->reg] = at;
    }
    return count;
}

static void renumber(const folding *f)
{
    for (uint32_t at = 0; at < f->module->code_count; at++) {
        ptx_instruction *const i = &f->module->code[at];

        if (i->guard >= 0)
            i->guard = (int32_t)f->place[i->guard];
        for (int n = 0; n < 4; n++) {
            i->to[n] = i->to[n] < 0 ? -1 : (int32_t)f->place[i->to[n]];
            i->from[n] = i->from[n] < 0 ? -1 : (int32_t)f->place[i->from[n]];
        }
    }
}

void ptx_fold_registers(parser *p)
{
    ptx_module *const m = p->module;
    folding f = {.module = m, .words = (m->register_count + 63) / 64};
    ptx_register *const made = calloc(m->register_count + 1, sizeof *made);

    f.needed = calloc((m->code_count + 1) * f.words + 1, sizeof *f.needed);
    f.stays = calloc(m->register_count + 1, sizeof *f.stays);
    f.stretches = calloc(m->register_count + 1, sizeof *f.stretches);
    f.place = calloc(m->register_count + 1, sizeof *f.place);
    f.until = calloc(m->register_count + 1, sizeof *f.until);
    m->value_count = m->register_count;
    if (made && f.needed && f.stays && f.stretches && f.place && f.until) {
        find_what_stays(&f);
        find_stretches(&f);
        qsort(f.stretches, m->register_count, sizeof *f.stretches, by_begin);
        m->value_count = give_places(&f, false, 0, made);
        m->register_count = give_places(&f, true, m->value_count, made);
        renumber(&f);
        memcpy(m->registers, made, m->register_count * sizeof *made);
    }
    free(f.needed);
    free(f.stays);
    free(f.stretches);
    free(f.place);
    free(f.until);
    free(made);
}
