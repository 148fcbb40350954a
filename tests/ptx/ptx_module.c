/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_module: statements, functions and modules. See ptx_parser.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_ops.h"
#include "ptx_parser.h"

static void open_scope(parser *p)
{
    if (p->depth == PTX_DEPTH)
        ptx_refuse(p, "too many braces");
    p->scopes[p->depth++] = p->name_count;
}

static void close_scope(parser *p)
{
    p->name_count = p->scopes[--p->depth];
}

static bool is_label(const parser *p)
{
    const char *at = p->at;

    while (ptx_is_word(*at))
        at++;
    while (isspace((unsigned char)*at))
        at++;
    return at > p->at && *at == ':';
}

static void parse_label(parser *p)
{
    if (p->label_count == PTX_LABELS)
        ptx_refuse(p, "too many labels");
    ptx_word(p, p->labels[p->label_count].text);
    for (uint32_t i = 0; i < p->label_count; i++)
        if (strcmp(p->labels[i].text, p->labels[p->label_count].text) == 0)
            ptx_refuse(p, "label '%s' is there twice", p->labels[i].text);
    p->labels[p->label_count++].at = p->module->code_count;
    ptx_expect(p, ':');
}

/* A parameter for a call, in braces around it. */
static void parse_call_variable(parser *p)
{
    ptx_module *const m = p->module;
    uint32_t align;
    name *const n = ptx_parse_variable(p, &align);

    n->space = PTX_CALL;
    n->at = ptx_aligned(m->call_bytes, align);
    m->call_bytes = (uint32_t)n->at + n->bytes;
    ptx_expect(p, ';');
}

static void parse_statement(parser *p)
{
    char text[PTX_WORD];

    ptx_skip(p);
    if (*p->at == '{') {
        p->at++;
        open_scope(p);
    } else if (*p->at == '}') {
        p->at++;
        close_scope(p);
    } else if (ptx_taken(p, ';')) {
        ;
    } else if (*p->at == '.') {
        ptx_word(p, text);
        if (strcmp(text, ".reg") == 0)
            ptx_parse_registers(p);
        else if (strcmp(text, ".param") == 0)
            parse_call_variable(p);
        else if (strcmp(text, ".shared") == 0)
            ptx_parse_memory(p, PTX_SHARED);
        else if (strcmp(text, ".local") == 0)
            ptx_parse_memory(p, PTX_LOCAL);
        else if (strcmp(text, ".pragma") == 0 || strcmp(text, ".loc") == 0)
            while (*p->at && *p->at != (text[1] == 'p' ? ';' : '\n'))
                p->at++;
        else
            ptx_refuse(p, "no directive '%s' in a function", text);
    } else if (is_label(p)) {
        parse_label(p);
    } else {
        ptx_parse_instruction(p);
    }
}

/* Parameters between parentheses, into a function's table. */
static uint32_t parse_parameters(parser *p, ptx_parameter *out, bool entry, uint32_t *out_bytes)
{
    ptx_module *const m = p->module;
    uint32_t count = 0, bytes = 0;

    ptx_expect(p, '(');
    if (ptx_taken(p, ')'))
        return 0;
    do {
        char text[PTX_WORD];
        uint32_t align;
        name *n;

        ptx_word(p, text);
        if (strcmp(text, ".reg") == 0)
            ptx_refuse(p, "a parameter in a register");
        n = ptx_parse_variable(p, &align);
        if (count == PTX_PARAMETERS)
            ptx_refuse(p, "more than %d parameters", PTX_PARAMETERS);
        n->space = entry ? PTX_ENTRY : PTX_CALL;
        n->at = ptx_aligned(entry ? bytes : m->call_bytes, align);
        out[count++] = (ptx_parameter){(uint32_t)n->at, n->bytes};
        bytes = (uint32_t)n->at + n->bytes;
        if (!entry)
            m->call_bytes = bytes;
    } while (ptx_taken(p, ','));
    ptx_expect(p, ')');
    if (out_bytes)
        *out_bytes = bytes;
    return count;
}

static void join_labels(parser *p)
{
    for (uint32_t i = 0; i < p->use_count; i++) {
        uint32_t n = 0;

        while (n < p->label_count && strcmp(p->labels[n].text, p->uses[i].text) != 0)
            n++;
        if (n == p->label_count)
            ptx_refuse(p, "no label '%s'", p->uses[i].text);
        p->module->code[p->uses[i].at].target = p->labels[n].at;
    }
    p->label_count = p->use_count = 0;
}

static void parse_function(parser *p, bool entry)
{
    ptx_function made = {.is_entry = entry, .threads_most = 1024};
    ptx_function *function;
    char text[PTX_WORD];

    open_scope(p);
    ptx_skip(p);
    if (!entry && *p->at == '(')
        (void)parse_parameters(p, &made.result, false, NULL);
    ptx_word(p, text);
    ptx_skip(p);
    if (*p->at == '(')
        made.parameter_count = parse_parameters(p, made.parameters, entry, &made.parameter_bytes);
    made.first = p->module->code_count;
    for (;;) {
        if (ptx_taken(p, ';')) { /* declared, no more */
            close_scope(p);
            (void)ptx_function_of(p, text);
            return;
        }
        if (ptx_taken(p, '{'))
            break;
        if (ptx_is_next(p, ".maxntid")) {
            made.threads_most = (uint32_t)ptx_number(p);
            while (ptx_taken(p, ','))
                made.threads_most *= (uint32_t)ptx_number(p);
        } else if (ptx_is_next(p, ".minnctapersm") || ptx_is_next(p, ".maxnreg")) {
            (void)ptx_number(p);
        } else if (!ptx_is_next(p, ".noreturn")) {
            ptx_refuse(p, "'%.20s' after a function's parameters", p->at);
        }
    }
    function = ptx_function_of(p, text);
    if (function->is_whole)
        ptx_refuse(p, "'%.80s' is there twice", text);
    made.name = function->name;
    made.is_whole = true;
    *function = made;
    open_scope(p);
    for (const uint32_t outside = p->depth - 1; p->depth > outside;)
        parse_statement(p);
    ptx_add_instruction(p, PTX_OP_ret); /* who falls off the end */
    function = ptx_function_of(p, text);
    function->end = p->module->code_count;
    join_labels(p);
    close_scope(p);
}

static void parse_module(parser *p)
{
    char text[PTX_WORD];

    for (ptx_skip(p); *p->at; ptx_skip(p)) {
        ptx_word(p, text);
        if (strcmp(text, ".version") == 0 || strcmp(text, ".target") == 0 ||
            strcmp(text, ".address_size") == 0 || strcmp(text, ".file") == 0) {
            while (*p->at && *p->at != '\n')
                p->at++;
        } else if (strcmp(text, ".visible") == 0 || strcmp(text, ".extern") == 0 ||
                   strcmp(text, ".weak") == 0) {
            ;
        } else if (strcmp(text, ".global") == 0 || strcmp(text, ".const") == 0) {
            ptx_parse_memory(p, PTX_GLOBAL);
        } else if (strcmp(text, ".shared") == 0) {
            ptx_parse_memory(p, PTX_SHARED);
        } else if (strcmp(text, ".entry") == 0) {
            parse_function(p, true);
        } else if (strcmp(text, ".func") == 0) {
            parse_function(p, false);
        } else {
            ptx_refuse(p, "no directive '%s'", text);
        }
    }
    if (p->module->function_count == 0)
        ptx_refuse(p, "this is no PTX");
    ptx_fold_registers(p);
}

/* False: `why` says why not. Whoever refuses something jumps to here. */
static bool parse(parser *p)
{
    if (setjmp(p->out) != 0)
        return false;
    p->names = ptx_grown(p, NULL, PTX_NAMES, sizeof *p->names);
    p->labels = ptx_grown(p, NULL, PTX_LABELS, sizeof *p->labels);
    p->uses = ptx_grown(p, NULL, PTX_LABELS, sizeof *p->uses);
    parse_module(p);
    return true;
}

ptx_module *ptx_module_parse(const char *text, char *why, size_t why_size)
{
    parser p = {.module = calloc(1, sizeof *p.module),
                .at = text,
                .line = 1,
                .why = why,
                .why_size = why_size};

    why[0] = '\0';
    if (!p.module) {
        snprintf(why, why_size, "no memory");
    } else if (!parse(&p)) {
        ptx_module_free(p.module);
        p.module = NULL;
    }
    free(p.names);
    free(p.labels);
    free(p.uses);
    return p.module;
}

void ptx_module_free(ptx_module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; i < module->function_count; i++)
        free(module->functions[i].name);
    for (uint32_t i = 0; i < module->variable_count; i++)
        ptx_variable_give(module->variables[i]);
    free(module->variables);
    free(module->functions);
    free(module->registers);
    free(module->calls);
    free(module->code);
    free(module);
}

const ptx_function *ptx_module_find(const ptx_module *module, const char *text)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_entry && strcmp(module->functions[i].name, text) == 0)
            return &module->functions[i];
    return NULL;
}
