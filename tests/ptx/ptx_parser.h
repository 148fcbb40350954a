/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_parser: from the text of a module to what ptx_step.c does, by several files:
 *   ptx_words.c        the text as words, signs and numbers
 *   ptx_names.c        registers, and variables of every space
 *   ptx_operand.c      what an instruction works on
 *   ptx_instruction.c  instructions
 *   ptx_module.c       statements, functions, modules
 *   ptx_registers.c    fewer registers
 *
 * Names are looked up from the innermost braces outwards, as PTX has them: what was written as
 * inline assembly has registers of its own. Constants, addresses of variables and what a lane is
 * become registers too, so that an operand is always one. Parameters of functions lie in memory of
 * each lane; a call copies them (PTX knows no recursion, nor does this).
 *
 * The first thing that is not understood ends it, by a jump to ptx_module_parse.
 *
 * Threads   any; nothing is shared.
 * Owns      the module until it is returned.
 */
#ifndef GYRE_TESTS_PTX_PARSER_H
#define GYRE_TESTS_PTX_PARSER_H

#include <setjmp.h>

#include "ptx.h"

enum { PTX_NAMES = 8192, PTX_DEPTH = 16, PTX_WORD = 160, PTX_PARTS = 12, PTX_LABELS = 8192 };

typedef struct name {
    char text[PTX_WORD];
    bool is_memory;        /* a variable; else registers: */
    uint32_t first, count; /* a range has its prefix as text, and a count */
    bool is_range;
    ptx_space space; /* of a variable, */
    uint64_t at;     /* where in it, */
    uint32_t bytes;
    bool is_dynamic; /* shared memory that the launch asks for */
} name;

typedef struct label {
    char text[PTX_WORD];
    uint32_t at;
} label;

typedef struct parser {
    ptx_module *module;
    const char *at;
    uint32_t line;
    name *names;
    uint32_t name_count, scopes[PTX_DEPTH], depth;
    label *labels, *uses; /* of this function; a use is of the instruction `at` */
    uint32_t label_count, use_count;
    uint32_t code_room, register_room;
    jmp_buf out;
    char *why;
    size_t why_size;
} parser;

/* An opcode in its parts. */
typedef struct opcode {
    char text[PTX_WORD];
    char *parts[PTX_PARTS];
    uint32_t count;
} opcode;

/* --- ptx_words.c ------------------------------------------------------------------------------ */

/* Ends it all, with the line. */
__attribute__((noreturn, format(printf, 2, 3))) void ptx_refuse(parser *p, const char *format, ...);

/* A larger block for what is there. */
void *ptx_grown(parser *p, void *block, size_t count, size_t size);

/* Goes on to what is neither space nor comment. */
void ptx_skip(parser *p);
bool ptx_is_word(char c);

/* Whether this sign is next, or this word, which is taken then. */
bool ptx_taken(parser *p, char sign);
bool ptx_is_next(parser *p, const char *text);

/* Takes a sign, a word or a number, or ends it all. */
void ptx_expect(parser *p, char sign);
void ptx_word(parser *p, char *out);
uint64_t ptx_number(parser *p);

/* --- ptx_names.c ------------------------------------------------------------------------------ */

/* The register that always has this value, or is what `origin` says. */
int32_t ptx_constant(parser *p, uint8_t origin, uint64_t value);

/* The innermost that fits, and which one of a range; NULL: none. */
const name *ptx_find(const parser *p, const char *text, uint32_t *out_index);

/* Of a type such as ".u32"; 0: a predicate. */
uint8_t ptx_bytes_of(parser *p, const char *type);
uint32_t ptx_aligned(uint32_t at, uint32_t to);

/* What comes after .reg; after .param, .shared and so on, up to the value or the ';'; and all of
 * such a variable of any space but parameters. */
void ptx_parse_registers(parser *p);
name *ptx_parse_variable(parser *p, uint32_t *out_align);
void ptx_parse_memory(parser *p, ptx_space space);

/* --- ptx_operand.c ---------------------------------------------------------------------------- */

bool ptx_has(const opcode *o, const char *part);
ptx_space ptx_space_of(const opcode *o);
uint32_t ptx_type_bytes(parser *p, const opcode *o);

/* It is at its place until the next one is added. */
ptx_instruction *ptx_add_instruction(parser *p, uint16_t operation);

/* One that has an address. */
ptx_instruction *ptx_add_access(parser *p, const opcode *o, uint16_t operation);

/* A register; any, a predicate, or one to four in braces, and how many. */
int32_t ptx_plain(parser *p);
int32_t ptx_operand(parser *p, uint32_t *out_bytes);
int32_t ptx_predicate(parser *p);
uint32_t ptx_vector(parser *p, int32_t out[4]);

/* A constant in an instruction of so many bytes is cut to that. */
int32_t ptx_narrowed(parser *p, int32_t reg, uint32_t bytes);

/* [register or variable + number] */
void ptx_address(parser *p, ptx_instruction *i);

/* --- ptx_instruction.c, ptx_module.c and ptx_registers.c -------------------------------------- */

void ptx_parse_instruction(parser *p);

/* The function of that name, which may not be known yet. */
ptx_function *ptx_function_of(parser *p, const char *text);

/* When all instructions are there, and their registers are not looked at any more. */
void ptx_fold_registers(parser *p);

#endif
