/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of three versions of a table, as bytes in tests/golden: what is built today is those
 * bytes, and every table reads all of them. A change here is a change of the layout.
 */
#include <stdlib.h>

#include "msg/message_look.h"
#include "test.h"

enum { ROOM = 2048, VERSIONS = 3 };

typedef struct golden {
    _Alignas(64) unsigned char bytes[ROOM];
    size_t size;
} golden;

static const char *const order_files[VERSIONS] = {"message_order1.bin", "message_order2.bin",
                                                  "message_order3.bin"};

static void fill_header(gyre_message *header)
{
    header->id = 0x1122334455667788;
    header->correlation = 41;
    header->source = 3;
    header->destination = 4;
    header->deadline_ns = 5000000000;
    header->time = 0x17f0123456780001;
    header->priority = 160;
}

static void build_order1(golden *to)
{
    order1_builder b;

    CHECK(order1_begin(&b, to->bytes, ROOM) == GYRE_OK);
    fill_header(&b.header);
    order1_set_number(&b, 1001);
    order1_copy_customer(&b, "first customer", 14);
    order1_set_urgent(&b, 1);
    CHECK(order1_commit(&b, &to->size) == GYRE_OK);
}

static void build_order2(golden *to)
{
    uint32_t *items;
    order2_builder b;

    CHECK(order2_begin(&b, to->bytes, ROOM) == GYRE_OK);
    fill_header(&b.header);
    b.header.flags = GYRE_MESSAGE_CRC;
    order2_set_number(&b, 1002);
    order2_copy_customer(&b, "second", 6);
    order2_set_discount(&b, 10);
    items = order2_add_items(&b, 70);
    for (uint32_t i = 0; items && i < 70; i++)
        items[i] = i * i;
    order2_set_weight(&b, 1.5f);
    CHECK(order2_commit(&b, &to->size) == GYRE_OK);
}

static void build_order3(golden *to)
{
    order3_builder b;
    point_builder place;

    CHECK(order3_begin(&b, to->bytes, ROOM) == GYRE_OK);
    fill_header(&b.header);
    order3_set_number(&b, 1003);
    order3_copy_customer(&b, "third", 5);
    order3_copy_items(&b, (const uint32_t[]){7, 8, 9}, 3);
    order3_begin_place(&b, &place);
    point_set_x(&place, 47.5);
    point_set_y(&place, -8.25);
    point_copy_label(&place, "home", 4);
    order3_commit_place(&b, &place);
    order3_copy_remark(&b, "ring twice", 10);
    order3_set_colour(&b, (const uint16_t[]){255, 128, 0});
    CHECK(order3_commit(&b, &to->size) == GYRE_OK);
}

static void (*const build_order[VERSIONS])(golden *) = {build_order1, build_order2, build_order3};

static FILE *open_file(const char *name, const char *mode)
{
    char where[1024];

    snprintf(where, sizeof where, "%s/tests/golden/%s", SOURCE_ROOT, name);
    return fopen(where, mode);
}

static bool read_file(const char *name, golden *to)
{
    FILE *const file = open_file(name, "rb");

    if (!file)
        return false;
    to->size = fread(to->bytes, 1, ROOM, file);
    fclose(file);
    return to->size > 0;
}

/* Compiled with -DGOLDEN_WRITE=1, the test makes the files. */
#ifndef GOLDEN_WRITE
#define GOLDEN_WRITE 0
#endif

static void what_is_built_is_what_was_built(void)
{
    static golden built, kept;

    for (int v = 0; v < VERSIONS; v++) {
        build_order[v](&built);
        if (GOLDEN_WRITE) {
            FILE *const file = open_file(order_files[v], "wb");

            REQUIRE(file && fwrite(built.bytes, 1, built.size, file) == built.size);
            fclose(file);
        }
        REQUIRE(read_file(order_files[v], &kept));
        CHECK(kept.size == built.size && memcmp(kept.bytes, built.bytes, kept.size) == 0);
    }
}

static void every_table_takes_every_version(void)
{
    static golden kept;

    for (int v = 0; v < VERSIONS; v++) {
        REQUIRE(read_file(order_files[v], &kept));
        CHECK(look_into_all(kept.bytes, kept.size) == VERSIONS);
    }
}

static void newer_reader_sees_defaults(void)
{
    static golden kept;
    const order3 *m;

    REQUIRE(read_file(order_files[0], &kept));
    REQUIRE(order3_open(kept.bytes, kept.size, &m) == GYRE_OK);
    CHECK(order3_number(m) == 1001 && order3_urgent(m) == 1);
    CHECK(strcmp(order3_customer(m), "first customer") == 0);
    CHECK(order3_discount(m) == -5); /* in the same bytes, version 1 has padding */
    CHECK(order3_items_count(m) == 0 && order3_items(m) != NULL);
    CHECK(!order3_has_weight(m) && order3_weight(m) == 2.5f);
    CHECK(!order3_place(m) && !order3_colour(m) && order3_colour_count(m) == 0);
    CHECK(order3_remark_count(m) == 0 && strcmp(order3_remark(m), "") == 0);

    REQUIRE(read_file(order_files[1], &kept));
    REQUIRE(order3_open(kept.bytes, kept.size, &m) == GYRE_OK);
    CHECK(order3_discount(m) == 10 && order3_has_weight(m) && order3_weight(m) == 1.5f);
    CHECK(order3_items_count(m) == 70 && order3_items(m)[69] == 69 * 69);
    CHECK((uintptr_t)order3_items(m) % 64 == 0);
    CHECK(!order3_place(m) && order3_remark_count(m) == 0 && !order3_colour(m));
}

static void older_reader_skips_what_it_does_not_know(void)
{
    static golden kept;
    const order1 *old;
    const order2 *m;

    REQUIRE(read_file(order_files[2], &kept));
    REQUIRE(order1_open(kept.bytes, kept.size, &old) == GYRE_OK);
    CHECK(order1_number(old) == 1003 && order1_urgent(old) == 0);
    CHECK(strcmp(order1_customer(old), "third") == 0);
    CHECK(order1_message(old)->id == 0x1122334455667788);
    REQUIRE(order2_open(kept.bytes, kept.size, &m) == GYRE_OK);
    CHECK(order2_items_count(m) == 3 && order2_items(m)[2] == 9 && !order2_has_weight(m));
}

/* The same between parts: a batch of an old program in a new one, and the other way. */
static void parts_grow_like_messages(void)
{
    static const uint32_t items[100] = {1};
    static golden built;
    batch3_builder newer;
    batch1_builder older;
    order3_builder first3;
    order1_builder first1;
    const batch1 *old;
    const batch3 *m;

    REQUIRE(batch3_begin(&newer, built.bytes, ROOM) == GYRE_OK);
    batch3_begin_first(&newer, &first3);
    order3_copy_customer(&first3, "c", 1);
    order3_copy_items(&first3, items, 100);
    order3_copy_remark(&first3, "remark", 6);
    batch3_commit_first(&newer, &first3);
    batch3_copy_codes(&newer, (const uint16_t[]){1, 2, 3}, 3);
    REQUIRE(batch3_commit(&newer, &built.size) == GYRE_OK);
    CHECK(look_into_all(built.bytes, built.size) == 2);
    REQUIRE(batch1_open(built.bytes, built.size, &old) == GYRE_OK);
    CHECK(strcmp(order1_customer(batch1_first(old)), "c") == 0);
    CHECK(batch1_codes_count(old) == 3 && batch1_codes(old)[2] == 3);

    REQUIRE(batch1_begin(&older, built.bytes, ROOM) == GYRE_OK);
    batch1_begin_first(&older, &first1);
    order1_set_number(&first1, 6);
    batch1_commit_first(&older, &first1);
    batch1_copy_codes(&older, (const uint16_t[]){4}, 1);
    REQUIRE(batch1_commit(&older, &built.size) == GYRE_OK);
    CHECK(look_into_all(built.bytes, built.size) == 2);
    REQUIRE(batch3_open(built.bytes, built.size, &m) == GYRE_OK);
    CHECK(order3_number(batch3_first(m)) == 6 && order3_discount(batch3_first(m)) == -5);
    CHECK(batch3_codes_count(m) == 1 && batch3_codes(m)[0] == 4);
}

/* JSON of an older message has its fields and no others. */
static void shown_are_the_fields_the_writer_had(void)
{
    static golden kept;
    char *text = NULL;
    size_t length = 0;
    FILE *const stream = open_memstream(&text, &length);

    REQUIRE(stream && read_file(order_files[1], &kept));
    CHECK(order3_json(kept.bytes, kept.size, stream) == GYRE_OK);
    fclose(stream);
    CHECK(strstr(text, "\"discount\": 10") && strstr(text, "\"weight\": 1.5"));
    CHECK(!strstr(text, "remark") && strstr(text, "\"version\": 2"));
    free(text);
}

static const test_case cases[] = {
    TEST(what_is_built_is_what_was_built), TEST(every_table_takes_every_version),
    TEST(newer_reader_sees_defaults),      TEST(older_reader_skips_what_it_does_not_know),
    TEST(parts_grow_like_messages),        TEST(shown_are_the_fields_the_writer_had),
};
TEST_MAIN(cases)
