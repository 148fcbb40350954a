/* SPDX-License-Identifier: Apache-2.0
 *
 * Building messages, and reading what was built.
 */
#include <stdlib.h>

#include "gyre/thread.h"
#include "msg/message_fake.h"
#include "test.h"

enum { ROOM = 4096 };

static _Alignas(64) unsigned char buffer[ROOM];

static void dirty(void)
{
    memset(buffer, 0xdb, sizeof buffer);
}

static void build_point(point_builder *b, double x, const char *label)
{
    point_set_x(b, x);
    point_set_y(b, -x);
    point_copy_label(b, label, strlen(label));
}

/* A sample with everything in it; its size. */
static size_t build_sample(void)
{
    static const uint32_t corner[3] = {1, 2, 3};
    static const int16_t steps[5] = {-1, 2, -3, 4, -5};
    sample_builder b;
    path_builder way;
    point_builder spot;
    size_t size = 0;
    double *reals;

    dirty();
    CHECK(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    b.header.id = 77;
    b.header.correlation = 76;
    b.header.source = 1;
    b.header.destination = 2;
    b.header.deadline_ns = 1000;
    b.header.time = 123456789;
    b.header.priority = 200;
    sample_copy_raw(&b, (const uint8_t *)"abc", 3);
    sample_copy_title(&b, "hello", 5);
    sample_begin_path(&b, &way);
    sample_set_small(&b, 250);
    path_copy_steps(&way, steps, 5);
    path_begin_from(&way, &spot);
    build_point(&spot, 1.5, "from");
    path_commit_from(&way, &spot);
    path_begin_to(&way, &spot);
    build_point(&spot, 2.5, "");
    point_set_weight(&spot, 9);
    path_commit_to(&way, &spot);
    path_set_closed(&way, 1);
    sample_commit_path(&b, &way);
    reals = sample_add_reals(&b, 3);
    for (int i = 0; reals && i < 3; i++)
        reals[i] = i + 0.25;
    sample_set_large(&b, -5);
    sample_set_corner(&b, corner);
    sample_set_ratio(&b, 0.5f);
    sample_copy_note(&b, "0123456789abcdef", 16);
    sample_set_last(&b, -128);
    CHECK(sample_commit(&b, &size) == GYRE_OK);
    return size;
}

static void what_is_built_is_what_is_read(void)
{
    const size_t size = build_sample();
    const sample *m;
    const path *way;

    REQUIRE(sample_open(buffer, size, &m) == GYRE_OK);
    CHECK(sample_small(m) == 250 && sample_large(m) == -5 && sample_last(m) == -128);
    CHECK(sample_raw_count(m) == 3 && memcmp(sample_raw(m), "abc", 3) == 0);
    CHECK(sample_corner_count(m) == 3 && sample_corner(m)[0] == 1 && sample_corner(m)[2] == 3);
    CHECK(sample_has_ratio(m) && sample_ratio(m) == 0.5f);
    CHECK(sample_title_count(m) == 5 && strcmp(sample_title(m), "hello") == 0);
    CHECK(sample_note_count(m) == 16 && strcmp(sample_note(m), "0123456789abcdef") == 0);
    CHECK(sample_reals_count(m) == 3 && sample_reals(m)[2] == 2.25);
    CHECK(!sample_centre(m));
    way = sample_path(m);
    REQUIRE(way);
    CHECK(path_steps_count(way) == 5 && path_steps(way)[4] == -5 && path_closed(way) == 1);
    REQUIRE(path_from(way) && path_to(way));
    CHECK(point_x(path_from(way)) == 1.5 && point_y(path_from(way)) == -1.5);
    CHECK(!point_has_weight(path_from(way)) && point_weight(path_from(way)) == 1);
    CHECK(strcmp(point_label(path_from(way)), "from") == 0);
    CHECK(point_has_weight(path_to(way)) && point_weight(path_to(way)) == 9);
    CHECK(point_label_count(path_to(way)) == 0 && strcmp(point_label(path_to(way)), "") == 0);
    CHECK(sample_trust(buffer) == m);
}

static void header_carries_what_the_builder_was_given(void)
{
    const size_t size = build_sample();
    const gyre_message *header;
    const sample *m;

    REQUIRE(gyre_message_peek(buffer, size, &header) == GYRE_OK);
    CHECK(header->type == sample_TYPE && header->part.version == sample_VERSION);
    CHECK(header->id == 77 && header->correlation == 76 && header->priority == 200);
    CHECK(header->source == 1 && header->destination == 2 && header->time == 123456789);
    CHECK(header->flags == 0 && header->crc32c == 0);
    CHECK(GYRE_MESSAGE_ENVELOPE + header->part.size == size && size % 16 == 0);
    CHECK(!gyre_message_expired(header, 999) && gyre_message_expired(header, 1000));
    REQUIRE(sample_open(buffer, size, &m) == GYRE_OK);
    CHECK(sample_message(m) == header);
}

static void message_without_anything_reads_as_nothing(void)
{
    sample_builder b;
    const sample *m;
    size_t size = 0;

    dirty();
    REQUIRE(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    REQUIRE(sample_commit(&b, &size) == GYRE_OK);
    CHECK(size == sample_ROOM);
    REQUIRE(sample_open(buffer, size, &m) == GYRE_OK);
    CHECK(sample_small(m) == 0 && sample_large(m) == 0 && sample_corner(m)[1] == 0);
    CHECK(!sample_has_ratio(m) && sample_ratio(m) == -1);
    CHECK(sample_raw_count(m) == 0 && sample_reals_count(m) == 0 && sample_title_count(m) == 0);
    CHECK(strcmp(sample_title(m), "") == 0 && !sample_path(m) && !sample_centre(m));
    CHECK(sample_message(m)->priority == GYRE_MESSAGE_NORMAL && sample_message(m)->id == 0);
    CHECK(!gyre_message_expired(sample_message(m), UINT64_MAX));
}

static void table_without_fields_makes_messages(void)
{
    nothing_builder b;
    const nothing *m;
    size_t size = 0;

    REQUIRE(nothing_begin(&b, buffer, 64) == GYRE_OK);
    REQUIRE(nothing_commit(&b, &size) == GYRE_OK);
    CHECK(size == 64 && nothing_ROOM == 64);
    CHECK(nothing_open(buffer, size, &m) == GYRE_OK);
}

/* Everything that no field has is zero, so that equal messages are equal bytes. */
static void same_fields_make_the_same_bytes(void)
{
    static unsigned char first[ROOM];
    const size_t size = build_sample();

    memcpy(first, buffer, size);
    memset(buffer, 0x11, sizeof buffer);
    CHECK(build_sample() == size);
    CHECK(memcmp(first, buffer, size) == 0);
    CHECK(buffer[size] == 0xdb);
}

static void contents_are_aligned_to_16(void)
{
    const size_t size = build_sample();
    const sample *m;

    REQUIRE(sample_open(buffer, size, &m) == GYRE_OK);
    CHECK((uintptr_t)sample_raw(m) % 16 == 0 && (uintptr_t)sample_reals(m) % 16 == 0);
    CHECK((uintptr_t)sample_title(m) % 16 == 0 && (uintptr_t)sample_note(m) % 16 == 0);
    CHECK(((uintptr_t)sample_path(m) + sizeof(gyre_part)) % 16 == 0);
    CHECK((uintptr_t)path_steps(sample_path(m)) % 16 == 0);
}

/* Lists of so many floats fit into what the macros say, and into no less than they take. */
static void build_in_all_capacities(size_t count)
{
    const size_t room = vector_add_ROOM + 2 * GYRE_MESSAGE_ROOM(count * sizeof(float));
    const vector_add *m;
    size_t size = 0, least = 0;

    for (size_t capacity = 0; capacity <= room; capacity++) {
        vector_add_builder b;
        gyre_status status;

        dirty();
        status = vector_add_begin(&b, buffer, capacity);
        if (status == GYRE_OK) {
            vector_add_add_a(&b, count);
            vector_add_add_b(&b, count);
            status = vector_add_commit(&b, &size);
        }
        if (status == GYRE_OK && least == 0)
            least = capacity;
        CHECK(status == (least == 0 ? GYRE_NO_MEMORY : GYRE_OK));
        for (size_t i = capacity; i < sizeof buffer; i++)
            if (buffer[i] != 0xdb)
                REQUIRE(!"a byte behind the buffer is written");
    }
    CHECK(size == least && vector_add_open(buffer, size, &m) == GYRE_OK);
}

static void nothing_is_written_behind_a_buffer_of_any_capacity(void)
{
    build_in_all_capacities(5);
    build_in_all_capacities(64); /* large */
    build_in_all_capacities(101);
}

static void buffer_must_be_there_and_aligned(void)
{
    vector_add_builder b;
    size_t size = 1;

    CHECK(vector_add_begin(&b, NULL, ROOM) == GYRE_INVALID);
    vector_add_copy_a(&b, (const float[]){1}, 1);
    CHECK(vector_add_commit(&b, &size) == GYRE_INVALID && size == 0);
    for (int shift = 1; shift < 16; shift++)
        CHECK(vector_add_begin(&b, buffer + shift, ROOM - 16) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "vector_add") != NULL);
}

static void counts_that_overflow_do_not_fit(void)
{
    static const size_t counts[] = {
        ROOM / 4,         (size_t)1 << 30, UINT32_MAX, (size_t)UINT32_MAX + 2,
        SIZE_MAX / 4 + 2, SIZE_MAX - 1,    SIZE_MAX};
    size_t size;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        vector_add_builder b;
        sample_builder s;

        REQUIRE(vector_add_begin(&b, buffer, sizeof buffer) == GYRE_OK);
        CHECK(!vector_add_add_a(&b, counts[i]));
        CHECK(!vector_add_add_b(&b, 1));
        CHECK(vector_add_commit(&b, &size) == GYRE_NO_MEMORY && size == 0);
        CHECK(strstr(gyre_error_last()->text, "vector_add.a") != NULL);
        REQUIRE(sample_begin(&s, buffer, sizeof buffer) == GYRE_OK);
        CHECK(!sample_add_title(&s, counts[i] < ROOM ? ROOM : counts[i]));
        CHECK(sample_commit(&s, &size) == GYRE_NO_MEMORY && size == 0);
    }
}

static void text_needs_room_for_its_zero(void)
{
    sample_builder b;
    size_t size;

    REQUIRE(sample_begin(&b, buffer, sample_ROOM + 16) == GYRE_OK);
    CHECK(sample_add_title(&b, 15));
    CHECK(sample_commit(&b, &size) == GYRE_OK && size == sample_ROOM + 16);
    REQUIRE(sample_begin(&b, buffer, sample_ROOM + 16) == GYRE_OK);
    CHECK(!sample_add_title(&b, 16));
    CHECK(sample_commit(&b, &size) == GYRE_NO_MEMORY);
}

static void text_of_any_length_ends_with_a_zero(void)
{
    static char letters[600];

    memset(letters, 'x', sizeof letters);
    for (size_t length = 0; length < sizeof letters; length++) {
        sample_builder b;
        const sample *m;
        size_t size;

        dirty();
        REQUIRE(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
        sample_copy_title(&b, letters, length);
        REQUIRE(sample_commit(&b, &size) == GYRE_OK && sample_open(buffer, size, &m) == GYRE_OK);
        CHECK(strlen(sample_title(m)) == length && sample_title_count(m) == length);
    }
}

static void fields_are_added_in_order_and_once(void)
{
    vector_add_builder b;
    size_t size;

    REQUIRE(vector_add_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    CHECK(vector_add_add_b(&b, 1) && !vector_add_add_a(&b, 1));
    CHECK(vector_add_commit(&b, &size) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "vector_add.a") != NULL);
    REQUIRE(vector_add_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    CHECK(vector_add_add_a(&b, 1) && !vector_add_add_a(&b, 1));
    CHECK(vector_add_commit(&b, &size) == GYRE_INVALID);
    REQUIRE(vector_add_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    CHECK(vector_add_add_a(&b, 0) && !vector_add_add_a(&b, 1));
    CHECK(vector_add_commit(&b, &size) == GYRE_INVALID);
}

static void part_is_committed_where_it_was_begun(void)
{
    sample_builder b, other;
    path_builder way;
    point_builder spot, other_spot;
    size_t size;

    /* adding to the message around an open part */
    REQUIRE(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    sample_begin_path(&b, &way);
    CHECK(!sample_add_reals(&b, 1));
    sample_commit_path(&b, &way);
    CHECK(sample_commit(&b, &size) == GYRE_INVALID);
    /* not committed */
    REQUIRE(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    sample_begin_path(&b, &way);
    CHECK(sample_commit(&b, &size) == GYRE_INVALID);
    REQUIRE(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    sample_begin_path(&b, &way);
    path_begin_from(&way, &spot);
    sample_commit_path(&b, &way);
    CHECK(sample_commit(&b, &size) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "sample.path") != NULL);
    /* begun for another */
    REQUIRE(sample_begin(&b, buffer, sizeof buffer / 2) == GYRE_OK);
    REQUIRE(sample_begin(&other, buffer + sizeof buffer / 2, sizeof buffer / 2) == GYRE_OK);
    sample_begin_centre(&b, &spot);
    sample_commit_centre(&other, &spot);
    CHECK(sample_commit(&other, &size) == GYRE_INVALID);
    sample_commit_centre(&b, &spot);
    CHECK(sample_commit(&b, &size) == GYRE_OK);
    REQUIRE(sample_begin(&b, buffer, sizeof buffer / 2) == GYRE_OK);
    REQUIRE(sample_begin(&other, buffer + sizeof buffer / 2, sizeof buffer / 2) == GYRE_OK);
    sample_begin_centre(&b, &spot);
    sample_begin_centre(&other, &other_spot);
    sample_commit_centre(&other, &spot);
    CHECK(sample_commit(&other, &size) == GYRE_INVALID);
    /* committed as another field, or twice */
    REQUIRE(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    sample_begin_centre(&b, &spot);
    sample_commit_centre(&b, &spot);
    sample_commit_centre(&b, &spot);
    CHECK(sample_commit(&b, &size) == GYRE_INVALID);
}

static void failure_in_a_part_is_the_message_s(void)
{
    sample_builder b;
    path_builder way;
    point_builder spot;
    size_t size;

    REQUIRE(sample_begin(&b, buffer, sample_ROOM + 64) == GYRE_OK);
    sample_begin_path(&b, &way);
    path_begin_from(&way, &spot); /* no room */
    point_set_x(&spot, 1);
    point_copy_label(&spot, "x", 1);
    path_commit_from(&way, &spot);
    sample_commit_path(&b, &way);
    sample_set_large(&b, 1);
    CHECK(sample_commit(&b, &size) == GYRE_NO_MEMORY && size == 0);
    CHECK(strstr(gyre_error_last()->text, "path.from") != NULL);
}

static void checksum_is_made_and_checked(void)
{
    static unsigned char whole[ROOM];
    vector_add_builder b;
    const vector_add *m;
    size_t size;

    REQUIRE(vector_add_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    b.header.flags = GYRE_MESSAGE_CRC;
    vector_add_copy_a(&b, (const float[]){1, 2, 3}, 3);
    REQUIRE(vector_add_commit(&b, &size) == GYRE_OK);
    REQUIRE(vector_add_open(buffer, size, &m) == GYRE_OK);
    CHECK(vector_add_a(m)[2] == 3 && vector_add_message(m)->crc32c != 0);
    memcpy(whole, buffer, size);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(buffer, whole, size);
            buffer[i] ^= (unsigned char)(1 << bit);
            if (i == offsetof(gyre_message, flags) && bit == 0)
                CHECK(vector_add_open(buffer, size, &m) == GYRE_OK); /* it has none, then */
            else
                CHECK(vector_add_open(buffer, size, &m) != GYRE_OK && !m);
        }
}

enum { THREADS = 4, IDS = 20000 };
static uint64_t ids[THREADS][IDS];

static void take_ids(void *arg)
{
    uint64_t *const mine = arg;

    for (int i = 0; i < IDS; i++)
        mine[i] = gyre_message_id_next();
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void ids_differ_on_all_threads(void)
{
    gyre_thread *threads[THREADS];
    uint64_t *const all = &ids[0][0];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(gyre_thread_start(take_ids, ids[i], NULL, &threads[i]) == GYRE_OK);
    for (int i = 0; i < THREADS; i++)
        gyre_thread_stop(threads[i]);
    qsort(all, (size_t)THREADS * IDS, sizeof all[0], compare_ids);
    CHECK(all[0] != 0);
    for (size_t i = 1; i < (size_t)THREADS * IDS; i++)
        if (all[i] == all[i - 1])
            REQUIRE(!"an id came twice");
}

static const test_case cases[] = {
    TEST(what_is_built_is_what_is_read),
    TEST(header_carries_what_the_builder_was_given),
    TEST(message_without_anything_reads_as_nothing),
    TEST(table_without_fields_makes_messages),
    TEST(same_fields_make_the_same_bytes),
    TEST(contents_are_aligned_to_16),
    TEST(nothing_is_written_behind_a_buffer_of_any_capacity),
    TEST(buffer_must_be_there_and_aligned),
    TEST(counts_that_overflow_do_not_fit),
    TEST(text_needs_room_for_its_zero),
    TEST(text_of_any_length_ends_with_a_zero),
    TEST(fields_are_added_in_order_and_once),
    TEST(part_is_committed_where_it_was_begun),
    TEST(failure_in_a_part_is_the_message_s),
    TEST(checksum_is_made_and_checked),
    TEST(ids_differ_on_all_threads),
};
TEST_MAIN(cases)
