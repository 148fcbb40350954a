/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_words: the text of a module as words, signs and numbers. See ptx_parser.h.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_parser.h"

void ptx_refuse(parser *p, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(p->why, p->why_size, "line %u: %s", p->line, text);
    longjmp(p->out, 1);
}

void *ptx_grown(parser *p, void *block, size_t count, size_t size)
{
    void *const more = realloc(block, (count ? count : 1) * size);

    if (!more)
        ptx_refuse(p, "no memory");
    return more;
}

void ptx_skip(parser *p)
{
    for (;;) {
        if (*p->at == '\n')
            p->line++;
        if (isspace((unsigned char)*p->at)) {
            p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '/') {
            while (*p->at && *p->at != '\n')
                p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            while (*p->at && !(p->at[0] == '*' && p->at[1] == '/'))
                p->line += *p->at++ == '\n';
            p->at += *p->at ? 2 : 0;
        } else {
            return;
        }
    }
}

bool ptx_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* Whether this sign is next, which is taken then. */
bool ptx_taken(parser *p, char sign)
{
    ptx_skip(p);
    if (*p->at != sign)
        return false;
    p->at++;
    return true;
}

void ptx_expect(parser *p, char sign)
{
    if (!ptx_taken(p, sign))
        ptx_refuse(p, "'%c' expected, and there is '%.20s'", sign, p->at);
}

void ptx_word(parser *p, char *out)
{
    size_t count = 0;

    ptx_skip(p);
    while (ptx_is_word(p->at[count]) && count < PTX_WORD - 1)
        count++;
    if (count == 0)
        ptx_refuse(p, "a word expected, and there is '%.20s'", p->at);
    memcpy(out, p->at, count);
    out[count] = '\0';
    p->at += count;
}

/* Whether the next word is this one, which is taken then. */
bool ptx_is_next(parser *p, const char *text)
{
    const size_t length = strlen(text);

    ptx_skip(p);
    if (strncmp(p->at, text, length) != 0 || ptx_is_word(p->at[length]))
        return false;
    p->at += length;
    return true;
}

uint64_t ptx_number(parser *p)
{
    bool minus = ptx_taken(p, '-');
    char *end;
    uint64_t value;

    ptx_skip(p);
    if (p->at[0] == '0' && p->at[1] && strchr("fFdD", p->at[1])) /* the bits of a float */
        value = strtoull(p->at + 2, &end, 16);
    else
        value = strtoull(p->at, &end, 0);
    if (end == p->at)
        ptx_refuse(p, "a number expected, and there is '%.20s'", p->at);
    p->at = *end == 'U' ? end + 1 : end;
    return minus ? 0 - value : value;
}
