/* SPDX-License-Identifier: Apache-2.0
 *
 * What is refused, with which status, and what the sentence says.
 */
#include <stdlib.h>

#include "msg/message_look.h"
#include "test.h"

enum { ROOM = 2048 };

static _Alignas(64) unsigned char buffer[ROOM];
static size_t size;
static gyre_message *const header = (gyre_message *)buffer;

/* A valid sample, whose parts and lists the cases then spoil. */
static sample *fresh_sample(void)
{
    static const int16_t steps[200] = {7};
    sample_builder b;
    path_builder way;
    point_builder spot;

    CHECK(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    sample_copy_raw(&b, (const uint8_t *)"0123456789", 10);
    sample_copy_title(&b, "title", 5);
    sample_begin_path(&b, &way);
    path_copy_steps(&way, steps, 200);
    path_begin_from(&way, &spot);
    point_copy_label(&spot, "from", 4);
    path_commit_from(&way, &spot);
    sample_commit_path(&b, &way);
    sample_copy_reals(&b, (const double[]){1, 2}, 2);
    CHECK(sample_commit(&b, &size) == GYRE_OK);
    CHECK(look_into_all(buffer, size) == 1);
    return (sample *)(buffer + GYRE_MESSAGE_ENVELOPE);
}

/* In a block that ends with the message, for the sanitizer. */
static void look_at_copy(void)
{
    unsigned char *const copy = calloc(1, size);

    REQUIRE(copy);
    memcpy(copy, buffer, size);
    look_into_all(copy, size);
    free(copy);
}

static bool refused(gyre_status status, const char *word)
{
    const sample *m;
    const bool right = sample_open(buffer, size, &m) == status && !m &&
                       gyre_error_last()->status == status &&
                       strstr(gyre_error_last()->text, word) != NULL;

    if (!right)
        fprintf(stderr, "%s: %s\n", gyre_status_name(gyre_error_last()->status),
                gyre_error_last()->text);
    look_at_copy();
    return right;
}

static void address_must_be_there_and_aligned(void)
{
    const gyre_message *message;
    const sample *m;

    fresh_sample();
    CHECK(sample_open(NULL, 64, &m) == GYRE_INVALID && !m);
    CHECK(gyre_message_peek(NULL, 64, &message) == GYRE_INVALID && !message);
    for (size_t shift = 1; shift < 16; shift++) {
        memmove(buffer + shift, buffer + shift - 1, size); /* it is all there, only elsewhere */
        CHECK(sample_open(buffer + shift, size, &m) == GYRE_INVALID && !m);
        CHECK(gyre_message_peek(buffer + shift, size, &message) == GYRE_INVALID && !message);
    }
}

static void header_is_looked_at(void)
{
    const gyre_message *message;

    fresh_sample();
    header->magic ^= 1;
    CHECK(refused(GYRE_CORRUPT, "begins with"));
    CHECK(gyre_message_peek(buffer, size, &message) == GYRE_CORRUPT && !message);
    fresh_sample();
    header->layout = 0;
    CHECK(refused(GYRE_CORRUPT, "layout"));
    header->layout = 2;
    CHECK(refused(GYRE_UNSUPPORTED, "version 2 of the layout"));
    fresh_sample();
    header->part.size = sizeof(gyre_part) - 1;
    CHECK(gyre_message_peek(buffer, size, &message) == GYRE_CORRUPT && !message);
    fresh_sample();
    header->flags = 2;
    CHECK(refused(GYRE_UNSUPPORTED, "flags 02"));
    fresh_sample();
    header->type = path_TYPE;
    CHECK(refused(GYRE_NOT_FOUND, "type 6, not 7"));
    header->type = 0;
    CHECK(refused(GYRE_NOT_FOUND, "type 0"));
    CHECK(gyre_message_peek(buffer, size, &message) == GYRE_OK && message == header);
}

static void truncated_message_is_refused_at_every_size(void)
{
    const size_t whole = (fresh_sample(), size);

    for (size = 0; size < whole; size++) {
        /* nothing behind it, for the sanitizer; volatile: analyzers do not see it refused */
        unsigned char *volatile cut = calloc(1, size ? size : 1);
        const sample *m;

        REQUIRE(cut);
        memcpy(cut, buffer, size);
        CHECK(sample_open(cut, size, &m) == GYRE_CORRUPT && !m);
        look_into_all(cut, size);
        free(cut);
    }
    size = whole;
    CHECK(look_into_sample(buffer, size));
}

static void bytes_behind_a_message_are_not_its_own(void)
{
    fresh_sample();
    memset(buffer + size, 0xff, sizeof buffer - size);
    CHECK(look_into_sample(buffer, sizeof buffer));
}

static void sizes_of_parts_must_be_those_of_their_contents(void)
{
    static const uint32_t sizes[] = {0, 1, 7, 8, 24, 0x7ffffff8, 0xfffffff8, UINT32_MAX};
    const uint32_t right = (fresh_sample(), header->part.size);
    sample *m;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        header->part.size = sizes[i];
        CHECK(refused(GYRE_CORRUPT, "bytes"));
    }
    size += 16; /* a message with room at its end */
    header->part.size = right + 16;
    CHECK(refused(GYRE_CORRUPT, "of no field"));
    header->part.size = right + 8;
    CHECK(refused(GYRE_CORRUPT, "a part of"));
    m = fresh_sample();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        gyre_part *const nested = (gyre_part *)((char *)m + m->path_.offset);
        const uint32_t kept = nested->size;

        nested->size = sizes[i];
        CHECK(refused(GYRE_CORRUPT, "path"));
        nested->size = kept;
    }
    CHECK(look_into_sample(buffer, size));
}

static void fields_must_be_inside_their_part(void)
{
    fresh_sample();
    for (size = sizeof *header; size < sample_ROOM; size += 8) {
        header->part.size = (uint32_t)size - GYRE_MESSAGE_ENVELOPE;
        CHECK(refused(GYRE_CORRUPT, "a part of"));
    }
}

/* One that claims to go on behind the message, and whose text does. */
static void part_cannot_be_larger_than_the_one_around_it(void)
{
    sample_builder b;
    point_builder spot;
    sample *const m = (sample *)(buffer + GYRE_MESSAGE_ENVELOPE);
    point *inner;

    CHECK(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    sample_begin_centre(&b, &spot);
    point_copy_label(&spot, "label", 5);
    sample_commit_centre(&b, &spot);
    CHECK(sample_commit(&b, &size) == GYRE_OK);
    inner = (point *)((char *)m + m->centre_.offset);
    memset(buffer + size, 0, 64);
    for (inner->label_.count = 16; inner->label_.count < 32; inner->label_.count++) {
        inner->part.size = (uint32_t)(buffer + size - (unsigned char *)inner) + 16;
        CHECK(refused(GYRE_CORRUPT, "point"));
    }
}

static void lists_lie_at_the_one_place_where_they_can(void)
{
    sample *m = fresh_sample();
    const gyre_span raw = m->raw_, reals = m->reals_;

    m->raw_.offset = 0;
    CHECK(refused(GYRE_CORRUPT, "raw"));
    m->raw_.offset = raw.offset + 16;
    CHECK(refused(GYRE_CORRUPT, "raw"));
    m->raw_.offset = raw.offset - 16;
    CHECK(refused(GYRE_CORRUPT, "raw"));
    m->raw_ = raw;
    m->reals_.offset = raw.offset; /* two lists on the same bytes */
    CHECK(refused(GYRE_CORRUPT, "reals"));
    m->reals_ = reals;
    m->raw_.count = 0; /* nothing has no place */
    CHECK(refused(GYRE_CORRUPT, "raw"));
    m->raw_ = raw;
    m->raw_.count = 17; /* one unit longer: all behind it are elsewhere */
    CHECK(refused(GYRE_CORRUPT, "title"));
    m->raw_ = raw;
    m->raw_.count = 16; /* as long as its padding: valid */
    CHECK(look_into_sample(buffer, size));
}

static void counts_that_overflow_are_refused(void)
{
    static const uint32_t counts[] = {0x10000000, 0x20000000, 0x40000000,
                                      0x80000000, 0xfffffff0, UINT32_MAX};
    vector_add_builder b;
    vector_add *m;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CHECK(vector_add_begin(&b, buffer, sizeof buffer) == GYRE_OK);
        vector_add_add_a(&b, 4);
        vector_add_add_b(&b, 4);
        CHECK(vector_add_commit(&b, &size) == GYRE_OK);
        m = (vector_add *)(buffer + GYRE_MESSAGE_ENVELOPE);
        m->a_.count = counts[i];
        CHECK(!look_into_vector_add(buffer, size));
        m->a_.count = 4;
        m->b_.count = counts[i];
        CHECK(!look_into_vector_add(buffer, size));
        m->b_.count = 4;
        CHECK(look_into_vector_add(buffer, size));
        fresh_sample();
        ((sample *)(buffer + GYRE_MESSAGE_ENVELOPE))->title_.count = counts[i];
        CHECK(refused(GYRE_CORRUPT, "title"));
    }
}

/* What is large begins at the next line, which may be behind the part; a newer writer's part need
 * not end with what the reader knows. */
static void large_contents_cannot_begin_behind_a_newer_part(void)
{
    for (uint16_t version = 2; version < 5; version++) {
        order2_builder b;
        order2 *const m = (order2 *)(buffer + GYRE_MESSAGE_ENVELOPE);

        CHECK(order2_begin(&b, buffer, sizeof buffer) == GYRE_OK);
        CHECK(order2_commit(&b, &size) == GYRE_OK);
        CHECK(size % 64 != 0);
        header->part.version = version;
        CHECK(look_into_order2(buffer, size));
        m->items_ = (gyre_span){(uint32_t)((size + 63) / 64 * 64 - GYRE_MESSAGE_ENVELOPE), 64};
        look_at_copy();
        CHECK(!look_into_order2(buffer, size) && !look_into_order2(buffer, sizeof buffer));
        m->items_ = (gyre_span){0, 0};
        m->customer_ = (gyre_span){(uint32_t)((size + 63) / 64 * 64 - GYRE_MESSAGE_ENVELOPE), 300};
        memset(buffer + size, 0, sizeof buffer - size);
        look_at_copy();
        CHECK(!look_into_order2(buffer, size) && !look_into_order2(buffer, sizeof buffer));
    }
}

static void text_must_end_with_a_zero(void)
{
    sample *const m = fresh_sample();
    char *const title = (char *)m + m->title_.offset;

    title[5] = 'x';
    CHECK(refused(GYRE_CORRUPT, "no zero ends title"));
    m->title_.count = 6;
    CHECK(look_into_sample(buffer, size));
    m->title_.count = 15;
    CHECK(look_into_sample(buffer, size));
    m->title_.count = 16; /* its zero would be the next one's first byte */
    CHECK(refused(GYRE_CORRUPT, "path"));
}

static void last_text_cannot_end_behind_the_message(void)
{
    point_builder b;
    point *m;

    CHECK(point_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    point_copy_label(&b, "0123456789abcde", 15);
    CHECK(point_commit(&b, &size) == GYRE_OK);
    m = (point *)(buffer + GYRE_MESSAGE_ENVELOPE);
    buffer[size] = 0; /* there is a zero, but not in the message */
    for (m->label_.count = 16; m->label_.count < 32; m->label_.count++)
        CHECK(!look_into_point(buffer, size + 64));
}

static void parts_cannot_be_around_themselves(void)
{
    sample *const m = fresh_sample();
    path *const way = (path *)((char *)m + m->path_.offset);
    const gyre_span centre = m->centre_, to = way->to_;

    m->centre_ = (gyre_span){m->path_.offset, 1};
    CHECK(refused(GYRE_CORRUPT, "centre"));
    m->centre_ = (gyre_span){0, 1};
    CHECK(refused(GYRE_CORRUPT, "centre"));
    m->centre_ = (gyre_span){0, 2};
    CHECK(refused(GYRE_CORRUPT, "centre"));
    m->centre_ = (gyre_span){header->part.size, 1}; /* behind everything */
    CHECK(refused(GYRE_CORRUPT, "centre"));
    m->centre_ = (gyre_span){header->part.size + 8, 1}; /* where it must be, and is not */
    CHECK(refused(GYRE_CORRUPT, "centre"));
    m->centre_ = centre;
    way->to_ = (gyre_span){0, 1};
    CHECK(refused(GYRE_CORRUPT, "to"));
    way->to_ = way->from_;
    CHECK(refused(GYRE_CORRUPT, "to"));
    way->to_ = to;
    way->from_.count = 2;
    CHECK(refused(GYRE_CORRUPT, "from"));
    way->from_.count = 0;
    CHECK(refused(GYRE_CORRUPT, "from"));
    way->from_.count = 1;
    CHECK(look_into_sample(buffer, size));
}

static void versions_and_their_fields_must_agree(void)
{
    order2_builder b;

    CHECK(order2_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    CHECK(order2_commit(&b, &size) == GYRE_OK);
    CHECK(look_into_order2(buffer, size) && look_into_order1(buffer, size) &&
          look_into_order3(buffer, size));
    header->part.version = 0;
    CHECK(!look_into_order2(buffer, size));
    header->part.fixed = sizeof(gyre_part); /* without any field, as no version is */
    header->part.size = sizeof(gyre_part);
    CHECK(!look_into_order2(buffer, sizeof *header) && !look_into_order1(buffer, sizeof *header));
    CHECK(order2_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    CHECK(order2_commit(&b, &size) == GYRE_OK);
    header->part.version = 1; /* which has fewer fields */
    CHECK(!look_into_order2(buffer, size) && !look_into_order1(buffer, size));
    header->part.version = 3; /* for a reader of the third, fields are missing */
    CHECK(!look_into_order3(buffer, size) && look_into_order2(buffer, size));
    header->part.version = UINT16_MAX;
    CHECK(look_into_order3(buffer, size) == false && look_into_order1(buffer, size));
    header->part.version = 2;
    for (uint32_t fixed = 0; fixed <= UINT16_MAX; fixed++)
        if (fixed != order2_FIXED_) {
            header->part.fixed = (uint16_t)fixed;
            CHECK(!look_into_order2(buffer, size) && !look_into_order3(buffer, size));
            look_into_order1(buffer, size);
        }
}

static void messages_can_be_shown(void)
{
    static const char *const json[] = {
        "\"message\": \"sample\"", "\"large\": 0",     "\"title\": \"ti\xEF\xBF\xBDle\"",
        "\"centre\": null",        "\"ratio\": null",  "\"reals\": [null, 2]",
        "\"label\": \"from\"",     "\"to\": null",     "\"corner\": [0, 0, 0]",
        "\"raw\": [48, 49,",       "\"priority\": 96", "\"note\": \"\""};
    static const char *const words[] = {"sample version 1", "raw[10] 48 49",  " ...\n",
                                        "title \"ti",       "label \"from\"", "centre none",
                                        "ratio none",       "reals[2] nan 2"};
    sample *const m = fresh_sample();
    char *text = NULL;
    size_t length = 0;
    FILE *stream;

    ((char *)m + m->title_.offset)[2] = '\xff';
    *(double *)((char *)m + m->reals_.offset) = __builtin_nan("");
    stream = open_memstream(&text, &length);
    REQUIRE(stream);
    CHECK(sample_json(buffer, size, stream) == GYRE_OK);
    fclose(stream);
    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++)
        if (!strstr(text, json[i]))
            test_fail(__FILE__, __LINE__, json[i]);
    free(text);
    stream = open_memstream(&text, &length);
    REQUIRE(stream);
    CHECK(sample_print(buffer, size, stream) == GYRE_OK);
    fclose(stream);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strstr(text, words[i]))
            test_fail(__FILE__, __LINE__, words[i]);
    free(text);
}

static void nothing_is_shown_of_what_is_refused(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const stream = open_memstream(&text, &length);

    REQUIRE(stream);
    fresh_sample()->raw_.offset++;
    CHECK(sample_json(buffer, size, stream) == GYRE_CORRUPT);
    CHECK(sample_print(buffer, size, stream) == GYRE_CORRUPT);
    fclose(stream);
    CHECK(length == 0);
    free(text);
}

static const test_case cases[] = {
    TEST(address_must_be_there_and_aligned),
    TEST(header_is_looked_at),
    TEST(truncated_message_is_refused_at_every_size),
    TEST(bytes_behind_a_message_are_not_its_own),
    TEST(sizes_of_parts_must_be_those_of_their_contents),
    TEST(fields_must_be_inside_their_part),
    TEST(part_cannot_be_larger_than_the_one_around_it),
    TEST(lists_lie_at_the_one_place_where_they_can),
    TEST(counts_that_overflow_are_refused),
    TEST(large_contents_cannot_begin_behind_a_newer_part),
    TEST(text_must_end_with_a_zero),
    TEST(last_text_cannot_end_behind_the_message),
    TEST(parts_cannot_be_around_themselves),
    TEST(versions_and_their_fields_must_agree),
    TEST(messages_can_be_shown),
    TEST(nothing_is_shown_of_what_is_refused),
};
TEST_MAIN(cases)
