/* SPDX-License-Identifier: Apache-2.0
 *
 * message_mutate_fuzz: a valid message made of the input's first half, in which the second half
 * then changes sizes, versions, offsets and counts to neighbours of what is right, so that nearly
 * valid messages come up often. What no validator may do is told by message_look.h.
 */
#include <string.h>

#include "msg/message_look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 8192, MUTATIONS = 4 };

/* The input, byte by byte; zeros behind its end. */
typedef struct input {
    const uint8_t *next, *end;
} input;

static uint8_t take(input *in)
{
    return in->next < in->end ? *in->next++ : 0;
}

static uint32_t take_word(input *in)
{
    uint32_t word = 0;

    for (int i = 0; i < 4; i++)
        word = word << 8 | take(in);
    return word;
}

/* Mostly short, now and then on both sides of what is large. */
static size_t take_count(input *in)
{
    const uint8_t byte = take(in);

    return byte < 200 ? byte % 20 : (size_t)byte + 50;
}

static void fill(input *in, void *to, size_t bytes)
{
    if (to)
        memset(to, take(in), bytes);
}

static void put_point(input *in, point_builder *b)
{
    const size_t label = take_count(in);

    point_set_x(b, take(in));
    if (take(in) & 1)
        point_set_weight(b, take(in));
    fill(in, point_add_label(b, label), label);
}

static void put_path(input *in, path_builder *b)
{
    const size_t steps = take_count(in);
    const uint8_t parts = take(in);
    point_builder spot;

    fill(in, path_add_steps(b, steps), steps * sizeof(int16_t));
    if (parts & 1) {
        path_begin_from(b, &spot);
        put_point(in, &spot);
        path_commit_from(b, &spot);
    }
    if (parts & 2) {
        path_begin_to(b, &spot);
        put_point(in, &spot);
        path_commit_to(b, &spot);
    }
    path_set_closed(b, parts);
}

static size_t build_sample(input *in, unsigned char *buffer)
{
    const size_t raw = take_count(in), title = take_count(in), reals = take_count(in),
                 note = take_count(in);
    const uint8_t parts = take(in);
    sample_builder b;
    path_builder way;
    point_builder spot;
    size_t size = 0;

    look_require(sample_begin(&b, buffer, ROOM) == GYRE_OK, "sample begins");
    b.header.flags = parts >> 7;
    fill(in, sample_add_raw(&b, raw), raw);
    fill(in, sample_add_title(&b, title), title);
    if (parts & 1) {
        sample_begin_path(&b, &way);
        put_path(in, &way);
        sample_commit_path(&b, &way);
    }
    fill(in, sample_add_reals(&b, reals), reals * sizeof(double));
    if (parts & 2) {
        sample_begin_centre(&b, &spot);
        put_point(in, &spot);
        sample_commit_centre(&b, &spot);
    }
    fill(in, sample_add_note(&b, note), note);
    sample_set_last(&b, -1);
    look_require(sample_commit(&b, &size) == GYRE_OK, "sample is built");
    return size;
}

static void put_order3(input *in, order3_builder *b)
{
    const size_t customer = take_count(in), items = take_count(in), remark = take_count(in);
    point_builder spot;

    fill(in, order3_add_customer(b, customer), customer);
    fill(in, order3_add_items(b, items), items * sizeof(uint32_t));
    if (take(in) & 1) {
        order3_begin_place(b, &spot);
        put_point(in, &spot);
        order3_commit_place(b, &spot);
    }
    fill(in, order3_add_remark(b, remark), remark);
    order3_set_discount(b, take(in));
}

static size_t build_batch3(input *in, unsigned char *buffer)
{
    const size_t codes = take_count(in);
    batch3_builder b;
    order3_builder first;
    size_t size = 0;

    look_require(batch3_begin(&b, buffer, ROOM) == GYRE_OK, "batch begins");
    batch3_begin_first(&b, &first);
    put_order3(in, &first);
    batch3_commit_first(&b, &first);
    fill(in, batch3_add_codes(&b, codes), codes * sizeof(uint16_t));
    look_require(batch3_commit(&b, &size) == GYRE_OK, "batch is built");
    return size;
}

static size_t build_order2(input *in, unsigned char *buffer)
{
    const size_t customer = take_count(in), items = take_count(in);
    order2_builder b;
    size_t size = 0;

    look_require(order2_begin(&b, buffer, ROOM) == GYRE_OK, "order begins");
    fill(in, order2_add_customer(&b, customer), customer);
    fill(in, order2_add_items(&b, items), items * sizeof(uint32_t));
    look_require(order2_commit(&b, &size) == GYRE_OK, "order is built");
    return size;
}

static size_t build(input *in, unsigned char *buffer)
{
    switch (take(in) % 3) {
    case 0:
        return build_sample(in, buffer);
    case 1:
        return build_batch3(in, buffer);
    default:
        return build_order2(in, buffer);
    }
}

/* Changes one word of 32 or 16 bits: by a little, by an alignment, to an end, or to anything. Words
 * lie at multiples of their size, wherever in the message. */
static void mutate(input *in, unsigned char *bytes, size_t size)
{
    static const uint32_t steps[] = {1, 2, 4, 8, 16, 48, 56, 64, 0x100, 0x10000};
    const uint8_t how = take(in);
    const size_t place = ((size_t)take(in) << 8 | take(in)) * 2 % size;
    uint32_t word;

    if (place + 4 > size)
        return;
    memcpy(&word, bytes + place, 4);
    switch (how % 6) {
    case 0:
        word += steps[how / 6 % 10];
        break;
    case 1:
        word -= steps[how / 6 % 10];
        break;
    case 2:
        word = 0;
        break;
    case 3:
        word = UINT32_MAX - how / 6;
        break;
    case 4:
        word = (uint32_t)size - how / 6;
        break;
    default:
        word = take_word(in);
    }
    memcpy(bytes + place, &word, how & 0x80 ? 2 : 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(64) unsigned char buffer[ROOM];
    static FILE *nowhere;
    const size_t half = size / 2;
    input makes = {data, data + half}, changes = {data + half, data + size};
    const size_t built = build(&makes, buffer);
    unsigned char *bytes;

    look_require(look_into_all(buffer, built) >= 1, "what is built is valid");
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    bytes = aligned_alloc(16, built); /* a multiple of 16, and nothing behind it */
    if (!bytes || !nowhere)
        abort();
    memcpy(bytes, buffer, built);
    for (int i = 0; i < MUTATIONS && changes.next < changes.end; i++) {
        mutate(&changes, bytes, built);
        look_into_all(bytes, built);
    }
    /* now and then, since it takes as long as all the rest */
    if (size % 16 == 0 && look_into_sample(bytes, built))
        look_require(sample_json(bytes, built, nowhere) == GYRE_OK &&
                         sample_print(bytes, built, nowhere) == GYRE_OK,
                     "it can be shown");
    free(bytes);
    return 0;
}
