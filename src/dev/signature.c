/* SPDX-License-Identifier: Apache-2.0
 *
 * signature: lays declared arguments out as a C compiler lays out a struct of them.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  comparing with what a driver knows (the backends' kernel_open).
 */
#include "dev/signature.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

enum { BYTES_MOST = 4096, BYTES_ALIGNMENT = 8 };

static const struct {
    const char *word;
    uint32_t size; /* and alignment */
    bool pointer;
} types[] = {
    {"pointer", sizeof(void *), true},
    {"i8", 1, false},
    {"u8", 1, false},
    {"i16", 2, false},
    {"u16", 2, false},
    {"i32", 4, false},
    {"u32", 4, false},
    {"f32", 4, false},
    {"i64", 8, false},
    {"u64", 8, false},
    {"f64", 8, false},
};

/* One word of a signature: its text and what it stands for. */
typedef struct word {
    const char *text;
    size_t length;
    uint32_t size, alignment; /* 0: shared */
    bool pointer;
} word;

static bool is(const word *w, const char *text)
{
    return strlen(text) == w->length && strncmp(w->text, text, w->length) == 0;
}

/* The N of bytesN: 0 when it is none, or not one that an argument can have. */
static uint32_t read_bytes(const word *w)
{
    uint32_t bytes = 0;

    if (w->length < 6 || w->length > 9 || strncmp(w->text, "bytes", 5) != 0 || w->text[5] == '0')
        return 0;
    for (size_t i = 5; i < w->length; i++) {
        if (w->text[i] < '0' || w->text[i] > '9')
            return 0;
        bytes = bytes * 10 + (uint32_t)(w->text[i] - '0');
    }
    return bytes <= BYTES_MOST && bytes % BYTES_ALIGNMENT == 0 ? bytes : 0;
}

static gyre_status read_word(word *w)
{
    const int cut = gyre_text_cut(w->length);

    w->size = w->alignment = 0;
    w->pointer = false;
    if (is(w, "shared"))
        return GYRE_OK;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!is(w, types[i].word))
            continue;
        w->size = w->alignment = types[i].size;
        w->pointer = types[i].pointer;
        return GYRE_OK;
    }
    w->size = read_bytes(w);
    w->alignment = BYTES_ALIGNMENT;
    if (w->size > 0)
        return GYRE_OK;
    if (w->length >= 5 && strncmp(w->text, "bytes", 5) == 0)
        return gyre_fail(GYRE_INVALID, "signature: '%.*s' wants a multiple of 8 up to %d behind it",
                         cut, w->text, BYTES_MOST);
    return gyre_fail(GYRE_INVALID,
                     "signature: '%.*s' is no type; use pointer, i8, u8, i16, u16, i32, u32, f32, "
                     "i64, u64, f64, bytesN or shared",
                     cut, w->text);
}

static uint32_t round_up(uint32_t value, uint32_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

gyre_status gyre_signature_parse(const char *text, gyre_signature *out_signature)
{
    gyre_signature *const s = out_signature;
    uint32_t alignment = 1;
    bool shared = false;

    memset(s, 0, sizeof *s);
    if (!text)
        return gyre_fail(GYRE_INVALID, "signature: NULL; a kernel without arguments has \"\"");
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        word w = {.text = text, .length = strcspn(text, " \t")};
        const gyre_status status = read_word(&w);

        if (status != GYRE_OK)
            return status;
        if (shared)
            return gyre_fail(GYRE_INVALID, "signature: '%.*s' stands behind shared, which is last",
                             gyre_text_cut(w.length), w.text);
        if (s->count == GYRE_ARGUMENTS_MOST)
            return gyre_fail(GYRE_INVALID, "signature: more than %d arguments",
                             GYRE_ARGUMENTS_MOST);
        shared = w.size == 0;
        if (w.alignment > alignment)
            alignment = w.alignment;
        if (!shared)
            s->bytes = round_up(s->bytes, w.alignment);
        if (s->bytes + w.size > BYTES_MOST)
            return gyre_fail(GYRE_INVALID, "signature: the arguments take more than %d bytes",
                             BYTES_MOST);
        s->arguments[s->count++] =
            (gyre_dev_argument){.offset = s->bytes, .size = w.size, .pointer = w.pointer};
        s->bytes += w.size;
        text += w.length;
    }
    s->padded_bytes = round_up(s->bytes, alignment);
    return GYRE_OK;
}
